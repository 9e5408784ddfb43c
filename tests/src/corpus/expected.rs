//! Which stencils a test expects to be refused.

use std::collections::BTreeSet;

use isobar_compiler::frontend::program::is_stencil;
use isobar_compiler::frontend::syntax::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use super::distinct::{bodies, expressions};

/// The stencils that stand inside a `with pytest.raises(...)`, or that a statement inside one names: by themselves, or
/// by a parameter of the test for which a decorator lists them.
#[must_use]
pub(super) fn refused(body: &[Stmt]) -> BTreeSet<String> {
    let mut search = Search { around: Vec::new(), found: BTreeSet::new() };
    let mut visible = BTreeSet::new();
    stencils(body, &mut visible);
    search.visit(body, false, &visible);
    search.found
}

/// The stencils that these statements define, not those inside of other functions.
fn stencils(body: &[Stmt], found: &mut BTreeSet<String>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Function(function) if is_stencil(function) => {
                found.insert(function.name.name.clone());
            }
            other => bodies(other).into_iter().for_each(|it| stencils(it, found)),
        }
    }
}

struct Search<'p> {
    /// The functions around a statement.
    around: Vec<&'p FunctionDef>,
    found: BTreeSet<String>,
}

impl<'p> Search<'p> {
    fn visit(&mut self, body: &'p [Stmt], raises: bool, visible: &BTreeSet<String>) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Function(function) => {
                    if raises && is_stencil(function) {
                        self.found.insert(function.name.name.clone());
                    }
                    let mut visible = visible.clone();
                    stencils(&function.body, &mut visible);
                    self.around.push(function);
                    self.visit(&function.body, raises, &visible);
                    self.around.pop();
                }
                StmtKind::Class(class) => self.visit(&class.body, raises, visible),
                other => {
                    let raises = raises || is_raises(other);
                    if raises {
                        expressions(other).into_iter().for_each(|it| self.names(it, visible));
                    }
                    for inner in bodies(other) {
                        self.visit(inner, raises, visible);
                    }
                }
            }
        }
    }

    fn names(&mut self, expr: &Expr, visible: &BTreeSet<String>) {
        let (around, found) = (&self.around, &mut self.found);
        expr.walk(&mut |it| {
            let ExprKind::Name(name) = &it.kind else { return };
            let test = around.iter().find(|it| it.params.iter().any(|it| it.name.name == *name));
            match test {
                Some(test) => test.decorators.iter().for_each(|it| {
                    it.walk(&mut |it| {
                        found.extend(it.as_name().filter(|it| visible.contains(*it)).map(str::to_owned))
                    });
                }),
                None => found.extend(visible.get(name).cloned()),
            }
        });
    }
}

fn is_raises(stmt: &StmtKind) -> bool {
    let StmtKind::With { items, .. } = stmt else { return false };
    items.iter().any(|it| match &it.context.kind {
        ExprKind::Call { function, .. } => {
            function.as_dotted().is_some_and(|it| it.last() == Some(&"raises"))
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use isobar_compiler::diag::Diagnostics;
    use isobar_compiler::frontend;
    use isobar_compiler::project::Project;

    use super::*;

    #[test]
    fn what_is_built_or_defined_where_an_error_is_expected_is_expected_to_be_refused() {
        let text = "
def outside(a: Field[float]):
    with computation(PARALLEL), interval(...):
        a = 0

@pytest.mark.parametrize('definition', [outside])
def test(definition):
    def good(a: Field[float]):
        with computation(PARALLEL), interval(...):
            a = 1
    build(good)
    def bad(a: Field[float]):
        with computation(PARALLEL), interval(...):
            a = 2
    with pytest.raises(ValueError, match='x'):
        build(bad, externals={})
    with pytest.raises(ValueError):
        build(definition)
    with pytest.raises(ValueError):
        @stencil(backend='numpy')
        def decorated(a: Field[float]):
            with computation(PARALLEL), interval(...):
                a = 3
";
        let program = frontend::parse(&Project::of_one("main.py", text), &mut Diagnostics::default());
        let found = refused(&program.files[0].syntax().body);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["bad", "decorated", "outside"]);
    }
}
