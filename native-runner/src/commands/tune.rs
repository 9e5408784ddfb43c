//! `isobar tune`: measures other schedules than the compiler's own, and keeps the fastest for runs here.

use std::path::Path;

use isobar_compiler::space::Domain;
use isobar_protocol::job::EndReason;
use isobar_protocol::report::TuneReport;
use isobar_protocol::request::{Mode, Request};
use isobar_protocol::tune::{Candidate, Tuning};

use super::{Outcome, Usage, human, job, print, print_json, run, say};
use crate::backends::{Backend, Backends};
use crate::cli::{Format, TuneArgs};
use crate::compile::ConfiguredProject;
use crate::config::{Environment, Tools};
use crate::document::{Document, shown};
use crate::limits;
use crate::tuned::{self, For};
use crate::wire::Order;

pub(crate) fn tune(args: &TuneArgs, environment: &Environment) -> Result<Outcome, Usage> {
    let mut document = Document::read(args.file.as_deref(), &args.shared)?;
    let request = &mut document.request;
    if args.backend.is_some() {
        request.backend.clone_from(&args.backend);
    }
    if args.threads.is_some() {
        request.options.threads = args.threads;
    }
    check(request, &environment.backends)?;
    if let Some(path) = &args.export {
        return export(request, path, args, environment);
    }
    let tune = request.tune.get_or_insert_default();
    tune.candidates = args.candidates.or(tune.candidates);
    tune.seconds = args.seconds.or(tune.seconds);
    tune.processor_time |= args.processor_time;
    request.bench = None;
    run::make_inputs(&mut document, &args.init, None)?;

    let (reason, seen) = job::done(&mut document, &args.shared, environment)?;
    let mut report = TuneReport {
        diagnostics: seen.diagnostics,
        reason,
        memory: seen.memory,
        tuning: seen.tuning,
        output: None,
    };
    if let (Some(path), Some(tuning)) = (&args.output, &report.tuning)
        && let Some(fastest) = tuning.candidates.get(tuning.chosen.unwrap_or(0))
    {
        write(path, &fastest.document)?;
        report.output = Some(shown(path));
    }
    match args.shared.format {
        Format::Json => print_json(&report),
        Format::Human => {
            let found = human::diagnostics(&report.diagnostics, &document.request);
            if !found.is_empty() {
                say(found.trim_end());
            }
            if let Some(tuning) = &report.tuning {
                print(&told(tuning, report.output.as_deref()));
            }
        }
    }
    Ok(if report.reason == EndReason::Ok { Outcome::Fine } else { Outcome::Failed })
}

/// Only who leaves the choice of a schedule can be told of another one.
fn check(request: &Request, backends: &Backends) -> Result<(), Usage> {
    let backend = backends.of(request).map_err(|error| Usage::Wrong(error.to_string()))?;
    if !backend.may_be_tuned() {
        let known = backends.iter().filter(|it| it.may_be_tuned()).map(Backend::name);
        let known = known.collect::<Vec<_>>().join(" or ");
        return Err(Usage::Wrong(format!("`{}` has no schedule; tune {known}", backend.name())));
    }
    if request.passes.schedule.is_some() {
        return Err(Usage::Wrong("--schedule says already how the loops run".to_owned()));
    }
    Ok(())
}

/// Writes what is kept, without measuring anything.
fn export(
    request: &Request,
    path: &Path,
    args: &TuneArgs,
    environment: &Environment,
) -> Result<Outcome, Usage> {
    let wrong = |text: &str| Usage::Wrong(text.to_owned());
    if args.shared.runner.is_some() {
        return Err(wrong("--export works here only, without --runner"));
    }
    let tools = Tools::find(environment);
    let backend = tools.backends.of(request).map_err(|error| Usage::Wrong(error.to_string()))?;
    let order = Order::new(request.clone(), false, &limits::of_this_machine(), &tools);
    let source = ConfiguredProject::of(&order.request);
    let [i, j, k] = order
        .request
        .domain
        .or(source.directives.domain)
        .ok_or_else(|| wrong("name the domain for which it was tuned: --domain I,J,K"))?;
    let domain = Domain::new(i, j, k);
    let (request, threads, cc) = (&order.request, order.threads, &order.cc);
    let key = For { request, source: &source, backend, threads, cc, domain }.key();
    let kept = order.cache.as_deref().and_then(|root| tuned::find(root, &key));
    let kept = kept.ok_or_else(|| {
        wrong("no schedule is kept for this stencil, back end, domain and number of threads; `isobar cache` lists those that are")
    })?;
    write(path, &kept.document)?;
    let report = TuneReport {
        diagnostics: Vec::new(),
        reason: EndReason::Ok,
        memory: None,
        tuning: None,
        output: Some(shown(path)),
    };
    match args.shared.format {
        Format::Json => print_json(&report),
        Format::Human => print(&format!("written to {}: {}\n", shown(path), kept.entry.tuned.what)),
    }
    Ok(Outcome::Fine)
}

fn write(path: &Path, document: &str) -> Result<(), Usage> {
    std::fs::write(path, document).map_err(|error| Usage::Unwritable { path: shown(path), error })
}

fn told(it: &Tuning, output: Option<&str>) -> String {
    let [i, j, k] = it.domain;
    let threads = if it.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", it.threads) };
    let mut text = format!(
        "{} on {i}x{j}x{k} points with {}, {threads}, {}\n\n",
        it.stencil,
        it.backend,
        it.mode.name()
    );
    let head = ["schedule", "rounds", "median ms", "of the first", "95 % from", "to"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(it.candidates.iter().map(row));
    text += &human::table(&rows);
    for (n, what) in [(it.same, "that say the same"), (it.untried, "not tried")] {
        if n > 0 {
            text += &format!("and {n} {what}\n");
        }
    }
    text += "\n";
    for fault in it.candidates.iter().filter(|it| !it.agrees) {
        text += &format!(
            "`{}` gives OTHER bits: this is a fault of the compiler, please report it\n",
            fault.what
        );
    }
    text += &match it.chosen.and_then(|chosen| it.candidates.get(chosen)) {
        None => "nothing is faster for certain than what the compiler chooses\n".to_owned(),
        Some(fastest) => format!("the fastest: {}\n", fastest.what),
    };
    if it.is_kept {
        text += "it is kept for runs here of this stencil, on domains of about this size; `isobar cache` lists it\n";
    }
    if it.mode == Mode::Fast {
        text += "mode: fast, so the bits of different schedules were not compared\n";
    }
    if let Some(path) = output {
        text += &format!("written to {path}\n");
    }
    text
}

fn row(it: &Candidate) -> [String; 6] {
    let calls = it.calls.as_ref();
    let ratio = it.ratio.as_ref();
    let part = |of: fn(&isobar_protocol::bench::Samples) -> f64| {
        ratio.map(|it| format!("{:.3}", of(it))).unwrap_or_default()
    };
    [
        it.what.clone(),
        calls.map(|it| it.ms.len().to_string()).unwrap_or_default(),
        calls.map(|it| format!("{:.3}", it.median_ms)).unwrap_or_default(),
        part(|it| it.median_ms),
        part(|it| it.low_ms),
        part(|it| it.high_ms),
    ]
}
