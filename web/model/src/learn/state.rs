//! The state of the lessons.

use std::sync::Arc;

use isobar_lessons::course::{Course, Lesson};
use isobar_protocol::lesson::LessonResult;

use crate::progress::{LearningProgress, LessonProgress};
use crate::route::Route;

/// A lesson with its files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenLesson {
    pub course: String,
    pub folder: String,
    pub lesson: Lesson,
    pub start: String,
    pub solution: String,
    pub checks: String,
}

impl OpenLesson {
    /// As progress names it.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.course, self.lesson.head.id)
    }
}

/// The verdicts of the last check.
#[derive(Clone, Debug, PartialEq)]
pub struct LessonVerdicts {
    pub result: Arc<LessonResult>,
    /// The edit that they are about.
    pub revision: u64,
    /// How often the lesson was checked: a second check with the same verdicts is another one.
    pub number: u32,
}

/// The lesson that is open; it stays open while something else is read.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownLesson {
    pub files: Arc<OpenLesson>,
    pub verdicts: Option<LessonVerdicts>,
    /// Whether the solution is on the screen.
    pub shows_solution: bool,
}

/// Why something could not be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LessonTrouble {
    /// A file could not be read, for this reason.
    Unread(String),
    /// A file that was chosen holds no progress.
    NoProgress,
}

/// The state of the lessons.
#[derive(Clone, Debug)]
pub struct Lessons {
    pub route: Route,
    /// Whether a teacher shows it: large type, no solutions.
    pub presents: bool,
    pub course: Option<Arc<Course>>,
    pub shown: Option<ShownLesson>,
    pub trouble: Option<LessonTrouble>,
    pub progress: LearningProgress,
    /// Whether the database was asked for later progress than quick storage has.
    pub(super) has_looked: bool,
    /// Counts the lessons that were asked for, so that a late file is dropped.
    pub(super) n_asked: u64,
}

impl Lessons {
    /// Nothing is open; quick storage has this progress, if any.
    #[must_use]
    pub fn new(kept: Option<LearningProgress>) -> Self {
        Self {
            route: Route::default(),
            presents: false,
            course: None,
            shown: None,
            trouble: None,
            progress: kept.unwrap_or_else(no_progress),
            has_looked: false,
            n_asked: 0,
        }
    }

    /// The files of the open lesson.
    #[must_use]
    pub fn opened(&self) -> Option<Arc<OpenLesson>> {
        self.shown.as_ref().map(|it| Arc::clone(&it.files))
    }

    /// The verdicts about the open lesson.
    #[must_use]
    pub fn verdicts(&self) -> Option<LessonVerdicts> {
        self.shown.as_ref()?.verdicts.clone()
    }

    /// Whether the solution is on the screen.
    #[must_use]
    pub fn shows_solution(&self) -> bool {
        self.shown.as_ref().is_some_and(|it| it.shows_solution)
    }

    /// The progress in a lesson, by its name.
    #[must_use]
    pub fn done_in(&self, name: &str) -> LessonProgress {
        self.progress.lessons.get(name).cloned().unwrap_or_default()
    }
}

/// The progress of somebody who begins.
pub(super) fn no_progress() -> LearningProgress {
    LearningProgress { version: 1, ..LearningProgress::default() }
}
