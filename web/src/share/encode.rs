//! A state as the fragment of a link.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use miniz_oxide::deflate::compress_to_vec;

use super::{State, VERSION};

/// Smallest size for the time it takes: a link is made on a click.
const LEVEL: u8 = 10;

/// The fragment without `#`: `s=1...`. Equal states give equal text.
#[must_use]
pub fn encode(state: &State) -> String {
    // Maps are sorted and keys are strings, so that this cannot fail and has one result.
    let json = serde_json::to_vec(state).unwrap_or_default();
    format!("s={VERSION}{}", URL_SAFE_NO_PAD.encode(compress_to_vec(&json, LEVEL)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_left_out() {
        assert_eq!(serde_json::to_string(&State::default()).unwrap(), "{}");
    }

    #[test]
    fn a_link_is_the_same_every_time() {
        let mut state = State::default();
        state.files.insert("main.py".to_owned(), "x = 1\n".to_owned());
        state.domain = Some([8, 8, 4]);
        assert_eq!(encode(&state), encode(&state.clone()));
        // A link of this version stays what it is: opening it is promised for good.
        assert_eq!(super::super::decode(&encode(&state)).unwrap().state, state);
    }
}
