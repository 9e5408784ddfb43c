//! The names that are known without a file: the words of GTScript, and NDSL's types, dimensions and
//! constants. `math` and `numpy` are known as far as constants need them.

use std::sync::Arc;

use super::constants::{Constant, ElementType, FieldType, Opaque};
use super::ndsl_constants;
use crate::config::Config;
use crate::diag::Span;
use crate::space::{Axis, AxisSet};
use crate::types::{DType, Function};

/// The words of GTScript that are neither types nor functions of numbers.
const WORDS: [&str; 26] = [
    "computation",
    "interval",
    "horizontal",
    "region",
    "PARALLEL",
    "FORWARD",
    "BACKWARD",
    "Field",
    "GlobalTable",
    "Axis",
    "__INLINED",
    "compile_assert",
    "function",
    "stencil",
    "lazy_stencil",
    "lazy_function",
    "externals",
    "gtscript",
    "set_4d_field_size",
    "enum",
    "SimpleNamespace",
    "IntEnum",
    "Enum",
    "dataclass",
    "FieldBundleType",
    "isinstance",
];

/// Numeric functions of Python that the constant evaluator knows, beside the language's.
const NUMERIC: [&str; 4] = ["pow", "len", "iinfo", "finfo"];

/// The rounding functions of Python's `math`, which return integers, unlike those of NumPy and the language.
const TO_INTEGERS: [&str; 3] = ["int_floor", "int_ceil", "int_trunc"];

/// Further functions of Python's `math`, which no stencil can call.
const MATH: [&str; 9] =
    ["atan2", "hypot", "copysign", "fmod", "radians", "degrees", "log2", "expm1", "log1p"];

/// The meaning of a name in the language itself, or among NDSL's types and dimensions. The import path does
/// not matter, and the import may be missing.
#[must_use]
pub fn language_name(name: &str, config: &Config) -> Option<Constant> {
    if let Some(word) = WORDS.into_iter().find(|&it| it == name) {
        return Some(Constant::Word(word));
    }
    if let Some(numeric) = NUMERIC.into_iter().find(|&it| it == name) {
        return Some(Constant::Numeric(numeric));
    }
    if let Some(function) = Function::builtin(name) {
        return Some(Constant::Numeric(function.name()));
    }
    let fixed = |dtype| Some(Constant::Element(ElementType::Fixed(dtype)));
    match name {
        "I" => Some(Constant::Axis(Axis::I)),
        "J" => Some(Constant::Axis(Axis::J)),
        "K" => Some(Constant::Axis(Axis::K)),
        "bool" | "Bool" => fixed(DType::Bool),
        "float" => Some(Constant::Element(ElementType::Float)),
        "int" => Some(Constant::Element(ElementType::Int)),
        "int32" | "i32" => fixed(DType::Int32),
        "int64" | "i64" => fixed(DType::Int64),
        "float32" | "f32" => fixed(DType::Float32),
        "float64" | "f64" => fixed(DType::Float64),
        "Float" => fixed(config.literal_float),
        "Int" => fixed(config.literal_int),
        // Types alone hide behind `if TYPE_CHECKING:`, and types are what we want to find.
        "TYPE_CHECKING" => Some(Constant::Bool(true)),
        "N_HALO_DEFAULT" => Some(Constant::Int(3)),
        _ => {
            axes(name).map(Constant::Axes).or_else(|| typing_alias(name, config)).or_else(|| dimension(name))
        }
    }
}

fn axes(name: &str) -> Option<AxisSet> {
    use Axis::{I, J, K};
    match name {
        "IJK" => Some(AxisSet::IJK),
        "IJ" => Some(AxisSet::IJ),
        "IK" => Some(AxisSet::of(&[I, K])),
        "JK" => Some(AxisSet::of(&[J, K])),
        _ => None,
    }
}

/// `FloatField`, `IntFieldIJ32`, `BoolFieldK`, ...
fn typing_alias(name: &str, config: &Config) -> Option<Constant> {
    let (dtype, rest) = if let Some(rest) = name.strip_prefix("FloatField") {
        (config.literal_float, rest)
    } else if let Some(rest) = name.strip_prefix("IntField") {
        (config.literal_int, rest)
    } else {
        (DType::Bool, name.strip_prefix("BoolField")?)
    };
    let is_float = dtype.is_float();
    let (axes, dtype) = if let Some(axes) = rest.strip_suffix("32").filter(|_| dtype != DType::Bool) {
        (axes, if is_float { DType::Float32 } else { DType::Int32 })
    } else if let Some(axes) = rest.strip_suffix("64").filter(|_| dtype != DType::Bool) {
        (axes, if is_float { DType::Float64 } else { DType::Int64 })
    } else {
        (rest, dtype)
    };
    let axes = match axes {
        "" => AxisSet::IJK,
        "I" => AxisSet::of(&[Axis::I]),
        "J" => AxisSet::of(&[Axis::J]),
        "K" => AxisSet::K,
        "IJ" => AxisSet::IJ,
        _ => return None,
    };
    let element = ElementType::Fixed(dtype);
    Some(Constant::Field(FieldType { axes, element, data_dims: Vec::new(), is_table: false }))
}

/// NDSL's names of dimensions, in both spellings.
fn dimension(name: &str) -> Option<Constant> {
    let value = match name {
        "I_DIM" | "X_DIM" => "x",
        "J_DIM" | "Y_DIM" => "y",
        "K_DIM" | "Z_DIM" => "z",
        "I_INTERFACE_DIM" | "X_INTERFACE_DIM" => "x_interface",
        "J_INTERFACE_DIM" | "Y_INTERFACE_DIM" => "y_interface",
        "K_INTERFACE_DIM" | "Z_INTERFACE_DIM" => "z_interface",
        "K_SOIL_DIM" | "Z_SOIL_DIM" => "z_soil",
        _ => return None,
    };
    Some(Constant::Str(Arc::from(value)))
}

/// Whether a module of that path is known without a file.
#[must_use]
pub fn is_builtin_module(path: &[String]) -> bool {
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    matches!(
        parts.as_slice(),
        ["math" | "numpy" | "cupy" | "sys" | "typing" | "enum" | "dataclasses" | "types" | "__externals__"]
            | ["gt4py", ..]
            | ["ndsl" | "pace" | "gtscript"]
            | ["ndsl" | "pace", "dsl", ..]
            | ["ndsl" | "pace", "util" | "constants", ..]
            | ["ndsl", "boilerplate" | "quantity", ..]
    )
}

/// Whether a module of that name is installed with Python, whatever files have that name. A folder `numpy`
/// deep in a project is another module.
#[must_use]
pub fn is_installed_module(path: &[String]) -> bool {
    let first = path.first().map(String::as_str);
    matches!(
        first,
        Some(
            "math" | "cmath" | "numpy" | "cupy" | "os" | "sys" | "types" | "typing" | "enum" | "dataclasses"
        )
    )
}

/// Whether every Python has the module.
#[must_use]
pub fn is_standard_module(path: &[String]) -> bool {
    const STANDARD: [&str; 24] = [
        "abc",
        "argparse",
        "collections",
        "contextlib",
        "copy",
        "datetime",
        "functools",
        "importlib",
        "inspect",
        "io",
        "itertools",
        "json",
        "logging",
        "operator",
        "pathlib",
        "random",
        "re",
        "shutil",
        "string",
        "sys",
        "time",
        "traceback",
        "unittest",
        "warnings",
    ];
    path.first().is_some_and(|it| STANDARD.contains(&it.as_str()))
}

/// Whether the module is there on every machine that runs the language: it is no missing file of a project.
#[must_use]
pub fn is_python_module(path: &[String]) -> bool {
    is_builtin_module(path) || is_installed_module(path) || is_standard_module(path)
}

/// Why a name of a module without a file has no value: `path` leads to the name.
#[must_use]
pub fn not_known(path: &[String], span: Span) -> Opaque {
    let (name, module) = path.split_last().map_or(("", path), |(name, module)| (name.as_str(), module));
    let spelled = module.join(".");
    Opaque::new(
        match is_python_module(module) {
            true => format!("`{name}` of the module `{spelled}` is not known"),
            false => format!("it comes from the module `{spelled}`, which is not among the files"),
        },
        span,
    )
}

/// Whether the module, if it is among the files, is the language's own source: it may lie below another folder.
#[must_use]
pub fn is_language_module(path: &[String]) -> bool {
    [["gt4py", "cartesian", "gtscript"], ["ndsl", "dsl", "gt4py"], ["ndsl", "quantity", "field_bundle"]]
        .iter()
        .any(|them| path.last_chunk::<3>().is_some_and(|it| it == them))
}

/// The attribute `name` of a module that is not among the files.
#[must_use]
pub fn module_attribute(path: &[String], name: &str, config: &Config) -> Option<Constant> {
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["math" | "cmath"] => math(name),
        ["numpy" | "cupy"] => numpy(name),
        ["os"] if name == "getenv" => Some(Constant::Word("os.getenv")),
        ["os"] if name == "environ" => Some(Constant::Word("os.environ")),
        ["dataclasses"] if name == "field" => Some(Constant::Word("dataclasses.field")),
        ["sys"] if name == "maxsize" => Some(Constant::Int(i64::MAX)),
        ["sys"] if name == "float_info" => Some(Constant::Namespace(Arc::new(
            [("epsilon", f64::EPSILON), ("max", f64::MAX), ("min", f64::MIN_POSITIVE)]
                .map(|(key, value)| (key.to_owned(), Constant::Float(value)))
                .into(),
        ))),
        ["ndsl" | "pace", .., "constants"] => {
            ndsl_constants::value(name, config).or_else(|| language_name(name, config))
        }
        // Any other module: typing aliases and words are known by their spelling.
        _ => language_name(name, config),
    }
}

/// Names of a module that is not among the files, for suggestions: those that stencils use.
pub fn known_names(path: &[String]) -> impl Iterator<Item = &'static str> {
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    let names: &[&str] = match parts.as_slice() {
        ["math"] => &["pi", "e", "inf", "nan"],
        ["numpy" | "cupy"] => {
            &["pi", "e", "inf", "nan", "bool_", "int32", "int64", "float32", "float64", "sqrt", "exp"]
        }
        ["ndsl" | "pace", .., "constants"] => &ndsl_constants::NAMES,
        _ => &[],
    };
    names.iter().copied()
}

fn math(name: &str) -> Option<Constant> {
    match name {
        "pi" => Some(Constant::Float(std::f64::consts::PI)),
        "e" => Some(Constant::Float(std::f64::consts::E)),
        "tau" => Some(Constant::Float(std::f64::consts::TAU)),
        "inf" => Some(Constant::Float(f64::INFINITY)),
        "nan" => Some(Constant::Float(f64::NAN)),
        "pow" => Some(Constant::Numeric("pow")),
        "fabs" => numpy(name),
        _ => {
            let of_math = TO_INTEGERS.into_iter().find(|it| it.strip_prefix("int_") == Some(name));
            let of_math = of_math.or_else(|| MATH.into_iter().find(|&it| it == name));
            of_math.map(Constant::Numeric).or_else(|| of_language(name))
        }
    }
}

/// A function of one number that the language has as well.
fn of_language(name: &str) -> Option<Constant> {
    Function::builtin(name).filter(|it| it.arity() == 1).map(|it| Constant::Numeric(it.name()))
}

fn numpy(name: &str) -> Option<Constant> {
    if let Some(function) = Function::of_numpy(name) {
        return Some(Constant::Numeric(function.name()));
    }
    let fixed = |dtype| Some(Constant::Element(ElementType::Fixed(dtype)));
    match name {
        "bool_" | "bool8" | "bool" => fixed(DType::Bool),
        "int8" => fixed(DType::Int8),
        "int16" => fixed(DType::Int16),
        "int32" => fixed(DType::Int32),
        "int64" | "int_" => fixed(DType::Int64),
        "float32" | "single" => fixed(DType::Float32),
        "float64" | "float_" | "double" => fixed(DType::Float64),
        "dtype" => Some(Constant::Word("dtype")),
        "power" => Some(Constant::Numeric("pow")),
        "iinfo" => Some(Constant::Numeric("iinfo")),
        "finfo" => Some(Constant::Numeric("finfo")),
        "arctan2" => Some(Constant::Numeric("atan2")),
        "deg2rad" => Some(Constant::Numeric("radians")),
        "rad2deg" => Some(Constant::Numeric("degrees")),
        "square" => Some(Constant::Numeric("square")),
        "exp2" => Some(Constant::Numeric("exp2")),
        _ => of_language(name).or_else(|| math(name)),
    }
}
