//! Functions that take long as statements of their own.

use super::super::super::nodes::{Assign, Declare, Item, Read};
use super::super::Names;
use super::super::hoist_invariants::takes_long;
use crate::diag::Origin;
use crate::expr::{Expr, ExprKind};
use crate::types::BinaryOp;

/// Gives a statement of its own to each function that takes long, and to its arguments if they take long too.
///
/// ```text
/// b[i] = 1.0 + exp(a[i] / s)        const exp_argument = a[i] / s
///                                   const exp_value = exp(exp_argument)
///                                   b[i] = 1.0 + exp_value
/// ```
pub(super) fn named(items: &mut Vec<Item>, names: &mut Names<'_>) {
    FunctionNamer { names }.statements(items);
}

struct FunctionNamer<'n, 'a> {
    names: &'n mut Names<'a>,
}

impl FunctionNamer<'_, '_> {
    /// Goes through statements that stand alone or in a `while`. Those in branches stay, since a part of a
    /// loop in strips holds a branch as a whole.
    fn statements(&mut self, items: &mut Vec<Item>) {
        for mut item in std::mem::take(items) {
            match &mut item {
                Item::While(it) => self.statements(&mut it.body),
                Item::Assign(Assign { value, origin, .. })
                | Item::Declare(Declare { value: Some((value, origin)), .. }) => {
                    if value.is_transcendental() {
                        self.operands(value, origin, items);
                    } else {
                        self.functions(value, origin, items);
                    }
                }
                Item::Declare(_)
                | Item::If(_)
                | Item::Checked(_)
                | Item::For(_)
                | Item::Strips(_)
                | Item::Launch(_)
                | Item::Barrier => {}
            }
            items.push(item);
        }
    }

    /// Declares locals for the functions in an expression that take long.
    fn functions(&mut self, expr: &mut Expr<Read>, origin: &Origin, before: &mut Vec<Item>) {
        if expr.is_transcendental() {
            self.operands(expr, origin, before);
            self.declare(expr, &format!("{}_value", name_of(expr)), origin, before);
        } else if !matches!(expr.kind, ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..)) {
            for it in expr.operands_mut() {
                self.functions(it, origin, before);
            }
        }
    }

    /// Declares locals for the arguments of a function that take long.
    fn operands(&mut self, call: &mut Expr<Read>, origin: &Origin, before: &mut Vec<Item>) {
        let wanted = format!("{}_argument", name_of(call));
        for it in call.operands_mut() {
            self.functions(it, origin, before);
            if takes_long(it) {
                self.declare(it, &wanted, origin, before);
            }
        }
    }

    /// Declares a local for an expression, and reads the local in its place.
    fn declare(&mut self, expr: &mut Expr<Read>, wanted: &str, origin: &Origin, before: &mut Vec<Item>) {
        let local = self.names.new_local(wanted, expr.dtype);
        let kind = std::mem::replace(&mut expr.kind, ExprKind::Access(Read::Local(local)));
        let value = Expr { kind, dtype: expr.dtype, span: expr.span };
        before.push(Item::Declare(Declare { local, value: Some((value, origin.clone())), is_const: true }));
    }
}

/// Returns the name of a function in the names of locals.
fn name_of(call: &Expr<Read>) -> &'static str {
    match &call.kind {
        ExprKind::Call(function, _) => function.name(),
        _ => "power",
    }
}
