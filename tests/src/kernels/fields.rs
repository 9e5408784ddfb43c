//! The fields that the contestants of one process share, laid out as an expert would lay them out.

use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::{Argument, FieldArgument, Launch};
use isobar_compiler::call::signature::{AccessKind, ParamKind, Signature};
use isobar_compiler::for_elements;
use isobar_compiler::space::{Axis, AxisSet};
use isobar_compiler::types::DType;

use super::Tolerance;
use crate::native;

/// A cache line, and the widest vector.
const ALIGNMENT: usize = 64;

/// How the fields of callers lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Along i, each row right behind the one before: what models in Fortran have.
    AlongI,
    /// Along k: what NumPy makes.
    AlongK,
}

impl Layout {
    /// In two words, as tables have it.
    #[must_use]
    pub fn told(self) -> &'static str {
        match self {
            Layout::AlongI => "along i",
            Layout::AlongK => "along k",
        }
    }
}

/// The arguments of calls.
#[derive(Debug)]
pub struct Fields {
    /// The call.
    pub launch: Launch,
    /// The written fields, by position. A field that is also read comes with its elements from before.
    written: Vec<(usize, Option<Elements>)>,
}

impl Fields {
    /// The same values, with the first point of the compute domain of each row at the start of a cache line.
    #[must_use]
    pub fn aligned(given: &Launch, signature: &Signature) -> Self {
        let arguments = signature.params.iter().zip(&given.arguments);
        let arguments = arguments.map(|(param, argument)| match (&param.kind, argument) {
            (ParamKind::Field { axes, .. }, Argument::Field(field)) if axes.has(Axis::I) => {
                Argument::Field(aligned(field, *axes))
            }
            _ => argument.clone(),
        });
        Self::of(Launch { domain: given.domain, arguments: arguments.collect() }, signature)
    }

    /// The same values in fields of a caller's.
    #[must_use]
    pub fn of_layout(given: &Launch, signature: &Signature, layout: Layout) -> Self {
        let laid = match layout {
            Layout::AlongI => native::Layout::Fortran,
            Layout::AlongK => native::Layout::C,
        };
        Self::of(laid.of(given, &signature.params), signature)
    }

    /// Compares the written fields with the expected ones, element by element whatever the layout. Both have
    /// the elements of `given`.
    ///
    /// # Errors
    ///
    /// How many elements differ, in a sentence.
    pub fn compare_with(&self, meant: &Self, given: &Launch) -> Result<(), String> {
        for &(at, _) in &self.written {
            let (Argument::Field(found), Argument::Field(meant), Argument::Field(given)) =
                (&self.launch.arguments[at], &meant.launch.arguments[at], &given.arguments[at])
            else {
                continue;
            };
            // Where rows begin elsewhere, so does the domain.
            let bits = |it: &FieldArgument, index: &[usize]| {
                let mut place = index.to_vec();
                if let Some(row) = place.first_mut() {
                    let beside = it.origin[Axis::I.index()] - given.origin[Axis::I.index()];
                    *row += usize::try_from(beside).unwrap_or(0);
                }
                it.array.get(&place).bits()
            };
            let n = given.array.indices().filter(|it| bits(found, it) != bits(meant, it)).count();
            if n > 0 {
                return Err(format!("argument {at}: {n} elements differ"));
            }
        }
        Ok(())
    }

    /// Fields as they are.
    #[must_use]
    pub fn of(launch: Launch, signature: &Signature) -> Self {
        let written = signature.params.iter().zip(&launch.arguments).enumerate();
        let written = written.filter_map(|(at, (param, argument))| match argument {
            Argument::Field(field) if param.access.is_written() => {
                let is_read = param.access != AccessKind::Write;
                Some((at, is_read.then(|| field.array.elements.clone())))
            }
            Argument::Field(_) | Argument::Scalar(_) | Argument::Unused => None,
        });
        Self { written: written.collect(), launch }
    }

    /// Restores the fields that a call both changes and reads.
    pub fn restore(&mut self) {
        for (at, before) in &self.written {
            if let (Some(before), Argument::Field(field)) = (before, &mut self.launch.arguments[*at]) {
                copy(before, &mut field.array.elements);
            }
        }
    }

    /// Restores these fields, and resets those that a call only writes, so that nobody passes with the
    /// results of others.
    pub fn spoil(&mut self) {
        for (at, before) in &self.written {
            if let (None, Argument::Field(field)) = (before, &mut self.launch.arguments[*at]) {
                for_elements!(&mut field.array.elements, it => it.fill(Default::default()));
            }
        }
        self.restore();
    }

    /// The fields that calls write, with their positions.
    pub fn written(&self) -> impl Iterator<Item = (usize, &Elements)> {
        self.written.iter().filter_map(|(at, _)| match &self.launch.arguments[*at] {
            Argument::Field(field) => Some((*at, &field.array.elements)),
            Argument::Scalar(_) | Argument::Unused => None,
        })
    }

    /// Compares the written fields with the expected ones, by position.
    ///
    /// # Errors
    ///
    /// The difference, in a sentence.
    pub fn compare(&self, meant: &[(usize, Elements)], tolerance: Tolerance) -> Result<Agreement, String> {
        let mut all = Agreement::Bits;
        for ((at, found), (_, meant)) in self.written().zip(meant) {
            all = all.max(compare(found, meant, tolerance).map_err(|why| format!("argument {at}: {why}"))?);
        }
        Ok(all)
    }
}

/// How well two results agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    Bits,
    Close,
}

impl Agreement {
    /// In two words.
    #[must_use]
    pub fn told(self) -> &'static str {
        match self {
            Agreement::Bits => "same bits",
            Agreement::Close => "close",
        }
    }
}

/// Elements as numbers of 64 bits, which holds both types that are measured.
fn wide(elements: &Elements) -> Vec<f64> {
    for_elements!(elements, it => it.iter().map(|&it| Wide::wide(it)).collect())
}

trait Wide {
    fn wide(self) -> f64;
}

macro_rules! wide {
    ($($type:ty),*) => { $(impl Wide for $type { fn wide(self) -> f64 { f64::from(self) } })* };
}
wide!(bool, i8, i16, i32, f32, f64);

impl Wide for i64 {
    #[expect(clippy::cast_precision_loss, reason = "no kernel writes integers")]
    fn wide(self) -> f64 {
        self as f64
    }
}

/// How far elements are from those that are meant.
///
/// # Errors
///
/// How many differ, in a sentence.
pub fn compare(found: &Elements, meant: &Elements, tolerance: Tolerance) -> Result<Agreement, String> {
    let (found_wide, meant_wide) = (wide(found), wide(meant));
    if found_wide.len() != meant_wide.len() {
        return Err("another number of elements".to_owned());
    }
    let pairs = || found_wide.iter().zip(&meant_wide);
    // Bits of the narrower type are those of the wider: the conversion keeps all values apart.
    let unequal = pairs().filter(|(a, b)| a.to_bits() != b.to_bits()).count();
    if unequal == 0 {
        return Ok(Agreement::Bits);
    }
    let first = pairs().position(|(a, b)| a.to_bits() != b.to_bits()).unwrap_or_default();
    let told = |n: usize| {
        format!(
            "{n} of {} elements differ, first {:?} from {:?}",
            meant_wide.len(),
            found_wide[first],
            meant_wide[first]
        )
    };
    let Tolerance::Close([of_64, of_32]) = tolerance else { return Err(told(unequal)) };
    let (part, of_thousand) = if meant.dtype() == DType::Float32 { (of_32, 20) } else { (of_64, 1) };
    let largest = meant_wide.iter().filter(|it| it.is_finite()).fold(0.0, |a: f64, b| a.max(b.abs()));
    // NaN is near to NaN, whatever its sign, and an infinity to itself.
    #[expect(clippy::float_cmp, reason = "what is equal has no distance")]
    let is_near = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= part * largest;
    let far = pairs().filter(|(a, b)| !is_near(**a, **b)).count();
    if far * 1000 > meant_wide.len() * of_thousand { Err(told(far)) } else { Ok(Agreement::Close) }
}

fn copy(from: &Elements, to: &mut Elements) {
    match (from, to) {
        (Elements::Float64(from), Elements::Float64(to)) => to.copy_from_slice(from),
        (Elements::Float32(from), Elements::Float32(to)) => to.copy_from_slice(from),
        (from, to) => *to = from.clone(),
    }
}

/// Neighbours along i lie side by side in what is given.
fn aligned(given: &FieldArgument, axes: AxisSet) -> FieldArgument {
    let dtype = given.array.dtype();
    let in_line = ALIGNMENT / dtype.size_bytes();
    let mut shape = given.array.shape.clone();
    let row = shape[0];
    // Room to move by a line, and an end at the end of one.
    shape[0] = (row + in_line).next_multiple_of(in_line);
    let mut array = Array::zeros(dtype, &shape);
    let address = for_elements!(&array.elements, it => it.as_ptr().addr());
    let origin = usize::try_from(given.origin[0]).unwrap_or_default();
    let is_aligned = |by: &usize| (address + (origin + by) * dtype.size_bytes()).is_multiple_of(ALIGNMENT);
    let by = (0..in_line).find(is_aligned).unwrap_or_default();
    match (&given.array.elements, &mut array.elements) {
        (Elements::Float64(from), Elements::Float64(to)) => move_rows(from, to, [row, shape[0]], by),
        (Elements::Float32(from), Elements::Float32(to)) => move_rows(from, to, [row, shape[0]], by),
        // Kernels have no others; such a field stays as it is.
        _ => return given.clone(),
    }
    let mut origin = given.origin;
    origin[Axis::I.index()] += i64::try_from(by).unwrap_or_default();
    debug_assert!(axes.has(Axis::I));
    FieldArgument { array, origin }
}

/// Rows of one length into longer ones.
fn move_rows<T: Copy>(from: &[T], to: &mut [T], [row, longer]: [usize; 2], by: usize) {
    for (from, to) in from.chunks(row).zip(to.chunks_mut(longer)) {
        to[by..by + row].copy_from_slice(from);
    }
}
