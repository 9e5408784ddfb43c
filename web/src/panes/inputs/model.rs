//! What the text takes from the model around it: a set of physical constants, a place on a tile, and the arithmetic
//! of its back end.

use isobar_protocol::request::{Arithmetic, Constants, Tile};
use leptos::prelude::*;

use crate::state::use_app;

/// With the name in a request, and what is shown.
const SETS: [(Constants, &str, &str); 3] =
    [(Constants::Ufs, "UFS", "UFS"), (Constants::Gfdl, "GFDL", "GFDL"), (Constants::Geos, "GEOS", "GEOS")];

const PLACES: [(Tile, &str, &str); 6] = [
    (Tile::Single, "single", "all of it"),
    (Tile::Interior, "interior", "no edge"),
    (Tile::West, "west", "west edge"),
    (Tile::East, "east", "east edge"),
    (Tile::South, "south", "south edge"),
    (Tile::North, "north", "north edge"),
];

const ARITHMETICS: [(Arithmetic, &str, &str); 2] =
    [(Arithmetic::NumPy, "numpy", "as NumPy"), (Arithmetic::C, "c", "as C++")];

/// Among the inputs. Reads and changes the project.
#[component]
pub fn Model() -> impl IntoView {
    let app = use_app();
    let constants = move || app.project.constants.get().unwrap_or(Constants::Ufs);
    let tile = move || app.project.tile.get().unwrap_or(Tile::Single);
    let minmax = move || app.project.minmax.get().unwrap_or(Arithmetic::NumPy);
    let modulo = move || app.project.modulo.get().unwrap_or(Arithmetic::NumPy);
    view! {
        <h3>"Model"</h3>
        <ul class="values">
            <li class="value">
                <label class="value-name" for="constants">"Constants"</label>
                {choice("constants", &SETS, constants, move |it| app.choose_constants(it))}
                <span class="value-note value-about muted" id="note-constants">
                    "what " <code>"ndsl.constants"</code> " holds"
                </span>
            </li>
            <li class="value">
                <label class="value-name" for="tile">"Part of the tile"</label>
                {choice("tile", &PLACES, tile, move |it| app.choose_tile(it))}
                <span class="value-note value-about muted" id="note-tile">
                    "where the domain lies on its tile: what " <code>"i_start"</code> " and its like are"
                </span>
            </li>
            <li class="value">
                <label class="value-name" for="minmax">"NaN in min, max"</label>
                {choice("minmax", &ARITHMETICS, minmax, move |it| app.choose_minmax(it))}
                <span class="value-note value-about muted" id="note-minmax">
                    "NumPy: NaN. C++, and GT4Py's compiled back ends: the first operand"
                </span>
            </li>
            <li class="value">
                <label class="value-name" for="mod">"Sign of " <code>"%"</code></label>
                {choice("mod", &ARITHMETICS, modulo, move |it| app.choose_modulo(it))}
                <span class="value-note value-about muted" id="note-mod">
                    "NumPy: the divisor's. C++, and GT4Py's compiled back ends: the dividend's"
                </span>
            </li>
        </ul>
    }
}

/// A list, and a button back to its first entry where another one is chosen.
fn choice<T: Copy + PartialEq + Send + Sync + 'static>(
    id: &'static str,
    entries: &'static [(T, &'static str, &'static str)],
    chosen: impl Fn() -> T + Copy + Send + Sync + 'static,
    choose: impl Fn(T) + Copy + Send + 'static,
) -> impl IntoView {
    let usual = entries[0].0;
    view! {
        <select
            id=id
            class="value-text"
            data-testid=format!("{id}-select")
            aria-describedby=format!("note-{id}")
            on:change:target=move |event| {
                let name = event.target().value();
                if let Some((it, ..)) = entries.iter().find(|(_, it, _)| *it == name) {
                    choose(*it);
                }
            }
        >
            {entries
                .iter()
                .map(|&(it, name, title)| view! { <option value=name selected=move || chosen() == it>{title}</option> })
                .collect_view()}
        </select>
        <button
            type="button"
            class="quiet"
            data-testid=format!("reset-{id}")
            title="Back to the usual one"
            aria-label=format!("Back to the usual choice of {id}")
            hidden=move || chosen() == usual
            on:click=move |_| choose(usual)
        >
            "Reset"
        </button>
    }
}
