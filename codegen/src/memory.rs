//! Where things are: integers of symbols, elements of arrays, locals.

use std::collections::BTreeMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I64, I64X2};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value as Clif};
use isobar_compiler::entity::Handle;
use isobar_compiler::loops::nodes::{
    Array, Assign, Declare, DimensionIndex, Element, Local, Read, SymbolMeaning, Target,
};
use isobar_compiler::space::{Affine, Ring, Size, Symbol};
use isobar_compiler::types::{DType, Value};

use super::lanes::{Chunks, Operand, REGISTER, chunk_type, scalar_type};
use super::translate::{LocalValue, MemoryRegion, Translation};

// Integers.
impl Translation<'_, '_> {
    /// A sum of symbols: those with one value for the whole run become part of its constant.
    pub(super) fn affine(&mut self, sum: &Affine) -> Clif {
        let (mut constant, mut terms) = (sum.offset(), Vec::new());
        for (symbol, factor) in sum.terms() {
            match self.known(symbol) {
                Some(value) => constant += factor * value,
                None => terms.push((self.positions[symbol], factor)),
            }
        }
        self.sum(&terms, constant)
    }

    /// `value * factor + … + constant`, added in the order that is given. Where only the last term changes in a loop,
    /// the sum of those before it can be moved out of that loop.
    pub(super) fn sum(&mut self, terms: &[(Clif, i64)], constant: i64) -> Clif {
        let ins = |this: &mut Self, value: Clif, factor: i64| match factor {
            1 => value,
            _ => this.emit.builder.ins().imul_imm_s(value, factor),
        };
        let mut all: Option<Clif> = None;
        for &(value, factor) in terms {
            let term = ins(self, value, factor);
            all = Some(match all {
                None => term,
                Some(sum) => self.emit.builder.ins().iadd(sum, term),
            });
        }
        match all {
            None => self.emit.builder.ins().iconst(I64, constant),
            Some(sum) if constant == 0 => sum,
            Some(sum) => self.emit.builder.ins().iadd_imm_s(sum, constant),
        }
    }

    /// The value of a symbol that is the same for the whole run; none for positions.
    pub(super) fn known(&self, symbol: &Symbol) -> Option<i64> {
        match self.shared.program.symbols.get(symbol) {
            Some(SymbolMeaning::Size(axis)) => Some(self.shared.shape.domain[axis.index()]),
            Some(&SymbolMeaning::Levels { array, side }) => Some(self.shared.shape.levels(array, side)),
            Some(SymbolMeaning::Position(_)) | None => None,
        }
    }

    /// A size that is the same for the whole run.
    ///
    /// None where it depends on the position of a loop around.
    pub(super) fn known_size(&self, size: &Size) -> Option<i64> {
        let all = |parts: &[Size]| parts.iter().map(|it| self.known_size(it)).collect::<Option<Vec<_>>>();
        match size {
            Size::Affine(sum) => {
                let mut terms = sum.terms();
                terms.try_fold(sum.offset(), |total, (symbol, factor)| {
                    Some(total + factor * self.known(symbol)?)
                })
            }
            Size::Min(parts) => all(parts)?.into_iter().min(),
            Size::Max(parts) => all(parts)?.into_iter().max(),
        }
    }

    /// A size as an integer: a sum, or the least or greatest of several, each compared with the best before
    /// it.
    pub(super) fn size(&mut self, size: &Size) -> Clif {
        let (parts, how) = match size {
            Size::Affine(sum) => return self.affine(sum),
            Size::Min(parts) => (parts, IntCC::SignedLessThan),
            Size::Max(parts) => (parts, IntCC::SignedGreaterThan),
        };
        let parts: Vec<Clif> = parts.iter().map(|it| self.size(it)).collect();
        let better = |this: &mut Self, a: Clif, b: Clif| {
            let is_better = this.emit.builder.ins().icmp(how, a, b);
            this.emit.builder.ins().select(is_better, a, b)
        };
        let all = parts.into_iter().reduce(|a, b| better(self, a, b));
        all.unwrap_or_else(|| self.emit.builder.ins().iconst(I64, 0))
    }

    // Elements.

    /// The address of an element without what is known beforehand, that, and how far its lanes are apart.
    ///
    /// All three are in bytes. The element of the first lane is at `address + constant`, and that of lane
    /// `n` `n * apart` bytes behind it. The constant becomes the offset of loads and stores, so that
    /// neighbours `a[i-1]`, `a[i]`, `a[i+1]` share one address.
    ///
    /// ```text
    /// a[i+1, k]  with strides [1, 100] of doubles, along i, in lanes
    /// address = (base + k * 800) + i * 8,  constant = 8,  apart = 8
    /// ```
    pub(super) fn address(&mut self, element: &Element) -> (Clif, i64, i64) {
        let shape = &self.shared.shape.arrays[element.array];
        let strides = shape.strides.clone();
        let size = self.shared.program.arrays[element.array].dtype.size_bytes() as i64;
        let (mut constant, mut apart) = (0_i64, 0_i64);
        let mut factors: BTreeMap<Symbol, i64> = BTreeMap::new();
        let mut found = Vec::new();
        let ring = self.shared.program.arrays[element.array].ring;
        for (dimension, (at, stride)) in element.index.iter().zip(strides).enumerate() {
            let bytes = stride * size;
            // Of an array that keeps a few rows, the row is the position modulo their number, a power of
            // two. It is computed from the whole position, so nothing of it can be in the constant.
            if let Some(places) = Ring::places_along(ring, dimension) {
                let position = match at {
                    DimensionIndex::Known(sum) => self.affine(sum),
                    // An index of run time counts from the start of the array, and the base is that of the
                    // compute domain.
                    DimensionIndex::Found { integer, shift } => {
                        let shift = self.affine(shift);
                        self.emit.builder.ins().isub(self.integers[integer], shift)
                    }
                };
                found.push((self.emit.builder.ins().band_imm_s(position, places - 1), bytes));
                continue;
            }
            let (sum, sign) = match at {
                DimensionIndex::Known(sum) => (sum, 1),
                DimensionIndex::Found { integer, shift } => {
                    found.push((self.integers[integer], bytes));
                    (shift, -1)
                }
            };
            constant += sign * sum.offset() * bytes;
            for (symbol, factor) in sum.terms() {
                match self.known(symbol) {
                    Some(value) => constant += sign * factor * value * bytes,
                    None => *factors.entry(symbol.clone()).or_default() += sign * factor * bytes,
                }
            }
        }
        if let Some(symbol) = &self.lane_symbol {
            apart = factors.get(symbol).copied().unwrap_or(0);
        }
        // The term that changes fastest comes last, so that the others are computed outside of the innermost
        // loop.
        let last = self.lane_symbol.clone();
        let (mut terms, mut of_lane) = (Vec::new(), None);
        for (symbol, factor) in factors {
            if factor == 0 {
                continue;
            }
            if Some(&symbol) == last.as_ref() {
                of_lane = Some((self.positions[&symbol], factor));
            } else {
                terms.push((self.positions[&symbol], factor));
            }
        }
        terms.extend(found);
        let mut address = self.bases[&element.array];
        if !terms.is_empty() {
            let outside = self.sum(&terms, 0);
            address = self.emit.builder.ins().iadd(address, outside);
        }
        if let Some(term) = of_lane {
            let inside = self.sum(&[term], 0);
            address = self.emit.builder.ins().iadd(address, inside);
        }
        // An instruction has 32 bits for its offset. Some are kept free for the other registers of a vector
        // loop, which lie behind the first.
        if i32::try_from(constant).is_err() || i32::try_from(constant + 4096 * 16).is_err() {
            address = self.emit.builder.ins().iadd_imm_s(address, constant);
            constant = 0;
        }
        (address, constant, apart)
    }

    /// The flags of loads and stores of an array. They do not trap, since each element exists, and they touch
    /// no other array. They need not be aligned: rows of a caller start anywhere.
    pub(super) fn flags(&mut self, array: Handle<Array>) -> MemFlagsData {
        let region = self.region(MemoryRegion::Array(array));
        MemFlagsData::new().with_notrap().with_alias_region(Some(region))
    }

    /// Reads a value for an expression. Symbols are integers of 64 bits, which an expression may want in
    /// another type.
    pub(super) fn read(&mut self, read: &Read, dtype: DType) -> Operand {
        match read {
            Read::Local(local) => self.local(*local),
            Read::Sum(sum) => {
                let value = self.position_value(sum);
                self.cast(DType::Int64, dtype, value)
            }
            Read::Element(element) => self.load(element, dtype),
        }
    }

    /// An integer of symbols, which may differ from lane to lane.
    pub(super) fn position_value(&mut self, sum: &Affine) -> Operand {
        let first = self.affine(sum);
        let factor = self.lane_symbol.as_ref().map_or(0, |it| sum.factor(it));
        if factor == 0 {
            return Operand::Same(first);
        }
        let lanes = i64::try_from(self.emit.lanes).unwrap_or(1);
        let values: Vec<Clif> =
            (0..lanes).map(|lane| self.emit.builder.ins().iadd_imm_s(first, lane * factor)).collect();
        self.emit.gathered(DType::Int64, &values)
    }

    /// Loads an element for each lane, in one of three ways. An element that all lanes share is loaded once.
    /// Elements that are contiguous are loaded in whole registers. All others are loaded one by one, and so
    /// are bools: they are bytes in memory, and lanes of 64 bits in registers.
    pub(super) fn load(&mut self, element: &Element, dtype: DType) -> Operand {
        let of = &self.shared.program.arrays[element.array];
        if of.is_scalar_argument() {
            return Operand::Same(self.bases[&element.array]);
        }
        let (address, offset, apart) = self.address(element);
        let (flags, offset) = (self.flags(element.array), offset_of(offset));
        let size = dtype.size_bytes() as i64;
        if self.emit.lanes == 1 || apart == 0 {
            return Operand::Same(self.load_one(dtype, flags, address, offset));
        }
        match chunk_type(dtype) {
            Some(chunk) if apart == size && dtype != DType::Bool => {
                let chunks = (0..self.emit.n_chunks(chunk)).map(|at| {
                    let offset = offset + offset_of((at * REGISTER) as i64);
                    self.emit.builder.ins().load(chunk, flags, address, offset)
                });
                Operand::Each(chunks.collect())
            }
            _ => {
                let values = (0..self.emit.lanes as i64).map(|lane| {
                    let here = self.emit.builder.ins().iadd_imm_s(address, lane * apart);
                    self.load_one(dtype, flags, here, offset)
                });
                let values: Vec<Clif> = values.collect();
                self.emit.gathered(dtype, &values)
            }
        }
    }

    /// One element as a single value; a bool is 0 or 1 from here on.
    pub(super) fn load_one(&mut self, dtype: DType, flags: MemFlagsData, address: Clif, offset: i32) -> Clif {
        let value = self.emit.builder.ins().load(scalar_type(dtype), flags, address, offset);
        if dtype == DType::Bool {
            // Any byte but 0 is true.
            return self.emit.builder.ins().icmp_imm_s(IntCC::NotEqual, value, 0);
        }
        value
    }

    /// Writes an element of each lane; the ways are those of [`Self::load`].
    pub(super) fn store(&mut self, element: &Element, value: Operand) {
        let dtype = self.shared.program.arrays[element.array].dtype;
        // Where a lane takes no part, its element keeps its value.
        let value = match self.mask.clone() {
            None => value,
            Some(mask) => {
                let old = self.load(element, dtype);
                self.emit.select(dtype, &mask, &value, &old)
            }
        };
        let (address, offset, apart) = self.address(element);
        let (flags, offset) = (self.flags(element.array), offset_of(offset));
        if self.emit.lanes == 1 {
            let Operand::Same(value) = value else { unreachable!("there is one lane") };
            self.emit.builder.ins().store(flags, value, address, offset);
            return;
        }
        if apart == dtype.size_bytes() as i64 && dtype != DType::Bool {
            for (at, chunk) in self.emit.spread(dtype, &value).into_iter().enumerate() {
                let offset = offset + offset_of((at * REGISTER) as i64);
                self.emit.builder.ins().store(flags, chunk, address, offset);
            }
            return;
        }
        for lane in 0..self.emit.lanes {
            let of_lane = self.emit.lane(dtype, &value, lane);
            let here = self.emit.builder.ins().iadd_imm_s(address, lane as i64 * apart);
            self.emit.builder.ins().store(flags, of_lane, here, offset);
        }
    }

    // Locals.

    /// The value of a local at this point. One that no block around declares has its initial value, zero.
    pub(super) fn local(&mut self, local: Handle<Local>) -> Operand {
        match self.locals.get(&local).cloned() {
            Some(LocalValue::Constant(operand)) => operand,
            Some(LocalValue::Variables { variables, is_each }) => {
                let values: Chunks = variables.iter().map(|&it| self.emit.builder.use_var(it)).collect();
                if is_each { Operand::Each(values) } else { Operand::Same(values[0]) }
            }
            None => {
                let dtype = self.shared.program.locals[local].dtype;
                Operand::Same(self.emit.literal(Value::zero(dtype)))
            }
        }
    }

    /// A local of this block. A constant is its value and costs nothing. Others are Cranelift's variables,
    /// which become registers, and get their values from whichever branch control came through.
    ///
    /// In a vector loop a variable always has one value for each lane, even if its first value is the same
    /// for all. It may later be assigned under a mask.
    pub(super) fn declare(&mut self, it: &Declare) {
        let dtype = self.shared.program.locals[it.local].dtype;
        let value = match &it.value {
            Some((value, _)) => self.expr(value),
            None => Operand::Same(self.emit.literal(Value::zero(dtype))),
        };
        debug_assert!(self.emit.is_for_lanes(&value), "{value:?}");
        if it.is_const {
            self.locals.insert(it.local, LocalValue::Constant(value));
            return;
        }
        let place = if self.emit.lanes == 1 {
            let variable = self.emit.builder.declare_var(scalar_type(dtype));
            LocalValue::Variables { variables: vec![variable], is_each: false }
        } else {
            let chunk = chunk_type(dtype).expect("narrow integers stay out of vector loops");
            let n_chunks = self.emit.n_chunks(chunk);
            let variables = (0..n_chunks).map(|_| self.emit.builder.declare_var(chunk)).collect();
            LocalValue::Variables { variables, is_each: true }
        };
        self.locals.insert(it.local, place);
        self.set_local(it.local, value);
    }

    /// Gives a variable its next value, in the form that it was declared with. A bool is kept in lanes of
    /// 64 bits, whatever it was compared from, so that all assignments agree.
    pub(super) fn set_local(&mut self, local: Handle<Local>, value: Operand) {
        let dtype = self.shared.program.locals[local].dtype;
        let Some(LocalValue::Variables { variables, is_each }) = self.locals.get(&local).cloned() else {
            unreachable!("what is written is declared before, and not as a constant")
        };
        let value = if !is_each {
            let Operand::Same(value) = value else {
                unreachable!("a vector loop writes its own locals only")
            };
            [value].into_iter().collect()
        } else if dtype == DType::Bool {
            self.emit.mask_like(&value, I64X2)
        } else {
            self.emit.spread(dtype, &value)
        };
        for (&variable, value) in variables.iter().zip(value) {
            self.emit.builder.def_var(variable, value);
        }
    }

    /// Under a mask, the lanes that take no part keep what they have.
    pub(super) fn assign(&mut self, it: &Assign) {
        let value = self.expr(&it.value);
        match &it.target {
            Target::Element(element) => self.store(element, value),
            Target::Local(local) => {
                let value = match self.mask.clone() {
                    None => value,
                    Some(mask) => {
                        let old = self.local(*local);
                        let dtype = self.shared.program.locals[*local].dtype;
                        self.emit.select(dtype, &mask, &value, &old)
                    }
                };
                self.set_local(*local, value);
            }
        }
    }
}

fn offset_of(bytes: i64) -> i32 {
    i32::try_from(bytes).expect("larger distances are added to the address")
}
