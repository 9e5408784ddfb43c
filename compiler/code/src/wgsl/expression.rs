//! Expressions as WGSL, with exactly the meaning that the interpreter gives them.

use super::WgslOptions;
use super::binding::{ATOM, BITWISE, PREFIX, PRODUCT, PrecedenceText, RELATION, SUM, at_least, called};
use super::formula::pair;
use super::math::{self, Callee};
use super::prelude::{PreludeFunctions, is_defined};
use crate::expr::{Expr, ExprKind};
use crate::types::math::builtins::Meaning;
use crate::types::{BinaryOp, BinaryPrimitive, DType, Function, Primitive, UnaryOp, Value};

/// Prints expressions and remembers what their text calls.
#[derive(Clone, Debug)]
pub struct Wording {
    pub options: WgslOptions,
    pub needs: PreludeFunctions,
}

impl Wording {
    #[must_use]
    pub fn new(options: WgslOptions) -> Self {
        Self { options, needs: PreludeFunctions::default() }
    }

    /// The text of an expression. `leaf` gives that of what is read, as a value.
    pub fn of<A>(
        &mut self,
        expr: &Expr<A>,
        leaf: &mut dyn FnMut(&mut Self, &A, DType) -> PrecedenceText,
    ) -> PrecedenceText {
        self.text(expr, false, leaf)
    }

    /// The text of an element in memory as a value.
    #[must_use]
    pub fn loaded(&self, text: String, dtype: DType) -> PrecedenceText {
        if dtype == DType::Bool { (format!("{text} != 0"), RELATION) } else { (text, ATOM) }
    }

    /// The text of a value as an element in memory.
    #[must_use]
    pub fn stored(&self, text: PrecedenceText, dtype: DType) -> String {
        if dtype == DType::Bool { called("i32", [text]).0 } else { text.0 }
    }

    /// `is_known`: whether a compiler could do all of the operation that it is an operand of.
    fn text<A>(
        &mut self,
        expr: &Expr<A>,
        is_known: bool,
        leaf: &mut dyn FnMut(&mut Self, &A, DType) -> PrecedenceText,
    ) -> PrecedenceText {
        match &expr.kind {
            ExprKind::Literal(value) => self.literal(*value, is_known),
            ExprKind::Access(it) | ExprKind::Element(it, _) => leaf(self, it, expr.dtype),
            // Lowered to a symbol before it gets here.
            ExprKind::Position(axis) => (axis.position_name().to_owned(), ATOM),
            ExprKind::Unary(op, operand) => {
                let text = self.text(operand, is_constant(operand), leaf);
                self.unary(*op, text, operand.dtype)
            }
            ExprKind::Binary(..) if let Some(base) = expr.squared() => {
                let text = self.text(base, is_constant(base), leaf);
                let squared = self.ours(&format!("square_{}", self.suffix(expr.dtype)), [text]);
                self.kept(squared, expr.dtype)
            }
            ExprKind::Binary(op, left, right) => {
                let is_known = is_constant(left) && is_constant(right);
                let mut operand = |it: &Expr<A>| match &it.kind {
                    // No compiler takes a comparison with zero for another one.
                    ExprKind::Literal(value) if op.is_comparison() && !is_known && is_zero(*value) => {
                        self.compared_zero(it.dtype)
                    }
                    _ => self.text(it, is_known, leaf),
                };
                let (a, b) = (operand(left), operand(right));
                self.binary(*op, (a, left.dtype), (b, right.dtype))
            }
            ExprKind::Ternary { condition, then, otherwise } => {
                let condition = self.text(condition, is_constant(condition), leaf);
                let (then, otherwise) = (self.text(then, false, leaf), self.text(otherwise, false, leaf));
                called("select", [otherwise, then, condition])
            }
            ExprKind::Call(function, arguments) => {
                let Some(first) = arguments.first() else { return ("0".to_owned(), ATOM) };
                let is_known = arguments.iter().all(is_constant);
                let texts: Vec<PrecedenceText> =
                    arguments.iter().map(|it| self.text(it, is_known, leaf)).collect();
                self.call(*function, first.dtype, texts)
            }
            ExprKind::Cast(to, operand) if let ExprKind::Literal(value) = &operand.kind => {
                self.literal(value.cast(*to), is_known)
            }
            ExprKind::Cast(to, operand) => {
                let text = self.text(operand, is_constant(operand), leaf);
                self.cast(text, operand.dtype, *to)
            }
        }
    }

    /// A call of a function of `shaders/`.
    fn ours(&mut self, name: &str, arguments: impl IntoIterator<Item = PrecedenceText>) -> PrecedenceText {
        if is_defined(name, self.options.doubles) {
            self.needs.names.insert(name.to_owned());
        }
        called(name, arguments)
    }

    fn suffix(&self, dtype: DType) -> &'static str {
        math::suffix(self.options.computed(dtype))
    }

    /// A sum or product of singles, kept apart from what follows where compilers would not.
    fn kept(&mut self, text: PrecedenceText, dtype: DType) -> PrecedenceText {
        let is_single = self.options.computed(dtype) == DType::Float32;
        if self.options.keeps && is_single { self.ours("keep_f32", [text]) } else { text }
    }

    /// A word as an integer of a narrow type.
    fn narrowed(&mut self, text: PrecedenceText, dtype: DType) -> PrecedenceText {
        match dtype {
            DType::Int8 => self.ours("extend_i8", [text]),
            DType::Int16 => self.ours("extend_i16", [text]),
            DType::Bool | DType::Int32 | DType::Int64 | DType::Float32 | DType::Float64 => text,
        }
    }

    fn unary(&mut self, op: UnaryOp, text: PrecedenceText, dtype: DType) -> PrecedenceText {
        match op {
            UnaryOp::Plus => text,
            UnaryOp::Not => (format!("!{}", at_least(text, PREFIX)), PREFIX),
            UnaryOp::Minus if self.options.is_pair(dtype) => {
                self.ours(&format!("neg_{}", self.suffix(dtype)), [text])
            }
            UnaryOp::Minus if dtype.is_float() => (format!("-{}", at_least(text, ATOM)), PREFIX),
            UnaryOp::Minus => {
                let none = if dtype == DType::Int64 { "0li" } else { "0" };
                let text = (format!("{none} - {}", at_least(text, PRODUCT)), SUM);
                self.narrowed(text, dtype)
            }
        }
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        (a, dtype): (PrecedenceText, DType),
        (b, right): (PrecedenceText, DType),
    ) -> PrecedenceText {
        let is_pair = self.options.is_pair(dtype);
        let suffix = self.suffix(dtype);
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
                let (symbol, name, binding) = match op {
                    BinaryOp::Add => ("+", "add", SUM),
                    BinaryOp::Sub => ("-", "sub", SUM),
                    _ => ("*", "mul", PRODUCT),
                };
                if is_pair {
                    return self.ours(&format!("{name}_{suffix}"), [a, b]);
                }
                let text = infix(a, b, symbol, binding);
                if dtype.is_float() { self.kept(text, dtype) } else { self.narrowed(text, dtype) }
            }
            BinaryOp::Div if dtype.is_float() && !is_pair && !self.options.divides => {
                let text = infix(a, b, "/", PRODUCT);
                self.kept(text, dtype)
            }
            BinaryOp::Div => {
                let text = self.ours(&format!("div_{suffix}"), [a, b]);
                self.narrowed(text, dtype)
            }
            BinaryOp::Mod => {
                self.primitive(Primitive::Binary(BinaryPrimitive::FlooredRemainder), dtype, vec![a, b])
            }
            BinaryOp::Pow if dtype.is_float() => {
                let exponent = self.cast(b, right, dtype);
                self.formula(Callee::Power, dtype, vec![a, exponent])
            }
            BinaryOp::Pow => {
                let base = self.cast(a, dtype, DType::Int64);
                let exponent = self.cast(b, right, DType::Int64);
                let power = self.ours("power_i64", [base, exponent]);
                self.cast(power, DType::Int64, dtype)
            }
            BinaryOp::And => bits(a, b, "&"),
            BinaryOp::Or => bits(a, b, "|"),
            BinaryOp::Eq if is_pair => self.ours(&format!("equal_{suffix}"), [a, b]),
            BinaryOp::Ne if is_pair => {
                let equal = self.ours(&format!("equal_{suffix}"), [a, b]);
                (format!("!{}", equal.0), PREFIX)
            }
            BinaryOp::Lt if is_pair => self.ours(&format!("less_{suffix}"), [a, b]),
            BinaryOp::Gt if is_pair => self.ours(&format!("less_{suffix}"), [b, a]),
            BinaryOp::Le | BinaryOp::Ge if is_pair => {
                let (low, high) = if op == BinaryOp::Le { (a, b) } else { (b, a) };
                if dtype.is_float() {
                    return self.ours(&format!("at_most_{suffix}"), [low, high]);
                }
                let greater = self.ours(&format!("less_{suffix}"), [high, low]);
                (format!("!{}", greater.0), PREFIX)
            }
            // A compiler may take `!=` for one that is false with a NaN.
            BinaryOp::Ne if dtype.is_float() => (format!("!({})", infix(a, b, "==", RELATION).0), PREFIX),
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge
                if dtype == DType::Bool && op.symbol().len() == 1 =>
            {
                // Relations of truths are those of 0 and 1.
                infix(called("i32", [a]), called("i32", [b]), op.symbol(), RELATION)
            }
            BinaryOp::Le | BinaryOp::Ge if dtype == DType::Bool => {
                infix(called("i32", [a]), called("i32", [b]), op.symbol(), RELATION)
            }
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                infix(a, b, op.symbol(), RELATION)
            }
        }
    }

    fn call(&mut self, function: Function, dtype: DType, texts: Vec<PrecedenceText>) -> PrecedenceText {
        match function.row().meaning {
            Meaning::Primitive(op) => self.primitive(op, dtype, texts),
            Meaning::Formula(_) => self.formula(Callee::Function(function), dtype, texts),
        }
    }

    fn primitive(&mut self, op: Primitive, dtype: DType, texts: Vec<PrecedenceText>) -> PrecedenceText {
        if let Primitive::Predicate(question) = op
            && !dtype.is_float()
        {
            return (question.of_integers().to_string(), ATOM);
        }
        match math::primitive(op, self.options.computed(dtype), &self.options) {
            Some(name) => {
                let text = self.ours(&name, texts);
                self.narrowed(text, dtype)
            }
            // Rounding leaves an integer what it is.
            None => texts.into_iter().next().unwrap_or_else(|| ("0".to_owned(), ATOM)),
        }
    }

    fn formula(&mut self, callee: Callee, dtype: DType, texts: Vec<PrecedenceText>) -> PrecedenceText {
        let dtype = self.options.computed(dtype);
        if let Some(name) = math::fast(callee, &self.options) {
            return self.ours(&name, texts);
        }
        self.needs.formulas.insert((callee, dtype));
        called(&math::name_of_formula(callee, dtype), texts)
    }

    /// The value converted as an assignment converts it.
    pub fn cast(&mut self, text: PrecedenceText, from: DType, to: DType) -> PrecedenceText {
        let (from, to) = (self.options.computed(from), self.options.computed(to));
        if from == to {
            return text;
        }
        let is_pair = |dtype| self.options.is_pair(dtype);
        let (of_pair, to_pair) = (is_pair(from), is_pair(to));
        let named = format!("{}_of_{}", math::suffix(to), math::suffix(from));
        let is_word = |it| matches!(it, DType::Int8 | DType::Int16 | DType::Int32);
        match (from, to) {
            (_, DType::Bool) if of_pair && from == DType::Float64 => {
                let is_zero = self.ours("is_zero_f64", [text]);
                (format!("!{}", is_zero.0), PREFIX)
            }
            (_, DType::Bool) if from == DType::Int64 => self.ours("is_true_i64", [text]),
            (DType::Float32, DType::Bool) => (format!("!({} == 0.0f)", at_least(text, SUM)), PREFIX),
            (DType::Float64, DType::Bool) => (format!("!({} == 0.0lf)", at_least(text, SUM)), PREFIX),
            (_, DType::Bool) => (format!("{} != 0", at_least(text, SUM)), RELATION),
            (DType::Bool, _) => {
                let word = called("i32", [text]);
                if to == DType::Int64 || to.is_float() { self.cast(word, DType::Int32, to) } else { word }
            }
            // Through 64 bits, as everywhere; then the low bits.
            (DType::Float32 | DType::Float64, _) if is_word(to) => {
                let whole = self.cast(text, from, DType::Int64);
                self.cast(whole, DType::Int64, to)
            }
            (DType::Float32 | DType::Float64, DType::Int64) => self.ours(&named, [text]),
            (DType::Int64, _) if is_word(to) => {
                let word = if of_pair {
                    called("bitcast<i32>", [(format!("{}.x", at_least(text, ATOM)), ATOM)])
                } else {
                    called("i32", [text])
                };
                self.narrowed(word, to)
            }
            (DType::Int8 | DType::Int16 | DType::Int32, _) if is_word(to) => {
                if to < from {
                    self.narrowed(text, to)
                } else {
                    text
                }
            }
            (DType::Int8 | DType::Int16 | DType::Int32, DType::Int64) => self.ours(&named, [text]),
            _ if of_pair || to_pair => self.ours(&named, [text]),
            // A position may be known to be 0 where a loop has one turn.
            _ if !from.is_float() => self.ours(&named, [text]),
            _ => called(math::suffix(to), [text]),
        }
    }

    /// A literal with exactly its value. A zero, and what is no number to a compiler, is a value of run time; so is
    /// everything that it could otherwise compute with.
    fn literal(&mut self, value: Value, is_known: bool) -> PrecedenceText {
        match value {
            Value::Bool(it) => (it.to_string(), ATOM),
            Value::Float64(it) if self.options.computed(DType::Float64) == DType::Float32 => {
                let Value::Float32(it) = Value::Float64(it).cast(DType::Float32) else {
                    return ("0.0f".to_owned(), ATOM);
                };
                self.single(it, is_known)
            }
            Value::Float32(it) => self.single(it, is_known),
            Value::Float64(it) if self.options.is_pair(DType::Float64) => (pair(it.to_bits()), ATOM),
            Value::Float64(it) if it.to_bits() == 0 => self.ours("zero_f64", []),
            Value::Float64(it) if is_known || it == 0.0 || !it.is_finite() => {
                self.ours("f64_of_bits", [(format!("{:#x}lu", it.to_bits()), ATOM)])
            }
            Value::Float64(it) => (format!("{it:?}lf"), if it < 0.0 { PREFIX } else { ATOM }),
            Value::Int64(_) if self.options.is_pair(DType::Int64) => (pair(value.bits()), ATOM),
            Value::Int64(it) if is_known || it == i64::MIN => {
                self.ours("i64_of_bits", [(format!("{:#x}lu", value.bits()), ATOM)])
            }
            Value::Int64(it) => (format!("{it}li"), if it < 0 { PREFIX } else { ATOM }),
            Value::Int8(_) | Value::Int16(_) | Value::Int32(_) => {
                let it = value.as_i64();
                if is_known || it == i64::from(i32::MIN) {
                    let bits = format!("{:#x}u", value.bits() & 0xffff_ffff);
                    return self.ours("i32_of_bits", [(bits, ATOM)]);
                }
                (it.to_string(), if it < 0 { PREFIX } else { ATOM })
            }
        }
    }

    /// A zero that a value is compared with.
    fn compared_zero(&self, dtype: DType) -> PrecedenceText {
        let text = match self.options.computed(dtype) {
            it if self.options.is_pair(it) => pair(0),
            DType::Float64 => "0.0lf".to_owned(),
            _ => "0.0f".to_owned(),
        };
        (text, ATOM)
    }

    fn single(&mut self, it: f32, is_known: bool) -> PrecedenceText {
        if it.to_bits() == 0 {
            return self.ours("zero_f32", []);
        }
        if is_known || it == 0.0 || !it.is_finite() {
            return self.ours("f32_of_bits", [(format!("{:#x}u", it.to_bits()), ATOM)]);
        }
        (format!("{it:?}f"), if it < 0.0 { PREFIX } else { ATOM })
    }
}

/// Whether it is a zero of floats, of whatever sign.
fn is_zero(value: Value) -> bool {
    match value {
        Value::Float32(it) => it == 0.0,
        Value::Float64(it) => it == 0.0,
        Value::Bool(_) | Value::Int8(_) | Value::Int16(_) | Value::Int32(_) | Value::Int64(_) => false,
    }
}

/// Whether nothing of it is read: a compiler could compute it.
fn is_constant<A>(expr: &Expr<A>) -> bool {
    match &expr.kind {
        ExprKind::Literal(_) => true,
        ExprKind::Access(_) | ExprKind::Element(..) | ExprKind::Position(_) => false,
        ExprKind::Unary(_, operand) | ExprKind::Cast(_, operand) => is_constant(operand),
        ExprKind::Binary(_, left, right) => is_constant(left) && is_constant(right),
        ExprKind::Ternary { condition, then, otherwise } => {
            is_constant(condition) && is_constant(then) && is_constant(otherwise)
        }
        ExprKind::Call(_, arguments) => arguments.iter().all(is_constant),
    }
}

/// Operands on both sides of an operator. Those of a relation are sums at most, as in C.
fn infix(a: PrecedenceText, b: PrecedenceText, symbol: &str, binding: u8) -> PrecedenceText {
    let [left, right] = if binding <= RELATION { [SUM, SUM] } else { [binding, binding + 1] };
    (format!("{} {symbol} {}", at_least(a, left), at_least(b, right)), binding)
}

/// An operation on truths: both sides are evaluated, as the meaning allows.
fn bits(a: PrecedenceText, b: PrecedenceText, symbol: &str) -> PrecedenceText {
    (format!("{} {symbol} {}", at_least(a, PREFIX), at_least(b, PREFIX)), BITWISE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Span;
    use crate::wgsl::Doubles;

    fn leaf(name: &str, dtype: DType) -> Expr<String> {
        Expr { kind: ExprKind::Access(name.to_owned()), dtype, span: Span::default() }
    }

    fn literal(value: Value) -> Expr<String> {
        Expr { kind: ExprKind::Literal(value), dtype: value.dtype(), span: Span::default() }
    }

    fn binary(op: BinaryOp, a: Expr<String>, b: Expr<String>) -> Expr<String> {
        let dtype = if op.is_comparison() || op.is_logical() { DType::Bool } else { a.dtype };
        Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), dtype, span: Span::default() }
    }

    fn text(expr: &Expr<String>, doubles: Doubles) -> String {
        let mut wording = Wording::new(WgslOptions { doubles, ..WgslOptions::default() });
        wording.of(expr, &mut |_, name: &String, _| (name.clone(), ATOM)).0
    }

    #[test]
    fn the_grouping_of_floats_is_kept() {
        let float = |name| leaf(name, DType::Float64);
        let sum = |a, b| binary(BinaryOp::Add, a, b);
        let right = sum(float("a"), sum(float("b"), float("c")));
        let product = binary(BinaryOp::Mul, float("x"), binary(BinaryOp::Div, right, float("d")));
        assert_eq!(text(&product, Doubles::Native), "x * ((a + (b + c)) / d)");
        assert_eq!(text(&product, Doubles::Pairs), "mul_f64(x, div_f64(add_f64(a, add_f64(b, c)), d))");
    }

    #[test]
    fn no_relation_stands_in_a_list_as_the_start_of_a_template() {
        let int = |name| leaf(name, DType::Int32);
        let less = binary(BinaryOp::Lt, int("a"), int("b"));
        let kind = ExprKind::Ternary {
            condition: Box::new(less),
            then: Box::new(int("c")),
            otherwise: Box::new(int("d")),
        };
        let chosen = Expr { kind, dtype: DType::Int32, span: Span::default() };
        assert_eq!(text(&chosen, Doubles::Native), "select(d, c, (a < b))");
    }

    #[test]
    fn what_a_compiler_could_fold_wrongly_is_a_value_of_run_time() {
        let x = || leaf("x", DType::Float64);
        let zero = || literal(Value::Float64(0.0));
        assert_eq!(text(&binary(BinaryOp::Add, x(), zero()), Doubles::Native), "x + zero_f64()");
        let known = binary(BinaryOp::Div, literal(Value::Float64(1.0)), literal(Value::Float64(3.0)));
        let expected = "f64_of_bits(0x3ff0000000000000lu) / f64_of_bits(0x4008000000000000lu)";
        assert_eq!(text(&known, Doubles::Native), expected);
        let cast = |of: Expr<String>| {
            let kind = ExprKind::Cast(DType::Float64, Box::new(of));
            Expr { kind, dtype: DType::Float64, span: Span::default() }
        };
        assert_eq!(text(&cast(literal(Value::Int64(3))), Doubles::Native), "3.0lf");
        assert_eq!(text(&cast(literal(Value::Int64(0))), Doubles::Native), "zero_f64()");
        assert_eq!(text(&cast(leaf("k", DType::Int64)), Doubles::Native), "f64_of_i64(k)");
        let unequal = binary(BinaryOp::Ne, x(), x());
        assert_eq!(text(&unequal, Doubles::Native), "!(x == x)");
    }

    #[test]
    fn narrow_integers_wrap_and_conversions_are_total() {
        let byte = |name| leaf(name, DType::Int8);
        assert_eq!(text(&binary(BinaryOp::Mul, byte("a"), byte("b")), Doubles::Native), "extend_i8(a * b)");
        let cast = |to, it| Expr { kind: ExprKind::Cast(to, Box::new(it)), dtype: to, span: Span::default() };
        let to_byte = cast(DType::Int8, leaf("x", DType::Float32));
        assert_eq!(text(&to_byte, Doubles::Native), "extend_i8(i32(i64_of_f32(x)))");
        assert_eq!(text(&to_byte, Doubles::Pairs), "extend_i8(bitcast<i32>(i64_of_f32(x).x))");
    }
}
