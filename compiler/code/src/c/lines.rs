//! Where each line of the text comes from: for people, and for what reads a line table.

use std::fmt::Write as _;
use std::ops::Range;

use crate::diag::{LineIndex, Listing};

/// The name of the generated text in `#line` directives.
pub const SOURCE: &str = "stencil.c";

/// Lines of the text, from 0, that carry out a statement, and where that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementLines {
    pub lines: Range<u32>,
    /// The number of the file in the caller's table. Names of files come from outside, and nothing from
    /// outside is written into the text.
    pub file: u16,
    /// From 1.
    pub line: u32,
}

/// Which lines of a listing carry out which of the stencil's. `sources` are names and texts of the files, in the order
/// of their numbers.
#[must_use]
pub fn written<'f>(
    listing: &Listing,
    sources: impl IntoIterator<Item = (&'f str, &'f str)>,
) -> Vec<StatementLines> {
    let sources: Vec<(&str, LineIndex)> =
        sources.into_iter().map(|(_, text)| (text, LineIndex::new(text))).collect();
    let nodes = listing.nodes.iter();
    let of_node = nodes.filter_map(|it| {
        let span = it.spans.first()?;
        let (text, index) = sources.get(usize::from(span.file.0))?;
        let line = index.line_col(text, span.start).line;
        Some(StatementLines { lines: it.lines.clone(), file: span.file.0, line })
    });
    of_node.collect()
}

/// The text with `#line` directives. For a statement, a compiler, a debugger or a profiler then names the
/// stencil's line; the file's name is its number. For the rest it names the line of this text, which is
/// called [`SOURCE`]. `statements` lists a statement before those inside it.
#[must_use]
pub fn with_directives(text: &str, statements: &[StatementLines]) -> String {
    let of_line = innermost(text, statements);
    let mut out = String::with_capacity(text.len() * 2);
    let (mut n_written, mut is_own) = (0_usize, true);
    for (line, statement) in text.lines().zip(of_line) {
        match statement {
            // Lines that follow would count on, and all of them are one line of the stencil.
            Some(it) => {
                let _ = writeln!(out, "#line {} \"{}\"", it.line, it.file);
                n_written += 1;
            }
            None if !is_own => {
                // The directive is a line as well, and tells of the one behind it.
                let _ = writeln!(out, "#line {} \"{}\"", n_written + 2, SOURCE);
                n_written += 1;
            }
            None => {}
        }
        is_own = statement.is_none();
        out.push_str(line);
        out.push('\n');
        n_written += 1;
    }
    out
}

/// The text with a comment behind the first line of each statement: the number of its file and its line. The text's
/// lines stay where they are.
#[must_use]
pub fn with_comments(text: &str, statements: &[StatementLines]) -> String {
    let of_line = innermost(text, statements);
    let mut out = String::with_capacity(text.len() * 2);
    for ((number, line), statement) in (0_u32..).zip(text.lines()).zip(of_line) {
        out.push_str(line);
        if let Some(it) = statement.filter(|it| it.lines.start == number) {
            let _ = write!(out, "  /* {}:{} */", it.file, it.line);
        }
        out.push('\n');
    }
    out
}

/// The innermost statement of each line.
fn innermost<'a>(text: &str, statements: &'a [StatementLines]) -> Vec<Option<&'a StatementLines>> {
    let mut of_line = vec![None; text.lines().count()];
    for it in statements {
        let lines = it.lines.start as usize..(it.lines.end as usize).min(of_line.len());
        if let Some(lines) = of_line.get_mut(lines) {
            lines.fill(Some(it));
        }
    }
    of_line
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    const TEXT: &str = "\
void f(void)
{
  if (a) {
    b = 1
        + c;
  }
}
";

    fn statements() -> [StatementLines; 2] {
        [StatementLines { lines: 2..6, file: 0, line: 7 }, StatementLines { lines: 3..5, file: 1, line: 8 }]
    }

    #[test]
    fn directives_name_the_innermost_statement_and_then_the_text_itself() {
        expect![[r##"
            void f(void)
            {
            #line 7 "0"
              if (a) {
            #line 8 "1"
                b = 1
            #line 8 "1"
                    + c;
            #line 7 "0"
              }
            #line 12 "stencil.c"
            }
        "##]]
        .assert_eq(&with_directives(TEXT, &statements()));
    }

    #[test]
    fn comments_move_no_line() {
        expect![[r#"
            void f(void)
            {
              if (a) {  /* 0:7 */
                b = 1  /* 1:8 */
                    + c;
              }
            }
        "#]]
        .assert_eq(&with_comments(TEXT, &statements()));
    }
}
