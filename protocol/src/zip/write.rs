//! Writes an archive in memory.

use miniz_oxide::deflate::compress_to_vec;

use super::{DEFLATED, END, ENTRY, LOCAL, STORED, crc32};

/// Smallest size for the time that it takes: a person waits for an archive once.
const LEVEL: u8 = 10;
/// Names are UTF-8.
const FLAGS: u16 = 0x0800;
/// Version 2.0 of the format.
const VERSION: u16 = 20;
/// Made as on Unix, by a writer of that version.
const MADE_BY: u16 = 0x0314;
/// Midnight of the first day of the format: the same files make the same bytes.
const TIME_AND_DATE: [u16; 2] = [0, 0x0021];
/// A file that its owner may write and others may read.
const MODE: u32 = 0o100_644 << 16;

/// How a file is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Stored,
    Deflated,
}

/// The archive would be larger than the format holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// An archive that is being written.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    out: Vec<u8>,
    directory: Vec<u8>,
    n_entries: usize,
}

impl Writer {
    /// Adds a file.
    ///
    /// # Errors
    ///
    /// Where the archive becomes too large.
    pub fn add(&mut self, name: &str, content: &[u8], method: Method) -> Result<(), TooLarge> {
        let (method, deflated) = match method {
            Method::Stored => (STORED, None),
            Method::Deflated => (DEFLATED, Some(compress_to_vec(content, LEVEL))),
        };
        let packed = deflated.as_deref().unwrap_or(content);
        let name_length = u16::try_from(name.len()).map_err(|_| TooLarge)?;
        // The archive has the description of a file twice: before its bytes and in the directory.
        let mut description = Vec::new();
        for number in [VERSION, FLAGS, method].into_iter().chain(TIME_AND_DATE) {
            description.extend(number.to_le_bytes());
        }
        for number in [crc32(content), length(packed)?, length(content)?] {
            description.extend(number.to_le_bytes());
        }
        // No extra fields.
        for number in [name_length, 0] {
            description.extend(number.to_le_bytes());
        }
        let at = length(&self.out)?;
        self.out.extend(LOCAL.to_le_bytes());
        self.out.extend(&description);
        self.out.extend(name.as_bytes());
        self.out.extend(packed);

        self.directory.extend(ENTRY.to_le_bytes());
        self.directory.extend(MADE_BY.to_le_bytes());
        self.directory.extend(&description);
        // No comment, the first disk, no attributes of the content.
        self.directory.extend([0; 6]);
        self.directory.extend(MODE.to_le_bytes());
        self.directory.extend(at.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.n_entries += 1;
        Ok(())
    }

    /// The whole archive.
    ///
    /// # Errors
    ///
    /// Where it is too large.
    pub fn finish(self) -> Result<Vec<u8>, TooLarge> {
        let Self { mut out, directory, n_entries } = self;
        let n_entries = u16::try_from(n_entries).map_err(|_| TooLarge)?;
        let (at, size) = (length(&out)?, length(&directory)?);
        out.extend(directory);
        out.extend(END.to_le_bytes());
        for number in [0, 0, n_entries, n_entries] {
            out.extend(number.to_le_bytes());
        }
        out.extend(size.to_le_bytes());
        out.extend(at.to_le_bytes());
        // No comment.
        out.extend([0; 2]);
        Ok(out)
    }
}

fn length(bytes: &[u8]) -> Result<u32, TooLarge> {
    u32::try_from(bytes.len()).map_err(|_| TooLarge)
}
