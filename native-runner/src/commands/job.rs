//! A job of the command line: in a process of its own, or on another runner.

use std::io::{BufRead, Read};
use std::path::Path;
use std::sync::Arc;

use isobar_protocol::bench::{Benchmark, CallStep, CopyRate, GraphStep, Memory};
use isobar_protocol::diagnostic::Diagnostic;
use isobar_protocol::field::FieldInfo;
use isobar_protocol::job::{EndReason, Event, EventKind, JobTicket, UploadTicket};
use isobar_protocol::layout::Layout;
use isobar_protocol::problem::Problem;
use isobar_protocol::report::MeasuredStep;
use isobar_protocol::request::FieldsInput;
use isobar_protocol::tune::{Tuned, Tuning};
use tokio::sync::watch;

use super::client::{Client, part_of_path};
use super::{Outcome, Usage, human, say};
use crate::backends::Backend;
use crate::cli::{Format, Shared};
use crate::config::{Environment, Tools};
use crate::document::{Document, shown};
use crate::jobs::child::{self, Bounds};
use crate::jobs::folder;
use crate::jobs::memory::MemoryClaim;
use crate::jobs::started::WorkerPool;
use crate::wire::{Fields, Order};

/// Does what the document asks for; answers why it ended, and what was told.
pub(super) fn done(
    document: &mut Document,
    shared: &Shared,
    environment: &Environment,
) -> Result<(EndReason, JobResults), Usage> {
    let backends = environment.backends.all_of(&document.request).map_err(|error| {
        let next = error.problem().next.join("; or ");
        Usage::Wrong(format!("{error}: {next}"))
    })?;
    let fields = document.fields.take().map(|path| file(&path)).transpose()?;
    let mut seen = JobResults { is_told: shared.format == Format::Human, ..JobResults::default() };
    let (reason, problem) = match &shared.runner {
        Some(url) => there(&Client::new(url, environment)?, document, fields, &mut seen)?,
        None => here(&backends, document, fields, environment, &mut seen)?,
    };
    if let Some(problem) = problem {
        seen.explain(reason, &problem);
    }
    Ok((reason, seen))
}

fn file(path: &Path) -> Result<Vec<u8>, Usage> {
    std::fs::read(path).map_err(|error| Usage::Unreadable { path: shown(path), error })
}

/// The results that a job has sent so far.
#[derive(Debug, Default)]
pub(super) struct JobResults {
    pub diagnostics: Vec<Diagnostic>,
    pub fields: Vec<(FieldInfo, Vec<u8>)>,
    pub timings: Vec<MeasuredStep>,
    pub memory: Option<Memory>,
    pub copy: Option<CopyRate>,
    pub benchmark: Option<Benchmark>,
    pub steps: Vec<GraphStep>,
    pub calls: Vec<CallStep>,
    pub tuned: Option<Tuned>,
    pub layout: Option<Layout>,
    pub tuning: Option<Tuning>,
    /// Whether what a run needs is said as soon as it is known.
    is_told: bool,
}

impl JobResults {
    fn take(&mut self, event: EventKind, bytes: Vec<u8>) {
        match event {
            EventKind::Diagnostic { diagnostic } | EventKind::Trap { diagnostic: Some(diagnostic), .. } => {
                self.diagnostics.push(diagnostic);
            }
            EventKind::Timing { name, ms, bytes } => {
                self.timings.push(MeasuredStep { step: name, ms, bytes });
            }
            EventKind::Field { field } => self.fields.push((field, bytes)),
            EventKind::Memory { memory } => {
                if self.is_told {
                    say(&human::memory(&memory));
                }
                self.memory = Some(memory);
            }
            EventKind::Copy { copy } => self.copy = Some(copy),
            EventKind::Benchmark { benchmark } => self.benchmark = Some(*benchmark),
            EventKind::Steps { steps } => self.steps = steps,
            EventKind::Calls { calls } => self.calls = calls,
            EventKind::Tuned { tuned } => self.tuned = Some(tuned),
            EventKind::Tuning { tuning } => self.tuning = Some(*tuning),
            EventKind::Log { text } => say(text.trim_end()),
            EventKind::Layout { layout } => {
                if !layout.is_plain() {
                    say(&layout.to_string());
                }
                // The first layout is that of the fields as they were given.
                self.layout.get_or_insert(layout);
            }
            EventKind::Restarted { .. } => {
                say("the runner was started again and takes the job up from its beginning");
                *self = JobResults { is_told: self.is_told, ..JobResults::default() };
            }
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
            EndReason::Crash | EndReason::Interrupted => "R03",
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
    backends: &[Backend],
    document: &Document,
    fields: Option<Vec<u8>>,
    environment: &Environment,
    seen: &mut JobResults,
) -> Result<(EndReason, Option<Problem>), Usage> {
    let tools = Tools::find(environment);
    if let Some(error) = backends.iter().find_map(|it| it.check(&tools.found()).err()) {
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
    // The user at the terminal can end the command; so neither its time nor its results are limited.
    let bounds = Bounds { run_ms: u64::MAX / 1000, result_bytes: u64::MAX, room: MemoryClaim::default() };
    let order = Order { processor_seconds: u64::MAX, ..order };
    let stop = watch::Sender::new(None);
    let waiting = WorkerPool::new(Arc::new(tools.clone()), 0);
    let job = format!("run-{}", std::process::id());
    folder::clear(&tools.temporary);
    let sink = |event, bytes| seen.take(event, bytes);
    Ok(runtime.block_on(child::drive(&waiting, &job, order, fields, bounds, stop.subscribe(), sink)))
}

/// Runs on another runner.
fn there(
    client: &Client,
    document: &mut Document,
    fields: Option<Vec<u8>>,
    seen: &mut JobResults,
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
                    let path = format!("{job}/fields/{}", part_of_path(&field.name));
                    let bytes = client.accepted(client.send("GET", &path, &[], &[])?)?;
                    seen.take(EventKind::Field { field }, bytes);
                }
                other => seen.take(other, Vec::new()),
            }
        }
    }
    Err(Usage::Wrong("the connection to the runner breaks off again and again".to_owned()))
}
