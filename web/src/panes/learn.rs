//! The list of lessons, with what was done in each.

use isobar_page_model::route::COURSE;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::sentences::lesson_trouble;
use crate::state::use_app;

/// A course, lesson by lesson. Reads the course and the progress; resets, hands out and takes in progress.
#[component]
pub fn LearnView() -> impl IntoView {
    let app = use_app();
    let learn = app.learn;
    let list = move || {
        let course = learn.course.get()?;
        let n_passed = course
            .lessons
            .iter()
            .filter(|it| learn.done_in(&format!("{COURSE}/{}", it.folder)).is_passed)
            .count();
        let first_open = course
            .lessons
            .iter()
            .position(|it| !learn.done_in(&format!("{COURSE}/{}", it.folder)).is_passed)
            .unwrap_or(0);
        let next = course.lessons.get(first_open).cloned().unwrap_or_default();
        let next_link = address(&next.folder);
        let begin = if n_passed == 0 { t!("learn-start") } else { t!("learn-go-on") };
        let lines = course.lessons.iter().enumerate().map(|(at, line)| {
            let done = learn.done_in(&format!("{COURSE}/{}", line.folder));
            let (sign, state) = match (done.is_passed, done.draft.is_some()) {
                (true, _) => ("✓", "passed"),
                (false, true) => ("…", "begun"),
                (false, false) => ("", "new"),
            };
            let word = match state {
                "passed" => format!(" ({})", t!("learn-passed")),
                "begun" => format!(" ({})", t!("learn-begun")),
                _ => String::new(),
            };
            view! {
                <li class="lesson-card" data-testid="lesson-card" data-state=state>
                    <a href=address(&line.folder)>
                        <span class="lesson-number" aria-hidden="true">
                            {if sign == "✓" { sign.to_owned() } else { (at + 1).to_string() }}
                        </span>
                        <span class="lesson-words">
                            <span class="lesson-title">
                                {line.title.clone()}<span class="visually-hidden">{word}</span>
                            </span>
                            <span class="muted">{line.about.clone()}</span>
                        </span>
                        <span class="muted lesson-minutes">{t!("learn-minutes", minutes = line.minutes)}</span>
                    </a>
                </li>
            }
        });
        Some(view! {
            <header class="sheet-head">
                <h2>{course.title.clone()}</h2>
                <p class="sheet-about">{course.about.clone()}</p>
                <p class="muted">
                    {course.prerequisites.join(", ")}". "{t!("learn-about", count = course.lessons.len())}
                </p>
            </header>
            <div class="learn-next">
                <a class="button primary" data-testid="learn-next" href=next_link>{begin}</a>
                <span class="learn-bar">
                    <progress max=course.lessons.len().to_string() value=n_passed.to_string() aria-label=t!("learn-progress")></progress>
                    <span class="muted">{t!("learn-n-passed", count = n_passed, all = course.lessons.len())}</span>
                </span>
            </div>
            <ol class="lesson-list">{lines.collect_view()}</ol>
        })
    };
    view! {
        <main class="sheet" aria-label=t!("lessons") data-testid="learn-view">
            <div class="sheet-body">
                {move || learn.trouble.get().map(|it| view! { <p class="warn" role="alert">{lesson_trouble(it)}</p> })}
                {move || list().map_or_else(|| view! { <p class="muted" role="status">{t!("learn-loading")}</p> }.into_any(), IntoAny::into_any)}
                <Keep />
            </div>
        </main>
    }
}

fn address(folder: &str) -> String {
    format!("#/learn/{COURSE}/{folder}")
}

/// Actions on the learner's progress.
#[component]
fn Keep() -> impl IntoView {
    let app = use_app();
    let is_sure = RwSignal::new(false);
    view! {
        <footer class="learn-keep">
            <p class="muted">{t!("learn-kept")}</p>
            <button type="button" data-testid="progress-export" on:click=move |_| app.export_progress()>{t!("learn-export")}</button>
            <label class="button">
                {t!("learn-import")}
                <input
                    type="file"
                    accept="application/json"
                    class="visually-hidden"
                    data-testid="progress-import"
                    on:change:target=move |event| app.import_progress(event.target())
                />
            </label>
            <Show
                when=move || is_sure.get()
                fallback=move || view! {
                    <button type="button" data-testid="progress-reset" on:click=move |_| is_sure.set(true)>{t!("learn-reset")}</button>
                }
            >
                <span class="learn-sure" role="group" aria-label=t!("learn-reset-about")>
                    {t!("learn-reset-sure")}
                    " "
                    <button
                        type="button"
                        class="danger"
                        data-testid="progress-reset-sure"
                        on:click=move |_| {
                            app.reset_progress();
                            is_sure.set(false);
                        }
                    >
                        {t!("learn-delete")}
                    </button>
                    <button type="button" on:click=move |_| is_sure.set(false)>{t!("learn-keep")}</button>
                </span>
            </Show>
            <Show when=move || !app.learn.presents.get()>
                <a href="#/learn?present">{t!("learn-present")}</a>
            </Show>
        </footer>
    }
}
