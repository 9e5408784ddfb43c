//! Each event, and its effects on lessons.

use std::sync::Arc;

use isobar_protocol::lesson::LessonResult;

use super::event::{LessonEffect, LessonEvent};
use super::state::{LessonTrouble, LessonVerdicts, Lessons, OpenLesson, ShownLesson, no_progress};
use crate::progress::LessonProgress;
use crate::route::{COURSE, Route};

impl Lessons {
    /// Takes an event, and tells what the page has to do now, in this order.
    pub fn take(&mut self, event: LessonEvent) -> Vec<LessonEffect> {
        let mut out = Vec::new();
        match event {
            LessonEvent::Gone { route, presents, has_link, is_lesson } => {
                if presents || route == Route::Editor {
                    self.presents = presents;
                }
                self.go(route, has_link, is_lesson, &mut out);
            }
            LessonEvent::LeftWithText { is_lesson } => {
                self.leave(true, is_lesson, &mut out);
                self.route = Route::Editor;
            }
            LessonEvent::CourseRead(Ok(course)) => self.course = Some(Arc::new(course)),
            LessonEvent::CourseRead(Err(why)) => self.trouble = Some(LessonTrouble::Unread(why)),
            LessonEvent::Arrived { number, lesson } => {
                // Another one was asked for meanwhile, or the lessons were left.
                if number == self.n_asked {
                    match *lesson {
                        Ok(lesson) => self.show(lesson, &mut out),
                        Err(why) => self.trouble = Some(LessonTrouble::Unread(why)),
                    }
                }
            }
            LessonEvent::LaterFound(mut later) => {
                later.merge(std::mem::take(&mut self.progress));
                self.progress = later;
            }
            LessonEvent::Typed(text) => self.note(|it| it.draft = Some(text)),
            LessonEvent::HintTaken => self.note(|it| it.hints += 1),
            LessonEvent::Answered { question, text } => self.note(|it| {
                it.answers.insert(question, text);
            }),
            LessonEvent::Chosen { question, at, is_right } => self.note(|it| {
                it.chosen.insert(question.clone(), at);
                it.answers.insert(question, if is_right { "right" } else { "wrong" }.to_owned());
            }),
            LessonEvent::Checked { result, revision } => self.judge(result, revision),
            LessonEvent::SolutionAsked => {
                if let Some(shown) = &mut self.shown {
                    shown.shows_solution = !shown.shows_solution;
                }
            }
            LessonEvent::Restarted => self.restart(&mut out),
            LessonEvent::Forgotten => {
                self.progress = no_progress();
                self.forget_verdicts();
            }
            LessonEvent::Imported(Some(other)) => {
                self.progress.merge(other);
                self.trouble = None;
            }
            LessonEvent::Imported(None) => self.trouble = Some(LessonTrouble::NoProgress),
        }
        out
    }

    fn go(&mut self, route: Route, has_link: bool, is_lesson: bool, out: &mut Vec<LessonEffect>) {
        self.trouble = None;
        out.push(LessonEffect::ScrollToTop);
        // The steps pause while the editor is not shown.
        if route != Route::Editor {
            out.push(LessonEffect::Pause);
        }
        match &route {
            Route::Editor => self.leave(has_link, is_lesson, out),
            Route::Lesson { course, folder } => self.open(course.clone(), folder.clone(), is_lesson, out),
            Route::Learn => {
                self.read_course(COURSE, out);
                if self.looks() {
                    out.push(LessonEffect::LookForProgress);
                }
            }
            Route::Gallery(Some(name)) => {
                // The example opens in the editor, and the view stays until it is there.
                out.push(LessonEffect::OpenExample(name.clone()));
                return;
            }
            Route::Gallery(None) => {}
            Route::Manual(page, _) => out.push(LessonEffect::OpenManual(page.clone())),
        }
        self.route = route;
    }

    /// Whether the database has to be asked for later progress, which happens once.
    fn looks(&mut self) -> bool {
        !std::mem::replace(&mut self.has_looked, true)
    }

    fn read_course(&self, name: &str, out: &mut Vec<LessonEffect>) {
        if self.course.is_none() {
            out.push(LessonEffect::ReadCourse(name.to_owned()));
        }
    }

    fn open(&mut self, course: String, folder: String, is_lesson: bool, out: &mut Vec<LessonEffect>) {
        self.read_course(&course, out);
        let shown = self.shown.as_ref().map(|it| &it.files);
        let is_open = shown.is_some_and(|it| it.course == course && it.folder == folder);
        if is_open && is_lesson {
            return;
        }
        self.n_asked += 1;
        let (number, looks_first) = (self.n_asked, self.looks());
        out.push(LessonEffect::ReadLesson { course, folder, number, looks_first });
    }

    fn show(&mut self, lesson: OpenLesson, out: &mut Vec<LessonEffect>) {
        let text = self.done_in(&lesson.name()).draft.unwrap_or_else(|| lesson.start.clone());
        let lesson = Arc::new(lesson);
        self.shown = Some(ShownLesson { files: Arc::clone(&lesson), verdicts: None, shows_solution: false });
        out.push(LessonEffect::Show { lesson, text });
    }

    fn leave(&mut self, has_link: bool, is_lesson: bool, out: &mut Vec<LessonEffect>) {
        // A lesson that is still on its way is not shown.
        self.n_asked += 1;
        self.shown = None;
        out.push(LessonEffect::CloseTab);
        if is_lesson {
            out.push(LessonEffect::Leave { has_link });
        }
    }

    /// Changes the progress in the open lesson.
    fn note(&mut self, change: impl FnOnce(&mut LessonProgress)) {
        if let Some(shown) = &self.shown {
            change(self.progress.lessons.entry(shown.files.name()).or_default());
        }
    }

    fn judge(&mut self, result: LessonResult, revision: u64) {
        let is_passed = result.is_passed();
        let mut number = 0;
        self.note(|it| {
            it.checks += 1;
            it.is_passed |= is_passed;
            number = it.checks;
        });
        if let Some(shown) = &mut self.shown {
            shown.verdicts = Some(LessonVerdicts { result: Arc::new(result), revision, number });
        }
    }

    fn forget_verdicts(&mut self) {
        if let Some(shown) = &mut self.shown {
            shown.verdicts = None;
        }
    }

    fn restart(&mut self, out: &mut Vec<LessonEffect>) {
        self.note(|it| *it = LessonProgress { is_passed: it.is_passed, ..LessonProgress::default() });
        if let Some(shown) = &mut self.shown {
            (shown.verdicts, shown.shows_solution) = (None, false);
            out.push(LessonEffect::Put(shown.files.start.clone()));
        }
    }
}
