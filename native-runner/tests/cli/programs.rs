//! Programs of several stencils from the command line.

use isobar_runner::npz;
use serde_json::json;

use super::*;

const STENCILS: &str = "\
def shift(a: Field[float], b: Field[float]):
    with computation(PARALLEL), interval(...):
        b = a[-1, 0, 0]

def add(q: Field[float], by: float):
    with computation(PARALLEL), interval(...):
        q = q + by
";

/// A program over one row, in a file of its test.
fn program(name: &str) -> String {
    let field = json!({"role": "argument", "dtype": "float64", "axes": "IJK", "shape": ["I+2", "J", "K"], "origin": [1, 0, 0]});
    let document = json!({
        "isobar_program": 1, "name": "rows", "files": {"main.py": STENCILS},
        "fields": {"q": field, "other": field, "l": {"role": "local", "like": "q"}},
        "scalars": {"n": {"role": "argument", "dtype": "int64"}},
        "stencils": {"shift": {"function": "main.shift"}, "add": {"function": "main.add"}},
        "body": [
            {"for": "it", "range": ["n"], "body": [
                {"call": "shift", "args": {"a": "q", "b": "l"}},
                {"call": "add", "args": {"q": "l", "by": "it + 1"}},
                {"copy": "l", "to": "q"}]}]});
    file(name, document.to_string().as_bytes())
}

/// The fields of a run on three points.
fn fields(name: &str) -> String {
    let row: Vec<u8> = [1.0_f64, 2.0, 3.0, 4.0, 5.0].iter().flat_map(|it| it.to_le_bytes()).collect();
    let mut made = std::io::Cursor::new(Vec::new());
    let arrays = ["q", "other"].map(|it| (it, "float64", vec![5, 1, 1], row.as_slice()));
    npz::write(&mut made, arrays).unwrap();
    file(name, made.get_ref())
}

#[test]
fn a_program_is_emitted_as_its_level() {
    let output = isobar(&["emit", "--program", &program("emitted.json"), "--stage", "program"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(
        text(&output.stdout).ends_with("call add(q=l, by=it + 1)\n  copy l to q\n"),
        "{}",
        text(&output.stdout)
    );
    assert!(text(&output.stderr).starts_with("warning[P12]: `l` may be read"), "{}", text(&output.stderr));
}

#[test]
fn fields_that_are_no_results_are_locals_or_told_with_the_reason() {
    let mut document: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(program("results.json")).unwrap()).unwrap();
    document["results"] = json!(["q"]);
    document["fields"]["kept"] = document["fields"]["q"].clone();
    let copies = [json!({"copy": "q", "to": "other"}), json!({"copy": "other", "to": "kept"})];
    let body = document["body"].as_array_mut().unwrap();
    body.splice(0..0, copies);
    body.push(json!({"call": "shift", "args": {"a": "other", "b": "q"}}));
    body.push(json!({"call": "add", "args": {"q": "kept", "by": "1.0"}}));
    body.insert(0, json!({"call": "add", "args": {"q": "kept", "by": "1.0"}}));
    let path = file("results.json", document.to_string().as_bytes());
    let output = isobar(&["emit", "--program", &path, "--stage", "program", "--remarks"]);
    let told = text(&output.stdout);
    assert!(told.contains("\nlocal other: ") && told.contains("\nargument kept: "), "{told}");
    let remark = "results.json:1: `kept` stays argument: it may be read before this run has written it\n";
    assert!(told.ends_with(remark), "{told}");
    // It is not given any more.
    let scalars = file("results-scalars.json", b"{\"n\": 1}");
    let (given, all) = (fields("results.npz"), ["--domain", "3,1,1", "--scalars", &scalars]);
    let run = [&["run", "--program", &path, "--fields", &given][..], &all].concat();
    let told = text(&isobar(&run).stderr);
    assert!(told.contains("the program takes no `other`"), "{told}");
}

#[test]
fn a_program_runs_on_the_fields_of_a_file() {
    let (document, given) = (program("run.json"), fields("run.npz"));
    let scalars = file("run-scalars.json", b"{\"n\": 1}");
    let out = file("run-out.npz", b"");
    let arguments = [
        "run",
        "--program",
        &document,
        "--domain",
        "3,1,1",
        "--fields",
        &given,
        "--scalars",
        &scalars,
        "--out",
        &out,
        "--format",
        "json",
    ];
    let report = json(&isobar(&arguments));
    assert_eq!((report["reason"].as_str(), report["backend"].as_str()), (Some("ok"), Some("debug")));
    let names: Vec<&str> =
        report["fields"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["q"], "only fields that it may write");
    assert_eq!(report["fields"][0]["statistics"]["mean"], 3.0);
    let written = npz::read(&std::fs::read(&out).unwrap(), 1 << 20).unwrap();
    let q = &written["q"];
    let row: Vec<f64> = (0..5).map(|i| q.get(&[i, 0, 0]).as_f64()).collect();
    // The whole local is copied, and its halo holds nothing.
    assert!(row[0].is_nan() && row[4].is_nan());
    assert_eq!(row[1..4], [2.0, 3.0, 4.0]);
}

#[test]
fn a_program_has_the_same_bits_on_each_back_end_of_the_host() {
    let (document, given) = (program("hosts.json"), fields("hosts.npz"));
    let scalars = file("hosts-scalars.json", b"{\"n\": 1}");
    let hashes = |others: &[&str]| {
        let arguments = ["run", "--program", &document, "--domain", "3,1,1", "--format", "json"];
        let inputs = ["--fields", &given, "--scalars", &scalars];
        let report = json(&isobar(&[&arguments[..], &inputs, others].concat()));
        let steps = report["timings"].as_array().unwrap().iter().map(|it| it["step"].clone());
        (report["backend"].clone(), report["hashes"].clone(), steps.collect::<Vec<_>>())
    };
    let (_, expected, steps) = hashes(&[]);
    assert_eq!(steps, ["run"]);
    for backend in ["numpy", "rayon"] {
        for scope in ["program", "stencil"] {
            let found = hashes(&["--backend", backend, "--threads", "2", "--scope", scope]);
            assert_eq!(found, (backend.into(), expected.clone(), vec!["prepare".into(), "run".into()]));
        }
    }
}

#[test]
fn calls_that_stand_behind_each_other_are_emitted_as_one_piece_of_code() {
    let document = program("groups.json");
    let emit = |others: &[&str]| isobar(&[&["emit", "--program", &document], others].concat());
    let tree = text(&emit(&["--stage", "tree"]).stdout).to_owned();
    assert!(tree.starts_with("program rows\n"), "{tree}");
    let whole = "\nfor it in range(0, n, 1)\n  group 0\n    tree rows_group_0\n";
    assert!(tree.contains(whole), "{tree}");
    assert_eq!(tree.matches("\n    parallel k in").count(), 3, "{tree}");
    let pieces = text(&emit(&["--stage", "c"]).stdout).to_owned();
    assert!(pieces.starts_with("==> group 0 <==\n"), "{pieces}");
    let schedule = emit(&["--stage", "schedule", "--group", "0", "--remarks"]);
    let schedule = text(&schedule.stdout);
    assert!(schedule.starts_with("schedule rows_group_0\n"), "{schedule}");
    assert!(schedule.contains("main.py:7:9: applied[schedule/merge-loops]"), "{schedule}");
    let graph = emit(&["--stage", "sdfg", "--form", "sdfg", "--group", "0"]).stdout;
    let graph: Value = serde_json::from_slice(&graph).unwrap();
    assert_eq!((&graph["type"], &graph["attributes"]["name"]), (&"SDFG".into(), &"rows_group_0".into()));
    for stage in ["loops", "c", "kernels", "cuda", "wgsl"] {
        let output = emit(&["--stage", stage, "--group", "0"]);
        assert!(text(&output.stdout).len() > 200, "{stage}: {}", text(&output.stderr));
    }
    for (others, sentence) in [
        (&["--stage", "oir"][..], "--program has the stages program, tree, schedule, sdfg, loops, "),
        (&["--stage", "tree", "--group", "7"], "there is no group 7: the program has 1 of them"),
        (&["--stage", "program", "--group", "0"], "--group is for stages behind `program`"),
        (&["--stage", "tree", "--form", "sdfg"], "--form sdfg is for --stage sdfg"),
        (&["--stage", "tree", "--steps"], "--steps is for a stencil"),
    ] {
        let output = emit(others);
        assert_eq!(output.status.code(), Some(2), "{others:?}");
        assert!(text(&output.stderr).contains(sentence), "{}", text(&output.stderr));
    }
}

#[test]
fn a_program_that_cannot_run_is_told() {
    let (document, given) = (program("told.json"), fields("told.npz"));
    let run = |others: &[&str]| isobar(&[&["run", "--program", &document][..], others].concat());
    for (others, sentence) in [
        (&["--plane", "k=0", "--domain", "3,1,1"][..], "--plane is for a stencil, and not for --program"),
        (&["--backend", "nothing"], "no back end named `nothing`"),
        (&[], "a program needs --domain I,J,K"),
        (&["--halo", "closed"], "invalid value 'closed'"),
        (&["main.py"], "cannot be used with"),
    ] {
        let output = run(others);
        assert_eq!(output.status.code(), Some(2), "{others:?}");
        assert!(text(&output.stderr).contains(sentence), "{}", text(&output.stderr));
    }
    let codes = |output: &Output| {
        let told = json(output)["diagnostics"].clone();
        told.as_array().unwrap().iter().map(|it| it["code"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let given = ["--domain", "3,1,1", "--format", "json", "--fields", &given];
    assert_eq!(codes(&run(&given[..4])), ["P12", "P18", "P18", "P18"]);
    let damaged = file("told-damaged.npz", b"PK and so on");
    assert_eq!(codes(&run(&[&given[..5], &[damaged.as_str()]].concat())), ["P12", "C07"]);
    let scalars = file("told-scalars.json", b"{\"n\": 9223372036854775807}");
    let unread = isobar(&["emit", "--program", &scalars, "--stage", "program", "--format", "json"]);
    assert_eq!(codes(&unread), ["P01"]);
}

const CLASS: &str = "\
# @stencil Shifting
# @domain 3 1 1
# @input q linear(low=1, high=3, along=i)
# @scalar n = 2
# @external by = 0.5

class Shifting:
    def __init__(self, stencil_factory, quantity_factory, by: float):
        self.shift = stencil_factory.from_dims_halo(shift, [X_DIM, Y_DIM, Z_DIM])
        self.add = stencil_factory.from_dims_halo(add, [X_DIM, Y_DIM, Z_DIM])
        self.l = quantity_factory.zeros([X_DIM, Y_DIM, Z_DIM], units=\"\")
        self.by = by

    def __call__(self, q: FloatField, n: int):
        for it in range(n):
            self.shift(q, self.l)
            self.add(self.l, self.by * n)
            q.data[:] = self.l

    def back(self, q: FloatField):
        self.shift(self.l, q)
";

/// A class in a file of its test.
fn class(name: &str) -> String {
    file(name, format!("{STENCILS}\n{CLASS}").as_bytes())
}

/// Whether Vulkan has a device; where there is none, that is said.
fn has_gpu() -> bool {
    match isobar_runtime::executors::wgpu::check() {
        Ok(_) => true,
        Err(why) => {
            isobar_testing::skip_part("a program on `wgpu`", &why);
            false
        }
    }
}

#[test]
fn a_class_is_a_program_without_a_document() {
    let text_of = class("shifting.py");
    let emitted = isobar(&["emit", &text_of, "--stage", "program"]);
    assert_eq!(emitted.status.code(), Some(0), "{}", text(&emitted.stderr));
    let body =
        "for it_1 in range(0, n, 1)\n  call shift(a=q, b=l)\n  call add(q=l, by=0.5 * n)\n  copy l to q\n";
    assert!(text(&emitted.stdout).ends_with(body), "{}", text(&emitted.stdout));
    let loops = isobar(&["emit", &text_of, "--stage", "loops", "--group", "0"]);
    assert_eq!(loops.status.code(), Some(0), "{}", text(&loops.stderr));
    let by = file("shifting.json", b"{\"by\": 0.25}");
    let hashes = |others: &[&str]| {
        let run = isobar(&[&["run", &text_of, "--init", "--format", "json"][..], others].concat());
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stdout));
        let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        report["hashes"].clone()
    };
    let usual = hashes(&[]);
    assert_eq!(hashes(&["--backend", "rayon"]), usual);
    if has_gpu() {
        assert_eq!(hashes(&["--backend", "wgpu"]), usual);
        assert_eq!(hashes(&["--backend", "wgpu", "--scope", "stencil"]), usual);
    }
    assert_eq!(hashes(&["--backend", "openmp", "--scope", "stencil"]), usual);
    assert_ne!(hashes(&["--externals", &by]), usual);
    assert_ne!(hashes(&["--init", "q=constant(2)"]), usual);
    assert_ne!(hashes(&["--stencil", "Shifting:back"]), usual);
}

#[test]
fn a_class_that_is_no_program_is_told() {
    let text_of = class("told.py");
    for (others, told) in [
        (&["--stencil", "Shifting:away"][..], "`Shifting` has no such method"),
        (&["--stencil", "Nothing:step"], "there is no class `Nothing`"),
        (&["--stencil", "add", "--halo", "periodic"], "--halo is for programs"),
        (&["--stencil", "Shifting"], "the field `q` is not given"),
    ] {
        let run = isobar(&[&["run", &text_of][..], others].concat());
        let said = format!("{}{}", text(&run.stdout), text(&run.stderr));
        assert!(run.status.code() != Some(0) && said.contains(told), "{others:?}: {said}");
    }
}

#[test]
fn a_runner_runs_a_class_as_this_machine_does() {
    let runner = super::remote::serve();
    let steps = concat!(env!("CARGO_MANIFEST_DIR"), "/../static/gallery/programs/diffusion_steps.py");
    let run = |others: &[&str]| {
        let small = ["--domain", "10,8,3"].iter().filter(|_| !others.contains(&"--domain"));
        let all = ["run", steps, "--init", "--format", "json"];
        json(&isobar(&all.iter().chain(small).chain(others).copied().collect::<Vec<_>>()))
    };
    let there = |others: &[&str]| run(&[others, &["--runner", &runner.1]].concat());
    let here = run(&[]);
    assert_eq!(here["reason"], "ok", "{here}");
    let on_gpu = has_gpu().then_some("wgpu");
    for backend in ["debug", "numpy", "rayon", "openmp"].into_iter().chain(on_gpu) {
        let report = there(&["--backend", backend]);
        assert_eq!(report["hashes"], here["hashes"], "{backend}: {report}");
    }
    let wanted = there(&["--only", "q", "--plane", "k=1"]);
    assert_eq!(wanted["fields"][0]["shape"], json!([17, 15]), "{wanted}");
    for (others, told) in [
        (&["--init", "nothing=constant(1)"][..], "`Diffusion` has no parameter `nothing`"),
        (&["--domain", "9000,9000,900"], "more memory than it may have"),
        (&["--stencil", "Diffusion:away"], "no such method"),
    ] {
        let report = there(others);
        let said = report["diagnostics"].to_string();
        assert!(report["reason"] != "ok" && said.contains(told), "{others:?}: {report}");
    }
    let bare = isobar(&["run", steps, "--format", "json", "--runner", &runner.1]);
    assert!(text(&bare.stdout).contains("the field `q` is not given"), "{}", text(&bare.stdout));
    let tune = isobar(&["tune", steps, "--backend", "openmp"]);
    let said = format!("{}{}", text(&tune.stdout), text(&tune.stderr));
    assert!(!tune.status.success() && said.contains("is not tuned"), "{said}");
}

#[test]
fn back_ends_are_measured_on_a_class() {
    let steps = concat!(env!("CARGO_MANIFEST_DIR"), "/../static/gallery/programs/diffusion_steps.py");
    let small = ["bench", steps, "--backends", "numpy,rayon", "--repeats", "3", "--domain", "10,8,3"];
    let report = json(&isobar(&[&small[..], &["--format", "json"]].concat()));
    let measured = &report["benchmark"];
    let names: Vec<_> = measured["backends"].as_array().unwrap().iter().map(|it| &it["backend"]).collect();
    assert_eq!(names, ["numpy", "rayon", "rayon, one by one"], "{report}");
    assert_eq!((&measured["agree"], &measured["stencil"]), (&json!(true), &json!("Diffusion")));
    // `q` is read and written.
    assert_eq!(measured["bytes"], 2 * 8 * 10 * 8 * 3);
    let refused = isobar(&[&small[..], &["--layouts", "i"]].concat());
    let said = format!("{}{}", text(&refused.stdout), text(&refused.stderr));
    assert!(!refused.status.success() && said.contains("layouts are measured of stencils"), "{said}");
}

#[test]
fn the_levels_of_a_class_are_those_of_its_stencils_and_groups() {
    let steps = concat!(env!("CARGO_MANIFEST_DIR"), "/../static/gallery/programs/diffusion_steps.py");
    let all = isobar(&["emit", steps, "--stage", "all"]);
    assert_eq!(all.status.code(), Some(0), "{}", text(&all.stderr));
    for part in [
        "==> program <==\n",
        "==> oir <==\n==> laplacian <==\n",
        "==> loops <==\nprogram Diffusion(q, alpha, n_small)\n",
        "==> c <==\n==> group 0 <==\n",
    ] {
        assert!(text(&all.stdout).contains(part), "{part}");
    }
    let oir = isobar(&["emit", steps, "--stage", "oir"]);
    assert!(text(&oir.stdout).contains("==> apply <==\nstencil apply\n"), "{}", text(&oir.stdout));
    let of_stencil = isobar(&["emit", steps, "--stencil", "apply", "--stage", "program"]);
    assert_eq!(of_stencil.status.code(), Some(2));
    assert!(text(&of_stencil.stderr).contains("is for programs"), "{}", text(&of_stencil.stderr));
}

#[test]
fn a_program_is_one_schedule_one_graph_and_one_piece_of_loops() {
    let document = program("one.json");
    let emit = |others: &[&str]| isobar(&[&["emit", "--program", &document], others].concat());
    let schedule = emit(&["--stage", "schedule", "--remarks"]);
    let schedule = text(&schedule.stdout);
    assert!(schedule.starts_with("schedule rows\n"), "{schedule}");
    assert_eq!(schedule.matches("\nwhile it_at < ").count(), 1, "{schedule}");
    // The remarks about its groups are there too.
    assert!(schedule.contains("main.py:7:9: applied[schedule/merge-loops]"), "{schedule}");
    for (stage, first) in [("sdfg", "sdfg rows("), ("loops", "program rows(")] {
        let level = emit(&["--stage", stage]);
        assert!(text(&level.stdout).starts_with(first), "{}", text(&level.stdout));
    }
    for form in [&["--form", "sdfg"][..], &["--form", "sdfg", "--flat"]] {
        let graph = emit(&[&["--stage", "sdfg"], form].concat()).stdout;
        let graph: Value = serde_json::from_slice(&graph).unwrap();
        assert_eq!((&graph["type"], &graph["attributes"]["name"]), (&"SDFG".into(), &"rows".into()));
        let blocks = graph["nodes"].as_array().unwrap();
        let has_loop = blocks.iter().any(|it| it["type"] == "LoopRegion");
        assert_eq!(has_loop, form.len() == 2, "{graph}");
    }
}

#[test]
fn a_program_that_is_no_single_graph_says_why() {
    let whole = std::fs::read_to_string(program("ended.json")).unwrap();
    let mut document: Value = serde_json::from_str(&whole).unwrap();
    document["body"].as_array_mut().unwrap().push(json!({"trap": "no further"}));
    let path = file("ending.json", document.to_string().as_bytes());
    let emit = |others: &[&str]| isobar(&[&["emit", "--program", &path], others].concat());
    let listing = emit(&["--stage", "sdfg", "--remarks"]);
    // Its groups are graphs for themselves.
    assert!(text(&listing.stdout).contains("group 0\n    sdfg rows_group_0("), "{}", text(&listing.stdout));
    let why = "a trap of a program as one piece is refused: a schedule ends no run";
    assert!(text(&listing.stdout).contains(why), "{}", text(&listing.stdout));
    let graph = emit(&["--stage", "sdfg", "--form", "sdfg"]);
    assert_eq!(graph.status.code(), Some(1));
    assert!(text(&graph.stderr).contains(why), "{}", text(&graph.stderr));
    // A halo that takes values from beyond one period.
    let class = concat!(env!("CARGO_MANIFEST_DIR"), "/../static/gallery/programs/diffusion_steps.py");
    let class = std::fs::read_to_string(class).unwrap().replace("n_points=1", "n_points=3");
    let path = file("wide_halo.py", class.as_bytes());
    for (domain, code) in [("2,3,4", 1), ("3,3,4", 0)] {
        let graph = isobar(&["emit", &path, "--stage", "sdfg", "--form", "sdfg", "--domain", domain]);
        assert_eq!(graph.status.code(), Some(code), "{}", text(&graph.stderr));
        let told = text(&graph.stderr).contains("the halo of `q` is wider than the domain");
        assert_eq!(told, code == 1, "{}", text(&graph.stderr));
    }
}

#[test]
fn documents_are_compared_and_measured() {
    let (document, given) = (program("across.json"), fields("across.npz"));
    let scalars = file("across-scalars.json", b"{\"n\": 3}");
    let given = ["--domain", "3,1,1", "--fields", &given, "--scalars", &scalars];
    let run = |command: &str, more: &[&str]| {
        let output = isobar(&[&[command, "--program", &document], more, &given].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout).to_owned()
    };
    let compared = run("compare", &["--backends", "numpy,rayon"]);
    assert!(compared.ends_with("numpy: the bits of `debug`\nrayon: the bits of `debug`\n"), "{compared}");
    let measured = run("bench", &["--backends", "rayon", "--repeats", "2"]);
    assert!(
        measured.starts_with("rows on 3x1x1 points") && measured.contains("rayon, one by one"),
        "{measured}"
    );
    assert!(measured.ends_with("all back ends wrote the same bits\n"), "{measured}");
    if has_gpu() {
        assert!(run("compare", &["--backends", "wgpu"]).ends_with("wgpu: the bits of `debug`\n"));
        let measured = run("bench", &["--backends", "rayon,wgpu", "--repeats", "2"]);
        assert!(measured.contains("wgpu, one by one"), "{measured}");
    }
    let broken = file("across-broken.json", b"{\"isobar_program\": 1}");
    let output = isobar(&["bench", "--program", &broken, "--backends", "rayon"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).starts_with("error[P01]: the document cannot be read"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_domain_that_ranks_cut_has_the_bits_of_the_whole_one() {
    let field =
        |role: &str| json!({"role": role, "dtype": "float64", "axes": "IJK", "shape": ["I+2", "J+2", "K"]});
    let stencils = "\
def lap(q: Field[float], out: Field[float]):
    with computation(PARALLEL), interval(...):
        out = q[-1, 0, 0] + q[1, 0, 0] + q[0, -1, 0] + q[0, 1, 0] - 4.0 * q

def step(q: Field[float], l: Field[float]):
    with computation(PARALLEL), interval(...):
        q = q + 0.1 * l
";
    let document = |exchange: serde_json::Value| {
        let body = json!([{"for": "it", "range": [3], "body": [
            exchange,
            {"call": "lap", "args": {"q": "q", "out": "l"}},
            {"call": "step", "args": {"q": "q", "l": "l"}}]}]);
        let document = json!({
            "isobar_program": 1, "name": "diffuse", "files": {"main.py": stencils}, "grid": {"halo": 1},
            "fields": {"q": field("argument"), "l": field("local")},
            "stencils": {"lap": {"function": "main.lap"}, "step": {"function": "main.step"}},
            "body": body});
        file("cut.json", document.to_string().as_bytes())
    };
    let path = document(json!({"exchange": ["q"], "width": 1}));
    let run = |more: &[&str]| {
        let made = ["--init", "q=random(low=0, high=1, seed=1)", "--format", "json"];
        json(&isobar(&[&["run", "--program", &path, "--domain", "6,6,2"], more, &made[..]].concat()))
    };
    let hash = |more: &[&str]| {
        let report = run(more);
        assert_eq!(report["reason"], "ok", "{report}");
        (report["hashes"]["q"].clone(), report["fields"][0]["shape"].clone())
    };
    for halo in ["none", "periodic", "zero-gradient"] {
        let whole = hash(&["--halo", halo]);
        assert_eq!(whole.1, json!([8, 8, 2]));
        // As a runner does it, and for back ends beside each other.
        let made = ["--domain", "6,6,2", "--init", "q=random(low=0, high=1, seed=1)", "--halo", halo];
        let job =
            json(&isobar(&[&["run", &path, "--backend", "rayon", "--format", "json"], &made[..]].concat()));
        assert_eq!(job["hashes"]["q"], whole.0, "{job}");
        let compared = isobar(&[&["compare", "--program", &path, "--backends", "numpy"], &made[..]].concat());
        assert!(
            text(&compared.stdout).ends_with("numpy: the bits of `debug`\n"),
            "{}",
            text(&compared.stderr)
        );
        for more in
            [&["--layout", "1,1"][..], &["--layout", "3,2"], &["--layout", "2,3", "--backend", "rayon"]]
        {
            assert_eq!(hash(&[&["--halo", halo], more].concat()), whole, "{halo} {more:?}");
        }
    }
    let cube = hash(&["--halo", "cube"]);
    assert_eq!(cube.1, json!([8, 8, 2, 6]));
    assert_eq!(hash(&["--halo", "cube", "--layout", "2,2", "--backend", "numpy"]), cube);
    // Ranks beside one rank; an exchange that is missing shows in them.
    let made = ["--domain", "6,6,2", "--init", "q=random(low=0, high=1, seed=1)"];
    let compared = |path: &str, more: &[&str]| {
        let output = isobar(&[&["compare", "--program", path], &made[..], more].concat());
        (output.status.code(), text(&output.stdout).to_owned())
    };
    let (code, said) = compared(&path, &["--halo", "periodic", "--layout", "3,2"]);
    assert!(code == Some(0) && said.ends_with("debug, 3x2 ranks: the bits of `debug`\n"), "{said}");
    let (code, said) = compared(&path, &["--halo", "cube", "--layout", "2,2", "--backends", "rayon"]);
    assert!(code == Some(0) && said.ends_with("rayon, 2x2 ranks: the bits of `debug`\n"), "{said}");
    let lacking = document(json!({"mark": "no exchange"}));
    let (code, said) = compared(&lacking, &["--halo", "periodic", "--layout", "3,2"]);
    assert!(
        code == Some(1) && said.contains("3x2 ranks: ") && said.contains("not as `debug` leaves"),
        "{said}"
    );
    let told = |more: &[&str]| run(more)["diagnostics"][0]["message"].clone();
    assert_eq!(told(&["--layout", "4,1"]), "6 points along I are not cut into 4 equal parts");
    assert_eq!(
        told(&["--layout", "3,2", "--halo", "cube"]),
        "faces of a cube are square, and these have 6x6 points on 3x2 ranks"
    );
    let wrong = isobar(&["run", "--program", &path, "--domain", "6,6,2", "--layout", "0,2"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("a layout is I,J, each from 1 to 64"), "{}", text(&wrong.stderr));
    let stencil = isobar(&["run", &class("halo.py"), "--stencil", "shift", "--halo", "periodic"]);
    assert!(text(&stencil.stderr).contains("--halo is for programs"), "{}", text(&stencil.stderr));
    let stencil = isobar(&["compare", &class("cut.py"), "--stencil", "shift", "--layout", "2,2"]);
    assert!(text(&stencil.stderr).contains("are for programs"), "{}", text(&stencil.stderr));
}

/// A class that asks where its domain lies on the tile, in its constructor and in its method.
const ON_A_TILE: &str = "\
# @stencil Tile
# @domain 6 6 2
# @halo periodic
# @input q random(low=0, high=1, seed=1)

def lap(q: FloatField, out: FloatField):
    with computation(PARALLEL), interval(...):
        out = q[-1, 0, 0] + q[1, 0, 0] + q[0, -1, 0] + q[0, 1, 0] - 4.0 * q

def edges(q: FloatField, l: FloatField):
    from __externals__ import i_start, j_end
    with computation(PARALLEL), interval(...):
        q = q + 0.1 * l
        with horizontal(region[i_start, :], region[:, j_end]):
            q = q - 0.05 * l

def west(q: FloatField):
    from __externals__ import i_start
    with computation(PARALLEL), interval(...):
        with horizontal(region[i_start : i_start + 2, :]):
            q = q * 0.5

class Tile:
    def __init__(self, stencil_factory, quantity_factory, comm):
        grid = stencil_factory.grid_indexing
        dims = [X_DIM, Y_DIM, Z_DIM]
        self._grid = grid
        self._comm = comm
        self._lap = stencil_factory.from_dims_halo(lap, compute_dims=dims)
        self._edges = stencil_factory.from_dims_halo(edges, compute_dims=dims)
        origin, domain = grid.origin_compute(), grid.domain_compute()
        offsets = grid.axis_offsets(origin, domain)
        self._west = stencil_factory.from_origin_domain(west, origin=origin, domain=domain, externals=offsets)
        self._l = quantity_factory.zeros(dims, units=\"\")

    def __call__(self, q: FloatField):
        for _ in range(3):
            self._comm.halo_update(q, n_points=1)
            self._lap(q, self._l)
            self._edges(q, self._l)
            self._west(q)
            if self._grid.west_edge and not self._grid.ne_corner:
                self._lap(q, self._l)
                self._edges(q, self._l)
";

#[test]
fn a_class_runs_on_ranks_that_cut_its_domain() {
    let steps = concat!(env!("CARGO_MANIFEST_DIR"), "/../static/gallery/programs/diffusion_steps.py");
    let on = |domain: &str, more: &[&str]| {
        let base = ["run", steps, "--domain", domain, "--init", "--format", "json"];
        let report = json(&isobar(&[&base[..], more].concat()));
        assert_eq!(report["reason"], "ok", "{report}");
        report["hashes"]["q"].clone()
    };
    let hash = |more: &[&str]| on("12,8,2", more);
    let whole = hash(&[]);
    for more in [&["--layout", "1,1"][..], &["--layout", "3,2"], &["--layout", "2,4", "--backend", "rayon"]] {
        assert_eq!(hash(more), whole, "{more:?}");
    }
    // Faces of a cube are square.
    let cube = |more: &[&str]| on("8,8,2", &[&["--halo", "cube"], more].concat());
    assert_eq!(cube(&["--layout", "2,2"]), cube(&[]));
    let compared = isobar(&["compare", steps, "--layout", "2,2", "--domain", "8,8,2", "--backends", "rayon"]);
    let said = text(&compared.stdout);
    assert!(said.ends_with("rayon, 2x2 ranks: the bits of `debug`\n"), "{said}{}", text(&compared.stderr));
}

#[test]
fn each_rank_of_a_class_knows_its_edges_of_the_tile() {
    let whole = ON_A_TILE.replace("            if self._grid.west_edge and not self._grid.ne_corner:\n                self._lap(q, self._l)\n                self._edges(q, self._l)\n", "");
    let path = file("tile.py", whole.as_bytes());
    let compared = isobar(&["compare", &path, "--layout", "2,3", "--backends", "debug,rayon"]);
    let said = format!("{}{}", text(&compared.stdout), text(&compared.stderr));
    assert_eq!(compared.status.code(), Some(0), "{said}");
    // Here ranks in the west do more than others, and the one that has all edges does not.
    let path = file("tile-west.py", ON_A_TILE.as_bytes());
    let compared = isobar(&["compare", &path, "--layout", "2,3"]);
    let said = text(&compared.stdout);
    assert!(said.contains("2x3 ranks: ") && said.contains("not as `debug` leaves"), "{said}");
}

#[test]
fn a_program_is_exported_as_one_function() {
    let folder = format!("{}.d", file("exported-program", b""));
    let _ = std::fs::remove_dir_all(&folder);
    let document = program("exported.json");
    let output = isobar(&["export", "--program", &document, "--bindings", "c", "-o", &folder]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let header = std::fs::read_to_string(format!("{folder}/include/rows.h")).unwrap();
    let prototype =
        "int32_t rows_run(const isobar_call *call, const isobar_field *q, const isobar_field *other,";
    assert!(header.contains(prototype), "{header}");
    let code = std::fs::read_to_string(format!("{folder}/src/kernels/rows.c")).unwrap();
    assert!(code.contains("/* exported.json:1 */") && !code.contains("/tmp"), "{code}");
    let readme = std::fs::read_to_string(format!("{folder}/README.md")).unwrap();
    assert!(readme.contains("It needs 1 x 1 x 1 points along I, J and K at least."), "{readme}");
}

/// Code of a rank has the regions of its edges alone, and leaves exchanges to its caller.
#[test]
fn a_class_is_exported_for_the_edges_of_a_rank() {
    let path = file("exported-tile.py", ON_A_TILE.as_bytes());
    let exported = |edges: &[&str]| {
        let folder = format!("{}.d", file("exported-edges", b""));
        let _ = std::fs::remove_dir_all(&folder);
        let base =
            ["export", &path, "--domain", "6,6,2", "--halo", "caller", "--bindings", "c", "-o", &folder];
        let output = isobar(&[&base[..], edges].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let kernels = std::fs::read_dir(format!("{folder}/src/kernels")).unwrap();
        let text_of = |it: std::fs::DirEntry| std::fs::read_to_string(it.path()).ok();
        let code: String = kernels.filter_map(|it| text_of(it.unwrap())).collect();
        let readme = std::fs::read_to_string(format!("{folder}/README.md")).unwrap();
        assert!(readme.contains("| 0 | exchange, scalar of width 1 | `q` |  |"), "{readme}");
        (code.matches("* 0.05").count() + code.matches("0.05 *").count(), code.matches("_event(").count())
    };
    let (all, of_all) = exported(&[]);
    let (one, of_one) = exported(&["--edges", "west"]);
    let (none, of_none) = exported(&["--edges", "none"]);
    assert!(all > 0 && none == 0, "{all} {one} {none}");
    assert!(one > 0 && of_all > 0 && of_one == of_none, "{of_all} {of_one} {of_none}");
}

#[test]
fn an_export_that_lacks_a_domain_or_is_of_no_program_is_told() {
    let folder = format!("{}.d", file("refused-export", b""));
    let steps = class("exported-steps.py");
    let stencils = file("exported-stencils.py", STENCILS.as_bytes());
    let document = program("exported-edges.json");
    let without_domain = std::fs::read_to_string(&steps).unwrap().replace("# @domain", "# domain");
    let steps = file("exported-steps.py", without_domain.as_bytes());
    for (arguments, told) in [
        (vec![&*steps, "--bindings", "c"], "a class is exported for one domain"),
        (vec![&*stencils, "--halo", "periodic"], "--halo, --halo-points and --edges are for programs"),
        (vec![&*stencils, "--edges", "west"], "--halo, --halo-points and --edges are for programs"),
        (vec!["--program", &*document, "--edges", "west"], "a document has `edges` in its `grid`"),
        (vec![&*steps, "--domain", "8,8,2", "--edges", "west,none"], "--edges has `none` beside an edge"),
    ] {
        let output = isobar(&[&["export", "-o", &folder], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(told), "{}", text(&output.stderr));
    }
    assert!(!std::path::Path::new(&folder).exists());
}
