//! The definitions of the transcendental functions as Python: for numbers one by one, and for arrays.

use std::fmt;

use super::{AND, ATOM, BIT_AND, BIT_OR, COMPARISON, NOT, OR, PRODUCT, SIGN, SUM, TERNARY};
use crate::emit::formula::{Dialect, Term, broken, formula};
use crate::types::math::builtins::Meaning;
use crate::types::math::real::Table;
use crate::types::math::record::{Definition, Op};
use crate::types::math::{POWER, TABLES};
use crate::types::{BinaryPrimitive, DType, Function, Primitive, UnaryPrimitive};

/// How wide a line is, where it can be broken.
const WIDTH: usize = 110;

/// A shift binds less tightly than a sum and more than `&`, which has no number of its own here.
const SHIFT: u8 = BIT_AND;

/// Words that a value must not hide, beside the primitives.
const WORDS: &[&str] = &[
    "and",
    "bits",
    "divide",
    "else",
    "float",
    "float32",
    "if",
    "inf",
    "int",
    "lambda",
    "math",
    "nan",
    "not",
    "np",
    "of_bits",
    "or",
    "product_error",
    "return",
    "WRAP",
];

fn reserved() -> Vec<&'static str> {
    WORDS.iter().copied().chain(Primitive::all().map(primitive)).collect()
}

/// The names that the text of definitions takes: of functions, of what they call, and of tables.
#[must_use]
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = ["bits", "of_bits", "product_error"].map(str::to_owned).into();
    let all = Function::all().filter_map(|it| match it.row().meaning {
        Meaning::Formula(formula) => Some(formula),
        Meaning::Primitive(_) => None,
    });
    for formula in all.chain([&POWER]) {
        names.extend([DType::Float64, DType::Float32].map(|dtype| name(formula.name, dtype)));
    }
    names.extend(TABLES.map(|it| it.name.to_owned()));
    names
}

/// The name of a primitive of numbers in a text: a function of Python, or of the text itself.
#[must_use]
pub fn primitive(op: Primitive) -> &'static str {
    match op {
        Primitive::Unary(UnaryPrimitive::Nearest) => "rounded",
        Primitive::Binary(BinaryPrimitive::Minimum) => "minimum",
        Primitive::Binary(BinaryPrimitive::Maximum) => "maximum",
        Primitive::Binary(BinaryPrimitive::Lesser) => "minimum_c",
        Primitive::Binary(BinaryPrimitive::Greater) => "maximum_c",
        Primitive::Unary(
            UnaryPrimitive::Magnitude
            | UnaryPrimitive::SquareRoot
            | UnaryPrimitive::Floor
            | UnaryPrimitive::Ceiling
            | UnaryPrimitive::Truncation
            | UnaryPrimitive::NearestAway,
        )
        | Primitive::Binary(BinaryPrimitive::FlooredRemainder | BinaryPrimitive::TruncatedRemainder)
        | Primitive::Predicate(_) => op.name(),
    }
}

/// The kind of values that a definition computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Numbers of Python, which has singles as doubles.
    Plain,
    /// Arrays of NumPy, or single numbers of it.
    Arrays,
}

struct Plain;
struct Arrays;

impl Dialect for Plain {
    const ATOM: u8 = ATOM;

    fn reserved(&self) -> Vec<&'static str> {
        reserved()
    }

    fn operation(&self, op: &Op, operands: &[Term], definition: &Definition) -> Term {
        match *op {
            Op::Param(position) | Op::SingleParam(position) => Term::new(definition.params[position], ATOM),
            Op::Constant(value) => number(value, "nan", "inf"),
            Op::Sqrt(_) => call(primitive(Primitive::Unary(UnaryPrimitive::SquareRoot)), operands),
            Op::Floor(_) => call(primitive(Primitive::Unary(UnaryPrimitive::Floor)), operands),
            Op::Nearest(_) => call(primitive(Primitive::Unary(UnaryPrimitive::Nearest)), operands),
            Op::Div(..) => call("divide", operands),
            Op::Abs(_) => call(primitive(Primitive::Unary(UnaryPrimitive::Magnitude)), operands),
            Op::And(..) => infix("and", AND, operands),
            Op::Or(..) => infix("or", OR, operands),
            Op::Not(_) => unequal(operands)
                .unwrap_or_else(|| Term::new(format!("not {}", operands[0].within(NOT)), NOT)),
            Op::Choose(..) => {
                let (condition, yes) = (operands[0].within(TERNARY + 1), operands[1].within(TERNARY + 1));
                Term::new(format!("{yes} if {condition} else {}", operands[2].within(TERNARY)), TERNARY)
            }
            Op::BitsConstant(bits) => Term::new(hex(bits), ATOM),
            // Integers of Python do not wrap.
            Op::Plus(..) => Term::new(format!("({}) % WRAP", infix("+", SUM, operands).text), PRODUCT),
            Op::ShiftLeft(_, by) => {
                Term::new(format!("({} << {by}) % WRAP", operands[0].within(SUM)), PRODUCT)
            }
            Op::ShiftRight(_, by) => Term::new(format!("{} >> {by}", operands[0].within(SUM)), SHIFT),
            Op::BitAnd(_, mask) => {
                Term::new(format!("{} & {}", operands[0].within(BIT_AND), hex(mask)), BIT_AND)
            }
            Op::Narrow(_) => call("float32", operands),
            _ => shared(op, operands),
        }
    }
}

impl Dialect for Arrays {
    const ATOM: u8 = ATOM;

    fn reserved(&self) -> Vec<&'static str> {
        reserved()
    }

    fn operation(&self, op: &Op, operands: &[Term], definition: &Definition) -> Term {
        let word = |bits: u64| format!("np.uint64({})", hex(bits));
        match *op {
            Op::Param(position) | Op::SingleParam(position) => Term::new(definition.params[position], ATOM),
            Op::Constant(value) => number(value, "np.nan", "np.inf"),
            Op::Sqrt(_) => call("np.sqrt", operands),
            Op::Floor(_) => call("np.floor", operands),
            Op::Nearest(_) => call("np.rint", operands),
            Op::Div(..) => infix("/", PRODUCT, operands),
            Op::Abs(_) => call("np.abs", operands),
            Op::And(..) => infix("&", BIT_AND, operands),
            Op::Or(..) => infix("|", BIT_OR, operands),
            Op::Not(_) => {
                unequal(operands).unwrap_or_else(|| Term::new(format!("~{}", operands[0].within(SIGN)), SIGN))
            }
            Op::Choose(..) => call("np.where", operands),
            Op::BitsConstant(bits) => Term::new(word(bits), ATOM),
            Op::Plus(..) => infix("+", SUM, operands),
            Op::ShiftLeft(_, by) => {
                Term::new(format!("{} << np.uint64({by})", operands[0].within(SUM)), SHIFT)
            }
            Op::ShiftRight(_, by) => {
                Term::new(format!("{} >> np.uint64({by})", operands[0].within(SUM)), SHIFT)
            }
            Op::BitAnd(_, mask) => {
                Term::new(format!("{} & {}", operands[0].within(BIT_AND), word(mask)), BIT_AND)
            }
            Op::Narrow(_) => Term::new(format!("np.float32({})", operands[0].text), ATOM),
            _ => shared(op, operands),
        }
    }
}

/// Operations that both styles write alike.
fn shared(op: &Op, operands: &[Term]) -> Term {
    match *op {
        Op::Neg(_) => Term::new(format!("-{}", operands[0].within(SIGN + 1)), SIGN),
        Op::Add(..) => infix("+", SUM, operands),
        Op::Sub(..) => infix("-", SUM, operands),
        Op::Mul(..) => infix("*", PRODUCT, operands),
        Op::ProductError(..) => call("product_error", operands),
        Op::Less(..) => infix("<", COMPARISON, operands),
        Op::Equal(..) => infix("==", COMPARISON, operands),
        Op::BitOr(..) => infix("|", BIT_OR, operands),
        Op::BitsOf(_) => call("bits", operands),
        Op::OfBits(_) => call("of_bits", operands),
        Op::Pick(table, _) => Term::new(format!("{}[{}]", table.name, operands[0].text), ATOM),
        // Every other has a text of its own in each.
        _ => call("undefined", operands),
    }
}

fn call(name: &str, operands: &[Term]) -> Term {
    let arguments: Vec<_> = operands.iter().map(|it| it.text.as_str()).collect();
    Term::new(format!("{name}({})", arguments.join(", ")), ATOM)
}

fn infix(op: &str, binding: u8, operands: &[Term]) -> Term {
    let left = operands[0].within(if binding == COMPARISON { binding + 1 } else { binding });
    Term::new(format!("{left} {op} {}", operands[1].within(binding + 1)), binding)
}

/// The negation of an equality, as `!=`; none for any other operand.
fn unequal(operands: &[Term]) -> Option<Term> {
    let (left, right) = operands[0].text.split_once(" == ")?;
    (operands[0].binding == COMPARISON).then(|| Term::new(format!("{left} != {right}"), COMPARISON))
}

fn number(value: f64, nan: &str, infinity: &str) -> Term {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let binding = if value.is_sign_negative() { SIGN } else { ATOM };
    if value.is_nan() {
        Term::new(nan, ATOM)
    } else if value.is_infinite() {
        Term::new(format!("{sign}{infinity}"), binding)
    } else {
        Term::new(format!("{value:?}"), binding)
    }
}

fn hex(bits: u64) -> String {
    if bits < 1024 { bits.to_string() } else { format!("{bits:#x}") }
}

/// The function, which says how it computes.
#[must_use]
pub fn function(definition: &Definition, name: &str, style: Style) -> String {
    let (lines, result) = match style {
        Style::Plain => formula(definition, &Plain),
        Style::Arrays => formula(definition, &Arrays),
    };
    let params = definition.params.join(", ");
    let mut text = format!("def {name}({params}):\n    \"\"\"{}.\"\"\"\n", definition.method);
    let mut line = |of: fmt::Arguments<'_>, value: &str| {
        let whole = format!("{of}{value}");
        if whole.len() + 4 <= WIDTH {
            text.push_str(&format!("    {whole}\n"));
        } else {
            for part in broken(&format!("{of}({value})"), 4, WIDTH) {
                text.push_str(&format!("{part}\n"));
            }
        }
    };
    if style == Style::Arrays {
        for param in &definition.params {
            line(format_args!("{param} = "), &format!("np.asarray({param}, np.float64)"));
        }
    }
    for it in &lines {
        line(format_args!("{} = ", it.name), &it.text);
    }
    line(format_args!("return "), &result);
    text
}

/// The table as a list, or as an array.
#[must_use]
pub fn table(table: &Table, style: Style) -> String {
    let (open, close) = match style {
        Style::Plain => ("[", "]"),
        Style::Arrays => ("np.array([", "])"),
    };
    let mut text = format!("# {}\n{} = {open}\n", table.about, table.name);
    for row in table.values.chunks(4) {
        let row: Vec<_> = row.iter().map(|it| format!("{it:?}")).collect();
        text.push_str(&format!("    {},\n", row.join(", ")));
    }
    text.push_str(&format!("{close}\n"));
    text
}

/// The name of the function for numbers of this type.
#[must_use]
pub fn name(of: &str, dtype: DType) -> String {
    if dtype == DType::Float32 { format!("{of}_float32") } else { of.to_owned() }
}
