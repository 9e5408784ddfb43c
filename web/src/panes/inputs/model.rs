//! Settings of the model around the text: a set of physical constants, a place on a tile, and the arithmetic
//! of the model's back end.

use isobar_protocol::request::{Arithmetic, Constants, Tile};
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::use_app;
use crate::widgets::prose::prose;

/// With the name in a request, and what is shown.
type ModelOption<T> = (T, &'static str, &'static str);

const SETS: [ModelOption<Constants>; 3] =
    [(Constants::Ufs, "UFS", "UFS"), (Constants::Gfdl, "GFDL", "GFDL"), (Constants::Geos, "GEOS", "GEOS")];

fn places() -> Vec<ModelOption<Tile>> {
    vec![
        (Tile::Single, "single", t!("model-single")),
        (Tile::Interior, "interior", t!("model-interior")),
        (Tile::West, "west", t!("model-west")),
        (Tile::East, "east", t!("model-east")),
        (Tile::South, "south", t!("model-south")),
        (Tile::North, "north", t!("model-north")),
    ]
}

fn arithmetics() -> Vec<ModelOption<Arithmetic>> {
    vec![(Arithmetic::NumPy, "numpy", t!("model-numpy")), (Arithmetic::C, "c", t!("model-c"))]
}

/// Among the inputs. Reads and changes the project.
#[component]
pub fn Model() -> impl IntoView {
    let app = use_app();
    let constants = move || app.project.constants.get().unwrap_or(Constants::Ufs);
    let tile = move || app.project.tile.get().unwrap_or(Tile::Single);
    let minmax = move || app.project.minmax.get().unwrap_or(Arithmetic::NumPy);
    let modulo = move || app.project.modulo.get().unwrap_or(Arithmetic::NumPy);
    view! {
        <h3>{t!("model")}</h3>
        <ul class="values">
            <li class="value">
                <label class="value-name" for="constants">{t!("model-constants")}</label>
                {choice("constants", SETS.to_vec(), constants, move |it| app.project.choose_constants(it))}
                <span class="value-note value-about muted" id="note-constants">
                    {prose(t!("model-constants-about"))}
                </span>
            </li>
            <li class="value">
                <label class="value-name" for="tile">{t!("model-tile")}</label>
                {choice("tile", places(), tile, move |it| app.project.choose_tile(it))}
                <span class="value-note value-about muted" id="note-tile">
                    {prose(t!("model-tile-about"))}
                </span>
            </li>
            <li class="value">
                <label class="value-name" for="minmax">{t!("model-minmax")}</label>
                {choice("minmax", arithmetics(), minmax, move |it| app.project.choose_minmax(it))}
                <span class="value-note value-about muted" id="note-minmax">
                    {t!("model-minmax-about")}
                </span>
            </li>
            <li class="value">
                <label class="value-name" for="mod">{prose(t!("model-mod"))}</label>
                {choice("mod", arithmetics(), modulo, move |it| app.project.choose_modulo(it))}
                <span class="value-note value-about muted" id="note-mod">
                    {t!("model-mod-about")}
                </span>
            </li>
        </ul>
    }
}

/// A list, and a button back to its first entry where another one is chosen.
fn choice<T: Copy + PartialEq + Send + Sync + 'static>(
    id: &'static str,
    entries: Vec<ModelOption<T>>,
    chosen: impl Fn() -> T + Copy + Send + Sync + 'static,
    choose: impl Fn(T) + Copy + Send + 'static,
) -> impl IntoView {
    let usual = entries[0].0;
    let known = entries.clone();
    view! {
        <select
            id=id
            class="value-text"
            data-testid=format!("{id}-select")
            aria-describedby=format!("note-{id}")
            on:change:target=move |event| {
                let name = event.target().value();
                if let Some((it, ..)) = known.iter().find(|(_, it, _)| *it == name) {
                    choose(*it);
                }
            }
        >
            {entries
                .into_iter()
                .map(|(it, name, title)| view! { <option value=name selected=move || chosen() == it>{title}</option> })
                .collect_view()}
        </select>
        <button
            type="button"
            class="quiet"
            data-testid=format!("reset-{id}")
            title=t!("model-reset")
            aria-label=t!("model-reset-of", name = id)
            hidden=move || chosen() == usual
            on:click=move |_| choose(usual)
        >
            {t!("reset")}
        </button>
    }
}
