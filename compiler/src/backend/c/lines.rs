//! Where each line of the text comes from: for people, and for what reads a line table.

use std::fmt::Write as _;
use std::ops::Range;

/// Lines of the text, from 0, that carry out a statement, and where that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub lines: Range<u32>,
    pub file: String,
    /// From 1.
    pub line: u32,
}

/// The text with `#line` directives: what a compiler, a debugger or a profiler says of a statement names the stencil's
/// line, and what it says of the rest the line of this text, which is to be called `own`. Of statements within others
/// the outer ones come first.
#[must_use]
pub fn with_directives(text: &str, own: &str, statements: &[Written]) -> String {
    let of_line = innermost(text, statements);
    let mut out = String::with_capacity(text.len() * 2);
    let (mut n_written, mut is_own) = (0_usize, true);
    for (line, statement) in text.lines().zip(of_line) {
        match statement {
            // Lines that follow would count on, and all of them are one line of the stencil.
            Some(it) => {
                let _ = writeln!(out, "#line {} \"{}\"", it.line, quoted(&it.file));
                n_written += 1;
            }
            None if !is_own => {
                // The directive is a line as well, and tells of the one behind it.
                let _ = writeln!(out, "#line {} \"{}\"", n_written + 2, quoted(own));
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

/// The text with a comment behind the first line of each statement. Its lines stay where they are.
#[must_use]
pub fn with_comments(text: &str, statements: &[Written]) -> String {
    let of_line = innermost(text, statements);
    let mut out = String::with_capacity(text.len() * 2);
    for ((number, line), statement) in (0_u32..).zip(text.lines()).zip(of_line) {
        out.push_str(line);
        if let Some(it) = statement.filter(|it| it.lines.start == number) {
            let _ = write!(out, "  /* {}:{} */", it.file.replace("*/", "* /"), it.line);
        }
        out.push('\n');
    }
    out
}

/// The innermost statement of each line.
fn innermost<'a>(text: &str, statements: &'a [Written]) -> Vec<Option<&'a Written>> {
    let mut of_line = vec![None; text.lines().count()];
    for it in statements {
        let lines = it.lines.start as usize..(it.lines.end as usize).min(of_line.len());
        if let Some(lines) = of_line.get_mut(lines) {
            lines.fill(Some(it));
        }
    }
    of_line
}

fn quoted(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ")
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

    fn statements() -> [Written; 2] {
        let file = "mine.py".to_owned();
        [Written { lines: 2..6, file: file.clone(), line: 7 }, Written { lines: 3..5, file, line: 8 }]
    }

    #[test]
    fn directives_name_the_innermost_statement_and_then_the_text_itself() {
        expect![[r##"
            void f(void)
            {
            #line 7 "mine.py"
              if (a) {
            #line 8 "mine.py"
                b = 1
            #line 8 "mine.py"
                    + c;
            #line 7 "mine.py"
              }
            #line 12 "own.c"
            }
        "##]]
        .assert_eq(&with_directives(TEXT, "own.c", &statements()));
    }

    #[test]
    fn comments_move_no_line() {
        expect![[r#"
            void f(void)
            {
              if (a) {  /* mine.py:7 */
                b = 1  /* mine.py:8 */
                    + c;
              }
            }
        "#]]
        .assert_eq(&with_comments(TEXT, &statements()));
    }

    #[test]
    fn a_name_does_not_end_its_directive_or_comment() {
        let statements = [Written { lines: 2..3, file: "a\"*/b".to_owned(), line: 1 }];
        assert!(with_directives(TEXT, "own.c", &statements).contains("#line 1 \"a\\\"*/b\"\n"));
        assert!(with_comments(TEXT, &statements).contains("/* a\"* /b:1 */\n"));
    }
}
