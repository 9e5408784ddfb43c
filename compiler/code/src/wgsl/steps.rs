//! Functions of mathematics as tables of steps, for texts without doubles.
//!
//! An operation on pairs of words is some hundred instructions, which drivers copy to each of its calls.
//! A function that is written out takes them minutes to compile.
//! So its steps lie in the buffer of tables. One loop follows them, and contains each operation once:
//!
//! ```text
//! exp_f64(x):   formula_f64(5u, 43u, x, x)
//! tables[5]:    Mul  0, <2/ln 2> -> 1        registers below 64, entries of the tables above
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::formula::Tables;
use crate::types::DType;
use crate::types::math::record::{Definition, Op};

/// Operands from here on are entries of the tables.
const MOST_REGISTERS: usize = 64;
/// The sign of a double.
const SIGN: u64 = 1 << 63;

/// The operation of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StepOperation {
    Add,
    /// Shares the text of `Add`, and so is the number behind it.
    Sub,
    Mul,
    Div,
    SquareRoot,
    Floor,
    Nearest,
    /// Truths are 1 and 0.
    Less,
    Equal,
    /// Of bits.
    Plus,
    And,
    Or,
    Xor,
    /// Bits moved, by as many as the second operand is.
    Up,
    Down,
    /// The second operand where the first is not 0, else the third.
    Choose,
    /// The entry as far behind the second operand as the first is.
    Pick,
}

impl StepOperation {
    const ALL: [Self; 17] = [
        StepOperation::Add,
        StepOperation::Sub,
        StepOperation::Mul,
        StepOperation::Div,
        StepOperation::SquareRoot,
        StepOperation::Floor,
        StepOperation::Nearest,
        StepOperation::Less,
        StepOperation::Equal,
        StepOperation::Plus,
        StepOperation::And,
        StepOperation::Or,
        StepOperation::Xor,
        StepOperation::Up,
        StepOperation::Down,
        StepOperation::Choose,
        StepOperation::Pick,
    ];

    fn number(self) -> u64 {
        self as u64
    }

    /// The value that it makes, of `a`, `b` and `c`.
    fn text(self) -> &'static str {
        match self {
            StepOperation::Add | StepOperation::Sub => "add_f64(a, vec2<u32>(b.x, b.y ^ (step.x << 31u)))",
            StepOperation::Mul => "mul_f64(a, b)",
            StepOperation::Div => "div_f64(a, b)",
            StepOperation::SquareRoot => "sqrt_f64(a)",
            StepOperation::Floor => "floor_f64(a)",
            StepOperation::Nearest => "round_f64(a)",
            StepOperation::Less => "vec2<u32>(u32(less_f64(a, b)), 0u)",
            StepOperation::Equal => "vec2<u32>(u32(equal_f64(a, b)), 0u)",
            StepOperation::Plus => "add_i64(a, b)",
            StepOperation::And => "a & b",
            StepOperation::Or => "a | b",
            StepOperation::Xor => "a ^ b",
            StepOperation::Up => "shl_64(a, b.x)",
            StepOperation::Down => "shr_64(a, b.x)",
            StepOperation::Choose => "select(c, b, a.x != 0u)",
            StepOperation::Pick => "tables[a.x + b.x]",
        }
    }
}

/// An operand of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operand {
    /// A parameter of the function.
    Param(usize),
    /// The result of an earlier step.
    Step(usize),
    Constant(u64),
}

/// A step, before its operands have registers.
#[derive(Clone, Copy, Debug)]
struct Step {
    code: StepOperation,
    operands: [Operand; 3],
}

/// The steps of a definition, in order.
#[derive(Debug, Default)]
struct Steps(Vec<Step>);

impl Steps {
    /// Those of a definition. A function of singles is that of their doubles, and its result is rounded by the caller.
    fn of(definition: &Definition, tables: &mut Tables) -> Self {
        let mut steps = Self::default();
        let mut values: Vec<Operand> = Vec::new();
        for (_, step) in definition.steps.iter() {
            let mut operands = Vec::new();
            step.op.operands(|it| operands.push(values[it.index()]));
            let value = match step.op {
                Op::Param(at) | Op::SingleParam(at) => Operand::Param(at),
                Op::Constant(value) => Operand::Constant(value.to_bits()),
                Op::BitsConstant(bits) => Operand::Constant(bits),
                Op::BitsOf(_) | Op::OfBits(_) | Op::Narrow(_) => operands[0],
                Op::ProductError(..) => steps.product_error(operands[0], operands[1], operands[2]),
                Op::Neg(_) => steps.put(StepOperation::Xor, operands[0], Operand::Constant(SIGN)),
                Op::Abs(_) => steps.put(StepOperation::And, operands[0], Operand::Constant(!SIGN)),
                Op::Not(_) => steps.put(StepOperation::Xor, operands[0], Operand::Constant(1)),
                Op::Sqrt(_) => steps.put(StepOperation::SquareRoot, operands[0], operands[0]),
                Op::Floor(_) => steps.put(StepOperation::Floor, operands[0], operands[0]),
                Op::Nearest(_) => steps.put(StepOperation::Nearest, operands[0], operands[0]),
                Op::Add(..) => steps.put(StepOperation::Add, operands[0], operands[1]),
                Op::Sub(..) => steps.put(StepOperation::Sub, operands[0], operands[1]),
                Op::Mul(..) => steps.put(StepOperation::Mul, operands[0], operands[1]),
                Op::Div(..) => steps.put(StepOperation::Div, operands[0], operands[1]),
                Op::Less(..) => steps.put(StepOperation::Less, operands[0], operands[1]),
                Op::Equal(..) => steps.put(StepOperation::Equal, operands[0], operands[1]),
                Op::Plus(..) => steps.put(StepOperation::Plus, operands[0], operands[1]),
                Op::And(..) => steps.put(StepOperation::And, operands[0], operands[1]),
                Op::Or(..) | Op::BitOr(..) => steps.put(StepOperation::Or, operands[0], operands[1]),
                Op::BitAnd(_, mask) => steps.put(StepOperation::And, operands[0], Operand::Constant(mask)),
                Op::ShiftLeft(_, by) => {
                    steps.put(StepOperation::Up, operands[0], Operand::Constant(u64::from(by)))
                }
                Op::ShiftRight(_, by) => {
                    steps.put(StepOperation::Down, operands[0], Operand::Constant(u64::from(by)))
                }
                Op::Pick(table, _) => {
                    let start = tables.start(table) as u64;
                    steps.put(StepOperation::Pick, operands[0], Operand::Constant(start))
                }
                Op::Choose(..) => steps.push(StepOperation::Choose, [operands[0], operands[1], operands[2]]),
            };
            values.push(value);
        }
        // The loop gives what its last step makes.
        let result = values[definition.result.index()];
        if result != Operand::Step(steps.0.len().wrapping_sub(1)) {
            steps.put(StepOperation::Or, result, result);
        }
        steps
    }

    fn push(&mut self, code: StepOperation, operands: [Operand; 3]) -> Operand {
        self.0.push(Step { code, operands });
        Operand::Step(self.0.len() - 1)
    }

    fn put(&mut self, code: StepOperation, a: Operand, b: Operand) -> Operand {
        self.push(code, [a, b, b])
    }

    /// `a * b - product` exactly, given the rounded product, by splitting both factors into halves of 26 bits (T. J.
    /// Dekker, 1971).
    fn product_error(&mut self, a: Operand, b: Operand, product: Operand) -> Operand {
        let mut halves = |it: Operand| {
            let scaled = self.put(StepOperation::Mul, Operand::Constant(134_217_729_f64.to_bits()), it);
            let rest = self.put(StepOperation::Sub, scaled, it);
            let high = self.put(StepOperation::Sub, scaled, rest);
            [high, self.put(StepOperation::Sub, it, high)]
        };
        let ([a_high, a_low], [b_high, b_low]) = (halves(a), halves(b));
        let upper = self.put(StepOperation::Mul, a_high, b_high);
        let upper = self.put(StepOperation::Sub, upper, product);
        let mut sum = upper;
        for (x, y) in [(a_high, b_low), (a_low, b_high), (a_low, b_low)] {
            let part = self.put(StepOperation::Mul, x, y);
            sum = self.put(StepOperation::Add, sum, part);
        }
        sum
    }
}

/// All that the functions of a text need of the loop that follows their steps.
#[derive(Clone, Debug, Default)]
pub(super) struct InterpreterNeeds {
    codes: BTreeSet<StepOperation>,
    n_registers: usize,
}

impl InterpreterNeeds {
    /// Puts the steps of a definition into the tables; gives the first entry, and the one behind the last.
    fn put(&mut self, definition: &Definition, tables: &mut Tables) -> [usize; 2] {
        let steps = Steps::of(definition, tables).0;
        let mut last_use = vec![0; steps.len()];
        let mut last_of_param = [0; 2];
        for (at, step) in steps.iter().enumerate() {
            for it in step.operands {
                match it {
                    Operand::Step(of) => last_use[of] = at,
                    Operand::Param(of) => last_of_param[of] = at,
                    Operand::Constant(_) => {}
                }
            }
        }
        let mut free: BTreeSet<usize> = (2..MOST_REGISTERS).collect();
        let mut register_of: BTreeMap<usize, usize> = BTreeMap::new();
        let mut entries = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let operands = step.operands.map(|it| match it {
                Operand::Param(of) => of,
                Operand::Step(of) => register_of[&of],
                Operand::Constant(bits) => MOST_REGISTERS + tables.constant(bits),
            });
            // A step may write where it reads for the last time.
            for it in step.operands {
                match it {
                    Operand::Step(of) if last_use[of] == at => drop(free.insert(register_of[&of])),
                    Operand::Param(of) if last_of_param[of] == at => drop(free.insert(of)),
                    _ => {}
                }
            }
            let register = free.pop_first().expect("no function keeps 64 values at once; a test holds that");
            register_of.insert(at, register);
            self.n_registers = self.n_registers.max(register + 1);
            self.codes.insert(step.code);
            let [a, b, c] = operands.map(|it| it as u64 & 0xffff);
            entries.push(step.code.number() | (register as u64) << 8 | a << 16 | b << 32 | c << 48);
        }
        let first = tables.entries.len();
        tables.entries.extend(entries);
        [first, tables.entries.len()]
    }

    /// The function of a definition.
    pub(super) fn function(&mut self, definition: &Definition, name: &str, tables: &mut Tables) -> String {
        let [first, end] = self.put(definition, tables);
        let is_single = definition.dtype == DType::Float32;
        let of = if is_single { "f32" } else { "vec2<u32>" };
        let params: Vec<_> = definition.params.iter().map(|it| format!("{it}: {of}")).collect();
        let passed = |at: usize| {
            let name = definition.params[at.min(definition.params.len() - 1)];
            if is_single { format!("f64_of_f32({name})") } else { name.to_owned() }
        };
        let mut result = format!("formula_f64({first}u, {end}u, {}, {})", passed(0), passed(1));
        if is_single {
            result = format!("f32_of_f64({result})");
        }
        let (params, method) = (params.join(", "), definition.method);
        format!("// {method}.\nfn {name}({params}) -> {of} {{\n  return {result};\n}}\n")
    }

    /// The loop; none where no function has steps.
    pub(super) fn text(&self) -> Option<String> {
        if self.codes.is_empty() {
            return None;
        }
        let n = self.n_registers.max(2);
        let last = n - 1;
        let mut cases = String::new();
        for code in StepOperation::ALL {
            let is_other = code == StepOperation::Sub && self.codes.contains(&StepOperation::Add);
            if !self.codes.contains(&code) || is_other {
                continue;
            }
            let labels = match code {
                StepOperation::Add | StepOperation::Sub => "0u, 1u".to_owned(),
                _ => format!("{}u", code.number()),
            };
            cases += &format!("      case {labels}: {{\n        result = {};\n      }}\n", code.text());
        }
        let mut fetches = String::new();
        for (name, at) in [("a", "step.x >> 16u"), ("b", "step.y & 0xffffu"), ("c", "step.y >> 16u")] {
            if name == "c" && !self.codes.contains(&StepOperation::Choose) {
                continue;
            }
            fetches += &format!(
                "    let of_{name} = {at};\n    let {name} = select(values[min(of_{name}, {last}u)], \
                 tables[max(of_{name}, {MOST_REGISTERS}u) - {MOST_REGISTERS}u], of_{name} >= {MOST_REGISTERS}u);\n"
            );
        }
        Some(format!(
            "// Follows the steps of a function, which lie in the tables: code, register of the result, three \
             operands.\nfn formula_f64(first: u32, end: u32, x: vec2<u32>, y: vec2<u32>) -> vec2<u32> {{\n  var \
             values: array<vec2<u32>, {n}>;\n  values[0] = x;\n  values[1] = y;\n  var result = x;\n  let last = end \
             ^ zero();\n  for (var n = first; n < last; n++) {{\n    let step = tables[n];\n{fetches}    switch step.x \
             & 0xffu {{\n{cases}      default: {{}}\n    }}\n    values[min((step.x >> 8u) & 0xffu, {last}u)] = \
             result;\n  }}\n  return result;\n}}\n"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Function;
    use crate::types::math::formula::Formula;
    use crate::wgsl::math::Callee;

    /// Follows the steps as the loop does, on doubles of the processor.
    fn followed(tables: &Tables, [first, end]: [usize; 2], x: f64, y: f64) -> f64 {
        let mut values = vec![0; MOST_REGISTERS];
        (values[0], values[1]) = (x.to_bits(), y.to_bits());
        let mut result = 0;
        for at in first..end {
            let step = tables.entries[at];
            let part = |from: u32, bits: u32| usize::try_from(step >> from & ((1 << bits) - 1)).unwrap();
            let operand = |at: usize| match at {
                0..MOST_REGISTERS => values[at],
                _ => tables.entries[at - MOST_REGISTERS],
            };
            let [a, b, c] = [16, 32, 48].map(|from| operand(part(from, 16)));
            let [x, y] = [a, b].map(f64::from_bits);
            result = match StepOperation::ALL[part(0, 8)] {
                StepOperation::Add => (x + y).to_bits(),
                StepOperation::Sub => (x - y).to_bits(),
                StepOperation::Mul => (x * y).to_bits(),
                StepOperation::Div => (x / y).to_bits(),
                StepOperation::SquareRoot => x.sqrt().to_bits(),
                StepOperation::Floor => x.floor().to_bits(),
                StepOperation::Nearest => x.round_ties_even().to_bits(),
                StepOperation::Less => u64::from(x < y),
                #[expect(clippy::float_cmp, reason = "it is what the step asks")]
                StepOperation::Equal => u64::from(x == y),
                StepOperation::Plus => a.wrapping_add(b),
                StepOperation::And => a & b,
                StepOperation::Or => a | b,
                StepOperation::Xor => a ^ b,
                StepOperation::Up => a << b,
                StepOperation::Down => a >> b,
                StepOperation::Choose => [c, b][usize::from(a & 0xffff_ffff != 0)],
                StepOperation::Pick => tables.entries[usize::try_from((a & 0xffff_ffff) + b).unwrap()],
            };
            values[part(8, 8)] = result;
        }
        f64::from_bits(result)
    }

    fn formulas() -> Vec<&'static Formula> {
        let all = Function::all().map(Callee::Function).chain([Callee::Power]);
        all.filter_map(Callee::formula).collect()
    }

    #[test]
    fn steps_compute_what_the_formula_computes() {
        let mut tables = Tables::default();
        let mut loops = InterpreterNeeds::default();
        let points = [
            0.0,
            -0.0,
            0.5,
            -0.3,
            1.0,
            2.0,
            -2.5,
            7.25,
            31.4,
            -100.0,
            710.0,
            1e-310,
            1e22,
            -1e300,
            f64::INFINITY,
            f64::NAN,
        ];
        for formula in formulas() {
            let at = loops.put(formula.definition(DType::Float64).unwrap(), &mut tables);
            for x in points {
                for y in points {
                    let (found, expected) = (followed(&tables, at, x, y), (formula.double)(x, y));
                    let is_same =
                        found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
                    assert!(is_same, "{}({x:?}, {y:?}): {found:?}, and not {expected:?}", formula.name);
                }
            }
        }
    }

    #[test]
    fn all_functions_together_fit_into_registers_and_operands() {
        let mut tables = Tables::default();
        let mut loops = InterpreterNeeds::default();
        for formula in formulas() {
            for dtype in [DType::Float64, DType::Float32] {
                loops.put(formula.definition(dtype).unwrap(), &mut tables);
            }
        }
        assert!(loops.n_registers <= 32, "{}", loops.n_registers);
        assert!(tables.entries.len() + MOST_REGISTERS < 1 << 16, "{}", tables.entries.len());
    }

    #[test]
    fn the_loop_has_what_the_steps_need_and_no_more() {
        let mut tables = Tables::default();
        let mut loops = InterpreterNeeds::default();
        let exp = Function::from_name("exp").map(Callee::Function).and_then(Callee::formula).unwrap();
        let text = loops.function(exp.definition(DType::Float32).unwrap(), "exp_f32", &mut tables);
        assert!(text.contains("fn exp_f32(x: f32) -> f32 {\n  return f32_of_f64(formula_f64("), "{text}");
        let text = loops.text().unwrap();
        assert!(text.contains("mul_f64") && !text.contains("sqrt_f64"), "{text}");
        assert!(InterpreterNeeds::default().text().is_none());
    }
}
