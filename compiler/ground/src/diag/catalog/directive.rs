//! Faults of the run directives, the comments that say what to run a stencil with.

use crate::diag::{Code, Diagnostic, Span};

/// A run directive cannot be read.
///
/// Directives are comments, `# @domain 64 64 40`, so only the run depends on them. The line is left out and
/// the stencil compiles without it.
pub const DIRECTIVE: Code = Code("D01");

/// `why` says what is wrong and what to write.
pub fn ignored(word: &str, why: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(DIRECTIVE, format!("this `@{word}` line is ignored: {why}"), span, "")
}

pub fn misspelt(word: &str, meant: &str, span: Span) -> Diagnostic {
    Diagnostic::warning(DIRECTIVE, format!("`@{word}` is no directive"), span, "")
        .help(format!("write `@{meant}`"))
}

/// A line about the text `below` it, from which no statement of the schedule comes.
pub fn without_statement(word: &str, span: Span, below: Span) -> Diagnostic {
    let why = "no statement of the schedule comes from the line below";
    ignored(word, why, span).also(below, "nothing of this is left, or it is no statement of a stencil")
}
