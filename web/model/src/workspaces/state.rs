//! How the shown text is kept.

/// Where the text that a link opened beside the user's own is kept.
pub const LINKED: &str = "isobar.linked";

/// All that the page knows about how the shown text is kept.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceState {
    /// Its name; empty before there is one.
    pub(super) id: String,
    pub(super) home: TextHome,
    pub(super) owner: TextOwner,
    /// The edit that was found, until it is known whether the database has a later one. A text that nobody changed is
    /// not written over that.
    pub(super) undecided: Option<u64>,
    /// Whether it is a copy, because another tab has the text itself.
    pub is_copy: bool,
    /// Whether somebody is here for the first time.
    pub is_first: bool,
    /// Whether what is typed is kept nowhere, because the browser refuses it.
    pub is_unkept: bool,
    /// Whether the database has taken what was written last.
    pub is_lasting: bool,
    /// Whether the browser was asked not to clear it.
    pub(super) has_asked: bool,
}

/// Where the shown text is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TextHome {
    /// Among the texts of this browser.
    #[default]
    Own,
    /// Apart from those, as the text that a link opened.
    Link,
    /// With the progress of lessons; that of a link may wait behind it.
    Lesson { has_link: bool },
}

/// Which tab writes the shown text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextOwner {
    /// It is asked for. Something may have to be written once it is known.
    Unknown {
        is_waiting: bool,
    },
    This,
    Another,
}

impl Default for TextOwner {
    fn default() -> Self {
        TextOwner::Unknown { is_waiting: false }
    }
}

impl WorkspaceState {
    /// The name of the user's own text; empty before there is one.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether the text of a link is shown, or waits behind a lesson.
    #[must_use]
    pub fn is_linked(&self) -> bool {
        matches!(self.home, TextHome::Link | TextHome::Lesson { has_link: true })
    }

    /// Whether the text of a lesson is shown.
    #[must_use]
    pub fn is_lesson(&self) -> bool {
        matches!(self.home, TextHome::Lesson { .. })
    }

    /// The name to claim.
    #[must_use]
    pub fn claimed_name(&self) -> &str {
        if self.is_linked() { LINKED } else { &self.id }
    }
}
