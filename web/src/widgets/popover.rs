//! A button with a panel that it opens: one tab stop, closed by Escape, by a click outside, and when the focus leaves.

use leptos::ev::{FocusEvent, KeyboardEvent};
use leptos::html::{Button, Div};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::Node;

/// A button and its panel. Code that closes the panel sets `is_open`.
#[component]
pub fn Popover(
    /// Names the panel in the document.
    id: &'static str,
    /// The name of the button, if its text does not say it.
    label: Signal<String>,
    #[prop(optional)] title: &'static str,
    test_id: &'static str,
    #[prop(optional)] class: &'static str,
    is_open: RwSignal<bool>,
    /// The content of the button.
    face: ViewFn,
    children: ChildrenFn,
) -> impl IntoView {
    let (around, toggle) = (NodeRef::<Div>::new(), NodeRef::<Button>::new());
    // The focus goes back to the button before what has it is hidden; a dialog returns it there when it closes.
    let close = move || {
        if let Some(toggle) = toggle.get_untracked().filter(|_| is_open.get_untracked()) {
            // Refused by a button that is hidden, which has opened nothing.
            let _ = toggle.focus();
        }
        is_open.set(false);
    };
    // Wherever the keyboard is: a click on the panel itself leaves it nowhere.
    let on_escape = window_event_listener(leptos::ev::keydown, move |event: KeyboardEvent| {
        if event.key() == "Escape" && is_open.get_untracked() {
            close();
        }
    });
    on_cleanup(move || on_escape.remove());
    let close_behind = move |event: FocusEvent| {
        // Without a next element it is a click, or another window: the panel waits.
        let next = event.related_target().and_then(|it| it.dyn_into::<Node>().ok());
        let is_outside = |next: Node| around.get_untracked().is_some_and(|it| !it.contains(Some(&next)));
        if next.is_some_and(is_outside) {
            is_open.set(false);
        }
    };
    // An item that closes the panel leaves the keyboard to the button, to which a dialog then returns it.
    Effect::new(move |was_open: Option<bool>| {
        let now = is_open.get();
        if was_open == Some(true) && !now {
            let active = web_sys::window().and_then(|it| it.document()).and_then(|it| it.active_element());
            let is_inside = |it: &web_sys::Element| {
                around.get_untracked().is_some_and(|around| around.contains(Some(it.as_ref())))
            };
            if let Some(toggle) = toggle.get_untracked().filter(|_| active.as_ref().is_some_and(is_inside)) {
                // As above.
                let _ = toggle.focus();
            }
        }
        now
    });
    let children = StoredValue::new(children);
    view! {
        <div class=format!("popover {class}") node_ref=around on:focusout=close_behind>
            <button
                type="button"
                node_ref=toggle
                class="popover-toggle"
                data-testid=test_id
                title=title
                aria-label=move || Some(label.get()).filter(|it| !it.is_empty())
                aria-expanded=move || if is_open.get() { "true" } else { "false" }
                aria-controls=id
                on:click=move |_| is_open.update(|it| *it = !*it)
            >
                {face.run()}
            </button>
            <Show when=move || is_open.get()>
                <div class="popover-shade" on:click=move |_| close()></div>
            </Show>
            <div class="popover-panel" id=id hidden=move || !is_open.get()>
                {children.with_value(|it| it())}
            </div>
        </div>
    }
}
