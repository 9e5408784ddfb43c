//! Decisions while compiling, declarations of temporaries, and parts of the language that are not supported.

use crate::diag::{Code, Diagnostic, Remedy, Span, similar};

/// The condition of `__INLINED` or `compile_assert` is not known while compiling.
///
/// Branches that are decided while compiling leave no trace, so their conditions hold no values of
/// the run.
pub const NOT_EVALUABLE: Code = Code("E50");
/// A `compile_assert` is false.
///
/// It says what the stencil was not made for.
pub const ASSERTION: Code = Code("E51");
/// A temporary is declared with a type that it cannot have.
///
/// The halo of a temporary follows from its uses, so only its element type, or that it has no
/// levels, can be said.
pub const TEMPORARY_TYPE: Code = Code("E52");
/// Something of the language that this compiler does not have yet.
pub const NOT_SUPPORTED: Code = Code("E90");
/// There is no stencil, or it is not clear which one is meant.
///
/// One text may hold several stencils, and one of them is compiled at a time.
pub const WHICH_STENCIL: Code = Code("E91");

pub fn not_evaluable(what: &str, why: &str, span: Span, at: Option<Span>) -> Diagnostic {
    let found = Diagnostic::error(
        NOT_EVALUABLE,
        format!("the condition of `{what}` is not known while compiling, because {why}"),
        span,
        "must be known while compiling",
    );
    let found = match at {
        Some(at) if at != span => found.also(at, "this is not known"),
        _ => found,
    };
    found.help("use literals, externals and constants, with arithmetic, comparisons, `and`, `or`, `not`")
}

pub fn inlined_in_expression(span: Span) -> Diagnostic {
    Diagnostic::error(
        NOT_EVALUABLE,
        "`__INLINED` is part of a larger expression",
        span,
        "not the whole condition",
    )
    .help("write `if __INLINED(...):` with everything inside the parentheses")
}

pub fn assertion_failed(condition: &str, span: Span) -> Diagnostic {
    Diagnostic::error(ASSERTION, format!("the assertion `{condition}` does not hold"), span, "false")
        .help("the author of the stencil refuses these externals: change their values")
}

/// `why` is the whole sentence.
pub fn bad_temporary_type(why: &str, span: Span) -> Diagnostic {
    Diagnostic::error(TEMPORARY_TYPE, why, span, "").help(
        "declare a temporary as `x: float = ...`, or as `x: Field[IJ, float] = ...` for one without levels",
    )
}

pub fn too_large(limit: u32, span: Span) -> Diagnostic {
    Diagnostic::error(
        NOT_SUPPORTED,
        format!("the stencil has more than {limit} statements after inlining"),
        span,
        "too large",
    )
    .help("split it into several stencils")
}

/// `paths` are those of the stencils with this name.
pub fn ambiguous_stencil(name: &str, paths: &[&str]) -> Diagnostic {
    Diagnostic::without_place(
        WHICH_STENCIL,
        format!("the main file has {} stencils named `{name}`", paths.len()),
    )
    .help(format!("name one of `{}`", paths.join("`, `")))
    .remedy(Remedy::PickStencil(paths.iter().map(|&it| it.to_owned()).collect()))
}

/// `others` are the stencils that there are.
pub fn no_such_stencil(name: &str, others: &[String]) -> Diagnostic {
    let found =
        Diagnostic::without_place(WHICH_STENCIL, format!("the main file has no stencil named `{name}`"));
    if others.is_empty() {
        found.help("a stencil is a function with a `with computation(...)` in its body")
    } else {
        match similar(name, others.iter().map(String::as_str)) {
            Some(similar) => found.help(format!("did you mean `{}`?", similar.name)),
            None => found.help(format!("name one of `{}`", others.join("`, `"))),
        }
    }
}

pub fn no_stencil() -> Diagnostic {
    Diagnostic::without_place(WHICH_STENCIL, "the main file has no stencil")
        .help("a stencil is a function with a `with computation(...)` in its body")
}

pub fn several_stencils(names: &[String]) -> Diagnostic {
    Diagnostic::without_place(WHICH_STENCIL, format!("the main file has {} stencils", names.len()))
        .help(format!("name one of `{}`", names.join("`, `")))
        .remedy(Remedy::PickStencil(names.to_vec()))
}
