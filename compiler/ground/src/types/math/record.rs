//! Definitions as straight-line programs, which code generators translate.
//!
//! A [`Recorder`] hands out numbers whose arithmetic is written down instead of done. Each step is
//! one operation of [`Real`] on values before it, so that it can be done with scalars or with
//! vectors of whatever width.

use std::cell::RefCell;

use super::real::{Bits, Real, Table, Truth};
use crate::entity::{Arena, Handle};
use crate::types::DType;

/// A function as steps.
#[derive(Debug)]
pub struct Definition {
    /// The name in the IRs' text: `exp`, `pow`.
    pub name: &'static str,
    /// The type of parameters and result: single or double precision.
    pub dtype: DType,
    /// How it is computed, in a sentence or two.
    pub method: &'static str,
    pub params: Vec<&'static str>,
    /// In an order in which they can be done. Each is needed.
    pub steps: Arena<Step>,
    pub result: Handle<Step>,
}

impl Definition {
    /// The tables that it looks up, in the order of first use, each once.
    #[must_use]
    pub fn tables(&self) -> Vec<&'static Table> {
        let mut tables: Vec<&'static Table> = Vec::new();
        for (_, step) in self.steps.iter() {
            if let Op::Pick(table, _) = step.op
                && !tables.iter().any(|it| it.name == table.name)
            {
                tables.push(table);
            }
        }
        tables
    }

    /// How often each step's value is used, the result once more.
    #[must_use]
    pub fn uses(&self) -> Vec<usize> {
        let mut uses = vec![0; self.steps.len()];
        uses[self.result.index()] += 1;
        for (_, step) in self.steps.iter() {
            step.op.operands(|it| uses[it.index()] += 1);
        }
        uses
    }
}

/// One operation, whose value later steps use.
#[derive(Clone, Debug)]
pub struct Step {
    pub op: Op,
    /// The name of the value in the formula.
    pub name: Option<&'static str>,
}

/// The name of a step's value.
pub type Value = Handle<Step>;

/// The operation of a step. All numbers are doubles, except where the name says otherwise.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// A parameter of a function in double precision.
    Param(usize),
    /// A parameter of a function in single precision, which converts exactly.
    SingleParam(usize),
    Constant(f64),
    Neg(Value),
    Abs(Value),
    Sqrt(Value),
    Floor(Value),
    /// The nearest integer, ties to the even one.
    Nearest(Value),
    Add(Value, Value),
    Sub(Value, Value),
    Mul(Value, Value),
    Div(Value, Value),
    /// `a * b - p` for the rounded product `p`; see [`Real::product_error`].
    ProductError(Value, Value, Value),
    /// A truth: `a < b`, false with a NaN.
    Less(Value, Value),
    /// A truth: `a == b`, false with a NaN.
    Equal(Value, Value),
    /// Of truths.
    And(Value, Value),
    /// Of truths.
    Or(Value, Value),
    /// Of a truth.
    Not(Value),
    /// The second where the first, a truth, holds, else the third.
    Choose(Value, Value, Value),
    /// The bits of a double.
    BitsOf(Value),
    /// The double with these bits.
    OfBits(Value),
    /// Bits.
    BitsConstant(u64),
    /// The sum of bits, wrapping.
    Plus(Value, Value),
    /// Bits, and bits of a constant.
    BitAnd(Value, u64),
    /// Of bits.
    BitOr(Value, Value),
    /// Bits, and zeros from the right.
    ShiftLeft(Value, u32),
    /// Bits, and zeros from the left.
    ShiftRight(Value, u32),
    /// The entry of a table at the position that bits are.
    Pick(&'static Table, Value),
    /// A single: the nearest to a double, infinite beyond the largest.
    Narrow(Value),
}

/// The type of a step's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    Double,
    Single,
    Bits,
    Truth,
}

impl Op {
    /// The type of the value.
    #[must_use]
    pub fn kind(&self) -> ValueKind {
        match self {
            Op::Less(..) | Op::Equal(..) | Op::And(..) | Op::Or(..) | Op::Not(_) => ValueKind::Truth,
            Op::BitsOf(_)
            | Op::BitsConstant(_)
            | Op::Plus(..)
            | Op::BitAnd(..)
            | Op::BitOr(..)
            | Op::ShiftLeft(..)
            | Op::ShiftRight(..) => ValueKind::Bits,
            Op::Narrow(_) => ValueKind::Single,
            _ => ValueKind::Double,
        }
    }

    /// Visits the values that it uses, in order.
    pub fn operands(&self, mut visit: impl FnMut(Value)) {
        let mut copy = *self;
        copy.operands_mut(|it| visit(*it));
    }

    fn operands_mut(&mut self, mut visit: impl FnMut(&mut Value)) {
        match self {
            Op::Param(_) | Op::SingleParam(_) | Op::Constant(_) | Op::BitsConstant(_) => {}
            Op::Neg(a)
            | Op::Abs(a)
            | Op::Sqrt(a)
            | Op::Floor(a)
            | Op::Nearest(a)
            | Op::Not(a)
            | Op::BitsOf(a)
            | Op::OfBits(a)
            | Op::BitAnd(a, _)
            | Op::ShiftLeft(a, _)
            | Op::ShiftRight(a, _)
            | Op::Pick(_, a)
            | Op::Narrow(a) => visit(a),
            Op::Add(a, b)
            | Op::Sub(a, b)
            | Op::Mul(a, b)
            | Op::Div(a, b)
            | Op::Less(a, b)
            | Op::Equal(a, b)
            | Op::And(a, b)
            | Op::Or(a, b)
            | Op::Plus(a, b)
            | Op::BitOr(a, b) => {
                visit(a);
                visit(b);
            }
            Op::ProductError(a, b, c) | Op::Choose(a, b, c) => {
                visit(a);
                visit(b);
                visit(c);
            }
        }
    }

    /// Whether both do the same with the same values.
    fn is_same(&self, other: &Op) -> bool {
        match (self, other) {
            (Op::Param(a), Op::Param(b)) | (Op::SingleParam(a), Op::SingleParam(b)) => a == b,
            (Op::Constant(a), Op::Constant(b)) => a.to_bits() == b.to_bits(),
            (Op::BitsConstant(a), Op::BitsConstant(b)) => a == b,
            (Op::BitAnd(a, m), Op::BitAnd(b, n)) => a == b && m == n,
            (Op::ShiftLeft(a, m), Op::ShiftLeft(b, n)) | (Op::ShiftRight(a, m), Op::ShiftRight(b, n)) => {
                a == b && m == n
            }
            (Op::Pick(s, a), Op::Pick(t, b)) => s.name == t.name && a == b,
            _ => {
                let values = |op: &Op| {
                    let mut values = Vec::new();
                    op.operands(|it| values.push(it));
                    values
                };
                std::mem::discriminant(self) == std::mem::discriminant(other) && values(self) == values(other)
            }
        }
    }
}

/// Writes down what is done with the numbers that it hands out.
#[derive(Debug, Default)]
pub struct Recorder {
    steps: RefCell<Arena<Step>>,
}

impl Recorder {
    /// The value of a step, which is that of an earlier one where both do the same.
    fn value(&self, op: Op) -> Value {
        let mut steps = self.steps.borrow_mut();
        let known = steps.find(|it| it.op.is_same(&op));
        known.unwrap_or_else(|| steps.push(Step { op, name: None }))
    }

    fn number(&self, op: Op) -> Number<'_> {
        Number { recorder: self, value: self.value(op) }
    }

    /// A parameter of the function.
    pub fn param(&self, position: usize, dtype: DType) -> Number<'_> {
        self.number(if dtype == DType::Float32 { Op::SingleParam(position) } else { Op::Param(position) })
    }

    /// The definition of a function with this result, without the steps that it does not need.
    #[must_use]
    pub fn finish(
        &self,
        name: &'static str,
        dtype: DType,
        method: &'static str,
        params: Vec<&'static str>,
        result: Number<'_>,
    ) -> Definition {
        let result =
            if dtype == DType::Float32 { self.value(Op::Narrow(result.value)) } else { result.value };
        let all = self.steps.borrow();
        let mut is_needed = vec![false; all.len()];
        is_needed[result.index()] = true;
        for (at, step) in all.iter().rev() {
            if is_needed[at.index()] {
                step.op.operands(|it| is_needed[it.index()] = true);
            }
        }
        let mut steps = Arena::default();
        let mut moved = vec![None; all.len()];
        for (at, step) in all.iter().filter(|(at, _)| is_needed[at.index()]) {
            let mut step = step.clone();
            step.op.operands_mut(|it| *it = moved[it.index()].expect("operands come first and are needed"));
            moved[at.index()] = Some(steps.push(step));
        }
        let result = moved[result.index()].expect("the result is needed");
        Definition { name, dtype, method, params, steps, result }
    }
}

/// A number that a [`Recorder`] follows.
#[derive(Clone, Copy, Debug)]
pub struct Number<'r> {
    recorder: &'r Recorder,
    value: Value,
}

/// Bits that a [`Recorder`] follows.
#[derive(Clone, Copy, Debug)]
pub struct RecordedBits<'r>(Number<'r>);

/// A truth that a [`Recorder`] follows.
#[derive(Clone, Copy, Debug)]
pub struct RecordedTruth<'r>(Number<'r>);

macro_rules! recorded_operators {
    ($($trait:ident $method:ident),*) => {
        $(
            impl std::ops::$trait for Number<'_> {
                type Output = Self;
                fn $method(self, other: Self) -> Self {
                    self.recorder.number(Op::$trait(self.value, other.value))
                }
            }
            impl std::ops::$trait<f64> for Number<'_> {
                type Output = Self;
                fn $method(self, other: f64) -> Self {
                    self.recorder.number(Op::$trait(self.value, self.constant(other).value))
                }
            }
        )*
    };
}

recorded_operators!(Add add, Sub sub, Mul mul, Div div);

impl std::ops::Neg for Number<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.recorder.number(Op::Neg(self.value))
    }
}

impl<'r> Real for Number<'r> {
    type Truth = RecordedTruth<'r>;
    type Bits = RecordedBits<'r>;

    fn constant(self, value: f64) -> Self {
        self.recorder.number(Op::Constant(value))
    }

    fn named(self, name: &'static str) -> Self {
        self.recorder.steps.borrow_mut()[self.value].name.get_or_insert(name);
        self
    }

    fn abs(self) -> Self {
        self.recorder.number(Op::Abs(self.value))
    }

    fn sqrt(self) -> Self {
        self.recorder.number(Op::Sqrt(self.value))
    }

    fn floor(self) -> Self {
        self.recorder.number(Op::Floor(self.value))
    }

    fn nearest(self) -> Self {
        self.recorder.number(Op::Nearest(self.value))
    }

    fn product_error(self, other: Self, product: Self) -> Self {
        self.recorder.number(Op::ProductError(self.value, other.value, product.value))
    }

    fn less(self, other: Self) -> RecordedTruth<'r> {
        RecordedTruth(self.recorder.number(Op::Less(self.value, other.value)))
    }

    fn equals(self, other: Self) -> RecordedTruth<'r> {
        RecordedTruth(self.recorder.number(Op::Equal(self.value, other.value)))
    }

    fn choose(condition: RecordedTruth<'r>, yes: Self, no: Self) -> Self {
        yes.recorder.number(Op::Choose(condition.0.value, yes.value, no.value))
    }

    fn bits(self) -> RecordedBits<'r> {
        RecordedBits(self.recorder.number(Op::BitsOf(self.value)))
    }

    fn of_bits(bits: RecordedBits<'r>) -> Self {
        bits.0.recorder.number(Op::OfBits(bits.0.value))
    }

    fn pick(table: &'static Table, index: RecordedBits<'r>) -> Self {
        index.0.recorder.number(Op::Pick(table, index.0.value))
    }
}

impl Bits for RecordedBits<'_> {
    fn plus(self, other: Self) -> Self {
        Self(self.0.recorder.number(Op::Plus(self.0.value, other.0.value)))
    }

    fn plus_constant(self, other: u64) -> Self {
        self.plus(Self(self.0.recorder.number(Op::BitsConstant(other))))
    }
}

impl std::ops::BitAnd<u64> for RecordedBits<'_> {
    type Output = Self;
    fn bitand(self, mask: u64) -> Self {
        Self(self.0.recorder.number(Op::BitAnd(self.0.value, mask)))
    }
}

impl std::ops::BitOr for RecordedBits<'_> {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0.recorder.number(Op::BitOr(self.0.value, other.0.value)))
    }
}

impl std::ops::BitOr<u64> for RecordedBits<'_> {
    type Output = Self;
    fn bitor(self, other: u64) -> Self {
        self | Self(self.0.recorder.number(Op::BitsConstant(other)))
    }
}

impl std::ops::Shl<u32> for RecordedBits<'_> {
    type Output = Self;
    fn shl(self, by: u32) -> Self {
        Self(self.0.recorder.number(Op::ShiftLeft(self.0.value, by)))
    }
}

impl std::ops::Shr<u32> for RecordedBits<'_> {
    type Output = Self;
    fn shr(self, by: u32) -> Self {
        Self(self.0.recorder.number(Op::ShiftRight(self.0.value, by)))
    }
}

impl Truth for RecordedTruth<'_> {}

impl std::ops::BitAnd for RecordedTruth<'_> {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0.recorder.number(Op::And(self.0.value, other.0.value)))
    }
}

impl std::ops::BitOr for RecordedTruth<'_> {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0.recorder.number(Op::Or(self.0.value, other.0.value)))
    }
}

impl std::ops::Not for RecordedTruth<'_> {
    type Output = Self;
    fn not(self) -> Self {
        Self(self.0.recorder.number(Op::Not(self.0.value)))
    }
}
