//! The text editor: CodeMirror, behind the class of `web/editor/src/editor.js`.
//!
//! Offsets count UTF-16 units from the start of the text.

use std::pin::Pin;

use js_sys::{Array, Object, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use web_sys::HtmlElement;

#[wasm_bindgen(module = "/editor/dist/editor.js")]
extern "C" {
    #[wasm_bindgen(js_name = Editor)]
    type JsEditor;

    #[wasm_bindgen(js_name = createEditor)]
    fn create_editor(parent: &HtmlElement, options: &JsValue) -> JsEditor;

    #[wasm_bindgen(method, js_name = setDoc)]
    fn set_doc(this: &JsEditor, text: &str);

    #[wasm_bindgen(method, js_name = setDiagnostics)]
    fn set_diagnostics(this: &JsEditor, diagnostics: &Array);

    #[wasm_bindgen(method, js_name = setRemarks)]
    fn set_remarks(this: &JsEditor, remarks: &Array);

    #[wasm_bindgen(method, js_name = setRemarksStale)]
    fn set_remarks_stale(this: &JsEditor, are_stale: bool);

    #[wasm_bindgen(method, js_name = openRemarks)]
    fn open_remarks(this: &JsEditor) -> bool;

    #[wasm_bindgen(method, js_name = offerFixes)]
    fn offer_fixes(this: &JsEditor);

    #[wasm_bindgen(method, js_name = applyEdits)]
    fn apply_edits(this: &JsEditor, own: &str, edits: &str);

    #[wasm_bindgen(method, js_name = setWrapping)]
    fn set_wrapping(this: &JsEditor, wraps: bool);

    #[wasm_bindgen(method, js_name = setLinkedRanges)]
    fn set_linked_ranges(this: &JsEditor, ranges: &Array);

    #[wasm_bindgen(method, js_name = setTheme)]
    fn set_theme(this: &JsEditor, name: &str);

    #[wasm_bindgen(method, js_name = openFile)]
    fn open_file(this: &JsEditor, name: &str, text: &str);

    #[wasm_bindgen(method, js_name = nameFile)]
    fn name_file(this: &JsEditor, name: &str);

    #[wasm_bindgen(method, js_name = setHeadFolded)]
    fn set_head_folded(this: &JsEditor, is_folded: bool);

    #[wasm_bindgen(method)]
    fn insert(this: &JsEditor, text: &str);

    #[wasm_bindgen(method)]
    fn focus(this: &JsEditor);

    #[wasm_bindgen(method, js_name = revealOffset)]
    fn reveal_offset(this: &JsEditor, offset: f64);

    #[wasm_bindgen(method, js_name = scrollToOffset)]
    fn scroll_to_offset(this: &JsEditor, offset: f64);
}

/// The compiler's answer to a question of the editor, as JSON; nothing if it does not answer.
pub type AnswerFuture = Pin<Box<dyn Future<Output = Option<String>>>>;

/// Callbacks through which the editor reports events and asks questions. Questions, places and edits are in
/// the protocol's form, as JSON.
pub struct Listeners {
    /// After each edit of the user.
    pub on_change: Box<dyn Fn(String)>,
    /// The offset of the caret, when it moves.
    pub on_cursor: Box<dyn Fn(usize)>,
    /// A question about the text, which the compiler answers; nothing if it does not.
    pub on_ask: Box<dyn Fn(String) -> AnswerFuture>,
    /// A place of another file is to be shown.
    pub on_elsewhere: Box<dyn Fn(String)>,
    /// Edits of other files.
    pub on_edits: Box<dyn Fn(String)>,
    /// A note was chosen, by its number.
    pub on_remark: Box<dyn Fn(usize)>,
    /// The folded head of the text is to be shown.
    pub on_head: Box<dyn Fn()>,
}

impl std::fmt::Debug for Listeners {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listeners")
    }
}

/// A mark below a part of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiagnosticMark {
    pub from: usize,
    pub to: usize,
    /// `error`, `warning` or `hint`.
    pub severity: String,
    pub message: String,
    pub code: String,
    pub help: Option<String>,
    /// The file, and the changes that mend it, as JSON.
    pub file: String,
    pub fixes: String,
}

/// A remark of a pass, shown beside a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineRemark {
    /// The number that [`Listeners::on_remark`] receives when the note is chosen.
    pub number: usize,
    pub sign: &'static str,
    /// `applied`, `missed` or `removed`.
    pub shown: &'static str,
    pub pass: String,
    pub text: String,
    pub traffic: Option<String>,
}

/// The editor in the page; it lives as long as the page does.
#[derive(Debug)]
pub struct Editor {
    inner: JsEditor,
}

impl std::fmt::Debug for JsEditor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Editor")
    }
}

impl Editor {
    /// Makes an editor with `text` inside `parent`.
    #[must_use]
    pub fn new(parent: &HtmlElement, text: &str, listeners: Listeners) -> Self {
        let Listeners { on_change, on_cursor, on_ask, on_elsewhere, on_edits, on_remark, on_head } =
            listeners;
        let options = Object::new();
        put(&options, "doc", &text.into());
        // Offsets are whole numbers far below 2^53.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an offset in a text")]
        let on_cursor = move |offset: f64| on_cursor(offset as usize);
        put(&options, "onChange", &Closure::<dyn Fn(String)>::new(on_change).into_js_value());
        put(&options, "onCursor", &Closure::<dyn Fn(f64)>::new(on_cursor).into_js_value());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position in a list")]
        let on_remark = move |number: f64| on_remark(number as usize);
        put(&options, "onRemark", &Closure::<dyn Fn(f64)>::new(on_remark).into_js_value());
        let on_ask = move |query: String| {
            let told = on_ask(query);
            future_to_promise(async move { Ok(told.await.map_or(JsValue::NULL, JsValue::from)) })
        };
        put(&options, "ask", &Closure::<dyn Fn(String) -> Promise>::new(on_ask).into_js_value());
        put(&options, "onElsewhere", &Closure::<dyn Fn(String)>::new(on_elsewhere).into_js_value());
        put(&options, "onEdits", &Closure::<dyn Fn(String)>::new(on_edits).into_js_value());
        put(&options, "onHead", &Closure::<dyn Fn()>::new(on_head).into_js_value());
        let inner = create_editor(parent, &options);
        // For the end-to-end tests, who read the whole text: CodeMirror draws only what can be seen.
        put(parent, "editor", &inner);
        Self { inner }
    }

    /// Replaces the text as one step that can be undone; the change is not reported.
    pub fn set_text(&self, text: &str) {
        self.inner.set_doc(text);
    }

    /// Shows a file in place of another one; each has its own undo history and caret.
    pub fn open_file(&self, name: &str, text: &str) {
        self.inner.open_file(name, text);
    }

    /// Tells which file the text is.
    pub fn name_file(&self, name: &str) {
        self.inner.name_file(name);
    }

    /// Shows one line in place of the `# @...` lines at the head of the text, or these lines.
    pub fn set_head_folded(&self, is_folded: bool) {
        self.inner.set_head_folded(is_folded);
    }

    /// Shows these marks in place of those before.
    pub fn set_marks(&self, marks: &[DiagnosticMark]) {
        let all = Array::new();
        for mark in marks {
            let one = range(mark.from, mark.to);
            put(&one, "severity", &mark.severity.as_str().into());
            put(&one, "message", &mark.message.as_str().into());
            put(&one, "code", &mark.code.as_str().into());
            if let Some(help) = &mark.help {
                put(&one, "help", &help.as_str().into());
            }
            put(&one, "file", &mark.file.as_str().into());
            put(&one, "fixes", &mark.fixes.as_str().into());
            all.push(&one);
        }
        self.inner.set_diagnostics(&all);
    }

    /// Shows what is said about lines, in place of what was: for each, an offset in it and the notes.
    pub fn set_notes(&self, lines: &[(usize, Vec<InlineRemark>)]) {
        let all = Array::new();
        for (from, notes) in lines {
            let items = Array::new();
            for note in notes {
                let one = Object::new();
                put(&one, "at", &as_number(note.number).into());
                put(&one, "sign", &note.sign.into());
                put(&one, "shown", &note.shown.into());
                put(&one, "pass", &note.pass.as_str().into());
                put(&one, "text", &note.text.as_str().into());
                if let Some(traffic) = &note.traffic {
                    put(&one, "traffic", &traffic.as_str().into());
                }
                items.push(&one);
            }
            let line = Object::new();
            put(&line, "from", &as_number(*from).into());
            put(&line, "items", &items);
            all.push(&line);
        }
        self.inner.set_remarks(&all);
    }

    /// Whether the notes are of a text from before an edit with errors.
    pub fn set_notes_stale(&self, are_stale: bool) {
        self.inner.set_remarks_stale(are_stale);
    }

    /// Opens the notes of the caret's line; tells whether there are any.
    #[must_use]
    pub fn open_notes(&self) -> bool {
        self.inner.open_remarks()
    }

    /// Opens the menu of the fixes of the caret's line.
    pub fn offer_fixes(&self) {
        self.inner.offer_fixes();
    }

    /// Carries out the edits of a fix, which are the wire's as JSON, as one step that can be undone.
    pub fn apply(&self, file: &str, edits: &str) {
        self.inner.apply_edits(file, edits);
    }

    /// Whether long lines are broken.
    pub fn set_wrapping(&self, wraps: bool) {
        self.inner.set_wrapping(wraps);
    }

    /// Lights the lines of these ranges in place of those before.
    pub fn set_lit(&self, ranges: &[(usize, usize)]) {
        let all = Array::new();
        for &(from, to) in ranges {
            let one = range(from, to);
            put(&one, "group", &0.into());
            all.push(&one);
        }
        self.inner.set_linked_ranges(&all);
    }

    /// `light` or `dark`.
    pub fn set_theme(&self, name: &str) {
        self.inner.set_theme(name);
    }

    /// Types a text where the caret is, in place of what is selected.
    pub fn insert(&self, text: &str) {
        self.inner.insert(text);
    }

    /// Gives the editor the keyboard.
    pub fn focus(&self) {
        self.inner.focus();
    }

    /// Puts the caret there, brings it into view, and gives the editor the keyboard.
    pub fn reveal(&self, offset: usize) {
        self.inner.reveal_offset(as_number(offset));
        self.inner.focus();
    }

    /// Puts the caret there and brings it into view; the keyboard stays where it is.
    pub fn put_caret(&self, offset: usize) {
        self.inner.reveal_offset(as_number(offset));
    }

    /// Brings the offset into view and leaves caret and keyboard where they are.
    pub fn scroll_to(&self, offset: usize) {
        self.inner.scroll_to_offset(as_number(offset));
    }
}

fn range(from: usize, to: usize) -> Object {
    let range = Object::new();
    put(&range, "from", &as_number(from).into());
    put(&range, "to", &as_number(to).into());
    range
}

fn as_number(offset: usize) -> f64 {
    f64::from(u32::try_from(offset).unwrap_or(u32::MAX))
}

fn put(object: &JsValue, key: &str, value: &JsValue) {
    // Setting a key of a plain object has no way to fail.
    let _ = Reflect::set(object, &key.into(), value);
}
