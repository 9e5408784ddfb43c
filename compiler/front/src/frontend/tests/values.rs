//! The texts of `values.txt`: each has the value that Python computes, or names the place that is not followed.
//!
//! The same file is held against Python itself, in several surroundings (`tests/agree/values.py`).

use super::value_in;
use crate::config::Config;
use crate::frontend::constants::Constant;

/// One text, and what it says of `it`: a value, or the line of what is not followed.
struct Case {
    name: String,
    files: Vec<(String, String)>,
    expected: String,
}

/// A heading `=== name`, texts behind `--- file.py` where there are several, and `>>> what is expected`.
fn cases() -> Vec<Case> {
    let mut found: Vec<Case> = Vec::new();
    for line in include_str!("values.txt").lines() {
        if let Some(name) = line.strip_prefix("=== ") {
            let files = vec![("main.py".to_owned(), String::new())];
            found.push(Case { name: name.to_owned(), files, expected: String::new() });
            continue;
        }
        let Some(case) = found.last_mut() else { continue };
        if let Some(expected) = line.strip_prefix(">>> ") {
            expected.clone_into(&mut case.expected);
        } else if let Some(file) = line.strip_prefix("--- ") {
            case.files.push((file.to_owned(), String::new()));
        } else if let Some((_, text)) = case.files.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    found
}

/// As Python would print it.
fn shown(value: &Constant) -> String {
    let all = |parts: &[Constant]| parts.iter().map(shown).collect::<Vec<String>>().join(", ");
    match value {
        Constant::Bool(true) => "True".to_owned(),
        Constant::Bool(false) => "False".to_owned(),
        Constant::Int(it) | Constant::Member(it) => it.to_string(),
        Constant::Float(it) => format!("{it:?}"),
        Constant::Typed(it) => format!("{}({:?})", it.dtype(), it.as_f64()),
        Constant::None => "None".to_owned(),
        Constant::Str(it) => format!("'{it}'"),
        Constant::Tuple(parts) if parts.len() == 1 => format!("({},)", all(parts)),
        Constant::Tuple(parts) => format!("({})", all(parts)),
        Constant::List(parts) => format!("[{}]", all(parts)),
        other => other.describe().to_owned(),
    }
}

#[test]
fn each_text_has_the_value_of_python_or_names_what_is_not_followed() {
    let mut wrong = Vec::new();
    let cases = cases();
    for Case { name, files, expected } in &cases {
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
        let found = match value_in(&files, &Config::default(), "it") {
            Ok(value) => shown(&value),
            Err(opaque) => {
                let place = opaque.span.map_or("nowhere".to_owned(), |it| {
                    // Files are in the order of their names.
                    let mut sorted = files.clone();
                    sorted.sort_unstable();
                    let (name, text) = sorted[usize::from(it.file.0)];
                    let line = text[..it.start as usize].matches('\n').count() + 1;
                    if name == "main.py" { line.to_string() } else { format!("{name}:{line}") }
                });
                format!("unknown at {place}")
            }
        };
        if found != *expected {
            wrong.push(format!("{name}: expected {expected}, found {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
