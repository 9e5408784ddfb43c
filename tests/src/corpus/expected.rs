//! Expectations that the tests of a file have of its stencils.

use std::collections::BTreeSet;

use isobar_compiler::frontend::program::is_stencil;
use isobar_compiler::frontend::syntax::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use super::distinct::expressions;

/// The calls that compile a stencil from its definition.
const BUILDS: [&str; 2] = ["stencil", "build"];
/// The call with which gt4py's tests try its parser alone.
const PARSES: [&str; 1] = ["parse_definition"];

/// The expectations of a file, by the names of its stencils.
#[derive(Clone, Debug, Default)]
pub(super) struct Expectations {
    /// A test expects an error.
    pub(super) refused: BTreeSet<String>,
    /// Tests parse them and do no more with them: what is checked after parsing is not asked there.
    pub(super) only_parsed: BTreeSet<String>,
}

/// An error is expected of each stencil inside a `with pytest.raises(...)`. It is also expected of each
/// stencil that a statement inside one compiles. That statement gives the stencil by its name, or by a
/// parameter of the test for which a decorator lists it.
///
/// A stencil that is also compiled outside of one is fine as it stands. It is refused with other values, or
/// when it is called.
#[must_use]
pub(super) fn expectations(body: &[Stmt]) -> Expectations {
    let mut search = Search::default();
    let mut visible = BTreeSet::new();
    stencils(body, &mut visible);
    search.visit(body, false, &visible);
    let Search { mut refused, mut parsed, built, .. } = search;
    refused.retain(|it| !built.contains(it) && !parsed.contains(it));
    parsed.retain(|it| !built.contains(it));
    Expectations { refused, only_parsed: parsed }
}

/// The stencils that these statements define, not those inside of other functions.
fn stencils(body: &[Stmt], found: &mut BTreeSet<String>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Function(function) if is_stencil(function) => {
                found.insert(function.name.name.clone());
            }
            _ => stmt.blocks().into_iter().for_each(|it| stencils(it, found)),
        }
    }
}

#[derive(Default)]
struct Search<'p> {
    /// The functions around a statement.
    around: Vec<&'p FunctionDef>,
    /// Named where an error is expected.
    refused: BTreeSet<String>,
    /// Parsed where none is.
    parsed: BTreeSet<String>,
    /// Compiled where none is.
    built: BTreeSet<String>,
}

impl<'p> Search<'p> {
    fn visit(&mut self, body: &'p [Stmt], raises: bool, visible: &BTreeSet<String>) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Function(function) => {
                    if raises && is_stencil(function) {
                        self.refused.insert(function.name.name.clone());
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
                    for expr in expressions(other) {
                        if raises {
                            let named = self.named([expr].into(), visible);
                            self.refused.extend(named);
                        } else {
                            let parsed = self.named(handed_to(expr, &PARSES), visible);
                            self.parsed.extend(parsed);
                            let built = self.named(handed_to(expr, &BUILDS), visible);
                            self.built.extend(built);
                        }
                    }
                    for inner in stmt.blocks() {
                        self.visit(inner, raises, visible);
                    }
                }
            }
        }
    }

    /// The stencils that expressions name, but for those that they call: a call runs what is compiled already.
    fn named(&self, mut waiting: Vec<&'p Expr>, visible: &BTreeSet<String>) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        // The values that a name was assigned are followed a few steps: `builder = Builder(definition)`.
        for _ in 0..3 {
            let mut next = Vec::new();
            for expr in waiting {
                let mut called = Vec::new();
                expr.walk(&mut |it| match &it.kind {
                    ExprKind::Call { function, .. } => called.push(function.span),
                    ExprKind::Name(name) if !called.contains(&it.span) => {
                        found.extend(visible.get(name).cloned());
                        for function in &self.around {
                            if function.params.iter().any(|it| it.name.name == *name) {
                                next.extend(&function.decorators);
                            }
                            assigned(&function.body, name, &mut next);
                        }
                    }
                    _ => {}
                });
            }
            waiting = next;
        }
        found
    }
}

/// Returns the arguments of such calls, and the objects whose methods they are.
fn handed_to<'p>(expr: &'p Expr, calls: &[&str]) -> Vec<&'p Expr> {
    let mut found = Vec::new();
    expr.walk(&mut |it| {
        let ExprKind::Call { function, args, keywords } = &it.kind else { return };
        if function.as_dotted().and_then(|it| it.last().copied()).is_some_and(|it| calls.contains(&it)) {
            found.extend(args.iter().chain(keywords.iter().map(|it| &it.value)));
            if let ExprKind::Attribute(object, _) = &function.kind {
                found.push(object);
            }
        }
    });
    found
}

/// Collects the values that these statements assign to a name.
fn assigned<'p>(body: &'p [Stmt], name: &str, found: &mut Vec<&'p Expr>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign { targets, value } if targets.iter().any(|it| it.as_name() == Some(name)) => {
                found.push(value);
            }
            StmtKind::For { target, iterable, body, .. } => {
                if target.as_name() == Some(name) {
                    found.push(iterable);
                }
                assigned(body, name, found);
            }
            StmtKind::Function(_) | StmtKind::Class(_) => {}
            _ => stmt.blocks().into_iter().for_each(|it| assigned(it, name, found)),
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
    def either(a: Field[float]):
        with computation(PARALLEL), interval(...):
            a = n
    parse_definition(either, externals={'n': 1})
    with pytest.raises(ValueError):
        parse_definition(either, externals={'n': 'x'})
    def run(a: Field[float]):
        with computation(PARALLEL), interval(...):
            a = 4
    compiled = stencil(definition=run)
    with pytest.raises(ValueError):
        compiled(numpy.zeros(3))
    def one(a: Field[float]):
        with computation(PARALLEL), interval(...):
            a = 5
    for each in (one,):
        with pytest.raises(ValueError):
            parse_definition(each)
";
        let program = frontend::parse(&Project::of_one("main.py", text), &mut Diagnostics::default());
        let found = expectations(&program.files[0].syntax().body);
        assert_eq!(found.refused.into_iter().collect::<Vec<_>>(), ["bad", "decorated", "one", "outside"]);
        assert_eq!(found.only_parsed.into_iter().collect::<Vec<_>>(), ["either"]);
    }
}
