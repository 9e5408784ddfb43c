//! The parts below the picture: the inspector, the numbers, and the exports.

use leptos::prelude::*;

use super::exports::Exports;
use super::inspector::Inspector;

use super::statistics::Statistics;
use super::table::Values;
use crate::plots::export::PlotDrawing;

/// All of these parts, for the drawing in the context.
#[must_use]
pub fn later() -> AnyView {
    let drawn = expect_context::<Memo<Option<PlotDrawing>>>();
    view! {
        <Inspector />
        <Statistics />
        <Exports drawn=drawn />
        <Values drawn=drawn />
    }
    .into_any()
}
