//! Programs of stencil calls on back ends that make code, against the interpreter: the same bits in every field and state.

use std::path::Path;
use std::sync::Arc;

use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::ScalarInput;
use isobar_compiler::call::run::NoControl;
use isobar_compiler::config::Config;
use isobar_compiler::pass::PassOptions;
use isobar_compiler::space::Domain;
use isobar_compiler::types::DType;
use isobar_program::compile::compile;
use isobar_program::group::group_calls;
use isobar_program::interpret::{HaloFill, MOST_BYTES, ProgramBytes, ProgramInputs, ProgramInstance};
use isobar_runtime::executors::{Executor, OwnedSetting, interpreters, openmp, rayon, wgpu};
use isobar_runtime::programs::ProgramCode;
use isobar_tests::programs::{
    PrivateFields, ProgramPieces, ProgramRunner, hold_on_ranks, hold_program, hold_program_levels,
    hold_results, hold_whole_program, ran,
};
use serde_json::{Value as Json, json};

const STENCILS: &str = "
def lap(q: Field[float], out: Field[float]):
    with computation(PARALLEL), interval(...):
        out = q[-1, 0, 0] + q[1, 0, 0] + q[0, -1, 0] + q[0, 1, 0] - 4.0 * q

def step(q: Field[float], l: Field[float], a: float):
    with computation(PARALLEL), interval(...):
        q = q + a * l

def corner(to: Field[float], of: Field[float]):
    from __externals__ import i_start, j_start
    with computation(PARALLEL), interval(...):
        with horizontal(region[i_start - 1, j_start - 1]):
            to = of[1, 1, 0]

def down(q: Field[float], total: Field[float]):
    with computation(FORWARD):
        with interval(0, 1):
            total = q
        with interval(1, None):
            total = total[0, 0, -1] + q

def gathered(q: Field[float], out: Field[float], at: int):
    with computation(PARALLEL), interval(...):
        out = q[0, 0, at]
";

/// A field with a halo of two points along I and J.
fn field(role: &str) -> Json {
    json!({"role": role, "dtype": "float64", "axes": "IJK", "shape": ["I+4", "J+4", "K"], "origin": [2, 2, 0]})
}

fn document(body: &Json) -> String {
    let tracers = json!({"role": "argument", "dtype": "float64", "axes": "IJK",
        "shape": ["I+4", "J+4", "K", 2], "origin": [2, 2, 0]});
    json!({
        "isobar_program": 1, "name": "model", "files": {"main.py": STENCILS}, "grid": {"halo": 2},
        "fields": {"q": field("argument"), "r": field("argument"), "s": field("state"), "l": field("local"),
            "tracers": tracers},
        "scalars": {"a": {"role": "argument", "dtype": "float64"}, "n": {"role": "argument", "dtype": "int64"}},
        "stencils": {
            "lap": {"function": "main.lap", "domain": ["I", "J", "K"]},
            "wide": {"function": "main.lap", "origin": [-1, -1, 0], "domain": ["I+2", "J+2", "K"]},
            "step": {"function": "main.step", "domain": ["I", "J", "K"]},
            "corner": {"function": "main.corner", "origin": [-1, -1, 0], "domain": ["I+2", "J+2", "K"]},
            "down": {"function": "main.down", "domain": ["I", "J", "K"]},
            "gathered": {"function": "main.gathered", "domain": ["I", "J", "K"]}},
        "body": body,
    })
    .to_string()
}

/// A step of a model: halos, two ranges of one function, one field as two parameters, a state, a view, run-time scalars.
fn model() -> String {
    let tracer = |at: u32| json!({"view": "tracers", "data_index": [at]});
    document(&json!([
        {"fill": "l", "with": 0.0},
        {"for": "it", "range": [0, "n"], "body": [
            {"exchange": ["q"], "kind": "scalar", "width": 2, "phase": "update"},
            {"call": "wide", "args": {"q": "q", "out": "l"}},
            {"call": "corner", "args": {"to": "l", "of": "l"}},
            {"call": "step", "args": {"q": "q", "l": "l", "a": "a / (it + 1)"}},
            {"if": "it % 2 == 0", "then": [{"call": "down", "args": {"q": "q", "total": "s"}}],
                "else": [{"call": "lap", "args": {"q": "q", "out": "r"}}]},
            {"call": "step", "args": {"q": tracer(1), "l": tracer(0), "a": "a"}},
            {"call": "step", "args": {"q": "r", "l": "s", "a": "0.5 if it > 0 else -a"}}]}]))
}

/// The back ends that can run here, by name.
fn executors() -> Vec<(&'static str, Arc<dyn Executor>)> {
    let mut all: Vec<(&'static str, Arc<dyn Executor>)> =
        vec![("numpy", Arc::new(interpreters::Numpy)), ("rayon", Arc::new(rayon::Rayon))];
    let path = std::env::var_os("PATH").unwrap_or_default();
    match openmp::find_compiler(None, Path::new(&path).as_os_str()) {
        Ok(_) => all.push(("openmp", Arc::new(openmp::Openmp))),
        Err(why) => isobar_testing::skip_part("a program on `openmp`", &why),
    }
    match wgpu::check() {
        Ok(_) => all.push(("wgpu", Arc::new(wgpu::Wgpu))),
        Err(why) => isobar_testing::skip_part("a program on `wgpu`", &why),
    }
    all
}

fn interpreter() -> ProgramRunner {
    ProgramRunner { executor: None, joins_calls: false, temporary: std::env::temp_dir() }
}

/// Each back end with each call as its own code, and with calls joined.
fn runners(temporary: &Path) -> Vec<(&'static str, ProgramRunner)> {
    let both = |(name, executor): (&'static str, Arc<dyn Executor>)| {
        let each = [false, true].into_iter().filter(move |joins_calls| !joins_calls || name != "numpy");
        let temporary = temporary.to_owned();
        each.map(move |joins_calls| {
            let (executor, temporary) = (Some(Arc::clone(&executor)), temporary.clone());
            (name, ProgramRunner { executor, joins_calls, temporary })
        })
    };
    executors().into_iter().flat_map(both).collect()
}

#[test]
fn generated_programs_have_the_bits_of_the_interpreter() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = ProgramPieces::default();
    for (name, runner) in runners(folder.path()) {
        let n_seeds = if name == "rayon" { 20 } else { 1 };
        for seed in 0..n_seeds {
            let pieces = hold_program(seed, &runner).unwrap_or_else(|it| panic!("{name}: {it}"));
            all = all.and(pieces);
        }
    }
    assert!(all.n_groups > 100 && all.n_stencils > 100, "{all:?}");
}

#[test]
fn ranks_that_compute_while_messages_are_on_their_way_have_the_bits_of_those_that_wait() {
    let held = (0..20).map(|seed| hold_on_ranks(seed).unwrap().runs);
    let n_overlapping: u64 = held.sum();
    assert!(n_overlapping > 20, "{n_overlapping}");
}

#[test]
fn fields_that_nobody_reads_are_locals_and_change_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = PrivateFields::default();
    for (name, runner) in runners(folder.path()) {
        // A GPU that the processor pretends to be takes a second for each piece of code.
        let n_seeds = match (name, runner.joins_calls) {
            ("rayon", true) => 10,
            ("wgpu", joins_calls) => u64::from(joins_calls),
            _ => 2,
        };
        for seed in 0..n_seeds {
            let found = hold_results(seed, &runner).unwrap_or_else(|it| panic!("{name}: {it}"));
            all =
                PrivateFields { n_locals: all.n_locals + found.n_locals, n_kept: all.n_kept + found.n_kept };
        }
    }
    for seed in 100..150 {
        let found = hold_results(seed, &interpreter()).unwrap_or_else(|it| panic!("{it}"));
        all = PrivateFields { n_locals: all.n_locals + found.n_locals, n_kept: all.n_kept + found.n_kept };
    }
    assert!(all.n_locals > 50 && all.n_kept > 50, "{all:?}");
}

#[test]
fn locals_share_memory_and_take_what_is_told_before_a_run() {
    let names: Vec<String> = (0..6).map(|it| format!("l{it}")).collect();
    let mut model: Json = serde_json::from_str(&document(&json!([]))).unwrap();
    let mut body = Vec::new();
    let mut before = "q";
    for name in &names {
        model["fields"][name] = field("local");
        body.push(json!({"fill": name, "with": 0.0}));
        body.push(json!({"call": "lap", "args": {"q": before, "out": name}}));
        // Nothing joins across a mark of this kind.
        body.push(json!({"if": "n > 1", "then": [{"mark": "late"}]}));
        before = name;
    }
    body.push(json!({"call": "step", "args": {"q": "q", "l": before, "a": "a"}}));
    model["body"] = Json::from(body);
    let domain = Domain::new(9, 7, 4);
    let bytes = 13 * 11 * 4 * 8;
    for shares_memory in [false, true] {
        let mut compilation = compile("model.json", &model.to_string(), Config::default());
        let program = compilation.program.take().unwrap();
        let fronts = &mut compilation.fronts;
        let sizes = [domain.i, domain.j, domain.k];
        let mut instance = ProgramInstance::new(&program, fronts, sizes, HaloFill::None, MOST_BYTES).unwrap();
        let [each, shared] =
            [ProgramBytes::of(&program, domain), ProgramBytes::sharing(&program, fronts, domain)];
        // `l` is a local that no statement touches, and `s` a state.
        assert_eq!([each.own, shared.own], [8 * bytes, 4 * bytes]);
        let of = |name: &str| Array::zeros(DType::Float64, &instance.shape(name).unwrap());
        let fields = ["q", "r", "tracers"].map(|it| (it.to_owned(), of(it)));
        let scalars = [("a", ScalarInput::Float(0.1)), ("n", ScalarInput::Int(2))];
        let scalars = scalars.map(|(name, value)| (name.to_owned(), value)).into();
        let mut inputs = ProgramInputs { fields: fields.into(), scalars };
        let setting = OwnedSetting::embedded(1);
        let mut code = ProgramCode::new(Arc::new(rayon::Rayon), setting, PassOptions::default());
        let ended = if shares_memory {
            code.prepare(&instance).unwrap();
            instance.run_with(&mut inputs, &mut code, &mut NoControl)
        } else {
            instance.run(&mut inputs, &mut NoControl)
        };
        ended.unwrap();
        assert_eq!(instance.local_bytes(), if shares_memory { 2 * bytes } else { 6 * bytes });
    }
}

#[test]
fn groups_of_calls_mean_the_same_on_each_level() {
    let mut n_runs = 0;
    for seed in 0..28 {
        n_runs += hold_program_levels(seed).unwrap_or_else(|it| panic!("{it:#}")).runs;
    }
    assert!(n_runs > 1000, "{n_runs}");
}

#[test]
fn programs_mean_the_same_as_one_schedule_one_graph_and_one_piece_of_code() {
    let mut n_runs = 0;
    for seed in 0..28 {
        n_runs += hold_whole_program(seed).unwrap_or_else(|it| panic!("{it:#}")).runs;
    }
    assert!(n_runs > 800, "{n_runs}");
}

#[test]
fn a_step_of_a_model_has_the_bits_of_the_interpreter() {
    let text = model();
    let folder = tempfile::tempdir().unwrap();
    let scalars = [("a", ScalarInput::Float(0.1)), ("n", ScalarInput::Int(3))];
    for domain in [[1, 1, 2], [3, 2, 2], [9, 7, 5], [33, 17, 12]] {
        let (expected, _) = ran(&text, domain, &interpreter(), &scalars).unwrap();
        assert_eq!(expected.report.n_calls, 18);
        for (name, runner) in runners(folder.path()) {
            let (found, pieces) = ran(&text, domain, &runner, &scalars).unwrap();
            assert!(found == expected, "{name} on {domain:?}");
            let expected = if runner.joins_calls { (2, 2) } else { (0, 4) };
            assert_eq!((pieces.n_groups, pieces.n_stencils), expected, "{name}");
        }
    }
}

#[test]
fn a_call_that_ends_the_run_tells_its_statement_and_point_on_each_back_end() {
    let text = document(&json!([
        {"fill": "l", "with": 0.0},
        {"call": "gathered", "args": {"q": "q", "out": "r", "at": "n"}}]));
    let folder = tempfile::tempdir().unwrap();
    let scalars = [("a", ScalarInput::Float(0.1)), ("n", ScalarInput::Int(5))];
    let told = ran(&text, [4, 3, 2], &interpreter(), &scalars).unwrap_err();
    assert!(told.contains("`q.at(5)` does not exist, in s0 at i=0, j=0, k=0"), "{told}");
    // Other back ends do not name the element.
    for (name, runner) in runners(folder.path()) {
        let found = ran(&text, [4, 3, 2], &runner, &scalars).unwrap_err();
        for part in [
            "error[P20]: `gathered` ended: ",
            ", in s0 at i=0, j=0, k=0",
            "main.py:25:9",
            "by this statement",
        ] {
            assert!(found.contains(part) && told.contains(part), "{name}: {found}");
        }
    }
}

/// A program with two groups, ready to run.
fn prepared(text: &str, temporary: &Path, cache: Option<&Path>) -> (ProgramInstance, ProgramCode) {
    let mut compilation = compile("model.json", text, Config::default());
    let mut program = compilation.program.take().expect("the document is a program");
    group_calls(&mut program);
    let fronts = &mut compilation.fronts;
    let instance = ProgramInstance::new(&program, fronts, [6, 5, 4], HaloFill::Periodic, MOST_BYTES)
        .expect("it fits the domain");
    let (temporary, cache) = (temporary.to_owned(), cache.map(Path::to_owned));
    let setting = OwnedSetting { temporary, cache, ..OwnedSetting::embedded(2) };
    let mut code = ProgramCode::new(Arc::new(rayon::Rayon), setting, PassOptions::default());
    let refused = code.prepare(&instance).expect("its stencils have code");
    assert_eq!(refused, []);
    (instance, code)
}

#[test]
fn equal_programs_of_a_process_share_their_code() {
    let folder = tempfile::tempdir().unwrap();
    let call = |stencil: &str, l: &str| json!({"call": stencil, "args": {"q": "q", "l": l, "a": "a"}});
    let lap = |out: &str| json!({"call": "lap", "args": {"q": "q", "out": out}});
    let text = |out: &str| {
        document(&json!([lap(out), call("step", out),
            {"exchange": ["q"], "kind": "scalar", "width": 2, "phase": "update"}, lap("r"), call("step", "r")]))
    };
    let addresses =
        |code: &ProgramCode| code.groups().map(|it| std::ptr::from_ref(it.1).addr()).collect::<Vec<_>>();
    let (first, other) = (text("l"), text("s"));
    // At the same time, as ranks that are threads do.
    let threads: Vec<_> = std::thread::scope(|scope| {
        let all = [(); 4].map(|()| scope.spawn(|| prepared(&first, folder.path(), None)));
        all.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let shared = addresses(&threads[0].1);
    assert_eq!(shared.len(), 2);
    assert!(threads.iter().all(|it| addresses(&it.1) == shared));
    // Of another program, the group that differs has code of its own.
    let (_instance, code) = prepared(&other, folder.path(), None);
    let of_other = addresses(&code);
    assert_eq!((of_other[0] != shared[0], of_other[1] == shared[1]), (true, true));
    // Its two groups do the same with other fields.
    assert_eq!(of_other[0], of_other[1]);
    // Each runs with arrays of its own, and gives the same bits.
    let n = [("n", ScalarInput::Int(1))];
    let runner = ProgramRunner {
        executor: Some(Arc::new(rayon::Rayon)),
        joins_calls: true,
        temporary: folder.path().to_owned(),
    };
    let all: Vec<_> = std::thread::scope(|scope| {
        let all = [(); 4].map(|()| scope.spawn(|| ran(&first, [6, 5, 4], &runner, &n).unwrap().0));
        all.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let expected = ran(&first, [6, 5, 4], &interpreter(), &n).unwrap().0;
    assert!(all.iter().all(|it| *it == expected));
    let expected = ran(&other, [6, 5, 4], &interpreter(), &n).unwrap().0;
    assert_eq!(ran(&other, [6, 5, 4], &runner, &n).unwrap().0, expected);
}

/// A stop in code that two groups share is told at the statement of the group that ran.
#[test]
fn equal_groups_tell_their_own_statements() {
    let group = |out: &str, at: &str| {
        [
            json!({"call": "lap", "args": {"q": "q", "out": out}}),
            json!({"call": "gathered", "args": {"q": "q", "out": out, "at": at}}),
        ]
    };
    let exchange = json!({"exchange": ["q"], "kind": "scalar", "width": 2, "phase": "update"});
    let body: Vec<Json> = group("r", "0").into_iter().chain([exchange]).chain(group("s", "n")).collect();
    let text = document(&json!(body));
    let folder = tempfile::tempdir().unwrap();
    let runner = ProgramRunner {
        executor: Some(Arc::new(rayon::Rayon)),
        joins_calls: true,
        temporary: folder.path().to_owned(),
    };
    let (_instance, code) = prepared(&text, folder.path(), None);
    let addresses: Vec<_> = code.groups().map(|it| std::ptr::from_ref(it.1).addr()).collect();
    assert!(addresses.len() == 2 && addresses[0] == addresses[1], "{addresses:?}");
    let n = [("a", ScalarInput::Float(0.1)), ("n", ScalarInput::Int(5))];
    let (told, found) = (
        ran(&text, [4, 3, 2], &interpreter(), &n).unwrap_err(),
        ran(&text, [4, 3, 2], &runner, &n).unwrap_err(),
    );
    let place = |it: &str| it.lines().find(|line| line.contains("model.json:")).map(str::to_owned);
    assert!(place(&told).is_some() && place(&told) == place(&found), "{told}{found}");
}

#[test]
fn code_of_a_program_is_found_on_disk_by_the_next_process() {
    let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text = document(&json!([
        {"call": "lap", "args": {"q": "q", "out": "l"}},
        {"call": "step", "args": {"q": "q", "l": "l", "a": "a"}},
        {"exchange": ["q"], "kind": "scalar", "width": 2, "phase": "update"},
        {"if": "n > 0", "then": [{"call": "down", "args": {"q": "q", "total": "s"}}]},
        {"call": "corner", "args": {"to": "r", "of": "r"}},
        {"call": "step", "args": {"q": "r", "l": "q", "a": "a"}}]));
    let run = |text: &str| {
        let (mut instance, mut code) = prepared(text, folder.path(), Some(cache.path()));
        let shapes: Vec<_> = ["q", "r", "tracers"].map(|it| (it, instance.shape(it).unwrap())).into();
        let fields = shapes.into_iter().map(|(name, shape)| {
            let n = shape.iter().product::<usize>();
            let values: Vec<f64> = (0..n).map(|at| (at * 7 % 29) as f64 * 0.3).collect();
            (name.to_owned(), Array::from_fortran_order(Elements::Float64(values.into()), &shape).unwrap())
        });
        let scalars = [("a", ScalarInput::Float(0.1)), ("n", ScalarInput::Int(1))];
        let scalars = scalars.into_iter().map(|(name, it)| (name.to_owned(), it)).collect();
        let mut inputs = ProgramInputs { fields: fields.collect(), scalars };
        instance.run_with(&mut inputs, &mut code, &mut NoControl).unwrap();
        let pieces = code.n_groups() + code.n_stencils();
        (inputs.fields, code.n_compiled(), pieces)
    };
    let (first, n_compiled, n_pieces) = run(&text);
    assert!(n_compiled == n_pieces && n_pieces >= 3, "{n_compiled} of {n_pieces}");
    // Nothing of it is left in this process.
    let (again, n_compiled, _) = run(&text);
    assert_eq!((again == first, n_compiled), (true, 0));
    // A comment moves the places that traps name: it is another text.
    let (moved, n_compiled, _) = run(&text.replace("def lap", "# a comment\\ndef lap"));
    assert!(moved == first && n_compiled > 0, "{n_compiled}");
}
