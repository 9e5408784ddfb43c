//! Zip archives: the one writer and the one reader of this project.
//!
//! The format is that of PKWARE's APPNOTE 6.3, sections 4.3.7, 4.3.12 and 4.3.16. Each file has a header and its bytes.
//! The directory of all files follows, and the end record tells where the directory is. Archives beyond 4 GB are neither
//! written nor read.

mod read;
mod write;

pub use read::{Directory, Entry, Fault, directory};
pub use write::{Method, TooLarge, Writer};

/// The signatures of a file, of its entry in the directory, and of the end record.
const LOCAL: u32 = 0x0403_4b50;
const ENTRY: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;

/// How a file is stored: as it is, and deflated.
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// The check sum of a file: CRC-32 (ISO 3309), reflected.
fn crc32(bytes: &[u8]) -> u32 {
    let table: [u32; 256] = std::array::from_fn(|at| {
        let start = u32::try_from(at).unwrap_or(0);
        (0..8).fold(start, |it, _| (it >> 1) ^ (0xedb8_8320 & (it & 1).wrapping_neg()))
    });
    let step = |sum: u32, &byte: &u8| table[usize::from(sum.to_le_bytes()[0] ^ byte)] ^ (sum >> 8);
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An archive of these files; every second one is deflated.
    fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = Writer::default();
        for (nth, (name, content)) in files.iter().enumerate() {
            let method = if nth % 2 == 1 { Method::Deflated } else { Method::Stored };
            writer.add(name, content, method).unwrap();
        }
        writer.finish().unwrap()
    }

    type Content = Result<Vec<u8>, Fault>;

    fn read(bytes: &[u8]) -> Result<Vec<(String, Content)>, Fault> {
        let found = directory(bytes)?.map(|entry| {
            let entry = entry?;
            let content = entry.content(bytes, 1 << 20);
            Ok((entry.name, content))
        });
        found.collect()
    }

    #[test]
    fn the_check_sum_is_that_of_the_standard() {
        // The check value of the catalogue of CRC algorithms.
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn files_come_back_as_they_were() {
        let long = b"x = 1\n".repeat(500);
        let files = [("m/a.py", &b"a = 1\n"[..]), ("m/ü.py", &long), ("m/c.txt", b"no"), ("m/d.py", b"")];
        let bytes = archive(&files);
        assert!(bytes.len() < 1200, "the long one is deflated");
        let expected = files.map(|(name, content)| (name.to_owned(), Ok(content.to_vec())));
        assert_eq!(read(&bytes).unwrap(), expected);
        assert_eq!(bytes, archive(&files), "the same files make the same bytes");
    }

    #[test]
    fn a_file_that_inflates_further_than_it_says_is_broken() {
        let mut bytes = archive(&[("a.py", b""), ("b.py", &b"y".repeat(9000))]);
        // The size in the directory, of the second entry.
        let at = bytes.windows(4).rposition(|it| it == ENTRY.to_le_bytes()).unwrap() + 24;
        bytes[at..at + 4].copy_from_slice(&10_u32.to_le_bytes());
        let found = read(&bytes).unwrap();
        assert_eq!(found[0].1, Ok(Vec::new()));
        assert_eq!(found[1].1, Err(Fault::Broken));
    }

    #[test]
    fn a_file_that_is_too_large_is_not_inflated() {
        let bytes = archive(&[("a.py", &[0; 4096])]);
        let entry = directory(&bytes).unwrap().next().unwrap().unwrap();
        assert_eq!(entry.content(&bytes, 4095), Err(Fault::TooLarge));
        assert!(entry.content(&bytes, 4096).is_ok());
    }

    #[test]
    fn no_archive_is_refused() {
        for bytes in [&b""[..], b"PK", &[0; 100]] {
            assert_eq!(directory(bytes).err(), Some(Fault::NoArchive));
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
