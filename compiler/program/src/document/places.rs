//! The bytes of each entry of a JSON text, so that a diagnostic can point at them.

use std::ops::Range;

/// A value of a JSON text with its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonPlace {
    pub bytes: Range<usize>,
    /// The entries of an object, by name and with the bytes of the name; those of an array have empty names.
    pub entries: Vec<(String, Range<usize>, JsonPlace)>,
}

/// A step of a path: the name of an entry, or its index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep<'a> {
    Name(&'a str),
    Index(usize),
}

impl JsonPlace {
    /// The places of a text that a JSON reader has accepted.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut scanner = Scanner { text, at: 0 };
        scanner.value()
    }

    /// The value at the end of a path, or the innermost one that is there.
    #[must_use]
    pub fn find(&self, path: &[PathStep<'_>]) -> &Self {
        let mut found = self;
        for step in path {
            let next = match step {
                PathStep::Name(name) => found.entries.iter().find(|it| it.0 == *name).map(|it| &it.2),
                PathStep::Index(at) => found.entries.get(*at).map(|it| &it.2),
            };
            let Some(next) = next else { break };
            found = next;
        }
        found
    }

    /// Calls `each` for every name that an object has twice, with the bytes of the second one.
    pub fn each_twice(&self, each: &mut dyn FnMut(&str, &Range<usize>)) {
        let mut names: Vec<(&str, &Range<usize>)> =
            self.entries.iter().filter(|it| !it.1.is_empty()).map(|it| (it.0.as_str(), &it.1)).collect();
        names.sort_by_key(|it| (it.0, it.1.start));
        for pair in names.windows(2) {
            if pair[0].0 == pair[1].0 {
                each(pair[1].0, pair[1].1);
            }
        }
        self.entries.iter().for_each(|it| it.2.each_twice(each));
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(b'}')
    }

    fn skip_space(&mut self) {
        while self.byte().is_ascii_whitespace() {
            self.at += 1;
        }
    }

    fn value(&mut self) -> JsonPlace {
        self.skip_space();
        let start = self.at;
        let mut entries = Vec::new();
        match self.byte() {
            b'{' => self.list(b'}', &mut |scanner| {
                let start = scanner.at;
                scanner.string();
                let name = scanner.text.get(start..scanner.at).unwrap_or_default();
                let name = serde_json::from_str(name).unwrap_or_default();
                let bytes = start..scanner.at;
                scanner.skip_space();
                scanner.at += 1; // the colon
                entries.push((name, bytes, scanner.value()));
            }),
            b'[' => self.list(b']', &mut |scanner| entries.push((String::new(), 0..0, scanner.value()))),
            b'"' => self.string(),
            _ => {
                while !matches!(self.byte(), b',' | b'}' | b']') && !self.byte().is_ascii_whitespace() {
                    self.at += 1;
                }
            }
        }
        JsonPlace { bytes: start..self.at, entries }
    }

    fn list(&mut self, end: u8, entry: &mut dyn FnMut(&mut Self)) {
        self.at += 1;
        loop {
            self.skip_space();
            if self.byte() == end || self.at >= self.text.len() {
                self.at += 1;
                return;
            }
            if self.byte() == b',' {
                self.at += 1;
                self.skip_space();
            }
            let before = self.at;
            entry(self);
            self.at = self.at.max(before + 1);
        }
    }

    fn string(&mut self) {
        self.at += 1;
        while self.at < self.text.len() && self.byte() != b'"' {
            self.at += if self.byte() == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_found_by_its_path() {
        let text = r#" {"a": [1, {"b\"c": -2.5e1}, []], "d": {}, "a": null} "#;
        let places = JsonPlace::of(text);
        let at = |path: &[PathStep<'_>]| text.get(places.find(path).bytes.clone()).unwrap();
        assert_eq!(at(&[PathStep::Name("a"), PathStep::Index(1), PathStep::Name("b\"c")]), "-2.5e1");
        assert_eq!(at(&[PathStep::Name("a"), PathStep::Index(2)]), "[]");
        assert_eq!(at(&[PathStep::Name("d"), PathStep::Name("no")]), "{}");
        let mut twice = Vec::new();
        places.each_twice(&mut |name, bytes| twice.push((name.to_owned(), bytes.start)));
        assert_eq!(twice, [("a".to_owned(), text.rfind("\"a\"").unwrap())]);
    }
}
