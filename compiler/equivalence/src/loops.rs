//! The program of loops, run as it stands.
//!
//! Iterations that are parallel run in any order. Where the last vector of a row may overlap the one before
//! it, some iterations run twice. A local is undefined again where it is declared. A part of a loop in strips
//! knows only those values of the other parts that the strip keeps.

use std::collections::{BTreeMap, BTreeSet};

use smallvec::SmallVec;

use super::machine;
use super::program::{
    Assign, CheckedIndices, Container, ContainerKind, Element, ElementExpr, ElementIndex, If, IterationOrder,
    Leaf, Loop, LoopBound, Program, Stage, Step, Sum, Symbols, While, used,
};
use super::run::{Options, Stop, Writers};
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::diag::{ProgramOrder, Span};
use isobar_compiler::entity::{Handle, SideTable};
use isobar_compiler::expr::{Expr, ExprKind};
use isobar_compiler::loops::nodes::{
    self as loops, BranchOfStrip, Item, Positions, Read, Side, Storage, StripPart, Strips, SymbolMeaning,
    Target,
};
use isobar_compiler::loops::visit::{any, walk};
use isobar_compiler::space::{Affine, Axis, Size, Symbol};
use isobar_compiler::types::DType;

/// Runs a program. `params` are the names of the arguments of `launch`, whose arrays are updated in place.
/// `order` is that of the text, by which the first of several places is found where the run must end.
///
/// # Errors
///
/// When a fault of the stencil or of the program ended the run early.
pub fn run(
    source: &loops::Program,
    params: &[&str],
    order: &ProgramOrder,
    launch: &mut Launch,
    options: &Options,
) -> Result<Writers, Stop> {
    if launch.domain.points() == 0 {
        return Ok(Writers::default());
    }
    let program = prepared(source, params, launch)?;
    machine::run(&program, order, launch, options)
}

fn prepared(source: &loops::Program, params: &[&str], launch: &Launch) -> Result<Program, Stop> {
    let mut lowering = Lowering::new(source, params, launch)?;
    for (at, step) in source.steps.iter().enumerate() {
        let steps = lowering.function(step.function)?;
        lowering.program.stages.push(Stage { parts: vec![(at, steps)] });
    }
    lowering.program.place_registers();
    Ok(lowering.program)
}

/// Returns the values of the symbols that a call gives.
fn symbols_of(
    source: &loops::Program,
    place: &dyn Fn(&loops::Array) -> Option<usize>,
    launch: &Launch,
) -> Symbols {
    let mut symbols = Symbols::default();
    for (symbol, meaning) in &source.symbols {
        let value = match meaning {
            SymbolMeaning::Size(axis) => launch.domain.along(*axis),
            SymbolMeaning::Levels { array, side } => {
                let array = &source.arrays[*array];
                let given = place(array).and_then(|at| launch.arguments.get(at));
                let Some(Argument::Field(given)) = given else { continue };
                let [below, above] = given.levels_beside(array.axes, launch.domain);
                match side {
                    Side::Below => below,
                    Side::Above => above,
                }
            }
            SymbolMeaning::Position(_) => continue,
        };
        symbols.set(symbol, Sum::constant(value));
    }
    symbols
}

pub(super) struct Lowering<'p> {
    source: &'p loops::Program,
    pub(super) symbols: Symbols,
    pub(super) program: Program,
    /// The container of each array, of each local, and of each integer.
    pub(super) arrays: SideTable<loops::Array, usize>,
    locals: SideTable<loops::Local, usize>,
    integers: SideTable<loops::Integer, usize>,
    /// Where in its container a local of the strip at hand lies, which keeps one for each of its iterations.
    kept: BTreeMap<Handle<loops::Local>, Sum>,
}

/// A loop that was begun: its variable, its bounds, and what its symbol meant before.
pub(super) struct OpenLoop {
    variable: usize,
    start: LoopBound,
    end: LoopBound,
    outer: Option<Sum>,
}

impl<'p> Lowering<'p> {
    /// With a container for each array, local and integer of a program.
    pub(super) fn new(source: &'p loops::Program, params: &[&str], launch: &Launch) -> Result<Self, Stop> {
        let place = |it: &loops::Array| params.iter().position(|name| *name == it.stencil_name);
        let symbols = symbols_of(source, &place, launch);
        let mut lowering = Self {
            source,
            symbols,
            program: Program::default(),
            arrays: SideTable::default(),
            locals: SideTable::default(),
            integers: SideTable::default(),
            kept: BTreeMap::new(),
        };
        lowering.containers(&place)?;
        Ok(lowering)
    }
}

impl Lowering<'_> {
    /// Arrays come first, in the order of the program; locals and integers come behind them.
    fn containers(&mut self, place: &dyn Fn(&loops::Array) -> Option<usize>) -> Result<(), Stop> {
        let source = self.source;
        for (handle, it) in source.arrays.iter() {
            let kind = match (it.storage, place(it)) {
                (Storage::Caller, Some(at)) => ContainerKind::Argument(at),
                (Storage::Caller, None) => {
                    return Err(Stop::Fault(format!("`{}` is no parameter of the stencil", it.stencil_name)));
                }
                (Storage::Private, _) if it.is_per_thread || it.owner.is_some() => ContainerKind::Private,
                (Storage::Heap | Storage::Private, _) => ContainerKind::Kept,
                (Storage::Register, _) => ContainerKind::Register,
            };
            // An iteration's own array may count from its position, which is known only where the iteration
            // begins.
            let shift = if it.storage == Storage::Private { &[][..] } else { &it.shift };
            let (shape, shift) = self.symbols.measures(&it.shape, shift)?;
            let (name, dtype, axes) = (it.stencil_name.clone(), it.dtype, it.axes.iter().collect());
            let ring = it.ring;
            let is_shared = false;
            self.arrays.insert(handle, self.program.containers.len());
            self.program.containers.push(Container {
                name,
                dtype,
                kind,
                axes,
                shape,
                shift,
                ring,
                is_shared,
            });
        }
        let mut widths: BTreeMap<Handle<loops::Local>, u32> = BTreeMap::new();
        for function in source.functions.values() {
            walk(&function.body, &mut |item| {
                if let Item::Strips(it) = item {
                    widths.extend(it.kept.iter().map(|&local| (local, it.width)));
                }
            });
        }
        for (handle, it) in source.locals.iter() {
            let width = widths.get(&handle).map(|&it| Size::Affine(Affine::constant(i64::from(it))));
            let local = self.register(&it.name, it.dtype, width)?;
            self.locals.insert(handle, local);
        }
        for (handle, it) in source.integers.iter() {
            let integer = self.register(&it.name, DType::Int64, None)?;
            self.integers.insert(handle, integer);
        }
        Ok(())
    }

    fn register(&mut self, name: &str, dtype: DType, width: Option<Size>) -> Result<usize, Stop> {
        let shape: Vec<Size> = width.into_iter().collect();
        let (shape, _) = self.symbols.measures(&shape, &[])?;
        let shift = vec![Sum::constant(0); shape.len()];
        self.program.containers.push(Container {
            name: name.to_owned(),
            dtype,
            kind: ContainerKind::Register,
            axes: SmallVec::new(),
            shape,
            shift,
            ring: None,
            is_shared: false,
        });
        Ok(self.program.containers.len() - 1)
    }

    fn function(&mut self, function: Handle<loops::Function>) -> Result<Vec<Step>, Stop> {
        let source = self.source;
        let it = source
            .functions
            .get(function)
            .ok_or_else(|| Stop::Fault("a function is called that does not exist".to_owned()))?;
        self.items(&it.body)
    }

    pub(super) fn items(&mut self, items: &[Item]) -> Result<Vec<Step>, Stop> {
        let mut steps = Vec::with_capacity(items.len());
        for item in items {
            self.item(item, &mut steps)?;
        }
        Ok(steps)
    }

    fn item(&mut self, item: &Item, steps: &mut Vec<Step>) -> Result<(), Stop> {
        match item {
            Item::Assign(it) => steps.push(Step::Assign(Assign {
                target: match &it.target {
                    Target::Element(it) => self.element(it)?,
                    Target::Local(it) => self.local(*it),
                },
                value: self.code(&it.value)?,
                origin: it.origin.clone(),
            })),
            Item::Declare(it) => match &it.value {
                Some((value, origin)) => steps.push(Step::Assign(Assign {
                    target: self.local(it.local),
                    value: self.code(value)?,
                    origin: origin.clone(),
                })),
                // A strip has its own already.
                None if self.kept.contains_key(&it.local) => {}
                None => steps.push(Step::Fresh(vec![self.locals[it.local]])),
            },
            Item::Checked(it) => {
                let mut indices = Vec::new();
                for index in &it.indices {
                    let size = self.symbols.bound(&index.size)?;
                    indices.push((self.integers[index.integer], self.code(&index.value)?, size));
                }
                let (body, origin) = (self.items(&it.body)?, it.origin.clone());
                steps.push(Step::Checked(CheckedIndices { indices, body, origin }));
            }
            // Loops run one after the other, all threads of one before those of the next.
            Item::Barrier => {}
            Item::For(it) => {
                let order = match (it.is_parallel, it.is_descending) {
                    (true, _) => IterationOrder::Parallel,
                    (false, false) => IterationOrder::Ascending,
                    (false, true) => IterationOrder::Descending,
                };
                let lanes = self.source.decisions.lanes(it.id);
                let repeats = lanes.may_overlap || lanes.block.is_some();
                let made = self.looped(&it.positions, it.axis, order, |this| {
                    let mut steps = this.items(&it.body)?;
                    this.measure_from(&it.positions.variable)?;
                    let is_same = |other: &Item| matches!(other, Item::For(other) if other.gpu == it.gpu);
                    if it.gpu.is_some() && !any(&it.body, &mut |it| is_same(it)) {
                        let source = this.source;
                        let fresh = this.fresh(&steps, |array| source.arrays[array].owner == it.gpu)?;
                        steps.insert(0, fresh);
                    }
                    Ok(steps)
                })?;
                steps.push(Step::Loop(Loop { repeats, ..made }));
            }
            Item::Strips(it) => steps.push(self.strips(it)?),
            Item::Launch(it) => steps.extend(self.launched(&it.positions, it.function)?),
            Item::If(it) => {
                let mut branches = Vec::new();
                for branch in &it.branches {
                    branches.push((self.code(&branch.condition)?, self.items(&branch.body)?));
                }
                let origin = it.branches.first().map(|it| it.origin.clone());
                steps.push(Step::If(If { branches, otherwise: self.items(&it.otherwise)?, origin }));
            }
            Item::While(it) => steps.push(Step::While(While {
                condition: self.code(&it.condition)?,
                body: self.items(&it.body)?,
                origin: it.origin.clone(),
            })),
        }
        Ok(())
    }

    fn looped(
        &mut self,
        positions: &Positions,
        axis: Axis,
        order: IterationOrder,
        body: impl FnOnce(&mut Self) -> Result<Vec<Step>, Stop>,
    ) -> Result<Loop, Stop> {
        let begun = self.begin(positions)?;
        let body = body(self);
        Ok(self.finish(begun, positions, axis, order, body?))
    }

    /// Gives the variable of a loop its meaning, for what stands inside.
    pub(super) fn begin(&mut self, it: &Positions) -> Result<OpenLoop, Stop> {
        let (start, end) = (self.symbols.bound(&it.start)?, self.symbols.bound(&it.end)?);
        let variable = self.program.n_variables;
        self.program.n_variables += 1;
        let outer = self.symbols.set(&it.variable, Sum::variable(variable));
        Ok(OpenLoop { variable, start, end, outer })
    }

    /// The loop that was begun; its variable means what it meant before.
    pub(super) fn finish(
        &mut self,
        begun: OpenLoop,
        it: &Positions,
        axis: Axis,
        order: IterationOrder,
        body: Vec<Step>,
    ) -> Loop {
        let OpenLoop { variable, start, end, outer } = begun;
        self.symbols.restore(&it.variable, outer);
        Loop { variable, axis, start, end, stride: it.step, order, repeats: false, body }
    }

    /// A function for all its positions; each call has the arrays of its thread as if nobody had used them.
    fn launched(
        &mut self,
        positions: &[Positions],
        function: Handle<loops::Function>,
    ) -> Result<Vec<Step>, Stop> {
        let [first, rest @ ..] = positions else {
            let mut steps = self.function(function)?;
            let source = self.source;
            let fresh = self.fresh(&steps, |it| source.arrays[it].is_per_thread)?;
            steps.insert(0, fresh);
            return Ok(steps);
        };
        let axis = axis_of(&first.variable);
        let made =
            self.looped(first, axis, IterationOrder::Parallel, |this| this.launched(rest, function))?;
        Ok(vec![Step::Loop(made)])
    }

    /// Makes those arrays of an iteration anew that steps use, as they are measured here.
    pub(super) fn fresh(
        &mut self,
        steps: &[Step],
        is_wanted: impl Fn(Handle<loops::Array>) -> bool,
    ) -> Result<Step, Stop> {
        let is_used = used(steps, self.program.containers.len());
        let is_own = |it: &usize| self.program.containers[*it].kind == ContainerKind::Private;
        let all = self.arrays.iter();
        let fresh = all.filter(|(array, it)| is_used[**it] && is_own(it) && is_wanted(*array));
        let (arrays, fresh): (Vec<Handle<loops::Array>>, Vec<usize>) =
            fresh.map(|(array, &it)| (array, it)).unzip();
        arrays.into_iter().try_for_each(|it| self.measure(it))?;
        Ok(Step::Fresh(fresh))
    }

    /// Measures the arrays that count from the variable of a loop, which has a meaning only there.
    fn measure_from(&mut self, variable: &Symbol) -> Result<(), Stop> {
        let source = self.source;
        for (handle, array) in source.arrays.iter() {
            // A loop makes all other private arrays anew.
            let is_own = self.program.containers[self.arrays[handle]].kind == ContainerKind::Private;
            let is_here = array.storage == Storage::Private && (array.is_per_thread || !is_own);
            if is_here && array.shift.iter().any(|it| it.factor(variable) != 0) {
                self.measure(handle)?;
            }
        }
        Ok(())
    }

    /// The measures of an array of an iteration, which may count from its position.
    fn measure(&mut self, own: Handle<loops::Array>) -> Result<(), Stop> {
        let array = &self.source.arrays[own];
        let (shape, _) = self.symbols.measures(&array.shape, &[])?;
        // Where a loop inside says where it begins, that loop has measured it.
        let shift = self.symbols.measures(&[], &array.shift);
        let container = &mut self.program.containers[self.arrays[own]];
        container.shape = shape;
        if let Ok((_, shift)) = shift {
            container.shift = shift;
        }
        Ok(())
    }

    /// Strip by strip, each part for all iterations of the strip.
    fn strips(&mut self, it: &Strips) -> Result<Step, Stop> {
        let width = i64::from(it.width);
        let strip = Symbol::new("__strip");
        let over = Positions { variable: strip.clone(), step: width, ..it.positions.clone() };
        let outer = std::mem::take(&mut self.kept);
        let made = self.looped(&over, Axis::I, IterationOrder::Parallel, |this| {
            let mut steps = Vec::new();
            for part in &it.parts {
                let start = Size::Affine(Affine::symbol(&strip));
                let end = Size::Min(vec![start.moved(width), it.positions.end.clone()]);
                let positions = Positions { start, end, ..it.positions.clone() };
                let made = this.looped(&positions, Axis::I, IterationOrder::Parallel, |this| {
                    let at = &Affine::symbol(&positions.variable) - &Affine::symbol(&strip);
                    let at = this.symbols.sum(&at)?;
                    this.kept = it.kept.iter().map(|&local| (local, at.clone())).collect();
                    this.part(part)
                })?;
                steps.push(Step::Loop(made));
            }
            Ok(steps)
        });
        self.kept = outer;
        made.map(Step::Loop)
    }

    /// A part of a strip for one iteration. A `while` of the strip runs as if there were no other iterations
    /// of the strip. But each part of the `while` loses the locals of the part before that the strip does not
    /// keep.
    fn part(&mut self, part: &StripPart) -> Result<Vec<Step>, Stop> {
        match part {
            StripPart::Lanes(items) => self.items(items),
            StripPart::While(it) => {
                let condition = self.code(&it.condition)?;
                let mut body = Vec::new();
                for items in &it.parts {
                    let mut own = BTreeSet::new();
                    any(items, &mut |item| {
                        if let Item::Declare(it) = item
                            && !self.kept.contains_key(&it.local)
                        {
                            own.insert(self.locals[it.local]);
                        }
                        false
                    });
                    body.extend(self.items(items)?);
                    body.push(Step::Fresh(own.into_iter().collect()));
                }
                Ok(vec![Step::While(While { condition, body, origin: it.origin.clone() })])
            }
            StripPart::Branch(it) => Ok(vec![self.branch_of_strip(it)?]),
        }
    }

    /// A branch of a strip for one iteration: arms that it does not take do not matter to it.
    fn branch_of_strip(&mut self, it: &BranchOfStrip) -> Result<Step, Stop> {
        let mut branches = Vec::new();
        for arm in &it.arms {
            branches.push((self.code(&arm.condition)?, self.parts_of_arm(&arm.parts)?));
        }
        let origin = it.arms.first().map(|it| it.origin.clone());
        Ok(Step::If(If { branches, otherwise: self.parts_of_arm(&it.otherwise)?, origin }))
    }

    fn parts_of_arm(&mut self, parts: &[StripPart]) -> Result<Vec<Step>, Stop> {
        let mut steps = Vec::new();
        for part in parts {
            steps.extend(self.part(part)?);
        }
        Ok(steps)
    }

    fn local(&self, local: Handle<loops::Local>) -> Element {
        let at = self.kept.get(&local).map(|it| ElementIndex { known: it.clone(), found: None });
        Element { container: self.locals[local], index: at.into_iter().collect() }
    }

    /// Positions as indices into the array.
    fn element(&self, it: &loops::Element) -> Result<Element, Stop> {
        let array = &self.source.arrays[it.array];
        let mut index = SmallVec::new();
        for (dimension, at) in it.index.iter().enumerate() {
            let none = Affine::default();
            let own = match array.storage {
                Storage::Private => &none,
                _ => array.shift.get(dimension).unwrap_or(&none),
            };
            index.push(match at {
                loops::DimensionIndex::Known(sum) => {
                    ElementIndex { known: self.symbols.sum(&(sum + own))?, found: None }
                }
                loops::DimensionIndex::Found { integer, shift } => {
                    let element = Element { container: self.integers[*integer], index: SmallVec::new() };
                    let found = Expr {
                        kind: ExprKind::Access(Leaf::Element(element)),
                        dtype: DType::Int64,
                        span: Span::default(),
                    };
                    ElementIndex { known: self.symbols.sum(&(own - shift))?, found: Some(Box::new(found)) }
                }
            });
        }
        Ok(Element { container: self.arrays[it.array], index })
    }

    pub(super) fn code(&self, expr: &Expr<Read>) -> Result<ElementExpr, Stop> {
        let mut wrong = None;
        let code = expr.map_accesses(&mut |read| {
            let leaf = match read {
                Read::Element(it) => self.element(it).map(Leaf::Element),
                Read::Local(it) => Ok(Leaf::Element(self.local(*it))),
                Read::Sum(sum) => self.symbols.sum(sum).map(Leaf::Sum),
            };
            leaf.unwrap_or_else(|why| {
                wrong.get_or_insert(why);
                Leaf::Sum(Sum::constant(0))
            })
        });
        wrong.map_or(Ok(code), Err)
    }
}

/// The axis of a position that a function is launched for.
fn axis_of(variable: &Symbol) -> Axis {
    isobar_compiler::loops::parse::axis_of(variable).unwrap_or(Axis::J)
}
