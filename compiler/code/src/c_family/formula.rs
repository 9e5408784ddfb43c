//! The definitions of the transcendental functions as C.

use std::fmt::Write as _;

use super::Language;
use super::binding::{ATOM, BITWISE, PREFIX, PRODUCT, RELATION, SUM, TERNARY};
use crate::emit::formula::{Dialect, Term, broken, formula};
use crate::types::math::POWER;
use crate::types::math::real::Table;
use crate::types::math::record::{Definition, Op, ValueKind};
use crate::types::{DType, Function, UnaryPrimitive};

/// How wide a line is, where it can be broken.
const WIDTH: usize = 100;

/// Names of functions in C's standard library.
const MAGNITUDE: &str = "fabs";
const NEAREST: &str = "rint";

struct C;

impl Dialect for C {
    const ATOM: u8 = ATOM;

    fn reserved(&self) -> Vec<&'static str> {
        let words = ["double", "float", "int", "return", "if", "else", "for", MAGNITUDE, NEAREST, POWER.name];
        words.into_iter().chain(Function::builtins().map(Function::name)).collect()
    }

    fn operation(&self, op: &Op, operands: &[Term], definition: &Definition) -> Term {
        let call = |name: &str| {
            let arguments: Vec<_> = operands.iter().map(|it| it.text.as_str()).collect();
            Term::new(format!("{name}({})", arguments.join(", ")), ATOM)
        };
        let infix = |op: &str, binding: u8| {
            let (left, right) = (operands[0].within(binding), operands[1].within(binding + 1));
            Term::new(format!("{left} {op} {right}"), binding)
        };
        // gcc wants parentheses around whatever else is inside these.
        let bitwise = |op: &str, right: String| {
            Term::new(format!("{} {op} {right}", operands[0].within(PREFIX)), BITWISE)
        };
        let relation = |op: &str| {
            let (left, right) = (operands[0].within(SUM), operands[1].within(SUM));
            Term::new(format!("{left} {op} {right}"), RELATION)
        };
        match *op {
            Op::Param(position) => Term::new(definition.params[position], ATOM),
            Op::SingleParam(position) => {
                Term::new(format!("(double){}", definition.params[position]), PREFIX)
            }
            Op::Constant(value) => number(value),
            Op::Neg(_) => Term::new(format!("-{}", operands[0].within(ATOM)), PREFIX),
            Op::Abs(_) => call(MAGNITUDE),
            Op::Sqrt(_) => call(UnaryPrimitive::SquareRoot.name()),
            Op::Floor(_) => call(UnaryPrimitive::Floor.name()),
            Op::Nearest(_) => call(NEAREST),
            Op::Add(..) | Op::Plus(..) => infix("+", SUM),
            Op::Sub(..) => infix("-", SUM),
            Op::Mul(..) => infix("*", PRODUCT),
            Op::Div(..) => infix("/", PRODUCT),
            Op::ProductError(..) => call("isobar_product_error"),
            Op::Less(..) => relation("<"),
            Op::Equal(..) => relation("=="),
            Op::And(..) => bitwise("&", operands[1].within(PREFIX)),
            Op::Or(..) | Op::BitOr(..) => bitwise("|", operands[1].within(PREFIX)),
            Op::Not(_) => match operands[0].text.split_once(" == ") {
                Some((left, right)) if operands[0].binding == RELATION => {
                    Term::new(format!("{left} != {right}"), RELATION)
                }
                _ => Term::new(format!("!{}", operands[0].within(PREFIX)), PREFIX),
            },
            Op::Choose(..) => {
                let (condition, yes) = (operands[0].within(BITWISE), operands[1].within(BITWISE));
                Term::new(format!("{condition} ? {yes} : {}", operands[2].text), TERNARY)
            }
            Op::BitsOf(_) => call("isobar_bits"),
            Op::OfBits(_) => call("isobar_from_bits"),
            Op::BitsConstant(bits) => Term::new(hex(bits), ATOM),
            Op::BitAnd(_, mask) => bitwise("&", hex(mask)),
            Op::ShiftLeft(_, by) => bitwise("<<", by.to_string()),
            Op::ShiftRight(_, by) => bitwise(">>", by.to_string()),
            Op::Pick(table, _) => Term::new(format!("{}[{}]", table_name(table), operands[0].text), ATOM),
            Op::Narrow(_) => Term::new(format!("(float){}", operands[0].within(PREFIX)), PREFIX),
        }
    }
}

fn number(value: f64) -> Term {
    let (size, sign) = (value.abs(), if value.is_sign_negative() { "-" } else { "" });
    let binding = if value.is_sign_negative() { PREFIX } else { ATOM };
    if value.is_nan() {
        Term::new("(double)NAN", PREFIX)
    } else if value.is_infinite() {
        Term::new(format!("{sign}(double)INFINITY"), PREFIX)
    } else {
        Term::new(format!("{sign}{size:?}"), binding)
    }
}

fn hex(bits: u64) -> String {
    if bits < 1024 { format!("{bits}u") } else { format!("{bits:#x}u") }
}

fn table_name(table: &Table) -> String {
    format!("isobar_{}", table.name.to_lowercase())
}

/// The C function, with how it computes in front.
pub(super) fn function(definition: &Definition, name: &str) -> String {
    let of = if definition.dtype == DType::Float32 { "float" } else { "double" };
    let params: Vec<_> = definition.params.iter().map(|it| format!("{of} {it}")).collect();
    let (lines, result) = formula(definition, &C);
    let mut text = format!("/* {}. */\n", definition.method);
    let mut write = |line: std::fmt::Arguments<'_>| {
        text.write_fmt(line).expect("a string takes everything");
    };
    write(format_args!("ISOBAR_INLINE {of} {name}({})\n{{\n", params.join(", ")));
    for line in lines {
        let of = match line.kind {
            ValueKind::Double => "double",
            ValueKind::Single => "float",
            ValueKind::Bits => "uint64_t",
            ValueKind::Truth => "int",
        };
        for part in broken(&format!("{of} {} = {};", line.name, line.text), 4, WIDTH) {
            write(format_args!("{part}\n"));
        }
    }
    for part in broken(&format!("return {result};"), 4, WIDTH) {
        write(format_args!("{part}\n"));
    }
    write(format_args!("}}\n"));
    text
}

/// The table as an array.
pub(super) fn table(language: Language, table: &Table) -> String {
    let mut text = format!("/* {}. */\n", table.about);
    let (of, name, n) = (language.table(), table_name(table), table.values.len());
    text.push_str(&format!("{of} {name}[{n}] = {{\n"));
    for row in table.values.chunks(4) {
        let row: Vec<_> = row.iter().map(|it| number(*it).text).collect();
        text.push_str(&format!("    {},\n", row.join(", ")));
    }
    text.push_str("};\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::math::real::Real;
    use crate::types::math::record::Recorder;

    #[test]
    fn values_used_once_stand_where_they_are_used() {
        let recorder = Recorder::default();
        let x = recorder.param(0, DType::Float32);
        let z = (x * x).named("z");
        let y = Real::choose(x.below(0.0), -z, z * z + 1.0).or_nan_of(x);
        let definition = recorder.finish("f", DType::Float32, "a test", vec!["x"], y);
        let expected = "\
/* a test. */
ISOBAR_INLINE float isobar_f(float x)
{
    double z = (double)x * (double)x;
    double negative = -z;
    double sum = z * z + 1.0;
    double chosen = (double)x < 0.0 ? negative : sum;
    return (float)((double)x != (double)x ? (double)NAN : chosen);
}
";
        assert_eq!(function(&definition, "isobar_f"), expected);
    }

    #[test]
    fn long_lines_break_in_front_of_operators() {
        let text = broken("return aaaaaaaa + bbbbbbbb * cccccccc;", 4, 30);
        assert_eq!(text, ["    return aaaaaaaa + bbbbbbbb", "        * cccccccc;"]);
    }
}
