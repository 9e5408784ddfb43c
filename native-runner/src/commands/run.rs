//! `isobar run` — inputs in, written fields out; in a process of its own, or on another runner.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use isobar_protocol::diagnostic::Diagnostic;
use isobar_protocol::field::FieldInfo;
use isobar_protocol::job::{EndReason, Event, EventKind, JobTicket, UploadTicket};
use isobar_protocol::problem::Problem;
use isobar_protocol::report::{MeasuredStep, RunReport};
use isobar_protocol::request::FieldsInput;
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use super::client::Client;
use super::{Outcome, Usage, human, print, print_json, say};
use crate::cli::{Format, RunArgs};
use crate::config::{Environment, Tools};
use crate::document::{Document, shown};
use crate::executors::Backend;
use crate::jobs::child::{self, Bounds};
use crate::jobs::folder;
use crate::npz;
use crate::wire::{Fields, Order};

pub(crate) fn run(mut args: RunArgs, environment: &Environment) -> Result<Outcome, Usage> {
    let mut document = read(&mut args)?;
    let backend = Backend::of(&document.request).map_err(|error| {
        let next = error.problem().next.join("; or ");
        Usage::Wrong(format!("{error}: {next}"))
    })?;
    if let Some(out) = &document.out {
        check_writable(out)?;
    }
    let fields = document.fields.take().map(|path| file(&path)).transpose()?;
    let mut seen = Seen::default();
    let (reason, problem) = match &args.shared.runner {
        Some(url) => there(&Client::new(url, environment)?, &mut document, fields, &mut seen)?,
        None => here(backend, &document, fields, environment, &mut seen)?,
    };
    if let Some(problem) = problem {
        seen.explain(reason, &problem);
    }
    if reason == EndReason::Ok
        && let Some(out) = &document.out
    {
        write(out, &seen.fields)?;
    }
    let outcome = if reason == EndReason::Ok { Outcome::Fine } else { Outcome::Failed };
    let report = RunReport {
        diagnostics: seen.diagnostics,
        backend: backend.name().to_owned(),
        reason,
        hashes: seen.fields.iter().map(|(info, bytes)| (info.name.clone(), hash(bytes))).collect(),
        fields: seen.fields.into_iter().map(|(info, _)| info).collect(),
        timings: seen.timings,
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
    if args.threads.is_some() {
        request.options.threads = args.threads;
    }
    for init in &args.init {
        let generators = request.init.get_or_insert_default();
        if init.is_empty() {
            continue;
        }
        let Some((name, generator)) = init.split_once('=') else {
            return Err(Usage::Wrong(format!("--init takes NAME=GENERATOR, and not `{init}`")));
        };
        generators.insert(name.trim().to_owned(), generator.trim().to_owned());
    }
    Ok(document)
}

fn file(path: &Path) -> Result<Vec<u8>, Usage> {
    std::fs::read(path).map_err(|error| Usage::Unreadable { path: shown(path), error })
}

/// Nobody wants to hear after a long run that its result has no place.
fn check_writable(path: &Path) -> Result<(), Usage> {
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

fn write(path: &Path, fields: &[(FieldInfo, Vec<u8>)]) -> Result<(), Usage> {
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

/// What a job has told so far.
#[derive(Debug, Default)]
struct Seen {
    diagnostics: Vec<Diagnostic>,
    fields: Vec<(FieldInfo, Vec<u8>)>,
    timings: Vec<MeasuredStep>,
}

impl Seen {
    fn take(&mut self, event: EventKind, bytes: Vec<u8>) {
        match event {
            EventKind::Diagnostic { diagnostic } | EventKind::Trap { diagnostic: Some(diagnostic), .. } => {
                self.diagnostics.push(diagnostic);
            }
            EventKind::Timing { name, ms, bytes } => {
                self.timings.push(MeasuredStep { step: name, ms, bytes });
            }
            EventKind::Field { field } => self.fields.push((field, bytes)),
            EventKind::Log { text } => say(text.trim_end()),
            EventKind::Accepted { .. }
            | EventKind::Queued { .. }
            | EventKind::Stage { .. }
            | EventKind::Progress { .. }
            | EventKind::Trap { .. }
            | EventKind::Ended { .. } => {}
        }
    }

    /// A run that failed has at least one error to show.
    fn explain(&mut self, reason: EndReason, problem: &Problem) {
        if reason == EndReason::Ok || Outcome::of(&self.diagnostics) == Outcome::Failed {
            return;
        }
        let code = match reason {
            EndReason::Trap => "R01",
            EndReason::Limit => "R02",
            EndReason::Crash => "R03",
            EndReason::Cancelled | EndReason::RunnerShutdown => "R04",
            EndReason::Ok | EndReason::Error => "R05",
        };
        let mut diagnostic =
            Diagnostic::without_place(code, problem.detail.clone(), &problem.next.join("; or "));
        if let Some(limit) = &problem.limit {
            let amount = |it: u64| human::amount(it, &limit.unit);
            let (asked, allowed) = (amount(limit.asked), amount(limit.allowed));
            diagnostic.notes.push(format!("{}: {asked} asked, {allowed} allowed", limit.name));
        }
        self.diagnostics.push(diagnostic);
    }
}

/// Runs in a child of this process.
fn here(
    backend: Backend,
    document: &Document,
    fields: Option<Vec<u8>>,
    environment: &Environment,
    seen: &mut Seen,
) -> Result<(EndReason, Option<Problem>), Usage> {
    let tools = Tools::find(environment);
    if let Err(error) = backend.check(&tools) {
        return Ok((EndReason::Error, Some(error.problem())));
    }
    let limits = crate::limits::of_this_machine().with_local_files();
    if let Err(limit) = crate::limits::check_sources(&document.request, &limits) {
        return Ok((EndReason::Limit, Some(crate::error::ApiError::TooLarge { limit }.problem())));
    }
    let fields = fields.map_or(Fields::None, Fields::Memory);
    let order = Order::new(document.request.clone(), !fields.is_none(), &limits, &tools);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Usage::Wrong(format!("cannot start: {error}")))?;
    // Who waits at a terminal can end the command; nothing else limits its time or its results.
    let bounds = Bounds { run_ms: u64::MAX / 1000, result_bytes: u64::MAX };
    let order = Order { processor_seconds: u64::MAX, ..order };
    let stop = watch::Sender::new(None);
    let job = format!("run-{}", std::process::id());
    folder::clear(&tools.temporary);
    let sink = |event, bytes| seen.take(event, bytes);
    Ok(runtime.block_on(child::drive(&tools, &job, order, fields, bounds, stop.subscribe(), sink)))
}

/// Runs on another runner.
fn there(
    client: &Client,
    document: &mut Document,
    fields: Option<Vec<u8>>,
    seen: &mut Seen,
) -> Result<(EndReason, Option<Problem>), Usage> {
    if let Some(fields) = fields {
        let kind = [("Content-Type", "application/octet-stream")];
        let answer = client.send("POST", "/v1/uploads", &kind, &fields)?;
        let ticket: UploadTicket = client.understood(answer)?;
        document.request.fields = Some(FieldsInput::Name(ticket.upload));
    }
    let ticket: JobTicket = client.post_json("/v1/jobs", &document.request)?;
    let job = format!("/v1/jobs/{}", ticket.job);
    let mut next = 0;
    // A stream that breaks off is taken up again after the last event that arrived.
    for _attempt in 0..5 {
        let last = next.to_string();
        let resume = [("Last-Event-ID", last.as_str())];
        let answer =
            client.send("GET", &format!("{job}/events"), if next == 0 { &[] } else { &resume }, &[])?;
        if answer.status != 200 {
            client.accepted(answer)?;
            continue;
        }
        for line in answer.body.take(1 << 30).lines() {
            let Ok(line) = line else { break };
            let Some(data) = line.strip_prefix("data:") else { continue };
            // A later runner may tell of things that are not known here.
            let Ok(event) = serde_json::from_str::<Event>(data.trim_start()) else { continue };
            next = event.seq;
            match event.what {
                EventKind::Ended { reason, problem } => return Ok((reason, problem)),
                EventKind::Field { field } => {
                    let path = format!("{job}/fields/{}", field.name);
                    let bytes = client.accepted(client.send("GET", &path, &[], &[])?)?;
                    seen.take(EventKind::Field { field }, bytes);
                }
                other => seen.take(other, Vec::new()),
            }
        }
    }
    Err(Usage::Wrong("the connection to the runner breaks off again and again".to_owned()))
}

/// Tells results apart at a glance.
fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn tell(report: &RunReport, document: &Document) {
    let found = human::diagnostics(&report.diagnostics, &document.request);
    if !found.is_empty() {
        say(found.trim_end());
    }
    if report.reason != EndReason::Ok {
        return;
    }
    let mut text = human::fields(&report.fields, &report.hashes);
    let mut rows = vec![["step", "ms", "GB/s"].map(str::to_owned)];
    rows.extend(report.timings.iter().map(|it| {
        let rate = it.bytes.map(|bytes| format!("{:.2}", bytes as f64 / (it.ms * 1e6)));
        [it.step.clone(), format!("{:.3}", it.ms), rate.unwrap_or_default()]
    }));
    text += "\n";
    text += &human::table(&rows);
    if let Some(out) = &report.out {
        text += &format!("\nwritten to {out}\n");
    }
    print(&text);
}
