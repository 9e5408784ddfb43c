//! The pages of the manual.

use crate::bridge::locale::t;

/// A page of the manual.
#[derive(Clone, Copy, Debug)]
pub struct ManualPage {
    /// As addresses name it, and its file.
    pub name: &'static str,
    pub title: fn() -> &'static str,
    /// A line about its contents.
    pub about: fn() -> &'static str,
}

const fn page_of(name: &'static str, title: fn() -> &'static str, about: fn() -> &'static str) -> ManualPage {
    ManualPage { name, title, about }
}

/// The pages of the manual, in the order in which they are listed.
pub const PAGES: [ManualPage; 8] = [
    page_of("language", || t!("state-manual-language"), || t!("state-manual-about-language")),
    page_of("diagnostics", || t!("state-manual-diagnostics"), || t!("state-manual-about-diagnostics")),
    page_of("math", || t!("state-manual-math"), || t!("state-manual-about-math")),
    page_of("schedule", || t!("state-manual-schedule"), || t!("state-manual-about-schedule")),
    page_of("gpu", || t!("state-manual-gpu"), || t!("state-manual-about-gpu")),
    page_of("openmp", || t!("state-manual-openmp"), || t!("state-manual-about-openmp")),
    page_of("lessons", || t!("state-manual-lessons"), || t!("state-manual-about-lessons")),
    page_of("api", || t!("state-manual-api"), || t!("state-manual-about-api")),
];

#[cfg(test)]
mod tests {
    use isobar_lessons::glossary::Glossary;

    use super::*;

    #[test]
    fn the_manual_has_the_pages_that_it_lists() {
        let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
        let index = include_str!("../../../static/index.html");
        for ManualPage { name, .. } in PAGES {
            assert!(docs.join(format!("{name}.md")).exists(), "{name}");
            assert!(index.contains(&format!("../docs/{name}.md")), "the page does not carry {name}");
        }
    }

    #[test]
    fn every_stage_explains_itself() {
        let glossary = Glossary::read(include_str!("../../../static/lessons/glossary.toml")).unwrap();
        for stage in isobar_compiler::pipeline::Stage::ALL {
            assert!(glossary.term(stage.name()).is_some(), "{stage}");
        }
    }
}
