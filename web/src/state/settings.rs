//! Choices about the page itself: light or dark, and keys.

use leptos::prelude::*;

use crate::bridge::storage::{self, Shelf};
use crate::bridge::{locale, page};

const KEY: &str = "isobar.theme";
const LETTERS_KEY: &str = "isobar.letters";
const WRAP_TEXT_KEY: &str = "isobar.wrap-text";
const WRAP_STAGES_KEY: &str = "isobar.wrap-stages";

/// The user's choice of a theme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    /// As it is kept, and as `<html data-theme>` spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Theme::System => "system",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    /// The theme of that name; the system's where there is none.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        match name {
            "light" => Theme::Light,
            "dark" => Theme::Dark,
            _ => Theme::System,
        }
    }
}

/// Choices about the page itself.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub theme: RwSignal<Theme>,
    /// Whether the page is dark: by choice, or because the system asks for it.
    pub is_dark: Memo<bool>,
    /// Whether single letters are shortcuts, outside of text.
    pub letters: RwSignal<bool>,
    /// Whether long lines are broken: in the editor, and in the stages.
    pub wraps_text: RwSignal<bool>,
    pub wraps_stages: RwSignal<bool>,
}

impl Settings {
    pub(crate) fn new() -> Self {
        let theme = RwSignal::new(Theme::from_name(&storage::load(Shelf::Lasting, KEY).unwrap_or_default()));
        let system = RwSignal::new(page::is_system_dark());
        page::on_system_theme(move || system.set(page::is_system_dark()));
        let is_dark = Memo::new(move |_| match theme.get() {
            Theme::System => system.get(),
            Theme::Light => false,
            Theme::Dark => true,
        });
        let letters = RwSignal::new(storage::load(Shelf::Lasting, LETTERS_KEY).as_deref() != Some("off"));
        let wraps = |key| match storage::load(Shelf::Lasting, key).as_deref() {
            Some(kept) => RwSignal::new(kept == "on"),
            // Nobody likes to push a line of code sideways on a phone.
            None => RwSignal::new(page::is_narrow()),
        };
        let (wraps_text, wraps_stages) = (wraps(WRAP_TEXT_KEY), wraps(WRAP_STAGES_KEY));
        Self { theme, is_dark, letters, wraps_text, wraps_stages }
    }

    pub fn choose_theme(self, theme: Theme) {
        self.theme.set(theme);
        // Lost at the next visit where nothing is kept, which the project warns about.
        let _ = storage::save(Shelf::Lasting, KEY, theme.name());
    }

    pub fn choose_letters(self, are_on: bool) {
        self.letters.set(are_on);
        // As with the theme.
        let _ = storage::save(Shelf::Lasting, LETTERS_KEY, if are_on { "on" } else { "off" });
    }

    pub fn wrap_text(self, wraps: bool) {
        self.wraps_text.set(wraps);
        // As with the theme.
        let _ = storage::save(Shelf::Lasting, WRAP_TEXT_KEY, if wraps { "on" } else { "off" });
    }

    pub fn wrap_stages(self, wraps: bool) {
        self.wraps_stages.set(wraps);
        // As with the theme.
        let _ = storage::save(Shelf::Lasting, WRAP_STAGES_KEY, if wraps { "on" } else { "off" });
    }

    /// The languages that the page speaks: the tag, and its own name.
    #[must_use]
    pub fn languages() -> [(&'static str, &'static str); 2] {
        locale::LANGUAGES
    }

    /// The tag of the language that is spoken.
    #[must_use]
    pub fn language() -> String {
        locale::language()
    }

    pub(crate) fn follow_system(self) {
        Effect::new(move |_| {
            page::set_theme(match self.theme.get() {
                Theme::System => None,
                chosen @ (Theme::Light | Theme::Dark) => Some(chosen.name()),
            });
        });
    }
}
