//! A row of tabs, after the ARIA pattern: arrows move, one tab stop.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::direction::read;

/// One tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabChoice {
    pub name: String,
    pub title: String,
    /// The test's name of the tab, where it has one.
    pub test_id: Option<String>,
    /// The panel that it opens, where that has an id.
    pub controls: Option<String>,
}

impl TabChoice {
    #[must_use]
    pub fn new(name: &str, title: &str) -> Self {
        Self { name: name.to_owned(), title: title.to_owned(), test_id: None, controls: None }
    }
}

/// A row of tabs. Reads which is chosen, and tells when another one is.
#[component]
pub fn Tabs(
    label: &'static str,
    choices: Vec<TabChoice>,
    /// The name of the chosen tab.
    chosen: Signal<String>,
    /// Further tabs whose panels are in view.
    #[prop(optional, into)]
    open: Signal<Vec<String>>,
    on_choose: impl Fn(String) + Copy + Send + Sync + 'static,
    #[prop(optional)] test_id: Option<&'static str>,
) -> impl IntoView {
    let names: Vec<String> = choices.iter().map(|it| it.name.clone()).collect();
    let on_key = move |event: KeyboardEvent| {
        let last = names.len().saturating_sub(1);
        let at = names.iter().position(|it| *it == chosen.get_untracked()).unwrap_or(0);
        let to = match read(&event.key()) {
            "ArrowRight" => {
                if at == last {
                    0
                } else {
                    at + 1
                }
            }
            "ArrowLeft" => at.checked_sub(1).unwrap_or(last),
            "Home" => 0,
            "End" => last,
            _ => return,
        };
        event.prevent_default();
        on_choose(names[to].clone());
        let row = event.current_target().and_then(|it| it.dyn_into::<HtmlElement>().ok());
        let index = u32::try_from(to).unwrap_or(0);
        let tab =
            row.and_then(|it| it.children().item(index)).and_then(|it| it.dyn_into::<HtmlElement>().ok());
        if let Some(tab) = tab {
            // Tabs are never disabled.
            let _ = tab.focus();
        }
    };
    // Where none is chosen, the first one is in the order of Tab.
    let all: Vec<String> = choices.iter().map(|it| it.name.clone()).collect();
    let is_none = Memo::new(move |_| chosen.with(|it| !all.contains(it)));
    let tabs = choices.into_iter().enumerate().map(|(at, choice)| {
        let (name, opens) = (choice.name.clone(), choice.name.clone());
        let is_chosen = Signal::derive({
            let name = choice.name;
            move || chosen.get() == name
        });
        view! {
            <button
                type="button"
                role="tab"
                data-testid=choice.test_id
                aria-controls=choice.controls
                aria-selected=move || if is_chosen.get() { "true" } else { "false" }
                data-open=move || open.with(|it| it.contains(&opens)).then_some("true")
                tabindex=move || if is_chosen.get() || at == 0 && is_none.get() { "0" } else { "-1" }
                on:click=move |_| on_choose(name.clone())
            >
                {choice.title}
            </button>
        }
    });
    view! {
        <div class="tabs" role="tablist" aria-label=label data-testid=test_id on:keydown=on_key>
            {tabs.collect_view()}
        </div>
    }
}
