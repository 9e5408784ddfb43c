//! NPIR to a program: expressions become operations on registers, in the order in which they are evaluated.
//!
//! Values that depend on literals and scalars alone are computed once, at the start of a run.

use std::collections::BTreeMap;

use super::lanes::{self, Compute, Operands, Reg};
use super::program::{Block, Datum, LevelIndex, Pass, Program, Step, TileElements, While};
use crate::diag::Origin;
use crate::entity::{Handle, SideTable};
use crate::expr::{ExprKind, Vertical};
use crate::npir::nodes::{self as npir, Access, Expr, Field, Index, Local, Stencil, Stmt, StmtKind, Target};
use crate::space::Offset;
use crate::types::math::builtins::Meaning;
use crate::types::{BinaryOp, DType, Value};

/// The program of a stencil that is called with these scalars.
pub(super) fn compile<'a>(stencil: &'a Stencil, scalars: &'a [Value]) -> Program<'a> {
    let mut compiler = Compiler {
        scalars,
        counts: [0; DType::ALL.len()],
        free: Default::default(),
        constants: BTreeMap::new(),
        prologue: Vec::new(),
        locals: SideTable::default(),
        within: SideTable::default(),
        steps: Vec::new(),
        mask: None,
    };
    let passes = stencil.passes.iter().map(|pass| Pass {
        order: pass.order,
        interval: pass.interval,
        blocks: pass.blocks.iter().map(|it| compiler.block(stencil, it)).collect(),
    });
    let passes = passes.collect();
    let constants =
        compiler.constants.iter().map(|(&(dtype, _), &(at, value))| (Reg { dtype, at }, value)).collect();
    Program { counts: compiler.counts, constants, prologue: compiler.prologue, passes }
}

struct Compiler<'a> {
    scalars: &'a [Value],
    /// Registers of each type, and those of them that hold nothing.
    counts: [usize; DType::ALL.len()],
    free: [Vec<usize>; DType::ALL.len()],
    /// By type and bits.
    constants: BTreeMap<(DType, u64), (usize, Value)>,
    prologue: Vec<Step<'a>>,
    locals: SideTable<Local, Reg>,
    /// The mask that each mask is made within.
    within: SideTable<Local, Option<Handle<Local>>>,
    /// The steps compiled so far, for the current block or mask.
    steps: Vec<Step<'a>>,
    /// That of the statement at hand.
    mask: Option<usize>,
}

/// A register that holds a value.
#[derive(Clone, Copy)]
struct ValueRegister {
    reg: Reg,
    lasts: RegisterLifetime,
}

/// How long a register holds its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RegisterLifetime {
    /// All the time.
    Run,
    /// As long as the block.
    Block,
    /// Until it is read.
    Read,
}

impl<'a> Compiler<'a> {
    fn block(&mut self, stencil: &'a Stencil, block: &'a npir::Block) -> Block<'a> {
        let mut locals = Vec::new();
        let (mut regions, mut may_trap) = (Vec::new(), false);
        let within = &mut self.within;
        let mut look = |stmt: &'a Stmt| {
            let assigned = match &stmt.kind {
                StmtKind::Assign { target: Target::Local(local), .. } => Some(*local),
                _ => stmt.made_mask(),
            };
            locals.extend(assigned);
            if let Some(mask) = stmt.made_mask() {
                within.insert(mask, stmt.limiting_mask());
            }
            if let StmtKind::Region { region, .. } = stmt.kind {
                regions.push(region);
            }
            may_trap |= matches!(stmt.kind, StmtKind::While { .. });
            stmt.reads(&mut |_, index| may_trap |= index.is_some());
            may_trap |= matches!(&stmt.kind, StmtKind::Assign { index, .. } if !index.is_here());
        };
        block.body.iter().for_each(|it| it.walk(&mut look));
        locals.sort_unstable();
        locals.dedup();
        for &local in &locals {
            let reg = self.allocate(stencil.locals[local].dtype);
            self.locals.insert(local, reg);
        }
        self.body(&block.body, None);
        let steps = std::mem::take(&mut self.steps);
        for local in locals {
            self.release(self.locals[local]);
        }
        Block { extent: block.extent, kept: block.kept.clone(), regions, may_trap, steps }
    }

    /// Compiles statements in order, where the mask `around` is known to be true somewhere. Consecutive
    /// statements under one mask, or under masks within it, are grouped, so that the mask is tested once.
    fn body(&mut self, body: &'a [Stmt], around: Option<Handle<Local>>) {
        let group = |stmt: &Stmt, masks: &SideTable<Local, Option<Handle<Local>>>| {
            let mut mask = stmt.limiting_mask().filter(|&it| Some(it) != around)?;
            loop {
                match masks.get(mask).copied().flatten() {
                    Some(outer) if Some(outer) != around => mask = outer,
                    _ => return Some(mask),
                }
            }
        };
        let mut rest = body;
        while let [first, ..] = rest {
            let mask = group(first, &self.within);
            let n = rest.iter().take_while(|it| group(it, &self.within) == mask).count();
            let (together, others) = rest.split_at(n);
            rest = others;
            match mask {
                None => together.iter().for_each(|it| self.stmt(it)),
                Some(mask) => {
                    let before = std::mem::take(&mut self.steps);
                    self.body(together, Some(mask));
                    let steps = std::mem::replace(&mut self.steps, before);
                    self.steps.push(Step::Where { mask: self.locals[mask].at, steps });
                }
            }
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        let origin = &stmt.origin;
        self.mask = stmt.limiting_mask().map(|it| self.locals[it].at);
        match &stmt.kind {
            StmtKind::Assign { target, index, value, .. } => {
                let value = self.expr(value, origin);
                match *target {
                    Target::Field(field) => {
                        let (spot, held) = self.spot(field, false, Offset::CENTRE, Some(index), origin);
                        let mask = self.mask;
                        self.steps.push(Step::Store { from: value.reg, spot, mask, origin });
                        held.into_iter().for_each(|it| self.done(it));
                    }
                    Target::Local(local) => {
                        let (to, dtype) = (self.locals[local].at, value.reg.dtype);
                        let (run, from) = match self.mask {
                            None => (lanes::copy(dtype), [value.reg.at, 0, 0]),
                            Some(mask) => (lanes::blend(dtype), [value.reg.at, mask, 0]),
                        };
                        self.steps.push(Step::Compute { run, at: Operands { to, from } });
                    }
                }
                self.done(value);
            }
            StmtKind::Mask { mask, condition, .. } => {
                let holds = self.expr(condition, origin);
                let (run, from) = match self.mask {
                    None => (lanes::copy(DType::Bool), [holds.reg.at, 0, 0]),
                    Some(within) => (lanes::binary(BinaryOp::And, DType::Bool), [holds.reg.at, within, 0]),
                };
                self.steps.push(Step::Compute { run, at: Operands { to: self.locals[*mask].at, from } });
                self.done(holds);
            }
            StmtKind::Rest { mask, of, .. } => {
                let within = match self.mask {
                    Some(within) => within,
                    None => self.constant(Value::Bool(true)).reg.at,
                };
                let at = Operands { to: self.locals[*mask].at, from: [within, self.locals[*of].at, 0] };
                self.steps.push(Step::Compute { run: lanes::without(), at });
            }
            StmtKind::While { active: mask, condition, body, .. } => {
                let (within, active) = (self.mask, self.locals[*mask].at);
                let around = std::mem::take(&mut self.steps);
                self.mask = Some(active);
                let holds = self.expr(condition, origin);
                let condition = std::mem::take(&mut self.steps);
                self.done(holds);
                self.body(body, Some(*mask));
                let body = std::mem::replace(&mut self.steps, around);
                let holds = holds.reg.at;
                self.steps.push(Step::While(Box::new(While {
                    active,
                    within,
                    condition,
                    holds,
                    body,
                    origin,
                })));
            }
            StmtKind::Region { region, body } => {
                let around = std::mem::take(&mut self.steps);
                self.body(body, None);
                let steps = std::mem::replace(&mut self.steps, around);
                self.steps.push(Step::Region { region: *region, steps });
            }
        }
    }

    fn expr(&mut self, expr: &'a Expr, origin: &'a Origin) -> ValueRegister {
        let dtype = expr.dtype;
        match &expr.kind {
            ExprKind::Literal(value) => self.constant(*value),
            ExprKind::Access(Access::Scalar(scalar)) | ExprKind::Element(Access::Scalar(scalar), _) => {
                self.constant(self.scalars[scalar.index()])
            }
            ExprKind::Access(Access::Local(local)) | ExprKind::Element(Access::Local(local), _) => {
                ValueRegister { reg: self.locals[*local], lasts: RegisterLifetime::Block }
            }
            ExprKind::Access(access) => self.load(*access, None, dtype, origin),
            ExprKind::Element(access, index) => self.load(*access, Some(index), dtype, origin),
            ExprKind::Position(axis) => {
                let to = self.allocate(DType::Int64);
                self.steps.push(Step::Position { to: to.at, axis: axis.index() });
                self.converted(ValueRegister { reg: to, lasts: RegisterLifetime::Read }, dtype)
            }
            ExprKind::Unary(op, operand) => {
                let operand = self.expr(operand, origin);
                self.compute(lanes::unary(*op, operand.reg.dtype), dtype, &[operand])
            }
            ExprKind::Binary(op, left, right) => {
                let (left, mut right) = (self.expr(left, origin), self.expr(right, origin));
                if *op == BinaryOp::Pow {
                    right = self.converted(right, lanes::exponent_type(left.reg.dtype));
                    if let (RegisterLifetime::Run, Some(run)) =
                        (right.lasts, lanes::power_by_constant(left.reg.dtype))
                    {
                        return self.compute(run, dtype, &[left, right]);
                    }
                }
                self.compute(lanes::binary(*op, left.reg.dtype), dtype, &[left, right])
            }
            ExprKind::Ternary { condition, then, otherwise } => {
                let (then, condition) = (self.expr(then, origin), self.expr(condition, origin));
                let otherwise = self.expr(otherwise, origin);
                self.compute(lanes::select(dtype), dtype, &[condition, then, otherwise])
            }
            ExprKind::Call(function, arguments) => {
                let arguments: Vec<ValueRegister> =
                    arguments.iter().map(|it| self.expr(it, origin)).collect();
                let Some(taken) = arguments.first().map(|it| it.reg.dtype) else {
                    return self.constant(Value::zero(dtype));
                };
                match function.row().meaning {
                    Meaning::Primitive(op) => self.compute(lanes::primitive(op, taken), dtype, &arguments),
                    Meaning::Formula(formula) => {
                        let step = |at| Step::Formula { formula, dtype: taken, at };
                        self.result(dtype, &arguments, step)
                    }
                }
            }
            ExprKind::Cast(to, operand) => {
                let operand = self.expr(operand, origin);
                self.converted(operand, *to)
            }
        }
    }

    fn load(
        &mut self,
        access: Access,
        index: Option<&'a Index>,
        dtype: DType,
        origin: &'a Origin,
    ) -> ValueRegister {
        let (field, is_kept, offset) = match access {
            Access::Field { field, offset } => (field, false, offset),
            Access::Kept { field, offset } => (field, true, offset),
            Access::Scalar(_) | Access::Local(_) => return self.constant(Value::zero(dtype)),
        };
        let (spot, held) = self.spot(field, is_kept, offset, index, origin);
        let to = self.allocate(dtype);
        self.steps.push(Step::Load { to, spot, mask: self.mask, origin });
        held.into_iter().for_each(|it| self.done(it));
        ValueRegister { reg: to, lasts: RegisterLifetime::Read }
    }

    /// The place of elements, and the registers that tell it.
    fn spot(
        &mut self,
        field: Handle<Field>,
        is_kept: bool,
        mut offset: Offset,
        index: Option<&'a Index>,
        origin: &'a Origin,
    ) -> (TileElements, Vec<ValueRegister>) {
        let mut held = Vec::new();
        let mut found = |it: &'a Expr| {
            let value = self.expr(it, origin);
            let value = self.converted(value, DType::Int64);
            held.push(value);
            value.reg.at
        };
        let level = match index.map(|it| &it.vertical) {
            None => LevelIndex::Offset,
            Some(Vertical::Offset(by)) => {
                offset.k = *by;
                LevelIndex::Offset
            }
            Some(Vertical::Above(by)) => LevelIndex::Above(found(by)),
            Some(Vertical::At(level)) => LevelIndex::At(found(level)),
        };
        let data = index.iter().flat_map(|it| &it.data).map(|it| match it.kind {
            ExprKind::Literal(at) => Datum::Literal(at.as_i64()),
            _ => Datum::Found(found(it)),
        });
        let data = data.collect();
        (TileElements { field, is_kept, offset, level, data }, held)
    }

    fn converted(&mut self, value: ValueRegister, to: DType) -> ValueRegister {
        if value.reg.dtype == to {
            return value;
        }
        self.compute(lanes::cast(value.reg.dtype, to), to, &[value])
    }

    fn compute(&mut self, run: Compute, dtype: DType, operands: &[ValueRegister]) -> ValueRegister {
        self.result(dtype, operands, |at| Step::Compute { run, at })
    }

    /// The result of an operation. Where nothing changes its operands, it is computed once.
    fn result(
        &mut self,
        dtype: DType,
        operands: &[ValueRegister],
        step: impl FnOnce(Operands) -> Step<'a>,
    ) -> ValueRegister {
        let mut from = [0; 3];
        for (at, operand) in from.iter_mut().zip(operands) {
            *at = operand.reg.at;
        }
        let is_constant = operands.iter().all(|it| it.lasts == RegisterLifetime::Run);
        // One that lasts is a new one: at the time of the prologue, those that are free by now hold other constants.
        let reg = if is_constant { self.new_register(dtype) } else { self.allocate(dtype) };
        let step = step(Operands { to: reg.at, from });
        if is_constant {
            self.prologue.push(step);
            return ValueRegister { reg, lasts: RegisterLifetime::Run };
        }
        self.steps.push(step);
        operands.iter().for_each(|it| self.done(*it));
        ValueRegister { reg, lasts: RegisterLifetime::Read }
    }

    fn constant(&mut self, value: Value) -> ValueRegister {
        let dtype = value.dtype();
        let known = self.constants.get(&(dtype, value.bits())).map(|it| it.0);
        let at = known.unwrap_or_else(|| {
            let at = self.new_register(dtype).at;
            self.constants.insert((dtype, value.bits()), (at, value));
            at
        });
        ValueRegister { reg: Reg { dtype, at }, lasts: RegisterLifetime::Run }
    }

    fn allocate(&mut self, dtype: DType) -> Reg {
        match self.free[dtype as usize].pop() {
            Some(at) => Reg { dtype, at },
            None => self.new_register(dtype),
        }
    }

    fn new_register(&mut self, dtype: DType) -> Reg {
        let count = &mut self.counts[dtype as usize];
        *count += 1;
        Reg { dtype, at: *count - 1 }
    }

    fn done(&mut self, value: ValueRegister) {
        if value.lasts == RegisterLifetime::Read {
            self.release(value.reg);
        }
    }

    fn release(&mut self, reg: Reg) {
        self.free[reg.dtype as usize].push(reg.at);
    }
}
