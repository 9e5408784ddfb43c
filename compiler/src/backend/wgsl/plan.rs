//! What a call launches: blocks, positions, sizes and buffers, for the sizes and strides of its arrays.

use std::collections::BTreeMap;

use crate::backend::kernel::Kernels;
use crate::backend::kernel::nodes::Host;
use crate::backend::launch::{Argument, Launch as Call};
use crate::backend::wgsl::{Artifact, Binding, Lives, Param};
use crate::loops::nodes::{Meaning, Positions, Side, Storage};
use crate::space::{Axis, Domain, Size, Symbol};
use crate::types::Value;

use crate::backend::kernel::call::{Place, Refused};

/// Whether neighbours along i lie side by side in every field of a call.
pub fn is_unit(places: &[Option<Place>], call: &Call) -> bool {
    places.iter().flatten().all(|place| match (place.axes, call.arguments.get(place.position)) {
        (Some(axes), Some(Argument::Field(field))) => !axes.has(Axis::I) || field.strides(axes)[0] == 1,
        _ => true,
    })
}

/// A call, as the device carries it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Of each binding that has arrays, by its number: what lies where.
    pub buffers: BTreeMap<usize, Packed>,
    /// The block of sizes.
    pub words: Vec<u32>,
    /// In order.
    pub launches: Vec<Launch>,
}

/// A buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    pub bytes: u64,
    pub arrays: Vec<Lying>,
    pub is_own: bool,
    pub is_written: bool,
}

/// An array in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lying {
    pub array: usize,
    /// In elements from the start of the buffer.
    pub first: u64,
    pub elements: u64,
}

/// A launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// By position in [`Kernels::kernels`].
    pub kernel: usize,
    pub blocks: [u32; 3],
    /// Of the loops of the host around.
    pub positions: Vec<i32>,
}

/// What a device can do.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    /// Bytes of a buffer that is bound.
    pub bytes: u64,
    /// Blocks along an axis.
    pub blocks: u32,
}

/// Indices are integers of 32 bits.
const MOST_ELEMENTS: i64 = 1 << 31;

impl Plan {
    /// That of a call.
    ///
    /// # Errors
    ///
    /// Where an array is beyond what the device binds, a grid has more blocks than there can be, or a domain more
    /// cells than a word tells apart.
    pub fn of(
        kernels: &Kernels,
        artifact: &Artifact,
        places: &[Option<Place>],
        call: &Call,
        most: Most,
    ) -> Result<Self, Refused> {
        if !kernels.can_number(call.domain) {
            return Err(Refused::too_large(
                "has more cells than a run can tell apart that may have to end at one of them",
            ));
        }
        let n = kernels.program.arrays.len();
        let mut planning = Planning {
            kernels,
            artifact,
            most,
            domain: call.domain,
            layouts: vec![Layout::default(); n],
            positions: BTreeMap::new(),
            launches: Vec::new(),
            most_threads: 0,
            most_blocks: 0,
        };
        for (at, place) in places.iter().enumerate() {
            let Some(Place { position, axes: Some(axes) }) = *place else { continue };
            let Some(Argument::Field(field)) = call.arguments.get(position) else { continue };
            let strides = field.strides(axes);
            let of_axes = axes.iter().map(|axis| strides[axis.index()]);
            let strides: Vec<i64> = of_axes.chain(field.data_strides(axes).iter().copied()).collect();
            let elements = elements_of(&field.array);
            let (start, levels) = (field.start(axes), field.levels_beside(axes, call.domain));
            planning.layouts[at] = Layout { strides, start, levels, elements };
        }
        for at in 0..n {
            if kernels.program.arrays[at].storage != Storage::Caller && artifact.lives[at].is_some() {
                planning.layouts[at] = planning.own(at).ok_or(Refused::OutOfMemory)?;
            }
        }
        for it in &kernels.host {
            planning.host(it)?;
        }
        let mut firsts = vec![0; n];
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

/// How many elements of memory an array reaches; those of one on a device are not at hand.
pub fn elements_of(array: &crate::backend::array::Array) -> i64 {
    let reach = array.shape.iter().zip(&array.strides).fold(1_i64, |reach, (&n, stride)| {
        let last = i64::try_from(n).unwrap_or(i64::MAX).saturating_sub(1).max(0);
        reach.saturating_add(last.saturating_mul((*stride).max(0)))
    });
    let reach = reach.saturating_add(i64::try_from(array.first).unwrap_or(i64::MAX));
    reach.max(i64::try_from(array.elements.len()).unwrap_or(i64::MAX))
}

/// How an array lies in memory.
#[derive(Clone, Debug, Default)]
struct Layout {
    /// Per dimension, in elements.
    strides: Vec<i64>,
    /// From its first element to where index 0 is along every axis.
    start: i64,
    levels: [i64; 2],
    elements: i64,
}

struct Planning<'k> {
    kernels: &'k Kernels,
    artifact: &'k Artifact,
    most: Most,
    domain: Domain,
    layouts: Vec<Layout>,
    /// Of the loops of the host.
    positions: BTreeMap<Symbol, i64>,
    launches: Vec<Launch>,
    /// Of a launch.
    most_threads: i64,
    most_blocks: i64,
}

impl Planning<'_> {
    /// The layout of an array that a run makes: without gaps, the first dimension fastest.
    fn own(&self, at: usize) -> Option<Layout> {
        let array = &self.kernels.program.arrays[at];
        let (mut strides, mut start, mut n) = (Vec::new(), 0_i64, 1_i64);
        for (length, shift) in array.places().zip(&array.shift) {
            strides.push(n);
            if array.storage == Storage::Heap {
                let shift = shift.evaluated(|it| self.value(it))?;
                start = start.checked_add(shift.checked_mul(n)?)?;
            }
            n = n.checked_mul(length.evaluated(&mut |it| self.value(it))?.max(0))?;
        }
        let start = start.checked_add(i64::try_from(array.row_start).ok()?)?;
        Some(Layout { strides, start, levels: [0; 2], elements: n })
    }

    fn value(&self, symbol: &Symbol) -> Option<i64> {
        let of_domain = |axis: Axis| [self.domain.i, self.domain.j, self.domain.k][axis.index()];
        match self.kernels.program.symbols.get(symbol) {
            Some(&Meaning::Size(axis)) => Some(of_domain(axis)),
            Some(&Meaning::Levels { array, side }) => Some(self.levels(array, side)),
            Some(Meaning::Position(_)) => self.positions.get(symbol).copied(),
            None => Axis::ALL.into_iter().find(|it| it.name() == symbol.name()).map(of_domain),
        }
    }

    fn levels(&self, array: usize, side: Side) -> i64 {
        let [below, above] = self.layouts[array].levels;
        match side {
            Side::Below => below,
            Side::Above => above,
        }
    }

    fn size(&self, it: &Size) -> Result<i64, Refused> {
        let told = it.evaluated(&mut |it| self.value(it));
        told.ok_or_else(|| {
            Refused::Other("a bound of a kernel depends on what the host does not know".to_owned())
        })
    }

    fn host(&mut self, it: &Host) -> Result<(), Refused> {
        match it {
            Host::Launch(kernel) => self.launch(*kernel),
            Host::For { positions, is_descending, body } => {
                let n = turns(positions, self.size(&positions.start)?, self.size(&positions.end)?);
                let start = self.size(&positions.start)?;
                for turn in 0..n {
                    let turn = if *is_descending { n - 1 - turn } else { turn };
                    self.positions.insert(positions.variable.clone(), start + turn * positions.step);
                    body.iter().try_for_each(|it| self.host(it))?;
                }
                self.positions.remove(&positions.variable);
                Ok(())
            }
        }
    }

    fn launch(&mut self, at: usize) -> Result<(), Refused> {
        let kernel = &self.kernels.kernels[at];
        let mut blocks = [1_u32; 3];
        // The last one is the fastest.
        for (it, count) in kernel.grid.iter().rev().zip(&mut blocks) {
            let n = turns(it, self.size(&it.start)?, self.size(&it.end)?);
            let most = self.most.blocks;
            let fits = u32::try_from(n).ok().filter(|it| *it <= most);
            *count = fits.ok_or_else(|| {
                Refused::too_large(&format!("needs {n} blocks along an axis, and the GPU has {most} at most"))
            })?;
        }
        if blocks.contains(&0) {
            return Ok(());
        }
        let n_blocks = blocks.iter().fold(1_i64, |n, &it| n.saturating_mul(i64::from(it)));
        self.most_blocks = self.most_blocks.max(n_blocks);
        let n_threads = n_blocks.saturating_mul(i64::from(kernel.n_threads().max(1)));
        self.most_threads = self.most_threads.max(n_threads);
        let position = |it: &Symbol| {
            let known = self.positions.get(it).and_then(|it| i32::try_from(*it).ok());
            known.ok_or_else(|| Refused::Other("a kernel asks for a position that there is not".to_owned()))
        };
        let positions: Result<Vec<i32>, Refused> = kernel.outer.iter().map(position).collect();
        self.launches.push(Launch { kernel: at, blocks, positions: positions? });
        Ok(())
    }

    /// Arrays one behind the other.
    fn packed(
        &self,
        arrays: &[usize],
        is_written: bool,
        is_own: bool,
        firsts: &mut [i64],
    ) -> Result<Packed, Refused> {
        let mut packed = Packed { bytes: 0, arrays: Vec::new(), is_own, is_written };
        let mut first = 0_i64;
        let mut size = 4;
        for &array in arrays {
            let times = match self.artifact.lives[array] {
                Some(Lives::OfThreads) => self.most_threads,
                Some(Lives::OfBlocks) => self.most_blocks,
                _ => 1,
            };
            let elements = self.layouts[array].elements.checked_mul(times).ok_or(Refused::OutOfMemory)?;
            let unsigned = |it: i64| u64::try_from(it).map_err(|_| Refused::OutOfMemory);
            packed.arrays.push(Lying { array, first: unsigned(first)?, elements: unsigned(elements)? });
            firsts[array] = first;
            first = first.checked_add(elements).ok_or(Refused::OutOfMemory)?;
            size = self.artifact.options.element_bytes(self.kernels.program.arrays[array].dtype);
        }
        let bytes =
            u64::try_from(first).ok().and_then(|it| it.checked_mul(size)).ok_or(Refused::OutOfMemory)?;
        packed.bytes = bytes;
        if bytes > self.most.bytes || first >= MOST_ELEMENTS {
            let names: Vec<String> = arrays
                .iter()
                .map(|&it| format!("`{}`", self.kernels.program.arrays[it].stencil_name))
                .collect();
            let most = self.most.bytes;
            let (names, verb) = (names.join(", "), if arrays.len() == 1 { "takes" } else { "take together" });
            return Err(Refused::Other(format!(
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
        places: &[Option<Place>],
        call: &Call,
        firsts: &[i64],
        words: &mut Vec<u32>,
    ) -> Result<(), Refused> {
        let index = match it {
            Param::Size(axis) => [self.domain.i, self.domain.j, self.domain.k][axis.index()],
            Param::Start(array) => firsts[*array].saturating_add(self.layouts[*array].start),
            Param::Stride { array, dimension } => {
                // Nothing is known of a field that is not made yet.
                let stride = self.layouts[*array].strides.get(*dimension);
                stride.copied().unwrap_or(0)
            }
            Param::Levels { array, side } => self.levels(*array, *side),
            Param::Elements(array) => self.layouts[*array].elements,
            Param::Value(array) => {
                let given = places[*array].and_then(|it| call.arguments.get(it.position));
                let Some(Argument::Scalar(value)) = given else {
                    let name = &self.kernels.program.arrays[*array].stencil_name;
                    return Err(Refused::Other(format!("a kernel asks for `{name}`, which was not passed")));
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
            .map_err(|_| Refused::too_large("is beyond what indices of 32 bits reach"))?;
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

/// How many positions there are.
fn turns(it: &Positions, start: i64, end: i64) -> i64 {
    if end <= start { 0 } else { (end - start - 1) / it.step.max(1) + 1 }
}
