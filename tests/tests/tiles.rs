//! Tiles of parts of rows: some sweeps have rows that do not fit into the cache together. They run one after
//! the other on a few columns, and give the bits of the interpreter.

use std::path::Path;

use isobar_compiler::call::launch::Launch;
use isobar_compiler::config::Config;
use isobar_compiler::inputs;
use isobar_compiler::pass::{Cache, MachineModel};
use isobar_compiler::pipeline::{Compilation, NoHook, route};
use isobar_compiler::project::Project;
use isobar_compiler::schedule::analysis::cost::Machine;
use isobar_compiler::schedule::nodes::{Node, Storage, Tree};
use isobar_compiler::schedule::passes::Target;
use isobar_compiler::schedule::print::listing;
use isobar_compiler::space::{Axis, Domain, names};
use isobar_equivalence::compare::compare;
use isobar_runner::backends::Backend;
use isobar_tests::against::native_gives_the_bits_of_debug;
use isobar_tests::corpus::small_inputs;
use isobar_tests::levels::for_machine;
use isobar_tests::native::Workplace;

/// A solver as models have it: levels without an order, sweeps up and down, and what comes of them.
const SOLVER: &str = "\
from gt4py.cartesian.gtscript import *

def solver(w: Field[float], dz: Field[float], mass: Field[float], pe: Field[float], ws: Field[IJ, float], dt: float):
    with computation(PARALLEL), interval(...):
        pe = exp(0.5 * mass) - dz
        w1 = w
    with computation(FORWARD):
        with interval(0, -1):
            rat = mass / (1.0 + mass[0, 0, 1])
            dd = 3.0 * (pe + rat * mass)
        with interval(-1, None):
            rat = 1.0
            dd = mass
    with computation(FORWARD):
        with interval(0, 1):
            bet = 2.0 + rat
            pp = dd / bet
        with interval(1, None):
            factor = rat[0, 0, -1] / bet[0, 0, -1]
            bet = 4.0 - factor
            pp = (dd[0, 0, -1] - pp[0, 0, -1]) / bet
    with computation(BACKWARD):
        with interval(-1, None):
            aa = pp * ws
        with interval(0, -1):
            pp = pp - factor[0, 0, 1] * pp[0, 0, 1]
            aa = dt * (mass + mass[0, 0, 1]) * (1.0 + pp)
    with computation(FORWARD):
        with interval(0, 1):
            w = (mass * w1 + dt * pp) / (1.0 + aa * aa)
        with interval(1, None):
            w = (mass * w1 + dt * (pp - pp[0, 0, -1]) - 0.1 * aa * w[0, 0, -1]) / (2.0 + aa * aa)
    with computation(PARALLEL), interval(0, -1):
        dz = -mass * (w if w > w1 else w1 + aa)
";

/// A sweep whose results are read beside the column, with a region at the edge.
const BESIDE: &str = "\
from gt4py.cartesian.gtscript import *

def beside(q: Field[float], out: Field[float], c: float):
    with computation(FORWARD):
        with interval(0, 1):
            a = q
            b = q * c
        with interval(1, None):
            a = q + 0.5 * a[0, 0, -1]
            b = c * q - 0.25 * b[0, 0, -1]
            with horizontal(region[I[0], :]):
                b = 2.0 * q
    with computation(PARALLEL), interval(...):
        out = a[1, 0, 0] - a[-2, 0, 0] + b[0, -1, 0] + b[0, 1, 0]
";

/// Such as hold a few columns.
fn machine(kib: u64) -> MachineModel {
    let caches = vec![Cache { bytes: 8 << 10, cores: 1 }, Cache { bytes: kib << 10, cores: 1 }];
    MachineModel { cores: 4, caches, line_bytes: 64, vector_bytes: 64 }
}

fn compiled(text: &str, precision: u32, kib: u64) -> Compilation {
    let mut config = Config::with_precision(precision);
    config.passes.machine = Some(machine(kib));
    let text = text.replace("float", &format!("np.float{precision}"));
    let text = format!("import numpy as np\n{text}");
    let compilation = route::compile(&Project::of_one("main.py", &text), &config, &mut NoHook);
    assert!(!compilation.has_errors(), "{:#?}", compilation.notes.diagnostics);
    compilation
}

fn schedule(compilation: &Compilation) -> &Tree {
    compilation.levels.schedule.as_ref().expect("it compiled")
}

/// A call on inputs that are made up.
fn called(compilation: &Compilation, domain: Domain) -> Launch {
    let signature = compilation.front.signature.as_ref().expect("it compiled");
    let call = inputs::call_for(signature, &small_inputs(signature), domain);
    compilation.front.bind(call).expect("all inputs are there")
}

/// The points of a row that tiles hold.
fn points_of_tile(tree: &Tree) -> Option<i64> {
    let mut found = None;
    for node in &tree.children {
        node.walk(&mut |it| match it {
            Node::Loop(it) if it.variable == names::tile(Axis::I) => found = Some(it.step),
            _ => (),
        });
    }
    found
}

fn said(compilation: &Compilation) -> String {
    let of_pass = compilation.notes.remarks.iter().filter(|it| it.pass == "schedule/fuse-in-tiles");
    of_pass.map(|it| it.message.as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn sweeps_whose_rows_do_not_fit_run_in_one_nest_of_parts_of_rows() {
    let narrow = compiled(SOLVER, 64, 192);
    let tree = schedule(&narrow);
    let text = listing(tree).text;
    assert_eq!(tree.children.len(), 1, "{text}\n{}", said(&narrow));
    assert_eq!(points_of_tile(tree), Some(16), "{text}");
    // No array of the solver is a field in memory.
    assert!(tree.containers.iter().all(|(_, it)| it.storage != Storage::Heap), "{text}");
    assert!(
        said(&narrow).contains("run in tiles of 16 points of a row, and each has its own"),
        "{}",
        said(&narrow)
    );
    // Twice as many elements of half the size, and more where there is more cache.
    assert_eq!(points_of_tile(schedule(&compiled(SOLVER, 32, 192))), Some(32));
    assert_eq!(points_of_tile(schedule(&compiled(SOLVER, 64, 768))), Some(64));
    // Whole rows where they fit, and nothing of the kind where a line does not.
    assert_eq!(points_of_tile(schedule(&compiled(SOLVER, 64, 4096))), None);
    let tiny = compiled(SOLVER, 64, 16);
    assert!(said(&tiny).contains(
        "one row of all their arrays does not fit into the cache, and parts of rows will not do: one line of all their arrays does not fit into the cache"
    ), "{}", said(&tiny));
}

#[test]
fn what_is_read_beside_the_column_is_computed_again_by_both_tiles() {
    let compilation = compiled(BESIDE, 64, 256);
    let text = listing(schedule(&compilation)).text;
    let points = points_of_tile(schedule(&compilation));
    assert!(points.is_some(), "{text}\n{}", said(&compilation));
    let points = points.unwrap_or_default();
    // From two points before the tile to one behind it.
    assert!(text.contains(&format!("float64[{}, ", points + 3)), "{text}");
}

/// Domains of a part of a tile, one whole tile, several, and several with a rest.
const DOMAINS: [Domain; 6] = [
    Domain { i: 3, j: 2, k: 4 },
    Domain { i: 16, j: 3, k: 5 },
    Domain { i: 48, j: 1, k: 6 },
    Domain { i: 37, j: 9, k: 3 },
    Domain { i: 65, j: 2, k: 4 },
    Domain { i: 131, j: 4, k: 7 },
];

#[test]
fn parts_of_rows_give_the_bits_of_debug() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tiles-{}", std::process::id()));
    let workplace = Workplace::new(&folder).expect("a folder of the build");
    for (text, kib) in [(SOLVER, 192), (SOLVER, 512), (BESIDE, 128), (BESIDE, 384)] {
        for precision in [64, 32] {
            let compilation = compiled(text, precision, kib);
            let points = points_of_tile(schedule(&compilation));
            assert!(points.is_some(), "{}", said(&compilation));
            let given = DOMAINS.map(|it| called(&compilation, it));
            for backend in [Backend::RAYON, Backend::OPENMP] {
                if let Err(why) = workplace.check(backend) {
                    isobar_testing::skip_part(format_args!("{} in {precision} bits", backend.name()), why);
                    continue;
                }
                let done = native_gives_the_bits_of_debug(backend, &compilation, &given, workplace.setting());
                let told = format!("{} with {points:?} points in {precision} bits", backend.name());
                assert_eq!(done.map(|_| ()).map_err(|it| format!("{it:#}")), Ok(()), "{told}");
            }
        }
    }
}

/// Of a cache of 192 KiB, as schedules count it.
static NARROW: Target =
    Target { machine: Some(Machine { cache_bytes: 144.0 * 1024.0, ..Machine::CPU }), ..Target::CPU };

#[test]
fn parts_of_rows_mean_the_same_at_every_level() {
    for text in [SOLVER, BESIDE] {
        let compilation = compiled(text, 64, 192);
        let oir = compilation.front.oir.as_ref().expect("it compiled");
        for domain in [Domain::new(19, 3, 4), Domain::new(37, 2, 5)] {
            let launch = called(&compilation, domain);
            let (_, found) = compare(&for_machine(oir, &NARROW), &launch, &[1, 2]);
            assert!(found.is_none(), "on {domain}: {}", found.expect("just asked"));
        }
    }
}
