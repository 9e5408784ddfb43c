//! What came of one compilation.

use std::collections::BTreeMap;

use super::Stage;
use crate::backend::signature::Signature;
use crate::diag::{Diagnostic, FileId, Listing, Remark, Severity, Span};

/// Every level that was reached, with what was found on the way.
#[derive(Clone, Debug, Default)]
pub struct Compilation {
    /// Name and text of each file, in the order of the [`FileId`]s.
    pub files: Vec<(String, String)>,
    /// Sorted by place; errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The stencils of the main file, in its order, each with its place.
    pub stencils: Vec<(String, Span)>,
    /// The one that was compiled.
    pub stencil: Option<String>,
    /// Known once the extents are.
    pub signature: Option<Signature>,
    pub remarks: Vec<Remark>,
    /// Each level as text; a level that was not reached is missing.
    pub listings: BTreeMap<Stage, Listing>,
}

impl Compilation {
    /// Whether an error was found.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|it| it.severity == Severity::Error)
    }

    /// Name and text of a file.
    #[must_use]
    pub fn file(&self, FileId(file): FileId) -> Option<(&str, &str)> {
        self.files.get(usize::from(file)).map(|(name, text)| (name.as_str(), text.as_str()))
    }
}
