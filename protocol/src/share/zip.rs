//! A workspace as a zip archive: its files, and `workspace.json` with the settings.
//!
//! The format is that of APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.16. Each file has a header and its
//! packed bytes. The directory of all files and its end record follow.

use super::{State, deflate};

/// The name of the settings beside the files.
pub const WORKSPACE: &str = "workspace.json";

/// The whole archive. The same state gives the same bytes.
#[must_use]
pub fn archive(state: &State) -> Vec<u8> {
    packed(files_of(state))
}

/// Several workspaces in one archive, each in its folder.
#[must_use]
pub fn archive_of_all(all: &[(String, State)]) -> Vec<u8> {
    let in_folder = |folder: &str, (name, text): (String, String)| (format!("{folder}/{name}"), text);
    packed(all.iter().flat_map(|(folder, state)| files_of(state).map(move |it| in_folder(folder, it))))
}

/// The files of a workspace, and its settings.
fn files_of(state: &State) -> impl Iterator<Item = (String, String)> {
    // A file of that name is the user's own, and says more than the settings do.
    let has_own = state.files.contains_key(WORKSPACE);
    let own = (!has_own).then(|| (WORKSPACE.to_owned(), state.workspace()));
    state.files.iter().map(|(name, text)| (name.clone(), text.clone())).chain(own)
}

fn packed(files: impl Iterator<Item = (String, String)>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut directory = Vec::new();
    let mut count = 0;
    for (name, text) in files {
        let name = name.as_str();
        let packed = deflate::pack(text.as_bytes(), b"");
        let entry = Entry {
            name,
            crc: crc32(text.as_bytes()),
            packed: length(&packed),
            unpacked: length(text.as_bytes()),
        };
        let at = length(&out);
        out.extend(0x0403_4b50_u32.to_le_bytes());
        entry.describe(&mut out);
        out.extend(name.as_bytes());
        out.extend(packed);
        directory.extend(0x0201_4b50_u32.to_le_bytes());
        // Made as on Unix, by what knows version 2.0 of the format.
        directory.extend(0x0314_u16.to_le_bytes());
        entry.describe(&mut directory);
        // No comment, the first disk, a text; a file that its owner may write and others read.
        for number in [0_u16, 0, 1] {
            directory.extend(number.to_le_bytes());
        }
        directory.extend((0o100_644_u32 << 16).to_le_bytes());
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
        count += 1;
    }
    let at = length(&out);
    out.extend(&directory);
    out.extend(0x0605_4b50_u32.to_le_bytes());
    for number in [0, 0, count, count] {
        out.extend(u16::to_le_bytes(number));
    }
    out.extend(length(&directory).to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend(0_u16.to_le_bytes());
    out
}

/// The values that both headers of a file contain.
struct Entry<'a> {
    name: &'a str,
    crc: u32,
    packed: u32,
    unpacked: u32,
}

impl Entry<'_> {
    fn describe(&self, out: &mut Vec<u8>) {
        // Version 2.0, names in UTF-8, deflated, midnight of the first day that the format knows: the page's clock is
        // nobody else's.
        for number in [20_u16, 0x0800, 8, 0, 0x0021] {
            out.extend(number.to_le_bytes());
        }
        for number in [self.crc, self.packed, self.unpacked] {
            out.extend(number.to_le_bytes());
        }
        // Names have at most `NAME_CHARS` characters, and their folders fewer.
        let name = u16::try_from(self.name.len()).unwrap_or(u16::MAX);
        out.extend(name.to_le_bytes());
        out.extend(0_u16.to_le_bytes());
    }
}

/// Texts of a page are far below the format's limit.
fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

/// The check sum of zip and gzip (ISO 3309), a bit at a time: a workspace is small.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |mut crc, byte| {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
        crc
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_sum_is_that_of_the_standard() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn an_archive_has_the_files_and_the_settings() {
        let files = [("lib/ü.py", "y = 2\n"), ("main.py", "x = 1\n")];
        let files = files.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
        let made = archive(&State { files, precision: Some(32), ..State::default() });
        assert!(made.starts_with(b"PK\x03\x04") && made[made.len() - 22..].starts_with(b"PK\x05\x06"));
        let count = |part: &[u8]| made.windows(part.len()).filter(|it| *it == part).count();
        assert_eq!(
            (count(b"PK\x01\x02"), count("lib/ü.py".as_bytes()), count(WORKSPACE.as_bytes())),
            (3, 2, 2)
        );
    }

    #[test]
    fn texts_are_in_folders_of_their_own() {
        let of = |text: &str| State {
            files: [("main.py".to_owned(), text.to_owned())].into(),
            ..State::default()
        };
        let made = archive_of_all(&[("1-a".to_owned(), of("x = 1\n")), ("2-b".to_owned(), of("x = 2\n"))]);
        for name in ["1-a/main.py", "1-a/workspace.json", "2-b/main.py", "2-b/workspace.json"] {
            let count = made.windows(name.len()).filter(|it| *it == name.as_bytes()).count();
            assert_eq!(count, 2, "{name}");
        }
    }
}
