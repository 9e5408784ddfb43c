//! What stands below the picture: the inspector, the numbers, and the way out of the page.

use leptos::prelude::*;

use super::exports::Exports;
use super::inspector::Inspector;

use super::statistics::Statistics;
use super::table::Values;
use crate::plots::export::Drawn;

/// All of it, of what the context says is drawn.
#[must_use]
pub fn later() -> AnyView {
    let drawn = expect_context::<Memo<Option<Drawn>>>();
    view! {
        <Inspector />
        <Statistics />
        <Exports drawn=drawn />
        <Values drawn=drawn />
    }
    .into_any()
}
