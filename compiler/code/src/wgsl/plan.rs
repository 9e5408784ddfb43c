//! The launches of a call: blocks, positions, sizes and buffers, for the sizes and strides of its arrays.

use std::collections::BTreeMap;

use crate::call::launch::{Argument, Launch as Call};
use crate::entity::{Handle, SideTable};
use crate::kernel::Kernels;
use crate::kernel::call::{ArrayArgument, CallRefusal, Sizes};
use crate::loops::nodes::Array;
use crate::space::{Axis, Symbol};
use crate::types::Value;
use crate::wgsl::{ArrayPlacement, Binding, Param, WgslArtifact};

/// Whether neighbours along i lie side by side in every field of a call.
pub fn is_unit(places: &SideTable<Array, ArrayArgument>, call: &Call) -> bool {
    places.iter().all(|(_, place)| match (place.axes, call.arguments.get(place.position)) {
        (Some(axes), Some(Argument::Field(field))) => !axes.has(Axis::I) || field.strides(axes)[0] == 1,
        _ => true,
    })
}

/// A call, as the device carries it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Of each binding that has arrays, by its number: what lies where.
    pub buffers: BTreeMap<usize, BufferPlan>,
    /// The block of sizes.
    pub words: Vec<u32>,
    /// In order.
    pub launches: Vec<WgslLaunch>,
}

/// A buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferPlan {
    pub bytes: u64,
    pub arrays: Vec<BufferArray>,
    pub is_own: bool,
    pub is_written: bool,
}

/// An array in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferArray {
    pub array: Handle<Array>,
    /// In elements from the start of the buffer.
    pub first: u64,
    pub elements: u64,
}

/// A launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WgslLaunch {
    /// By position in [`Kernels::kernels`].
    pub kernel: usize,
    pub blocks: [u32; 3],
    /// Of the loops of the host around.
    pub positions: Vec<i32>,
}

/// The limits of a device.
#[derive(Clone, Copy, Debug)]
pub struct DeviceLimits {
    /// Bytes of a buffer that is bound.
    pub bytes: u64,
    /// Blocks along an axis.
    pub blocks: u32,
}

/// Indices are integers of 32 bits.
const MOST_ELEMENTS: i64 = 1 << 31;

impl Plan {
    /// The plan of a call.
    ///
    /// # Errors
    ///
    /// Where an array is larger than the device can bind, or a grid has too many blocks. Also where a domain
    /// has more cells than a word can number.
    pub fn of(
        kernels: &Kernels,
        artifact: &WgslArtifact,
        places: &SideTable<Array, ArrayArgument>,
        call: &Call,
        most: DeviceLimits,
    ) -> Result<Self, CallRefusal> {
        let sizes = Sizes::of(kernels, places, call, |at| artifact.lives.get(at).is_some())?;
        let mut planning = WgslPlanner {
            kernels,
            artifact,
            most,
            sizes,
            launches: Vec::new(),
            most_threads: 0,
            most_blocks: 0,
        };
        planning.launches()?;
        let mut firsts: SideTable<Array, i64> = SideTable::default();
        let mut buffers = BTreeMap::new();
        for (binding, it) in artifact.bindings.iter().enumerate() {
            let Binding::Arrays { arrays, is_written, is_own } = it else { continue };
            buffers.insert(binding, planning.packed(arrays, *is_written, *is_own, &mut firsts)?);
        }
        let mut words = vec![0];
        for it in &artifact.params {
            planning.put(it, places, call, &firsts, &mut words)?;
        }
        Ok(Self { buffers, words, launches: planning.launches })
    }
}

struct WgslPlanner<'k> {
    kernels: &'k Kernels,
    artifact: &'k WgslArtifact,
    most: DeviceLimits,
    sizes: Sizes<'k>,
    launches: Vec<WgslLaunch>,
    most_threads: i64,
    most_blocks: i64,
}

impl WgslPlanner<'_> {
    fn launches(&mut self) -> Result<(), CallRefusal> {
        let Self { kernels, most, sizes, launches, most_threads, most_blocks, .. } = self;
        sizes.walk(&kernels.host, &mut |sizes, at| {
            let kernel = &kernels.kernels[at];
            let Some(blocks) = sizes.blocks(kernel, [most.blocks; 3])? else { return Ok(()) };
            let n_blocks = blocks.iter().fold(1_i64, |n, &it| n.saturating_mul(i64::from(it)));
            *most_blocks = (*most_blocks).max(n_blocks);
            let n_threads = n_blocks.saturating_mul(i64::from(kernel.n_threads().max(1)));
            *most_threads = (*most_threads).max(n_threads);
            let position = |it: &Symbol| {
                let known = sizes.position(it).and_then(|it| i32::try_from(it).ok());
                known.ok_or_else(|| {
                    CallRefusal::Other("a kernel asks for a position that there is not".to_owned())
                })
            };
            let positions: Result<Vec<i32>, CallRefusal> = kernel.outer.iter().map(position).collect();
            launches.push(WgslLaunch { kernel: at, blocks, positions: positions? });
            Ok(())
        })
    }

    /// Arrays one behind the other.
    fn packed(
        &self,
        arrays: &[Handle<Array>],
        is_written: bool,
        is_own: bool,
        firsts: &mut SideTable<Array, i64>,
    ) -> Result<BufferPlan, CallRefusal> {
        let mut packed = BufferPlan { bytes: 0, arrays: Vec::new(), is_own, is_written };
        let mut first = 0_i64;
        let mut size = 4;
        for &array in arrays {
            let times = match self.artifact.lives.get(array) {
                Some(ArrayPlacement::OfThreads) => self.most_threads,
                Some(ArrayPlacement::OfBlocks) => self.most_blocks,
                _ => 1,
            };
            let elements =
                self.sizes.layouts[array].elements.checked_mul(times).ok_or(CallRefusal::OutOfMemory)?;
            let unsigned = |it: i64| u64::try_from(it).map_err(|_| CallRefusal::OutOfMemory);
            packed.arrays.push(BufferArray { array, first: unsigned(first)?, elements: unsigned(elements)? });
            firsts.insert(array, first);
            first = first.checked_add(elements).ok_or(CallRefusal::OutOfMemory)?;
            size = self.artifact.options.element_bytes(self.kernels.program.arrays[array].dtype);
        }
        let bytes =
            u64::try_from(first).ok().and_then(|it| it.checked_mul(size)).ok_or(CallRefusal::OutOfMemory)?;
        packed.bytes = bytes;
        if bytes > self.most.bytes || first >= MOST_ELEMENTS {
            let names: Vec<String> = arrays
                .iter()
                .map(|&it| format!("`{}`", self.kernels.program.arrays[it].stencil_name))
                .collect();
            let most = self.most.bytes;
            let (names, verb) = (names.join(", "), if arrays.len() == 1 { "takes" } else { "take together" });
            return Err(CallRefusal::Other(format!(
                "{names} {verb} {bytes} bytes, and the GPU lets a kernel reach {most} bytes of a buffer; choose a \
                 smaller domain, or a back end for the CPU"
            )));
        }
        Ok(packed)
    }

    /// The words of a parameter.
    fn put(
        &self,
        it: &Param,
        places: &SideTable<Array, ArrayArgument>,
        call: &Call,
        firsts: &SideTable<Array, i64>,
        words: &mut Vec<u32>,
    ) -> Result<(), CallRefusal> {
        let index = match it {
            Param::Size(axis) => self.sizes.domain.along(*axis),
            Param::Start(array) => {
                firsts.get(*array).unwrap_or(&0).saturating_add(self.sizes.layouts[*array].start)
            }
            Param::Stride { array, dimension } => self.sizes.stride(*array, *dimension),
            Param::Levels { array, side } => self.sizes.levels(*array, *side),
            Param::Elements(array) => self.sizes.layouts[*array].elements,
            Param::Value(array) => {
                let given = places.get(*array).and_then(|it| call.arguments.get(it.position));
                let Some(Argument::Scalar(value)) = given else {
                    let name = &self.kernels.program.arrays[*array].stencil_name;
                    return Err(CallRefusal::Other(format!(
                        "a kernel asks for `{name}`, which was not passed"
                    )));
                };
                let options = &self.artifact.options;
                let value = value.cast(options.computed(value.dtype()));
                let bits = bits(value);
                words.push(low(bits));
                if it.words(self.kernels, options) == 2 {
                    words.push(low(bits >> 32));
                }
                return Ok(());
            }
        };
        let index = i32::try_from(index)
            .map_err(|_| CallRefusal::too_large("is beyond what indices of 32 bits reach"))?;
        words.push(index.cast_unsigned());
        Ok(())
    }
}

/// The bits of a value as a word of the device, or as two.
fn bits(value: Value) -> u64 {
    match value {
        Value::Float32(_) | Value::Float64(_) | Value::Int64(_) => value.bits(),
        Value::Bool(_) | Value::Int8(_) | Value::Int16(_) | Value::Int32(_) => value.bits() & 0xffff_ffff,
    }
}

fn low(bits: u64) -> u32 {
    u32::try_from(bits & 0xffff_ffff).unwrap_or(0)
}
