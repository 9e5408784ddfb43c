//! The body of a vector loop as operations on vectors, one lane for each iteration.
//!
//! The text of a body, for `out = 2.0 * in` along a row:
//!
//! ```text
//! loop of 8 lanes {
//!     v0: f64 = 0x4000000000000000
//! block0:
//!     v1: f64 = load p0+0
//!     v2: f64 = mul v0, v1
//!     store v2 to p1+0
//!     done
//! }
//! ```

use std::collections::BTreeMap;
use std::fmt;

use isobar_compiler::entity::Handle;
use isobar_compiler::loops::nodes::Array;

/// The vectors that code is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) enum Isa {
    /// 512 bits, with masks for their lanes: AVX-512 with F, BW, DQ and VL.
    #[default]
    Avx512,
    /// 256 bits, where a mask is a vector of lanes that are all ones or all zeros: AVX2 and FMA.
    Avx2,
}

impl Isa {
    pub(in super::super) fn bytes(self) -> usize {
        match self {
            Isa::Avx512 => 64,
            Isa::Avx2 => 32,
        }
    }

    /// Whether an operation that makes a value of this kind is a few instructions.
    ///
    /// Where it is not, the whole loop is made of vectors of 128 bits instead, which the compiler for all
    /// else knows.
    fn has(self, op: Op, kind: LaneKind) -> bool {
        match (op, kind) {
            _ if self == Isa::Avx512 => true,
            (
                Op::Binary(Binary::Mul | Binary::Min | Binary::Max, ..) | Op::Unary(Unary::Abs, _),
                LaneKind::I64,
            )
            | (Op::Convert(LaneKind::F64 | LaneKind::F32, _), LaneKind::I64)
            | (Op::Convert(LaneKind::I64, _), LaneKind::F32) => false,
            _ => true,
        }
    }
}

/// A value, by position in [`Body::values`].
pub(super) type Id = usize;

/// The type of a value's lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LaneKind {
    F64,
    F32,
    I64,
    I32,
    /// Whether something holds.
    Mask,
}

impl LaneKind {
    /// Of one lane. A mask is a bit, or as wide as the body's lanes: that is the processor's.
    pub(super) fn bytes(self) -> usize {
        match self {
            LaneKind::F64 | LaneKind::I64 => 8,
            LaneKind::F32 | LaneKind::I32 => 4,
            LaneKind::Mask => 0,
        }
    }

    pub(super) fn is_float(self) -> bool {
        matches!(self, LaneKind::F64 | LaneKind::F32)
    }
}

/// A place in memory: a pointer, which moves with the lanes or not, and bytes from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ElementAddress {
    /// By position in [`Body::pointers`].
    pub(super) pointer: usize,
    /// In bytes.
    pub(super) offset: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unary {
    Abs,
    Sqrt,
    Nearest,
    Floor,
    Ceil,
    Trunc,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    /// The second where it is not the first that is less: of `a < b ? a : b`.
    Min,
    /// Of `a > b ? a : b`.
    Max,
    And,
    Or,
    Xor,
    /// The bits of the second that the first does not have.
    AndNot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    /// One of both is no number.
    Unordered,
}

/// The operation that makes a value.
///
/// It is a key as well: in one block, an operation on the same values is made once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Op {
    /// Elements side by side.
    Load(ElementAddress),
    /// One element for all lanes.
    LoadOne(ElementAddress),
    /// Bytes side by side; any but 0 is true.
    LoadBools(ElementAddress),
    /// A word that the caller passes, for all lanes.
    Word(usize),
    /// These bits, for all lanes.
    Constant(u64),
    Unary(Unary, Id),
    Binary(Binary, Id, Id),
    /// `a * b + c`, or less `c`, rounded once.
    Fused {
        a: Id,
        b: Id,
        c: Id,
        subtracts: bool,
    },
    ShiftLeft(Id, u8),
    ShiftRight(Id, u8),
    /// Of numbers of this kind.
    Compare(Relation, LaneKind, Id, Id),
    /// The second where the first holds, else the third.
    Select(Id, Id, Id),
    /// A number of this kind, as the processor converts it.
    Convert(LaneKind, Id),
    /// Entries of a table of doubles.
    Gather(ElementAddress, Id),
    /// The value in a slot of the frame.
    Slot(usize),
}

impl Op {
    /// The values that it is made of, in order; one that is used twice comes twice.
    pub(super) fn operands(&self, mut each: impl FnMut(Id)) {
        let mut copy = *self;
        copy.operands_mut(|it| each(*it));
    }

    pub(super) fn operands_mut(&mut self, mut each: impl FnMut(&mut Id)) {
        match self {
            Op::Load(_) | Op::LoadOne(_) | Op::LoadBools(_) | Op::Word(_) | Op::Constant(_) | Op::Slot(_) => {
            }
            Op::Unary(_, a)
            | Op::ShiftLeft(a, _)
            | Op::ShiftRight(a, _)
            | Op::Convert(_, a)
            | Op::Gather(_, a) => {
                each(a);
            }
            Op::Binary(_, a, b) | Op::Compare(_, _, a, b) => {
                each(a);
                each(b);
            }
            Op::Fused { a, b, c, .. } | Op::Select(a, b, c) => {
                each(a);
                each(b);
                each(c);
            }
        }
    }

    /// Whether the value is the same in every iteration, and made of nothing that the body makes.
    pub(super) fn is_fixed(&self) -> bool {
        matches!(self, Op::Word(_) | Op::Constant(_))
    }
}

/// A value of each lane. It is made by one step of one block, or is fixed and made by none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) op: Op,
    pub(super) kind: LaneKind,
}

/// One step of a block.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Makes a value.
    Make(Id),
    /// Elements side by side, of the lanes of a mask where there is one; past the caches, if they can be.
    Store {
        place: ElementAddress,
        value: Id,
        mask: Option<Id>,
        is_streamed: bool,
    },
    StoreBools {
        place: ElementAddress,
        value: Id,
    },
    /// Asks for the line of an element that is read later.
    Fetch {
        place: ElementAddress,
    },
    /// Puts a value into a slot of the frame.
    Keep {
        slot: usize,
        value: Id,
    },
    /// Adds 1 to the number of turns in a slot, and goes to the block of the lanes' end when that has come.
    Count {
        slot: usize,
        limit: u64,
        beyond: usize,
    },
    /// Sets the number of turns in a slot to that in a word of the caller.
    Start {
        slot: usize,
        word: usize,
    },
    /// Tells the host, through this function of it, that lanes of a mask must end the run: the words from `words` on.
    Raise {
        words: usize,
        mask: Id,
    },
}

impl Step {
    /// The values that it uses.
    pub(super) fn operands(&self, body: &Body, mut each: impl FnMut(Id)) {
        match *self {
            Step::Make(id) => body.values[id].op.operands(each),
            Step::Store { value, mask, .. } => {
                each(value);
                mask.into_iter().for_each(each);
            }
            Step::StoreBools { value, .. } | Step::Keep { value, .. } => each(value),
            Step::Raise { mask, .. } => each(mask),
            Step::Fetch { .. } | Step::Count { .. } | Step::Start { .. } => {}
        }
    }
}

/// Where a block goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    Go(usize),
    /// To the first if the mask holds for some lane, else to the second.
    IfAny(Id, usize, usize),
    /// The iterations are done.
    Done,
}

/// Steps that run one after the other, for one vector or several, and then a jump.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) steps: Vec<Step>,
    pub(super) end: End,
}

/// A pointer that the caller passes: a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pointer {
    pub(super) word: usize,
    /// The array that it points into, and none for a table; arrays do not overlap.
    pub(super) array: Option<Handle<Array>>,
    /// Of one element.
    pub(super) bytes: usize,
}

/// All of a loop's body.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Body {
    pub(super) isa: Isa,
    /// How many iterations are done at a time.
    pub(super) lanes: usize,
    pub(super) values: Vec<Value>,
    /// In the order in which their code stands; the first one is entered.
    pub(super) blocks: Vec<Block>,
    pub(super) pointers: Vec<Pointer>,
    /// Slots of the frame: for values that go from block to block, locals that change under a `while`, and counts.
    pub(super) n_slots: usize,
    /// Whether iterations may be done twice.
    pub(super) may_repeat: bool,
    /// Whether functions that take long have blocks of their own. They have where there is something else to
    /// wait for, and vectors have 256 bits: it was measured for those.
    pub(super) is_cut: bool,
}

impl Body {
    /// Of one lane of the widest values.
    pub(super) fn lane_bytes(&self) -> usize {
        self.isa.bytes() / self.lanes
    }

    /// Whether its processor has instructions for all of it.
    pub(super) fn is_known(&self) -> bool {
        self.blocks.iter().flat_map(|it| &it.steps).all(|step| match step {
            Step::Make(id) => self.isa.has(self.values[*id].op, self.values[*id].kind),
            _ => true,
        })
    }

    /// Gives a slot to each value that is used in other blocks than its own, and removes values that nothing
    /// uses.
    ///
    /// Registers belong to one block: values in them are not known in the next one. So a value is kept in its
    /// slot right behind the step that makes it. Each block that uses it reads the slot as a value of its
    /// own. Constants and words need no slot, since they have a place in memory already.
    ///
    /// ```text
    /// block0:                      block0:
    ///     v1 = load p0+0               v1 = load p0+0
    ///     go to block1                 slot0 = v1
    /// block1:                          go to block1
    ///     store v1 to p1+0         block1:
    ///                                  v2 = slot0
    ///                                  store v2 to p1+0
    /// ```
    pub(super) fn finish(&mut self) {
        let mut home: BTreeMap<Id, usize> = BTreeMap::new();
        for (at, block) in self.blocks.iter().enumerate() {
            for step in &block.steps {
                if let Step::Make(id) = step {
                    home.insert(*id, at);
                }
            }
        }
        let mut slots: BTreeMap<Id, usize> = BTreeMap::new();
        for at in 0..self.blocks.len() {
            let steps = std::mem::take(&mut self.blocks[at].steps);
            let mut here: BTreeMap<Id, Id> = BTreeMap::new();
            let mut changed = Vec::with_capacity(steps.len());
            let mut own = |this: &mut Self, changed: &mut Vec<Step>, id: Id| -> Id {
                if this.values[id].op.is_fixed() || home.get(&id) == Some(&at) {
                    return id;
                }
                *here.entry(id).or_insert_with(|| {
                    let slot = *slots.entry(id).or_insert_with(|| {
                        this.n_slots += 1;
                        this.n_slots - 1
                    });
                    let kind = this.values[id].kind;
                    this.values.push(Value { op: Op::Slot(slot), kind });
                    changed.push(Step::Make(this.values.len() - 1));
                    this.values.len() - 1
                })
            };
            for mut step in steps {
                match &mut step {
                    Step::Make(id) => {
                        let mut op = self.values[*id].op;
                        op.operands_mut(|it| *it = own(self, &mut changed, *it));
                        self.values[*id].op = op;
                    }
                    Step::Store { value, mask, .. } => {
                        *value = own(self, &mut changed, *value);
                        if let Some(mask) = mask {
                            *mask = own(self, &mut changed, *mask);
                        }
                    }
                    Step::StoreBools { value, .. } | Step::Keep { value, .. } => {
                        *value = own(self, &mut changed, *value);
                    }
                    Step::Raise { mask, .. } => *mask = own(self, &mut changed, *mask),
                    Step::Fetch { .. } | Step::Count { .. } | Step::Start { .. } => {}
                }
                changed.push(step);
            }
            if let End::IfAny(mask, yes, no) = self.blocks[at].end {
                let mask = own(self, &mut changed, mask);
                self.blocks[at].end = End::IfAny(mask, yes, no);
            }
            self.blocks[at].steps = changed;
        }
        for block in &mut self.blocks {
            let keep = |step: Step| match step {
                Step::Make(id) => {
                    let kept = slots.get(&id).map(|&slot| Step::Keep { slot, value: id });
                    [Some(step), kept]
                }
                _ => [Some(step), None],
            };
            block.steps = block.steps.iter().flat_map(|&it| keep(it)).flatten().collect();
        }
        self.drop_unused();
    }

    /// Removes values that no later step uses. It goes from the last step to the first, so that values which
    /// only they used go too.
    fn drop_unused(&mut self) {
        let mut is_used = vec![false; self.values.len()];
        // Blocks of loops come round, but what they hand on lies in slots.
        for block in self.blocks.iter().rev() {
            if let End::IfAny(mask, ..) = block.end {
                is_used[mask] = true;
            }
            for step in block.steps.iter().rev() {
                if !matches!(step, Step::Make(id) if !is_used[*id]) {
                    step.operands(self, |it| is_used[it] = true);
                }
            }
        }
        for block in &mut self.blocks {
            block.steps.retain(|step| !matches!(step, Step::Make(id) if !is_used[*id]));
        }
    }
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "loop of {} lanes {{", self.lanes)?;
        for (id, value) in self.values.iter().enumerate().filter(|(_, it)| it.op.is_fixed()) {
            writeln!(f, "    v{id}: {} = {}", value.kind, value.op)?;
        }
        for (at, block) in self.blocks.iter().enumerate() {
            writeln!(f, "block{at}:")?;
            for step in &block.steps {
                match *step {
                    Step::Make(id) => {
                        let value = &self.values[id];
                        writeln!(f, "    v{id}: {} = {}", value.kind, value.op)?;
                    }
                    Step::Store { place, value, mask, .. } => {
                        write!(f, "    store v{value} to {place}")?;
                        match mask {
                            Some(mask) => writeln!(f, " where v{mask}")?,
                            None => writeln!(f)?,
                        }
                    }
                    Step::StoreBools { place, value } => writeln!(f, "    store v{value} to bytes {place}")?,
                    Step::Fetch { place } => writeln!(f, "    fetch {place}")?,
                    Step::Keep { slot, value } => writeln!(f, "    slot{slot} = v{value}")?,
                    Step::Count { slot, limit, beyond } => {
                        writeln!(f, "    count slot{slot} up to {limit}, then block{beyond}")?;
                    }
                    Step::Start { slot, word } => writeln!(f, "    slot{slot} = word{word}")?,
                    Step::Raise { words, mask } => writeln!(f, "    raise word{words} where v{mask}")?,
                }
            }
            match block.end {
                End::Go(to) => writeln!(f, "    go to block{to}")?,
                End::IfAny(mask, yes, no) => writeln!(f, "    if any v{mask} block{yes} else block{no}")?,
                End::Done => writeln!(f, "    done")?,
            }
        }
        writeln!(f, "}}")
    }
}

impl fmt::Display for LaneKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LaneKind::F64 => "f64",
            LaneKind::F32 => "f32",
            LaneKind::I64 => "i64",
            LaneKind::I32 => "i32",
            LaneKind::Mask => "mask",
        })
    }
}

impl fmt::Display for ElementAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}{:+}", self.pointer, self.offset)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |it: &dyn fmt::Debug| format!("{it:?}").to_lowercase();
        match self {
            Op::Load(place) => write!(f, "load {place}"),
            Op::LoadOne(place) => write!(f, "load one {place}"),
            Op::LoadBools(place) => write!(f, "load bytes {place}"),
            Op::Word(at) => write!(f, "word{at}"),
            Op::Constant(bits) => write!(f, "{bits:#x}"),
            Op::Unary(op, a) => write!(f, "{} v{a}", name(op)),
            Op::Binary(op, a, b) => write!(f, "{} v{a}, v{b}", name(op)),
            Op::Fused { a, b, c, subtracts } => {
                write!(f, "v{a} * v{b} {} v{c}", if *subtracts { '-' } else { '+' })
            }
            Op::ShiftLeft(a, by) => write!(f, "v{a} << {by}"),
            Op::ShiftRight(a, by) => write!(f, "v{a} >> {by}"),
            Op::Compare(relation, kind, a, b) => write!(f, "{} {kind} v{a}, v{b}", name(relation)),
            Op::Select(mask, a, b) => write!(f, "select v{mask}, v{a}, v{b}"),
            Op::Convert(from, a) => write!(f, "convert {from} v{a}"),
            Op::Gather(place, index) => write!(f, "gather {place}[v{index}]"),
            Op::Slot(slot) => write!(f, "slot{slot}"),
        }
    }
}
