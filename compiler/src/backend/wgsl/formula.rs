//! The definitions of the transcendental functions as WGSL.

use super::binding::{ARGUMENT, ATOM, BITWISE, PREFIX, PRODUCT, RELATION, SUM};
use super::{Doubles, WgslOptions};
use crate::backend::emit::formula::{Dialect, Term, broken, formula};
use crate::types::math::real::Table;
use crate::types::math::record::{Definition, Kind, Op};
use crate::types::{DType, Primitive, UnaryPrimitive};

/// How wide a line is, where it can be broken.
const WIDTH: usize = 110;

/// Tables that functions look up, one behind the other: they lie in a buffer, since a compiler of shaders copies a
/// constant array into a function at each of its calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// The bits of all entries.
    pub entries: Vec<u64>,
    starts: Vec<(&'static str, usize)>,
}

impl Tables {
    /// Where the table starts, which is added where it is missing.
    fn start(&mut self, table: &Table) -> usize {
        if let Some(&(_, start)) = self.starts.iter().find(|it| it.0 == table.name) {
            return start;
        }
        let start = self.entries.len();
        self.entries.extend(table.values.iter().map(|it| it.to_bits()));
        self.starts.push((table.name, start));
        start
    }
}

/// With doubles of the language, or with pairs of words.
struct Wgsl<'a> {
    is_native: bool,
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
        // An operator, or a function of pairs.
        let either = |symbol: &str, binding: u8, name: &str| {
            if self.is_native { infix(symbol, binding) } else { call(name) }
        };
        // A function that the language has, or one of pairs.
        let named = |op: UnaryPrimitive| {
            let name = Primitive::Unary(op).name();
            let ours = self.divides && op == UnaryPrimitive::SquareRoot;
            if self.is_native && !ours { call(name) } else { call(&format!("{name}_f64")) }
        };
        match *op {
            Op::Param(position) => Term::new(definition.params[position], ATOM),
            Op::SingleParam(position) if self.is_native => {
                Term::new(format!("f64({})", definition.params[position]), ATOM)
            }
            Op::SingleParam(position) => {
                Term::new(format!("f64_of_f32({})", definition.params[position]), ATOM)
            }
            Op::Constant(value) => self.number(value),
            Op::Neg(_) if self.is_native => Term::new(format!("-{}", operands[0].within(ATOM)), PREFIX),
            Op::Neg(_) => call("neg_f64"),
            Op::Abs(_) => named(UnaryPrimitive::Magnitude),
            Op::Sqrt(_) => named(UnaryPrimitive::SquareRoot),
            Op::Floor(_) => named(UnaryPrimitive::Floor),
            Op::Nearest(_) => named(UnaryPrimitive::Nearest),
            Op::Add(..) => either("+", SUM, "add_f64"),
            Op::Sub(..) => either("-", SUM, "sub_f64"),
            Op::Mul(..) => either("*", PRODUCT, "mul_f64"),
            Op::Div(..) if self.divides => call("div_f64"),
            Op::Div(..) => either("/", PRODUCT, "div_f64"),
            Op::ProductError(..) => call("product_error"),
            Op::Less(..) if self.is_native => relation("<"),
            Op::Less(..) => call("less_f64"),
            Op::Equal(..) if self.is_native => relation("=="),
            Op::Equal(..) => call("equal_f64"),
            Op::And(..) => bitwise("&", operands[1].within(PREFIX)),
            Op::Or(..) | Op::BitOr(..) => bitwise("|", operands[1].within(PREFIX)),
            Op::Not(_) => Term::new(format!("!{}", operands[0].within(PREFIX)), PREFIX),
            Op::Choose(..) => {
                let [condition, yes, no] = [0, 1, 2].map(|it| operands[it].within(ARGUMENT));
                Term::new(format!("select({no}, {yes}, {condition})"), ATOM)
            }
            Op::BitsOf(_) if self.is_native => call("bitcast<u64>"),
            Op::OfBits(_) if self.is_native => call("bitcast<f64>"),
            Op::BitsOf(_) | Op::OfBits(_) => operands[0].clone(),
            Op::BitsConstant(bits) => Term::new(self.word(bits), ATOM),
            Op::Plus(..) => either("+", SUM, "add_i64"),
            Op::BitAnd(_, mask) => bitwise("&", self.word(mask)),
            Op::ShiftLeft(_, by) if self.is_native => bitwise("<<", format!("{by}u")),
            Op::ShiftRight(_, by) if self.is_native => bitwise(">>", format!("{by}u")),
            Op::ShiftLeft(_, by) => {
                Term::new(format!("shl_64({}, {by}u)", operands[0].within(ARGUMENT)), ATOM)
            }
            Op::ShiftRight(_, by) => {
                Term::new(format!("shr_64({}, {by}u)", operands[0].within(ARGUMENT)), ATOM)
            }
            Op::Pick(table, _) => {
                let start = self.tables.iter().find(|it| it.0 == table.name).map_or(0, |it| it.1);
                let index = if self.is_native {
                    format!("u32({})", operands[0].within(ARGUMENT))
                } else {
                    format!("{}.x", operands[0].within(ATOM))
                };
                let place = if start == 0 { index } else { format!("{start}u + {index}") };
                Term::new(format!("tables[{place}]"), ATOM)
            }
            Op::Narrow(_) if self.is_native => call("f32"),
            Op::Narrow(_) => call("f32_of_f64"),
        }
    }
}

impl Wgsl<'_> {
    /// A constant, which no compiler may take for one where that changes bits.
    fn number(&self, value: f64) -> Term {
        let bits = value.to_bits();
        if !self.is_native {
            return Term::new(pair(bits), ATOM);
        }
        if value.is_finite() && value != 0.0 {
            return Term::new(format!("{value:?}lf"), if value < 0.0 { PREFIX } else { ATOM });
        }
        match bits {
            0 => Term::new("zero_f64()", ATOM),
            _ => Term::new(format!("f64_of_bits({bits:#x}lu)"), ATOM),
        }
    }

    fn word(&self, bits: u64) -> String {
        match (self.is_native, bits < 1024) {
            (true, true) => format!("{bits}lu"),
            (true, false) => format!("{bits:#x}lu"),
            (false, _) => pair(bits),
        }
    }
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
    let is_native = options.doubles == Doubles::Native;
    let wgsl = Wgsl { is_native, divides: options.divides || !is_native, tables: &tables.starts };
    let (double, bits) = if is_native { ("f64", "u64") } else { ("vec2<u32>", "vec2<u32>") };
    let of = if definition.dtype == DType::Float32 { "f32" } else { double };
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
            Kind::Double => double,
            Kind::Single => "f32",
            Kind::Bits => bits,
            Kind::Truth => "bool",
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

    fn printed(doubles: Doubles) -> String {
        let recorder = Recorder::default();
        let x = recorder.param(0, DType::Float32);
        let z = (x * x).named("z");
        let y = Real::choose(x.below(0.0), -z, z * z + 1.0).or_nan_of(x);
        let definition = recorder.finish("f", DType::Float32, "a test", vec!["x"], y);
        let options = WgslOptions { doubles, ..WgslOptions::default() };
        function(&definition, "f_f32", &options, &mut Tables::default())
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
        assert_eq!(printed(Doubles::Native), expected);
    }

    #[test]
    fn pairs_have_a_function_for_each_operation() {
        let text = printed(Doubles::Pairs);
        assert!(text.contains("let z: vec2<u32> = mul_f64(f64_of_f32(x), f64_of_f32(x));"), "{text}");
        assert!(text.contains("add_f64(mul_f64(z, z), vec2<u32>(0x0u, 0x3ff00000u))"), "{text}");
    }
}
