//! `isobar check FOLDER` — every stencil below a folder, and a summary.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use isobar_protocol::compile::Compiled;
use isobar_protocol::report::{CheckReport, CheckedFile};
use isobar_protocol::request::Request;

use super::check::{ask, for_some_levels};
use super::{Outcome, Usage, human, print_json, say};
use crate::cli::{CheckArgs, Format, Shared};
use crate::compile;
use crate::config::Environment;
use crate::document::{self, Document};
use crate::error::count;

/// The counts that are printed after all files of a folder.
#[derive(Debug, Default)]
struct Summary {
    files: usize,
    stencils: usize,
    accepted: usize,
    /// How many stencils have errors of a code.
    errors: BTreeMap<String, usize>,
    took: Duration,
}

/// Checks files and all Python files below folders; those of a folder find each other's modules.
pub(crate) fn check(args: &CheckArgs, environment: &Environment) -> Result<Outcome, Usage> {
    let start = Instant::now();
    let mut report = CheckReport::default();
    let mut summary = Summary::default();
    let mut shown = String::new();
    let mut together = compile::SharedSession::default();
    for path in &args.files {
        for request in requests(path, args)? {
            let mut compile = |request: &Request| match &args.shared.runner {
                None => Ok(together.compile(request)),
                Some(_) => ask(request, &args.shared, environment),
            };
            let found = check_file(&request, &mut compile, &mut report, &mut summary)?;
            shown += &human::diagnostics(&found, &request);
            report.diagnostics.extend(found);
        }
    }
    summary.took = start.elapsed();
    match args.shared.format {
        Format::Json => print_json(&report),
        Format::Human => {
            if !shown.is_empty() {
                say(shown.trim_end());
            }
            say(&summary.to_string());
        }
    }
    Ok(Outcome::of(&report.diagnostics))
}

/// One request for each file: alone, or with all others of its folder.
fn requests(path: &Path, args: &CheckArgs) -> Result<Vec<Request>, Usage> {
    if !path.is_dir() {
        return Ok(vec![Document::read(Some(path), &args.shared)?.request]);
    }
    let files = document::modules(path)?;
    let Some(first) = files.keys().next() else { return Ok(Vec::new()) };
    // The options are read once, with any of the files.
    let mut shared = Shared::clone(&args.shared);
    shared.modules.push(path.to_owned());
    let root = if path.join("__init__.py").is_file() { path.parent().unwrap_or(path) } else { path };
    let mut request = Document::read(Some(&root.join(first)), &shared)?.request;
    // Nobody reads a level.
    request.stages = Some(Vec::new());
    if let Some(main) = request.main.take() {
        request.files.remove(&main);
    }
    request.files.extend(files.clone());
    let with_main = |main: &String| Request { main: Some(main.clone()), ..request.clone() };
    Ok(files.keys().map(with_main).collect())
}

/// All stencils of a file; what is wrong with them, each fault once.
fn check_file(
    request: &Request,
    compile: &mut impl FnMut(&Request) -> Result<Compiled, Usage>,
    report: &mut CheckReport,
    summary: &mut Summary,
) -> Result<Vec<isobar_protocol::diagnostic::Diagnostic>, Usage> {
    let mut checked =
        CheckedFile { file: request.main_file().unwrap_or_default().to_owned(), ..CheckedFile::default() };
    let mut compile = |it: &Request| for_some_levels(it, compile);
    let mut first = compile(request)?;
    checked.stencils = std::mem::take(&mut first.stencils);
    summary.files += 1;
    summary.stencils += checked.stencils.len();
    if checked.stencils.is_empty() {
        first.diagnostics.retain(|it| !crate::compile::is_about_no_stencil(it));
        report.files.push(checked);
        return Ok(first.diagnostics);
    }
    let mut found = Vec::new();
    for stencil in &checked.stencils {
        let request = Request { stencil: Some(stencil.clone()), ..request.clone() };
        let compiled = compile(&request)?;
        let errors = compiled.diagnostics.iter().filter(|it| it.severity == "error");
        let codes: BTreeSet<&String> = errors.map(|it| &it.code).collect();
        summary.accepted += usize::from(codes.is_empty());
        for code in codes {
            *summary.errors.entry(code.clone()).or_default() += 1;
        }
        for diagnostic in compiled.diagnostics {
            if !found.contains(&diagnostic) {
                found.push(diagnostic);
            }
        }
        checked.signatures.extend(compiled.signature);
    }
    report.files.push(checked);
    Ok(found)
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Summary { files, stencils, accepted, errors, took } = self;
        let seconds = took.as_secs_f64();
        let (files, stencils) = (count(*files, "file"), count(*stencils, "stencil"));
        write!(f, "\n{files}, {stencils}, {accepted} accepted, in {seconds:.1} s")?;
        for (code, n) in errors {
            write!(f, "\n  {code}: {}", count(*n, "stencil"))?;
        }
        Ok(())
    }
}
