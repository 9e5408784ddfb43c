//! The lesson beside the editor: its text, its task, and what the checks say.

pub mod parts;

use std::sync::Arc;

use isobar_lessons::markdown::Block;
use isobar_page_model::learn::OpenLesson;
use isobar_page_model::route::COURSE;
use isobar_protocol::lesson::Verdict;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::sentences::lesson_trouble;
use crate::state::use_app;
use crate::widgets::article::Prose;
use crate::widgets::prose::prose;
use parts::{AnswerBox, Drawing, Peek, QuizBox, Try};

/// The column of a lesson. Reads the lesson that is open and what was done in it; checks, and shows what was found.
#[component]
pub fn LessonPane() -> impl IntoView {
    let app = use_app();
    let learn = app.learn;
    let opened = Memo::new(move |_| learn.opened.get());
    let text = move || match opened.get() {
        Some(opened) => view! { <Text opened=opened /> }.into_any(),
        None => view! {
            <p class="empty" role="status">
                {move || learn.trouble.get().map_or_else(|| t!("lesson-loading").to_owned(), lesson_trouble)}
            </p>
        }
        .into_any(),
    };
    view! {
        <section
            class="pane pane-lesson"
            aria-label=t!("lesson")
            data-testid="lesson"
            data-lesson=move || opened.get().map(|it| it.folder.clone())
            data-passed=move || learn.done().is_passed.then_some("true")
        >
            {text}
        </section>
    }
}

#[component]
fn Text(opened: Arc<OpenLesson>) -> impl IntoView {
    let app = use_app();
    let number = {
        let folder = opened.folder.clone();
        move || {
            let course = app.learn.course.get()?;
            let at = course.lessons.iter().position(|it| it.folder == folder)?;
            Some((at, course))
        }
    };
    let heading = {
        let number = number.clone();
        move || number().map(|(at, course)| t!("lesson-number", at = at + 1, of = course.lessons.len()))
    };
    let beside = move |by: isize, words: &'static str, test_id: &'static str| {
        let (at, course) = number()?;
        let line = course.lessons.get(at.checked_add_signed(by)?)?;
        let title = line.title.clone();
        let address = format!("#/learn/{COURSE}/{}", line.folder);
        Some(view! { <a class="button" data-testid=test_id href=address title=title>{words}</a> })
    };
    let before = {
        let beside = beside.clone();
        move || beside(-1, t!("lesson-back"), "lesson-previous")
    };
    let next = move || beside(1, t!("lesson-next"), "lesson-next");
    let goals = opened.lesson.head.goals.clone();
    // A lesson begins at its beginning, also in the element of the one before.
    let top = NodeRef::<leptos::html::Div>::new();
    top.on_load(|node| node.set_scroll_top(0));
    view! {
        <div class="lesson-text" node_ref=top tabindex="0" aria-label=t!("lesson-text") role="region">
            <p class="lesson-crumbs">
                <a href="#/learn">{t!("lessons")}</a>" › "{heading}
                <Show when=move || app.learn.done().is_passed>
                    <span class="ok" data-testid="lesson-passed">" ✓ "{t!("learn-passed")}</span>
                </Show>
            </p>
            <h2>{opened.lesson.head.title.clone()}</h2>
            <p class="muted lesson-goals">
                {t!("lesson-goals", minutes = opened.lesson.head.minutes, goals = goals.join(", "))}
            </p>
            {blocks(&opened.lesson.blocks)}
            <Solution opened=opened.clone() />
            <nav class="lesson-beside" aria-label=t!("lesson-beside")>{before}{next}</nav>
        </div>
        <Checks />
    }
}

/// The blocks of a lesson, each run of plain ones as one text.
fn blocks(all: &[Block]) -> Vec<AnyView> {
    let mut views = Vec::new();
    let mut plain: Vec<Block> = Vec::new();
    let mut hints = 0;
    for block in all {
        let Block::Special { name, args, blocks: inner } = block else {
            plain.push(block.clone());
            continue;
        };
        if !plain.is_empty() {
            views.push(view! { <Prose blocks=std::mem::take(&mut plain) /> }.into_any());
        }
        let arg = |key: &str| args.iter().find(|it| it.0 == key).map(|it| it.1.clone()).unwrap_or_default();
        let inner = inner.clone();
        views.push(match name.as_str() {
            "task" => view! {
                <section class="lesson-task" aria-label=t!("lesson-task") data-testid="lesson-task">
                    <h3>{t!("lesson-task")}</h3>
                    <Prose blocks=inner />
                </section>
            }
            .into_any(),
            "hint" => {
                hints += 1;
                view! { <Hint number=hints blocks=inner /> }.into_any()
            }
            "quiz" => isobar_lessons::course::Quiz::of(block)
                .map(|quiz| view! { <QuizBox quiz=quiz /> }.into_any())
                .unwrap_or_else(|| ().into_any()),
            "answer" => view! { <AnswerBox id=arg("id") label=arg("label") /> }.into_any(),
            "figure" => view! { <Drawing name=arg("name") /> }.into_any(),
            "peek" => view! { <Peek stage=arg("stage") /> }.into_any(),
            "try" => view! { <Try blocks=inner /> }.into_any(),
            "more" => view! {
                <details class="lesson-more"><summary>{t!("lesson-more")}</summary><Prose blocks=inner /></details>
            }
            .into_any(),
            _ => view! { <aside class="lesson-note"><Prose blocks=inner /></aside> }.into_any(),
        });
    }
    if !plain.is_empty() {
        views.push(view! { <Prose blocks=plain /> }.into_any());
    }
    views
}

/// A hint, once it was taken.
#[component]
fn Hint(number: u32, blocks: Vec<Block>) -> impl IntoView {
    let app = use_app();
    let is_taken = Memo::new(move |_| app.learn.done().hints >= number);
    view! {
        <Show when=move || is_taken.get()>
            <aside class="lesson-hint" data-testid="hint" aria-label=t!("lesson-hint", number = number)>
                <strong>{t!("lesson-hint", number = number)}</strong>
                <Prose blocks=blocks.clone() />
            </aside>
        </Show>
    }
}

/// The solution, after passing or after three hints; a teacher who presents has none.
#[component]
fn Solution(opened: Arc<OpenLesson>) -> impl IntoView {
    let app = use_app();
    let learn = app.learn;
    let is_open =
        move || learn.shows_solution.get() && learn.done().may_see_solution() && !learn.presents.get();
    view! {
        <Show when=is_open>
            <section class="lesson-solution" aria-label=t!("lesson-solution") data-testid="solution">
                <h3>{t!("lesson-one-solution")}</h3>
                <pre tabindex="0"><code>{opened.solution.clone()}</code></pre>
                <button
                    type="button"
                    on:click={
                        let opened = opened.clone();
                        move |_| app.put_into_editor(&opened.solution)
                    }
                >
                    {t!("lesson-put")}
                </button>
            </section>
        </Show>
    }
}

/// The buttons of a task, and what came of the last check.
#[component]
fn Checks() -> impl IntoView {
    let app = use_app();
    let learn = app.learn;
    let hints = Memo::new(move |_| {
        let opened = learn.opened.get();
        let count = opened.map_or(0, |it| {
            it.lesson
                .blocks
                .iter()
                .filter(|it| matches!(it, Block::Special { name, .. } if name == "hint"))
                .count()
        });
        u32::try_from(count).unwrap_or(0)
    });
    let left = move || hints.get().saturating_sub(learn.done().hints);
    let is_stale = move || {
        let revision = app.project.revision.get();
        learn.verdicts.with(|it| it.as_ref().is_some_and(|it| it.revision != revision))
    };
    let next = move || {
        let folder = learn.opened.get()?.folder.clone();
        let course = learn.course.get()?;
        let at = course.lessons.iter().position(|it| it.folder == folder)?;
        let line = course.lessons.get(at + 1)?;
        let address = format!("#/learn/{COURSE}/{}", line.folder);
        Some(view! {
            <a class="button primary lesson-go-on" data-testid="lesson-go-on" href=address>{t!("lesson-go-on", title = &line.title)}</a>
        })
    };
    let verdicts = move || {
        learn.verdicts.get().map(|it| {
            let checked = it.result;
            let is_passed = checked.is_passed();
            let words = if is_passed { t!("lesson-all-passed") } else { t!("lesson-not-yet") };
            let list = checked.verdicts.iter().cloned().map(verdict).collect_view();
            view! {
                <div
                    class="lesson-verdicts"
                    role="status"
                    data-testid="verdicts"
                    data-state=if is_passed { "passed" } else { "failed" }
                >
                    <p class=if is_passed { "ok" } else { "" }>
                        <strong>{words}</strong>
                        <Show when=is_stale><span class="stage-note">" "{t!("stale")}</span></Show>
                    </p>
                    <ul>{list}</ul>
                    {is_passed.then_some(next)}
                </div>
            }
        })
    };
    let may_see = move || learn.done().may_see_solution() && !learn.presents.get();
    view! {
        <footer class="lesson-checks">
            {verdicts}
            <div class="lesson-buttons">
                <button
                    type="button"
                    class="primary"
                    data-testid="check-lesson"
                    disabled=move || app.run.is_working()
                    on:click=move |_| app.check_lesson()
                >
                    {t!("lesson-check")}
                </button>
                <button
                    type="button"
                    data-testid="take-hint"
                    disabled=move || left() == 0
                    on:click=move |_| app.take_hint()
                >
                    {move || match left() {
                        0 => t!("lesson-no-hints").to_owned(),
                        left => t!("lesson-hints-left", count = left),
                    }}
                </button>
                <Show when=may_see>
                    <button
                        type="button"
                        data-testid="show-solution"
                        aria-pressed=move || if learn.shows_solution.get() { "true" } else { "false" }
                        on:click=move |_| app.toggle_solution()
                    >
                        {t!("lesson-solution")}
                    </button>
                </Show>
                <button
                    type="button"
                    class="quiet"
                    data-testid="reset-lesson"
                    title=t!("lesson-over-about")
                    on:click=move |_| app.reset_lesson()
                >
                    {t!("lesson-over")}
                </button>
                <button
                    type="button"
                    class="quiet lesson-swap"
                    title=t!("lesson-swap")
                    on:click=move |_| app.layout.lesson_shows_stages.update(|it| *it = !*it)
                >
                    {move || if app.layout.lesson_shows_stages.get() { t!("lesson-show-picture") } else { t!("lesson-show-levels") }}
                </button>
            </div>
        </footer>
    }
}

fn verdict(it: Verdict) -> impl IntoView {
    let app = use_app();
    let sign = if it.is_passed { "✓" } else { "✕" };
    let line = it.line;
    view! {
        <li
            class="verdict"
            data-testid="verdict"
            data-kind=it.kind
            data-state=if it.is_passed { "passed" } else { "failed" }
        >
            <span class="verdict-sign" aria-hidden="true">{sign}</span>
            <span class="verdict-words">
                <span class="visually-hidden">{if it.is_passed { t!("lesson-check-passed") } else { t!("lesson-check-failed") }}" "</span>
                {it.title}
                {(!it.message.is_empty()).then(|| view! { <span class="verdict-found">{prose(&it.message)}</span> })}
                {(!it.hint.is_empty()).then(|| view! { <span class="verdict-hint">{prose(&it.hint)}</span> })}
                {line.map(|line| view! {
                    <button type="button" class="quiet" on:click=move |_| app.reveal_line(line)>{t!("go-to-line", line = line)}</button>
                })}
            </span>
        </li>
    }
}
