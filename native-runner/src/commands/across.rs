//! `isobar compare --backends` — one call with several back ends, each held against `debug`, field by field.

use std::sync::Arc;

use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::Argument;
use isobar_compiler::pipeline::NoHook;
use isobar_compiler::types::DType;
use isobar_equivalence::compare::{DifferingElement, ReferenceRun};
use isobar_program::decomposition::RankGrid;
use isobar_protocol::diagnostic::{Diagnostic, SpanResolver};
use isobar_protocol::field::{Difference, FieldInfo};
use isobar_protocol::fields::{ResultField, difference, exact};
use isobar_protocol::job::EndReason;
use isobar_protocol::report::{BackendComparison, CompareReport, FirstElement};
use isobar_protocol::request::{Mode, Request};
use isobar_runtime::plans::Plans;

use super::compare::MEMORY;
use super::job::{self, JobResults};
use super::program::{ProgramSource, WrittenFields};
use super::{Outcome, Usage, human, print, print_json, program, run, say};
use crate::backends::Backend;
use crate::cli::{CompareArgs, Format};
use crate::compile::{self, ConfiguredProject};
use crate::config::Environment;
use crate::document::Document;
use crate::error::count;
use crate::plan::{self, LaunchResources};

pub(crate) fn compare(args: &CompareArgs, environment: &Environment) -> Result<Outcome, Usage> {
    let mut document = Document::read(args.program.as_deref().or(args.file.as_deref()), &args.shared)?;
    let request = &mut document.request;
    (request.bench, request.tune, request.results) = (None, None, None);
    let of_text = ConfiguredProject::of(request).directives.halo.filter(|_| args.layout.is_some());
    let grid = program::grid(args.halo.as_deref().or(of_text.as_deref()), args.layout);
    if grid.is_none() {
        run::ask_halo(request, args.halo.as_deref())?;
    }
    run::make_inputs(&mut document, &args.init, args.threads)?;

    let mut report = CompareReport::default();
    let one = grid.map(|it| RankGrid { layout: [1, 1], ..it });
    let meant = ran(Backend::DEBUG.name(), &document, (args, one), environment, &mut report)?;
    if let (EndReason::Ok | EndReason::Trap, meant) = &meant {
        let debug = Backend::DEBUG.name().to_owned();
        let of_ranks = if args.backends.is_empty() { vec![debug.clone()] } else { args.backends.clone() };
        let asked = if grid.is_some() { of_ranks } else { args.backends.clone() };
        for name in asked.iter().filter(|it| grid.is_some() || **it != debug) {
            let (reason, left) = ran(name, &document, (args, grid), environment, &mut report)?;
            let fields = if reason == EndReason::Ok { differences(meant, &left)? } else { Vec::new() };
            let is_other = fields.iter().any(|it| it.differing > 0);
            let first = if is_other && grid.is_none() { first(&document, &left) } else { None };
            let backend =
                grid.map_or(name.clone(), |it| format!("{name}, {}x{} ranks", it.layout[0], it.layout[1]));
            report.backends.push(BackendComparison { backend, reason, fields, first });
        }
    }
    let is_same =
        |it: &BackendComparison| it.reason == meant.0 && it.fields.iter().all(|it| it.differing == 0);
    // Mode `fast` may change last bits: such a difference is not a failure.
    let may_differ = document.request.options.mode == Mode::Fast && meant.0 == EndReason::Ok;
    let is_fine = !report.backends.is_empty() && report.backends.iter().all(|it| is_same(it) || may_differ);
    match args.shared.format {
        Format::Json => print_json(&report),
        Format::Human => {
            let found = human::diagnostics(&report.diagnostics, &document.request);
            if !found.is_empty() {
                say(found.trim_end());
            }
            print(&told(&report, meant.0, document.request.options.mode));
        }
    }
    Ok(if is_fine { Outcome::Fine } else { Outcome::Failed })
}

/// Runs the call with one back end. Diagnostics of the stencil, the same for all back ends, are reported
/// once.
fn ran(
    backend: &str,
    document: &Document,
    (args, grid): (&CompareArgs, Option<RankGrid>),
    environment: &Environment,
    report: &mut CompareReport,
) -> Result<(EndReason, WrittenFields), Usage> {
    if let Some(grid) = grid {
        let class = ProgramSource::class(args.file.as_deref(), &args.shared)?;
        let Some(source) = args.program.as_deref().map(ProgramSource::Document).or(class) else {
            let why = "--layout and --halo cube are for programs: --program FILE, or a class";
            return Err(Usage::Wrong(why.to_owned()));
        };
        let init = document.request.init.as_ref();
        let (ran, fields) = program::on_ranks(&source, args, (grid, backend), init, environment)?;
        add_told(report, ran.diagnostics);
        return Ok((ran.reason, fields));
    }
    let mut document = document.clone();
    document.request.backend = Some(backend.to_owned());
    let is_on_gpu =
        environment.backends.all_of(&document.request).is_ok_and(|all| all.iter().all(|it| it.is_on_gpu()));
    if is_on_gpu {
        run::for_gpu(args.target.as_deref(), &mut document.request, environment)?;
    }
    let (reason, JobResults { diagnostics, fields, .. }) =
        job::done(&mut document, &args.shared, environment)?;
    add_told(report, diagnostics);
    Ok((reason, fields))
}

/// Tells what no other back end has told.
fn add_told(report: &mut CompareReport, diagnostics: Vec<Diagnostic>) {
    for diagnostic in diagnostics {
        if !report.diagnostics.contains(&diagnostic) {
            report.diagnostics.push(diagnostic);
        }
    }
}

fn differences(meant: &WrittenFields, left: &WrittenFields) -> Result<Vec<Difference>, Usage> {
    let kept = |(info, bytes): &(FieldInfo, Vec<u8>)| ResultField::from_bytes(info.clone(), bytes);
    let pairs = meant.iter().zip(left);
    let found = pairs.map(|(meant, left)| difference(&kept(meant)?, &kept(left)?));
    found.collect::<Result<_, _>>().map_err(|it| Usage::Wrong(it.0))
}

/// The element that differs whose statement comes first; `None` where that cannot be found out here.
fn first(document: &Document, left: &WrittenFields) -> Option<FirstElement> {
    let request: &Request = &document.request;
    compile::on_large_stack(|| {
        let source = ConfiguredProject::of(request);
        let compilation = source.compile(&mut NoHook);
        let ((oir, _), signature) =
            compilation.front.reference().zip(compilation.front.signature.as_ref())?;
        let room = LaunchResources {
            executors: &[Backend::DEBUG.executor()],
            threads: 1,
            allowed_bytes: MEMORY,
            has_copies: false,
            layouts: 0,
            asks: |_| (),
        };
        let npz = document.fields.as_ref().map(std::fs::read).transpose().ok()?;
        let launch =
            plan::launch(request, &source, &Plans::of(Arc::clone(&compilation)), npz, &room).ok()?.launch;
        let mut after = launch.clone();
        for (param, argument) in signature.params.iter().zip(&mut after.arguments) {
            let Some((info, bytes)) = left.iter().find(|it| it.0.name == param.name) else { continue };
            let Argument::Field(field) = argument else { continue };
            let elements = Elements::from_le_bytes(DType::from_name(&info.dtype)?, bytes);
            field.array = Array::from_c_order(elements, &field.array.shape)?;
        }
        let DifferingElement { field, at, expected, found, stmt } =
            ReferenceRun::of(oir, &launch).earliest(&after)?;
        let places = SpanResolver::new(compilation.front.sources());
        let lines = stmt.and_then(|it| compile::span_of(&compilation, it)).map(|span| {
            let (_, start, end) = places.of(span);
            [start.line, end.line]
        });
        Some(FirstElement { field, at, values: [exact(expected), exact(found)], lines })
    })
    .ok()
    .flatten()
}

fn told(report: &CompareReport, meant: EndReason, mode: Mode) -> String {
    let head = ["back end", "field", "elements", "differ", "largest", "where", "debug", "left"];
    let mut rows = vec![head.map(str::to_owned)];
    for it in &report.backends {
        rows.extend(it.fields.iter().map(|field| row(&it.backend, field)));
    }
    let mut text = if rows.len() > 1 { human::table(&rows) + "\n" } else { String::new() };
    for it in &report.backends {
        text += &format!("{}: {}\n", it.backend, sentence(it, meant, mode));
    }
    text
}

fn row(backend: &str, it: &Difference) -> [String; 8] {
    let largest = match it.max_ulp {
        _ if it.differing == 0 => String::new(),
        Some(ulp) => format!("{ulp} ULP"),
        None => "NaN on one side".to_owned(),
    };
    let place = it.worst.map(|[i, j, k]| format!("{i},{j},{k}")).unwrap_or_default();
    let [meant, left] = it.worst_values.clone().unwrap_or_default();
    [
        backend.to_owned(),
        it.name.clone(),
        it.cells.to_string(),
        it.differing.to_string(),
        largest,
        place,
        meant,
        left,
    ]
}

fn sentence(it: &BackendComparison, meant: EndReason, mode: Mode) -> String {
    if it.reason != meant {
        return match (it.reason, meant) {
            (EndReason::Error, _) => "it did not run".to_owned(),
            (_, EndReason::Ok) => "its run ends early, and that of `debug` does not".to_owned(),
            _ => "its run does not end as that of `debug`, which ends early".to_owned(),
        };
    }
    let differing: u64 = it.fields.iter().map(|it| it.differing).sum();
    if meant != EndReason::Ok {
        return "its run ends as that of `debug`".to_owned();
    }
    if differing == 0 {
        return "the bits of `debug`".to_owned();
    }
    let n = count(usize::try_from(differing).unwrap_or(usize::MAX), "element");
    let mut text = format!("{n} not as `debug` leaves them");
    if mode == Mode::Fast {
        text += ", which `fast` allows";
    }
    if let Some(first) = &it.first {
        let at: Vec<String> = first.at.iter().map(ToString::to_string).collect();
        let [meant, left] = &first.values;
        text += &match first.lines {
            Some([line, _]) => format!("; the first is of line {line}"),
            None => "; the first".to_owned(),
        };
        text += &format!(": `{}` at {} is {left}, and was to be {meant}", first.field, at.join(","));
    }
    text
}
