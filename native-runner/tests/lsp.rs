//! `isobar lsp`, spoken to as an editor does: over its standard input and output.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::io::BufReader;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use lsp_server::{Message, Notification, Request};
use serde_json::{Value, json};

/// An editor with a server of its own, and a folder with files.
struct Editor {
    folder: tempfile::TempDir,
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    asked: i32,
    /// The notifications of the server about files, the latest last.
    told: Vec<Value>,
}

impl Editor {
    fn start(files: &[(&str, &str)]) -> (Self, Value) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut server = Command::new(env!("CARGO_BIN_EXE_isobar"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let to = server.stdin.take().unwrap();
        let from = BufReader::new(server.stdout.take().unwrap());
        let mut editor = Self { folder, server, to, from, asked: 0, told: Vec::new() };
        let root = editor.uri("").trim_end_matches('/').to_owned();
        let answer = editor
            .ask(
                "initialize",
                json!({"capabilities": {}, "workspaceFolders": [{"uri": root, "name": "work"}]}),
            )
            .unwrap();
        editor.say("initialized", json!({}));
        for (name, text) in files {
            editor.open(name, text);
        }
        (editor, answer)
    }

    fn uri(&self, name: &str) -> String {
        format!("file://{}/{name}", self.folder.path().display())
    }

    fn say(&mut self, method: &str, params: Value) {
        Message::Notification(Notification::new(method.to_owned(), params)).write(&mut self.to).unwrap();
    }

    fn open(&mut self, name: &str, text: &str) {
        let document = json!({"uri": self.uri(name), "languageId": "python", "version": 1, "text": text});
        self.say("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.asked += 1;
        let request = Request::new(self.asked.into(), method.to_owned(), params);
        Message::Request(request).write(&mut self.to).unwrap();
        loop {
            match Message::read(&mut self.from).unwrap().expect("the server answers") {
                Message::Response(it) => {
                    let answer = serde_json::to_value(&it).unwrap();
                    if answer["id"] != self.asked {
                        continue;
                    }
                    return match answer.get("error") {
                        Some(error) => Err(error["message"].as_str().unwrap().to_owned()),
                        None => Ok(answer["result"].clone()),
                    };
                }
                Message::Notification(it) => self.told.push(it.params),
                Message::Request(_) => {}
            }
        }
    }

    /// Asks about the place of the `number`th `word` of a text.
    fn ask_at(&mut self, method: &str, file: (&str, &str), word: &str, more: Value) -> Result<Value, String> {
        let (name, text) = file;
        let at = text.find(word).expect(word);
        let before = &text[..at];
        let line = before.matches('\n').count();
        let character = before[before.rfind('\n').map_or(0, |it| it + 1)..].encode_utf16().count();
        let mut params = json!({
            "textDocument": {"uri": self.uri(name)},
            "position": {"line": line, "character": character},
        });
        for (key, value) in more.as_object().unwrap() {
            params[key] = value.clone();
        }
        self.ask(&format!("textDocument/{method}"), params)
    }

    fn leave(mut self) {
        self.ask("shutdown", Value::Null).unwrap();
        self.say("exit", Value::Null);
        assert!(self.server.wait().unwrap().success());
    }
}

const MAIN: (&str, &str) = (
    "main.py",
    "# é𝒙\nfrom model.lib import upwind\n\ndef f(q: FloatField, out: FloatField):\n    with computation(PARALLEL), interval(...):\n        tmp = upwind(q[1, 0, 0], limit=2.0)\n        out = tmp\n\ndef g(q: FloatField):\n    with computation(PARALLEL), interval(...):\n        q = nowhere\n",
);
const LIB: (&str, &str) = (
    "model/lib.py",
    "@function\ndef upwind(c, *, limit):\n    \"\"\"Takes it.\"\"\"\n    return c * limit\n",
);

#[test]
fn an_editor_is_told_what_can_be_asked() {
    let (editor, answer) = Editor::start(&[]);
    let can = &answer["capabilities"];
    assert_eq!(can["positionEncoding"], "utf-16");
    for ability in ["hoverProvider", "definitionProvider", "referencesProvider", "documentFormattingProvider"]
    {
        assert_eq!(can[ability], true, "{ability}");
    }
    assert_eq!(can["renameProvider"]["prepareProvider"], true);
    editor.leave();
}

#[test]
fn every_stencil_of_a_file_has_its_diagnostics() {
    let (mut editor, _) = Editor::start(&[MAIN, LIB]);
    // Whatever is asked next comes after what the server says about the files.
    editor.ask_at("hover", MAIN, "q[1", json!({})).unwrap();
    let uri = editor.uri("main.py");
    let told = editor.told.iter().rfind(|it| it["uri"] == uri.as_str()).unwrap();
    let all = told["diagnostics"].as_array().unwrap();
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all[0]["message"].as_str().unwrap().contains("nowhere"));
    assert_eq!(all[0]["range"]["start"], json!({"line": 10, "character": 12}));
    editor.leave();
}

#[test]
fn hover_completion_and_signatures_know_the_stencil_around_the_caret() {
    let (mut editor, _) = Editor::start(&[MAIN, LIB]);
    let hover = editor.ask_at("hover", MAIN, "q[1", json!({})).unwrap();
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(
        text.contains("q: Field[IJK, float64]") && text.contains("**halo**: points: 0 before and 1 after"),
        "{text}"
    );
    let found = editor.ask_at("completion", MAIN, "1, 0, 0]", json!({})).unwrap();
    assert_eq!(found[0]["label"], "0, 0, 0");
    let found = editor.ask_at("signatureHelp", MAIN, "limit=2.0", json!({})).unwrap();
    assert_eq!(found["signatures"][0]["label"], "upwind(c, *, limit)");
    editor.leave();
}

#[test]
fn stencils_of_one_name_have_their_own_diagnostics_and_facts() {
    let text = "\
class First:
    def s(q: FloatField):
        with computation(PARALLEL), interval(...):
            q = nowhere

class Second:
    def s(q: FloatField, out: FloatField):
        with computation(PARALLEL), interval(...):
            out = q[1, 0, 0] + elsewhere
";
    let main = ("main.py", text);
    let (mut editor, _) = Editor::start(&[("main.py", text)]);
    let hover = editor.ask_at("hover", main, "q[1", json!({})).unwrap();
    assert!(hover["contents"]["value"].as_str().unwrap().contains("q: Field[IJK, float64]"));
    let uri = editor.uri("main.py");
    let told = editor.told.iter().rfind(|it| it["uri"] == uri.as_str()).unwrap();
    let all = told["diagnostics"].as_array().unwrap();
    let said: Vec<&str> = all.iter().map(|it| it["message"].as_str().unwrap()).collect();
    assert!(said.len() == 2 && said[0].contains("`nowhere`") && said[1].contains("`elsewhere`"), "{said:?}");
    let fine = text.replace(" + elsewhere", "").replace("nowhere", "1.0");
    let fine = format!("# @stencil Second.s\n{fine}");
    let main = ("fine.py", fine.as_str());
    editor.open("fine.py", &fine);
    let hover = editor.ask_at("hover", main, "q[1", json!({})).unwrap();
    let shown = hover["contents"]["value"].as_str().unwrap();
    assert!(shown.contains("0 before and 1 after"), "{shown}");
    let found = editor.ask_at("definition", main, "s\nclass First", json!({})).unwrap();
    assert_eq!(found[0]["range"]["start"]["line"], 7, "{found}");
    editor.leave();
}

#[test]
fn definitions_references_and_renames_go_over_files() {
    let (mut editor, _) = Editor::start(&[MAIN, LIB]);
    let found = editor.ask_at("definition", MAIN, "upwind(q", json!({})).unwrap();
    assert_eq!(found[0]["uri"], editor.uri("model/lib.py").as_str());
    assert_eq!(found[0]["range"]["start"], json!({"line": 1, "character": 4}));
    let context = json!({"context": {"includeDeclaration": true}});
    let found = editor.ask_at("references", MAIN, "upwind(q", context).unwrap();
    assert_eq!(found.as_array().unwrap().len(), 3);
    let found = editor.ask_at("rename", MAIN, "upwind(q", json!({"newName": "upstream"})).unwrap();
    let changes = found["changes"].as_object().unwrap();
    assert_eq!(changes.len(), 2, "{changes:?}");
    assert_eq!(changes[&editor.uri("main.py")].as_array().unwrap().len(), 2);
    let refused = editor.ask_at("rename", MAIN, "tmp", json!({"newName": "q"})).unwrap_err();
    assert_eq!(refused, "`q` is already a parameter of `f`");
    assert!(editor.ask_at("prepareRename", MAIN, "PARALLEL", json!({})).is_err());
    editor.leave();
}

#[test]
fn colours_folds_and_layout_are_of_the_text_as_it_is_now() {
    let (mut editor, _) = Editor::start(&[MAIN, LIB]);
    let text = "def f(q:FloatField):\n  with computation(PARALLEL), interval(...):\n    q=1.0\n";
    let document = json!({"uri": editor.uri("main.py"), "version": 2});
    let changes = json!({"textDocument": document, "contentChanges": [{"text": text}]});
    editor.say("textDocument/didChange", changes);
    let whole = json!({"textDocument": {"uri": editor.uri("main.py")}});
    let tokens = editor.ask("textDocument/semanticTokens/full", whole.clone()).unwrap();
    assert_eq!(tokens["data"].as_array().unwrap().len() % 5, 0);
    assert_eq!(tokens["data"].as_array().unwrap()[..3], [json!(0), json!(0), json!(3)]);
    let folds = editor.ask("textDocument/foldingRange", whole.clone()).unwrap();
    assert_eq!((&folds[0]["startLine"], &folds[0]["endLine"]), (&json!(0), &json!(2)));
    let mut params = whole;
    params["options"] = json!({"tabSize": 4, "insertSpaces": true});
    let edits = editor.ask("textDocument/formatting", params).unwrap();
    assert!(edits.as_array().unwrap().iter().any(|it| it["newText"] == "\n        "), "{edits}");
    editor.leave();
}

#[test]
fn a_problem_that_can_be_mended_for_certain_has_its_action() {
    let text = "def f(q: FloatField, out: FloatField):\n    with computation(PARALLEL), interval(...):\n        outflow = q\n        out = outflo\n";
    let (mut editor, _) = Editor::start(&[("main.py", text)]);
    let place = json!({"line": 3, "character": 16});
    let params = json!({
        "textDocument": {"uri": editor.uri("main.py")},
        "range": {"start": place, "end": place},
        "context": {"diagnostics": []},
    });
    let found = editor.ask("textDocument/codeAction", params).unwrap();
    let edits = &found[0]["edit"]["changes"][editor.uri("main.py")];
    assert_eq!(edits[0]["newText"], "outflow", "{found}");
    editor.leave();
}

#[test]
fn a_line_with_a_slip_of_the_syntax_offers_to_mend_that_alone() {
    let text = "def f(q: FloatField, out: FloatField, n: int):\n    with computation(PARALLEL), interval(...):\n        if n and q = 0.0:\n            out = q\n        if n:\n            out = min(q, q, 1.0) +\n";
    let (mut editor, _) = Editor::start(&[("main.py", text)]);
    let mut titles = |line: u32| {
        let place = |character: u32| json!({"line": line, "character": character});
        let params = json!({
            "textDocument": {"uri": editor.uri("main.py")},
            "range": {"start": place(0), "end": place(60)},
            "context": {"diagnostics": []},
        });
        let found = editor.ask("textDocument/codeAction", params).unwrap();
        found
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["title"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(titles(2), ["write `==`"]);
    assert_eq!(titles(4), ["compare it with 0"]);
    assert_eq!(titles(5), Vec::<String>::new());
    editor.leave();
}

#[test]
fn what_is_not_there_is_answered() {
    let (mut editor, _) = Editor::start(&[]);
    let params =
        json!({"textDocument": {"uri": "file:///nowhere.py"}, "position": {"line": 9, "character": 9}});
    assert_eq!(editor.ask("textDocument/hover", params).unwrap(), Value::Null);
    assert!(editor.ask("textDocument/hover", json!(7)).is_err());
    assert!(editor.ask("workspace/dance", json!({})).unwrap_err().contains("dance"));
    editor.leave();
}

#[test]
fn cells_of_a_notebook_are_one_text_with_places_in_each() {
    let (mut editor, answer) = Editor::start(&[]);
    let cells = &answer["capabilities"]["notebookDocumentSync"]["notebookSelector"][0]["cells"];
    assert_eq!(cells[0]["language"], "python");
    let notebook = editor.uri("n.ipynb");
    let cell = |n: u32| format!("vscode-notebook-cell:/n.ipynb#C{n}");
    let texts = [
        "%matplotlib inline\n@function\ndef twice(x):\n    return 2.0 * x\n",
        "A title",
        "def s(q: FloatField, out: FloatField):\n    with computation(PARALLEL), interval(...):\n        out = twice(q) + nowhere",
    ];
    let document =
        |n: u32| json!({"uri": cell(n), "languageId": "python", "version": 1, "text": texts[n as usize]});
    let kind = |n: u32| json!({"kind": if n == 1 { 1 } else { 2 }, "document": cell(n)});
    editor.say(
        "notebookDocument/didOpen",
        json!({
            "notebookDocument": {"uri": notebook, "notebookType": "jupyter-notebook", "version": 1,
                "cells": [kind(0), kind(1), kind(2)]},
            "cellTextDocuments": [document(0), document(1), document(2)],
        }),
    );
    let at = |n: u32, line: u32, character: u32| json!({"textDocument": {"uri": cell(n)}, "position": {"line": line, "character": character}});
    let hover = editor.ask("textDocument/hover", at(2, 0, 6)).unwrap();
    assert!(hover["contents"]["value"].as_str().unwrap().contains("q: Field[IJK, float64]"), "{hover}");
    assert_eq!(hover["range"]["start"], json!({"line": 0, "character": 6}));
    let of = |editor: &Editor, uri: &str| {
        editor
            .told
            .iter()
            .rfind(|it| it["uri"] == uri)
            .map(|it| it["diagnostics"].clone())
            .unwrap_or_default()
    };
    let found = of(&editor, &cell(2));
    assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found[0]["range"]["start"], json!({"line": 2, "character": 25}));
    assert_eq!(of(&editor, &cell(0)), json!([]));
    let defined = editor.ask("textDocument/definition", at(2, 2, 16)).unwrap();
    assert_eq!(defined[0]["uri"], cell(0), "{defined}");
    assert_eq!(defined[0]["range"]["start"], json!({"line": 2, "character": 4}));
    let mut rename = at(0, 2, 5);
    rename["newName"] = "double".into();
    let edits = editor.ask("textDocument/rename", rename).unwrap();
    assert_eq!(edits["changes"][cell(0)][0]["range"]["start"]["line"], 2, "{edits}");
    assert_eq!(edits["changes"][cell(2)][0]["range"]["start"]["line"], 2, "{edits}");
    let tokens =
        editor.ask("textDocument/semanticTokens/full", json!({"textDocument": {"uri": cell(2)}})).unwrap();
    assert_eq!(tokens["data"][0], 0, "{tokens}");
    let format = json!({"textDocument": {"uri": cell(0)}, "options": {"tabSize": 4, "insertSpaces": true}});
    assert_eq!(editor.ask("textDocument/formatting", format).unwrap(), Value::Null);
    // Its second line is right now, and the title is gone.
    editor.say(
        "notebookDocument/didChange",
        json!({
            "notebookDocument": {"uri": notebook, "version": 2},
            "change": {"cells": {
                "structure": {"array": {"start": 1, "deleteCount": 1}},
                "textContent": [{"document": {"uri": cell(2), "version": 2},
                    "changes": [{"text": texts[2].replace("nowhere", "1.0")}]}],
            }},
        }),
    );
    editor.ask("textDocument/hover", at(2, 0, 6)).unwrap();
    assert_eq!(of(&editor, &cell(2)), json!([]));
    editor.say(
        "notebookDocument/didClose",
        json!({"notebookDocument": {"uri": notebook}, "cellTextDocuments": []}),
    );
    editor.leave();
}
