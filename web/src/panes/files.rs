//! The files of the workspace, as tabs over the text.

use leptos::ev::KeyboardEvent;
use leptos::html::Input;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::{App, use_app};

/// Tabs, and buttons for what can be done with files. Reads and changes the project.
#[component]
pub fn FileTabs() -> impl IntoView {
    let app = use_app();
    let names = app.project.names;
    let shown = app.project.shown;
    view! {
        <div class="files" data-testid="files">
            <div class="files-tabs" role="tablist" aria-label=t!("tabs") on:keydown=move |event| step(app, &event)>
                <For each=move || names.get() key=Clone::clone let(name)>
                    <FileTab name=name shown=shown />
                </For>
            </div>
            <Selected shown=shown />
            <div class="files-actions" role="group" aria-label=t!("tabs-add")>
                <button type="button" class="quiet" data-testid="file-new" title=t!("tabs-new") aria-label=t!("tabs-new") on:click=move |_| app.add_empty_file()>"+"</button>
                <button type="button" class="quiet" data-testid="file-open" title=t!("tabs-open-about") on:click=move |_| app.choose_files(false)>{t!("tabs-open")}</button>
                <button type="button" class="quiet files-folder" data-testid="file-folder" title=t!("tabs-folder-about") on:click=move |_| app.choose_files(true)>{t!("tabs-folder")}</button>
            </div>
            <Show when=move || app.files.are_held.get()>
                <div class="files-drop" role="status">{t!("tabs-drop")}</div>
            </Show>
        </div>
    }
}

/// One tab; its name is typed into it while it is renamed.
#[component]
fn FileTab(name: String, shown: Memo<String>) -> impl IntoView {
    let app = use_app();
    let own = StoredValue::new(name);
    let name = move || own.get_value();
    let is_shown = move || shown.with(|it| own.with_value(|own| it == own));
    let is_main = move || own.with_value(|own| app.project.main.get() == *own);
    let is_renamed = move || app.files.renaming.with(|it| own.with_value(|own| it.as_ref() == Some(own)));
    let is_only = move || app.project.names.get().len() == 1;
    // The folders of a long path are seen on hover.
    let short = move || name().rsplit('/').next().unwrap_or_default().to_owned();
    view! {
        {move || {
            if is_renamed() {
                view! { <Renaming name=name() /> }.into_any()
            } else {
                view! {
                    <button
                        type="button"
                        role="tab"
                        class="file-tab"
                        data-testid=format!("file-{}", name())
                        data-main=move || (is_main() && !is_only()).then_some("true")
                        title=name
                        aria-selected=move || if is_shown() { "true" } else { "false" }
                        tabindex=move || if is_shown() { "0" } else { "-1" }
                        on:click=move |_| app.show_file(&name())
                        on:dblclick=move |_| app.files.renaming.set(Some(name()))
                    >
                        {short}
                        {move || (is_main() && !is_only())
                            .then(|| view! { <span class="file-main" title=t!("tabs-main-about")>{t!("tabs-main")}</span> })}
                    </button>
                }
                .into_any()
            }
        }}
    }
}

/// Actions on the file that is shown.
#[component]
fn Selected(shown: Memo<String>) -> impl IntoView {
    let app = use_app();
    let has_others = move || app.project.names.get().len() > 1;
    let is_main = move || app.project.main.get() == shown.get();
    view! {
        <div class="files-selected" role="group" aria-label=move || t!("tabs-file", name = shown.get())>
            <button
                type="button"
                class="quiet"
                data-testid="file-rename"
                title=t!("tabs-rename-about")
                aria-label=t!("tabs-rename")
                on:click=move |_| app.files.renaming.set(Some(shown.get_untracked()))
            >
                "✎"
            </button>
            <Show when=move || has_others() && !is_main()>
                <button
                    type="button"
                    class="quiet"
                    data-testid="file-main"
                    title=t!("tabs-make-main-about")
                    on:click=move |_| app.make_main(&shown.get_untracked())
                >
                    {t!("tabs-make-main")}
                </button>
            </Show>
            <Show when=has_others>
                <button
                    type="button"
                    class="quiet"
                    data-testid="file-close"
                    title=t!("tabs-close-about")
                    aria-label=t!("tabs-close")
                    on:click=move |_| app.close_file(&shown.get_untracked())
                >
                    "×"
                </button>
            </Show>
        </div>
    }
}

/// The name of a file while it is typed.
#[component]
fn Renaming(name: String) -> impl IntoView {
    let app = use_app();
    let node = NodeRef::<Input>::new();
    let old = StoredValue::new(name.clone());
    let refused = RwSignal::new(None::<String>);
    node.on_load(|it| {
        // Refused for what is not shown, which nobody types into.
        let _ = it.focus();
        it.select();
    });
    let end = move || app.files.renaming.set(None);
    let take = move |text: String| match app.rename_file(&old.get_value(), text.trim()) {
        Ok(()) => end(),
        Err(why) => refused.set(Some(why)),
    };
    let keys = move |event: KeyboardEvent| match event.key().as_str() {
        "Enter" => {
            event.prevent_default();
            if let Some(it) = node.get_untracked() {
                take(it.value());
            }
        }
        "Escape" => {
            event.stop_propagation();
            end();
        }
        _ => event.stop_propagation(),
    };
    view! {
        <span class="file-renaming">
            <input
                type="text"
                node_ref=node
                value=name
                spellcheck="false"
                autocomplete="off"
                data-testid="file-name"
                aria-label=t!("tabs-name")
                aria-invalid=move || refused.with(Option::is_some).then_some("true")
                aria-describedby="file-name-why"
                on:keydown=keys
                on:blur=move |_| end()
            />
            <span id="file-name-why" class="file-why" role="alert">{move || refused.get()}</span>
        </span>
    }
}

/// Arrows go from tab to tab, F2 renames, Delete closes.
fn step(app: App, event: &KeyboardEvent) {
    let names = app.project.names.get_untracked();
    let shown = app.project.shown.get_untracked();
    let at = names.iter().position(|it| *it == shown).unwrap_or(0);
    let next = match event.key().as_str() {
        "ArrowRight" => (at + 1) % names.len(),
        "ArrowLeft" => (at + names.len() - 1) % names.len(),
        "Home" => 0,
        "End" => names.len() - 1,
        "F2" => {
            event.prevent_default();
            return app.files.renaming.set(Some(shown));
        }
        "Delete" => {
            event.prevent_default();
            return app.close_file(&shown);
        }
        _ => return,
    };
    event.prevent_default();
    app.show_file(&names[next]);
    focus_shown(event);
}

/// The keyboard follows the tab that was chosen.
fn focus_shown(event: &KeyboardEvent) {
    use wasm_bindgen::JsCast;
    let list = event.current_target().and_then(|it| it.dyn_into::<web_sys::Element>().ok());
    let find = move || {
        let tab = list.as_ref().and_then(|it| it.query_selector("[aria-selected=true]").ok().flatten());
        if let Some(tab) = tab.and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok()) {
            // Refused for what is not shown, as it is not then.
            let _ = tab.focus();
        }
    };
    set_timeout(find, std::time::Duration::ZERO);
}
