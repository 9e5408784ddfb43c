//! The schedules that the compiler chooses: what they are expected to move, and that they are documents.

use expect_test::expect;
use isobar_compiler::config::Config;
use isobar_compiler::pass::{Device, GpuModel, PassOptions};
use isobar_compiler::pipeline::{Compilation, NoHook, route};
use isobar_compiler::project::Project;
use isobar_compiler::schedule::analysis::cost::{Machine, compulsory_bytes, cost};
use isobar_compiler::schedule::analysis::gpu;
use isobar_compiler::schedule::analysis::launch::launches;
use isobar_compiler::schedule::document;
use isobar_compiler::schedule::nodes::{ContainerKind, Node, Storage, Tree};
use isobar_compiler::schedule::print::listing;
use isobar_compiler::space::{Axis, Domain};
use isobar_equivalence::compare::ReferenceRun;
use isobar_equivalence::journey::Level;
use isobar_runner::backends::Backend;
use isobar_tests::generate::{Features, stencil};
use isobar_tests::gpu::{GALLERY as MEASURED, KERNELS};
use isobar_tests::native::Workplace;
use isobar_tests::schedules::hold;
use isobar_tests::{GALLERY, gallery_text, launch};

const HEAD: &str = "from gt4py.cartesian.gtscript import *\n\n";

/// Ten stages, each beside the one before along one axis.
fn chain() -> String {
    let mut text = format!(
        "{HEAD}def chain(q: Field[float], out: Field[float], c: float):\n    with computation(PARALLEL), interval(...):\n"
    );
    let mut before = "q".to_owned();
    for stage in 1..=10 {
        let name = if stage == 10 { "out".to_owned() } else { format!("a{stage}") };
        let (up, down) = if stage % 2 == 1 { ("1, 0", "-1, 0") } else { ("0, 1", "0, -1") };
        text += &format!(
            "        {name} = {before} + c * ({before}[{up}, 0] - 2.0 * {before} + {before}[{down}, 0])\n"
        );
        before = name;
    }
    text
}

/// The same, and behind it a tridiagonal solver of each column.
fn chain_and_solver() -> String {
    let mut text =
        chain().replace("out: Field[float], c: float", "out: Field[float], x: Field[float], c: float");
    text += "    with computation(FORWARD):\n        with interval(0, 1):\n            e = 0.5\n            f = out * 0.5\n        with interval(1, None):\n            e = 1.0 / (4.0 - e[0, 0, -1])\n            f = (out + f[0, 0, -1]) * e\n";
    text += "    with computation(BACKWARD):\n        with interval(-1, None):\n            x = f\n        with interval(0, -1):\n            x = f + e * x[0, 0, 1]\n";
    text
}

fn compile(text: &str, passes: PassOptions) -> Compilation {
    let config = Config { passes, ..Config::default() };
    let found = route::compile(&Project::of_one("main.py", text), &config, &mut NoHook);
    assert!(!found.has_errors(), "{:#?}\n{text}", found.notes.diagnostics);
    found
}

fn schedule(compilation: &Compilation) -> &Tree {
    compilation.levels.schedule.as_ref().expect("it compiled")
}

/// Bytes that are expected to cross the bus, as a multiple of those that must.
fn share(tree: &Tree) -> f64 {
    let machine = Machine { domain: [128, 128, 80], ..Machine::CPU };
    cost(tree, &machine).bytes / compulsory_bytes(tree, &machine)
}

#[test]
fn a_chain_of_ten_stages_ends_in_one_nest_of_rows() {
    let compilation = compile(&chain(), PassOptions::default());
    let tree = schedule(&compilation);
    let text = listing(tree).text;
    let [Node::Loop(levels)] = tree.children.as_slice() else { panic!("one nest:\n{text}") };
    let [Node::Loop(rows)] = levels.children.as_slice() else { panic!("one loop over rows:\n{text}") };
    assert_eq!(rows.variable.name(), "j_front", "{text}");
    let in_memory = tree.containers.iter().filter(|(_, it)| it.kind == ContainerKind::Temporary);
    for (_, it) in in_memory {
        assert_ne!(it.storage, Storage::Heap, "`{}` lives in a level", it.name);
    }
    let found = share(tree);
    assert!(found <= 1.15, "{found} times what must be moved");
    // Without the pass, each stage goes through memory.
    let skip = ["schedule/fuse-in-tiles".to_owned()].into();
    let apart = compile(&chain(), PassOptions { skip, ..PassOptions::default() });
    assert!(share(schedule(&apart)) > 5.0, "{}", share(schedule(&apart)));
}

#[test]
fn a_solver_behind_a_chain_shares_rows_with_it_as_far_as_they_fit() {
    let compilation = compile(&chain_and_solver(), PassOptions::default());
    let tree = schedule(&compilation);
    let text = listing(tree).text;
    // The sweeps are one group: neither array of the solver is a field in memory.
    for name in ["e", "f"] {
        let (_, it) = tree.containers.iter().find(|(_, it)| it.name == name).expect(name);
        assert_ne!(it.storage, Storage::Heap, "`{name}`:\n{text}");
    }
    let told = |name: &str| compilation.notes.remarks.iter().filter(|it| it.pass == name).count();
    assert!(told("schedule/fuse-in-tiles") > 0, "what was joined and what not is told");
    assert!(share(tree) < 2.0, "{}:\n{text}", share(tree));
}

isobar_testing::over_seeds! {
    every_generated_schedule_is_a_document_that_gives_it_again: 0..60 in 2 shards of generated;
}

fn generated(seeds: &[u64]) {
    let n_steps = read_again(seeds.iter().map(|&it| stencil(it, Features::ALL).text));
    assert!(n_steps >= seeds.len(), "{n_steps}");
}

#[test]
fn every_schedule_that_people_know_is_a_document_that_gives_it_again() {
    let texts = GALLERY.iter().map(|name| gallery_text(name)).chain([chain(), chain_and_solver()]);
    let n_steps = read_again(texts);
    assert!(n_steps > 20, "{n_steps}");
}

/// Holds the schedule of each text against that of its own document. Answers with the number of their steps.
fn read_again(texts: impl Iterator<Item = String>) -> usize {
    let mut n_steps = 0;
    for text in texts {
        let chosen = compile(&text, PassOptions { steps: true, ..PassOptions::default() });
        let document = chosen.schedule_steps().expect("the steps were kept");
        n_steps += schedule(&chosen).steps.len();
        let mut project = Project::of_one("main.py", &text);
        project.files.insert("main.schedule".to_owned(), document.as_str().into());
        let passes = PassOptions { schedule: Some("main.schedule".to_owned()), ..PassOptions::default() };
        let config = Config { passes, ..Config::default() };
        let again = route::compile(&project, &config, &mut NoHook);
        assert!(!again.has_errors(), "{:#?}\n{document}\n{text}", again.notes.diagnostics);
        assert_eq!(listing(schedule(&again)).text, listing(schedule(&chosen)).text, "{document}");
    }
    n_steps
}

#[test]
fn what_is_wrong_with_a_document_is_told_at_its_line() {
    let of = |document: &str| {
        let mut project = Project::of_one("main.py", &chain());
        project.files.insert("main.schedule".to_owned(), document.into());
        let passes = PassOptions { schedule: Some("main.schedule".to_owned()), ..PassOptions::default() };
        let found = route::compile(&project, &Config { passes, ..Config::default() }, &mut NoHook);
        assert!(found.c().is_none(), "nothing runs by a schedule that is wrong");
        let told = found.notes.diagnostics.iter().map(|it| {
            let place = it.primary.as_ref().map_or(String::new(), |it| {
                document[it.span.start as usize..it.span.end as usize].to_owned()
            });
            format!("{} at `{place}`: {}", it.code, it.message)
        });
        told.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(of("merge k@s0 k@s1\nfuse all\n"), "S01 at `fuse all`: `fuse all` is no step of a schedule");
    assert_eq!(
        of("merge k@s0 k@s1\nmerge j@s0 j@s1 limited\n"),
        "S02 at `merge j@s0 j@s1 limited`: `merge j@s0 j@s1 limited` is refused: `a1` must be finished beside the point before this loop may start"
    );
}

/// Returns the diagnostics of a schedule for the chain, compiled for a device.
fn told(document: &str, device: Device) -> String {
    let mut project = Project::of_one("main.py", &chain());
    project.files.insert("main.schedule".to_owned(), document.into());
    let passes = PassOptions { schedule: Some("main.schedule".to_owned()), device, ..PassOptions::default() };
    let found = route::compile(&project, &Config { passes, ..Config::default() }, &mut NoHook);
    let has_code = found.levels.loops.is_some() || found.c().is_some();
    assert_eq!(has_code, !found.has_errors(), "there is code of nothing that is refused");
    let told = found.notes.diagnostics.iter().map(|it| {
        let message = it.message.split_once(" is refused: ").map_or(&*it.message, |it| it.1);
        format!("{} {message} {}", it.code, it.help.as_deref().unwrap_or_default())
    });
    told.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_schedule_that_a_client_could_send_is_held_to_the_domain_and_the_loops_around() {
    for (document, expected) in [
        ("cut k@s0 by 9223372036854775807", "S02 a tile has at most 1048576 positions"),
        ("tile j 1048577 k@s0 .. k@s2", "S02 a tile has at most 1048576 positions"),
        ("cut i@s0 by 1\ntile i 2 k@s0 .. k@s2", "S02 a loop over `i_tile` stands inside already"),
        ("split i@s3 at i", "S02 no loop around counts `i`, and it is no size of the domain"),
        ("split k@s3 at j", "S02 no loop around counts `j`"),
        ("split k@s3 at 17*K - 1", "S02 `K` counts more than 16 times in `17*K - 1`"),
        ("split k@s3 at K + 9223372036854775807", "S02 `K + 9223372036854775807` lies more than"),
        (
            "split k@s0 at system",
            "S01 `split k@s0 at system` is no step of a schedule `system` is neither a size",
        ),
        ("split k@s0 at isobar_least", "S01"),
        ("split k@s0 at __q_K_below", "S01"),
        ("cut i@s0 by 99999999999999999999", "S01"),
    ] {
        let found = told(document, Device::Cpu);
        assert!(found.starts_with(expected), "{document}: {found}");
    }
    for word in ["threads", "simd"] {
        let found = told(&format!("{word} j@s0"), Device::Gpu);
        assert!(found.contains("of a CPU, and this is compiled for a GPU"), "{found}");
    }
    let found = told("grid k@s0\nauto", Device::Gpu);
    assert!(found.contains("`auto` forms launches itself"), "{found}");
}

#[test]
fn lanes_stay_with_the_positions_of_a_loop_that_is_cut() {
    let mut project = Project::of_one("main.py", &gallery_text("copy_scale"));
    project.files.insert("main.schedule".to_owned(), "simd i@s0\ncut i@s0 by 8\n".into());
    let passes = PassOptions { schedule: Some("main.schedule".to_owned()), ..PassOptions::default() };
    let found = route::compile(&project, &Config { passes, ..Config::default() }, &mut NoHook);
    let text = listing(schedule(&found)).text;
    assert!(text.contains("    for i_tile in ") && text.contains("      simd i in "), "{text}");
    assert_means_the_same(&found, "copy_scale");
}

#[test]
fn pins_keep_what_the_passes_would_decide() {
    let with = |document: &str| {
        let mut project = Project::of_one("main.py", &chain());
        project.files.insert("main.schedule".to_owned(), document.into());
        let passes = PassOptions { schedule: Some("main.schedule".to_owned()), ..PassOptions::default() };
        let found = route::compile(&project, &Config { passes, ..Config::default() }, &mut NoHook);
        assert!(!found.has_errors(), "{:#?}", found.notes.diagnostics);
        listing(schedule(&found)).text
    };
    let chosen = listing(schedule(&compile(&chain(), PassOptions::default()))).text;
    assert_eq!(with("auto\n"), chosen);
    let apart = with("keep apart s5\nauto\n");
    let nests = |text: &str| text.lines().filter(|it| it.starts_with("threads")).count();
    assert_eq!((nests(&chosen), nests(&apart)), (1, 2), "{apart}");
    assert!(!with("keep whole s5\nauto\n").contains("j_tile"));
}

#[test]
fn a_comment_above_a_statement_pins_it() {
    let chain = chain();
    let line = chain.lines().filter(|it| it.contains(" = ")).nth(5).expect("it has ten stages");
    let with = |word: &str| {
        let text = chain.replace(line, &format!("        # @keep {word}\n{line}"));
        let found = compile(&text, PassOptions::default());
        assert_eq!(found.notes.diagnostics, []);
        let tree = schedule(&found);
        assert_eq!(document::text(tree, &|_| None).lines().nth(2), Some(&*format!("keep {word} s5")));
        listing(tree).text
    };
    let nests = |text: &str| text.lines().filter(|it| it.starts_with("threads")).count();
    assert_eq!(nests(&with("apart")), 2);
    assert!(!with("whole").contains("j_tile"));
    // Of what is nowhere, nothing can be kept.
    let found = compile(&format!("# @keep whole\n{chain}"), PassOptions::default());
    let told: Vec<String> =
        found.notes.diagnostics.iter().map(|it| format!("{} {}", it.code, it.message)).collect();
    assert_eq!(
        told,
        ["D01 this `@keep` line is ignored: no statement of the schedule comes from the line below"]
    );
}

#[test]
fn a_pin_of_the_text_reaches_what_the_oir_would_merge() {
    let of = |pin: &str, second: &str| {
        let text = format!(
            "# @input a random(seed=1)\n# @input b constant(0)\n# @input c constant(0)\n\
             def s(a: Field[float], b: Field[float], c: Field[float]):\n    \
             with computation(PARALLEL), interval(...):\n        b = a + 1.0\n{second}{pin}        c = a * 2.0\n"
        );
        let found = compile(&text, PassOptions::default());
        assert_eq!(found.notes.diagnostics, []);
        assert_means_the_same(&found, "s");
        listing(schedule(&found)).text.lines().filter(|it| it.contains(" i in ")).count()
    };
    // In one computation, and in one of its own.
    for second in ["", "    with computation(PARALLEL), interval(...):\n"] {
        assert_eq!((of("", second), of("        # @keep apart\n", second)), (1, 2));
    }
}

/// Whether a tree does what the stencil means, in orders that must not matter.
fn assert_means_the_same(compilation: &Compilation, name: &str) {
    let oir = compilation.front.oir.as_ref().expect("it compiled");
    for domain in [Domain::new(5, 4, 4), Domain::new(1, 1, 4), Domain::new(130, 3, 3)] {
        let launch = launch(compilation, domain);
        let reference = ReferenceRun::of(oir, &launch);
        let found = reference.divergence("schedule", &Level::Schedule(schedule(compilation)), &[1, 2]);
        assert!(found.is_none(), "{name} on {domain}: {}", found.expect("just asked"));
    }
}

/// The variables of the loops around the first statement, from outside in.
fn order(tree: &Tree) -> String {
    let mut around = String::new();
    let mut node = tree.children.first();
    while let Some(Node::Loop(it)) = node {
        around.push_str(it.variable.name());
        node = it.children.first();
    }
    around
}

#[test]
fn three_layouts_have_three_orders_of_loops() {
    let of = |contiguous: Axis, name: &str| {
        let passes = PassOptions { contiguous, ..PassOptions::default() };
        let compilation = compile(&gallery_text(name), passes);
        assert_means_the_same(&compilation, name);
        order(schedule(&compilation))
    };
    let orders = [Axis::I, Axis::J, Axis::K].map(|axis| of(axis, "copy_scale"));
    assert_eq!(orders, ["kji", "kij", "jik"]);
    for axis in [Axis::J, Axis::K] {
        for name in GALLERY {
            of(axis, name);
        }
    }
}

#[test]
fn a_gpu_gets_the_same_tree_up_to_its_own_passes() {
    for name in GALLERY {
        let of = |device: Device, stop_after: Option<&str>| {
            let stop_after = stop_after.map(str::to_owned);
            compile(&gallery_text(name), PassOptions { device, stop_after, ..PassOptions::default() })
        };
        let merged = [Device::Cpu, Device::Gpu].map(|it| of(it, Some("schedule/merge-loops")));
        assert_eq!(listing(schedule(&merged[0])).text, listing(schedule(&merged[1])).text, "{name}");
        let gpu = of(Device::Gpu, None);
        let text = listing(schedule(&gpu)).text;
        assert!(text.contains("grid i_tile in ") && text.contains("block i in "), "{name}:\n{text}");
        assert!(!text.contains("threads ") && !text.contains("simd "), "{name}:\n{text}");
        assert_means_the_same(&gpu, name);
    }
}

/// Returns how many launches the gallery and the kernels have on a GPU. It also tells their expected traffic,
/// as a multiple of what must be moved.
fn launches_on(model: GpuModel) -> String {
    let mut all = String::new();
    for stencil in MEASURED.iter().chain(&KERNELS) {
        let of = |precision: u32| {
            let passes = PassOptions { device: Device::Gpu, gpu: Some(model), ..PassOptions::default() };
            let config = Config { passes, ..Config::with_precision(precision) };
            let found = route::compile(&Project::of_one("main.py", stencil.text), &config, &mut NoHook);
            let tree = schedule(&found);
            let all = launches(tree);
            let bytes: f64 = all.iter().map(|it| gpu::cost_of(tree, it, &model).bytes).sum();
            format!("{} {:.2}", all.len(), bytes / gpu::compulsory_bytes(tree, &tree.children))
        };
        all += &format!("{:12} {} | {}\n", stencil.name, of(64), of(32));
    }
    all
}

#[test]
fn a_gpu_moves_little_more_than_it_must() {
    expect![[r#"
        copy_scale   1 1.00 | 1 1.00
        hdiff        1 1.00 | 1 1.00
        vadv         1 1.00 | 1 1.00
        ppm          1 1.00 | 1 1.00
        physics      1 1.00 | 1 1.00
        chain        1 1.00 | 1 1.00
        copy         1 1.00 | 1 1.00
        lap5         1 1.00 | 1 1.00
        lap7         1 1.00 | 1 1.00
        tridiagonal  1 1.00 | 1 1.00
    "#]]
    .assert_eq(&launches_on(GpuModel::H100));
    expect![[r#"
        copy_scale   1 1.00 | 1 1.00
        hdiff        1 1.00 | 1 1.00
        vadv         1 2.00 | 1 1.00
        ppm          1 1.00 | 1 1.00
        physics      1 1.66 | 1 1.33
        chain        1 1.81 | 1 1.00
        copy         1 1.00 | 1 1.00
        lap5         1 1.00 | 1 1.00
        lap7         1 1.00 | 1 1.00
        tridiagonal  1 1.80 | 1 1.40
    "#]]
    .assert_eq(&launches_on(GpuModel::WEBGPU));
    expect![[r#"
        copy_scale   1 1.00 | 1 1.00
        hdiff        1 1.00 | 1 1.00
        vadv         1 1.50 | 1 1.50
        ppm          4 3.75 | 4 3.75
        physics      1 1.66 | 1 1.66
        chain        1 1.00 | 1 1.00
        copy         1 1.00 | 1 1.00
        lap5         1 1.00 | 1 1.00
        lap7         1 1.00 | 1 1.00
        tridiagonal  1 1.80 | 1 1.80
    "#]]
    .assert_eq(&launches_on(GpuModel::LAVAPIPE));
}

isobar_testing::over_seeds! {
    schedules_that_somebody_could_have_written_mean_what_the_stencil_means: 0..120 in 8 shards of drawn;
}

fn drawn(seeds: &[u64]) {
    let workplace =
        Workplace::below(env!("CARGO_TARGET_TMPDIR"), "schedules").expect("a folder of the build");
    let mut n_runs = 0;
    for &seed in seeds {
        match hold(seed, Backend::RAYON, workplace.setting()) {
            Ok(held) => n_runs += held.runs,
            Err(wrong) => panic!("seed {seed}: {wrong:#}"),
        }
    }
    // Of the few seeds of a window, most may be refused.
    assert!(n_runs * 8 > seeds.len() as u64, "documents are carried out: {n_runs}");
}
