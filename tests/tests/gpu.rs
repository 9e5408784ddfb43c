//! WGSL on a GPU, which may be one that the processor pretends to be: the bits of `debug`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::slice;

use isobar_compiler::call::array::Array;
use isobar_compiler::call::launch::{Argument, Call as Given, Launch};
use isobar_compiler::kernel::call::{CallRefusal, places};
use isobar_compiler::pass::GpuModel;
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::{Axis, AxisSet, Domain};
use isobar_compiler::types::DType;
use isobar_compiler::wgsl::plan::{DeviceLimits, Plan};
use isobar_compiler::wgsl::{self, Doubles, WgslOptions};
use isobar_runner::backends::{Backend, Failure, Setting, prepare_compiled};
use isobar_runtime::executors::wgpu;
use isobar_runtime::wanted::FetchSelection;
use isobar_testing::Shard;
use isobar_tests::against::{native_gives_the_bits_of_debug, same_fields};
use isobar_tests::agree::subject::Subject;
use isobar_tests::generate::Features;
use isobar_tests::gpu::report::{FORMAT, Report};
use isobar_tests::gpu::stencil;
use isobar_tests::native::{Layout, Workplace, hold_native, params};
use isobar_tests::{GALLERY, compiled, compiled_text, launch, root, run_debug};

/// Texts for devices of each kind: with doubles, without, and with few buffers and little memory of a block.
fn kinds() -> Vec<WgslOptions> {
    let plain = WgslOptions::default();
    vec![
        plain,
        WgslOptions { keeps: true, divides: true, buffers: 4, is_unit: false, ..plain },
        WgslOptions { doubles: Doubles::Pairs, keeps: true, divides: true, levels: Some(20), ..plain },
        WgslOptions { doubles: Doubles::Singles, shared_bytes: 64, ..plain },
    ]
}

/// Whether a device of each kind takes the text of the kernels.
fn hold_texts(compilation: &Compilation, of: &str) {
    let kernels = compilation.kernels().expect("it compiles");
    for options in kinds() {
        let text = wgsl::generate(kernels, &options).listing.text;
        if let Err(why) = wgpu::accepts(&text) {
            panic!("{of} with {options:?}: {why}\n{text}");
        }
    }
}

#[test]
fn every_text_of_the_gallery_is_valid() {
    for name in GALLERY {
        [64, 32].iter().for_each(|&precision| hold_texts(&compiled(name, precision), name));
    }
}

fn generated_texts(seeds: &[u64]) {
    let mut n = 0;
    for &seed in seeds {
        let subject = Subject::of_seed_with(seed, |it| Features { partial: seed.is_multiple_of(3), ..it });
        let compilation = subject.compile();
        if !compilation.has_errors() {
            hold_texts(&compilation, &subject.name);
            n += 1;
        }
    }
    assert!(n > seeds.len() / 2, "{n}");
}

/// Where there is no GPU, that is said.
fn has_gpu() -> bool {
    match wgpu::check() {
        Ok(_) => true,
        Err(why) => {
            isobar_testing::skip("a test of the GPU", why);
            false
        }
    }
}

isobar_testing::shards! {
    the_gallery_on_a_gpu_gives_the_bits_of_debug: 8 shards of gallery;
}

isobar_testing::over_seeds! {
    every_text_of_generated_stencils_is_valid: 50_000..50_060 in 4 shards of generated_texts;
    generated_stencils_on_a_gpu_give_the_bits_of_debug: 40_000..40_030 in 8 shards of generated;
}

fn gallery(shard: Shard) {
    if !has_gpu() {
        return;
    }
    for (name, precision) in shard.of(GALLERY.into_iter().flat_map(|it| [64, 32].map(|bits| (it, bits)))) {
        let compilation = compiled(name, precision);
        let mut launches = Vec::new();
        for domain in [Domain::new(1, 1, 4), Domain::new(13, 9, 6), Domain::new(70, 37, 13)] {
            let given = launch(&compilation, domain);
            launches.push(Layout::C.of(&given, params(&compilation)));
            launches.push(given);
        }
        let done =
            native_gives_the_bits_of_debug(Backend::WGPU, &compilation, &launches, Setting::embedded());
        done.unwrap_or_else(|why| panic!("{name} in {precision} bits: {why:#}"));
    }
}

fn generated(seeds: &[u64]) {
    if !has_gpu() {
        return;
    }
    let workplace = Workplace::below(env!("CARGO_TARGET_TMPDIR"), "on-gpu").expect("a folder of the build");
    let mut runs = 0;
    for &seed in seeds {
        let held = hold_native(seed, Backend::WGPU, &workplace).unwrap_or_else(|wrong| panic!("{wrong:#}"));
        runs += held.runs;
    }
    assert!(runs >= seeds.len() as u64 / 2, "{runs}");
}

#[test]
fn an_index_that_leaves_its_field_is_told_with_statement_and_cell() {
    if !has_gpu() {
        return;
    }
    let text = "
# @input q constant(1)
# @input at constant(0)
# @input o constant(0)
from gt4py.cartesian.gtscript import *

def pick(q: Field[float], at: Field[int], o: Field[float]):
    with computation(PARALLEL), interval(...):
        o = q[0, 0, at]
";
    let compilation = compiled_text("pick", text, 64);
    let mut given = launch(&compilation, Domain::new(7, 5, 4));
    for argument in &mut given.arguments {
        if let Argument::Field(field) = argument
            && let isobar_compiler::call::array::Elements::Int64(it) = &mut field.array.elements
        {
            it.iter_mut().for_each(|it| *it = 0);
            // Two cells, and the first one in the order of `debug` is told.
            let n = it.len();
            it[n - 1] = 1;
        }
    }
    let done = native_gives_the_bits_of_debug(
        Backend::WGPU,
        &compilation,
        slice::from_ref(&given),
        Setting::embedded(),
    );
    let held = done.unwrap_or_else(|why| panic!("{why:#}"));
    assert_eq!(held.other_traps, 0);
    let prepared = prepare_compiled(&*Backend::WGPU.executor(), &compilation, Setting::embedded(), &|_| ());
    let ended = prepared.unwrap_or_else(|why| panic!("{why:?}")).run(&mut given);
    assert!(matches!(ended, Err(Failure::Trap { cell: [6, 4, 3], .. })), "{ended:?}");
}

#[test]
fn fields_that_stay_on_the_gpu_come_back_when_they_are_fetched() {
    if !has_gpu() {
        return;
    }
    let compilation = compiled("copy_scale", 64);
    let given = launch(&compilation, Domain::new(9, 8, 5));
    let prepared = prepare_compiled(&*Backend::WGPU.executor(), &compilation, Setting::embedded(), &|_| ());
    let mut prepared = prepared.unwrap_or_else(|why| panic!("{why:?}"));
    let (mut at_once, mut kept) = (given.clone(), given.clone());
    prepared.run(&mut at_once).unwrap_or_else(|why| panic!("{why:?}"));
    prepared.keep(&kept).unwrap_or_else(|why| panic!("{why:?}"));
    for _ in 0..3 {
        prepared.run(&mut kept).unwrap_or_else(|why| panic!("{why:?}"));
    }
    same_fields(&compilation, &given, &kept).expect("nothing came back yet");
    prepared.fetch(&mut kept, &FetchSelection::default()).unwrap_or_else(|why| panic!("{why:?}"));
    same_fields(&compilation, &at_once, &kept).expect("what three calls wrote is what one does");
    let steps = prepared.progress().step_ms();
    assert_eq!(steps.len(), 1, "each step has its time: {steps:?}");
}

#[test]
fn only_what_is_wanted_comes_back_and_planes_are_cut_on_the_gpu() {
    if !has_gpu() {
        return;
    }
    let text = "
# @domain 9 7 5
# @input q random(low=-1, high=1, seed=3)
# @input small constant(0)
# @input surface constant(0)
# @input o constant(0)
import numpy as np
from gt4py.cartesian.gtscript import *

def f(q: Field[float], o: Field[float], small: Field[np.int8], surface: Field[IJ, float]):
    with computation(PARALLEL), interval(...):
        o = q[1, 0, 0] - q[-1, 0, 0]
        small = 3 if q > 0.0 else -2
    with computation(FORWARD), interval(-1, None):
        surface = q * 2.0
";
    let compilation = compiled_text("planes", text, 64);
    let signature = compilation.front.signature.as_ref().expect("it compiles");
    let number = |name: &str| signature.params.iter().position(|it| it.name == name).expect("it is there");
    let domain = Domain::new(9, 7, 5);
    for layout in [Layout::Fortran, Layout::C, Layout::Padded] {
        let given = layout.of(&launch(&compilation, domain), params(&compilation));
        let mut meant = given.clone();
        run_debug(&compilation, &mut meant);
        let prepared =
            prepare_compiled(&*Backend::WGPU.executor(), &compilation, Setting::embedded(), &|_| ());
        let mut prepared = prepared.unwrap_or_else(|why| panic!("{why:?}"));
        for (axis, at) in [(Axis::I, 8), (Axis::J, 3), (Axis::K, 4), (Axis::K, 0)] {
            let wanted = FetchSelection { plane: Some((axis, at)), ..FetchSelection::default() };
            let mut found = given.clone();
            prepared.keep(&found).unwrap_or_else(|why| panic!("{why:?}"));
            prepared.run(&mut found).unwrap_or_else(|why| panic!("{why:?}"));
            prepared.fetch(&mut found, &wanted).unwrap_or_else(|why| panic!("{why:?}"));
            for (name, axes) in [("o", AxisSet::IJK), ("small", AxisSet::IJK), ("surface", AxisSet::IJ)] {
                let number = number(name);
                let [given, meant, found] = [&given, &meant, &found].map(|it| match &it.arguments[number] {
                    Argument::Field(it) => it,
                    _ => panic!("{name} is a field"),
                });
                match wanted.plane_of(axes, found) {
                    Some(plane) => {
                        assert_eq!(
                            plane.cut(&found.array),
                            plane.cut(&meant.array),
                            "{name} {axis:?} {layout:?}"
                        );
                        // The rest is as it was.
                        let here: BTreeSet<usize> = plane.positions().collect();
                        let mut others = (0..found.array.elements.len()).filter(|it| !here.contains(it));
                        assert!(
                            others.all(|it| found.array.elements.get(it) == given.array.elements.get(it))
                        );
                    }
                    None => assert_eq!(found.array, meant.array, "{name} {axis:?} {layout:?}"),
                }
            }
        }
        let wanted = FetchSelection { arguments: Some(vec![number("surface")]), plane: None };
        let mut found = given.clone();
        prepared.keep(&found).unwrap_or_else(|why| panic!("{why:?}"));
        prepared.run(&mut found).unwrap_or_else(|why| panic!("{why:?}"));
        prepared.fetch(&mut found, &wanted).unwrap_or_else(|why| panic!("{why:?}"));
        let arrays = |it: &Launch, name| match &it.arguments[number(name)] {
            Argument::Field(it) => it.array.clone(),
            _ => panic!("{name} is a field"),
        };
        assert_eq!(arrays(&found, "surface"), arrays(&meant, "surface"));
        assert_eq!(arrays(&found, "o"), arrays(&given, "o"));
    }
}

fn of_two_fields(body: &str) -> Compilation {
    let text = format!(
        "from gt4py.cartesian.gtscript import *\n\ndef f(q: Field[float], o: Field[float]):\n{body}\n"
    );
    compiled_text("fields", &text, 64)
}

fn planned(
    compilation: &Compilation,
    options: &WgslOptions,
    most: DeviceLimits,
) -> Result<Plan, CallRefusal> {
    let zeros = || Array::zeros(DType::Float64, &[8, 6, 5]);
    let fields = BTreeMap::from([("q".to_owned(), zeros()), ("o".to_owned(), zeros())]);
    let domain = Some([6, 4, 5]);
    let origin = BTreeMap::from([("_all_".to_owned(), vec![1, 1, 0])]);
    let call = compilation.front.bind(Given { fields, domain, origin, ..Given::default() }).expect("it fits");
    let kernels = compilation.kernels().expect("it compiles");
    let artifact = wgsl::generate(kernels, options);
    let places = places(kernels, compilation.front.signature.as_ref().expect("it compiles"));
    Plan::of(kernels, &artifact, &places, &call, most)
}

const MOST: DeviceLimits = DeviceLimits { bytes: 1 << 20, blocks: 65_535 };
const SHIFT: &str = "    with computation(PARALLEL), interval(...):\n        o = q[1, 0, 0] + q[0, -1, 0]";

#[test]
fn a_field_beyond_the_limit_is_refused_with_both_numbers() {
    let most = DeviceLimits { bytes: 1919, ..MOST };
    let refused = planned(&of_two_fields(SHIFT), &WgslOptions::default(), most).unwrap_err();
    let CallRefusal::Other(why) = refused else { panic!("{refused:?}") };
    assert!(why.contains("takes 1920 bytes, and the GPU lets a kernel reach 1919 bytes"), "{why}");
}

#[test]
fn fields_lie_alone_or_one_behind_the_other() {
    let compilation = of_two_fields(
        "    with computation(PARALLEL), interval(...):\n        o = q + o\n        q = o * 2.0",
    );
    let alone = planned(&compilation, &WgslOptions::default(), MOST).unwrap();
    assert!(alone.buffers.values().all(|it| it.bytes == 1920 && it.arrays.len() == 1), "{alone:?}");
    let together = planned(&compilation, &WgslOptions { buffers: 3, ..WgslOptions::default() }, MOST);
    let together = together.unwrap();
    let [packed] = together.buffers.values().collect::<Vec<_>>()[..] else { panic!("{together:?}") };
    assert_eq!((packed.bytes, packed.arrays[1].first), (3840, 240));
    assert_eq!(together.words[0], 0, "what no compiler may know");
    assert_eq!(&together.words[1..4], [6, 4, 5]);
}

#[test]
fn what_verify_writes_tells_what_was_held_and_measured_and_what_is_absent() {
    if !has_gpu() {
        return;
    }
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("verify-{}.json", std::process::id()));
    let script = root().join("tests/gpu/verify");
    let done = Command::new(script)
        .args(["--generated", "3", "--kernel", "hdiff", "--domain", "9x7x6", "--rounds", "3", "--out"])
        .arg(&out)
        .env("ISOBAR_GPU_VERIFY", env!("CARGO_BIN_EXE_gpu-verify"))
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    let report: Report =
        serde_json::from_slice(&std::fs::read(&out).expect("it is written")).expect("it is ours");
    std::fs::remove_file(&out).expect("it is ours");
    assert_eq!(report.format, FORMAT);
    let of = |what: &str, precision| {
        let held = report
            .correctness
            .iter()
            .find(|it| it.backend == "wgpu" && it.what == what && it.precision == precision);
        held.unwrap_or_else(|| panic!("{what} f{precision} was not held: {said}"))
    };
    assert_eq!((of("gallery", 64).stencils, of("gallery", 32).failures), (1, 0));
    assert_eq!((of("generated", 64).stencils, of("generated", 64).failures), (3, 0));
    assert_eq!((of("programs", 64).stencils, of("programs", 64).failures), (1, 0));
    assert_eq!(report.benchmark.len(), 2, "{said}");
    for case in &report.benchmark {
        let measured = case.measured.iter().find(|it| it.who == "wgpu").expect("it is there");
        assert_eq!(measured.wrong, None);
        let part = measured.of_copy.expect("lavapipe tells how it copies");
        assert!(0.0 < part.min && part.min <= part.median && part.median <= part.max, "{part:?}");
    }
    // Where there is a driver of NVIDIA, it was held as well.
    let cuda = report.devices.iter().find(|it| it.backend == "cuda").expect("it is looked for");
    assert_eq!(cuda.absent.is_some(), report.absent.iter().any(|it| it.who == "cuda"), "{said}");
}

#[test]
fn kernels_of_a_run_are_made_for_the_gpu_that_is_named() {
    let hdiff = stencil("hdiff").expect("it is in the gallery");
    let threads = |gpu| {
        let compilation = hdiff.compiled(64, gpu).expect("it compiles");
        let kernels = compilation.kernels().expect("it compiles");
        kernels
            .kernels
            .iter()
            .map(|it| it.threads.iter().map(|it| it.count).product::<u32>())
            .collect::<Vec<_>>()
    };
    let few = GpuModel { threads_of_block: 64, ..GpuModel::H100 };
    assert_eq!(threads(None), threads(Some(GpuModel::H100)));
    assert_ne!(threads(None), threads(Some(few)));
}
