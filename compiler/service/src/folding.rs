//! Which lines fold away below another: bodies, brackets, comments, imports.

use super::analysis::Analysis;
use isobar_front::frontend::tokens::{Token, TokenKind};
use isobar_ground::diag::{FileId, Span};

/// The kind of a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FoldKind {
    /// A body, or what stands in brackets.
    Code,
    Comment,
    Imports,
}

/// The text that a fold hides: from the end of the first line to the end of the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    pub span: Span,
    pub kind: FoldKind,
}

/// The folds of a file, in order; a fold of a fold behind the one around it.
#[must_use]
pub fn folds(analysis: &Analysis, file: FileId) -> Vec<Fold> {
    let text = analysis.project.text(file);
    let Some(tokens) = analysis.index.tokens.get(usize::from(file.0)) else { return Vec::new() };
    let mut found = Vec::new();
    let mut add = |start: u32, end: u32, kind| {
        let (start, end) = (line_end(text, start), line_end(text, end));
        if start < end {
            found.push(Fold { span: Span::new(file, start, end), kind });
        }
    };
    let mut blocks: Vec<u32> = Vec::new();
    let mut brackets: Vec<u32> = Vec::new();
    // The end of the last statement, without the line break behind it.
    let mut last = 0;
    for token in tokens {
        match token.kind {
            TokenKind::Indent => blocks.push(last),
            TokenKind::Dedent => {
                if let Some(start) = blocks.pop() {
                    add(start, last, FoldKind::Code);
                }
            }
            TokenKind::Open => brackets.push(token.start),
            TokenKind::Close => {
                if let Some(start) = brackets.pop() {
                    // The closing bracket stays on its line.
                    let line = text.get(..token.start as usize).and_then(|it| it.rfind('\n'));
                    let before = line.and_then(|it| u32::try_from(it).ok()).unwrap_or(token.start);
                    add(start, before.min(token.start), FoldKind::Code);
                }
            }
            TokenKind::String => add(token.start, token.end, FoldKind::Code),
            _ => {}
        }
        let is_shown = !matches!(
            token.kind,
            TokenKind::Newline
                | TokenKind::LineBreak
                | TokenKind::Indent
                | TokenKind::Dedent
                | TokenKind::Comment
                | TokenKind::Unknown
        );
        if is_shown {
            last = token.end;
        }
        if token.kind == TokenKind::Newline {
            brackets.clear();
        }
    }
    while let Some(start) = blocks.pop() {
        add(start, last, FoldKind::Code);
    }
    for (start, end, kind) in runs(text, tokens) {
        add(start, end, kind);
    }
    found.sort_by_key(|it| (it.span.start, std::cmp::Reverse(it.span.end)));
    found.dedup_by_key(|it| it.span.start);
    found
}

/// Comments and imports that follow each other, each with where the first begins and the last ends.
fn runs(text: &str, tokens: &[Token]) -> Vec<(u32, u32, FoldKind)> {
    let mut runs: Vec<(u32, u32, FoldKind)> = Vec::new();
    let mut is_open = false;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let kind = match token.kind {
            TokenKind::LineBreak | TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent => {
                at += 1;
                continue;
            }
            TokenKind::Comment => Some(FoldKind::Comment),
            _ if token.is_word(text, "from") || token.is_word(text, "import") => Some(FoldKind::Imports),
            _ => None,
        };
        // To the end of the comment, or of the statement.
        let rest = &tokens[at..];
        let length = match kind {
            Some(FoldKind::Comment) => 1,
            _ => rest.iter().position(|it| it.kind == TokenKind::Newline).unwrap_or(rest.len()).max(1),
        };
        let end = rest[length - 1].end;
        at += length;
        match (kind, runs.last_mut()) {
            (Some(kind), Some(last)) if is_open && last.2 == kind => last.1 = end,
            (Some(kind), _) => runs.push((token.start, end, kind)),
            (None, _) => {}
        }
        is_open = kind.is_some();
    }
    runs
}

fn line_end(text: &str, at: u32) -> u32 {
    let rest = text.get(at as usize..).unwrap_or("");
    let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
    at.saturating_add(u32::try_from(line).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use isobar_front::config::Config;
    use isobar_front::project::Project;

    /// The folded lines, as `first-last kind`, from 1.
    fn shown(text: &str) -> String {
        let analysis = Analysis::new(&Project::of_one("a.py", text), &Config::default());
        let line = |at: u32| text[..at as usize].matches('\n').count() + 1;
        let all = folds(&analysis, FileId(0)).into_iter();
        let all = all.map(|it| format!("{}-{} {:?}", line(it.span.start), line(it.span.end), it.kind));
        all.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn bodies_brackets_comments_and_imports_fold() {
        let text = "\
# one
# two
from a import b
from c import (
    d,
)

def f(
    x,
):
    if x:
        y = 1
        z = 2
    # behind
    return y
";
        assert_eq!(shown(text), "1-2 Comment, 3-6 Imports, 4-5 Code, 8-9 Code, 10-15 Code, 11-13 Code");
    }

    #[test]
    fn a_text_that_breaks_off_folds_as_far_as_it_goes() {
        assert_eq!(shown("def f(x):\n    if x:\n        y = (1,\n"), "1-3 Code, 2-3 Code");
        assert_eq!(shown(""), "");
    }
}
