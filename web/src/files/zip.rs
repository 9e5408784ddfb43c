//! The Python files of a zip archive that was dropped.

use isobar_protocol::names;
use isobar_protocol::zip::{self, Fault};

use crate::bridge::locale::t;

/// Most entries that are looked at, and most bytes that all of them inflate to.
const MOST_ENTRIES: usize = 4096;
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// The Python files of an archive, by their paths, and the notes about others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archive {
    pub files: Vec<(String, Vec<u8>)>,
    pub notes: Vec<String>,
}

/// Reads the Python files of an archive.
///
/// # Errors
///
/// Why it is no archive that can be read.
pub fn read(bytes: &[u8]) -> Result<Archive, &'static str> {
    let entries = zip::directory(bytes).map_err(why)?;
    let has_more = entries.size_hint().1.is_some_and(|it| it > MOST_ENTRIES);
    let mut archive = Archive::default();
    let mut room = MOST_BYTES;
    for entry in entries.take(MOST_ENTRIES) {
        let entry = entry.map_err(why)?;
        if !entry.name.ends_with(".py") && !entry.name.ends_with(".ipynb") {
            continue;
        }
        match entry.content(bytes, room) {
            Ok(content) => {
                room -= content.len();
                archive.files.push((entry.name, content));
            }
            Err(fault) => {
                let name = names::visible(&entry.name);
                archive.notes.push(t!("files-zip-left-out", name = name, why = why(fault)));
            }
        }
    }
    if has_more {
        archive.notes.push(t!("files-zip-most", most = MOST_ENTRIES));
    }
    Ok(archive)
}

/// The reason in the language of the page.
fn why(fault: Fault) -> &'static str {
    match fault {
        Fault::NoArchive => t!("files-zip-none"),
        Fault::End => t!("files-zip-end"),
        Fault::Is64Bit => t!("files-zip-64"),
        Fault::Directory => t!("files-zip-list"),
        Fault::Broken => t!("files-zip-broken"),
        Fault::Encrypted => t!("files-zip-encrypted"),
        Fault::TooLarge => t!("files-zip-too-large"),
        Fault::Method => t!("files-zip-method"),
    }
}

#[cfg(test)]
mod tests {
    use isobar_protocol::zip::{Method, Writer};

    use super::*;

    #[test]
    fn python_files_are_read_and_others_passed_over() {
        let mut writer = Writer::default();
        for name in ["m/a.py", "m/c.txt", "m/b.ipynb"] {
            writer.add(name, name.as_bytes(), Method::Deflated).unwrap();
        }
        let bytes = writer.finish().unwrap();
        let found = read(&bytes).unwrap();
        let names: Vec<_> = found.files.iter().map(|(name, text)| (name.as_str(), text.len())).collect();
        assert_eq!(names, [("m/a.py", 6), ("m/b.ipynb", 9)]);
        assert_eq!(found.notes, [""; 0]);
    }

    #[test]
    fn a_file_beyond_the_limit_is_left_out_and_named() {
        let mut writer = Writer::default();
        writer.add("large.py", &vec![b'#'; MOST_BYTES + 1], Method::Deflated).unwrap();
        writer.add("small.py", b"x = 1\n", Method::Deflated).unwrap();
        let found = read(&writer.finish().unwrap()).unwrap();
        assert_eq!(found.files, [("small.py".to_owned(), b"x = 1\n".to_vec())]);
        assert!(found.notes[0].contains("large.py"), "{:?}", found.notes);
    }

    #[test]
    fn bytes_that_are_no_archive_are_refused() {
        for bytes in [&b""[..], b"PK", &[0; 100]] {
            assert!(read(bytes).is_err());
        }
    }
}
