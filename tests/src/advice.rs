//! The catalogue of diagnostics as data: which constructor gives which help, read from its source.
//!
//! A help is a literal in the call of `.help(...)`, or in the `let` of the name that is passed there. The parts of it
//! that are filled in are wildcards:
//!
//! ```text
//! .help(format!("write `{name} = ...`"))        "write `q = ...`" is of this template
//! ```

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};

use crate::root;

/// A constructor of diagnostics that say what to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constructor {
    /// None where it changes a diagnostic that is made elsewhere.
    codes: BTreeSet<String>,
    /// Templates of what its diagnostics say; `None` where a caller says it.
    messages: Option<Vec<String>>,
    /// Templates of its helps.
    pub helps: Vec<String>,
    /// Those of the constructors that it calls.
    pub inherited: Vec<String>,
}

impl Constructor {
    /// Whether it may have made a diagnostic.
    #[must_use]
    pub fn may_say(&self, code: &str, message: &str) -> bool {
        let is_message = |all: &Vec<String>| all.iter().any(|it| is_of(it, message));
        (self.codes.is_empty() || self.codes.contains(code)) && self.messages.as_ref().is_none_or(is_message)
    }

    /// The templates that a help is of.
    pub fn templates_of(&self, help: &str) -> impl Iterator<Item = &str> {
        self.helps.iter().chain(&self.inherited).map(String::as_str).filter(move |it| is_of(it, help))
    }
}

/// The constructors of the catalogue that give a help, by their paths: `rules::self_read_beside`.
///
/// # Errors
///
/// When a source cannot be read.
pub fn constructors() -> Result<BTreeMap<String, Constructor>> {
    let mut modules = BTreeMap::new();
    let folder = root().join("compiler/ground/src/diag/catalog");
    for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        modules.insert(name, Module::of(&std::fs::read_to_string(&path)?));
    }
    let codes = modules.values().flat_map(|it| it.codes.clone()).collect();
    let mut found = BTreeMap::new();
    for (name, module) in &modules {
        for function in module.functions.iter().filter(|it| it.1.is_public) {
            let constructor = module.constructor(function.0, &codes);
            if !(constructor.helps.is_empty() && constructor.inherited.is_empty()) {
                found.insert(format!("{name}::{}", function.0), constructor);
            }
        }
    }
    Ok(found)
}

/// Whether a text is of a template: the same, but for what stands for its `{...}`.
#[must_use]
pub fn is_of(template: &str, text: &str) -> bool {
    let mut parts = vec![String::new()];
    let mut rest = template.chars().peekable();
    while let Some(it) = rest.next() {
        if matches!(it, '{' | '}') && rest.next_if_eq(&it).is_none() {
            rest.by_ref().take_while(|it| *it != '}').for_each(drop);
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(it);
        }
    }
    let last = parts.pop().unwrap_or_default();
    let first = parts.first().map_or("", String::as_str);
    let Some(mut text) = text.strip_prefix(first) else { return false };
    if parts.is_empty() {
        return text == last;
    }
    for part in &parts[1..] {
        let Some(at) = text.find(part.as_str()) else { return false };
        text = &text[at + part.len()..];
    }
    text.ends_with(&last)
}

/// A token of Rust, as far as the catalogue needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// The text between quotes.
    Text(String),
    Sign(char),
}

impl Token {
    fn is_word(&self, word: &str) -> bool {
        matches!(self, Token::Word(it) if it == word)
    }

    fn is_sign(&self, sign: char) -> bool {
        *self == Token::Sign(sign)
    }

    fn as_word(&self) -> Option<&str> {
        match self {
            Token::Word(it) => Some(it),
            Token::Text(_) | Token::Sign(_) => None,
        }
    }
}

fn tokens(source: &str) -> Vec<Token> {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '"' => {
                let (text, length) = literal(rest);
                found.push(Token::Text(text));
                length
            }
            '\'' => character(rest),
            it if is_word(it) => {
                let length = rest.find(|it| !is_word(it)).unwrap_or(rest.len());
                found.push(Token::Word(rest[..length].to_owned()));
                length
            }
            it => {
                found.extend((!it.is_whitespace()).then_some(Token::Sign(it)));
                it.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    found
}

/// The text of a literal at the start of a source, and its length there.
fn literal(source: &str) -> (String, usize) {
    let mut text = String::new();
    let mut letters = source.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (text, at + 1),
            '\\' => match letters.next() {
                // The line goes on at the next word.
                Some((_, '\n')) => while letters.next_if(|it| it.1.is_whitespace()).is_some() {},
                Some((_, 'n')) => text.push('\n'),
                Some((_, it)) => text.push(it),
                None => {}
            },
            it => text.push(it),
        }
    }
    (text, source.len())
}

/// The length of a character in quotes, or of the quote alone that starts a lifetime.
fn character(source: &str) -> usize {
    let mut letters = source.chars().skip(1);
    match letters.next() {
        Some('\\') => source[3..].find('\'').map_or(1, |it| it + 4),
        Some(it) if letters.next() == Some('\'') => it.len_utf8() + 2,
        _ => 1,
    }
}

/// Where the bracket closes that opens at `open`.
fn closed(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth -= 1,
            Token::Word(_) | Token::Text(_) | Token::Sign(_) => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}

/// The texts of an expression, without what is filled in, compared or matched.
fn templates(tokens: &[Token]) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token {
            Token::Word(word) if word == "format" => {
                if let Some(Token::Text(text)) = tokens.get(at + 3) {
                    found.push(text.clone());
                }
                at = closed(tokens, at + 2);
            }
            Token::Text(text) => {
                let is_compared = matches!(tokens[..at], [.., Token::Sign('=' | '!'), Token::Sign('=')]);
                let is_matched = matches!(tokens[..at], [.., Token::Sign('|')])
                    || matches!(tokens[at + 1..], [Token::Sign('|' | '='), ..])
                    || tokens.get(at + 1).is_some_and(|it| it.is_word("if"));
                if !is_compared && !is_matched {
                    found.push(text.clone());
                }
            }
            Token::Word(_) | Token::Sign(_) => {}
        }
        at += 1;
    }
    found
}

#[derive(Debug)]
struct Function {
    is_public: bool,
    body: Vec<Token>,
}

/// A file of the catalogue.
#[derive(Debug, Default)]
struct Module {
    functions: BTreeMap<String, Function>,
    /// The constants that are codes, and those that are texts.
    codes: BTreeMap<String, String>,
    texts: BTreeMap<String, String>,
}

impl Module {
    fn of(source: &str) -> Self {
        let tokens = tokens(source);
        let mut module = Self::default();
        let mut at = 0;
        while at < tokens.len() {
            let name = || tokens.get(at + 1).and_then(Token::as_word).unwrap_or_default().to_owned();
            if tokens[at].is_word("const") {
                let end =
                    tokens[at..].iter().position(|it| it.is_sign(';')).map_or(tokens.len(), |it| at + it);
                let is_code = tokens[at..end].iter().any(|it| it.is_word("Code"));
                let into = if is_code { &mut module.codes } else { &mut module.texts };
                into.extend(templates(&tokens[at..end]).pop().map(|text| (name(), text)));
                at = end;
            } else if tokens[at].is_word("fn") {
                let open =
                    tokens[at..].iter().position(|it| it.is_sign('{')).map_or(tokens.len(), |it| at + it);
                let end = closed(&tokens, open);
                let is_public = at > 0 && tokens[at - 1].is_word("pub");
                module.functions.insert(name(), Function { is_public, body: tokens[open..end].to_vec() });
                at = end;
            }
            at += 1;
        }
        module
    }

    /// The diagnostic that a function of it makes; `codes` are the constants of all modules.
    fn constructor(&self, name: &str, codes: &BTreeMap<String, String>) -> Constructor {
        let body = self.functions[name].body.as_slice();
        let code_of = |word: &str| self.codes.get(word).or_else(|| codes.get(word)).cloned();
        let mut found = Constructor { messages: Some(Vec::new()), ..Constructor::default() };
        for (at, token) in body.iter().enumerate() {
            let Some(word) = token.as_word() else { continue };
            let is_call = body.get(at + 1).is_some_and(|it| it.is_sign('('));
            let is_method = is_call && at > 0 && body[at - 1].is_sign('.');
            if is_method && word == "help" {
                found.helps.extend(self.helps(body, at + 1));
            } else if is_method && word == "did_you_mean" {
                found.helps.push("did you mean `{}`?".to_owned());
            } else if word == "Diagnostic" && body.get(at + 4).is_some_and(|it| it.is_sign('(')) {
                found.codes.extend(body[at + 5].as_word().and_then(code_of));
                found.says(&body[at + 7..]);
            } else if is_call && !is_method && word != name && self.functions.contains_key(word) {
                let called = self.constructor(word, codes);
                if called.codes.is_empty() {
                    continue;
                }
                found.codes.extend(called.codes);
                found.inherited.extend(called.helps.into_iter().chain(called.inherited));
                match (called.messages, &mut found.messages) {
                    (Some(theirs), Some(own)) => own.extend(theirs),
                    (Some(_), None) => {}
                    // Its argument is the sentence.
                    (None, _) => found.says(&body[at + 2..]),
                }
            }
        }
        if found.codes.is_empty() {
            found.codes = body.iter().filter_map(|it| it.as_word().and_then(code_of)).collect();
        }
        if found.messages.as_ref().is_some_and(Vec::is_empty) {
            found.messages = None;
        }
        found
    }

    /// The templates of the help whose argument's bracket opens at `open`.
    fn helps(&self, body: &[Token], open: usize) -> Vec<String> {
        let argument = &body[open + 1..closed(body, open)];
        let [Token::Word(name)] = argument else { return templates(argument) };
        if let Some(text) = self.texts.get(name) {
            return vec![text.clone()];
        }
        let is_let = |it: &[Token]| it[0].is_word("let") && it[1].is_word(name) && it[2].is_sign('=');
        let Some(start) = body.windows(3).position(is_let) else { return Vec::new() };
        let mut end = start;
        while body.get(end).is_some_and(|it| !it.is_sign(';')) {
            let opens = matches!(body[end], Token::Sign('(' | '[' | '{'));
            end = if opens { closed(body, end) } else { end } + 1;
        }
        templates(&body[start + 3..end.min(body.len())])
    }
}

impl Constructor {
    /// Takes the sentence that an argument is.
    fn says(&mut self, argument: &[Token]) {
        let argument =
            if argument.first().is_some_and(|it| it.is_sign('&')) { &argument[1..] } else { argument };
        let said = match argument {
            [Token::Text(text), ..] => Some(text),
            [Token::Word(word), _, _, Token::Text(text), ..] if word == "format" => Some(text),
            _ => None,
        };
        match (said, &mut self.messages) {
            (Some(said), Some(all)) => all.push(said.clone()),
            (None, _) => self.messages = None,
            (Some(_), None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_of_a_template_where_only_what_is_filled_in_differs() {
        assert!(is_of("write `{name} = ...`", "write `q = ...`"));
        assert!(is_of("as `{{\"{name}\": {example}}}`", "as `{\"n\": 1}`"));
        assert!(is_of("{a} and {b}", "one and two"));
        assert!(is_of("plain", "plain"));
        assert!(!is_of("plain", "plainly"));
        assert!(!is_of("write `{name}`", "write `q` or `r`, or nothing"));
        assert!(!is_of("{a} and {b}", "one or two"));
    }

    #[test]
    fn helps_are_found_in_calls_and_in_what_they_name() {
        let source = r#"
pub const A: Code = Code("E01");
const LAST: &str = "at \
    last";
pub fn one(what: &str) -> Diagnostic {
    let help = match what {
        "`x`" | "y" => "first",
        _ => "second",
    };
    Diagnostic::error(A, "wrong", span, "label").help(help)
}
pub fn two(why: &str) -> Diagnostic {
    Diagnostic::error(A, why, span, 'c').help(format!("third {}", if why == "z" { "b" } else { "c" }))
}
pub fn three() -> Diagnostic {
    two("so").help(LAST)
}
"#;
        let module = Module::of(source);
        let of = |name: &str| module.constructor(name, &BTreeMap::new());
        let (one, two, three) = (of("one"), of("two"), of("three"));
        assert_eq!(one.helps, ["first", "second"]);
        assert!(one.may_say("E01", "wrong") && !one.may_say("E01", "so") && !one.may_say("E02", "wrong"));
        assert_eq!((two.helps, two.messages), (vec!["third {}".to_owned()], None));
        assert_eq!(
            (three.helps.as_slice(), three.inherited.as_slice()),
            (&["at last".to_owned()][..], &["third {}".to_owned()][..])
        );
        assert!(three.may_say("E01", "so") && !three.may_say("E01", "wrong"));
    }
}
