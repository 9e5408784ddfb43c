//! Events of what is kept, and the work that they make for the page.

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkspaceEvent {
    /// From now on the text of this name is written; it is not known which tab has it.
    Taken(String),
    /// Another text begins, under this new name.
    Begun(String),
    /// A text of the list is opened, which no other tab has, or a copy of it under a new name.
    Opened {
        id: String,
        is_copy: bool,
    },
    /// A later state of a text was found, and the same holds; it may be the one that is shown.
    LaterFound {
        id: String,
        is_copy: bool,
    },
    /// Another text is shown; it is not known which tab has it.
    OwnerUnknown,
    /// This tab, or another one, has the right to the text of this name.
    Claimed {
        name: String,
        is_ours: bool,
        facts: WriteFacts,
    },

    /// The text of a link is shown, or the user's own one.
    LinkShown,
    LinkLeft,
    LessonShown,
    LessonLeft,

    /// The text of this edit may be older than that of the database.
    Undecided(u64),
    /// The database was looked into, and what is shown is the latest.
    Decided(WriteFacts),
    /// The shown text has changed.
    Changed(WriteFacts),
    /// The page ends, or shows another text.
    Ending(WriteFacts),
    /// Whether what was written is kept anywhere, and whether the database has it.
    Written {
        is_kept: bool,
        is_lasting: bool,
    },
    /// Whether something beside the texts is kept anywhere.
    KeptAside(bool),

    /// Nothing was there before, so somebody is here for the first time.
    FirstVisit,
    WelcomeDismissed,
    CopyNoticed,
}

/// The page at the moment when something is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteFacts {
    /// The edit that is shown.
    pub revision: u64,
    /// Whether the address has a link that gives the text again.
    pub has_link: bool,
    /// A name that no text has.
    pub fresh_id: String,
}

/// Something that the page has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkspaceEffect {
    /// Remember the name as that of this tab's text, and forget which earlier states there were.
    Remember(String),
    /// Take the right to a name that nobody else has.
    Claim(String),
    /// Write the text that is shown.
    Write(WriteTarget),
    /// Ask the browser not to clear what is kept.
    AskToStay,
}

/// Where a text is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteTarget {
    /// Among the user's own, under this name.
    Own(String),
    /// In the place of a link's text.
    Link,
}
