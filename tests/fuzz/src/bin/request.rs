//! What comes over a wire: request documents, and the links that hold a workspace.

#![no_main]

// The page's own reader of links: its crate is built for browsers, and this file of it needs nothing of one.
#[allow(dead_code, unused_imports, reason = "the page writes links too")]
#[path = "../../../../web/src/share/mod.rs"]
mod share;

use isobar_protocol::names;
use isobar_protocol::request::Request;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(request) = serde_json::from_str::<Request>(text) {
        let written = serde_json::to_string(&request).expect("a request has string keys");
        let again: Request = serde_json::from_str(&written).expect("what is written is read");
        assert_eq!(serde_json::to_string(&again).ok(), Some(written));
        if let Err(refused) = names::check(&request) {
            assert!(!refused.to_string().chars().any(names::is_harmful), "what is said can be printed");
        }
    }
    if let Ok(opened) = share::decode(text) {
        assert!(opened.state.files.keys().all(|it| names::file(it).is_ok()), "a link's files have names");
    }
});
