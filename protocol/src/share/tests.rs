//! Links of every version open as they did, and changed ones are answered.

use std::fs;
use std::path::Path;

use super::{DICTIONARY_2, decode, encode, read};

/// Links that were made once, by this code or by zlib, each with the state that it holds in its second line.
fn kept() -> Vec<(String, String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/links");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    let parts = |path: &std::path::PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let (link, state) = text.trim_end().split_once('\n').unwrap();
        (path.file_name().unwrap().to_string_lossy().into_owned(), link.to_owned(), state.to_owned())
    };
    files.iter().map(parts).collect()
}

#[test]
fn links_of_every_version_open_as_they_did() {
    let kept = kept();
    for version in ["1-", "2-"] {
        assert!(
            kept.iter().filter(|it| it.0.starts_with(version)).count() >= 6,
            "links of version {version}"
        );
    }
    for (name, link, state) in kept {
        let opened = decode(&link).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(opened.state, read(state.as_bytes()).unwrap(), "{name}");
        // Keys that are not known here are told, and written back.
        assert_eq!(opened.notes.len(), usize::from(!opened.state.unknown.is_empty()), "{name}");
        assert_eq!(decode(&encode(&opened.state)).unwrap().state, opened.state, "{name}");
    }
}

#[test]
fn the_dictionary_of_a_version_is_never_changed() {
    let hash = DICTIONARY_2.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    assert_eq!(
        (DICTIONARY_2.len(), hash),
        (2737, 12_755_834_959_522_335_398),
        "other words need another version: see the table above"
    );
}

/// Numbers that look random and are the same each time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap_or(0) % most.max(1)
    }
}

/// How many where nobody says: `ISOBAR_LINKS=1000000 cargo test --release -p isobar-protocol changed_links` asks for more.
const CHANGED: usize = 20_000;

#[test]
fn changed_links_are_answered() {
    const CHARACTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=#&% \n\x00";
    let kept = kept();
    let count = std::env::var("ISOBAR_LINKS").ok().map_or(CHANGED, |it| it.parse().unwrap());
    let mut draw = Draw(0x9e37_79b9_7f4a_7c15);
    let mut opened = 0;
    for _ in 0..count {
        let mut link = kept[draw.below(kept.len())].1.clone().into_bytes();
        for _ in 0..=draw.below(3) {
            let (at, with) = (draw.below(link.len()), CHARACTERS[draw.below(CHARACTERS.len())]);
            match draw.below(6) {
                // Early changes break the packing, those of the version choose another dictionary.
                0 => link[at] = with,
                1 => link.insert(at, with),
                2 => drop(link.remove(at)),
                3 => link.truncate(at),
                4 => {
                    let other = kept[draw.below(kept.len())].1.as_bytes();
                    link.truncate(at);
                    link.extend_from_slice(&other[draw.below(other.len())..]);
                }
                _ => {
                    let to = at + draw.below(link.len() - at);
                    let again = link[at..to].to_vec();
                    link.splice(at..at, again);
                }
            }
            if link.is_empty() {
                break;
            }
        }
        if let Ok(found) = decode(&String::from_utf8_lossy(&link)) {
            opened += 1;
            // An opened link can be shared again, and then holds the same state.
            let again = decode(&encode(&found.state)).map(|it| it.state);
            assert!(again == Ok(found.state) || again == Err(super::decode::LinkError::TooLong));
        }
    }
    assert!(opened > count / 100, "{opened} of {count} opened: too few are nearly right");
}
