//! A notebook as one text of Python: its code cells in their order, without the commands that are no Python.

use serde::Deserialize;

use super::parse;
use crate::diag::cells::MARK;

/// The commands of a cell whose other lines are Python.
const AROUND_PYTHON: [&str; 7] = ["time", "timeit", "capture", "prun", "python", "python3", "pypy"];

/// What of a notebook is read: of format 3 the cells stand in worksheets.
#[derive(Deserialize)]
struct Notebook {
    cells: Option<Vec<Cell>>,
    worksheets: Option<Vec<Worksheet>>,
}

#[derive(Deserialize)]
struct Worksheet {
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    cell_type: String,
    #[serde(alias = "input")]
    source: Option<Source>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Source {
    Text(String),
    Lines(Vec<String>),
}

/// The Python of a notebook, as its JSON has it; `None` where the text is no notebook.
///
/// Each code cell stands behind a line `# %% cell 3`, and keeps its lines. A command such as `%matplotlib inline`
/// becomes a statement that does nothing, and its result a value that nobody knows. Cells in other languages,
/// as below `%%bash`, are left out.
#[must_use]
pub fn script(json: &str) -> Option<String> {
    let notebook: Notebook = serde_json::from_str(json).ok()?;
    let of_sheets = || Some(notebook.worksheets?.into_iter().flat_map(|it| it.cells).collect());
    let cells: Vec<Cell> = notebook.cells.or_else(of_sheets)?;
    let mut script = String::new();
    for (number, cell) in (1..).zip(cells).filter(|(_, it)| it.cell_type == "code") {
        let text = match cell.source {
            Some(Source::Text(text)) => text,
            Some(Source::Lines(lines)) => lines.concat(),
            None => continue,
        };
        add_cell(&mut script, number, &text);
    }
    Some(script)
}

/// Adds a code cell to a text of such cells.
pub fn add_cell(script: &mut String, number: usize, text: &str) {
    script.push_str(&format!("{MARK}{number}\n"));
    if let Some(python) = python(text) {
        script.push_str(&python);
        if !python.is_empty() && !python.ends_with('\n') {
            script.push('\n');
        }
    }
}

/// The Python of a cell, line by line; `None` where it is in another language.
fn python(cell: &str) -> Option<String> {
    let lead = cell.len() - cell.trim_start().len();
    let Some(command) = cell[lead..].strip_prefix("%%") else { return Some(parse::without_commands(cell)) };
    let name = command.split_whitespace().next().unwrap_or_default();
    if !AROUND_PYTHON.contains(&name) {
        return None;
    }
    let rest = cell[lead..].find('\n').map_or("", |it| &cell[lead + it..]);
    Some(cell[..lead].to_owned() + &parse::without_commands(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_cells_are_read_in_order_and_commands_left_out() {
        let notebook = serde_json::json!({
            "nbformat": 4,
            "cells": [
                {"cell_type": "markdown", "source": ["# A title"]},
                {"cell_type": "code", "source": ["%matplotlib inline\n", "x = (7\n", "  % 4)\n", "y = !ls"], "outputs": []},
                {"cell_type": "code", "source": "%%bash\nrm -r things"},
                {"cell_type": "code", "source": "%%time\nif x:\n    !pip install gt4py\nz = \"\"\"\n%no command\n\"\"\"\nx?"},
            ],
        });
        let script = script(&notebook.to_string()).expect("a notebook");
        assert_eq!(
            script,
            "# %% cell 2\npass\nx = (7\n  % 4)\ny = __command__()\n# %% cell 3\n# %% cell 4\n\nif x:\n    pass\n\
             z = \"\"\"\n%no command\n\"\"\"\npass\n"
        );
    }

    #[test]
    fn of_format_3_the_cells_stand_in_worksheets() {
        let old =
            r#"{"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": ["a = 1"]}]}]}"#;
        assert_eq!(script(old).as_deref(), Some("# %% cell 1\na = 1\n"));
    }

    #[test]
    fn what_is_no_notebook_is_none() {
        for text in [
            "",
            "{}",
            "[1]",
            "x = 1\n",
            r#"{"cells": 3}"#,
            r#"{"cells": [{"cell_type": "code", "source": 1}]}"#,
        ] {
            assert_eq!(script(text), None, "{text}");
        }
    }
}
