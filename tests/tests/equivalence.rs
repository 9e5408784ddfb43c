//! Every level means what the stencil means. Run as it stands behind every door and every pass, it gives the
//! bits of the debug back end. Iterations without an order may run in any order.

use isobar_compiler::config::Config;
use isobar_compiler::debug::{self, NoControl};
use isobar_compiler::inputs;
use isobar_compiler::oir::analysis::extents::extents;
use isobar_compiler::pass::{Analyses, Level, PassCx, Pipeline};
use isobar_compiler::pipeline::{NoHook, Pipelines, route};
use isobar_compiler::project::Project;
use isobar_compiler::space::Domain;
use isobar_compiler::{loops, oir, schedule, sdfg, target, tree};
use isobar_equivalence::compare::compare;
use isobar_equivalence::journey::Journey;
use isobar_testing::Shard;
use isobar_tests::conformance::{self, all_blocks};
use isobar_tests::corpus::small_inputs;
use isobar_tests::levels::hold;
use isobar_tests::{GALLERY, compiled, launch};

const SEEDS: [u64; 2] = [1, 2];

isobar_testing::shards! {
    the_stencils_of_the_conformance_pages_mean_the_same_at_every_level: 2 shards of conformance_pages;
}

isobar_testing::over_seeds! {
    generated_stencils_mean_the_same_at_every_level: 0..150 in 16 shards of generated;
}

/// A map whose parameter has the name of a loop inside of another one.
#[test]
fn maps_with_names_of_each_other_stay_two() {
    generated(&[58_861_093]);
}

#[test]
fn the_gallery_means_the_same_at_every_level() {
    for name in GALLERY {
        for precision in [64, 32] {
            let compilation = compiled(name, precision);
            let oir = compilation.front.oir.as_ref().expect("it compiled");
            for domain in [Domain::new(5, 4, 4), Domain::new(1, 1, 4), Domain::new(2, 7, 3)] {
                let (steps, found) = compare(&Journey::usual(oir), &launch(&compilation, domain), &SEEDS);
                assert!(
                    found.is_none(),
                    "{name} in {precision} bits on {domain}: {}",
                    found.expect("just asked")
                );
                assert!(
                    steps.len() > 8 && steps.last().is_some_and(|it| it.starts_with("loops/")),
                    "{steps:?}"
                );
            }
        }
    }
}

/// A pass that tells of no change is not shown to anybody: it has to leave its level as it was.
#[test]
fn a_pass_that_tells_of_no_change_has_made_none() {
    fn hold<I: Level>(name: &str, pipeline: &Pipeline<I>, mut level: I, options: I::Options) {
        let mut cx = PassCx::new(options);
        let text = |level: &I| level.listing(&mut Analyses::default()).text;
        for pass in pipeline.passes {
            let before = text(&level);
            let is_changed = pass.apply(&mut level, &mut cx, None);
            assert!(is_changed || text(&level) == before, "{} of {name}", pass.name);
        }
    }
    for name in GALLERY {
        let compilation = compiled(name, 64);
        let oir = compilation.front.oir.clone().expect("it compiled");
        let extents = extents(&oir);
        let tree = schedule::from_tree::lower(&tree::from_oir::lower(&oir, &extents));
        for pipelines in [
            Pipelines::for_target(schedule::passes::Target::CPU, target::Target::c(None)),
            Pipelines::for_target(schedule::passes::Target::CPU, target::Target::native(512, None)),
            Pipelines::for_target(
                schedule::passes::Target::GPU,
                target::Target::kernels(target::MAX_THREADS),
            ),
        ] {
            hold(name, &oir::passes::PIPELINE, oir.clone(), oir::passes::PinnedStmts::default());
            hold(name, &pipelines.schedule, tree.clone(), pipelines.machine);
            let graph =
                sdfg::from_schedule::lower(compilation.levels.schedule.as_ref().expect("it compiled"));
            hold(name, &pipelines.sdfg, graph.clone(), ());
            hold(name, &pipelines.loops, loops::lower(&graph), pipelines.code);
        }
    }
}

fn conformance_pages(shard: Shard) {
    let mut wrong = String::new();
    let mut count = 0;
    for (page, block) in shard.of(all_blocks()) {
        let Ok(compilation) = conformance::compile(&block) else { continue };
        if compilation.has_errors() {
            continue;
        }
        let (Some(signature), Some(oir)) = (&compilation.front.signature, &compilation.front.oir) else {
            continue;
        };
        let Ok(call) = conformance::call(&block, &compilation, signature) else { continue };
        let Ok(launch) = compilation.front.bind(call) else { continue };
        count += 1;
        if let Some(fault) = compare(&Journey::usual(oir), &launch, &SEEDS).1 {
            wrong += &format!("{page}:{}: {fault}\n", block.line);
        }
    }
    assert!(wrong.is_empty(), "of {count} runs:\n{wrong}");
    assert!(count > 100 / shard.count, "{count}");
}

fn generated(seeds: &[u64]) {
    let mut runs = 0;
    for &seed in seeds {
        let held = hold(seed).unwrap_or_else(|wrong| panic!("{wrong:#}"));
        assert_eq!(held.other_traps, 0, "seed {seed}");
        runs += held.runs;
    }
    assert!(runs >= seeds.len() as u64 / 2, "{runs}");
}

/// Stencils whose statements end the run at other levels in each order of the sweeps, alone or inside of branches.
fn with_several_traps() -> Vec<String> {
    const ORDERS: [&str; 3] = ["PARALLEL", "FORWARD", "BACKWARD"];
    const LEVELS: [&str; 3] = ["K + 2", "K - 2", "6 - 2 * K"];
    let mut texts = Vec::new();
    for (number, (first, second)) in
        ORDERS.iter().flat_map(|it| ORDERS.iter().map(move |other| (it, other))).enumerate()
    {
        for turn in 0..LEVELS.len() {
            let level = |at: usize| LEVELS[(at + turn) % LEVELS.len()];
            let branch = if number % 2 == 0 { "if a[0, 0, 0] > 0.25:" } else { "if True:" };
            let interval = ["...", "1, None", "0, -1"][(number + turn) % 3];
            texts.push(format!(
                "\
from gt4py.cartesian.gtscript import *

def s(a: Field[float], b: Field[float], c: Field[float], d: Field[float]):
    with computation({first}), interval(...):
        b = a.at(K={})
    with computation({second}), interval({interval}):
        {branch}
            c = a.at(K={}) + 1.0
            c = c * a.at(K={})
        d = b + a.at(K={})
",
                level(0),
                level(1),
                level(2),
                level(1)
            ));
        }
    }
    texts
}

#[test]
fn of_several_places_where_the_run_must_end_every_level_finds_the_same() {
    let mut wrong = String::new();
    for text in with_several_traps() {
        let compilation = route::compile(&Project::of_one("main.py", &text), &Config::default(), &mut NoHook);
        assert!(!compilation.has_errors(), "{:#?}\n{text}", compilation.notes.diagnostics);
        let (Some(signature), Some(oir)) = (&compilation.front.signature, &compilation.front.oir) else {
            panic!("it compiled")
        };
        let call = inputs::call_for(signature, &small_inputs(signature), Domain::new(3, 2, 4));
        let launch = compilation.front.bind(call).expect("all inputs are there");
        let ended = debug::run(oir, &extents(oir), &mut launch.clone(), &mut NoControl);
        assert!(matches!(ended, Err(debug::Stop::Trap(_))), "{text}");
        if let Some(fault) = compare(&Journey::usual(oir), &launch, &SEEDS).1 {
            wrong += &format!("{fault}\n{text}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
