//! CUDA text on a CPU leaves the bits of `debug`, and what it must not do is found.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use isobar_compiler::call::launch::Launch;
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::Domain;
use isobar_testing::{Shard, skip};
use isobar_tests::against::same_fields;
use isobar_tests::emulation::{ByHand, Program, Text, has_compiler, hold_emulated};
use isobar_tests::gpu::hand::{Given, HAND};
use isobar_tests::gpu::stencil;
use isobar_tests::{GALLERY, compiled, compiled_text, launch, root, run_debug};

/// A folder for what is compiled, which is removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        static FOLDERS: AtomicU32 = AtomicU32::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("isobar-{name}-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder for what is needed for a while");
        Self(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The stencils of the gallery and the kernels of the benchmarks, in double and in single precision.
fn written() -> Vec<(String, Compilation)> {
    let mut all = Vec::new();
    for precision in [64, 32] {
        all.extend(GALLERY.map(|name| (format!("{name} {precision}"), compiled(name, precision))));
        for entry in std::fs::read_dir(root().join("tests/kernels")).expect("they are there") {
            let path = entry.expect("it is a file").path();
            if path.extension().is_none_or(|it| it != "py") {
                continue;
            }
            let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).expect("it is text");
            all.push((format!("{name} {precision}"), compiled_text(&name, &text, precision)));
        }
    }
    all
}

const DOMAINS: [Domain; 3] =
    [Domain { i: 5, j: 4, k: 4 }, Domain { i: 1, j: 1, k: 4 }, Domain { i: 70, j: 37, k: 13 }];

fn launches(compilation: &Compilation) -> Vec<Launch> {
    DOMAINS.map(|it| launch(compilation, it)).to_vec()
}

fn kernels_that_people_wrote(shard: Shard) {
    if !has_compiler() {
        return skip("emulated kernels", "there is no `g++`");
    }
    let all: Vec<_> = shard.of(written()).collect();
    let of_all: Vec<_> = all.iter().map(|(_, it)| launches(it)).collect();
    let texts = all.iter().zip(&of_all).enumerate();
    let texts = texts.map(|(at, ((_, it), launches))| Text::of(it, launches, at % 3 == 0).unwrap()).collect();
    let folder = Folder::new("emulated");
    let mut program = Program::new(texts, folder.path()).unwrap();
    for (at, launches) in of_all.iter().enumerate() {
        for launch in launches {
            let is_other = program.gives_the_bits_of_debug(at, launch, &[1, 2]);
            assert!(!is_other.unwrap_or_else(|why| panic!("{}: {why:#}", all[at].0)));
        }
    }
}

#[test]
fn cuda_by_hand_leaves_the_bits_of_debug() {
    if !has_compiler() {
        return skip("emulated kernels", "there is no `g++`");
    }
    let folder = Folder::new("by-hand");
    let mut program = ByHand::new(&HAND, folder.path()).unwrap();
    let domains = [
        Domain { i: 1, j: 1, k: 3 },
        Domain { i: 5, j: 4, k: 4 },
        Domain { i: 70, j: 37, k: 13 },
        Domain { i: 131, j: 17, k: 5 },
    ];
    for hand in &HAND {
        for precision in [64, 32] {
            let stencil = stencil(hand.name).unwrap();
            let compilation = stencil.compiled(precision, None).unwrap();
            for domain in domains {
                let given = launch(&compilation, domain);
                let (mut meant, mut found) = (given.clone(), given.clone());
                run_debug(&compilation, &mut meant);
                let planned = hand.planned(&compilation, &given, precision).unwrap();
                let left = program.run(&planned, 7).unwrap();
                planned.bring(&left, &mut found).unwrap();
                let same = same_fields(&compilation, &meant, &found);
                same.unwrap_or_else(|why| panic!("{} {precision} {domain}: {why:#}", hand.name));
            }
        }
    }
}

#[test]
fn the_kernel_that_copies_boxes_takes_what_lies_there() {
    if !has_compiler() {
        return skip("emulated kernels", "there is no `g++`");
    }
    let folder = Folder::new("boxes");
    let text = include_str!("../../shaders/boxes.cuh").to_owned();
    let mut program = ByHand::of(&[("boxes", text, vec!["copy_box".to_owned()])], folder.path()).unwrap();
    for size in [1_usize, 2, 4, 8] {
        let whole: Vec<u8> = (0..=255).cycle().take(400 * size).map(|it: u8| it.wrapping_mul(97)).collect();
        // Points of four dimensions, the fastest first, with distances where elements come from and where they come to.
        for (to, dimensions) in [
            (0, [[300, 1, 1], [1, 0, 0], [1, 0, 0], [1, 0, 0]]),
            (0, [[5, 1, 1], [4, 9, 5], [3, 40, 20], [2, 130, 60]]),
            (399, [[5, 0, -1], [4, 9, -5], [3, 40, -20], [2, 130, -60]]),
        ] {
            let n: i64 = dimensions.iter().map(|it| it[0]).product();
            let mut numbers = vec![n, size as i64, 7, to];
            numbers.extend(dimensions.iter().flatten());
            numbers.remove(numbers.len() - 3);
            let mut arguments = vec![Given::Buffer { at: 0, byte: 0 }, Given::Buffer { at: 1, byte: 0 }];
            arguments.extend(numbers.into_iter().map(|it| Given::Bits(it.cast_unsigned())));
            let room = vec![0_u8; 400 * size];
            let blocks = u32::try_from(n.cast_unsigned().div_ceil(256)).unwrap();
            let shape = [[blocks, 1, 1], [256, 1, 1]];
            let left =
                program.launch("copy_box", shape, 0, &arguments, &[whole.clone(), room.clone()], 3).unwrap();
            let mut expected = room;
            for at in 0..n {
                let (mut rest, mut from, mut to) = (at, 7, to);
                for [points, from_between, to_between] in dimensions {
                    from += rest % points * from_between;
                    to += rest % points * to_between;
                    rest /= points;
                }
                let [from, to] = [from, to].map(|it| usize::try_from(it).unwrap() * size);
                expected[to..to + size].copy_from_slice(&whole[from..from + size]);
            }
            assert_eq!(left[1], expected, "{size} {dimensions:?}");
        }
    }
}

isobar_testing::over_seeds! {
    kernels_of_generated_stencils_leave_the_bits_of_debug: 0..40 in 8 shards of generated;
}

isobar_testing::shards! {
    kernels_that_people_wrote_leave_the_bits_of_debug: 4 shards of kernels_that_people_wrote;
    a_barrier_that_is_dropped_or_that_not_all_threads_reach_is_found: 2 shards of barriers;
}

fn generated(seeds: &[u64]) {
    if !has_compiler() {
        return skip("emulated kernels", "there is no `g++`");
    }
    let folder = Folder::new("generated");
    let mut runs = 0;
    for (seed, held) in hold_emulated(seeds, folder.path()) {
        let held = held.unwrap_or_else(|wrong| panic!("seed {seed}: {wrong:#}"));
        assert_eq!(held.other_traps, 0, "seed {seed}");
        runs += held.runs;
    }
    assert!(runs >= seeds.len() as u64 / 2, "{runs}");
}

fn barriers(shard: Shard) {
    if !has_compiler() {
        return skip("emulated kernels", "there is no `g++`");
    }
    const BARRIER: &str = "ISOBAR_BARRIER();";
    let all = written();
    let folder = Folder::new("mutated");
    let kernels = |compilation: &Compilation| {
        let whole = compilation.cuda().unwrap().listing.text.clone();
        let (before, kernels) = whole.split_once("/* Step 1 ").unwrap();
        (before.to_owned(), kernels.to_owned())
    };
    let cases: Vec<_> = all
        .iter()
        .flat_map(|case| {
            let places: Vec<usize> = kernels(&case.1).1.match_indices(BARRIER).map(|it| it.0).collect();
            places.into_iter().take(2).map(move |at| (case, at))
        })
        .collect();
    assert!(cases.len() >= shard.count, "{} barriers in kernels that people wrote", cases.len());
    for ((name, compilation), at) in shard.of(cases) {
        let launches = launches(compilation);
        let launch = launches.last().unwrap();
        let (before, kernels) = kernels(compilation);
        let with = |instead: &str| {
            let text =
                format!("{before}/* Step 1 {}{instead}{}", &kernels[..at], &kernels[at + BARRIER.len()..]);
            let whole = Text::of(compilation, &launches, false).unwrap();
            whole.with_text(text)
        };
        let texts = vec![with(""), with("if (threadIdx.x != 3) ISOBAR_BARRIER();")];
        let mut program = Program::new(texts, folder.path()).unwrap();
        let seeds: Vec<u64> = (0..6).collect();
        let dropped = program.gives_the_bits_of_debug(0, launch, &seeds);
        assert!(dropped.is_err(), "{name}: nobody misses the barrier at {at}");
        let alone = program.gives_the_bits_of_debug(1, launch, &[1]).unwrap_err();
        assert!(format!("{alone:#}").contains("do not wait for each other"), "{name}: {alone:#}");
    }
}
