//! Lessons are opened, checked and left; the address says which.

use std::sync::Arc;

use isobar_compiler::pipeline::Stage;
use isobar_lessons::course::{self, Quiz};
use isobar_page_model::open::OpenStages;
use isobar_page_model::progress::{LearningProgress, LessonProgress};
use isobar_page_model::project::MAIN;
use isobar_page_model::route::{COURSE, Route};
use isobar_page_model::run::RunPlan;
use isobar_page_model::workspaces::WorkspaceEvent;
use isobar_protocol::lesson::{LessonResult, Task};
use isobar_protocol::share::State;
use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::HtmlInputElement;

use crate::bridge::locale::t;
use crate::bridge::storage::{self, Shelf};
use crate::bridge::{files, page};
use crate::state::App;
use crate::state::keeping::{self, DeferredSave};
use crate::state::layout::Tab;
use crate::state::learn::{KEY, OpenLesson};

/// No file of progress is larger.
const MOST_BYTES: f64 = 4.0 * 1024.0 * 1024.0;

impl App {
    /// Goes where the address says, now and whenever it changes.
    pub(super) fn follow_address(self) {
        let go = move || {
            let fragment = page::fragment();
            let (route, presents) = Route::of(&fragment);
            if presents || matches!(route, Route::Editor) {
                self.learn.presents.set(presents);
            }
            self.go(route, fragment.contains("s="));
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
                self.learn.note(|it| it.draft = Some(text));
            }
        });
    }

    fn go(self, route: Route, is_link: bool) {
        self.learn.trouble.set(None);
        self.to_top();
        // The steps pause while the editor is not shown.
        if route != Route::Editor {
            self.pause();
        }
        match &route {
            Route::Editor => self.leave_lesson(is_link),
            Route::Lesson { course, folder } => self.open_lesson(course.clone(), folder.clone()),
            Route::Learn => {
                self.load_course(COURSE);
                spawn_local(self.take_later_progress());
            }
            Route::Gallery(Some(name)) => self.open_gallery(name),
            Route::Gallery(None) => {}
            Route::Manual(page, _) => self.reference.open_manual(page.clone()),
        }
        if !matches!(route, Route::Gallery(Some(_))) {
            self.learn.route.set(route);
        }
    }

    /// Takes what the database has of the progress, where quick storage has less.
    async fn take_later_progress(self) {
        if self.learn.has_looked.get_value() {
            return;
        }
        self.learn.has_looked.set_value(true);
        let later = keeping::later_aside(KEY).await.and_then(|it| LearningProgress::from_json(&it));
        if let Some(mut later) = later {
            later.merge(self.learn.progress.get_untracked());
            self.learn.progress.set(later);
        }
    }

    /// Shows a view from its beginning, where the whole page scrolls, as it does in a low window.
    pub fn to_top(self) {
        page::scroll_to_top();
    }

    fn load_course(self, name: &str) {
        if self.learn.course.with_untracked(Option::is_some) {
            return;
        }
        let path = format!("lessons/{name}/course.toml");
        spawn_local(async move {
            match files::text(&path)
                .await
                .and_then(|it| course::read_course(&it).map_err(|it| it.to_string()))
            {
                Ok(course) => self.learn.course.set(Some(Arc::new(course))),
                Err(why) => self.learn.trouble.set(Some(why)),
            }
        });
    }

    fn open_lesson(self, course: String, folder: String) {
        self.load_course(&course);
        let is_open = self
            .learn
            .opened
            .with_untracked(|it| it.as_ref().is_some_and(|it| it.course == course && it.folder == folder));
        if is_open && self.workspaces.is_lesson.get_untracked() {
            return;
        }
        let number = self.learn.asks();
        spawn_local(async move {
            self.take_later_progress().await;
            let fetched = fetch_lesson(course, folder).await;
            if self.learn.asked.get_value() != number {
                return;
            }
            match fetched {
                Ok(opened) => self.show_lesson(opened),
                Err(why) => self.learn.trouble.set(Some(why)),
            }
        });
    }

    fn show_lesson(self, opened: OpenLesson) {
        self.set_aside();
        let done = untrack(|| self.learn.done_in(&opened.name()));
        let text = done.draft.unwrap_or_else(|| opened.start.clone());
        let panes = opened.lesson.head.panes.iter();
        if let Some(open) = OpenStages::of(panes.filter_map(|it| Stage::from_name(it))) {
            self.layout.open.set(open);
        }
        self.layout.lesson_shows_stages.set(opened.lesson.head.layout == "stages");
        self.layout.tab.set(Tab::Learn);
        self.learn.checked.set(None);
        // The status line still speaks of the lesson before.
        self.status.say(String::new());
        self.learn.shows_solution.set(false);
        // Before the text: what is typed from now on belongs to this lesson.
        self.learn.opened.set(Some(Arc::new(opened)));
        self.workspaces.happened(WorkspaceEvent::LessonShown);
        self.open_text(State { files: [(MAIN.to_owned(), text)].into(), ..State::default() });
    }

    /// Leaves the lesson; the editor keeps the open text.
    pub(super) fn leave_for_editor(self) {
        self.leave_lesson(true);
        self.learn.route.set(Route::Editor);
    }

    fn leave_lesson(self, is_link: bool) {
        self.learn.asks();
        self.learn.opened.set(None);
        if self.layout.tab.get_untracked() == Tab::Learn {
            self.layout.tab.set(Tab::Code);
        }
        if !self.workspaces.is_lesson.get_untracked() {
            return;
        }
        self.workspaces.happened(WorkspaceEvent::LessonLeft);
        // A link has opened its own text already.
        if !is_link {
            self.back_to_kept();
        }
    }

    /// Puts a text of the lesson into the editor, in place of the draft; one step back brings that again.
    pub fn put_into_editor(self, text: &str) {
        self.editor.show(text);
        self.edit(text.to_owned());
    }

    /// Begins the lesson anew: its start, no answers, no hints.
    pub fn reset_lesson(self) {
        let Some(opened) = self.learn.opened.get_untracked() else { return };
        self.learn.note(|it| *it = LessonProgress { is_passed: it.is_passed, ..LessonProgress::default() });
        self.learn.checked.set(None);
        self.learn.shows_solution.set(false);
        self.put_into_editor(&opened.start);
    }

    /// Forgets all progress.
    pub fn reset_progress(self) {
        self.learn.progress.set(LearningProgress { version: 1, ..LearningProgress::default() });
        self.learn.checked.set(None);
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
            match text.and_then(|it| LearningProgress::from_json(&it)) {
                Some(other) => {
                    self.learn.progress.update(|it| it.merge(other));
                    self.learn.trouble.set(None);
                }
                None => {
                    self.learn.trouble.set(Some(t!("state-learn-no-progress").to_owned()));
                }
            }
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
        self.learn.note(|it| it.hints += 1);
    }

    /// Takes an answer to a question.
    pub fn answer(self, id: &str, text: String) {
        self.learn.note(|it| {
            it.answers.insert(id.to_owned(), text);
        });
    }

    /// Takes a choice in a quiz.
    pub fn choose_option(self, quiz: &Quiz, at: usize) {
        let is_right = quiz.options.get(at).is_some_and(|it| it.0);
        self.learn.note(|it| {
            it.chosen.insert(quiz.id.clone(), at);
            it.answers.insert(quiz.id.clone(), if is_right { "right" } else { "wrong" }.to_owned());
        });
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
    pub(super) fn judge_lesson(self, checked: LessonResult, revision: u64) {
        let is_passed = checked.is_passed();
        self.learn.checked_revision.set(revision);
        self.learn.checked.set(Some(Arc::new(checked)));
        self.learn.note(|it| {
            it.checks += 1;
            it.is_passed |= is_passed;
        });
    }
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
