//! The results of runs: fields, comparison, timings, measurements; and the state of a run.

use isobar_page_model::run::Phase;
use leptos::prelude::*;

use super::clock::ClockPane;
use super::field::FieldPane;
use super::problems::problem;
use super::timings::Timings;
use crate::bridge::locale::t;
use crate::state::use_app;
use crate::widgets::later::Later;

/// The column of results. Reads the run.
#[component]
pub fn ResultPane() -> impl IntoView {
    let app = use_app();
    let phase = app.run.phase;
    let state = move || {
        phase.with(|it| match it {
            Phase::Empty => "empty",
            Phase::Working(_) => "working",
            Phase::Done(_) => "done",
            Phase::Failed => "failed",
            Phase::Cancelled => "cancelled",
        })
    };
    let backend = move || {
        phase.with(|it| match it {
            Phase::Done(backend) | Phase::Working(backend) => Some(backend.clone()),
            Phase::Empty | Phase::Failed | Phase::Cancelled => None,
        })
    };
    let has_differences = Signal::derive(move || app.run.differences.with(Option::is_some));
    view! {
        <section
            class="pane pane-result"
            aria-label=t!("result")
            tabindex="-1"
            data-testid="run-result"
            data-state=state
            data-backend=backend
        >
            <Progress />
            <Failure />
            <Later name="comparison" when=has_differences />
            <FieldPane><ClockPane /></FieldPane>
            <Timings />
            <Later name="benchmark" when=false />
            <Later name="decisions" when=false />
        </section>
    }
}

/// How far a run is. Kept until the next one, so that its last word can be read.
#[component]
fn Progress() -> impl IntoView {
    let app = use_app();
    let progress = app.run.progress;
    let part = move || {
        let steps = progress.with(|it| it.as_ref().and_then(|it| it.steps));
        #[expect(clippy::cast_precision_loss, reason = "a bar of some hundred pixels")]
        steps.map(|(done, total)| if total == 0 { 0.0 } else { done as f64 / total as f64 })
    };
    let text = move || {
        progress.with(|it| {
            it.as_ref().map(|it| match it.steps {
                Some((done, total)) => format!("{}: {} %", it.text, 100 * done / total.max(1)),
                None => it.text.clone(),
            })
        })
    };
    view! {
        <Show when=move || progress.with(Option::is_some)>
            <div
                class="progress"
                role="progressbar"
                aria-label=t!("result-run")
                aria-valuemin="0"
                aria-valuemax="1"
                aria-valuenow=move || part().map(|it| format!("{it:.2}"))
                data-testid="progress"
                data-working=move || app.run.is_working().then_some("true")
            >
                <div class="progress-track">
                    <div
                        class="progress-bar"
                        class:endless=move || app.run.is_working() && part().is_none()
                        style:width=move || {
                            let done = if app.run.is_working() { part().unwrap_or(0.3) } else { 1.0 };
                            format!("{:.1}%", done * 100.0)
                        }
                    ></div>
                </div>
                <span class="progress-text">{text}</span>
            </div>
        </Show>
        <Show when=move || app.run.is_long.get() && app.run.is_working()>
            <div class="notice" role="status" data-testid="long-run">
                <span>{t!("result-long")}</span>
                <Show when=move || app.run.backend.get() == "debug">
                    <button type="button" data-testid="instead-numpy" on:click=move |_| app.run_instead("here:numpy")>
                        {t!("result-instead-numpy")}
                    </button>
                </Show>
                <Show when=move || app.connection.is_there()>
                    <button
                        type="button"
                        data-testid="instead-runner"
                        on:click=move |_| app.run_instead(&format!("runner:{}", app.connection.backend.get_untracked()))
                    >
                        {t!("result-instead-runner")}
                    </button>
                </Show>
            </div>
        </Show>
    }
}

/// Why the run ended without a result.
#[component]
fn Failure() -> impl IntoView {
    let app = use_app();
    move || {
        app.run.failure.get().map(|failure| {
            view! {
                <div class="failure" role="alert" data-testid="run-error">
                    <p>
                        {failure.message}
                        <Show when=move || app.run.is_failure_old.get()><span class="stage-note">" "{t!("stale")}</span></Show>
                    </p>
                    {failure.next.into_iter().map(|it| view! { <p class="muted">{it}</p> }).collect_view()}
                    <ul class="problems">
                        {failure.diagnostics.into_iter().map(|it| problem(app, it)).collect_view()}
                    </ul>
                </div>
            }
        })
    }
}
