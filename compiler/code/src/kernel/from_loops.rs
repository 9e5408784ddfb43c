//! Loops to kernels.
//!
//! | of the program of loops | becomes |
//! |---|---|
//! | a nest of loops over a grid | a kernel; its iterations are blocks |
//! | loops of a block in there, one or one inside the other | a stage, whose positions the threads share |
//! | a barrier | a barrier |
//! | another loop or branch around stages | the same, for all threads of the block |
//! | locals that are computed beside stages | what each thread computes for itself |
//! | whatever else is written beside stages | what the first thread does |
//! | a loop around a grid | launches, one after the other |
//! | an array over another one's elements | these elements |

use super::nodes::{Arm, BlockStep, Host, Kernel, Kernels, Stage, Threads, TrapSlot};
use crate::entity::Namer;
use crate::expr::Expr;
use crate::loops::nodes::{
    Array, Assign, BoundsCheck, Declare, DimensionIndex, Element, For, GpuAxis, GpuMemory, If, Index, Item,
    Positions, Program, Read, StepSubject, Target, While,
};
use crate::loops::visit::any;
use crate::space::threads::of_tile;
use crate::space::{Affine, Axis, Size, Symbol};

/// Threads of a block along its first axis where nothing tells how many positions there are.
const UNKNOWN: u32 = 128;

/// Lowers a program with a schedule for a GPU, whose blocks have at most `max_threads` threads.
#[must_use]
pub fn lower(program: &Program, max_threads: u32) -> Kernels {
    let mut lowering = Lowering {
        program,
        max_threads,
        namer: program.namer.clone(),
        kernels: Vec::new(),
        before: Vec::new(),
        step: 0,
        around: Vec::new(),
    };
    let mut host = Vec::new();
    for (at, step) in program.steps.iter().enumerate() {
        lowering.step = at;
        lowering.before.clear();
        host.extend(lowering.host(&program.functions[step.function].body, &[]));
    }
    let kernels = lowering.kernels;
    let program = Program { namer: lowering.namer, ..program.clone() };
    let mut places = Vec::new();
    let mut halo = 1;
    for (at, kernel) in kernels.iter().enumerate() {
        for it in &kernel.grid {
            halo = halo.max(reach(it));
        }
        each_positions(&kernel.body, &mut |it| halo = halo.max(reach(it)));
        kernel.walk(&mut |item| match item {
            Item::Checked(it) => {
                places.push(TrapSlot { trap: it.trap.clone(), kernel: at, is_endless: false })
            }
            Item::While(it) => places.push(TrapSlot { trap: it.trap.clone(), kernel: at, is_endless: true }),
            Item::For(it) => halo = halo.max(reach(&it.positions)),
            _ => {}
        });
    }
    Kernels { program, kernels, host, places, halo }
}

/// How far beside the domain positions may lie: no bound is further from a size or a tile than its constants.
fn reach(it: &Positions) -> i64 {
    let mut most = 0;
    let mut note = |sum: &Affine| most = most.max(sum.offset().saturating_abs());
    for size in [&it.start, &it.end] {
        each_sum(size, &mut note);
    }
    most + 1
}

fn each_sum(size: &Size, each: &mut dyn FnMut(&Affine)) {
    match size {
        Size::Affine(sum) => each(sum),
        Size::Min(parts) | Size::Max(parts) => parts.iter().for_each(|it| each_sum(it, each)),
    }
}

/// Calls `each` for the positions of stages and of loops around them.
fn each_positions(pieces: &[BlockStep], each: &mut dyn FnMut(&Positions)) {
    for piece in pieces {
        match piece {
            BlockStep::Stage(it) => it.positions.iter().for_each(|(_, it)| each(it)),
            BlockStep::For { positions, body, .. } => {
                each(positions);
                each_positions(body, each);
            }
            BlockStep::If { branches, otherwise } => {
                branches.iter().for_each(|it| each_positions(&it.body, each));
                each_positions(otherwise, each);
            }
            BlockStep::Barrier | BlockStep::Each(_) | BlockStep::Once(_) => {}
        }
    }
}

struct Lowering<'p> {
    program: &'p Program,
    max_threads: u32,
    namer: Namer,
    kernels: Vec<Kernel>,
    /// Locals that were computed before, beside kernels: each thread computes them again.
    before: Vec<Item>,
    step: usize,
    /// The loops around, by which an array over another one finds its elements.
    around: Vec<(Axis, Symbol)>,
}

fn has_mark(items: &[Item], mark: GpuAxis) -> bool {
    any(items, &mut |it| matches!(it, Item::For(it) if it.gpu == Some(mark)))
}

/// Whether items change nothing but locals.
fn is_of_locals(items: &[Item]) -> bool {
    !any(items, &mut |it| match it {
        Item::Assign(it) => matches!(it.target, Target::Element(_)),
        Item::Barrier => true,
        _ => false,
    })
}

impl Lowering<'_> {
    /// Lowers the items around kernels: loops become loops of the host, and other items a kernel of one
    /// thread.
    fn host(&mut self, items: &[Item], outer: &[Symbol]) -> Vec<Host> {
        let mut host = Vec::new();
        let mut alone: Vec<Item> = Vec::new();
        for item in items {
            match item {
                Item::For(it) if it.gpu == Some(GpuAxis::Grid) => {
                    self.flush(&mut alone, outer, &mut host);
                    host.push(self.kernel(it, outer));
                }
                Item::For(it) if has_mark(&it.body, GpuAxis::Grid) => {
                    self.flush(&mut alone, outer, &mut host);
                    let inner: Vec<Symbol> = outer.iter().chain([&it.positions.variable]).cloned().collect();
                    self.around.push((it.axis, it.positions.variable.clone()));
                    let n_before = self.before.len();
                    let body = self.host(&it.body, &inner);
                    self.before.truncate(n_before);
                    self.around.pop();
                    let positions = it.positions.clone();
                    host.push(Host::For { positions, is_descending: it.is_descending, body });
                }
                it if is_of_locals(std::slice::from_ref(it)) && alone.is_empty() => {
                    self.before.push(it.clone());
                }
                it => alone.push(it.clone()),
            }
        }
        self.flush(&mut alone, outer, &mut host);
        host
    }

    /// A kernel of one thread for what no grid was given to.
    fn flush(&mut self, alone: &mut Vec<Item>, outer: &[Symbol], host: &mut Vec<Host>) {
        if alone.is_empty() {
            return;
        }
        let items = self.own(std::mem::take(alone));
        host.push(self.push(outer, Vec::new(), Vec::new(), vec![BlockStep::Once(items)]));
    }

    fn push(
        &mut self,
        outer: &[Symbol],
        grid: Vec<Positions>,
        threads: Vec<Threads>,
        mut body: Vec<BlockStep>,
    ) -> Host {
        if !self.before.is_empty() {
            body.insert(0, BlockStep::Each(self.before.clone()));
        }
        let number = self.kernels.len() + 1;
        let name = self.namer.name(&format!("kernel_{number}"));
        let (step, outer) = (self.step, outer.to_vec());
        let mut kernel = Kernel { name, step, about: StepSubject::default(), outer, grid, threads, body };
        kernel.about = self.about(&kernel);
        self.kernels.push(kernel);
        Host::Launch(self.kernels.len() - 1)
    }

    /// A nest of loops over a grid.
    fn kernel(&mut self, outermost: &For, outer: &[Symbol]) -> Host {
        let mut grid = Vec::new();
        let mut first = Vec::new();
        let n_around = self.around.len();
        let mut it = outermost;
        let body = loop {
            grid.push(it.positions.clone());
            self.around.push((it.axis, it.positions.variable.clone()));
            let (last, rest) = match it.body.split_last() {
                Some((Item::For(last), rest)) if last.gpu == Some(GpuAxis::Grid) => (last, rest),
                _ => break &it.body,
            };
            if grid.len() == 3 || !is_of_locals(rest) || !is_independent(&last.positions, &grid) {
                break &it.body;
            }
            first.extend(rest.iter().cloned());
            it = last;
        };
        let mut blocks = Vec::new();
        each_block(body, &mut blocks);
        let threads = self.threads(&blocks, &grid);
        let mut pieces = Vec::new();
        if !first.is_empty() {
            pieces.push(BlockStep::Each(first));
        }
        pieces.extend(self.pieces(body));
        self.around.truncate(n_around);
        self.push(outer, grid, threads, pieces)
    }

    /// Lowers the body of a block to pieces to which all threads come.
    fn pieces(&mut self, items: &[Item]) -> Vec<BlockStep> {
        let mut pieces: Vec<BlockStep> = Vec::new();
        for item in items {
            let holds_stages = |it: &[Item]| {
                any(it, &mut |it| match it {
                    Item::For(it) => it.gpu == Some(GpuAxis::Block),
                    it => matches!(it, Item::Barrier),
                })
            };
            match item {
                Item::Barrier => pieces.push(BlockStep::Barrier),
                Item::For(it) if it.gpu == Some(GpuAxis::Block) => {
                    pieces.push(BlockStep::Stage(self.stage(it)))
                }
                Item::For(it) if holds_stages(&it.body) => {
                    self.around.push((it.axis, it.positions.variable.clone()));
                    let body = self.pieces(&it.body);
                    self.around.pop();
                    let (positions, axis) = (it.positions.clone(), it.axis);
                    pieces.push(BlockStep::For { positions, axis, is_descending: it.is_descending, body });
                }
                Item::If(If { branches, otherwise, .. })
                    if holds_stages(otherwise) || branches.iter().any(|it| holds_stages(&it.body)) =>
                {
                    let arms = branches.iter().map(|it| Arm {
                        condition: it.condition.clone(),
                        origin: it.origin.clone(),
                        body: self.pieces(&it.body),
                    });
                    let branches = arms.collect();
                    pieces.push(BlockStep::If { branches, otherwise: self.pieces(otherwise) });
                }
                it => {
                    let own = self.own(vec![it.clone()]);
                    match (is_of_locals(&own), pieces.last_mut()) {
                        (true, Some(BlockStep::Each(items))) | (false, Some(BlockStep::Once(items))) => {
                            items.extend(own);
                        }
                        (true, _) => pieces.push(BlockStep::Each(own)),
                        (false, _) => pieces.push(BlockStep::Once(own)),
                    }
                }
            }
        }
        pieces
    }

    /// Loops of a block, one or one inside the other.
    fn stage(&mut self, outermost: &For) -> Stage {
        let mut positions = Vec::new();
        let mut it = outermost;
        let n_around = self.around.len();
        loop {
            positions.push((it.axis, it.positions.clone()));
            self.around.push((it.axis, it.positions.variable.clone()));
            match it.body.as_slice() {
                [Item::For(inner)]
                    if inner.gpu == Some(GpuAxis::Block)
                        && positions.iter().all(|(axis, _)| *axis != inner.axis)
                        && is_independent_of(&inner.positions, &positions) =>
                {
                    it = inner;
                }
                _ => break,
            }
        }
        let items = self.own(it.body.clone());
        self.around.truncate(n_around);
        Stage { positions, items }
    }

    /// The threads of a block, by the loops that are given to them.
    fn threads(&self, blocks: &[&For], grid: &[Positions]) -> Vec<Threads> {
        let mut threads: Vec<Threads> = Vec::new();
        let mut left = self.max_threads.max(1);
        // The innermost loop is the one whose neighbours lie side by side.
        for it in blocks.iter().rev() {
            if threads.iter().any(|known| known.axis == it.axis) || threads.len() == 3 {
                continue;
            }
            let along: Vec<&Positions> =
                blocks.iter().filter(|other| other.axis == it.axis).map(|it| &it.positions).collect();
            let step = it.positions.step.max(1);
            let starts = along.iter().map(|it| least_start(it, grid));
            let base = starts.reduce(earlier).unwrap_or_default();
            let tile = grid.iter().find(|it| it.step > 1 && base.factor(&it.variable) == 1);
            let extents = along.iter().filter_map(|it| extent(it));
            let wanted = match (tile, extents.max()) {
                (Some(tile), _) => of_tile(tile.step).div_euclid(step).max(1),
                (None, Some(extent)) => extent.div_euclid(step).max(1),
                (None, None) if threads.is_empty() => i64::from(UNKNOWN),
                (None, None) => 1,
            };
            let count = u32::try_from(wanted).unwrap_or(u32::MAX).clamp(1, left);
            left = (left / count).max(1);
            threads.push(Threads { axis: it.axis, count, base, step });
        }
        threads
    }

    /// Items in which arrays over others are the elements of these.
    fn own(&mut self, mut items: Vec<Item>) -> Vec<Item> {
        let over = |it: &Array| matches!(it.place, Some(GpuMemory::Over(_)));
        if self.program.arrays.values().any(over) {
            let mut around = self.around.clone();
            replace_in(&mut items, self.program, &mut around);
        }
        items
    }

    /// The fields that a kernel writes, by their names in the stencil, and the spans of its statements.
    fn about(&self, kernel: &Kernel) -> StepSubject {
        let mut about = StepSubject::default();
        let mut spans = std::collections::BTreeSet::new();
        kernel.walk(&mut |item| {
            let origin = match item {
                Item::Assign(it) => Some(&it.origin),
                Item::Declare(it) => it.value.as_ref().map(|(_, origin)| origin),
                Item::Checked(it) => Some(&it.origin),
                Item::While(it) => Some(&it.origin),
                _ => None,
            };
            let last = origin.and_then(|it| it.spans().last());
            spans.extend(last.map(|it| (it.file, it.start, it.end)));
            if let Item::Assign(Assign { target: Target::Element(it), .. }) = item {
                let name = &self.program.arrays[it.array].stencil_name;
                if !about.writes.contains(name) {
                    about.writes.push(name.clone());
                }
            }
        });
        about.spans =
            spans.into_iter().map(|(file, start, end)| crate::diag::Span::new(file, start, end)).collect();
        about
    }
}

/// Whether the bounds of a loop hold none of the positions around it in the grid.
fn is_independent(it: &Positions, grid: &[Positions]) -> bool {
    let mut is_free = true;
    for size in [&it.start, &it.end] {
        size.each_symbol(&mut |symbol| is_free &= grid.iter().all(|it| it.variable != *symbol));
    }
    is_free
}

fn is_independent_of(it: &Positions, around: &[(Axis, Positions)]) -> bool {
    let mut is_free = true;
    for size in [&it.start, &it.end] {
        size.each_symbol(&mut |symbol| is_free &= around.iter().all(|(_, it)| it.variable != *symbol));
    }
    is_free
}

/// The loops that are given to the threads of a block, the outer ones before those inside.
fn each_block<'a>(items: &'a [Item], found: &mut Vec<&'a For>) {
    for item in items {
        if let Item::For(it) = item
            && it.gpu == Some(GpuAxis::Block)
        {
            found.push(it);
        }
        item.blocks().into_iter().for_each(|it| each_block(it, found));
    }
}

/// The sum at which a loop starts that moves with the block, or the only one.
fn least_start(it: &Positions, grid: &[Positions]) -> Affine {
    let mut sums: Vec<Affine> = Vec::new();
    each_sum(&it.start, &mut |sum| sums.push(sum.clone()));
    let moves = |sum: &Affine| grid.iter().any(|it| sum.factor(&it.variable) != 0);
    let moving = sums.iter().find(|it| moves(it)).cloned();
    moving.or_else(|| sums.into_iter().next()).unwrap_or_default()
}

/// The lesser of two starts. Where nobody knows which that is, it is the one of the block: a base only has to be the
/// same for all stages.
fn earlier(one: Affine, other: Affine) -> Affine {
    match other.distance_from(&one) {
        Some(distance) if distance < 0 => other,
        Some(_) => one,
        None if one.terms().count() >= other.terms().count() => one,
        None => other,
    }
}

/// How many positions a loop has, where that is known.
fn extent(it: &Positions) -> Option<i64> {
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    each_sum(&it.start, &mut |sum| starts.push(sum.clone()));
    each_sum(&it.end, &mut |sum| ends.push(sum.clone()));
    let distances = starts.iter().flat_map(|start| ends.iter().filter_map(|end| end.distance_from(start)));
    distances.filter(|it| *it > 0).min()
}

/// Replaces the elements of arrays over others by elements of these.
fn replace_in(items: &mut [Item], program: &Program, around: &mut Vec<(Axis, Symbol)>) {
    for item in items {
        match item {
            Item::Assign(Assign { target, value, .. }) => {
                if let Target::Element(it) = target {
                    *it = replaced(it, program, around);
                }
                replace(value, program, around);
            }
            Item::Declare(Declare { value: Some((value, _)), .. }) => replace(value, program, around),
            Item::Checked(BoundsCheck { indices, .. }) => {
                for Index { value, .. } in indices {
                    replace(value, program, around);
                }
            }
            Item::While(While { condition, .. }) => replace(condition, program, around),
            Item::If(If { branches, .. }) => {
                branches.iter_mut().for_each(|it| replace(&mut it.condition, program, around));
            }
            _ => {}
        }
        let own = match item {
            Item::For(it) => Some((it.axis, it.positions.variable.clone())),
            _ => None,
        };
        let n_around = around.len();
        around.extend(own);
        item.blocks_mut().into_iter().for_each(|it| replace_in(it, program, around));
        around.truncate(n_around);
    }
}

fn replace(expr: &mut Expr<Read>, program: &Program, around: &[(Axis, Symbol)]) {
    *expr = expr.map_accesses(&mut |read| match read {
        Read::Element(it) => Read::Element(replaced(it, program, around)),
        other => other.clone(),
    });
}

/// Turns an element of an array over another one into an element of the other one. Along an axis of the array
/// itself, the index is its own. Along any other axis, it is the position of the loop around.
fn replaced(it: &Element, program: &Program, around: &[(Axis, Symbol)]) -> Element {
    let own = &program.arrays[it.array];
    let Some(GpuMemory::Over(under)) = own.place else { return it.clone() };
    let index = program.arrays[under].axes.iter().map(|axis| {
        match own.axes.iter().position(|it| it == axis) {
            // An array of an iteration counts from its own start.
            Some(dimension) => match &it.index[dimension] {
                DimensionIndex::Known(at) => DimensionIndex::Known(at - &own.shift[dimension]),
                DimensionIndex::Found { integer, shift } => {
                    DimensionIndex::Found { integer: *integer, shift: shift + &own.shift[dimension] }
                }
            },
            None => {
                let innermost = around.iter().rev().find(|(of, _)| *of == axis);
                DimensionIndex::Known(innermost.map(|(_, it)| Affine::symbol(it)).unwrap_or_default())
            }
        }
    });
    Element { array: under, index: index.collect() }
}
