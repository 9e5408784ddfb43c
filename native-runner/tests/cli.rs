//! The command line, run as a program.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

mod examples;
mod fixes;
mod programs;
mod regions;
mod remote;

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use isobar_testing::Shard;
use serde_json::Value;

fn isobar(arguments: &[&str]) -> Output {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    Command::new(env!("CARGO_BIN_EXE_isobar"))
        .args(arguments)
        .env("XDG_CACHE_HOME", cache)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The document of `--format json`, whose `diagnostics` are checked on the way.
fn json(output: &Output) -> Value {
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}{}", text(&output.stdout), text(&output.stderr)));
    let diagnostics = document["diagnostics"].as_array().unwrap();
    let has_error = diagnostics.iter().any(|it| it["severity"] == "error");
    assert_eq!(has_error, output.status.code() == Some(1), "{document:#}");
    document
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn gallery() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../static/gallery");
    let files = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let mut files: Vec<String> = files
        .filter(|it| it.extension().is_some_and(|it| it == "py"))
        .map(|it| it.to_str().unwrap().to_owned())
        .collect();
    files.sort();
    files
}

fn copy() -> String {
    gallery().into_iter().find(|it| it.ends_with("copy_scale.py")).unwrap()
}

/// A file of this test alone.
fn file(name: &str, content: &[u8]) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

fn has_compiler() -> bool {
    let backends = json(&isobar(&["backends", "--format", "json"]));
    backends["backends"]
        .as_array()
        .unwrap()
        .iter()
        .any(|it| it["name"] == "openmp" && it["available"] == true)
}

#[test]
fn the_gallery_is_fine() {
    let mut arguments = vec!["check", "--format", "json"];
    let files = gallery();
    arguments.extend(files.iter().map(String::as_str));
    let output = isobar(&arguments);
    let document = json(&output);
    assert_eq!(output.status.code(), Some(0), "{document:#}");
    assert_eq!(document["files"].as_array().unwrap().len(), files.len());
}

#[test]
fn an_error_has_its_place_and_exit_code_1() {
    let bad = file("bad.py", b"from gt4py.cartesian.gtscript import *\n\ndef f(a: Field[float]):\n    with computation(PARALLEL), interval(...):\n        a = nowhere\n");
    let output = isobar(&["check", &bad, "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let document = json(&output);
    let found = &document["diagnostics"][0];
    assert_eq!((&found["file"], &found["start"]["line"]), (&Value::from(bad.clone()), &Value::from(5)));
    let shown = text(&isobar(&["check", &bad]).stderr);
    assert!(shown.contains("a = nowhere") && shown.contains(":5:"), "{shown}");
}

#[test]
fn files_that_are_no_text_are_diagnosed_and_do_no_harm() {
    let bytes: Vec<u8> = (0..=255).cycle().take(4096).collect();
    let output = isobar(&["check", &file("bytes.py", &bytes), "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let told = json(&output);
    assert_eq!(told["diagnostics"].as_array().unwrap().len(), 1, "{told:#}");
    let functions = file("functions.py", b"@gtscript.function\ndef helper(x):\n    return x + 1.0\n");
    assert_eq!(isobar(&["check", &functions, "--format", "json"]).status.code(), Some(0));
}

#[test]
fn wrong_usage_is_exit_code_2_with_nothing_on_standard_output() {
    let copy = copy();
    let broken = file("broken.json", b"{\"main\": ");
    let all: &[&[&str]] = &[
        &["check"],
        &["check", "/nowhere/at/all.py"],
        &["check", &copy, "--format", "xml"],
        &["check", &copy, "--precision", "16"],
        &["check", &copy, "--externals", &broken],
        &["check", "--request", &broken],
        &["emit", &copy],
        &["emit", &copy, "--stage", "assembly"],
        &["emit", &copy, "--stage", "oir", "--after", "no-such-pass"],
        &["emit", &copy, "--stage", "oir", "--lines"],
        &["run", &copy, "--backend", "fortran"],
        &["run", &copy, "--backend", "debug", "--domain", "1,2"],
        &["run", &copy, "--backend", "debug", "--fields", "/nowhere/at/all.npz"],
        &["run", &copy, "--backend", "debug", "--init", "--runner", "ftp://x"],
        &["serve", "--bind", "0.0.0.0:0"],
        &["fly"],
    ];
    for arguments in all {
        let output = isobar(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_document_that_is_wrong_is_told_with_entry_line_and_column() {
    for (content, words) in [
        (&b"{\"files\": {},\n \"main\": }"[..], &[":2:10:", "expected value"][..]),
        (b"{\"filez\": {}}", &[":1:8:", "`filez`", "`files`"]),
        (b"{\"path\": \"x.py\", \"domain\": [1, 2]}", &["`domain`", "length 2"]),
        (
            b"{\"path\": \"x.py\", \"options\": {\"mode\": \"rash\"}}",
            &["`options.mode`", "`rash`", "`reproducible`", "`fast`"],
        ),
        (b"{\"main\": \"a.py\"}", &["`a.py`"]),
        (b"", &["EOF"]),
    ] {
        let output = isobar(&["check", "--request", &file("wrong.json", content)]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(words.iter().all(|it| said.contains(it)), "{said}");
    }
}

#[test]
fn a_result_without_a_place_is_refused_before_the_run() {
    for out in ["/nowhere/at/all.npz", env!("CARGO_TARGET_TMPDIR")] {
        let output = isobar(&["run", &copy(), "--backend", "debug", "--init", "--out", out]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).starts_with(&format!("error: cannot write {out}: ")));
    }
}

/// All of them, in the order of the journey.
const STAGES: [&str; 14] = [
    "definition",
    "gtir",
    "oir",
    "npir",
    "tree",
    "schedule",
    "sdfg",
    "loops",
    "kernels",
    "python",
    "numpy",
    "c",
    "cuda",
    "wgsl",
];

isobar_testing::shards! {
    every_stage_is_emitted_and_twice_the_same: 8 shards of stages;
    the_gallery_runs_and_all_back_ends_write_the_same_bytes: 8 shards of back_ends;
}

fn stages(shard: Shard) {
    for file in shard.of(gallery()) {
        for stage in STAGES {
            let output = isobar(&["emit", &file, "--stage", stage]);
            assert_eq!(output.status.code(), Some(0), "{file} {stage}: {}", text(&output.stderr));
            assert!(!output.stdout.is_empty(), "{file} {stage}");
            assert_eq!(output.stdout, isobar(&["emit", &file, "--stage", stage]).stdout, "{file} {stage}");
        }
    }
}

#[test]
fn a_stage_is_emitted_as_a_document() {
    let document = json(&isobar(&["emit", &copy(), "--stage", "oir", "--format", "json"]));
    assert_eq!((&document["stage"], &document["stencil"]), (&"oir".into(), &"copy_scale".into()));
    assert!(!document["nodes"].as_array().unwrap().is_empty());
}

#[test]
fn generated_c_names_the_line_of_each_statement() {
    let file = copy();
    let source = std::fs::read_to_string(&file).unwrap();
    let line = source.lines().position(|it| it.contains("q_out = ")).unwrap() + 1;
    let plain = text(&isobar(&["emit", &file, "--stage", "c"]).stdout);
    assert!(plain.contains(&format!("/* 0:{line} */\n")), "{plain}");
    let directed = text(&isobar(&["emit", &file, "--stage", "c", "--lines"]).stdout);
    assert!(directed.contains(&format!("#line {line} \"0\"\n")), "{directed}");
    // No name stands in the text; what the numbers mean is said beside it.
    assert!(!directed.contains("copy_scale.py") && !plain.contains("copy_scale.py"));
    let beside = text(&isobar(&["emit", &file, "--stage", "c", "--lines"]).stderr);
    assert!(beside.contains(&format!("file 0 is {file}\n")), "{beside}");
    // Behind a statement the text counts on as what it is.
    let at = directed.lines().position(|it| it.ends_with("\"stencil.c\"")).unwrap();
    assert_eq!(directed.lines().nth(at).unwrap(), format!("#line {} \"stencil.c\"", at + 2));
}

#[test]
fn all_stages_are_emitted_at_once() {
    let shown = text(&isobar(&["emit", &copy(), "--stage", "all"]).stdout);
    let heads: Vec<&str> =
        shown.lines().filter_map(|it| it.strip_prefix("==> ")?.strip_suffix(" <==")).collect();
    assert_eq!(heads, STAGES);
    let document = json(&isobar(&["emit", &copy(), "--stage", "all", "--format", "json"]));
    assert_eq!(document["stages"].as_array().unwrap().len(), STAGES.len());
    let empty = file("empty.py", b"x = 1\n");
    for stage in ["all", "oir"] {
        let output = isobar(&["emit", &empty, "--stage", stage, "--format", "json"]);
        assert_eq!(
            (output.status.code(), &json(&output)["diagnostics"][0]["code"]),
            (Some(1), &"R09".into())
        );
    }
}

/// Two stencils with one name, which write different numbers.
const SAME_NAMES: &[u8] = b"
# @domain 2 1 1
class First:
    def s(out: FloatField):
        with computation(PARALLEL), interval(...):
            out = 1.0

class Second:
    def s(out: FloatField):
        with computation(PARALLEL), interval(...):
            out = 2.0
";

#[test]
fn stencils_of_one_name_are_told_apart_by_their_paths() {
    let path = file("same_names.py", SAME_NAMES);
    let checked = json(&isobar(&["check", &path, "--format", "json"]));
    assert_eq!(checked["files"][0]["stencils"], serde_json::json!(["First.s", "Second.s"]));
    assert_eq!(checked["files"][0]["signatures"][1]["name"], "Second.s");
    for (stencil, value) in [("First.s", 1.0), ("Second.s", 2.0)] {
        let run = ["run", &path, "--stencil", stencil, "--init", "--backend", "debug", "--format", "json"];
        let document = json(&isobar(&run));
        assert_eq!(document["fields"][0]["statistics"]["max"], value, "{document:#}");
        let emitted =
            json(&isobar(&["emit", &path, "--stencil", stencil, "--stage", "c", "--format", "json"]));
        assert_eq!(emitted["stencil"], stencil);
    }
    let ambiguous = isobar(&["run", &path, "--stencil", "s", "--init"]);
    assert_eq!(ambiguous.status.code(), Some(1));
    let said = text(&ambiguous.stdout) + &text(&ambiguous.stderr);
    assert!(said.contains("2 stencils named `s`") && said.contains("`First.s`, `Second.s`"), "{said}");
}

#[test]
fn a_field_that_all_branches_write_is_made_as_an_output() {
    let body = "\
# @domain 3 2 2
# @input a linear(low=-1, high=1)
def s(a: FloatField, out: FloatField):
    with computation(PARALLEL), interval(...):
        if a > 0.0:
            out = a
";
    let whole = file("whole.py", [body, "        else:\n            out = -a\n"].concat().as_bytes());
    let run = |path: &str| json(&isobar(&["run", path, "--init", "--backend", "debug", "--format", "json"]));
    assert_eq!(run(&whole)["fields"][0]["name"], "out");
    let part = file("part.py", body.as_bytes());
    assert_eq!(run(&part)["diagnostics"][0]["code"], "C06");
}

#[test]
fn the_course_of_a_compilation_is_told_beside_the_level() {
    let plain = isobar(&["emit", &copy(), "--stage", "oir"]);
    let of = |log: &str| {
        let told = isobar(&["emit", "--stage", "oir", log, &copy()]);
        assert_eq!(told.stdout, plain.stdout);
        text(&told.stderr)
    };
    let steps = of("--log");
    assert!(
        steps.starts_with("door frontend\ndoor definition\ndoor gtir\ndoor oir\npipeline oir\n  pass oir/"),
        "{steps}"
    );
    assert!(!steps.contains("stencil"), "{steps}");
    let levels = of("--log=levels");
    assert!(levels.contains("door gtir\n  stencil copy_scale\n"), "{levels}");
    let far = isobar(&["emit", &copy(), "--stage", "oir", "--log", "--runner", "http://127.0.0.1:9"]);
    assert_eq!(far.status.code(), Some(2));
}

#[test]
fn passes_have_times_and_report_values_as_json() {
    let document = json(&isobar(&["emit", &copy(), "--stage", "all", "--format", "json"]));
    let timings = document["timings"].as_array().unwrap();
    let timed: Vec<&str> = timings.iter().map(|it| it["step"].as_str().unwrap()).collect();
    assert!(timings.iter().all(|it| it["ms"].as_f64().is_some_and(|it| it >= 0.0)), "{timings:?}");
    // Doors, and the passes of each level behind its door.
    for step in ["oir", "oir/fold-constants", "schedule", "schedule/place-threads", "sdfg", "sdfg/fuse-maps"]
    {
        assert_eq!(timed.iter().filter(|it| **it == step).count(), 1, "{step}: {timed:?}");
    }
    let place = |step: &str| timed.iter().position(|it| *it == step).unwrap();
    assert!(place("oir/fold-constants") < place("schedule") && place("schedule") < place("sdfg/fuse-maps"));
    let log = document["log"].as_array().unwrap();
    let memory = log.iter().find(|it| it["name"] == "peak-memory").unwrap();
    assert_eq!((&memory["pass"], &memory["value"]), (&"sdfg/reuse-transients".into(), &"0".into()));
    assert!(memory["about"].as_str().unwrap().ends_with("in bytes"), "{memory}");
}

#[test]
fn a_back_end_that_cannot_run_here_says_what_is_missing() {
    let without = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isobar"));
        command.args(arguments).env("PATH", "").env_remove("CC").stdin(Stdio::null()).output().unwrap()
    };
    let shown = text(&without(&["backends"]).stdout);
    assert!(
        shown.contains("cannot run") && shown.contains("`cc`") && shown.contains("install gcc"),
        "{shown}"
    );
    assert!(shown.contains("made in process") && shown.contains("vectors of"), "{shown}");
    let output = without(&["run", &copy(), "--backend", "openmp", "--init", "--format", "json"]);
    let found = &json(&output)["diagnostics"][0];
    assert_eq!((output.status.code(), &found["code"]), (Some(1), &"R05".into()));
    assert!(found["message"].as_str().unwrap().contains("install gcc"), "{found}");
    assert_eq!(without(&["run", &copy(), "--backend", "debug", "--init"]).status.code(), Some(0));
}

fn back_ends(shard: Shard) {
    let mut backends = vec!["debug", "numpy"];
    if has_compiler() {
        backends.push("openmp");
    } else {
        isobar_testing::skip_part("openmp", "there is no C compiler");
    }
    for stencil in shard.of(gallery()) {
        for precision in ["64", "32"] {
            let mut written = Vec::new();
            for &backend in &backends {
                let out = file(&format!("out-{}.npz", shard.number), b"");
                let output = isobar(&[
                    "run",
                    &stencil,
                    "--backend",
                    backend,
                    "--init",
                    "--domain",
                    "12,10,8",
                    "--precision",
                    precision,
                    "--out",
                    &out,
                    "--format",
                    "json",
                ]);
                let document = json(&output);
                assert_eq!(output.status.code(), Some(0), "{stencil} {backend}: {document:#}");
                assert!(!document["fields"].as_array().unwrap().is_empty());
                assert!(!document["timings"].as_array().unwrap().is_empty());
                written.push(std::fs::read(&out).unwrap());
            }
            assert!(written.iter().all(|it| *it == written[0]), "{stencil} {precision}");
        }
    }
}

#[test]
fn what_a_run_writes_another_reads() {
    let first = file("first.npz", b"");
    let output =
        isobar(&["run", &copy(), "--backend", "debug", "--init", "--domain", "4,3,2", "--out", &first]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("q_out"));
    // The output of the one has the name of no input of the other, which is said.
    let output = isobar(&["run", &copy(), "--backend", "debug", "--fields", &first, "--format", "json"]);
    let codes: Vec<String> = json(&output)["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["code"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(output.status.code(), Some(1));
    assert!(codes.iter().all(|it| it == "C06") && !codes.is_empty(), "{codes:?}");

    for damaged in [&b"PK\x03\x04 and so on"[..], b""] {
        let damaged = file("damaged.npz", damaged);
        let output =
            isobar(&["run", &copy(), "--backend", "debug", "--fields", &damaged, "--format", "json"]);
        assert_eq!(json(&output)["diagnostics"][0]["code"], "C07");
    }
}

#[test]
fn one_document_says_it_all() {
    let main = std::fs::read_to_string(copy()).unwrap();
    file("main_of_request.py", main.as_bytes());
    let request = serde_json::json!({
        "path": "main_of_request.py", "backend": "debug", "init": {"q_in": "constant(3)"}, "domain": [3, 2, 1],
        "scalars": {"factor": 2}, "out": "out_of_request.npz", "options": {"mode": "reproducible", "threads": 2}
    });
    let request = file("request.json", request.to_string().as_bytes());
    let output = isobar(&["run", "--request", &request, "--format", "json"]);
    let document = json(&output);
    assert_eq!(output.status.code(), Some(0), "{document:#}");
    assert_eq!(document["fields"][0]["statistics"]["mean"], 6.0);
    assert!(Path::new(env!("CARGO_TARGET_TMPDIR")).join("out_of_request.npz").is_file());
    // Scalars of a wrong type are a fault of the call.
    let output = isobar(&[
        "run",
        "--request",
        &request,
        "--scalars",
        &file("s.json", b"{\"factor\": \"two\"}"),
        "--format",
        "json",
    ]);
    assert_eq!(json(&output)["diagnostics"][0]["code"], "C01");
}

#[test]
fn a_file_that_is_not_utf_8_is_told_once_at_every_door() {
    let stencil =
        "# Größe\ndef s(q: FloatField):\n    with computation(PARALLEL), interval(...):\n        q = 1.0\n";
    let latin: Vec<u8> = stencil.chars().map(|it| u8::try_from(u32::from(it)).unwrap()).collect();
    let utf_16: Vec<u8> =
        "\u{feff}".encode_utf16().chain(stencil.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let binary: Vec<u8> = (0..=255).cycle().take(4096).collect();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("not_utf_8");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, bytes) in [("latin.py", &latin), ("utf_16.py", &utf_16), ("binary.py", &binary)] {
        std::fs::write(folder.join(name), bytes).unwrap();
        let path = folder.join(name);
        for arguments in [&["check"][..], &["check", "--fix"], &["emit", "--stage", "oir"]] {
            let output = isobar(&[arguments, &[path.to_str().unwrap()]].concat());
            let told = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{told}");
            assert_eq!(told.matches("error[").count(), 1, "{told}");
            assert!(told.contains("error[E00]: the file is not UTF-8"), "{told}");
        }
        assert_eq!(&std::fs::read(&path).unwrap(), bytes, "nobody writes it");
    }
    std::fs::write(folder.join("good.py"), stencil).unwrap();
    let output = isobar(&["check", folder.to_str().unwrap()]);
    let told = text(&output.stderr);
    assert_eq!(told.matches("the file is not UTF-8").count(), 3, "{told}");
    assert!(told.contains("4 files, 1 stencil, 1 accepted"), "{told}");
    // A module is told of where it is needed.
    let main = "from latin import x\ndef s(q: FloatField):\n    with computation(PARALLEL), interval(...):\n        q = x\n";
    let main = file("needs_latin.py", main.as_bytes());
    let output = isobar(&["check", &main, "--module", folder.join("latin.py").to_str().unwrap()]);
    let told = text(&output.stderr);
    assert!(told.contains("the file is not UTF-8") && told.contains("latin.py:1:5"), "{told}");
    // So is a document.
    let output = isobar(&["check", &main, "--externals", folder.join("utf_16.py").to_str().unwrap()]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("utf_16.py is not UTF-8"), "{told}");
}

#[test]
fn passes_of_loops_are_shown_stopped_and_left_out() {
    let copy = copy();
    let emit = |more: &[&str]| {
        let mut arguments = vec!["emit", copy.as_str(), "--stage", "loops"];
        arguments.extend(more);
        let output = isobar(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        output
    };
    let all = text(&emit(&[]).stdout);
    assert!(all.contains("stream ") && all.contains(" streamed"), "{all}");
    let left_out = text(&emit(&["--skip", "loops/stream-stores"]).stdout);
    assert!(!left_out.contains("stream ") && !left_out.contains(" streamed"), "{left_out}");
    let stopped = text(&emit(&["--stop-after", "loops/declare-locals"]).stdout);
    assert_eq!(stopped.lines().next(), all.lines().next());
    assert!(!stopped.contains("stream ") && !stopped.contains("prefetch "), "{stopped}");
    // Machine code leaves the same passes out.
    let clif = |more: &[&str]| {
        let arguments = [&["emit", copy.as_str(), "--stage", "clif", "--domain", "64,4,4"], more].concat();
        text(&isobar(&arguments).stdout)
    };
    assert_ne!(clif(&[]), clif(&["--skip", "loops/mask-lanes"]));
    let refused = isobar(&["emit", &copy, "--stage", "c", "--skip", "loops/declare-locals"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("cannot be skipped"), "{}", text(&refused.stderr));
    let changed = emit(&["--print-changed"]);
    let told = text(&changed.stdout) + &text(&changed.stderr);
    assert!(told.contains("loops/stream-stores"), "{told}");
}

#[test]
fn every_pass_is_compared_with_what_a_stencil_means() {
    for command in [&["compare", "--passes"][..], &["bisect"]] {
        let mut arguments = command.to_vec();
        let copy = copy();
        arguments.extend([copy.as_str(), "--domain", "4,3,2", "--format", "json"]);
        let output = isobar(&arguments);
        let report = json(&output);
        assert_eq!(output.status.code(), Some(0), "{report:#}");
        assert_eq!(report["domains"][0], serde_json::json!([4, 3, 2]));
        assert!(report["domains"].as_array().unwrap().len() > 3, "small domains are tried too");
        // To find nothing, bisection runs the last step alone.
        let steps = report["steps"].as_array().unwrap();
        assert!(steps.iter().any(|it| it.as_str().unwrap().starts_with("loops/")), "{report:#}");
        assert!(steps.len() > 10 || command[0] == "bisect", "{report:#}");
        assert!(report["difference"].is_null());
    }
    let output = isobar(&["compare", &copy()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("`--backends` with names of back ends, or `--passes`"));
}

#[test]
fn passes_are_compared_on_the_way_that_is_asked_for() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let copy = copy();
    let steps = |more: &[&str]| -> Vec<String> {
        let arguments = [&["compare", "--passes", &copy, "--domain", "4,3,2", "--format", "json"], more];
        let report = json(&isobar(&arguments.concat()));
        assert!(report["difference"].is_null(), "{report:#}");
        let steps = report["steps"].as_array().unwrap();
        steps.iter().map(|it| it.as_str().unwrap().to_owned()).collect()
    };
    let has = |steps: &[String], step: &str| steps.iter().any(|it| it == step);
    let usual = steps(&[]);
    assert!(has(&usual, "schedule/merge-loops") && has(&usual, "loops/mask-lanes"), "{usual:?}");
    assert!(!has(&steps(&["--skip", "loops/mask-lanes"]), "loops/mask-lanes"));
    // A schedule without `auto` is all that is done to the loops.
    let schedule = folder.join("as_it_is.schedule");
    std::fs::write(&schedule, "cut i@s0 by 2\n").unwrap();
    let written = steps(&["--schedule", schedule.to_str().unwrap()]);
    assert!(!has(&written, "schedule/merge-loops") && has(&written, "schedule"), "{written:?}");
    for backend in ["rayon", "openmp"] {
        assert!(has(&steps(&["--backend", backend]), "loops/mask-lanes"), "{backend}");
    }
    for backend in ["cuda", "wgpu"] {
        assert_eq!(steps(&["--backend", backend]).last().map(String::as_str), Some("kernels"), "{backend}");
    }
    let fault = folder.join("no_step.schedule");
    std::fs::write(&fault, "cut i@s0 by 0\n").unwrap();
    let refused = isobar(&["bisect", &copy, "--schedule", fault.to_str().unwrap(), "--domain", "4,3,2"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("S0"), "{}", text(&refused.stderr));
}

#[test]
fn loops_are_shown_as_the_back_end_that_is_named_gets_them() {
    let machine = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("wide.json");
    let wide =
        r#"{"cores": 2, "line_bytes": 64, "vector_bytes": 64, "caches": [{"bytes": 32768, "cores": 1}]}"#;
    std::fs::write(&machine, wide).unwrap();
    let copy = copy();
    let loops = |more: &[&str]| {
        let machine = ["--machine", machine.to_str().unwrap()];
        let output = isobar(&[&["emit", &copy, "--stage", "loops"], &machine[..], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    assert_eq!(loops(&[]), loops(&["--backend", "openmp"]));
    assert_ne!(loops(&[]), loops(&["--backend", "rayon"]));
    let refused = isobar(&["emit", &copy, "--stage", "c", "--backend", "rayon"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("--stage c is what `openmp` compiles"));
}

#[test]
fn a_run_answers_what_is_asked_for() {
    let gallery = |name: &str| format!("{}/../static/gallery/{name}.py", env!("CARGO_MANIFEST_DIR"));
    let hdiff = gallery("horizontal_diffusion");
    let run = ["run", &hdiff, "--init", "--domain", "8,7,5", "--format", "json", "--backend"];
    let hash = |output: &Output| {
        let report = json(output);
        assert_eq!(output.status.code(), Some(0), "{report:#}");
        let field = report["fields"][0].clone();
        (field["axes"].clone(), field["shape"].clone(), report["hashes"]["q_out"].clone())
    };
    let of = |backend: &str, plane: &str| hash(&isobar(&[&run[..], &[backend, "--plane", plane]].concat()));
    for (plane, axes) in [("k=4", "IJ"), ("j=0", "IK"), ("i=7", "JK")] {
        let meant = of("debug", plane);
        assert_eq!((&meant.0, meant.1.as_array().unwrap().len()), (&axes.into(), 2));
        assert_eq!(meant, of("rayon", plane));
        if text_of_backends().lines().any(|it| it.starts_with("wgpu    can run")) {
            assert_eq!(meant, of("wgpu", plane), "{plane}");
        }
    }
    assert_ne!(of("debug", "k=4").2, of("debug", "k=3").2);
    let only = |name: &str| isobar(&[&run[..], &["debug", "--only", name]].concat());
    assert_eq!(hash(&only("q_out")).0, "IJK");
    for (wrong, told) in [
        (only("q"), "`q` is no field that the stencil writes; it writes `q_out`"),
        (isobar(&[&run[..], &["debug", "--plane", "k=5"]].concat()), "the domain has 5 points along k"),
    ] {
        let report = json(&wrong);
        assert_eq!(wrong.status.code(), Some(1));
        let message = report["diagnostics"][0]["message"].as_str().unwrap();
        assert!(message.contains(told), "{message}");
    }
    for wrong in ["5", "z=1", "k=-1"] {
        let output = isobar(&[&run[..], &["debug", "--plane", wrong]].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn a_run_that_has_to_end_is_told_with_its_value_on_every_back_end() {
    let text = "\
# @domain 7 5 4
# @input q constant(1)
# @input at linear(low=0, high=9, along=i)
# @input o constant(0)
from gt4py.cartesian.gtscript import *
import numpy as np

def pick(q: Field[float], at: Field[np.int64], o: Field[float]):
    with computation(PARALLEL), interval(...):
        o = q[0, 0, at]
";
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pick.py");
    std::fs::write(&path, text).unwrap();
    let told = |backend: &str| {
        let output =
            isobar(&["run", path.to_str().unwrap(), "--init", "--backend", backend, "--format", "json"]);
        let report = json(&output);
        (output.status.code(), report["diagnostics"][0]["message"].as_str().unwrap_or_default().to_owned())
    };
    let meant = told("debug");
    assert_eq!(meant.0, Some(1));
    assert!(meant.1.starts_with("`q.at(4)` does not exist, at i="), "{}", meant.1);
    let here = text_of_backends();
    for backend in ["rayon", "openmp", "wgpu", "cuda"] {
        if here.lines().any(|it| it.starts_with(backend) && it.contains(" can run ")) {
            assert_eq!(told(backend), meant, "{backend}");
        }
    }
}

/// Returns the output of `isobar backends`.
fn text_of_backends() -> String {
    text(&isobar(&["backends"]).stdout)
}

#[test]
fn back_ends_are_compared_with_debug_field_by_field() {
    let gallery = |name: &str| format!("{}/../static/gallery/{name}.py", env!("CARGO_MANIFEST_DIR"));
    let hdiff = gallery("horizontal_diffusion");
    let same = ["compare", &hdiff, "--backends", "rayon,numpy", "--domain", "33,17,6", "--format", "json"];
    let output = isobar(&same);
    let report = json(&output);
    assert_eq!(output.status.code(), Some(0), "{report:#}");
    for (at, name) in ["rayon", "numpy"].iter().enumerate() {
        let it = &report["backends"][at];
        assert_eq!((it["backend"].as_str(), it["reason"].as_str()), (Some(*name), Some("ok")));
        assert_eq!((&it["fields"][0]["cells"], &it["fields"][0]["differing"]), (&3366.into(), &0.into()));
        assert!(it["first"].is_null());
    }
    // A comparison whose results may differ tells how much, and which statement is the first to differ.
    let fast = [&same[..3], &["rayon", "--mode", "fast"], &same[4..]].concat();
    let output = isobar(&fast);
    let report = json(&output);
    assert_eq!(output.status.code(), Some(0), "{report:#}");
    let it = &report["backends"][0];
    assert!(it["fields"][0]["differing"].as_u64() > Some(0), "{report:#}");
    assert!(it["fields"][0]["max_ulp"].as_u64() > Some(0), "{report:#}");
    let text_of_it = std::fs::read_to_string(&hdiff).unwrap();
    let line = it["first"]["lines"][0].as_u64().unwrap();
    let line = text_of_it.lines().nth(usize::try_from(line).unwrap() - 1).unwrap();
    assert!(line.trim_start().starts_with("q_out = "), "{line}");
    let told = text(&isobar(&fast[..fast.len() - 2]).stdout);
    assert!(told.contains("which `fast` allows; the first is of line"), "{told}");
    // One that cannot run is no success.
    let output = isobar(&["compare", &hdiff, "--backends", "rayon,cuda", "--domain", "4,4,4"]);
    if text(&output.stdout).contains("cuda: it did not run") {
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stdout).contains("rayon: the bits of `debug`"));
    }
    let output = isobar(&["compare", &hdiff, "--backends", "nothing"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_graph_is_emitted_as_a_file_in_both_forms() {
    let copy = copy();
    for flat in [&[][..], &["--flat"]] {
        let mut arguments = vec!["emit", copy.as_str(), "--stage", "sdfg", "--form", "sdfg"];
        arguments.extend(flat);
        let output = isobar(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let file: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(file["type"], "SDFG");
        assert_eq!(file["start_state"].is_number(), !flat.is_empty());
    }
    let wrong = isobar(&["emit", &copy, "--stage", "oir", "--form", "sdfg"]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn a_file_whose_name_a_compiler_or_a_terminal_would_obey_is_refused() {
    for name in ["m\r#include <x>\r.py", "\u{1b}]0;x\u{7}.py", "a\u{202e}yp.py", "a\\b.py"] {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, std::fs::read(copy()).unwrap()).unwrap();
        let path = path.to_str().unwrap();
        for arguments in
            [&["check", path][..], &["run", path, "--lines", "--init"], &["check", &copy(), "--module", path]]
        {
            let output = isobar(arguments);
            assert_eq!(output.status.code(), Some(2), "{name:?}");
            let said = text(&output.stderr);
            assert!(said.contains("which no name may have"), "{said}");
            assert!(!said.chars().any(|it| it != '\n' && isobar_protocol::names::is_harmful(it)), "{said:?}");
        }
    }
    let document = file("hostile.json", br#"{"files": {"m\r#include <x>\r.py": "x = 1"}}"#);
    let output = isobar(&["check", "--request", &document]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("hostile.json: the name of a file has the character U+000D"));
}

#[test]
fn text_of_a_file_moves_no_cursor() {
    let source =
        "# @input \u{1b}[2J = zeros\nx = '\u{9b}31m\u{202e}'\ny = \u{1b}]0;title\u{7}\r\nimport \u{1b}\n";
    let file = file("escapes.py", source.as_bytes());
    for arguments in
        [&["check", &file][..], &["emit", &file, "--stage", "oir"], &["check", &file, "--format", "json"]]
    {
        let output = isobar(arguments);
        for said in [text(&output.stdout), text(&output.stderr)] {
            assert!(!said.chars().any(|it| it != '\n' && isobar_protocol::names::is_harmful(it)), "{said:?}");
        }
    }
}

#[test]
fn a_file_without_anything_to_check_is_told_so() {
    for (name, text) in [("empty.py", ""), ("plain.py", "x = 1\n"), ("data.py", "{\"cells\": []}\n")] {
        let output = isobar(&["check", &file(name, text.as_bytes())]);
        let said = text_of(&output);
        assert_eq!(output.status.code(), Some(1), "{name}: {said}");
        assert!(said.contains("has no stencil"), "{name}: {said}");
    }
    let functions = "from gt4py.cartesian import gtscript\n@gtscript.function\ndef f(x):\n    return x\n";
    let output = isobar(&["check", &file("functions.py", functions.as_bytes())]);
    assert_eq!(output.status.code(), Some(0), "{}", text_of(&output));
}

fn text_of(output: &std::process::Output) -> String {
    text(&output.stderr).to_string()
}
