//! `.npz` files, as NumPy reads them: arrays in a zip archive without compression.

use crate::fields::{Kept, NotThere};

/// The first bytes of every array.
pub const MAGIC: &[u8] = b"\x93NUMPY";
/// The first day that a zip archive can name: the same fields make the same bytes.
const DATE: u16 = (1 << 5) | 1;
const VERSION: u16 = 20;

/// An archive of all fields of a result, halo included.
///
/// # Errors
///
/// When they are larger than the format holds.
pub fn archive(fields: &[Kept]) -> Result<Vec<u8>, NotThere> {
    let too_large = || NotThere("the fields are too large for one file".to_owned());
    let mut out = Vec::new();
    let mut directory = Vec::new();
    for field in fields {
        let name = format!("{}.npy", field.info.name);
        let mut data = header(&field.info.dtype, &field.info.shape);
        data.extend(field.to_bytes());
        let length = u32::try_from(data.len()).map_err(|_| too_large())?;
        let name_length = u16::try_from(name.len()).map_err(|_| too_large())?;
        let start = u32::try_from(out.len()).map_err(|_| too_large())?;

        // The archive repeats the description of an entry: before its data and in the directory.
        let mut entry = Vec::new();
        // Version, flags (names are UTF-8), stored, time, date.
        for word in [VERSION, 1 << 11, 0, 0, DATE] {
            entry.extend(word.to_le_bytes());
        }
        for word in [checksum(&data), length, length] {
            entry.extend(word.to_le_bytes());
        }
        entry.extend(name_length.to_le_bytes());
        // No extra field.
        entry.extend([0, 0]);

        out.extend(b"PK\x03\x04");
        out.extend(&entry);
        out.extend(name.as_bytes());
        out.extend(data);

        directory.extend(b"PK\x01\x02");
        directory.extend(VERSION.to_le_bytes());
        directory.extend(&entry);
        // Comment, disk, attributes: none.
        directory.extend([0; 10]);
        directory.extend(start.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let n = u16::try_from(fields.len()).map_err(|_| too_large())?;
    let start = u32::try_from(out.len()).map_err(|_| too_large())?;
    let length = u32::try_from(directory.len()).map_err(|_| too_large())?;
    out.extend(directory);
    out.extend(b"PK\x05\x06");
    for word in [0, 0, n, n] {
        out.extend(word.to_le_bytes());
    }
    out.extend(length.to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    Ok(out)
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

/// CRC-32 as zip archives have it (ISO 3309, reflected).
fn checksum(bytes: &[u8]) -> u32 {
    let table: [u32; 256] = std::array::from_fn(|at| {
        let start = u32::try_from(at).unwrap_or(0);
        (0..8).fold(start, |it, _| if it & 1 == 1 { (it >> 1) ^ 0xedb8_8320 } else { it >> 1 })
    });
    let step = |sum: u32, &byte: &u8| table[usize::from(sum.to_le_bytes()[0] ^ byte)] ^ (sum >> 8);
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_zip_archives() {
        // The check value of the catalogue of CRC algorithms.
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
        assert_eq!(checksum(b""), 0);
    }

    #[test]
    fn data_begins_at_a_multiple_of_64_bytes() {
        for shape in [vec![], vec![3], vec![70, 70, 40], vec![1_000_000_000; 8]] {
            let header = header("float64", &shape);
            assert_eq!(header.len() % 64, 0);
            assert_eq!(header.last(), Some(&b'\n'));
        }
    }
}
