//! Names for files that leave the page.

/// A name that every system takes.
#[must_use]
pub fn file_name(text: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() || matches!(it, '_' | '-') { it } else { '-' };
    let name: String = text.chars().take(80).map(plain).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "fields".to_owned() } else { name.to_owned() }
}

/// A folder for the text of this title, which no other one has.
#[must_use]
pub fn folder(title: &str, number: usize) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || it == '_';
    let words: Vec<&str> = title.split(|it| !is_plain(it)).filter(|it| !it.is_empty()).collect();
    let title: String = words.join("-").chars().take(40).collect();
    if title.is_empty() { number.to_string() } else { format!("{number}-{title}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_file_is_plain() {
        assert_eq!(file_name("q_out"), "q_out");
        assert_eq!(file_name("../../etc/passwd"), "etc-passwd");
        assert_eq!(file_name("\u{1f300}"), "fields");
        assert!(file_name(&"x".repeat(500)).len() <= 80);
    }

    #[test]
    fn folders_are_named_after_titles_and_lead_nowhere_else() {
        assert_eq!(folder("Horizontal diffusion", 1), "1-Horizontal-diffusion");
        assert_eq!(folder("../../etc/passwd", 2), "2-etc-passwd");
        assert_eq!(folder("*", 3), "3");
    }
}
