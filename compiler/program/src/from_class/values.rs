//! The values of a constructor while it is evaluated.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use isobar_front::frontend::constants::Constant;
use isobar_front::frontend::modules::{ClassId, FunctionId};
use isobar_front::frontend::syntax::FunctionDef;
use isobar_ground::types::DType;

/// A value. Lists, dictionaries and objects stand in the builder, so that all names of one see its changes.
#[derive(Clone, Debug)]
pub(super) enum Built<'p> {
    /// A number, a text, a type, a function, a class or a module.
    Constant(Constant),
    Tuple(Vec<Built<'p>>),
    List(usize),
    Table(usize),
    Object(usize),
    Stencil(String),
    Field(String),
    /// `field.data` and its like, whose elements may be given one number.
    Elements(String),
    Helper(BuildHelper),
    Method {
        function: FunctionId,
        of: usize,
    },
    /// The method of a list, a dictionary or a helper.
    Bound {
        of: Box<Built<'p>>,
        method: String,
    },
    /// A function that is defined within another one.
    Local {
        def: &'p FunctionDef,
        frame: BuiltFrame<'p>,
    },
    /// `super()`: the object, and the class whose bases are meant.
    Super {
        of: usize,
        class: ClassId,
    },
    Exchange {
        fields: Vec<Built<'p>>,
        kind: &'static str,
        width: u32,
    },
    /// A name from outside of the files.
    Outside(String),
    /// A value that the caller gives when the program runs, by its path.
    Free(String),
    /// Nothing is known of it but the reason.
    Unknown(String),
}

/// An object that Isobar stands in for, as NDSL and GT4Py have it.
#[derive(Clone, Debug)]
pub(super) enum BuildHelper {
    StencilFactory(GridIndices),
    QuantityFactory,
    Grid(GridIndices),
    Communicator,
    /// How much of a halo is exchanged.
    HaloSpec(u32),
    /// The result of `get_scalar_halo_updater` and its like.
    HaloUpdater {
        kind: &'static str,
        width: u32,
    },
    Timer,
    /// A part of a configuration: all that is asked of it is unknown.
    Setting(String),
}

/// The compute domain of a rank, as NDSL's `GridIndexing` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GridIndices {
    pub(super) origin: [i64; 3],
    pub(super) domain: [i64; 3],
    pub(super) n_halo: i64,
    /// Whether the edges in the west, east, south and north are those of the tile.
    pub(super) edges: [bool; 4],
}

/// The names of a function that runs.
#[derive(Clone, Debug)]
pub(super) struct BuiltFrame<'p> {
    pub(super) names: Rc<RefCell<BTreeMap<String, Built<'p>>>>,
    /// Those of the functions around, from the inside out.
    pub(super) around: Vec<Rc<RefCell<BTreeMap<String, Built<'p>>>>>,
    /// The object and the class of a method.
    pub(super) this: Option<(usize, ClassId)>,
    /// The name that a field or object would have that the function returns.
    pub(super) result_name: Option<String>,
}

/// An object of a class of the files.
#[derive(Debug)]
pub(super) struct BuiltObject<'p> {
    pub(super) class: ClassId,
    pub(super) name: String,
    pub(super) attributes: BTreeMap<String, Built<'p>>,
}

impl<'p> Built<'p> {
    pub(super) const NONE: Self = Self::Constant(Constant::None);

    pub(super) fn int(value: i64) -> Self {
        Self::Constant(Constant::Int(value))
    }

    pub(super) fn bool(value: bool) -> Self {
        Self::Constant(Constant::Bool(value))
    }

    pub(super) fn triple(values: [i64; 3]) -> Self {
        Self::Tuple(values.into_iter().map(Self::int).collect())
    }

    pub(super) fn as_int(&self) -> Option<i64> {
        match self {
            Self::Constant(it) => it.as_int(),
            _ => None,
        }
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Constant(Constant::Str(it)) => Some(it),
            _ => None,
        }
    }

    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::Constant(Constant::None))
    }

    /// The words of messages for it.
    pub(super) fn kind(&self) -> String {
        match self {
            Self::Constant(it) => it.describe().to_owned(),
            Self::Tuple(_) => "a tuple".to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::Table(_) => "a dictionary".to_owned(),
            Self::Object(_) | Self::Super { .. } => "an object".to_owned(),
            Self::Stencil(name) => format!("the stencil `{name}`"),
            Self::Field(name) | Self::Elements(name) => format!("the field `{name}`"),
            Self::Helper(_) => "an object of the framework".to_owned(),
            Self::Method { .. } | Self::Local { .. } => "a function".to_owned(),
            Self::Bound { method, .. } => format!("the method `{method}`"),
            Self::Exchange { .. } => "a halo updater".to_owned(),
            Self::Outside(name) => format!("`{name}`, which is not among the files"),
            Self::Free(path) => format!("`{path}`, which has no value"),
            Self::Unknown(why) => format!("something unknown ({why})"),
        }
    }

    /// Whether nothing is known of it.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(
            self,
            Self::Outside(_) | Self::Free(_) | Self::Unknown(_) | Self::Helper(BuildHelper::Setting(_))
        )
    }
}

/// Adds up three numbers each.
pub(super) fn plus(one: [i64; 3], other: [i64; 3]) -> [i64; 3] {
    std::array::from_fn(|it| one[it] + other[it])
}

impl GridIndices {
    fn halo(self) -> [i64; 3] {
        [self.n_halo, self.n_halo, 0]
    }

    /// `origin_full`, without its `add`.
    pub(super) fn origin_full(self) -> [i64; 3] {
        std::array::from_fn(|it| self.origin[it] - self.halo()[it])
    }

    /// `domain_full`, without its `add`.
    pub(super) fn domain_full(self) -> [i64; 3] {
        std::array::from_fn(|it| self.domain[it] + 2 * self.halo()[it])
    }

    /// An attribute: `isc`, `n_halo`, `domain`.
    pub(super) fn attribute<'p>(self, name: &str) -> Option<Built<'p>> {
        let first = self.origin_full();
        let [west, east, south, north] = self.edges;
        let last = |from: [i64; 3], size: [i64; 3], axis: usize| Built::int(from[axis] + size[axis] - 1);
        Some(match name {
            "origin" => Built::triple(self.origin),
            "domain" => Built::triple(self.domain),
            "n_halo" => Built::int(self.n_halo),
            "isc" => Built::int(self.origin[0]),
            "jsc" => Built::int(self.origin[1]),
            "iec" => last(self.origin, self.domain, 0),
            "jec" => last(self.origin, self.domain, 1),
            "isd" => Built::int(first[0]),
            "jsd" => Built::int(first[1]),
            "ied" => last(first, self.domain_full(), 0),
            "jed" => last(first, self.domain_full(), 1),
            "max_shape" => Built::triple(plus(self.domain_full(), [1, 1, 1 + self.origin[2]])),
            "west_edge" => Built::bool(west),
            "east_edge" => Built::bool(east),
            "south_edge" => Built::bool(south),
            "north_edge" => Built::bool(north),
            "sw_corner" => Built::bool(south && west),
            "se_corner" => Built::bool(south && east),
            "nw_corner" => Built::bool(north && west),
            "ne_corner" => Built::bool(north && east),
            _ => return None,
        })
    }
}

/// The type of elements that a value means: `Float`, `float`, `np.float32`.
pub(super) fn dtype_of(value: &Constant, usual: DType) -> Option<DType> {
    use isobar_front::frontend::constants::ElementType;
    match value {
        Constant::None => Some(usual),
        Constant::Element(ElementType::Fixed(it)) => Some(*it),
        Constant::Element(ElementType::Float) => Some(DType::Float64),
        Constant::Element(ElementType::Int) => Some(DType::Int64),
        Constant::Element(ElementType::Named(name)) => DType::from_name(name),
        Constant::Str(name) => DType::from_name(name),
        _ => None,
    }
}
