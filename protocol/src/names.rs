//! Names that come from outside: of files, stencils, stages, fields, scalars, externals and passes.
//!
//! A name is shown in messages, in headers and on terminals. One that could do anything there but be read is refused
//! at every door: the command line, the API, the page and its links.

use std::fmt::{Display, Formatter};

use crate::limits::NAME_CHARS;
use crate::request::{FieldsInput, Request};

/// Why a name is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    Empty,
    /// It has so many characters.
    TooLong(usize),
    /// It has this character: a control, an invisible one, a separator.
    Character(char),
    /// A file's name that is no path below the project.
    NotBelow,
}

/// A name of a request that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadName {
    /// Of what it is the name: `a file`.
    pub of: &'static str,
    pub name: String,
    pub why: Unfit,
}

impl Display for BadName {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { of, name, why } = self;
        let name = visible(name);
        match why {
            Unfit::Empty => write!(f, "the name of {of} is empty"),
            Unfit::TooLong(chars) => {
                write!(
                    f,
                    "the name of {of} has {chars} characters, and at most {NAME_CHARS} are read: `{name}`"
                )
            }
            Unfit::Character(it) => {
                let code = u32::from(*it);
                write!(f, "the name of {of} has the character U+{code:04X}, which no name may have: `{name}`")
            }
            Unfit::NotBelow => {
                write!(
                    f,
                    "the name of {of} is no path below the project, as `package/module.py` is: `{name}`"
                )
            }
        }
    }
}

/// How much of a refused name is shown.
const SHOWN_CHARS: usize = 60;

/// A text with every character spelled out that could do more than be read; the start of a long one.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS).map(spelled).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        shown += "...";
    }
    shown
}

/// Longest message about something that somebody sent.
const MESSAGE_CHARS: usize = 2000;

/// A message that may quote sent text. It is escaped like a name, but keeps its line breaks, and its length
/// is limited.
#[must_use]
pub fn message(text: String) -> String {
    let is_fine = |it: char| it == '\n' || !is_harmful(it);
    if text.len() <= MESSAGE_CHARS && text.chars().all(is_fine) {
        return text;
    }
    let spelled = |it: char| if is_fine(it) { it.to_string() } else { spelled(it) };
    let mut shown: String = text.chars().take(MESSAGE_CHARS).map(spelled).collect();
    if text.chars().nth(MESSAGE_CHARS).is_some() {
        shown += "...";
    }
    shown
}

fn spelled(it: char) -> String {
    if is_harmful(it) { it.escape_unicode().to_string() } else { it.to_string() }
}

/// Whether a character moves the cursor, hides, or turns the direction of what follows.
#[must_use]
pub fn is_harmful(it: char) -> bool {
    let is_invisible = matches!(it,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    it.is_control() || is_invisible
}

/// Checks a name that is no path.
///
/// # Errors
///
/// Why it is refused.
pub fn plain(name: &str) -> Result<(), Unfit> {
    readable(name)?;
    match name.chars().count() {
        0 => Err(Unfit::Empty),
        chars if chars > NAME_CHARS => Err(Unfit::TooLong(chars)),
        _ => Ok(()),
    }
}

/// Checks the characters of a name alone: that of a file of this machine may be long, and may lie anywhere.
///
/// # Errors
///
/// The first character that no name may have.
pub fn readable(name: &str) -> Result<(), Unfit> {
    let is_separator = |it: char| it == '\\' || it.is_whitespace() && it != ' ';
    match name.chars().find(|&it| is_harmful(it) || is_separator(it)) {
        Some(it) => Err(Unfit::Character(it)),
        None => Ok(()),
    }
}

/// Checks the name of a file: names of folders and of the file, with `/` between them.
///
/// # Errors
///
/// Why it is refused.
pub fn file(name: &str) -> Result<(), Unfit> {
    plain(name)?;
    if name.split('/').any(|it| matches!(it, "" | "." | "..")) { Err(Unfit::NotBelow) } else { Ok(()) }
}

/// Checks every name of a request.
///
/// # Errors
///
/// The first that is refused.
pub fn check(request: &Request) -> Result<(), BadName> {
    for name in request.files.keys() {
        file(name).map_err(|why| BadName { of: "a file", name: name.clone(), why })?;
    }
    check_others(request)
}

/// Checks every name of a request but those of its files.
///
/// # Errors
///
/// The first that is refused.
pub fn check_others(request: &Request) -> Result<(), BadName> {
    let Request { externals, dtypes, origin, scalars, fields, init, passes, stages, bench, results, .. } =
        request;
    let fields = match fields {
        Some(FieldsInput::Inline(fields)) => Some(fields),
        Some(FieldsInput::Name(_)) | None => None,
    };
    let named = [
        ("a stencil", request.stencil.iter().collect()),
        ("a back end", request.backend.iter().chain(bench.iter().flat_map(|it| &it.backends)).collect()),
        ("a stage", stages.iter().flatten().collect()),
        ("an external", externals.keys().collect()),
        ("a type", dtypes.keys().collect()),
        ("a field with an origin", origin.keys().collect()),
        ("a scalar", scalars.keys().collect()),
        ("a field", fields.iter().flat_map(|it| it.keys()).collect()),
        ("a field of the results", results.iter().flat_map(|it| it.fields.iter().flatten()).collect()),
        ("a field or scalar", init.iter().flat_map(|it| it.keys()).collect::<Vec<_>>()),
        (
            "a pass",
            passes
                .skip
                .iter()
                .chain(&passes.stop_after)
                .chain(passes.limit.iter().map(|it| &it.pass))
                .collect(),
        ),
    ];
    for (of, names) in named {
        for name in names {
            plain(name).map_err(|why| BadName { of, name: name.clone(), why })?;
        }
    }
    // On the command line these are paths of this machine.
    for (of, name) in [("the main file", &request.main), ("a schedule", &passes.schedule)] {
        if let Some(name) = name {
            readable(name).map_err(|why| BadName { of, name: name.clone(), why })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_file_is_a_path_below_the_project() {
        for name in ["main.py", "a b.py", "pkg/sub/größe.py", "\"*/.py", &"x".repeat(NAME_CHARS)] {
            assert_eq!(file(name), Ok(()), "{name}");
        }
        for (name, why) in [
            ("", Unfit::Empty),
            ("m\r#include </etc/hostname>\r.py", Unfit::Character('\r')),
            ("a\nb.py", Unfit::Character('\n')),
            ("a\0.py", Unfit::Character('\0')),
            ("\u{1b}[31m.py", Unfit::Character('\u{1b}')),
            ("\u{9b}31m.py", Unfit::Character('\u{9b}')),
            ("a\u{2028}b.py", Unfit::Character('\u{2028}')),
            ("a\u{a0}b.py", Unfit::Character('\u{a0}')),
            ("a\u{202e}yp.b", Unfit::Character('\u{202e}')),
            ("a\u{200b}.py", Unfit::Character('\u{200b}')),
            ("a\\b.py", Unfit::Character('\\')),
            ("/etc/main.py", Unfit::NotBelow),
            ("../main.py", Unfit::NotBelow),
            ("a//b.py", Unfit::NotBelow),
            ("a/./b.py", Unfit::NotBelow),
            ("a/", Unfit::NotBelow),
        ] {
            assert_eq!(file(name), Err(why), "{name:?}");
        }
        assert_eq!(file(&"é".repeat(NAME_CHARS + 1)), Err(Unfit::TooLong(NAME_CHARS + 1)));
    }

    #[test]
    fn a_message_is_cut_and_obeyed_by_no_terminal() {
        let name = "x".repeat(60_000);
        let shown = message(format!("there is no `{name}`"));
        assert!(shown.len() < 2100 && shown.ends_with("..."), "{} bytes", shown.len());
        assert_eq!(message("a\u{1b}[2J\nb".to_owned()), "a\\u{1b}[2J\nb");
        assert_eq!(message("`größe`".to_owned()), "`größe`");
    }

    #[test]
    fn every_name_of_a_request_is_checked() {
        let documents = [
            r#"{"files": {"a\rb.py": ""}}"#,
            r#"{"files": {"a.py": ""}, "main": "\u001b[2J"}"#,
            r#"{"stencil": "s\n"}"#,
            r#"{"backend": "\u001b[2J"}"#,
            r#"{"bench": {"backends": ["debug", "x\r"]}}"#,
            r#"{"externals": {"a\u2028": 1}}"#,
            r#"{"dtypes": {"a\u0000": "float"}}"#,
            r#"{"origin": {"q\r": [0]}}"#,
            r#"{"scalars": {"": 1}}"#,
            r#"{"fields": {"q\n": {"dtype": "float64", "shape": [1], "data": ""}}}"#,
            r#"{"init": {"\u202e": "zeros"}}"#,
            r#"{"results": {"fields": ["q\u0007"]}}"#,
            r#"{"passes": {"skip": ["oir/\u0007"]}}"#,
            r#"{"passes": {"stop_after": "oir/\u0007"}}"#,
            r#"{"passes": {"limit": {"pass": "\u0007", "decisions": 1}}}"#,
            r#"{"passes": {"schedule": "\u0007"}}"#,
        ];
        for document in documents {
            let request: Request = serde_json::from_str(document).unwrap();
            let found = check(&request).expect_err(document);
            // The error names the text in a form that can be printed anywhere.
            assert!(!found.to_string().chars().any(is_harmful), "{found}");
        }
        let fine = r#"{"files": {"main.py": ""}, "stencil": "X.s", "origin": {"_all_": [3, 3, 0]}}"#;
        assert_eq!(check(&serde_json::from_str(fine).unwrap()), Ok(()));
    }
}
