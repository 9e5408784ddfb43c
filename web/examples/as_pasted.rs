//! `cargo xtask corpus --as-pasted PATH...`: what a visitor sees who pastes a file of these checkouts alone and runs it.
//!
//! Each Python file with a stencil is handled as the page does: the first stencil, what is made up, `debug` on a small
//! domain. Where modules are asked for by name, these are added from the checkouts, which is one click more.
#![expect(clippy::print_stdout, reason = "a command-line program talks to its user on stdout")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use isobar_compiler::frontend::ParsedFiles;
use isobar_compiler::project::Project;
use isobar_protocol::fields::ResultField;
use isobar_protocol::request::Request;
use isobar_protocol::worker::{AnswerBody, GuessedInputs};
use isobar_worker_first::compile::Compiler;

/// Deep nesting costs stack; a tab has less, and the compiler's limits are made for that.
const STACK_BYTES: usize = 256 * 1024 * 1024;
/// Points along I and J, and levels at least.
const POINTS: i64 = 12;
/// Modules are asked for in turn: those that are added may need others.
const ROUNDS: usize = 8;

fn main() -> ExitCode {
    let roots: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if roots.is_empty() {
        println!("usage: cargo xtask corpus --as-pasted PATH...");
        return ExitCode::from(2);
    }
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || report(&roots));
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        Ok(Ok(Err(error))) => {
            println!("error: {error}");
            ExitCode::from(2)
        }
        Ok(Err(_)) | Err(_) => ExitCode::FAILURE,
    }
}

/// How many files show a field.
#[derive(Debug, Default)]
struct Row {
    files: u32,
    /// Without anything that is made up.
    plain: u32,
    pasted: u32,
    /// With the modules that the page asks for.
    with_modules: u32,
}

fn report(roots: &[PathBuf]) -> std::io::Result<()> {
    let mut all = BTreeMap::new();
    for root in roots {
        read_below(root, root, &mut all)?;
    }
    let mut rows = Vec::new();
    for root in roots {
        let mut row = Row::default();
        let mut own = BTreeMap::new();
        read_below(root, root, &mut own)?;
        for (name, text) in &own {
            if !has_stencil(name, text) {
                continue;
            }
            row.files += 1;
            let alone = BTreeMap::from([(name.clone(), text.clone())]);
            row.plain += u32::from(needs_nothing(&alone, name));
            match attempt(&alone, name) {
                Ok(_) => row.pasted += 1,
                Err(why) => {
                    let (files, asked) = with_modules(&alone, name, &all);
                    match attempt(&files, name) {
                        Ok(_) => row.with_modules += 1,
                        Err(why) => {
                            println!("{}/{name}: {why} (with {})", root.display(), asked.join(", "));
                            continue;
                        }
                    }
                    println!("{}/{name}: {why}; shows a field with {}", root.display(), asked.join(", "));
                }
            }
        }
        rows.push((root.display().to_string(), row));
    }
    println!("\n{:>6} {:>9} {:>7} {:>13} {:>6}", "files", "as it is", "pasted", "with modules", "share");
    let sum = rows.iter().fold(Row::default(), |sum, (_, it)| Row {
        files: sum.files + it.files,
        plain: sum.plain + it.plain,
        pasted: sum.pasted + it.pasted,
        with_modules: sum.with_modules + it.with_modules,
    });
    for (root, row) in rows.iter().map(|(root, row)| (root.as_str(), row)).chain([("all", &sum)]) {
        let Row { files, plain, pasted, with_modules } = row;
        let shown = pasted + with_modules;
        let share = f64::from(shown) / f64::from((*files).max(1)) * 100.0;
        println!("{files:>6} {plain:>9} {pasted:>7} {shown:>13} {share:>4.0} %  {root}");
    }
    Ok(())
}

fn has_stencil(name: &str, text: &str) -> bool {
    let project = Project::of_one(name, text);
    ParsedFiles::default().of(&project).iter().any(|it| !it.stencils().is_empty())
}

fn request(files: &BTreeMap<String, String>, main: &str) -> Request {
    // The page wants one text of the stages; here nobody looks at any.
    Request {
        files: files.clone(),
        main: Some(main.to_owned()),
        stages: Some(Vec::new()),
        ..Request::default()
    }
}

/// Whether the text runs without anything made up.
fn needs_nothing(files: &BTreeMap<String, String>, main: &str) -> bool {
    let (compiled, defaults) = Compiler::default().compile(&request(files, main), None, &|| 0.0);
    let is_refused = compiled.diagnostics.iter().any(|it| it.severity == "error");
    let nothing = GuessedInputs { domain: defaults.made.domain, ..GuessedInputs::default() };
    !is_refused && defaults.made == nothing
}

/// The files with those of the checkouts that the page asks for, and which these are.
fn with_modules(
    files: &BTreeMap<String, String>,
    main: &str,
    all: &BTreeMap<String, String>,
) -> (BTreeMap<String, String>, Vec<String>) {
    let (mut files, mut asked) = (files.clone(), Vec::new());
    for _ in 0..ROUNDS {
        let (_, defaults) = Compiler::default().compile(&request(&files, main), None, &|| 0.0);
        let before = files.len();
        for it in defaults.missing {
            let package = it.path.replace(".py", "/__init__.py");
            let is_it = |name: &&String| {
                [&it.path, &package].iter().any(|end| *name == *end || name.ends_with(&format!("/{end}")))
            };
            if !asked.contains(&it.module) {
                asked.push(it.module.clone());
            }
            if let Some((name, text)) = all.iter().find(|(name, _)| is_it(name)) {
                files.insert(name.clone(), text.clone());
            }
        }
        if files.len() == before {
            break;
        }
    }
    (files, asked)
}

/// Runs the first stencil with what the page makes up; why there is nothing to see, where there is not.
fn attempt(files: &BTreeMap<String, String>, main: &str) -> Result<(), String> {
    let mut compiler = Compiler::default();
    let asked = request(files, main);
    let (compiled, defaults) = compiler.compile(&asked, None, &|| 0.0);
    if let Some(it) = compiled.diagnostics.iter().find(|it| it.severity == "error") {
        let stencil = compiled.stencil.unwrap_or_default();
        return Err(format!("{stencil}: {} {}", it.code, it.message));
    }
    let levels = compiled.signature.map_or(0, |it| it.min_levels).max(POINTS);
    let mut asked = defaults.made.complete(asked);
    asked.domain = Some([POINTS, POINTS, levels]);
    asked.backend = Some("debug".to_owned());
    let (fields, _) =
        compiler.run(&asked, &|| 0.0, &mut |_, _| {}).map_err(|ended| told(&ended, &compiled.stencil))?;
    let is_shown = |it: &ResultField| {
        let points: u64 = it.info.shape.iter().product();
        (it.info.statistics.nan + it.info.statistics.inf) * 10 <= points
    };
    match fields.iter().find(|it| !is_shown(it)) {
        None if fields.is_empty() => Err("no field is written".to_owned()),
        Some(it) if !fields.iter().any(is_shown) => {
            Err(format!("{:?}: `{}` is not finite", compiled.stencil, it.info.name))
        }
        _ => Ok(()),
    }
}

fn told(ended: &AnswerBody, stencil: &Option<String>) -> String {
    match ended {
        AnswerBody::RunEnded { why, diagnostics, .. } => {
            let first = diagnostics.first().map(|it| format!(": {} {}", it.code, it.message));
            format!("{stencil:?} {why}{}", first.unwrap_or_default())
        }
        other => format!("{other:?}"),
    }
}

/// The Python files below a folder by their paths from `root`; what is no text is left out.
fn read_below(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let is_hidden = path.file_name().is_some_and(|it| it.to_string_lossy().starts_with('.'));
        if path.is_dir() && !is_hidden {
            read_below(root, &path, found)?;
        } else if path.extension().is_some_and(|it| it == "py")
            && let (Ok(text), Ok(name)) = (std::fs::read_to_string(&path), path.strip_prefix(root))
        {
            found.insert(name.to_string_lossy().into_owned(), text);
        }
    }
    Ok(())
}
