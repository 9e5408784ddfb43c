//! Diagnostics with lines and columns.

use isobar_ground::diag::{self, FileId, LineCol, LineIndex, Span};
use serde::{Deserialize, Serialize};

use crate::names;

/// A message to the author of a stencil.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    pub code: String,
    /// `error`, `warning` or `hint`.
    pub severity: String,
    pub message: String,
    /// Empty where the call and not the text is at fault; the positions are 0 then.
    pub file: String,
    pub start: Position,
    pub end: Position,
    pub help: Option<String>,
    pub notes: Vec<String>,
    /// The text at the place itself.
    #[serde(default)]
    pub label: String,
    /// Further places that tell the story.
    #[serde(default)]
    pub related: Vec<Related>,
    /// Changes of the text that mend it, each alone and for certain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<Fix>,
    /// A remedy outside of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
}

/// A remedy that a page can offer where no change of the text is certain to be right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

/// A change of the text that mends what is wrong: all of its edits or none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// The effect of the change: "write `q`".
    pub title: String,
    /// In order of their places, none over another.
    pub edits: Vec<Edit>,
}

/// New text for the characters from `start` to before `end`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    pub file: String,
    pub start: Position,
    pub end: Position,
    pub text: String,
}

impl Diagnostic {
    /// An error that is not about a place of a text; `help` may be empty.
    #[must_use]
    pub fn without_place(code: &str, message: impl Into<String>, help: &str) -> Self {
        Self {
            code: code.to_owned(),
            severity: diag::Severity::Error.name().to_owned(),
            message: names::message(message.into()),
            file: String::new(),
            start: Position::default(),
            end: Position::default(),
            help: Some(help.to_owned()).filter(|it| !it.is_empty()),
            notes: Vec::new(),
            label: String::new(),
            related: Vec::new(),
            fixes: Vec::new(),
            remedy: None,
        }
    }
}

/// A position: line and column from 1, the column in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    pub line: u32,
    pub col: u32,
}

/// A further place of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Related {
    pub message: String,
    pub file: String,
    pub start: Position,
    pub end: Position,
}

impl From<LineCol> for Position {
    fn from(at: LineCol) -> Self {
        Self { line: at.line, col: at.col }
    }
}

/// Turns spans into files, lines and columns.
#[derive(Debug)]
pub struct SpanResolver<'a> {
    /// Name, text and index, in the order of their [`FileId`]s.
    files: Vec<(&'a str, &'a str, LineIndex)>,
}

impl<'a> SpanResolver<'a> {
    /// `files` in the order of their ids: sorted by name.
    pub fn new(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self { files: files.into_iter().map(|(name, text)| (name, text, LineIndex::new(text))).collect() }
    }

    /// File name, start and end; an empty name where the file is not known.
    #[must_use]
    pub fn of(&self, span: Span) -> (String, Position, Position) {
        let FileId(file) = span.file;
        match self.files.get(usize::from(file)) {
            Some((name, text, index)) => (
                (*name).to_owned(),
                index.line_col(text, span.start).into(),
                index.line_col(text, span.end).into(),
            ),
            None => (String::new(), Position::default(), Position::default()),
        }
    }

    /// The diagnostic as it crosses a wire.
    #[must_use]
    pub fn diagnostic(&self, found: &diag::Diagnostic) -> Diagnostic {
        let (file, start, end) = found.primary.as_ref().map(|it| self.of(it.span)).unwrap_or_default();
        let related = found.secondary.iter().map(|label| {
            let (file, start, end) = self.of(label.span);
            Related { message: names::message(label.text.clone()), file, start, end }
        });
        Diagnostic {
            code: found.code.to_string(),
            severity: found.severity.name().to_owned(),
            message: names::message(found.message.clone()),
            file,
            start,
            end,
            help: found.help.clone().map(names::message),
            notes: found.notes.iter().cloned().map(names::message).collect(),
            label: found.primary.as_ref().map(|it| names::message(it.text.clone())).unwrap_or_default(),
            related: related.collect(),
            fixes: found.fixes.iter().map(|it| self.fix(it)).collect(),
            remedy: found.remedy.as_ref().map(|it| match it {
                diag::Remedy::GiveExternal(name) => Remedy::GiveExternal(name.clone()),
                diag::Remedy::GiveInput(name) => Remedy::GiveInput(name.clone()),
                diag::Remedy::AddFile(name) => Remedy::AddFile(name.clone()),
                diag::Remedy::PickStencil(all) => Remedy::PickStencil(all.clone()),
            }),
        }
    }

    fn fix(&self, fix: &diag::Fix) -> Fix {
        let edits = fix.edits.iter().map(|it| {
            let (file, start, end) = self.of(it.span);
            Edit { file, start, end, text: it.text.clone() }
        });
        Fix { title: names::message(fix.title.clone()), edits: edits.collect() }
    }
}
