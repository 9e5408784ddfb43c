//! The edge between two columns.

use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::html::Div;
use leptos::prelude::*;

/// What one press of an arrow key moves an edge by, as a part of the page's width.
const STEP: f64 = 0.02;

/// An edge that can be dragged, or moved with the arrow keys. Tells by which part of the width it moved.
#[component]
pub fn Handle(
    /// What it changes.
    label: &'static str,
    /// Called with each move.
    on_move: impl Fn(f64) + Copy + Send + Sync + 'static,
) -> impl IntoView {
    let node = NodeRef::<Div>::new();
    let width = move || {
        let parent = node.get_untracked().and_then(|it| it.parent_element());
        parent.map_or(1.0, |it| f64::from(it.client_width().max(1)))
    };
    let on_down = move |event: PointerEvent| {
        event.prevent_default();
        if let Some(node) = node.get_untracked() {
            // Refused for pointers that were lifted meanwhile: there is no drag then.
            let _ = node.set_pointer_capture(event.pointer_id());
        }
    };
    let on_drag = move |event: PointerEvent| {
        let is_dragged = node.get_untracked().is_some_and(|it| it.has_pointer_capture(event.pointer_id()));
        if is_dragged {
            on_move(f64::from(event.movement_x()) / width());
        }
    };
    let on_key = move |event: KeyboardEvent| match event.key().as_str() {
        "ArrowLeft" => on_move(-STEP),
        "ArrowRight" => on_move(STEP),
        _ => {}
    };
    view! {
        <div
            class="handle"
            role="separator"
            aria-orientation="vertical"
            aria-label=label
            tabindex="0"
            node_ref=node
            on:pointerdown=on_down
            on:pointermove=on_drag
            on:keydown=on_key
        ></div>
    }
}
