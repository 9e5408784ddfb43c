//! Expressions at one point, in Python.
//!
//! Python's own numbers are unbounded integers and doubles. Values of other types are converted back to their
//! type: `float32` after each operation, integers before a use whose result depends on wrapping.

use std::collections::BTreeSet;

use super::helpers::Helper;
use crate::entity::{Handle, SideTable};
use crate::expr::{ExprKind, Vertical};
use crate::oir::nodes::{Access, Expr, Field, Index, Local, Scalar, Stencil};
use crate::python::formula::primitive;
use crate::python::{self, COMPARISON, NOT, SIGN, SUM, TERNARY, Text, beside, binding};
use crate::space::{Axis, Offset};
use crate::types::math::builtins::Meaning;
use crate::types::{BinaryOp, BinaryPrimitive, DType, Function, Primitive, UnaryOp, UnaryPrimitive, Value};

/// Names of fields, scalars and locals in the text; `before` are copies of fields.
pub(super) struct Names {
    pub(super) fields: SideTable<Field, String>,
    pub(super) before: SideTable<Field, String>,
    pub(super) scalars: SideTable<Scalar, String>,
    pub(super) locals: SideTable<Local, String>,
}

/// Writes expressions, and remembers what these need.
pub(super) struct Expressions<'a> {
    pub(super) stencil: &'a Stencil,
    pub(super) names: Names,
    /// Fields that are read as they were before the execution, but at the point itself.
    pub(super) before: BTreeSet<Handle<Field>>,
    pub(super) helpers: BTreeSet<Helper>,
}

impl Expressions<'_> {
    /// An element of a field, seen from the point.
    pub(super) fn element(&mut self, field: Handle<Field>, offset: Offset, index: Option<&Index>) -> String {
        let level = index.map_or(Some(offset.k), Index::level_offset);
        let is_here = !offset.is_horizontal() && level == Some(0);
        let mut all = Vec::new();
        for axis in self.stencil.fields[field].axes.iter() {
            let name = axis.position_name();
            all.push(match (axis, index.map(|it| &it.vertical)) {
                (Axis::K, Some(Vertical::Offset(by))) => beside(name, (*by).into()),
                (Axis::K, Some(Vertical::Above(by))) => {
                    Text::infix(Text::atom(name), "+", self.expr(by), SUM).text
                }
                (Axis::K, Some(Vertical::At(level))) => self.expr(level).text,
                _ => beside(name, offset.along(axis).into()),
            });
        }
        if let Some(index) = index {
            for at in &index.data {
                all.push(self.expr(at).text);
            }
        }
        let is_before = !is_here && self.before.contains(&field);
        let name = if is_before { &self.names.before[field] } else { &self.names.fields[field] };
        format!("{name}[{}]", all.join(", "))
    }

    fn read(&mut self, access: Access, index: Option<&Index>) -> Text {
        Text::atom(match access {
            Access::Field { field, offset } => self.element(field, offset, index),
            Access::Scalar(scalar) => self.names.scalars[scalar].clone(),
            Access::Local(local) => self.names.locals[local].clone(),
        })
    }

    /// An expression whose value is one of its type.
    pub(super) fn expr(&mut self, expr: &Expr) -> Text {
        let text = self.unwrapped(expr);
        let may_be_beyond = expr.dtype.is_int()
            && match &expr.kind {
                ExprKind::Unary(op, _) => *op == UnaryOp::Minus,
                ExprKind::Binary(op, ..) => {
                    matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Pow)
                }
                ExprKind::Call(function, _) => {
                    function.primitive() == Some(Primitive::Unary(UnaryPrimitive::Magnitude))
                }
                _ => false,
            };
        if may_be_beyond { self.within(expr.dtype, text) } else { text }
    }

    /// A number brought into a type.
    fn within(&mut self, dtype: DType, text: Text) -> Text {
        self.helpers.insert(if dtype == DType::Float32 { Helper::Float32 } else { Helper::Integer });
        Text::atom(format_args!("{dtype}({})", text.text))
    }

    /// The same, but an integer may have outgrown its type: sums and products of those wrap as they would have.
    fn unwrapped(&mut self, expr: &Expr) -> Text {
        match &expr.kind {
            ExprKind::Literal(value) => literal(*value),
            ExprKind::Access(access) => self.read(*access, None),
            ExprKind::Element(access, index) => self.read(*access, Some(index)),
            ExprKind::Position(axis) => Text::atom(axis.position_name()),
            ExprKind::Unary(op, operand) => match op {
                UnaryOp::Plus => self.unwrapped(operand),
                UnaryOp::Minus => {
                    Text::new(format_args!("-{}", self.unwrapped(operand).within(SIGN + 1)), SIGN)
                }
                UnaryOp::Not => Text::new(format_args!("not {}", self.expr(operand).within(NOT)), NOT),
            },
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::Ternary { condition, then, otherwise } => {
                let [then, condition] = [then, condition].map(|it| self.expr(it).within(TERNARY + 1));
                let otherwise = self.expr(otherwise).within(TERNARY);
                Text::new(format_args!("{then} if {condition} else {otherwise}"), TERNARY)
            }
            ExprKind::Call(function, arguments) => self.call(*function, arguments),
            ExprKind::Cast(to, operand) => self.cast(*to, operand),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Text {
        let dtype = left.dtype;
        match op {
            BinaryOp::Mod => return self.call_of_two(BinaryPrimitive::FlooredRemainder, dtype, left, right),
            BinaryOp::Pow => return self.power(left, right),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul if dtype.is_int() => {
                let (left, right) = (self.unwrapped(left), self.unwrapped(right));
                return Text::infix(left, op.symbol(), right, binding(op));
            }
            _ => {}
        }
        let is_safe = matches!(right.kind, ExprKind::Literal(it) if it.as_f64().abs() > 0.0);
        let text = if op == BinaryOp::Div && !is_safe {
            self.helpers.insert(Helper::Float);
            let [left, right] = [left, right].map(|it| self.expr(it).text);
            Text::atom(format_args!("divide({left}, {right})"))
        } else {
            let (left, right) = (self.expr(left), self.expr(right));
            Text::infix(left, op.symbol(), right, binding(op))
        };
        let is_arithmetic = !op.is_comparison() && !op.is_logical();
        if is_arithmetic && dtype == DType::Float32 { self.within(dtype, text) } else { text }
    }

    /// A remainder or an extremum.
    fn call_of_two(&mut self, op: BinaryPrimitive, dtype: DType, left: &Expr, right: &Expr) -> Text {
        let [left, right] = [left, right].map(|it| self.expr(it).text);
        if dtype.is_float() {
            self.helpers.insert(Helper::Float);
            let text = Text::atom(format_args!("{}({left}, {right})", primitive(Primitive::Binary(op))));
            // The sum in it is not rounded yet.
            let is_sum = op == BinaryPrimitive::FlooredRemainder;
            return if dtype == DType::Float32 && is_sum { self.within(dtype, text) } else { text };
        }
        // Without NaN, Python's own are ours.
        let own = match op {
            BinaryPrimitive::Minimum | BinaryPrimitive::Lesser => BinaryPrimitive::Minimum.name(),
            BinaryPrimitive::Maximum | BinaryPrimitive::Greater => BinaryPrimitive::Maximum.name(),
            BinaryPrimitive::FlooredRemainder | BinaryPrimitive::TruncatedRemainder => {
                self.helpers.insert(Helper::Integer);
                return Text::atom(format_args!("integer_{}({left}, {right})", op.name()));
            }
        };
        Text::atom(format_args!("{own}({left}, {right})"))
    }

    fn power(&mut self, base: &Expr, exponent: &Expr) -> Text {
        let dtype = base.dtype;
        if !dtype.is_float() {
            self.helpers.insert(Helper::Integer);
            let [base, exponent] = [base, exponent].map(|it| self.expr(it).text);
            return Text::atom(format_args!("integer_pow({base}, {exponent})"));
        }
        self.helpers.insert(Helper::Pow(dtype));
        let base = self.expr(base).text;
        let exponent = match exponent.kind {
            ExprKind::Literal(value) => literal(value.cast(dtype)).text,
            _ if exponent.dtype == dtype => self.expr(exponent).text,
            _ => self.cast(dtype, exponent).text,
        };
        Text::atom(format_args!("pow{}({base}, {exponent})", suffix(dtype)))
    }

    fn call(&mut self, function: Function, arguments: &[Expr]) -> Text {
        let Some(first) = arguments.first() else { return Text::atom("0.0") };
        let (dtype, second) = (first.dtype, arguments.get(1).unwrap_or(first));
        match function.row().meaning {
            Meaning::Primitive(Primitive::Binary(op)) => self.call_of_two(op, dtype, first, second),
            Meaning::Primitive(Primitive::Unary(op)) => self.call_of_one(op, dtype, first),
            Meaning::Primitive(op @ Primitive::Predicate(_)) => {
                let operand = self.expr(first).text;
                Text::atom(format_args!("{}({operand})", primitive(op)))
            }
            Meaning::Formula(_) => {
                self.helpers.insert(Helper::Function(function, dtype));
                let all: Vec<String> = arguments.iter().map(|it| self.expr(it).text).collect();
                Text::atom(format_args!("{function}{}({})", suffix(dtype), all.join(", ")))
            }
        }
    }

    fn call_of_one(&mut self, op: UnaryPrimitive, dtype: DType, operand: &Expr) -> Text {
        if op.is_rounding() && !dtype.is_float() {
            return self.expr(operand);
        }
        // Python's own knows all numbers.
        self.helpers.extend((op != UnaryPrimitive::Magnitude).then_some(Helper::Float));
        let operand = self.expr(operand).text;
        let text = Text::atom(format_args!("{}({operand})", primitive(Primitive::Unary(op))));
        let is_rounded = op != UnaryPrimitive::SquareRoot;
        if dtype == DType::Float32 && !is_rounded { self.within(dtype, text) } else { text }
    }

    fn cast(&mut self, to: DType, operand: &Expr) -> Text {
        if let ExprKind::Literal(value) = operand.kind {
            return literal(value.cast(to));
        }
        let from = operand.dtype;
        match to {
            DType::Bool => {
                let value = self.expr(operand);
                Text::infix(value, "!=", Text::atom("0"), COMPARISON)
            }
            to if to.is_int() && from.is_float() => {
                self.helpers.insert(Helper::Integer);
                let text = Text::atom(format_args!("integer({})", self.expr(operand).text));
                if to == DType::Int64 { text } else { self.within(to, text) }
            }
            DType::Float64 if from == DType::Float32 => self.expr(operand),
            DType::Float64 => Text::atom(format_args!("float({})", self.expr(operand).text)),
            DType::Float32 => {
                let text = self.expr(operand);
                let text =
                    if from == DType::Bool { Text::atom(format_args!("int({})", text.text)) } else { text };
                self.within(to, text)
            }
            _ if from == DType::Bool => Text::atom(format_args!("int({})", self.expr(operand).text)),
            // To a wider type it fits.
            to if from < to => self.expr(operand),
            to => {
                let text = self.unwrapped(operand);
                self.within(to, text)
            }
        }
    }
}

/// A number; one of single precision has as many digits as the same double.
pub(super) fn literal(value: Value) -> Text {
    let value = if let Value::Float32(it) = value { Value::Float64(it.into()) } else { value };
    python::number(value, ["nan", "inf"])
}

fn suffix(dtype: DType) -> &'static str {
    if dtype == DType::Float32 { "_float32" } else { "" }
}
