//! Indices, operators, calls of builtins, literals.

use super::statements::NOT_IN_LANGUAGE;
use crate::diag::{Code, Diagnostic, Span, TextEdit};
use crate::space::AxisSet;
use crate::types::DType;

/// A field is indexed with another number of offsets than it has axes.
///
/// One offset for each axis says which neighbour is meant, and a missing one could be any.
pub const OFFSET_COUNT: Code = Code("E26");
/// An offset is not an integer that is known while compiling, or not a shift of an axis.
///
/// How far a stencil reaches to the sides decides how large the arrays must be, before it runs.
pub const OFFSET: Code = Code("E27");
/// A slice stands in an index, or something other than a field is indexed.
///
/// A statement runs at one point and reads single points; an expression has no value beside its
/// point.
pub const SUBSCRIPT: Code = Code("E29");
/// Comparisons are chained at run time.
///
/// Python would evaluate the middle once and stop early; at all points at once neither is meant.
pub const CHAINED_COMPARISON: Code = Code("E39");
/// A builtin is called with a wrong number of arguments.
///
/// Builtins take their arguments by position, and as many as their formula has.
pub const ARITY: Code = Code("E40");
/// A constant of a type that no field has.
///
/// A field holds numbers or truth values.
pub const LITERAL: Code = Code("E53");

/// `edit` adds or takes away offsets of 0.
pub fn offset_count(
    name: &str,
    axes: AxisSet,
    given: usize,
    span: Span,
    edit: Option<TextEdit>,
) -> Diagnostic {
    let example: Vec<&str> = axes.iter().map(|_| "0").collect();
    let n = axes.len();
    let s = if n == 1 { "" } else { "s" };
    Diagnostic::error(
        OFFSET_COUNT,
        format!(
            "`{name}` has {n} ax{} ({axes}) and is indexed with {given}",
            if n == 1 { "is" } else { "es" }
        ),
        span,
        format!("{n} offset{s} needed"),
    )
    .help(format!("write one offset for each axis: `{name}[{}]`", example.join(", ")))
    .fix(format!("write {n} offset{s}"), edit)
}

/// `why` is the whole sentence.
pub fn bad_offset(why: &str, span: Span) -> Diagnostic {
    Diagnostic::error(OFFSET, why, span, "not an offset")
        .help("write integers, as `q[1, 0, 0]`, or axes in the order I, J, K, as `q[I + 1]`")
}

pub fn offset_too_large(offset: i64, limit: i64, span: Span) -> Diagnostic {
    Diagnostic::error(OFFSET, format!("the offset {offset} is beyond {limit}"), span, "too far")
        .help("an offset reaches into the halo of a field, which is a few points wide")
}

pub fn slice_in_index(span: Span) -> Diagnostic {
    Diagnostic::error(SUBSCRIPT, "a slice stands in the index of a field", span, "a slice")
        .help("a statement runs at every point by itself: write the offset of one point")
}

/// `what` is what was indexed: `an expression`.
pub fn subscript_of_value(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        SUBSCRIPT,
        format!("{what} is indexed, and only fields have points beside them"),
        span,
        "indexed here",
    )
    .help("assign it to a name first, then index that name")
}

/// `what` says what a name of the file stands for, `element` is the text with its index.
pub fn subscript_of_constant(what: &str, element: &str, span: Span) -> Diagnostic {
    Diagnostic::error(SUBSCRIPT, format!("{what}, and a stencil indexes fields"), span, "indexed here")
        .help(format!("give the element a name above the stencil, as `value = {element}`, and read `value`"))
}

/// `a.shape`, `a.max()`: what an array of Python has.
pub fn attribute_of_field(field: &str, attribute: &str, span: Span) -> Diagnostic {
    let help = match attribute {
        "shape" | "size" | "ndim" | "nbytes" | "strides" => {
            "a stencil does not see the sizes of its arrays: pass the number as a scalar parameter, or give it as an \
             external"
        }
        "dtype" => "the type of a field stands in the signature",
        "max" | "min" | "sum" | "mean" | "any" | "all" | "prod" | "std" => {
            "a statement runs at one point and sees no whole field: compute it in Python and pass it as a scalar parameter"
        }
        "copy" | "data" | "view" | "values" => "write the name alone: it is the value at the point",
        _ => "read it by its name alone, or by offsets, as in `q[1, 0, 0]`",
    };
    Diagnostic::error(
        NOT_IN_LANGUAGE,
        format!("`.{attribute}` of the field `{field}` is not part of the language"),
        span,
        "a field has no attributes",
    )
    .help(help)
}

/// `what` as in "`//` is not part of the language".
pub fn operator_not_in_language(what: &str, span: Span) -> Diagnostic {
    operator_replaced(what, span, None)
}

/// The same where an operator of the language means it: `edit` writes that one.
pub fn operator_replaced(what: &str, span: Span, edit: Option<TextEdit>) -> Diagnostic {
    let found = Diagnostic::error(
        NOT_IN_LANGUAGE,
        format!("{what} is not part of the language"),
        span,
        "not a GTScript operator",
    );
    let title = edit.as_ref().map(|it| format!("write `{}`", it.text.trim())).unwrap_or_default();
    found.fix(title, edit).help(match what {
        "`//`" => "write `floor(a / b)`",
        "`&`" => "write `and` for conditions",
        "`|`" => "write `or` for conditions",
        "`^`" => "write `!=` for conditions, `**` for a power",
        "`~`" => "write `not` for conditions",
        "`is`" => "write `==`, or ask for `None` in `if __INLINED(...):`",
        "`is not`" => "write `!=`, or ask for `None` in `if __INLINED(...):`",
        "a list comprehension"
        | "a set comprehension"
        | "a dict comprehension"
        | "a generator expression" => {
            "write each term: `q[-1, 0, 0] + q[0, 0, 0] + q[1, 0, 0]`, or add them up in a `while` loop"
        }
        "a yield" | "an await" => "leave it out: a statement assigns its value, and nothing waits for it",
        "a lambda" => "write a function decorated with `@function`",
        "an assignment expression" => "assign the name in a statement before",
        _ => "use arithmetic, comparisons, `and`, `or`, `not`, `a if c else b` and calls",
    })
}

/// `edits` write the chain as comparisons of pairs.
pub fn chained_comparison(span: Span, edits: Vec<TextEdit>) -> Diagnostic {
    Diagnostic::error(CHAINED_COMPARISON, "comparisons are chained", span, "more than one comparison")
        .help("write `a < b and b < c`")
        .fix("compare each pair, joined by `and`", edits)
}

/// `nested` writes a call of `min` or `max` as calls with two arguments each.
pub fn wrong_arity(name: &str, takes: usize, given: usize, span: Span, nested: Vec<TextEdit>) -> Diagnostic {
    let s = if takes == 1 { "" } else { "s" };
    let found = Diagnostic::error(
        ARITY,
        format!("`{name}` takes {takes} argument{s}, and {given} are given"),
        span,
        "wrong number of arguments",
    );
    match name {
        "min" | "max" if given > 2 => found
            .help(format!("nest the calls: `{name}(a, {name}(b, c))`"))
            .fix(format!("nest the calls of `{name}`"), nested),
        _ => found.help(format!("call it with {takes} argument{s}")),
    }
}

pub fn keyword_of_builtin(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(ARITY, format!("`{name}` takes no keywords"), span, "a keyword")
        .help("pass the value by position")
}

/// `what` as in "a string".
pub fn unusable_literal(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error(LITERAL, format!("{what} stands in an expression"), span, "no field holds such values")
        .help("write an integer, a float, `True` or `False`")
}

pub fn literal_too_large(text: &str, dtype: DType, span: Span) -> Diagnostic {
    Diagnostic::error(LITERAL, format!("{text} does not fit {dtype}"), span, "too large")
        .help("write it as a float, with a decimal point")
}
