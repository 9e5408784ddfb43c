//! Events of lessons, and the work that they make for the page.

use std::sync::Arc;

use isobar_lessons::course::Course;
use isobar_protocol::lesson::LessonResult;

use super::state::OpenLesson;
use crate::progress::LearningProgress;
use crate::route::Route;

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum LessonEvent {
    /// The address names a view.
    Gone {
        route: Route,
        presents: bool,
        /// Whether the address brings a text of its own.
        has_link: bool,
        /// Whether the text in the editor is that of a lesson.
        is_lesson: bool,
    },
    /// The learner leaves for the editor, with the text that is in it.
    LeftWithText {
        is_lesson: bool,
    },
    CourseRead(Result<Course, String>),
    /// The files of a lesson arrived, or why they did not, with the number of the question.
    Arrived {
        number: u64,
        lesson: Box<Result<OpenLesson, String>>,
    },
    /// The database has later progress than quick storage.
    LaterFound(LearningProgress),

    /// The text of the lesson changed.
    Typed(String),
    HintTaken,
    Answered {
        question: String,
        text: String,
    },
    Chosen {
        question: String,
        at: usize,
        is_right: bool,
    },
    /// The checks held the text of this edit against what the lesson asks.
    Checked {
        result: LessonResult,
        revision: u64,
    },
    SolutionAsked,
    /// The lesson begins anew: its start, no answers, no hints.
    Restarted,

    /// All progress is forgotten.
    Forgotten,
    /// A file with progress was chosen; none where it is no such file.
    Imported(Option<LearningProgress>),
}

/// Something that the page has to do.
#[derive(Clone, Debug, PartialEq)]
pub enum LessonEffect {
    /// Shows the view from its beginning.
    ScrollToTop,
    /// Pauses the steps, which nobody sees.
    Pause,
    OpenExample(String),
    OpenManual(Option<String>),
    ReadCourse(String),
    /// Looks whether the database has later progress.
    LookForProgress,
    /// Reads the files of a lesson, and before that looks for later progress where it was not done yet.
    ReadLesson {
        course: String,
        folder: String,
        number: u64,
        looks_first: bool,
    },
    /// Puts the user's own text aside, and shows the lesson with this text.
    Show {
        lesson: Arc<OpenLesson>,
        text: String,
    },
    /// Shows the text in place of the lesson's tab.
    CloseTab,
    /// The text is no longer that of a lesson; the user's own comes back, unless a link brought one.
    Leave {
        has_link: bool,
    },
    /// Puts a text into the editor, in place of the draft.
    Put(String),
}
