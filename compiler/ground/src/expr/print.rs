//! Expressions as text, with the fewest parentheses that read back to the same tree.

use std::fmt::{self, Display};

use itertools::Itertools;

use super::parse::spelled;
use super::{Expr, ExprKind, Index, Subscript, Vertical, subscript};
use crate::space::Axis;
use crate::types::{BinaryOp, UnaryOp};

const TERNARY: u8 = 1;
const NOT: u8 = 4;
const SIGN: u8 = 8;
const ATOM: u8 = 10;

/// How a level spells a leaf of its expressions.
pub type LeafSpelling<'a, A> = dyn Fn(&A, &mut fmt::Formatter<'_>) -> fmt::Result + 'a;

/// All that differs between levels.
struct Style<'a, A> {
    leaf: &'a LeafSpelling<'a, A>,
    position: fn(Axis) -> &'static str,
}

impl<A> Clone for Style<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Style<'_, A> {}

/// The expression in the language's own notation; casts are written `float32(x)`.
pub fn text<'a, A, T>(expr: &'a Expr<A, T>, spell: &'a LeafSpelling<'a, A>) -> impl fmt::Display + 'a {
    operand(expr, Style { leaf: spell, position: Axis::name }, 0)
}

/// The expression where loops are written out: a position is the loop's variable, as `K` is a number of points.
pub fn text_in_loops<'a, A, T>(
    expr: &'a Expr<A, T>,
    spell: &'a LeafSpelling<'a, A>,
) -> impl fmt::Display + 'a {
    operand(expr, Style { leaf: spell, position: Axis::position_name }, 0)
}

/// In parentheses where its outermost operator binds less tightly than `needed`.
fn operand<'a, A, T>(expr: &'a Expr<A, T>, style: Style<'a, A>, needed: u8) -> impl fmt::Display + 'a {
    fmt::from_fn(move |f| {
        if binding(expr) < needed {
            f.write_str("(")?;
            bare(f, expr, style)?;
            f.write_str(")")
        } else {
            bare(f, expr, style)
        }
    })
}

fn bare<A, T>(f: &mut fmt::Formatter<'_>, expr: &Expr<A, T>, style: Style<'_, A>) -> fmt::Result {
    match &expr.kind {
        ExprKind::Literal(value) => write!(f, "{value}"),
        ExprKind::Access(leaf) => (style.leaf)(leaf, f),
        ExprKind::Element(leaf, at) => {
            (style.leaf)(leaf, f)?;
            behind(at, style).fmt(f)
        }
        ExprKind::Position(axis) => f.write_str((style.position)(*axis)),
        ExprKind::Unary(op, it) => {
            // `- -x` needs no parentheses in the grammar, yet `--x` reads badly.
            // And a sign before a bare number would read back as part of it.
            let needed = match (op, &it.kind) {
                (UnaryOp::Not, _) => NOT,
                (UnaryOp::Minus, ExprKind::Literal(value)) if value.is_bare() => ATOM + 1,
                _ => SIGN + 1,
            };
            write!(f, "{}{}", op.symbol(), operand(it, style, needed))
        }
        ExprKind::Binary(op, left, right) => {
            let binding = op.precedence();
            // A power binds to the right, comparisons do not chain, all others bind to the left.
            let (left_needs, right_needs) = match op {
                BinaryOp::Pow => (binding + 1, binding),
                it if it.is_comparison() => (binding + 1, binding + 1),
                _ => (binding, binding + 1),
            };
            write!(f, "{} {op} {}", operand(left, style, left_needs), operand(right, style, right_needs))
        }
        ExprKind::Ternary { condition, then, otherwise } => {
            let [then, condition] = [then, condition].map(|it| operand(it, style, TERNARY + 1));
            write!(f, "{then} if {condition} else {}", operand(otherwise, style, TERNARY))
        }
        ExprKind::Call(function, arguments) => {
            write!(f, "{function}({})", arguments.iter().map(|it| operand(it, style, 0)).format(", "))
        }
        ExprKind::Cast(to, it) => write!(f, "{to}({})", operand(it, style, 0)),
    }
}

/// The index behind the leaf: `.up(n)` or `.at(n)` for the level, `.A[m, n]` for the data dimensions.
pub fn index<'a, A, T>(index: &'a Index<A, T>, spell: &'a LeafSpelling<'a, A>) -> impl fmt::Display + 'a {
    behind(index, Style { leaf: spell, position: Axis::name })
}

fn behind<'a, A, T>(index: &'a Index<A, T>, style: Style<'a, A>) -> impl fmt::Display + 'a {
    fmt::from_fn(move |f| {
        match &index.vertical {
            Vertical::Offset(0) => {}
            Vertical::Offset(by) => write!(f, ".up({by})")?,
            Vertical::Above(by) => write!(f, ".up({})", operand(by, style, 0))?,
            Vertical::At(level) => write!(f, ".at({})", operand(level, style, 0))?,
        }
        if index.data.is_empty() {
            return Ok(());
        }
        write!(f, ".A[{}]", index.data.iter().map(|it| operand(it, style, 0)).format(", "))
    })
}

/// How tightly the outermost operator binds.
fn binding<A, T>(expr: &Expr<A, T>) -> u8 {
    match &expr.kind {
        ExprKind::Literal(value) if value.has_sign() && value.is_bare() => SIGN,
        ExprKind::Literal(_)
        | ExprKind::Access(_)
        | ExprKind::Element(..)
        | ExprKind::Position(_)
        | ExprKind::Call(..)
        | ExprKind::Cast(..) => ATOM,
        ExprKind::Unary(UnaryOp::Not, _) => NOT,
        ExprKind::Unary(..) => SIGN,
        ExprKind::Binary(op, ..) => op.precedence(),
        ExprKind::Ternary { .. } => TERNARY,
    }
}

/// An element as `q[i + 1, j, k + {n}]`; a name alone where there is no index.
pub fn element<'a, A>(
    name: &'a str,
    index: &'a [Subscript<A>],
    spell: &'a LeafSpelling<'a, A>,
) -> impl fmt::Display + 'a {
    fmt::from_fn(move |f| {
        spelled(name).fmt(f)?;
        if index.is_empty() {
            return Ok(());
        }
        write!(f, "[{}]", index.iter().map(|it| subscript::spelled(it, spell)).format(", "))
    })
}
