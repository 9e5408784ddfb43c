use super::encode::{
    Assembler, EncodingFields, Gpr, MemoryOperand, Opcode, R8, R11, R12, R13, RAX, RCX, RDI, RDX, RSP, Rm,
};

fn bytes(write: impl FnOnce(&mut Assembler)) -> Vec<u8> {
    let mut assembler = Assembler::default();
    write(&mut assembler);
    let mut bytes = assembler.finish();
    // Padding up to the constants.
    while bytes.last() == Some(&0xcc) {
        bytes.pop();
    }
    bytes
}

fn at(base: Gpr, index: Option<(u8, u8)>, offset: i32) -> Rm {
    Rm::Memory(MemoryOperand { base, index, offset })
}

/// The bytes are those of GNU as.
#[test]
fn instructions_on_vectors_are_those_of_the_assembler() {
    let double = EncodingFields { length: 64, unit: 64, ..EncodingFields::default() };
    let added = bytes(|it| {
        it.evex(Opcode::new(1, 1, true, 0x58), double, 30, 17, at(R13, Some((RAX.0, 8)), 0x40));
    });
    assert_eq!(
        added,
        [0x62, 0x41, 0xf5, 0x40, 0x58, 0x74, 0xc5, 0x01],
        "vaddpd 0x40(%r13,%rax,8),%zmm17,%zmm30"
    );

    let same = EncodingFields { is_same: true, unit: 8, ..double };
    let multiplied = bytes(|it| it.evex(Opcode::new(1, 1, true, 0x59), same, 3, 2, at(R12, None, 0x18)));
    assert_eq!(
        multiplied,
        [0x62, 0xd1, 0xed, 0x58, 0x59, 0x5c, 0x24, 0x03],
        "vmulpd 0x18(%r12){{1to8}},%zmm2,%zmm3"
    );

    let masked = EncodingFields { mask: 3, ..double };
    let stored = bytes(|it| it.evex(Opcode::new(1, 1, true, 0x11), masked, 9, 0, at(RSP, None, 0x1000)));
    assert_eq!(stored, [0x62, 0x71, 0xfd, 0x4b, 0x11, 0x4c, 0x24, 0x40], "vmovupd %zmm9,0x1000(%rsp){{%k3}}");

    let compared = EncodingFields { length: 32, mask: 7, immediate: Some(0x11), ..EncodingFields::default() };
    let compared = bytes(|it| it.evex(Opcode::new(0, 1, false, 0xc2), compared, 5, 31, Rm::Register(1)));
    assert_eq!(compared, [0x62, 0xf1, 0x04, 0x27, 0xc2, 0xe9, 0x11], "vcmplt_oqps %ymm1,%ymm31,%k5{{%k7}}");

    let blended = EncodingFields { mask: 2, ..double };
    let blended = bytes(|it| it.evex(Opcode::new(1, 2, false, 0x65), blended, 22, 21, Rm::Register(20)));
    assert_eq!(blended, [0x62, 0xa2, 0x55, 0x42, 0x65, 0xf4], "vblendmps %zmm20,%zmm21,%zmm22{{%k2}}");

    let gathered = EncodingFields { mask: 6, unit: 8, ..double };
    let gathered =
        bytes(|it| it.evex(Opcode::new(1, 2, true, 0x93), gathered, 4, 0, at(RDX, Some((19, 8)), 0x10)));
    assert_eq!(
        gathered,
        [0x62, 0xf2, 0xfd, 0x46, 0x93, 0x64, 0xda, 0x02],
        "vgatherqpd 0x10(%rdx,%zmm19,8),%zmm4{{%k6}}"
    );

    let shifted = EncodingFields { immediate: Some(52), ..double };
    let shifted = bytes(|it| it.evex(Opcode::new(1, 1, true, 0x73), shifted, 2, 25, Rm::Register(8)));
    assert_eq!(shifted, [0x62, 0xd1, 0xb5, 0x40, 0x73, 0xd0, 0x34], "vpsrlq $0x34,%zmm8,%zmm25");

    let narrowed = bytes(|it| it.evex(Opcode::new(2, 2, false, 0x35), double, 7, 0, Rm::Register(16)));
    assert_eq!(narrowed, [0x62, 0xb2, 0x7e, 0x48, 0x35, 0xf8], "vpmovqd %zmm7,%ymm16");
}

/// The bytes are those of GNU as.
#[test]
fn instructions_of_avx2_are_those_of_the_assembler() {
    let vex = |code, is_long, register, other, rm, immediate| {
        bytes(|it| it.vex(code, is_long, register, other, rm, immediate))
    };
    let masked = vex(Opcode::new(1, 2, false, 0x2d), true, 9, 15, at(R8, Some((RAX.0, 8)), 0), None);
    assert_eq!(masked, [0xc4, 0x42, 0x05, 0x2d, 0x0c, 0xc0], "vmaskmovpd (%r8,%rax,8),%ymm15,%ymm9");
    let stored = vex(Opcode::new(1, 2, false, 0x2e), false, 9, 14, at(RDX, Some((RAX.0, 4)), 0x10), None);
    assert_eq!(
        stored,
        [0xc4, 0x62, 0x09, 0x2e, 0x4c, 0x82, 0x10],
        "vmaskmovps %xmm9,%xmm14,0x10(%rdx,%rax,4)"
    );
    let loaded = vex(Opcode::new(3, 1, false, 0x10), false, 9, 0, at(R11, Some((RCX.0, 8)), 0), None);
    assert_eq!(loaded, [0xc4, 0x41, 0x7b, 0x10, 0x0c, 0xcb], "vmovsd (%r11,%rcx,8),%xmm9");
    let second = vex(Opcode::new(1, 1, false, 0x16), false, 9, 9, at(R11, Some((RCX.0, 8)), 0), None);
    assert_eq!(second, [0xc4, 0x41, 0x31, 0x16, 0x0c, 0xcb], "vmovhpd (%r11,%rcx,8),%xmm9,%xmm9");
    let index = vex(Opcode::new(1, 3, true, 0x16), false, 14, 0, Rm::Register(RCX.0), Some(1));
    assert_eq!(index, [0xc4, 0x63, 0xf9, 0x16, 0xf1, 0x01], "vpextrq $0x1,%xmm14,%rcx");
    let both = vex(Opcode::new(1, 3, false, 0x18), true, 7, 7, Rm::Register(9), Some(1));
    assert_eq!(both, [0xc4, 0xc3, 0x45, 0x18, 0xf9, 0x01], "vinsertf128 $0x1,%xmm9,%ymm7,%ymm7");
    let upper = vex(Opcode::new(1, 3, false, 0x19), true, 11, 0, Rm::Register(14), Some(1));
    assert_eq!(upper, [0xc4, 0x43, 0x7d, 0x19, 0xde, 0x01], "vextractf128 $0x1,%ymm11,%xmm14");
    let blended = vex(Opcode::new(1, 3, false, 0x4b), true, 7, 11, Rm::Register(5), Some(3 << 4));
    assert_eq!(blended, [0xc4, 0xe3, 0x25, 0x4b, 0xfd, 0x30], "vblendvpd %ymm3,%ymm5,%ymm11,%ymm7");
    let shifted = vex(Opcode::new(1, 1, false, 0x72), true, 4, 14, Rm::Register(8), Some(16));
    assert_eq!(shifted, [0xc4, 0xc1, 0x0d, 0x72, 0xe0, 0x10], "vpsrad $0x10,%ymm8,%ymm14");
    let moved = vex(Opcode::new(1, 1, true, 0x6e), false, 15, 0, Rm::Register(RCX.0), None);
    assert_eq!(moved, [0xc4, 0x61, 0xf9, 0x6e, 0xf9], "vmovq %rcx,%xmm15");
    let byte = vex(Opcode::new(1, 3, false, 0x14), false, 14, 0, at(RDI, Some((RAX.0, 1)), 3), Some(3));
    assert_eq!(
        byte,
        [0xc4, 0x63, 0x79, 0x14, 0x74, 0x07, 0x03, 0x03],
        "vpextrb $0x3,%xmm14,0x3(%rdi,%rax,1)"
    );
    let lanes = vex(Opcode::new(1, 1, false, 0x50), true, RDX.0, 0, Rm::Register(9), None);
    assert_eq!(lanes, [0xc4, 0xc1, 0x7d, 0x50, 0xd1], "vmovmskpd %ymm9,%edx");
}

/// GNU as writes the first with a prefix of two bytes, which means the same.
#[test]
fn instructions_on_masks_are_those_of_the_manual() {
    let masked = bytes(|it| it.vex(Opcode::new(0, 1, false, 0x42), true, 1, 2, Rm::Register(3), None));
    assert_eq!(masked, [0xc4, 0xe1, 0x6c, 0x42, 0xcb], "kandnw %k3,%k2,%k1");
    let loaded = bytes(|it| it.vex(Opcode::new(0, 1, false, 0x90), false, 4, 0, at(RDI, None, 8), None));
    assert_eq!(loaded, [0xc4, 0xe1, 0x78, 0x90, 0x67, 0x08], "kmovw 0x8(%rdi),%k4");
}

#[test]
fn constants_stand_behind_the_code_once() {
    let code = Opcode::new(1, 2, true, 0x19);
    let how = EncodingFields { length: 64, unit: 8, ..EncodingFields::default() };
    let written = bytes(|it| {
        it.evex(code, how, 0, 0, Rm::Pool(0x0123_4567_89ab_cdef));
        it.evex(code, how, 1, 0, Rm::Pool(0x0123_4567_89ab_cdef));
    });
    // Two instructions of ten bytes, four bytes up to the next multiple of 8, and eight of the constant.
    assert_eq!(written.len(), 32);
    assert_eq!(written[6..10], 14_i32.to_le_bytes());
    assert_eq!(written[16..20], 4_i32.to_le_bytes());
    assert_eq!(written[24..], 0x0123_4567_89ab_cdef_u64.to_le_bytes());

    // For each lane, at a multiple of its bytes, and before those of one.
    let written = bytes(|it| {
        it.evex(code, how, 0, 0, Rm::Pool(7));
        it.vex(Opcode::new(1, 1, false, 0x58), true, 1, 2, Rm::PoolOfLanes(9), None);
    });
    assert_eq!(written.len(), 72);
    assert_eq!(written[6..10], 54_i32.to_le_bytes());
    assert_eq!(written[15..19], 13_i32.to_le_bytes());
    assert_eq!(written[32..64], 9_u64.to_le_bytes().repeat(4));
}
