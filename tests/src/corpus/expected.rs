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

    fn names(&mut self, expr: &'p Expr, visible: &BTreeSet<String>) {
        let mut waiting = vec![expr];
        // What a name was assigned is followed a few steps: `builder = Builder(definition)`.
        for _ in 0..3 {
            let mut next = Vec::new();
            for expr in waiting {
                expr.walk(&mut |it| {
                    let ExprKind::Name(name) = &it.kind else { return };
                    self.found.extend(visible.get(name).cloned());
                    for function in &self.around {
                        if function.params.iter().any(|it| it.name.name == *name) {
                            next.extend(&function.decorators);
                        }
                        assigned(&function.body, name, &mut next);
                    }
                });
            }
            waiting = next;
        }
    }
}

/// What is assigned to a name in these statements.
fn assigned<'p>(body: &'p [Stmt], name: &str, found: &mut Vec<&'p Expr>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign { targets, value } if targets.iter().any(|it| it.as_name() == Some(name)) => {
                found.push(value);
            }
            StmtKind::Function(_) | StmtKind::Class(_) => {}
            other => bodies(other).into_iter().for_each(|it| assigned(it, name, found)),
        }
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
    builder = Builder(definition)
    with pytest.raises(ValueError):
        builder.gtir
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
