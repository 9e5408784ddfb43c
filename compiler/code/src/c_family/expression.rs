//! Expressions as C and CUDA write them, with exactly the meaning that the interpreter gives them.

use std::collections::BTreeSet;

use super::Language;
use super::binding::{AND, ATOM, EQUALITY, OR, PREFIX, PRODUCT, RELATION, SUM, TERNARY};
use super::math::{self, Callee};
use crate::emit::sums::{self, Outermost};
use crate::expr::{Expr, ExprKind};
use crate::space::{Affine, Size, Symbol};
use crate::types::{BinaryOp, BinaryPrimitive, DType, Function, Primitive, UnaryOp, Value};

/// A text and how tightly its outermost operator binds.
pub(crate) type PrecedenceText = (String, u8);

/// Prints expressions and remembers which functions the text calls.
#[derive(Debug, Default)]
pub(crate) struct Wording {
    pub(crate) callees: BTreeSet<(Callee, DType)>,
    /// Functions of ours, by name; see [`helper_text`].
    pub(crate) helpers: BTreeSet<&'static str>,
    /// Whether what is evaluated in any case calls the functions of [`math::shared`].
    is_sharing: bool,
}

impl Wording {
    /// Prints what vector lanes evaluate, with functions that the file has once.
    pub(crate) fn sharing() -> Self {
        Self { is_sharing: true, ..Self::default() }
    }

    /// Remembers what the text of an expression will call.
    pub(crate) fn note<A>(&mut self, expr: &Expr<A>) {
        self.text(expr, &mut |_, _| (String::new(), ATOM));
    }

    /// `leaf` gives the text of what is read, in the type that it is stored in.
    pub(crate) fn text<A>(
        &mut self,
        expr: &Expr<A>,
        leaf: &mut dyn FnMut(&A, DType) -> PrecedenceText,
    ) -> PrecedenceText {
        match &expr.kind {
            ExprKind::Literal(value) => literal(*value),
            ExprKind::Access(it) | ExprKind::Element(it, _) => leaf(it, expr.dtype),
            // Lowered to a symbol before it gets here.
            ExprKind::Position(axis) => (axis.position_name().to_owned(), ATOM),
            ExprKind::Unary(op, operand) => self.unary(*op, operand, leaf),
            ExprKind::Binary(..) if let Some(base) = expr.squared() => {
                let text = self.text(base, leaf);
                self.named(Callee::Square, expr.dtype, &[text])
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, leaf),
            ExprKind::Ternary { condition, then, otherwise } => {
                let condition = at_least(self.text(condition, leaf), OR);
                let then = at_least(self.text_in_arm(then, leaf), OR);
                let otherwise = at_least(self.text_in_arm(otherwise, leaf), TERNARY);
                (format!("{condition} ? {then} : {otherwise}"), TERNARY)
            }
            ExprKind::Call(function, arguments) => self.call(*function, arguments, leaf),
            ExprKind::Cast(to, operand) => {
                let from = operand.dtype;
                let text = self.text(operand, leaf);
                self.cast(text, from, *to)
            }
        }
    }

    /// Writes an operand that need not be evaluated, without shared functions: gcc does not vectorise a
    /// conditional call.
    fn text_in_arm<A>(
        &mut self,
        expr: &Expr<A>,
        leaf: &mut dyn FnMut(&A, DType) -> PrecedenceText,
    ) -> PrecedenceText {
        let is_sharing = std::mem::replace(&mut self.is_sharing, false);
        let text = self.text(expr, leaf);
        self.is_sharing = is_sharing;
        text
    }

    fn unary<A>(
        &mut self,
        op: UnaryOp,
        operand: &Expr<A>,
        leaf: &mut dyn FnMut(&A, DType) -> PrecedenceText,
    ) -> PrecedenceText {
        let text = self.text(operand, leaf);
        match op {
            UnaryOp::Plus => text,
            UnaryOp::Not => (format!("!{}", at_least(text, PREFIX)), PREFIX),
            UnaryOp::Minus if operand.dtype.is_float() => {
                (format!("-{}", at_least(text, PREFIX + 1)), PREFIX)
            }
            UnaryOp::Minus => {
                let name = self.int_helper("neg", operand.dtype);
                (format!("{name}({})", text.0), ATOM)
            }
        }
    }

    fn binary<A>(
        &mut self,
        op: BinaryOp,
        left: &Expr<A>,
        right: &Expr<A>,
        leaf: &mut dyn FnMut(&A, DType) -> PrecedenceText,
    ) -> PrecedenceText {
        let dtype = left.dtype;
        let a = self.text(left, leaf);
        let b = if op.is_logical() { self.text_in_arm(right, leaf) } else { self.text(right, leaf) };
        let infix = |a: PrecedenceText, b: PrecedenceText, symbol: &str, binding: u8| {
            // Operands one step tighter on both sides where C's grouping is easy to misread.
            let left_needs = if binding <= RELATION { SUM } else { binding };
            let right_needs = if binding <= RELATION { SUM } else { binding + 1 };
            (format!("{} {symbol} {}", at_least(a, left_needs), at_least(b, right_needs)), binding)
        };
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div if dtype.is_float() => {
                let binding = if matches!(op, BinaryOp::Add | BinaryOp::Sub) { SUM } else { PRODUCT };
                infix(a, b, op.symbol(), binding)
            }
            BinaryOp::Add => (format!("{}({}, {})", self.int_helper("add", dtype), a.0, b.0), ATOM),
            BinaryOp::Sub => (format!("{}({}, {})", self.int_helper("sub", dtype), a.0, b.0), ATOM),
            BinaryOp::Mul => (format!("{}({}, {})", self.int_helper("mul", dtype), a.0, b.0), ATOM),
            BinaryOp::Div => {
                self.helpers.insert("div_i64");
                let quotient = (format!("isobar_div_i64({}, {})", a.0, b.0), ATOM);
                self.cast(quotient, DType::Int64, dtype)
            }
            BinaryOp::Mod => {
                let remainder = Primitive::Binary(BinaryPrimitive::FlooredRemainder);
                self.named(Callee::Primitive(remainder), dtype, &[a, b])
            }
            BinaryOp::Pow if dtype.is_float() => {
                let exponent = self.cast(b, right.dtype, dtype);
                self.named(Callee::Pow, dtype, &[a, exponent])
            }
            BinaryOp::Pow => {
                self.callees.insert((Callee::Pow, DType::Int64));
                self.helpers.insert("power_i64");
                let exponent = self.cast(b, right.dtype, DType::Int64);
                let power = (format!("isobar_power_i64({}, {})", a.0, exponent.0), ATOM);
                self.cast(power, DType::Int64, dtype)
            }
            BinaryOp::And => (format!("{} && {}", at_least(a, AND), at_least(b, EQUALITY)), AND),
            // Parentheses around `&&` inside `||`, as compilers ask for.
            BinaryOp::Or => {
                let operand = |it: PrecedenceText| if it.1 == OR { it.0 } else { at_least(it, EQUALITY) };
                (format!("{} || {}", operand(a), operand(b)), OR)
            }
            BinaryOp::Eq | BinaryOp::Ne => infix(a, b, op.symbol(), EQUALITY),
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => infix(a, b, op.symbol(), RELATION),
        }
    }

    fn call<A>(
        &mut self,
        function: Function,
        arguments: &[Expr<A>],
        leaf: &mut dyn FnMut(&A, DType) -> PrecedenceText,
    ) -> PrecedenceText {
        let Some(first) = arguments.first() else { return ("0".to_owned(), ATOM) };
        let dtype = first.dtype;
        let texts: Vec<PrecedenceText> = arguments.iter().map(|it| self.text(it, leaf)).collect();
        let callee = Callee::of(function);
        let Callee::Primitive(Primitive::Predicate(question)) = callee else {
            return self.named(callee, dtype, &texts);
        };
        if !dtype.is_float() {
            return (question.of_integers().to_string(), ATOM);
        }
        // The macros of the standard library answer with an integer of any value.
        (format!("{} != 0", self.named(callee, dtype, &texts).0), EQUALITY)
    }

    fn named(&mut self, callee: Callee, dtype: DType, arguments: &[PrecedenceText]) -> PrecedenceText {
        match math::name(callee, dtype) {
            Some(name) => {
                self.callees.insert((callee, dtype));
                let name =
                    if self.is_sharing { math::shared_name(callee, dtype).unwrap_or(name) } else { name };
                let arguments: Vec<&str> = arguments.iter().map(|it| it.0.as_str()).collect();
                (format!("{name}({})", arguments.join(", ")), ATOM)
            }
            // Rounding leaves an integer what it is.
            None => arguments.first().cloned().unwrap_or_else(|| ("0".to_owned(), ATOM)),
        }
    }

    /// The value converted as an assignment converts it.
    fn cast(&mut self, text: PrecedenceText, from: DType, to: DType) -> PrecedenceText {
        if from == to {
            return text;
        }
        match (from, to) {
            (_, DType::Bool) => (format!("{} != 0", at_least(text, SUM)), EQUALITY),
            (DType::Float32 | DType::Float64, _) if to.is_int() => {
                self.helpers.insert("f64_to_i64");
                let whole = (format!("isobar_f64_to_i64({})", text.0), ATOM);
                self.cast(whole, DType::Int64, to)
            }
            _ => (format!("({}){}", c_type(to), at_least(text, PREFIX)), PREFIX),
        }
    }

    fn int_helper(&mut self, op: &str, dtype: DType) -> &'static str {
        let (key, name) = match (op, dtype) {
            ("add", DType::Int64) => ("add_i64", "isobar_add_i64"),
            ("sub", DType::Int64) => ("sub_i64", "isobar_sub_i64"),
            ("mul", DType::Int64) => ("mul_i64", "isobar_mul_i64"),
            ("neg", DType::Int64) => ("neg_i64", "isobar_neg_i64"),
            ("add", DType::Int32) => ("add_i32", "isobar_add_i32"),
            ("sub", DType::Int32) => ("sub_i32", "isobar_sub_i32"),
            ("mul", DType::Int32) => ("mul_i32", "isobar_mul_i32"),
            ("neg", DType::Int32) => ("neg_i32", "isobar_neg_i32"),
            ("add", DType::Int16) => ("add_i16", "isobar_add_i16"),
            ("sub", DType::Int16) => ("sub_i16", "isobar_sub_i16"),
            ("mul", DType::Int16) => ("mul_i16", "isobar_mul_i16"),
            ("neg", DType::Int16) => ("neg_i16", "isobar_neg_i16"),
            ("add", _) => ("add_i8", "isobar_add_i8"),
            ("sub", _) => ("sub_i8", "isobar_sub_i8"),
            ("mul", _) => ("mul_i8", "isobar_mul_i8"),
            _ => ("neg_i8", "isobar_neg_i8"),
        };
        self.helpers.insert(key);
        name
    }
}

/// The definition of one of our functions on integers.
pub(crate) fn helper_text(language: Language, key: &str) -> String {
    let inline = language.inline();
    match key {
        "f64_to_i64" => format!("\
/* Toward zero; NaN is 0, and what does not fit is the nearest that does. Fractions are told by themselves: of the way to
   an integer and back gcc makes a rounding, which has a zero with a sign. */
{inline} int64_t isobar_f64_to_i64(double x)
{{
  if (!(x >= 1.0 || x <= -1.0)) return 0;
  if (x < -9223372036854775808.0) return INT64_MIN;
  return x < 9223372036854775808.0 ? (int64_t)x : INT64_MAX;
}}
"),
        "div_i64" => format!("\
{inline} int64_t isobar_div_i64(int64_t a, int64_t b)
{{
  return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}}
"),
        "power_i64" => format!("\
/* A negative exponent gives the real power without its fraction. */
{inline} int64_t isobar_power_i64(int64_t base, int64_t exponent)
{{
  if (exponent >= 0) return isobar_pow_i64(base, exponent);
  return base == 1 ? 1 : base != -1 ? 0 : exponent % 2 == 0 ? 1 : -1;
}}
"),
        _ => {
            let (op, bits) = key.split_at(3);
            let bits = bits.trim_start_matches("_i");
            let wide = if bits == "64" { "64" } else { "32" };
            let (int, unsigned) = (format!("int{bits}_t"), format!("uint{wide}_t"));
            let (arguments, value) = match op {
                "neg" => (format!("{int} a"), format!("0 - ({unsigned})a")),
                _ => {
                    let symbol = match op {
                        "add" => "+",
                        "sub" => "-",
                        _ => "*",
                    };
                    (format!("{int} a, {int} b"), format!("({unsigned})a {symbol} ({unsigned})b"))
                }
            };
            format!("{inline} {int} isobar_{key}({arguments}) {{ return ({int})({value}); }}\n")
        }
    }
}

/// Whether a word of the standard's mathematical header stands in the text of an expression.
pub(crate) fn says_nan_or_infinity<A>(expr: &Expr<A>) -> bool {
    let mut says = false;
    expr.walk(&mut |it| {
        if let ExprKind::Literal(value) = &it.kind {
            says |= match value {
                Value::Float32(it) => !it.is_finite(),
                Value::Float64(it) => !it.is_finite(),
                Value::Bool(_) | Value::Int8(_) | Value::Int16(_) | Value::Int32(_) | Value::Int64(_) => {
                    false
                }
            };
        }
    });
    says
}

/// The C type of a value.
pub fn c_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::Int8 => "int8_t",
        DType::Int16 => "int16_t",
        DType::Int32 => "int32_t",
        DType::Int64 => "int64_t",
        DType::Float32 => "float",
        DType::Float64 => "double",
    }
}

/// The C type of an element in memory: a byte of an array of bools may hold anything.
pub(crate) fn c_element_type(dtype: DType) -> &'static str {
    if dtype == DType::Bool { "uint8_t" } else { c_type(dtype) }
}

/// A literal with exactly its value.
fn literal(value: Value) -> PrecedenceText {
    let float = |text: String, is_nan: bool, is_infinite: bool, is_negative: bool, single: bool| {
        let suffix = if single { "f" } else { "" };
        let ctype = if single { "float" } else { "double" };
        let magnitude = text.trim_start_matches('-');
        let text = match (is_nan, is_infinite) {
            (true, _) => return (format!("({ctype})NAN"), PREFIX),
            (_, true) => format!("({ctype})INFINITY"),
            _ => format!("{magnitude}{suffix}"),
        };
        match (is_negative, is_infinite) {
            (true, _) => (format!("-{text}"), PREFIX),
            (false, true) => (text, PREFIX),
            (false, false) => (text, ATOM),
        }
    };
    match value {
        Value::Bool(it) => (it.to_string(), ATOM),
        Value::Float32(it) => {
            float(format!("{it:?}"), it.is_nan(), it.is_infinite(), it.is_sign_negative(), true)
        }
        Value::Float64(it) => {
            float(format!("{it:?}"), it.is_nan(), it.is_infinite(), it.is_sign_negative(), false)
        }
        Value::Int64(i64::MIN) => ("INT64_MIN".to_owned(), ATOM),
        Value::Int8(_) | Value::Int16(_) | Value::Int32(_) | Value::Int64(_) => {
            let it = value.as_i64();
            (it.to_string(), if it < 0 { PREFIX } else { ATOM })
        }
    }
}

/// The text, in parentheses where it binds less tightly than needed.
pub(crate) fn at_least((text, binding): PrecedenceText, needed: u8) -> String {
    if binding < needed { format!("({text})") } else { text }
}

/// A sum of symbols, plus `distance`; `name` spells a symbol.
pub(crate) fn affine(sum: &Affine, distance: i64, name: &mut dyn FnMut(&Symbol) -> String) -> PrecedenceText {
    let is_number = sum.terms().next().is_none();
    let (text, outermost) = sums::sum(sum, distance, name);
    let binding = match outermost {
        Outermost::None => ATOM,
        Outermost::Minus if is_number => PREFIX,
        Outermost::Minus | Outermost::Times | Outermost::Plus => SUM,
    };
    (text, binding)
}

/// A bound of a loop or the size of an array.
pub(crate) fn size(size: &Size, name: &mut dyn FnMut(&Symbol) -> String) -> PrecedenceText {
    let (function, parts) = match size {
        Size::Affine(sum) => return affine(sum, 0, name),
        Size::Min(parts) => ("isobar_least", parts),
        Size::Max(parts) => ("isobar_greatest", parts),
    };
    let texts: Vec<String> = parts.iter().map(|it| self::size(it, name).0).collect();
    let folded = texts.into_iter().reduce(|all, next| format!("{function}({all}, {next})"));
    (folded.unwrap_or_else(|| "0".to_owned()), ATOM)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Span;

    fn leaf(name: &str, dtype: DType) -> Expr<String> {
        Expr { kind: ExprKind::Access(name.to_owned()), dtype, span: Span::default() }
    }

    fn binary(op: BinaryOp, a: Expr<String>, b: Expr<String>) -> Expr<String> {
        let dtype = if op.is_comparison() || op.is_logical() { DType::Bool } else { a.dtype };
        Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), dtype, span: Span::default() }
    }

    fn text(expr: &Expr<String>) -> String {
        Wording::default().text(expr, &mut |name: &String, _| (name.clone(), ATOM)).0
    }

    #[test]
    fn the_grouping_of_floats_is_kept() {
        let float = |name| leaf(name, DType::Float64);
        let sum = |a, b| binary(BinaryOp::Add, a, b);
        let left = sum(sum(float("a"), float("b")), float("c"));
        let right = sum(float("a"), sum(float("b"), float("c")));
        assert_eq!(text(&left), "a + b + c");
        assert_eq!(text(&right), "a + (b + c)");
        let product = binary(BinaryOp::Mul, float("x"), binary(BinaryOp::Div, right, float("d")));
        assert_eq!(text(&product), "x * ((a + (b + c)) / d)");
    }

    #[test]
    fn integers_wrap_and_conversions_are_total() {
        let int = |name| leaf(name, DType::Int32);
        assert_eq!(text(&binary(BinaryOp::Mul, int("a"), int("b"))), "isobar_mul_i32(a, b)");
        let cast = |to, it| Expr { kind: ExprKind::Cast(to, Box::new(it)), dtype: to, span: Span::default() };
        assert_eq!(text(&cast(DType::Int8, leaf("x", DType::Float32))), "(int8_t)isobar_f64_to_i64(x)");
        assert_eq!(text(&cast(DType::Bool, leaf("x", DType::Float32))), "x != 0");
    }

    #[test]
    fn literals_have_their_type() {
        let texts = [
            (Value::Float32(0.1), "0.1f"),
            (Value::Float64(-1e-300), "-1e-300"),
            (Value::Float64(f64::NEG_INFINITY), "-(double)INFINITY"),
            (Value::Float32(f32::NAN), "(float)NAN"),
            (Value::Int64(i64::MIN), "INT64_MIN"),
            (Value::Bool(true), "true"),
        ];
        for (value, expected) in texts {
            assert_eq!(literal(value).0, expected);
        }
    }
}
