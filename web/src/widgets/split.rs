//! The edge between two panes.

use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::html::Div;
use leptos::prelude::*;

use super::direction::{is_rtl, read};
use crate::bridge::locale::t;

/// The distance by which one press of an arrow key moves an edge, as a part of the divided length.
const STEP: f64 = 0.02;

/// Which way an edge runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Between two columns.
    Upright,
    /// Between two rows.
    Level,
}

/// An edge that can be dragged, or moved with the arrow keys, Home and End; a double click puts it back.
///
/// Tells by which part of the width, or of the height, it moved, right or down.
#[component]
pub fn Handle(
    /// Names the size that the edge changes.
    label: &'static str,
    edge: Edge,
    /// Where it stands, and how far it can be moved, as parts of the whole.
    #[prop(into)]
    place: Signal<f64>,
    #[prop(into)] range: Signal<[f64; 2]>,
    /// Called with each move.
    on_move: impl Fn(f64) + Copy + Send + Sync + 'static,
    /// Puts it back to where it was at first.
    on_reset: impl Fn() + Copy + Send + Sync + 'static,
    /// The id of what it makes larger and smaller.
    #[prop(optional)]
    controls: Option<&'static str>,
) -> impl IntoView {
    let node = NodeRef::<Div>::new();
    let whole = move || {
        let parent = node.get_untracked().and_then(|it| it.parent_element());
        parent.map_or(1.0, |it| {
            f64::from(if edge == Edge::Upright { it.client_width() } else { it.client_height() }.max(1))
        })
    };
    let on_down = move |event: PointerEvent| {
        event.prevent_default();
        if let Some(node) = node.get_untracked() {
            // Refused for pointers that were lifted meanwhile: there is no drag then.
            let _ = node.set_pointer_capture(event.pointer_id());
            let _ = node.focus();
        }
    };
    let on_drag = move |event: PointerEvent| {
        let is_dragged = node.get_untracked().is_some_and(|it| it.has_pointer_capture(event.pointer_id()));
        if is_dragged {
            let by = if edge == Edge::Upright { event.movement_x() } else { event.movement_y() };
            // In a page that is read from the right, the first part stands at the right.
            let by = if edge == Edge::Upright && is_rtl() { -by } else { by };
            on_move(f64::from(by) / whole());
        }
    };
    let on_key = move |event: KeyboardEvent| {
        match (edge, read(&event.key())) {
            (Edge::Upright, "ArrowLeft") | (Edge::Level, "ArrowUp") => on_move(-STEP),
            (Edge::Upright, "ArrowRight") | (Edge::Level, "ArrowDown") => on_move(STEP),
            (_, "Home") => on_move(-1.0),
            (_, "End") => on_move(1.0),
            (_, "Enter") => on_reset(),
            _ => return,
        }
        event.prevent_default();
    };
    let percent = |part: f64| format!("{:.0}", part * 100.0);
    view! {
        <div
            class="handle"
            class:handle-level=edge == Edge::Level
            role="separator"
            aria-orientation=if edge == Edge::Upright { "vertical" } else { "horizontal" }
            aria-label=label
            aria-controls=controls
            aria-valuenow=move || percent(place.get())
            aria-valuemin=move || percent(range.get()[0])
            aria-valuemax=move || percent(range.get()[1])
            aria-valuetext=move || format!("{} %", percent(place.get()))
            title=t!("split-about")
            tabindex="0"
            node_ref=node
            on:pointerdown=on_down
            on:pointermove=on_drag
            on:dblclick=move |_| on_reset()
            on:keydown=on_key
        ></div>
    }
}
