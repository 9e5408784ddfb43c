//! Lessons: which one is open, what was answered, what its checks said.

use std::sync::Arc;

use isobar_lessons::course::Course;
use isobar_page_model::learn::{
    LessonEffect, LessonEvent, LessonTrouble, LessonVerdicts, Lessons, OpenLesson,
};
use isobar_page_model::progress::{LearningProgress, LessonProgress};
use isobar_page_model::route::Route;
use leptos::prelude::*;

use crate::bridge::storage::{self, Shelf};

/// Where progress is kept.
pub(crate) const KEY: &str = "isobar.lessons";

/// The state of the lessons.
#[derive(Clone, Copy, Debug)]
pub struct LearnState {
    lessons: RwSignal<Lessons>,

    // Parts of the state, for views.
    pub route: Memo<Route>,
    /// Whether a teacher shows it: large type, no solutions.
    pub presents: Memo<bool>,
    pub course: Memo<Option<Arc<Course>>>,
    /// The lesson whose text is in the editor; it stays open while something else is read.
    pub opened: Memo<Option<Arc<OpenLesson>>>,
    /// Why something could not be opened.
    pub trouble: Memo<Option<LessonTrouble>>,
    pub verdicts: Memo<Option<LessonVerdicts>>,
    pub progress: Memo<LearningProgress>,
    /// Whether the solution is on the screen.
    pub shows_solution: Memo<bool>,
}

impl LearnState {
    pub(crate) fn new() -> Self {
        let kept = storage::load(Shelf::Lasting, KEY).and_then(|it| LearningProgress::from_json(&it));
        let lessons = RwSignal::new(Lessons::new(kept));
        Self {
            lessons,
            route: Memo::new(move |_| lessons.with(|it| it.route.clone())),
            presents: Memo::new(move |_| lessons.with(|it| it.presents)),
            course: Memo::new(move |_| lessons.with(|it| it.course.clone())),
            opened: Memo::new(move |_| lessons.with(Lessons::opened)),
            trouble: Memo::new(move |_| lessons.with(|it| it.trouble.clone())),
            verdicts: Memo::new(move |_| lessons.with(Lessons::verdicts)),
            progress: Memo::new(move |_| lessons.with(|it| it.progress.clone())),
            shows_solution: Memo::new(move |_| lessons.with(Lessons::shows_solution)),
        }
    }

    /// Tells the state what happened; returns what the page has to do.
    pub(crate) fn take(self, event: LessonEvent) -> Vec<LessonEffect> {
        let mut effects = Vec::new();
        self.lessons.update(|it| effects = it.take(event));
        effects
    }

    /// Tells the state of something from which nothing follows.
    pub fn happened(self, event: LessonEvent) {
        let effects = self.take(event);
        debug_assert!(effects.is_empty(), "nobody carries out {effects:?}");
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
}
