//! The toy back end, by way of the command that has its row: listed, shown and run. No other file names it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn toy(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isobar-toy"));
    command.args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Returns the output of a command that went well.
fn fine(arguments: &[&str]) -> String {
    let output = toy(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&fine(&[arguments, &["--format", "json"]].concat())).unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn gallery(name: &str) -> String {
    root().join("static/gallery").join(name).display().to_string()
}

#[test]
fn it_is_in_the_list_of_back_ends_with_what_it_found() {
    let listed = json(&["backends"]);
    let names: Vec<&str> =
        listed["backends"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["debug", "numpy", "rayon", "openmp", "cuda", "wgpu", "toy"]);
    let shown = fine(&["backends"]);
    assert!(shown.contains("toy     can run     goes through the loops"), "{shown}");
    // The message about an unknown back end lists the toy too.
    let unknown = toy(&["run", &gallery("copy_scale.py"), "--backend", "nowhere", "--init"]);
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("wgpu, toy"));
}

#[test]
fn its_text_is_a_stage_like_any_other() {
    let copy = gallery("copy_scale.py");
    let text = fine(&["emit", &copy, "--stage", "operations"]);
    assert!(text.lines().any(|it| it.trim() == "s0: 1 operation"), "{text}");
    let report = json(&["emit", &copy, "--stage", "operations"]);
    assert_eq!((&report["stage"], &report["nodes"][0]["links"][0]), (&"operations".into(), &"s0".into()));
    let all = json(&["emit", &copy, "--stage", "all"]);
    assert_eq!(all["stages"].as_array().unwrap().last().unwrap()["stage"], "operations");
    // It stands behind the passes of the loops, and shows their remarks.
    let stopped = toy(&["emit", &copy, "--stage", "operations", "--stop-after", "loops/declare-locals"]);
    assert_eq!(stopped.status.code(), Some(2), "{}", String::from_utf8_lossy(&stopped.stderr));
}

#[test]
fn it_runs_with_the_bits_of_debug() {
    for name in ["copy_scale.py", "horizontal_diffusion.py", "vertical_advection.py", "column_physics.py"] {
        let file = gallery(name);
        let ran = |backend: &str| {
            json(&["run", &file, "--backend", backend, "--init", "--domain", "7,5,12"])["hashes"].clone()
        };
        let meant = ran("debug");
        assert!(meant.as_object().is_some_and(|it| !it.is_empty()), "{meant}");
        assert_eq!(ran("toy"), meant, "{name}");
    }
}

#[test]
fn it_is_measured_beside_others() {
    let arguments = ["--backends", "debug,toy", "--repeats", "1", "--domain", "6,6,6"];
    let measured = json(&[&["bench", &gallery("copy_scale.py")][..], &arguments].concat());
    assert_eq!(measured["benchmark"]["agree"], true);
    assert_eq!(measured["benchmark"]["backends"][1]["backend"], "toy");
}

#[test]
fn nobody_outside_of_its_folder_names_it() {
    let mut sources = Vec::new();
    walk(&root(), &mut sources);
    assert!(sources.len() > 300, "{}", sources.len());
    for path in sources {
        let text = fs::read_to_string(&path).unwrap();
        for name in ["isobar-toy", "isobar_toy", "\"toy\""] {
            assert!(!text.contains(name), "{} names {name}", path.display());
        }
    }
}

/// All sources and manifests but those of this crate, and of what others made.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
        if path.is_dir() {
            let is_left_out = name.starts_with('.') || ["target", "node_modules", "dist"].contains(&name);
            if !is_left_out && path != Path::new(env!("CARGO_MANIFEST_DIR")) && !path.is_symlink() {
                walk(&path, found);
            }
        } else if name.ends_with(".rs") || name == "Cargo.toml" {
            found.push(path);
        }
    }
}
