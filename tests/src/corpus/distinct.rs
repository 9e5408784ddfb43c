//! Stencils of one name in one file, told apart: a test defines `stencil` anew in every function.

use std::collections::{BTreeMap, BTreeSet};

use isobar_compiler::diag::Diagnostics;
use isobar_compiler::frontend;
use isobar_compiler::frontend::program::is_stencil;
use isobar_compiler::frontend::syntax::{Expr, ExprKind, Stmt, StmtKind};
use isobar_compiler::project::Project;

/// Renames every stencil but the first of its name: it is called `name_L` and its line. Its definition is
/// renamed, and its name in the statements after it in the same function.
#[must_use]
pub(super) fn with_distinct_names(text: &str) -> String {
    // A text without any stencil need not be parsed.
    if !text.contains("computation") {
        return text.to_owned();
    }
    let program = frontend::parse(&Project::of_one("main.py", text), &mut Diagnostics::default());
    let Some(file) = program.files.first() else { return text.to_owned() };
    let mut renaming = Renaming { text, taken: BTreeSet::new(), insertions: BTreeMap::new() };
    renaming.body(&file.syntax().body, &BTreeMap::new());
    let mut renamed = text.to_owned();
    for (&at, suffix) in renaming.insertions.iter().rev() {
        renamed.insert_str(at, suffix);
    }
    renamed
}

struct Renaming<'t> {
    text: &'t str,
    /// Names of stencils that were met.
    taken: BTreeSet<String>,
    /// The suffixes to insert, by the byte position at which they are inserted.
    insertions: BTreeMap<usize, String>,
}

impl Renaming<'_> {
    /// `suffixes` are those of the names that are known from around.
    fn body(&mut self, body: &[Stmt], suffixes: &BTreeMap<String, String>) {
        let mut suffixes = suffixes.clone();
        for stmt in body {
            match &stmt.kind {
                StmtKind::Function(function) => {
                    let name = &function.name.name;
                    if is_stencil(function) && !self.taken.insert(name.clone()) {
                        let end = function.name.span.end as usize;
                        let line = 1 + self.text[..end].matches('\n').count();
                        let suffix = format!("_L{line}");
                        self.insertions.insert(end, suffix.clone());
                        suffixes.insert(name.clone(), suffix);
                    } else {
                        suffixes.remove(name);
                    }
                    function.decorators.iter().for_each(|it| self.expr(it, &suffixes));
                    self.body(&function.body, &suffixes);
                }
                StmtKind::Class(class) => self.body(&class.body, &suffixes),
                other => {
                    expressions(other).into_iter().for_each(|it| self.expr(it, &suffixes));
                    for inner in stmt.blocks() {
                        self.body(inner, &suffixes);
                    }
                }
            }
        }
    }

    fn expr(&mut self, expr: &Expr, suffixes: &BTreeMap<String, String>) {
        expr.walk(&mut |it| {
            if let ExprKind::Name(name) = &it.kind
                && let Some(suffix) = suffixes.get(name)
            {
                self.insertions.insert(it.span.end as usize, suffix.clone());
            }
        });
    }
}

/// The expressions of a statement, without those of the statements inside it.
pub(super) fn expressions(stmt: &StmtKind) -> Vec<&Expr> {
    match stmt {
        StmtKind::Assign { targets, value } => targets.iter().chain([value]).collect(),
        StmtKind::AugAssign { target, value, .. } => vec![target, value],
        StmtKind::AnnAssign { target, value, .. } => value.iter().chain([target]).collect(),
        StmtKind::If { test, .. } | StmtKind::While { test, .. } => vec![test],
        StmtKind::For { target, iterable, .. } => vec![target, iterable],
        StmtKind::With { items, .. } => items.iter().map(|it| &it.context).collect(),
        StmtKind::Return(Some(value)) | StmtKind::Expr(value) => vec![value],
        StmtKind::Function(_)
        | StmtKind::Class(_)
        | StmtKind::Import(_)
        | StmtKind::ImportFrom { .. }
        | StmtKind::Try { .. }
        | StmtKind::Return(None)
        | StmtKind::Pass
        | StmtKind::Other { .. } => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
def test_one():
    def s(a: Field[float]):
        with computation(PARALLEL), interval(...):
            a = 1
    build(s)

def test_two():
    def s(a: Field[float]):
        with computation(PARALLEL), interval(...):
            a = 2
    with raises(ValueError):
        build(definition=s)
";

    #[test]
    fn the_second_of_a_name_is_called_by_its_line_wherever_it_is_meant() {
        let expected = TEXT
            .replace("def test_two():\n    def s(", "def test_two():\n    def s_L9(")
            .replace("definition=s", "definition=s_L9");
        assert_eq!(with_distinct_names(TEXT), expected);
    }
}
