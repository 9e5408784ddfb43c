//! One typed value: a literal, a scalar argument, an element of a field.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::DType;

/// A value of the language. Two values are equal when their types and bits are.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Value {
    Bool(bool),
    Int8(i8),
    Int16(i16),
    Int32(i32),
    Int64(i64),
    Float32(f32),
    Float64(f64),
}

impl Value {
    /// The value's type.
    #[must_use]
    pub fn dtype(self) -> DType {
        match self {
            Value::Bool(_) => DType::Bool,
            Value::Int8(_) => DType::Int8,
            Value::Int16(_) => DType::Int16,
            Value::Int32(_) => DType::Int32,
            Value::Int64(_) => DType::Int64,
            Value::Float32(_) => DType::Float32,
            Value::Float64(_) => DType::Float64,
        }
    }

    /// Zero (or false) of a type.
    #[must_use]
    pub fn zero(dtype: DType) -> Self {
        Value::Int64(0).cast(dtype)
    }

    /// The value of an element that no statement has written: NaN, the smallest integer, false.
    #[must_use]
    pub fn undefined(dtype: DType) -> Self {
        match dtype {
            DType::Bool => Value::Bool(false),
            DType::Int8 => Value::Int8(i8::MIN),
            DType::Int16 => Value::Int16(i16::MIN),
            DType::Int32 => Value::Int32(i32::MIN),
            DType::Int64 => Value::Int64(i64::MIN),
            DType::Float32 => Value::Float32(f32::NAN),
            DType::Float64 => Value::Float64(f64::NAN),
        }
    }

    /// The value as an integer; floats are truncated toward zero and saturate, NaN is 0.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the conversion is what is asked for")]
    pub fn as_i64(self) -> i64 {
        match self {
            Value::Bool(it) => i64::from(it),
            Value::Int8(it) => i64::from(it),
            Value::Int16(it) => i64::from(it),
            Value::Int32(it) => i64::from(it),
            Value::Int64(it) => it,
            Value::Float32(it) => it as i64,
            Value::Float64(it) => it as i64,
        }
    }

    /// The value in double precision; exact but for large 64-bit integers.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "the conversion is what is asked for")]
    #[inline]
    pub fn as_f64(self) -> f64 {
        match self {
            Value::Float32(it) => f64::from(it),
            Value::Float64(it) => it,
            other => other.as_i64() as f64,
        }
    }

    /// The value converted as an assignment converts it: integers wrap, floats
    /// are truncated toward zero, and any number but zero is true.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "the conversion is what is asked for"
    )]
    #[inline]
    pub fn cast(self, to: DType) -> Self {
        match to {
            DType::Bool => Value::Bool(match self {
                Value::Float32(it) => it != 0.0,
                Value::Float64(it) => it != 0.0,
                other => other.as_i64() != 0,
            }),
            DType::Int8 => Value::Int8(self.as_i64() as i8),
            DType::Int16 => Value::Int16(self.as_i64() as i16),
            DType::Int32 => Value::Int32(self.as_i64() as i32),
            DType::Int64 => Value::Int64(self.as_i64()),
            DType::Float32 => Value::Float32(match self {
                Value::Float32(it) => it,
                Value::Float64(it) => it as f32,
                other => other.as_i64() as f32,
            }),
            DType::Float64 => Value::Float64(self.as_f64()),
        }
    }

    /// Whether it is spelled with a minus.
    #[must_use]
    pub fn has_sign(self) -> bool {
        match self {
            Value::Float32(it) => it.is_sign_negative() && !it.is_nan(),
            Value::Float64(it) => it.is_sign_negative() && !it.is_nan(),
            other => other.as_i64() < 0,
        }
    }

    /// Whether a literal of a stencil has this type without a conversion.
    #[must_use]
    pub fn is_bare(self) -> bool {
        matches!(self, Value::Bool(_) | Value::Int64(_) | Value::Float64(_))
    }

    /// The value without its type: `0.1`, `-3`, `true`. For places that name the type beside it.
    #[must_use]
    pub fn digits(self) -> impl fmt::Display {
        fmt::from_fn(move |f| match self {
            Value::Bool(it) => write!(f, "{it}"),
            Value::Float32(it) => write!(f, "{it:?}"),
            Value::Float64(it) => write!(f, "{it:?}"),
            other => write!(f, "{}", other.as_i64()),
        })
    }

    /// Reads the text that [`digits`](Self::digits) wrote for a value of this type; none for any other text.
    #[must_use]
    pub fn from_digits(text: &str, dtype: DType) -> Option<Self> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let is_special = dtype.is_float() && ["inf", "NaN"].contains(&unsigned);
        let is_number = is_special || unsigned.starts_with(|it: char| it.is_ascii_digit());
        match dtype {
            DType::Bool => text.parse().ok().map(Value::Bool),
            _ if !is_number => None,
            DType::Float32 => text.parse().ok().map(Value::Float32),
            DType::Float64 => text.parse().ok().map(Value::Float64),
            DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => {
                text.parse().ok().map(|it| Value::Int64(it).cast(dtype))
            }
        }
    }

    /// The bits, widened with zeros.
    #[must_use]
    #[expect(clippy::cast_sign_loss, reason = "bits are what is asked for")]
    pub fn bits(self) -> u64 {
        match self {
            Value::Float32(it) => u64::from(it.to_bits()),
            Value::Float64(it) => it.to_bits(),
            other => other.as_i64() as u64,
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.dtype() == other.dtype() && self.bits() == other.bits()
    }
}
impl Eq for Value {}
impl std::hash::Hash for Value {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.dtype(), self.bits()).hash(state);
    }
}

/// As it is spelled in listings: the shortest digits that read back to the same bits.
///
/// A stencil writes numbers of types without literals as conversions, and so do listings: `float32(0.1)`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_bare() { self.digits().fmt(f) } else { write!(f, "{}({})", self.dtype(), self.digits()) }
    }
}
