//! The declarations of a typed stencil as text: how GTIR and OIR spell what statements name.

use std::fmt;

use itertools::Itertools;

use crate::space::{AxisSet, parse as space};
use crate::types::{DType, Value};

/// The declaration on one line. A name is spelled as it is, even if it has another meaning in an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Declaration {
    Stencil {
        name: String,
    },
    Field {
        name: String,
        dtype: DType,
        axes: AxisSet,
        data_dims: Vec<u32>,
        is_keyword_only: bool,
        is_optional: bool,
    },
    Scalar {
        name: String,
        dtype: DType,
        is_keyword_only: bool,
        default: Option<Value>,
    },
    Temporary {
        name: String,
        dtype: DType,
        axes: AxisSet,
        data_dims: Vec<u32>,
    },
    Local {
        name: String,
        dtype: DType,
    },
}

impl fmt::Display for Declaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keyword = |is_keyword_only: bool| if is_keyword_only { " keyword" } else { "" };
        match self {
            Declaration::Stencil { name } => write!(f, "stencil {name}"),
            Declaration::Field { name, dtype, axes, data_dims, is_keyword_only, is_optional } => {
                let optional = if *is_optional { " optional" } else { "" };
                let sizes = sizes(data_dims);
                write!(f, "field {name}: {dtype}[{axes}]{sizes}{}{optional}", keyword(*is_keyword_only))
            }
            Declaration::Scalar { name, dtype, is_keyword_only, default } => {
                write!(f, "scalar {name}: {dtype}{}", keyword(*is_keyword_only))?;
                default.map_or(Ok(()), |it| write!(f, " = {}", it.digits()))
            }
            Declaration::Temporary { name, dtype, axes, data_dims } => {
                write!(f, "temporary {name}: {dtype}[{axes}]{}", sizes(data_dims))
            }
            Declaration::Local { name, dtype } => write!(f, "local {name}: {dtype}"),
        }
    }
}

/// The sizes of data dimensions, `[3,2]`; nothing where there are none.
pub fn sizes(data_dims: &[u32]) -> impl fmt::Display + '_ {
    fmt::from_fn(
        move |f| {
            if data_dims.is_empty() { Ok(()) } else { write!(f, "[{}]", data_dims.iter().format(",")) }
        },
    )
}

/// Reads a declaration; `None` where the first word of the line says that it is none.
///
/// # Errors
///
/// The message names the text that was expected behind the first word.
pub fn parse(line: &str) -> Option<Result<Declaration, String>> {
    let (word, rest) = line.split_once(' ')?;
    let (read, expected) = match word {
        "stencil" => (Some(Declaration::Stencil { name: rest.to_owned() }), ""),
        "field" => (field(rest), "`name: type[axes]` was expected"),
        "temporary" => (temporary(rest), "`name: type[axes]` was expected"),
        "scalar" => (scalar(rest), "`name: type` was expected"),
        "local" => (local(rest), "`name: type` was expected"),
        _ => return None,
    };
    Some(read.ok_or_else(|| expected.to_owned()))
}

fn field(text: &str) -> Option<Declaration> {
    let (text, is_optional) = without(text, " optional");
    let (text, is_keyword_only) = without(text, " keyword");
    let (name, dtype, axes, data_dims) = typed_axes(text)?;
    Some(Declaration::Field { name, dtype, axes, data_dims, is_keyword_only, is_optional })
}

fn temporary(text: &str) -> Option<Declaration> {
    let (name, dtype, axes, data_dims) = typed_axes(text)?;
    Some(Declaration::Temporary { name, dtype, axes, data_dims })
}

fn scalar(text: &str) -> Option<Declaration> {
    let (text, default) = match text.split_once(" = ") {
        Some((text, default)) => (text, Some(default)),
        None => (text, None),
    };
    let (text, is_keyword_only) = without(text, " keyword");
    let (name, dtype) = text.split_once(": ")?;
    let dtype = DType::from_name(dtype)?;
    let default = match default {
        Some(digits) => Some(Value::from_digits(digits, dtype)?),
        None => None,
    };
    Some(Declaration::Scalar { name: name.to_owned(), dtype, is_keyword_only, default })
}

fn local(text: &str) -> Option<Declaration> {
    let (name, dtype) = text.split_once(": ")?;
    Some(Declaration::Local { name: name.to_owned(), dtype: DType::from_name(dtype)? })
}

/// `name: type[axes]`, and `[3,2]` behind it where there are data dimensions.
fn typed_axes(text: &str) -> Option<(String, DType, AxisSet, Vec<u32>)> {
    let (name, rest) = text.split_once(": ")?;
    let (dtype, rest) = rest.strip_suffix(']')?.split_once('[')?;
    let (axes, sizes) = match rest.split_once("][") {
        Some((axes, sizes)) => (axes, sizes.split(',').map(str::parse).collect::<Result<_, _>>().ok()?),
        None => (rest, Vec::new()),
    };
    Some((name.to_owned(), DType::from_name(dtype)?, space::axes(axes)?, sizes))
}

/// The text without the word at its end, and whether it stood there.
fn without<'a>(text: &'a str, word: &str) -> (&'a str, bool) {
    text.strip_suffix(word).map_or((text, false), |rest| (rest, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_read_back_as_they_were_written() {
        for text in [
            "stencil copy",
            "field a: float64[IJK]",
            "field a: int8[IJ] keyword",
            "field a: float32[K] optional",
            "field K: bool[] keyword optional",
            "field v: float64[IJK][3,2] optional",
            "field t: int32[][20]",
            "temporary v: float64[IJK][9]",
            "scalar dt: float64",
            "scalar dt: int32 keyword = -3",
            "scalar dt: float64 = NaN",
            "temporary t: int64[IJ]",
            "local n: int64",
        ] {
            let read = parse(text).expect(text).expect(text);
            assert_eq!(read.to_string(), text);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in
            ["field a", "field a: float[IJK]", "temporary t: float64[IJK] keyword", "scalar s: float64 = x"]
        {
            assert!(parse(text).expect("it declares something").is_err(), "{text}");
        }
        for text in ["parallel [start, end)", "stencil", ""] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
