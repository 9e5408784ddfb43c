//! `isobar check` — diagnostics only.

use std::path::Path;

use isobar_compiler::diag::mend::mend_surely;
use isobar_compiler::diag::{FileId, cells};
use isobar_protocol::compile::Compiled;
use isobar_protocol::diagnostic::{Diagnostic, Remedy};
use isobar_protocol::report::{CheckReport, CheckedFile};
use isobar_protocol::request::Request;

use super::{Outcome, Usage, human, print_json, say};
use crate::cli::{CheckArgs, Format, Shared};
use crate::compile;
use crate::config::Environment;
use crate::document::Document;
use crate::error::count;

pub(crate) fn check(args: &CheckArgs, environment: &Environment) -> Result<Outcome, Usage> {
    if args.files.iter().any(|it| it.is_dir()) {
        if args.fix {
            return Err(Usage::Wrong("--fix changes files that are named, and no folder".to_owned()));
        }
        return super::check_folder::check(args, environment);
    }
    let mut report = CheckReport::default();
    let mut shown = String::new();
    let mut left_out = 0;
    let mut compiler = Compiler::new(&args.shared, environment);
    // Without a file, the document of `--request` names it.
    let files: Vec<Option<&Path>> = if args.files.is_empty() {
        vec![None]
    } else {
        args.files.iter().map(|it| Some(it.as_path())).collect()
    };
    for file in files {
        let mut document = Document::read(file, &args.shared)?;
        let (checked, found) = match file {
            Some(path) if args.fix => {
                let (checked, n) = fix_file(path, &mut document.request, &mut compiler)?;
                left_out += n;
                checked
            }
            _ => check_file(&document.request, &mut compiler)?,
        };
        shown += &human::diagnostics(&found, &document.request);
        report.diagnostics.extend(found);
        report.files.push(checked);
    }
    let outcome = Outcome::of(&report.diagnostics);
    match args.shared.format {
        Format::Json => print_json(&report),
        Format::Human => {
            if !shown.is_empty() {
                say(shown.trim_end());
            }
            let fixes: usize = report.files.iter().map(|it| it.fixes).sum();
            if args.fix {
                let amount = |n: usize| format!("{n} {}", if n == 1 { "fix" } else { "fixes" });
                say(&format!("{} carried out", amount(fixes)));
                if left_out > 0 {
                    say(&format!("{} left out: the text would be no better with it", amount(left_out)));
                }
            }
            let of = |severity: &str| report.diagnostics.iter().filter(|it| it.severity == severity).count();
            let (errors, warnings) = (of("error"), of("warning"));
            if errors + warnings > 0 {
                say(&format!("\n{}, {}", count(errors, "error"), count(warnings, "warning")));
            }
        }
    }
    Ok(outcome)
}

/// Carries out the fixes of a file until there are none, and checks what comes out; tells how many were left out.
fn fix_file(
    path: &Path,
    request: &mut Request,
    compiler: &mut Compiler<'_>,
) -> Result<(FileFindings, usize), Usage> {
    let name = request.main_file().unwrap_or_default().to_owned();
    if cells::is_notebook(&name) {
        return Err(Usage::Wrong(format!("--fix changes files of Python, and {name} is a notebook")));
    }
    let Some(text) = request.files.get(&name).cloned() else {
        return Ok((check_file(request, compiler)?, 0));
    };
    let mut last: Option<FileFindings> = None;
    let mended = mend_surely(&text, FileId(0), |text| {
        request.files.insert(name.clone(), text.to_owned());
        let checked = check_file(request, compiler)?;
        let found = checked.1.iter().map(|it| human::finding(it, &name, text)).collect();
        last = Some(checked);
        Ok(found)
    })?;
    // The last text tried is not always the text kept.
    if request.files.get(&name) != Some(&mended.text) {
        request.files.insert(name, mended.text.clone());
        last = None;
    }
    let mut checked = match last {
        Some(checked) => checked,
        None => check_file(request, compiler)?,
    };
    if mended.carried_out > 0 {
        std::fs::write(path, &mended.text)
            .map_err(|error| Usage::Unwritable { path: path.display().to_string(), error })?;
    }
    checked.0.fixes = mended.carried_out;
    Ok((checked, mended.left_out))
}

/// Compiles the stencils of files, one after another; what they share is parsed once.
struct Compiler<'a> {
    shared: &'a Shared,
    environment: &'a Environment,
    together: compile::SharedSession,
}

impl<'a> Compiler<'a> {
    fn new(shared: &'a Shared, environment: &'a Environment) -> Self {
        Self { shared, environment, together: compile::SharedSession::default() }
    }

    fn compile(&mut self, request: &Request) -> Result<Compiled, Usage> {
        if self.shared.runner.is_some() {
            return ask(request, self.shared, self.environment);
        }
        Ok(compile::too_large(request).unwrap_or_else(|| self.together.compile(request)))
    }
}

/// A file with what is said about it.
type FileFindings = (CheckedFile, Vec<Diagnostic>);

/// All stencils of a file, unless one is named.
fn check_file(request: &Request, compiler: &mut Compiler<'_>) -> Result<FileFindings, Usage> {
    // Nobody reads a level.
    let request = &Request { stages: Some(Vec::new()), ..request.clone() };
    let mut checked =
        CheckedFile { file: request.main_file().unwrap_or_default().to_owned(), ..CheckedFile::default() };
    let mut compile = |it: &Request| for_some_levels(it, &mut |it| compiler.compile(it));
    let mut first = compile(request)?;
    checked.stencils = std::mem::take(&mut first.stencils);
    if request.stencil.is_some() || checked.stencils.len() <= 1 {
        // A file of functions alone is read by others.
        let text = request.main_file().and_then(|it| request.files.get(it)).map_or("", String::as_str);
        let is_nothing = checked.stencils.is_empty() && !text.contains("function");
        if is_nothing && Outcome::of(&first.diagnostics) == Outcome::Fine {
            first.diagnostics.push(compile::no_stencil(request));
        }
        checked.signatures.extend(first.signature);
        return Ok((checked, first.diagnostics));
    }
    let mut found = Vec::new();
    for stencil in &checked.stencils {
        let request = Request { stencil: Some(stencil.clone()), ..request.clone() };
        let compiled = compile(&request)?;
        for diagnostic in compiled.diagnostics {
            if !found.contains(&diagnostic) {
                found.push(diagnostic);
            }
        }
        checked.signatures.extend(compiled.signature);
    }
    Ok((checked, found))
}

/// The levels that a check takes where a text asks for `k_end` and nobody names a domain.
const SOME_LEVELS: i64 = 64;

/// Compiles a text for checking. NDSL knows the levels while it compiles: they are no fault of the text, so a number
/// of them is taken and told.
pub(crate) fn for_some_levels(
    request: &Request,
    compile: &mut impl FnMut(&Request) -> Result<Compiled, Usage>,
) -> Result<Compiled, Usage> {
    let compiled = compile(request)?;
    let asks = |it: &Diagnostic| matches!(&it.remedy, Some(Remedy::GiveExternal(name)) if name == "k_end");
    let Some(asked) = compiled.diagnostics.iter().find(|it| asks(it)).filter(|_| request.domain.is_none())
    else {
        return Ok(compiled);
    };
    let taken = Diagnostic {
        code: "W12".to_owned(),
        severity: "warning".to_owned(),
        message: format!("`k_end` is taken as {}, as no domain is named", SOME_LEVELS - 1),
        label: "the last level of the domain".to_owned(),
        help: Some("name the one that is meant, as in `# @domain 64 64 64`".to_owned()),
        remedy: None,
        ..asked.clone()
    };
    let domain = Some([SOME_LEVELS; 3]);
    let mut compiled = compile(&Request { domain, ..request.clone() })?;
    compiled.diagnostics.push(taken);
    Ok(compiled)
}

/// Compiles here, or on the runner that was named.
pub(crate) fn ask(request: &Request, shared: &Shared, environment: &Environment) -> Result<Compiled, Usage> {
    match &shared.runner {
        None => {
            let texts = environment.backends.wanted(request).map_err(|error| {
                let next = error.problem().next.join("; or ");
                Usage::Wrong(format!("{error}: {next}"))
            })?;
            Ok(compile::here(request, &texts))
        }
        Some(url) => super::client::Client::new(url, environment)?.compile(request),
    }
}
