//! `.npz` files, as NumPy reads them: arrays in a zip archive without compression.

use crate::fields::{NotThere, ResultField};
use crate::zip::{Method, TooLarge, Writer};

/// The first bytes of every array.
pub const MAGIC: &[u8] = b"\x93NUMPY";
/// An archive of all fields of a result, halo included.
///
/// # Errors
///
/// When they are larger than the format holds.
pub fn archive(fields: &[ResultField]) -> Result<Vec<u8>, NotThere> {
    let too_large = |_: TooLarge| NotThere("the fields are too large for one file".to_owned());
    let mut writer = Writer::default();
    for field in fields {
        let mut data = header(&field.info.dtype, &field.info.shape);
        data.extend(field.to_bytes());
        writer.add(&format!("{}.npy", field.info.name), &data, Method::Stored).map_err(too_large)?;
    }
    writer.finish().map_err(too_large)
}

/// The bytes before the data of an array in C order (NumPy's manual calls the format NPY, version 1).
#[must_use]
pub fn header(dtype: &str, shape: &[u64]) -> Vec<u8> {
    let code = match dtype {
        "bool" => "|b1",
        "int8" => "|i1",
        "int16" => "<i2",
        "int32" => "<i4",
        "int64" => "<i8",
        "float32" => "<f4",
        _ => "<f8",
    };
    let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let shape = format!("({}{comma})", sizes.join(", "));
    let mut text = format!("{{'descr': '{code}', 'fortran_order': False, 'shape': {shape}, }}");
    // The data begins at a multiple of 64 bytes, after a newline.
    let before = MAGIC.len() + 4;
    while !(before + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
    let mut out = MAGIC.to_vec();
    out.extend([1, 0]);
    out.extend(length.to_le_bytes());
    out.extend(text.into_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_begins_at_a_multiple_of_64_bytes() {
        for shape in [vec![], vec![3], vec![70, 70, 40], vec![1_000_000_000; 8]] {
            let header = header("float64", &shape);
            assert_eq!(header.len() % 64, 0);
            assert_eq!(header.last(), Some(&b'\n'));
        }
    }
}
