//! The dialog that explains keys, language and directives.

use leptos::html::Dialog;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::content::help::in_short;
use crate::state::keyboard::spelled;
use crate::state::shortcuts::SHORTCUTS;
use crate::state::use_app;

/// The keys of the editor and of the pictures, spelled as the shortcuts are.
fn other_keys() -> [(&'static str, &'static str); 15] {
    [
        ("Ctrl+Space", t!("help-key-completion")),
        ("F12", t!("help-key-definition")),
        ("Mod+Click", t!("help-key-definition-click")),
        ("Shift+F12", t!("help-key-references")),
        ("F2", t!("help-key-rename")),
        ("Mod+.", t!("help-key-fix")),
        ("Alt+Shift+F", t!("help-key-format")),
        ("Mod+Shift+Space", t!("help-key-signature")),
        ("Alt+Enter", t!("help-key-remarks")),
        ("Mod+Alt+[", t!("help-key-fold")),
        (t!("help-chord-leave"), t!("help-key-leave")),
        ("Mod+F", t!("help-key-find")),
        ("Mod+/", t!("help-key-comment")),
        ("Alt+↑", t!("help-key-move")),
        (t!("help-chord-arrows"), t!("help-key-arrows")),
    ]
}

/// Opens with `?` and with the button of the bar. Reads the table of shortcuts; turns single keys off and on.
#[component]
pub fn HelpDialog() -> impl IntoView {
    let app = use_app();
    let dialog = NodeRef::<Dialog>::new();
    let is_open = app.layout.help_open;
    Effect::new(move |_| {
        let Some(dialog) = dialog.get() else { return };
        if is_open.get() {
            // Refused while it is open already.
            let _ = dialog.show_modal();
        } else {
            dialog.close();
        }
    });
    let letters = app.settings.letters;
    view! {
        <dialog
            class="dialog help"
            data-testid="help-dialog"
            node_ref=dialog
            aria-labelledby="help-title"
            on:close=move |_| is_open.set(false)
        >
            <header class="dialog-head">
                <h2 id="help-title">{t!("help")}</h2>
                <button type="button" data-testid="help-close" on:click=move |_| is_open.set(false)>{t!("close")}</button>
            </header>
            <div class="help-body">
                <section>
                    <h3>{t!("help-keys")}</h3>
                    <dl class="keys" data-letters=move || (!letters.get()).then_some("off") inner_html=keys()></dl>
                    <label class="control">
                        <input
                            type="checkbox"
                            data-testid="letters"
                            prop:checked=move || letters.get()
                            on:change:target=move |event| app.settings.choose_letters(event.target().checked())
                        />
                        {t!("help-letters")}
                    </label>
                </section>
                <section inner_html=in_short()></section>
            </div>
            <p class="muted">
                {concat!("Isobar ", env!("CARGO_PKG_VERSION"), ", ")}
                <a href="licences.txt" target="_blank" rel="noreferrer" data-testid="licences">{t!("help-licences")}</a>
            </p>
        </dialog>
    }
}

/// The rows of the table of keys; none of their texts has signs that HTML would read.
fn keys() -> String {
    let row = |class: &str, chord: &'static str, title: &str| {
        let keys: String = spelled(chord).into_iter().map(|it| format!("<kbd>{it}</kbd>")).collect();
        format!("<div class=\"{class}\"><dt>{keys}</dt><dd>{title}</dd></div>")
    };
    let ours =
        SHORTCUTS.iter().map(|it| row(if it.is_single() { "single" } else { "" }, it.chord, (it.title)()));
    let others = other_keys().into_iter().map(|(chord, title)| row("", chord, title));
    ours.chain(others).collect()
}
