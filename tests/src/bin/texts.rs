//! `cargo xtask agree --texts`: whether the texts `python` and `numpy`, run by Python, give the bits of `debug`.
#![expect(clippy::print_stdout, reason = "a command-line program talks to its user on stdout")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use isobar_compiler::pipeline::Stage;
use isobar_compiler::space::Domain;
use isobar_tests::agree::prepare::call;
use isobar_tests::agree::subject::Subject;
use isobar_tests::root;
use isobar_tests::texts::{run_all, write_case};

/// Deep nesting costs stack; the compiler's own limits see to it that this is enough.
const STACK_BYTES: usize = 256 * 1024 * 1024;

const DOMAIN: Domain = Domain { i: 5, j: 4, k: 6 };

const STAGES: [Stage; 2] = [Stage::PYTHON, Stage::NUMPY];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let work = || match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [python, work, generated] => compare(Path::new(python), Path::new(work), generated.parse()?),
        _ => bail!("usage: texts PYTHON FOLDER COUNT; `cargo xtask agree --texts` knows the first two"),
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

fn compare(python: &Path, work: &Path, generated: u64) -> Result<bool> {
    let mut subjects = Subject::of_folder("gallery", &root().join("static/gallery"), DOMAIN)?;
    subjects.extend(Subject::of_folder("facts", &root().join("tests/golden/facts"), DOMAIN)?);
    subjects.extend(Subject::of_folder("written", &root().join("tests/agree/stencils"), DOMAIN)?);
    subjects.extend(Subject::of_pages(&root().join("tests/conformance"))?);
    subjects.extend(Subject::generated(generated));
    let mut is_fine = true;
    for stage in STAGES {
        let folder = work.join(stage.name());
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        let mut written: BTreeMap<&str, usize> = BTreeMap::new();
        for (number, subject) in subjects.iter().enumerate() {
            let compilation = subject.compile();
            let Some(signature) = compilation.front.signature.as_ref().filter(|_| !compilation.has_errors())
            else {
                continue;
            };
            let Ok(launch) = compilation.front.bind(call(subject, &compilation, signature)?) else {
                continue;
            };
            if write_case(&folder.join(format!("{number:05}")), stage, &compilation, &launch)? {
                *written.entry(&subject.origin).or_default() += 1;
            }
        }
        let (ran, wrong) = run_all(python, &folder)?;
        let mut n_of_platform = 0;
        for (case, why) in &wrong {
            // Functions that the texts leave to Python's own library have the bits of that.
            if std::fs::read_to_string(folder.join(case).join("text.py"))?.contains("def platform") {
                n_of_platform += 1;
                continue;
            }
            let subject = case.parse().ok().and_then(|it: usize| subjects.get(it));
            let name = subject.map_or(String::new(), |it| format!("{}:{}", it.origin, it.name));
            println!("DIFFERS  {stage} {case} {name}: {why}");
        }
        let n_wrong = wrong.len() - n_of_platform;
        println!(
            "{stage}: {ran} ran, {n_wrong} differ, and {n_of_platform} by functions of Python's library; {written:?}"
        );
        is_fine &= n_wrong == 0;
    }
    Ok(is_fine)
}
