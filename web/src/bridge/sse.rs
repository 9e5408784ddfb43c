//! Reads an event stream piece by piece, as HTML's section on server-sent events describes it.

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamEvent {
    /// The last id that the stream gave, for `Last-Event-ID`.
    pub id: Option<String>,
    pub data: String,
}

/// Puts events together from pieces of any size; lines end in LF or CRLF.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    rest: Vec<u8>,
    id: Option<String>,
    data: Option<String>,
}

impl Reader {
    /// Takes what arrived, and gives the events that it completes.
    pub fn take(&mut self, piece: &[u8]) -> Vec<StreamEvent> {
        self.rest.extend_from_slice(piece);
        let mut messages = Vec::new();
        let mut start = 0;
        while let Some(length) = self.rest[start..].iter().position(|&it| it == b'\n') {
            let line = &self.rest[start..start + length];
            let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
            start += length + 1;
            if line.is_empty() {
                let data = self.data.take();
                messages.extend(data.map(|data| StreamEvent { id: self.id.clone(), data }));
            } else {
                self.field(&line);
            }
        }
        self.rest.drain(..start);
        messages
    }

    fn field(&mut self, line: &str) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" => self.id = Some(value.to_owned()),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // Comments, and what this client does not use.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str =
        ": hello\n\nid: 0\ndata: {\"a\":1}\n\nevent: x\r\nid: 1\r\ndata: b\r\ndata:c\r\n\r\n";

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let expected = [
            StreamEvent { id: Some("0".to_owned()), data: "{\"a\":1}".to_owned() },
            StreamEvent { id: Some("1".to_owned()), data: "b\nc".to_owned() },
        ];
        for size in 1..STREAM.len() {
            let mut reader = Reader::default();
            let found: Vec<StreamEvent> =
                STREAM.as_bytes().chunks(size).flat_map(|it| reader.take(it)).collect();
            assert_eq!(found, expected, "pieces of {size}");
        }
    }

    #[test]
    fn an_event_that_has_not_ended_is_kept_back() {
        let mut reader = Reader::default();
        assert_eq!(reader.take(b"data: x\n"), []);
        assert_eq!(reader.take(b"\n").len(), 1);
    }
}
