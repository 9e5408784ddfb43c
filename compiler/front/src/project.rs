//! The text that is compiled: a set of named files, one of them the main one.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diag::FileId;

/// The files of one compilation and which stencil of them is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Project {
    /// Text by path, as `main.py` or `model/stencils/ppm.py`; the path without `.py` is the module's name.
    ///
    /// Texts are shared. Every compilation asks whether a file is still the same, and comparing addresses
    /// mostly tells.
    pub files: BTreeMap<String, Arc<str>>,
    /// The path of the file that holds the stencil.
    pub main: String,
    /// The stencil to compile; may be left out where the main file has one.
    pub stencil: Option<String>,
}

impl Project {
    /// A project of one file.
    #[must_use]
    pub fn of_one(name: &str, text: &str) -> Self {
        let files = BTreeMap::from([(name.to_owned(), text.into())]);
        Self { files, main: name.to_owned(), stencil: None }
    }

    /// The bytes of a file as its text; those that are no UTF-8 become NULs, which the parser refuses with their place.
    ///
    /// NUL stands in no program: Python refuses it in comments and strings too, as it does other encodings.
    #[must_use]
    pub fn text_of(bytes: Vec<u8>) -> String {
        match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let chunks = error.as_bytes().utf8_chunks();
                let known = |it: std::str::Utf8Chunk<'_>| {
                    it.valid().to_owned() + if it.invalid().is_empty() { "" } else { "\0" }
                };
                chunks.map(known).collect()
            }
        }
    }

    /// The file of that path: its position in the sorted list of files.
    #[must_use]
    pub fn file_id(&self, name: &str) -> Option<FileId> {
        let position = self.files.keys().position(|it| it == name)?;
        u16::try_from(position).ok().map(FileId)
    }

    /// The main file, if it is among the files.
    #[must_use]
    pub fn main_id(&self) -> Option<FileId> {
        self.file_id(&self.main)
    }

    /// The text of a file; empty for a file that the project does not have.
    #[must_use]
    pub fn text(&self, file: FileId) -> &str {
        self.files.values().nth(usize::from(file.0)).map_or("", |it| it)
    }

    /// The path of a file; empty for a file that the project does not have.
    #[must_use]
    pub fn name(&self, file: FileId) -> &str {
        self.files.keys().nth(usize::from(file.0)).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_other_encodings_are_marked() {
        assert_eq!(Project::text_of("a = 'é'".into()), "a = 'é'");
        assert_eq!(Project::text_of(b"# Gr\xf6\xdfe\n".to_vec()), "# Gr\0\0e\n");
        assert_eq!(Project::text_of(b"\xff\xfea\0".to_vec()), "\0\0a\0");
    }
}
