//! Expressions of whole arrays in NumPy.

use std::collections::BTreeSet;

use itertools::Itertools;

use super::helpers::{Helper, of_numpy};
use super::locals::Locals;
use crate::entity::{Handle, SideTable};
use crate::expr::{ExprKind, Vertical};
use crate::npir::nodes::{Access, Expr, Field, Index, Local, Scalar, Stencil};
use crate::python::formula::primitive;
use crate::python::{self, ATOM, BIT_AND, BIT_OR, COMPARISON, SIGN, SUM, Text, beside, is_native};
use crate::space::{Axis, Offset};
use crate::types::math::builtins::Meaning;
use crate::types::{BinaryOp, BinaryPrimitive, DType, Function, Primitive, UnaryOp, Value};

/// Names of fields, scalars and locals in the text; `kept` are copies of fields.
pub(super) struct Names {
    pub(super) fields: SideTable<Field, String>,
    pub(super) kept: SideTable<Field, String>,
    pub(super) scalars: SideTable<Scalar, String>,
    pub(super) locals: SideTable<Local, String>,
}

/// Writes expressions, and remembers what these need.
pub(super) struct Expressions<'a> {
    pub(super) stencil: &'a Stencil,
    pub(super) names: Names,
    pub(super) locals: Locals,
    pub(super) helpers: BTreeSet<Helper>,
    pub(super) is_in_region: bool,
    /// That of the statement at hand.
    pub(super) mask: Option<Handle<Local>>,
}

impl Expressions<'_> {
    /// The names of the slices along I, J, K.
    fn slices(&self) -> [&'static str; 3] {
        if self.is_in_region { ["ri", "rj", "k"] } else { ["i", "j", "k"] }
    }

    /// A local, at all points of the slice at hand.
    pub(super) fn local(&self, local: Handle<Local>) -> String {
        let name = &self.names.locals[local];
        if self.locals.is_indexed(local) {
            format!("{name}[{}]", self.slices().iter().format(", "))
        } else {
            name.clone()
        }
    }

    /// The element that regular indices pick; `None` where an integer of run time does.
    pub(super) fn regular(
        &self,
        field: Handle<Field>,
        offset: Offset,
        index: Option<&Index>,
    ) -> Option<String> {
        let mut offset = offset;
        if let Some(index) = index {
            offset.k = index.level_offset()?;
        }
        let axes = self.stencil.fields[field].axes;
        let slice = |axis: Axis| beside(self.slices()[axis.index()], offset.along(axis).into());
        let data = index.map_or(Some(Vec::new()), Index::literal_data)?;
        let all: Vec<String> = axes.iter().map(slice).chain(data.iter().map(ToString::to_string)).collect();
        Some(if all.is_empty() { "()".to_owned() } else { all.join(", ") })
    }

    /// The same where an integer of run time picks it, as arguments.
    pub(super) fn found(&mut self, field: Handle<Field>, offset: Offset, index: &Index) -> String {
        let axes = self.stencil.fields[field].axes;
        let mut all = Vec::new();
        for axis in axes.iter() {
            let slice = self.slices()[axis.index()];
            all.push(match (axis, &index.vertical) {
                (Axis::K, Vertical::Offset(by)) => beside(slice, (*by).into()),
                (Axis::K, Vertical::Above(by)) => {
                    Text::infix(Text::atom("k.positions(2)"), "+", self.expr(by), SUM).text
                }
                (Axis::K, Vertical::At(level)) => self.expr(level).text,
                _ => beside(slice, offset.along(axis).into()),
            });
        }
        all.extend(index.data.iter().map(|it| self.expr(it).text));
        if let Some(mask) = self.mask {
            all.push(format!("where={}", self.local(mask)));
        }
        all.join(", ")
    }

    fn read(&mut self, access: Access, index: Option<&Index>) -> Text {
        let (field, offset, name) = match access {
            Access::Field { field, offset } => (field, offset, self.names.fields[field].clone()),
            Access::Kept { field, offset } => (field, offset, self.names.kept[field].clone()),
            Access::Scalar(scalar) => return Text::atom(&self.names.scalars[scalar]),
            Access::Local(local) => return Text::atom(self.local(local)),
        };
        match (self.regular(field, offset, index), index) {
            (None, Some(index)) => {
                Text::atom(format_args!("{name}.take({})", self.found(field, offset, index)))
            }
            (place, _) => Text::atom(format_args!("{name}[{}]", place.unwrap_or_default())),
        }
    }

    pub(super) fn expr(&mut self, expr: &Expr) -> Text {
        match &expr.kind {
            ExprKind::Literal(value) => literal(*value),
            ExprKind::Access(access) => self.read(*access, None),
            ExprKind::Element(access, index) => self.read(*access, Some(index)),
            ExprKind::Position(axis) => {
                let positions = format!("{}.positions({})", self.slices()[axis.index()], axis.index());
                Text::atom(positions)
            }
            ExprKind::Unary(op, operand) => {
                let operand = self.expr(operand);
                match op {
                    UnaryOp::Plus => operand,
                    UnaryOp::Minus => Text::new(format_args!("-{}", operand.within(SIGN + 1)), SIGN),
                    UnaryOp::Not => Text::new(format_args!("~{}", operand.within(SIGN + 1)), SIGN),
                }
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::Ternary { condition, then, otherwise } => {
                let [condition, then, otherwise] = [condition, then, otherwise].map(|it| self.expr(it).text);
                Text::atom(format_args!("np.where({condition}, {then}, {otherwise})"))
            }
            ExprKind::Call(function, arguments) => self.call(*function, arguments),
            ExprKind::Cast(to, operand) => self.cast(*to, operand),
        }
    }

    /// The same with the type's own arithmetic, where it is a number that Python would compute with by itself.
    pub(super) fn typed(&mut self, expr: &Expr) -> Text {
        let text = self.expr(expr);
        if is_bare(expr) {
            Text::atom(format_args!("np.{}({})", type_name(expr.dtype), text.text))
        } else {
            text
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Text {
        let dtype = left.dtype;
        match op {
            BinaryOp::Mod => {
                return self.primitive(
                    Primitive::Binary(BinaryPrimitive::FlooredRemainder),
                    dtype,
                    &[left, right],
                );
            }
            BinaryOp::Pow => return self.power(left, right),
            _ => {}
        }
        // Python raises where NumPy gives infinities.
        let left = if is_bare(right) { self.typed(left) } else { self.expr(left) };
        let right = self.expr(right);
        match op {
            BinaryOp::And => Text::infix(left, "&", right, BIT_AND),
            BinaryOp::Or => Text::infix(left, "|", right, BIT_OR),
            op => Text::infix(left, op.symbol(), right, python::binding(op)),
        }
    }

    fn power(&mut self, base: &Expr, exponent: &Expr) -> Text {
        let dtype = base.dtype;
        if !dtype.is_float() {
            self.helpers.insert(Helper::Integer);
            let [base, exponent] = [base, exponent].map(|it| self.typed(it).text);
            return Text::atom(format_args!("integer_pow({base}, {exponent})"));
        }
        self.helpers.insert(Helper::Pow(dtype));
        let base = self.typed(base).text;
        let exponent = match exponent.kind {
            ExprKind::Literal(value) => literal(value.cast(dtype)).text,
            _ if exponent.dtype == dtype => self.typed(exponent).text,
            _ => self.cast(dtype, exponent).text,
        };
        Text::atom(format_args!("pow{}({base}, {exponent})", suffix(dtype)))
    }

    fn call(&mut self, function: Function, arguments: &[Expr]) -> Text {
        let Some(first) = arguments.first() else { return Text::atom("0.0") };
        let dtype = first.dtype;
        match function.row().meaning {
            Meaning::Primitive(op) => {
                let operands: Vec<&Expr> = arguments.iter().collect();
                self.primitive(op, dtype, &operands)
            }
            Meaning::Formula(_) => {
                self.helpers.insert(Helper::Function(function, dtype));
                let arguments = self.all_typed(arguments);
                Text::atom(format_args!("{function}{}({arguments})", suffix(dtype)))
            }
        }
    }

    fn all_typed<'e>(&mut self, operands: impl IntoIterator<Item = &'e Expr>) -> String {
        operands.into_iter().map(|it| self.typed(it).text).join(", ")
    }

    fn primitive(&mut self, op: Primitive, dtype: DType, operands: &[&Expr]) -> Text {
        let is_float = dtype.is_float();
        let name = match op {
            Primitive::Unary(op) if op.is_rounding() && !is_float => return self.typed(operands[0]),
            // Without NaN, NumPy's own are ours.
            Primitive::Binary(BinaryPrimitive::Minimum | BinaryPrimitive::Lesser) if !is_float => {
                format!("np.{}", primitive(Primitive::Binary(BinaryPrimitive::Minimum)))
            }
            Primitive::Binary(BinaryPrimitive::Maximum | BinaryPrimitive::Greater) if !is_float => {
                format!("np.{}", primitive(Primitive::Binary(BinaryPrimitive::Maximum)))
            }
            Primitive::Binary(BinaryPrimitive::FlooredRemainder | BinaryPrimitive::TruncatedRemainder)
                if !is_float =>
            {
                self.helpers.insert(Helper::Integer);
                format!("integer_{}", op.name())
            }
            Primitive::Unary(_) | Primitive::Binary(_) | Primitive::Predicate(_) => match of_numpy(op) {
                Some(name) => format!("np.{name}"),
                None => {
                    self.helpers.insert(Helper::Select);
                    primitive(op).to_owned()
                }
            },
        };
        Text::atom(format_args!("{name}({})", self.all_typed(operands.iter().copied())))
    }

    fn cast(&mut self, to: DType, operand: &Expr) -> Text {
        if let ExprKind::Literal(value) = operand.kind {
            return literal(value.cast(to));
        }
        let from = operand.dtype;
        let value = self.typed(operand);
        match to {
            DType::Bool => Text::infix(value, "!=", Text::atom("0"), COMPARISON),
            to if from.is_float() && to.is_int() => {
                self.helpers.insert(Helper::Integer);
                Text::atom(format_args!("integer({}, np.{})", value.text, type_name(to)))
            }
            to => Text::atom(format_args!("{}.astype(np.{})", value.within(ATOM), type_name(to))),
        }
    }
}

/// A number; one of a type that Python does not have names it.
pub(super) fn literal(value: Value) -> Text {
    let text = python::number(value, ["np.nan", "np.inf"]);
    match value.dtype() {
        DType::Bool => Text::atom(format_args!("np.{}_", text.text)),
        dtype if is_native(dtype) => text,
        dtype => Text::atom(format_args!("np.{}({})", type_name(dtype), text.text)),
    }
}

/// Whether Python, and not NumPy, would compute with it.
fn is_bare(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(value) => is_native(value.dtype()) && value.dtype() != DType::Bool,
        ExprKind::Unary(_, operand) => is_bare(operand),
        _ => false,
    }
}

pub(super) fn type_name(dtype: DType) -> &'static str {
    if dtype == DType::Bool { "bool_" } else { dtype.name() }
}

fn suffix(dtype: DType) -> &'static str {
    if dtype == DType::Float32 { "_float32" } else { "" }
}
