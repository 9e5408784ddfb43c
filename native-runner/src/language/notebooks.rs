//! Notebooks: an editor speaks of cells, and the compiler reads one text of all of them.
//!
//! Questions about a cell become questions about that text, and places in the answers places in cells. An answer
//! that speaks of another cell says so where it names its file, and is left out otherwise.

use std::collections::BTreeMap;

use isobar_protocol::notebook;
use lsp_types::{
    Diagnostic, DidChangeNotebookDocumentParams, DidOpenNotebookDocumentParams, NotebookCellKind,
    PublishDiagnosticsParams, Uri,
};
use serde_json::{Map, Value, json};

/// The notebooks that are open, by their addresses.
#[derive(Debug, Default)]
pub struct Notebooks {
    open: BTreeMap<String, Vec<Cell>>,
}

#[derive(Debug)]
struct Cell {
    uri: Uri,
    is_code: bool,
    text: String,
    /// Its first line in the text of the notebook, from 0, and how many it has.
    first: u64,
    n_lines: u64,
}

/// The cell that a question is about.
#[derive(Clone, Debug)]
pub struct CellLines {
    first: u64,
    n_lines: u64,
}

impl Notebooks {
    /// Takes a notebook of the editor; its text.
    pub fn open(&mut self, params: DidOpenNotebookDocumentParams) -> String {
        let mut texts: BTreeMap<String, String> =
            params.cell_text_documents.into_iter().map(|it| (it.uri.to_string(), it.text)).collect();
        let cell = |it: lsp_types::NotebookCell| {
            let text = texts.remove(&it.document.to_string()).unwrap_or_default();
            Cell { uri: it.document, is_code: it.kind == NotebookCellKind::Code, text, first: 0, n_lines: 0 }
        };
        let cells = params.notebook_document.cells.into_iter().map(cell).collect();
        let uri = params.notebook_document.uri.to_string();
        self.open.insert(uri.clone(), cells);
        self.joined(&uri)
    }

    /// Takes a change of a notebook; its text, and the cells that are no more.
    pub fn change(&mut self, params: DidChangeNotebookDocumentParams) -> Option<(String, Vec<Uri>)> {
        let uri = params.notebook_document.uri.to_string();
        let cells = self.open.get_mut(&uri)?;
        let mut gone = Vec::new();
        let (structure, texts) =
            params.change.cells.map_or((None, None), |it| (it.structure, it.text_content));
        if let Some(structure) = structure {
            let mut texts: BTreeMap<String, String> = structure
                .did_open
                .unwrap_or_default()
                .into_iter()
                .map(|it| (it.uri.to_string(), it.text))
                .collect();
            let start = (structure.array.start as usize).min(cells.len());
            let end = start.saturating_add(structure.array.delete_count as usize).min(cells.len());
            let mut removed: Vec<Cell> = cells.splice(start..end, []).collect();
            for (at, it) in (start..).zip(structure.array.cells.unwrap_or_default()) {
                // A cell that moves is not opened again.
                let old = removed.iter().position(|old| old.uri == it.document).map(|at| removed.remove(at));
                let text = texts.remove(&it.document.to_string()).or(old.map(|it| it.text));
                let is_code = it.kind == NotebookCellKind::Code;
                let text = text.unwrap_or_default();
                cells.insert(at, Cell { uri: it.document, is_code, text, first: 0, n_lines: 0 });
            }
            gone = removed.into_iter().map(|it| it.uri).collect();
        }
        for it in texts.unwrap_or_default() {
            let cell = cells.iter_mut().find(|cell| cell.uri == it.document.uri);
            if let (Some(cell), Some(last)) = (cell, it.changes.into_iter().next_back()) {
                cell.text = last.text;
            }
        }
        Some((self.joined(&uri), gone))
    }

    pub fn close(&mut self, uri: &Uri) {
        self.open.remove(&uri.to_string());
    }

    /// The text of all cells of a notebook; each cell learns where it stands.
    fn joined(&mut self, uri: &str) -> String {
        let mut script = String::new();
        let mut n_lines = 0;
        for (number, cell) in (1..).zip(self.open.get_mut(uri).into_iter().flatten()) {
            cell.first = 0;
            cell.n_lines = 0;
            if !cell.is_code {
                continue;
            }
            let before = script.len();
            notebook::add_cell(&mut script, number, &cell.text);
            let n_added = script[before..].matches('\n').count() as u64;
            // The first line names the cell.
            cell.first = n_lines + 1;
            cell.n_lines = n_added - 1;
            n_lines += n_added;
        }
        script
    }

    /// The diagnostics of a file; of a notebook, those of each cell.
    #[must_use]
    pub fn told(&self, uri: &Uri, diagnostics: Vec<Diagnostic>) -> Vec<PublishDiagnosticsParams> {
        let told = |uri: &Uri, diagnostics| PublishDiagnosticsParams {
            uri: uri.clone(),
            diagnostics,
            version: None,
        };
        let Some(cells) = self.open.get(&uri.to_string()) else { return vec![told(uri, diagnostics)] };
        let of_cell = |cell: &Cell| {
            let is_here = |it: &&Diagnostic| cell.has(it.range.start.line.into());
            let moved = diagnostics.iter().filter(is_here).filter_map(|it| {
                let mut value = serde_json::to_value(it).ok()?;
                // Its places in other files and cells first: they name their own.
                let related = value.as_object_mut()?.remove("relatedInformation");
                shift(&mut value, &|line| line.saturating_sub(cell.first));
                if let Some(mut related) = related {
                    self.places_of_cells(&mut related, &CellLines { first: 0, n_lines: u64::MAX });
                    value["relatedInformation"] = related;
                }
                serde_json::from_value(value).ok()
            });
            told(&cell.uri, moved.collect())
        };
        cells.iter().filter(|it| it.is_code).map(of_cell).collect()
    }

    /// Makes a question about a cell one about its notebook; the cell, where it is one.
    pub fn ask(&self, params: &mut Value) -> Option<CellLines> {
        let uri = params.pointer("/textDocument/uri")?.as_str()?;
        let (notebook, cell) = self.open.iter().find_map(|(notebook, cells)| {
            let cell = cells.iter().find(|it| it.uri.to_string() == uri)?;
            Some((notebook, cell))
        })?;
        let asked = CellLines { first: cell.first, n_lines: cell.n_lines };
        params["textDocument"]["uri"] = notebook.as_str().into();
        shift(params, &|line| line + asked.first);
        Some(asked)
    }

    /// Makes places of a notebook in an answer to places of cells.
    pub fn answer(&self, result: &mut Value, asked: &CellLines) {
        if let Some(data) = result.get_mut("data").and_then(Value::as_array_mut) {
            *data = tokens_of(data, asked);
            return;
        }
        if let Some(folds) =
            result.as_array_mut().filter(|it| it.iter().any(|it| it.get("startLine").is_some()))
        {
            folds.retain_mut(|it| fold_of(it, asked).is_some());
            return;
        }
        self.places_of_cells(result, asked);
    }

    fn places_of_cells(&self, value: &mut Value, asked: &CellLines) {
        match value {
            Value::Array(parts) => parts.iter_mut().for_each(|it| self.places_of_cells(it, asked)),
            Value::Object(object) if object.contains_key("uri") && object.contains_key("range") => {
                if let Some(cell) = self.cell_of(&object["uri"], &object["range"]) {
                    object.insert("uri".to_owned(), cell.uri.to_string().into());
                    let first = cell.first;
                    object["range"].as_object_mut().into_iter().flat_map(Map::values_mut).for_each(|it| {
                        shift(it, &|line| line.saturating_sub(first));
                    });
                }
            }
            Value::Object(object) if object.contains_key("changes") => self.edits_of_cells(object),
            Value::Object(object) if is_position(object) => {
                if let Some(line) = object["line"].as_u64() {
                    object["line"] = line.saturating_sub(asked.first).into();
                }
            }
            Value::Object(object) => object.values_mut().for_each(|it| self.places_of_cells(it, asked)),
            _ => {}
        }
    }

    /// Sorts the edits of a notebook by cells.
    fn edits_of_cells(&self, object: &mut Map<String, Value>) {
        let Some(changes) = object.get_mut("changes").and_then(Value::as_object_mut) else { return };
        for (uri, edits) in std::mem::take(changes) {
            let uri = Value::from(uri);
            for mut edit in edits.as_array().cloned().unwrap_or_default() {
                let cell = edit.get("range").and_then(|it| self.cell_of(&uri, it));
                let (of, first) = cell.map_or((uri.clone(), 0), |it| (it.uri.to_string().into(), it.first));
                shift(&mut edit, &|line| line.saturating_sub(first));
                let key = of.as_str().unwrap_or_default();
                if let Some(listed) = changes.entry(key).or_insert_with(|| json!([])).as_array_mut() {
                    listed.push(edit);
                }
            }
        }
    }

    fn cell_of(&self, uri: &Value, range: &Value) -> Option<&Cell> {
        let line = range.pointer("/start/line")?.as_u64()?;
        self.open.get(uri.as_str()?)?.iter().find(|it| it.has(line))
    }
}

impl Cell {
    fn has(&self, line: u64) -> bool {
        self.is_code && (self.first..self.first + self.n_lines.max(1)).contains(&line)
    }
}

impl CellLines {
    fn has(&self, line: u64) -> bool {
        (self.first..self.first.saturating_add(self.n_lines)).contains(&line)
    }
}

fn is_position(object: &Map<String, Value>) -> bool {
    object.len() == 2 && object.contains_key("line") && object.contains_key("character")
}

/// Moves every position in a value.
fn shift(value: &mut Value, by: &dyn Fn(u64) -> u64) {
    match value {
        Value::Array(parts) => parts.iter_mut().for_each(|it| shift(it, by)),
        Value::Object(object) if is_position(object) => {
            if let Some(line) = object["line"].as_u64() {
                object["line"] = by(line).into();
            }
        }
        Value::Object(object) => object.values_mut().for_each(|it| shift(it, by)),
        _ => {}
    }
}

/// Tokens as the protocol has them, each by its distance from the one before, of a cell alone.
fn tokens_of(data: &[Value], asked: &CellLines) -> Vec<Value> {
    let numbers: Vec<u64> = data.iter().filter_map(Value::as_u64).collect();
    let (mut line, mut start) = (0, 0);
    let (mut last_line, mut last_start) = (asked.first, 0);
    let mut found = Vec::new();
    for token in numbers.as_chunks::<5>().0 {
        start = if token[0] == 0 { start + token[1] } else { token[1] };
        line += token[0];
        if asked.has(line) {
            let down = line - last_line;
            let right = if down == 0 { start - last_start } else { start };
            found.extend([down, right, token[2], token[3], token[4]].map(Value::from));
            (last_line, last_start) = (line, start);
        }
    }
    found
}

/// Moves a fold into its cell; nothing where it is one of another.
fn fold_of(fold: &mut Value, asked: &CellLines) -> Option<()> {
    for end in ["startLine", "endLine"] {
        let line = fold.get(end)?.as_u64().filter(|it| asked.has(*it))?;
        fold[end] = (line - asked.first).into();
    }
    Some(())
}
