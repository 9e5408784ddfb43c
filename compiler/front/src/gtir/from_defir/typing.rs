//! The type of every expression, and the conversions that its operators ask for.

use super::{Lowering, access, converted, same};
use crate::defir::nodes as def;
use crate::diag::Span;
use crate::diag::catalog::{data, types, warnings};
use crate::expr::{ExprKind, Vertical};
use crate::types::math::builtins::IntegerTreatment;
use crate::types::{BinaryOp, DType, Function, UnaryOp, Value};

use super::super::nodes::{Expr, Index};

impl Lowering<'_> {
    /// The typed expression, or nothing where it has a fault (which is reported).
    pub(super) fn expr(&mut self, expr: &def::Expr) -> Option<Expr> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Literal(value) => {
                Some(Expr { kind: ExprKind::Literal(*value), dtype: value.dtype(), span })
            }
            ExprKind::Access(leaf) => {
                let dtype = match *leaf {
                    // A read of a faulty temporary says nothing new.
                    def::Access::Field { field, .. } => {
                        let dtype = self.typings[same(field)].dtype();
                        self.has_failed |= dtype.is_none();
                        dtype?
                    }
                    def::Access::Scalar(scalar) => self.scalars[scalar.index()],
                };
                Some(Expr { kind: ExprKind::Access(access(*leaf)), dtype, span })
            }
            ExprKind::Element(leaf, index) => {
                let read = def::Expr { kind: ExprKind::Access(*leaf), dtype: (), span };
                let read = self.expr(&read);
                let name = match *leaf {
                    def::Access::Field { field, .. } => &self.source.fields[field].name,
                    def::Access::Scalar(scalar) => &self.source.scalars[scalar].name,
                };
                let index = self.index(name, index)?;
                let dtype = read?.dtype;
                Some(Expr { kind: ExprKind::Element(access(*leaf), Box::new(index)), dtype, span })
            }
            // A position always fits 64 bits; a narrower literal precision narrows it.
            ExprKind::Position(axis) => {
                let position = Expr { kind: ExprKind::Position(*axis), dtype: DType::Int64, span };
                Some(converted(position, self.config.literal_int))
            }
            ExprKind::Unary(op, operand) => self.unary(*op, operand, span),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, span),
            ExprKind::Ternary { condition, then, otherwise } => {
                let then = self.expr(then);
                let condition = self.condition("a ternary", condition);
                let otherwise = self.expr(otherwise);
                let (then, otherwise) = (then?, otherwise?);
                self.warn_of_promotion(&then, &otherwise, span);
                let dtype = then.dtype.max(otherwise.dtype);
                let kind = ExprKind::Ternary {
                    condition: Box::new(condition?),
                    then: Box::new(converted(then, dtype)),
                    otherwise: Box::new(converted(otherwise, dtype)),
                };
                Some(Expr { kind, dtype, span })
            }
            ExprKind::Call(function, arguments) => self.call(*function, arguments, span),
            ExprKind::Cast(to, operand) => {
                let mut operand = self.expr(operand)?;
                // The cast that was written keeps its place in the text.
                operand.span = if operand.dtype == *to { span } else { operand.span };
                Some(Expr { span, ..converted(operand, *to) })
            }
        }
    }

    /// Types the index of an element of `name`; every part must be an integer.
    pub(super) fn index(&mut self, name: &str, index: &def::Index) -> Option<Index> {
        let mut integer = |what: &str, expr: &def::Expr| {
            let expr = self.expr(expr)?;
            if !expr.dtype.is_int() {
                self.refuse(data::float_index(&format!("{what} `{name}`"), expr.dtype, expr.span));
                return None;
            }
            Some(expr)
        };
        let vertical = match &index.vertical {
            Vertical::Offset(by) => Some(Vertical::Offset(*by)),
            Vertical::Above(by) => integer("the offset along K of", by).map(Vertical::Above),
            Vertical::At(level) => integer("the level of", level).map(Vertical::At),
        };
        let data: Vec<Option<Expr>> = index.data.iter().map(|it| integer("the data index of", it)).collect();
        Some(Index { vertical: vertical?, data: data.into_iter().collect::<Option<_>>()? })
    }

    fn unary(&mut self, op: UnaryOp, operand: &def::Expr, span: Span) -> Option<Expr> {
        let operand = self.expr(operand)?;
        if op.result(operand.dtype).is_none() {
            self.refuse(match op {
                UnaryOp::Not => {
                    types::logic_on_numbers("not", operand.dtype, operand.span, is_simple(&operand))
                }
                UnaryOp::Plus | UnaryOp::Minus => types::sign_of_bool(op.symbol(), operand.span),
            });
            return None;
        }
        let dtype = operand.dtype;
        Some(Expr { kind: ExprKind::Unary(op, Box::new(operand)), dtype, span })
    }

    fn binary(&mut self, op: BinaryOp, left: &def::Expr, right: &def::Expr, span: Span) -> Option<Expr> {
        let (left, right) = (self.expr(left), self.expr(right));
        let (left, right) = (left?, right?);
        if op.is_logical() {
            for operand in [&left, &right] {
                if operand.dtype != DType::Bool {
                    let is_simple = is_simple(operand);
                    self.refuse(types::logic_on_numbers(op.symbol(), operand.dtype, operand.span, is_simple));
                    return None;
                }
            }
            return Some(binary(op, left, right, DType::Bool, span));
        }
        let common = left.dtype.max(right.dtype);
        if !op.is_comparison() && common == DType::Bool {
            self.refuse(types::arithmetic_on_bools(op, span));
            return None;
        }
        self.warn_of_promotion(&left, &right, span);
        match op {
            BinaryOp::Div if !common.is_float() => {
                let float = self.config.literal_float;
                self.diagnostics.push(warnings::integer_division(float, span));
                Some(binary(op, converted(left, float), converted(right, float), float, span))
            }
            BinaryOp::Pow => Some(self.power(left, right, span)),
            _ => {
                let dtype = if op.is_comparison() { DType::Bool } else { common };
                Some(binary(op, converted(left, common), converted(right, common), dtype, span))
            }
        }
    }

    /// The exponent keeps its own type, so that an integer power stays exact.
    fn power(&mut self, base: Expr, exponent: Expr, span: Span) -> Expr {
        let mut dtype = base.dtype.max(exponent.dtype);
        if dtype.is_int() && is_negative_literal(&exponent) {
            dtype = DType::Float64;
            self.diagnostics.push(warnings::negative_power_of_integer(dtype, span));
        }
        // A bool has no type of its own as an exponent.
        let exponent = if exponent.dtype == DType::Bool { converted(exponent, dtype) } else { exponent };
        binary(BinaryOp::Pow, converted(base, dtype), exponent, dtype, span)
    }

    fn call(&mut self, function: Function, arguments: &[def::Expr], span: Span) -> Option<Expr> {
        let arguments: Vec<Option<Expr>> = arguments.iter().map(|it| self.expr(it)).collect();
        let mut arguments: Vec<Expr> = arguments.into_iter().collect::<Option<_>>()?;
        let common = arguments.iter().map(|it| it.dtype).max()?;
        if common == DType::Bool {
            self.refuse(types::function_of_bool(function.written(), span));
            return None;
        }
        if let [first, second] = arguments.as_slice() {
            self.warn_of_promotion(first, second, span);
        }
        let keeps = common.is_float() || function.keeps_integers();
        let taken = if keeps { common } else { DType::Float32 };
        if common.is_int() && function.row().integers == IntegerTreatment::Themselves {
            return arguments.pop();
        }
        let dtype = if function.is_predicate() { DType::Bool } else { taken };
        let arguments = arguments.into_iter().map(|it| converted(it, taken)).collect();
        Some(Expr { kind: ExprKind::Call(function, arguments), dtype, span })
    }

    /// Warns where a double literal makes a double of a single-precision operand.
    fn warn_of_promotion(&mut self, left: &Expr, right: &Expr, span: Span) {
        for (literal, other) in [(left, right), (right, left)] {
            if literal.dtype == DType::Float64
                && other.dtype == DType::Float32
                && let Some(value) = literal_value(literal)
            {
                self.diagnostics.push(warnings::promoted_by_literal(&value.to_string(), span));
            }
        }
    }
}

fn binary(op: BinaryOp, left: Expr, right: Expr, dtype: DType, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), dtype, span }
}

/// Whether the text of an expression can be compared as it stands, without parentheses.
pub(super) fn is_simple(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(_)
        | ExprKind::Access(_)
        | ExprKind::Element(..)
        | ExprKind::Position(_)
        | ExprKind::Call(..) => true,
        // A conversion that was not written stands for its operand.
        ExprKind::Cast(_, operand) => is_simple(operand),
        ExprKind::Unary(..) | ExprKind::Binary(..) | ExprKind::Ternary { .. } => false,
    }
}

/// The value of a literal, signed or not.
fn literal_value(expr: &Expr) -> Option<Value> {
    match &expr.kind {
        ExprKind::Literal(value) => Some(*value),
        ExprKind::Unary(op, operand) => {
            let ExprKind::Literal(value) = operand.kind else { return None };
            Some(crate::expr::evaluate::unary(*op, value))
        }
        _ => None,
    }
}

fn is_negative_literal(expr: &Expr) -> bool {
    literal_value(expr).is_some_and(|it| it.as_i64() < 0)
}
