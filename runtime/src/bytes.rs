//! Elements of the host as the bytes that a device has.

use isobar_compiler::call::array::Elements;

/// The bytes of elements, as they lie in memory.
pub(crate) fn bytes_of(elements: &Elements) -> &[u8] {
    fn of<T>(elements: &[T]) -> &[u8] {
        // SAFETY: any byte of an initialized integer, float or bool may be read as one, and none lies between them.
        #[expect(unsafe_code, reason = "numbers are read as bytes")]
        unsafe {
            std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements))
        }
    }
    match elements {
        Elements::Bool(it) => of(it),
        Elements::Int8(it) => of(it),
        Elements::Int16(it) => of(it),
        Elements::Int32(it) => of(it),
        Elements::Int64(it) => of(it),
        Elements::Float32(it) => of(it),
        Elements::Float64(it) => of(it),
    }
}

/// Lets `fill` write the bytes of elements. Bytes that it does not write keep their values.
pub(crate) fn with_bytes<E>(
    elements: &mut Elements,
    fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
) -> Result<(), E> {
    fn of<T>(elements: &mut [T]) -> &mut [u8] {
        // SAFETY: `T` is an integer or a float, so that any bytes are a valid value; no padding lies between
        // them.
        #[expect(unsafe_code, reason = "numbers are written as bytes")]
        unsafe {
            std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), size_of_val(elements))
        }
    }
    match elements {
        // Most bytes are no valid `bool`.
        Elements::Bool(it) => {
            let mut bytes: Vec<u8> = it.iter().map(|&it| u8::from(it)).collect();
            fill(&mut bytes)?;
            it.iter_mut().zip(bytes).for_each(|(it, byte)| *it = byte != 0);
            Ok(())
        }
        Elements::Int8(it) => fill(of(it)),
        Elements::Int16(it) => fill(of(it)),
        Elements::Int32(it) => fill(of(it)),
        Elements::Int64(it) => fill(of(it)),
        Elements::Float32(it) => fill(of(it)),
        Elements::Float64(it) => fill(of(it)),
    }
}

#[cfg(test)]
mod tests {
    use isobar_compiler::types::DType;

    use super::*;

    #[test]
    fn elements_are_their_bytes_and_back() {
        for dtype in DType::ALL {
            let mut elements = Elements::zeros(dtype, 3);
            let n = bytes_of(&elements).len();
            assert_eq!(n, 3 * dtype.size_bytes());
            let filled = with_bytes(&mut elements, |bytes| {
                bytes.fill(1);
                Ok::<(), ()>(())
            });
            assert_eq!(filled, Ok(()));
            assert!(bytes_of(&elements).iter().all(|it| *it == 1), "{dtype:?}");
        }
    }
}
