//! The fields of a result, plane by plane.

use std::sync::Arc;

use isobar_protocol::field::FieldInfo;
use isobar_protocol::worker::{Across, Which};
use leptos::prelude::*;

use crate::plots::colormap::{Colormap, Range};
use crate::plots::number::{exact, short};
use crate::plots::raster::Rows;
use crate::plots::slice::{ColourStrip, Picture, SliceCanvas};
use crate::state::use_app;
use crate::state::view::{Span, points_along};

/// A picture of the chosen field with its numbers. Reads results and view; changes the view.
#[component]
pub fn FieldPane() -> impl IntoView {
    let app = use_app();
    let has_result = move || app.outcome().is_some();
    view! {
        <section class="fields" aria-label="Fields">
            <div class="pane-head">
                <h2>"Fields"</h2>
                <FieldChoice />
                <WhichChoice />
            </div>
            <Show
                when=has_result
                fallback=move || view! {
                    <div class="empty">
                        <p>"Nothing has run yet."</p>
                        <button
                            type="button"
                            disabled=move || app.run.is_working() || (app.compilation.n_errors() > 0)
                            on:click=move |_| app.run_here()
                        >
                            "Run to see fields"
                        </button>
                    </div>
                }
            >
                <Provenance />
                <Picturing />
            </Show>
        </section>
    }
}

#[component]
fn FieldChoice() -> impl IntoView {
    let app = use_app();
    let names = Memo::new(move |_| {
        app.outcome()
            .map(|it| it.fields.iter().map(|it| it.name.clone()).collect::<Vec<_>>())
            .unwrap_or_default()
    });
    let chosen = Memo::new(move |_| app.shown_field().map(|it| it.name).unwrap_or_default());
    view! {
        <Show when=move || !names.with(Vec::is_empty)>
            <label class="control">
                <span class="visually-hidden">"Field"</span>
                <select
                    data-testid="field-select"
                    prop:value=move || chosen.get()
                    on:change:target=move |event| app.choose_field(event.target().value())
                >
                    {move || names
                        .get()
                        .into_iter()
                        .map(|it| {
                            let name = it.clone();
                            view! { <option value=it.clone() selected=move || chosen.get() == name>{it.clone()}</option> }
                        })
                        .collect_view()}
                </select>
            </label>
        </Show>
    }
}

/// A, B, or A less B.
#[component]
fn WhichChoice() -> impl IntoView {
    let app = use_app();
    let (a, b, which) = (app.run.a, app.run.b, app.view.which);
    let button = move |of: Which, text: &'static str, title: &'static str, is_there: Signal<bool>| {
        view! {
            <button
                type="button"
                title=title
                aria-pressed=move || if which.get() == of { "true" } else { "false" }
                disabled=move || !is_there.get()
                on:click=move |_| which.set(of)
            >
                {text}
            </button>
        }
    };
    let has_a = Signal::derive(move || a.with(Option::is_some));
    let has_b = Signal::derive(move || b.with(Option::is_some));
    let has_both = Signal::derive(move || has_a.get() && has_b.get());
    view! {
        <div class="joined" role="group" aria-label="Result" data-testid="which">
            {button(Which::A, "A", "this tab's", has_a)}
            {button(Which::B, "B", "the runner's", has_b)}
            {button(Which::Difference, "A−B", "their difference", has_both)}
        </div>
    }
}

/// Where the numbers come from: always visible.
#[component]
fn Provenance() -> impl IntoView {
    let app = use_app();
    let text = move || {
        let one = |name: &str, outcome: &crate::state::run::Outcome| {
            let [i, j, k] = outcome.domain;
            format!("{name}: {} fp{}, {i}×{j}×{k}, {}", outcome.backend, outcome.precision, outcome.machine)
        };
        let a = app.run.a.get().map(|it| one("A", &it));
        let b = app.run.b.get().map(|it| one("B", &it));
        match app.view.which.get() {
            Which::A => a.unwrap_or_default(),
            Which::B => b.unwrap_or_default(),
            Which::Difference => format!("{} less {}", a.unwrap_or_default(), b.unwrap_or_default()),
        }
    };
    let is_old = move || app.outcome().is_some_and(|it| it.revision != app.project.revision.get());
    view! {
        <p class="muted provenance" data-testid="provenance">
            {text}
            <Show when=is_old><span class="stage-note">" from before your edit"</span></Show>
        </p>
    }
}

#[component]
fn Picturing() -> impl IntoView {
    let app = use_app();
    let view = app.view;
    let shown = view.shown;
    let is_difference =
        move || shown.with(|it| it.as_ref().is_some_and(|it| it.slice.of == Which::Difference));
    let map = Signal::derive(move || if is_difference() { Colormap::RdBu } else { Colormap::Viridis });
    let range = Memo::new(move |_| {
        let of_plane = || shown.with(|it| it.as_ref().map(|it| Range::of(&it.values)));
        let of_field = || {
            let statistics = app.shown_field()?.statistics;
            Some(Range { low: statistics.min?, high: statistics.max? })
        };
        let range = match view.span.get() {
            Span::Field if !is_difference() => of_field().or_else(of_plane),
            Span::Field | Span::Plane => of_plane(),
        };
        let range = range.unwrap_or(Range { low: 0.0, high: 0.0 });
        if is_difference() { range.centred() } else { range }
    });
    let picture = Signal::derive(move || {
        let shown = shown.get()?;
        let size = |n: u64| usize::try_from(n).unwrap_or(0);
        Some(Picture {
            values: Arc::new(shown.values.clone()),
            width: size(shown.slice.width),
            height: size(shown.slice.height),
            map: map.get(),
            range: range.get(),
            // The first level is the top of the atmosphere.
            rows: if shown.slice.plane.across == Across::K { Rows::Upward } else { Rows::Downward },
            is_dark: app.settings.is_dark.get(),
        })
    });
    let cursor = RwSignal::new(None::<(usize, usize)>);
    let level = Signal::derive(move || shown.with(|it| it.as_ref().map_or(0, |it| it.slice.plane.at)));
    let label = Signal::derive(move || {
        shown.with(|it| {
            it.as_ref().map_or_else(String::new, |it| {
                format!(
                    "{} at {} = {}, {} by {} points; arrow keys move from cell to cell",
                    it.slice.field,
                    letter(it.slice.plane.across),
                    it.slice.plane.at,
                    it.slice.width,
                    it.slice.height
                )
            })
        })
    });
    let under_pointer = move || {
        let (column, row) = cursor.get()?;
        let shown = shown.get()?;
        let width = usize::try_from(shown.slice.width).ok()?;
        let value = *shown.values.get(row * width + column)?;
        let at = shown.slice.plane.at;
        let (i, j, k) = match shown.slice.plane.across {
            Across::I => (at, column as u64, row as u64),
            Across::J => (column as u64, at, row as u64),
            Across::K => (column as u64, row as u64, at),
        };
        let dtype = if shown.slice.of == Which::Difference { "float64" } else { shown.slice.dtype.as_str() };
        Some(format!("({i}, {j}, {k}) = {}", exact(value, dtype)))
    };
    view! {
        <Plane />
        {move || view.refused.get().map(|why| view! { <p class="warn" role="status">{why}</p> })}
        <div class="picture" class:waiting=move || shown.with(Option::is_none)>
            <SliceCanvas picture=picture label=label level=level cursor=cursor />
            <div class="axes" aria-hidden="true">
                {move || match view.across.get() {
                    Across::K => "i → , j ↑",
                    Across::J => "i → , k ↓",
                    Across::I => "j → , k ↓",
                }}
            </div>
        </div>
        <div class="colour-bar" data-testid="colour-bar">
            <span class="number">{move || short(range.get().low, 5)}</span>
            <ColourStrip map=map />
            <span class="number">{move || short(range.get().high, 5)}</span>
            <select
                aria-label="What the colours span"
                on:change:target=move |event| {
                    view.span.set(if event.target().value() == "field" { Span::Field } else { Span::Plane });
                }
            >
                <option value="plane">"this plane"</option>
                <option value="field">"whole field"</option>
            </select>
        </div>
        <p class="pointer-value" data-testid="pointer-value" role="status">
            {move || under_pointer().unwrap_or_else(|| "Point at a cell to read its value.".to_owned())}
        </p>
        <Statistics />
    }
}

/// Which plane: the axis across it, and the position along that axis.
#[component]
fn Plane() -> impl IntoView {
    let app = use_app();
    let view = app.view;
    let points = Memo::new(move |_| app.shown_field().and_then(|it| points_along(&it, view.across.get())));
    let last = move || points.get().unwrap_or(1).saturating_sub(1);
    let at = move || view.at.get().min(last());
    view! {
        <div class="plane">
            <label class="control">
                <span class="visually-hidden">"Plane"</span>
                <select
                    data-testid="plane-select"
                    prop:value=move || letter(view.across.get())
                    on:change:target=move |event| app.choose_across(match event.target().value().as_str() {
                        "i" => Across::I,
                        "j" => Across::J,
                        _ => Across::K,
                    })
                >
                    <option value="k">"plan (i, j)"</option>
                    <option value="j">"section (i, k)"</option>
                    <option value="i">"section (j, k)"</option>
                </select>
            </label>
            <Element />
            <label class="level">
                <span class="number">{move || letter(view.across.get())}" = "{move || at().to_string()}</span>
                <input
                    type="range"
                    data-testid="k-slider"
                    min="0"
                    max=move || last().to_string()
                    prop:value=move || at().to_string()
                    disabled=move || points.get().is_none_or(|it| it < 2)
                    aria-label=move || format!("Position along {}", letter(view.across.get()))
                    on:input:target=move |event| {
                        if let Ok(at) = event.target().value().parse() {
                            view.choose_at(at);
                        }
                    }
                />
            </label>
        </div>
    }
}

/// Which element of the data dimensions, where the field has some. Reads and changes the view.
#[component]
fn Element() -> impl IntoView {
    let app = use_app();
    let view = app.view;
    let field = Memo::new(move |_| app.shown_field().filter(|it| it.n_elements() > 1));
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
                    aria-label="Element of the data dimensions"
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

/// Of the whole field and of the plane.
#[component]
fn Statistics() -> impl IntoView {
    let app = use_app();
    let of_field = move || {
        let field = app.shown_field()?;
        let found = field.statistics;
        let number = |it: Option<f64>| it.map_or_else(|| "–".to_owned(), |it| short(it, 6));
        Some(view! {
            <dl class="statistics">
                <div><dt>"min"</dt><dd>{number(found.min)}</dd></div>
                <div><dt>"max"</dt><dd>{number(found.max)}</dd></div>
                <div><dt>"mean"</dt><dd>{number(found.mean)}</dd></div>
                <div class:warn=(found.nan > 0)><dt>"NaN"</dt><dd>{found.nan}</dd></div>
                <div class:warn=(found.inf > 0)><dt>"inf"</dt><dd>{found.inf}</dd></div>
                <div><dt>"type"</dt><dd>{field.dtype.clone()}" "{shape(&field)}</dd></div>
            </dl>
        })
    };
    view! { <div class="statistics-of" title="Of the whole compute domain, without halo">{of_field}</div> }
}

/// The axes, and the sizes of data dimensions: `IJK [3, 2]`.
fn shape(field: &FieldInfo) -> String {
    let data = field.data_dims();
    if data.is_empty() { field.axes.clone() } else { format!("{} {data:?}", field.axes) }
}

fn letter(across: Across) -> &'static str {
    match across {
        Across::I => "i",
        Across::J => "j",
        Across::K => "k",
    }
}
