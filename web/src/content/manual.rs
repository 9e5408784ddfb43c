//! The contents of a page of the manual, and where its links lead.

use isobar_lessons::markdown::{Block, plain};

use crate::state::manual::PAGES;

/// Headings down to the third level: level, id, text.
#[must_use]
pub fn contents(blocks: &[Block]) -> Vec<(u8, String, String)> {
    let of = |it: &Block| match it {
        Block::Heading { level, text, id } if (2..=3).contains(level) => {
            Some((*level, address(id), plain(text)))
        }
        _ => None,
    };
    blocks.iter().filter_map(of).collect()
}

/// The heading as addresses name it: that of a diagnostic by its code alone.
fn address(id: &str) -> String {
    let code = id.split('-').next().unwrap_or_default();
    let is_code = code.len() == 3
        && code.starts_with(['e', 'w', 'c', 'd'])
        && code[1..].chars().all(|it| it.is_ascii_digit());
    if is_code { code.to_owned() } else { id.to_owned() }
}

/// Pages that link each other stay in the page; files of the repository are not here.
#[must_use]
pub fn lead(to: &str) -> Option<String> {
    if to.starts_with("https://") || to.starts_with("#/") {
        return Some(to.to_owned());
    }
    let (file, heading) = to.split_once('#').unwrap_or((to, ""));
    let name = file.strip_suffix(".md")?;
    PAGES.iter().any(|it| it.name == name).then(|| match heading {
        "" => format!("#/manual/{name}"),
        heading => format!("#/manual/{name}/{heading}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_between_pages_stay_in_the_page() {
        assert_eq!(lead("schedule.md#pins").as_deref(), Some("#/manual/schedule/pins"));
        assert_eq!(lead("diagnostics.md").as_deref(), Some("#/manual/diagnostics"));
        assert_eq!(lead("../tests/conformance/README.md"), None);
        assert_eq!(lead("javascript:alert(1)"), None);
    }

    #[test]
    fn a_diagnostic_is_found_by_its_code() {
        assert_eq!(address("e18-an-assignment-reads"), "e18");
        assert_eq!(address("calls"), "calls");
    }
}
