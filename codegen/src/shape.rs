//! The values that a call fixes before code is made for it: sizes, strides, and places in memory.

use isobar_compiler::entity::{Handle, SideTable};
use isobar_compiler::loops::nodes::{Array, LINE_BYTES, Program, Side, SymbolMeaning, bytes_of_threads};
use isobar_compiler::loops::nodes::{ArrayKind, Storage, Strides};
use isobar_compiler::space::{Axis, Size, Symbol};
use serde::{Deserialize, Serialize};

/// Sizes and strides, which are constants of the code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Points of the compute domain along I, J, K.
    pub domain: [i64; 3],
    /// One for each array of the program.
    pub arrays: SideTable<Array, ArrayShape>,
    /// Bytes that a run allocates for all threads together.
    pub shared_bytes: i64,
    /// Bytes from the memory of one thread to that of the next: its allocation, and the gap before it.
    pub from_thread_to_thread: i64,
}

/// How an array lies in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayShape {
    /// Per dimension, in elements.
    pub strides: Vec<i64>,
    /// The levels of a caller's array below the compute domain and above it.
    pub levels: [i64; 2],
    /// Of what a run allocates, or each of its threads: its bytes.
    pub bytes: i64,
    /// From the start of the allocation to the start of the compute domain, in elements.
    pub start: i64,
}

/// An argument as it was passed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentShape {
    /// Per dimension of the container, in elements.
    pub strides: Vec<i64>,
    pub levels: [i64; 2],
}

impl Shape {
    /// That of a call on `domain`, points along I, J, K; `given` tells of an argument. None where an array would be beyond any memory.
    #[must_use]
    pub fn of(
        program: &Program,
        domain: [i64; 3],
        given: &dyn Fn(Handle<Array>) -> Option<ArgumentShape>,
    ) -> Option<Self> {
        let passed = |array: Handle<Array>| {
            let ArgumentShape { strides, levels } = given(array).unwrap_or_default();
            (array, ArrayShape { strides, levels, ..ArrayShape::default() })
        };
        let arrays = program.arrays.handles().map(passed).collect();
        let mut shape = Self { domain, arrays, shared_bytes: 0, from_thread_to_thread: 0 };
        let mut own_bytes = 0_i64;
        for (handle, array) in program.arrays.iter() {
            if array.is_own() {
                let own = shape.own(program, handle)?;
                let total = if array.is_per_thread { &mut own_bytes } else { &mut shape.shared_bytes };
                *total = total.checked_add(own.bytes)?;
                shape.arrays.insert(handle, own);
            }
        }
        let of_threads = bytes_of_threads(u64::try_from(own_bytes).ok()?, 1)?;
        shape.from_thread_to_thread = i64::try_from(of_threads).ok()?;
        Some(shape)
    }

    /// That of an array which a run allocates.
    ///
    /// The first dimension is the fastest. Its length is rounded up to whole cache lines where each thread
    /// has rows of its own. The bytes of the whole array are always rounded up to whole lines.
    fn own(&self, program: &Program, at: Handle<Array>) -> Option<ArrayShape> {
        let array = &program.arrays[at];
        debug_assert!(array.strides == Strides::Packed);
        let mut value_of = |symbol: &Symbol| self.value(program, symbol);
        let mut start = i64::try_from(program.decisions.row_start(at)).ok()?;
        let (mut strides, mut n) = (Vec::new(), 1_i64);
        let mut unit = i64::try_from(array.row_unit()).ok()?;
        for (length, shift) in program.places(at).zip(&array.shift) {
            strides.push(n);
            if array.storage != Storage::Private {
                start = start.checked_add(shift.evaluated(&mut value_of)?.checked_mul(n)?)?;
            }
            let length = evaluated(&length, &mut value_of)?.max(0);
            n = n.checked_mul(length.checked_add(unit - 1)? / unit * unit)?;
            unit = 1;
        }
        let size = i64::try_from(array.dtype.size_bytes()).ok()?;
        let line = i64::try_from(LINE_BYTES).ok()?;
        let bytes = n.checked_mul(size)?.checked_add(line - 1)? / line * line;
        Some(ArrayShape { strides, levels: [0; 2], bytes, start })
    }

    /// The value of a symbol of a size in this call.
    fn value(&self, program: &Program, symbol: &Symbol) -> Option<i64> {
        match program.symbols.get(symbol)? {
            SymbolMeaning::Size(axis) => Some(self.domain[axis.index()]),
            &SymbolMeaning::Levels { array, side } => Some(self.levels(array, side)),
            // An iteration's own array may be as large as a tile is at most; its size has no positions.
            SymbolMeaning::Position(_) => None,
        }
    }

    /// The bytes of the caller's fields at the points of the compute domain.
    pub(super) fn field_bytes(&self, program: &Program) -> u64 {
        let [i, j, k] = self.domain;
        let of = |axis: Axis| [i, j, k][axis.index()];
        let fields = program.arrays.values().filter(|it| matches!(it.kind, ArrayKind::Field { .. }));
        let bytes = fields.map(|it| {
            let points: i64 = it.axes.iter().map(of).fold(1, i64::saturating_mul);
            points.saturating_mul(i64::try_from(it.dtype.size_bytes()).unwrap_or(8))
        });
        u64::try_from(bytes.fold(0, i64::saturating_add)).unwrap_or(0)
    }

    /// The levels that a caller's array has beside those of the compute domain.
    pub(super) fn levels(&self, array: Handle<Array>, side: Side) -> i64 {
        let [below, above] = self.arrays[array].levels;
        match side {
            Side::Below => below,
            Side::Above => above,
        }
    }

    /// The bytes that a run with so many threads allocates; none where that is beyond any memory.
    #[must_use]
    pub fn workspace_bytes(&self, threads: u32) -> Option<u64> {
        let own = self.from_thread_to_thread.checked_mul(i64::from(threads))?;
        u64::try_from(self.shared_bytes.checked_add(own)?).ok()
    }
}

fn evaluated(size: &Size, value_of: &mut impl FnMut(&Symbol) -> Option<i64>) -> Option<i64> {
    size.evaluated(value_of)
}
