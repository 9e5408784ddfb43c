//! Legal code that may not be what its author meant.

use crate::diag::{Code, Diagnostic, Similar, Span};
use crate::space::{AxisSet, Offset};
use crate::types::DType;

/// A temporary may be read at a point where no statement has assigned it.
///
/// Its value there is unspecified; the debug back end fills it with NaN, or with
/// the smallest integer.
pub const MAYBE_UNDEFINED: Code = Code("W01");
/// A float is assigned to an integer temporary, and loses its fraction.
///
/// The first assignment in the text decides the type of a temporary.
pub const FLOAT_INTO_INTEGER: Code = Code("W02");
/// Two integers are divided.
///
/// GT4Py divides them in single precision whatever the precision of the stencil;
/// here the precision of literals decides.
pub const INTEGER_DIVISION: Code = Code("W03");
/// A tuple assignment looks like a swap, and isn't one: its parts run one after the other.
pub const NOT_A_SWAP: Code = Code("W05");
/// A literal takes an expression of single precision to double precision.
pub const PROMOTED_BY_LITERAL: Code = Code("W06");
/// A parallel computation reads, at another level, a field that it writes.
///
/// Each statement finishes on all levels before the next starts. So the read sees old values if it stands
/// before the write, and new ones after it. Some versions of GT4Py refuse it.
pub const OTHER_LEVEL_IN_PARALLEL: Code = Code("W07");
/// A function changes a variable that is passed to it.
///
/// A parameter is another name for the caller's variable where the argument is a bare name and the function
/// never assigns the parameter with `=`. Then `x *= 2.0` changes the variable, as in GT4Py. A parameter that
/// is assigned with `=` anywhere in the function, and an argument that is an expression, are variables of the
/// function.
pub const ARGUMENT_CHANGED: Code = Code("W09");
/// A stencil is built with an argument that does not exist.
///
/// GT4Py hands unknown arguments on to its back end, which warns of them at most. So a misspelt argument has
/// no effect.
pub const UNKNOWN_ARGUMENT: Code = Code("W10");
/// Arguments with which a stencil is built have no effect here.
///
/// They choose a back end of GT4Py, or tell how it builds. Here that is said when the stencil is run.
pub const IDLE_ARGUMENT: Code = Code("W11");
/// A value depends on the machine, and was taken as if nothing were set up there.
///
/// The environment is known only when the program runs. A module that is not among the files is taken for
/// absent.
pub const ASSUMED: Code = Code("W12");

/// A name is assigned and never read, or a parameter is never used.
///
/// It costs time or does nothing, and is often another name that was misspelt.
pub const UNUSED_NAME: Code = Code("W13");

/// `meant` is a parameter of nearly that name which nothing assigns.
pub fn never_read(name: &str, span: Span, meant: Option<&Similar>) -> Diagnostic {
    let found = Diagnostic::warning(
        UNUSED_NAME,
        format!("`{name}` is assigned and never read"),
        span,
        "assigned here",
    );
    match meant {
        Some(similar) => {
            found.help(format!("did you mean `{}`? A result is assigned to a parameter", similar.name))
        }
        None => found.help("a result is assigned to a parameter: make it one, or leave the statement out"),
    }
}

pub fn never_used(name: &str, span: Span) -> Diagnostic {
    Diagnostic::hint(UNUSED_NAME, format!("the parameter `{name}` is never used"), span, "not in the body")
        .help("a stencil runs without it as well")
}

pub fn assumed_unset(variable: &str, span: Span) -> Diagnostic {
    let what = format!("the environment variable `{variable}` is taken as not set");
    Diagnostic::warning(ASSUMED, what, span, "the default holds")
        .help("write the value in place, or give it as an external, where another one is meant")
}

pub fn assumed_absent(module: &str, span: Span) -> Diagnostic {
    let what = format!("the module `{module}` is taken as absent");
    Diagnostic::warning(ASSUMED, what, span, "what stands behind `except` holds")
        .help(format!("add the file of `{module}`, where it is installed"))
}

/// `maker` builds the stencil, and has the arguments `known`.
pub fn unknown_argument(
    maker: &str,
    name: &str,
    span: Span,
    known: &[&str],
    similar: Option<&Similar>,
) -> Diagnostic {
    let found = Diagnostic::warning(
        UNKNOWN_ARGUMENT,
        format!("`{maker}` has no argument `{name}`"),
        span,
        "nothing takes it",
    );
    match similar {
        Some(similar) => found.did_you_mean(similar, span),
        None => found.help(format!("leave it out; there are `{}`", known.join("`, `"))),
    }
}

/// `names` are all of a file; the first one stands at `span`.
pub fn idle_arguments(names: &[&str], span: Span) -> Diagnostic {
    let listed = match names {
        [one] => format!("the argument `{one}` has"),
        _ => format!("the arguments `{}` have", names.join("`, `")),
    };
    Diagnostic::hint(IDLE_ARGUMENT, format!("{listed} no effect here"), span, "the first one in this file")
        .help("a back end is chosen when the stencil is run, as with `isobar run --backend`")
}

/// `axes` and `dtype` are those of the temporary.
pub fn maybe_undefined(name: &str, axes: AxisSet, dtype: DType, span: Span, assigned: Span) -> Diagnostic {
    let zero = match dtype {
        DType::Bool => "False",
        it if it.is_int() => "0",
        _ => "0.0",
    };
    let first = match axes {
        AxisSet::IJ => format!("{name}: Field[IJ, {dtype}] = {zero}"),
        _ => format!("{name} = {zero}"),
    };
    Diagnostic::warning(
        MAYBE_UNDEFINED,
        format!("`{name}` may be read where it was never assigned"),
        span,
        "not every point that comes here has a value",
    )
    .also(assigned, "assigned here, at some points only")
    .help(format!("assign `{name}` at all points first, as in `{first}`"))
}

pub fn float_into_integer(name: &str, dtype: DType, value: DType, span: Span, first: Span) -> Diagnostic {
    Diagnostic::warning(
        FLOAT_INTO_INTEGER,
        format!("a {value} is assigned to `{name}`, which is {dtype}: the fraction is lost"),
        span,
        "truncated toward zero",
    )
    .also(first, format!("this first assignment makes it {dtype}"))
    .help(format!("start with a float, as in `{name} = 0.0`"))
}

pub fn integer_division(result: DType, span: Span) -> Diagnostic {
    Diagnostic::warning(
        INTEGER_DIVISION,
        format!("two integers are divided in {result}; GT4Py does it in float32"),
        span,
        "neither side is a float",
    )
    .help("say which precision is meant, as in `float64(n) / m`")
}

pub fn negative_power_of_integer(result: DType, span: Span) -> Diagnostic {
    Diagnostic::warning(
        INTEGER_DIVISION,
        format!("an integer is taken to a negative power in {result}; GT4Py fails at run time"),
        span,
        "the base is an integer",
    )
    .help("make a float of the base, as in `2.0 ** -1`")
}

pub fn not_a_swap(first: &str, second: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(
        NOT_A_SWAP,
        format!("this does not swap `{first}` and `{second}`: both end with the value of `{second}`"),
        span,
        "the second assignment sees the first",
    )
    .help(format!("keep one first: `old = {first}`, then `{first} = {second}`, then `{second} = old`"))
}

pub fn promoted_by_literal(literal: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(
        PROMOTED_BY_LITERAL,
        format!("the literal {literal} is float64 and takes this float32 expression to float64"),
        span,
        "computed in double precision",
    )
    .help("compile with precision 32, or write `float32(...)` around the literal")
}

pub fn other_level_in_parallel(name: &str, offset: Offset, read: Span, write: Span) -> Diagnostic {
    Diagnostic::warning(
        OTHER_LEVEL_IN_PARALLEL,
        format!("`{name}` is read at {offset} in a parallel computation that writes it"),
        read,
        "sees what the statements before this one have stored, on all levels",
    )
    .also(write, "written here")
    .help("some versions of GT4Py refuse this: read it in a `with computation` of its own")
}

/// A variable that a function changes.
#[derive(Clone, Debug)]
pub struct ChangedArgument<'a> {
    /// The function that updates its `param` with `operator`, at `update`.
    pub function: &'a str,
    pub param: &'a str,
    pub operator: &'static str,
    pub update: Span,
    /// The variable that the caller passes, at `argument`.
    pub variable: &'a str,
    pub argument: Span,
    /// The arguments of functions that hand it on, from inside out.
    pub passed_on: Vec<Span>,
}

/// So many variables are shown with their places.
const MOST_SHOWN: usize = 4;

/// All variables that one call of one function changes.
pub fn arguments_changed(first: &ChangedArgument<'_>, others: &[ChangedArgument<'_>]) -> Diagnostic {
    let ChangedArgument { function, param, operator, variable, .. } = first;
    let changed = match others {
        [] => format!("`{variable}`, which is passed to it as `{param}`"),
        [other] => format!("`{variable}` and `{}`, which are passed to it", other.variable),
        [other, more @ ..] => {
            format!("`{variable}`, `{}` and {} more, which are passed to it", other.variable, more.len())
        }
    };
    let mut found = Diagnostic::warning(
        ARGUMENT_CHANGED,
        format!("`{function}` changes {changed}"),
        first.argument,
        format!("`{variable}` has the new value from here on"),
    );
    for it in others.iter().take(MOST_SHOWN - 1) {
        found = found.also(it.argument, format!("and so has `{}`", it.variable));
    }
    for it in std::iter::once(first).chain(others).take(MOST_SHOWN) {
        found = found.also(it.update, "changed here");
        found = it.passed_on.iter().rev().fold(found, |found, &span| found.also(span, "passed on here"));
    }
    if others.len() >= MOST_SHOWN {
        let all = std::iter::once(first).chain(others).map(|it| format!("`{}`", it.variable));
        found = found.note(format!("it changes {}", all.collect::<Vec<_>>().join(", ")));
    }
    found
        .help(format!("to keep `{variable}`, write `{param} = {param} {operator} ...` in `{function}`"))
        .note(format!("to show the change, return `{param}` and assign it: `{variable} = {function}(...)`"))
}
