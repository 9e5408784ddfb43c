//! The data of kernels.

use crate::diag::Origin;
use crate::entity::Handle;
use crate::expr::Expr;
use crate::loops::nodes::{
    Array, GpuAxis, GpuMemory, Item, Positions, Program, Read, StepSubject, Storage, Trap,
};
use crate::space::{Affine, Axis, Symbol};

/// A program for a GPU: kernels, and what the host does to launch them.
#[derive(Clone, Debug)]
pub struct Kernels {
    /// The loops that they were made from. Kernels name its arrays, locals, integers and symbols.
    pub program: Program,
    /// In the order in which the host first launches them.
    pub kernels: Vec<Kernel>,
    /// The actions of the host, in order.
    pub host: Vec<Host>,
    /// Where a run may have to end, by slot: see [`TrapSlot`].
    pub places: Vec<TrapSlot>,
    /// How far beside the compute domain the cell of such a place may lie, along any axis.
    pub halo: i64,
}

/// An action of the host.
#[derive(Clone, Debug)]
pub enum Host {
    /// By position in [`Kernels::kernels`].
    Launch(usize),
    /// One launch after the other for each position; the kernels inside get it.
    For { positions: Positions, is_descending: bool, body: Vec<Host> },
}

/// One launch: what each of its blocks does.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// As code calls it.
    pub name: String,
    /// The step of the run that it belongs to, counted from 0.
    pub step: usize,
    pub about: StepSubject,
    /// Positions of the loops of the host around.
    pub outer: Vec<Symbol>,
    /// The loops whose iterations are blocks, the slowest first; three at most. Their bounds hold sizes and
    /// `outer`.
    pub grid: Vec<Positions>,
    /// The threads of a block, the fastest first; three at most, and none where a block has one thread.
    pub threads: Vec<Threads>,
    pub body: Vec<BlockStep>,
}

/// The threads of a block along an axis.
///
/// Position `p` of a stage runs on thread `(p - base) / step mod count`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threads {
    pub axis: Axis,
    pub count: u32,
    /// The least position of all stages; sizes, `outer` and the grid's positions.
    pub base: Affine,
    /// From one position of a stage to the next one.
    pub step: i64,
}

/// A part of what a block does. All threads come to it, whatever they do there.
#[derive(Clone, Debug)]
pub enum BlockStep {
    /// Positions that the threads share.
    Stage(Stage),
    /// Behind it, all threads of the block see the values that any of them wrote before it.
    Barrier,
    /// A loop whose bounds are the same for all threads of the block.
    For { positions: Positions, axis: Axis, is_descending: bool, body: Vec<BlockStep> },
    /// A condition that is the same for all threads of the block.
    If { branches: Vec<Arm>, otherwise: Vec<BlockStep> },
    /// Items that each thread executes for itself; they write locals only.
    Each(Vec<Item>),
    /// Items that the first thread executes for the block.
    Once(Vec<Item>),
}

/// A branch of a condition that is the same for all threads.
#[derive(Clone, Debug)]
pub struct Arm {
    pub condition: Expr<Read>,
    pub origin: Origin,
    pub body: Vec<BlockStep>,
}

/// Items that the threads of a block execute at positions that they share.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Along each axis of the threads that it uses, the slowest first.
    pub positions: Vec<(Axis, Positions)>,
    pub items: Vec<Item>,
}

/// A [`BoundsCheck`](crate::loops::nodes::BoundsCheck) or a [`While`](crate::loops::nodes::While), at which a
/// run may have to end.
///
/// Its slot is its position in [`Kernels::places`]. These list one kernel after the other, each in the order
/// of a walk over its items. A kernel notes in the slot the least [cell](cell) at which the run must end.
#[derive(Clone, Debug)]
pub struct TrapSlot {
    pub trap: Trap,
    pub kernel: usize,
    /// Whether it is a `while` that does not end, and not an index that does not exist.
    pub is_endless: bool,
}

/// Where the arrays that a run makes live on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayMemory {
    /// In the device's memory, for the whole run.
    Global,
    /// A block's own, in its shared memory.
    Shared,
    /// A thread's own, in registers as far as indices are known.
    Registers,
    /// A thread's own, in the shared memory of its block: an element of all threads, then the next element.
    SharedByThread,
    /// A thread's own, in the device's memory: an element of all threads of the launch, then the next element.
    Scratch,
}

impl Kernel {
    /// Threads of a block.
    #[must_use]
    pub fn n_threads(&self) -> u32 {
        self.threads.iter().map(|it| it.count).product()
    }

    /// Calls `each` for every item, at any depth, in the order of the text.
    pub fn walk<'a>(&'a self, each: &mut impl FnMut(&'a Item)) {
        walk(&self.body, each);
    }

    /// Calls `each` for the conditions that are the same for all threads.
    pub fn each_condition(&self, each: &mut dyn FnMut(&Expr<Read>)) {
        conditions(&self.body, each);
    }
}

fn conditions(pieces: &[BlockStep], each: &mut dyn FnMut(&Expr<Read>)) {
    for piece in pieces {
        match piece {
            BlockStep::For { body, .. } => conditions(body, each),
            BlockStep::If { branches, otherwise } => {
                for it in branches {
                    each(&it.condition);
                    conditions(&it.body, each);
                }
                conditions(otherwise, each);
            }
            BlockStep::Stage(_) | BlockStep::Barrier | BlockStep::Each(_) | BlockStep::Once(_) => {}
        }
    }
}

fn walk<'a>(pieces: &'a [BlockStep], each: &mut impl FnMut(&'a Item)) {
    for piece in pieces {
        match piece {
            BlockStep::Stage(Stage { items, .. }) | BlockStep::Each(items) | BlockStep::Once(items) => {
                crate::loops::visit::walk(items, each);
            }
            BlockStep::Barrier => {}
            BlockStep::For { body, .. } => walk(body, each),
            BlockStep::If { branches, otherwise } => {
                branches.iter().for_each(|it| walk(&it.body, each));
                walk(otherwise, each);
            }
        }
    }
}

impl Kernels {
    /// Where an array lives; none for a value that the caller passes, and for what is a local.
    #[must_use]
    pub fn memory(&self, array: Handle<Array>) -> Option<ArrayMemory> {
        let it = &self.program.arrays[array];
        match (it.storage, it.owner) {
            // Nothing names an array over another one any more.
            _ if matches!(it.place, Some(GpuMemory::Over(_))) => None,
            (Storage::Register, _) => None,
            (Storage::Caller, _) => (!it.is_scalar()).then_some(ArrayMemory::Global),
            (Storage::Heap, _) | (Storage::Private, None) => Some(ArrayMemory::Global),
            (Storage::Private, Some(GpuAxis::Grid)) => Some(ArrayMemory::Shared),
            (Storage::Private, Some(GpuAxis::Block)) => Some(match it.place {
                Some(GpuMemory::Shared) => ArrayMemory::SharedByThread,
                Some(GpuMemory::Register) => ArrayMemory::Registers,
                Some(GpuMemory::Scratch) | Some(GpuMemory::Over(_)) | None => ArrayMemory::Scratch,
            }),
        }
    }
}
