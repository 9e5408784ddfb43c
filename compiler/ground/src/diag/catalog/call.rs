//! Faults of a call: the stencil is right, what was handed to it is not.

use crate::diag::{Code, Diagnostic, Remedy, Span, similar};
use crate::space::{Axis, AxisSet};
use crate::types::DType;

/// An array or a scalar has another element type than the parameter declares.
///
/// Nothing is converted at a call: a conversion would hide that two models
/// disagree about a precision.
pub const WRONG_TYPE: Code = Code("C01");
/// An array has another number of dimensions than the field has axes, or an origin does not fit it.
///
/// The axes of a field say which dimensions its array has, in the order I, J, K, and data
/// dimensions come last.
pub const WRONG_DIMENSIONS: Code = Code("C02");
/// The stencil reads before the first element of an array.
///
/// The origin is the index of the first point of the compute domain; what lies
/// before it is the halo. It is negative where the array leaves out points that the stencil does not use.
pub const ORIGIN_TOO_SMALL: Code = Code("C03");
/// The stencil reaches beyond the last element of an array, or the domain is not a domain.
///
/// The domain starts at the origin, and reads reach as far behind it as the stencil says.
pub const DOMAIN_TOO_LARGE: Code = Code("C04");
/// The domain has fewer levels than the intervals of the stencil and the reads of its temporaries need.
///
/// Intervals that count from both ends would overlap or be empty on fewer levels.
pub const TOO_FEW_LEVELS: Code = Code("C05");
/// A field or scalar that the stencil uses was not passed, or a name is not one of its parameters.
///
/// Parameters that no statement uses may be left out; all others are needed, unless they have a
/// default.
pub const MISSING: Code = Code("C06");
/// A file or an inline array with input fields is damaged, or of a kind that is not known.
///
/// Nothing of it is used: half an input would be worse than none.
pub const CANNOT_READ: Code = Code("C07");
/// Two fields share memory and one of them is written, or several points of a field that is written are one element.
///
/// The values that a statement reads would depend on the order of the points, which is not defined. One array
/// that is given for two parameters in the same way, with the same origin, is one field and may be written.
pub const OVERLAPPING: Code = Code("C08");

pub fn field_of_wrong_type(name: &str, declared: DType, given: DType) -> Diagnostic {
    Diagnostic::without_place(
        WRONG_TYPE,
        format!("field `{name}` has elements of type {given}, and is declared {declared}"),
    )
    .help(format!(
        "convert the array first, as `{name}.astype(\"{declared}\")`, or compile with another precision"
    ))
}

/// `given` says what was passed: `the integer 3`.
pub fn scalar_of_wrong_type(name: &str, declared: DType, given: &str) -> Diagnostic {
    Diagnostic::without_place(WRONG_TYPE, format!("scalar `{name}` is {given}, and is declared {declared}"))
        .help(format!("pass a value of type {declared}"))
}

/// `given` is what stands in the document.
pub fn not_a_scalar(name: &str, given: &str) -> Diagnostic {
    Diagnostic::without_place(WRONG_TYPE, format!("scalar `{name}` is `{given}`, which is no number")).help(
        "write a number, true or false, \"nan\", \"inf\", \"-inf\", or {\"dtype\": ..., \"value\": ...}",
    )
}

/// `what` is the file or array, `why` a sentence about its fault.
pub fn cannot_read(what: &str, why: &str) -> Diagnostic {
    Diagnostic::without_place(CANNOT_READ, format!("cannot read {what}: {why}"))
        .help("write it again, as with `numpy.savez`, with arrays of bool, int8 to int64, float32 or float64")
}

/// `data_dims` are the sizes of the data dimensions that are declared.
pub fn wrong_dimensions(name: &str, axes: AxisSet, data_dims: &[u32], shape: &[usize]) -> Diagnostic {
    let data = if data_dims.is_empty() {
        String::new()
    } else {
        format!("data dimensions of the sizes {data_dims:?}")
    };
    let (declared, order) = match (axes.is_empty(), data_dims.is_empty()) {
        (_, true) => (format!("the axes {axes}"), format!(", in the order {axes}")),
        (true, false) => (data, String::new()),
        (false, false) => {
            (format!("the axes {axes} and {data}"), format!(", in the order {axes}, then those of data"))
        }
    };
    let n = axes.len() + data_dims.len();
    Diagnostic::without_place(
        WRONG_DIMENSIONS,
        format!("field `{name}` has {declared}, and the array has {} dimensions, {shape:?}", shape.len()),
    )
    .help(format!("pass an array with {n} dimensions{order}"))
}

/// `declared` and `given` are the sizes of the data dimensions.
pub fn wrong_data_dimensions(name: &str, declared: &[u32], given: &[usize]) -> Diagnostic {
    Diagnostic::without_place(
        WRONG_DIMENSIONS,
        format!("field `{name}` has data dimensions of the sizes {declared:?}, and the array {given:?}"),
    )
    .help("pass an array whose last dimensions have the declared sizes")
}

pub fn origin_of_data(name: &str, origin: &[i64]) -> Diagnostic {
    Diagnostic::without_place(
        WRONG_DIMENSIONS,
        format!("the origin {origin:?} of field `{name}` is not 0 along a data dimension"),
    )
    .help("a data dimension has no halo: write 0 for it, or leave it out")
}

pub fn wrong_origin_length(name: &str, axes: AxisSet, origin: &[i64]) -> Diagnostic {
    Diagnostic::without_place(
        WRONG_DIMENSIONS,
        format!("the origin {origin:?} of field `{name}` has {} entries", origin.len()),
    )
    .help(format!("give 3 entries, for I, J, K, or {}, one for each of its axes {axes}", axes.len()))
}

/// `needed` is the least origin with which all points that are used lie in the array. It is negative where
/// the first of them lies behind the start of the compute domain.
pub fn origin_too_small(name: &str, axis: Axis, origin: i64, needed: i64) -> Diagnostic {
    let message = if needed > 0 {
        format!(
            "field `{name}` is read {needed} points before the compute domain along {axis}, and its origin leaves {origin}"
        )
    } else {
        let missing = match needed.saturating_sub(origin) {
            1 => "a point".to_owned(),
            n => format!("{n} points"),
        };
        format!(
            "the origin {origin} of field `{name}` along {axis} leaves out {missing} that the stencil uses"
        )
    };
    Diagnostic::without_place(ORIGIN_TOO_SMALL, message).help(if needed > 0 {
        format!("allocate a halo and set the origin of `{name}` along {axis} to at least {needed}")
    } else {
        format!("set the origin of `{name}` along {axis}, the index of the first point of the compute domain, to at least {needed}")
    })
}

pub fn field_too_small(name: &str, axis: Axis, size: i64, needed: i64, domain: i64) -> Diagnostic {
    Diagnostic::without_place(
        DOMAIN_TOO_LARGE,
        format!("field `{name}` needs {needed} points along {axis}, and the array has {size}"),
    )
    .note(format!(
        "that is its origin, the {domain} points of the domain, and what is used of the halo behind them"
    ))
    .help("pass a larger array, or a smaller domain")
}

pub fn domain_out_of_range(domain: [i64; 3]) -> Diagnostic {
    Diagnostic::without_place(
        DOMAIN_TOO_LARGE,
        format!("the domain {domain:?} is not between 0 and 2^20 points along each axis"),
    )
    .help("give three numbers of points, for I, J, K")
}

pub fn too_few_levels(stencil: &str, given: i64, needed: i64) -> Diagnostic {
    Diagnostic::without_place(
        TOO_FEW_LEVELS,
        format!("`{stencil}` needs at least {needed} levels, and the domain has {given}"),
    )
    .help("its intervals would be empty or overlap, or a temporary be read where it has no level: pass a taller domain")
}

pub fn missing(name: &str, what: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        MISSING,
        format!("{what} `{name}` is used by the stencil and was not passed"),
        span,
        "declared here",
    )
    .help(format!(
        "pass `{name}`, or have it made: by a line `# @{} {name} ...`, which `isobar run` heeds with `--init`",
        if what == "field" { "input" } else { "scalar" }
    ))
    .remedy(Remedy::GiveInput(name.to_owned()))
}

pub fn no_such_parameter<'a>(stencil: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Diagnostic {
    let known: Vec<&str> = known.collect();
    let found = Diagnostic::without_place(MISSING, format!("`{stencil}` has no parameter `{name}`"));
    match similar(name, known.iter().copied()) {
        Some(similar) => found.help(format!("did you mean `{}`?", similar.name)),
        None => found.help(format!("its parameters are `{}`", known.join("`, `"))),
    }
}

/// `written` is one of the two.
pub fn overlapping(one: &str, other: &str, written: &str) -> Diagnostic {
    Diagnostic::without_place(
        OVERLAPPING,
        format!("fields `{one}` and `{other}` share elements, and `{written}` is written"),
    )
    .help("pass the same array with the same origin for both, or a copy of one of them")
}

pub fn one_for_many(name: &str) -> Diagnostic {
    Diagnostic::without_place(
        OVERLAPPING,
        format!("field `{name}` is written, and the same element of its array stands at several points"),
    )
    .help("pass an array with an element for each point, as `numpy.broadcast_to(...).copy()` makes one")
}

/// `one` and `other` are given one array.
pub fn neighbour_found_at_run_time(one: &str, other: &str, statement: Span, read: Span) -> Diagnostic {
    Diagnostic::error(
        OVERLAPPING,
        format!("`{one}` and `{other}` are one array, and this statement writes it"),
        statement,
        "written here",
    )
    .also(read, "a neighbour is read, at a level or an index that shows at run time")
    .help("pass a copy of the array for one of them")
}

/// For callers that cannot make two parameters one.
pub fn one_array(one: &str, other: &str) -> Diagnostic {
    Diagnostic::without_place(
        OVERLAPPING,
        format!("`{one}` and `{other}` are one array, and one of them is written"),
    )
    .help("pass a copy of the array for one of them")
}
