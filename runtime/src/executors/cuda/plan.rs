//! What a call launches: blocks, arguments and memory, for the sizes and strides of its arrays.
//!
//! It needs no GPU: the tests run the same launches on a CPU.

use std::collections::BTreeMap;

use isobar_compiler::backend::cuda::{
    Artifact, Param, SHARED_ALIGNMENT, Signature, is_along_i, is_of_run, memory,
};
use isobar_compiler::backend::kernel::Kernels;
use isobar_compiler::backend::kernel::call::Place;
use isobar_compiler::backend::kernel::nodes::{Host, Kernel, Memory};
use isobar_compiler::backend::launch::{Argument, Launch as Call};
use isobar_compiler::loops::nodes::{Meaning, Positions, Side, Storage};
use isobar_compiler::space::{Axis, Domain, Size, Symbol};
use isobar_compiler::types::Value;

use crate::failure::Failure;

/// A call, as the device carries it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What it allocates beside its arguments: arrays of the program, and the bytes of each.
    pub allocated: Vec<(usize, u64)>,
    /// In order.
    pub launches: Vec<Launch>,
    /// Words for places where the run may have to end, each [`NONE`] at first.
    pub n_slots: usize,
    /// What module it needs.
    pub variant: Variant,
}

/// What a module is made for beside its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// Whether indices have 64 bits.
    pub is_wide: bool,
    /// Whether neighbours along i lie side by side in all fields.
    pub is_unit: bool,
}

/// A launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// By position in [`Kernels::kernels`].
    pub kernel: usize,
    pub blocks: [u32; 3],
    pub threads: [u32; 3],
    /// That the launch has to ask for.
    pub shared_bytes: u32,
    pub arguments: Vec<Passed>,
}

/// An argument of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// So many elements behind the first one of an array, or before it.
    Pointer {
        array: usize,
        element: i64,
    },
    /// The value of an argument, which is an array of the program.
    Value(usize),
    /// Of 32 bits, or of 64 where [`Variant::is_wide`] says so.
    Index(i64),
    Slots,
}

/// Blocks along x, and along y and z.
const MOST_BLOCKS: [u64; 3] = [(1 << 31) - 1, 65_535, 65_535];

/// Indices below it fit 32 bits.
const MOST_ELEMENTS: i64 = 1 << 31;

impl Plan {
    /// That of a call.
    ///
    /// # Errors
    ///
    /// Where an array is beyond any memory, a grid has more blocks than there can be, or a domain more cells than a
    /// word tells apart.
    pub fn of(
        kernels: &Kernels,
        artifact: &Artifact,
        places: &[Option<Place>],
        call: &Call,
    ) -> Result<Self, Failure> {
        let mut planning = Planning {
            kernels,
            artifact,
            domain: call.domain,
            layouts: Vec::new(),
            positions: BTreeMap::new(),
            launches: Vec::new(),
            scratch: BTreeMap::new(),
        };
        if !kernels.can_number(call.domain) {
            return Err(too_large(
                "has more cells than a run can tell apart that may have to end at one of them",
            ));
        }
        let n = kernels.program.arrays.len();
        planning.layouts = vec![Layout::default(); n];
        let mut is_wide = call.domain.i.max(call.domain.j).max(call.domain.k) >= MOST_ELEMENTS;
        let mut is_unit = true;
        for (at, place) in places.iter().enumerate() {
            let Some(Place { position, axes: Some(axes) }) = *place else { continue };
            let Some(Argument::Field(field)) = call.arguments.get(position) else { continue };
            let strides = field.strides(axes);
            let of_axes = axes.iter().map(|axis| strides[axis.index()]);
            let strides: Vec<i64> = of_axes.chain(field.data_strides(axes).iter().copied()).collect();
            is_unit &=
                strides.first().is_none_or(|it| *it == 1) || !is_along_i(&kernels.program.arrays[at], 0);
            let reach =
                field.array.shape.iter().zip(&field.array.strides).fold(1_i64, |reach, (&n, stride)| {
                    let last = i64::try_from(n).unwrap_or(i64::MAX).saturating_sub(1).max(0);
                    reach.saturating_add(last.saturating_mul(stride.saturating_abs()))
                });
            is_wide |= reach >= MOST_ELEMENTS;
            let (start, levels) = (field.start(axes), field.levels_beside(axes, call.domain));
            planning.layouts[at] = Layout { strides, start, levels, elements: reach };
        }
        for at in 0..n {
            if kernels.program.arrays[at].storage != Storage::Caller && memory(kernels, at).is_some() {
                planning.layouts[at] = planning.own(at).ok_or(Failure::OutOfMemory)?;
            }
        }
        for it in &kernels.host {
            planning.host(it)?;
        }
        let mut allocated = Vec::new();
        let scratch = std::mem::take(&mut planning.scratch);
        for at in 0..n {
            let times = if is_of_run(kernels, at) { Some(1) } else { scratch.get(&at).copied() };
            let Some(times) = times else { continue };
            let elements = planning.layouts[at].elements.checked_mul(times).ok_or(Failure::OutOfMemory)?;
            is_wide |= elements >= MOST_ELEMENTS;
            let size = kernels.program.arrays[at].dtype.size_bytes() as u64;
            let bytes = u64::try_from(elements).ok().and_then(|it| it.checked_mul(size));
            allocated.push((at, bytes.ok_or(Failure::OutOfMemory)?));
        }
        let launches = planning.launches;
        let variant = Variant { is_wide, is_unit };
        Ok(Self { allocated, launches, n_slots: kernels.places.len(), variant })
    }

    /// What it allocates, in bytes.
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

fn too_large(what: &str) -> Failure {
    Failure::Machine(format!("the domain {what}"))
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
    domain: Domain,
    layouts: Vec<Layout>,
    /// Of the loops of the host, and of blocks.
    positions: BTreeMap<Symbol, i64>,
    launches: Vec<Launch>,
    /// How many threads have an array of their own in the device's memory.
    scratch: BTreeMap<usize, i64>,
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

    fn size(&self, it: &Size) -> Result<i64, Failure> {
        let told = it.evaluated(&mut |it| self.value(it));
        told.ok_or_else(|| {
            Failure::Machine("a bound of a kernel depends on what the host does not know".to_owned())
        })
    }

    fn host(&mut self, it: &Host) -> Result<(), Failure> {
        match it {
            Host::Launch(kernel) => self.launch(*kernel),
            Host::For { positions, is_descending, body } => {
                let (start, end) = (self.size(&positions.start)?, self.size(&positions.end)?);
                let n = turns(positions, start, end);
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

    fn launch(&mut self, at: usize) -> Result<(), Failure> {
        let (kernel, signature): (&Kernel, &Signature) =
            (&self.kernels.kernels[at], &self.artifact.kernels[at]);
        let mut blocks = [1_u32; 3];
        // The last one is the fastest.
        for ((it, count), most) in kernel.grid.iter().rev().zip(&mut blocks).zip(MOST_BLOCKS) {
            let n = turns(it, self.size(&it.start)?, self.size(&it.end)?);
            let n = u64::try_from(n).unwrap_or(0);
            let fits = u32::try_from(n).ok().filter(|_| n <= most);
            *count =
                fits.ok_or_else(|| too_large(&format!("needs {n} blocks along an axis, and {most} can be")))?;
        }
        if blocks.contains(&0) {
            return Ok(());
        }
        let n_threads: i64 = signature.threads.iter().map(|&it| i64::from(it)).product();
        let n_of_launch = blocks.iter().fold(n_threads, |n, &it| n.saturating_mul(i64::from(it)));
        for &array in &signature.scratch {
            let most = self.scratch.entry(array).or_insert(0);
            *most = (*most).max(n_of_launch);
        }
        let mut shared_bytes = 0_u64;
        let mut shared_at = BTreeMap::new();
        if signature.is_dynamic {
            for &array in &signature.shared {
                let size = self.kernels.program.arrays[array].dtype.size_bytes() as u64;
                let is_of_thread = memory(self.kernels, array) == Some(Memory::SharedByThread);
                let times = if is_of_thread { u64::try_from(n_threads).unwrap_or(1) } else { 1 };
                let bytes = u64::try_from(self.layouts[array].elements).ok();
                let bytes = bytes.and_then(|it| it.checked_mul(size)?.checked_mul(times));
                shared_at.insert(array, shared_bytes);
                let next = bytes
                    .and_then(|it| shared_bytes.checked_add(it)?.checked_next_multiple_of(SHARED_ALIGNMENT));
                shared_bytes = next.ok_or(Failure::OutOfMemory)?;
            }
        }
        let passed = |param: &Param| match param {
            Param::Pointer(array) => {
                Ok(Passed::Pointer { array: *array, element: self.layouts[*array].start })
            }
            Param::Value(array) => Ok(Passed::Value(*array)),
            Param::Size(axis) => {
                Ok(Passed::Index([self.domain.i, self.domain.j, self.domain.k][axis.index()]))
            }
            Param::Stride { array, dimension } => {
                let stride = self.layouts[*array].strides.get(*dimension);
                Ok(Passed::Index(stride.copied().unwrap_or(0)))
            }
            Param::Levels { array, side } => Ok(Passed::Index(self.levels(*array, *side))),
            Param::Position(symbol) => {
                let known = self.positions.get(symbol).copied();
                known
                    .map(Passed::Index)
                    .ok_or_else(|| Failure::Machine("a kernel asks for no position".to_owned()))
            }
            Param::SharedAt(array) => {
                let at = shared_at.get(array).copied().unwrap_or(0);
                Ok(Passed::Index(i64::try_from(at).unwrap_or(i64::MAX)))
            }
            Param::Slots => Ok(Passed::Slots),
        };
        let arguments: Result<Vec<Passed>, Failure> = signature.params.iter().map(passed).collect();
        let launch = Launch {
            kernel: at,
            blocks,
            threads: signature.threads,
            shared_bytes: u32::try_from(shared_bytes).map_err(|_| Failure::OutOfMemory)?,
            arguments: arguments?,
        };
        self.launches.push(launch);
        Ok(())
    }
}

/// How many positions there are.
fn turns(it: &Positions, start: i64, end: i64) -> i64 {
    let step = it.step.max(1);
    (end - start).max(0).saturating_add(step - 1) / step
}
