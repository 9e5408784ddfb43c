//! Words for a picture: its fields, units, cells and results.

use isobar_page_model::run::RunResult;
use isobar_protocol::worker::{Documented, Which};
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::content::field::cell_of;
use crate::state::App;
use crate::state::sentences::machine;

/// The title and the unit of the field from the docstring.
pub(super) fn documented(app: App, field: &str) -> Documented {
    app.compilation.defaults.with(|it| it.documented.get(field).cloned()).unwrap_or_default()
}

/// The element of the data dimensions, where there are some: `[2, 1]`.
pub(super) fn element(app: App) -> String {
    let field = app.view.shown_field().filter(|it| it.n_elements() > 1);
    field
        .map(|it| format!("{:?}", it.data_index(app.view.element.get().min(it.n_elements() - 1))))
        .unwrap_or_default()
}

/// `(12, 40, 3)`; an axis that the field has not is left out.
pub(super) fn cell(app: App, at: [i64; 3]) -> String {
    let axes = app.view.shown_field().map(|it| it.axes).unwrap_or_default();
    cell_of(&axes, at)
}

/// Back ends, precision, domain and machine of what is shown.
pub(super) fn provenance(app: App) -> String {
    let one = |name: &str, outcome: &RunResult| {
        let [i, j, k] = outcome.domain;
        format!(
            "{name}: {} fp{}, {i}×{j}×{k}, {}",
            outcome.backend,
            outcome.precision,
            machine(&outcome.machine)
        )
    };
    let a = app.run.a.get().map(|it| one("A", &it)).unwrap_or_default();
    let b = app.run.b.get().map(|it| one("B", &it)).unwrap_or_default();
    match app.view.which.get() {
        Which::A => a,
        Which::B => b,
        Which::Difference | Which::Relative | Which::Ulp => t!("field-less", a = a, b = b),
    }
}
