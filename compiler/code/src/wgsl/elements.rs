//! Elements as the buffers of a device hold them.

use super::WgslOptions;
use crate::call::array::Elements;
use crate::types::{DType, Value};

/// The bytes of a buffer for these elements: what is narrower than a word is one, and doubles may be singles.
#[must_use]
pub fn sent(elements: &Elements, options: &WgslOptions) -> Vec<u8> {
    let of = options.computed(elements.dtype());
    let n = elements.len();
    let size = usize::try_from(options.element_bytes(elements.dtype())).unwrap_or(8);
    let mut bytes = Vec::with_capacity(n * size);
    for at in 0..n {
        let bits = word_of(elements.get(at).cast(of));
        bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
    }
    bytes
}

/// Takes back what a buffer holds for them.
pub fn take(elements: &mut Elements, bytes: &[u8], options: &WgslOptions) {
    let dtype = elements.dtype();
    let of = options.computed(dtype);
    let size = usize::try_from(options.element_bytes(dtype)).unwrap_or(8);
    for (at, word) in bytes.chunks_exact(size).take(elements.len()).enumerate() {
        let mut bits = [0; 8];
        bits[..size].copy_from_slice(word);
        elements.set(at, value_of(u64::from_le_bytes(bits), of).cast(dtype));
    }
}

/// The bits of a value; those of an integer with its sign.
fn word_of(value: Value) -> u64 {
    match value {
        Value::Float32(it) => u64::from(it.to_bits()),
        Value::Float64(it) => it.to_bits(),
        other => other.as_i64().cast_unsigned(),
    }
}

fn value_of(bits: u64, dtype: DType) -> Value {
    let low = u32::try_from(bits & 0xffff_ffff).unwrap_or(0);
    match dtype {
        DType::Float32 => Value::Float32(f32::from_bits(low)),
        DType::Float64 => Value::Float64(f64::from_bits(bits)),
        DType::Int64 => Value::Int64(bits.cast_signed()),
        narrow => Value::Int64(i64::from(low.cast_signed())).cast(narrow),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Doubles;
    use super::*;

    #[test]
    fn what_is_sent_comes_back() {
        for doubles in [Doubles::Native, Doubles::Pairs, Doubles::Singles] {
            let options = WgslOptions { doubles, ..WgslOptions::default() };
            for value in [
                Value::Bool(true),
                Value::Int8(-3),
                Value::Int16(-300),
                Value::Int32(i32::MIN),
                Value::Int64(i64::MIN),
                Value::Float32(-0.1),
                Value::Float64(0.5),
            ] {
                let elements = Elements::filled(value, 3);
                let bytes = sent(&elements, &options);
                assert_eq!(bytes.len() as u64, 3 * options.element_bytes(value.dtype()));
                let mut back = Elements::zeros(value.dtype(), 3);
                take(&mut back, &bytes, &options);
                assert_eq!(back, elements, "{doubles:?}");
            }
        }
        let singles = WgslOptions { doubles: Doubles::Singles, ..WgslOptions::default() };
        let mut back = Elements::zeros(DType::Float64, 1);
        take(&mut back, &sent(&Elements::filled(Value::Float64(0.1), 1), &singles), &singles);
        assert_eq!(back.get(0), Value::Float64(f64::from(0.1_f32)), "a double is a single there");
    }
}
