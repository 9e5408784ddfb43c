//! The code of whole bodies is decoded again: each operand in memory is the one that was meant.

use iced_x86::{Decoder, DecoderOptions, Mnemonic};
use isobar_compiler::entity::Handle;

use super::fault_of_memory;
use crate::wide::emit::emit;
use crate::wide::encode::LAST_OPERANDS;
use crate::wide::nodes::{
    Binary, Block, Body, ElementAddress, End, Id, Isa, LaneKind, Op, Pointer, Relation, Step, Unary, Value,
};

/// A body of one block, as its operations are put into it.
struct BodyBuilder(Body);

impl BodyBuilder {
    fn new(isa: Isa, lanes: usize) -> Self {
        let pointer = |at: usize| Pointer {
            word: 1 + at,
            array: Some(Handle::new(at)),
            bytes: [8, 4, 8, 4, 1][at % 5],
        };
        let pointers = (0..15).map(pointer).collect();
        let block = Block { steps: Vec::new(), end: End::Done };
        Self(Body { isa, lanes, pointers, blocks: vec![block], ..Body::default() })
    }

    fn fixed(&mut self, op: Op, kind: LaneKind) -> Id {
        self.0.values.push(Value { op, kind });
        self.0.values.len() - 1
    }

    fn made(&mut self, op: Op, kind: LaneKind) -> Id {
        let id = self.fixed(op, kind);
        self.0.blocks[0].steps.push(Step::Make(id));
        id
    }

    fn loaded(&mut self, kind: LaneKind, at: i32) -> Id {
        if kind == LaneKind::Mask {
            let [one, other] = [at, at + 1].map(|it| self.loaded(LaneKind::F32, it));
            return self.made(Op::Compare(Relation::Less, LaneKind::F32, one, other), kind);
        }
        self.made(Op::Load(place(kind, at)), kind)
    }

    /// Stores what was made, so that it is used.
    fn stored(&mut self, id: Id, at: i32) {
        let kind = self.0.values[id].kind;
        let step = match kind {
            LaneKind::Mask => Step::StoreBools { place: place(kind, at), value: id },
            _ => {
                let mask = (at % 3 == 0).then(|| self.loaded(LaneKind::Mask, at));
                Step::Store {
                    place: place(kind, at),
                    value: id,
                    mask,
                    is_streamed: at % 5 == 0 && mask.is_none(),
                }
            }
        };
        self.0.blocks[0].steps.push(step);
    }
}

/// Some place with elements of a kind, before and behind the point, near and far.
fn place(kind: LaneKind, at: i32) -> ElementAddress {
    let (pointer, bytes) = match kind {
        LaneKind::F64 => (0, 8),
        LaneKind::F32 => (1, 4),
        LaneKind::I64 => (2, 8),
        LaneKind::I32 => (3, 4),
        LaneKind::Mask => (4, 1),
    };
    let group = usize::try_from(at.rem_euclid(3)).expect("below three");
    ElementAddress {
        pointer: pointer + 5 * group,
        offset: bytes * [at, -at, 16 * at, 1000 * at][group_of(at)],
    }
}

fn group_of(at: i32) -> usize {
    usize::try_from(at.rem_euclid(4)).expect("below four")
}

/// Puts an operation into a body, with its operands at some places.
type Operation = Box<dyn Fn(&mut BodyBuilder, i32) -> Id>;

/// Each operation on values of these kinds, as it is put into a body with its operands at some places.
fn operations(kinds: &[LaneKind]) -> Vec<Operation> {
    let mut all: Vec<Operation> = Vec::new();
    for &kind in kinds {
        let unary: &[Unary] = match kind {
            LaneKind::Mask => &[],
            _ if kind.is_float() => &[Unary::Sqrt, Unary::Nearest, Unary::Floor, Unary::Ceil, Unary::Trunc],
            _ => &[Unary::Abs],
        };
        for &op in unary {
            all.push(Box::new(move |it, at| {
                let a = it.loaded(kind, at);
                it.made(Op::Unary(op, a), kind)
            }));
        }
        let bits = [Binary::And, Binary::Or, Binary::Xor, Binary::AndNot];
        let numbers = [Binary::Add, Binary::Sub, Binary::Mul, Binary::Min, Binary::Max, Binary::Div];
        let numbers: &[Binary] = match kind {
            LaneKind::Mask => &[],
            _ if kind.is_float() => &numbers,
            _ => &numbers[..5],
        };
        for &op in bits.iter().chain(numbers) {
            all.push(Box::new(move |it, at| {
                let [a, b] = [at, at + 1].map(|at| it.loaded(kind, at));
                it.made(Op::Binary(op, a, b), kind)
            }));
        }
        if kind == LaneKind::Mask {
            all.push(Box::new(move |it, at| {
                let [a, b, c] = [at, at + 1, at + 2].map(|at| it.loaded(kind, at));
                it.made(Op::Select(a, b, c), kind)
            }));
            all.push(Box::new(move |it, at| it.made(Op::LoadBools(place(kind, at)), kind)));
            continue;
        }
        let relations =
            [Relation::Equal, Relation::NotEqual, Relation::Less, Relation::LessOrEqual, Relation::Unordered];
        for relation in relations.into_iter().filter(|it| kind.is_float() || *it != Relation::Unordered) {
            all.push(Box::new(move |it, at| {
                let [a, b] = [at, at + 1].map(|at| it.loaded(kind, at));
                it.made(Op::Compare(relation, kind, a, b), LaneKind::Mask)
            }));
        }
        all.push(Box::new(move |it, at| {
            let mask = it.loaded(LaneKind::Mask, at);
            let [then, otherwise] = [at, at + 1].map(|at| it.loaded(kind, at));
            it.made(Op::Select(mask, then, otherwise), kind)
        }));
        all.push(Box::new(move |it, at| it.made(Op::LoadOne(place(kind, at)), kind)));
        for op in [Op::Word(40), Op::Constant(0x3ff0_0000_0000_0000)] {
            all.push(Box::new(move |it, at| {
                let (a, b) = (it.loaded(kind, at), it.fixed(op, kind));
                it.made(Op::Binary(Binary::Add, a, b), kind)
            }));
        }
        for subtracts in [false, true].into_iter().filter(|_| kind.is_float()) {
            all.push(Box::new(move |it, at| {
                let [a, b, c] = [at, at + 1, at + 2].map(|at| it.loaded(kind, at));
                it.made(Op::Fused { a, b, c, subtracts }, kind)
            }));
        }
        for op in [Op::ShiftLeft, Op::ShiftRight].into_iter().filter(|_| kind == LaneKind::I64) {
            all.push(Box::new(move |it, at| {
                let a = it.loaded(kind, at);
                it.made(op(a, 20), kind)
            }));
        }
        if kind == LaneKind::F64 && kinds.contains(&LaneKind::I64) {
            all.push(Box::new(move |it, at| {
                let index = it.loaded(LaneKind::I64, at);
                it.made(Op::Gather(place(kind, at), index), kind)
            }));
        }
        for &from in kinds.iter().filter(|it| converts(**it, kind)) {
            all.push(Box::new(move |it, at| {
                let a = it.loaded(from, at);
                it.made(Op::Convert(from, a), kind)
            }));
        }
    }
    all
}

fn converts(from: LaneKind, to: LaneKind) -> bool {
    use LaneKind::{F32, F64, I32, I64};
    let all = [
        (F32, F64),
        (F64, F32),
        (I64, F64),
        (I32, F64),
        (I64, F32),
        (I32, F32),
        (F64, I64),
        (F32, I64),
        (I32, I64),
        (I64, I32),
    ];
    all.contains(&(from, to))
}

/// Reads all of the code of a body, and answers how many instructions have their last operand as it was meant.
fn held(body: &Body) -> usize {
    LAST_OPERANDS.with_borrow_mut(Vec::clear);
    let bytes = emit(body);
    let meant = LAST_OPERANDS.with_borrow_mut(std::mem::take);
    let code = Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE);
    let mut n = 0;
    let mut meant = meant.into_iter().peekable();
    for it in code {
        assert!(!it.is_invalid(), "{body:?}");
        while let Some((_, rm)) = meant.next_if(|(at, _)| (*at as u64) < it.next_ip()) {
            let fault = fault_of_memory(rm, &it, &bytes);
            assert!(
                fault.is_none(),
                "{rm:?}: {}: {:?} in {body:?}",
                fault.unwrap_or_default(),
                it.mnemonic()
            );
            n += 1;
        }
        if it.mnemonic() == Mnemonic::Ret {
            break;
        }
    }
    assert!(meant.next().is_none(), "code behind the end");
    n
}

/// Which multiples of an offset are short depends on what an instruction reads: each place in memory is read again.
#[test]
fn every_operation_reads_and_writes_the_places_that_are_meant() {
    let all = [LaneKind::F64, LaneKind::F32, LaneKind::I64, LaneKind::I32, LaneKind::Mask];
    let narrow = [LaneKind::F32, LaneKind::I32, LaneKind::Mask];
    let (mut n, mut n_known) = (0, 0);
    for isa in [Isa::Avx512, Isa::Avx2] {
        for (lanes, kinds) in [(isa.bytes() / 8, &all[..]), (isa.bytes() / 4, &narrow[..])] {
            // All in one as well, so that values have to leave their registers.
            let mut whole = BodyBuilder::new(isa, lanes);
            let mut last = Vec::new();
            for (at, operation) in (1..).zip(operations(kinds)) {
                let mut alone = BodyBuilder::new(isa, lanes);
                let id = operation(&mut alone, at);
                alone.stored(id, at + 1);
                if alone.0.is_known() {
                    n += held(&alone.0);
                    n_known += 1;
                    last.push((operation(&mut whole, at), at));
                }
            }
            last.into_iter().for_each(|(id, at)| whole.stored(id, at + 2));
            n += held(&whole.0);
        }
    }
    assert!(n_known > 150 && n > 20_000, "{n_known} {n}");
}
