//! Registers of many lanes, and the loops over them: one for each operation and type.
//!
//! A register holds one element for each point of a tile. The loops are as plain as possible, so that the
//! compiler vectorises them. The operations come from [`expr::evaluate`](crate::expr::evaluate) and
//! [`types::math`](crate::types::math), as those of the interpreter do.

use crate::expr::evaluate::{Element, integer_power};
use crate::types::math::formula::{ArrayLoops, Formula};
use crate::types::{
    BinaryOp, BinaryPrimitive, DType, Predicate, Primitive, UnaryOp, UnaryPrimitive, Value, math,
};

/// How many points are worked on at a time: some ten registers of doubles stay in the innermost cache.
pub(super) const LANES: usize = 256;

/// The name of a register: its type, and its place among those of this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reg {
    pub(super) dtype: DType,
    pub(super) at: usize,
}

/// Where an operation finds its operands, and where it leaves its result: never in one of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operands {
    pub(super) to: usize,
    pub(super) from: [usize; 3],
}

/// Works on the first so many lanes.
pub(super) type Compute = fn(&mut Registers, Operands, usize);

/// All registers of a run, each of [`LANES`] elements.
#[derive(Debug, Default)]
pub(super) struct Registers {
    bool: Vec<Vec<bool>>,
    int8: Vec<Vec<i8>>,
    int16: Vec<Vec<i16>>,
    int32: Vec<Vec<i32>>,
    int64: Vec<Vec<i64>>,
    float32: Vec<Vec<f32>>,
    float64: Vec<Vec<f64>>,
}

/// An element type with its registers.
pub(super) trait Lane: Element {
    fn bank(registers: &Registers) -> &[Vec<Self>];
    fn bank_mut(registers: &mut Registers) -> &mut Vec<Vec<Self>>;
}

macro_rules! lanes {
    ($($element:ident $bank:ident),*) => {
        $(impl Lane for $element {
            fn bank(registers: &Registers) -> &[Vec<Self>] {
                &registers.$bank
            }
            fn bank_mut(registers: &mut Registers) -> &mut Vec<Vec<Self>> {
                &mut registers.$bank
            }
        })*
    };
}
lanes!(bool bool, i8 int8, i16 int16, i32 int32, i64 int64, f32 float32, f64 float64);

/// Calls `$body` with `$element` as the name of the type.
macro_rules! for_dtype {
    ($dtype:expr, $element:ident => $body:expr) => {
        match $dtype {
            DType::Bool => {
                type $element = bool;
                $body
            }
            DType::Int8 => {
                type $element = i8;
                $body
            }
            DType::Int16 => {
                type $element = i16;
                $body
            }
            DType::Int32 => {
                type $element = i32;
                $body
            }
            DType::Int64 => {
                type $element = i64;
                $body
            }
            DType::Float32 => {
                type $element = f32;
                $body
            }
            DType::Float64 => {
                type $element = f64;
                $body
            }
        }
    };
}
impl Registers {
    /// So many registers of each type, in the order of [`DType::ALL`].
    pub(super) fn new(counts: [usize; DType::ALL.len()]) -> Self {
        fn bank<E: Lane>(registers: &mut Registers, n: usize) {
            *E::bank_mut(registers) = vec![vec![E::from_value(Value::Bool(false)); LANES]; n];
        }
        let mut registers = Self::default();
        for (dtype, n) in DType::ALL.into_iter().zip(counts) {
            for_dtype!(dtype, E => bank::<E>(&mut registers, n));
        }
        registers
    }

    /// Sets all lanes to one value.
    pub(super) fn fill(&mut self, reg: Reg, value: Value) {
        for_dtype!(reg.dtype, E => E::bank_mut(self)[reg.at].fill(E::from_value(value)));
    }

    /// The lanes of a mask.
    pub(super) fn mask(&self, at: usize) -> &[bool] {
        &self.bool[at]
    }

    pub(super) fn mask_mut(&mut self, at: usize) -> &mut [bool] {
        &mut self.bool[at]
    }

    /// Takes out of a mask the points at which `holds` does not.
    pub(super) fn narrow(&mut self, mask: usize, holds: usize, n: usize) {
        let mut lanes = self.take::<bool>(mask);
        lanes[..n].iter_mut().zip(&self.bool[holds]).for_each(|(it, holds)| *it &= *holds);
        self.put(mask, lanes);
    }

    /// The lanes of an index.
    pub(super) fn integers(&self, at: usize) -> &[i64] {
        &self.int64[at]
    }

    /// Sets the lanes of an index.
    pub(super) fn integers_mut(&mut self, at: usize) -> &mut [i64] {
        &mut self.int64[at]
    }

    /// Takes a register out, so that others can be read while it is written; [`put`](Self::put) it back.
    pub(super) fn take<E: Lane>(&mut self, at: usize) -> Vec<E> {
        std::mem::take(&mut E::bank_mut(self)[at])
    }

    pub(super) fn put<E: Lane>(&mut self, at: usize, lanes: Vec<E>) {
        E::bank_mut(self)[at] = lanes;
    }
}

fn map<A: Lane, R: Lane>(registers: &mut Registers, at: Operands, n: usize, of: impl Fn(A) -> R) {
    let mut to = registers.take::<R>(at.to);
    let a = &A::bank(registers)[at.from[0]][..n];
    for (to, a) in to[..n].iter_mut().zip(a) {
        *to = of(*a);
    }
    registers.put(at.to, to);
}

fn zip<A: Lane, B: Lane, R: Lane>(registers: &mut Registers, at: Operands, n: usize, of: impl Fn(A, B) -> R) {
    let mut to = registers.take::<R>(at.to);
    let a = &A::bank(registers)[at.from[0]][..n];
    let b = &B::bank(registers)[at.from[1]][..n];
    for ((to, a), b) in to[..n].iter_mut().zip(a).zip(b) {
        *to = of(*a, *b);
    }
    registers.put(at.to, to);
}

/// The comparison takes references, as those of the standard library do.
fn compared<E: Lane>(registers: &mut Registers, at: Operands, n: usize, holds: impl Fn(&E, &E) -> bool) {
    zip::<E, E, bool>(registers, at, n, |a, b| holds(&a, &b));
}

fn chosen<E: Lane>(registers: &mut Registers, at: Operands, n: usize) {
    let mut to = registers.take::<E>(at.to);
    let condition = &registers.bool[at.from[0]][..n];
    let (then, otherwise) = (&E::bank(registers)[at.from[1]][..n], &E::bank(registers)[at.from[2]][..n]);
    for (((to, condition), then), otherwise) in to[..n].iter_mut().zip(condition).zip(then).zip(otherwise) {
        *to = if *condition { *then } else { *otherwise };
    }
    registers.put(at.to, to);
}

/// Stores the first operand where the second, a mask, is true.
fn blended<E: Lane>(registers: &mut Registers, at: Operands, n: usize) {
    if at.from[0] == at.to {
        // A value in the place of itself.
        return;
    }
    let mut to = registers.take::<E>(at.to);
    let (value, mask) = (&E::bank(registers)[at.from[0]][..n], &registers.bool[at.from[1]][..n]);
    for ((to, value), mask) in to[..n].iter_mut().zip(value).zip(mask) {
        *to = if *mask { *value } else { *to };
    }
    registers.put(at.to, to);
}

/// An operator of one operand of this type.
pub(super) fn unary(op: UnaryOp, dtype: DType) -> Compute {
    match op {
        UnaryOp::Plus => copy(dtype),
        UnaryOp::Minus => for_dtype!(dtype, E => |r, at, n| map::<E, E>(r, at, n, E::negated)),
        UnaryOp::Not => |r, at, n| map::<bool, bool>(r, at, n, |a| !a),
    }
}

/// An operator of two operands of this type; of a power, the exponent has the [type for it](exponent_type).
pub(super) fn binary(op: BinaryOp, dtype: DType) -> Compute {
    match op {
        BinaryOp::Add => for_dtype!(dtype, E => |r, at, n| zip::<E, E, E>(r, at, n, E::plus)),
        BinaryOp::Sub => for_dtype!(dtype, E => |r, at, n| zip::<E, E, E>(r, at, n, E::minus)),
        BinaryOp::Mul => for_dtype!(dtype, E => |r, at, n| zip::<E, E, E>(r, at, n, E::times)),
        BinaryOp::Div => for_dtype!(dtype, E => |r, at, n| zip::<E, E, E>(r, at, n, E::divided_by)),
        BinaryOp::Mod => two_operands(BinaryPrimitive::FlooredRemainder, dtype),
        BinaryOp::Pow => power(dtype),
        BinaryOp::And => |r, at, n| zip::<bool, bool, bool>(r, at, n, |a, b| a & b),
        BinaryOp::Or => |r, at, n| zip::<bool, bool, bool>(r, at, n, |a, b| a | b),
        BinaryOp::Lt => for_dtype!(dtype, E => |r, at, n| compared(r, at, n, E::lt)),
        BinaryOp::Le => for_dtype!(dtype, E => |r, at, n| compared(r, at, n, E::le)),
        BinaryOp::Gt => for_dtype!(dtype, E => |r, at, n| compared(r, at, n, E::gt)),
        BinaryOp::Ge => for_dtype!(dtype, E => |r, at, n| compared(r, at, n, E::ge)),
        BinaryOp::Eq => for_dtype!(dtype, E => |r, at, n| compared(r, at, n, E::eq)),
        BinaryOp::Ne => for_dtype!(dtype, E => |r, at, n| compared(r, at, n, E::ne)),
    }
}

/// A power of floats with the same exponent in all lanes. Computations with the exponent alone are
/// loop-invariant; the rest is a loop without branches.
pub(super) fn power_by_constant(base: DType) -> Option<Compute> {
    match base {
        DType::Float32 => Some(|r, at, n| {
            let exponent = r.float32[at.from[1]][0];
            map(r, at, n, |a| math::pow_f32(a, exponent));
        }),
        DType::Float64 => Some(|r, at, n| {
            let exponent = r.float64[at.from[1]][0];
            map(r, at, n, |a| math::pow_f64(a, exponent));
        }),
        _ => None,
    }
}

/// The type that an exponent is converted to.
pub(super) fn exponent_type(base: DType) -> DType {
    if base.is_float() { base } else { DType::Int64 }
}

fn power(base: DType) -> Compute {
    match base {
        DType::Float32 => |r, at, n| zip(r, at, n, math::pow_f32),
        DType::Float64 => |r, at, n| zip(r, at, n, math::pow_f64),
        DType::Bool => |r, at, n| zip::<bool, i64, bool>(r, at, n, |a, b| a.power(Value::Int64(b))),
        integer => for_dtype!(integer, E => |r, at, n| {
            zip::<E, i64, E>(r, at, n, |a, b| {
                E::from_value(Value::Int64(integer_power(a.to_value().as_i64(), b)))
            });
        }),
    }
}

/// A primitive on operands of this type.
pub(super) fn primitive(op: Primitive, dtype: DType) -> Compute {
    match op {
        Primitive::Unary(op) => one_operand(op, dtype),
        Primitive::Binary(op) => two_operands(op, dtype),
        Primitive::Predicate(question) => answer(question, dtype),
    }
}

/// The loop of each operation that is listed; the operation is a constant of its loop.
macro_rules! loops {
    ($op:expr, $of:ident, [$($case:ident)*], $dtype:expr, $element:ident => $loop:expr) => {
        match $op {
            $($of::$case => {
                const OP: $of = $of::$case;
                for_dtype!($dtype, $element => $loop)
            })*
        }
    };
}

fn one_operand(op: UnaryPrimitive, dtype: DType) -> Compute {
    loops!(
        op,
        UnaryPrimitive,
        [Magnitude SquareRoot Floor Ceiling Truncation Nearest NearestAway],
        dtype,
        E => |r, at, n| map::<E, E>(r, at, n, |a| a.unary(OP))
    )
}

fn two_operands(op: BinaryPrimitive, dtype: DType) -> Compute {
    loops!(
        op,
        BinaryPrimitive,
        [Minimum Maximum FlooredRemainder Lesser Greater TruncatedRemainder],
        dtype,
        E => |r, at, n| zip::<E, E, E>(r, at, n, |a, b| a.binary(OP, b))
    )
}

fn answer(question: Predicate, dtype: DType) -> Compute {
    loops!(
        question,
        Predicate,
        [Nan Infinite Finite],
        dtype,
        E => |r, at, n| map::<E, bool>(r, at, n, |a| a.holds(OP))
    )
}

/// A formula of operands of this type, with a result of the same type.
pub(super) fn formula(of: &Formula, dtype: DType, registers: &mut Registers, at: Operands, n: usize) {
    match (of.loops, dtype) {
        (Some(ArrayLoops { double, .. }), DType::Float64) => over(registers, at, n, double),
        (Some(ArrayLoops { single, .. }), DType::Float32) => over(registers, at, n, single),
        _ if of.params.len() == 1 => {
            for_dtype!(dtype, E => map::<E, E>(registers, at, n, |a| a.formula(of, a)));
        }
        _ => for_dtype!(dtype, E => zip::<E, E, E>(registers, at, n, |a, b| a.formula(of, b))),
    }
}

fn over<E: Lane>(registers: &mut Registers, at: Operands, n: usize, all: fn(&mut [E], &[E])) {
    let mut to = registers.take::<E>(at.to);
    all(&mut to[..n], &E::bank(registers)[at.from[0]][..n]);
    registers.put(at.to, to);
}

/// The first operand where the condition is true, else the second; the condition stands before both.
pub(super) fn select(dtype: DType) -> Compute {
    for_dtype!(dtype, E => chosen::<E>)
}

/// Changes the lanes for which a mask is true.
pub(super) fn blend(dtype: DType) -> Compute {
    for_dtype!(dtype, E => blended::<E>)
}

/// The operand itself.
pub(super) fn copy(dtype: DType) -> Compute {
    for_dtype!(dtype, E => |r, at, n| {
        // A value stays in the place of itself.
        if at.from[0] != at.to {
            map::<E, E>(r, at, n, |a| a);
        }
    })
}

/// The operand in another type.
pub(super) fn cast(from: DType, to: DType) -> Compute {
    for_dtype!(from, A => for_dtype!(to, R => |r, at, n| {
        map::<A, R>(r, at, n, |a| R::from_value(a.to_value()));
    }))
}

/// The first mask without the second.
pub(super) fn without() -> Compute {
    |r, at, n| zip::<bool, bool, bool>(r, at, n, |a, b| a & !b)
}
