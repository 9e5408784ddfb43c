//! The form in which a level is run: containers and variables by number, sizes evaluated.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::run::Stop;
use isobar_compiler::diag::Origin;
use isobar_compiler::expr::Expr;
use isobar_compiler::space::{Affine, Axis, Region, Ring, Size, Symbol};
use isobar_compiler::types::DType;

/// A level, ready to be run.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) containers: Vec<Container>,
    pub(super) n_variables: usize,
    /// One after the other; a trap ends the run behind the stage in which it was raised.
    pub(super) stages: Vec<Stage>,
}

/// Parts that may run in any order. Each has the place that it has when all run in the order in which they are written.
#[derive(Debug, Default)]
pub(super) struct Stage {
    pub(super) parts: Vec<(usize, Vec<Step>)>,
}

/// Something that holds values.
#[derive(Debug)]
pub(super) struct Container {
    pub(super) name: String,
    pub(super) dtype: DType,
    pub(super) kind: ContainerKind,
    /// The axes of its first dimensions; the others are of data.
    pub(super) axes: SmallVec<[Axis; 3]>,
    pub(super) shape: Vec<LoopBound>,
    pub(super) shift: Vec<Sum>,
    pub(super) ring: Option<Ring>,
    /// Whether threads and blocks of a kernel share it.
    pub(super) is_shared: bool,
}

/// Per dimension, the length of a container and what is added to a position to get an index.
pub(super) type Measures = (Vec<LoopBound>, Vec<Sum>);

/// Where a container comes from, and how long it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContainerKind {
    /// An argument of the call, by position.
    Argument(usize),
    /// Made once.
    Kept,
    /// Made anew in each iteration of the loops around all its uses.
    Register,
    /// Made where a step says so, of the size that it has there.
    Private,
}

/// A number and variables with factors.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    pub(super) terms: SmallVec<[(usize, i64); 2]>,
    pub(super) constant: i64,
}

/// A bound of a loop, or a size.
#[derive(Clone, Debug)]
pub(super) enum LoopBound {
    Sum(Sum),
    Least(Vec<LoopBound>),
    Greatest(Vec<LoopBound>),
}

/// One thing to do.
#[derive(Debug)]
pub(super) enum Step {
    Loop(Loop),
    If(If),
    While(While),
    Region(RegionScope),
    /// Makes containers anew.
    Fresh(Vec<usize>),
    /// Only where the variable lies between the bounds.
    Within(RangeGuard),
    /// Only with indices that exist.
    Checked(CheckedIndices),
    Assign(Assign),
    /// Of a kernel.
    Kernel(KernelStep),
}

/// Steps that only kernels have.
#[derive(Debug)]
pub(super) enum KernelStep {
    /// A launch begins: what others did before is seen by all.
    Launch,
    /// A block begins.
    Block,
    /// All threads of the block wait for each other.
    Barrier,
    /// The thread that carries out what comes next.
    Thread(Threads),
}

/// Which threads of a block do something.
#[derive(Debug)]
pub(super) enum Threads {
    /// Each of them.
    All,
    /// By axis of the block's threads: the one at this distance from a base, the first one where there is none.
    At(Vec<Option<ThreadPosition>>),
}

/// `(variable - base) / step mod count`
#[derive(Debug)]
pub(super) struct ThreadPosition {
    pub(super) variable: usize,
    pub(super) base: Sum,
    pub(super) step: i64,
    pub(super) count: i64,
}

#[derive(Debug)]
pub(super) struct Loop {
    pub(super) variable: usize,
    pub(super) axis: Axis,
    pub(super) start: LoopBound,
    pub(super) end: LoopBound,
    pub(super) stride: i64,
    pub(super) order: IterationOrder,
    /// Whether some iterations may run a second time.
    pub(super) repeats: bool,
    pub(super) body: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IterationOrder {
    Parallel,
    Ascending,
    Descending,
}

#[derive(Debug)]
pub(super) struct If {
    /// The first whose condition holds runs.
    pub(super) branches: Vec<(ElementExpr, Vec<Step>)>,
    pub(super) otherwise: Vec<Step>,
    /// Of the first branch.
    pub(super) origin: Option<Origin>,
}

#[derive(Debug)]
pub(super) struct While {
    pub(super) condition: ElementExpr,
    pub(super) body: Vec<Step>,
    pub(super) origin: Origin,
}

#[derive(Debug)]
pub(super) struct RegionScope {
    pub(super) region: Region,
    pub(super) body: Vec<Step>,
    pub(super) origin: Origin,
}

#[derive(Debug)]
pub(super) struct RangeGuard {
    pub(super) variable: Sum,
    pub(super) start: LoopBound,
    pub(super) end: LoopBound,
    pub(super) body: Vec<Step>,
}

/// Integers that are found, each with its container and what it has to be less than; then what uses them.
#[derive(Debug)]
pub(super) struct CheckedIndices {
    pub(super) indices: Vec<(usize, ElementExpr, LoopBound)>,
    pub(super) body: Vec<Step>,
    pub(super) origin: Origin,
}

#[derive(Debug)]
pub(super) struct Assign {
    pub(super) target: Element,
    pub(super) value: ElementExpr,
    pub(super) origin: Origin,
}

/// An expression over elements and variables.
pub(super) type ElementExpr = Expr<Leaf>;

#[derive(Clone, Debug)]
pub(super) enum Leaf {
    Element(Element),
    /// As an int64.
    Sum(Sum),
}

/// One element of a container.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) container: usize,
    pub(super) index: SmallVec<[ElementIndex; 3]>,
}

/// Where along a dimension an element lies.
#[derive(Clone, Debug)]
pub(super) struct ElementIndex {
    pub(super) known: Sum,
    /// The part that an integer of run time adds.
    pub(super) found: Option<Box<ElementExpr>>,
}

impl Sum {
    pub(super) fn constant(constant: i64) -> Self {
        Self { terms: SmallVec::new(), constant }
    }

    pub(super) fn variable(variable: usize) -> Self {
        Self { terms: SmallVec::from_slice(&[(variable, 1)]), constant: 0 }
    }

    pub(super) fn at(&self, variables: &[i64]) -> i64 {
        self.terms.iter().fold(self.constant, |sum, &(variable, factor)| sum + factor * variables[variable])
    }

    fn add(&mut self, other: &Sum, factor: i64) {
        self.constant += factor * other.constant;
        for &(variable, times) in &other.terms {
            match self.terms.iter_mut().find(|it| it.0 == variable) {
                Some(term) => term.1 += factor * times,
                None => self.terms.push((variable, factor * times)),
            }
        }
    }
}

impl LoopBound {
    pub(super) fn at(&self, variables: &[i64]) -> i64 {
        match self {
            LoopBound::Sum(sum) => sum.at(variables),
            LoopBound::Least(parts) => parts.iter().map(|it| it.at(variables)).min().unwrap_or(0),
            LoopBound::Greatest(parts) => parts.iter().map(|it| it.at(variables)).max().unwrap_or(0),
        }
    }
}

/// The values of symbols at one place of a level.
#[derive(Clone, Debug, Default)]
pub(super) struct Symbols(BTreeMap<Symbol, Sum>);

impl Symbols {
    pub(super) fn set(&mut self, symbol: &Symbol, meaning: Sum) -> Option<Sum> {
        self.0.insert(symbol.clone(), meaning)
    }

    /// Gives a symbol back the meaning that it had before; none where it had none.
    pub(super) fn restore(&mut self, symbol: &Symbol, before: Option<Sum>) {
        match before {
            Some(before) => drop(self.0.insert(symbol.clone(), before)),
            None => drop(self.0.remove(symbol)),
        }
    }

    pub(super) fn sum(&self, affine: &Affine) -> Result<Sum, Stop> {
        let mut sum = Sum::constant(affine.offset());
        for (symbol, factor) in affine.terms() {
            let unknown = || Stop::Fault(format!("`{symbol}` has no value where it is used"));
            sum.add(self.0.get(symbol).ok_or_else(unknown)?, factor);
        }
        Ok(sum)
    }

    /// The measures of a container, where the symbols mean what they mean now.
    pub(super) fn measures(&self, shape: &[Size], shift: &[Affine]) -> Result<Measures, Stop> {
        let shape = shape.iter().map(|it| self.bound(it)).collect::<Result<_, _>>()?;
        Ok((shape, shift.iter().map(|it| self.sum(it)).collect::<Result<_, _>>()?))
    }

    pub(super) fn bound(&self, size: &Size) -> Result<LoopBound, Stop> {
        let all = |parts: &[Size]| parts.iter().map(|it| self.bound(it)).collect::<Result<_, _>>();
        Ok(match size {
            Size::Affine(sum) => LoopBound::Sum(self.sum(sum)?),
            Size::Min(parts) => LoopBound::Least(all(parts)?),
            Size::Max(parts) => LoopBound::Greatest(all(parts)?),
        })
    }
}

impl Program {
    /// Finds for each register the innermost loop around all its uses: each of its iterations has it anew.
    pub(super) fn place_registers(&mut self) {
        let mut around =
            EnclosingLoops { path: Vec::new(), common: vec![None; self.containers.len()], n_loops: 0 };
        for stage in &self.stages {
            stage.parts.iter().for_each(|(_, steps)| around.steps(steps));
        }
        let mut of_loop: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (container, common) in around.common.iter().enumerate() {
            let is_register = self.containers[container].kind == ContainerKind::Register;
            if let (true, Some(&innermost)) = (is_register, common.as_ref().and_then(|it| it.last())) {
                of_loop.entry(innermost).or_default().push(container);
            }
        }
        let mut number = 0;
        for stage in &mut self.stages {
            stage.parts.iter_mut().for_each(|(_, steps)| {
                each_loop(steps, &mut |it| {
                    if let Some(fresh) = of_loop.remove(&number) {
                        it.body.insert(0, Step::Fresh(fresh));
                    }
                    number += 1;
                });
            });
        }
    }
}

/// Which of so many containers the steps use.
pub(super) fn used(steps: &[Step], n_containers: usize) -> Vec<bool> {
    let mut around = EnclosingLoops { path: Vec::new(), common: vec![None; n_containers], n_loops: 0 };
    around.steps(steps);
    around.common.iter().map(Option::is_some).collect()
}

/// The loops around the uses of each container.
struct EnclosingLoops {
    /// The numbers of the loops around.
    path: Vec<usize>,
    common: Vec<Option<Vec<usize>>>,
    n_loops: usize,
}

impl EnclosingLoops {
    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Loop(it) => {
                    self.path.push(self.n_loops);
                    self.n_loops += 1;
                    self.steps(&it.body);
                    self.path.pop();
                }
                Step::If(it) => {
                    for (condition, body) in &it.branches {
                        self.code(condition);
                        self.steps(body);
                    }
                    self.steps(&it.otherwise);
                }
                Step::While(it) => {
                    self.code(&it.condition);
                    self.steps(&it.body);
                }
                Step::Region(it) => self.steps(&it.body),
                Step::Within(it) => self.steps(&it.body),
                Step::Checked(it) => {
                    for (integer, code, _) in &it.indices {
                        self.code(code);
                        self.element(&Element { container: *integer, index: SmallVec::new() });
                    }
                    self.steps(&it.body);
                }
                Step::Fresh(_) | Step::Kernel(_) => {}
                Step::Assign(it) => {
                    self.element(&it.target);
                    self.code(&it.value);
                }
            }
        }
    }

    fn code(&mut self, code: &ElementExpr) {
        code.accesses(&mut |leaf| {
            if let Leaf::Element(element) = leaf {
                self.element(element);
            }
        });
    }

    fn element(&mut self, element: &Element) {
        let common = self.common[element.container].get_or_insert_with(|| self.path.clone());
        let n_same = common.iter().zip(&self.path).take_while(|(one, other)| one == other).count();
        common.truncate(n_same);
        for found in element.index.iter().filter_map(|it| it.found.as_deref()) {
            self.code(found);
        }
    }
}

/// Calls `each` for every loop, in the order in which [`EnclosingLoops`] counts them.
fn each_loop(steps: &mut [Step], each: &mut impl FnMut(&mut Loop)) {
    for step in steps {
        match step {
            Step::Loop(it) => {
                each(it);
                each_loop(&mut it.body, each);
            }
            Step::If(it) => {
                it.branches.iter_mut().for_each(|(_, body)| each_loop(body, each));
                each_loop(&mut it.otherwise, each);
            }
            Step::While(it) => each_loop(&mut it.body, each),
            Step::Region(it) => each_loop(&mut it.body, each),
            Step::Within(it) => each_loop(&mut it.body, each),
            Step::Checked(it) => each_loop(&mut it.body, each),
            Step::Fresh(_) | Step::Assign(_) | Step::Kernel(_) => {}
        }
    }
}
