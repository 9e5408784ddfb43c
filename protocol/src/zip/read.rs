//! Reads an archive: stored and deflated files, within limits that are checked while they inflate.
//!
//! Reading is total: whatever the bytes, the answer is files or a fault. Nothing is read that the directory does not list.

use miniz_oxide::inflate::decompress_to_vec_with_limit;

use super::{DEFLATED, END, ENTRY, LOCAL, STORED, crc32};

/// The end record without its comment, which is at most 65,535 bytes long.
const END_BYTES: usize = 22;
/// Flag: the file is encrypted.
const ENCRYPTED: u16 = 1;

/// Why an archive, or a file of it, cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There is no end record: it is no archive, or only the beginning of one.
    NoArchive,
    /// The end record is damaged.
    End,
    /// It is of the 64-bit kind.
    Is64Bit,
    /// The directory is damaged.
    Directory,
    /// The file is damaged.
    Broken,
    Encrypted,
    /// The file is larger than it may be.
    TooLarge,
    /// The file is packed by another method.
    Method,
}

/// The entries of an archive, in the order of its directory.
#[derive(Clone, Debug)]
pub struct Directory<'b> {
    bytes: &'b [u8],
    at: usize,
    n_left: usize,
}

/// Finds the directory of an archive.
///
/// # Errors
///
/// Why there is none.
pub fn directory(bytes: &[u8]) -> Result<Directory<'_>, Fault> {
    let end = end_of(bytes).ok_or(Fault::NoArchive)?;
    let n_entries = u16_at(bytes, end + 10).ok_or(Fault::End)?;
    let start = u32_at(bytes, end + 16).ok_or(Fault::End)?;
    if n_entries == u16::MAX || start == u32::MAX {
        return Err(Fault::Is64Bit);
    }
    let at = usize::try_from(start).map_err(|_| Fault::End)?;
    Ok(Directory { bytes, at, n_left: usize::from(n_entries) })
}

impl Iterator for Directory<'_> {
    type Item = Result<Entry, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        self.n_left = self.n_left.checked_sub(1)?;
        let Some(entry) = Entry::at(self.bytes, self.at) else {
            self.n_left = 0;
            return Some(Err(Fault::Directory));
        };
        self.at += entry.listed;
        Some(Ok(entry))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.n_left))
    }
}

/// A file of an archive.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Archives in other encodings have marks in the place of what is not UTF-8.
    pub name: String,
    flags: u16,
    method: u16,
    crc: u32,
    packed: usize,
    size: usize,
    local: usize,
    /// Bytes of the entry in the directory.
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

    /// The bytes of the file in its archive, where they are at most `most`.
    ///
    /// # Errors
    ///
    /// Why they cannot be read.
    pub fn content(&self, archive: &[u8], most: usize) -> Result<Vec<u8>, Fault> {
        if self.flags & ENCRYPTED != 0 {
            return Err(Fault::Encrypted);
        }
        if self.size > most {
            return Err(Fault::TooLarge);
        }
        if u32_at(archive, self.local) != Some(LOCAL) {
            return Err(Fault::Broken);
        }
        let length = |offset| u16_at(archive, self.local + offset).map(usize::from).ok_or(Fault::Broken);
        let start = self.local + 30 + length(26)? + length(28)?;
        let end = start.checked_add(self.packed).ok_or(Fault::Broken)?;
        let packed = archive.get(start..end).ok_or(Fault::Broken)?;
        let content = match self.method {
            STORED if packed.len() == self.size => packed.to_vec(),
            STORED => return Err(Fault::Broken),
            DEFLATED => decompress_to_vec_with_limit(packed, self.size).map_err(|_| Fault::Broken)?,
            _ => return Err(Fault::Method),
        };
        let is_whole = content.len() == self.size && crc32(&content) == self.crc;
        if is_whole { Ok(content) } else { Err(Fault::Broken) }
    }
}

/// The position of the end record: the last one that ends with the archive.
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
