//! What runs gave: fields, comparison, timings, measurements; and how a run stands.

use leptos::prelude::*;

use super::benchmark::Measurement;
use super::compare::Comparison;
use super::decisions::Decisions;
use super::field::FieldPane;
use super::problems::problem;
use super::timings::Timings;
use crate::state::run::Phase;
use crate::state::use_app;

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
    view! {
        <section
            class="pane pane-result"
            aria-label="Result"
            tabindex="-1"
            data-testid="run-result"
            data-state=state
            data-backend=backend
        >
            <Progress />
            <Failure />
            <Comparison />
            <FieldPane />
            <Timings />
            <Measurement />
            <Decisions />
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
                Some((done, total)) => format!("{}: {done} of {total}", it.text),
                None => it.text.clone(),
            })
        })
    };
    view! {
        <Show when=move || progress.with(Option::is_some)>
            <div
                class="progress"
                role="progressbar"
                aria-label="Run"
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
                    <p>{failure.message}</p>
                    {failure.next.into_iter().map(|it| view! { <p class="muted">{it}</p> }).collect_view()}
                    <ul class="problems">
                        {failure.diagnostics.into_iter().map(|it| problem(app, it)).collect_view()}
                    </ul>
                </div>
            }
        })
    }
}
