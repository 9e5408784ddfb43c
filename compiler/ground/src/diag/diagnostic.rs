//! A message to the author of a stencil.

use super::{Code, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Error,
    Warning,
    Hint,
}

impl Severity {
    /// As the wire and the command line spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Hint => "hint",
        }
    }
}

/// A place with what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

/// A change of the text that certainly mends the fault.
///
/// A fault has a fix only if exactly one change is right for every text around it. So a tool may apply
/// the fix without a look at the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The change, in the imperative: "write `a < b and b < c`".
    pub title: String,
    /// In order of their places, without overlap. All of them are applied, or none.
    pub edits: Vec<TextEdit>,
}

/// New text for a range of the source; an empty range inserts, an empty text removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    pub span: Span,
    pub text: String,
}

impl TextEdit {
    #[must_use]
    pub fn replace(span: Span, text: impl Into<String>) -> Self {
        Self { span, text: text.into() }
    }

    /// Inserts before the first byte of `span`.
    #[must_use]
    pub fn before(span: Span, text: impl Into<String>) -> Self {
        Self::replace(Span { end: span.start, ..span }, text)
    }

    /// Inserts behind the last byte of `span`.
    #[must_use]
    pub fn behind(span: Span, text: impl Into<String>) -> Self {
        Self::replace(Span { start: span.end, ..span }, text)
    }
}

/// A fault, with its place, the reason why it matters, and advice on what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub code: Code,
    pub severity: Severity,
    /// One sentence, lower-case, without a final dot.
    pub message: String,
    /// The place; `None` where the call and not the text is at fault.
    pub primary: Option<Label>,
    /// Further places that explain the fault.
    pub secondary: Vec<Label>,
    /// Advice on what to write instead.
    pub help: Option<String>,
    /// Further sentences.
    pub notes: Vec<String>,
    /// Changes that mend it; more than one where each alone does.
    pub fixes: Vec<Fix>,
    /// A remedy outside of the text.
    pub remedy: Option<Remedy>,
}

/// A remedy that a page can offer where no change of the text is certain to be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// A value for this external.
    GiveExternal(String),
    /// A value for this field or scalar.
    GiveInput(String),
    /// The file that has this name.
    AddFile(String),
    /// One of these stencils.
    PickStencil(Vec<String>),
}

impl Diagnostic {
    /// An error at `span`; `label` says what is seen there and may be empty.
    #[must_use]
    pub fn error(code: Code, message: impl Into<String>, span: Span, label: impl Into<String>) -> Self {
        Self::at(Severity::Error, code, message.into(), Some(Label { span, text: label.into() }))
    }

    /// A warning at `span`.
    #[must_use]
    pub fn warning(code: Code, message: impl Into<String>, span: Span, label: impl Into<String>) -> Self {
        Self::at(Severity::Warning, code, message.into(), Some(Label { span, text: label.into() }))
    }

    /// Something at `span` that is fine, and that its author may want to know.
    #[must_use]
    pub fn hint(code: Code, message: impl Into<String>, span: Span, label: impl Into<String>) -> Self {
        Self::at(Severity::Hint, code, message.into(), Some(Label { span, text: label.into() }))
    }

    /// An error that has no place in the text, as those of a call.
    #[must_use]
    pub fn without_place(code: Code, message: impl Into<String>) -> Self {
        Self::at(Severity::Error, code, message.into(), None)
    }

    fn at(severity: Severity, code: Code, message: String, primary: Option<Label>) -> Self {
        Self {
            code,
            severity,
            message,
            primary,
            secondary: Vec::new(),
            help: None,
            notes: Vec::new(),
            fixes: Vec::new(),
            remedy: None,
        }
    }

    /// Adds a remedy outside of the text.
    #[must_use]
    pub fn remedy(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }

    /// Adds a further place.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Says what to write instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a change that mends it; none where there are no `edits`.
    #[must_use]
    pub fn fix(mut self, title: impl Into<String>, edits: impl IntoIterator<Item = TextEdit>) -> Self {
        let edits: Vec<TextEdit> = edits.into_iter().collect();
        if !edits.is_empty() {
            self.fixes.push(Fix { title: title.into(), edits });
        }
        self
    }

    /// Adds a sentence.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

/// Collects the diagnostics of one compilation, in the order they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    found: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Records one, unless the very same was recorded before (inlining a function twice finds its faults twice).
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if !self.found.contains(&diagnostic) {
            self.found.push(diagnostic);
        }
    }

    /// Records one, as a further place of one that says the same already.
    pub fn push_together(&mut self, diagnostic: Diagnostic) {
        let says_the_same = |it: &&mut Diagnostic| {
            it.code == diagnostic.code && it.message == diagnostic.message && it.help == diagnostic.help
        };
        let Some(known) = self.found.iter_mut().find(says_the_same) else { return self.push(diagnostic) };
        let Some(label) = diagnostic.primary else { return };
        let is_known = |it: &Label| it.span == label.span;
        if known.primary.as_ref().is_some_and(is_known) || known.secondary.iter().any(is_known) {
            return;
        }
        known.secondary.push(Label { span: label.span, text: "and here".to_owned() });
        for (fix, further) in known.fixes.iter_mut().zip(diagnostic.fixes) {
            fix.edits.extend(further.edits);
        }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.found.len()
    }

    /// Whether there is an error among them.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.found.iter().any(|it| it.severity == Severity::Error)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.found.iter()
    }

    /// All of them, in order of place in the text.
    #[must_use]
    pub fn sorted(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|it| it.primary.as_ref().map(|label| label.span));
        self.found
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, diagnostics: T) {
        diagnostics.into_iter().for_each(|it| self.push(it));
    }
}
