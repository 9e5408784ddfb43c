//! The costs of a run, as the command line tells them: `bench`, `cache`, the machine, the mode.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use isobar_protocol::layout::{StrideHandling, UnitStrideAxis};
use isobar_protocol::report::{BackendsReport, BenchReport, CacheReport, ConfigReport, RunReport};
use isobar_testing::{skip, skip_part};
use serde::de::DeserializeOwned;

/// Runs the command with a cache of this test alone.
fn isobar(cache: &str, arguments: &[&str]) -> Output {
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("measured").join(cache);
    Command::new(env!("CARGO_BIN_EXE_isobar"))
        .args(arguments)
        .env("XDG_CACHE_HOME", cache)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn fine<T: DeserializeOwned>(output: &Output) -> T {
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn gallery(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../static/gallery");
    folder.join(name).to_str().unwrap().to_owned()
}

/// A file of this test alone.
fn file(name: &str, content: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

fn has_compiler() -> bool {
    let report: BackendsReport = fine(&isobar("any", &["backends", "--format", "json"]));
    report.backends.iter().any(|it| it.name == "openmp" && it.available)
}

#[test]
fn all_back_ends_are_measured_in_the_same_rounds_and_give_the_same_bits() {
    let hdiff = gallery("horizontal_diffusion.py");
    let has_compiler = has_compiler();
    if !has_compiler {
        skip_part("openmp", "there is no C compiler");
    }
    let names = if has_compiler { "debug,numpy,openmp,numpy" } else { "debug,numpy" };
    let all = ["bench", &hdiff, "--backends", names, "--domain", "9,8,7", "--repeats", "8", "--threads", "2"];
    let report: BenchReport = fine(&isobar("bench", &[&all[..], &["--format", "json"]].concat()));
    let found = report.benchmark.unwrap();
    assert_eq!((found.rounds, found.threads, found.domain, found.agree), (8, 2, [9, 8, 7], true));
    let n_fields = 3;
    assert_eq!(found.bytes % (9 * 8 * 7 * 8), 0);
    assert!(found.bytes <= n_fields * 9 * 8 * 7 * 8);
    let measured: Vec<&str> = found.backends.iter().map(|it| it.backend.as_str()).collect();
    let mut named: Vec<&str> = names.split(',').collect();
    named.truncate(3);
    assert_eq!(measured, named);
    for it in found.backends.iter().map(|it| &it.calls).chain([&found.copy]) {
        assert_eq!(it.ms.len(), 8);
        assert!(0.0 < it.low_ms && it.low_ms <= it.median_ms && it.median_ms <= it.high_ms);
    }
    for it in &found.backends {
        let steps: Vec<&str> = it.ready.iter().map(|it| it.step.as_str()).collect();
        assert_eq!(steps, if it.backend == "openmp" { vec!["cc", "load"] } else { vec![] });
        assert!(it.first_ms > 0.0 && it.gb_per_s.unwrap() > 0.0 && it.of_copy.unwrap() > 0.0);
    }
    let levels: Vec<&str> = report.timings.iter().map(|it| it.step.as_str()).collect();
    assert!(["gtir", "oir", "schedule", "sdfg", "c", "npir", "inputs"].iter().all(|it| levels.contains(it)));
    // Each of them has arguments of its own, and copying too.
    assert!(report.memory.unwrap().fields_bytes >= found.bytes * (found.backends.len() as u64 + 1));

    let shown = text(&isobar("bench", &all).stdout);
    assert!(shown.contains("9x8x7 points, 2 threads, reproducible, 8 rounds"), "{shown}");
    assert!(shown.contains("all back ends wrote the same bits"), "{shown}");
}

#[test]
fn arrays_of_callers_are_measured_beside_our_own_and_give_the_same_bits() {
    for (name, along_k) in [
        ("horizontal_diffusion.py", StrideHandling::Turned),
        ("vertical_advection.py", StrideHandling::Copied),
    ] {
        let of = gallery(name);
        let all = [
            "bench",
            &of,
            "--backends",
            "rayon,numpy",
            "--domain",
            "24,17,9",
            "--repeats",
            "3",
            "--threads",
            "1",
        ];
        let more = ["--layouts", "k,j,i,k", "--format", "json"];
        let report: BenchReport = fine(&isobar("layouts", &[&all[..], &more].concat()));
        let found = report.benchmark.unwrap();
        assert!(found.agree);
        // An interpreter has no rows for layouts.
        assert!(found.backends[1].layouts.is_empty());
        let layouts = &found.backends[0].layouts;
        assert_eq!(
            layouts.iter().map(|it| it.along).collect::<Vec<_>>(),
            [UnitStrideAxis::I, UnitStrideAxis::J, UnitStrideAxis::K]
        );
        for it in layouts {
            assert!(it.calls.ms.len() == 3 && it.of_own > 0.0 && it.of_copy.unwrap() > 0.0);
            let lies: Vec<UnitStrideAxis> = it.layout.fields.values().copied().collect();
            assert!(lies.iter().all(|lies| *lies == it.along), "{lies:?}");
        }
        assert_eq!((layouts[0].layout.way, layouts[2].layout.way), (StrideHandling::AsGiven, along_k));
        // Own arrays of each, what copies move, and three layouts of one of them with copies.
        assert!(report.memory.unwrap().fields_bytes >= found.bytes * (2 + 1 + 4));

        let shown = text(&isobar("layouts", &all).stdout);
        assert!(shown.contains("rayon along i") && shown.contains("rayon along k"), "{shown}");
        let shown = text(&isobar("layouts", &[&all[..], &["--layouts", "none"]].concat()).stdout);
        assert!(!shown.contains("rayon along"), "{shown}");
    }
    assert_eq!(
        isobar("layouts", &["bench", "x.py", "--backends", "rayon", "--layouts", "x"]).status.code(),
        Some(2)
    );
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let copy = gallery("copy_scale.py");
    for arguments in [
        &["bench", &copy][..],
        &["bench", &copy, "--backends", "fortran"],
        &["bench", &copy, "--backends", "debug", "--repeats", "0"],
    ] {
        let output = isobar("any", arguments);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}");
    }
    let broken = file(
        "unmeasured.py",
        "def f(a: Field[float]):\n    with computation(PARALLEL), interval(...):\n        a = nowhere\n",
    );
    let output = isobar("any", &["bench", &broken, "--backends", "debug", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: BenchReport = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report.benchmark.is_none() && report.diagnostics.iter().any(|it| it.severity == "error"));
}

#[test]
fn a_miss_of_the_cache_is_explained_and_a_hit_is_quick() {
    if !has_compiler() {
        return skip("openmp", "there is no C compiler");
    }
    let copy = gallery("copy_scale.py");
    let isobar = |arguments: &[&str]| isobar("kept", &[arguments, &["--format", "json"]].concat());
    let cleared: CacheReport = fine(&isobar(&["cache", "clear"]));
    assert!(cleared.removed.is_some());
    let explain = || {
        fine::<CacheReport>(&isobar(&["cache", "explain", &copy, "--backend", "openmp"])).explanation.unwrap()
    };
    let first = explain();
    assert!(!first.is_hit && first.nearest.is_none());

    let run = ["run", &copy, "--backend", "openmp", "--init", "--domain", "4,4,4"];
    let cold: RunReport = fine(&isobar(&run));
    let warm: RunReport = fine(&isobar(&run));
    let has = |it: &RunReport, step: &str| it.timings.iter().any(|it| it.step == step);
    assert!(has(&cold, "cc") && !has(&cold, "cache") && !has(&warm, "cc") && has(&warm, "cache"));
    // The speed of the machine's copies is measured once, and both runs tell the same.
    assert!(cold.copy.is_some());
    assert_eq!(cold.copy, warm.copy);
    assert_eq!(cold.hashes, warm.hashes);

    let hit = explain();
    assert!(hit.is_hit && hit.key == first.key);
    let listed: CacheReport = fine(&isobar(&["cache"]));
    assert_eq!(listed.entries.len(), 1);
    assert!(listed.entries[0].is_whole && listed.entries[0].stencil == "copy_scale");
    let fast: CacheReport =
        fine(&isobar(&["cache", "explain", &copy, "--backend", "openmp", "--mode", "fast"]));
    let fast = fast.explanation.unwrap();
    assert_eq!((fast.is_hit, fast.nearest, fast.differs), (false, Some(hit.key), vec!["flags".to_owned()]));
    // An entry has the name of the back end, also of a run that names none.
    let explain = || {
        fine::<CacheReport>(&isobar(&["cache", "explain", &copy, "--domain", "4,4,4"])).explanation.unwrap()
    };
    assert!(!explain().is_hit);
    let _: RunReport = fine(&isobar(&["run", &copy, "--init", "--domain", "4,4,4"]));
    assert!(explain().is_hit);
    let listed: CacheReport = fine(&isobar(&["cache"]));
    let named: Vec<_> = listed.entries.iter().map(|it| (it.backend.as_str(), it.stencil.as_str())).collect();
    assert!(named.contains(&("rayon", "copy_scale")) && named.len() == 2, "{named:?}");
    assert!(listed.entries.iter().all(|it| it.unused_s < 3600));
    let none = isobar(&["cache", "explain", &copy, "--backend", "debug"]);
    assert_eq!(none.status.code(), Some(2));
    let cleared: CacheReport = fine(&isobar(&["cache", "clear"]));
    assert_eq!(cleared.removed, Some(2));
}

#[test]
fn what_is_printed_depends_on_no_machine_but_the_one_that_is_named() {
    let chain = format!("{}/../tests/kernels/chain.py", env!("CARGO_MANIFEST_DIR"));
    let report: BackendsReport = fine(&isobar("any", &["backends", "--format", "json"]));
    let here = report.machine.unwrap();
    assert!(report.machine_from.contains_key("caches") && here.cores > 0);
    let emit = |machine: &[&str]| {
        let output = isobar("any", &[&["emit", &chain, "--stage", "schedule"], machine].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        output.stdout
    };
    let saved = file("here.json", &serde_json::to_string(&here).unwrap());
    assert_eq!(emit(&["--machine", "here"]), emit(&["--machine", &saved]));
    let common = r#"{"cores": 8, "caches": [{"bytes": 49152, "cores": 1}, {"bytes": 1048576, "cores": 1}], "line_bytes": 64, "vector_bytes": 32}"#;
    assert_eq!(emit(&[]), emit(&["--machine", &file("common.json", common)]));
    let small = common.replace("1048576", "4096").replace("49152", "1024");
    assert_ne!(emit(&[]), emit(&["--machine", &file("small.json", &small)]));
    let wrong = file("wrong.json", r#"{"cores": 8}"#);
    assert_eq!(
        isobar("any", &["emit", &chain, "--stage", "oir", "--machine", &wrong]).status.code(),
        Some(2)
    );
}

#[test]
fn what_decides_here_is_told_with_its_origin_and_the_token_is_not() {
    let output = Command::new(env!("CARGO_BIN_EXE_isobar"))
        .args(["config", "--format", "json"])
        .env_clear()
        .env("CC", "/nowhere/at/all")
        .env("ISOBAR_TOKEN", "secret-of-this-test")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let report: ConfigReport = fine(&output);
    let of = |name: &str| {
        let found = report.values.iter().find(|it| it.name == name).unwrap();
        (found.value.as_str(), found.from.as_str())
    };
    assert_eq!((of("cc"), of("token")), (("none", "CC"), ("set", "ISOBAR_TOKEN")));
    assert_eq!(of("cache").0, "none");
    assert!(report.values.iter().all(|it| !it.from.is_empty() && !it.value.contains("secret")));
}

#[test]
fn no_machine_changes_a_result() {
    if !has_compiler() {
        return skip("openmp", "there is no C compiler");
    }
    let hdiff = gallery("horizontal_diffusion.py");
    let small =
        r#"{"cores": 64, "caches": [{"bytes": 16384, "cores": 1}], "line_bytes": 64, "vector_bytes": 16}"#;
    let small = file("tiny.json", small);
    let run = |machine: &[&str]| {
        let run = ["run", &hdiff, "--backend", "openmp", "--init", "--domain", "40,30,5", "--format", "json"];
        fine::<RunReport>(&isobar("machines", &[&run[..], machine].concat())).hashes
    };
    assert_eq!(run(&[]), run(&["--machine", &small]));
}

#[test]
fn a_fast_run_says_so_and_is_near() {
    if !has_compiler() {
        return skip("openmp", "there is no C compiler");
    }
    for name in ["column_physics.py", "vertical_advection.py"] {
        let source = gallery(name);
        let run = |mode: &str| {
            let run =
                ["run", &source, "--backend", "openmp", "--init", "--domain", "8,7,20", "--format", "json"];
            fine::<RunReport>(&isobar("modes", &[&run[..], &["--mode", mode]].concat()))
        };
        let (exact, fast) = (run("reproducible"), run("fast"));
        assert_eq!((exact.mode.name(), fast.mode.name()), ("reproducible", "fast"));
        for (one, other) in exact.fields.iter().zip(&fast.fields) {
            for (one, other) in [
                (one.statistics.min, other.statistics.min),
                (one.statistics.max, other.statistics.max),
                (one.statistics.mean, other.statistics.mean),
            ] {
                let (one, other) = (one.unwrap(), other.unwrap());
                assert!((one - other).abs() <= 1e-9 * one.abs().max(1e-3), "{name}: {one} and {other}");
            }
        }
    }
    let source = gallery("copy_scale.py");
    let output = isobar("modes", &["run", &source, "--backend", "openmp", "--init", "--mode", "fast"]);
    assert!(text(&output.stdout).contains("mode: fast"));
    assert!(text(&output.stderr).contains("memory: 2.5 MiB of fields = 2.5 MiB, of "));
}

#[test]
fn a_run_on_a_gpu_is_held_against_its_own_copies() {
    if isobar_runtime::executors::wgpu::check().is_err() {
        return skip("a test of the GPU", "there is none");
    }
    let copy = gallery("copy_scale.py");
    let run = ["run", &copy, "--backend", "wgpu", "--init", "--domain", "40,30,5"];
    let report: RunReport = fine(&isobar("on-gpu", &[&run[..], &["--format", "json"]].concat()));
    let copied = report.copy.expect("the GPU tells how it copies");
    assert_eq!(copied.threads, 0, "it is not the host that copies");
    let step = |name: &str| {
        let found = report.timings.iter().find(|it| it.step == name);
        found.unwrap_or_else(|| panic!("no `{name}` among {:?}", report.timings))
    };
    // How fields get there is no part of what is held against copying, and neither is who waits for it.
    assert_eq!([step("upload").bytes, step("run").bytes, step("download").bytes], [None; 3]);
    assert_eq!(step("on the GPU").bytes, Some(2 * 40 * 30 * 5 * 8));
    let human = isobar("on-gpu", &run);
    assert!(text(&human.stdout).contains("the GPU copies "), "{}", text(&human.stdout));

    let bench = ["bench", &copy, "--backends", "wgpu,rayon", "--domain", "40,30,5", "--repeats", "3"];
    let report: BenchReport = fine(&isobar("on-gpu", &[&bench[..], &["--format", "json"]].concat()));
    let benchmark = report.benchmark.expect("it was measured");
    assert!(benchmark.agree);
    let [on_gpu, on_host] = &benchmark.backends[..] else { panic!("{benchmark:?}") };
    let told = on_gpu.on_device.as_ref().expect("lavapipe tells times");
    assert_eq!((told.calls.ms.len(), told.copy.threads), (3, 0));
    assert!(on_gpu.of_copy.is_some() && on_host.on_device.is_none());
}

#[test]
fn another_gpu_is_named_for_back_ends_on_gpus_alone() {
    let copy = gallery("copy_scale.py");
    let refused = isobar("target", &["run", &copy, "--backend", "rayon", "--init", "--target", "h100"]);
    assert!(!refused.status.success());
    let said = text(&refused.stderr);
    assert!(said.contains("--target names a GPU, and `rayon` runs on none"), "{said}");
}
