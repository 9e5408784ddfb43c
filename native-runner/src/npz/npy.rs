//! One array: the format that NumPy's manual calls NPY, versions 1 to 3.

use std::cmp::Ordering;
use std::io::Read;

use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::types::DType;

use isobar_protocol::npz::MAGIC;

use super::NpzError;

/// Much longer than any header of an array without a structure.
const MOST_HEADER_BYTES: usize = 64 * 1024;
const CUT: &str = "it ends within its header";
/// NumPy's own limit.
const MOST_DIMENSIONS: usize = 64;

/// The content of a header.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    dtype: DType,
    is_big_endian: bool,
    is_fortran: bool,
    shape: Vec<usize>,
}

/// Reads an array of at most `limit` bytes; also answers the number of bytes of its data.
///
/// # Errors
///
/// The reason why the array cannot be read.
pub(super) fn read_from(from: &mut impl Read, limit: u64) -> Result<(Array, u64), NpzError> {
    let header = parse(&text_of_header(from)?)?;
    let points = header.shape.iter().try_fold(1_u64, |n, &size| n.checked_mul(size as u64));
    let asked = points.and_then(|it| it.checked_mul(header.dtype.size_bytes() as u64));
    // No memory holds more, whatever the limit.
    let Some(asked) = asked.filter(|&it| it <= limit.min(isize::MAX as u64)) else {
        return Err(NpzError::TooLarge { asked: asked.unwrap_or(u64::MAX), allowed: limit });
    };
    let mut data = Vec::with_capacity(usize::try_from(asked).unwrap_or(0));
    from.take(asked.saturating_add(1)).read_to_end(&mut data).map_err(|it| damaged(&it))?;
    let promised = format!("its header promises the shape {:?} of {}", header.shape, header.dtype);
    match (data.len() as u64).cmp(&asked) {
        Ordering::Less => Err(format!("{promised}, and {} bytes of data follow", data.len()).into()),
        Ordering::Equal => Ok((array(&header, &data)?, asked)),
        Ordering::Greater => Err(format!("{promised}, and more than the {asked} bytes of it follow").into()),
    }
}

fn damaged(error: &std::io::Error) -> String {
    format!("it is damaged: {error}")
}

fn array(header: &Header, data: &[u8]) -> Result<Array, String> {
    let elements = if header.is_big_endian && header.dtype.size_bytes() > 1 {
        let turned: Vec<u8> =
            data.chunks(header.dtype.size_bytes()).flat_map(|it| it.iter().rev().copied()).collect();
        Elements::from_le_bytes(header.dtype, &turned)
    } else {
        Elements::from_le_bytes(header.dtype, data)
    };
    let array = if header.is_fortran {
        Array::from_fortran_order(elements, &header.shape)
    } else {
        Array::from_c_order(elements, &header.shape)
    };
    array.ok_or_else(|| "its shape does not fit its data".to_owned())
}

/// The text of the header, which stands before the data.
fn text_of_header(from: &mut impl Read) -> Result<String, String> {
    let mut read = |length: usize| {
        let mut bytes = Vec::new();
        from.take(length as u64).read_to_end(&mut bytes).map_err(|it| damaged(&it))?;
        Ok::<_, String>(bytes)
    };
    let start = read(MAGIC.len() + 2)?;
    let Some(version) = start.strip_prefix(MAGIC) else { return Err("it is no .npy file".to_owned()) };
    let length = match version.first() {
        Some(1) => read(2)?,
        Some(2 | 3) => read(4)?,
        Some(other) => return Err(format!("its format is version {other}, and 1 to 3 are known")),
        None => return Err(CUT.to_owned()),
    };
    let length = match *length.as_slice() {
        [a, b] => usize::from(u16::from_le_bytes([a, b])),
        [a, b, c, d] => usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX),
        _ => return Err(CUT.to_owned()),
    };
    if length > MOST_HEADER_BYTES {
        return Err(format!("its header is {length} bytes long, and at most {MOST_HEADER_BYTES} are read"));
    }
    let header = read(length)?;
    if header.len() != length {
        return Err(CUT.to_owned());
    }
    String::from_utf8(header).map_err(|_| "its header is no text".to_owned())
}

/// Reads the header: a Python dictionary with three known keys.
fn parse(text: &str) -> Result<Header, String> {
    let mut words = HeaderWords { rest: text };
    let malformed =
        || format!("its header is not understood: {}", text.trim().chars().take(120).collect::<String>());
    let (mut dtype, mut order, mut shape) = (None, None, None);
    words.take("{").ok_or_else(malformed)?;
    while words.take("}").is_none() {
        let key = words.quoted().ok_or_else(malformed)?;
        words.take(":").ok_or_else(malformed)?;
        match key {
            "descr" => dtype = Some(words.quoted().ok_or("its elements are no plain numbers")?),
            "fortran_order" => {
                let is_true = words.take("True").is_some();
                if !is_true {
                    words.take("False").ok_or_else(malformed)?;
                }
                order = Some(is_true);
            }
            "shape" => shape = Some(words.tuple().ok_or_else(malformed)?),
            _ => return Err(malformed()),
        }
        if words.take(",").is_none() {
            words.take("}").ok_or_else(malformed)?;
            break;
        }
    }
    if !words.rest.trim().is_empty() {
        return Err(malformed());
    }
    let (Some(descr), Some(is_fortran), Some(shape)) = (dtype, order, shape) else { return Err(malformed()) };
    let (order, code) = descr.split_at_checked(1).ok_or_else(malformed)?;
    let dtype = match code {
        "b1" => DType::Bool,
        "i1" => DType::Int8,
        "i2" => DType::Int16,
        "i4" => DType::Int32,
        "i8" => DType::Int64,
        "f4" => DType::Float32,
        "f8" => DType::Float64,
        _ => {
            return Err(format!(
                "its elements are of type `{descr}`, and the language has bool, int8 to int64, float32 and float64"
            ));
        }
    };
    let is_big_endian = match order {
        "<" | "|" | "=" => false,
        ">" => true,
        _ => return Err(malformed()),
    };
    Ok(Header { dtype, is_big_endian, is_fortran, shape })
}

struct HeaderWords<'a> {
    rest: &'a str,
}

impl<'a> HeaderWords<'a> {
    /// Takes `word`, if it is next.
    fn take(&mut self, word: &str) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(word)?;
        Some(())
    }

    fn quoted(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start();
        let quote = rest.chars().next().filter(|it| matches!(it, '\'' | '"'))?;
        let (text, rest) = rest[1..].split_once(quote)?;
        self.rest = rest;
        Some(text)
    }

    fn tuple(&mut self) -> Option<Vec<usize>> {
        self.take("(")?;
        let mut sizes = Vec::new();
        while self.take(")").is_none() {
            let rest = self.rest.trim_start();
            let end = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
            sizes.push(rest[..end].parse().ok()?);
            // Old Pythons wrote `3L`.
            self.rest = rest[end..].strip_prefix('L').unwrap_or(&rest[end..]);
            if self.take(",").is_none() {
                self.take(")")?;
                break;
            }
            if sizes.len() > MOST_DIMENSIONS {
                return None;
            }
        }
        Some(sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isobar_compiler::types::Value;
    use isobar_protocol::npz::header;

    fn read(mut bytes: &[u8]) -> Result<Array, NpzError> {
        read_from(&mut bytes, u64::MAX).map(|(array, _)| array)
    }

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend(u16::try_from(header.len()).expect("short").to_le_bytes());
        out.extend(header.as_bytes());
        out.extend(data);
        out
    }

    #[test]
    fn both_orders_and_both_ends_are_read() {
        let data: Vec<u8> = (1..=6_i16).flat_map(i16::to_le_bytes).collect();
        let c = read(&file("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n", &data))
            .expect("C order");
        assert_eq!(c.get(&[1, 0]), Value::Int16(4));
        let f = read(&file("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3)}", &data))
            .expect("Fortran order");
        assert_eq!(f.get(&[1, 0]), Value::Int16(2));
        let big: Vec<u8> = (1..=6_i16).flat_map(i16::to_be_bytes).collect();
        let b = read(&file("{\"descr\":\">i2\",\"fortran_order\":False,\"shape\":(2,3)}", &big))
            .expect("big end first");
        assert_eq!(b, c);
    }

    #[test]
    fn scalars_and_rows_have_their_own_spelling() {
        let point =
            read(&file("{'descr': '|b1', 'fortran_order': False, 'shape': ()}", &[1])).expect("a point");
        assert_eq!((point.shape.len(), point.get(&[])), (0, Value::Bool(true)));
        let row =
            read(&file("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", &[0; 4])).expect("a row");
        assert_eq!(row.shape, [1]);
        let again = [header("float32", &[1]), row.to_c_order_le_bytes()].concat();
        assert_eq!(read(&again), Ok(row));
    }

    #[test]
    fn a_header_that_lies_is_refused_before_anything_is_allocated() {
        let all = [
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846976,)}", "need"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "need"),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999999,)}", "understood"),
            ("{'descr': '<f2', 'fortran_order': False, 'shape': (4,)}", "`<f2`"),
            ("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "`|O`"),
            ("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", "plain"),
            ("{'descr': '<f8', 'fortran_order': False}", "understood"),
            ("{'descr': '<f8', 'shape': (1,), 'fortran_order': 1}", "understood"),
            ("{'descr': 'é', 'fortran_order': False, 'shape': (1,)}", "understood"),
            ("(1", "understood"),
            ("", "understood"),
        ];
        for (header, word) in all {
            // Without a limit, what no memory holds is refused all the same.
            for limit in [1 << 20, u64::MAX] {
                let error = read_from(&mut file(header, &[0; 8]).as_slice(), limit).expect_err(header);
                assert!(error.to_string().contains(word), "{header}: {error}");
            }
        }
        assert!(read(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}").is_err());
        let version = read(b"\x93NUMPY\x09\x00\x00\x00").expect_err("version");
        assert!(version.to_string().contains("version 9"));
    }
}
