//! Expressions as operations on vectors, with the meaning that [`super::super::expression`] gives them.

use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::types::{I32, I64};
use isobar_compiler::expr::{Expr, ExprKind};
use isobar_compiler::loops::nodes::Read;
use isobar_compiler::space::Affine;
use isobar_compiler::types::math::POWER;
use isobar_compiler::types::math::builtins::Meaning;
use isobar_compiler::types::math::record::{self, Definition};
use isobar_compiler::types::{
    BinaryOp, BinaryPrimitive, DType, Function, Predicate, Primitive, UnaryOp, UnaryPrimitive,
    Value as Number,
};

use super::super::lanes::Operand;
use super::lower::{Lowering, PointerTarget, kind_of};
use super::nodes::{Binary, ElementAddress, Id, LaneKind, Op, Pointer, Relation, Unary};

// Each function answers none where vectors have no instruction. They have none for integer division,
// remainders, rounding away from zero, integers of 8 and 16 bits, and positions as values of lanes.
impl Lowering<'_, '_, '_> {
    /// Whether a sum differs from iteration to iteration.
    pub(super) fn depends(&self, sum: &Affine) -> bool {
        sum.factor(&self.symbol) != 0
    }

    /// Whether an expression is the same in all iterations, and reads no memory that may not exist.
    ///
    /// Its value is computed before the loop, also if no iteration would come to it. So it may read
    /// scalars, and no elements.
    pub(super) fn is_same(&self, expr: &Expr<Read>) -> bool {
        let mut is_same = true;
        expr.accesses(&mut |read| {
            is_same &= match read {
                Read::Local(local) => !self.own_locals.contains(local),
                Read::Sum(sum) => !self.depends(sum),
                Read::Element(element) => {
                    self.around.shared.program.arrays[element.array].is_scalar_argument()
                        && !self.written.contains(&element.array)
                }
            };
        });
        is_same
    }

    /// An expression that is the same in all iterations: a constant, or a word that the function around
    /// computes. An equal expression shares the word.
    pub(super) fn same(&mut self, expr: &Expr<Read>) -> Option<Id> {
        let kind = kind_of(expr.dtype)?;
        if let ExprKind::Literal(value) = &expr.kind {
            return self.constant(*value);
        }
        if let Some((_, at)) = self.same.iter().find(|(it, _)| it == expr) {
            return Some(self.make(Op::Word(*at), kind));
        }
        let around = self.around.lane_symbol.take();
        let Operand::Same(value) = self.around.expr(expr) else {
            unreachable!("nothing of it differs from lane to lane")
        };
        self.around.lane_symbol = around;
        let value = match expr.dtype {
            DType::Bool => self.around.emit.builder.ins().bmask(I64, value),
            DType::Int32 => {
                debug_assert_eq!(self.around.emit.builder.func.dfg.value_type(value), I32);
                value
            }
            _ => value,
        };
        let at = self.word(value);
        self.same.push((expr.clone(), at));
        Some(self.make(Op::Word(at), kind))
    }

    /// The value of an expression for each lane. Parts that are the same for all lanes are found at each
    /// level: in `a[i] * (x + y)`, the sum is one word.
    pub(super) fn expr(&mut self, expr: &Expr<Read>) -> Option<Id> {
        if self.is_same(expr) {
            return self.same(expr);
        }
        let kind = kind_of(expr.dtype)?;
        match &expr.kind {
            ExprKind::Access(read) | ExprKind::Element(read, _) => match read {
                Read::Local(local) => self.local(*local),
                Read::Element(element) => self.load(element, expr.dtype),
                Read::Sum(_) => None,
            },
            ExprKind::Unary(op, operand) => {
                let value = self.expr(operand)?;
                match op {
                    UnaryOp::Plus => Some(value),
                    UnaryOp::Not => Some(self.not(value)),
                    UnaryOp::Minus if kind.is_float() => Some(self.negative(kind, value)),
                    UnaryOp::Minus => {
                        let zero = self.constant(Number::zero(expr.dtype))?;
                        Some(self.binary(Binary::Sub, kind, zero, value))
                    }
                }
            }
            ExprKind::Binary(..) if let Some(base) = expr.squared() => {
                let base = self.expr(base)?;
                Some(self.binary(Binary::Mul, kind, base, base))
            }
            ExprKind::Binary(op, left, right) => self.operation(*op, left, right),
            ExprKind::Ternary { condition, then, otherwise } => {
                let condition = self.expr(condition)?;
                let (then, otherwise) = (self.expr(then)?, self.expr(otherwise)?);
                Some(self.select(kind, condition, then, otherwise))
            }
            ExprKind::Call(function, arguments) => self.call(*function, arguments),
            ExprKind::Cast(to, operand) => {
                let value = self.expr(operand)?;
                self.cast(operand.dtype, *to, value)
            }
            ExprKind::Literal(_) | ExprKind::Position(_) => None,
        }
    }

    /// A float with its sign bit changed, also of zeros and NaN.
    pub(super) fn negative(&mut self, kind: LaneKind, value: Id) -> Id {
        let sign = if kind == LaneKind::F64 { 1 << 63 } else { 1 << 31 };
        let sign = self.make(Op::Constant(sign), kind);
        self.binary(Binary::Xor, kind, value, sign)
    }

    /// A float without its sign bit.
    pub(super) fn magnitude(&mut self, kind: LaneKind, value: Id) -> Id {
        let rest = if kind == LaneKind::F64 { u64::MAX >> 1 } else { u64::from(u32::MAX >> 1) };
        let rest = self.make(Op::Constant(rest), kind);
        self.binary(Binary::And, kind, value, rest)
    }

    /// An operator, fused as `expression::binary` fuses: both must choose the same products, since which
    /// code runs is the processor's choice and not the stencil's.
    pub(super) fn operation(&mut self, op: BinaryOp, left: &Expr<Read>, right: &Expr<Read>) -> Option<Id> {
        let dtype = left.dtype;
        let kind = kind_of(dtype)?;
        if self.around.fuses() && kind.is_float() && matches!(op, BinaryOp::Add | BinaryOp::Sub) {
            if let ExprKind::Binary(BinaryOp::Mul, one, other) = &left.kind {
                let (a, b, c) = (self.expr(one)?, self.expr(other)?, self.expr(right)?);
                return Some(self.make(Op::Fused { a, b, c, subtracts: op == BinaryOp::Sub }, kind));
            }
            if let ExprKind::Binary(BinaryOp::Mul, one, other) = &right.kind {
                let (c, mut a, b) = (self.expr(left)?, self.expr(one)?, self.expr(other)?);
                if op == BinaryOp::Sub {
                    a = self.negative(kind, a);
                }
                return Some(self.make(Op::Fused { a, b, c, subtracts: false }, kind));
            }
        }
        let is_float = dtype.is_float();
        match op {
            BinaryOp::Div | BinaryOp::Mod if !is_float => return None,
            BinaryOp::Mod => return None,
            BinaryOp::Pow => {
                let definition = POWER.definition(dtype)?;
                let a = self.expr(left)?;
                let b = self.expr(right)?;
                let b = self.cast(right.dtype, dtype, b)?;
                return self.formula(definition, &[a, b]);
            }
            _ => {}
        }
        let (a, b) = (self.expr(left)?, self.expr(right)?);
        let arithmetic = |op| Op::Binary(op, a, b);
        Some(match op {
            BinaryOp::Add => self.make(arithmetic(Binary::Add), kind),
            BinaryOp::Sub => self.make(arithmetic(Binary::Sub), kind),
            BinaryOp::Mul => self.make(arithmetic(Binary::Mul), kind),
            BinaryOp::Div => self.make(arithmetic(Binary::Div), kind),
            BinaryOp::And => self.make(arithmetic(Binary::And), LaneKind::Mask),
            BinaryOp::Or => self.make(arithmetic(Binary::Or), LaneKind::Mask),
            BinaryOp::Ne if dtype == DType::Bool => self.make(arithmetic(Binary::Xor), LaneKind::Mask),
            BinaryOp::Eq if dtype == DType::Bool => {
                let differ = self.make(arithmetic(Binary::Xor), LaneKind::Mask);
                self.not(differ)
            }
            _ if dtype == DType::Bool => return None,
            BinaryOp::Eq => self.compare(Relation::Equal, kind, a, b),
            BinaryOp::Ne => self.compare(Relation::NotEqual, kind, a, b),
            BinaryOp::Lt => self.compare(Relation::Less, kind, a, b),
            BinaryOp::Le => self.compare(Relation::LessOrEqual, kind, a, b),
            BinaryOp::Gt => self.compare(Relation::Less, kind, b, a),
            BinaryOp::Ge => self.compare(Relation::LessOrEqual, kind, b, a),
            BinaryOp::Mod | BinaryOp::Pow => return None,
        })
    }

    pub(super) fn call(&mut self, function: Function, arguments: &[Expr<Read>]) -> Option<Id> {
        let dtype = arguments.first()?.dtype;
        let kind = kind_of(dtype)?;
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.expr(argument)?);
        }
        let a = values[0];
        // A function of two arguments has them; one that was given one takes it for both.
        let b = values.get(1).copied().unwrap_or(a);
        match function.row().meaning {
            Meaning::Formula(formula) => self.formula(formula.definition(dtype)?, &values),
            Meaning::Primitive(_) if kind == LaneKind::Mask => None,
            Meaning::Primitive(Primitive::Unary(op)) => self.unary_primitive(op, kind, a),
            Meaning::Primitive(Primitive::Binary(op)) => self.binary_primitive(op, kind, a, b),
            Meaning::Primitive(Primitive::Predicate(question)) => self.predicate(question, dtype, kind, a),
        }
    }

    fn unary_primitive(&mut self, op: UnaryPrimitive, kind: LaneKind, a: Id) -> Option<Id> {
        Some(match op {
            UnaryPrimitive::Magnitude if !kind.is_float() => self.unary(Unary::Abs, kind, a),
            // Rounding leaves an integer what it is.
            _ if !kind.is_float() => a,
            UnaryPrimitive::Magnitude => self.magnitude(kind, a),
            UnaryPrimitive::SquareRoot => self.unary(Unary::Sqrt, kind, a),
            UnaryPrimitive::Floor => self.unary(Unary::Floor, kind, a),
            UnaryPrimitive::Ceiling => self.unary(Unary::Ceil, kind, a),
            UnaryPrimitive::Truncation => self.unary(Unary::Trunc, kind, a),
            UnaryPrimitive::Nearest => self.unary(Unary::Nearest, kind, a),
            UnaryPrimitive::NearestAway => return None,
        })
    }

    /// Operands of floats stand the other way round, so that of equals, or beside NaN, the instruction
    /// gives `a`, its second one. Where that is not what is asked, a NaN in `b` is chosen afterwards.
    fn binary_primitive(&mut self, op: BinaryPrimitive, kind: LaneKind, a: Id, b: Id) -> Option<Id> {
        let or_nan = |this: &mut Self, one: Id| {
            let is_nan = this.compare(Relation::Unordered, kind, b, b);
            this.select(kind, is_nan, b, one)
        };
        let is_float = kind.is_float();
        Some(match op {
            BinaryPrimitive::Minimum if is_float => {
                let one = self.binary(Binary::Min, kind, b, a);
                or_nan(self, one)
            }
            BinaryPrimitive::Maximum if is_float => {
                let one = self.binary(Binary::Max, kind, b, a);
                or_nan(self, one)
            }
            BinaryPrimitive::Lesser if is_float => self.binary(Binary::Min, kind, b, a),
            BinaryPrimitive::Greater if is_float => self.binary(Binary::Max, kind, b, a),
            BinaryPrimitive::Minimum | BinaryPrimitive::Lesser => self.binary(Binary::Min, kind, a, b),
            BinaryPrimitive::Maximum | BinaryPrimitive::Greater => self.binary(Binary::Max, kind, a, b),
            BinaryPrimitive::FlooredRemainder | BinaryPrimitive::TruncatedRemainder => return None,
        })
    }

    /// A question about a float. Of integers the answer is known, and the other code has it.
    fn predicate(&mut self, question: Predicate, dtype: DType, kind: LaneKind, a: Id) -> Option<Id> {
        if !kind.is_float() {
            return None;
        }
        let relation = match question {
            Predicate::Nan => return Some(self.compare(Relation::Unordered, kind, a, a)),
            Predicate::Infinite => Relation::Equal,
            Predicate::Finite => Relation::Less,
        };
        let size = self.magnitude(kind, a);
        let infinity = self.constant(Number::Float64(f64::INFINITY).cast(dtype))?;
        Some(self.compare(relation, kind, size, infinity))
    }

    /// The value converted as an assignment converts it.
    pub(super) fn cast(&mut self, from: DType, to: DType, value: Id) -> Option<Id> {
        if from == to {
            return Some(value);
        }
        let (of, kind) = (kind_of(from)?, kind_of(to)?);
        if to == DType::Bool {
            let zero = self.constant(Number::zero(from))?;
            return Some(self.compare(Relation::NotEqual, of, value, zero));
        }
        if from == DType::Bool {
            let (one, zero) = (self.constant(Number::Int64(1).cast(to))?, self.constant(Number::zero(to))?);
            return Some(self.select(kind, value, one, zero));
        }
        if from.is_float() && !to.is_float() {
            let whole = self.whole(from, value)?;
            return Some(if kind == LaneKind::I64 {
                whole
            } else {
                self.make(Op::Convert(LaneKind::I64, whole), kind)
            });
        }
        Some(self.make(Op::Convert(of, value), kind))
    }

    /// Rounds toward zero. NaN becomes 0, and a value that does not fit becomes the nearest integer that
    /// does.
    ///
    /// The processor gives the least integer for all values that do not fit. So two cases are mended: values
    /// that are too large, and NaN. Lanes of 32 bits are left out, since the conversion goes through 64.
    pub(super) fn whole(&mut self, from: DType, value: Id) -> Option<Id> {
        if self.body.lane_bytes() < 8 {
            return None;
        }
        let of = kind_of(from)?;
        // Values that are too small become the least integer by themselves, as do all others that do not fit.
        let whole = self.make(Op::Convert(of, value), LaneKind::I64);
        let bound = self.constant(Number::Float64(-(i64::MIN as f64)).cast(from))?;
        let is_large = self.compare(Relation::LessOrEqual, of, bound, value);
        let largest = self.constant(Number::Int64(i64::MAX))?;
        let whole = self.select(LaneKind::I64, is_large, largest, whole);
        let is_nan = self.compare(Relation::Unordered, of, value, value);
        let zero = self.constant(Number::Int64(0))?;
        Some(self.select(LaneKind::I64, is_nan, zero, whole))
    }

    /// The value of an elementary function, whose arguments have its type.
    ///
    /// Steps are those of `formula::steps`, with the same bits. All processors with these vectors multiply
    /// and add in one operation, so the error of a product is one step. Words and doubles share registers,
    /// so to take the bits of a number is no step at all.
    pub(super) fn formula(&mut self, definition: &'static Definition, arguments: &[Id]) -> Option<Id> {
        use record::Op as Formula;
        self.cut();
        let is_single = definition.dtype == DType::Float32;
        let mut params = Vec::with_capacity(arguments.len());
        for &argument in arguments {
            params.push(if is_single {
                self.make(Op::Convert(LaneKind::F32, argument), LaneKind::F64)
            } else {
                argument
            });
        }
        let mut values: Vec<Id> = Vec::with_capacity(definition.steps.len());
        for (_, step) in definition.steps.iter() {
            let at = |it: record::Value| values[it.index()];
            let double = LaneKind::F64;
            let value = match step.op {
                Formula::Param(n) | Formula::SingleParam(n) => params[n],
                Formula::Constant(it) => self.make(Op::Constant(it.to_bits()), double),
                Formula::BitsConstant(it) => self.make(Op::Constant(it), LaneKind::I64),
                Formula::Neg(a) => {
                    let a = at(a);
                    self.negative(double, a)
                }
                Formula::Abs(a) => {
                    let a = at(a);
                    self.magnitude(double, a)
                }
                Formula::Sqrt(a) => self.make(Op::Unary(Unary::Sqrt, at(a)), double),
                Formula::Floor(a) => self.make(Op::Unary(Unary::Floor, at(a)), double),
                Formula::Nearest(a) => self.make(Op::Unary(Unary::Nearest, at(a)), double),
                Formula::Add(a, b) => self.make(Op::Binary(Binary::Add, at(a), at(b)), double),
                Formula::Sub(a, b) => self.make(Op::Binary(Binary::Sub, at(a), at(b)), double),
                Formula::Mul(a, b) => self.make(Op::Binary(Binary::Mul, at(a), at(b)), double),
                Formula::Div(a, b) => self.make(Op::Binary(Binary::Div, at(a), at(b)), double),
                Formula::ProductError(a, b, c) => {
                    self.make(Op::Fused { a: at(a), b: at(b), c: at(c), subtracts: true }, double)
                }
                Formula::Less(a, b) => {
                    self.make(Op::Compare(Relation::Less, double, at(a), at(b)), LaneKind::Mask)
                }
                Formula::Equal(a, b) => {
                    self.make(Op::Compare(Relation::Equal, double, at(a), at(b)), LaneKind::Mask)
                }
                Formula::And(a, b) => self.make(Op::Binary(Binary::And, at(a), at(b)), LaneKind::Mask),
                Formula::Or(a, b) => self.make(Op::Binary(Binary::Or, at(a), at(b)), LaneKind::Mask),
                Formula::Not(a) => {
                    let a = at(a);
                    self.not(a)
                }
                Formula::Choose(condition, yes, no) => {
                    self.make(Op::Select(at(condition), at(yes), at(no)), double)
                }
                Formula::BitsOf(a) | Formula::OfBits(a) | Formula::Narrow(a) => at(a),
                Formula::Plus(a, b) => self.make(Op::Binary(Binary::Add, at(a), at(b)), LaneKind::I64),
                Formula::BitAnd(a, mask) => {
                    let mask = self.make(Op::Constant(mask), LaneKind::I64);
                    self.make(Op::Binary(Binary::And, at(a), mask), LaneKind::I64)
                }
                Formula::BitOr(a, b) => self.make(Op::Binary(Binary::Or, at(a), at(b)), LaneKind::I64),
                Formula::ShiftLeft(a, by) => {
                    self.make(Op::ShiftLeft(at(a), u8::try_from(by).ok()?), LaneKind::I64)
                }
                Formula::ShiftRight(a, by) => {
                    self.make(Op::ShiftRight(at(a), u8::try_from(by).ok()?), LaneKind::I64)
                }
                Formula::Pick(table, index) => {
                    let key = PointerTarget::Table(table.name);
                    let pointer = match self.pointers.get(&key) {
                        Some(&known) => known,
                        None => {
                            let address = self.around.table(table);
                            let word = self.word(address);
                            self.body.pointers.push(Pointer { word, array: None, bytes: 8 });
                            self.pointers.insert(key, self.body.pointers.len() - 1);
                            self.body.pointers.len() - 1
                        }
                    };
                    self.make(Op::Gather(ElementAddress { pointer, offset: 0 }, at(index)), double)
                }
            };
            values.push(value);
        }
        let result = values[definition.result.index()];
        let result =
            if is_single { self.make(Op::Convert(LaneKind::F64, result), LaneKind::F32) } else { result };
        self.cut();
        Some(result)
    }
}
