//! `isobar compare` and `isobar bisect` — back ends, levels and passes held against what the stencil means.

use std::path::Path;
use std::sync::Arc;

use isobar_compiler::call::launch::Launch;
use isobar_compiler::pipeline::{Compilation, NoHook};
use isobar_compiler::space::Domain;
use isobar_equivalence::compare::{self, Divergence};
use isobar_equivalence::journey::Journey;
use isobar_protocol::compile::Compiled;
use isobar_protocol::diagnostic::{Diagnostic, SpanResolver};
use isobar_protocol::report::{CompareReport, Difference};
use isobar_protocol::request::{Code, Device, Passes, Request};
use isobar_runtime::machine::DetectedMachine;
use isobar_runtime::plans::Plans;

use super::{Outcome, Usage, across, human, print, print_json, run, say};
use crate::backends::Backend;
use crate::cli::{BisectArgs, CompareArgs, Format, Shared};
use crate::compile::{self, ConfiguredProject};
use crate::config::Environment;
use crate::document::{Document, shown};
use crate::error::count;
use crate::plan::{self, LaunchResources, Refusal};

/// How many orders are tried where none was asked for.
const SEEDS: u64 = 3;

/// Domains that show what large ones hide: one column, one row, few points.
const SMALL: [[i64; 2]; 4] = [[1, 1], [1, 5], [5, 1], [2, 3]];

/// The memory limit of the interpreters; they are for small domains.
pub(super) const MEMORY: u64 = 1 << 30;

pub(crate) fn compare(args: &CompareArgs, environment: &Environment) -> Result<Outcome, Usage> {
    if !args.backends.is_empty() || args.layout.is_some() {
        return across::compare(args, environment);
    }
    if !args.passes {
        let what = "say what is to be compared: `--backends` with names of back ends, or `--passes`";
        return Err(Usage::Wrong(what.to_owned()));
    }
    if args.target.is_some() || args.threads.is_some() {
        let what = "--target and --threads are for back ends: levels are compared by interpreters";
        return Err(Usage::Wrong(what.to_owned()));
    }
    let of = SearchSubject { file: args.file.as_deref(), backend: args.backend.as_deref() };
    tell(of, &args.shared, (&args.seed, &args.init), compare::compare)
}

pub(crate) fn bisect(args: &BisectArgs) -> Result<Outcome, Usage> {
    let of = SearchSubject { file: args.file.as_deref(), backend: args.backend.as_deref() };
    tell(of, &args.shared, (&args.seed, &args.init), compare::bisect)
}

/// Has levels made for a back end: on a GPU for the one that is named, or a usual one.
pub(super) fn make_for(passes: &mut Passes, backend: Option<&str>) {
    match backend {
        Some("rayon") => passes.code = Some(Code::Native),
        Some("openmp") => passes.code = Some(Code::C),
        Some("cuda") => passes.device = passes.device.or(Some(Device::H100)),
        Some("wgpu") => passes.device = passes.device.or(Some(Device::WebGpu)),
        _ => {}
    }
}

/// Looks for a step that differs, and answers the steps that it ran.
type Search = fn(&Journey, &Launch, &[u64]) -> (Vec<String>, Option<Divergence>);

/// The stencil that is searched, and the back end whose levels they are.
#[derive(Clone, Copy)]
struct SearchSubject<'a> {
    file: Option<&'a Path>,
    backend: Option<&'a str>,
}

fn tell(
    SearchSubject { file, backend }: SearchSubject<'_>,
    shared: &Shared,
    (seeds, inits): (&[u64], &[String]),
    search: Search,
) -> Result<Outcome, Usage> {
    if shared.runner.is_some() {
        return Err(Usage::Wrong("levels are compared here only, without --runner".to_owned()));
    }
    let mut document = Document::read(file, shared)?;
    run::make_inputs(&mut document, inits, None)?;
    if backend.is_some() {
        let passes = &mut document.request.passes;
        make_for(passes, backend);
        passes.machine.get_or_insert_with(|| (&DetectedMachine::here().machine).into());
    }
    let given = document.fields.as_ref().map(|path| {
        let unreadable = |error| Usage::Unreadable { path: shown(path), error };
        std::fs::read(path).map_err(unreadable)
    });
    let given = given.transpose()?;
    let seeds: Vec<u64> = if seeds.is_empty() { (1..=SEEDS).collect() } else { seeds.to_vec() };
    let request = &document.request;
    let found = || found(request, given.as_ref(), &seeds, search);
    let report = compile::on_large_stack(found).unwrap_or_else(|panic| CompareReport {
        diagnostics: vec![compile::crash(&panic)],
        ..CompareReport::default()
    });
    match shared.format {
        Format::Json => print_json(&report),
        Format::Human => {
            let shown = human::diagnostics(&report.diagnostics, request);
            if !shown.is_empty() {
                say(shown.trim_end());
            }
            if !report.steps.is_empty() {
                print(&summary(&report));
            }
        }
    }
    Ok(Outcome::of(&report.diagnostics))
}

fn summary(report: &CompareReport) -> String {
    let domains = count(report.domains.len(), "domain");
    match &report.difference {
        None if report.steps.len() == 1 => format!("the only step agrees on {domains}\n"),
        None => format!("{} agree on {domains}\n", count(report.steps.len(), "step")),
        Some(it) => format!("the first that differs: {}\n", it.step),
    }
}

fn found(request: &Request, given: Option<&Vec<u8>>, seeds: &[u64], search: Search) -> CompareReport {
    let source = ConfiguredProject::of(request);
    let compilation = source.compile(&mut NoHook);
    let compiled = Compiled::new(&compilation.front, &compilation.notes, [], Vec::new());
    let mut report = CompareReport {
        diagnostics: compiled.diagnostics,
        stencil: compiled.stencil,
        ..CompareReport::default()
    };
    let journey = Journey::of(&compilation, &source.project, &source.config);
    let Some(journey) = journey.filter(|_| !compilation.has_errors()) else {
        if report.stencil.is_none() && Outcome::of(&report.diagnostics) == Outcome::Fine {
            report.diagnostics.push(compile::no_stencil(request));
        }
        return report;
    };
    for (is_asked_for, launch) in launches(request, given, &source, &compilation) {
        let launch = match launch {
            Ok(launch) => launch,
            // Not every stencil has so few points.
            Err(_) if !is_asked_for => continue,
            Err(refusal) => {
                report.diagnostics.extend(refused(refusal, &compilation));
                return report;
            }
        };
        let Domain { i, j, k } = launch.domain;
        report.domains.push([i, j, k]);
        let (steps, divergence) = search(&journey, &launch, seeds);
        if report.steps.len() < steps.len() {
            report.steps = steps;
        }
        if let Some(divergence) = divergence {
            report.diagnostics.push(told(&divergence, launch.domain, &compilation));
            let Divergence { step, seed, what, decision } = divergence;
            let change = decision.map(|it| it.number);
            report.difference =
                Some(Difference { step, change, seed, domain: [i, j, k], what: what.to_string() });
            return report;
        }
    }
    report
}

/// The launch that was asked for, and where all fields are made, others on small domains.
fn launches(
    request: &Request,
    given: Option<&Vec<u8>>,
    source: &ConfiguredProject,
    compilation: &Arc<Compilation>,
) -> Vec<(bool, Result<Launch, Refusal>)> {
    let plans = Plans::of(Arc::clone(compilation));
    let launch = |request: &Request| {
        let room = LaunchResources {
            executors: &[Backend::DEBUG.executor()],
            threads: 1,
            allowed_bytes: MEMORY,
            has_copies: false,
            layouts: 0,
            asks: |_| (),
        };
        plan::launch(request, source, &plans, given.cloned(), &room).map(|it| it.launch)
    };
    let asked = launch(request);
    let levels = asked.as_ref().map_or(1, |it| it.domain.k);
    let mut all = vec![(true, asked)];
    if given.is_none() {
        for [i, j] in SMALL {
            let small = Request { domain: Some([i, j, levels]), ..request.clone() };
            all.push((false, launch(&small)));
        }
    }
    all
}

fn refused(refusal: Refusal, compilation: &Compilation) -> Vec<Diagnostic> {
    let places = SpanResolver::new(compilation.front.sources());
    match refusal {
        Refusal::Call(found) => found.iter().map(|it| places.diagnostic(it)).collect(),
        Refusal::Memory { asked, allowed } => vec![Diagnostic::without_place(
            "R06",
            format!("the run needs {asked} bytes, and levels are compared within {allowed}"),
            "take a smaller --domain",
        )],
        Refusal::Unmade => {
            let message = "the compilation stops before there is something that could run";
            vec![Diagnostic::without_place("R08", message.to_owned(), "leave `stop_after` out")]
        }
    }
}

fn told(divergence: &Divergence, domain: Domain, compilation: &Compilation) -> Diagnostic {
    let message = format!("on {domain}, {divergence}");
    let help = "report this stencil: the fault is the compiler's";
    let mut diagnostic = Diagnostic::without_place("R10", message, help);
    let stmt = match &divergence.what {
        compare::RunDifference::Element(it) => it.stmt,
        compare::RunDifference::End { .. } | compare::RunDifference::Invalid(_) => None,
    };
    if let Some(span) = stmt.and_then(|it| compile::span_of(compilation, it)) {
        let places = SpanResolver::new(compilation.front.sources());
        (diagnostic.file, diagnostic.start, diagnostic.end) = places.of(span);
        diagnostic.label = "this statement wrote it".to_owned();
    }
    diagnostic
}
