//! Where a line of a notebook stands: in which cell, and where in it.

/// Starts a cell in the text of a notebook, before its number among all cells, from 1.
pub const MARK: &str = "# %% cell ";

/// Whether a file of this name holds a notebook.
#[must_use]
pub fn is_notebook(name: &str) -> bool {
    name.ends_with(".ipynb")
}

/// The cell of a line of a notebook's text, and the line in it, all from 1; `None` before the first cell.
#[must_use]
pub fn cell_of(text: &str, line: u32) -> Option<(u32, u32)> {
    let lines = (1..=line).zip(text.lines());
    let marks = lines.filter_map(|(at, text)| Some((text.strip_prefix(MARK)?.parse().ok()?, at)));
    marks.last().filter(|&(_, at): &(u32, u32)| at < line).map(|(cell, at)| (cell, line - at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_belongs_to_the_cell_that_starts_last_before_it() {
        let text = "# %% cell 2\na = 1\nb = 2\n# %% cell 5\n\nc = 3\n";
        assert_eq!(cell_of(text, 1), None);
        assert_eq!(cell_of(text, 3), Some((2, 2)));
        assert_eq!(cell_of(text, 6), Some((5, 2)));
        assert_eq!(cell_of("c = 3\n", 1), None);
    }
}
