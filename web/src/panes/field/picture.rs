//! A plane of the field in colours, with the bar that says what they mean.

use std::sync::Arc;

use isobar_page_model::findings::number;
use isobar_protocol::worker::{Across, Which};
use leptos::prelude::*;

use super::charts;
use super::describe;
use crate::bridge::locale::t;
use crate::content::field::{letter, names, quantity, subject};
use crate::plots::colormap::{self, Colormap, ValueRange};
use crate::plots::export::PlotDrawing;
use crate::plots::figure::{Cell, PlaneFigure};
use crate::plots::number::{exact, grouped, short};
use crate::plots::plane::{CellShape, Plane};
use crate::plots::raster::RowDirection;
use crate::state::App;
use crate::state::look::PictureKind;
use crate::state::use_app;
use crate::state::view::{ColourRange, FieldPlane, points_along};

/// The drawing of the present view.
pub(super) fn drawn(app: App) -> Memo<Option<PlotDrawing>> {
    // Kept with the name of its field: while steps are taken, a field that has become signed stays so.
    let suited = Memo::new(move |before: Option<&(String, Colormap)>| {
        let field = app.view.shown.get().map(|it| it.slice.field.clone()).unwrap_or_default();
        // A map that the user chose says nothing about the field.
        let field = if app.view.look.map.with(Option::is_some) { String::new() } else { field };
        let before = before.filter(|it| it.0 == field).map(|it| it.1);
        let map = map_of(app, before);
        (field, map)
    });
    let map = Memo::new(move |_| suited.with(|it| it.1));
    let range = Memo::new(move |_| range_of(app, map.get()));
    Memo::new(move |_| match app.view.look.kind.get() {
        PictureKind::Plane => plane(app, map.get(), range.get()).map(PlotDrawing::Plane),
        PictureKind::Profile | PictureKind::Line | PictureKind::Histogram | PictureKind::Time => {
            charts::chart(app).map(PlotDrawing::Chart)
        }
    })
}

fn size(it: u64) -> usize {
    usize::try_from(it).unwrap_or(0)
}

/// The two axes of a plane, along its columns and its rows.
pub(super) fn axes(across: Across) -> [Across; 2] {
    match across {
        Across::I => [Across::J, Across::K],
        Across::J => [Across::I, Across::K],
        Across::K => [Across::I, Across::J],
    }
}

/// All that the colours have to hold: of one result that of the field, so that the map does not change from level
/// to level.
fn extent(app: App, shown: &FieldPlane) -> ValueRange {
    let of_plane = || {
        let summary = &shown.slice.summary;
        Some(ValueRange { low: summary.min?.value, high: summary.max?.value })
    };
    let of_field = || {
        if shown.slice.of.is_of_both() {
            let whole = app.view.look.whole.get()?;
            return Some(ValueRange { low: whole.summary.min?.value, high: whole.summary.max?.value });
        }
        let statistics = app.view.shown_field()?.statistics;
        Some(ValueRange { low: statistics.min?, high: statistics.max? })
    };
    of_field().or_else(of_plane).unwrap_or(ValueRange::NONE)
}

fn map_of(app: App, before: Option<Colormap>) -> Colormap {
    let chosen = app.view.look.map.get().and_then(|it| Colormap::from_name(&it));
    if let Some(chosen) = chosen {
        return chosen;
    }
    let Some(shown) = app.view.shown.get() else { return Colormap::default() };
    let summary = &shown.slice.summary;
    if shown.slice.of == Which::Ulp && !summary.is_identical() {
        return Colormap::Viridis;
    }
    let found = extent(app, &shown);
    if before == Some(Colormap::RdBu) && shown.slice.of == Which::A && found.low < 0.0 && found.high > 0.0 {
        return Colormap::RdBu;
    }
    Colormap::suited(colormap::ColormapCriteria {
        dtype: &shown.slice.dtype,
        is_difference: shown.slice.of.is_of_both(),
        range: found,
        is_whole: summary.is_whole,
    })
}

fn range_of(app: App, map: Colormap) -> ValueRange {
    let Some(shown) = app.view.shown.get() else { return ValueRange::NONE };
    let summary = &shown.slice.summary;
    let of_plane =
        summary.min.zip(summary.max).map(|(low, high)| ValueRange { low: low.value, high: high.value });
    let of_plane = of_plane.unwrap_or(ValueRange::NONE);
    let middle = |it: ValueRange| if map.is_diverging() { it.centred() } else { it };
    match app.view.span.get() {
        ColourRange::Plane => middle(of_plane),
        ColourRange::Field => middle(extent(app, &shown)),
        ColourRange::Symmetric => of_plane.centred(),
        ColourRange::Fixed => {
            let [low, high] = app.view.look.fixed.get();
            ValueRange { low, high }
        }
    }
}

fn plane(app: App, map: Colormap, range: ValueRange) -> Option<Plane> {
    let shown = app.view.shown.get()?;
    let slice = &shown.slice;
    let field = app.view.shown_field().filter(|it| it.name == slice.field)?;
    let documented = describe::documented(app, &slice.field);
    let across = slice.plane.across;
    let [columns, rows] = axes(across);
    let points = |axis| i64::try_from(points_along(&field, axis).unwrap_or(1)).unwrap_or(i64::MAX);
    let at = points_along(&field, across).map(|_| format!(", {} = {}", letter(across), slice.plane.at));
    let values = Arc::clone(&shown.values);
    let clipped = range.clipped(&values);
    Some(Plane {
        clipped,
        values,
        width: size(slice.width),
        height: size(slice.height),
        first: slice.first,
        domain: [points(columns), points(rows)],
        names: [names()[number(columns)], names()[number(rows)]],
        // The first level is the top of the atmosphere.
        rows: if across == Across::K { RowDirection::Upward } else { RowDirection::Downward },
        shape: if across == Across::K { CellShape::Square } else { CellShape::Free },
        map,
        range,
        title: format!(
            "{}{}{}",
            subject(slice.of, &slice.field),
            describe::element(app),
            at.unwrap_or_default()
        ),
        note: documented.title,
        quantity: quantity(slice.of, &slice.field, &documented.unit),
        is_dark: app.settings.is_dark.get(),
    })
}

/// The cell (i, j, k) of a column and a row.
fn position(shown: &FieldPlane, (column, row): Cell) -> [i64; 3] {
    let [columns, rows] = axes(shown.slice.plane.across);
    let mut at = [0; 3];
    at[number(shown.slice.plane.across)] = i64::try_from(shown.slice.plane.at).unwrap_or(0);
    at[number(columns)] = shown.slice.first[0].saturating_add_unsigned(column as u64);
    at[number(rows)] = shown.slice.first[1].saturating_add_unsigned(row as u64);
    at
}

/// The column and the row of a cell, where the plane has it.
pub(super) fn place(shown: &FieldPlane, at: [i64; 3]) -> Option<Cell> {
    let [columns, rows] = axes(shown.slice.plane.across);
    let column = usize::try_from(at[number(columns)].saturating_sub(shown.slice.first[0])).ok()?;
    let row = usize::try_from(at[number(rows)].saturating_sub(shown.slice.first[1])).ok()?;
    (column < size(shown.slice.width) && row < size(shown.slice.height)).then_some((column, row))
}

/// The picture, its bar, and what stands under the pointer.
#[component]
pub fn Picturing(drawn: Memo<Option<PlotDrawing>>) -> impl IntoView {
    let app = use_app();
    let view = app.view;
    let shown = view.shown;
    let plane = Signal::derive(move || {
        drawn.with(|it| match it {
            Some(PlotDrawing::Plane(plane)) => Some(plane.clone()),
            Some(PlotDrawing::Chart(_)) | None => None,
        })
    });
    let hover = RwSignal::new(None::<Cell>);
    let picked = Memo::new(move |_| {
        view.look.cell.with(Option::is_some).then_some(())?;
        place(&*shown.get()?, app.view.cursor()?)
    });
    let level = Signal::derive(move || shown.with(|it| it.as_ref().map_or(0, |it| it.slice.plane.at)));
    let label = Signal::derive(move || {
        shown.with(|it| {
            it.as_ref().map_or_else(String::new, |it| {
                t!(
                    "picture-label",
                    subject = subject(it.slice.of, &it.slice.field),
                    axis = letter(it.slice.plane.across),
                    at = it.slice.plane.at,
                    width = it.slice.width,
                    height = it.slice.height,
                )
            })
        })
    });
    let on_pick = move |cell: Cell| {
        if let Some(shown) = shown.get_untracked() {
            app.view.choose_cell(position(&shown, cell));
        }
    };
    let under_pointer = move || {
        let cell = hover.get().or_else(|| picked.get())?;
        let shown = shown.get()?;
        let value = *shown.values.get(cell.1 * size(shown.slice.width) + cell.0)?;
        let dtype = if shown.slice.of.is_of_both() { "float64" } else { shown.slice.dtype.as_str() };
        let unit = if shown.slice.of == Which::Ulp || shown.slice.of == Which::Relative {
            String::new()
        } else {
            describe::documented(app, &shown.slice.field).unit
        };
        let [i, j, k] = position(&shown, cell);
        Some(format!("({i}, {j}, {k}) = {} {unit}", exact(value, dtype)).trim_end().to_owned())
    };
    view! {
        <div class="picture" class:waiting=move || shown.with(Option::is_none)>
            <PlaneFigure plane=plane label=label level=level hover=hover picked=picked on_pick=on_pick />
        </div>
        <ColourBar plane=plane />
        <p class="pointer-value" class:is-hint=move || under_pointer().is_none() data-testid="pointer-value">
            {move || under_pointer().unwrap_or_else(|| t!("picture-point").to_owned())}
        </p>
        <Odd />
    }
}

/// The range of the colours, and their map. Reads and changes the view.
#[component]
fn ColourBar(plane: Signal<Option<Plane>>) -> impl IntoView {
    let app = use_app();
    let view = app.view;
    let look = view.look;
    let is_identical =
        move || view.shown.with(|it| it.as_ref().is_some_and(|it| it.slice.summary.is_identical()));
    let text = move || {
        if is_identical() {
            return t!("picture-identical").to_owned();
        }
        plane.with(|it| {
            let Some(it) = it else { return String::new() };
            format!("{} … {}", short(it.range.low, 5), short(it.range.high, 5))
        })
    };
    let clipped = move || {
        let [below, above] = plane.with(|it| it.as_ref().map(|it| it.clipped)).filter(|it| *it != [0, 0])?;
        Some(t!("picture-clipped", below = grouped(below as u64), above = grouped(above as u64)))
    };
    let end = move |at: usize, label: &'static str, test_id: &'static str| {
        view! {
            <input
                type="number"
                step="any"
                class="range-end"
                aria-label=label
                data-testid=test_id
                prop:value=move || look.fixed.get()[at].to_string()
                on:change:target=move |event| {
                    if let Ok(value) = event.target().value().parse::<f64>() && value.is_finite() {
                        look.fixed.update(|it| {
                            it[at] = value;
                            // The ends stay in order.
                            if it[0] > it[1] {
                                it.swap(0, 1);
                            }
                        });
                    }
                }
            />
        }
    };
    let choose_span = move |name: String| {
        let span = ColourRange::from_name(&name).unwrap_or_default();
        if span == ColourRange::Fixed
            && let Some(range) = plane.with_untracked(|it| it.as_ref().map(|it| it.range))
        {
            // It begins as what is there.
            look.fixed.set([range.low, range.high]);
        }
        view.span.set(span);
    };
    view! {
        <div class="colour-bar" data-testid="colour-bar">
            <span class="range number" data-testid="range">{text}</span>
            {move || clipped().map(|it| view! { <span class="clipped" data-testid="clipped">{it}</span> })}
        </div>
        <div class="colour-choices">
            <label class="control">
                <span class="control-label">{t!("picture-range")}</span>
                <select
                    aria-label=t!("picture-range-about")
                    data-testid="range-select"
                    prop:value=move || view.span.get().name()
                    on:change:target=move |event| choose_span(event.target().value())
                >
                    <option value="plane">{t!("picture-this-plane")}</option>
                    <option value="field">{t!("whole-field")}</option>
                    <option value="symmetric">{t!("picture-symmetric")}</option>
                    <option value="fixed">{t!("picture-fixed")}</option>
                </select>
            </label>
            <Show when=move || view.span.get() == ColourRange::Fixed>
                {end(0, t!("picture-low"), "range-low")}
                {end(1, t!("picture-high"), "range-high")}
            </Show>
            <label class="control">
                <span class="control-label">{t!("picture-colours")}</span>
                <select
                    aria-label=t!("picture-colours-about")
                    data-testid="map-select"
                    prop:value=move || look.map.get().unwrap_or_default()
                    on:change:target=move |event| {
                        look.map.set(Some(event.target().value()).filter(|it| !it.is_empty()));
                    }
                >
                    <option value="">
                        {move || {
                            let name = plane.with(|it| it.as_ref().map_or("", |it| it.map.name()));
                            if look.map.with(Option::is_none) { t!("picture-auto-of", name = name) } else { t!("picture-auto").to_owned() }
                        }}
                    </option>
                    {Colormap::ALL.map(|it| view! { <option value=it.name()>{it.name()}</option> }).collect_view()}
                </select>
            </label>
            <Halo />
        </div>
    }
}

/// Whether the halo is shown, where the field has one.
#[component]
fn Halo() -> impl IntoView {
    let app = use_app();
    let has_halo = Memo::new(move |_| {
        app.view.shown_field().is_some_and(|it| {
            let sizes = it.shape.iter().zip(&it.domain).take(it.axes.len());
            sizes.zip(&it.origin).any(|((shape, domain), origin)| *origin > 0 || shape > domain)
        })
    });
    view! {
        <Show when=move || has_halo.get()>
            <label class="control">
                <input
                    type="checkbox"
                    data-testid="halo-toggle"
                    prop:checked=move || app.view.look.has_halo.get()
                    on:change:target=move |event| app.view.look.has_halo.set(event.target().checked())
                />
                {t!("picture-halo")}
            </label>
        </Show>
    }
}

/// The values of the field that are not finite, and the way there. Reads the field; moves to a cell.
#[component]
fn Odd() -> impl IntoView {
    let app = use_app();
    let found = move || {
        let whole = app.view.look.whole.get()?;
        let summary = whole.summary.clone();
        (summary.nan + summary.inf > 0).then_some(summary)
    };
    let go = move |at: Option<[i64; 3]>, what: &'static str, test_id: &'static str| {
        at.map(|at| {
            let go = move |_| {
                // It must be in the plane that is shown.
                app.view.choose_cell(at);
            };
            view! {
                <button type="button" class="quiet" data-testid=test_id on:click=go>
                    {t!("picture-go", what = what)}
                </button>
            }
        })
    };
    move || {
        found().map(|summary| {
            view! {
                <div class="odd warn" role="status" data-testid="odd">
                    <span class="odd-sign" aria-hidden="true"></span>
                    <span>
                        {t!(
                            "picture-odd",
                            nan = grouped(summary.nan),
                            inf = grouped(summary.inf),
                            cells = grouped(summary.cells),
                        )}
                    </span>
                    {go(summary.first_nan, "NaN", "go-nan")}
                    {go(summary.first_inf, "Inf", "go-inf")}
                </div>
            }
        })
    }
}
