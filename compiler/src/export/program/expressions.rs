//! ScalarWriter of scalars as C, with Python's rules.
//!
//! Each type is one of C: `bool`, `int64_t`, `double`, `float`. A function that may have no value takes `&fault`.

use std::cell::Cell;
use std::collections::BTreeSet;

use isobar_program::scalar::nodes::{
    ScalarComparison, ScalarExpr, ScalarExprKind, ScalarFunction, ScalarOperator, ScalarSign, ScalarType,
};

use crate::c::math::{self, Callee};
use crate::types::{DType, Function, Value};

/// The writer of a program's expressions.
#[derive(Debug, Default)]
pub(super) struct ScalarWriter {
    n_names: Cell<u32>,
    /// The functions of mathematics that are called, in double precision.
    pub(super) callees: BTreeSet<(Callee, DType)>,
}

fn is_integral(it: &ScalarExpr) -> bool {
    it.of.is_integral()
}

pub(super) fn c_type(of: ScalarType) -> &'static str {
    match of {
        ScalarType::Bool => "bool",
        ScalarType::Int => "int64_t",
        ScalarType::Float => "double",
        ScalarType::Single => "float",
    }
}

impl ScalarWriter {
    /// An expression of that type; a compound one has parentheses.
    pub(super) fn text(&mut self, expr: &ScalarExpr) -> String {
        match &expr.kind {
            ScalarExprKind::Literal(it) => literal(it.value()),
            ScalarExprKind::Variable(it) => {
                // It widens to the type of expressions.
                format!("(({})s_{})", c_type(expr.of), it.index())
            }
            ScalarExprKind::Unary(sign, operand) => self.unary(*sign, operand, expr.of),
            ScalarExprKind::Binary(operator, left, right) => self.binary(*operator, (left, right), expr.of),
            ScalarExprKind::Compare(first, rest) => self.compare(first, rest),
            ScalarExprKind::And(parts) => self.deciding(parts, expr.of, "!="),
            ScalarExprKind::Or(parts) => self.deciding(parts, expr.of, "=="),
            ScalarExprKind::Conditional { test, then, otherwise } => {
                let test = self.truth(test);
                let [then, otherwise] = [then, otherwise].map(|it| self.text(it));
                format!("({test} ? {then} : {otherwise})")
            }
            ScalarExprKind::Call(function, args) => self.call(*function, args),
        }
    }

    /// Whether Python takes it as true.
    pub(super) fn truth(&mut self, expr: &ScalarExpr) -> String {
        let text = self.text(expr);
        if expr.of == ScalarType::Bool { text } else { format!("({text} != 0)") }
    }

    /// The value that a variable or a parameter of a type takes.
    pub(super) fn stored(&mut self, expr: &ScalarExpr, dtype: DType) -> String {
        stored(&self.text(expr), expr.of, dtype)
    }

    fn new_name(&self) -> String {
        self.n_names.set(self.n_names.get() + 1);
        format!("x_{}", self.n_names.get())
    }

    fn float(&mut self, expr: &ScalarExpr) -> String {
        format!("(double){}", self.text(expr))
    }

    fn int(&mut self, expr: &ScalarExpr) -> String {
        format!("(int64_t){}", self.text(expr))
    }

    fn unary(&mut self, sign: ScalarSign, operand: &ScalarExpr, of: ScalarType) -> String {
        match (sign, of) {
            (ScalarSign::Not, _) => format!("(!{})", self.truth(operand)),
            (ScalarSign::Plus, _) => format!("({}){}", c_type(of), self.text(operand)),
            (ScalarSign::Minus, ScalarType::Int) => {
                format!("isobar_int_sub(0, {}, &fault)", self.int(operand))
            }
            (ScalarSign::Minus, _) => format!("(-{})", self.text(operand)),
        }
    }

    fn binary(
        &mut self,
        operator: ScalarOperator,
        (left, right): (&ScalarExpr, &ScalarExpr),
        of: ScalarType,
    ) -> String {
        if of == ScalarType::Single {
            let (a, b) = (self.text(left), self.text(right));
            return match operator {
                ScalarOperator::Div => format!("isobar_single_div({a}, {b}, &fault)"),
                _ => format!("({a} {} {b})", operator.symbol()),
            };
        }
        let are_integers = is_integral(left) && is_integral(right);
        if are_integers && (of == ScalarType::Int || operator == ScalarOperator::Div) {
            let (a, b) = (self.int(left), self.int(right));
            let name = match operator {
                ScalarOperator::Add => "add",
                ScalarOperator::Sub => "sub",
                ScalarOperator::Mul => "mul",
                ScalarOperator::Div => "div",
                ScalarOperator::FloorDiv => "floor_div",
                ScalarOperator::Mod => "mod",
                ScalarOperator::Pow => "pow",
            };
            return format!("isobar_int_{name}({a}, {b}, &fault)");
        }
        let (a, b) = (self.float(left), self.float(right));
        match operator {
            ScalarOperator::Add | ScalarOperator::Sub | ScalarOperator::Mul => {
                format!("({a} {} {b})", operator.symbol())
            }
            ScalarOperator::Div => format!("isobar_float_div({a}, {b}, &fault)"),
            ScalarOperator::FloorDiv => format!("isobar_float_divmod({a}, {b}, true, &fault)"),
            ScalarOperator::Mod => format!("isobar_float_divmod({a}, {b}, false, &fault)"),
            ScalarOperator::Pow => {
                let name = self.function(Callee::Pow);
                let [x, y] = [self.new_name(), self.new_name()];
                format!(
                    "({{ const double {x} = {a}, {y} = {b}; isobar_float_pow({x}, {y}, {name}({x}, {y}), &fault); }})"
                )
            }
        }
    }

    /// The name of a function on doubles.
    fn function(&mut self, callee: Callee) -> String {
        self.callees.insert((callee, DType::Float64));
        math::name(callee, DType::Float64).expect("a function of doubles has a name in C")
    }

    /// Each operand once, up to the first comparison that does not hold.
    fn compare(&mut self, first: &ScalarExpr, rest: &[(ScalarComparison, ScalarExpr)]) -> String {
        let holds = self.new_name();
        let mut left = (self.new_name(), first.of);
        let mut text =
            format!("({{ bool {holds} = true; const {} {} = {};", c_type(left.1), left.0, self.text(first));
        for (at, (comparison, right)) in rest.iter().enumerate() {
            let name = self.new_name();
            let is_open = at > 0;
            if is_open {
                text += &format!(" if ({holds}) {{");
            }
            text += &format!(" const {} {name} = {};", c_type(right.of), self.text(right));
            text += &format!(" {holds} = {};", compared(*comparison, (&left.0, left.1), (&name, right.of)));
            left = (name, right.of);
        }
        text += &" }".repeat(rest.len().saturating_sub(1));
        text + &format!(" {holds}; }})")
    }

    /// The first operand that decides, or the last one: `goes_on` compares one that does not with zero.
    fn deciding(&mut self, parts: &[ScalarExpr], of: ScalarType, goes_on: &str) -> String {
        let name = self.new_name();
        let mut text = format!("({{ {} {name} = 0;", c_type(of));
        for (at, part) in parts.iter().enumerate() {
            let part = self.text(part);
            text += &if at == 0 {
                format!(" {name} = {part};")
            } else {
                format!(" if ({name} {goes_on} 0) {{ {name} = {part};")
            };
        }
        text += &" }".repeat(parts.len().saturating_sub(1));
        text + &format!(" {name}; }})")
    }

    fn call(&mut self, function: ScalarFunction, args: &[ScalarExpr]) -> String {
        let Some(arg) = args.first() else { return "0".to_owned() };
        match function {
            ScalarFunction::Min => self.extreme(args, "<"),
            ScalarFunction::Max => self.extreme(args, ">"),
            ScalarFunction::Abs => match arg.of {
                ScalarType::Bool => self.int(arg),
                ScalarType::Int => format!("isobar_int_abs({}, &fault)", self.text(arg)),
                ScalarType::Float => format!("fabs({})", self.text(arg)),
                ScalarType::Single => format!("fabsf({})", self.text(arg)),
            },
            ScalarFunction::Round => self.whole(arg, "rint"),
            ScalarFunction::Floor => self.whole(arg, "floor"),
            ScalarFunction::Int => self.whole(arg, "trunc"),
            ScalarFunction::Bool => self.truth(arg),
            ScalarFunction::Exp | ScalarFunction::Log | ScalarFunction::Sqrt => {
                let found = Function::from_name(function.name()).expect("a stencil has the function too");
                let name = self.function(Callee::of(found));
                let (x, value) = (self.new_name(), self.float(arg));
                format!("({{ const double {x} = {value}; isobar_elementary({x}, {name}({x}), &fault); }})")
            }
            ScalarFunction::Cast(dtype) => {
                let is_cut = dtype.is_int() && !is_integral(arg);
                let (text, of) = if is_cut {
                    (self.whole(arg, "trunc"), ScalarType::Int)
                } else {
                    (self.text(arg), arg.of)
                };
                let read = c_type(ScalarType::of(dtype));
                format!("(({read}){})", stored(&text, of, dtype))
            }
        }
    }

    /// The first extreme one stays, as with NaN in Python.
    fn extreme(&mut self, args: &[ScalarExpr], comparison: &str) -> String {
        let of = args.first().map_or(ScalarType::Bool, |it| it.of);
        let found = self.new_name();
        let mut text = String::new();
        for (at, arg) in args.iter().enumerate() {
            let value = self.text(arg);
            if at == 0 {
                text = format!("({{ {} {found} = {value};", c_type(of));
                continue;
            }
            let name = self.new_name();
            text += &format!(
                " const {} {name} = {value}; if ({name} {comparison} {found}) {found} = {name};",
                c_type(of)
            );
        }
        text + &format!(" {found}; }})")
    }

    fn whole(&mut self, arg: &ScalarExpr, function: &str) -> String {
        if is_integral(arg) {
            return self.int(arg);
        }
        format!("isobar_float_int({function}({}), &fault)", self.float(arg))
    }
}

/// A comparison of two names. Integers and doubles are compared without rounding.
fn compared(
    comparison: ScalarComparison,
    (left, of_left): (&str, ScalarType),
    (right, of_right): (&str, ScalarType),
) -> String {
    let symbol = comparison.symbol();
    match (of_left.is_integral(), of_right.is_integral()) {
        (true, false) => ordered(&format!("isobar_compare({left}, {right})"), comparison),
        (false, true) => {
            let reversed = match comparison {
                ScalarComparison::Lt => ScalarComparison::Gt,
                ScalarComparison::Le => ScalarComparison::Ge,
                ScalarComparison::Gt => ScalarComparison::Lt,
                ScalarComparison::Ge => ScalarComparison::Le,
                ScalarComparison::Eq | ScalarComparison::Ne => comparison,
            };
            ordered(&format!("isobar_compare({right}, {left})"), reversed)
        }
        _ => format!("{left} {symbol} {right}"),
    }
}

fn ordered(order: &str, comparison: ScalarComparison) -> String {
    match comparison {
        ScalarComparison::Eq => format!("{order} == 0"),
        ScalarComparison::Ne => format!("{order} != 0"),
        ScalarComparison::Lt => format!("{order} == -1"),
        ScalarComparison::Le => format!("{order} <= 0"),
        ScalarComparison::Gt => format!("{order} == 1"),
        // The answer for NaN is 2.
        ScalarComparison::Ge => format!("(unsigned){order} <= 1"),
    }
}

fn stored(text: &str, of: ScalarType, dtype: DType) -> String {
    match (of, dtype) {
        (ScalarType::Int, DType::Int8) => format!("isobar_to_int8({text}, &fault)"),
        (ScalarType::Int, DType::Int16) => format!("isobar_to_int16({text}, &fault)"),
        (ScalarType::Int, DType::Int32) => format!("isobar_to_int32({text}, &fault)"),
        (ScalarType::Float, DType::Float32) => format!("isobar_to_float32({text}, &fault)"),
        _ => format!("(({}){text})", crate::c::c_type(dtype)),
    }
}

/// A value as people write it.
pub(super) fn spelled(value: Value) -> String {
    match value {
        Value::Bool(it) => it.to_string(),
        Value::Float32(it) => format!("{it:?}"),
        Value::Float64(it) => format!("{it:?}"),
        Value::Int8(_) | Value::Int16(_) | Value::Int32(_) | Value::Int64(_) => value.as_i64().to_string(),
    }
}

/// A value as C writes it, with its bits.
pub(super) fn literal(value: Value) -> String {
    let special = |it: f64| match (it.is_nan(), it < 0.0) {
        (true, _) => "NAN",
        (false, true) => "(-INFINITY)",
        (false, false) => "INFINITY",
    };
    match value {
        Value::Bool(it) => it.to_string(),
        Value::Float64(it) if it.is_finite() => format!("({it:?})"),
        Value::Float32(it) if it.is_finite() => format!("({it:?}f)"),
        Value::Float64(_) => special(value.as_f64()).to_owned(),
        Value::Float32(_) => format!("((float){})", special(value.as_f64())),
        Value::Int64(i64::MIN) => "INT64_MIN".to_owned(),
        Value::Int64(it) => format!("(INT64_C({it}))"),
        Value::Int8(_) | Value::Int16(_) | Value::Int32(_) => {
            format!("(({})({}))", crate::c::c_type(value.dtype()), value.as_i64())
        }
    }
}
