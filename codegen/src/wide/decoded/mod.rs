//! Each instruction is decoded again by a library that shares nothing with [`super::encode`].
//!
//! It is the only test of AVX-512 on a processor without it.

mod bodies;

use iced_x86::{Decoder, DecoderOptions, Instruction, OpKind, Register};

use super::codes;
use super::encode::{
    Assembler, Condition, EncodingFields, Gpr, MemoryOperand, Opcode, R8, R12, R13, R15, RAX, RBP, RCX, RDI,
    RDX, RSP, Rm,
};

const FILL: u8 = 0xcc;

/// Numbers that look like chance, and are the same each time.
struct RandomNumbers(u64);

impl RandomNumbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn small(&mut self, limit: u8) -> u8 {
        u8::try_from(self.below(u64::from(limit))).expect("it is below a byte")
    }

    fn is_one_of(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// How the operands of an instruction stand, as the manual names the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OperandOrder {
    /// The register, then the last operand.
    Rm,
    /// The last operand, then the register.
    Mr,
    /// The register, the second register, the last operand.
    Rvm,
    /// The last operand, the second register, the register.
    Mvr,
    /// The second register, the last operand; the register tells instructions apart.
    Vm,
}

/// The registers of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bank {
    Vectors,
    Masks,
    General,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastOperandKind {
    Register,
    Memory,
    Either,
}

/// An instruction as the manual describes it.
#[derive(Clone, Copy, Debug)]
struct InstructionSpec {
    name: &'static str,
    code: Opcode,
    shape: OperandOrder,
    last: LastOperandKind,
    has_immediate: bool,
}

fn starts(name: &str, with: &[&str]) -> bool {
    with.iter().any(|it| name.starts_with(it))
}

impl InstructionSpec {
    fn of(&(name, code): &(&'static str, Opcode)) -> Self {
        let two = [
            "VMOVU",
            "VMOVSD",
            "VBROADCAST",
            "VPBROADCAST",
            "VPMOVZX",
            "VPMOVSX",
            "VSQRT",
            "VPABS",
            "VRND",
            "VCVT",
            "VMOVMSK",
            "KMOV",
            "VGATHER",
            "VMOVQ_FROM",
        ];
        let shape = match name {
            _ if name.starts_with("SHIFTS") => OperandOrder::Vm,
            "VMASKMOVPS_TO" | "VMASKMOVPD_TO" => OperandOrder::Mvr,
            "KMOVW_TO_GENERAL" => OperandOrder::Rm,
            "VEXTRACTF128" | "VPEXTRB" | "VPEXTRQ" | "VPMOVDB" | "VPMOVQB" | "VPMOVQD" => OperandOrder::Mr,
            _ if name.ends_with("_TO") => OperandOrder::Mr,
            _ if starts(name, &two) => OperandOrder::Rm,
            _ => OperandOrder::Rvm,
        };
        let last = match name {
            "VMOVSD" | "VMOVHPD" | "KMOVW" | "KMOVW_TO" | "VGATHERQPD" => LastOperandKind::Memory,
            _ if starts(name, &["VMASKMOV", "VMOVNT"]) => LastOperandKind::Memory,
            _ if starts(name, &["VMOVMSK", "K", "SHIFTS"]) => LastOperandKind::Register,
            _ => LastOperandKind::Either,
        };
        let immediate = [
            "SHIFTS", "VEXTRACT", "VINSERT", "VSHUF", "VPBLENDW", "VBLENDV", "VPEXTR", "VPINSR", "VRND",
            "VCMP", "VPCMPD", "VPCMPQ",
        ];
        Self { name, code, shape, last, has_immediate: starts(name, &immediate) }
    }

    fn has_evex(&self) -> bool {
        let only_vex = [
            "VMOVSD",
            "VMOVHPD",
            "VMOVQ",
            "VMOVD",
            "VMOVMSK",
            "VMASKMOV",
            "VBROADCASTSD_AVX2",
            "VPBROADCAST",
            "VEXTRACT",
            "VINSERT",
            "VSHUF",
            "VPBLENDW",
            "VBLENDV",
            "VPEXTR",
            "VPINSR",
            "VPACK",
            "VAND",
            "VORPD",
            "VXOR",
            "VPCMPEQ",
            "VPCMPGT",
            "SHIFTS_OF_DOUBLEWORDS",
            "K",
        ];
        !starts(self.name, &only_vex)
    }

    fn has_vex(&self) -> bool {
        let only_evex = [
            "VGATHER", "VBLENDM", "VPMOVDB", "VPMOVQB", "VPMULLQ", "VPMINSQ", "VPMAXSQ", "VPABSQ", "VCVTQQ",
            "VCVTT", "VPMOVQD", "VPCMPD", "VPCMPQ", "VPTESTM",
        ];
        !starts(self.name, &only_evex) && self.name != "VBROADCASTSD"
    }

    /// Bytes of vectors that it takes.
    fn lengths(&self, is_evex: bool) -> &'static [usize] {
        match self.name {
            "VEXTRACTF128" | "VINSERTF128" | "VBROADCASTSD_AVX2" => &[32],
            "VBROADCASTSD" => &[32, 64],
            "KANDW" | "KANDNW" | "KORW" | "KXNORW" | "KXORW" => &[32],
            _ if starts(self.name, &["K", "VMOVSD", "VMOVHPD", "VMOVQ", "VMOVD", "VPEXTR", "VPINSR"]) => {
                &[16]
            }
            _ if is_evex => &[16, 32, 64],
            _ => &[16, 32],
        }
    }

    /// Bytes of an element of the last operand.
    fn element(&self) -> usize {
        match self.name {
            "VCVTPD2PS" | "VCVTQQ2PS" | "VCVTTPD2QQ" | "VCVTQQ2PD" => 8,
            "VCVTPS2PD" | "VCVTDQ2PD" | "VCVTDQ2PS" | "VCVTTPS2QQ" | "VPMOVSXDQ" => 4,
            // Integers end with a letter for their size, floats with two.
            name if name.starts_with("VP") => {
                if name.ends_with('Q') {
                    8
                } else {
                    4
                }
            }
            name => {
                if name.ends_with("PD") {
                    8
                } else {
                    4
                }
            }
        }
    }

    /// Bytes in whose multiples a short offset counts.
    fn unit(&self, length: usize, is_same: bool) -> usize {
        match self.name {
            "VPMOVZXBQ" | "VPMOVQB" => length / 8,
            "VPMOVZXBD" | "VPMOVDB" => length / 4,
            "VBROADCASTSS" => 4,
            "VBROADCASTSD" | "VGATHERQPD" => 8,
            _ if is_same => self.element(),
            "VPMOVQD" | "VCVTPS2PD" | "VCVTDQ2PD" | "VPMOVSXDQ" | "VCVTTPS2QQ" => length / 2,
            _ => length,
        }
    }

    /// Whether one element in memory may stand for all lanes.
    fn may_spread(&self) -> bool {
        let not = ["VMOV", "VBROADCAST", "VPBROADCAST", "VPMOV", "VGATHER", "SHIFTS"];
        self.last == LastOperandKind::Either && !starts(self.name, &not)
    }

    fn bank(&self, is_evex: bool) -> Bank {
        match self.name {
            "VMOVMSKPS" | "VMOVMSKPD" | "KMOVW_TO_GENERAL" => Bank::General,
            _ if starts(self.name, &["K"]) => Bank::Masks,
            _ if is_evex && starts(self.name, &["VCMP", "VPCMP", "VPTESTM"]) => Bank::Masks,
            _ => Bank::Vectors,
        }
    }

    fn bank_of_last(&self) -> Bank {
        match self.name {
            "VMOVQ_FROM_GENERAL" | "VMOVQ_TO" | "VMOVD_TO" | "VPEXTRB" | "VPEXTRQ" | "VPINSRB"
            | "KMOVW_FROM_GENERAL" => Bank::General,
            _ if starts(self.name, &["K"]) => Bank::Masks,
            _ => Bank::Vectors,
        }
    }

    /// As the library calls it.
    fn mnemonic(&self, is_evex: bool, register: u8) -> String {
        let name = self.name.split('_').next().unwrap_or_default();
        let name = match (self.name, register) {
            ("SHIFTS_OF_QUADWORDS", 2) => "VPSRLQ",
            ("SHIFTS_OF_QUADWORDS", _) => "VPSLLQ",
            ("SHIFTS_OF_DOUBLEWORDS", _) => "VPSRAD",
            ("VRNDSCALEPS", _) if !is_evex => "VROUNDPS",
            ("VRNDSCALEPD", _) if !is_evex => "VROUNDPD",
            _ if !is_evex && starts(name, &["VPAND", "VPOR", "VPXOR"]) => &name[..name.len() - 1],
            _ => name,
        };
        name.to_lowercase()
    }
}

/// An instruction with its operands.
#[derive(Clone, Copy, Debug)]
struct EncodedInstruction {
    manual: InstructionSpec,
    is_evex: bool,
    how: EncodingFields,
    register: u8,
    other: u8,
    rm: Rm,
}

impl EncodedInstruction {
    fn drawn(manual: InstructionSpec, is_evex: bool, numbers: &mut RandomNumbers) -> Self {
        let is_gather = manual.name == "VGATHERQPD";
        let in_bank = |bank: Bank| match bank {
            Bank::Vectors if is_evex => 32,
            Bank::Vectors | Bank::General => 16,
            Bank::Masks => 8,
        };
        let lengths = manual.lengths(is_evex);
        let length = lengths[usize::from(numbers.small(lengths.len().try_into().expect("few")))];
        let is_memory = match manual.last {
            LastOperandKind::Memory => true,
            LastOperandKind::Register => false,
            LastOperandKind::Either => numbers.is_one_of(2),
        };
        let is_pool = is_memory && !is_gather && numbers.is_one_of(6) && manual.shape != OperandOrder::Mr;
        let register = match manual.shape {
            OperandOrder::Vm if manual.name == "SHIFTS_OF_DOUBLEWORDS" => 4,
            OperandOrder::Vm => [2, 6][usize::from(numbers.small(2))],
            _ => numbers.small(in_bank(manual.bank(is_evex))),
        };
        let offset = [0, 1, 8, -8, 64, 127, -128, 0x40, 0x1000, 4096 + 3][usize::from(numbers.small(10))];
        let memory = |numbers: &mut RandomNumbers| {
            let base = Gpr(numbers.small(16));
            let scale = 1 << numbers.small(4);
            let index = match numbers.small(2) {
                _ if is_gather => {
                    // It may not be the register that is written.
                    let index = numbers.small(31);
                    Some((if index == register { 31 } else { index }, scale))
                }
                0 => None,
                _ => Some((numbers.small(16), scale)).filter(|it| it.0 != RSP.0),
            };
            MemoryOperand { base, index, offset }
        };
        let rm = match is_memory {
            true if is_pool => Rm::Pool(numbers.below(1 << 31)),
            true => Rm::Memory(memory(numbers)),
            false => Rm::Register(numbers.small(in_bank(manual.bank_of_last()))),
        };
        let has_second = matches!(manual.shape, OperandOrder::Rvm | OperandOrder::Mvr | OperandOrder::Vm);
        let of_second = if manual.name.starts_with('K') { Bank::Masks } else { Bank::Vectors };
        let is_same = is_evex && is_memory && manual.may_spread() && numbers.is_one_of(2);
        let mask = match is_evex {
            true if is_gather => 1 + numbers.small(7),
            true if !manual.name.starts_with("VMOVNT") => numbers.small(8),
            _ => 0,
        };
        let is_into_vector =
            manual.bank(true) == Bank::Vectors && !(is_memory && manual.shape == OperandOrder::Mr);
        let zeroes = mask > 0 && !is_gather && is_into_vector && numbers.is_one_of(2);
        let unit = if is_evex { manual.unit(length, is_same) } else { 1 };
        let immediate = manual.has_immediate.then(|| match manual.name {
            // Of a register as the last operand, the upper half.
            "VBLENDVPS" | "VBLENDVPD" => numbers.small(16) << 4,
            _ => numbers.small(8),
        });
        let how = EncodingFields { length, mask, zeroes, is_same, unit, immediate };
        let other = if has_second { numbers.small(in_bank(of_second)) } else { 0 };
        Self { manual, is_evex, how, register, other, rm }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut assembler = Assembler::default();
        let Self { manual: InstructionSpec { code, .. }, how, register, other, rm, .. } = *self;
        match self.is_evex {
            true => assembler.evex(code, how, register, other, rm),
            false => assembler.vex(code, how.length == 32, register, other, rm, how.immediate),
        }
        assembler.finish()
    }

    /// How the decoded instruction differs, if it does.
    fn fault(&self, bytes: &[u8]) -> Option<String> {
        let it = decoded(bytes);
        let is_pool = matches!(self.rm, Rm::Pool(_));
        let name = format!("{:?}", it.mnemonic()).to_lowercase();
        if it.is_invalid() || name != self.manual.mnemonic(self.is_evex, self.register) {
            return Some(format!("it is {name}"));
        }
        // Bytes that fill up to the next constant are no instruction.
        if !is_pool && bytes[it.len()..].iter().any(|it| *it != FILL) {
            return Some(format!("it has {} bytes", it.len()));
        }
        let order = match self.manual.shape {
            OperandOrder::Rm => vec![Some(self.register), None],
            OperandOrder::Mr => vec![None, Some(self.register)],
            OperandOrder::Rvm => vec![Some(self.register), Some(self.other), None],
            OperandOrder::Mvr => vec![None, Some(self.other), Some(self.register)],
            OperandOrder::Vm => vec![Some(self.other), None],
        };
        for (position, wanted) in (0..).zip(&order) {
            let last = match self.rm {
                Rm::Register(it) => Some(it),
                _ => None,
            };
            let kind = it.op_kind(position);
            let found = (kind == OpKind::Register).then(|| number(it.op_register(position)));
            if found != wanted.or(last) || kind != OpKind::Register && kind != OpKind::Memory {
                return Some(format!("operand {position} is {kind:?} {found:?}"));
            }
        }
        self.fault_beside(&it).or_else(|| self.fault_of_memory(&it, bytes))
    }

    fn fault_beside(&self, it: &Instruction) -> Option<String> {
        let EncodingFields { length, mask, zeroes, is_same, immediate, .. } = self.how;
        let found_mask = if it.op_mask() == Register::None { 0 } else { number(it.op_mask()) };
        if (found_mask, it.zeroing_masking(), it.is_broadcast()) != (mask, zeroes, is_same) {
            return Some(format!(
                "mask {found_mask}, zeroes {}, {}",
                it.zeroing_masking(),
                it.is_broadcast()
            ));
        }
        let n_operands = it.op_count();
        let found = match it.op_kind(n_operands - 1) {
            OpKind::Immediate8 => Some(it.immediate8()),
            OpKind::Register if self.manual.name.starts_with("VBLENDV") => {
                Some(number(it.op_register(n_operands - 1)) << 4)
            }
            _ => None,
        };
        if found != immediate {
            return Some(format!("the immediate is {found:?}"));
        }
        let is_vector = |it: &Register| it.is_xmm() || it.is_ymm() || it.is_zmm();
        let sizes =
            (0..n_operands).filter(|at| it.op_kind(*at) == OpKind::Register).map(|at| it.op_register(at));
        let widest = sizes.filter(is_vector).map(Register::size).max();
        // Where only a narrow one is a register, the other lies in memory.
        let narrows = starts(self.manual.name, &["VPMOV", "VCVT"]) && !matches!(self.rm, Rm::Register(_));
        (widest.is_some_and(|it| it != length) && !narrows).then(|| format!("vectors of {widest:?} bytes"))
    }

    fn fault_of_memory(&self, it: &Instruction, bytes: &[u8]) -> Option<String> {
        fault_of_memory(self.rm, it, bytes)
    }
}

/// How the place in memory differs, if it does.
fn fault_of_memory(rm: Rm, it: &Instruction, bytes: &[u8]) -> Option<String> {
    match rm {
        Rm::Memory(MemoryOperand { base, index, offset }) => {
            let scale = u32::from(index.map_or(1, |it| it.1));
            let found_index = (it.memory_index() != Register::None).then(|| number(it.memory_index()));
            let is_same = number(it.memory_base()) == base.0
                && it.memory_base().is_gpr64()
                && found_index == index.map(|it| it.0)
                && (index.is_none() || it.memory_index_scale() == scale)
                && it.memory_displacement64() == i64::from(offset).cast_unsigned();
            (!is_same)
                .then(|| format!("{:?} {found_index:?} {:x}", it.memory_base(), it.memory_displacement64()))
        }
        Rm::Pool(bits) => {
            let at = usize::try_from(it.ip_rel_memory_address()).unwrap_or(usize::MAX);
            let found = bytes.get(at..at + 8).map(|it| u64::from_le_bytes(it.try_into().expect("eight")));
            (found != Some(bits)).then(|| format!("{found:?} at {at}"))
        }
        Rm::PoolOfLanes(bits) => {
            let at = usize::try_from(it.ip_rel_memory_address()).unwrap_or(usize::MAX);
            let found = bytes.get(at..at + 32);
            (found != Some(&*bits.to_le_bytes().repeat(4))).then(|| format!("{found:?} at {at}"))
        }
        Rm::Register(_) => None,
    }
}

fn decoded(bytes: &[u8]) -> Instruction {
    Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE).decode()
}

fn number(it: Register) -> u8 {
    it.number().try_into().expect("few registers")
}

#[test]
fn every_opcode_is_decoded_as_it_was_meant() {
    let mut numbers = RandomNumbers(1);
    let mut n = 0;
    for manual in codes::ALL.iter().map(InstructionSpec::of) {
        assert!(manual.has_vex() || manual.has_evex(), "{manual:?}");
        let encodings = [(false, manual.has_vex()), (true, manual.has_evex())];
        for (is_evex, _) in encodings.into_iter().filter(|it| it.1) {
            for _ in 0..200 {
                let written = EncodedInstruction::drawn(manual, is_evex, &mut numbers);
                let bytes = written.bytes();
                let fault = written.fault(&bytes);
                assert!(fault.is_none(), "{}: {written:?}: {bytes:02x?}", fault.unwrap_or_default());
                n += 1;
            }
        }
    }
    assert!(n > 20_000, "{n}");
}

/// A wrong one is seen.
#[test]
fn another_opcode_register_or_offset_is_told() {
    let manual = |name: &str| {
        codes::ALL.iter().map(InstructionSpec::of).find(|it| it.name == name).expect("it is there")
    };
    let how = EncodingFields { length: 64, unit: 64, ..EncodingFields::default() };
    let rm = Rm::Memory(MemoryOperand::at(RDX, 64));
    let right =
        EncodedInstruction { manual: manual("VADDPD"), is_evex: true, how, register: 1, other: 2, rm };
    assert_eq!(right.fault(&right.bytes()), None);
    let wrong = [
        EncodedInstruction { manual: manual("VADDPS"), ..right },
        EncodedInstruction { register: 17, ..right },
        EncodedInstruction { other: 18, ..right },
        EncodedInstruction { rm: Rm::Memory(MemoryOperand::at(RDX, 128)), ..right },
        EncodedInstruction { how: EncodingFields { unit: 32, ..how }, ..right },
        EncodedInstruction { how: EncodingFields { mask: 1, ..how }, ..right },
        EncodedInstruction { how: EncodingFields { length: 32, unit: 32, ..how }, ..right },
    ];
    for other in wrong {
        assert!(right.fault(&other.bytes()).is_some(), "{other:?}");
    }
}

/// Opcodes stand in `codes.rs` alone, so that each is decoded here.
#[test]
fn no_opcode_stands_elsewhere() {
    let others = [
        include_str!("../avx2.rs"),
        include_str!("../emit.rs"),
        include_str!("../expressions.rs"),
        include_str!("../lower.rs"),
        include_str!("../registers.rs"),
        include_str!("../values.rs"),
    ];
    assert!(others.iter().all(|it| !it.contains("Opcode::new") && !it.contains("opcode")));
}

/// The text is that of Intel's assembler.
#[test]
fn instructions_on_general_registers_are_decoded_as_they_were_meant() {
    use iced_x86::{Formatter, IntelFormatter};
    let place = MemoryOperand { base: R13, index: Some((R12.0, 8)), offset: -24 };
    let mut assembler = Assembler::default();
    let it = &mut assembler;
    it.push(RBP);
    it.push(R15);
    it.pop(R8);
    it.pop(RDI);
    it.move_to(RBP, RSP);
    it.move_to(R8, RAX);
    it.load(R12, MemoryOperand::at(RSP, 8));
    it.load(RAX, place);
    it.store(MemoryOperand::at(RBP, -0x200), R15);
    it.address(RSP, MemoryOperand::at(RBP, -40));
    it.constant(R8, 0x0123_4567_89ab_cdef);
    it.store_zero(MemoryOperand::at(R12, 0));
    it.add_constant(RSP, -64);
    it.and_constant(R13, -64);
    it.test(R8);
    it.subtract(RAX, RAX);
    it.add(RCX, MemoryOperand::at(RBP, -88));
    it.compare(RAX, R15);
    it.increment(MemoryOperand::at(R13, 0));
    let later = it.subtract_later(RSP);
    it.shift_left(R8);
    it.call(R8);
    it.call(RDI);
    it.fetch(place);
    it.zero_upper();
    let label = it.label();
    it.jump_if(Condition::LessOrEqual, label);
    it.jump_if(Condition::Greater, label);
    it.jump_if(Condition::Equal, label);
    it.jump_if(Condition::NotEqual, label);
    it.jump(label);
    it.return_();
    it.bind(label);
    it.set_later(later, 0x1234);
    let bytes = assembler.finish();
    let mut formatter = IntelFormatter::new();
    let lines: Vec<String> = Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE)
        .iter()
        .map(|it| {
            let mut line = String::new();
            formatter.format(&it, &mut line);
            line
        })
        .collect();
    let wanted = [
        "push rbp",
        "push r15",
        "pop r8",
        "pop rdi",
        "mov rbp,rsp",
        "mov r8,rax",
        "mov r12,[rsp+8]",
        "mov rax,[r13+r12*8-18h]",
        "mov [rbp-200h],r15",
        "lea rsp,[rbp-28h]",
        "mov r8,123456789ABCDEFh",
        "mov qword ptr [r12],0",
        "add rsp,0FFFFFFFFFFFFFFC0h",
        "and r13,0FFFFFFFFFFFFFFC0h",
        "test r8,r8",
        "sub rax,rax",
        "add rcx,[rbp-58h]",
        "cmp rax,r15",
        "inc qword ptr [r13]",
        "sub rsp,1234h",
        "shl r8,cl",
        "call r8",
        "call rdi",
        "prefetcht0 [r13+r12*8-18h]",
        "vzeroupper",
        "jle 000000000000008Bh",
        "jg 000000000000008Bh",
        "je 000000000000008Bh",
        "jne 000000000000008Bh",
        "jmp 000000000000008Bh",
        "ret",
    ];
    let shown: Vec<&str> = lines.iter().map(String::as_str).take_while(|it| *it != "int3").collect();
    assert_eq!(shown, wanted);
}
