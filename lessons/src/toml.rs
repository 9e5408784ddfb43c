//! Reads as much of TOML as course files need: tables, lists of tables, and values on one line.
//!
//! A value is a string, a number, a boolean, a list or an inline table; a string of several lines stands between
//! `"""`. Dates, dotted keys, and literal strings of several lines are not read: an error names the line.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The reason why a text cannot be read, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TomlError {
    /// From 1; 0 where it is about the whole text.
    pub line: usize,
    pub message: String,
}

impl std::fmt::Display for TomlError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line}: {}", self.message),
        }
    }
}

/// The text as a value of type `T`.
///
/// # Errors
///
/// Where the text is not of this form, or has another shape than `T`.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, TomlError> {
    let table = parse(text)?;
    serde_json::from_value(Value::Object(table))
        .map_err(|error| TomlError { line: 0, message: error.to_string() })
}

/// The text as a table.
///
/// # Errors
///
/// Where the text is not of this form.
pub fn parse(text: &str) -> Result<Map<String, Value>, TomlError> {
    let mut root = Map::new();
    // The table that keys go to: its name, and whether it is the last of a list.
    let mut open: Option<(String, bool)> = None;
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let wrong = |message: &str| TomlError { line: at + 1, message: message.to_owned() };
        let said = line.trim();
        if said.is_empty() || said.starts_with('#') {
            continue;
        }
        if let Some(name) = said.strip_prefix("[[").and_then(|it| it.strip_suffix("]]")) {
            let list = root.entry(name.trim()).or_insert_with(|| Value::Array(Vec::new()));
            let list = list.as_array_mut().ok_or_else(|| wrong("this name is taken by something else"))?;
            list.push(Value::Object(Map::new()));
            open = Some((name.trim().to_owned(), true));
            continue;
        }
        if let Some(name) = said.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            if root.insert(name.trim().to_owned(), Value::Object(Map::new())).is_some() {
                return Err(wrong("this table is there twice"));
            }
            open = Some((name.trim().to_owned(), false));
            continue;
        }
        let (key, rest) = said.split_once('=').ok_or_else(|| wrong("`key = value` is expected"))?;
        let key = key.trim().trim_matches('"').to_owned();
        let mut rest = rest.trim().to_owned();
        // A list goes on until its brackets are closed, a long string until its quotation marks are.
        while !is_closed(&rest) {
            let (_, more) = lines.next().ok_or_else(|| wrong("what begins here has no end"))?;
            rest.push('\n');
            rest.push_str(more);
        }
        let mut reader = Reader { rest: &rest };
        let value = reader.value().map_err(|message| wrong(&message))?;
        reader.space();
        if !reader.rest.is_empty() && !reader.rest.starts_with('#') {
            return Err(wrong("there is more behind the value"));
        }
        let table = match &open {
            None => Some(&mut root),
            Some((name, true)) => root
                .get_mut(name)
                .and_then(Value::as_array_mut)
                .and_then(|it| it.last_mut())
                .and_then(Value::as_object_mut),
            Some((name, false)) => root.get_mut(name).and_then(Value::as_object_mut),
        };
        let table = table.ok_or_else(|| wrong("the table of this key is gone"))?;
        if table.insert(key, value).is_some() {
            return Err(wrong("this key is there twice"));
        }
    }
    Ok(root)
}

/// Whether brackets and quotation marks of a value are closed.
fn is_closed(text: &str) -> bool {
    if let Some(rest) = text.strip_prefix("\"\"\"") {
        return rest.contains("\"\"\"");
    }
    let (mut depth, mut is_text, mut is_escaped) = (0_i32, false, false);
    for sign in text.chars() {
        match sign {
            _ if is_escaped => is_escaped = false,
            '\\' if is_text => is_escaped = true,
            '"' => is_text = !is_text,
            '[' | '{' if !is_text => depth += 1,
            ']' | '}' if !is_text => depth -= 1,
            _ => {}
        }
    }
    depth <= 0
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    /// Passes over what has no meaning: space, ends of lines, and comments inside of lists.
    fn space(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            match self.rest.strip_prefix('#').and_then(|it| it.split_once('\n')) {
                Some((_, after)) => self.rest = after,
                None => return,
            }
        }
    }

    fn takes(&mut self, sign: &str) -> bool {
        self.space();
        let after = self.rest.strip_prefix(sign);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn value(&mut self) -> Result<Value, String> {
        self.space();
        if let Some(rest) = self.rest.strip_prefix("\"\"\"") {
            let (text, after) = rest.split_once("\"\"\"").ok_or("a string has no end")?;
            self.rest = after;
            return Ok(Value::String(text.strip_prefix('\n').unwrap_or(text).to_owned()));
        }
        if self.rest.starts_with('"') {
            return self.string().map(Value::String);
        }
        if self.takes("[") {
            let mut list = Vec::new();
            while !self.takes("]") {
                list.push(self.value()?);
                if !self.takes(",") && !self.rest.trim_start().starts_with(']') {
                    return Err("`,` or `]` is expected in a list".to_owned());
                }
            }
            return Ok(Value::Array(list));
        }
        if self.takes("{") {
            let mut table = Map::new();
            while !self.takes("}") {
                self.space();
                let (key, after) = self.rest.split_once('=').ok_or("`key = value` is expected in a table")?;
                self.rest = after;
                table.insert(key.trim().trim_matches('"').to_owned(), self.value()?);
                if !self.takes(",") && !self.rest.trim_start().starts_with('}') {
                    return Err("`,` or `}` is expected in a table".to_owned());
                }
            }
            return Ok(Value::Object(table));
        }
        let end = self.rest.find([',', ']', '}', '#', '\n', ' ']).unwrap_or(self.rest.len());
        let (word, after) = self.rest.split_at(end);
        self.rest = after;
        match word {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => {
                number(word).ok_or_else(|| format!("`{word}` is no value; a text stands in quotation marks"))
            }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let mut text = String::new();
        let mut signs = self.rest.char_indices().skip(1);
        while let Some((at, sign)) = signs.next() {
            match sign {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                '\\' => match signs.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, it @ ('"' | '\\'))) => text.push(it),
                    _ => return Err("only \\n, \\\" and \\\\ are known in strings".to_owned()),
                },
                it => text.push(it),
            }
        }
        Err("a string has no end".to_owned())
    }
}

fn number(word: &str) -> Option<Value> {
    let plain = word.replace('_', "");
    plain
        .parse::<i64>()
        .ok()
        .map(Value::from)
        .or_else(|| serde_json::Number::from_f64(plain.parse().ok()?).map(Value::Number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tables_lists_and_values_are_read() {
        let text = "a = 1 # one\n\n[[b]]\nc = \"x # y\"\nd = [1.5,\n  \"z\", # last\n]\n[[b]]\ne = { f = true, g = \"\\\"\" }\n[h]\ni = \"\"\"\none\ntwo\"\"\"\n";
        let expected = json!({
            "a": 1,
            "b": [{ "c": "x # y", "d": [1.5, "z"] }, { "e": { "f": true, "g": "\"" } }],
            "h": { "i": "one\ntwo" },
        });
        assert_eq!(Value::Object(parse(text).unwrap()), expected);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, line, part) in [
            ("a = 1\nb", 2, "key = value"),
            ("a = one", 1, "quotation"),
            ("a = [1,\n2", 1, "no end"),
            ("a = 1\na = 2", 2, "twice"),
            ("a = 1 2", 1, "more"),
            ("a = \"x", 1, "no end"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.line, line, "{text}");
            assert!(error.message.contains(part), "{text}: {error}");
        }
    }
}
