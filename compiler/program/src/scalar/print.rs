//! Expressions as Python, with as few parentheses as there may be.

use std::fmt::{self, Display as _};

use isobar_ground::entity::Arena;

use super::nodes::{ScalarExpr, ScalarExprKind, ScalarOperator, ScalarSign, ScalarValue, ScalarVariable};

/// The text of an expression; reading it gives the same expression.
#[must_use]
pub fn printed(expr: &ScalarExpr, scalars: &Arena<ScalarVariable>) -> String {
    ScalarText { expr, scalars, least: CONDITIONAL }.to_string()
}

// How strongly operators bind, weakest first.
const CONDITIONAL: u8 = 0;
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const COMPARE: u8 = 4;
const SUM: u8 = 5;
const PRODUCT: u8 = 6;
const SIGN: u8 = 7;
const POWER: u8 = 8;
const ATOM: u8 = 9;

fn strength(expr: &ScalarExpr) -> u8 {
    match &expr.kind {
        ScalarExprKind::Conditional { .. } => CONDITIONAL,
        ScalarExprKind::Or(_) => OR,
        ScalarExprKind::And(_) => AND,
        ScalarExprKind::Unary(ScalarSign::Not, _) => NOT,
        ScalarExprKind::Compare(..) => COMPARE,
        ScalarExprKind::Binary(ScalarOperator::Add | ScalarOperator::Sub, ..) => SUM,
        ScalarExprKind::Binary(ScalarOperator::Pow, ..) => POWER,
        ScalarExprKind::Binary(..) => PRODUCT,
        ScalarExprKind::Unary(ScalarSign::Plus | ScalarSign::Minus, _) => SIGN,
        ScalarExprKind::Literal(ScalarValue::Int(it)) if *it < 0 => SIGN,
        ScalarExprKind::Literal(_) | ScalarExprKind::Variable(_) | ScalarExprKind::Call(..) => ATOM,
    }
}

/// An expression where operands bind at least as strongly as `least`.
struct ScalarText<'a> {
    expr: &'a ScalarExpr,
    scalars: &'a Arena<ScalarVariable>,
    least: u8,
}

impl fmt::Display for ScalarText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = strength(self.expr);
        if own < self.least {
            f.write_str("(")?;
            self.bare(f)?;
            return f.write_str(")");
        }
        self.bare(f)
    }
}

impl ScalarText<'_> {
    fn inner<'e>(&'e self, expr: &'e ScalarExpr, least: u8) -> ScalarText<'e> {
        ScalarText { expr, scalars: self.scalars, least }
    }

    fn bare(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.expr.kind {
            ScalarExprKind::Literal(value) => literal(*value, f),
            ScalarExprKind::Variable(variable) => f.write_str(&self.scalars[*variable].name),
            ScalarExprKind::Unary(sign, operand) => match sign {
                ScalarSign::Plus => write!(f, "+{}", self.inner(operand, SIGN)),
                ScalarSign::Minus => write!(f, "-{}", self.inner(operand, SIGN)),
                ScalarSign::Not => write!(f, "not {}", self.inner(operand, NOT)),
            },
            ScalarExprKind::Binary(ScalarOperator::Pow, left, right) => {
                write!(f, "{} ** {}", self.inner(left, ATOM), self.inner(right, SIGN))
            }
            ScalarExprKind::Binary(operator, left, right) => {
                let own = strength(self.expr);
                write!(f, "{} {} {}", self.inner(left, own), operator.symbol(), self.inner(right, own + 1))
            }
            ScalarExprKind::Compare(first, rest) => {
                self.inner(first, SUM).fmt(f)?;
                rest.iter().try_for_each(|(comparison, right)| {
                    write!(f, " {} {}", comparison.symbol(), self.inner(right, SUM))
                })
            }
            ScalarExprKind::And(parts) => self.joined(parts, " and ", NOT, f),
            ScalarExprKind::Or(parts) => self.joined(parts, " or ", AND, f),
            ScalarExprKind::Conditional { test, then, otherwise } => {
                let [then, test] = [self.inner(then, OR), self.inner(test, OR)];
                write!(f, "{then} if {test} else {}", self.inner(otherwise, CONDITIONAL))
            }
            ScalarExprKind::Call(function, args) => {
                write!(f, "{}(", function.name())?;
                self.joined(args, ", ", CONDITIONAL, f)?;
                f.write_str(")")
            }
        }
    }

    fn joined(&self, parts: &[ScalarExpr], by: &str, least: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                f.write_str(by)?;
            }
            self.inner(part, least).fmt(f)?;
        }
        Ok(())
    }
}

fn literal(value: ScalarValue, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        ScalarValue::Bool(it) => f.write_str(if it { "True" } else { "False" }),
        ScalarValue::Int(it) => write!(f, "{it}"),
        ScalarValue::Float(it) if it.is_nan() => f.write_str("float(\"nan\")"),
        ScalarValue::Float(it) if it.is_infinite() => {
            write!(f, "float(\"{}inf\")", if it < 0.0 { "-" } else { "" })
        }
        ScalarValue::Float(it) => write!(f, "{it:?}"),
        ScalarValue::Single(it) => write!(f, "float32({it:?})"),
    }
}
