//! `cargo xtask fuzz`: what no input may break, tried with inputs that coverage guides.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, bail};

use crate::process::{cargo, output, program, root, run, target_dir};

/// A program that takes any bytes.
#[derive(Debug)]
struct Target {
    name: &'static str,
    /// How many of a hundred seconds it gets.
    share: u64,
    /// How many inputs the tests try.
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
    /// The same inputs each time: a test finds the same on every machine.
    Fixed,
}

/// What cargo-fuzz says to the compiler; none of it needs a nightly one.
const INSTRUMENTATION: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg=fuzzing",
];

/// Builds the targets and runs each, starting from our own texts, from those that `tests/fuzz/corpus` keeps and, where
/// there is time for it, from what earlier runs found.
pub(crate) fn fuzz(effort: Effort) -> Result<()> {
    let folder = target_dir().join("fuzz");
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
    write_seeds(name, &seeds)?;
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

/// Our own texts, as files to start from.
fn write_seeds(target: &str, folder: &Path) -> Result<()> {
    emptied(folder)?;
    let mut texts = Vec::new();
    match target {
        "stencil" | "editor" => {
            for from in ["static/gallery", "tests/golden/facts", "tests/agree/stencils"] {
                texts.extend(files(&root().join(from), ".py")?);
            }
            for page in files(&root().join("tests/conformance"), ".md")? {
                texts.extend(blocks(&page));
            }
        }
        "notation" => {
            for ending in [".gtir.txt", ".oir.txt", ".schedule.txt"] {
                texts.extend(files(&root().join("tests/snapshots"), ending)?);
            }
            texts.push("sum(bell(low=0, high=1, at_i=0.4), random(low=0, high=1, seed=3))".to_owned());
        }
        "link" => {
            for kept in files(&root().join("tests/links"), ".txt")? {
                texts.extend(kept.lines().map(str::to_owned));
            }
        }
        _ => texts.push(
            r#"{"files": {"main.py": "x = 1"}, "main": "main.py", "stencil": "s", "backend": "debug", "externals": {"a": 1.5}, "domain": [8, 8, 5], "origin": {"_all_": [3, 3, 0]}, "scalars": {"x": 0.1}}"#.to_owned(),
        ),
    }
    texts.extend(files(&root().join(KEPT).join(target), "")?);
    if texts.is_empty() {
        bail!("there are no texts to start `{target}` from");
    }
    for (number, text) in texts.iter().enumerate() {
        fs::write(folder.join(format!("{number:04}")), text)?;
    }
    Ok(())
}

/// The texts of the files in a folder whose names end so; none where there is no such folder.
fn files(folder: &Path, ending: &str) -> Result<Vec<String>> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut paths: Vec<PathBuf> = entries.filter_map(|it| it.ok().map(|it| it.path())).collect();
    paths.retain(|it| it.to_string_lossy().ends_with(ending));
    paths.sort();
    paths.iter().map(|it| fs::read_to_string(it).with_context(|| it.display().to_string())).collect()
}

/// The code blocks of a page that hold stencils.
fn blocks(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in page.split("```stencil").skip(1) {
        let code = part.split_once('\n').map_or("", |(_, it)| it);
        found.push(code.split("```").next().unwrap_or_default().to_owned());
    }
    found
}
