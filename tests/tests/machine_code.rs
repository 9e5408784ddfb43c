//! Machine code made in process gives the bits of the interpreter, with any number of threads and any
//! strides. So does C. The equivalence of generated stencils tells less about C, as compiling it takes long.

use std::path::Path;
use std::slice;

use isobar_compiler::call::launch::Launch;
use isobar_compiler::config::Config;
use isobar_compiler::pass::{Cache, MachineModel, PassOptions};
use isobar_compiler::pipeline::{Compilation, NoHook, route};
use isobar_compiler::project::Project;
use isobar_compiler::space::Domain;
use isobar_equivalence::compare::compare;
use isobar_equivalence::journey::Journey;
use isobar_runner::backends::{Backend, Mode, Relayout, Setting, Vectors};
use isobar_testing::{Shard, skip, skip_part};
use isobar_tests::against::native_gives_the_bits_of_debug;
use isobar_tests::conformance::{self, all_blocks};
use isobar_tests::kernels::fields::Fields;
use isobar_tests::native::{Layout, Workplace, hold_native, params};
use isobar_tests::{GALLERY, compiled, compiled_text, gallery_text, launch, root};

/// Where C is compiled; where there is no compiler, the test is skipped.
fn workplace(name: &str) -> Option<Workplace> {
    workplace_or(name, skip)
}

/// The same; where there is no compiler, `tell` says so.
fn workplace_or(name: &str, tell: impl Fn(&'static str, String)) -> Option<Workplace> {
    let workplace = Workplace::below(env!("CARGO_TARGET_TMPDIR"), name).expect("a folder of the build");
    if let Err(why) = workplace.check(Backend::OPENMP) {
        tell("generated C", why.to_string());
        return None;
    }
    Some(workplace)
}

fn check(compilation: &Compilation, launch: &Launch) -> Result<(), String> {
    let nothing = Err(String::new());
    let setting = Setting {
        cc: &nothing,
        cache: None,
        temporary: Path::new(""),
        threads: 1,
        mode: Mode::Reproducible,
        vectors: Vectors::Widest,
        relayout: Relayout::ByCost,
        has_lines: false,
        is_embedded: false,
    };
    let done = native_gives_the_bits_of_debug(Backend::RAYON, compilation, slice::from_ref(launch), setting);
    done.map(|_| ()).map_err(|it| format!("{it:#}"))
}

isobar_testing::shards! {
    the_gallery_gives_the_bits_of_debug: 2 shards of gallery;
    the_stencils_of_the_conformance_pages_give_the_bits_of_debug: 4 shards of conformance_pages;
    generated_stencils_give_the_bits_of_debug_in_c: 8 shards of generated_in_c;
    c_in_blocks_gives_the_bits_of_debug: 4 shards of c_in_blocks;
    c_in_pieces_gives_the_bits_of_debug: 2 shards of c_in_pieces;
    c_in_cut_loops_gives_the_bits_of_debug: 2 shards of c_in_cut_loops;
    c_that_passes_over_branches_gives_the_bits_of_debug: 4 shards of c_that_passes_over_branches;
}

isobar_testing::over_seeds! {
    generated_stencils_give_the_bits_of_debug_in_all_layouts_for_all_machines:
        20_000..20_100 in 8 shards of generated;
}

fn gallery(shard: Shard) {
    for name in shard.of(GALLERY) {
        for precision in [64, 32] {
            let compilation = compiled(name, precision);
            // Fewer columns than lanes, some more than that, and more rows than a tile has.
            for domain in
                [Domain::new(1, 1, 4), Domain::new(3, 2, 5), Domain::new(13, 9, 6), Domain::new(6, 70, 4)]
            {
                let given = launch(&compilation, domain);
                for given in [&given, &Layout::C.of(&given, params(&compilation))] {
                    let done = check(&compilation, given);
                    assert_eq!(done, Ok(()), "{name} in {precision} bits on {domain}");
                }
            }
        }
    }
}

fn conformance_pages(shard: Shard) {
    let (mut wrong, mut count) = (String::new(), 0);
    for (page, block) in shard.of(all_blocks()) {
        let Ok(compilation) = conformance::compile(&block) else { continue };
        let (false, Some(signature)) = (compilation.has_errors(), &compilation.front.signature) else {
            continue;
        };
        let Ok(call) = conformance::call(&block, &compilation, signature) else { continue };
        let Ok(given) = compilation.front.bind(call) else { continue };
        count += 1;
        for given in [&given, &Layout::C.of(&given, params(&compilation))] {
            if let Err(found) = check(&compilation, given) {
                wrong.push_str(&format!("{page}:{}: {found}\n", block.line));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 100 / shard.count, "{count} stencils of the pages were run");
}

/// Integers of both widths, what they are converted to, and bools, which have instructions of their own.
#[test]
fn integers_and_bools_in_vectors_give_the_bits_of_debug() {
    // Numbers that no double holds, and some that it does.
    let text = "\
# @input n random(low=-9000000000000000000, high=9000000000000000000, seed=1)
# @input m random(low=-2000000000, high=2000000000, seed=2)
# @input c random(low=-9, high=9000000000, seed=3)
# @input f checker()
import numpy as np
from gt4py.cartesian.gtscript import PARALLEL, Field, computation, float32, float64, interval


def mixed(n: Field[np.int64], m: Field[np.int32], a: Field[np.float64], b: Field[np.float32],
          c: Field[np.int64], f: Field[bool], g: Field[bool]):
    with computation(PARALLEL), interval(...):
        a = float64(n) * 0.5 + n
        b = float32(m) if m > 3 else float32(2.5)
        c = n if n <= c else c - n
        g = f and (a > 1.0 or n != c)
        if f:
            a = a + m
";
    let compilation = compiled_text("mixed", text, 64);
    for domain in [Domain::new(3, 2, 2), Domain::new(13, 3, 2), Domain::new(24, 2, 1)] {
        let given = launch(&compilation, domain);
        assert_eq!(check(&compilation, &given), Ok(()), "{domain}");
    }
}

/// Functions that take long are in blocks of their own. Where vectors have 256 bits, several of them go
/// through such a block in turn. The rows have one such group, some groups with a rest, and some with whole
/// vectors behind them.
#[test]
fn cut_loops_give_the_bits_of_debug() {
    for precision in [64, 32] {
        let compilation = compiled("column_physics", precision);
        for i in [16, 19, 37, 72] {
            let given = launch(&compilation, Domain::new(i, 3, 5));
            for given in [&given, &Layout::C.of(&given, params(&compilation))] {
                assert_eq!(check(&compilation, given), Ok(()), "{i} points in {precision} bits");
            }
        }
    }
}

/// Stores past the caches: whole rows, of fields that no cache keeps.
#[test]
fn rows_of_large_fields_give_the_bits_of_debug() {
    let (name, domain) = (GALLERY[0], Domain::new(131, 128, 64));
    let compilation = compiled(name, 64);
    let signature = compilation.front.signature.as_ref().expect("it compiles");
    let given = Fields::aligned(&launch(&compilation, domain), signature).launch;
    assert_eq!(check(&compilation, &given), Ok(()), "{name} on {domain}");
}

fn generated(seeds: &[u64]) {
    let workplace =
        Workplace::below(env!("CARGO_TARGET_TMPDIR"), "generated").expect("a folder of the build");
    let mut runs = 0;
    for &seed in seeds {
        let held = hold_native(seed, Backend::RAYON, &workplace).unwrap_or_else(|wrong| panic!("{wrong:#}"));
        runs += held.runs;
    }
    assert!(runs >= seeds.len() as u64 / 2, "{runs}");
}

#[test]
fn a_point_beside_rows_in_a_loop_that_prefetches_has_the_bits_of_debug() {
    generated(&[300_973]);
}

/// Seeds of stencils whose results were wrong once:
///
/// * Values between steps, or arrays between graphs, were lost.
/// * Rows that are also read were written past the caches.
/// * A fraction became a zero with a sign.
/// * A store under a condition came behind the one that follows it.
/// * Some had other faults.
const IN_C: [u64; 8] = [2, 11, 30, 112, 243, 259, 815, 105_789];

fn generated_in_c(shard: Shard) {
    let Some(workplace) = workplace("generated_in_c") else { return };
    let mut runs = 0;
    for seed in shard.of(IN_C) {
        let held = hold_native(seed, Backend::OPENMP, &workplace).unwrap_or_else(|wrong| panic!("{wrong:#}"));
        runs += held.runs;
    }
    assert!(runs >= 8 / shard.count as u64, "{runs}");
}

/// The parts of a loop whose iterations have arrays of their own, as a document cuts it by hand, with what may be
/// merged then.
#[test]
fn a_front_that_is_cut_by_hand_gives_the_bits_of_debug() {
    let name = "horizontal_diffusion";
    let text = gallery_text(name);
    let with = |passes: PassOptions, document: Option<String>| {
        let mut project = Project::of_one("main.py", &text);
        project.files.extend(document.map(|it| ("main.schedule".to_owned(), it.into())));
        route::compile(&project, &Config { passes, ..Config::default() }, &mut NoHook)
    };
    // Without what would cut it by itself.
    let skip = ["schedule/meet-in-domain".to_owned()].into();
    let chosen = with(PassOptions { steps: true, skip, ..PassOptions::default() }, None);
    let steps = chosen.schedule_steps().expect("the steps were kept");
    let cut = "split j_front@s0 at 1\ndrop j@s1#2\ndrop j@s3#2\ndrop j@s5#2\nmerge i@s3#2 i@s5#2\n";
    let passes = PassOptions { schedule: Some("main.schedule".to_owned()), ..PassOptions::default() };
    let compilation = with(passes, Some(format!("{steps}{cut}")));
    assert!(!compilation.has_errors(), "{:#?}", compilation.notes.diagnostics);
    let domains = [Domain::new(1, 1, 3), Domain::new(5, 2, 2), Domain::new(19, 8, 3)];
    let given = domains.map(|it| launch(&compilation, it));
    given.iter().for_each(|it| assert_eq!(check(&compilation, it), Ok(())));
    let Some(workplace) = workplace_or("cut_by_hand", skip_part) else { return };
    let done = native_gives_the_bits_of_debug(Backend::OPENMP, &compilation, &given, workplace.setting());
    assert_eq!(done.map(|_| ()).map_err(|it| format!("{it:#}")), Ok(()));
}

#[test]
fn c_of_many_steps_is_compiled_in_parts_and_gives_the_bits_of_debug() {
    let Some(workplace) = workplace("in_parts") else { return };
    let chain = std::fs::read_to_string(root().join("tests/kernels/chain.py")).expect("it is text");
    let is_statement = |it: &str| it.starts_with("        ") && it.contains(" = ");
    let apart = chain.lines().map(|it| match is_statement(it) {
        true => format!("        # @keep apart\n{it}\n"),
        false => format!("{it}\n"),
    });
    let compilation = compiled_text("chain", &apart.collect::<String>(), 64);
    let artifact = compilation.c().expect("there is C");
    assert!(artifact.n_parts > 4, "{} parts", artifact.n_parts);
    let given = [launch(&compilation, Domain::new(9, 7, 5))];
    let done = native_gives_the_bits_of_debug(Backend::OPENMP, &compilation, &given, workplace.setting());
    assert_eq!(done.map(|_| ()).map_err(|it| format!("{it:#}")), Ok(()));
}

/// Short loops over rows in blocks of whole vectors. Rows are too short for a block, as short as may be, or
/// longer, with and without a rest. The longest exceed the part of a row that goes past the caches.
fn c_in_blocks(shard: Shard) {
    let Some(workplace) = workplace("in_blocks") else { return };
    let chain = std::fs::read_to_string(root().join("tests/kernels/chain.py")).expect("it is text");
    let texts = [("ppm", gallery_text("ppm_transport")), ("chain", chain)];
    let cases = texts.iter().flat_map(|it| [64, 32].map(|precision| (it, precision)));
    for ((name, text), precision) in shard.of(cases) {
        let mut config = Config::with_precision(precision);
        let caches = vec![Cache { bytes: 32 << 10, cores: 1 }, Cache { bytes: 512 << 10, cores: 1 }];
        // Half of its last cache is less than the longest rows take, so that they go past it.
        config.passes.machine = Some(MachineModel { cores: 1, caches, line_bytes: 64, vector_bytes: 64 });
        let project = Project::of_one("main.py", text);
        let compilation = route::compile(&project, &config, &mut NoHook);
        let artifact = compilation.c().expect("there is C");
        let least = artifact.least_points;
        assert!(least > 0, "{name} has no blocks");
        let domains = [least - 1, least, least + 5, 64, 700].map(|i| Domain::new(i, 9, 4));
        let given = domains.map(|it| launch(&compilation, it));
        let done = native_gives_the_bits_of_debug(Backend::OPENMP, &compilation, &given, workplace.setting());
        assert_eq!(done.map(|_| ()).map_err(|it| format!("{it:#}")), Ok(()), "{name} in {precision} bits");
    }
}

/// Rows that go past the caches in pieces: less than a piece, one and a few pieces, with the points before
/// and behind them. Loops take one row at a time, or two.
fn c_in_pieces(shard: Shard) {
    let Some(workplace) = workplace("in_pieces") else { return };
    let names = ["copy_scale", "horizontal_diffusion", "vertical_advection", "ppm_transport"];
    for (name, precision) in shard.of(names.into_iter().flat_map(|it| [64, 32].map(|bits| (it, bits)))) {
        hold_c(&workplace, &gallery_text(name), precision, "isobar_past_caches(", [31, 64, 71, 140]);
    }
}

/// Loops that are cut at functions, in strips: a short one, a whole one, and some with a rest. They are cut
/// before `while`, in it and where there is none.
fn c_in_cut_loops(shard: Shard) {
    let Some(workplace) = workplace("in_cut_loops") else { return };
    for precision in shard.of([64, 32]) {
        hold_c(&workplace, &gallery_text("column_physics"), precision, "exp_value[lane]", [1, 32, 37, 70]);
    }
}

/// Branches as cloud schemes have them: in each other, beside a `while`, with values that are needed behind them.
const BRANCHES: &str = "\
from gt4py.cartesian.gtscript import *

# @input t random(low=0, high=1)
# @input q random(low=0, high=0.8)
# @input out constant(0)
# @input rain constant(0)
def cloud(t: Field[float], q: Field[float], out: Field[float], rain: Field[float]):
    with computation(FORWARD):
        with interval(0, 1):
            out = t
            rain = 0.0
        with interval(1, None):
            rate = 0.5
            if q > 0.4:
                a = exp(0.3 * t) / (1.0 + q * q)
                b = log(1.0 + q * q) * a + exp(q - a)
                if t > 0.5:
                    rate = exp(a) * b + sqrt(q + 1.0) / (a + 1.0) + exp(b * 0.1) + exp(a - b)
                    if rate > 2.0:
                        rain = rain[0, 0, -1] + exp(-rate) + exp(rate - 3.0) + exp(0.2 * rate) + exp(t * rate)
                    else:
                        rain = rate
                elif t > 0.2:
                    rain = rain[0, 0, -1]
                    rate = a
                else:
                    rain = a
                b = a
                out = out[0, 0, -1] + a * rate
            elif q > 0.2:
                rain = rate * t
                out = 1.0
            else:
                out = out[0, 0, -1]
                rain = 0.0
            while rate > 1.0:
                rate = 0.5 * rate
            out = out + rate
";

/// Strips none of whose points takes an arm, some or all do.
fn c_that_passes_over_branches(shard: Shard) {
    let Some(workplace) = workplace("passed_over") else { return };
    let taken_by_none = BRANCHES.replace("q > 0.4", "q > 40.0");
    let cases = [BRANCHES, &taken_by_none].into_iter().flat_map(|text| [64, 32].map(|bits| (text, bits)));
    for (text, precision) in shard.of(cases) {
        hold_c(&workplace, text, precision, "if ((arms_3 >> 1 & 1) != 0)", [1, 32, 37, 70]);
    }
}

#[test]
fn branches_that_are_passed_over_mean_the_same_at_every_level() {
    let compilation = route::compile(&Project::of_one("main.py", BRANCHES), &Config::default(), &mut NoHook);
    let oir = compilation.front.oir.as_ref().expect("it compiles");
    for domain in [Domain::new(5, 3, 4), Domain::new(37, 2, 3)] {
        let (_, found) = compare(&Journey::usual(oir), &launch(&compilation, domain), &[1, 2]);
        assert!(found.is_none(), "on {domain}: {}", found.expect("just asked"));
    }
}

/// Holds C for small caches and vectors of 32 bytes against `debug`, on rows of so many points. `form` is what the text has
/// to have.
fn hold_c(workplace: &Workplace, text: &str, precision: u32, form: &str, rows: [i64; 4]) {
    let mut config = Config::with_precision(precision);
    let caches = vec![Cache { bytes: 32 << 10, cores: 1 }, Cache { bytes: 4 << 10, cores: 1 }];
    config.passes.machine = Some(MachineModel { cores: 1, caches, line_bytes: 64, vector_bytes: 32 });
    let compilation = route::compile(&Project::of_one("main.py", text), &config, &mut NoHook);
    let artifact = compilation.c().expect("there is C");
    let c = &artifact.listing.text;
    assert!(c.contains(form), "no `{form}` in\n{c}");
    let signature = compilation.front.signature.as_ref().expect("it compiles");
    let dense = rows.map(|i| launch(&compilation, Domain::new(i, 9, 4)));
    // Rows that start anywhere, and rows that all start at lines.
    let aligned = dense.iter().map(|it| Fields::aligned(it, signature).launch);
    let given: Vec<Launch> = dense.iter().cloned().chain(aligned).collect();
    let done = native_gives_the_bits_of_debug(Backend::OPENMP, &compilation, &given, workplace.setting());
    let done = done.map(|_| ()).map_err(|it| format!("{it:#}"));
    assert_eq!(done, Ok(()), "{} in {precision} bits", signature.name);
}
