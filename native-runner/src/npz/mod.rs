//! `.npz` and `.npy` files: NumPy's arrays in a zip archive.
//!
//! Reading is total: whatever the bytes, the answer is arrays or a sentence, and no more memory is
//! taken than the limit allows.

mod npy;

use std::collections::BTreeMap;
use std::io::{Cursor, Write};

use isobar_compiler::call::array::Array;
use isobar_protocol::{names, npz as wire};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// More arrays than any stencil has parameters.
const MOST_ENTRIES: usize = 4096;

/// Why an archive is not read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NpzError {
    /// A sentence that says what is wrong.
    #[error("{0}")]
    Damaged(String),
    /// Its arrays are larger than what may be read.
    #[error("its arrays need {asked} bytes, and at most {allowed} may be read")]
    TooLarge { asked: u64, allowed: u64 },
}

impl From<String> for NpzError {
    fn from(why: String) -> Self {
        NpzError::Damaged(why)
    }
}

/// The arrays of an archive, by name; at most `limit` bytes of them.
///
/// # Errors
///
/// The reason why the archive cannot be read.
pub fn read(bytes: &[u8], limit: u64) -> Result<BTreeMap<String, Array>, NpzError> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|_| no_archive(bytes).to_owned())?;
    if archive.len() > MOST_ENTRIES {
        let n = archive.len();
        return Err(format!("it has {n} entries, and at most {MOST_ENTRIES} are read").into());
    }
    // The library keeps the last of several entries with one name.
    if listed(bytes).is_some_and(|it| it != archive.len()) {
        return Err("two entries have one name, or its directory is damaged".to_owned().into());
    }
    let mut arrays = BTreeMap::new();
    let mut taken: u64 = 0;
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).map_err(|it| format!("entry {at} is damaged: {it}"))?;
        let Some(name) = entry.name().strip_suffix(".npy").map(str::to_owned) else {
            return Err(format!("entry `{}` is no .npy file", names::visible(entry.name())).into());
        };
        names::plain(&name)
            .map_err(|why| names::BadName { of: "an array", name: name.clone(), why }.to_string())?;
        // The archive may state a wrong size for an entry. Therefore the header of the array decides, and no
        // more is read.
        let (array, size) = npy::read_from(&mut entry, limit - taken).map_err(|it| match it {
            NpzError::Damaged(why) => NpzError::Damaged(format!("array `{name}`: {why}")),
            NpzError::TooLarge { asked, .. } => {
                NpzError::TooLarge { asked: taken.saturating_add(asked), allowed: limit }
            }
        })?;
        taken += size;
        if arrays.insert(name.clone(), array).is_some() {
            return Err(format!("array `{name}` is there twice").into());
        }
    }
    Ok(arrays)
}

/// How many entries the end of an archive's directory tells of; none where there are more than its number can say.
fn listed(bytes: &[u8]) -> Option<usize> {
    let at = bytes.windows(4).rposition(|it| it == b"PK\x05\x06")?;
    let number = bytes.get(at + 10..at + 12)?;
    let number = u16::from_le_bytes(number.try_into().ok()?);
    (number != u16::MAX).then_some(usize::from(number))
}

/// The kind of a file that is not an archive.
fn no_archive(bytes: &[u8]) -> &'static str {
    if bytes.is_empty() {
        "the file is empty"
    } else if bytes.starts_with(wire::MAGIC) {
        "it is a single array and no archive of them: write it with `numpy.savez(file, name=array)`"
    } else if bytes.starts_with(b"PK") {
        "it is a zip archive that breaks off, or its directory is damaged"
    } else {
        "it is no .npz file, which is a zip archive of arrays"
    }
}

/// An archive of arrays, each as header and bytes; the same arrays make the same bytes.
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
        archive.write_all(&wire::header(dtype, &shape))?;
        archive.write_all(c_order_le)?;
    }
    archive.finish()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use isobar_compiler::call::array::Elements;
    use isobar_compiler::types::{DType, Value};
    use isobar_protocol::field::FieldInfo;
    use isobar_protocol::fields::ResultField;

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
    fn an_array_that_is_there_twice_is_refused() {
        let (name, value) = ("q", 1.0_f64.to_le_bytes());
        let mut whole = Cursor::new(Vec::new());
        let arrays = [(name, "float64", vec![1], &value[..]), ("r", "float64", vec![1], &value[..])];
        write(&mut whole, arrays).expect("memory takes it");
        let mut bytes = whole.into_inner();
        assert!(read(&bytes, 1 << 20).is_ok());
        // The second one by the name of the first, in its own head and in the directory.
        for at in 0..bytes.len() - 5 {
            if &bytes[at..at + 5] == b"r.npy" {
                bytes[at] = b'q';
            }
        }
        assert!(read(&bytes, 1 << 20).is_err());
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
    fn what_the_page_writes_is_read() {
        let field = |name: &str, dtype| {
            let array = sample(dtype);
            let info = FieldInfo {
                name: name.to_owned(),
                dtype: dtype.to_string(),
                axes: "IJK".to_owned(),
                shape: vec![2, 3, 4],
                origin: vec![0; 3],
                domain: vec![2, 3, 4],
                ..FieldInfo::default()
            };
            ResultField::from_bytes(info, &array.to_c_order_le_bytes()).expect("they fit")
        };
        let fields = [field("q_out", DType::Float64), field("mask", DType::Bool)];
        let bytes = wire::archive(&fields).expect("it is small");
        let arrays = read(&bytes, 1 << 20).expect("an archive");
        assert_eq!(arrays.keys().collect::<Vec<_>>(), ["mask", "q_out"]);
        for (name, dtype) in [("q_out", DType::Float64), ("mask", DType::Bool)] {
            assert_eq!(arrays[name].to_c_order_le_bytes(), sample(dtype).to_c_order_le_bytes());
        }
        // A wrong sum of an entry is found by the reader, so those of the writer are right.
        let at = bytes.windows(4).position(|it| it == b"NUMP").expect("an array");
        let mut bad = bytes.clone();
        bad[at + 200] ^= 1;
        assert!(read(&bad, 1 << 20).is_err());
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
        out.write_all(&wire::header("float64", &[1 << 20])).expect("memory takes it");
        for _ in 0..64 {
            out.write_all(&[0; 128 * 1024]).expect("memory takes it");
        }
        let bytes = out.finish().expect("memory takes it").into_inner();
        assert!(bytes.len() < 100_000);
        assert!(read(&bytes, 9 << 20).is_ok());
        // It is refused for what its header says, before its data is looked at.
        let refused = read(&bytes, 1 << 20).expect_err("too large");
        assert_eq!(refused, NpzError::TooLarge { asked: 8 << 20, allowed: 1 << 20 });
    }

    #[test]
    fn more_data_than_a_header_promises_is_not_read() {
        let mut out = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        out.start_file("q.npy", options).expect("memory takes it");
        out.write_all(&wire::header("float64", &[4])).expect("memory takes it");
        for _ in 0..64 {
            out.write_all(&[0; 128 * 1024]).expect("memory takes it");
        }
        let bytes = out.finish().expect("memory takes it").into_inner();
        let why = read(&bytes, 1 << 30).expect_err("a lie").to_string();
        assert!(why.contains("array `q`") && why.contains("more than the 32 bytes"), "{why}");
    }

    #[test]
    fn other_files_are_named() {
        let said = |bytes: &[u8]| read(bytes, 1 << 20).expect_err("no arrays").to_string();
        assert!(said(b"").contains("empty"));
        assert!(said(b"\x93NUMPY").contains("single array"));
        assert!(said(b"PK\x03\x04 and so on").contains("breaks off"));
        assert!(said(b"hello").contains("no .npz file"));
        let mut out = ZipWriter::new(Cursor::new(Vec::new()));
        out.start_file(
            "readme.txt",
            SimpleFileOptions::default().compression_method(CompressionMethod::Stored),
        )
        .expect("memory takes it");
        let bytes = out.finish().expect("memory takes it").into_inner();
        assert!(said(&bytes).contains("readme.txt"));
        assert_eq!(Elements::zeros(DType::Bool, 1).len(), 1);
    }
}
