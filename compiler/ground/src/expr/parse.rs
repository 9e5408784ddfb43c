//! Typed expressions read back from their text, for tests that go from text to text.

use std::fmt;

use super::{Expr, ExprKind, Index, Subscript, Vertical};
use crate::diag::Span;
use crate::space::parse::affine;
use crate::space::{Affine, Axis};
use crate::types::{BinaryOp, DType, Function, UnaryOp, Value};

/// Finds what a name (with what stands in brackets behind it, if there is something) reads, and its type.
pub type LeafReader<'a, A> = dyn FnMut(&str, Vec<Subscript<A>>) -> Result<(A, DType), String> + 'a;

/// Words that mean something else than a name.
const RESERVED: [&str; 16] =
    ["I", "J", "K", "NaN", "and", "else", "false", "i", "if", "inf", "j", "k", "not", "or", "true", "while"];

/// A name as listings spell it: with a `$` in front where it would have another meaning.
#[must_use]
pub fn spelled(name: &str) -> impl fmt::Display + '_ {
    let is_reserved = RESERVED.contains(&name);
    fmt::from_fn(move |f| write!(f, "{}{name}", if is_reserved { "$" } else { "" }))
}

/// Reads an expression that [`print::text`](super::print::text) wrote.
///
/// Types follow from the leaves and literals, as all conversions are written.
///
/// # Errors
///
/// The message names the token that was not expected, or what was expected.
pub fn parse<A>(text: &str, span: Span, leaf: &mut LeafReader<'_, A>) -> Result<Expr<A>, String> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, span, leaf };
    let expr = parser.ternary()?;
    match parser.tokens {
        [] => Ok(expr),
        [next, ..] => Err(format!("`{next}` was not expected")),
    }
}

/// Reads what is assigned: a name, and what tells the element of it.
///
/// # Errors
///
/// The message names the token that was not expected, or what was expected.
pub fn target<'t, A>(
    text: &'t str,
    span: Span,
    leaf: &mut LeafReader<'_, A>,
) -> Result<(&'t str, Index<A>), String> {
    let tokens = tokens(text)?;
    let Some((&name, rest)) = tokens.split_first() else { return Err("a name was expected".to_owned()) };
    let mut parser = Parser { tokens: rest, span, leaf };
    let index = parser.element()?.unwrap_or(Index::HERE);
    match parser.tokens {
        [] => Ok((name.strip_prefix('$').unwrap_or(name), index)),
        [next, ..] => Err(format!("`{next}` was not expected")),
    }
}

struct Parser<'a, A> {
    tokens: &'a [&'a str],
    span: Span,
    leaf: &'a mut LeafReader<'a, A>,
}

impl<A> Parser<'_, A> {
    fn takes(&mut self, token: &str) -> bool {
        let is_next = self.tokens.first() == Some(&token);
        if is_next {
            self.tokens = &self.tokens[1..];
        }
        is_next
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.takes(token) {
            return Ok(());
        }
        Err(format!("`{token}` was expected, not `{}`", self.tokens.first().unwrap_or(&"the end")))
    }

    fn node(&self, kind: ExprKind<A>, dtype: DType) -> Expr<A> {
        Expr { kind, dtype, span: self.span }
    }

    fn ternary(&mut self) -> Result<Expr<A>, String> {
        let then = self.binary(BinaryOp::Or.precedence())?;
        if !self.takes("if") {
            return Ok(then);
        }
        let condition = Box::new(self.binary(BinaryOp::Or.precedence())?);
        self.expect("else")?;
        let otherwise = Box::new(self.ternary()?);
        let dtype = then.dtype;
        Ok(self.node(ExprKind::Ternary { condition, then: Box::new(then), otherwise }, dtype))
    }

    /// Operators that bind at least as tightly as `least`, but for powers.
    fn binary(&mut self, least: u8) -> Result<Expr<A>, String> {
        let mut left = self.prefixed(least)?;
        while let Some(op) = self.tokens.first().and_then(|it| operator(it))
            && op.precedence() >= least
            && op != BinaryOp::Pow
        {
            self.tokens = &self.tokens[1..];
            let right = self.binary(op.precedence() + 1)?;
            left = self.joined(op, left, right);
        }
        Ok(left)
    }

    fn joined(&self, op: BinaryOp, left: Expr<A>, right: Expr<A>) -> Expr<A> {
        let dtype = if op.is_comparison() { DType::Bool } else { left.dtype };
        self.node(ExprKind::Binary(op, Box::new(left), Box::new(right)), dtype)
    }

    fn prefixed(&mut self, least: u8) -> Result<Expr<A>, String> {
        if self.takes("not") {
            // Binds looser than comparisons, tighter than `and`; elsewhere it stands in parentheses.
            if least > BinaryOp::Lt.precedence() {
                return Err("`not` was not expected".to_owned());
            }
            let operand = self.binary(BinaryOp::And.precedence() + 1)?;
            return Ok(self.node(ExprKind::Unary(UnaryOp::Not, Box::new(operand)), DType::Bool));
        }
        for (sign, op) in [("-", UnaryOp::Minus), ("+", UnaryOp::Plus)] {
            if !self.takes(sign) {
                continue;
            }
            // A sign before a bare number belongs to it.
            let is_base = self.tokens.get(1) == Some(&"**");
            if op == UnaryOp::Minus
                && !is_base
                && let Some(value) = self.tokens.first().and_then(|it| number(&format!("-{it}")))
            {
                self.tokens = &self.tokens[1..];
                return Ok(self.node(ExprKind::Literal(value), value.dtype()));
            }
            let operand = self.power()?;
            let dtype = operand.dtype;
            return Ok(self.node(ExprKind::Unary(op, Box::new(operand)), dtype));
        }
        self.power()
    }

    fn power(&mut self) -> Result<Expr<A>, String> {
        let base = self.atom()?;
        if !self.takes("**") {
            return Ok(base);
        }
        let exponent = self.power()?;
        Ok(self.joined(BinaryOp::Pow, base, exponent))
    }

    fn atom(&mut self) -> Result<Expr<A>, String> {
        let Some((&token, rest)) = self.tokens.split_first() else {
            return Err("the expression ends too early".to_owned());
        };
        self.tokens = rest;
        if token == "(" {
            let inner = self.ternary()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if let Some(value) = number(token) {
            return Ok(self.node(ExprKind::Literal(value), value.dtype()));
        }
        if rest.first() == Some(&"(") {
            if let Some(value) = self.converted(token) {
                return Ok(self.node(ExprKind::Literal(value), value.dtype()));
            }
            return self.call(token);
        }
        if let Some(axis) = Axis::ALL.into_iter().find(|it| it.name() == token || it.position_name() == token)
        {
            return Ok(self.node(ExprKind::Position(axis), DType::Int64));
        }
        let name = token.strip_prefix('$').unwrap_or(token);
        if !name.starts_with(|it: char| it.is_alphabetic() || it == '_') {
            return Err(format!("`{token}` was not expected"));
        }
        let index = self.index()?;
        let (leaf, dtype) = (self.leaf)(name, index)?;
        Ok(match self.element()? {
            Some(index) => self.node(ExprKind::Element(leaf, Box::new(index)), dtype),
            None => self.node(ExprKind::Access(leaf), dtype),
        })
    }

    /// A literal of a type that stencils write as a conversion, `float32(0.1)`, behind the name of that type.
    fn converted(&mut self, name: &str) -> Option<Value> {
        let dtype = DType::from_name(name)?;
        let (text, rest) = match self.tokens {
            ["(", digits, ")", rest @ ..] => ((*digits).to_owned(), rest),
            ["(", "-", digits, ")", rest @ ..] => (format!("-{digits}"), rest),
            _ => return None,
        };
        // Other digits, as in `int8(300)`, are a conversion that is computed.
        let value = Value::from_digits(&text, dtype).filter(|it| !it.is_bare())?;
        if value.digits().to_string() != text {
            return None;
        }
        self.tokens = rest;
        Some(value)
    }

    fn call(&mut self, name: &str) -> Result<Expr<A>, String> {
        self.expect("(")?;
        let mut arguments = vec![self.ternary()?];
        while self.takes(",") {
            arguments.push(self.ternary()?);
        }
        self.expect(")")?;
        if let Some(to) = DType::from_name(name) {
            let operand = Box::new(arguments.swap_remove(0));
            return Ok(self.node(ExprKind::Cast(to, operand), to));
        }
        let function = Function::from_name(name).ok_or_else(|| format!("there is no function `{name}`"))?;
        if arguments.len() != function.arity() {
            return Err(format!("`{name}` takes {} arguments", function.arity()));
        }
        let dtype = if function.is_predicate() { DType::Bool } else { arguments[0].dtype };
        Ok(self.node(ExprKind::Call(function, arguments), dtype))
    }

    /// `.up(n)` or `.at(n)`, `.A[m, n]`; `None` where there is neither.
    fn element(&mut self) -> Result<Option<Index<A>>, String> {
        if self.tokens.first() != Some(&".") {
            return Ok(None);
        }
        let mut index = Index::HERE;
        while self.takes(".") {
            let Some((&word, rest)) = self.tokens.split_first() else {
                return Err("the index does not end".to_owned());
            };
            self.tokens = rest;
            if word == "A" {
                self.expect("[")?;
                index.data.push(self.ternary()?);
                while self.takes(",") {
                    index.data.push(self.ternary()?);
                }
                self.expect("]")?;
                continue;
            }
            self.expect("(")?;
            let level = self.ternary()?;
            self.expect(")")?;
            index.vertical = match (word, &level.kind) {
                ("up", ExprKind::Literal(by)) => {
                    let by = i32::try_from(by.as_i64()).map_err(|_| format!("`{by}` levels are too many"))?;
                    Vertical::Offset(by)
                }
                ("up", _) => Vertical::Above(level),
                ("at", _) => Vertical::At(level),
                _ => return Err(format!("`.{word}` was not expected")),
            };
        }
        Ok(Some(index))
    }

    /// The sums in brackets behind a name, each with an integer of run time in braces where it has one.
    fn index(&mut self) -> Result<Vec<Subscript<A>>, String> {
        let mut index = Vec::new();
        if !self.takes("[") {
            return Ok(index);
        }
        loop {
            let end = self.tokens.iter().position(|it| matches!(*it, "," | "]" | "{"));
            let (sum, rest) = self.tokens.split_at(end.ok_or("the index does not end")?);
            self.tokens = rest;
            let is_found = self.takes("{");
            let known = match sum {
                [] if is_found => Some(Affine::constant(0)),
                [sum @ .., "+"] if is_found => affine(&sum.join(" ")),
                _ if is_found => None,
                sum => affine(&sum.join(" ")),
            };
            let known = known.ok_or_else(|| format!("`{}` is not an index", sum.join(" ")))?;
            if is_found {
                index.push(Subscript::found(known, self.ternary()?));
                self.expect("}")?;
            } else {
                index.push(known.into());
            }
            if !self.takes(",") {
                break;
            }
        }
        self.expect("]")?;
        Ok(index)
    }
}

fn operator(token: &str) -> Option<BinaryOp> {
    use BinaryOp::{Add, And, Div, Eq, Ge, Gt, Le, Lt, Mod, Mul, Ne, Or, Pow, Sub};
    [Add, Sub, Mul, Div, Mod, Pow, And, Or, Lt, Le, Gt, Ge, Eq, Ne]
        .into_iter()
        .find(|it| it.symbol() == token)
}

/// A number or truth value without a conversion around it, as [`Value`] spells it.
fn number(text: &str) -> Option<Value> {
    let of = |dtype| Value::from_digits(text, dtype);
    of(DType::Bool).or_else(|| of(DType::Int64)).or_else(|| of(DType::Float64))
}

fn tokens(text: &str) -> Result<Vec<&str>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_digit() {
            number_length(rest)
        } else if first.is_alphanumeric() || first == '_' || first == '$' {
            rest.find(|it: char| !(it.is_alphanumeric() || it == '_' || it == '$')).unwrap_or(rest.len())
        } else if ["**", "<=", ">=", "==", "!="].iter().any(|it| rest.starts_with(it)) {
            2
        } else if "+-*/%<>()[]{},.".contains(first) {
            1
        } else {
            return Err(format!("`{first}` has no place in an expression"));
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start();
    }
    Ok(tokens)
}

/// Digits, point and exponent.
fn number_length(text: &str) -> usize {
    let mut before = ' ';
    let end = text.char_indices().find(|&(_, it)| {
        let is_sign_of_exponent = (it == '-' || it == '+') && before == 'e';
        before = it;
        !(it.is_ascii_alphanumeric() || it == '.' || is_sign_of_exponent)
    });
    end.map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(text: &str) {
        let leaf = |it: &String, f: &mut fmt::Formatter<'_>| f.write_str(it);
        let mut read = |name: &str, index: Vec<Subscript<String>>| {
            let dtype = if name.starts_with('c') { DType::Bool } else { DType::Float64 };
            Ok((crate::expr::print::element(name, &index, &leaf).to_string(), dtype))
        };
        let expr = parse(text, Span::default(), &mut read).expect(text);
        assert_eq!(crate::expr::print::text(&expr, &leaf).to_string(), text);
    }

    #[test]
    fn expressions_read_back_as_they_were_written() {
        for text in [
            "a + b * c - d / e % f",
            "a - (b - d)",
            "(a + b) * -d",
            "-a ** 2.0",
            "(-2.0) ** 2",
            "-2.0 ** 2",
            "-(2.0)",
            "-2.0 * a",
            "a ** b ** d",
            "(a ** b) ** (-3)",
            "a if c else b if not c2 and a < b else -0.0",
            "(a if c else b) * 2.0",
            "not c or a == b and c2",
            "float32(a[1, 0, -1]) + float32(1.5) - -float32(-1e-7) * float32(NaN)",
            "-int8(-128) ** int16(2) + int32(-3)",
            "q[i + 1, j, 2*I - k - 1] * p[0]",
            "q[i, {n + q[{m}, 0]}, k - 1 + {max(n, 2)}] * p[{3}]",
            "max(1e-7, min(a, b[0, -1, 0]))",
            "isnan(NaN) or isinf(inf)",
            "$inf + $K + $k + inf",
            "float64(K) * 3.0 + float64(int8(5)) + float64(7)",
            "int8(300) + float32(1) + float32(0.12345678901)",
            "q[1, 0, 0].up(n + 1).A[2, m] + t.A[K] * p.at(max(n, 0)) - q.up(-2).A[0]",
        ] {
            round_trip(text);
        }
    }

    #[test]
    fn a_position_is_a_loop_variable_where_loops_are_written_out() {
        let leaf = |it: &String, f: &mut fmt::Formatter<'_>| write!(f, "{}", spelled(it));
        let mut read = |name: &str, _: Vec<Subscript<String>>| Ok((name.to_owned(), DType::Float64));
        for text in ["a * float64(k)", "$k + a if j < i else a"] {
            let expr = parse(text, Span::default(), &mut read).expect(text);
            assert_eq!(crate::expr::print::text_in_loops(&expr, &leaf).to_string(), text);
        }
        let expr = parse("K + a", Span::default(), &mut read).expect("an expression");
        assert_eq!(crate::expr::print::text_in_loops(&expr, &leaf).to_string(), "k + a");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "a +",
            "(a",
            "a b",
            "foo(a)",
            "min(a)",
            "a[1,",
            "a[1 2]",
            "a[]",
            "a[{}]",
            "a[i {n}]",
            "a[{n} + i]",
            "a[{n]",
            "1 ? 2",
            "a + not b",
            "a.b(c)",
            "a.up()",
            "a.A[",
            "a.A[]",
            "a.",
        ] {
            let mut leaf = |name: &str, _: Vec<Subscript<String>>| Ok((name.to_owned(), DType::Float64));
            assert!(parse(text, Span::default(), &mut leaf).is_err(), "{text}");
        }
    }
}
