//! GTScript functions and their calls.

use crate::diag::{Code, Diagnostic, Similar, Span, TextEdit};

/// The called name is no builtin and no GTScript function.
///
/// A call is replaced by the body of the function, which must be GTScript.
pub const NOT_CALLABLE: Code = Code("E41");
/// The arguments of a call do not fit the function's parameters.
///
/// A call gives each parameter one value, by position or by name, or leaves it to its default.
pub const CALL_SIGNATURE: Code = Code("E42");
/// A function has no `return`, or more than one.
///
/// The one `return` says what replaces the call.
pub const RETURNS: Code = Code("E43");
/// A function with several results is called inside an expression.
///
/// An expression is one value; several results go to as many targets.
pub const SEVERAL_RESULTS: Code = Code("E44");
/// A GTScript function is called in the condition of an `if` or `while`.
///
/// The statements of the function would have to run before the condition is known.
pub const CALL_IN_CONDITION: Code = Code("E45");
/// A function is called and its result is not used.
///
/// A function changes nothing but its own variables, so a result that goes nowhere is a mistake.
pub const BARE_CALL: Code = Code("E46");
/// A function calls itself.
///
/// Calls are replaced by the body of the function, which would never end.
pub const RECURSION: Code = Code("E47");
/// A function assigns to an indexed name.
///
/// Parameters and local names of a function mean the point at which its caller runs.
pub const SUBSCRIPTED_LOCAL: Code = Code("E48");
/// A function holds a computation or interval.
///
/// A function runs on the levels of its caller.
pub const COMPUTATION_IN_FUNCTION: Code = Code("E49");

/// `name` stands at `callee`.
pub fn unknown_function(name: &str, span: Span, callee: Span, similar: Option<&Similar>) -> Diagnostic {
    let found =
        Diagnostic::error(NOT_CALLABLE, format!("no function is named `{name}`"), span, "not known here");
    match similar {
        Some(similar) => found.did_you_mean(similar, callee),
        None => found.help(format!(
            "define it with `@function` above, import it, or import `{name}` from `__externals__`"
        )),
    }
}

pub fn plain_function(name: &str, span: Span, defined: Span) -> Diagnostic {
    Diagnostic::error(NOT_CALLABLE, format!("`{name}` is not a GTScript function"), span, "called here")
        .also(defined, "defined here without `@function`")
        .help("decorate it with `@function`")
}

/// `similar` is the decorator that the one at `decorator` was meant to be.
pub fn misdecorated_function(name: &str, span: Span, decorator: Span, similar: &Similar) -> Diagnostic {
    Diagnostic::error(NOT_CALLABLE, format!("`{name}` is not a GTScript function"), span, "called here")
        .also(decorator, "there is no such decorator")
        .did_you_mean(similar, decorator)
}

pub fn stencil_called(name: &str, span: Span, defined: Span) -> Diagnostic {
    Diagnostic::error(
        NOT_CALLABLE,
        format!("`{name}` is a stencil and cannot be called here"),
        span,
        "called here",
    )
    .also(defined, "has computations of its own")
    .help("move what both need into a function decorated with `@function`")
}

/// `written` stands at `callee`.
pub fn qualified_builtin(written: &str, builtin: &str, span: Span, callee: Span) -> Diagnostic {
    Diagnostic::error(
        NOT_CALLABLE,
        format!("`{written}` runs in Python, not in a stencil"),
        span,
        "not a GTScript function",
    )
    .help(format!("write `{builtin}(...)`"))
    .fix(format!("write `{builtin}`"), [TextEdit::replace(callee, builtin)])
}

/// `(a + b)(c)`
pub fn expression_called(span: Span) -> Diagnostic {
    Diagnostic::error(NOT_CALLABLE, "the value of an expression is called", span, "not a function")
        .help("write an operator between the parts, or call a function by its name")
}

/// `numpy.where(...)`; `similar` is a builtin that is named almost so.
pub fn python_function(written: &str, span: Span, callee: Span, similar: Option<&Similar>) -> Diagnostic {
    let found = Diagnostic::error(
        NOT_CALLABLE,
        format!("`{written}` runs in Python, not in a stencil"),
        span,
        "not a GTScript function",
    );
    match similar {
        Some(similar) => found.did_you_mean(similar, callee),
        None if written.ends_with(".where") => found.help("write `a if condition else b`"),
        None => found.help("write it with builtins, in a function decorated with `@function`"),
    }
}

/// `what` says what it is: `a number`.
pub fn not_callable(name: &str, what: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        NOT_CALLABLE,
        format!("`{name}` is {what} and cannot be called here"),
        span,
        "called here",
    )
    .help("call a builtin or a function decorated with `@function`")
}

/// `why` is the whole sentence.
pub fn bad_call(why: &str, span: Span, defined: Span) -> Diagnostic {
    Diagnostic::error(CALL_SIGNATURE, why, span, "")
        .also(defined, "defined here")
        .help("pass each parameter once")
}

/// A keyword that is none of the parameters.
pub fn unknown_keyword(
    function: &str,
    keyword: &str,
    span: Span,
    defined: Span,
    similar: Option<&Similar>,
) -> Diagnostic {
    let why = format!("`{function}` has no parameter `{keyword}`");
    let found = bad_call(&why, span, defined);
    match similar {
        Some(similar) => found.did_you_mean(similar, span),
        None => found,
    }
}

pub fn return_count(name: &str, count: usize, defined: Span, second: Option<Span>) -> Diagnostic {
    let found = Diagnostic::error(
        RETURNS,
        format!(
            "function `{name}` has {}, and needs exactly one",
            match count {
                0 => "no `return`".to_owned(),
                n => format!("{n} `return`s"),
            }
        ),
        second.unwrap_or(defined),
        if count == 0 { "returns nothing" } else { "a further `return`" },
    );
    found.help("assign the result to a name in each branch, and return that name at the end")
}

pub fn return_without_value(span: Span) -> Diagnostic {
    Diagnostic::error(RETURNS, "a function returns nothing", span, "no value")
        .help("return one value or more")
}

pub fn several_results(name: &str, count: usize, span: Span) -> Diagnostic {
    let targets: Vec<String> = match count {
        ..10 => (1..=count).map(|it| format!("x{it}")).collect(),
        _ => vec!["x1".to_owned(), "...".to_owned(), format!("x{count}")],
    };
    Diagnostic::error(
        SEVERAL_RESULTS,
        format!("function `{name}` has {count} results and is called inside an expression"),
        span,
        "one value is needed here",
    )
    .help(format!("assign the results first: `{} = {name}(...)`", targets.join(", ")))
}

pub fn call_in_condition(name: &str, statement: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        CALL_IN_CONDITION,
        format!("function `{name}` is called in the condition of `{statement}`"),
        span,
        "called here",
    )
    .help(format!("assign it to a variable first: `condition = {name}(...)`"))
}

pub fn bare_call(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(BARE_CALL, format!("the result of `{name}` goes nowhere"), span, "not assigned")
        .help("assign it to a name; functions have no effect but their results")
}

pub fn recursion(name: &str, span: Span, defined: Span) -> Diagnostic {
    Diagnostic::error(
        RECURSION,
        format!("function `{name}` calls itself"),
        span,
        "called here, inside itself",
    )
    .also(defined, "defined here")
    .help("write a `while` loop instead")
}

pub fn calls_too_deep(name: &str, limit: usize, span: Span) -> Diagnostic {
    Diagnostic::error(
        RECURSION,
        format!("the call of `{name}` is the {limit}th inside one another"),
        span,
        "too deep",
    )
    .help("flatten the functions")
}

/// `index` is what stands behind the name, where it means the point itself.
pub fn subscripted_local(name: &str, span: Span, index: Option<Span>) -> Diagnostic {
    Diagnostic::error(
        SUBSCRIPTED_LOCAL,
        format!("a function assigns to `{name}` by index"),
        span,
        "indexed target",
    )
    .help(format!("write `{name} = ...`"))
    .fix(format!("write `{name}`"), index.map(|it| TextEdit::replace(it, "")))
}

pub fn computation_in_function(span: Span) -> Diagnostic {
    Diagnostic::error(
        COMPUTATION_IN_FUNCTION,
        "a function holds a computation or interval",
        span,
        "not allowed here",
    )
    .help("a function runs wherever its caller runs: write the statements without it")
}
