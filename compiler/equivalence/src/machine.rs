//! Carries out a program.

use itertools::Itertools;
use smallvec::SmallVec;

use super::memory::ContainerMemory;
use super::program::{
    Assign, CheckedIndices, Container, ContainerKind, Element, ElementExpr, ElementIndex, If, IterationOrder,
    Leaf, Loop, Program, RegionScope, Step, While,
};
use super::races::{Race, Races};
use super::run::{Options, Stop, Writers};
use super::shuffle::Chance;
use isobar_compiler::call::launch::Launch;
use isobar_compiler::debug::Trap;
use isobar_compiler::diag::{Origin, ProgramOrder, ProgramPoint, StmtId};
use isobar_compiler::expr::{ExprKind, evaluate};
use isobar_compiler::space::{Axis, Domain, Offset, names};
use isobar_compiler::types::{DType, Value};

/// Runs a program. The arrays of `launch` are updated in place.
pub(super) fn run(
    program: &Program,
    order: &ProgramOrder,
    launch: &mut Launch,
    options: &Options,
) -> Result<Writers, Stop> {
    let mut machine = Machine {
        program,
        order,
        options,
        domain: launch.domain,
        memory: ContainerMemory::new(program, launch)?,
        writers: if options.keeps_writers { vec![Vec::new(); program.containers.len()] } else { Vec::new() },
        variables: vec![0; program.n_variables],
        innermost: [None; 3],
        turn: SweepOrder::Unordered,
        outermost: None,
        is_in_while: false,
        part: 0,
        raised: None,
        chance: options.seed.map(Chance::new),
        races: Races::new(program.containers.iter().map(|it| it.is_shared)),
    };
    let result = machine.stages();
    machine.memory.give_back(program, launch);
    result.map(|()| machine.writers_of_params(launch.arguments.len()))
}

/// So many iterations run a second time where some may.
const REPEATED: i64 = 3;

struct Machine<'p> {
    program: &'p Program,
    order: &'p ProgramOrder,
    options: &'p Options,
    domain: Domain,
    memory: ContainerMemory,
    /// By container, which statement wrote each element last; empty where that is not asked for.
    writers: Vec<Vec<Option<StmtId>>>,
    variables: Vec<i64>,
    /// Per axis, the variable of the innermost loop over it.
    innermost: [Option<usize>; 3],
    turn: SweepOrder,
    /// The statement with control flow that holds all others around.
    outermost: Option<StmtId>,
    /// Whether the innermost loop around is a `while`.
    is_in_while: bool,
    part: usize,
    /// The first of all places so far where the run must end.
    raised: Option<RaisedTrap>,
    chance: Option<Chance>,
    /// The accesses of elements in the kernel at hand.
    races: Races,
}

/// Whether levels have an order here.
#[derive(Clone, Copy)]
enum SweepOrder {
    Unordered,
    Ascending,
    Descending,
}

/// A place where the run must end. Places are ordered as the debug back end gets to them: by sweep, by level
/// of a sweep, by statement, by cell. Where the sweep of a statement is not known, the parts of the program
/// and the loops around take the place of sweeps.
struct RaisedTrap {
    rank: (usize, i64, StmtId, [i64; 3]),
    trap: Trap,
}

/// Why a statement was not carried out to its end.
enum StmtFailure {
    /// It must end the run.
    Trap(String),
    Fault(String),
}

/// How a step ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    /// A statement must end the run. Statements that do not depend on it still run, since one of them may
    /// have to end the run at an earlier place. A `while` around ends, or it might never.
    Trapped,
}

impl Machine<'_> {
    fn stages(&mut self) -> Result<(), Stop> {
        let program = self.program;
        for stage in &program.stages {
            for (part, steps) in &stage.parts {
                self.part = *part;
                self.steps(steps)?;
            }
            // With an order of the text, the run goes on: a later stage may hold a place that comes before in
            // the text.
            if let Some(raised) = self.raised.take_if(|_| self.order.is_empty()) {
                return Err(Stop::Trap(raised.trap));
            }
        }
        self.raised.take().map_or(Ok(()), |raised| Err(Stop::Trap(raised.trap)))
    }

    fn writers_of_params(self, n_params: usize) -> Writers {
        let mut of_params = vec![Vec::new(); n_params];
        for (container, writers) in self.program.containers.iter().zip(self.writers) {
            if let ContainerKind::Argument(at) = container.kind {
                of_params[at] = writers;
            }
        }
        Writers { of_params }
    }

    fn steps(&mut self, steps: &[Step]) -> Result<Flow, Stop> {
        for step in steps {
            let flow = match step {
                Step::Loop(it) => self.looped(it)?,
                Step::If(it) => self.branches(it)?,
                Step::While(it) => self.inside(Some(&it.origin), |this| this.turns(it))?,
                Step::Region(it) => {
                    let ([i, j, _], RegionScope { region, body, origin }) = (self.cell(), it);
                    let is_inside =
                        region.i.contains(i, self.domain.i) && region.j.contains(j, self.domain.j);
                    if is_inside { self.inside(Some(origin), |this| this.steps(body))? } else { Flow::On }
                }
                Step::Within(it) => {
                    let at = it.variable.at(&self.variables);
                    let is_inside = it.start.at(&self.variables) <= at && at < it.end.at(&self.variables);
                    if is_inside { self.steps(&it.body)? } else { Flow::On }
                }
                Step::Fresh(containers) => {
                    for &container in containers {
                        self.memory.renew(self.program, container, &self.variables);
                        self.races.forget(container);
                    }
                    Flow::On
                }
                Step::Checked(it) => self.checked(it)?,
                Step::Assign(it) => self.assign(it)?,
                Step::Kernel(it) => {
                    self.races.step(it, &self.variables);
                    Flow::On
                }
            };
            if flow == Flow::Trapped && self.is_in_while {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    fn looped(&mut self, it: &Loop) -> Result<Flow, Stop> {
        let (start, end) = (it.start.at(&self.variables), it.end.at(&self.variables));
        let axis = it.axis.index();
        let outer = (self.innermost[axis].replace(it.variable), self.turn);
        let is_in_while = std::mem::replace(&mut self.is_in_while, false);
        if it.axis == Axis::K {
            self.turn = match it.order {
                IterationOrder::Parallel => SweepOrder::Unordered,
                IterationOrder::Ascending => SweepOrder::Ascending,
                IterationOrder::Descending => SweepOrder::Descending,
            };
        }
        let stride = it.stride.max(1);
        let n = (end - start).max(0).unsigned_abs().div_ceil(stride.unsigned_abs());
        let n = i64::try_from(n).unwrap_or(0);
        let result = match (&mut self.chance, it.order) {
            (Some(chance), IterationOrder::Parallel) => {
                let mut all: SmallVec<[i64; 16]> = (0..n).collect();
                chance.shuffle(&mut all);
                all.into_iter().try_for_each(|at| self.iteration(it, start + at * stride))
            }
            (_, IterationOrder::Descending) => {
                (0..n).rev().try_for_each(|at| self.iteration(it, start + at * stride))
            }
            _ => (0..n).try_for_each(|at| self.iteration(it, start + at * stride)),
        };
        // The overlap is as long as a vector at most; which iterations it covers does not matter.
        let result = result.and_then(|()| match it.repeats {
            true => (n - n.min(REPEATED)..n).try_for_each(|at| self.iteration(it, start + at * stride)),
            false => Ok(()),
        });
        (self.innermost[axis], self.turn) = outer;
        self.is_in_while = is_in_while;
        result.map(|()| Flow::On)
    }

    /// Finds the integers, then runs the body that uses them. If the check refuses an index, the body has to
    /// end the run.
    fn checked(&mut self, it: &CheckedIndices) -> Result<Flow, Stop> {
        let mut exist = true;
        for (integer, code, size) in &it.indices {
            match self.value(code) {
                Ok(value) => {
                    let value = value.as_i64();
                    exist &= (0..size.at(&self.variables)).contains(&value);
                    self.memory.slot_mut(*integer).set(0, Value::Int64(value));
                }
                Err(StmtFailure::Trap(message)) => {
                    self.raise(message, &it.origin);
                    return Ok(Flow::Trapped);
                }
                Err(StmtFailure::Fault(what)) => return Err(self.fault(&what)),
            }
        }
        let is_in_while = std::mem::replace(&mut self.is_in_while, true);
        let flow = self.steps(&it.body);
        self.is_in_while = is_in_while;
        match flow? {
            Flow::On if !exist => Err(self.fault("a check refuses an index that exists")),
            flow => Ok(flow),
        }
    }

    fn iteration(&mut self, it: &Loop, at: i64) -> Result<(), Stop> {
        self.variables[it.variable] = at;
        self.steps(&it.body).map(drop)
    }

    fn branches(&mut self, it: &If) -> Result<Flow, Stop> {
        let mut chosen = &it.otherwise;
        for (condition, body) in &it.branches {
            if self.condition(condition)? {
                chosen = body;
                break;
            }
        }
        self.inside(it.origin.as_ref(), |this| this.steps(chosen))
    }

    /// Does what stands inside of a statement with control flow.
    fn inside(
        &mut self,
        origin: Option<&Origin>,
        work: impl FnOnce(&mut Self) -> Result<Flow, Stop>,
    ) -> Result<Flow, Stop> {
        let outer = self.outermost;
        self.outermost = outer.or(origin.map(|it| it.stmt));
        let flow = work(self);
        self.outermost = outer;
        flow
    }

    fn turns(&mut self, it: &While) -> Result<Flow, Stop> {
        let mut turn = 0;
        while self.condition(&it.condition)? {
            // Whatever comes of it, an earlier end is known.
            if turn == 0 && self.raised.as_ref().is_some_and(|known| known.rank <= self.rank(&it.origin)) {
                return Ok(Flow::Trapped);
            }
            if turn == self.options.max_turns {
                let limit = self.options.max_turns;
                let message = format!("a `while` loop did not end within {limit} iterations");
                self.raise(message, &it.origin);
                return Ok(Flow::Trapped);
            }
            turn += 1;
            let is_in_while = std::mem::replace(&mut self.is_in_while, true);
            let flow = self.steps(&it.body)?;
            self.is_in_while = is_in_while;
            if flow == Flow::Trapped {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    fn assign(&mut self, it: &Assign) -> Result<Flow, Stop> {
        let done = self.value(&it.value).and_then(|value| {
            let position = self.position(&it.target)?;
            self.races.write(it.target.container, position).map_err(|it| self.race(&it))?;
            self.memory.slot_mut(it.target.container).set(position, value);
            if let Some(of_elements) = self.writers.get_mut(it.target.container) {
                let n = of_elements.len().max(position + 1);
                of_elements.resize(n, None);
                of_elements[position] = Some(it.origin.stmt);
            }
            Ok(())
        });
        match done {
            Ok(()) => Ok(Flow::On),
            Err(StmtFailure::Trap(message)) => {
                self.raise(message, &it.origin);
                Ok(Flow::Trapped)
            }
            Err(StmtFailure::Fault(what)) => Err(self.fault(&what)),
        }
    }

    fn fault(&self, what: &str) -> Stop {
        let [i, j, k] = self.cell();
        Stop::Fault(format!("{what} at i={i}, j={j}, k={k}"))
    }

    /// A condition; it finds no elements, so it traps nowhere.
    fn condition(&self, code: &ElementExpr) -> Result<bool, Stop> {
        match self.value(code) {
            Ok(value) => Ok(value == Value::Bool(true)),
            Err(StmtFailure::Trap(what) | StmtFailure::Fault(what)) => {
                Err(self.fault(&format!("in a condition, {what}")))
            }
        }
    }

    fn race(&self, it: &Race) -> StmtFailure {
        StmtFailure::Fault(format!("{it} of `{}`", self.program.containers[it.container].name))
    }

    /// Position of the point at hand; 0 along an axis without a loop.
    fn cell(&self) -> [i64; 3] {
        self.innermost.map(|it| it.map_or(0, |variable| self.variables[variable]))
    }

    fn rank(&self, origin: &Origin) -> (usize, i64, StmtId, [i64; 3]) {
        let [i, j, k] = self.cell();
        if let Some(ProgramPoint { sweep, levels, statement }) = self.order.of(origin.stmt) {
            return (usize::try_from(sweep).unwrap_or(usize::MAX), levels.turn(k), statement, [k, j, i]);
        }
        let turn = match self.turn {
            SweepOrder::Unordered => 0,
            SweepOrder::Ascending => k,
            SweepOrder::Descending => -k,
        };
        (self.part, turn, self.outermost.unwrap_or(origin.stmt), [k, j, i])
    }

    fn raise(&mut self, message: String, origin: &Origin) {
        let rank = self.rank(origin);
        if self.raised.as_ref().is_none_or(|known| rank < known.rank) {
            let trap = Trap { message, origin: origin.clone(), cell: self.cell() };
            self.raised = Some(RaisedTrap { rank, trap });
        }
    }

    /// The value of an expression, its operands in the order in which the debug back end evaluates them.
    fn value(&self, code: &ElementExpr) -> Result<Value, StmtFailure> {
        Ok(match &code.kind {
            ExprKind::Literal(value) => *value,
            ExprKind::Access(Leaf::Element(element)) | ExprKind::Element(Leaf::Element(element), _) => {
                let position = self.position(element)?;
                self.races.read(element.container, position).map_err(|it| self.race(&it))?;
                self.memory.slot(element.container).get(position)
            }
            ExprKind::Access(Leaf::Sum(sum)) | ExprKind::Element(Leaf::Sum(sum), _) => {
                Value::Int64(sum.at(&self.variables)).cast(code.dtype)
            }
            ExprKind::Position(axis) => Value::Int64(self.cell()[axis.index()]).cast(code.dtype),
            ExprKind::Unary(op, operand) => evaluate::unary(*op, self.value(operand)?),
            ExprKind::Binary(op, left, right) => evaluate::binary(*op, self.value(left)?, self.value(right)?),
            ExprKind::Ternary { condition, then, otherwise } => {
                let (then, condition) = (self.value(then)?, self.value(condition)?);
                evaluate::ternary(condition, then, self.value(otherwise)?)
            }
            ExprKind::Call(function, arguments) => {
                let mut values = [None; 2];
                for (value, argument) in values.iter_mut().zip(arguments) {
                    *value = Some(self.value(argument)?);
                }
                let [first, second] = values;
                evaluate::call(*function, first.unwrap_or(Value::zero(DType::Float64)), second)
            }
            ExprKind::Cast(to, operand) => self.value(operand)?.cast(*to),
        })
    }

    /// Where an element lies in memory.
    fn position(&self, element: &Element) -> Result<usize, StmtFailure> {
        let mut index: SmallVec<[i64; 4]> = SmallVec::new();
        for ElementIndex { known, found } in &element.index {
            let known = known.at(&self.variables);
            index.push(match found {
                None => known,
                Some(found) => known.saturating_add(self.value(found)?.as_i64()),
            });
        }
        let slot = self.memory.slot(element.container);
        slot.position(&index).ok_or_else(|| self.outside(element, &index))
    }

    #[cold]
    fn outside(&self, element: &Element, index: &[i64]) -> StmtFailure {
        let container = &self.program.containers[element.container];
        let lengths = self.memory.slot(element.container).lengths();
        let leaves_what_is_found = element
            .index
            .iter()
            .zip(index.iter().zip(lengths))
            .any(|(at, (&index, length))| at.found.is_some() && !(0..length).contains(&index));
        if leaves_what_is_found {
            return StmtFailure::Trap(self.words(container, element, index));
        }
        let lengths = self.memory.slot(element.container).lengths().join(", ");
        let index = index.iter().join(", ");
        StmtFailure::Fault(format!("`{}`, which has {lengths} elements, has none at {index}", container.name))
    }

    /// The sentence that the debug back end has for an element that does not exist.
    fn words(&self, container: &Container, element: &Element, index: &[i64]) -> String {
        let cell = self.cell();
        let mut offset = [0; 3];
        let (mut level, mut data) = (None, Vec::new());
        for (dimension, (at, &index)) in element.index.iter().zip(index).enumerate() {
            let Some(axis) = container.axes.get(dimension) else {
                data.push(index);
                continue;
            };
            let shift = container.shift.get(dimension).map_or(0, |it| it.at(&self.variables));
            let position = index.saturating_sub(shift);
            if at.found.is_some() {
                level = Some(position);
            } else {
                offset[axis.index()] = position - cell[axis.index()];
            }
        }
        let [i, j, k] = offset.map(|it| i32::try_from(it).unwrap_or(i32::MAX));
        let offset = Offset { i, j, k };
        let mut place = String::new();
        if offset != Offset::CENTRE || level.is_none() && data.is_empty() {
            place.push_str(&offset.to_string());
        }
        if let Some(level) = level {
            place.push_str(&format!(".at({level})"));
        }
        if !data.is_empty() {
            place.push_str(&format!(".A[{}]", data.iter().format(", ")));
        }
        format!("`{}{place}` does not exist", names::of_stencil(self.speaks_for(container)))
    }

    /// The name of a container in a message. A copy of old values, which the Tree IR makes, has the name of
    /// its original.
    fn speaks_for<'c>(&self, container: &'c Container) -> &'c str {
        let name = container.name.as_str();
        let numbered = name.trim_end_matches(|it: char| it.is_ascii_digit());
        let original = name.strip_suffix("_old").or_else(|| numbered.strip_suffix("_old_"));
        let has = |name: &&str| self.program.containers.iter().any(|it| it.name == *name);
        original.filter(has).unwrap_or(name)
    }
}
