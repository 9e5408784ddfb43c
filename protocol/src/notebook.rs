//! A notebook as one text of Python: its code cells in their order, without the commands that are no Python.

use isobar_ground::diag::cells::MARK;
use serde::Deserialize;

/// The commands of a cell whose other lines are Python.
const AROUND_PYTHON: [&str; 7] = ["time", "timeit", "capture", "prun", "python", "python3", "pypy"];

/// The part of a notebook that is read: in format 3 the cells stand in worksheets.
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
    let Some(command) = cell[lead..].strip_prefix("%%") else { return Some(without_commands(cell)) };
    let name = command.split_whitespace().next().unwrap_or_default();
    if !AROUND_PYTHON.contains(&name) {
        return None;
    }
    let rest = cell[lead..].find('\n').map_or("", |it| &cell[lead + it..]);
    Some(cell[..lead].to_owned() + &without_commands(rest))
}

/// A cell without its commands, as `%matplotlib inline`, `!ls` and `x?`: each line stays where it is.
///
/// A line is one where it starts a statement, or stands behind the `=` of one. The page takes notebooks too, in the
/// half of it that has no parser of Python.
fn without_commands(cell: &str) -> String {
    let mut text = String::new();
    let mut state = State::default();
    let mut goes_on = false;
    for line in cell.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |it| (it, "\n"));
        let command = if goes_on {
            Some(String::new())
        } else {
            state.starts_statement().then(|| instead_of(line)).flatten()
        };
        match command {
            Some(instead) => {
                text.push_str(&instead);
                goes_on = line.ends_with('\\');
            }
            None => {
                text.push_str(line);
                state.read(line);
            }
        }
        text.push_str(end);
    }
    text
}

/// The Python in place of a command; `None` where the line is none.
fn instead_of(line: &str) -> Option<String> {
    let body = line.trim_start();
    let lead = &line[..line.len() - body.len()];
    let is_help = body.starts_with('?') || body.ends_with('?') && !body.contains(['#', '"', '\'']);
    if body.starts_with(['%', '!']) || is_help {
        return Some(format!("{lead}pass"));
    }
    let (target, value) = body.split_once('=')?;
    let is_name = |it: char| it.is_alphanumeric() || "_., []()".contains(it);
    let is_command = value.trim_start().starts_with(['%', '!']) && target.chars().all(is_name);
    is_command.then(|| format!("{lead}{target}= __command__()"))
}

/// The string or bracket that a line of Python stands in.
#[derive(Default)]
struct State {
    depth: usize,
    /// The quotes that end the string, where it goes over lines.
    string: Option<&'static str>,
    is_continued: bool,
}

impl State {
    fn starts_statement(&self) -> bool {
        self.depth == 0 && self.string.is_none() && !self.is_continued
    }

    fn read(&mut self, line: &str) {
        let mut rest = line;
        self.is_continued = false;
        while let Some(first) = rest.chars().next() {
            if let Some(quotes) = self.string {
                if let Some(after) = rest.strip_prefix(quotes) {
                    (rest, self.string) = (after, None);
                    continue;
                }
            } else if first == '#' {
                return;
            } else if let Some((quotes, after)) =
                ["\"\"\"", "'''", "\"", "'"].into_iter().find_map(|it| Some((it, rest.strip_prefix(it)?)))
            {
                (rest, self.string) = (after, Some(quotes));
                continue;
            }
            rest = &rest[first.len_utf8()..];
            match first {
                '\\' => {
                    let mut after = rest.chars();
                    self.is_continued = after.next().is_none();
                    rest = after.as_str();
                }
                '(' | '[' | '{' if self.string.is_none() => self.depth += 1,
                ')' | ']' | '}' if self.string.is_none() => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        // A string of one quote ends with its line, unless the line goes on.
        if self.string.is_some_and(|it| it.len() == 1) && !self.is_continued {
            self.string = None;
        }
    }
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
    fn what_only_looks_like_a_command_stays() {
        for text in [
            "x = (7\n  % 4)",
            "x = 7 \\\n  % 4",
            "x = '''\n!ls\n'''",
            "x = \"a\\\n%b\"",
            "x = {'a': '(',\n!= 3}",
            "assert x != 3",
            "x = 5 % 3  # really?",
            "print('really?')",
            "é = \"?\"",
        ] {
            assert_eq!(without_commands(text), text);
        }
        assert_eq!(without_commands("x = '('\n%pylab"), "x = '('\npass");
        assert_eq!(without_commands("!ls \\\n  -l\nx = 1"), "pass\n\nx = 1");
        assert_eq!(without_commands("a, b[0] = %time f()"), "a, b[0] = __command__()");
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
