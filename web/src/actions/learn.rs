//! Lessons are opened, checked and left; the address says which.

use isobar_compiler::pipeline::Stage;
use isobar_lessons::course::{self, Course, Quiz};
use isobar_page_model::learn::{LessonEffect, LessonEvent, OpenLesson};
use isobar_page_model::open::OpenStages;
use isobar_page_model::progress::LearningProgress;
use isobar_page_model::project::MAIN;
use isobar_page_model::route::Route;
use isobar_page_model::run::RunPlan;
use isobar_page_model::workspaces::WorkspaceEvent;
use isobar_protocol::lesson::{LessonResult, Task};
use isobar_protocol::share::State;
use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::HtmlInputElement;

use crate::bridge::storage::{self, Shelf};
use crate::bridge::{files, page};
use crate::state::App;
use crate::state::keeping::{self, DeferredSave};
use crate::state::layout::Tab;
use crate::state::learn::KEY;

/// No file of progress is larger.
const MOST_BYTES: f64 = 4.0 * 1024.0 * 1024.0;

impl App {
    /// Goes where the address says, now and whenever it changes.
    pub(super) fn follow_address(self) {
        let go = move || {
            let fragment = page::fragment();
            let (route, presents) = Route::of(&fragment);
            let is_lesson = self.workspaces.is_lesson.get_untracked();
            self.learned(LessonEvent::Gone { route, presents, has_link: fragment.contains("s="), is_lesson });
        };
        page::on_fragment(go);
        go();
        let soon = DeferredSave::new();
        let is_changed = StoredValue::new(false);
        let before = StoredValue::new(self.learn.progress.get_untracked());
        let keep = move || {
            is_changed.set_value(false);
            let ours = self.learn.progress.get_untracked();
            let kept = storage::load(Shelf::Lasting, KEY).and_then(|it| LearningProgress::from_json(&it));
            // Another tab may have written meanwhile.
            let all = before.with_value(|before| ours.changes_since(before, kept.unwrap_or_default()));
            before.set_value(ours);
            self.keep_aside(KEY, all.to_json());
        };
        Effect::new(move |before: Option<()>| {
            self.learn.progress.track();
            // The first value was loaded: it is kept already, or the database has a later one.
            if before.is_some() {
                is_changed.set_value(true);
                soon.changed(keep);
            }
        });
        page::on_hide(move || {
            if is_changed.get_value() {
                keep();
            }
        });
        Effect::new(move |_| {
            // Also the same text, of another lesson.
            self.project.opened.track();
            let text = self.project.text.get();
            if self.workspaces.is_lesson.get_untracked() {
                self.learn.happened(LessonEvent::Typed(text));
            }
        });
    }

    /// Tells the lessons what happened, and does what follows from it.
    fn learned(self, event: LessonEvent) {
        for effect in self.learn.take(event) {
            self.serve_lessons(effect);
        }
    }

    fn serve_lessons(self, effect: LessonEffect) {
        match effect {
            LessonEffect::ScrollToTop => self.to_top(),
            LessonEffect::Pause => self.pause(),
            LessonEffect::OpenExample(name) => self.open_gallery(&name),
            LessonEffect::OpenManual(page) => self.reference.open_manual(page),
            LessonEffect::ReadCourse(name) => spawn_local(async move {
                self.learned(LessonEvent::CourseRead(fetch_course(&name).await));
            }),
            LessonEffect::LookForProgress => spawn_local(self.look_for_progress()),
            LessonEffect::ReadLesson { course, folder, number, looks_first } => spawn_local(async move {
                if looks_first {
                    self.look_for_progress().await;
                }
                let lesson = Box::new(fetch_lesson(course, folder).await);
                self.learned(LessonEvent::Arrived { number, lesson });
            }),
            LessonEffect::Show { lesson, text } => self.show_lesson(&lesson, text),
            LessonEffect::CloseTab => {
                if self.layout.tab.get_untracked() == Tab::Learn {
                    self.layout.tab.set(Tab::Code);
                }
            }
            LessonEffect::Leave { has_link } => {
                self.workspaces.happened(WorkspaceEvent::LessonLeft);
                // A link has opened its own text already.
                if !has_link {
                    self.back_to_kept();
                }
            }
            LessonEffect::Put(text) => self.put_into_editor(&text),
        }
    }

    /// Takes what the database has of the progress, where quick storage has less.
    async fn look_for_progress(self) {
        let later = keeping::later_aside(KEY).await.and_then(|it| LearningProgress::from_json(&it));
        if let Some(later) = later {
            self.learned(LessonEvent::LaterFound(later));
        }
    }

    /// Shows a view from its beginning, where the whole page scrolls, as it does in a low window.
    pub fn to_top(self) {
        page::scroll_to_top();
    }

    fn show_lesson(self, opened: &OpenLesson, text: String) {
        self.set_aside();
        let panes = opened.lesson.head.panes.iter();
        if let Some(open) = OpenStages::of(panes.filter_map(|it| Stage::from_name(it))) {
            self.layout.open.set(open);
        }
        self.layout.lesson_shows_stages.set(opened.lesson.head.layout == "stages");
        self.layout.tab.set(Tab::Learn);
        // The status line still speaks of the lesson before.
        self.status.say(String::new());
        self.workspaces.happened(WorkspaceEvent::LessonShown);
        self.open_text(State { files: [(MAIN.to_owned(), text)].into(), ..State::default() });
    }

    /// Leaves the lesson; the editor keeps the open text.
    pub(super) fn leave_for_editor(self) {
        let is_lesson = self.workspaces.is_lesson.get_untracked();
        self.learned(LessonEvent::LeftWithText { is_lesson });
    }

    /// Puts a text of the lesson into the editor, in place of the draft; one step back brings that again.
    pub fn put_into_editor(self, text: &str) {
        self.editor.show(text);
        self.edit(text.to_owned());
    }

    /// Begins the lesson anew: its start, no answers, no hints.
    pub fn reset_lesson(self) {
        self.learned(LessonEvent::Restarted);
    }

    /// Forgets all progress.
    pub fn reset_progress(self) {
        self.learned(LessonEvent::Forgotten);
    }

    /// Hands out all progress as a file.
    pub fn export_progress(self) {
        files::save(
            "isobar-lessons.json",
            "application/json",
            &self.learn.progress.with_untracked(LearningProgress::to_json),
        );
    }

    /// Takes in the progress of a file.
    pub fn import_progress(self, input: HtmlInputElement) {
        spawn_local(async move {
            let text = files::chosen(&input, MOST_BYTES).await;
            let other = text.and_then(|it| LearningProgress::from_json(&it));
            self.learned(LessonEvent::Imported(other));
            input.set_value("");
        });
    }

    /// Goes to the list of lessons, unless one stands beside the editor.
    pub fn go_learn(self) {
        if !untrack(|| self.learn.is_lesson()) {
            page::go("#/learn");
        }
    }

    /// Goes from a list or a page of the manual back to the text: that of a lesson, where one is open.
    pub fn back_to_text(self) {
        let is_text = untrack(|| self.learn.is_lesson() || self.learn.route.with(|it| *it == Route::Editor));
        if is_text {
            return;
        }
        let lesson = self
            .learn
            .opened
            .with_untracked(|it| it.as_ref().map(|it| format!("#/learn/{}/{}", it.course, it.folder)));
        page::go(&lesson.unwrap_or_default());
    }

    /// Brings a heading of the manual into view once it is drawn; that of a diagnostic is found by its code.
    pub fn scroll_to_heading(self, heading: String) {
        request_animation_frame(move || page::scroll_to_heading(&heading));
    }

    /// Goes to a line of the text.
    pub fn reveal_line(self, line: u32) {
        self.layout.tab.set(Tab::Code);
        self.reveal(isobar_protocol::diagnostic::Position { line, col: 1 });
    }

    /// Shows one hint more.
    pub fn take_hint(self) {
        self.learned(LessonEvent::HintTaken);
    }

    /// Shows the solution, or takes it away again.
    pub fn toggle_solution(self) {
        self.learned(LessonEvent::SolutionAsked);
    }

    /// Takes an answer to a question.
    pub fn answer(self, id: &str, text: String) {
        self.learned(LessonEvent::Answered { question: id.to_owned(), text });
    }

    /// Takes a choice in a quiz.
    pub fn choose_option(self, quiz: &Quiz, at: usize) {
        let is_right = quiz.options.get(at).is_some_and(|it| it.0);
        self.learned(LessonEvent::Chosen { question: quiz.id.clone(), at, is_right });
    }

    /// Holds the text against what the lesson asks. The verdicts stand in the lesson, so its tab stays open.
    pub fn check_lesson(self) {
        if self.learn.opened.with_untracked(Option::is_some) {
            self.ask_run(RunPlan::Lesson);
        }
    }

    /// All that decides the checks of the open lesson.
    pub(super) fn lesson_task(self) -> Option<Task> {
        let opened = self.learn.opened.get_untracked()?;
        let request = untrack(|| self.project.request());
        let answers = untrack(|| self.learn.done()).answers;
        Some(Task { request, solution: opened.solution.clone(), checks: opened.checks.clone(), answers })
    }

    /// Takes what the checks found in an edit.
    pub(super) fn judge_lesson(self, result: LessonResult, revision: u64) {
        self.learned(LessonEvent::Checked { result, revision });
    }
}

async fn fetch_course(name: &str) -> Result<Course, String> {
    let text = files::text(&format!("lessons/{name}/course.toml")).await?;
    course::read_course(&text).map_err(|it| it.to_string())
}

async fn fetch_lesson(course: String, folder: String) -> Result<OpenLesson, String> {
    let at = |name: &str| format!("lessons/{course}/{folder}/{name}");
    let text = files::text(&at("lesson.md")).await?;
    let lesson = course::read_lesson(&text).map_err(|it| format!("lesson.md: {it}"))?;
    let start = files::text(&at("start.py")).await?;
    let solution = files::text(&at("solution.py")).await?;
    let checks = files::text(&at("checks.toml")).await?;
    Ok(OpenLesson { course, folder, lesson, start, solution, checks })
}
