//! Request documents, as they come over a wire.

use isobar_protocol::names;
use isobar_protocol::request::Request;

pub fn request(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(request) = serde_json::from_str::<Request>(text) {
        let written = serde_json::to_string(&request).expect("a request has string keys");
        let again: Request = serde_json::from_str(&written).expect("what is written is read");
        assert_eq!(serde_json::to_string(&again).ok(), Some(written));
        if let Err(refused) = names::check(&request) {
            assert!(!refused.to_string().chars().any(names::is_harmful), "what is said can be printed");
        }
    }
}
