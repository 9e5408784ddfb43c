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

/// `why` says what the annotations are instead.
/// `params` are the parameters of such a type, with the places of their types; never empty.
pub fn not_a_parameter_type(params: &[(&str, Span)], why: &str) -> Diagnostic {
    let names: Vec<String> = params.iter().map(|it| format!("`{}`", it.0)).collect();
    let subject = match names.as_slice() {
        [] => String::new(),
        [one] => format!("the type of parameter {one} is not a field or scalar type"),
        [some @ .., last] if names.len() <= MOST_NAMED => {
            format!("the type of parameters {} and {last} is not a field or scalar type", some.join(", "))
        }
        [first, second, rest @ ..] => {
            format!(
                "the type of parameters {first}, {second} and {} more is not a field or scalar type",
                rest.len()
            )
        }
    };
    let mut found = Diagnostic::error(
        PARAMETER_TYPE,
        format!("{subject}: {why}"),
        params.first().map(|it| it.1).unwrap_or_default(),
        "not a type of the language",
    );
    for (name, span) in &params[1.min(params.len())..] {
        found = found.also(*span, format!("of `{name}` too"));
    }
    found.help(
        "write a field type as `Field[float]` or `FloatField`, or a scalar type as `float`, `int` or `bool`",
    )
}

/// So many parameters are named in a sentence.
const MOST_NAMED: usize = 4;

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
