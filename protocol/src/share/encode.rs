//! A state as the fragment of a link.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{State, VERSION, deflate, dictionary};

/// The fragment without `#`: `s=2...`. Equal states give equal text.
#[must_use]
pub fn encode(state: &State) -> String {
    // Maps are sorted and keys are strings, so that this cannot fail and has one result.
    let json = serde_json::to_vec(state).unwrap_or_default();
    format!("s={VERSION}{}", URL_SAFE_NO_PAD.encode(deflate::pack(&json, dictionary(VERSION))))
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

    #[test]
    fn a_small_stencil_makes_a_small_link() {
        let text = "from ndsl.dsl.gt4py import PARALLEL, computation, interval\nfrom ndsl.dsl.typing import FloatField\n\n\n\
                    def copy(a: FloatField, b: FloatField):\n    with computation(PARALLEL), interval(...):\n        b = a\n";
        let state = State { files: [("main.py".to_owned(), text.to_owned())].into(), ..State::default() };
        let (json, link) = (serde_json::to_vec(&state).unwrap(), encode(&state));
        let plain = URL_SAFE_NO_PAD.encode(deflate::pack(&json, b""));
        assert!(link.len() <= 100 && plain.len() >= 190, "{} {}", link.len(), plain.len());
    }

    #[test]
    fn no_key_of_a_state_names_a_token_or_a_runner() {
        let all = State {
            files: [("main.py".to_owned(), "x".to_owned())].into(),
            main: Some("main.py".to_owned()),
            stencil: Some("s".to_owned()),
            precision: Some(32),
            constants: Some(crate::request::Constants::Geos),
            tile: Some(crate::request::Tile::West),
            minmax: Some(crate::request::Arithmetic::C),
            modulo: Some(crate::request::Arithmetic::C),
            domain: Some([1, 2, 3]),
            scalars: [("a".to_owned(), 1.into())].into(),
            externals: [("a".to_owned(), 1.into())].into(),
            skip: ["oir/a".to_owned()].into(),
            gallery: Some("a".to_owned()),
            ui: super::super::View { at: Some(1), ..super::super::View::default() },
            ..State::default()
        };
        let serde_json::Value::Object(keys) = serde_json::to_value(&all).unwrap() else { unreachable!() };
        let keys: Vec<&str> = keys.keys().map(String::as_str).collect();
        // A new key is added here on purpose only. Other people read a link, so no key may hold a token or
        // the address of a runner.
        let known = [
            "files",
            "main",
            "stencil",
            "precision",
            "constants",
            "tile",
            "minmax",
            "mod",
            "domain",
            "scalars",
            "externals",
            "skip",
            "gallery",
            "ui",
        ];
        assert_eq!(keys, known);
    }
}
