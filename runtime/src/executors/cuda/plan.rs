//! The launches of a call: blocks, arguments and memory, for the sizes and strides of its arrays.
//!
//! It needs no GPU: the tests run the same launches on a CPU. The text of a kernel names its parameters
//! (`backend/cuda::Param`). Here each parameter becomes a number or a place in memory:
//!
//! | parameter | argument |
//! |---|---|
//! | a field, an array of the run | where the element at index 0 lies, as the array and a distance in elements |
//! | a scalar | the value that was passed |
//! | a size, a stride, levels beside the domain | an integer of the call |
//! | a position of a loop around the launch | its value: such a loop is written out, one launch after the other |
//! | where a shared array lies | bytes from the start of the block's memory, in the order of the arrays |
//! | slots | the words in which a run notes that it has to end |
//!
//! A launch without blocks is left out. Memory is allocated once: an array of threads for the largest of its
//! launches.

use std::collections::BTreeMap;

use isobar_compiler::call::launch::Launch as Call;
use isobar_compiler::cuda::{
    CudaArtifact, Param, SHARED_ALIGNMENT, Signature, is_along_i, is_of_run, memory,
};
use isobar_compiler::entity::{Handle, SideTable};
use isobar_compiler::kernel::Kernels;
use isobar_compiler::kernel::call::{ArrayArgument, CallRefusal, Sizes};
use isobar_compiler::kernel::nodes::ArrayMemory;
use isobar_compiler::loops::nodes::Array;
use isobar_compiler::types::Value;

/// A call, as the device carries it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPlan {
    /// Memory that it allocates beside its arguments: arrays of the program, and the bytes of each.
    pub allocated: Vec<(Handle<Array>, u64)>,
    /// In order.
    pub launches: Vec<KernelLaunch>,
    /// Words for places where the run may have to end, with all bits set at first.
    pub n_slots: usize,
    /// The module that it needs.
    pub module: ModuleKey,
}

/// The properties of a module beside its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModuleKey {
    /// Whether indices have 64 bits.
    pub is_wide: bool,
    /// Whether neighbours along i lie side by side in all fields.
    pub is_unit: bool,
}

/// A launch of a kernel. Two that are equal do the same with the same memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelLaunch {
    /// By position in [`Kernels::kernels`].
    pub kernel: usize,
    /// Along x, y, z; none is 0.
    pub blocks: [u32; 3],
    /// Along x, y, z, of each block.
    pub threads: [u32; 3],
    /// Shared memory that the launch has to ask for.
    pub shared_bytes: u32,
    /// In the order of the kernel's parameters.
    pub arguments: Vec<LaunchArgument>,
}

/// An argument of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchArgument {
    /// An address: so many elements behind the first one of an array, or before it.
    Pointer {
        array: Handle<Array>,
        element: i64,
    },
    /// The value of a scalar argument.
    Value(Handle<Array>),
    /// An integer of 32 bits, or of 64 where [`ModuleKey::is_wide`] says so.
    Index(i64),
    Slots,
}

/// The most blocks along x, y and z.
const MOST_BLOCKS: [u32; 3] = [(1 << 31) - 1, 65_535, 65_535];

/// Indices below it fit 32 bits.
const MOST_ELEMENTS: i64 = 1 << 31;

impl CallPlan {
    /// The plan of a call.
    ///
    /// # Errors
    ///
    /// Where an array is beyond any memory, a grid has too many blocks, or a domain has more cells than a
    /// word can number.
    pub fn of(
        kernels: &Kernels,
        artifact: &CudaArtifact,
        places: &SideTable<Array, ArrayArgument>,
        call: &Call,
    ) -> Result<Self, CallRefusal> {
        let sizes = Sizes::of(kernels, places, call, |at| memory(kernels, at).is_some())?;
        let mut is_wide = call.domain.i.max(call.domain.j).max(call.domain.k) >= MOST_ELEMENTS;
        let mut is_unit = true;
        for (array, place) in places.iter() {
            let ArrayArgument { axes: Some(_), .. } = *place else { continue };
            let layout = &sizes.layouts[array];
            is_unit &= layout.strides.first().is_none_or(|it| *it == 1)
                || !is_along_i(&kernels.program.arrays[array], 0);
            is_wide |= layout.elements >= MOST_ELEMENTS;
        }
        let mut planning =
            LaunchPlanner { kernels, artifact, sizes, launches: Vec::new(), scratch: BTreeMap::new() };
        planning.launches()?;
        let mut allocated = Vec::new();
        let scratch = std::mem::take(&mut planning.scratch);
        for array in kernels.program.arrays.handles() {
            let times = if is_of_run(kernels, array) { Some(1) } else { scratch.get(&array).copied() };
            let Some(times) = times else { continue };
            let elements =
                planning.sizes.layouts[array].elements.checked_mul(times).ok_or(CallRefusal::OutOfMemory)?;
            is_wide |= elements >= MOST_ELEMENTS;
            let size = kernels.program.arrays[array].dtype.size_bytes() as u64;
            let bytes = u64::try_from(elements).ok().and_then(|it| it.checked_mul(size));
            allocated.push((array, bytes.ok_or(CallRefusal::OutOfMemory)?));
        }
        let launches = planning.launches;
        let module = ModuleKey { is_wide, is_unit };
        Ok(Self { allocated, launches, n_slots: kernels.places.len(), module })
    }

    /// The bytes that it allocates; none where there are too many to count.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.allocated.iter().try_fold(4 * self.n_slots as u64, |all, it| all.checked_add(it.1))
    }
}

/// The bits of a value, in the lowest bytes of a word.
#[must_use]
pub fn bits(value: Value) -> u64 {
    match value {
        Value::Bool(it) => u64::from(it),
        Value::Int8(it) => u64::from(it.cast_unsigned()),
        Value::Int16(it) => u64::from(it.cast_unsigned()),
        Value::Int32(it) => u64::from(it.cast_unsigned()),
        Value::Int64(it) => it.cast_unsigned(),
        Value::Float32(it) => u64::from(it.to_bits()),
        Value::Float64(it) => it.to_bits(),
    }
}

struct LaunchPlanner<'k> {
    kernels: &'k Kernels,
    artifact: &'k CudaArtifact,
    sizes: Sizes<'k>,
    launches: Vec<KernelLaunch>,
    /// The number of threads that have an array of their own in the device's memory, by array.
    scratch: BTreeMap<Handle<Array>, i64>,
}

impl LaunchPlanner<'_> {
    fn launches(&mut self) -> Result<(), CallRefusal> {
        let Self { kernels, artifact, sizes, launches, scratch } = self;
        sizes.walk(&kernels.host, &mut |sizes, at| {
            let signature = &artifact.kernels[at];
            let Some(blocks) = sizes.blocks(&kernels.kernels[at], MOST_BLOCKS)? else { return Ok(()) };
            let n_threads: i64 = signature.threads.iter().map(|&it| i64::from(it)).product();
            let n_of_launch = blocks.iter().fold(n_threads, |n, &it| n.saturating_mul(i64::from(it)));
            for &array in &signature.scratch {
                let most = scratch.entry(array).or_insert(0);
                *most = (*most).max(n_of_launch);
            }
            launches.push(launch(kernels, sizes, signature, at, blocks)?);
            Ok(())
        })
    }
}

/// The launch of a kernel, with so many blocks.
fn launch(
    kernels: &Kernels,
    sizes: &Sizes<'_>,
    signature: &Signature,
    at: usize,
    blocks: [u32; 3],
) -> Result<KernelLaunch, CallRefusal> {
    let n_threads: u64 = signature.threads.iter().map(|&it| u64::from(it)).product();
    let mut shared_bytes = 0_u64;
    let mut shared_at = BTreeMap::new();
    if signature.is_dynamic {
        for &array in &signature.shared {
            let size = kernels.program.arrays[array].dtype.size_bytes() as u64;
            let is_of_thread = memory(kernels, array) == Some(ArrayMemory::SharedByThread);
            let times = if is_of_thread { n_threads } else { 1 };
            let bytes = u64::try_from(sizes.layouts[array].elements).ok();
            let bytes = bytes.and_then(|it| it.checked_mul(size)?.checked_mul(times));
            shared_at.insert(array, shared_bytes);
            let next =
                bytes.and_then(|it| shared_bytes.checked_add(it)?.checked_next_multiple_of(SHARED_ALIGNMENT));
            shared_bytes = next.ok_or(CallRefusal::OutOfMemory)?;
        }
    }
    let passed = |param: &Param| match param {
        Param::Pointer(array) => {
            Ok(LaunchArgument::Pointer { array: *array, element: sizes.layouts[*array].start })
        }
        Param::Value(array) => Ok(LaunchArgument::Value(*array)),
        Param::Size(axis) => Ok(LaunchArgument::Index(sizes.domain.along(*axis))),
        Param::Stride { array, dimension } => Ok(LaunchArgument::Index(sizes.stride(*array, *dimension))),
        Param::Levels { array, side } => Ok(LaunchArgument::Index(sizes.levels(*array, *side))),
        Param::Position(symbol) => {
            let known = sizes.position(symbol).map(LaunchArgument::Index);
            known.ok_or_else(|| {
                CallRefusal::Other("a kernel asks for a position that there is not".to_owned())
            })
        }
        Param::SharedAt(array) => {
            let at = shared_at.get(array).copied().unwrap_or(0);
            Ok(LaunchArgument::Index(i64::try_from(at).unwrap_or(i64::MAX)))
        }
        Param::Slots => Ok(LaunchArgument::Slots),
    };
    let arguments: Result<Vec<LaunchArgument>, CallRefusal> = signature.params.iter().map(passed).collect();
    Ok(KernelLaunch {
        kernel: at,
        blocks,
        threads: signature.threads,
        shared_bytes: u32::try_from(shared_bytes).map_err(|_| CallRefusal::OutOfMemory)?,
        arguments: arguments?,
    })
}
