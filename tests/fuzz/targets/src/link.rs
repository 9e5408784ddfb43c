//! Links that hold a workspace: as they come, and what they unpack to.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use isobar_protocol::names;
use isobar_protocol::share::decode::LinkError;
use isobar_protocol::share::{decode, deflate, encode};

pub fn link(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let packed = URL_SAFE_NO_PAD.encode(deflate::pack(text.as_bytes(), b""));
    for link in [text, &format!("s=1{packed}")] {
        let Ok(opened) = decode(link) else { continue };
        assert!(opened.state.files.keys().all(|it| names::file(it).is_ok()), "a link's files have names");
        let again = decode(&encode(&opened.state)).map(|it| it.state);
        assert!(
            again == Ok(opened.state) || again == Err(LinkError::TooLong),
            "what is opened can be shared"
        );
    }
}
