//! What a call launches: blocks, positions, sizes and buffers, for the sizes and strides of its arrays.

use std::collections::BTreeMap;

use isobar_compiler::backend::kernel::Kernels;
use isobar_compiler::backend::kernel::cell::NONE;
use isobar_compiler::backend::kernel::nodes::Host;
use isobar_compiler::backend::launch::{Argument, Launch as Call};
use isobar_compiler::backend::signature::{ParamKind, Signature};
use isobar_compiler::backend::wgsl::{Artifact, Binding, Lives, Param};
use isobar_compiler::diag::StmtId;
use isobar_compiler::loops::nodes::{Meaning, Positions, Side, Storage};
use isobar_compiler::space::{Affine, Axis, AxisSet, Domain, Size, Symbol};
use isobar_compiler::types::Value;

use crate::failure::Failure;

/// What stands for an array of the program in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Its position in the launch.
    pub(super) position: usize,
    /// Of a field.
    pub(super) axes: Option<AxisSet>,
}

/// By position in the program's arrays; none for what a run allocates.
pub(super) fn places(kernels: &Kernels, signature: &Signature) -> Vec<Option<Place>> {
    let arguments = &kernels.program.arguments;
    let place = |at: usize| {
        let name = &kernels.program.arrays[at].stencil_name;
        let is_passed = arguments.contains(&at);
        let position = signature.params.iter().position(|it| is_passed && it.name == *name)?;
        let axes = match signature.params[position].kind {
            ParamKind::Field { axes, .. } => Some(axes),
            ParamKind::Scalar { .. } => None,
        };
        Some(Place { position, axes })
    };
    (0..kernels.program.arrays.len()).map(place).collect()
}

/// Whether neighbours along i lie side by side in every field of a call.
pub(super) fn is_unit(places: &[Option<Place>], call: &Call) -> bool {
    places.iter().flatten().all(|place| match (place.axes, call.arguments.get(place.position)) {
        (Some(axes), Some(Argument::Field(field))) => !axes.has(Axis::I) || field.strides(axes)[0] == 1,
        _ => true,
    })
}

/// A call, as the device carries it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Of each binding that has arrays, by its number: what lies where.
    pub(super) buffers: BTreeMap<usize, Packed>,
    /// The block of sizes.
    pub(super) words: Vec<u32>,
    /// In order.
    pub(super) launches: Vec<Launch>,
}

/// A buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Packed {
    pub(super) bytes: u64,
    pub(super) arrays: Vec<Lying>,
    pub(super) is_own: bool,
    pub(super) is_written: bool,
}

/// An array in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lying {
    pub(super) array: usize,
    /// In elements from the start of the buffer.
    pub(super) first: u64,
    pub(super) elements: u64,
}

/// A launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Launch {
    /// By position in [`Kernels::kernels`].
    pub(super) kernel: usize,
    pub(super) blocks: [u32; 3],
    /// Of the loops of the host around.
    pub(super) positions: Vec<i32>,
}

/// What a device can do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Most {
    /// Bytes of a buffer that is bound.
    pub(super) bytes: u64,
    /// Blocks along an axis.
    pub(super) blocks: u32,
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
    pub(super) fn of(
        kernels: &Kernels,
        artifact: &Artifact,
        places: &[Option<Place>],
        call: &Call,
        most: Most,
    ) -> Result<Self, Failure> {
        if !kernels.can_number(call.domain) {
            return Err(too_large("has more cells than a run can tell apart that may have to end at one of them"));
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
                planning.layouts[at] = planning.own(at).ok_or(Failure::OutOfMemory)?;
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

    /// What the run makes, in bytes.
    pub(super) fn own_bytes(&self) -> u64 {
        self.buffers.values().filter(|it| it.is_own).map(|it| it.bytes).sum()
    }
}

/// How many elements of memory an array reaches; those of one on a device are not at hand.
pub(super) fn elements_of(array: &isobar_compiler::backend::array::Array) -> i64 {
    let reach = array.shape.iter().zip(&array.strides).fold(1_i64, |reach, (&n, stride)| {
        let last = i64::try_from(n).unwrap_or(i64::MAX).saturating_sub(1).max(0);
        reach.saturating_add(last.saturating_mul((*stride).max(0)))
    });
    let reach = reach.saturating_add(i64::try_from(array.first).unwrap_or(i64::MAX));
    reach.max(i64::try_from(array.elements.len()).unwrap_or(i64::MAX))
}

/// The statement and the cell at which a run has to end, by what its kernels left in the slots.
pub(super) fn ended(kernels: &Kernels, slots: &[u32], domain: Domain) -> Option<(StmtId, [i64; 3])> {
    let raised = kernels.places.iter().zip(slots).filter(|(_, number)| **number != NONE);
    let told = raised.map(|(place, &number)| {
        let [i, j, k] = place.cell_of(number, kernels.halo, domain);
        let (columns, rows) = (domain.i + 2 * kernels.halo, domain.j + 2 * kernels.halo);
        // Where levels have no order, the number begins with the level itself.
        let has_turns = place.trap.turn != Affine::default();
        let turn = if has_turns { i64::from(number) / (columns * rows) } else { 0 };
        ((place.trap.sweep, turn, place.trap.outermost, k, j, i), (place.trap.statement, [i, j, k]))
    });
    // Of equal ones the first.
    told.reduce(|first, next| if next.0 < first.0 { next } else { first }).map(|it| it.1)
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

    fn launch(&mut self, at: usize) -> Result<(), Failure> {
        let kernel = &self.kernels.kernels[at];
        let mut blocks = [1_u32; 3];
        // The last one is the fastest.
        for (it, count) in kernel.grid.iter().rev().zip(&mut blocks) {
            let n = turns(it, self.size(&it.start)?, self.size(&it.end)?);
            let most = self.most.blocks;
            let fits = u32::try_from(n).ok().filter(|it| *it <= most);
            *count = fits.ok_or_else(|| {
                too_large(&format!("needs {n} blocks along an axis, and the GPU has {most} at most"))
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
            known.ok_or_else(|| Failure::Machine("a kernel asks for a position that there is not".to_owned()))
        };
        let positions: Result<Vec<i32>, Failure> = kernel.outer.iter().map(position).collect();
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
    ) -> Result<Packed, Failure> {
        let mut packed = Packed { bytes: 0, arrays: Vec::new(), is_own, is_written };
        let mut first = 0_i64;
        let mut size = 4;
        for &array in arrays {
            let times = match self.artifact.lives[array] {
                Some(Lives::OfThreads) => self.most_threads,
                Some(Lives::OfBlocks) => self.most_blocks,
                _ => 1,
            };
            let elements = self.layouts[array].elements.checked_mul(times).ok_or(Failure::OutOfMemory)?;
            let unsigned = |it: i64| u64::try_from(it).map_err(|_| Failure::OutOfMemory);
            packed.arrays.push(Lying { array, first: unsigned(first)?, elements: unsigned(elements)? });
            firsts[array] = first;
            first = first.checked_add(elements).ok_or(Failure::OutOfMemory)?;
            size = self.artifact.options.element_bytes(self.kernels.program.arrays[array].dtype);
        }
        let bytes = u64::try_from(first).ok().and_then(|it| it.checked_mul(size)).ok_or(Failure::OutOfMemory)?;
        packed.bytes = bytes;
        if bytes > self.most.bytes || first >= MOST_ELEMENTS {
            let names: Vec<String> =
                arrays.iter().map(|&it| format!("`{}`", self.kernels.program.arrays[it].stencil_name)).collect();
            let most = self.most.bytes;
            let (names, verb) = (names.join(", "), if arrays.len() == 1 { "takes" } else { "take together" });
            return Err(Failure::Machine(format!(
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
    ) -> Result<(), Failure> {
        let index = match it {
            Param::Size(axis) => [self.domain.i, self.domain.j, self.domain.k][axis.index()],
            Param::Start(array) => firsts[*array].saturating_add(self.layouts[*array].start),
            Param::Stride { array, dimension } => self.layouts[*array].strides[*dimension],
            Param::Levels { array, side } => self.levels(*array, *side),
            Param::Elements(array) => self.layouts[*array].elements,
            Param::Value(array) => {
                let given = places[*array].and_then(|it| call.arguments.get(it.position));
                let Some(Argument::Scalar(value)) = given else {
                    let name = &self.kernels.program.arrays[*array].stencil_name;
                    return Err(Failure::Machine(format!("a kernel asks for `{name}`, which was not passed")));
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
        let index = i32::try_from(index).map_err(|_| too_large("is beyond what indices of 32 bits reach"))?;
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use isobar_compiler::backend::array::Array;
    use isobar_compiler::backend::launch::Call as Given;
    use isobar_compiler::backend::wgsl::{self, WgslOptions};
    use isobar_compiler::config::Config;
    use isobar_compiler::pipeline::{Compilation, NoHook, route};
    use isobar_compiler::project::Project;
    use isobar_compiler::types::DType;

    use super::*;

    fn compiled(body: &str) -> Compilation {
        let text = format!(
            "from gt4py.cartesian.gtscript import *\n\ndef f(q: Field[float], o: Field[float]):\n{body}\n"
        );
        let compilation = route::compile(&Project::of_one("main.py", &text), &Config::default(), &mut NoHook);
        assert!(!compilation.has_errors(), "{:#?}", compilation.diagnostics);
        compilation
    }

    fn planned(compilation: &Compilation, options: &WgslOptions, most: Most) -> Result<Plan, Failure> {
        let zeros = || Array::zeros(DType::Float64, &[8, 6, 5]);
        let fields = BTreeMap::from([("q".to_owned(), zeros()), ("o".to_owned(), zeros())]);
        let domain = Some([6, 4, 5]);
        let origin = BTreeMap::from([("_all_".to_owned(), vec![1, 1, 0])]);
        let call = compilation.bind(Given { fields, domain, origin, ..Given::default() }).unwrap();
        let kernels = compilation.levels.kernels().unwrap();
        let artifact = wgsl::generate(kernels, options);
        let places = places(kernels, compilation.signature.as_ref().unwrap());
        Plan::of(kernels, &artifact, &places, &call, most)
    }

    const MOST: Most = Most { bytes: 1 << 20, blocks: 65_535 };
    const SHIFT: &str = "    with computation(PARALLEL), interval(...):\n        o = q[1, 0, 0] + q[0, -1, 0]";

    #[test]
    fn a_field_beyond_the_limit_is_refused_with_both_numbers() {
        let most = Most { bytes: 1919, ..MOST };
        let refused = planned(&compiled(SHIFT), &WgslOptions::default(), most).unwrap_err();
        let Failure::Machine(why) = refused else { panic!("{refused:?}") };
        assert!(why.contains("takes 1920 bytes, and the GPU lets a kernel reach 1919 bytes"), "{why}");
    }

    #[test]
    fn fields_lie_alone_or_one_behind_the_other() {
        let compilation = compiled(
            "    with computation(PARALLEL), interval(...):\n        o = q + o\n        q = o * 2.0",
        );
        let alone = planned(&compilation, &WgslOptions::default(), MOST).unwrap();
        assert!(alone.buffers.values().all(|it| it.bytes == 1920 && it.arrays.len() == 1), "{alone:?}");
        let together = planned(&compilation, &WgslOptions { buffers: 3, ..WgslOptions::default() }, MOST);
        let together = together.unwrap();
        let [packed] = together.buffers.values().collect::<Vec<_>>()[..] else { panic!("{together:?}") };
        assert_eq!((packed.bytes, packed.arrays[1].first), (3840, 240));
        assert_eq!(together.words[0], 0, "what no compiler may know");
        assert_eq!(&together.words[1..4], [6, 4, 5]);
    }
}
