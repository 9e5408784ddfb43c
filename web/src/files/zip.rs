//! Reads archives: stored and deflated entries, within limits that are checked while they inflate.
//!
//! The layout is that of PKWARE's APPNOTE 6.3: the end record tells where the directory is, and that where each entry
//! is. Nothing is read that the directory does not list.

use miniz_oxide::inflate::decompress_to_vec_with_limit;

use crate::bridge::locale::t;

/// Most entries that are looked at, and most bytes that all of them inflate to.
const MOST_ENTRIES: usize = 4096;
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// The end record without its comment, which is at most 65,535 bytes long.
const END_BYTES: usize = 22;
const END: u32 = 0x0605_4b50;
const ENTRY: u32 = 0x0201_4b50;
const LOCAL: u32 = 0x0403_4b50;
/// Flag: the entry is encrypted.
const ENCRYPTED: u16 = 1;

/// The Python files of an archive, by their paths, and what is to be said of others.
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
    let end = end_of(bytes).ok_or_else(|| t!("files-zip-none"))?;
    let n_entries = u16_at(bytes, end + 10).ok_or_else(|| t!("files-zip-end"))?;
    let start = u32_at(bytes, end + 16).ok_or_else(|| t!("files-zip-end"))?;
    if n_entries == u16::MAX || start == u32::MAX {
        return Err(t!("files-zip-64"));
    }
    let mut archive = Archive::default();
    let mut at = usize::try_from(start).map_err(|_| t!("files-zip-end"))?;
    let mut room = MOST_BYTES;
    for _ in 0..usize::from(n_entries).min(MOST_ENTRIES) {
        let entry = Entry::at(bytes, at).ok_or_else(|| t!("files-zip-list"))?;
        at += entry.listed;
        if !entry.name.ends_with(".py") && !entry.name.ends_with(".ipynb") {
            continue;
        }
        match entry.content(bytes, room) {
            Ok(content) => {
                room -= content.len();
                archive.files.push((entry.name, content));
            }
            Err(why) => {
                let name = isobar_protocol::names::visible(&entry.name);
                archive.notes.push(t!("files-zip-left-out", name = name, why = why));
            }
        }
    }
    if usize::from(n_entries) > MOST_ENTRIES {
        archive.notes.push(t!("files-zip-most", most = MOST_ENTRIES));
    }
    Ok(archive)
}

/// An entry of the directory.
struct Entry {
    name: String,
    flags: u16,
    method: u16,
    crc: u32,
    packed: usize,
    size: usize,
    local: usize,
    /// How many bytes the directory has for it.
    listed: usize,
}

impl Entry {
    fn at(bytes: &[u8], at: usize) -> Option<Self> {
        if u32_at(bytes, at)? != ENTRY {
            return None;
        }
        let length = |offset: usize| u16_at(bytes, at + offset).map(usize::from);
        let size = |offset: usize| usize::try_from(u32_at(bytes, at + offset)?).ok();
        let (name, extra, comment) = (length(28)?, length(30)?, length(32)?);
        let start = at.checked_add(46)?;
        Some(Self {
            // Other encodings are of old archives: their names then have a sign that marks what could not be read.
            name: String::from_utf8_lossy(bytes.get(start..start.checked_add(name)?)?).into_owned(),
            flags: u16_at(bytes, at + 8)?,
            method: u16_at(bytes, at + 10)?,
            crc: u32_at(bytes, at + 16)?,
            packed: size(20)?,
            size: size(24)?,
            local: size(42)?,
            listed: 46 + name + extra + comment,
        })
    }

    /// At most `room` bytes.
    fn content(&self, bytes: &[u8], room: usize) -> Result<Vec<u8>, &'static str> {
        let broken = || t!("files-zip-broken");
        if self.flags & ENCRYPTED != 0 {
            return Err(t!("files-zip-encrypted"));
        }
        if self.size > room {
            return Err(t!("files-zip-too-large"));
        }
        if u32_at(bytes, self.local) != Some(LOCAL) {
            return Err(broken());
        }
        let length = |offset| u16_at(bytes, self.local + offset).map(usize::from).ok_or_else(broken);
        let start = self.local + 30 + length(26)? + length(28)?;
        let end = start.checked_add(self.packed).ok_or_else(broken)?;
        let packed = bytes.get(start..end).ok_or_else(broken)?;
        let content = match self.method {
            0 if packed.len() == self.size => packed.to_vec(),
            8 => decompress_to_vec_with_limit(packed, self.size).map_err(|_| broken())?,
            0 => return Err(broken()),
            _ => return Err(t!("files-zip-method")),
        };
        if content.len() == self.size && crc(&content) == self.crc { Ok(content) } else { Err(broken()) }
    }
}

/// Where the end record is: the last one that ends with the archive.
fn end_of(bytes: &[u8]) -> Option<usize> {
    let last = bytes.len().checked_sub(END_BYTES)?;
    let first = last.saturating_sub(usize::from(u16::MAX));
    (first..=last).rev().find(|&at| {
        let comment = u16_at(bytes, at + 20).map(usize::from);
        u32_at(bytes, at) == Some(END) && comment.is_some_and(|it| at + END_BYTES + it <= bytes.len())
    })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The checksum of an entry: CRC-32 with the reflected polynomial 0xEDB88320.
fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |it, _| (it >> 1) ^ (0xEDB8_8320 & (it & 1).wrapping_neg()))
    };
    !bytes.iter().fold(u32::MAX, step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use miniz_oxide::deflate::compress_to_vec;
    use proptest::prelude::*;

    /// An archive of these files; every second one is deflated.
    fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let (mut out, mut directory) = (Vec::new(), Vec::new());
        for (nth, (name, content)) in files.iter().enumerate() {
            let is_packed = nth % 2 == 1;
            let packed = if is_packed { compress_to_vec(content, 6) } else { content.to_vec() };
            let offset = u32::try_from(out.len()).unwrap();
            let sizes = |to: &mut Vec<u8>| {
                to.extend([0; 4]);
                to.extend(crc(content).to_le_bytes());
                to.extend(u32::try_from(packed.len()).unwrap().to_le_bytes());
                to.extend(u32::try_from(content.len()).unwrap().to_le_bytes());
                to.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
            };
            let method: u16 = if is_packed { 8 } else { 0 };
            out.extend(LOCAL.to_le_bytes());
            out.extend([20, 0, 0, 0]);
            out.extend(method.to_le_bytes());
            sizes(&mut out);
            out.extend([0, 0]);
            out.extend(name.as_bytes());
            out.extend(&packed);
            directory.extend(ENTRY.to_le_bytes());
            directory.extend([20, 0, 20, 0, 0, 0]);
            directory.extend(method.to_le_bytes());
            sizes(&mut directory);
            directory.extend([0; 12]);
            directory.extend(offset.to_le_bytes());
            directory.extend(name.as_bytes());
        }
        let start = u32::try_from(out.len()).unwrap();
        let n = u16::try_from(files.len()).unwrap();
        out.extend(&directory);
        out.extend(END.to_le_bytes());
        out.extend([0; 4]);
        out.extend(n.to_le_bytes());
        out.extend(n.to_le_bytes());
        out.extend(u32::try_from(directory.len()).unwrap().to_le_bytes());
        out.extend(start.to_le_bytes());
        out.extend([0, 0]);
        out
    }

    #[test]
    fn stored_and_deflated_files_are_read_and_others_passed_over() {
        let long = b"x = 1\n".repeat(500);
        let bytes =
            archive(&[("m/a.py", b"a = 1\n"), ("m/b.py", &long), ("m/c.txt", b"no"), ("m/d.py", b"")]);
        let read = read(&bytes).unwrap();
        let names: Vec<_> = read.files.iter().map(|(name, text)| (name.as_str(), text.len())).collect();
        assert_eq!(names, [("m/a.py", 6), ("m/b.py", 3000), ("m/d.py", 0)]);
        assert_eq!(read.notes, [""; 0]);
    }

    #[test]
    fn the_checksum_is_the_usual_one() {
        assert_eq!(crc(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn what_inflates_further_than_it_says_is_left_out() {
        let mut bytes = archive(&[("a.py", b""), ("b.py", &b"y".repeat(9000))]);
        // The size in the directory, of the second entry.
        let at = bytes.windows(4).rposition(|it| it == ENTRY.to_le_bytes()).unwrap() + 24;
        bytes[at..at + 4].copy_from_slice(&10_u32.to_le_bytes());
        let read = read(&bytes).unwrap();
        assert_eq!((read.files.len(), read.notes.len()), (1, 1));
    }

    #[test]
    fn no_archive_is_refused() {
        for bytes in [&b""[..], b"PK", &[0; 100]] {
            assert!(read(bytes).is_err());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let _ = read(&bytes);
        }

        #[test]
        fn a_changed_archive_is_answered(at in 0_usize..400, with in any::<u8>()) {
            let mut bytes = archive(&[("a.py", b"a = 1\n"), ("b.py", b"b = 2\nb = 2\nb = 2\n")]);
            let at = at % bytes.len();
            bytes[at] = with;
            let _ = read(&bytes);
        }
    }
}
