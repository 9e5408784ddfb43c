//! Elementary functions: the steps of their definitions as instructions, for a register of doubles at a time.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::types::{F64, F64X2, I64, I64X2};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value as Clif};
use isobar_compiler::types::DType;
use isobar_compiler::types::math::real::Table;
use isobar_compiler::types::math::record::{Definition, Op, Value as Step};

use super::lanes::{Chunks, Operand};
use super::translate::Translation;

// A definition is the record of one computation (`types::math::record`): steps without branches, each
// naming earlier ones. So its instructions are a straight line, and all lanes take the same way. The
// interpreter computes the same steps, which is why bits agree on all machines; nothing here may be fused,
// reordered or left out.
impl Translation<'_, '_> {
    /// The function's value; its arguments have its type.
    ///
    /// Functions of singles are computed in doubles and rounded once, at the end. A register of four
    /// singles is two of doubles, so the steps are made once for each register of doubles.
    pub(super) fn formula(&mut self, definition: &Definition, arguments: &[Operand]) -> Operand {
        let is_single = definition.dtype == DType::Float32;
        let same: Option<Vec<Clif>> = arguments
            .iter()
            .map(|it| match it {
                Operand::Same(value) => Some(*value),
                Operand::Each(_) => None,
            })
            .collect();
        if let Some(mut values) = same {
            if is_single {
                values.iter_mut().for_each(|it| *it = self.emit.builder.ins().fpromote(F64, *it));
            }
            let value = self.steps(definition, &values, false);
            return Operand::Same(if is_single {
                self.emit.builder.ins().fdemote(cranelift_codegen::ir::types::F32, value)
            } else {
                value
            });
        }
        let doubles: Vec<Chunks> = arguments
            .iter()
            .map(|it| {
                let chunks = self.emit.spread(definition.dtype, it);
                if is_single { self.emit.promoted(&chunks) } else { chunks }
            })
            .collect();
        let n_chunks = doubles.first().map_or(0, Chunks::len);
        let of_chunk = |at: usize| {
            let values: Vec<Clif> = doubles.iter().map(|it| it[at]).collect();
            self.steps(definition, &values, true)
        };
        let values: Chunks = (0..n_chunks).map(of_chunk).collect();
        Operand::Each(if is_single { self.emit.demoted(&values) } else { values })
    }

    /// The result as a double, before it is rounded to a single.
    ///
    /// The steps of one register, or of one value. A condition is a byte for one value, and a register of
    /// masks in vectors. Words are the bits of doubles, as integers of 64 bits.
    fn steps(&mut self, definition: &Definition, params: &[Clif], is_vector: bool) -> Clif {
        let (double, word) = if is_vector { (F64X2, I64X2) } else { (F64, I64) };
        let mut values: Vec<Clif> = Vec::with_capacity(definition.steps.len());
        for (_, step) in definition.steps.iter() {
            let at = |it: Step| values[it.index()];
            let value = match step.op {
                Op::Param(n) | Op::SingleParam(n) => params[n],
                Op::Constant(it) => {
                    let value = self.emit.builder.ins().f64const(it);
                    if is_vector { self.emit.builder.ins().splat(double, value) } else { value }
                }
                Op::BitsConstant(it) => self.word(it, is_vector),
                Op::Neg(a) => self.emit.builder.ins().fneg(at(a)),
                Op::Abs(a) => self.emit.builder.ins().fabs(at(a)),
                Op::Sqrt(a) => self.emit.builder.ins().sqrt(at(a)),
                Op::Floor(a) => self.emit.builder.ins().floor(at(a)),
                Op::Nearest(a) => self.emit.builder.ins().nearest(at(a)),
                Op::Add(a, b) => self.emit.builder.ins().fadd(at(a), at(b)),
                Op::Sub(a, b) => self.emit.builder.ins().fsub(at(a), at(b)),
                Op::Mul(a, b) => self.emit.builder.ins().fmul(at(a), at(b)),
                Op::Div(a, b) => self.emit.builder.ins().fdiv(at(a), at(b)),
                Op::ProductError(a, b, product) => self.product_error(at(a), at(b), at(product), is_vector),
                Op::Less(a, b) => self.emit.builder.ins().fcmp(FloatCC::LessThan, at(a), at(b)),
                Op::Equal(a, b) => self.emit.builder.ins().fcmp(FloatCC::Equal, at(a), at(b)),
                Op::And(a, b) => self.emit.builder.ins().band(at(a), at(b)),
                Op::Or(a, b) | Op::BitOr(a, b) => self.emit.builder.ins().bor(at(a), at(b)),
                Op::Not(a) if is_vector => self.emit.builder.ins().bnot(at(a)),
                // A byte of 0 or 1: to turn all its bits would make it true both ways.
                Op::Not(a) => self.emit.builder.ins().bxor_imm_u(at(a), 1),
                Op::Choose(condition, yes, no) => self.chosen(at(condition), at(yes), at(no), is_vector),
                Op::BitsOf(a) => self.emit.as_type(at(a), word),
                Op::OfBits(a) => self.emit.as_type(at(a), double),
                Op::Plus(a, b) => self.emit.builder.ins().iadd(at(a), at(b)),
                Op::BitAnd(a, mask) => {
                    let mask = self.word(mask, is_vector);
                    self.emit.builder.ins().band(at(a), mask)
                }
                Op::ShiftLeft(a, by) => {
                    let by = self.emit.builder.ins().iconst(I64, i64::from(by));
                    self.emit.builder.ins().ishl(at(a), by)
                }
                Op::ShiftRight(a, by) => {
                    let by = self.emit.builder.ins().iconst(I64, i64::from(by));
                    self.emit.builder.ins().ushr(at(a), by)
                }
                Op::Pick(table, index) => self.picked(table, at(index), is_vector),
                // The last step, which is done for two registers together.
                Op::Narrow(a) => at(a),
            };
            values.push(value);
        }
        values[definition.result.index()]
    }

    /// These bits as an integer, in each lane.
    fn word(&mut self, bits: u64, is_vector: bool) -> Clif {
        let value = self.emit.builder.ins().iconst(I64, bits.cast_signed());
        if is_vector { self.emit.builder.ins().splat(I64X2, value) } else { value }
    }

    /// One of two doubles. Both were computed, since steps have no branches.
    fn chosen(&mut self, condition: Clif, yes: Clif, no: Clif, is_vector: bool) -> Clif {
        if is_vector {
            self.emit.blend(condition, yes, no)
        } else {
            self.emit.builder.ins().select(condition, yes, no)
        }
    }

    /// `a * b - product` exactly: in one operation where the processor has it, else of halves.
    ///
    /// `product` is `a * b` as rounded. Both ways give the same bits, so the processor of a run does not
    /// matter. The fused operation rounds a result that is exact. The halves have so few digits that each of
    /// their products is exact.
    fn product_error(&mut self, a: Clif, b: Clif, product: Clif, is_vector: bool) -> Clif {
        if self.has_fused {
            let less = self.emit.builder.ins().fneg(product);
            return self.emit.builder.ins().fma(a, b, less);
        }
        // The factor is 2^27 + 1: it splits 53 digits into halves of 26, with the sign as the missing one.
        // T. J. Dekker, "A floating-point technique for extending the available precision", 1971.
        let factor = self.emit.builder.ins().f64const(134_217_729.0);
        let factor = if is_vector { self.emit.builder.ins().splat(F64X2, factor) } else { factor };
        let builder = &mut self.emit.builder;
        let mut halves = |it: Clif| {
            let scaled = builder.ins().fmul(factor, it);
            let rest = builder.ins().fsub(scaled, it);
            let high = builder.ins().fsub(scaled, rest);
            (high, builder.ins().fsub(it, high))
        };
        let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
        let first = builder.ins().fmul(a_high, b_high);
        let mut sum = builder.ins().fsub(first, product);
        for (one, other) in [(a_high, b_low), (a_low, b_high), (a_low, b_low)] {
            let part = builder.ins().fmul(one, other);
            sum = builder.ins().fadd(sum, part);
        }
        sum
    }

    /// An entry of a table, for each lane its own. Vectors of 128 bits gather nothing, so the lanes are loaded one by
    /// one. A definition computes indices that are in the table, so no load traps.
    fn picked(&mut self, table: &'static Table, index: Clif, is_vector: bool) -> Clif {
        let base = self.table(table);
        let flags = MemFlagsData::trusted().with_readonly().with_can_move();
        let one = |this: &mut Self, index: Clif| {
            let offset = this.emit.builder.ins().ishl_imm_u(index, 3);
            let address = this.emit.builder.ins().iadd(base, offset);
            this.emit.builder.ins().load(F64, flags, address, 0)
        };
        if !is_vector {
            return one(self, index);
        }
        let [low, high] = [0, 1].map(|lane: u8| {
            let index = self.emit.builder.ins().extractlane(index, lane);
            one(self, index)
        });
        let both = self.emit.builder.ins().splat(F64X2, low);
        self.emit.builder.ins().insertlane(both, high, 1)
    }
}
