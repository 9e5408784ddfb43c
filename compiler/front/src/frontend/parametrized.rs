//! The values with which a test is called: `@pytest.mark.parametrize("a, b", [(1, 2), (3, 4)])` says them beside it.
//!
//! A stencil that a test defines sees the parameters of the test. As a page shows one stencil, the first row is meant.

use super::syntax::{self, Expr, ExprKind, FunctionDef};

/// The value of a parameter in the first row.
#[derive(Clone, Copy, Debug)]
pub(super) enum FirstValue<'p> {
    Whole(&'p Expr),
    /// One element of a row that is not spelled out.
    Element(&'p Expr, usize),
}

/// The first value of each parameter for which the decorators list some; the expressions stand outside the function.
pub(super) fn first_values(function: &FunctionDef) -> Vec<(&str, FirstValue<'_>)> {
    let mut found = Vec::new();
    for decorator in &function.decorators {
        let ExprKind::Call { function, args, keywords } = &decorator.kind else { continue };
        if !is_called(function, "parametrize") {
            continue;
        }
        let [names, rows] = syntax::arguments(["argnames", "argvalues"], args, keywords);
        let (Some(names), Some(row)) = (names.map(split), rows.and_then(first_row)) else { continue };
        match (&names[..], row) {
            ([name], Row { value, is_counted: false }) => found.push((*name, FirstValue::Whole(value))),
            ([_, name], Row { value, is_counted: true }) => found.push((*name, FirstValue::Whole(value))),
            (_, Row { is_counted: true, .. }) => {}
            (_, Row { value, is_counted: false }) => found.extend(spread(&names, value)),
        }
    }
    found
}

/// `"a, b"` or `["a", "b"]`
fn split(names: &Expr) -> Vec<&str> {
    match &names.kind {
        ExprKind::Str(text) => text.split(',').map(str::trim).collect(),
        ExprKind::List(parts) | ExprKind::Tuple(parts) => parts.iter().flat_map(split).collect(),
        _ => Vec::new(),
    }
}

/// One call of the test.
struct Row<'p> {
    value: &'p Expr,
    /// `enumerate(...)`: the number comes before the value.
    is_counted: bool,
}

fn first_row(rows: &Expr) -> Option<Row<'_>> {
    match &rows.kind {
        ExprKind::List(parts) | ExprKind::Tuple(parts) => {
            parts.first().map(|value| Row { value, is_counted: false })
        }
        ExprKind::Call { function, args, .. } => match (function.as_name()?, &args[..]) {
            ("list" | "tuple", [inner]) => first_row(inner),
            ("enumerate", [inner]) => first_row(inner).map(|it| Row { is_counted: true, ..it }),
            _ => None,
        },
        _ => None,
    }
}

/// A row for several parameters.
fn spread<'p>(names: &[&'p str], row: &'p Expr) -> Vec<(&'p str, FirstValue<'p>)> {
    let values = match &row.kind {
        ExprKind::List(parts) | ExprKind::Tuple(parts) => parts,
        ExprKind::Call { function, args, .. } if is_called(function, "param") => args,
        _ => {
            let elements = names.iter().enumerate();
            return elements.map(|(at, name)| (*name, FirstValue::Element(row, at))).collect();
        }
    };
    names.iter().copied().zip(values.iter().map(FirstValue::Whole)).collect()
}

fn is_called(function: &Expr, name: &str) -> bool {
    function.as_dotted().is_some_and(|it| it.last() == Some(&name))
}
