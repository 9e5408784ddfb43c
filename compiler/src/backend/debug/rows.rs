//! Statements along a row of points, one vector of elements for each operator.
//!
//! The same as point by point, only faster: the operators come from
//! [`expr::evaluate`](crate::expr::evaluate) here too.

use std::ops::Range;

use super::store::{Memory, Outside, Row};
use super::{ITERATIONS_PER_QUESTION, MAX_ITERATIONS, Stop, endless, outside};
use crate::backend::array::Elements;
use crate::entity::Handle;
use crate::expr::ExprKind;
use crate::expr::evaluate::{self, Element};
use crate::for_elements;
use crate::oir::nodes::{Access, Expr, Field, Stencil, Stmt, StmtKind, Target};
use crate::types::{BinaryOp, DType, Function, UnaryOp, Value};

/// Neighbouring points along I.
#[derive(Clone, Debug)]
pub(super) struct Points {
    pub(super) i: Range<i64>,
    pub(super) j: i64,
    pub(super) k: i64,
}

/// The values at the points of a row.
#[derive(Debug)]
enum Lane {
    /// The same at all points.
    One(Value),
    /// One for each point.
    Many(Elements),
}

/// A row of an execution, with what it runs on.
pub(super) struct Rows<'a> {
    pub(super) stencil: &'a Stencil,
    pub(super) memory: &'a mut Memory,
    /// Is asked in long loops.
    pub(super) go_on: &'a mut dyn FnMut() -> bool,
}

impl Rows<'_> {
    /// Runs the statements of a body at the points of a row for which `mask` holds, one statement after the other.
    ///
    /// That is the same as point by point, because no point reads what another one writes.
    pub(super) fn run(&mut self, body: &[Stmt], points: &Points, mask: Option<&[bool]>) -> Result<(), Stop> {
        for stmt in body {
            let fault = |it: Outside| outside(self.stencil, &it, &stmt.origin);
            match &stmt.kind {
                StmtKind::Assign { target, value, .. } => {
                    // Locals live where statements run point by point.
                    let Target::Field(field) = target else { continue };
                    assign(self.memory, *field, value, points, mask).map_err(fault)?;
                }
                StmtKind::If { condition, then, otherwise } => {
                    let holds = evaluated(self.memory, condition, points).map_err(fault)?;
                    let holds = holds.into_elements(len(points));
                    let holds = bool::slice(&holds);
                    for (branch, wanted) in [(then, true), (otherwise, false)] {
                        let chosen = both(holds.iter().map(|&it| it == wanted), mask);
                        if !branch.is_empty() && chosen.contains(&true) {
                            self.run(branch, points, Some(&chosen))?;
                        }
                    }
                }
                StmtKind::While { condition, body } => self.repeat(stmt, condition, body, points, mask)?,
                StmtKind::Region { region, body } => {
                    let domain = self.memory.domain;
                    let is_in_j = region.j.contains(points.j, domain.j);
                    let start = region.i.start.map_or(i64::MIN, |it| it.at(domain.i)).max(points.i.start);
                    let end = region.i.end.map_or(i64::MAX, |it| it.at(domain.i)).min(points.i.end);
                    if is_in_j && start < end {
                        let inside = Points { i: start..end, ..*points };
                        let first = usize::try_from(start - points.i.start).unwrap_or(0);
                        let mask = mask.map(|it| &it[first..first + len(&inside)]);
                        self.run(body, &inside, mask)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        stmt: &Stmt,
        condition: &Expr,
        body: &[Stmt],
        points: &Points,
        mask: Option<&[bool]>,
    ) -> Result<(), Stop> {
        let mut active = both(std::iter::repeat_n(true, len(points)), mask);
        let mut iterations = 0;
        loop {
            let holds = evaluated(self.memory, condition, points)
                .map_err(|it| outside(self.stencil, &it, &stmt.origin))?
                .into_elements(len(points));
            active = both(bool::slice(&holds).iter().copied(), Some(&active));
            let Some(first) = active.iter().position(|&it| it) else { return Ok(()) };
            iterations += 1;
            if iterations > MAX_ITERATIONS {
                let i = points.i.start + i64::try_from(first).unwrap_or(0);
                return Err(endless(stmt, [i, points.j, points.k]));
            }
            if iterations % ITERATIONS_PER_QUESTION == 0 && !(self.go_on)() {
                return Err(Stop::Cancelled);
            }
            self.run(body, points, Some(&active))?;
        }
    }
}

fn both(holds: impl Iterator<Item = bool>, mask: Option<&[bool]>) -> Vec<bool> {
    match mask {
        Some(mask) => holds.zip(mask).map(|(it, &mask)| it && mask).collect(),
        None => holds.collect(),
    }
}

/// Evaluates `value` at all points of a row, then stores it where `mask` holds.
fn assign(
    memory: &mut Memory,
    target: Handle<Field>,
    value: &Expr,
    points: &Points,
    mask: Option<&[bool]>,
) -> Result<(), Outside> {
    let lane = evaluated(memory, value, points)?;
    let n = len(points);
    let (elements, first, stride) = memory.row_mut(target, points.i.clone(), points.j, points.k)?;
    let dtype = elements.dtype();
    let values = match lane {
        Lane::One(value) => splat(value.cast(dtype), n),
        Lane::Many(values) if values.dtype() == dtype => values,
        Lane::Many(values) => cast(&values, dtype),
    };
    match mask {
        None => for_elements!(elements, to => scatter(to, first, stride, Lanes::slice(&values))),
        Some(mask) => {
            for_elements!(elements, to => scatter_masked(to, first, stride, Lanes::slice(&values), mask))
        }
    }
    Ok(())
}

fn len(points: &Points) -> usize {
    usize::try_from(points.i.end - points.i.start).unwrap_or(0)
}

fn evaluated(memory: &Memory, expr: &Expr, points: &Points) -> Result<Lane, Outside> {
    let n = len(points);
    let of = |operand: &Expr| evaluated(memory, operand, points);
    Ok(match &expr.kind {
        ExprKind::Literal(value) => Lane::One(*value),
        ExprKind::Access(Access::Field { field, offset }) => {
            let row = memory.row(*field, *offset, points.i.clone(), points.j, points.k)?;
            Lane::Many(gathered(&row, n))
        }
        ExprKind::Access(Access::Scalar(scalar)) => Lane::One(memory.scalars[scalar.index()]),
        // Locals live where statements run point by point, and elements are found there.
        ExprKind::Access(Access::Local(_)) | ExprKind::Element(..) => Lane::One(Value::zero(expr.dtype)),
        ExprKind::Position(crate::space::Axis::I) => {
            Lane::Many(cast(&Elements::Int64(points.i.clone().collect()), expr.dtype))
        }
        ExprKind::Position(crate::space::Axis::J) => Lane::One(Value::Int64(points.j).cast(expr.dtype)),
        ExprKind::Position(crate::space::Axis::K) => Lane::One(Value::Int64(points.k).cast(expr.dtype)),
        ExprKind::Unary(op, operand) => unary(*op, of(operand)?),
        ExprKind::Binary(op, left, right) => binary(*op, of(left)?, &of(right)?, n),
        ExprKind::Ternary { condition, then, otherwise } => {
            let (then, condition) = (of(then)?, of(condition)?);
            ternary(condition, then, of(otherwise)?, n)
        }
        ExprKind::Call(function, arguments) => match arguments.as_slice() {
            [first, second] => call_of_two(*function, of(first)?, &of(second)?, n),
            [first, ..] => call_of_one(*function, of(first)?),
            [] => Lane::One(Value::zero(expr.dtype)),
        },
        ExprKind::Cast(to, operand) => match of(operand)? {
            Lane::One(value) => Lane::One(value.cast(*to)),
            Lane::Many(values) => Lane::Many(cast(&values, *to)),
        },
    })
}

/// An element type with its vector.
trait Lanes: Element {
    fn slice(elements: &Elements) -> &[Self];
    fn wrap(values: Vec<Self>) -> Elements;
}

macro_rules! element_with_vector {
    ($($element:ident $variant:ident),*) => {
        $(impl Lanes for $element {
            fn slice(elements: &Elements) -> &[Self] {
                match elements {
                    Elements::$variant(it) => it,
                    _ => &[],
                }
            }
            fn wrap(values: Vec<Self>) -> Elements {
                Elements::$variant(values)
            }
        })*
    };
}
element_with_vector!(bool Bool, i8 Int8, i16 Int16, i32 Int32, i64 Int64, f32 Float32, f64 Float64);

fn gathered(row: &Row<'_>, n: usize) -> Elements {
    fn gather<E: Lanes>(from: &[E], first: usize, stride: usize, n: usize) -> Elements {
        E::wrap(match stride {
            0 => vec![from[first]; n],
            1 => from[first..first + n].to_vec(),
            _ => from[first..].iter().step_by(stride).take(n).copied().collect(),
        })
    }
    for_elements!(row.elements, from => gather(from, row.first, row.stride, n))
}

fn scatter<E: Lanes>(to: &mut [E], first: usize, stride: usize, values: &[E]) {
    // Without the axis I every point writes the same element, and the last one stays.
    match stride {
        0 => to[first] = values.last().copied().unwrap_or(to[first]),
        1 => to[first..first + values.len()].copy_from_slice(values),
        _ => to[first..].iter_mut().step_by(stride).zip(values).for_each(|(to, value)| *to = *value),
    }
}

fn scatter_masked<E: Lanes>(to: &mut [E], first: usize, stride: usize, values: &[E], mask: &[bool]) {
    for (at, (value, _)) in values.iter().zip(mask).enumerate().filter(|(_, (_, mask))| **mask) {
        to[first + at * stride] = *value;
    }
}

fn splat(value: Value, n: usize) -> Elements {
    fn splat_of<E: Lanes>(value: E, n: usize) -> Elements {
        E::wrap(vec![value; n])
    }
    match value {
        Value::Bool(it) => splat_of(it, n),
        Value::Int8(it) => splat_of(it, n),
        Value::Int16(it) => splat_of(it, n),
        Value::Int32(it) => splat_of(it, n),
        Value::Int64(it) => splat_of(it, n),
        Value::Float32(it) => splat_of(it, n),
        Value::Float64(it) => splat_of(it, n),
    }
}

impl Lane {
    fn into_elements(self, n: usize) -> Elements {
        match self {
            Lane::One(value) => splat(value, n),
            Lane::Many(values) => values,
        }
    }
}

fn cast(values: &Elements, to: DType) -> Elements {
    fn cast_to<E: Lanes>(values: &Elements) -> Elements {
        for_elements!(values, it => E::wrap(it.iter().map(|it| E::from_value(it.to_value())).collect()))
    }
    match to {
        DType::Bool => cast_to::<bool>(values),
        DType::Int8 => cast_to::<i8>(values),
        DType::Int16 => cast_to::<i16>(values),
        DType::Int32 => cast_to::<i32>(values),
        DType::Int64 => cast_to::<i64>(values),
        DType::Float32 => cast_to::<f32>(values),
        DType::Float64 => cast_to::<f64>(values),
    }
}

fn unary(op: UnaryOp, operand: Lane) -> Lane {
    match operand {
        Lane::One(value) => Lane::One(evaluate::unary(op, value)),
        Lane::Many(mut values) => {
            match op {
                UnaryOp::Plus => {}
                UnaryOp::Minus => {
                    for_elements!(&mut values, it => it.iter_mut().for_each(|it| *it = it.negated()))
                }
                UnaryOp::Not => {
                    if let Elements::Bool(it) = &mut values {
                        it.iter_mut().for_each(|it| *it = !*it);
                    }
                }
            }
            Lane::Many(values)
        }
    }
}

fn binary(op: BinaryOp, left: Lane, right: &Lane, n: usize) -> Lane {
    if let (Lane::One(left), Lane::One(right)) = (&left, right) {
        return Lane::One(evaluate::binary(op, *left, *right));
    }
    let left = left.into_elements(n);
    if op == BinaryOp::Pow {
        return Lane::Many(for_elements!(left, it => power(it, right)));
    }
    Lane::Many(for_elements!(left, it => binary_of(op, it, right)))
}

fn binary_of<E: Lanes>(op: BinaryOp, left: Vec<E>, right: &Lane) -> Elements {
    match op {
        BinaryOp::Add => zipped(left, right, E::plus),
        BinaryOp::Sub => zipped(left, right, E::minus),
        BinaryOp::Mul => zipped(left, right, E::times),
        BinaryOp::Div => zipped(left, right, E::divided_by),
        BinaryOp::Mod => zipped(left, right, E::modulo),
        BinaryOp::Pow => zipped(left, right, |a, b| a.power(b.to_value())),
        // Of bools, `min` and `max` are what `and` and `or` are.
        BinaryOp::And => zipped(left, right, E::lesser),
        BinaryOp::Or => zipped(left, right, E::greater),
        BinaryOp::Lt => compared(&left, right, |a, b| a < b),
        BinaryOp::Le => compared(&left, right, |a, b| a <= b),
        BinaryOp::Gt => compared(&left, right, |a, b| a > b),
        BinaryOp::Ge => compared(&left, right, |a, b| a >= b),
        BinaryOp::Eq => compared(&left, right, |a, b| a == b),
        BinaryOp::Ne => compared(&left, right, |a, b| a != b),
    }
}

fn zipped<E: Lanes>(mut left: Vec<E>, right: &Lane, combine: impl Fn(E, E) -> E) -> Elements {
    match right {
        Lane::One(value) => {
            let right = E::from_value(*value);
            left.iter_mut().for_each(|it| *it = combine(*it, right));
        }
        Lane::Many(values) => {
            left.iter_mut().zip(E::slice(values)).for_each(|(it, right)| *it = combine(*it, *right));
        }
    }
    E::wrap(left)
}

fn compared<E: Lanes>(left: &[E], right: &Lane, holds: impl Fn(E, E) -> bool) -> Elements {
    Elements::Bool(match right {
        Lane::One(value) => {
            let right = E::from_value(*value);
            left.iter().map(|it| holds(*it, right)).collect()
        }
        Lane::Many(values) => {
            left.iter().zip(E::slice(values)).map(|(it, right)| holds(*it, *right)).collect()
        }
    })
}

/// The exponent keeps its own type.
fn power<E: Lanes>(mut base: Vec<E>, exponent: &Lane) -> Elements {
    match exponent {
        Lane::One(exponent) => base.iter_mut().for_each(|it| *it = it.power(*exponent)),
        Lane::Many(exponents) => {
            for (at, it) in base.iter_mut().enumerate() {
                *it = it.power(exponents.get(at));
            }
        }
    }
    E::wrap(base)
}

fn call_of_one(function: Function, argument: Lane) -> Lane {
    fn of_many<E: Lanes>(function: Function, mut values: Vec<E>) -> Elements {
        if function.is_predicate() {
            return Elements::Bool(values.iter().map(|it| it.is(function)).collect());
        }
        values.iter_mut().for_each(|it| *it = it.called(function));
        E::wrap(values)
    }
    match argument {
        Lane::One(value) => Lane::One(evaluate::call(function, value, None)),
        Lane::Many(values) => Lane::Many(for_elements!(values, it => of_many(function, it))),
    }
}

fn call_of_two(function: Function, first: Lane, second: &Lane, n: usize) -> Lane {
    fn of_many<E: Lanes>(function: Function, first: Vec<E>, second: &Lane) -> Elements {
        match function {
            Function::Min => zipped(first, second, E::lesser),
            Function::Max => zipped(first, second, E::greater),
            Function::MinC => zipped(first, second, E::lesser_of_c),
            Function::MaxC => zipped(first, second, E::greater_of_c),
            Function::ModC => zipped(first, second, E::modulo_of_c),
            _ => zipped(first, second, E::modulo),
        }
    }
    if let (Lane::One(first), Lane::One(second)) = (&first, second) {
        return Lane::One(evaluate::call(function, *first, Some(*second)));
    }
    Lane::Many(for_elements!(first.into_elements(n), it => of_many(function, it, second)))
}

fn ternary(condition: Lane, then: Lane, otherwise: Lane, n: usize) -> Lane {
    fn of_many<E: Lanes>(condition: &[bool], mut then: Vec<E>, otherwise: &Elements) -> Elements {
        for ((it, otherwise), &condition) in then.iter_mut().zip(E::slice(otherwise)).zip(condition) {
            if !condition {
                *it = *otherwise;
            }
        }
        E::wrap(then)
    }
    match condition {
        Lane::One(condition) => chosen(condition, then, otherwise),
        Lane::Many(condition) => {
            let otherwise = otherwise.into_elements(n);
            let then = then.into_elements(n);
            Lane::Many(for_elements!(then, it => of_many(bool::slice(&condition), it, &otherwise)))
        }
    }
}

fn chosen(condition: Value, then: Lane, otherwise: Lane) -> Lane {
    if condition == Value::Bool(true) { then } else { otherwise }
}
