//! `cargo xtask agree [PATH...]`: whether gt4py makes the same of our stencils, and of those below folders.
#![expect(clippy::print_stdout, reason = "a command-line program talks to its user on stdout")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use isobar_compiler::space::Domain;
use isobar_runner::npz;
use isobar_tests::agree::functions;
use isobar_tests::agree::kept::{self, Kept, digest};
use isobar_tests::agree::prepare::{Prepared, prepare};
use isobar_tests::agree::subject::Subject;
use isobar_tests::agree::verdict::{Theirs, Verdict};
use isobar_tests::root;
use serde_json::{Value as Json, json};

/// Deep nesting costs stack; the compiler's own limits see to it that this is enough.
const STACK_BYTES: usize = 256 * 1024 * 1024;

const DOMAIN: Domain = Domain { i: 5, j: 4, k: 6 };

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let work = || match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["functions"] => functions::serve(std::io::stdin().lock(), std::io::stdout().lock()).map(|()| true),
        [python, work, generated, "--keep", ref paths @ ..] => {
            agree(Path::new(python), Path::new(work), generated.parse()?, true, paths)
        }
        [python, work, generated, ref paths @ ..] => {
            agree(Path::new(python), Path::new(work), generated.parse()?, false, paths)
        }
        _ => bail!(
            "usage: agree PYTHON FOLDER COUNT [--keep] [PATH...]; `cargo xtask agree` knows the first two"
        ),
    };
    let outcome = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        thread.map(|it| it.join().unwrap_or_else(|_| bail!("it panicked")))
    });
    match outcome {
        Ok(Ok(is_fine)) => ExitCode::from(u8::from(!is_fine)),
        Ok(Err(error)) => {
            println!("error: {error:#}");
            ExitCode::from(2)
        }
        Err(error) => {
            println!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn agree(python: &Path, work: &Path, generated: u64, keep: bool, paths: &[&str]) -> Result<bool> {
    let mut subjects = Subject::of_folder("gallery", &root().join("static/gallery"), DOMAIN)?;
    subjects.extend(Subject::of_folder("facts", &root().join("tests/golden/facts"), DOMAIN)?);
    subjects.extend(Subject::of_folder("written", &root().join("tests/agree/stencils"), DOMAIN)?);
    subjects.extend(Subject::of_pages(&root().join("tests/conformance"))?);
    subjects.extend(Subject::generated(generated));
    for path in paths {
        // Each may import from the others.
        let others: Vec<PathBuf> = paths.iter().filter(|it| *it != path).map(PathBuf::from).collect();
        subjects.extend(Subject::of_checkout(Path::new(path), &others, DOMAIN)?);
    }
    if work.exists() {
        std::fs::remove_dir_all(work)?;
    }
    std::fs::create_dir_all(work)?;
    let prepared: Result<Vec<Prepared>> =
        subjects.iter().enumerate().map(|(number, subject)| prepare(subject, number, work)).collect();
    let mut prepared = prepared?;
    for it in &mut prepared {
        it.case["roots"] = json!(paths);
    }
    println!("{} stencils are compiled; now gt4py", prepared.len());
    let theirs = ask_gt4py(python, work, prepared.iter().map(|it| it.case.clone()).collect())?;
    let mut verdicts = Vec::new();
    for it in &prepared {
        let theirs = theirs.get(&it.id).with_context(|| format!("no answer to {}", it.id))?;
        verdicts.push(Verdict::of(it, theirs)?);
    }
    decide_by_loops(python, work, &prepared, &mut verdicts)?;

    let mut table: BTreeMap<&str, BTreeMap<&'static str, u32>> = BTreeMap::new();
    let mut functions: BTreeMap<String, u64> = BTreeMap::new();
    let mut is_fine = true;
    for ((subject, prepared), verdict) in subjects.iter().zip(&prepared).zip(&verdicts) {
        *table.entry(&subject.origin).or_default().entry(verdict.column()).or_default() += 1;
        let place = format!("{} {}:{}", prepared.id, subject.origin, subject.name);
        match verdict {
            Verdict::Agrees { functions: calls, .. } => {
                for (call, ulps) in calls {
                    let worst = functions.entry(call.clone()).or_default();
                    *worst = (*worst).max(*ulps);
                }
            }
            Verdict::BothRefuse => {}
            Verdict::Deviates { row } => println!("deviation    {place}: {row}"),
            Verdict::OnlyWeRefuse { why } => println!("we refuse    {place}: {why}"),
            Verdict::OnlyTheyRefuse { why } => println!("they refuse  {place}: {why}"),
            Verdict::Differs { how, .. } => println!("DIFFERS      {place}: {how}"),
            Verdict::ProvesNothing { why } => println!("no proof     {place}: {why}"),
            Verdict::WeCrash { what } => println!("WE CRASH     {place}: {what}"),
        }
        is_fine &= !matches!(verdict, Verdict::Differs { .. } | Verdict::WeCrash { .. });
    }
    print_table(&table, &functions);
    if keep {
        keep_results(work, &subjects, &prepared, &verdicts)?;
    }
    Ok(is_fine)
}

/// Writes what gt4py made of our own stencils, where all of it is decided to the bit.
fn keep_results(
    work: &Path,
    subjects: &[Subject],
    prepared: &[Prepared],
    verdicts: &[Verdict],
) -> Result<()> {
    let mut lines = vec![std::fs::read_to_string(work.join("versions.json"))?];
    for ((subject, prepared), verdict) in subjects.iter().zip(prepared).zip(verdicts) {
        let Verdict::Agrees { backend, functions } = verdict else { continue };
        let is_alone = subject.project.files.len() == 1;
        let arrays = npz::read(&std::fs::read(prepared.folder.join("out.npz"))?, 1 << 26);
        let arrays = arrays.map_err(anyhow::Error::msg)?;
        let is_whole = !arrays.keys().any(|it| it.starts_with("defined_"));
        if !functions.is_empty() || !is_alone || !is_whole {
            continue;
        }
        let Domain { i, j, k } = subject.domain;
        let written = |(name, it): (&String, _)| Some((name.strip_prefix("out_")?.to_owned(), digest(it)));
        lines.push(serde_json::to_string(&Kept {
            origin: subject.origin.clone(),
            name: subject.name.clone(),
            stencil: subject.stencil.clone(),
            precision: subject.precision,
            domain: [i, j, k],
            backend: backend.clone(),
            outputs: arrays.iter().filter_map(written).collect(),
            text: subject.project.text(subject.project.main_id().unwrap_or_default()).to_owned(),
        })?);
    }
    println!("{} results are kept", lines.len() - 1);
    std::fs::write(kept::path(), lines.join("\n") + "\n")?;
    Ok(())
}

/// Where gt4py's two back ends disagree, the plain loops of `debug` are right.
fn decide_by_loops(
    python: &Path,
    work: &Path,
    prepared: &[Prepared],
    verdicts: &mut [Verdict],
) -> Result<()> {
    let mut again = Vec::new();
    for (it, verdict) in prepared.iter().zip(verdicts.iter()) {
        if matches!(verdict, Verdict::Differs { backend, .. } if backend == "numpy") {
            let mut case = it.case.clone();
            case["backends"] = json!(["debug"]);
            again.push(case);
        }
    }
    let theirs = ask_gt4py(python, work, again)?;
    for (it, verdict) in prepared.iter().zip(verdicts) {
        if let Some(theirs) = theirs.get(&it.id)
            && let Verdict::Agrees { functions, .. } = Verdict::of(it, theirs)?
        {
            println!("numpy only   {}: gt4py's back ends disagree, `debug` agrees", it.id);
            *verdict = Verdict::Agrees { backend: theirs.backend.clone(), functions };
        }
    }
    Ok(())
}

/// Has gt4py build and run the cases; its answers by their number.
fn ask_gt4py(python: &Path, work: &Path, cases: Vec<Json>) -> Result<BTreeMap<String, Theirs>> {
    std::fs::write(work.join("cases.json"), serde_json::to_vec_pretty(&Json::Array(cases))?)?;
    let script = root().join("tests/agree/run_gt4py.py");
    let mut command = Command::new(python);
    command.arg(script).arg(work).arg(std::env::current_exe()?).arg("functions");
    let status = command.status().with_context(|| format!("{} cannot be started", python.display()))?;
    if !status.success() {
        bail!("gt4py's half failed ({status})");
    }
    let text = std::fs::read_to_string(work.join("results.jsonl"))?;
    let answers = text.lines().map(|line| {
        let answer: Theirs = serde_json::from_str(line).with_context(|| line.to_owned())?;
        Ok((answer.id.clone(), answer))
    });
    answers.collect()
}

fn print_table(table: &BTreeMap<&str, BTreeMap<&'static str, u32>>, functions: &BTreeMap<String, u64>) {
    const COLUMNS: [&str; 8] =
        ["agree", "deviation", "both refuse", "we refuse", "they refuse", "differ", "no proof", "we crash"];
    println!("\n{}", COLUMNS.map(|it| format!("{it:>12}")).concat());
    for (origin, counts) in table {
        let cells = COLUMNS.map(|it| format!("{:>12}", counts.get(it).copied().unwrap_or(0)));
        println!("{}  {origin}", cells.concat());
    }
    if !functions.is_empty() {
        println!("\nlargest distance of a function from NumPy's, in units in the last place:");
        for (call, ulps) in functions {
            println!("  {call:<16} {ulps}");
        }
    }
}
