//! Lessons: which one is open, what was answered, what its checks said.
//!
//! A lesson's text is opened beside the user's own, which comes back when the lesson is left. The text typed
//! in a lesson is kept with its progress.

use std::sync::Arc;

use isobar_lessons::course::{Course, Lesson};
use isobar_page_model::progress::{LearningProgress, LessonProgress};
use isobar_page_model::route::Route;
use isobar_protocol::lesson::LessonResult;
use leptos::prelude::*;

use crate::bridge::storage::{self, Shelf};

/// Where progress is kept.
pub(crate) const KEY: &str = "isobar.lessons";

/// A lesson with its files.
#[derive(Clone, Debug, PartialEq)]
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

/// The state of the lessons.
#[derive(Clone, Copy, Debug)]
pub struct LearnState {
    pub route: RwSignal<Route>,
    /// Whether a teacher shows it: large type, no solutions.
    pub presents: RwSignal<bool>,
    pub course: RwSignal<Option<Arc<Course>>>,
    /// The lesson whose text is in the editor; it stays open while something else is read.
    pub opened: RwSignal<Option<Arc<OpenLesson>>>,
    /// Why something could not be opened.
    pub trouble: RwSignal<Option<String>>,
    pub checked: RwSignal<Option<Arc<LessonResult>>>,
    /// The text that it was made for.
    pub checked_revision: RwSignal<u64>,
    pub progress: RwSignal<LearningProgress>,
    /// Whether the solution is on the screen.
    pub shows_solution: RwSignal<bool>,
    /// Whether the database was asked for later progress than quick storage has.
    pub(crate) has_looked: StoredValue<bool>,
    /// Counts what was asked for, so that a late file is dropped.
    pub(crate) asked: StoredValue<u64>,
}

impl LearnState {
    pub(crate) fn new() -> Self {
        let kept = storage::load(Shelf::Lasting, KEY).and_then(|it| LearningProgress::from_json(&it));
        Self {
            route: RwSignal::default(),
            presents: RwSignal::new(false),
            course: RwSignal::default(),
            opened: RwSignal::default(),
            trouble: RwSignal::default(),
            checked: RwSignal::default(),
            checked_revision: RwSignal::new(0),
            progress: RwSignal::new(
                kept.unwrap_or(LearningProgress { version: 1, ..LearningProgress::default() }),
            ),
            shows_solution: RwSignal::new(false),
            has_looked: StoredValue::new(false),
            asked: StoredValue::new(0),
        }
    }

    /// Whether a lesson stands beside the editor.
    #[must_use]
    pub fn is_lesson(self) -> bool {
        self.route.with(|it| matches!(it, Route::Lesson { .. }))
    }

    /// The progress in the open lesson.
    #[must_use]
    pub fn done(self) -> LessonProgress {
        let name = self.opened.with(|it| it.as_ref().map(|it| it.name()));
        name.map(|it| self.done_in(&it)).unwrap_or_default()
    }

    /// The progress in a lesson, by its name.
    #[must_use]
    pub fn done_in(self, name: &str) -> LessonProgress {
        self.progress.with(|it| it.lessons.get(name).cloned()).unwrap_or_default()
    }

    pub(crate) fn note(self, change: impl FnOnce(&mut LessonProgress)) {
        let Some(name) = self.opened.with_untracked(|it| it.as_ref().map(|it| it.name())) else { return };
        self.progress.update(|it| change(it.lessons.entry(name).or_default()));
    }

    pub(crate) fn asks(self) -> u64 {
        let number = self.asked.get_value() + 1;
        self.asked.set_value(number);
        number
    }
}
