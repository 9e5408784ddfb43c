//! Names: imports, externals, symbols.

use crate::diag::{Code, Diagnostic, Span};

/// A body imports something other than externals, or renames one.
pub const IMPORT: Code = Code("E05");
/// An external is missing or holds something that a stencil cannot use.
///
/// Externals are given when a stencil is built, beside its text.
pub const EXTERNAL: Code = Code("E06");
/// A name means nothing here, or has no value before it is read.
pub const UNKNOWN_SYMBOL: Code = Code("E07");
/// `I` or `J` is read as a value.
///
/// Only `K` is a value: what depends on the column is given as a field.
pub const AXIS_AS_VALUE: Code = Code("E33");
/// An external that is imported but missing is never used.
pub const UNUSED_EXTERNAL: Code = Code("W08");

pub fn import_in_body(span: Span) -> Diagnostic {
    Diagnostic::error(IMPORT, "a body imports from `__externals__` only", span, "not allowed here")
        .help("import at the top of the file")
}

pub fn renamed_external(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(IMPORT, format!("the external `{name}` is renamed"), span, "`as` is not allowed here")
        .help(format!("write `from __externals__ import {name}`"))
}

pub fn missing_external(name: &str, used: Span, imported: Span) -> Diagnostic {
    Diagnostic::error(
        EXTERNAL,
        format!("the external `{name}` has no value"),
        used,
        "its value is needed here",
    )
    .also(imported, "imported here")
    .help(format!("give it a value in the externals, as `{{\"{name}\": 1.0}}`"))
}

pub fn unused_missing_external(name: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(
        UNUSED_EXTERNAL,
        format!("the external `{name}` has no value and is not used"),
        span,
        "imported here",
    )
    .help("remove the import: other compilers refuse it")
}

/// `why` says what it holds instead.
pub fn unusable_external(name: &str, why: &str, span: Span) -> Diagnostic {
    Diagnostic::error(EXTERNAL, format!("the external `{name}` cannot be used: {why}"), span, "used here").help(
        "an external is a number, a boolean, `None`, a position along an axis, a function, or an object of these",
    )
}

pub fn unknown_symbol(name: &str, span: Span, similar: Option<&str>) -> Diagnostic {
    let found =
        Diagnostic::error(UNKNOWN_SYMBOL, format!("nothing is named `{name}`"), span, "not known here");
    match similar {
        Some(similar) => found.help(format!("did you mean `{similar}`?")),
        None => found.help(format!(
            "assign `{name}` before it is read, make it a parameter, or define it at the top of the file"
        )),
    }
}

pub fn read_before_assignment(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        UNKNOWN_SYMBOL,
        format!("`{name}` is read before it is assigned"),
        span,
        "has no value yet",
    )
    .help(format!("assign `{name}` in a statement before this one"))
    .note(
        "a name that is assigned anywhere in the body is local, even if the file has a constant of that name",
    )
}

/// A name of the file whose value is not known without running it.
pub fn opaque_symbol(name: &str, why: &str, used: Span, at: Option<Span>) -> Diagnostic {
    let found = Diagnostic::error(
        UNKNOWN_SYMBOL,
        format!("the value of `{name}` is not known while compiling, because {why}"),
        used,
        "its value is needed here",
    );
    let found = match at {
        Some(at) if at != used => found.also(at, "this cannot be computed"),
        _ => found,
    };
    found.help(format!(
        "add the file that defines it, write its value in place (`{name} = 1.0`), or import it \
         `from __externals__` and give it there"
    ))
}

/// A name that stands for something that is no number: `what` as "a function".
pub fn not_a_value(name: &str, what: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        UNKNOWN_SYMBOL,
        format!("`{name}` is {what} and not a number"),
        span,
        "a number is needed here",
    )
    .help("an expression reads fields, scalars and constants")
}

pub fn axis_as_value(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(AXIS_AS_VALUE, format!("`{name}` is read as a value"), span, "has no value")
        .help(format!("pass a field that holds the position along {name}; only `K` can be read as a number"))
}
