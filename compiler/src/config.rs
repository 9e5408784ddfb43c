//! Every option of a compilation: its name, its default, what it changes in the result.

use std::collections::BTreeMap;

use crate::space::Axis;
use crate::types::{DType, Value};

/// What is chosen beside the text. It decides the meaning of a stencil, so all of it enters the fingerprint.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The type of integer literals, of `int(x)`, of `int` temporaries and of `K`:
    /// `int32` or `int64` (default). On the wire: `literal_int_precision`.
    pub literal_int: DType,
    /// The type of float literals, of `float(x)` and of `float` temporaries:
    /// `float32` or `float64` (default). It is also what NDSL's `Float` means.
    /// On the wire: `literal_float_precision`.
    pub literal_float: DType,
    /// What the names in string annotations mean, as type names (`float32`) or
    /// type expressions (`Field[IJ, np.float64]`). The keys `float` and `int`
    /// also retype literals. Empty by default; `float`, `int` and `bool` are known without.
    pub dtypes: BTreeMap<String, String>,
    /// Answers to `from __externals__ import ...`, for the stencil and every
    /// function that it reaches. Empty by default; the eight axis offsets of
    /// NDSL (`i_start`, `local_js`, ...) are then those of a single tile with
    /// all four edges whose compute domain is the whole grid:
    /// `i_start = local_is = I[0]`, `i_end = local_ie = I[-1]`, and so along J.
    pub externals: BTreeMap<String, External>,
}

impl Default for Config {
    fn default() -> Self {
        Self::with_precision(64)
    }
}

impl Config {
    /// The defaults with literals of 32 or 64 bits, as NDSL's one switch sets them.
    /// On the wire: `precision`. Any number but 32 means 64.
    #[must_use]
    pub fn with_precision(bits: u32) -> Self {
        let (literal_int, literal_float) = match bits {
            32 => (DType::Int32, DType::Float32),
            _ => (DType::Int64, DType::Float64),
        };
        Self { literal_int, literal_float, dtypes: BTreeMap::new(), externals: BTreeMap::new() }
    }
}

/// A value that is given from outside while a stencil is built.
#[derive(Clone, Debug, PartialEq)]
pub enum External {
    Bool(bool),
    /// A plain integer; takes the type of an integer literal where it is used.
    Int(i64),
    /// A plain float; takes the type of a float literal where it is used.
    Float(f64),
    /// A value with a type of its own, as `np.float32(0.1)`.
    Typed(Value),
    None,
    /// A GTScript function by its name, looked up from the main file; dots go through modules.
    Function(String),
    /// A member of an enumeration, looked up from the main file.
    Member {
        enumeration: String,
        member: String,
    },
    /// An object whose attributes are externals: `config.do_limit`.
    Namespace(BTreeMap<String, External>),
    /// A position along an axis, as `I[0] + 1`: `index` counts from the start, if
    /// negative from the end. Without an index it is the axis itself.
    Axis {
        axis: Axis,
        index: Option<i64>,
        offset: i64,
    },
    /// Something that a stencil cannot use; the text says what it was. An error only where it is used.
    Unsupported(String),
}

impl External {
    /// What the axis offset of that name is on a single tile; `None` for any other name.
    #[must_use]
    pub fn of_single_tile(name: &str) -> Option<Self> {
        let (axis, index) = match name {
            "i_start" | "local_is" => (Axis::I, 0),
            "i_end" | "local_ie" => (Axis::I, -1),
            "j_start" | "local_js" => (Axis::J, 0),
            "j_end" | "local_je" => (Axis::J, -1),
            _ => return None,
        };
        Some(External::Axis { axis, index: Some(index), offset: 0 })
    }
}
