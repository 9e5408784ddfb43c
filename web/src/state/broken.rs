//! The errors of a share link, in the reader's language.

use isobar_protocol::share::decode::{LinkError, Note};

use crate::bridge::locale::t;

/// Says why a link cannot be opened, as [`LinkError`] does in English.
#[must_use]
pub fn why(broken: LinkError) -> &'static str {
    match broken {
        LinkError::Empty => t!("state-link-empty"),
        LinkError::Newer => t!("state-link-newer"),
        LinkError::TooLong => t!("state-link-too-long"),
        LinkError::NotBase64 => t!("state-link-not-base64"),
        LinkError::NotDeflated => t!("state-link-not-deflated"),
        LinkError::InflatesTooFar => t!("state-link-inflates-too-far"),
        LinkError::NotJson => t!("state-link-not-json"),
        LinkError::NoFiles => t!("state-link-no-files"),
    }
}

/// Says which part of a link was left out, as [`Note`] does in English.
#[must_use]
pub fn left_out(note: Note) -> &'static str {
    match note {
        Note::Newer => t!("state-link-note-newer"),
        Note::Files => t!("state-link-note-files"),
        Note::Domain => t!("state-link-note-domain"),
        Note::Precision => t!("state-link-note-precision"),
        Note::Passes => t!("state-link-note-passes"),
        Note::Unknown => t!("state-link-note-unknown"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_refused_in_the_words_of_the_command_line() {
        let all = [
            LinkError::Empty,
            LinkError::Newer,
            LinkError::TooLong,
            LinkError::NotBase64,
            LinkError::NotDeflated,
            LinkError::InflatesTooFar,
            LinkError::NotJson,
            LinkError::NoFiles,
        ];
        for broken in all {
            assert_eq!(why(broken), broken.to_string());
        }
        let notes = [Note::Newer, Note::Files, Note::Domain, Note::Precision, Note::Passes, Note::Unknown];
        for note in notes {
            assert_eq!(left_out(note), note.to_string());
        }
    }
}
