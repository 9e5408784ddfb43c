//! Faults of a program document, which calls several stencils in an order, and of its runs.

use itertools::Itertools;

use crate::diag::{Code, Diagnostic, Span, similar};

/// A program document cannot be read.
///
/// A document is JSON with the entries that [programs.md](programs.md) lists.
/// An entry that is not known is refused, so a slip changes no result.
pub const UNREADABLE: Code = Code("P01");
/// A program names a field, scalar, stencil, function or group that is not there.
///
/// Fields, scalars, stencils and groups are entries of the document. A stencil's function is one of the files.
pub const UNKNOWN_NAME: Code = Code("P02");
/// A name of a program is taken, or is no name.
///
/// Fields and scalars share their names. The axes have the names `I`, `J`, `K`, and positions `i`, `j`, `k`.
pub const NAME_TAKEN: Code = Code("P03");
/// A group of statements contains itself, or a field is like itself.
///
/// Groups are put in where they are named, so each must end.
pub const CYCLE: Code = Code("P04");
/// A size or an origin is none.
///
/// Sizes are integers, or an axis with a number: `I`, `J+7`, `K-1`. So each range is known for all domains.
pub const BAD_SIZE: Code = Code("P05");
/// A call does not pass what its stencil takes.
///
/// Each parameter that the stencil uses needs an argument of its kind, unless it has a default.
pub const ARGUMENTS: Code = Code("P06");
/// Two things that should be alike differ in type, axes or size.
///
/// Nothing is converted without a word, since a conversion would hide that two parts of a model disagree.
pub const MISMATCH: Code = Code("P07");
/// A statement writes what it may only read.
///
/// Constants and scalar arguments keep their values during a run.
pub const READ_ONLY: Code = Code("P08");
/// A scalar expression cannot be read.
///
/// Scalar expressions are Python over numbers: operators, comparisons, `and`, `or`, `not`, the conditional, and
/// some functions.
pub const SCALAR_SYNTAX: Code = Code("P09");
/// The operands of a scalar expression do not fit together.
///
/// `float` is a double, and `int` has 64 bits. Single precision meets other numbers behind a conversion only.
pub const SCALAR_TYPE: Code = Code("P10");
/// A local is read before anything writes it, or a scalar has no value on some way.
///
/// Locals have no value when a run starts.
pub const UNWRITTEN: Code = Code("P11");
/// A call may read elements of a local that nothing has written.
///
/// Such elements hold NaN, or the smallest integer. This is a warning: the values may not matter.
pub const MAYBE_UNWRITTEN: Code = Code("P12");
/// Two phases of an exchange do not follow each other.
///
/// `start` takes what neighbours need, and `wait` stores what arrived. Each `start` has one `wait` behind it.
pub const EXCHANGE_ORDER: Code = Code("P13");
/// Two arguments of a call, a copy or a swap share some elements, and one of them is written.
///
/// Arguments that are the same elements with the same origin are one field. All other overlaps would make the
/// result depend on the order of the points.
pub const OVERLAPPING: Code = Code("P14");
/// A `while` has no limit.
///
/// A program must end, also where its condition stays true.
pub const NO_LIMIT: Code = Code("P15");
/// A field does not have all elements that a call touches.
///
/// The origin of the stencil counts from the start of the compute domain, which lies at the field's own origin.
pub const FIELD_TOO_SMALL: Code = Code("P16");
/// A program asks for something that this compiler does not carry out.
///
/// It is refused, since leaving it out would give other results.
pub const UNSUPPORTED: Code = Code("P17");
/// A run lacks an input, or an input does not fit the program.
///
/// Arguments and constants come with each run. Their types and sizes are those of the document.
pub const RUN_INPUT: Code = Code("P18");
/// A scalar expression has no value.
///
/// An integer left 64 bits, a divisor is zero, or a function is not defined there. Python raises an exception.
pub const NO_VALUE: Code = Code("P19");
/// A statement ended the run.
///
/// A `trap` was reached, a `while` reached its limit, or a stencil did what it must not.
pub const ENDED: Code = Code("P20");
/// A call reads points of a halo that are older than the points beside them.
///
/// An exchange makes a halo valid as far as it is wide, and a write of the domain makes it stale. This is a warning: the
/// results of such a call may be of no use there.
pub const STALE_HALO: Code = Code("P21");

/// `message` says what is wrong.
pub fn unreadable(message: &str, at: Span) -> Diagnostic {
    Diagnostic::error(UNREADABLE, format!("the document cannot be read: {message}"), at, "here")
        .help("docs/programs.md lists the entries of a program document")
}

/// `words` are those that a statement has of the ones that say its kind.
pub fn not_one_statement(words: &[&str], at: Span) -> Diagnostic {
    let message = if words.is_empty() {
        "a statement does not say what it does".to_owned()
    } else {
        format!("one statement says several: `{}`", words.join("`, `"))
    };
    Diagnostic::error(UNREADABLE, message, at, "this statement")
        .help("docs/programs.md lists the entries of a program document")
}

pub fn foreign_entry(entry: &str, kind: &str, known: &[&str], at: Span) -> Diagnostic {
    Diagnostic::error(UNREADABLE, format!("`{entry}` is no entry of `{kind}`"), at, "not known")
        .help(format!("its entries are `{}`", known.join("`, `")))
}

pub fn missing_entry(entry: &str, kind: &str, at: Span) -> Diagnostic {
    Diagnostic::error(UNREADABLE, format!("`{kind}` has no entry `{entry}`"), at, "not complete")
        .help(format!("add `\"{entry}\"`; docs/programs.md lists the entries"))
}

pub fn entry_twice(entry: &str, at: Span) -> Diagnostic {
    Diagnostic::error(UNREADABLE, format!("the entry `{entry}` stands here twice"), at, "again")
        .help("take one of them out, or give it another name")
}

/// `kind` is a word as "field" or "stencil".
pub fn unknown<'n>(kind: &str, name: &str, known: impl IntoIterator<Item = &'n str>, at: Span) -> Diagnostic {
    let known: Vec<&str> = known.into_iter().collect();
    let found = Diagnostic::error(UNKNOWN_NAME, format!("there is no {kind} `{name}`"), at, "not known");
    match similar(name, known.iter().copied()) {
        Some(similar) => found.help(format!("did you mean `{}`?", similar.name)),
        None if known.is_empty() => found.help(format!("add the {kind} to the document")),
        None => found.help(format!("there are `{}`", known.iter().take(8).join("`, `"))),
    }
}

/// `why` says who has the name.
pub fn taken(name: &str, why: &str, at: Span) -> Diagnostic {
    Diagnostic::error(NAME_TAKEN, format!("`{name}` cannot be a name here: {why}"), at, "this name")
        .help("take another name, of letters, digits and `_`")
}

/// Several `files` have the module of a function, as modules are spelled.
pub fn ambiguous(function: &str, files: &[&str], at: Span) -> Diagnostic {
    let files = files.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(" and ");
    Diagnostic::error(NAME_TAKEN, format!("`{function}` may stand in {files}"), at, "not one of them")
        .help("give the files names that differ in letters, digits and `_`")
}

/// `names` are the groups on the way, the first one again at the end.
pub fn cycle(names: &[&str], at: Span) -> Diagnostic {
    let message = format!("the group `{}` contains itself", names.first().copied().unwrap_or_default());
    Diagnostic::error(CYCLE, message, at, "named again")
        .note(format!("the way is `{}`", names.join("` to `")))
        .help("write a `for` or a `while` where statements repeat")
}

pub fn field_cycle(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error(CYCLE, format!("the field `{name}` leads back to itself"), at, "this field")
        .help("give one of the fields its own `axes`, `dtype` and `shape`")
}

pub fn not_affine(size: &str, at: Span) -> Diagnostic {
    Diagnostic::error(BAD_SIZE, format!("`{size}` is no size"), at, "not an axis plus a number")
        .help("write an integer, or an axis and a number, as `I`, `J+7` or `K-1`")
}

pub fn data_size(size: &str, at: Span) -> Diagnostic {
    Diagnostic::error(BAD_SIZE, format!("`{size}` is no size of a data dimension"), at, "behind the axes")
        .help("write an integer above zero")
}

/// `what` is a shape or an origin.
pub fn wrong_length(what: &str, axes: &str, expected: usize, given: usize, at: Span) -> Diagnostic {
    Diagnostic::error(BAD_SIZE, format!("this {what} has {given} entries, and needs {expected}"), at, "here")
        .help(format!("write an entry for each of the axes {axes}"))
}

pub fn missing_argument(stencil: &str, param: &str, kind: &str, at: Span) -> Diagnostic {
    Diagnostic::error(ARGUMENTS, format!("`{stencil}` needs the {kind} `{param}`"), at, "not passed")
        .help(format!("add `\"{param}\"` to `args`"))
}

pub fn no_such_parameter<'n>(
    stencil: &str,
    name: &str,
    known: impl IntoIterator<Item = &'n str>,
    at: Span,
) -> Diagnostic {
    let known: Vec<&str> = known.into_iter().collect();
    let message = format!("`{stencil}` has no parameter `{name}`");
    let found = Diagnostic::error(ARGUMENTS, message, at, "not known");
    match similar(name, known.iter().copied()) {
        Some(similar) => found.help(format!("did you mean `{}`?", similar.name)),
        None => found.help(format!("its parameters are `{}`", known.join("`, `"))),
    }
}

/// `is` and `needs` are words as "field" and "scalar".
pub fn other_kind(param: &str, needs: &str, is: &str, at: Span) -> Diagnostic {
    Diagnostic::error(ARGUMENTS, format!("`{param}` takes a {needs}, and this is a {is}"), at, "passed here")
        .help(format!("pass a {needs}"))
}

/// `property` is what differs: a type, axes, a shape.
pub fn mismatch(one: &str, other: &str, property: &str, values: [&str; 2], at: Span) -> Diagnostic {
    let [first, second] = values;
    let message = format!("`{one}` and `{other}` differ in their {property}: {first} and {second}");
    Diagnostic::error(MISMATCH, message, at, "both meet here")
        .help(format!("give both the same {property} in the document"))
}

/// `known` is the type that the scalar has already.
pub fn other_type(name: &str, known: &str, given: &str, at: Span) -> Diagnostic {
    Diagnostic::error(
        MISMATCH,
        format!("`{name}` has the type {known}, and {given} is written here"),
        at,
        "here",
    )
    .help("leave the type out, or take another name")
}

pub fn not_held(value: &str, dtype: &str, at: Span) -> Diagnostic {
    Diagnostic::error(MISMATCH, format!("{value} is no value of type {dtype}"), at, "here")
        .help(format!("write a number that {dtype} holds, or another type"))
}

/// `role` says why it keeps its value.
pub fn read_only(name: &str, role: &str, at: Span) -> Diagnostic {
    Diagnostic::error(READ_ONLY, format!("`{name}` is a {role} and is written"), at, "written here")
        .help("copy it first, and write the copy")
}

/// `why` says what is wrong with the expression.
pub fn scalar_syntax(text: &str, why: &str, at: Span) -> Diagnostic {
    Diagnostic::error(SCALAR_SYNTAX, format!("`{text}` is no scalar expression: {why}"), at, "not understood")
        .help("write numbers, names of scalars, operators, comparisons and functions as `min(a, b)`")
}

/// `why` says which types do not fit, `help` what to write.
pub fn scalar_type(text: &str, why: &str, help: &str, at: Span) -> Diagnostic {
    Diagnostic::error(SCALAR_TYPE, format!("`{text}`: {why}"), at, "this expression").help(help)
}

pub fn unwritten(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error(UNWRITTEN, format!("`{name}` is read, and nothing has written it"), at, "read here")
        .help(format!("fill it first: `{{\"fill\": \"{name}\", \"with\": 0.0}}`, or make it a `state`"))
}

pub fn scalar_without_value(name: &str, at: Span) -> Diagnostic {
    let message = format!("`{name}` has no value on some way to here");
    Diagnostic::error(UNWRITTEN, message, at, "read here")
        .help(format!("give it one before: `{{\"let\": \"{name}\", \"be\": \"0.0\"}}`"))
}

pub fn maybe_unwritten(name: &str, at: Span) -> Diagnostic {
    let message = format!("`{name}` may be read where nothing has written it");
    Diagnostic::warning(MAYBE_UNWRITTEN, message, at, "NaN where it was not written")
        .help(format!("fill it first: `{{\"fill\": \"{name}\", \"with\": 0.0}}`"))
}

/// `why` says which phase is missing.
pub fn exchange_order(fields: &str, why: &str, at: Span) -> Diagnostic {
    Diagnostic::error(EXCHANGE_ORDER, format!("the exchange of `{fields}` {why}"), at, "this phase")
        .help("write `start` and then `wait` for the same fields, or `update` for both at once")
}

pub fn overlapping(one: &str, other: &str, at: Span) -> Diagnostic {
    let message = format!("`{one}` and `{other}` share elements in part, and one of them is written");
    Diagnostic::error(OVERLAPPING, message, at, "both meet here").help("copy one of them to a local first")
}

pub fn no_limit(at: Span) -> Diagnostic {
    Diagnostic::error(NO_LIMIT, "this `while` has no limit", at, "may never end")
        .help("add `\"limit\": 1000`, the most iterations that are right")
}

/// `side` is the start or the end of the axis; `lacks` says how many elements.
pub fn field_too_small(field: &str, param: &str, axis: &str, side: &str, lacks: i64, at: Span) -> Diagnostic {
    let message =
        format!("`{field}` lacks {lacks} elements at the {side} of {axis}, which `{param}` touches");
    Diagnostic::error(FIELD_TOO_SMALL, message, at, "touched by this call")
        .help("give the field a larger shape or another origin, or the stencil a smaller domain")
}

/// `why` is the reason.
pub fn unsupported(what: &str, why: &str, at: Span) -> Diagnostic {
    Diagnostic::error(UNSUPPORTED, format!("{what} is refused: {why}"), at, "not carried out")
        .help("leave it out, or say the same with other statements")
}

/// `size` is the number of points, `axis` the name of the axis.
pub fn fixed_size(field: &str, size: &str, axis: &str, at: Span) -> Diagnostic {
    let message = format!(
        "code for every domain takes no field of a fixed size: `{field}` has {size} points along {axis}"
    );
    Diagnostic::error(UNSUPPORTED, message, at, "as many on every domain")
        .help("name the one domain that the code is for, as `--domain 64,64,20`")
}

/// `what` says which input is wrong, `help` what to pass.
pub fn run_input(what: &str, help: &str) -> Diagnostic {
    Diagnostic::without_place(RUN_INPUT, what).help(help)
}

/// `why` is the reason, as "an integer leaves 64 bits".
pub fn no_value(text: &str, why: &str, at: Span) -> Diagnostic {
    Diagnostic::error(NO_VALUE, format!("`{text}` has no value: {why}"), at, "computed here")
        .help("test the operands first, with an `if` or a conditional")
}

/// `why` is the message of the trap, or what the statement did.
pub fn ended(why: &str, at: Span) -> Diagnostic {
    Diagnostic::error(ENDED, why, at, "the run ended here")
}

/// `side` is an axis and its start or end. `points` are those that are read, and those that are valid.
pub fn stale_halo(name: &str, (axis, side): (&str, &str), points: (i64, i64), at: Span) -> Diagnostic {
    let (read, valid) = points;
    let message = format!(
        "`{name}` is read to depth {read} of its halo at the {side} of {axis}, and is valid to {valid}"
    );
    Diagnostic::warning(STALE_HALO, message, at, "read here")
        .help(format!("exchange it before: `{{\"exchange\": [\"{name}\"], \"width\": {read}}}`"))
}
