//! The definitions of the transcendental functions as WGSL, with doubles of the language.

use std::collections::BTreeMap;

use super::WgslOptions;
use super::binding::{ARGUMENT, ATOM, BITWISE, PREFIX, PRODUCT, RELATION, SUM};
use crate::emit::formula::{Dialect, Term, broken, formula};
use crate::types::math::real::Table;
use crate::types::math::record::{Definition, Op, ValueKind};
use crate::types::{DType, Primitive, UnaryPrimitive};

/// How wide a line is, where it can be broken.
const WIDTH: usize = 110;

/// Tables that functions look up, one behind the other. They lie in a buffer, because a shader compiler
/// copies a constant array into a function at each of its calls. Where there are no doubles, functions
/// themselves lie there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// The bits of all entries.
    pub entries: Vec<u64>,
    starts: Vec<(&'static str, usize)>,
    constants: BTreeMap<u64, usize>,
}

impl Tables {
    /// Where an entry with these bits is, which is added where there is none yet.
    pub(super) fn constant(&mut self, bits: u64) -> usize {
        *self.constants.entry(bits).or_insert_with(|| {
            self.entries.push(bits);
            self.entries.len() - 1
        })
    }

    /// Where the table starts, which is added where it is missing.
    pub(super) fn start(&mut self, table: &Table) -> usize {
        if let Some(&(_, start)) = self.starts.iter().find(|it| it.0 == table.name) {
            return start;
        }
        let start = self.entries.len();
        self.entries.extend(table.values.iter().map(|it| it.to_bits()));
        self.starts.push((table.name, start));
        start
    }
}

struct Wgsl<'a> {
    divides: bool,
    tables: &'a [(&'static str, usize)],
}

impl Dialect for Wgsl<'_> {
    const ATOM: u8 = ATOM;

    fn reserved(&self) -> Vec<&'static str> {
        super::words::all().collect()
    }

    fn operation(&self, op: &Op, operands: &[Term], definition: &Definition) -> Term {
        let call = |name: &str| {
            let arguments: Vec<_> = operands.iter().map(|it| it.within(ARGUMENT)).collect();
            Term::new(format!("{name}({})", arguments.join(", ")), ATOM)
        };
        let infix = |op: &str, binding: u8| {
            let (left, right) = (operands[0].within(binding), operands[1].within(binding + 1));
            Term::new(format!("{left} {op} {right}"), binding)
        };
        let relation = |op: &str| {
            let (left, right) = (operands[0].within(SUM), operands[1].within(SUM));
            Term::new(format!("{left} {op} {right}"), RELATION)
        };
        let bitwise = |op: &str, right: String| {
            Term::new(format!("{} {op} {right}", operands[0].within(PREFIX)), BITWISE)
        };
        let named = |op: UnaryPrimitive| {
            let name = Primitive::Unary(op).name();
            let is_ours = self.divides && op == UnaryPrimitive::SquareRoot;
            if is_ours { call(&format!("{name}_f64")) } else { call(name) }
        };
        match *op {
            Op::Param(position) => Term::new(definition.params[position], ATOM),
            Op::SingleParam(position) => Term::new(format!("f64({})", definition.params[position]), ATOM),
            Op::Constant(value) => number(value),
            Op::Neg(_) => Term::new(format!("-{}", operands[0].within(ATOM)), PREFIX),
            Op::Abs(_) => named(UnaryPrimitive::Magnitude),
            Op::Sqrt(_) => named(UnaryPrimitive::SquareRoot),
            Op::Floor(_) => named(UnaryPrimitive::Floor),
            Op::Nearest(_) => named(UnaryPrimitive::Nearest),
            Op::Add(..) => infix("+", SUM),
            Op::Sub(..) => infix("-", SUM),
            Op::Mul(..) => infix("*", PRODUCT),
            Op::Div(..) if self.divides => call("div_f64"),
            Op::Div(..) => infix("/", PRODUCT),
            Op::ProductError(..) => call("product_error"),
            Op::Less(..) => relation("<"),
            Op::Equal(..) => relation("=="),
            Op::And(..) => bitwise("&", operands[1].within(PREFIX)),
            Op::Or(..) | Op::BitOr(..) => bitwise("|", operands[1].within(PREFIX)),
            Op::Not(_) => Term::new(format!("!{}", operands[0].within(PREFIX)), PREFIX),
            Op::Choose(..) => {
                let [condition, yes, no] = [0, 1, 2].map(|it| operands[it].within(ARGUMENT));
                Term::new(format!("select({no}, {yes}, {condition})"), ATOM)
            }
            Op::BitsOf(_) => call("bitcast<u64>"),
            Op::OfBits(_) => call("bitcast<f64>"),
            Op::BitsConstant(bits) => Term::new(word(bits), ATOM),
            Op::Plus(..) => infix("+", SUM),
            Op::BitAnd(_, mask) => bitwise("&", word(mask)),
            Op::ShiftLeft(_, by) => bitwise("<<", format!("{by}u")),
            Op::ShiftRight(_, by) => bitwise(">>", format!("{by}u")),
            Op::Pick(table, _) => {
                let start = self.tables.iter().find(|it| it.0 == table.name).map_or(0, |it| it.1);
                let index = format!("u32({})", operands[0].within(ARGUMENT));
                let place = if start == 0 { index } else { format!("{start}u + {index}") };
                Term::new(format!("tables[{place}]"), ATOM)
            }
            Op::Narrow(_) => call("f32"),
        }
    }
}

/// A constant, which no compiler may take for one where that changes bits.
fn number(value: f64) -> Term {
    let bits = value.to_bits();
    if value.is_finite() && value != 0.0 {
        return Term::new(format!("{value:?}lf"), if value < 0.0 { PREFIX } else { ATOM });
    }
    match bits {
        0 => Term::new("zero_f64()", ATOM),
        _ => Term::new(format!("f64_of_bits({bits:#x}lu)"), ATOM),
    }
}

fn word(bits: u64) -> String {
    if bits < 1024 { format!("{bits}lu") } else { format!("{bits:#x}lu") }
}

/// A pair of words.
pub(super) fn pair(bits: u64) -> String {
    format!("vec2<u32>({:#x}u, {:#x}u)", bits & 0xffff_ffff, bits >> 32)
}

/// The function, with how it computes in front.
pub(super) fn function(
    definition: &Definition,
    name: &str,
    options: &WgslOptions,
    tables: &mut Tables,
) -> String {
    for table in definition.tables() {
        tables.start(table);
    }
    let wgsl = Wgsl { divides: options.divides, tables: &tables.starts };
    let of = if definition.dtype == DType::Float32 { "f32" } else { "f64" };
    let params: Vec<_> = definition.params.iter().map(|it| format!("{it}: {of}")).collect();
    let (lines, result) = formula(definition, &wgsl);
    let mut text = format!("// {}.\nfn {name}({}) -> {of} {{\n", definition.method, params.join(", "));
    let mut put = |line: &str| {
        for part in broken(line, 2, WIDTH) {
            text.push_str(&part);
            text.push('\n');
        }
    };
    for line in lines {
        let of = match line.kind {
            ValueKind::Double => "f64",
            ValueKind::Single => "f32",
            ValueKind::Bits => "u64",
            ValueKind::Truth => "bool",
        };
        put(&format!("let {}: {of} = {};", line.name, line.text));
    }
    put(&format!("return {result};"));
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::math::real::Real;
    use crate::types::math::record::Recorder;

    fn printed() -> String {
        let recorder = Recorder::default();
        let x = recorder.param(0, DType::Float32);
        let z = (x * x).named("z");
        let y = Real::choose(x.below(0.0), -z, z * z + 1.0).or_nan_of(x);
        let definition = recorder.finish("f", DType::Float32, "a test", vec!["x"], y);
        function(&definition, "f_f32", &WgslOptions::default(), &mut Tables::default())
    }

    #[test]
    fn values_used_once_stand_where_they_are_used() {
        let expected = "\
// a test.
fn f_f32(x: f32) -> f32 {
  let z: f64 = f64(x) * f64(x);
  let negative: f64 = -z;
  let sum: f64 = z * z + 1.0lf;
  let chosen: f64 = select(sum, negative, (f64(x) < zero_f64()));
  return f32(select(chosen, f64_of_bits(0x7ff8000000000000lu), !(f64(x) == f64(x))));
}
";
        assert_eq!(printed(), expected);
    }
}
