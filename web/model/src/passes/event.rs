//! Events around the passes, and the work that they make for the page.

use isobar_protocol::passes::Moment;
use isobar_protocol::worker::AnswerBody;

use crate::difference::DiffView;
use crate::picks::Pick;
use crate::remarks::RemarkEntry;
use crate::run::WorkerGone;

/// Something that happened. Stages go by their names.
#[derive(Debug)]
pub enum PassesEvent {
    /// The list of a level is opened, or closed.
    Toggled(&'static str),
    /// The list of a level is opened, and stays as it is where it is open.
    ListOpened(&'static str),
    Picked(&'static str, Pick),
    SideChosen(&'static str, DiffView),

    /// Something else is looked at, or the text is another one, and the keyboard rests.
    Due,
    /// The keyboard rests after an answer of the compiler, with its decisions on the text.
    Rested {
        /// The count of opened stencils.
        opened: u64,
        has_errors: bool,
        entries: Vec<RemarkEntry>,
    },

    /// An answer about an edit.
    Said(u64, Box<AnswerBody>),
    Gone(WorkerGone),
}

/// Something that the page has to do.
#[derive(Debug, PartialEq)]
pub enum PassesEffect {
    /// Ask the worker for these moments of the newest text.
    Ask(Vec<Moment>),
}
