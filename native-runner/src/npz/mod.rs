//! `.npz` and `.npy` files: NumPy's arrays in a zip archive.
//!
//! Reading is total: whatever the bytes, the answer is arrays or a sentence, and no more memory is
//! taken than the limit allows.

mod npy;

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};

use isobar_compiler::backend::array::Array;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

pub use npy::{read as read_npy, write as write_npy};

/// More arrays than any stencil has parameters.
const MOST_ENTRIES: usize = 4096;

/// The arrays of an archive, by name; at most `limit` bytes of them.
///
/// # Errors
///
/// A sentence that says what is wrong.
pub fn read(bytes: &[u8], limit: u64) -> Result<BTreeMap<String, Array>, String> {
    let mut archive =
        ZipArchive::new(Cursor::new(bytes)).map_err(|it| format!("it is no zip archive: {it}"))?;
    if archive.len() > MOST_ENTRIES {
        return Err(format!("it has {} entries, and at most {MOST_ENTRIES} are read", archive.len()));
    }
    let mut arrays = BTreeMap::new();
    let mut left = limit;
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).map_err(|it| format!("entry {at}: {it}"))?;
        let Some(name) = entry.name().strip_suffix(".npy").map(str::to_owned) else {
            return Err(format!("entry `{}` is no .npy file", entry.name()));
        };
        // What an entry says of its size may be a lie: only what comes out of it is counted.
        let mut data = Vec::new();
        let hint = entry.size().min(left).min(64 * 1024 * 1024);
        data.reserve(usize::try_from(hint).unwrap_or(0));
        let mut within = entry.by_ref().take(left.saturating_add(1));
        within.read_to_end(&mut data).map_err(|it| format!("array `{name}`: {it}"))?;
        let size = data.len() as u64;
        if size > left {
            return Err(format!("its arrays are larger than the {limit} bytes that may be read"));
        }
        left -= size;
        let array = npy::read(&data).map_err(|it| format!("array `{name}`: {it}"))?;
        if arrays.insert(name.clone(), array).is_some() {
            return Err(format!("array `{name}` is there twice"));
        }
    }
    Ok(arrays)
}

/// An archive of arrays, each as header and bytes of [`write_npy`]; the same arrays make the same bytes.
///
/// # Errors
///
/// Those of `out`.
pub fn write<'a>(
    out: impl Write + std::io::Seek,
    arrays: impl IntoIterator<Item = (&'a str, &'a str, Vec<u64>, &'a [u8])>,
) -> std::io::Result<()> {
    let mut archive = ZipWriter::new(out);
    // Uncompressed, as `numpy.savez` writes; without a time stamp.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(zip::DateTime::default())
        .large_file(true);
    for (name, dtype, shape, c_order_le) in arrays {
        archive.start_file(format!("{name}.npy"), options)?;
        archive.write_all(&npy::header(dtype, &shape))?;
        archive.write_all(c_order_le)?;
    }
    archive.finish()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use isobar_compiler::backend::array::Elements;
    use isobar_compiler::types::{DType, Value};

    fn sample(dtype: DType) -> Array {
        let mut array = Array::zeros(dtype, &[2, 3, 4]);
        for (n, index) in array.indices().enumerate() {
            let position = array.position(&index);
            array.elements.set(position, Value::Int64(n as i64 % 100).cast(dtype));
        }
        array
    }

    fn archive() -> Vec<u8> {
        let arrays: Vec<(String, Array)> =
            DType::ALL.iter().map(|&dtype| (dtype.to_string(), sample(dtype))).collect();
        let bytes: Vec<Vec<u8>> = arrays.iter().map(|(_, it)| it.to_c_order_le_bytes()).collect();
        let mut out = Cursor::new(Vec::new());
        let entries = arrays
            .iter()
            .zip(&bytes)
            .map(|((name, _), bytes)| (name.as_str(), name.as_str(), vec![2, 3, 4], &bytes[..]));
        write(&mut out, entries).expect("memory takes it");
        out.into_inner()
    }

    #[test]
    fn every_type_survives_the_way_out_and_in() {
        let arrays = read(&archive(), 1 << 20).expect("our own archive");
        assert_eq!(arrays.len(), DType::ALL.len());
        for dtype in DType::ALL {
            let array = &arrays[dtype.name()];
            assert_eq!(array.dtype(), dtype);
            assert_eq!(array.to_c_order_le_bytes(), sample(dtype).to_c_order_le_bytes(), "{dtype}");
        }
    }

    #[test]
    fn the_same_arrays_make_the_same_bytes() {
        assert_eq!(archive(), archive());
    }

    #[test]
    fn a_flipped_bit_is_read_or_refused_and_nothing_else() {
        let good = archive();
        for at in 0..good.len() {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[at] ^= 1 << bit;
                let _ = read(&bad, 1 << 20);
            }
        }
        for length in 0..good.len() {
            assert!(read(&good[..length], 1 << 20).is_err(), "cut to {length} bytes");
        }
    }

    #[test]
    fn a_bomb_is_refused_before_it_takes_its_memory() {
        let mut out = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        out.start_file("q.npy", options).expect("memory takes it");
        out.write_all(&npy::header("float64", &[1 << 20])).expect("memory takes it");
        for _ in 0..64 {
            out.write_all(&[0; 128 * 1024]).expect("memory takes it");
        }
        let bytes = out.finish().expect("memory takes it").into_inner();
        assert!(bytes.len() < 100_000);
        assert!(read(&bytes, 9 << 20).is_ok());
        assert!(read(&bytes, 1 << 20).expect_err("too large").contains("larger"));
    }

    #[test]
    fn other_files_are_named() {
        assert!(read(b"", 1 << 20).expect_err("empty").contains("zip"));
        assert!(read(b"\x93NUMPY", 1 << 20).is_err());
        let mut out = ZipWriter::new(Cursor::new(Vec::new()));
        out.start_file(
            "readme.txt",
            SimpleFileOptions::default().compression_method(CompressionMethod::Stored),
        )
        .expect("memory takes it");
        let bytes = out.finish().expect("memory takes it").into_inner();
        assert!(read(&bytes, 1 << 20).expect_err("no array").contains("readme.txt"));
        assert_eq!(Elements::zeros(DType::Bool, 1).len(), 1);
    }
}
