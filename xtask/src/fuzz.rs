//! `cargo xtask fuzz`: what no input may break, tried with inputs that coverage guides.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, bail};

use crate::process::{built, cargo, output, program, root, run, target_dir};

/// A program that takes any bytes.
#[derive(Debug)]
struct Target {
    name: &'static str,
    /// How many of a hundred seconds it gets.
    share: u64,
    /// How many inputs a run of fixed inputs tries.
    n_inputs: u64,
}

const TARGETS: [Target; 5] = [
    Target { name: "stencil", share: 60, n_inputs: 6_000 },
    Target { name: "editor", share: 20, n_inputs: 3_000 },
    Target { name: "notation", share: 12, n_inputs: 60_000 },
    Target { name: "request", share: 4, n_inputs: 150_000 },
    Target { name: "link", share: 4, n_inputs: 60_000 },
];

/// Inputs that broke a target once, in a folder for each: every run tries them.
const KEPT: &str = "tests/fuzz/corpus";

/// How long inputs are looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effort {
    /// From where earlier runs ended, with other inputs each time.
    Seconds(u64),
    /// The same inputs each time, on every machine.
    Fixed,
}

/// The flags of cargo-fuzz for the compiler; none of them needs a nightly one.
const INSTRUMENTATION: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg=fuzzing",
];

/// Builds the targets and runs each. They start from our own texts and from those that `tests/fuzz/corpus`
/// keeps. Where there is time, they also start from the findings of earlier runs.
pub(crate) fn fuzz(effort: Effort) -> Result<()> {
    let folder = target_dir().join("fuzz");
    built("seeds")?;
    let built = build(&folder)?;
    match effort {
        Effort::Seconds(_) => TARGETS.iter().try_for_each(|it| look(&folder, &built, it, effort)),
        // Each has its number of inputs and one thread: at the same time they take as long as the longest.
        Effort::Fixed => thread::scope(|scope| {
            let look = |target| look(&folder, &built, target, effort);
            let running: Vec<_> = TARGETS.iter().map(|it| scope.spawn(move || look(it))).collect();
            let ended = running.into_iter().map(|it| it.join().unwrap_or_else(|_| bail!("it panicked")));
            // All of them are heard before the first that failed is told.
            ended.collect::<Vec<_>>().into_iter().collect()
        }),
    }
}

/// Looks for inputs that break one target.
fn look(folder: &Path, built: &Path, target: &Target, effort: Effort) -> Result<()> {
    let Target { name, share, n_inputs } = target;
    let corpus = match effort {
        Effort::Seconds(_) => folder.join("corpus").join(name),
        Effort::Fixed => emptied(&folder.join("corpus-of-tests").join(name))?,
    };
    let (seeds, artifacts) = (folder.join("seeds").join(name), folder.join("artifacts"));
    fs::create_dir_all(&corpus)?;
    fs::create_dir_all(&artifacts)?;
    emptied(&seeds)?;
    run(program(target_dir().join("debug/seeds")).arg(name).arg(&seeds), "write the texts to start from")?;
    let mut fuzzer = program(built.join(name));
    fuzzer.arg(&corpus).arg(&seeds);
    fuzzer.args(match effort {
        Effort::Seconds(seconds) => vec![format!("-max_total_time={}", (seconds * share / 100).max(1))],
        Effort::Fixed => vec!["-seed=1".to_owned(), format!("-runs={n_inputs}")],
    });
    // No hang, and bounded memory.
    fuzzer.args(["-timeout=25", "-rss_limit_mb=2048", "-max_len=6000"]);
    fuzzer.args(["-verbosity=0", "-print_funcs=0", "-print_final_stats=1"]);
    fuzzer.arg(format!("-dict={}", root().join("tests/fuzz/gtscript.dict").display()));
    fuzzer.arg(format!("-artifact_prefix={}/{name}-", artifacts.display()));
    let input = artifacts.join(format!("{name}-input"));
    fuzzer.env("ISOBAR_FUZZ_INPUT", &input);
    if let Err(why) = run(&mut fuzzer, &format!("look for inputs that break `{name}`")) {
        let Ok(text) = fs::read_to_string(&input) else { return Err(why) };
        bail!(
            "{why}\nit ended with this input, which is also in {}; a copy of it in {KEPT}/{name} is tried from now on:\n{text}",
            input.display()
        );
    }
    let _ = fs::remove_file(&input);
    Ok(())
}

/// Where the instrumented programs are.
fn build(folder: &Path) -> Result<PathBuf> {
    let version = output(program("rustc").arg("-vV"))?;
    let host =
        version.lines().find_map(|it| it.strip_prefix("host: ")).context("rustc names no host")?.to_owned();
    let mut build = cargo();
    build.args(["build", "--release", "--locked", "--manifest-path", "tests/fuzz/Cargo.toml", "--bins"]);
    // With a target named, build scripts and macros stay as they are.
    build.args(["--target", &host]).arg("--target-dir").arg(folder);
    build.env("RUSTFLAGS", INSTRUMENTATION.join(" "));
    run(&mut build, "build the targets with instrumentation")?;
    Ok(folder.join(host).join("release"))
}

/// The folder, which is there and has nothing in it.
fn emptied(folder: &Path) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    Ok(folder.to_owned())
}
