//! Faults of a schedule document, which says how the loops of a stencil are to run.

use crate::diag::{Code, Diagnostic, Origin, Span};

/// A line of a schedule cannot be read.
///
/// A schedule is a list of steps, one to a line. `merge k@s0 k@s3` lets the loop over k around the statement
/// s3 continue the one around s0. `isobar emit FILE --stage schedule --steps` prints the schedule that the
/// compiler chose, to start from.
pub const UNREADABLE: Code = Code("S01");

/// `expected` says what the line should be.
pub fn unreadable(line: &str, expected: &str, at: Span) -> Diagnostic {
    Diagnostic::error(UNREADABLE, format!("`{line}` is no step of a schedule"), at, "cannot be read").help(
        format!("{expected}; `isobar emit FILE --stage schedule --steps` prints a schedule to start from"),
    )
}

/// A step of a schedule would change what the stencil computes, or names something that is not there.
///
/// Every step is checked before it is carried out.
/// Results never depend on the schedule, so a step that could change one is refused, with the reason.
pub const REFUSED: Code = Code("S02");

/// `about` are the statements that the reason is about.
pub fn refused(step: &str, reason: &str, at: Span, about: &[Origin]) -> Diagnostic {
    let mut found =
        Diagnostic::error(REFUSED, format!("`{step}` is refused: {reason}"), at, "not carried out");
    for origin in about {
        found = found.also(origin.span(), "this statement");
    }
    found.help(
        "leave the step out, or take another one before it; `--remarks` says what the compiler would do",
    )
}

/// A compilation asks for a schedule that is not among its files.
pub const MISSING: Code = Code("S03");

pub fn missing(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error(MISSING, format!("there is no schedule `{name}`"), at, "compiled for this stencil")
        .help("name a file that is among those of the request")
}
