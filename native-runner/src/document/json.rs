//! Reads JSON documents, and says where one is wrong.

use serde::de::DeserializeOwned;

/// A mistake in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Line and column from 1; 0 where the document ends too early in an empty line.
    pub line: usize,
    pub column: usize,
    /// Names the entry, where it is one: `domain: invalid type ...`.
    pub message: String,
}

/// The value of a document.
///
/// # Errors
///
/// The first fault.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Fault> {
    let mut from = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut from).map_err(|error| {
        let path = error.path().to_string();
        let mut fault = fault(error.inner());
        // A key that is not known is named by the message itself.
        if path != "." && !error.inner().is_syntax() && !fault.message.starts_with("unknown field") {
            fault.message = format!("`{path}`: {}", fault.message);
        }
        fault
    })?;
    from.end().map_err(|error| fault(&error))?;
    Ok(value)
}

/// How many values a document has, keys too, without reading it; of what is no JSON, about as many as a reader meets.
#[must_use]
pub fn n_values(bytes: &[u8]) -> u64 {
    let (mut n, mut is_text, mut is_escaped) = (1, false, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b',' | b':' | b'[' | b'{' if !is_text => n += 1,
            _ => {}
        }
    }
    n
}

fn fault(error: &serde_json::Error) -> Fault {
    // Its message ends with the place, which has fields of its own.
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default().to_owned();
    Fault { line: error.line(), column: error.column(), message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isobar_protocol::request::Request;

    #[test]
    fn a_fault_has_its_place_and_its_entry() {
        let fault = |text: &str| read::<Request>(text.as_bytes()).expect_err(text);
        let broken = fault("{\"files\": {},\n \"main\": }");
        assert_eq!((broken.line, broken.column, broken.message.as_str()), (2, 10, "expected value"));
        assert!(fault("{\"domain\": \"x\"}").message.starts_with("`domain`: invalid type: string \"x\""));
        assert!(fault("{\"origin\": {\"a\": 1}}").message.starts_with("`origin.a`: "));
        assert!(fault("{\"filez\": {}}").message.starts_with("unknown field `filez`"));
        assert!(fault("{} {}").message.starts_with("trailing"));
        assert_eq!(fault("").message, "EOF while parsing a value");
    }

    #[test]
    fn values_are_counted_and_what_stands_in_texts_is_not() {
        for (text, n) in
            [("1", 1), ("[1, 2]", 3), (r#"{"a": "[,:{\"[,", "b": [[]]}"#, 7), (r#"["\\", 1]"#, 3)]
        {
            assert_eq!(n_values(text.as_bytes()), n, "{text}");
        }
    }
}
