//! The dialog that explains keys, language and directives.

use leptos::html::Dialog;
use leptos::prelude::*;

use crate::state::shortcuts::{SHORTCUTS, spelled};
use crate::state::use_app;

/// The language, and the comment lines that describe a run: a document like any other.
const LANGUAGE: &str = include_str!("../../../static/help.html");

/// What the editor and the pictures do with keys of their own, spelled as the shortcuts are.
const OTHER_KEYS: [(&str, &str); 15] = [
    ("Ctrl+Space", "in the text: what may be written there"),
    ("F12", "in the text: go to the definition"),
    ("Mod+Click", "on a name: the same"),
    ("Shift+F12", "in the text: everywhere that a name is used"),
    ("F2", "in the text: rename"),
    ("Mod+.", "in the text: the fix of a problem, while nothing runs"),
    ("Alt+Shift+F", "in the text: lay it out"),
    ("Mod+Shift+Space", "in the text: what a call takes"),
    ("Alt+Enter", "in the text: what the compiler did with the line"),
    ("Mod+Alt+[", "in the text: fold; with ] unfold"),
    ("Esc, then Tab", "leave the editor, where Tab indents"),
    ("Mod+F", "find and replace in the text"),
    ("Mod+/", "comment out and in"),
    ("Alt+↑", "move the line up; with ↓ down"),
    ("Arrows", "in a picture: from cell to cell"),
];

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
                <h2 id="help-title">"Help"</h2>
                <button type="button" data-testid="help-close" on:click=move |_| is_open.set(false)>"Close"</button>
            </header>
            <div class="help-body">
                <section>
                    <h3>"Keys"</h3>
                    <dl class="keys" data-letters=move || (!letters.get()).then_some("off") inner_html=keys()></dl>
                    <label class="control">
                        <input
                            type="checkbox"
                            data-testid="letters"
                            prop:checked=move || letters.get()
                            on:change:target=move |event| app.settings.choose_letters(event.target().checked())
                        />
                        "Single letters act, outside of text"
                    </label>
                </section>
                <section inner_html=LANGUAGE></section>
            </div>
        </dialog>
    }
}

/// The rows of the table of keys; none of their texts has signs that HTML would read.
fn keys() -> String {
    let row = |class: &str, chord: &'static str, title: &str| {
        let keys: String = spelled(chord).into_iter().map(|it| format!("<kbd>{it}</kbd>")).collect();
        format!("<div class=\"{class}\"><dt>{keys}</dt><dd>{title}</dd></div>")
    };
    let ours = SHORTCUTS.iter().map(|it| row(if it.is_single() { "single" } else { "" }, it.chord, it.title));
    let others = OTHER_KEYS.iter().map(|(chord, title)| row("", chord, title));
    ours.chain(others).collect()
}
