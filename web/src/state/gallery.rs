//! The stencils that come with the page: what each is.

use std::sync::Arc;

use crate::bridge::locale::t;

/// A stencil to begin with.
#[derive(Clone, Copy, Debug)]
pub struct GalleryEntry {
    /// As links name it, and its file.
    pub name: &'static str,
    pub title: fn() -> &'static str,
    pub group: Group,
    /// A line that tells what is to be seen.
    pub about: fn() -> &'static str,
    /// The lesson that teaches what it takes.
    pub lesson: &'static str,
}

/// The subject of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Basics,
    Dynamics,
    Physics,
    Solvers,
    Edges,
    /// Classes that call several stencils.
    Programs,
    Wrong,
}

impl Group {
    pub const ALL: [Group; 7] = [
        Group::Basics,
        Group::Dynamics,
        Group::Physics,
        Group::Solvers,
        Group::Edges,
        Group::Programs,
        Group::Wrong,
    ];

    /// As headings name it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Group::Basics => t!("state-gallery-basics"),
            Group::Dynamics => t!("state-gallery-dynamics"),
            Group::Physics => t!("state-gallery-physics"),
            Group::Solvers => t!("state-gallery-solvers"),
            Group::Edges => t!("state-gallery-edges"),
            Group::Programs => t!("state-gallery-programs"),
            Group::Wrong => t!("state-gallery-wrong"),
        }
    }
}

/// How many points an example is opened with, beside those of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExampleSize {
    Small,
    Own,
    Large,
}

impl ExampleSize {
    pub const ALL: [ExampleSize; 3] = [ExampleSize::Small, ExampleSize::Own, ExampleSize::Large];

    /// As tests name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ExampleSize::Small => "small",
            ExampleSize::Own => "medium",
            ExampleSize::Large => "large",
        }
    }

    /// As a card names it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            ExampleSize::Small => t!("state-gallery-small"),
            ExampleSize::Own => t!("state-gallery-own"),
            ExampleSize::Large => t!("state-gallery-large"),
        }
    }

    /// The description of the size on a card.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            ExampleSize::Small => t!("state-gallery-about-small"),
            ExampleSize::Own => t!("state-gallery-about-own"),
            ExampleSize::Large => t!("state-gallery-about-large"),
        }
    }

    /// The domain in place of the one that the text's `# @domain` line has; none where that does.
    #[must_use]
    pub fn domain(self, text: &str) -> Option<[i64; 3]> {
        let line = text.lines().find_map(|it| it.strip_prefix("# @domain "))?;
        let points: Vec<i64> = line.split_whitespace().filter_map(|it| it.parse().ok()).collect();
        let &[i, j, k] = points.as_slice() else { return None };
        match self {
            ExampleSize::Small => Some([(i / 2).max(1), (j / 2).max(1), k]),
            ExampleSize::Own => None,
            ExampleSize::Large => Some([i.saturating_mul(2), j.saturating_mul(2), k]),
        }
    }
}

impl GalleryEntry {
    /// Its file below the folder of the gallery.
    #[must_use]
    pub fn file(self) -> String {
        let folder = if self.group == Group::Programs { "programs/" } else { "" };
        format!("{folder}{}.py", self.name)
    }
}

const fn entry_of(
    name: &'static str,
    title: fn() -> &'static str,
    group: Group,
    lesson: &'static str,
    about: fn() -> &'static str,
) -> GalleryEntry {
    GalleryEntry { name, title, group, about, lesson }
}

/// By group, from the simplest on.
pub const ENTRIES: [GalleryEntry; 21] = [
    entry_of(
        "copy_scale",
        || t!("state-gallery-copy-scale"),
        Group::Basics,
        "01-first",
        || t!("state-gallery-about-copy-scale"),
    ),
    entry_of(
        "smoother",
        || t!("state-gallery-smoother"),
        Group::Basics,
        "04-parallel",
        || t!("state-gallery-about-smoother"),
    ),
    entry_of(
        "game_of_life",
        || t!("state-gallery-game-of-life"),
        Group::Basics,
        "06-decisions",
        || t!("state-gallery-about-game-of-life"),
    ),
    entry_of(
        "geostrophic_adjustment",
        || t!("state-gallery-geostrophic-adjustment"),
        Group::Dynamics,
        "02-neighbours",
        || t!("state-gallery-about-geostrophic-adjustment"),
    ),
    entry_of(
        "tracer_advection",
        || t!("state-gallery-tracer-advection"),
        Group::Dynamics,
        "06-decisions",
        || t!("state-gallery-about-tracer-advection"),
    ),
    entry_of(
        "shallow_water",
        || t!("state-gallery-shallow-water"),
        Group::Dynamics,
        "09-diffusion",
        || t!("state-gallery-about-shallow-water"),
    ),
    entry_of(
        "burgers",
        || t!("state-gallery-burgers"),
        Group::Dynamics,
        "06-decisions",
        || t!("state-gallery-about-burgers"),
    ),
    entry_of(
        "horizontal_diffusion",
        || t!("state-gallery-horizontal-diffusion"),
        Group::Dynamics,
        "09-diffusion",
        || t!("state-gallery-about-horizontal-diffusion"),
    ),
    entry_of(
        "divergence_damping",
        || t!("state-gallery-divergence-damping"),
        Group::Dynamics,
        "09-diffusion",
        || t!("state-gallery-about-divergence-damping"),
    ),
    entry_of(
        "ppm_transport",
        || t!("state-gallery-ppm-transport"),
        Group::Dynamics,
        "08-edges",
        || t!("state-gallery-about-ppm-transport"),
    ),
    entry_of(
        "column_physics",
        || t!("state-gallery-column-physics"),
        Group::Physics,
        "06-decisions",
        || t!("state-gallery-about-column-physics"),
    ),
    entry_of(
        "sedimentation",
        || t!("state-gallery-sedimentation"),
        Group::Physics,
        "06-decisions",
        || t!("state-gallery-about-sedimentation"),
    ),
    entry_of(
        "cloud_base",
        || t!("state-gallery-cloud-base"),
        Group::Physics,
        "12-search",
        || t!("state-gallery-about-cloud-base"),
    ),
    entry_of(
        "vertical_advection",
        || t!("state-gallery-vertical-advection"),
        Group::Solvers,
        "10-implicit",
        || t!("state-gallery-about-vertical-advection"),
    ),
    entry_of(
        "thomas",
        || t!("state-gallery-thomas"),
        Group::Solvers,
        "10-implicit",
        || t!("state-gallery-about-thomas"),
    ),
    entry_of(
        "acoustic_column",
        || t!("state-gallery-acoustic-column"),
        Group::Solvers,
        "10-implicit",
        || t!("state-gallery-about-acoustic-column"),
    ),
    entry_of(
        "ppm_remap",
        || t!("state-gallery-ppm-remap"),
        Group::Solvers,
        "03-vertical",
        || t!("state-gallery-about-ppm-remap"),
    ),
    entry_of(
        "cube_corner",
        || t!("state-gallery-cube-corner"),
        Group::Edges,
        "08-edges",
        || t!("state-gallery-about-cube-corner"),
    ),
    entry_of(
        "diffusion_steps",
        || t!("state-gallery-diffusion-steps"),
        Group::Programs,
        "13-programs",
        || t!("state-gallery-about-diffusion-steps"),
    ),
    entry_of(
        "shallow_water_model",
        || t!("state-gallery-shallow-water-model"),
        Group::Programs,
        "13-programs",
        || t!("state-gallery-about-shallow-water-model"),
    ),
    entry_of(
        "nan_hunt",
        || t!("state-gallery-nan-hunt"),
        Group::Wrong,
        "12-search",
        || t!("state-gallery-about-nan-hunt"),
    ),
];

/// The example that a first visit shows.
pub const FIRST: &str = "geostrophic_adjustment";

/// Its text, which is there before anything can be fetched.
pub const FIRST_TEXT: &str = include_str!("../../../static/gallery/geostrophic_adjustment.py");

/// The name of the shown text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextName {
    pub title: String,
    /// The entry that it began as, where it still is about the same.
    pub entry: Option<&'static str>,
    pub is_edited: bool,
    /// Whether somebody may have written in it: it must be kept.
    pub is_own: bool,
}

/// The text of the first `# @title` line.
fn title_of(text: &str) -> Option<&str> {
    text.lines().find_map(|it| it.strip_prefix("# @title ")).map(str::trim).filter(|it| !it.is_empty())
}

/// Names a text. `entry` is the gallery entry that it began as, with the text of that entry if it is loaded.
/// `stencil` is the stencil that is looked at.
#[must_use]
pub fn name_of(
    text: &str,
    entry: Option<(GalleryEntry, Option<Arc<str>>)>,
    stencil: Option<&str>,
) -> TextName {
    match entry {
        // Until its text is here, nobody knows of edits.
        Some((entry, None)) => TextName {
            title: (entry.title)().to_owned(),
            entry: Some(entry.name),
            is_edited: false,
            is_own: true,
        },
        Some((entry, Some(own))) if text == &*own => TextName {
            title: (entry.title)().to_owned(),
            entry: Some(entry.name),
            is_edited: false,
            is_own: false,
        },
        Some((entry, Some(own))) if title_of(text).is_some() && title_of(text) == title_of(&own) => {
            TextName {
                title: t!("state-gallery-edited", title = (entry.title)()),
                entry: Some(entry.name),
                is_edited: true,
                is_own: true,
            }
        }
        _ => {
            let title = title_of(text).or(stencil).unwrap_or_else(|| t!("state-gallery-your-text"));
            TextName { title: title.to_owned(), entry: None, is_edited: false, is_own: true }
        }
    }
}

/// The entry of that name.
#[must_use]
pub fn entry(name: &str) -> Option<GalleryEntry> {
    ENTRIES.into_iter().find(|it| it.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of an entry, as the page fetches it.
    fn text(name: &str) -> String {
        let below = entry(name).unwrap().file();
        let file = format!("{}/../static/gallery/{below}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(file).unwrap()
    }

    #[test]
    fn the_first_visit_has_something_to_show() {
        assert_eq!(text(FIRST), FIRST_TEXT);
        assert!(entry(FIRST).is_some());
        assert!(entry("no such stencil").is_none());
    }

    #[test]
    fn every_file_of_the_gallery_is_listed_with_its_group_and_lesson() {
        let home = format!("{}/../static", env!("CARGO_MANIFEST_DIR"));
        let mut files: Vec<String> = ["gallery", "gallery/programs"]
            .into_iter()
            .flat_map(|it| std::fs::read_dir(format!("{home}/{it}")).unwrap())
            .filter_map(|it| Some(it.unwrap().file_name().to_str()?.strip_suffix(".py")?.to_owned()))
            .collect();
        files.sort();
        let mut listed: Vec<&str> = ENTRIES.iter().map(|it| it.name).collect();
        listed.sort_unstable();
        assert_eq!(files, listed);
        for entry in ENTRIES {
            let lesson = format!("{home}/lessons/first-course/{}/lesson.md", entry.lesson);
            assert!(std::fs::exists(lesson).unwrap(), "{}", entry.name);
            assert!(text(entry.name).contains("# @about "), "{}", entry.name);
        }
        for group in Group::ALL {
            assert!(ENTRIES.iter().any(|it| it.group == group), "{group:?}");
        }
    }

    #[test]
    fn every_example_can_be_opened_smaller_and_larger() {
        for entry in ENTRIES {
            let text = text(entry.name);
            let points = |it: [i64; 3]| it.iter().product::<i64>();
            let sizes = [ExampleSize::Small, ExampleSize::Large].map(|it| it.domain(&text).map(points));
            let [Some(small), Some(large)] = sizes else { panic!("{}: {sizes:?}", entry.name) };
            assert_eq!(large, 16 * small, "{}", entry.name);
            assert_eq!(ExampleSize::Own.domain(&text), None);
        }
        assert_eq!(ExampleSize::Large.domain("# @domain 4 4"), None);
    }

    #[test]
    fn a_text_is_called_what_it_is() {
        let first = entry(FIRST).unwrap();
        let own: Arc<str> = FIRST_TEXT.into();
        let title = |text: &str, stencil| name_of(text, Some((first, Some(own.clone()))), stencil).title;
        assert_eq!(title(FIRST_TEXT, None), (first.title)());
        assert_eq!(title(&format!("{FIRST_TEXT}\n"), None), format!("{}, edited", (first.title)()));
        assert_eq!(title("def f(): pass", Some("f")), "f");
        assert_eq!(title("# @title Mine\n", Some("f")), "Mine");
        assert_eq!(title("", None), "Your text");
        let unknown = name_of("anything", Some((first, None)), None);
        assert!(!unknown.is_edited && unknown.is_own, "what nobody can tell from the example is kept");
    }
}
