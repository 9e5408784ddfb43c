//! The drawer below the text: problems, inputs and output take turns in it, at a height that is the user's.

use isobar_page_model::inputs::{FieldSource, ValueInput};
use isobar_protocol::diagnostic::Diagnostic;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::Element;

use crate::bridge::locale::t;
use crate::state::drawer::{DrawerList, RANGE};
use crate::state::use_app;
use crate::widgets::split::{Edge, Handle};
use crate::widgets::tabs::{TabChoice, Tabs};

/// The frame of the lists. Reads how high it is; its names tell how much is in each, and open it.
#[component]
pub fn Drawer(children: Children) -> impl IntoView {
    let app = use_app();
    let drawer = app.drawer;
    let is_shut = drawer.is_shut;
    let chosen = Signal::derive(move || {
        // Shut, none of them is seen.
        if is_shut.get() { String::new() } else { app.drawer.below().name().to_owned() }
    });
    let choices: Vec<TabChoice> = DrawerList::ALL
        .iter()
        .map(|it| TabChoice {
            test_id: Some(format!("drawer-{}", it.name())),
            controls: Some(format!("drawer-panel-{}", it.name())),
            ..TabChoice::new(it.name(), it.title())
        })
        .collect();
    let choose = move |name: String| {
        if let Some(below) = DrawerList::ALL.into_iter().find(|it| it.name() == name) {
            app.drawer.choose_below(below);
        }
    };
    let wraps = app.settings.wraps_text;
    // Escape leads back to the text.
    let on_key = move |event: KeyboardEvent| {
        // In a field it takes back what is typed.
        let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
        let is_field =
            target.is_some_and(|it| matches!(it.tag_name().as_str(), "INPUT" | "SELECT" | "TEXTAREA"));
        if event.key() == "Escape" && !is_field && !event.default_prevented() {
            event.prevent_default();
            app.focus_editor();
        }
    };
    view! {
        <Handle
            label=t!("drawer-height")
            edge=Edge::Level
            place=Signal::derive(move || 1.0 - drawer.height.get())
            range=Signal::derive(|| [1.0 - RANGE[1], 1.0 - RANGE[0]])
            on_move=move |by| drawer.move_edge(by)
            on_reset=move || drawer.reset()
            controls="drawer"
        />
        <div
            class="drawer"
            id="drawer"
            data-testid="drawer"
            data-shut=move || is_shut.get().then_some("true")
            style:height=move || (!is_shut.get()).then(|| format!("{:.2}%", drawer.height.get() * 100.0))
            on:keydown=on_key
        >
            <div class="drawer-head">
                <Tabs label=t!("drawer-lists") choices=choices chosen=chosen on_choose=choose />
                <Counts />
                <button
                    type="button"
                    class="quiet toggle"
                    data-testid="wrap-text"
                    title=t!("drawer-wrap-about")
                    aria-pressed=move || if wraps.get() { "true" } else { "false" }
                    on:click=move |_| app.settings.wrap_text(!wraps.get_untracked())
                >
                    {t!("wrap")}
                </button>
                <button
                    type="button"
                    class="quiet"
                    data-testid="drawer-shut"
                    aria-expanded=move || if is_shut.get() { "false" } else { "true" }
                    aria-controls="drawer"
                    aria-label=move || if is_shut.get() { t!("drawer-open") } else { t!("drawer-shut") }
                    title=move || if is_shut.get() { t!("drawer-open") } else { t!("drawer-shut") }
                    on:click=move |_| drawer.shut(!is_shut.get_untracked())
                >
                    <span aria-hidden="true">{move || if is_shut.get() { "▴" } else { "▾" }}</span>
                </button>
            </div>
            {children()}
        </div>
    }
}

/// How much is in the lists, seen or not. Reads problems and inputs.
#[component]
fn Counts() -> impl IntoView {
    let app = use_app();
    let shown = app.problems.shown;
    let n_of = |all: &[Diagnostic], severity: &str| all.iter().filter(|it| it.severity == severity).count();
    let problems = move || {
        if app.compilation.revision.get() == 0 {
            return ("muted", t!("loading-compiler").to_owned());
        }
        shown.with(|all| match (n_of(all, "error"), n_of(all, "warning"), n_of(all, "hint")) {
            // The name of the list says that it would be empty.
            (0, 0, 0) => ("muted", String::new()),
            (0, 0, hints) => ("muted", t!("drawer-hints", count = hints)),
            (0, warnings, _) => ("warn", t!("drawer-warnings", count = warnings)),
            (errors, 0, _) => ("error", t!("drawer-errors", count = errors)),
            (errors, warnings, _) => {
                let warnings = t!("drawer-warnings", count = warnings);
                ("error", format!("{}, {warnings}", t!("drawer-errors", count = errors)))
            }
        })
    };
    let missing = Memo::new(move |_| {
        let of = |all: Vec<ValueInput>| all.iter().filter(|it| it.is_missing()).count();
        let fields = app.field_inputs().iter().filter(|it| it.source == FieldSource::Missing).count();
        of(app.scalars()) + of(app.externals()) + fields
    });
    view! {
        <button
            type="button"
            class="quiet drawer-count"
            data-testid="problem-count"
            hidden=move || problems().1.is_empty()
            on:click=move |_| app.drawer.choose_below(DrawerList::Problems)
        >
            <span class=move || problems().0>{move || problems().1}</span>
        </button>
        <Show when=move || missing.with(|it| *it > 0)>
            <button
                type="button"
                class="quiet drawer-count"
                on:click=move |_| app.drawer.choose_below(DrawerList::Inputs)
            >
                <span class="warn">{move || t!("drawer-missing", count = missing.get())}</span>
            </button>
        </Show>
    }
}

/// One list of the drawer. Reads which one is shown.
#[component]
pub fn DrawerPanel(of: DrawerList, children: Children) -> impl IntoView {
    let app = use_app();
    let is_shown = Memo::new(move |_| !app.drawer.is_shut.get() && app.drawer.below() == of);
    view! {
        <div
            class="drawer-panel"
            role="tabpanel"
            id=format!("drawer-panel-{}", of.name())
            aria-label=of.title()
            hidden=move || !is_shown.get()
        >
            {children()}
        </div>
    }
}
