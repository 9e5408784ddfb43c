//! A document read from its text, with its places.

use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::diag::{Diagnostic, FileId, LineCol, LineIndex, Span};
use serde_path_to_error::{Path, Segment};

use super::ProgramDocument;
use super::places::{JsonPlace, PathStep};

/// A document with the places of its entries.
#[derive(Clone, Debug)]
pub struct ReadDocument {
    pub document: ProgramDocument,
    pub places: JsonPlace,
    /// The document's own number among the files: behind those of the stencils.
    pub file: FileId,
}

/// The longest document, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 16 << 20;

/// The version of the form that is read here.
const VERSION: u32 = 1;

/// Reads a document. `file` is the number by which its places name it.
///
/// # Errors
///
/// P01 at the first entry that is none, or at each entry that stands twice.
pub fn read(text: &str, file: FileId) -> Result<ReadDocument, Vec<Diagnostic>> {
    let span = |start: usize, end: usize| {
        let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span::new(file, byte(start), byte(end))
    };
    if text.len() > MAX_DOCUMENT_BYTES {
        let message = format!("it has {} bytes, and {MAX_DOCUMENT_BYTES} are the most", text.len());
        return Err(vec![catalog::unreadable(&message, span(0, 1))]);
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let read: Result<ProgramDocument, _> = serde_path_to_error::deserialize(&mut reader);
    let document = read.map_err(|error| {
        let inner = error.inner();
        let message = inner.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let at = position(text, inner);
        if inner.is_syntax() || inner.is_eof() {
            return vec![catalog::unreadable(message, span(at, (at + 1).min(text.len())))];
        }
        let named = match error.path().to_string().as_str() {
            "." => message.to_owned(),
            path => format!("`{path}`: {message}"),
        };
        // The text is JSON as far as it was read; behind that it may be none, and places end there.
        let places = serde_json::from_str::<serde::de::IgnoredAny>(text).ok().map(|_| JsonPlace::of(text));
        let bytes = places.map(|it| it.find(&steps(error.path())).bytes.clone());
        let bytes = bytes.unwrap_or(at..(at + 1).min(text.len()));
        vec![catalog::unreadable(&named, span(bytes.start, bytes.end))]
    })?;
    reader.end().map_err(|error| {
        let at = position(text, &error);
        vec![catalog::unreadable("something follows its end", span(at, text.len()))]
    })?;
    let places = JsonPlace::of(text);
    let mut wrong = Vec::new();
    places
        .each_twice(&mut |name, bytes| wrong.push(catalog::entry_twice(name, span(bytes.start, bytes.end))));
    if document.isobar_program != VERSION {
        let bytes = &places.find(&[PathStep::Name("isobar_program")]).bytes;
        let message =
            format!("its version is {}, and this compiler reads {VERSION}", document.isobar_program);
        wrong.push(catalog::unreadable(&message, span(bytes.start, bytes.end)));
    }
    if wrong.is_empty() { Ok(ReadDocument { document, places, file }) } else { Err(wrong) }
}

fn steps(path: &Path) -> Vec<PathStep<'_>> {
    let step = |it| match it {
        &Segment::Seq { index } => Some(PathStep::Index(index)),
        Segment::Map { key } => Some(PathStep::Name(key.as_str())),
        Segment::Enum { .. } | Segment::Unknown => None,
    };
    path.iter().map_while(step).collect()
}

/// The byte at which reading ended.
fn position(text: &str, error: &serde_json::Error) -> usize {
    let count = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
    // Its columns are bytes.
    let line = LineIndex::new(text).offset(text, LineCol { line: count(error.line()).max(1), col: 1 });
    (line as usize + error.column().saturating_sub(1)).min(text.len())
}
