//! Every option of a compilation: its name, its default, what it changes in the result.

use std::collections::BTreeMap;

use crate::pass::PassOptions;
use crate::space::Axis;
use crate::types::{DType, Function, Primitive, Value};

/// The options of a compilation beside the text. They decide the meaning of a stencil, so a compilation is
/// reused only where they agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The type of integer literals, of `int(x)`, of `int` temporaries and of `K`:
    /// `int32` or `int64` (default). On the wire: `literal_int_precision`.
    pub literal_int: DType,
    /// The type of float literals, of `float(x)` and of `float` temporaries:
    /// `float32` or `float64` (default). It is also what NDSL's `Float` means.
    /// On the wire: `literal_float_precision`.
    pub literal_float: DType,
    /// The types that names in string annotations stand for. A value is a type name (`float32`) or a type
    /// expression (`Field[IJ, np.float64]`). The keys `float` and `int` also retype literals. Empty by
    /// default; `float`, `int` and `bool` are known without.
    pub dtypes: BTreeMap<String, String>,
    /// Answers to `from __externals__ import ...`, for the stencil and every function that it reaches. Empty
    /// by default. A name that is not here has the value that the text gives where it builds the stencil, and
    /// else the value of [`tile`](Self::tile).
    pub externals: BTreeMap<String, External>,
    /// Where on its tile the domain lies. This gives NDSL's eight axis offsets (`i_start`, `local_js`, ...)
    /// their values, unless an external gives them. Default [`Tile::Single`].
    pub tile: Tile,
    /// Levels of the compute domain, which NDSL knows while it compiles: its external `k_end` is the last of
    /// them. If there are none here, the `# @domain` line of the text gives them. Without that line too,
    /// `k_end` has no value.
    pub levels: Option<i64>,
    /// Which set of physical constants `ndsl.constants` holds. Default [`ConstantSet::Ufs`].
    pub constants: ConstantSet,
    /// The result of `min` and `max` where an operand is NaN. NumPy gives NaN. [`Arithmetic::C`] gives the
    /// first operand, as C++'s `std::min` and `std::max` do. Default [`Arithmetic::NumPy`].
    pub minmax: Arithmetic,
    /// Which sign `%` and `mod` have: the divisor's, or with [`Arithmetic::C`] the dividend's, as C's
    /// `fmod` and `%` do. Default [`Arithmetic::NumPy`]. On the wire: `mod`.
    pub modulo: Arithmetic,
    /// Which passes run. By default all of them; no choice here changes a result.
    pub passes: PassOptions,
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
        Self {
            literal_int,
            literal_float,
            dtypes: BTreeMap::new(),
            externals: BTreeMap::new(),
            tile: Tile::default(),
            levels: None,
            constants: ConstantSet::default(),
            minmax: Arithmetic::default(),
            modulo: Arithmetic::default(),
            passes: PassOptions::default(),
        }
    }
}

impl Config {
    /// Takes the number of levels from the domain of a text, unless these options have one.
    #[must_use]
    pub fn for_domain(self, of_text: Option<[i64; 3]>) -> Self {
        Self { levels: self.levels.or(of_text.map(|[_, _, levels]| levels)), ..self }
    }

    /// Returns the external that NDSL gives every stencil by that name: an axis offset, or the first or last
    /// level.
    #[must_use]
    pub fn external_of_ndsl(&self, name: &str) -> Option<External> {
        match name {
            "k_start" => Some(External::Int(0)),
            "k_end" => Some(External::Int(self.levels? - 1)),
            _ => self.tile.offset(name),
        }
    }

    /// Returns the function that a call of a builtin computes: itself, or its variant with C's arithmetic.
    #[must_use]
    pub fn meaning_of(&self, builtin: Function) -> Function {
        let Some(Primitive::Binary(op)) = builtin.primitive() else { return builtin };
        let arithmetic = if op.is_remainder() { self.modulo } else { self.minmax };
        if arithmetic == Arithmetic::C {
            Function::of_primitive(Primitive::Binary(op.of_c()))
        } else {
            builtin
        }
    }
}

/// The sets of physical constants that NDSL has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConstantSet {
    /// Of NOAA's Unified Forecast System.
    #[default]
    Ufs,
    /// Of GFDL's FV3 dynamical core.
    Gfdl,
    /// Of NASA's GEOS.
    Geos,
}

impl ConstantSet {
    pub const ALL: [Self; 3] = [Self::Ufs, Self::Gfdl, Self::Geos];

    /// As the command line, the API and NDSL spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ufs => "UFS",
            Self::Gfdl => "GFDL",
            Self::Geos => "GEOS",
        }
    }

    /// The set of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// Whose meaning an operation has where NumPy and C++ differ.
///
/// GT4Py's back ends differ there too: `debug` and `numpy` compute as NumPy does, the compiled ones as C++.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    #[default]
    NumPy,
    C,
}

impl Arithmetic {
    pub const ALL: [Self; 2] = [Self::NumPy, Self::C];

    /// As the command line and the API spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NumPy => "numpy",
            Self::C => "c",
        }
    }
}

/// Where on a tile of the cubed sphere the compute domain lies.
///
/// The rank computes its whole grid: the domain starts where that grid does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tile {
    /// The domain is the whole tile: all four edges are its own.
    #[default]
    Single,
    /// No edge of the tile is near.
    Interior,
    /// At the edge with the smallest I, and at no other; the next three alike.
    West,
    East,
    South,
    North,
}

/// The distance that NDSL gives for an edge of the tile that the rank does not have.
const FAR: i64 = 32_767;

impl Tile {
    pub const ALL: [Self; 6] =
        [Self::Single, Self::Interior, Self::West, Self::East, Self::South, Self::North];

    /// As the command line and the API spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Interior => "interior",
            Self::West => "west",
            Self::East => "east",
            Self::South => "south",
            Self::North => "north",
        }
    }

    /// The place of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Returns the value of the axis offset of that name; `None` for any other name.
    ///
    /// `local_is` and its like are the first and last cells of the rank, `i_start` and its like those of the
    /// tile.
    #[must_use]
    pub fn offset(self, name: &str) -> Option<External> {
        let (axis, index, edge) = match name {
            "i_start" => (Axis::I, 0, Some(Self::West)),
            "i_end" => (Axis::I, -1, Some(Self::East)),
            "j_start" => (Axis::J, 0, Some(Self::South)),
            "j_end" => (Axis::J, -1, Some(Self::North)),
            "local_is" => (Axis::I, 0, None),
            "local_ie" => (Axis::I, -1, None),
            "local_js" => (Axis::J, 0, None),
            "local_je" => (Axis::J, -1, None),
            _ => return None,
        };
        let is_near = self == Self::Single || edge.is_none_or(|it| it == self);
        let offset = match index {
            _ if is_near => 0,
            0 => -FAR,
            _ => FAR,
        };
        Some(External::Axis { axis, index: Some(index), offset })
    }

    /// All eight axis offsets by name.
    #[must_use]
    pub fn offsets(self) -> BTreeMap<String, External> {
        let names = ["i_start", "i_end", "j_start", "j_end", "local_is", "local_ie", "local_js", "local_je"];
        names.into_iter().filter_map(|name| Some((name.to_owned(), self.offset(name)?))).collect()
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
    /// Returns the value of the axis offset of that name on a single tile; `None` for any other name.
    #[must_use]
    pub fn of_single_tile(name: &str) -> Option<Self> {
        Tile::Single.offset(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_that_the_rank_does_not_have_is_far_away() {
        let offsets = |tile: Tile| {
            ["i_start", "i_end", "j_start", "j_end"].map(|name| match tile.offset(name) {
                Some(External::Axis { offset, .. }) => offset,
                other => panic!("{name} is {other:?}"),
            })
        };
        assert_eq!(offsets(Tile::Single), [0, 0, 0, 0]);
        assert_eq!(offsets(Tile::Interior), [-FAR, FAR, -FAR, FAR]);
        assert_eq!(offsets(Tile::West), [0, FAR, -FAR, FAR]);
        assert_eq!(offsets(Tile::East), [-FAR, 0, -FAR, FAR]);
        assert_eq!(offsets(Tile::South), [-FAR, FAR, 0, FAR]);
        assert_eq!(offsets(Tile::North), [-FAR, FAR, -FAR, 0]);
    }

    #[test]
    fn the_cells_of_the_rank_are_the_same_everywhere() {
        for tile in Tile::ALL {
            for name in ["local_is", "local_ie", "local_js", "local_je"] {
                assert_eq!(tile.offset(name), Tile::Single.offset(name), "{name} {}", tile.name());
            }
            assert_eq!(tile.offsets().len(), 8);
        }
    }
}
