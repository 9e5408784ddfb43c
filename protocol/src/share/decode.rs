//! The fragment of a link as a state: any text is answered, none is trusted.

use crate::limits::{FILES, LINK_CHARS, LINK_INFLATED_BYTES, NAME_CHARS};
use crate::names;
use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};

use super::{State, VERSION, deflate, dictionary};

/// The content of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenedLink {
    pub state: State,
    /// Parts that were left out or are not understood.
    pub notes: Vec<Note>,
}

/// A part of a link that was left out or is not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// It is of a later version.
    Newer,
    /// Names of files.
    Files,
    Domain,
    Precision,
    /// Names of passes.
    Passes,
    /// Parts that are kept.
    Unknown,
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Note::Newer => "the link was made by a newer page than this; what is known of it was opened",
            Note::Files => "files whose names are no file names were left out",
            Note::Domain => "the domain of the link is out of range; the text's own is used",
            Note::Precision => "the precision of the link is neither 32 nor 64; 64 is used",
            Note::Passes => "names that no pass has were to be left out; all passes run but for the others",
            Note::Unknown => "the link has parts that this page does not know; they are kept",
        })
    }
}

/// Why a link cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkError {
    Empty,
    /// Its version is not known here, and it cannot be read as those that are.
    Newer,
    TooLong,
    NotBase64,
    NotDeflated,
    InflatesTooFar,
    NotJson,
    NoFiles,
}

impl std::fmt::Display for LinkError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            LinkError::Empty => "the link has nothing in it",
            LinkError::Newer => "the link was made by a newer page than this one; reload the page, or open the link where it was made",
            LinkError::TooLong => "the link is longer than 64 KiB, which is more than any page writes",
            LinkError::NotBase64 => {
                "the link has characters in it that no link has; a program may have changed it"
            }
            LinkError::NotDeflated => "the link is cut short or was changed on its way",
            LinkError::InflatesTooFar => "the link would unpack to more than 1 MiB, and was not unpacked",
            LinkError::NotJson => "the link unpacks to something that is not a workspace",
            LinkError::NoFiles => "the link has no source text in it",
        })
    }
}

/// Reads a fragment, with or without `#` and `s=`.
///
/// # Errors
///
/// When nothing of it can be used.
pub fn decode(fragment: &str) -> Result<OpenedLink, LinkError> {
    let link = fragment.trim_start_matches('#');
    let link = link.strip_prefix("s=").unwrap_or(link);
    if link.len() > LINK_CHARS {
        return Err(LinkError::TooLong);
    }
    let mut chars = link.chars();
    let version = chars.next().ok_or(LinkError::Empty)?;
    let packed = engine().decode(chars.as_str()).map_err(|_| LinkError::NotBase64)?;
    let is_newer = !matches!(version, '1' | VERSION);
    let json = deflate::unpack(&packed, dictionary(version), LINK_INFLATED_BYTES);
    let state = json.and_then(|it| read(&it));
    let mut opened = match state {
        Ok(state) => OpenedLink { state, notes: Vec::new() },
        Err(_) if is_newer => return Err(LinkError::Newer),
        Err(why) => return Err(why),
    };
    if is_newer {
        opened.notes.push(Note::Newer);
    }
    check(&mut opened)?;
    Ok(opened)
}

/// Takes what pads the last character as it comes: a link that works is better than one that is right.
fn engine() -> GeneralPurpose {
    GeneralPurpose::new(&URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true))
}

/// Reads a state as far as its parts are what they should be.
///
/// # Errors
///
/// When it is no JSON object.
pub fn read(json: &[u8]) -> Result<State, LinkError> {
    let document: serde_json::Value = serde_json::from_slice(json).map_err(|_| LinkError::NotJson)?;
    if let Ok(state) = serde_json::from_value(document.clone()) {
        return Ok(state);
    }
    // One part may be of another kind than expected: what remains is opened without it.
    let serde_json::Value::Object(parts) = document else { return Err(LinkError::NotJson) };
    let mut kept = serde_json::Map::new();
    for (key, value) in parts {
        let alone = serde_json::Value::Object([(key.clone(), value.clone())].into_iter().collect());
        if serde_json::from_value::<State>(alone).is_ok() {
            kept.insert(key, value);
        }
    }
    serde_json::from_value(serde_json::Value::Object(kept)).map_err(|_| LinkError::NotJson)
}

/// A state that this browser kept, with the files whose names are still names; `None` where there are none.
#[must_use]
pub fn kept(json: &[u8]) -> Option<State> {
    let mut state = read(json).ok()?;
    state.files.retain(|name, _| names::file(name).is_ok());
    (!state.files.is_empty()).then_some(state)
}

fn check(opened: &mut OpenedLink) -> Result<(), LinkError> {
    let OpenedLink { state, notes } = opened;
    let n_files = state.files.len();
    state.files.retain(|name, _| names::file(name).is_ok());
    if state.files.len() < n_files {
        notes.push(Note::Files);
    }
    while state.files.len() > FILES {
        state.files.pop_last();
    }
    if state.files.is_empty() {
        return Err(LinkError::NoFiles);
    }
    if state.domain.is_some_and(|it| it.iter().any(|n| !(0..=1 << 20).contains(n))) {
        state.domain = None;
        notes.push(Note::Domain);
    }
    if state.precision.is_some_and(|it| it != 32 && it != 64) {
        state.precision = None;
        notes.push(Note::Precision);
    }
    let n_skipped = state.skip.len();
    state.skip.retain(|it| is_pass_name(it));
    if state.skip.len() < n_skipped {
        notes.push(Note::Passes);
    }
    if !state.unknown.is_empty() {
        notes.push(Note::Unknown);
    }
    Ok(())
}

/// Whether a pass could have this name: `oir/fold-constants`. One that there is not changes nothing.
fn is_pass_name(name: &str) -> bool {
    let is_word = |it: &str| !it.is_empty() && it.chars().all(|it| it.is_ascii_lowercase() || it == '-');
    name.len() <= NAME_CHARS && name.split_once('/').is_some_and(|it| is_word(it.0) && is_word(it.1))
}

#[cfg(test)]
mod tests {
    use super::super::{View, encode};
    use super::*;
    use crate::request::{Arithmetic, Constants, Tile};
    use crate::worker::{Across, Which};
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use miniz_oxide::deflate::compress_to_vec;
    use proptest::prelude::*;

    fn link_of(json: &str) -> String {
        format!("#s=1{}", URL_SAFE_NO_PAD.encode(compress_to_vec(json.as_bytes(), 6)))
    }

    fn state() -> State {
        State {
            files: [("main.py".to_owned(), "q = 1.0\n".to_owned())].into(),
            precision: Some(32),
            constants: Some(Constants::Geos),
            tile: Some(Tile::West),
            minmax: Some(Arithmetic::C),
            modulo: Some(Arithmetic::C),
            domain: Some([16, 16, 8]),
            skip: ["schedule/fuse-in-tiles".to_owned()].into(),
            ui: View {
                stages: vec!["oir".to_owned(), "c".to_owned()],
                field: Some("q".to_owned()),
                which: Some(Which::Difference),
                across: Some(Across::J),
                at: Some(3),
                picture: Some("profile".to_owned()),
                range: Some("fixed".to_owned()),
                range_ends: Some([-0.5, 1.5]),
                map: Some("magma".to_owned()),
                cell: Some([1, 2, 3]),
                unknown: [("zoom".to_owned(), 2.into())].into(),
            },
            ..State::default()
        }
    }

    #[test]
    fn a_state_survives_the_trip() {
        let opened = decode(&format!("#{}", encode(&state()))).unwrap();
        assert_eq!(opened, OpenedLink { state: state(), notes: vec![] });
    }

    #[test]
    fn a_link_that_was_cut_is_broken() {
        let link = encode(&state());
        for cut in 4..12 {
            // Where exactly decides which of the two layers notices.
            let opened = decode(&link[..link.len() - cut]);
            assert!(matches!(opened, Err(LinkError::NotDeflated | LinkError::NotBase64)), "{opened:?}");
        }
        assert_eq!(decode("#s=1!!!"), Err(LinkError::NotBase64));
        assert_eq!(decode("#s="), Err(LinkError::Empty));
        assert_eq!(decode(&link_of("[1]")), Err(LinkError::NotJson));
        assert_eq!(decode(&link_of("{}")), Err(LinkError::NoFiles));
    }

    #[test]
    fn what_inflates_too_far_is_stopped_on_the_way() {
        let bomb = " ".repeat(LINK_INFLATED_BYTES + 1);
        assert_eq!(decode(&link_of(&bomb)), Err(LinkError::InflatesTooFar));
        assert_eq!(decode(&"a".repeat(LINK_CHARS + 1)), Err(LinkError::TooLong));
    }

    #[test]
    fn what_is_wrong_in_part_is_opened_in_part() {
        let opened = decode(&link_of(
            r#"{"files": {"main.py": "x", "../y": "z"}, "domain": [1, 2, -3], "precision": 16, "stencil": 7, "tile": "up", "new": 1, "skip": ["oir/fold-constants", "oir/<b>"]}"#,
        ))
        .unwrap();
        assert_eq!(opened.state.files.keys().collect::<Vec<_>>(), ["main.py"]);
        assert_eq!((opened.state.domain, opened.state.precision, opened.state.stencil), (None, None, None));
        assert_eq!(opened.state.tile, None);
        assert_eq!(opened.state.skip.iter().collect::<Vec<_>>(), ["oir/fold-constants"]);
        assert_eq!(opened.notes.len(), 5);
        let document = "{\"files\": {\"a\\r#include <x>\\r.py\": \"x\", \"main.py\": \"y\"}}";
        assert_eq!(kept(document.as_bytes()).unwrap().files.keys().collect::<Vec<_>>(), ["main.py"]);
        assert_eq!(decode(&link_of(document)).unwrap().state.files.keys().collect::<Vec<_>>(), ["main.py"]);
        assert_eq!(opened.state.unknown.len(), 1);
    }

    #[test]
    fn a_link_of_a_later_version_is_opened_with_a_note() {
        let link = encode(&state()).replacen("s=2", "s=3", 1);
        assert_eq!(decode(&link).unwrap().notes.len(), 1);
        assert_eq!(decode("s=_AAAA"), Err(LinkError::Newer));
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "\\PC{0,200}") {
            let _ = decode(&text);
        }

        #[test]
        fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = decode(&format!("s=1{}", URL_SAFE_NO_PAD.encode(&bytes)));
            let _ = decode(&format!("s=1{}", URL_SAFE_NO_PAD.encode(compress_to_vec(&bytes, 1))));
            let _ = decode(&format!("s=2{}", URL_SAFE_NO_PAD.encode(&bytes)));
            let _ = decode(&format!("s=2{}", URL_SAFE_NO_PAD.encode(deflate::pack(&bytes, dictionary('2')))));
        }

        #[test]
        fn a_changed_link_is_answered(at in 0_usize..60, with in "[A-Za-z0-9_-]") {
            let mut link = encode(&state());
            let at = at % link.len();
            link.replace_range(at..=at, &with);
            let _ = decode(&link);
        }

        #[test]
        fn any_source_survives_the_trip(text in "\\PC{0,300}", name in "[a-z]{1,9}\\.py") {
            let state = State { files: [(name, text)].into(), ..State::default() };
            prop_assert_eq!(decode(&encode(&state)).unwrap().state, state);
        }
    }
}
