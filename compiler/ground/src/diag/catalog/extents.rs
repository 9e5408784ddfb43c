//! Faults that show when it is known how far beyond the compute domain each statement runs.

use crate::diag::{Code, Diagnostic, Span};
use crate::space::Extent;

/// A parameter is written where its value is needed beyond the compute domain.
///
/// Nothing is ever written outside the compute domain of a parameter, so the
/// points there cannot have the value that is asked for. It can be asked for
/// in a roundabout way: `out = a`, `t = out`, `b = t[1, 0, 0]`.
pub const WRITTEN_BEYOND_DOMAIN: Code = Code("E20");

pub fn written_beyond_domain(name: &str, extent: Extent, write: Span, reads: &[Span]) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(
        WRITTEN_BEYOND_DOMAIN,
        format!("`{name}` is written, and its value is needed beyond the compute domain, {extent}"),
        write,
        "writes the compute domain only",
    );
    for &read in reads {
        diagnostic = diagnostic.also(read, "needed by neighbours here");
    }
    diagnostic.help(format!(
        "compute the value in a temporary, and assign `{name}` from it at the end; \
         for old values, write another parameter, as `{name}_new = ...`"
    ))
}
