//! Where the arrays of kernels live, as far as a text can have it so.

use super::WgslOptions;
use crate::entity::{Handle, SideTable};
use crate::kernel::Kernels;
use crate::kernel::nodes::{ArrayMemory, Kernel};
use crate::kernel::pack::{self, PackedArray, PackedBuffer};
use crate::loops::nodes::{Array, Item as Statement, Storage, Target};
use crate::loops::visit::walk;
use crate::space::Axis;

/// Where an array lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayPlacement {
    /// In a buffer.
    Global,
    /// In the memory of a block: so many elements.
    Block(u64),
    /// There too, so many elements of each thread.
    BlockByThread(u64),
    /// In so many elements of a variable.
    Thread(u64),
    /// In a buffer, an element of all threads of the launch, then the next element.
    OfThreads,
    /// In a buffer, all elements of a block, then those of the next one.
    OfBlocks,
}

impl ArrayPlacement {
    /// Whether it is in a buffer.
    #[must_use]
    pub fn is_in_buffer(self) -> bool {
        match self {
            ArrayPlacement::Global | ArrayPlacement::OfThreads | ArrayPlacement::OfBlocks => true,
            ArrayPlacement::Block(_) | ArrayPlacement::BlockByThread(_) | ArrayPlacement::Thread(_) => false,
        }
    }
}

/// The length of an array along each dimension, where a text can tell it.
pub(super) fn lengths(kernels: &Kernels, array: Handle<Array>, options: &WgslOptions) -> Vec<Option<i64>> {
    let known = |it: &crate::space::Symbol| {
        let levels = options.levels.filter(|_| it.name() == Axis::K.name());
        levels.map(i64::from)
    };
    kernels.program.places(array).map(|it| it.evaluated(&mut |it| known(it))).collect()
}

fn elements(kernels: &Kernels, array: Handle<Array>, options: &WgslOptions) -> Option<u64> {
    lengths(kernels, array, options)
        .into_iter()
        .try_fold(1_u64, |n, it| n.checked_mul(u64::try_from(it?.max(0)).ok()?))
        .map(|it| it.max(1))
}

/// Elements of a variable of a thread, beyond which it is better off in a buffer.
const MOST_OF_A_THREAD: u64 = 512;

/// Where each array of the program lives; none for what has no memory.
#[must_use]
pub fn lives(kernels: &Kernels, options: &WgslOptions) -> SideTable<Array, ArrayPlacement> {
    let wanted = |at: Handle<Array>| {
        let n = elements(kernels, at, options);
        let place = match kernels.memory(at)? {
            ArrayMemory::Global => ArrayPlacement::Global,
            ArrayMemory::Shared => n.map_or(ArrayPlacement::OfBlocks, ArrayPlacement::Block),
            ArrayMemory::SharedByThread => n.map_or(ArrayPlacement::OfThreads, ArrayPlacement::BlockByThread),
            ArrayMemory::Registers => n
                .filter(|it| *it <= MOST_OF_A_THREAD)
                .map_or(ArrayPlacement::OfThreads, ArrayPlacement::Thread),
            ArrayMemory::Scratch => ArrayPlacement::OfThreads,
        };
        Some((at, place))
    };
    let mut all: SideTable<Array, ArrayPlacement> =
        kernels.program.arrays.handles().filter_map(wanted).collect();
    for kernel in &kernels.kernels {
        // Arrays that are too much for a block's memory go to a buffer, the largest first.
        while shared_bytes(kernels, kernel, &all, options) > u64::from(options.shared_bytes) {
            let n_threads = u64::from(kernel.n_threads().max(1));
            let size = |at: Handle<Array>| match all.get(at).copied() {
                Some(ArrayPlacement::Block(n)) => n,
                Some(ArrayPlacement::BlockByThread(n)) => n.saturating_mul(n_threads),
                _ => 0,
            };
            let named = named(kernel);
            let Some(largest) = named.into_iter().max_by_key(|&it| size(it)).filter(|&it| size(it) > 0)
            else {
                break;
            };
            let is_of_block = matches!(all.get(largest), Some(ArrayPlacement::Block(_)));
            let place = if is_of_block { ArrayPlacement::OfBlocks } else { ArrayPlacement::OfThreads };
            all.insert(largest, place);
        }
    }
    all
}

/// Bytes of a block of a kernel.
fn shared_bytes(
    kernels: &Kernels,
    kernel: &Kernel,
    lives: &SideTable<Array, ArrayPlacement>,
    options: &WgslOptions,
) -> u64 {
    let n_threads = u64::from(kernel.n_threads().max(1));
    let bytes = named(kernel).into_iter().map(|at| {
        let n = match lives.get(at).copied() {
            Some(ArrayPlacement::Block(n)) => n,
            Some(ArrayPlacement::BlockByThread(n)) => n.saturating_mul(n_threads),
            _ => 0,
        };
        n.saturating_mul(options.element_bytes(kernels.program.arrays[at].dtype)).next_multiple_of(16)
    });
    bytes.fold(0, u64::saturating_add)
}

/// The arrays that a kernel names.
pub(super) fn named(kernel: &Kernel) -> Vec<Handle<Array>> {
    let mut named = std::collections::BTreeSet::new();
    kernel.walk(&mut |item| {
        item.each_element(&mut |it| {
            named.insert(it.array);
        });
        item.each_expr(&mut |expr| {
            expr.accesses(&mut |it| {
                if let crate::loops::nodes::Read::Element(it) = it {
                    named.insert(it.array);
                }
            });
        });
    });
    kernel.each_condition(&mut |expr| {
        expr.accesses(&mut |it| {
            if let crate::loops::nodes::Read::Element(it) = it {
                named.insert(it.array);
            }
        });
    });
    named.into_iter().collect()
}

/// The arrays that kernels write.
pub(super) fn written<'k>(kernels: impl IntoIterator<Item = &'k Kernel>) -> Vec<Handle<Array>> {
    let mut written = std::collections::BTreeSet::new();
    for kernel in kernels {
        kernel.walk(&mut |item| {
            walk(std::slice::from_ref(item), &mut |item| {
                if let Statement::Assign(it) = item
                    && let Target::Element(it) = &it.target
                {
                    written.insert(it.array);
                }
            });
        });
    }
    written.into_iter().collect()
}

/// The buffers of a text, for arrays that its kernels name.
pub(super) fn buffers(
    kernels: &Kernels,
    lives: &SideTable<Array, ArrayPlacement>,
    options: &WgslOptions,
    most: usize,
) -> Vec<PackedBuffer<&'static str>> {
    let program = &kernels.program;
    let named: std::collections::BTreeSet<Handle<Array>> = kernels.kernels.iter().flat_map(named).collect();
    let written = written(&kernels.kernels);
    let items =
        named.into_iter().filter(|&at| lives.get(at).is_some_and(|it| it.is_in_buffer())).map(|array| {
            let it = &program.arrays[array];
            let is_own = it.storage != Storage::Caller;
            let is_written = is_own || written.contains(&array);
            PackedArray { array, class: options.element_type(it.dtype), is_written, is_own }
        });
    pack::pack(&items.collect::<Vec<_>>(), most)
}
