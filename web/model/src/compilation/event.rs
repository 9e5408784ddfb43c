//! Events around the compiler, and the work that they make for the page.

use isobar_protocol::request::Request;
use isobar_protocol::worker::AnswerBody;

/// Something that happened.
#[derive(Debug)]
pub enum CompilerEvent {
    /// The page begins.
    Began,
    /// The text, or a choice, is another edit.
    TextChanged,
    /// The names of the stages whose texts are made, in the order of the journey.
    StagesWanted(Vec<&'static str>),
    /// The page ended twice before the compiler answered: compiling waits.
    SafeModeBegan,
    /// The user compiles in spite of that.
    SafeModeLeft,
    /// The user asks once more for the text that the compiler fell over.
    RetryAsked,
    /// The page tells of the newest edit.
    Prepared(Box<CompileFacts>),

    // The worker.
    /// So much of its program has arrived of so much, in kB.
    Loading(Option<[u64; 2]>),
    /// It has started.
    Ready,
    /// The second part of its program has come.
    Whole,
    /// An answer about an edit.
    Said(u64, Box<AnswerBody>),
    /// The browser refused to start it, with this message.
    Refused(String),
    /// It fell over, with this message.
    Crashed(String),
    /// The question of this number has taken as long as one may.
    TookTooLong(u64),
}

/// The newest edit.
#[derive(Clone, Debug, PartialEq)]
pub struct CompileFacts {
    pub request: Request,
    pub revision: u64,
}

/// Something that the page has to do.
#[derive(Debug, PartialEq)]
pub enum CompilerEffect {
    /// Tell the facts of the newest edit.
    Prepare,
    /// Start a worker in the place of the one that there is.
    Start,
    /// End the worker.
    Stop,
    /// Ask the worker about an edit. Nobody hears it where the worker did not start.
    Ask { revision: u64, request: Box<Request> },
    /// Tell when the question of this number has taken too long.
    Remind(u64),
}
