//! Expressions as text, with the fewest parentheses that read back to the same tree.

use super::parse::spelled;
use super::{Expr, ExprKind};
use crate::space::Affine;
use crate::types::{BinaryOp, UnaryOp};

const TERNARY: u8 = 1;
const NOT: u8 = 4;
const SIGN: u8 = 8;
const ATOM: u8 = 10;

/// The expression in the language's own notation; casts are written `float32(x)`.
/// `access` spells a leaf.
pub fn text<A, T>(expr: &Expr<A, T>, access: &dyn Fn(&A) -> String) -> String {
    print(expr, access).0
}

/// An element as `q[i + 1, j, k]`; a name alone where there is no index.
#[must_use]
pub fn element(name: &str, index: &[Affine]) -> String {
    if index.is_empty() {
        return spelled(name);
    }
    let index: Vec<String> = index.iter().map(ToString::to_string).collect();
    format!("{}[{}]", spelled(name), index.join(", "))
}

/// The text and how tightly its outermost operator binds.
fn print<A, T>(expr: &Expr<A, T>, access: &dyn Fn(&A) -> String) -> (String, u8) {
    let at_least = |operand: &Expr<A, T>, needed: u8| {
        let (text, binding) = print(operand, access);
        if binding < needed { format!("({text})") } else { text }
    };
    match &expr.kind {
        ExprKind::Literal(value) => {
            let text = value.to_string();
            let binding = if text.starts_with('-') { SIGN } else { ATOM };
            (text, binding)
        }
        ExprKind::Access(leaf) => (access(leaf), ATOM),
        ExprKind::Position(axis) => (axis.name().to_owned(), ATOM),
        ExprKind::Unary(op, operand) => {
            let binding = if *op == UnaryOp::Not { NOT } else { SIGN };
            // `- -x` needs no parentheses in the grammar, yet `--x` reads badly.
            // And a sign before a bare number would read back as part of it.
            let needed = match (op, &operand.kind) {
                (UnaryOp::Not, _) => NOT,
                (UnaryOp::Minus, ExprKind::Literal(_)) => ATOM + 1,
                _ => SIGN + 1,
            };
            (format!("{}{}", op.symbol(), at_least(operand, needed)), binding)
        }
        ExprKind::Binary(op, left, right) => {
            let binding = op.precedence();
            // A power binds to the right, comparisons do not chain, all others bind to the left.
            let (left_needs, right_needs) = match op {
                BinaryOp::Pow => (binding + 1, binding),
                it if it.is_comparison() => (binding + 1, binding + 1),
                _ => (binding, binding + 1),
            };
            (format!("{} {op} {}", at_least(left, left_needs), at_least(right, right_needs)), binding)
        }
        ExprKind::Ternary { condition, then, otherwise } => {
            let (then, condition) = (at_least(then, TERNARY + 1), at_least(condition, TERNARY + 1));
            (format!("{then} if {condition} else {}", at_least(otherwise, TERNARY)), TERNARY)
        }
        ExprKind::Call(function, arguments) => {
            let arguments: Vec<String> = arguments.iter().map(|it| print(it, access).0).collect();
            (format!("{function}({})", arguments.join(", ")), ATOM)
        }
        ExprKind::Cast(to, operand) => (format!("{to}({})", print(operand, access).0), ATOM),
    }
}
