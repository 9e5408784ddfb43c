//! Fields that are not contiguous along i: copied into rows before a call, and back after it.
//!
//! Generated loops have their lanes along i. Where neighbours along i lie apart, as in arrays of NumPy, each
//! element costs a line of memory. A copy by blocks ([`super::blocks`]) costs each line once, and all later
//! loops find rows.

use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::{Argument, FieldArgument, Launch};
use isobar_compiler::call::signature::{Param, ParamKind, Signature};
use isobar_compiler::inputs::{Rows, Workers};
use isobar_compiler::space::{Axis, AxisSet, Domain};
use isobar_compiler::types::DType;

use super::super::interface::start_of;
use super::blocks::{BlockCopy, BoxDimension, CopyDirection};
use crate::events::{self, CallLayout};
use crate::executors::Relayout;
use crate::executors::pool::RunThreads;

/// Rows of fewer points fill no vector, and fields of fewer points stay in the nearest cache, however they lie.
const LEAST_ROW: i64 = 8;
const LEAST_POINTS: i64 = 512;

/// Copies of fewer bytes are done before another thread is awake.
const THREAD_BYTES: usize = 256 << 10;

/// A cache line, at which the rows of copies start.
pub(super) const LINE_BYTES: usize = 64;

/// The bytes of a call's copies; 0 where its arguments are not made yet.
pub(in crate::executors) fn bytes(signature: &Signature, domain: Domain, arguments: &[Argument]) -> u64 {
    let moves = moves(&signature.params, Relayout::ByCost, domain, arguments);
    moves.iter().flatten().map(|it| it.bytes() as u64).fold(0, u64::saturating_add)
}

/// Moves the fields of a launch that do not lie along i into rows, for the owner of the launch. The fields
/// are moved whole, so that nothing has to be copied back. Tells how they lay; nothing where they stay as
/// they are.
pub fn in_rows(params: &[Param], launch: &mut Launch, near: &RunThreads) -> Option<CallLayout> {
    let Launch { domain, arguments } = launch;
    let moves = moves(params, Relayout::ByCost, *domain, arguments);
    let found = layout(params, arguments, events::LayoutTreatment::Copied, &moves);
    for (at, it) in moves.into_iter().enumerate() {
        let (Some(mut it), Some(Argument::Field(given))) = (it, arguments.get_mut(at)) else { continue };
        (it.shape, it.origin) = (given.array.shape.clone(), given.origin);
        it.starts.fill(0);
        let (strides, n) = it.layout();
        let first = usize::try_from(given.origin[0]).unwrap_or(0);
        let elements = Elements::zeros_at_line(it.dtype, n, first, LINE_BYTES);
        let strides = strides.into_iter().map(|it| i64::try_from(it).unwrap_or(i64::MAX)).collect();
        let array = Array { elements, first: 0, shape: it.shape.clone(), strides };
        let mut copy = FieldArgument { array, origin: it.origin };
        it.copy_there(given, &mut copy, false, near);
        *given = copy;
    }
    (!found.copied.is_empty()).then_some(found)
}

/// Returns the same call on arrays that are contiguous along an axis, without room between rows. Arrays along
/// `k` lie as those of NumPy, and arrays along `i` as those of Fortran.
#[must_use]
pub fn along(params: &[Param], launch: &mut Launch, axis: Axis, near: &RunThreads) -> Launch {
    let domain = launch.domain;
    let arguments = params.iter().zip(&mut launch.arguments).map(|(param, argument)| {
        let Some(mut it) = Move::of((param, argument), domain) else { return argument.clone() };
        let Argument::Field(given) = argument else { return argument.clone() };
        (it.shape, it.origin) = (given.array.shape.clone(), given.origin);
        it.starts.fill(0);
        let mut copy = dense(&it, axis);
        it.copy_back(given, &mut copy, near);
        Argument::Field(copy)
    });
    Launch { domain, arguments: arguments.collect() }
}

/// Returns a field of zeros that is contiguous along an axis, where the field has it.
fn dense(it: &Move, axis: Axis) -> FieldArgument {
    // From the nearest to the farthest.
    let order = match axis {
        Axis::I => [Axis::I, Axis::J, Axis::K],
        Axis::J => [Axis::J, Axis::K, Axis::I],
        Axis::K => [Axis::K, Axis::J, Axis::I],
    };
    let place = |axis: Axis| it.axes.iter().position(|it| it == axis);
    let mut dimensions: Vec<usize> = order.into_iter().filter_map(place).collect();
    let of_data = dimensions.len()..it.shape.len();
    match axis {
        // NumPy has those of data nearest.
        Axis::K => dimensions = of_data.rev().chain(dimensions).collect(),
        Axis::I | Axis::J => dimensions.extend(of_data),
    }
    let mut strides = vec![0; it.shape.len()];
    let mut n = 1_usize;
    for at in dimensions {
        strides[at] = i64::try_from(n).unwrap_or(i64::MAX);
        n = n.saturating_mul(it.shape[at]);
    }
    let array = Array { elements: Elements::zeros(it.dtype, n), first: 0, shape: it.shape.clone(), strides };
    FieldArgument { array, origin: it.origin }
}

/// A field that is copied, and which part of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Move {
    pub(super) dtype: DType,
    axes: AxisSet,
    /// The first position that is copied, and the number of positions, per dimension.
    starts: Vec<usize>,
    pub(super) shape: Vec<usize>,
    /// The first point of the compute domain, within the copy.
    pub(super) origin: [i64; 3],
    /// Whether the code may see the field's earlier values.
    is_needed: bool,
    is_written: bool,
}

/// The copies that a call needs, by position among the arguments; empty where it needs none.
pub(super) fn moves(
    params: &[Param],
    how: Relayout,
    domain: Domain,
    arguments: &[Argument],
) -> Vec<Option<Move>> {
    let is_worth_it = domain.i >= LEAST_ROW && domain.points() >= LEAST_POINTS;
    let is_one = |(param, argument): (&Param, &Argument)| match (&param.kind, argument) {
        (ParamKind::Field { axes, .. }, Argument::Field(field)) => !lies_in_rows(field, *axes),
        _ => false,
    };
    let may = match how {
        Relayout::Never => false,
        Relayout::ByCost => is_worth_it,
        Relayout::Copies | Relayout::Slabs | Relayout::Turns => true,
    };
    if !may || domain.points() == 0 || !params.iter().zip(arguments).any(is_one) {
        return Vec::new();
    }
    let each = params.iter().zip(arguments).map(|it| is_one(it).then(|| Move::of(it, domain)).flatten());
    each.collect()
}

/// Whether all fields of a call are contiguous along i.
pub(super) fn are_in_rows(params: &[Param], arguments: &[Argument]) -> bool {
    params.iter().zip(arguments).all(|it| match (&it.0.kind, it.1) {
        (ParamKind::Field { axes, .. }, Argument::Field(field)) => lies_in_rows(field, *axes),
        _ => true,
    })
}

/// Whether neighbours along i are neighbours in memory.
fn lies_in_rows(field: &FieldArgument, axes: AxisSet) -> bool {
    !axes.has(Axis::I) || field.array.strides.first() == Some(&1) || field.array.shape.first() == Some(&1)
}

/// The axis along which neighbours are neighbours in memory, where there is one.
fn nearest(field: &FieldArgument, axes: AxisSet) -> Option<Axis> {
    Some(axes.iter().zip(&field.array.strides).find(|(_, it)| it.abs() == 1)?.0)
}

impl Move {
    /// The part of a field that is copied; none for an argument that is no field.
    pub(super) fn of((param, argument): (&Param, &Argument), domain: Domain) -> Option<Self> {
        let (ParamKind::Field { axes, dtype, .. }, Argument::Field(field)) = (&param.kind, argument) else {
            return None;
        };
        let mut origin = field.origin;
        let mut shape = field.array.shape.clone();
        let mut starts = vec![0; shape.len()];
        let mut is_whole = true;
        for (at, axis) in axes.iter().enumerate() {
            let (below, above) = param.kind.halo(axis);
            let size = i64::try_from(shape[at]).ok()?;
            let first = origin[axis.index()];
            let inside = |it: i64| usize::try_from(it.clamp(0, size)).unwrap_or(0);
            // A level that is computed at run time may be any.
            let (start, end) = match axis {
                Axis::K => (0, shape[at]),
                Axis::I | Axis::J => {
                    (inside(first - below), inside(first.saturating_add(domain.along(axis)) + above))
                }
            };
            (starts[at], shape[at]) = (start, end.saturating_sub(start));
            origin[axis.index()] = first - i64::try_from(start).ok()?;
            is_whole &= shape[at] as i64 == domain.along(axis) && origin[axis.index()] == 0;
        }
        let is_needed = param.access.is_read() || param.access.is_written() && !is_whole;
        Some(Self {
            dtype: *dtype,
            axes: *axes,
            starts,
            shape,
            origin,
            is_needed,
            is_written: param.access.is_written(),
        })
    }

    /// Strides of the copy, and how many elements it takes.
    pub(super) fn layout(&self) -> (Vec<usize>, usize) {
        let rows = Rows::AtLines { bytes: LINE_BYTES };
        let plan = rows.plan(self.dtype, self.axes, &self.shape);
        (plan.strides, plan.n)
    }

    pub(super) fn bytes(&self) -> usize {
        self.layout().1.saturating_mul(self.dtype.size_bytes())
    }

    pub(super) fn is_needed(&self) -> bool {
        self.is_needed
    }

    pub(super) fn is_written(&self) -> bool {
        self.is_written
    }

    /// How many times it is copied for a call.
    pub(super) fn times(&self) -> f64 {
        f64::from(u8::from(self.is_needed)) + f64::from(u8::from(self.is_written))
    }

    /// The copy without elements.
    pub(super) fn outline(&self) -> FieldArgument {
        let strides = self.layout().0.into_iter().map(|it| i64::try_from(it).unwrap_or(i64::MAX)).collect();
        let elements = Elements::zeros(self.dtype, 0);
        FieldArgument {
            array: Array { elements, first: 0, shape: self.shape.clone(), strides },
            origin: self.origin,
        }
    }

    /// Copies the caller's field into the copy.
    pub(super) fn copy_there(
        &self,
        given: &mut FieldArgument,
        copy: &mut FieldArgument,
        is_streamed: bool,
        near: &RunThreads,
    ) {
        self.copy(given, copy, (CopyDirection::There, is_streamed), near);
    }

    /// Copies the results back into the caller's field.
    pub(super) fn copy_back(&self, copy: &mut FieldArgument, given: &mut FieldArgument, near: &RunThreads) {
        self.copy(given, copy, (CopyDirection::Back, false), near);
    }

    /// Copies between the caller's field and its copy.
    fn copy(
        &self,
        given: &mut FieldArgument,
        copy: &mut FieldArgument,
        (way, is_streamed): (CopyDirection, bool),
        near: &RunThreads,
    ) {
        let (plan, ends) = self.between(&CallerField::of_field(given), copy, (way, is_streamed));
        let size = self.dtype.size_bytes();
        let n = plan.rows();
        let pieces = if self.bytes() < THREAD_BYTES { 1 } else { near.pieces().min(n).max(1) };
        let part = |piece: usize| {
            let rows = piece * n / pieces..(piece + 1) * n / pieces;
            // SAFETY: `bind` checked that each index within the shape of an array is an element of it. The
            // part that is copied lies within both shapes. Where elements lie apart, no two pieces write the
            // same one.
            #[expect(unsafe_code, reason = "elements are moved between two arrays by their addresses")]
            unsafe {
                ends.copy(&plan, size, rows);
            }
        };
        if pieces == 1 {
            return part(0);
        }
        let part = &part;
        near.all((0..pieces).map(|it| Box::new(move || part(it)) as _).collect());
    }

    /// Copies between a field of a caller and a copy of this thread, in the direction `way`. Meanwhile other
    /// threads copy other parts of the field.
    pub(super) fn copy_alone(&self, given: &CallerField, copy: &mut FieldArgument, way: CopyDirection) {
        let (plan, ends) = self.between(given, copy, (way, false));
        // SAFETY: as in `copy`; parts that are written do not overlap, since no slab has rows of another one.
        #[expect(unsafe_code, reason = "elements are moved between two arrays by their addresses")]
        unsafe {
            ends.copy(&plan, self.dtype.size_bytes(), 0..plan.rows());
        }
    }

    /// The plan of a copy between the caller's field and its copy, and where both begin.
    fn between(
        &self,
        given: &CallerField,
        copy: &mut FieldArgument,
        (way, is_streamed): (CopyDirection, bool),
    ) -> (BlockCopy, CopyPointers) {
        let strides =
            |it: &[i64]| -> Vec<isize> { it.iter().map(|&it| isize::try_from(it).unwrap_or(0)).collect() };
        let (of_given, of_copy) = (strides(&given.strides), strides(&copy.array.strides));
        let starts = self.starts.iter().map(|&it| isize::try_from(it).unwrap_or(isize::MAX));
        let first = starts
            .zip(&of_given)
            .fold(0_isize, |sum, (start, stride)| sum.saturating_add(start.saturating_mul(*stride)));
        let size = self.dtype.size_bytes();
        let given = given.first.wrapping_offset(first.saturating_mul(size.cast_signed()));
        let copy = start_of(&mut copy.array.elements, 0).cast::<u8>();
        let dimensions: Vec<BoxDimension> = (0..self.shape.len())
            .map(|at| {
                let (from, to) = match way {
                    CopyDirection::There => (of_given[at], of_copy[at]),
                    CopyDirection::Back => (of_copy[at], of_given[at]),
                };
                BoxDimension { n: self.shape[at], from, to }
            })
            .collect();
        let lead = (LINE_BYTES - copy.addr() % LINE_BYTES) % LINE_BYTES / size;
        let plan = BlockCopy::of(&dimensions, way, (lead, is_streamed));
        let (from, to) = match way {
            CopyDirection::There => (given, copy),
            CopyDirection::Back => (copy, given),
        };
        (plan, CopyPointers { from: from.cast_const(), to })
    }

    /// Whether it has rows along j.
    pub(super) fn has_rows(&self) -> bool {
        self.axes.has(Axis::J)
    }

    /// Whether another one is the same but for where it starts.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        *self == Self { starts: self.starts.clone(), ..other.clone() }
    }
}

/// A field of a caller by the address of its first element: threads copy parts of it at the same time.
#[derive(Debug)]
pub(super) struct CallerField {
    first: *mut u8,
    strides: Vec<i64>,
}

// SAFETY: the copying code sees to it that no element is written that another thread reads or writes.
#[expect(unsafe_code, reason = "threads copy parts of one field")]
unsafe impl Sync for CallerField {}

impl CallerField {
    /// None for an argument that is no field.
    pub(super) fn of(argument: &mut Argument) -> Option<Self> {
        match argument {
            Argument::Field(field) => Some(Self::of_field(field)),
            Argument::Scalar(_) | Argument::Unused => None,
        }
    }

    fn of_field(field: &mut FieldArgument) -> Self {
        let first = i64::try_from(field.array.first).unwrap_or(i64::MAX);
        let first = start_of(&mut field.array.elements, first).cast();
        Self { first, strides: field.array.strides.clone() }
    }
}

/// The layout of a call's fields, and of their copies.
pub(super) fn layout(
    params: &[Param],
    arguments: &[Argument],
    way: events::LayoutTreatment,
    moves: &[Option<Move>],
) -> CallLayout {
    let mut layout = CallLayout { way, ..CallLayout::default() };
    for (param, argument) in params.iter().zip(arguments) {
        let (ParamKind::Field { axes, .. }, Argument::Field(field)) = (&param.kind, argument) else {
            continue;
        };
        if axes.has(Axis::I) {
            let axis = if lies_in_rows(field, *axes) { Some(Axis::I) } else { nearest(field, *axes) };
            layout.fields.push((param.name.clone(), axis));
        }
    }
    for (param, it) in params.iter().zip(moves).filter_map(|(param, it)| Some((param, it.as_ref()?))) {
        layout.copied.push(param.name.clone());
        let bytes = it.shape.iter().product::<usize>().saturating_mul(it.dtype.size_bytes()) as u64;
        layout.there_bytes += if it.is_needed { bytes } else { 0 };
        layout.back_bytes += if it.is_written { bytes } else { 0 };
    }
    layout
}

/// Where a copy begins on both sides.
#[derive(Clone, Copy)]
struct CopyPointers {
    from: *const u8,
    to: *mut u8,
}

// SAFETY: each thread reads and writes elements of its own through them.
#[expect(unsafe_code, reason = "pieces of one copy run on several threads")]
unsafe impl Sync for CopyPointers {}

impl CopyPointers {
    /// # Safety
    ///
    /// That of [`BlockCopy::copy`], for elements of `size` bytes.
    #[expect(unsafe_code, reason = "elements are moved between two arrays by their addresses")]
    unsafe fn copy(&self, plan: &BlockCopy, size: usize, rows: std::ops::Range<usize>) {
        let Self { from, to } = *self;
        // SAFETY: the caller vouches for `BlockCopy::copy`; integers of a size have the bits of any element
        // of that size.
        unsafe {
            match size {
                1 => plan.copy(from, to, rows),
                2 => plan.copy(from.cast::<u16>(), to.cast::<u16>(), rows),
                4 => plan.copy(from.cast::<u32>(), to.cast::<u32>(), rows),
                _ => plan.copy(from.cast::<u64>(), to.cast::<u64>(), rows),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isobar_compiler::call::signature::AccessKind;
    use isobar_compiler::diag::Span;
    use isobar_compiler::space::Reach;
    use isobar_compiler::types::Value;

    const DOMAIN: Domain = Domain { i: 16, j: 8, k: 4 };

    fn param(access: AccessKind, halo: i32) -> Param {
        let beside = Reach { lo: -halo, hi: halo };
        let reach = [beside, Reach::default(), Reach::default()];
        let kind = ParamKind::Field {
            axes: AxisSet::IJK,
            data_dims: Vec::new(),
            dtype: DType::Float64,
            boundary: reach,
            reach,
        };
        Param { name: "q".to_owned(), kind, access, is_keyword_only: false, span: Span::default() }
    }

    /// A field in the order of C, each element the number of its place, whose first point lies behind so many others.
    fn field(shape: [usize; 3], origin: [i64; 3]) -> Argument {
        let n = shape.iter().product();
        let mut elements = Elements::zeros(DType::Float64, n);
        (0..n).for_each(|at| elements.set(at, Value::Float64(at as f64)));
        let array = Array::from_c_order(elements, &shape).expect("as many as the shape says");
        Argument::Field(FieldArgument { array, origin })
    }

    fn only(params: &[Param], arguments: &[Argument]) -> Option<Move> {
        moves(params, Relayout::ByCost, DOMAIN, arguments).into_iter().next().flatten()
    }

    #[test]
    fn what_is_copied_is_what_the_stencil_touches() {
        let given = field([40, 20, 4], [10, 5, 0]);
        let found = only(&[param(AccessKind::Read, 2)], &[given]).unwrap();
        assert_eq!(
            (&*found.starts, &*found.shape, found.origin),
            (&[8, 5, 0][..], &[20, 8, 4][..], [2, 0, 0])
        );
        assert_eq!((found.is_needed, found.is_written), (true, false));
    }

    #[test]
    fn what_is_written_as_a_whole_is_not_copied_before() {
        let of = |access, halo, shape, origin| {
            let found = only(&[param(access, halo)], &[field(shape, origin)]).unwrap();
            (found.is_needed, found.is_written)
        };
        assert_eq!(of(AccessKind::Write, 0, [16, 8, 4], [0; 3]), (false, true));
        // Rows and columns beside the domain are not part of the copy.
        assert_eq!(of(AccessKind::Write, 0, [30, 9, 4], [3, 1, 0]), (false, true));
        // Levels beside it are, and come back.
        assert_eq!(of(AccessKind::Write, 0, [16, 8, 5], [0; 3]), (true, true));
        assert_eq!(of(AccessKind::Write, 1, [18, 8, 4], [1, 0, 0]), (true, true));
        assert_eq!(of(AccessKind::ReadWrite, 0, [16, 8, 4], [0; 3]), (true, true));
    }

    #[test]
    fn fields_in_rows_and_small_ones_stay() {
        let mut rows = field([16, 8, 4], [0; 3]);
        if let Argument::Field(field) = &mut rows {
            field.array.strides = vec![1, 16, 128];
        }
        let params = [param(AccessKind::Read, 0)];
        assert!(moves(&params, Relayout::ByCost, DOMAIN, &[rows]).is_empty());
        let given = [field([16, 8, 4], [0; 3])];
        let small = Domain::new(7, 8, 4);
        assert!(moves(&params, Relayout::ByCost, small, &given).is_empty());
        assert_eq!(moves(&params, Relayout::Copies, small, &given).len(), 1);
        assert!(moves(&params, Relayout::Never, DOMAIN, &given).is_empty());
    }

    #[test]
    fn copies_go_there_and_back_on_any_number_of_threads() {
        for threads in [1, 3] {
            // So many that threads share them.
            let domain = Domain::new(128, 32, 16);
            let Argument::Field(mut given) = field([140, 40, 16], [10, 5, 0]) else { panic!("a field") };
            let arguments = [Argument::Field(given.clone())];
            let params = [param(AccessKind::ReadWrite, 2)];
            let found = moves(&params, Relayout::ByCost, domain, &arguments).remove(0).unwrap();
            assert!(found.bytes() >= THREAD_BYTES);
            let mut copy =
                super::super::own::fields(&[Some(found.clone())], 0).unwrap().fields.remove(0).unwrap();
            let near = RunThreads::of(threads);
            found.copy_there(&mut given, &mut copy, false, &near);
            for index in copy.array.indices() {
                let there: Vec<usize> =
                    index.iter().zip(&found.starts).map(|(at, start)| at + start).collect();
                assert_eq!(copy.array.get(&index), given.array.get(&there), "{index:?}");
            }
            let before = given.clone();
            (0..copy.array.elements.len()).for_each(|at| copy.array.elements.set(at, Value::Float64(-1.0)));
            found.copy_back(&mut copy, &mut given, &near);
            for index in given.array.indices() {
                let inside = index.iter().zip(found.starts.iter().zip(&found.shape));
                let is_inside = inside.into_iter().all(|(at, (start, n))| (*start..start + n).contains(at));
                let meant = if is_inside { Value::Float64(-1.0) } else { before.array.get(&index) };
                assert_eq!(given.array.get(&index), meant, "{index:?}");
            }
        }
    }

    #[test]
    fn fields_come_into_rows_with_all_their_elements() {
        let params = [param(AccessKind::Read, 0)];
        let mut launch = Launch { domain: DOMAIN, arguments: vec![field([40, 20, 4], [10, 5, 0])] };
        let before = launch.clone();
        let found = in_rows(&params, &mut launch, &RunThreads::of(2)).unwrap();
        assert_eq!(found.fields, [("q".to_owned(), Some(Axis::K))]);
        assert_eq!(in_rows(&params, &mut launch, &RunThreads::of(2)), None);
        let (Argument::Field(old), Argument::Field(new)) = (&before.arguments[0], &launch.arguments[0])
        else {
            panic!("they are fields")
        };
        assert_eq!((new.array.strides[0], new.origin, &new.array.shape), (1, old.origin, &old.array.shape));
        assert!(old.array.indices().all(|it| old.array.get(&it) == new.array.get(&it)));
    }

    #[test]
    fn what_is_copied_is_told() {
        let params = [param(AccessKind::ReadWrite, 0)];
        let arguments = [field([16, 8, 4], [0; 3])];
        let found = moves(&params, Relayout::ByCost, DOMAIN, &arguments);
        let told = layout(&params, &arguments, events::LayoutTreatment::Copied, &found);
        assert_eq!(told.fields, [("q".to_owned(), Some(Axis::K))]);
        assert_eq!((&*told.copied, told.there_bytes, told.back_bytes), (&["q".to_owned()][..], 4096, 4096));
    }

    #[test]
    fn arrays_of_callers_lie_along_the_axis_that_is_asked_for() {
        let params = [param(AccessKind::Read, 0)];
        let mut launch = Launch { domain: DOMAIN, arguments: vec![field([40, 20, 4], [10, 5, 0])] };
        for (axis, strides) in [(Axis::I, [1, 40, 800]), (Axis::J, [80, 1, 20]), (Axis::K, [80, 4, 1])] {
            let other = along(&params, &mut launch, axis, &RunThreads::of(2));
            let (Argument::Field(given), Argument::Field(other)) =
                (&launch.arguments[0], &other.arguments[0])
            else {
                panic!("they are fields")
            };
            assert_eq!((&*other.array.strides, other.origin), (&strides[..], given.origin));
            assert!(given.array.indices().all(|it| given.array.get(&it) == other.array.get(&it)));
        }
    }
}
