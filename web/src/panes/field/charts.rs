//! Profiles, lines, histograms and what happens from step to step.

use isobar_page_model::findings::number;
use leptos::prelude::*;

use super::describe;
use crate::bridge::locale::t;
use crate::content::charts::{histogram, line, time};
use crate::content::field::{letter, quantity, subject};
use crate::plots::chart::Chart;
use crate::plots::export::PlotDrawing;
use crate::plots::figure::ChartFigure;
use crate::state::App;
use crate::state::look::PictureKind;
use crate::state::use_app;

/// The chart of the present view; `None` while nothing is known, and for planes.
pub(super) fn chart(app: App) -> Option<Chart> {
    let look = app.view.look;
    let field = app.view.shown_field()?;
    let which = app.view.which.get();
    let documented = describe::documented(app, &field.name);
    let quantity = quantity(which, &field.name, &documented.unit);
    let subject = format!("{}{}", subject(which, &field.name), describe::element(app));
    let chart = match look.kind.get() {
        PictureKind::Plane => return None,
        PictureKind::Profile | PictureKind::Line => line(&*look.line.get()?, &subject, quantity),
        PictureKind::Histogram => {
            let found = if look.is_of_all.get() { look.whole.get()? } else { look.plane.get()? };
            let at = app.view.cursor()?[number(app.view.across.get())];
            let of = if look.is_of_all.get() {
                format!(", {}", t!("whole-field"))
            } else {
                format!(", {} = {at}", letter(app.view.across.get()))
            };
            histogram(&found, format!("{subject}{of}"), quantity)
        }
        PictureKind::Time => time(&look.records.get(), &field.name, &subject, quantity)?,
    };
    Some(Chart { note: documented.title, ..chart })
}

/// The chart that the context says is drawn.
#[must_use]
pub fn later() -> AnyView {
    view! { <Charts drawn=expect_context() /> }.into_any()
}

/// The chart of the present view, or why there is none.
#[component]
pub fn Charts(drawn: Memo<Option<PlotDrawing>>) -> impl IntoView {
    let app = use_app();
    let chart = Signal::derive(move || {
        drawn.with(|it| match it {
            Some(PlotDrawing::Chart(chart)) => Some(chart.clone()),
            Some(PlotDrawing::Plane(_)) | None => None,
        })
    });
    let label = Signal::derive(move || {
        chart.with(|it| {
            it.as_ref().map_or_else(String::new, |it| {
                let title = &it.title;
                match app.view.look.kind.get() {
                    PictureKind::Profile => t!("chart-label-profile", title = title),
                    PictureKind::Histogram => t!("chart-label-histogram", title = title),
                    PictureKind::Time => t!("chart-label-time", title = title),
                    PictureKind::Line | PictureKind::Plane => t!("chart-label-line", title = title),
                }
            })
        })
    });
    let is_empty_time = move || app.view.look.kind.get() == PictureKind::Time && chart.with(Option::is_none);
    view! {
        <div class="picture" class:waiting=move || chart.with(Option::is_none)>
            <Show
                when=move || !is_empty_time()
                fallback=|| view! { <p class="empty-chart" data-testid="no-steps">{t!("chart-no-steps")}</p> }
            >
                <ChartFigure chart=chart label=label test_id="field-chart" />
            </Show>
        </div>
    }
}
