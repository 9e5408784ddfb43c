//! Text around a shared link: Markdown, and a command.

use std::fmt::Write as _;

use super::State;

/// The texts as code blocks, and the link below them.
#[must_use]
pub fn markdown(state: &State, link: &str) -> String {
    let mut out = String::new();
    for (name, text) in &state.files {
        if state.files.len() > 1 {
            let _ = write!(out, "{}:\n\n", escaped(name));
        }
        // Longer than all that stand in the text, so that none of them ends the block.
        let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        let end = if text.ends_with('\n') { "" } else { "\n" };
        let _ = write!(out, "{fence}python\n{text}{end}{fence}\n\n");
    }
    // Brackets would end the address.
    let link = link.replace('(', "%28").replace(')', "%29");
    let _ = writeln!(out, "[Open in Isobar]({link})");
    out
}

/// Escapes every character that could mean something to Markdown.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for it in text.chars() {
        if it.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(it);
    }
    out
}

/// The command that writes what a link holds into files.
#[must_use]
pub fn command(link: &str) -> String {
    format!("isobar open {}", quoted(link))
}

/// A word as a shell takes it.
#[must_use]
pub fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-".contains(it);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_fences_of_its_own_stays_in_its_block() {
        let files = [("main.py".to_owned(), "# ````\n<script>alert(1)</script>".to_owned())].into();
        let state = State { files, ..State::default() };
        let expected = "`````python\n# ````\n<script>alert(1)</script>\n`````\n\n[Open in Isobar](http://a/%28b%29#s=2x)\n";
        assert_eq!(markdown(&state, "http://a/(b)#s=2x"), expected);
    }

    #[test]
    fn names_of_files_are_text() {
        let files = ["a`<b>*.py", "main.py"].map(|it| (it.to_owned(), "x\n".to_owned())).into();
        let made = markdown(&State { files, ..State::default() }, "l");
        assert!(made.starts_with("a\\`\\<b\\>\\*\\.py:\n\n```python\nx\n```\n\nmain\\.py:"), "{made}");
    }

    #[test]
    fn a_shell_reads_the_link_as_one_word() {
        assert_eq!(command("http://a/#s=2x"), "isobar open 'http://a/#s=2x'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(
            (quoted("-x"), quoted(""), quoted("a/b.py")),
            ("'-x'".into(), "''".into(), "a/b.py".into())
        );
    }
}
