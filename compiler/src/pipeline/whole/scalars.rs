//! Scalar expressions of a program as expressions of the schedule tree, with Python's rules.
//!
//! An expression that has no value gets one here, as C has it: a quotient by zero is an infinity, and an integer wraps.

use isobar_program::scalar::nodes::{
    ScalarComparison, ScalarExpr, ScalarExprKind, ScalarFunction, ScalarOperator, ScalarSign, ScalarType,
    ScalarVariable,
};

use crate::diag::Span;
use crate::entity::Handle;
use crate::expr::ExprKind;
use crate::schedule::nodes::{Access, Expr};
use crate::types::{BinaryOp, DType, Function, UnaryOp, Value};

/// The largest exponent of an integer that becomes a product.
const MOST_FACTORS: i64 = 16;

/// Whether it is a literal that a double holds.
fn is_small(expr: &ScalarExpr) -> bool {
    expr.as_int().is_some_and(|it| it.unsigned_abs() <= 1 << 53)
}

/// Lowers expressions of one statement.
pub(super) struct ScalarLowering<'s> {
    /// The value of a variable, in its own type.
    pub(super) value_of: &'s dyn Fn(Handle<ScalarVariable>) -> Expr,
    pub(super) span: Span,
}

type Lowered = Result<Expr, String>;

impl ScalarLowering<'_> {
    /// The value that a variable or a parameter of a type takes.
    pub(super) fn stored(&self, expr: &ScalarExpr, dtype: DType) -> Lowered {
        Ok(self.cast(self.value(expr)?, dtype))
    }

    /// Whether Python takes it as true.
    pub(super) fn truth(&self, expr: &ScalarExpr) -> Lowered {
        Ok(self.is_true(self.value(expr)?))
    }

    /// The value, in the type that expressions of its kind have.
    pub(super) fn value(&self, expr: &ScalarExpr) -> Lowered {
        let of = expr.of.dtype();
        match &expr.kind {
            ScalarExprKind::Literal(it) => Ok(self.literal(it.value())),
            ScalarExprKind::Variable(it) => Ok(self.cast((self.value_of)(*it), of)),
            ScalarExprKind::Unary(sign, operand) => self.unary(*sign, operand, of),
            ScalarExprKind::Binary(operator, left, right) => self.binary(*operator, (left, right), expr.of),
            ScalarExprKind::Compare(first, rest) => self.compare(first, rest),
            ScalarExprKind::And(parts) => self.deciding(parts, of, BinaryOp::And),
            ScalarExprKind::Or(parts) => self.deciding(parts, of, BinaryOp::Or),
            ScalarExprKind::Conditional { test, then, otherwise } => {
                let (then, otherwise) = (self.stored(then, of)?, self.stored(otherwise, of)?);
                Ok(self.ternary(self.truth(test)?, then, otherwise))
            }
            ScalarExprKind::Call(function, args) => self.call(*function, args, of),
        }
    }

    fn expr(&self, kind: ExprKind<Access>, dtype: DType) -> Expr {
        Expr { kind, dtype, span: self.span }
    }

    pub(super) fn literal(&self, value: Value) -> Expr {
        self.expr(ExprKind::Literal(value), value.dtype())
    }

    pub(super) fn cast(&self, value: Expr, dtype: DType) -> Expr {
        if value.dtype == dtype {
            return value;
        }
        self.expr(ExprKind::Cast(dtype, Box::new(value)), dtype)
    }

    pub(super) fn operation(&self, op: BinaryOp, left: Expr, right: Expr) -> Expr {
        let is_test = op.is_comparison() || op.is_logical();
        let dtype = if is_test { DType::Bool } else { left.dtype };
        self.expr(ExprKind::Binary(op, Box::new(left), Box::new(right)), dtype)
    }

    fn ternary(&self, condition: Expr, then: Expr, otherwise: Expr) -> Expr {
        let dtype = then.dtype;
        let kind = ExprKind::Ternary {
            condition: Box::new(condition),
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        };
        self.expr(kind, dtype)
    }

    fn called(&self, name: &str, args: Vec<Expr>) -> Lowered {
        let function = Function::from_name(name).ok_or_else(|| format!("there is no `{name}`"))?;
        let dtype = args.first().map_or(DType::Float64, |it| it.dtype);
        Ok(self.expr(ExprKind::Call(function, args), dtype))
    }

    fn is_true(&self, value: Expr) -> Expr {
        if value.dtype == DType::Bool {
            return value;
        }
        let zero = self.literal(Value::Int64(0).cast(value.dtype));
        self.operation(BinaryOp::Ne, value, zero)
    }

    fn unary(&self, sign: ScalarSign, operand: &ScalarExpr, of: DType) -> Lowered {
        let op = match sign {
            ScalarSign::Not => {
                let truth = Box::new(self.truth(operand)?);
                return Ok(self.expr(ExprKind::Unary(UnaryOp::Not, truth), DType::Bool));
            }
            ScalarSign::Plus => return self.stored(operand, of),
            ScalarSign::Minus => UnaryOp::Minus,
        };
        let value = Box::new(self.stored(operand, of)?);
        Ok(self.expr(ExprKind::Unary(op, value), of))
    }

    fn binary(
        &self,
        operator: ScalarOperator,
        (left, right): (&ScalarExpr, &ScalarExpr),
        of: ScalarType,
    ) -> Lowered {
        let as_type = |dtype| Ok::<_, String>((self.stored(left, dtype)?, self.stored(right, dtype)?));
        let op = match operator {
            ScalarOperator::Add => BinaryOp::Add,
            ScalarOperator::Sub => BinaryOp::Sub,
            ScalarOperator::Mul => BinaryOp::Mul,
            ScalarOperator::Div => BinaryOp::Div,
            ScalarOperator::Mod => BinaryOp::Mod,
            ScalarOperator::FloorDiv if of == ScalarType::Int => {
                // Without the rest it is a multiple of the divisor, so the quotient of doubles is exact.
                let (a, b) = as_type(DType::Int64)?;
                let rest = self.operation(BinaryOp::Mod, a.clone(), b.clone());
                let whole = self.operation(BinaryOp::Sub, a, rest);
                let [whole, b] = [whole, b].map(|it| self.cast(it, DType::Float64));
                return Ok(self.cast(self.operation(BinaryOp::Div, whole, b), DType::Int64));
            }
            ScalarOperator::FloorDiv => return Err("a schedule has no `//` of floats".to_owned()),
            ScalarOperator::Pow if of == ScalarType::Int => return self.integer_power(left, right),
            ScalarOperator::Pow => {
                let (a, b) = as_type(DType::Float64)?;
                // A literal 2 would be a product, which a power of Python is not.
                let is_two = matches!(b.kind, ExprKind::Literal(Value::Float64(it)) if it.to_bits() == 2.0_f64.to_bits());
                let b = if is_two { self.cast(self.literal(Value::Int64(2)), DType::Float64) } else { b };
                return Ok(self.operation(BinaryOp::Pow, a, b));
            }
        };
        let (a, b) = as_type(of.dtype())?;
        Ok(self.operation(op, a, b))
    }

    fn integer_power(&self, base: &ScalarExpr, exponent: &ScalarExpr) -> Lowered {
        let n = exponent.as_int().filter(|it| (0..=MOST_FACTORS).contains(it));
        let n = n.ok_or("a power of integers has a literal exponent from 0 to 16 in a schedule")?;
        let base = self.stored(base, DType::Int64)?;
        let product = |all: Expr| self.operation(BinaryOp::Mul, all, base.clone());
        let one = self.literal(Value::Int64(1));
        Ok((1..n).fold(if n == 0 { one } else { base.clone() }, |all, _| product(all)))
    }

    fn compare(&self, first: &ScalarExpr, rest: &[(ScalarComparison, ScalarExpr)]) -> Lowered {
        let mut left = first;
        let mut tests = Vec::new();
        for (comparison, right) in rest {
            tests.push(self.compared(*comparison, left, right)?);
            left = right;
        }
        let joined = tests.into_iter().reduce(|all, next| self.operation(BinaryOp::And, all, next));
        Ok(joined.unwrap_or_else(|| self.literal(Value::Bool(true))))
    }

    fn compared(&self, comparison: ScalarComparison, left: &ScalarExpr, right: &ScalarExpr) -> Lowered {
        let op = match comparison {
            ScalarComparison::Eq => BinaryOp::Eq,
            ScalarComparison::Ne => BinaryOp::Ne,
            ScalarComparison::Lt => BinaryOp::Lt,
            ScalarComparison::Le => BinaryOp::Le,
            ScalarComparison::Gt => BinaryOp::Gt,
            ScalarComparison::Ge => BinaryOp::Ge,
        };
        let of = match (left.of.is_integral(), right.of.is_integral()) {
            (true, true) => DType::Int64,
            (true, false) if !is_small(left) => {
                return self.integer_compared(op, self.stored(left, DType::Int64)?, self.value(right)?);
            }
            (false, true) if !is_small(right) => {
                let reversed = match op {
                    BinaryOp::Lt => BinaryOp::Gt,
                    BinaryOp::Le => BinaryOp::Ge,
                    BinaryOp::Gt => BinaryOp::Lt,
                    BinaryOp::Ge => BinaryOp::Le,
                    _ => op,
                };
                return self.integer_compared(reversed, self.stored(right, DType::Int64)?, self.value(left)?);
            }
            _ if left.of == right.of => left.of.dtype(),
            _ => DType::Float64,
        };
        Ok(self.operation(op, self.stored(left, of)?, self.stored(right, of)?))
    }

    /// An integer and a float, compared without rounding: where the rounded integer is the float, that is an integer too.
    fn integer_compared(&self, op: BinaryOp, integer: Expr, float: Expr) -> Lowered {
        let float = self.cast(float, DType::Float64);
        let rounded = self.cast(integer.clone(), DType::Float64);
        let is_same = self.operation(BinaryOp::Eq, rounded.clone(), float.clone());
        let whole = self.cast(float.clone(), DType::Int64);
        let of_integers = self.operation(op, integer, whole);
        let of_floats = self.operation(op, rounded, float);
        Ok(self.ternary(is_same, of_integers, of_floats))
    }

    /// The first operand that decides, or the last one.
    fn deciding(&self, parts: &[ScalarExpr], of: DType, op: BinaryOp) -> Lowered {
        let values = parts.iter().map(|it| self.stored(it, of)).collect::<Result<Vec<_>, _>>()?;
        let joined = values.into_iter().rev().reduce(|later, first| {
            if of == DType::Bool {
                return self.operation(op, first, later);
            }
            let decides = self.is_true(first.clone());
            match op {
                BinaryOp::Or => self.ternary(decides, first, later),
                _ => self.ternary(decides, later, first),
            }
        });
        joined.ok_or_else(|| "there is no operand".to_owned())
    }

    fn call(&self, function: ScalarFunction, args: &[ScalarExpr], of: DType) -> Lowered {
        let arg = args.first().ok_or("there is no argument")?;
        match function {
            ScalarFunction::Min => self.extreme(args, of, BinaryOp::Lt),
            ScalarFunction::Max => self.extreme(args, of, BinaryOp::Gt),
            ScalarFunction::Abs if arg.of == ScalarType::Bool => self.stored(arg, of),
            ScalarFunction::Abs => self.called("abs", vec![self.value(arg)?]),
            ScalarFunction::Round => self.whole(arg, "round"),
            ScalarFunction::Floor => self.whole(arg, "floor"),
            ScalarFunction::Int => self.whole(arg, "trunc"),
            ScalarFunction::Bool => self.truth(arg),
            ScalarFunction::Exp | ScalarFunction::Log | ScalarFunction::Sqrt => {
                self.called(function.name(), vec![self.stored(arg, DType::Float64)?])
            }
            ScalarFunction::Cast(dtype) => {
                let is_cut = dtype.is_int() && !arg.of.is_integral();
                let value = if is_cut { self.whole(arg, "trunc")? } else { self.value(arg)? };
                Ok(self.cast(self.cast(value, dtype), of))
            }
        }
    }

    /// The first extreme one stays, as with NaN in Python.
    fn extreme(&self, args: &[ScalarExpr], of: DType, comes_first: BinaryOp) -> Lowered {
        let mut values =
            args.iter().map(|it| self.stored(it, of)).collect::<Result<Vec<_>, _>>()?.into_iter();
        let first = values.next().ok_or("there is no argument")?;
        Ok(values.fold(first, |found, next| {
            let is_next = self.operation(comes_first, next.clone(), found.clone());
            self.ternary(is_next, next, found)
        }))
    }

    fn whole(&self, arg: &ScalarExpr, function: &str) -> Lowered {
        if arg.of.is_integral() {
            return self.stored(arg, DType::Int64);
        }
        let value = self.called(function, vec![self.stored(arg, DType::Float64)?])?;
        Ok(self.cast(value, DType::Int64))
    }
}
