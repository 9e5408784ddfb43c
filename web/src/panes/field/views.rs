//! Which view of the field, and where in it.

use isobar_page_model::findings::number;
use isobar_protocol::worker::Across;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::content::field::letter;
use crate::state::look::PictureKind;
use crate::state::use_app;
use crate::state::view::points_along;
use crate::widgets::tabs::{TabChoice, Tabs};

/// A view by its name, its kind, and its axis across or along.
const VIEWS: [(&str, PictureKind, Option<Across>); 7] = [
    ("plan", PictureKind::Plane, Some(Across::K)),
    ("section-j", PictureKind::Plane, Some(Across::J)),
    ("section-i", PictureKind::Plane, Some(Across::I)),
    ("profile", PictureKind::Profile, None),
    ("line", PictureKind::Line, None),
    ("histogram", PictureKind::Histogram, None),
    ("time", PictureKind::Time, None),
];

/// The name of a view.
fn title(kind: PictureKind, across: Option<Across>) -> &'static str {
    match (kind, across) {
        (PictureKind::Plane, Some(Across::I)) => "j–k",
        (PictureKind::Plane, Some(Across::J)) => "i–k",
        (PictureKind::Plane, _) => t!("views-plan"),
        (PictureKind::Profile, _) => t!("views-profile"),
        (PictureKind::Line, _) => t!("views-line"),
        (PictureKind::Histogram, _) => t!("views-histogram"),
        (PictureKind::Time, _) => t!("views-time"),
    }
}

/// The views as tabs. Reads and changes the view.
#[component]
pub fn Views() -> impl IntoView {
    let app = use_app();
    let view = app.view;
    let chosen = Signal::derive(move || {
        let (kind, across) = (view.look.kind.get(), view.across.get());
        let found = VIEWS.iter().find(|it| it.1 == kind && it.2.is_none_or(|it| it == across));
        found.map(|it| it.0.to_owned()).unwrap_or_default()
    });
    let choose = move |name: String| {
        if let Some((_, kind, across)) = VIEWS.iter().find(|it| it.0 == name) {
            if let Some(across) = across {
                app.view.choose_across(*across);
            }
            view.look.kind.set(*kind);
        }
    };
    let choices = VIEWS
        .iter()
        .map(|(name, kind, across)| TabChoice {
            name: (*name).to_owned(),
            title: title(*kind, *across).to_owned(),
            test_id: Some(format!("view-{name}")),
            controls: Some("field-body".to_owned()),
        })
        .collect();
    view! {
        <div class="view-tabs">
            <Tabs label=t!("views") choices=choices chosen=chosen on_choose=choose test_id="view-tabs" />
        </div>
    }
}

/// Sliders for the axes that the view does not show. Reads and changes the view.
#[component]
pub fn Position() -> impl IntoView {
    let app = use_app();
    let look = app.view.look;
    let axes = Memo::new(move |_| {
        let field = app.view.shown_field();
        let has =
            |axis: &Across| field.as_ref().is_some_and(|it| points_along(it, *axis).is_some_and(|it| it > 1));
        let wanted: &[Across] = match look.kind.get() {
            PictureKind::Plane => &[app.view.across.get()],
            PictureKind::Profile => &[Across::I, Across::J],
            PictureKind::Line if look.line_along.get() == Across::I => &[Across::J, Across::K],
            PictureKind::Line => &[Across::I, Across::K],
            PictureKind::Histogram if look.is_of_all.get() => &[],
            PictureKind::Histogram => &[app.view.across.get()],
            PictureKind::Time => &[Across::I, Across::J, Across::K],
        };
        wanted.iter().copied().filter(has).collect::<Vec<_>>()
    });
    view! {
        <div class="plane">
            <Along />
            <Element />
            <For each=move || axes.get() key=|axis| number(*axis) children=move |axis| view! { <Slider axis=axis /> } />
        </div>
    }
}

/// A position along one axis.
#[component]
fn Slider(axis: Across) -> impl IntoView {
    let app = use_app();
    let points =
        Memo::new(move |_| app.view.shown_field().and_then(|it| points_along(&it, axis)).unwrap_or(1));
    let last = move || points.get().saturating_sub(1);
    let at = move || app.view.cursor().map_or(0, |it| it[number(axis)]);
    let is_plane = move || {
        let kind = app.view.look.kind.get();
        matches!(kind, PictureKind::Plane | PictureKind::Histogram) && app.view.across.get() == axis
    };
    let test_id =
        move || if is_plane() { "k-slider".to_owned() } else { format!("cell-slider-{}", letter(axis)) };
    view! {
        <label class="level">
            <span class="number">{letter(axis)}" = "{move || at().to_string()}</span>
            <input
                type="range"
                data-testid=test_id
                min="0"
                max=move || last().to_string()
                prop:value=move || at().to_string()
                aria-label=t!("views-position", axis = letter(axis))
                on:input:target=move |event| {
                    let Ok(at) = event.target().value().parse::<u64>() else { return };
                    if app.view.across.get_untracked() == axis {
                        app.view.choose_at(at);
                    } else if let Ok(at) = i64::try_from(at) {
                        app.view.move_cell(axis, at);
                    }
                }
            />
        </label>
    }
}

/// Along which axis a line goes, and of what a histogram is.
#[component]
fn Along() -> impl IntoView {
    let app = use_app();
    let look = app.view.look;
    let line = move || {
        view! {
            <select
                aria-label=t!("views-axis")
                data-testid="line-select"
                prop:value=move || letter(look.line_along.get())
                on:change:target=move |event| {
                    look.line_along.set(if event.target().value() == "j" { Across::J } else { Across::I });
                }
            >
                <option value="i">{t!("views-along", axis = "i")}</option>
                <option value="j">{t!("views-along", axis = "j")}</option>
            </select>
        }
    };
    let histogram = move || {
        view! {
            <select
                aria-label=t!("views-of-what")
                data-testid="histogram-select"
                prop:value=move || if look.is_of_all.get() { "field" } else { "plane" }
                on:change:target=move |event| look.is_of_all.set(event.target().value() == "field")
            >
                <option value="plane">{move || t!("this-plane", axis = letter(app.view.across.get()))}</option>
                <option value="field">{t!("whole-field")}</option>
            </select>
        }
    };
    move || match look.kind.get() {
        PictureKind::Line => line().into_any(),
        PictureKind::Histogram => histogram().into_any(),
        PictureKind::Plane | PictureKind::Profile | PictureKind::Time => ().into_any(),
    }
}

/// Which element of the data dimensions, where the field has some. Reads and changes the view.
#[component]
fn Element() -> impl IntoView {
    let app = use_app();
    let view = app.view;
    let field = Memo::new(move |_| app.view.shown_field().filter(|it| it.n_elements() > 1));
    let last = move || field.with(|it| it.as_ref().map_or(0, |it| it.n_elements() - 1));
    let at = move || view.element.get().min(last());
    let index = move || field.with(|it| it.as_ref().map(|it| format!("{:?}", it.data_index(at()))));
    view! {
        <Show when=move || field.with(Option::is_some)>
            <label class="level">
                <span class="number">{index}</span>
                <input
                    type="range"
                    data-testid="element-slider"
                    min="0"
                    max=move || last().to_string()
                    prop:value=move || at().to_string()
                    aria-label=t!("views-element")
                    on:input:target=move |event| {
                        if let Ok(at) = event.target().value().parse() {
                            view.element.set(at);
                        }
                    }
                />
            </label>
        </Show>
    }
}
