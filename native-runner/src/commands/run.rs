//! `isobar run` — inputs in, written fields out; in a process of its own, or on another runner.

use std::path::{Path, PathBuf};

use isobar_protocol::field::FieldInfo;
use isobar_protocol::job::EndReason;
use isobar_protocol::report::RunReport;
use isobar_protocol::request::{Mode, Request};
use sha2::{Digest, Sha256};

use super::program::{self, ProgramSource};
use super::{Outcome, Usage, human, job, print, print_json, say};
use crate::cli::{CUBE, Format, RunArgs};
use crate::compile;
use crate::config::Environment;
use crate::document::{Document, shown};
use crate::npz;

/// Has kernels made as for the GPU of `--target`.
pub(crate) fn for_gpu(
    target: Option<&str>,
    request: &mut Request,
    environment: &Environment,
) -> Result<(), Usage> {
    let Some(target) = target else { return Ok(()) };
    let chosen = environment.backends.all_of(request).map_err(|why| Usage::Wrong(why.to_string()))?;
    if let Some(other) = chosen.iter().find(|it| !it.is_on_gpu()) {
        let name = other.name();
        return Err(Usage::Wrong(format!("--target names a GPU, and `{name}` runs on none")));
    }
    request.passes.device = serde_json::from_value(target.into()).ok();
    Ok(())
}

pub(crate) fn run(mut args: RunArgs, environment: &Environment) -> Result<Outcome, Usage> {
    if let Some(path) = &args.program {
        return program::run(&ProgramSource::Document(path), &args, environment);
    }
    // Another machine runs a class as any other request.
    if let Some(class) = ProgramSource::class(args.file.as_deref(), &args.shared)?
        && args.shared.runner.is_none()
    {
        return program::run(&class, &args, environment);
    }
    let of_programs = [
        ("--halo cube", args.halo.as_deref() == Some(CUBE)),
        ("--layout", args.layout.is_some()),
        ("--scope", args.scope.is_some()),
    ];
    let of_classes = [("--halo-points", args.halo_points.is_some())];
    if let Some((option, _)) = of_programs.iter().chain(&of_classes).find(|it| it.1) {
        return Err(Usage::Wrong(format!(
            "{option} is for programs that run here: --program FILE, or a class as --stencil"
        )));
    }
    let mut document = read(&mut args)?;
    ask_halo(&mut document.request, args.halo.as_deref())?;
    for_gpu(args.target.as_deref(), &mut document.request, environment)?;
    // Measurements have their own commands.
    (document.request.bench, document.request.tune) = (None, None);
    if let Some(out) = &document.out {
        check_writable(out)?;
    }
    let (reason, seen) = job::done(&mut document, &args.shared, environment)?;
    if reason == EndReason::Ok
        && let Some(out) = &document.out
    {
        write(out, &seen.fields)?;
    }
    let outcome = if reason == EndReason::Ok { Outcome::Fine } else { Outcome::Failed };
    let report = RunReport {
        diagnostics: seen.diagnostics,
        backend: document.request.backend.clone().unwrap_or_default(),
        reason,
        hashes: seen.fields.iter().map(|(info, bytes)| (info.name.clone(), hash(bytes))).collect(),
        fields: seen.fields.into_iter().map(|(info, _)| info).collect(),
        timings: seen.timings,
        mode: document.request.options.mode,
        memory: seen.memory,
        copy: seen.copy,
        layout: seen.layout,
        steps: seen.steps,
        calls: seen.calls,
        tuned: seen.tuned,
        out: document.out.as_deref().filter(|_| outcome == Outcome::Fine).map(shown),
    };
    match args.shared.format {
        Format::Json => print_json(&report),
        Format::Human => tell(&report, &document),
    }
    Ok(outcome)
}

/// The document, with the options that only `run` has.
fn read(args: &mut RunArgs) -> Result<Document, Usage> {
    // In `--init FILE`, the word after the option is the file and no generator.
    if args.file.is_none()
        && let Some(at) = args.init.iter().position(|it| !it.is_empty() && !it.contains('='))
    {
        args.file = Some(PathBuf::from(std::mem::take(&mut args.init[at])));
    }
    let mut document = Document::read(args.file.as_deref(), &args.shared)?;
    let request = &mut document.request;
    if args.backend.is_some() {
        request.backend.clone_from(&args.backend);
    }
    request.options.lines |= args.lines;
    if args.threads.is_some() {
        request.options.threads = args.threads;
    }
    if !args.only.is_empty() {
        request.results.get_or_insert_default().fields = Some(std::mem::take(&mut args.only));
    }
    if args.plane.is_some() {
        request.results.get_or_insert_default().plane = args.plane;
    }
    add_generators(request, &args.init)?;
    Ok(document)
}

/// Takes the values that exchanges of a program store in halos.
pub(super) fn ask_halo(request: &mut Request, halo: Option<&str>) -> Result<(), Usage> {
    let Some(halo) = halo else { return Ok(()) };
    if compile::program_of(request).is_none() {
        return Err(Usage::Wrong(
            "--halo is for programs: --program FILE, or a class as --stencil".to_owned(),
        ));
    }
    request.halo = serde_json::from_value(halo.into()).ok();
    Ok(())
}

/// Has everything made that is not given, for what keeps no result.
pub(super) fn make_inputs(
    document: &mut Document,
    inits: &[String],
    threads: Option<u32>,
) -> Result<(), Usage> {
    let request = &mut document.request;
    if threads.is_some() {
        request.options.threads = threads;
    }
    request.init.get_or_insert_default();
    add_generators(request, inits)?;
    document.out = None;
    Ok(())
}

/// The generators of `--init`; an empty one makes all that is not given.
pub(super) fn add_generators(request: &mut Request, inits: &[String]) -> Result<(), Usage> {
    for init in inits {
        let generators = request.init.get_or_insert_default();
        if init.is_empty() {
            continue;
        }
        let Some((name, generator)) = init.split_once('=') else {
            return Err(Usage::Wrong(format!("--init takes NAME=GENERATOR, and not `{init}`")));
        };
        generators.insert(name.trim().to_owned(), generator.trim().to_owned());
    }
    Ok(())
}

/// Nobody wants to hear after a long run that its result has no place.
pub(super) fn check_writable(path: &Path) -> Result<(), Usage> {
    let unwritable = |error| Usage::Unwritable { path: shown(path), error };
    if path.is_dir() {
        return Err(unwritable(std::io::ErrorKind::IsADirectory.into()));
    }
    let folder = folder_of(path);
    std::fs::metadata(folder).map_err(unwritable)?;
    // A file without a name, which is gone at once.
    tempfile::tempfile_in(folder).map(drop).map_err(unwritable)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub(super) fn write(path: &Path, fields: &[(FieldInfo, Vec<u8>)]) -> Result<(), Usage> {
    let unwritable = |error| Usage::Unwritable { path: shown(path), error };
    // Whole or not at all.
    let mut made = tempfile::NamedTempFile::new_in(folder_of(path)).map_err(unwritable)?;
    let arrays = fields
        .iter()
        .map(|(it, bytes)| (it.name.as_str(), it.dtype.as_str(), it.shape.clone(), bytes.as_slice()));
    npz::write(made.as_file_mut(), arrays).map_err(unwritable)?;
    let kept = made.persist(path).map_err(|it| unwritable(it.error))?;
    // A temporary file is for its owner alone; a result is like any other file.
    use std::os::unix::fs::PermissionsExt;
    kept.set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(unwritable)
}

/// Tells results apart at a glance.
pub(super) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn tell(report: &RunReport, document: &Document) {
    let found = human::diagnostics(&report.diagnostics, &document.request);
    if !found.is_empty() {
        say(found.trim_end());
    }
    if report.reason != EndReason::Ok {
        return;
    }
    let mut text = human::fields(&report.fields, &report.hashes);
    text += "\n";
    text += &human::steps(&report.timings, report.copy);
    if !report.steps.is_empty() {
        text += "\n";
        text += &human::graph_steps(&report.steps);
    }
    if !report.calls.is_empty() {
        text += "\n";
        text += &human::calls(&report.calls);
    }
    if let Some(tuned) = &report.tuned {
        text += &format!("\n{}\n", human::tuned(tuned));
    }
    if report.mode == Mode::Fast {
        text += "\nmode: fast, the last bits may differ from those of `debug`\n";
    }
    if let Some(out) = &report.out {
        text += &format!("\nwritten to {out}\n");
    }
    print(&text);
}
