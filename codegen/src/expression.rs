//! Expressions as instructions, with exactly the meaning that the interpreter gives them.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I8, I64};
use cranelift_codegen::ir::{InstBuilder, Value as Clif};
use isobar_compiler::expr::{Expr, ExprKind};
use isobar_compiler::loops::nodes::Read;
use isobar_compiler::types::math::POWER;
use isobar_compiler::types::math::builtins::Meaning;
use isobar_compiler::types::{
    BinaryOp, BinaryPrimitive, DType, Function, Predicate, Primitive, UnaryOp, UnaryPrimitive, Value,
};

use super::host::HostHelper;
use super::lanes::{Operand, chunk_type, scalar_type};
use super::translate::Translation;

impl Translation<'_, '_> {
    /// The value of an expression, for each lane or the same for all.
    ///
    /// All of it is computed: both sides of `and`, `or` and a ternary. No expression traps, so that is right, and
    /// cheaper than a branch. A float's `x ** 2` is defined as `x * x`, and `x` is computed once.
    pub(super) fn expr(&mut self, expr: &Expr<Read>) -> Operand {
        match &expr.kind {
            ExprKind::Literal(value) => Operand::Same(self.emit.literal(*value)),
            ExprKind::Access(read) | ExprKind::Element(read, _) => self.read(read, expr.dtype),
            ExprKind::Position(_) => unreachable!("a position is a symbol from the Tree IR on"),
            ExprKind::Unary(op, operand) => self.unary(*op, operand),
            ExprKind::Binary(..) if let Some(base) = expr.squared() => {
                let base = self.expr(base);
                self.arithmetic(BinaryOp::Mul, expr.dtype, &base, &base)
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::Ternary { condition, then, otherwise } => {
                let condition = self.expr(condition);
                let (then, otherwise) = (self.expr(then), self.expr(otherwise));
                self.emit.select(expr.dtype, &condition, &then, &otherwise)
            }
            ExprKind::Call(function, arguments) => self.call(*function, arguments),
            ExprKind::Cast(to, operand) => {
                let value = self.expr(operand);
                self.cast(operand.dtype, *to, value)
            }
        }
    }

    /// `-x` of floats changes the sign bit, also that of zero and of NaN; `0 - x` would not. Of integers
    /// the least one stays as it is.
    fn unary(&mut self, op: UnaryOp, operand: &Expr<Read>) -> Operand {
        let value = self.expr(operand);
        match op {
            UnaryOp::Plus => value,
            UnaryOp::Not => self.emit.not(&value),
            UnaryOp::Minus if operand.dtype.is_float() => {
                self.emit.by_chunk(&value, |emit, it| emit.builder.ins().fneg(it))
            }
            UnaryOp::Minus => self.emit.by_chunk(&value, |emit, it| emit.builder.ins().ineg(it)),
        }
    }

    /// An operator on two values. Both have the type of `left`, but for an exponent.
    ///
    /// Where a run may fuse, `a * b + c` is one operation, and so are `a * b - c`, `c + a * b` and `c - a *
    /// b`. If both sides are products, the left one is fused.
    fn binary(&mut self, op: BinaryOp, left: &Expr<Read>, right: &Expr<Read>) -> Operand {
        let dtype = left.dtype;
        if self.fuses() && dtype.is_float() && matches!(op, BinaryOp::Add | BinaryOp::Sub) {
            if let ExprKind::Binary(BinaryOp::Mul, one, other) = &left.kind {
                let factors = (self.expr(one), self.expr(other));
                let rest = self.expr(right);
                return self.fused(dtype, factors, rest, op == BinaryOp::Sub);
            }
            if let ExprKind::Binary(BinaryOp::Mul, one, other) = &right.kind {
                let rest = self.expr(left);
                let (mut one, other) = (self.expr(one), self.expr(other));
                if op == BinaryOp::Sub {
                    one = self.emit.by_chunk(&one, |emit, it| emit.builder.ins().fneg(it));
                }
                return self.fused(dtype, (one, other), rest, false);
            }
        }
        let (a, b) = (self.expr(left), self.expr(right));
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => self.arithmetic(op, dtype, &a, &b),
            BinaryOp::Div if dtype.is_float() => self.arithmetic(op, dtype, &a, &b),
            // By zero the language says 0, and the processor would trap.
            BinaryOp::Div => self.wide(HostHelper::Divide, dtype, a, (dtype, b)),
            BinaryOp::Mod => self.binary_primitive(BinaryPrimitive::FlooredRemainder, dtype, a, b),
            BinaryOp::Pow if dtype.is_float() => {
                let b = self.cast(right.dtype, dtype, b);
                let definition = POWER.definition(dtype).expect("powers of floats are defined");
                self.formula(definition, &[a, b])
            }
            BinaryOp::Pow => self.wide(HostHelper::IntPower, dtype, a, (right.dtype, b)),
            BinaryOp::And => self.emit.both(&a, &b),
            BinaryOp::Or => self.emit.either(&a, &b),
            BinaryOp::Eq | BinaryOp::Ne if dtype == DType::Bool => {
                let differ =
                    self.emit.alike_by_chunk(dtype, &a, &b, |emit, a, b| emit.builder.ins().bxor(a, b));
                // Bools differ where their bits do, in bytes as in lanes.
                if op == BinaryOp::Ne { differ } else { self.emit.not(&differ) }
            }
            BinaryOp::Eq => self.emit.compared(dtype, (FloatCC::Equal, IntCC::Equal), &a, &b),
            BinaryOp::Ne => self.emit.compared(dtype, (FloatCC::NotEqual, IntCC::NotEqual), &a, &b),
            BinaryOp::Lt => self.emit.compared(dtype, LESS, &a, &b),
            BinaryOp::Le => {
                self.emit.compared(dtype, (FloatCC::LessThanOrEqual, IntCC::SignedLessThanOrEqual), &a, &b)
            }
            // The operands swapped: vector units know one direction.
            BinaryOp::Gt => self.emit.compared(dtype, LESS, &b, &a),
            BinaryOp::Ge => {
                self.emit.compared(dtype, (FloatCC::LessThanOrEqual, IntCC::SignedLessThanOrEqual), &b, &a)
            }
        }
    }

    /// The product and a sum in one operation, with one rounding.
    fn fused(
        &mut self,
        dtype: DType,
        (one, other): (Operand, Operand),
        rest: Operand,
        subtracts: bool,
    ) -> Operand {
        let sum = |emit: &mut super::lanes::Emitter<'_>, a: Clif, b: Clif, c: Clif| {
            let c = if subtracts { emit.builder.ins().fneg(c) } else { c };
            emit.builder.ins().fma(a, b, c)
        };
        if let (Operand::Same(a), Operand::Same(b), Operand::Same(c)) = (&one, &other, &rest) {
            return Operand::Same(sum(&mut self.emit, *a, *b, *c));
        }
        let [a, b, c] = [&one, &other, &rest].map(|it| self.emit.spread(dtype, it));
        let all = a.iter().zip(&b).zip(&c);
        Operand::Each(all.map(|((&a, &b), &c)| sum(&mut self.emit, a, b, c)).collect())
    }

    /// Sum, difference and product of numbers, and the quotient of floats. Integers wrap around.
    fn arithmetic(&mut self, op: BinaryOp, dtype: DType, a: &Operand, b: &Operand) -> Operand {
        self.emit.alike_by_chunk(dtype, a, b, |emit, a, b| {
            let ins = emit.builder.ins();
            match (op, dtype.is_float()) {
                (BinaryOp::Add, true) => ins.fadd(a, b),
                (BinaryOp::Sub, true) => ins.fsub(a, b),
                (BinaryOp::Mul, true) => ins.fmul(a, b),
                (_, true) => ins.fdiv(a, b),
                (BinaryOp::Add, false) => ins.iadd(a, b),
                (BinaryOp::Sub, false) => ins.isub(a, b),
                (_, false) => ins.imul(a, b),
            }
        })
    }

    /// A function of the host on integers of 64 bits, its result as wide as the first operand.
    ///
    /// One function does for all integers: narrow ones get their sign in 64 bits, and the result loses the
    /// upper bits.
    fn wide(&mut self, helper: HostHelper, dtype: DType, a: Operand, (of_b, b): (DType, Operand)) -> Operand {
        let (a, b) = (self.cast(dtype, DType::Int64, a), self.cast(of_b, DType::Int64, b));
        let value = self.helper(helper, DType::Int64, &[a, b]);
        self.cast(DType::Int64, dtype, value)
    }

    /// Calls the host for each lane; operands and result have one type.
    ///
    /// If the operands are the same for all lanes, it is one call.
    fn helper(&mut self, helper: HostHelper, dtype: DType, arguments: &[Operand]) -> Operand {
        let function = self.imported(helper);
        let arguments: Vec<(DType, Operand)> = arguments.iter().map(|it| (dtype, it.clone())).collect();
        self.emit.by_lane(dtype, &arguments, |emit, values| {
            let call = emit.builder.ins().call(function, values);
            emit.builder.inst_results(call)[0]
        })
    }

    /// A builtin: the steps of its formula, or the primitive that it is.
    fn call(&mut self, function: Function, arguments: &[Expr<Read>]) -> Operand {
        let dtype = arguments.first().map_or(DType::Float64, |it| it.dtype);
        let values: Vec<Operand> = arguments.iter().map(|it| self.expr(it)).collect();
        match function.row().meaning {
            Meaning::Formula(formula) => {
                // No integer is typed as an argument of one.
                let Some(definition) = formula.definition(dtype) else { return values[0].clone() };
                self.formula(definition, &values)
            }
            Meaning::Primitive(op) => {
                let a = values[0].clone();
                // A function of two arguments has them; one that was given one takes it for both.
                let b = values.get(1).cloned().unwrap_or_else(|| a.clone());
                match op {
                    Primitive::Unary(op) => self.unary_primitive(op, dtype, &a),
                    Primitive::Binary(op) => self.binary_primitive(op, dtype, a, b),
                    Primitive::Predicate(question) => self.predicate(question, dtype, &a),
                }
            }
        }
    }

    /// A primitive of one operand. `round`, of halves away from zero, is no instruction of processors, so
    /// the host does it.
    fn unary_primitive(&mut self, op: UnaryPrimitive, dtype: DType, a: &Operand) -> Operand {
        let emit = &mut self.emit;
        match op {
            UnaryPrimitive::Magnitude if !dtype.is_float() => {
                emit.by_chunk(a, |emit, it| emit.builder.ins().iabs(it))
            }
            // Rounding leaves an integer what it is.
            _ if !dtype.is_float() => a.clone(),
            UnaryPrimitive::Magnitude => emit.by_chunk(a, |emit, it| emit.builder.ins().fabs(it)),
            UnaryPrimitive::SquareRoot => emit.by_chunk(a, |emit, it| emit.builder.ins().sqrt(it)),
            UnaryPrimitive::Floor => emit.by_chunk(a, |emit, it| emit.builder.ins().floor(it)),
            UnaryPrimitive::Ceiling => emit.by_chunk(a, |emit, it| emit.builder.ins().ceil(it)),
            UnaryPrimitive::Truncation => emit.by_chunk(a, |emit, it| emit.builder.ins().trunc(it)),
            UnaryPrimitive::Nearest => emit.by_chunk(a, |emit, it| emit.builder.ins().nearest(it)),
            UnaryPrimitive::NearestAway => {
                self.helper(HostHelper::RoundAwayFromZero(dtype), dtype, std::slice::from_ref(a))
            }
        }
    }

    /// A primitive of two operands.
    ///
    /// Minimum and maximum of floats are NaN if one operand is. A comparison with NaN does not hold, so `a`
    /// is chosen if one operand is NaN. That is right if `a` is NaN; if `b` is, `b` is taken afterwards.
    /// Lesser and greater leave out this second step, and give `a` for a NaN in `b`. Of equal operands, which
    /// may be zeros of two signs, all four give `a`.
    fn binary_primitive(&mut self, op: BinaryPrimitive, dtype: DType, a: Operand, b: Operand) -> Operand {
        match op {
            BinaryPrimitive::Minimum if dtype.is_float() => {
                let one = self.extremum(dtype, &b, &a, &a, &b);
                self.or_nan(dtype, &b, &one)
            }
            BinaryPrimitive::Maximum if dtype.is_float() => {
                let one = self.extremum(dtype, &a, &b, &a, &b);
                self.or_nan(dtype, &b, &one)
            }
            BinaryPrimitive::Minimum | BinaryPrimitive::Lesser => self.extremum(dtype, &b, &a, &a, &b),
            BinaryPrimitive::Maximum | BinaryPrimitive::Greater => self.extremum(dtype, &a, &b, &a, &b),
            BinaryPrimitive::FlooredRemainder if dtype.is_float() => {
                self.helper(HostHelper::Mod(dtype), dtype, &[a, b])
            }
            BinaryPrimitive::FlooredRemainder => self.wide(HostHelper::Modulo, dtype, a, (dtype, b)),
            BinaryPrimitive::TruncatedRemainder if dtype.is_float() => {
                self.helper(HostHelper::ModC(dtype), dtype, &[a, b])
            }
            BinaryPrimitive::TruncatedRemainder => self.wide(HostHelper::ModuloOfC, dtype, a, (dtype, b)),
        }
    }

    /// The first number where it is NaN, else the other.
    fn or_nan(&mut self, dtype: DType, nan: &Operand, other: &Operand) -> Operand {
        let is_nan = self.emit.compared(dtype, UNORDERED, nan, nan);
        self.emit.select(dtype, &is_nan, nan, other)
    }

    /// A question about a float is a comparison: NaN is what does not equal itself, and infinite or finite
    /// is `|a|` held against infinity. Integers have one answer for all.
    fn predicate(&mut self, question: Predicate, dtype: DType, a: &Operand) -> Operand {
        let emit = &mut self.emit;
        if !dtype.is_float() {
            return Operand::Same(emit.literal(Value::Bool(question.of_integers())));
        }
        let how = match question {
            Predicate::Nan => return emit.compared(dtype, UNORDERED, a, a),
            Predicate::Infinite => (FloatCC::Equal, IntCC::Equal),
            Predicate::Finite => LESS,
        };
        let size = emit.by_chunk(a, |emit, it| emit.builder.ins().fabs(it));
        let infinity = Operand::Same(emit.literal(Value::Float64(f64::INFINITY).cast(dtype)));
        emit.compared(dtype, how, &size, &infinity)
    }

    /// `b` if `less < than`, else `a`.
    fn extremum(
        &mut self,
        dtype: DType,
        less: &Operand,
        than: &Operand,
        a: &Operand,
        b: &Operand,
    ) -> Operand {
        let condition = self.emit.compared(dtype, LESS, less, than);
        self.emit.select(dtype, &condition, b, a)
    }

    /// The value converted as an assignment converts it.
    ///
    /// Registers are converted as a whole where 128 bits have an instruction or a shuffle for it, else lane
    /// by lane. To a bool, everything but zero is true, NaN as well.
    pub(super) fn cast(&mut self, from: DType, to: DType, value: Operand) -> Operand {
        use DType::{Bool, Float32, Float64, Int32, Int64};
        let each = match (from, to, &value) {
            (_, _, value) if from == to => return value.clone(),
            (_, Bool, _) => {
                let zero = Operand::Same(self.emit.literal(Value::zero(from)));
                let how = (FloatCC::NotEqual, IntCC::NotEqual);
                return self.emit.compared(from, how, &value, &zero);
            }
            (Float32, Float64, Operand::Each(chunks)) => self.emit.promoted(chunks),
            (Float64, Float32, Operand::Each(chunks)) => self.emit.demoted(chunks),
            (Int32, Int64, Operand::Each(chunks)) => self.emit.widened(chunks),
            (Int64, Int32, Operand::Each(chunks)) => {
                chunks.chunks(2).map(|pair| self.emit.narrowed(pair[0], pair[1])).collect()
            }
            (Bool, _, Operand::Each(_)) => {
                let one = Value::Int64(1).cast(to);
                let (one, zero) = (self.emit.literal(one), self.emit.literal(Value::zero(to)));
                return self.emit.select(to, &value, &Operand::Same(one), &Operand::Same(zero));
            }
            _ => {
                return self.emit.by_lane(to, &[(from, value.clone())], |emit, values| {
                    converted(&mut emit.builder, from, to, values[0])
                });
            }
        };
        debug_assert!(chunk_type(to).is_some());
        Operand::Each(each)
    }
}

const LESS: (FloatCC, IntCC) = (FloatCC::LessThan, IntCC::SignedLessThan);
/// Of a number and itself: whether it is none.
const UNORDERED: (FloatCC, IntCC) = (FloatCC::Unordered, IntCC::NotEqual);

/// One value, converted to another type that is no bool.
///
/// A narrower integer keeps the low bits. A float becomes one of 64 bits first, so that `int32(1e10)` is
/// cut in the same way on all processors.
fn converted(
    builder: &mut cranelift_frontend::FunctionBuilder<'_>,
    from: DType,
    to: DType,
    value: Clif,
) -> Clif {
    let target = scalar_type(to);
    let ins = builder.ins();
    match (from.is_float(), to.is_float()) {
        (true, true) if target == F64 => ins.fpromote(F64, value),
        (true, true) => ins.fdemote(F32, value),
        // Toward zero; NaN is 0, and what does not fit is the nearest that does.
        (true, false) => {
            let whole = ins.fcvt_to_sint_sat(I64, value);
            if target == I64 { whole } else { builder.ins().ireduce(target, whole) }
        }
        (false, true) if from == DType::Bool => ins.fcvt_from_uint(target, value),
        (false, true) => {
            let wide = if scalar_type(from) == I64 { value } else { ins.sextend(I64, value) };
            builder.ins().fcvt_from_sint(target, wide)
        }
        (false, false) => {
            let own = scalar_type(from);
            if own == target {
                value
            } else if own.bits() > target.bits() {
                ins.ireduce(target, value)
            } else if own == I8 && from == DType::Bool {
                ins.uextend(target, value)
            } else {
                ins.sextend(target, value)
            }
        }
    }
}
