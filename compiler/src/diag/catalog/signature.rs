//! Parameters, their types and defaults.

use crate::diag::{Code, Diagnostic, Similar, Span, TextEdit};
use crate::types::DType;

/// A parameter has no annotation, or one that is no field and no scalar type.
///
/// Nothing else says what a parameter is: the types of a stencil are fixed before any array is seen.
pub const PARAMETER_TYPE: Code = Code("E01");
/// A signature has `*args` or `**kwargs`.
///
/// A stencil and a GTScript function know each of their parameters by name.
pub const VARIADIC: Code = Code("E02");
/// A default has another type than the parameter, or a field has a default other than `None`.
///
/// Nothing is converted when a stencil is called, and a default is what a call would have passed.
pub const DEFAULT: Code = Code("E03");
/// A type named by a string is not among the `dtypes`, or an entry of theirs gives `float` or `int` a type of another kind.
///
/// A string stands for a type that is chosen when the stencil is built.
pub const UNKNOWN_DTYPE: Code = Code("E04");

pub fn missing_annotation(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(PARAMETER_TYPE, format!("parameter `{name}` has no type"), span, "no annotation")
        .help(format!("write `{name}: Field[float]` for a field or `{name}: float` for a scalar"))
}

/// `why` says what the annotation is instead.
/// `similar` is a known type, for the name at the span beside it.
pub fn not_a_parameter_type(
    name: &str,
    why: &str,
    span: Span,
    similar: Option<(Span, Similar)>,
) -> Diagnostic {
    let found = Diagnostic::error(
        PARAMETER_TYPE,
        format!("the type of parameter `{name}` is not a field or scalar type: {why}"),
        span,
        "not a type of the language",
    )
    .help(
        "write a field type as `Field[float]` or `FloatField`, or a scalar type as `float`, `int` or `bool`",
    );
    match similar {
        Some((at, similar)) => found.did_you_mean(&similar, at),
        None => found,
    }
}

pub fn variadic(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        VARIADIC,
        format!("`{name}` collects an unknown number of arguments"),
        span,
        "not allowed here",
    )
    .help("give each argument a parameter of its own")
}

pub fn field_default(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(DEFAULT, format!("field `{name}` has a default other than `None`"), span, "not `None`")
        .help(format!("write `{name}: ... = None` for a field that may be left out where it is not used"))
}

/// `given` says what the default is: `an integer`.
/// `edit` writes the same number as one of that type.
pub fn default_of_wrong_type(
    name: &str,
    dtype: DType,
    given: &str,
    span: Span,
    edit: Option<TextEdit>,
) -> Diagnostic {
    Diagnostic::error(
        DEFAULT,
        format!("the default of `{name}` is {given}, and the parameter is declared {dtype}"),
        span,
        format!("not of type {dtype}"),
    )
    .help(match dtype {
        DType::Bool => "write `True` or `False`",
        it if it.is_float() => "write a number with a decimal point, as `2.0`",
        _ => "write an integer",
    })
    .fix(format!("write it as {dtype}"), edit)
}

/// `of` is `float` or `int`.
pub fn literal_dtype(of: &str, given: &str) -> Diagnostic {
    Diagnostic::without_place(
        UNKNOWN_DTYPE,
        format!("the dtypes make literals of `{of}` \"{given}\", which is no such type"),
    )
    .help(format!("write \"{of}32\" or \"{of}64\""))
}

/// `similar` is a known type, for the name in the quotes at `span`.
pub fn unknown_dtype(name: &str, span: Span, similar: Option<Similar>) -> Diagnostic {
    let found = Diagnostic::error(
        UNKNOWN_DTYPE,
        format!("the type \"{name}\" is not among the dtypes"),
        span,
        "not known",
    )
    .help(format!("give it a meaning in the dtypes, as `{{\"{name}\": \"float64\"}}`"));
    match similar {
        Some(similar) => found.help(format!("did you mean \"{}\"?", similar.name)),
        None => found,
    }
}
