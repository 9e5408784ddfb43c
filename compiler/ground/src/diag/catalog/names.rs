//! Names: imports, externals, symbols.

use crate::diag::{Code, Diagnostic, Remedy, Similar, Span, TextEdit};

/// A body imports something other than externals, or renames one.
///
/// A body runs at every point, and Python's modules are not there; constants are imported at the
/// top of the file.
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
/// An enumeration is not one of integers, or two have the same name.
///
/// A stencil computes with numbers, so a member of an enumeration is its number.
pub const ENUM: Code = Code("E55");
/// An external is imported and never used.
///
/// GT4Py refuses it where the external has no value, and sometimes where it has one.
pub const UNUSED_EXTERNAL: Code = Code("W08");

pub fn import_in_body(span: Span) -> Diagnostic {
    Diagnostic::error(IMPORT, "a body imports from `__externals__` only", span, "not allowed here")
        .help("import at the top of the file")
}

pub fn renamed_external(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(IMPORT, format!("the external `{name}` is renamed"), span, "`as` is not allowed here")
        .help(format!("write `from __externals__ import {name}`"))
}

/// `example` is a value of the kind that is needed, as JSON.
pub fn missing_external(name: &str, example: &str, used: Span, imported: Span) -> Diagnostic {
    Diagnostic::error(
        EXTERNAL,
        format!("the external `{name}` has no value"),
        used,
        "its value is needed here",
    )
    .also(imported, "imported here")
    .help(match name {
        // NDSL knows the domain while it compiles.
        "k_end" => "say which domain is meant, as in `# @domain 64 64 40`".to_owned(),
        _ => format!("give it a value in the externals, as `{{\"{name}\": {example}}}`"),
    })
    .remedy(Remedy::GiveExternal(name.to_owned()))
}

/// `removal` takes the name out of its import.
pub fn unused_external(name: &str, has_value: bool, span: Span, removal: Option<TextEdit>) -> Diagnostic {
    let what = if has_value { "is" } else { "has no value and is" };
    Diagnostic::warning(
        UNUSED_EXTERNAL,
        format!("the external `{name}` {what} not used"),
        span,
        "imported here",
    )
    .help("remove the import: other compilers refuse it")
    .fix(format!("remove `{name}` from the import"), removal)
}

/// `value.attribute` where the object, module or enumeration has no such name; `similar` is one that it has.
pub fn missing_attribute(
    written: &str,
    why: &str,
    span: Span,
    attribute: Span,
    similar: Option<&Similar>,
) -> Diagnostic {
    let found = Diagnostic::error(
        EXTERNAL,
        format!("`{written}` has no value: {why}"),
        span,
        "its value is needed here",
    );
    match similar {
        Some(similar) => found.did_you_mean(similar, attribute),
        None => found.help("define it there, or write its value in place"),
    }
}

/// A class whose members are read is no enumeration of integers.
pub fn not_an_int_enum(name: &str, span: Span, defined: Span) -> Diagnostic {
    Diagnostic::error(ENUM, format!("the members of `{name}` are no integers"), span, "a member is read here")
        .also(defined, "not derived from `IntEnum`")
        .help(format!(
            "write `class {name}(IntEnum):`, and `from enum import IntEnum` at the top of the file"
        ))
}

pub fn duplicate_enum(name: &str, span: Span, one: Span, other: Span) -> Diagnostic {
    Diagnostic::error(
        ENUM,
        format!("two enumerations are named `{name}`"),
        span,
        "it is not clear which one is meant",
    )
    .also(one, "one is here")
    .also(other, "the other one here")
    .help("rename one of them: a stencil knows enumerations by name")
}

/// A class that is decorated as an enumeration.
pub fn not_derived_from_int_enum(name: &str, defined: Span) -> Diagnostic {
    Diagnostic::error(
        ENUM,
        format!("the enumeration `{name}` is not one of integers"),
        defined,
        "not derived from `IntEnum`",
    )
    .help(format!("write `class {name}(IntEnum):`, and `from enum import IntEnum` at the top of the file"))
}

/// Two classes that are decorated as enumerations.
pub fn enum_defined_twice(name: &str, defined: Span, first: Span) -> Diagnostic {
    Diagnostic::error(ENUM, format!("two enumerations are named `{name}`"), defined, "the second one")
        .also(first, "the first one")
        .help("rename one of them: a stencil knows enumerations by name")
}

/// `written` is the whole decorator, whose last name stands at `span`.
pub fn unknown_decorator(written: &str, span: Span, similar: &Similar) -> Diagnostic {
    Diagnostic::error(UNKNOWN_SYMBOL, format!("there is no decorator `{written}`"), span, "not known")
        .did_you_mean(similar, span)
}

/// `why` says what it holds instead.
pub fn unusable_external(name: &str, why: &str, span: Span) -> Diagnostic {
    Diagnostic::error(EXTERNAL, format!("the external `{name}` cannot be used: {why}"), span, "used here").help(
        "an external is a number, a boolean, `None`, a position along an axis, a function, or an object of these",
    )
}

pub fn unknown_symbol(name: &str, span: Span, similar: Option<&Similar>) -> Diagnostic {
    let found =
        Diagnostic::error(UNKNOWN_SYMBOL, format!("nothing is named `{name}`"), span, "not known here");
    match similar {
        Some(similar) => found.did_you_mean(similar, span),
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
    found
        .help(format!(
            "add the file that defines it, write its value in place (`{name} = 1.0`), or import it \
         `from __externals__` and give it there"
        ))
        .remedy(Remedy::AddFile(name.to_owned()))
}

/// Names the place at which a value may change, where that is why it is not known.
pub fn changed_at(found: Diagnostic, at: Option<Span>) -> Diagnostic {
    match at {
        Some(at) => found.also(at, "what this does is not followed"),
        None => found,
    }
}

/// A name whose value may change at a place that is not followed.
pub fn changed_symbol(name: &str, why: &str, used: Span, at: Option<Span>) -> Diagnostic {
    let found = Diagnostic::error(
        UNKNOWN_SYMBOL,
        format!("the value of `{name}` is not known while compiling, because {why}"),
        used,
        "its value is needed here",
    );
    changed_at(found, at.filter(|it| *it != used)).help(format!(
        "import `{name}` `from __externals__` and give it there, or write one assignment with its value (`{name} = 1.0`)"
    ))
}

/// An argument with which a stencil is built decides its types, and has no value.
pub fn unknown_making(name: &str, why: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        UNKNOWN_SYMBOL,
        format!("the argument `{name}` is not known while compiling, because {why}"),
        span,
        "it decides the types of the stencil",
    )
    .help("write its value in place")
}

/// Several builds of one stencil give different values to an external, or to another argument. Each build has
/// its name, its place, and its value where that is known.
pub fn differing_builds(
    name: &str,
    is_external: bool,
    builds: &[(String, Span, Option<String>)],
    used: Span,
) -> Diagnostic {
    let (what, code) = if is_external { ("the external ", EXTERNAL) } else { ("", UNKNOWN_SYMBOL) };
    let mut found = Diagnostic::error(
        code,
        format!("{what}`{name}` has several values: the stencil is built {} times", builds.len()),
        used,
        "one value is needed here",
    );
    for (label, span, value) in builds.iter().take(8) {
        let value = value.as_deref().unwrap_or("a value that is not known while compiling");
        found = found.also(*span, format!("`{label}` is built with {value}"));
    }
    let first = builds.first().map_or("", |(label, ..)| label.as_str());
    found.help(format!("choose one build by its name, as with `--stencil {first}`"))
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
