//! Values of a function under construction: one for all lanes of a vector loop, or one for each.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F32X4, F64, F64X2, I8, I8X16, I16, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlagsData, Type, Value as Clif};
use cranelift_frontend::FunctionBuilder;
use isobar_compiler::types::{DType, Value};
use smallvec::SmallVec;

/// The registers that hold a value for each lane.
///
/// In the order of the lanes: of four lanes, doubles take two registers and singles one. How many lanes a
/// register has tells how wide they are.
pub(super) type Chunks = SmallVec<[Clif; 4]>;

/// Bytes of a vector register.
pub(super) const REGISTER: usize = 16;

/// A value of the language. A bool is a byte of 0 or 1, or for each lane all bits or none, in lanes of 64 or 32 bits.
///
/// ```text
/// of four lanes      the same          each
/// float64            f64               f64x2, f64x2
/// float32            f32               f32x4
/// bool               i8, 0 or 1        i64x2, i64x2  or  i32x4, each lane 0 or -1
/// ```
///
/// A bool is as wide as the numbers whose comparison it is, which costs no instruction. It is made wider or
/// narrower where it meets numbers of another width: [`Emitter::mask_like`].
#[derive(Clone, Debug)]
pub(super) enum Operand {
    /// The same for all lanes.
    ///
    /// It costs one register, or none where it is a constant, and is spread where it meets others only.
    Same(Clif),
    Each(Chunks),
}

/// Writes instructions for a number of lanes at a time.
pub(super) struct Emitter<'f> {
    pub(super) builder: FunctionBuilder<'f>,
    /// 1 outside of vector loops, where each value is the same for all; else a multiple of 4.
    pub(super) lanes: usize,
}

/// The type of one value.
pub(super) fn scalar_type(dtype: DType) -> Type {
    match dtype {
        DType::Bool | DType::Int8 => I8,
        DType::Int16 => I16,
        DType::Int32 => I32,
        DType::Int64 => I64,
        DType::Float32 => F32,
        DType::Float64 => F64,
    }
}

/// The type of a register of values; none where lanes are too narrow to be worth it.
pub(super) fn chunk_type(dtype: DType) -> Option<Type> {
    match dtype {
        DType::Bool | DType::Int64 => Some(I64X2),
        DType::Int32 => Some(I32X4),
        DType::Float32 => Some(F32X4),
        DType::Float64 => Some(F64X2),
        DType::Int8 | DType::Int16 => None,
    }
}

/// How many bits of a register change their meaning and none its value.
fn reinterpreted() -> MemFlagsData {
    MemFlagsData::new().with_endianness(Endianness::Little)
}

impl Emitter<'_> {
    /// A constant as a single value. Bits of narrow integers above their own have to be 0, as Cranelift
    /// wants them.
    pub(super) fn literal(&mut self, value: Value) -> Clif {
        let ins = self.builder.ins();
        let int = |bits: i64, mask: i64| bits & mask;
        match value {
            Value::Bool(it) => ins.iconst(I8, i64::from(it)),
            Value::Int8(it) => ins.iconst(I8, int(it.into(), 0xff)),
            Value::Int16(it) => ins.iconst(I16, int(it.into(), 0xffff)),
            Value::Int32(it) => ins.iconst(I32, int(it.into(), 0xffff_ffff)),
            Value::Int64(it) => ins.iconst(I64, it),
            Value::Float32(it) => ins.f32const(it),
            Value::Float64(it) => ins.f64const(it),
        }
    }

    /// How many lanes a register of this type has.
    fn per_chunk(&self, chunk: Clif) -> usize {
        let chunk_type = self.builder.func.dfg.value_type(chunk);
        usize::try_from(chunk_type.lane_count()).unwrap_or(1)
    }

    /// How many registers hold a value of this type for each lane.
    pub(super) fn n_chunks(&self, chunk: Type) -> usize {
        self.lanes / usize::try_from(chunk.lane_count()).unwrap_or(1)
    }

    /// The value for each lane; of a bool in lanes of 64 bits, where it was the same for all.
    ///
    /// All registers are then one splat, so it is one instruction however many lanes there are.
    pub(super) fn spread(&mut self, dtype: DType, operand: &Operand) -> Chunks {
        match operand {
            Operand::Each(chunks) => chunks.clone(),
            Operand::Same(value) => {
                let value = match dtype {
                    DType::Bool => self.builder.ins().bmask(I64, *value),
                    _ => *value,
                };
                let chunk = chunk_type(dtype).expect("narrow integers stay out of vector loops");
                let splat = self.builder.ins().splat(chunk, value);
                (0..self.n_chunks(chunk)).map(|_| splat).collect()
            }
        }
    }

    /// A bool for each lane, in lanes that are as wide as those of `like`.
    ///
    /// A lane of ones stays one of ones if its sign is repeated, and if its upper half is left out.
    pub(super) fn mask_like(&mut self, mask: &Operand, like: Type) -> Chunks {
        let chunks = self.spread(DType::Bool, mask);
        // Registers of 16 bytes hold two lanes of 64 bits, or four of 32.
        let is_wide = chunks.len() * 2 == self.lanes;
        let wants_wide = like.lane_bits() == 64;
        match (is_wide, wants_wide) {
            (true, true) | (false, false) => chunks,
            (false, true) => {
                let halves = |it: &Clif| {
                    let low = self.builder.ins().swiden_low(*it);
                    [low, self.builder.ins().swiden_high(*it)]
                };
                chunks.iter().flat_map(halves).collect()
            }
            (true, false) => chunks.chunks(2).map(|pair| self.narrowed(pair[0], pair[1])).collect(),
        }
    }

    /// The lower halves of the lanes of two registers.
    ///
    /// Bytes count from the lowest one, and those of the second register from 16 on.
    pub(super) fn narrowed(&mut self, low: Clif, high: Clif) -> Clif {
        const LOWER: [u8; 16] = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27];
        self.shuffled(low, high, LOWER, I32X4)
    }

    /// Bytes of two registers in this order; 16 and above are those of the second.
    pub(super) fn shuffled(&mut self, one: Clif, other: Clif, order: [u8; 16], to: Type) -> Clif {
        let order = self.builder.func.dfg.immediates.push(order.as_slice().into());
        let (one, other) = (self.as_type(one, I8X16), self.as_type(other, I8X16));
        let mixed = self.builder.ins().shuffle(one, other, order);
        self.as_type(mixed, to)
    }

    /// The same bits.
    ///
    /// It is no instruction where both are vectors, which is how comparisons of floats become masks of
    /// integers.
    pub(super) fn as_type(&mut self, value: Clif, to: Type) -> Clif {
        if self.builder.func.dfg.value_type(value) == to {
            return value;
        }
        self.builder.ins().bitcast(to, reinterpreted(), value)
    }

    /// `then` where the bool holds, else `otherwise`.
    ///
    /// Where the condition differs from lane to lane, both values are computed for all lanes, and their
    /// bits are mixed.
    pub(super) fn select(
        &mut self,
        dtype: DType,
        condition: &Operand,
        then: &Operand,
        otherwise: &Operand,
    ) -> Operand {
        if let (Operand::Same(condition), Operand::Same(then), Operand::Same(otherwise)) =
            (condition, then, otherwise)
        {
            return Operand::Same(self.builder.ins().select(*condition, *then, *otherwise));
        }
        let (then, otherwise) = self.alike(dtype, then, otherwise);
        let chunk = self.builder.func.dfg.value_type(then[0]);
        let condition = self.mask_like(condition, chunk);
        let pairs = condition.iter().zip(then.iter().zip(&otherwise));
        Operand::Each(pairs.map(|(&condition, (&a, &b))| self.blend(condition, a, b)).collect())
    }

    /// Of two registers, lane by lane, by a mask.
    ///
    /// Its lanes are all ones or all zeros, and as wide as those of the values.
    pub(super) fn blend(&mut self, mask: Clif, then: Clif, otherwise: Clif) -> Clif {
        let mask = self.as_type(mask, self.builder.func.dfg.value_type(then));
        self.builder.ins().bitselect(mask, then, otherwise)
    }

    /// Both for each lane, in registers of one type.
    pub(super) fn alike(&mut self, dtype: DType, one: &Operand, other: &Operand) -> (Chunks, Chunks) {
        if dtype != DType::Bool {
            return (self.spread(dtype, one), self.spread(dtype, other));
        }
        // If one operand has narrow masks, both get narrow ones.
        let is_narrow = |it: &Operand| match it {
            Operand::Same(_) => false,
            Operand::Each(chunks) => chunks.len() * 4 == self.lanes,
        };
        let like = if is_narrow(one) || is_narrow(other) { I32X4 } else { I64X2 };
        (self.mask_like(one, like), self.mask_like(other, like))
    }

    /// The value of one lane.
    ///
    /// A bool becomes a byte of 0 or 1, as single values have it.
    pub(super) fn lane(&mut self, dtype: DType, operand: &Operand, lane: usize) -> Clif {
        match operand {
            Operand::Same(value) => *value,
            Operand::Each(chunks) => {
                let per_chunk = self.lanes / chunks.len();
                let at = u8::try_from(lane % per_chunk).unwrap_or(0);
                let value = self.builder.ins().extractlane(chunks[lane / per_chunk], at);
                if dtype == DType::Bool {
                    return self.builder.ins().icmp_imm_s(IntCC::NotEqual, value, 0);
                }
                value
            }
        }
    }

    /// A value for each lane, from one after the other.
    ///
    /// One value alone is the same for all lanes.
    pub(super) fn gathered(&mut self, dtype: DType, values: &[Clif]) -> Operand {
        if let [value] = values {
            return Operand::Same(*value);
        }
        let chunk = chunk_type(dtype).expect("narrow integers stay out of vector loops");
        let per_chunk = usize::try_from(chunk.lane_count()).unwrap_or(1);
        let whole = |this: &mut Self, values: &[Clif]| {
            let lane_value = |this: &mut Self, value: Clif| match dtype {
                DType::Bool => this.builder.ins().bmask(I64, value),
                _ => value,
            };
            let first = lane_value(this, values[0]);
            let start = this.builder.ins().splat(chunk, first);
            values.iter().enumerate().skip(1).fold(start, |all, (at, &value)| {
                let value = lane_value(this, value);
                this.builder.ins().insertlane(all, value, u8::try_from(at).unwrap_or(0))
            })
        };
        Operand::Each(values.chunks(per_chunk).map(|it| whole(self, it)).collect())
    }

    /// Applies `make` to the values of each lane; once where they are the same for all lanes.
    ///
    /// For operations that no instruction does on a register: calls of the host, and conversions. It costs to
    /// take registers apart and to put them together again.
    pub(super) fn by_lane(
        &mut self,
        result: DType,
        operands: &[(DType, Operand)],
        mut make: impl FnMut(&mut Self, &[Clif]) -> Clif,
    ) -> Operand {
        let is_same = operands.iter().all(|(_, it)| matches!(it, Operand::Same(_)));
        let n_lanes = if is_same { 1 } else { self.lanes };
        let of_lane = |lane: usize| {
            let values: SmallVec<[Clif; 2]> =
                operands.iter().map(|(dtype, it)| self.lane(*dtype, it, lane)).collect();
            make(self, &values)
        };
        let values: Vec<Clif> = (0..n_lanes).map(of_lane).collect();
        self.gathered(result, &values)
    }

    /// Applies `make` to registers, or to single values; it has to work on both in the same way.
    pub(super) fn alike_by_chunk(
        &mut self,
        dtype: DType,
        one: &Operand,
        other: &Operand,
        mut make: impl FnMut(&mut Self, Clif, Clif) -> Clif,
    ) -> Operand {
        if let (Operand::Same(one), Operand::Same(other)) = (one, other) {
            return Operand::Same(make(self, *one, *other));
        }
        let (one, other) = self.alike(dtype, one, other);
        Operand::Each(one.iter().zip(&other).map(|(&one, &other)| make(self, one, other)).collect())
    }

    /// The same for one operand.
    pub(super) fn by_chunk(
        &mut self,
        operand: &Operand,
        mut make: impl FnMut(&mut Self, Clif) -> Clif,
    ) -> Operand {
        match operand {
            Operand::Same(value) => Operand::Same(make(self, *value)),
            Operand::Each(chunks) => Operand::Each(chunks.iter().map(|&it| make(self, it)).collect()),
        }
    }

    /// Whether a comparison of floats holds.
    ///
    /// Integers are compared with the second condition of `how`, floats with the first. The result is a
    /// byte, or a mask as wide as the numbers.
    pub(super) fn compared(
        &mut self,
        dtype: DType,
        how: (FloatCC, IntCC),
        one: &Operand,
        other: &Operand,
    ) -> Operand {
        self.alike_by_chunk(dtype, one, other, |this, a, b| {
            if dtype.is_float() {
                this.builder.ins().fcmp(how.0, a, b)
            } else {
                this.builder.ins().icmp(how.1, a, b)
            }
        })
    }

    /// Of a byte, the lowest bit alone changes: it stays 0 or 1.
    pub(super) fn not(&mut self, condition: &Operand) -> Operand {
        match condition {
            Operand::Same(value) => Operand::Same(self.builder.ins().bxor_imm_u(*value, 1)),
            Operand::Each(_) => self.by_chunk(condition, |this, it| this.builder.ins().bnot(it)),
        }
    }

    /// Whether both bools hold, lane by lane. Where their widths differ, the narrower one is taken.
    pub(super) fn both(&mut self, one: &Operand, other: &Operand) -> Operand {
        self.alike_by_chunk(DType::Bool, one, other, |this, a, b| this.builder.ins().band(a, b))
    }

    /// Whether one of two bools holds; widths are as for [`Self::both`].
    pub(super) fn either(&mut self, one: &Operand, other: &Operand) -> Operand {
        self.alike_by_chunk(DType::Bool, one, other, |this, a, b| this.builder.ins().bor(a, b))
    }

    /// Whether it holds for some lane: a byte.
    pub(super) fn any(&mut self, condition: &Operand) -> Clif {
        match condition {
            Operand::Same(value) => *value,
            Operand::Each(chunks) => {
                let all = chunks.iter().copied().reduce(|a, b| self.builder.ins().bor(a, b));
                let all = all.expect("there is a lane");
                self.builder.ins().vany_true(all)
            }
        }
    }

    /// A register's value in the other precision; of singles, one register becomes two.
    pub(super) fn promoted(&mut self, chunks: &Chunks) -> Chunks {
        // The instruction converts the lower two of four, so the upper two are moved down for it.
        const UPPER: [u8; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15];
        let both = |it: &Clif| {
            let low = self.builder.ins().fvpromote_low(*it);
            let upper = self.shuffled(*it, *it, UPPER, F32X4);
            [low, self.builder.ins().fvpromote_low(upper)]
        };
        chunks.iter().flat_map(both).collect()
    }

    /// Doubles rounded to singles; two registers become one.
    pub(super) fn demoted(&mut self, chunks: &Chunks) -> Chunks {
        // The instruction leaves two singles in the lower half, and zeros above them.
        const FIRST_HALVES: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];
        let one = |pair: &[Clif]| {
            let (low, high) = (self.builder.ins().fvdemote(pair[0]), self.builder.ins().fvdemote(pair[1]));
            self.shuffled(low, high, FIRST_HALVES, F32X4)
        };
        chunks.chunks(2).map(one).collect()
    }

    /// Each integer with its sign in twice the bits.
    pub(super) fn widened(&mut self, chunks: &Chunks) -> Chunks {
        let both = |it: &Clif| {
            let low = self.builder.ins().swiden_low(*it);
            [low, self.builder.ins().swiden_high(*it)]
        };
        chunks.iter().flat_map(both).collect()
    }

    /// Whether a value lies in several registers as the emitter's lanes want it; for assertions.
    pub(super) fn is_for_lanes(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Same(_) => true,
            Operand::Each(chunks) => chunks.iter().map(|&it| self.per_chunk(it)).sum::<usize>() == self.lanes,
        }
    }
}
