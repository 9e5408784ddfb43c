//! Words that stand in the code of a text, beside its comments and strings.

use super::CheckFailure;

/// Each word of the code, with its line from 1.
fn words(text: &str) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '\n' => line += 1,
            '#' => while signs.next_if(|it| *it != '\n').is_some() {},
            '"' | '\'' => {
                // Three of them begin a string that goes over lines.
                let mut n = 1;
                while n < 3 && signs.next_if_eq(&sign).is_some() {
                    n += 1;
                }
                if n == 2 {
                    continue;
                }
                let mut ends = 0;
                while let Some(it) = signs.next() {
                    line += u32::from(it == '\n');
                    match it {
                        '\\' => {
                            signs.next();
                            ends = 0;
                        }
                        it if it == sign => ends += 1,
                        _ => ends = 0,
                    }
                    if ends == n || n == 1 && it == '\n' {
                        break;
                    }
                }
            }
            it if it == '_' || it.is_alphabetic() => {
                let mut word = String::from(it);
                while let Some(more) = signs.next_if(|it| *it == '_' || it.is_alphanumeric()) {
                    word.push(more);
                }
                found.push((word, line));
            }
            _ => {}
        }
    }
    found
}

/// The words of the statements: what an import names is not used yet.
fn used(text: &str) -> Vec<(String, u32)> {
    let all = words(text);
    let imports: Vec<u32> = lines_of_imports(text);
    all.into_iter().filter(|(_, line)| !imports.contains(line)).collect()
}

fn lines_of_imports(text: &str) -> Vec<u32> {
    let mut lines = Vec::new();
    let mut is_open = false;
    for (number, line) in (1..).zip(text.lines()) {
        let said = line.trim_start();
        if is_open || said.starts_with("from ") || said.starts_with("import ") {
            lines.push(number);
            is_open = (is_open || said.contains('(')) && !said.contains(')');
        }
    }
    lines
}

pub(super) fn uses(text: &str, wanted: &[String]) -> Result<(), CheckFailure> {
    let found = used(text);
    match wanted.iter().find(|word| found.iter().all(|(it, _)| it != *word)) {
        Some(word) => {
            Err(CheckFailure::new(format!("`{word}` is to be used, and does not stand in the code yet")))
        }
        None => Ok(()),
    }
}

pub(super) fn avoids(text: &str, unwanted: &[String]) -> Result<(), CheckFailure> {
    match used(text).into_iter().find(|(it, _)| unwanted.contains(it)) {
        Some((word, line)) => {
            let message = format!("`{word}` stands in line {line}; this task is to be solved without it");
            Err(CheckFailure { line: Some(line), ..CheckFailure::new(message) })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_comments_strings_and_imports_do_not_count() {
        let text = "from a import (\n  FORWARD,\n)\nx = 1 # BACKWARD\n\"\"\"while\n\"\"\"\ny = 'if' + \"\" + interval(z)\n";
        let found: Vec<(String, u32)> = used(text);
        assert_eq!(
            found,
            [("x", 4), ("y", 7), ("interval", 7), ("z", 7)].map(|(word, line)| (word.to_owned(), line))
        );
        assert!(uses(text, &["interval".to_owned()]).is_ok());
        assert!(uses(text, &["FORWARD".to_owned()]).unwrap_err().message.contains("`FORWARD`"));
        assert_eq!(avoids(text, &["z".to_owned()]).unwrap_err().line, Some(7));
    }

    #[test]
    fn any_text_has_words() {
        for odd in ["'", "\"\"\"", "'''x", "\\", "'\\", "#", "é"] {
            words(odd);
        }
    }
}
