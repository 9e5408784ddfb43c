//! `cargo xtask dace [PATH...]`: our graphs under DaCe.
#![expect(clippy::print_stdout, reason = "a command-line program talks to its user on stdout")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result};
use isobar_compiler::inputs;
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::Domain;
use isobar_compiler::types::Value;
use isobar_program::interpret::HaloFill;
use isobar_tests::corpus::{Checkout, Trial, small_inputs};
use isobar_tests::dace::{CHECK, Case, Fate, fate, prepare, prepare_program};
use isobar_tests::programs::{WholeCase, generated};
use isobar_tests::{GALLERY, compiled, launch};

/// The interpreter of compile-time Python may go deep.
const STACK_BYTES: usize = 256 * 1024 * 1024;
/// Larger graphs take DaCe minutes.
const LARGEST_NODES: usize = 400;
/// So many generated programs.
const PROGRAMS: u64 = 8;

/// `WORK LIMIT PYTHON... [--with PATH]... -- PATH...`
fn main() -> ExitCode {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(|| run(std::env::args().skip(1)));
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(true))) => ExitCode::SUCCESS,
        Ok(Ok(Ok(false))) => ExitCode::FAILURE,
        Ok(Ok(Err(error))) => {
            println!("error: {error:#}");
            ExitCode::from(2)
        }
        Ok(Err(_)) | Err(_) => ExitCode::FAILURE,
    }
}

fn run(mut arguments: impl Iterator<Item = String>) -> Result<bool> {
    let usage = "WORK LIMIT PYTHON... [--with PATH]... -- PATH...";
    let work = std::path::absolute(arguments.next().context(usage)?)?;
    let limit: usize = arguments.next().context(usage)?.parse()?;
    let (mut pythons, mut libraries, mut paths) = (Vec::new(), Vec::new(), Vec::new());
    let mut is_path = false;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--" => is_path = true,
            "--with" => libraries.push(PathBuf::from(arguments.next().context(usage)?)),
            _ if is_path => paths.push(PathBuf::from(argument)),
            _ => pythons.push(PathBuf::from(argument)),
        }
    }
    if work.exists() {
        fs::remove_dir_all(&work)?;
    }
    let cases = cases(&work.join("cases"), limit, &libraries, &paths)?;
    println!("{} stencils and programs", cases.len());
    let list = work.join("cases.json");
    let entries: Vec<_> = cases.iter().flat_map(|it| it.entries.clone()).collect();
    fs::write(&list, serde_json::to_string(&entries)?)?;
    let script = work.join("check.py");
    fs::write(&script, CHECK)?;
    let mut children = Vec::new();
    for (number, python) in pythons.iter().enumerate() {
        let results = work.join(format!("results-{number}"));
        fs::create_dir_all(&results)?;
        let mut command = Command::new(python);
        command.arg(&script).arg(&list).arg(&results).stdin(Stdio::null());
        // Memory that nothing has written holds what memory had before, which may be right by chance.
        command.env("MALLOC_PERTURB_", "165");
        // DaCe leaves files where it runs, such as graphs that it did not validate. They must not land in the
        // repository.
        command.current_dir(&results);
        children.push((results, command.spawn().with_context(|| python.display().to_string())?));
    }
    let mut is_fine = true;
    for (results, mut child) in children {
        child.wait()?;
        is_fine &= told(&cases, &results)?;
    }
    Ok(is_fine)
}

/// The gallery in both precisions, generated programs, and so many stencils of checkouts.
fn cases(root: &Path, limit: usize, libraries: &[PathBuf], paths: &[PathBuf]) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for name in GALLERY {
        for precision in [64, 32] {
            let compilation = compiled(name, precision);
            let launch = launch(&compilation, Domain::new(6, 5, 4));
            let id = format!("{name}-{precision}");
            cases.push(prepare(&id, &format!("{name}, {precision} bits"), &compilation, launch, root)?);
        }
    }
    let scalars = BTreeMap::from([("a", Value::Float64(0.1))]);
    for seed in 0..PROGRAMS {
        let mut case = WholeCase::of(&generated(seed), HaloFill::Periodic).map_err(anyhow::Error::msg)?;
        let launch = case.launch(Domain::new(5, 4, 3), &scalars);
        cases.push(prepare_program(&format!("program-{seed}"), &mut case, &launch, root)?);
    }
    let n_own = cases.len();
    for path in paths {
        let mut trial = Trial::new(Checkout::read(path, libraries)?);
        for (file, stencil) in trial.stencils() {
            if cases.len() - n_own == limit {
                return Ok(cases);
            }
            let compilation = trial.compile(&file, &stencil);
            let id = format!("{:04}-{stencil}", cases.len());
            match of_checkout(&id, &format!("{file}: {stencil}"), &compilation, root) {
                Ok(case) => cases.push(case),
                Err(why) => println!("left out {file}: {stencil}: {why:#}"),
            }
        }
    }
    Ok(cases)
}

fn of_checkout(id: &str, name: &str, compilation: &Compilation, root: &Path) -> Result<Case> {
    anyhow::ensure!(!compilation.has_errors(), "it does not compile");
    let signature = compilation.front.signature.as_ref().context("it has no signature")?;
    let graph = compilation.levels.sdfg.as_ref().context("it has no graph")?;
    anyhow::ensure!(graph.n_nodes() <= LARGEST_NODES, "its graph is large");
    let domain = Domain::new(5, 4, 6.max(signature.min_levels));
    let call = inputs::call_for(signature, &small_inputs(signature), domain);
    let launch = compilation.front.bind(call).map_err(|wrong| {
        let wrong: Vec<String> = wrong.iter().map(|it| it.message.clone()).collect();
        anyhow::anyhow!(wrong.join("; "))
    })?;
    prepare(id, name, compilation, launch, root)
}

/// Prints what became of each case that did not agree, and a table; whether all agreed.
fn told(cases: &[Case], results: &Path) -> Result<bool> {
    let version =
        fs::read_to_string(results.join("version")).unwrap_or_else(|_| "that does not start".to_owned());
    let mut is_fine = true;
    println!("\nDaCe {version}");
    let mut rows: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
    for form in ["native", "flat"] {
        for case in cases {
            let row = rows.entry(form).or_default();
            let fate = fate(case, form, results)?;
            let column = match &fate {
                Fate::Agreed { ulp: 0 } => "agree to the bit".to_owned(),
                Fate::Agreed { ulp } => {
                    println!("  {} {form}: within {ulp} units in the last place", case.name);
                    "agree but for functions".to_owned()
                }
                Fate::Differs(what) => {
                    println!("  {} {form}: {what}", case.name);
                    "differ".to_owned()
                }
                Fate::Failed { step, why } => {
                    println!("  {} {form}: {step}: {why}", case.name);
                    format!("fail to {step}")
                }
            };
            is_fine &= matches!(fate, Fate::Agreed { .. });
            *row.entry(column).or_default() += 1;
        }
    }
    for (form, row) in rows {
        let told: Vec<String> = row.iter().map(|(column, n)| format!("{n} {column}")).collect();
        println!("  {form}: {}", told.join(", "));
    }
    Ok(is_fine)
}
