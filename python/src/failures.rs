//! Exceptions of the native part, which the package turns into its own. The text of an exception is JSON if
//! it tells more than a sentence.

use isobar_compiler::diag::Diagnostic;
use isobar_protocol::diagnostic::SpanResolver;
use isobar_runtime::executable::{Executable, Refusal};
use isobar_runtime::failure::Failure;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyMemoryError};
use pyo3::prelude::*;

create_exception!(
    isobar,
    Refused,
    PyException,
    "What does not compile, or does not fit: JSON of its diagnostics."
);
create_exception!(isobar, Trapped, PyException, "A run that ended before its end: JSON of where.");
create_exception!(isobar, Cancelled, PyException, "A run that was told to end.");
create_exception!(isobar, Elsewhere, PyException, "A field on another device than the back end runs on.");
create_exception!(isobar, Unavailable, PyException, "What this machine lacks.");

/// The error of a text that does not compile, with places in these files.
pub(crate) fn diagnosed<'a>(found: &[Diagnostic], files: impl Iterator<Item = (&'a str, &'a str)>) -> PyErr {
    let places = SpanResolver::new(files);
    let told: Vec<_> = found.iter().map(|it| places.diagnostic(it)).collect();
    Refused::new_err(serde_json::to_string(&told).unwrap_or_default())
}

/// A call that does not fit.
pub(crate) fn refused(why: Refusal, executable: &Executable) -> PyErr {
    match why {
        Refusal::Diagnostics(found) => diagnosed(&found, executable.compilation().front.sources()),
        Refusal::Elsewhere { field, is_on, runs_on } => Elsewhere::new_err(format!(
            "`{field}` lies on {is_on}, and the back end runs on {runs_on}: nothing is copied there unasked"
        )),
        Refusal::Failure(why) => failed(why, executable),
    }
}

/// A run that ended before its end.
pub(crate) fn failed(why: Failure, executable: &Executable) -> PyErr {
    let Failure::Trap { message, statement, cell } = why else { return unavailable(why) };
    let compilation = executable.compilation();
    let nodes = compilation.listings().flat_map(|(_, it)| &it.nodes);
    let span = nodes.filter(|it| it.stmts == [statement]).find_map(|it| it.spans.first().copied());
    let place = span.map(|it| SpanResolver::new(compilation.front.sources()).of(it));
    Trapped::new_err(serde_json::json!({"message": message, "cell": cell, "place": place}).to_string())
}

/// The machine refuses.
pub(crate) fn unavailable(why: Failure) -> PyErr {
    match why {
        Failure::Cancelled => Cancelled::new_err("the run was told to end"),
        Failure::OutOfMemory => {
            PyMemoryError::new_err("the temporaries of the stencil do not fit into memory")
        }
        Failure::Trap { message, .. } => Trapped::new_err(message),
        Failure::Code(why) | Failure::Machine(why) => Unavailable::new_err(why),
    }
}
