//! Assignments and other statements.

use crate::diag::{Code, Diagnostic, Span, TextEdit};

/// A target has an offset along I or J.
///
/// A statement runs at every column and writes the column it runs at.
pub const TARGET_OFFSET: Code = Code("E16");
/// A target has an offset along K in a computation whose levels have no order.
///
/// All levels run at once, so two of them could write the same element.
pub const TARGET_LEVEL_IN_PARALLEL: Code = Code("E17");
/// A scalar parameter or another read-only name is assigned.
///
/// A scalar has one value for all points, and a statement runs at each of them.
pub const TARGET_READ_ONLY: Code = Code("E25");
/// `.A[...]` or `.at(...)` is assigned.
///
/// `.A[...]` and `.at(...)` are ways to read; a statement writes the point at which it runs.
pub const TARGET_IS_VIEW: Code = Code("E31");
/// The target of an assignment is nothing that can be assigned.
///
/// Targets are names, or names with the index of the point itself.
pub const TARGET: Code = Code("E34");
/// The numbers of targets and values differ.
///
/// Each target takes one value.
pub const COUNT: Code = Code("E35");
/// A statement or operator is not part of the language.
///
/// The language has what can run at every point in any order, and no more of Python.
pub const NOT_IN_LANGUAGE: Code = Code("E38");
/// A tuple assignment reads what it has just assigned.
pub const SEQUENTIAL_TUPLE: Code = Code("W05");

pub fn target_offset(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        TARGET_OFFSET,
        format!("`{name}` is assigned at another column"),
        span,
        "has an offset along I or J",
    )
    .help(format!("write `{name} = ...` and turn the offsets on the right-hand side around"))
}

pub fn target_level_in_parallel(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        TARGET_LEVEL_IN_PARALLEL,
        format!("`{name}` is assigned at another level in a parallel computation"),
        span,
        "has an offset along K",
    )
    .help("use `computation(FORWARD)` or `computation(BACKWARD)`, or assign the level itself")
}

/// `what` says what the name is: `a scalar parameter`.
pub fn target_read_only(name: &str, what: &str, span: Span, declared: Option<Span>) -> Diagnostic {
    let found = Diagnostic::error(
        TARGET_READ_ONLY,
        format!("`{name}` is {what} and cannot be assigned"),
        span,
        "read-only",
    );
    let found = match declared {
        Some(declared) => found.also(declared, "declared here"),
        None => found,
    };
    found.help(format!("assign to a name of its own: `{name}_new = ...`"))
}

/// `why` is the whole sentence.
pub fn bad_target(why: &str, span: Span) -> Diagnostic {
    Diagnostic::error(TARGET, why, span, "not a target")
        .help("assign one name, or as many names as there are values: `x, y = a, b`")
}

/// A list as a target; `edits` write it as a tuple.
pub fn list_target(span: Span, edits: Vec<TextEdit>) -> Diagnostic {
    Diagnostic::error(TARGET, "a list is assigned", span, "not a target")
        .help("write the targets without brackets: `x, y = a, b`")
        .fix("write the targets without brackets", edits)
}

/// `edit` writes one assignment for each target.
pub fn chained_assignment(span: Span, edit: Option<TextEdit>) -> Diagnostic {
    Diagnostic::error(TARGET, "one value is assigned to several targets", span, "assigned in a chain")
        .help("write one assignment for each target")
        .fix("write one assignment for each target", edit)
}

pub fn counts_differ(targets: usize, values: usize, span: Span) -> Diagnostic {
    let s = |n: usize| if n == 1 { "" } else { "s" };
    Diagnostic::error(
        COUNT,
        format!("{targets} target{} and {values} value{}", s(targets), s(values)),
        span,
        "the numbers differ",
    )
    .help("write as many targets as there are values")
}

/// `what` as in "`for` is not part of the language".
pub fn statement_not_in_language(what: &str, span: Span) -> Diagnostic {
    let found = Diagnostic::error(
        NOT_IN_LANGUAGE,
        format!("{what} is not part of the language"),
        span,
        "not a GTScript statement",
    );
    found.help(match what {
        "`for`" => "a computation runs over all points by itself; count with `while` where a loop is needed",
        "`break`" | "`continue`" => "put what ends the loop into the condition of the `while`",
        "`assert`" => "write `compile_assert(...)` for what is known while compiling",
        "`else` of a `while`" => "write the statements behind the loop",
        _ => "use assignments, `if`, `while`, and `with horizontal(...)`",
    })
}

pub fn bare_expression(span: Span) -> Diagnostic {
    Diagnostic::error(NOT_IN_LANGUAGE, "the value of this expression goes nowhere", span, "not assigned")
        .help("assign it to a name")
}

/// `b == a`; `sign` is where the `==` stands, for one that was meant as `=`.
pub fn bare_comparison(span: Span, sign: Option<Span>) -> Diagnostic {
    let found = Diagnostic::error(
        NOT_IN_LANGUAGE,
        "a comparison stands as a statement, and its value goes nowhere",
        span,
        "compares and assigns nothing",
    );
    match sign {
        Some(sign) => found.help("write `=` to assign").fix("write `=`", [TextEdit::replace(sign, "=")]),
        None => found.help("assign it to a name, or write it as the condition of an `if`"),
    }
}

/// `async def`, `async with`: `span` is the word with the space behind it.
pub fn asynchronous(name: &str, span: Span) -> Diagnostic {
    let word = Span { end: span.end.min(span.start + 5), ..span };
    Diagnostic::error(
        NOT_IN_LANGUAGE,
        format!("`async` in `{name}` is not part of the language"),
        word,
        "nothing waits in a stencil",
    )
    .help("leave it out: a stencil is called and runs to its end")
    .fix("leave out `async`", [TextEdit::replace(span, "")])
}

pub fn sequential_tuple(name: &str, span: Span, target: Span) -> Diagnostic {
    Diagnostic::warning(
        SEQUENTIAL_TUPLE,
        format!("`{name}` has been assigned already when it is read here"),
        span,
        "reads the new value",
    )
    .also(target, "assigned first")
    .help("a tuple assignment is carried out from left to right; to swap, keep one value under another name first")
}
