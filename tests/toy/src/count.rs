//! The text `operations`: each statement with the operations that it takes for one element.

use isobar_compiler::diag::{Listing, ListingWriter, Origin};
use isobar_compiler::expr::{Expr, ExprKind};
use isobar_compiler::loops::nodes::{Item, Program, Read};
use isobar_compiler::loops::visit::walk;

/// All functions of a program, in their order.
pub(crate) fn listing(program: &Program) -> Listing {
    let mut out = ListingWriter::new();
    for function in program.functions.values() {
        out.line(&function.name);
        out.indent();
        walk(&function.body, &mut |item| {
            let assigned = match item {
                Item::Assign(it) => Some((&it.value, &it.origin)),
                Item::Declare(it) => it.value.as_ref().map(|(value, origin)| (value, origin)),
                _ => None,
            };
            if let Some((value, origin)) = assigned {
                statement(&mut out, value, origin);
            }
        });
        out.dedent();
    }
    out.finish()
}

fn statement(out: &mut ListingWriter, value: &Expr<Read>, origin: &Origin) {
    let n = operations(value);
    out.open(origin.stmt.to_string(), "statement", [origin]);
    out.line(format_args!("{}: {n} operation{}", origin.stmt, if n == 1 { "" } else { "s" }));
    out.close();
}

/// Counts the operations of a value: unary and binary ones, choices and calls.
fn operations(value: &Expr<Read>) -> usize {
    let mut n = 0;
    value.walk(&mut |it| {
        n += usize::from(matches!(
            it.kind,
            ExprKind::Unary(..) | ExprKind::Binary(..) | ExprKind::Ternary { .. } | ExprKind::Call(..)
        ));
    });
    n
}
