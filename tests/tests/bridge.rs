//! The way from the OIR to the graph on whole stencils: what is one node from end to end, what goes, how it is spelled.

use std::time::{Duration, Instant};

use isobar_compiler::config::Config;
use isobar_compiler::inputs;
use isobar_compiler::oir::analysis::extents::extents;
use isobar_compiler::pass::{Device, Level as _, PassOptions};
use isobar_compiler::pipeline::{Compilation, NoHook, Stage, route};
use isobar_compiler::project::Project;
use isobar_compiler::schedule::from_tree;
use isobar_compiler::schedule::nodes::{Loop, Node, Order, Placement, Tree};
use isobar_compiler::sdfg::file::json::{ControlFlowStyle, to_json};
use isobar_compiler::space::{Axis, Domain};
use isobar_compiler::tree::from_oir;
use isobar_equivalence::compare::{ReferenceRun, compare};
use isobar_equivalence::journey::Journey;
use isobar_equivalence::journey::Level;
use isobar_tests::corpus::small_inputs;
use isobar_tests::{GALLERY, gallery_text};
use serde_json::Value as Json;

const HEAD: &str = "from gt4py.cartesian.gtscript import *\n\n";
/// The first lines of a stencil that makes one field of another.
const COPY: &str =
    "def s(a: Field[float], b: Field[float]):\n    with computation(PARALLEL), interval(...):\n";
const DOMAINS: [Domain; 3] =
    [Domain { i: 5, j: 4, k: 4 }, Domain { i: 1, j: 1, k: 3 }, Domain { i: 2, j: 7, k: 3 }];

/// A text, with further files beside it.
fn compiled_with(text: &str, files: &[(&str, &str)], passes: PassOptions) -> Compilation {
    let mut project = Project::of_one("main.py", &format!("{HEAD}{text}"));
    for (name, content) in files {
        project.files.insert((*name).to_owned(), (*content).into());
    }
    let found = route::compile(&project, &Config { passes, ..Config::default() }, &mut NoHook);
    assert!(!found.has_errors(), "{:#?}\n{text}", found.notes.diagnostics);
    found
}

fn compiled(text: &str, passes: PassOptions) -> Compilation {
    compiled_with(text, &[], passes)
}

fn without(pass: &str) -> PassOptions {
    PassOptions { skip: [pass.to_owned()].into(), ..PassOptions::default() }
}

fn schedule(compilation: &Compilation) -> &Tree {
    compilation.levels.schedule.as_ref().expect("it compiled")
}

fn text(compilation: &Compilation, stage: Stage) -> &str {
    &compilation.listing(stage).expect("it compiled").text
}

/// Holds every level and the schedule of this compilation against the stencil.
fn assert_means_the_same(compilation: &Compilation) {
    let (Some(signature), Some(oir)) = (&compilation.front.signature, &compilation.front.oir) else {
        panic!("it compiled")
    };
    for domain in DOMAINS {
        let call = inputs::call_for(signature, &small_inputs(signature), domain);
        let launch = compilation.front.bind(call).expect("all inputs are there");
        let (_, found) = compare(&Journey::usual(oir), &launch, &[1, 2]);
        assert!(found.is_none(), "on {domain}: {}", found.expect("just asked"));
        let level = Level::Schedule(schedule(compilation));
        let found = ReferenceRun::of(oir, &launch).divergence("schedule", &level, &[1, 2]);
        assert!(found.is_none(), "on {domain}: {}", found.expect("just asked"));
    }
}

/// The code of all tasklets of a graph as a file.
fn tasklets(compilation: &Compilation) -> Vec<String> {
    fn walk(value: &Json, found: &mut Vec<String>) {
        if value["type"] == "Tasklet" {
            found.extend(value["attributes"]["code"]["string_data"].as_str().map(str::to_owned));
        }
        match value {
            Json::Array(all) => all.iter().for_each(|it| walk(it, found)),
            Json::Object(all) => all.values().for_each(|it| walk(it, found)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
    let graph = compilation.levels.sdfg.as_ref().expect("it compiled");
    let mut found = Vec::new();
    walk(&to_json(graph, &[], ControlFlowStyle::Regions), &mut found);
    found
}

/// The lines of a graph that are control flow, without the names of nodes; each inside of those that it stands in.
fn control_flow(compilation: &Compilation) -> String {
    const WORDS: [&str; 4] = ["if ", "while ", "elif ", "else"];
    let mut around: Vec<usize> = Vec::new();
    let mut found = String::new();
    for line in text(compilation, Stage::SDFG).lines() {
        let bare = line.trim_start();
        let words = bare.split_once(": ").filter(|it| it.0.starts_with('n')).map_or(bare, |it| it.1);
        if WORDS.iter().any(|it| words.starts_with(it)) {
            let indent = line.len() - bare.len();
            around.retain(|it| *it < indent);
            found += &format!("{}{words}\n", "  ".repeat(around.len()));
            around.push(indent);
        }
    }
    found
}

#[test]
fn a_while_in_a_region_in_a_branch_is_a_block_of_its_own() {
    let nested = "\
def s(a: Field[float], b: Field[float], c: float):
    with computation(PARALLEL), interval(...):
        b = 0.0
        if c > 0.5 or c < 1.5:
            with horizontal(region[I[0], :]):
                x = a + 2.0
                while x > 1.0:
                    x = x * 0.5
                b = x
";
    // A region that is no loop of its own is a branch of the graph.
    let tested = compiled(nested, without("schedule/peel-regions"));
    assert_eq!(
        control_flow(&tested),
        "if if_0: c > 0.5 or c < 1.5\n  if region_0: i >= 0 and i < 1\n    while while_0: x > 1.0\n"
    );
    assert_means_the_same(&tested);
    let peeled = compiled(nested, PassOptions::default());
    assert_eq!(control_flow(&peeled), "if if_0: c > 0.5 or c < 1.5\n  while while_0: x > 1.0\n");
    assert_means_the_same(&peeled);
    for code in [&tested, &peeled].map(tasklets).concat() {
        let words: Vec<&str> = code.split_whitespace().collect();
        assert!(!words.contains(&"if") && !words.contains(&"while") && !code.contains('\n'), "{code}");
    }
}

#[test]
fn branches_are_one_node_whose_conditions_are_asked_once() {
    // The first branch changes what the conditions read.
    let branches = "\
def s(a: Field[float], b: Field[float], d: Field[float]):
    with computation(PARALLEL), interval(...):
        if a > 0.25:
            b = 1.0
            a = -1.0
            d = b
        elif a < -0.25:
            b = 2.0
        else:
            b = 3.0
            d = 4.0
";
    let found = compiled(branches, PassOptions::default());
    for stage in [Stage::GTIR, Stage::OIR, Stage::TREE, Stage::SCHEDULE, Stage::SDFG, Stage::LOOPS] {
        let text = text(&found, stage);
        let n_lines = |part: &str| text.lines().filter(|it| it.contains(part)).count();
        assert_eq!([n_lines("> 0.25"), n_lines("< -0.25")], [1, 1], "{text}");
        let words: Vec<&str> = text.lines().map(|it| it.trim().trim_end_matches(':')).collect();
        assert_eq!(words.iter().filter(|it| **it == "else").count(), 1, "{text}");
        assert_eq!(words.iter().filter(|it| it.starts_with("elif ")).count(), 1, "{text}");
    }
    assert_eq!(control_flow(&found), "if if_0: a[i, j, k] > 0.25\nelif a[i, j, k] < -0.25\nelse\n");
    // In the file a tasklet asks each of them.
    let asked = |part: &str| tasklets(&found).iter().filter(|it| it.contains(part)).count();
    assert_eq!([asked("> (0.25)"), asked("< (-0.25)")], [1, 1], "{:?}", tasklets(&found));
    assert_means_the_same(&found);
    // Masks are what the vector back end makes of them, and no level before it has one.
    assert!(!text(&found, Stage::OIR).contains("mask"), "{}", text(&found, Stage::OIR));
    assert!(text(&found, Stage::NPIR).contains("mask"), "{}", text(&found, Stage::NPIR));
}

/// Each statement below a node with the loops around it.
fn each_statement<'t>(node: &'t Node, around: &mut Vec<&'t Loop>, each: &mut dyn FnMut(&[&'t Loop])) {
    if let Node::Assign(_) = node {
        each(around);
    }
    if let Node::Loop(it) = node {
        around.push(it);
    }
    node.children().into_iter().for_each(|it| each_statement(it, around, each));
    if let Node::Loop(_) = node {
        around.pop();
    }
}

/// Calls `each` with the loops around each statement of a tree.
fn loops_around<'t>(tree: &'t Tree, each: &mut dyn FnMut(&[&'t Loop])) {
    tree.children.iter().for_each(|it| each_statement(it, &mut Vec::new(), each));
}

#[test]
fn the_lowering_to_the_tree_keeps_each_statement_in_its_place() {
    for name in GALLERY {
        let found = compiled(&gallery_text(name), PassOptions::default());
        let oir = found.front.optimized.as_ref().expect("it compiled");
        let tree = from_tree::lower(&from_oir::lower(oir, &extents(oir)));
        let (mut before, mut after) = (Vec::new(), Vec::new());
        oir.each_statement(&mut |it| before.push(it.stmt));
        tree.each_statement(&mut |it| after.push(it.stmt));
        assert_eq!(before, after, "{name}");
        // No execution shares its loops with another one, and nothing is decided of them.
        let sections = oir.vertical_loops.iter().flat_map(|it| &it.sections);
        let n_executions: usize = sections.map(|it| it.executions.len()).sum();
        let mut n_rows = 0;
        tree.each_loop(&mut |_, it| {
            n_rows += usize::from(it.axis == Axis::I);
            assert_eq!((it.placement, it.step), (Placement::Sequential, 1), "{name}");
        });
        assert_eq!(n_rows, n_executions, "{name}");
    }
}

#[test]
fn a_loop_over_one_level_goes_and_each_statement_has_one_loop_for_threads() {
    let surface = "\
def s(a: Field[float], b: Field[float], p: Field[IJ, float]):
    with computation(FORWARD), interval(0, 1):
        b = a * 2.0
    with computation(FORWARD), interval(-1, None):
        p = a
";
    let over_levels = |passes: PassOptions| {
        let found = compiled(surface, passes);
        let mut n = 0;
        loops_around(schedule(&found), &mut |around| {
            n += around.iter().filter(|it| it.axis == Axis::K).count();
        });
        n
    };
    assert_eq!(over_levels(without("schedule/drop-unit-loops")), 2);
    assert_eq!(over_levels(PassOptions::default()), 0);
    for name in GALLERY {
        let found = compiled(&gallery_text(name), PassOptions::default());
        loops_around(schedule(&found), &mut |around| {
            assert!(around.iter().any(|it| it.order == Order::Parallel), "{name}");
            let placed = around.iter().filter(|it| it.placement == Placement::Threads).count();
            assert_eq!(placed, 1, "{name}:\n{}", text(&found, Stage::SCHEDULE));
        });
    }
}

#[test]
fn neighbouring_intervals_are_one_loop_with_a_limit() {
    let intervals = "\
def s(a: Field[float], b: Field[float], d: Field[float]):
    with computation(PARALLEL), interval(...):
        b = a * 2.0 + d
    with computation(PARALLEL), interval(1, None):
        d = b - a
";
    // The passes do it for GPUs, and on a CPU somebody who asks for it.
    let on_gpu = compiled(intervals, PassOptions { device: Device::Gpu, ..PassOptions::default() });
    let asked = PassOptions { schedule: Some("main.schedule".to_owned()), ..PassOptions::default() };
    let by_hand = compiled_with(intervals, &[("main.schedule", "merge k@s0 k@s1 limited\nauto\n")], asked);
    for found in [&on_gpu, &by_hand] {
        let text = text(found, Stage::SCHEDULE);
        let n_lines = |part: &str| text.lines().filter(|it| it.contains(part)).count();
        assert_eq!(
            [n_lines(" k in [0, K)"), n_lines("where k in [1, K):"), n_lines(" k in ")],
            [1, 1, 2],
            "{text}"
        );
        assert_means_the_same(found);
    }
}

/// A statement in C, on one line.
fn declared<'t>(text: &'t str, start: &str) -> Vec<&'t str> {
    let (_, behind) = text.split_once(start).unwrap_or_else(|| panic!("there is no `{start}`:\n{text}"));
    behind.split(';').next().unwrap_or_default().split_whitespace().collect()
}

#[test]
fn one_printer_spells_an_expression_on_all_levels_and_one_in_c_and_cuda() {
    let value =
        "-(x - (x - 2.0)) * (x + 1.0) / (x * x) - (x if x > 1.0 and not (x < 0.5 or x == 1.5) else -x) ** 2";
    let found = compiled(
        &format!("{COPY}        x = a + 0.5\n        y = {value}\n        b = x * y\n"),
        PassOptions::default(),
    );
    for stage in [Stage::OIR, Stage::SCHEDULE, Stage::SDFG, Stage::KERNELS] {
        let text = text(&found, stage);
        assert!(text.lines().any(|it| it.ends_with(&format!(" = {value}"))), "{text}");
    }
    let [c, cuda] = [Stage::C, Stage::CUDA].map(|it| declared(text(&found, it), "double y = "));
    assert!(c.len() > 20, "{c:?}");
    assert_eq!(c, cuda);
}

/// A hundred statements. Some of them read beside the point.
fn hundred() -> String {
    let mut text = format!("{COPY}        t0 = a\n");
    for at in 1..99 {
        let before = format!("t{}", at - 1);
        let value = if at % 10 == 0 {
            format!("0.5 * {before} + ({before}[1, 0, 0] - {before}[0, -1, 0] if a > 0.1 else a)")
        } else {
            format!("{before} * 1.01 + a * {at}.0")
        };
        text += &format!("        t{at} = {value}\n");
    }
    text + "        b = t98\n"
}

#[test]
fn a_hundred_statements_are_a_graph_within_a_second() {
    let text = hundred();
    assert_eq!(text.matches(" = ").count(), 100);
    // Others use the machine too: the best of some runs counts.
    let took = |_| {
        let begun = Instant::now();
        assert!(compiled(&text, PassOptions::default()).levels.sdfg.is_some());
        begun.elapsed()
    };
    let best = (0..5).map(took).min().unwrap_or_default();
    assert!(best < Duration::from_secs(1), "{best:?}");
}
