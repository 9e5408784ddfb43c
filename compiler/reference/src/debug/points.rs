//! Statements at one point, in sequence, with ordinary scalar semantics.

use super::store::{DebugMemory, MissingElement};
use super::{ITERATIONS_PER_QUESTION, MAX_ITERATIONS, Stop};
use crate::call::layout::RelativeElement;
use crate::diag::Origin;
use crate::expr::{ExprKind, Index, Vertical, evaluate};
use crate::oir::nodes::{Access, Expr, Stencil, Stmt, StmtKind, Target};
use crate::space::Offset;
use crate::types::{DType, Value};

/// One point of an execution.
pub(super) struct Point<'a> {
    pub(super) stencil: &'a Stencil,
    pub(super) memory: &'a mut DebugMemory,
    pub(super) cell: [i64; 3],
    /// By handle; they live at this point only.
    pub(super) locals: &'a mut [Value],
}

impl Point<'_> {
    /// Runs the statements of a body. `go_on` is asked in long loops.
    pub(super) fn run(&mut self, body: &[Stmt], go_on: &mut dyn FnMut() -> bool) -> Result<(), Stop> {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Assign { target, index, value, .. } => {
                    let value = self.checked(value, &stmt.origin)?;
                    match target {
                        Target::Field(field) => self
                            .place(Offset::CENTRE, index)
                            .and_then(|place| self.memory.write(*field, &place, self.cell, value))
                            .map_err(|it| self.outside(&it, &stmt.origin))?,
                        Target::Local(local) => self.locals[local.index()] = value,
                    }
                }
                StmtKind::If { condition, then, otherwise } => {
                    let is_true = self.condition(condition, &stmt.origin)?;
                    self.run(if is_true { then } else { otherwise }, go_on)?;
                }
                StmtKind::While { condition, body } => {
                    let mut iterations = 0;
                    while self.condition(condition, &stmt.origin)? {
                        iterations += 1;
                        if iterations > MAX_ITERATIONS {
                            return Err(Stop::endless(&stmt.origin, self.cell));
                        }
                        if iterations % ITERATIONS_PER_QUESTION == 0 && !go_on() {
                            return Err(Stop::Cancelled);
                        }
                        self.run(body, go_on)?;
                    }
                }
                StmtKind::Region { region, body } => {
                    let [i, j, _] = self.cell;
                    let domain = self.memory.domain;
                    if region.i.contains(i, domain.i) && region.j.contains(j, domain.j) {
                        self.run(body, go_on)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn condition(&self, condition: &Expr, origin: &Origin) -> Result<bool, Stop> {
        Ok(self.checked(condition, origin)? == Value::Bool(true))
    }

    fn checked(&self, expr: &Expr, origin: &Origin) -> Result<Value, Stop> {
        self.value(expr).map_err(|it| self.outside(&it, origin))
    }

    fn outside(&self, fault: &MissingElement, origin: &Origin) -> Stop {
        Stop::outside(&self.stencil.fields[fault.field].name, &fault.place, origin, fault.cell)
    }

    /// The element that an index picks, beside the point by `offset`.
    fn place(&self, offset: Offset, index: &Index<Access>) -> Result<RelativeElement, MissingElement> {
        let integer = |expr: &Expr| Ok(self.value(expr)?.as_i64());
        let mut place = RelativeElement::from(offset);
        match &index.vertical {
            Vertical::Offset(by) => place.offset.k = *by,
            Vertical::Above(by) => place.level = Some(self.cell[2].saturating_add(integer(by)?)),
            Vertical::At(level) => place.level = Some(integer(level)?),
        }
        place.data = index.data.iter().map(integer).collect::<Result<_, _>>()?;
        Ok(place)
    }

    /// The value of an expression. Both arms of a ternary are evaluated, and both sides of `and` and `or`.
    fn value(&self, expr: &Expr) -> Result<Value, MissingElement> {
        Ok(match &expr.kind {
            ExprKind::Literal(value) => *value,
            ExprKind::Access(Access::Field { field, offset }) => {
                self.memory.read(*field, &RelativeElement::from(*offset), self.cell)?
            }
            ExprKind::Element(Access::Field { field, offset }, index) => {
                self.memory.read(*field, &self.place(*offset, index)?, self.cell)?
            }
            ExprKind::Access(Access::Scalar(scalar)) | ExprKind::Element(Access::Scalar(scalar), _) => {
                self.memory.scalars[scalar.index()]
            }
            ExprKind::Access(Access::Local(local)) | ExprKind::Element(Access::Local(local), _) => {
                self.locals[local.index()]
            }
            ExprKind::Position(axis) => Value::Int64(self.cell[axis.index()]).cast(expr.dtype),
            ExprKind::Unary(op, operand) => evaluate::unary(*op, self.value(operand)?),
            ExprKind::Binary(op, left, right) => evaluate::binary(*op, self.value(left)?, self.value(right)?),
            ExprKind::Ternary { condition, then, otherwise } => {
                let (then, condition) = (self.value(then)?, self.value(condition)?);
                evaluate::ternary(condition, then, self.value(otherwise)?)
            }
            ExprKind::Call(function, arguments) => {
                let mut values = [None; 2];
                for (value, argument) in values.iter_mut().zip(arguments) {
                    *value = Some(self.value(argument)?);
                }
                let [first, second] = values;
                evaluate::call(*function, first.unwrap_or(Value::zero(DType::Float64)), second)
            }
            ExprKind::Cast(to, operand) => self.value(operand)?.cast(*to),
        })
    }
}
