//! Arrays of elements, as callers hand them over.

use super::buffer::{Buffer, room};
use super::ordered::{self, BoxPlace};
use crate::types::{DType, Value};

/// The elements of an array, in memory order.
#[derive(Clone, Debug, PartialEq)]
pub enum Elements {
    Bool(Buffer<bool>),
    Int8(Buffer<i8>),
    Int16(Buffer<i16>),
    Int32(Buffer<i32>),
    Int64(Buffer<i64>),
    Float32(Buffer<f32>),
    Float64(Buffer<f64>),
}

/// Runs `$body` with `$vec` bound to the buffer of the elements. `$body` compiles for every element type.
#[macro_export]
macro_rules! for_elements {
    ($elements:expr, $vec:ident => $body:expr) => {
        match $elements {
            $crate::call::array::Elements::Bool($vec) => $body,
            $crate::call::array::Elements::Int8($vec) => $body,
            $crate::call::array::Elements::Int16($vec) => $body,
            $crate::call::array::Elements::Int32($vec) => $body,
            $crate::call::array::Elements::Int64($vec) => $body,
            $crate::call::array::Elements::Float32($vec) => $body,
            $crate::call::array::Elements::Float64($vec) => $body,
        }
    };
}

impl Elements {
    /// `n` zeros.
    #[must_use]
    pub fn zeros(dtype: DType, n: usize) -> Self {
        Self::zeros_at_line(dtype, n, 0, 0)
    }

    /// `n` zeros. The one at `first` starts at a multiple of `line_bytes`; see [`Buffer::zeros_at_line`].
    #[must_use]
    pub fn zeros_at_line(dtype: DType, n: usize, first: usize, line_bytes: usize) -> Self {
        match dtype {
            DType::Bool => Elements::Bool(Buffer::zeros_at_line(n, first, line_bytes)),
            DType::Int8 => Elements::Int8(Buffer::zeros_at_line(n, first, line_bytes)),
            DType::Int16 => Elements::Int16(Buffer::zeros_at_line(n, first, line_bytes)),
            DType::Int32 => Elements::Int32(Buffer::zeros_at_line(n, first, line_bytes)),
            DType::Int64 => Elements::Int64(Buffer::zeros_at_line(n, first, line_bytes)),
            DType::Float32 => Elements::Float32(Buffer::zeros_at_line(n, first, line_bytes)),
            DType::Float64 => Elements::Float64(Buffer::zeros_at_line(n, first, line_bytes)),
        }
    }

    /// The memory that [`zeros_at_line`](Self::zeros_at_line) takes, in bytes; saturates.
    #[must_use]
    pub fn bytes_at_line(dtype: DType, n: usize, line_bytes: usize) -> usize {
        let size = dtype.size_bytes();
        n.saturating_add(room(size, line_bytes)).saturating_mul(size)
    }

    /// As many zeros of the same type, which lie as these do; see [`Buffer::zeros_like`].
    #[must_use]
    pub fn zeros_like(&self) -> Self {
        match self {
            Elements::Bool(it) => Elements::Bool(it.zeros_like()),
            Elements::Int8(it) => Elements::Int8(it.zeros_like()),
            Elements::Int16(it) => Elements::Int16(it.zeros_like()),
            Elements::Int32(it) => Elements::Int32(it.zeros_like()),
            Elements::Int64(it) => Elements::Int64(it.zeros_like()),
            Elements::Float32(it) => Elements::Float32(it.zeros_like()),
            Elements::Float64(it) => Elements::Float64(it.zeros_like()),
        }
    }

    /// `n` times the same value.
    #[must_use]
    pub fn filled(value: Value, n: usize) -> Self {
        match value {
            Value::Bool(it) => Elements::Bool(vec![it; n].into()),
            Value::Int8(it) => Elements::Int8(vec![it; n].into()),
            Value::Int16(it) => Elements::Int16(vec![it; n].into()),
            Value::Int32(it) => Elements::Int32(vec![it; n].into()),
            Value::Int64(it) => Elements::Int64(vec![it; n].into()),
            Value::Float32(it) => Elements::Float32(vec![it; n].into()),
            Value::Float64(it) => Elements::Float64(vec![it; n].into()),
        }
    }

    #[must_use]
    pub fn dtype(&self) -> DType {
        match self {
            Elements::Bool(_) => DType::Bool,
            Elements::Int8(_) => DType::Int8,
            Elements::Int16(_) => DType::Int16,
            Elements::Int32(_) => DType::Int32,
            Elements::Int64(_) => DType::Int64,
            Elements::Float32(_) => DType::Float32,
            Elements::Float64(_) => DType::Float64,
        }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        for_elements!(self, it => it.len())
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at `position` of memory.
    ///
    /// # Panics
    ///
    /// When there is none.
    #[must_use]
    pub fn get(&self, position: usize) -> Value {
        match self {
            Elements::Bool(it) => Value::Bool(it[position]),
            Elements::Int8(it) => Value::Int8(it[position]),
            Elements::Int16(it) => Value::Int16(it[position]),
            Elements::Int32(it) => Value::Int32(it[position]),
            Elements::Int64(it) => Value::Int64(it[position]),
            Elements::Float32(it) => Value::Float32(it[position]),
            Elements::Float64(it) => Value::Float64(it[position]),
        }
    }

    /// Stores `value`, converted to the element type.
    ///
    /// # Panics
    ///
    /// When there is no such position.
    pub fn set(&mut self, position: usize, value: Value) {
        for_elements!(self, it => it[position] = StoredElement::of(value));
    }

    /// The memory that they take, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        for_elements!(self, it => it.bytes())
    }

    /// The bytes in memory order, little-endian; a bool is one byte.
    #[must_use]
    pub fn to_le_bytes(&self) -> Vec<u8> {
        fn bytes<T: Copy, const N: usize>(elements: &[T], bytes_of: impl Fn(T) -> [u8; N]) -> Vec<u8> {
            // Written into place: a chain of bytes is collected one by one.
            let mut out = vec![0; elements.len() * N];
            for (to, &it) in out.as_chunks_mut::<N>().0.iter_mut().zip(elements) {
                *to = bytes_of(it);
            }
            out
        }
        match self {
            Elements::Bool(it) => bytes(it, |it| [u8::from(it)]),
            Elements::Int8(it) => bytes(it, i8::to_le_bytes),
            Elements::Int16(it) => bytes(it, i16::to_le_bytes),
            Elements::Int32(it) => bytes(it, i32::to_le_bytes),
            Elements::Int64(it) => bytes(it, i64::to_le_bytes),
            Elements::Float32(it) => bytes(it, f32::to_le_bytes),
            Elements::Float64(it) => bytes(it, f64::to_le_bytes),
        }
    }

    /// Elements from little-endian bytes; bytes that do not fill an element are left out.
    #[must_use]
    pub fn from_le_bytes(dtype: DType, bytes: &[u8]) -> Self {
        fn chunks<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
            bytes.as_chunks::<N>().0.iter().copied()
        }
        match dtype {
            DType::Bool => Elements::Bool(bytes.iter().map(|&it| it != 0).collect()),
            DType::Int8 => Elements::Int8(chunks(bytes).map(i8::from_le_bytes).collect()),
            DType::Int16 => Elements::Int16(chunks(bytes).map(i16::from_le_bytes).collect()),
            DType::Int32 => Elements::Int32(chunks(bytes).map(i32::from_le_bytes).collect()),
            DType::Int64 => Elements::Int64(chunks(bytes).map(i64::from_le_bytes).collect()),
            DType::Float32 => Elements::Float32(chunks(bytes).map(f32::from_le_bytes).collect()),
            DType::Float64 => Elements::Float64(chunks(bytes).map(f64::from_le_bytes).collect()),
        }
    }
}

/// The distances between neighbours along each dimension in C order.
#[must_use]
pub fn c_strides(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![0; shape.len()];
    let mut n = 1_usize;
    for (stride, &size) in strides.iter_mut().zip(shape).rev() {
        *stride = signed(n);
        n = n.saturating_mul(size);
    }
    strides
}

fn signed(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A type of elements.
pub trait StoredElement: Copy + Default + Send + Sync {
    /// A value as an assignment to such an element converts it.
    fn of(value: Value) -> Self;

    fn value(self) -> Value;

    /// The same as `of`, of a double.
    #[inline]
    fn of_float(value: f64) -> Self {
        Self::of(Value::Float64(value))
    }
}

macro_rules! stored {
    ($($element:ident $dtype:ident),*) => {
        $(impl StoredElement for $element {
            #[inline]
            fn value(self) -> Value {
                Value::$dtype(self)
            }

            #[inline]
            fn of(value: Value) -> Self {
                match value.cast(DType::$dtype) {
                    Value::$dtype(it) => it,
                    _ => unreachable!("a cast has the type that is asked for"),
                }
            }
        })*
    };
}
stored!(bool Bool, i8 Int8, i16 Int16, i32 Int32, i64 Int64, f32 Float32, f64 Float64);

/// An array: elements, and how indices find them.
///
/// One that we make has its first element at the start, and no stride below 1. One that somebody lends may run
/// backwards, and show one element at many indices; then it is not written.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub elements: Elements,
    /// Where among them the element at index `[0, 0, ...]` lies.
    pub first: usize,
    /// Points per dimension, in the order of the field's axes, then of its data dimensions.
    pub shape: Vec<usize>,
    /// Distance in elements between neighbours, per dimension; negative where they run backwards, 0 where all of them
    /// are one element. Every index within the shape lies within `elements`.
    pub strides: Vec<i64>,
}

impl Array {
    /// Zeros, the first axis contiguous.
    #[must_use]
    pub fn zeros(dtype: DType, shape: &[usize]) -> Self {
        Self::over(Elements::zeros(dtype, shape.iter().product()), shape)
    }

    /// An array over the first of these elements, the first axis contiguous.
    ///
    /// # Panics
    ///
    /// When there are fewer elements than the shape has.
    #[must_use]
    pub fn over(elements: Elements, shape: &[usize]) -> Self {
        let mut n = 1;
        let strides = shape
            .iter()
            .map(|&size| {
                let stride = signed(n);
                n *= size;
                stride
            })
            .collect();
        assert!(n <= elements.len(), "an array has elements for its whole shape");
        Self { elements, first: 0, shape: shape.to_vec(), strides }
    }

    /// An array over elements in C order (the last axis contiguous); `None` where their number does not fit the shape.
    #[must_use]
    pub fn from_c_order(elements: Elements, shape: &[usize]) -> Option<Self> {
        let n = shape.iter().try_fold(1_usize, |n, &size| n.checked_mul(size))?;
        let strides = c_strides(shape);
        (n == elements.len()).then(|| Self { elements, first: 0, shape: shape.to_vec(), strides })
    }

    /// An array over elements in Fortran order (the first axis contiguous).
    #[must_use]
    pub fn from_fortran_order(elements: Elements, shape: &[usize]) -> Option<Self> {
        let mut n: usize = 1;
        let mut strides = Vec::with_capacity(shape.len());
        for &size in shape {
            strides.push(signed(n));
            n = n.checked_mul(size)?;
        }
        (n == elements.len()).then(|| Self { elements, first: 0, shape: shape.to_vec(), strides })
    }

    #[must_use]
    pub fn dtype(&self) -> DType {
        self.elements.dtype()
    }

    /// Where among the elements the one at `index` lies.
    #[must_use]
    pub fn position(&self, index: &[usize]) -> usize {
        let behind: i64 = index.iter().zip(&self.strides).map(|(&at, &stride)| signed(at) * stride).sum();
        self.first.saturating_add_signed(isize::try_from(behind).unwrap_or(isize::MAX))
    }

    /// The strides of an array that we made, which are not negative; 0 for one that is.
    #[must_use]
    pub fn own_strides(&self) -> Vec<usize> {
        self.strides.iter().map(|&it| usize::try_from(it).unwrap_or(0)).collect()
    }

    /// The element at `index`.
    ///
    /// # Panics
    ///
    /// When the index is outside.
    #[must_use]
    pub fn get(&self, index: &[usize]) -> Value {
        self.elements.get(self.position(index))
    }

    /// All indices in C order.
    pub fn indices(&self) -> impl Iterator<Item = Vec<usize>> + use<> {
        let shape = self.shape.clone();
        let n: usize = shape.iter().product();
        (0..n).map(move |mut at| {
            let mut index = vec![0; shape.len()];
            for (slot, &size) in index.iter_mut().zip(&shape).rev() {
                *slot = at % size;
                at /= size;
            }
            index
        })
    }

    /// The elements in C order, little-endian: the form of the wire and of `.npy`.
    #[must_use]
    pub fn to_c_order_le_bytes(&self) -> Vec<u8> {
        self.c_order(self.first, &self.shape).to_le_bytes()
    }

    /// The elements of a box in C order: it starts at a position among the elements, and has the strides of the array.
    ///
    /// # Panics
    ///
    /// When the box is not within the array.
    #[must_use]
    pub fn c_order(&self, start: usize, shape: &[usize]) -> Elements {
        let place = BoxPlace { start, strides: &self.strides };
        match &self.elements {
            Elements::Bool(it) => Elements::Bool(ordered::gather(it, place, shape).into()),
            Elements::Int8(it) => Elements::Int8(ordered::gather(it, place, shape).into()),
            Elements::Int16(it) => Elements::Int16(ordered::gather(it, place, shape).into()),
            Elements::Int32(it) => Elements::Int32(ordered::gather(it, place, shape).into()),
            Elements::Int64(it) => Elements::Int64(ordered::gather(it, place, shape).into()),
            Elements::Float32(it) => Elements::Float32(ordered::gather(it, place, shape).into()),
            Elements::Float64(it) => Elements::Float64(ordered::gather(it, place, shape).into()),
        }
    }

    /// Copies a box of another array of the same type. `start` and `from` are the positions of its first element among the
    /// elements of both arrays, `strides` and `source` the distances between neighbours there.
    ///
    /// # Panics
    ///
    /// When the box is not within an array, or the types differ.
    pub fn copy_box(
        &mut self,
        (start, strides): (usize, &[i64]),
        (other, from, source): (&Self, usize, &[i64]),
        shape: &[usize],
    ) {
        let (from, to) = (BoxPlace { start: from, strides: source }, BoxPlace { start, strides });
        macro_rules! of_types {
            ($($dtype:ident),*) => {
                match (&mut self.elements, &other.elements) {
                    $((Elements::$dtype(out), Elements::$dtype(all)) => ordered::copy((all, from), (out, to), shape),)*
                    (one, other) => panic!("{} are no {}", other.dtype(), one.dtype()),
                }
            };
        }
        of_types!(Bool, Int8, Int16, Int32, Int64, Float32, Float64);
    }
}
