//! `isobar emit` — any level, any generated text.

use std::collections::BTreeSet;
use std::fmt::Write;

use isobar_compiler::c::lines::{StatementLines, with_comments, with_directives};
use isobar_compiler::pipeline::{Stage, route};
use isobar_protocol::compile::{Change, Node, SourceRange, StageText, Trace};
use isobar_protocol::report::EmitReport;
use isobar_protocol::request::{Passes, Request};

use super::program::{self, ProgramSource};
use super::{Outcome, Usage, check, compare, human, print, print_json, say};
use crate::cli::{EmitArgs, Format, GraphFormat, Log};
use crate::compile;
use crate::config::Environment;
use crate::document::{Document, known_pass};

pub(crate) fn emit(args: &EmitArgs, environment: &Environment) -> Result<Outcome, Usage> {
    if let Some(path) = &args.program {
        return program::emit(&ProgramSource::Document(path), args);
    }
    // The levels of its stencils are compiled as any other text.
    let is_of_stencils = program::is_of_stencils(&args.stage) && args.group.is_none();
    if let Some(class) = ProgramSource::class(args.file.as_deref(), &args.shared)?
        && !(is_of_stencils && args.halo_points.is_none())
    {
        return program::emit(&class, args);
    }
    if args.group.is_some() || args.halo_points.is_some() {
        return Err(Usage::Wrong("--group and --halo-points are for programs".to_owned()));
    }
    if args.stage == ALL {
        return emit_all(args, environment);
    }
    let backends = &environment.backends;
    let code = backends.codes().find(|it| it.stage.name() == args.stage);
    let text = backends.texts().map(|it| it.stage).find(|it| it.name() == args.stage);
    let Some(stage) = code.map(|it| it.stage).or(text) else {
        let known = backends.texts().map(|it| it.stage).chain(backends.codes().map(|it| it.stage));
        let known = known.map(Stage::name).collect::<Vec<_>>().join(", ");
        return Err(Usage::Wrong(format!("no stage `{}`: there are {known}, and {ALL}", args.stage)));
    };
    if stage == Stage::PROGRAM {
        let what = "--stage program is for programs: a class that `--stencil` names, or a document";
        return Err(Usage::Wrong(what.to_owned()));
    }
    let mut document = read(args)?;
    let request = &mut document.request;
    request.stages = Some(text.iter().map(|it| it.name().to_owned()).collect());
    let request = &*request;
    if code.is_some() && args.shared.runner.is_some() {
        return Err(Usage::Wrong(format!("--stage {stage} works here only, without --runner")));
    }
    if let Some(last) = &request.passes.stop_after {
        let level = route::level_of(last).unwrap_or(stage);
        if level != stage && stage.shows_passes_of(level) {
            return Err(Usage::Wrong(format!("`{last}` is a pass of {level}, which comes before {stage}")));
        }
    }
    if args.lines && stage != Stage::C {
        return Err(Usage::Wrong("--lines is for --stage c".to_owned()));
    }
    if stage == Stage::C && args.backend.as_deref().is_some_and(|it| it != "openmp") {
        return Err(Usage::Wrong("--stage c is what `openmp` compiles; leave --backend out".to_owned()));
    }
    log(args, request)?;
    let file = graph_file(args, stage, request)?;
    let compiled = check::ask(request, &args.shared, environment)?;
    let is_wanted = |pass: &str| route::level_of(pass).is_some_and(|it| stage.shows_passes_of(it));
    let mut report = EmitReport {
        diagnostics: compiled.diagnostics,
        stencil: compiled.stencil,
        level: compiled.stages.into_iter().find(|it| it.stage == stage.name()).unwrap_or_default(),
        remarks: compiled.remarks.into_iter().filter(|it| args.remarks && is_wanted(&it.pass)).collect(),
        trace: compiled.trace,
        steps: compiled.steps,
    };
    report.level.stage = stage.name().to_owned();
    if let Some(text) = file {
        // Its lines are not those of the listing, so they have no links.
        report.level = StageText { stage: stage.name().to_owned(), text, ..StageText::default() };
    }
    if let Some(code) = code {
        report.level.text = compile::code(request, code).map_err(Usage::Wrong)?;
    }
    let is_reached = !report.level.text.is_empty();
    let outcome = if is_reached { Outcome::Fine } else { Outcome::Failed };
    if !is_reached && Outcome::of(&report.diagnostics) == Outcome::Fine {
        report.diagnostics.push(match &report.stencil {
            Some(_) => compile::not_reached(stage),
            None => compile::no_stencil(request),
        });
    }
    match args.shared.format {
        Format::Json => print_json(&report),
        Format::Human => {
            let found = human::diagnostics(&report.diagnostics, request);
            if !found.is_empty() {
                say(found.trim_end());
            }
            let StageText { text, .. } = &report.level;
            match (report.trace.as_ref().filter(|_| args.print_changed), &report.steps) {
                (Some(trace), _) => print(&changes(trace, Some(stage))),
                (None, Some(steps)) => print(steps),
                (None, None) if stage == Stage::C => {
                    let files: Vec<&str> = request.files.keys().map(String::as_str).collect();
                    let statements = written(&report.level, &files);
                    print(&located(text, args.lines, &statements));
                    for number in statements.iter().map(|it| it.file).collect::<BTreeSet<u16>>() {
                        say(&format!("file {number} is {}", files[usize::from(number)]));
                    }
                }
                (None, None) => print(text),
            }
            if args.remarks {
                print(&human::remarks(&report.remarks));
            }
        }
    }
    Ok(if outcome == Outcome::Fine { Outcome::of(&report.diagnostics) } else { outcome })
}

/// Which lines of the level carry out which of the stencil's; files are numbered as in `files`.
fn written(level: &StageText, files: &[&str]) -> Vec<StatementLines> {
    let of_node = |node: &Node| {
        let SourceRange { file, start, .. } = node.spans.first()?;
        let number = files.iter().position(|it| it == file)?;
        let [first, end] = node.lines;
        Some(StatementLines { lines: first..end, file: u16::try_from(number).ok()?, line: start.line })
    };
    level.nodes.iter().filter_map(of_node).collect()
}

/// C that tells where each statement is written: with directives, or with comments.
fn located(text: &str, has_directives: bool, statements: &[StatementLines]) -> String {
    if has_directives { with_directives(text, statements) } else { with_comments(text, statements) }
}

/// Tells the course of the compilation, where that is asked for.
fn log(args: &EmitArgs, request: &Request) -> Result<(), Usage> {
    match args.log {
        None => Ok(()),
        Some(_) if args.shared.runner.is_some() => {
            Err(Usage::Wrong("--log works here only, without --runner".to_owned()))
        }
        Some(what) => {
            say(compile::course(request, what == Log::Levels).trim_end());
            Ok(())
        }
    }
}

/// The graph as a file, where that is asked for; empty where it was not reached.
fn graph_file(args: &EmitArgs, stage: Stage, request: &Request) -> Result<Option<String>, Usage> {
    match (args.form, args.flat) {
        (GraphFormat::Listing, false) => Ok(None),
        (GraphFormat::Listing, true) => Err(Usage::Wrong("--flat is for --form sdfg".to_owned())),
        (GraphFormat::Sdfg, _) if stage != Stage::SDFG => {
            Err(Usage::Wrong("--form sdfg is for --stage sdfg".to_owned()))
        }
        (GraphFormat::Sdfg, _) if args.shared.runner.is_some() => {
            Err(Usage::Wrong("--form sdfg works here only, without --runner".to_owned()))
        }
        (GraphFormat::Sdfg, is_flat) => Ok(Some(compile::graph_file(request, is_flat))),
    }
}

/// The request, with what is asked about passes.
fn read(args: &EmitArgs) -> Result<Document, Usage> {
    let mut document = Document::read(args.file.as_deref(), &args.shared)?;
    ask_passes(args, &mut document.request.passes)?;
    Ok(document)
}

/// Takes what is asked about passes.
pub(super) fn ask_passes(args: &EmitArgs, passes: &mut Passes) -> Result<(), Usage> {
    if let Some(last) = &args.stop_after {
        passes.stop_after = Some(known_pass(last)?);
    }
    passes.trace |= args.print_changed;
    passes.steps |= args.steps;
    if let Some(target) = &args.target {
        passes.device = serde_json::from_value(target.as_str().into()).ok();
    }
    compare::make_for(passes, args.backend.as_deref());
    if let Some(form) = &args.gpu_form {
        passes.gpu_form = serde_json::from_value(form.as_str().into()).ok();
    }
    if let Some(axis) = &args.contiguous {
        passes.contiguous = serde_json::from_value(axis.as_str().into()).ok();
    }
    Ok(())
}

/// The changes that each pass made, of one level or of all.
fn changes(trace: &Trace, stage: Option<Stage>) -> String {
    let mut text = String::new();
    let mut unchanged = Vec::new();
    for step in trace.steps.iter().filter(|it| stage.is_none_or(|stage| it.stage == stage.name())) {
        let Some(pass) = &step.pass else { continue };
        if step.changes.is_empty() {
            unchanged.push(pass.as_str());
            continue;
        }
        let _ = writeln!(text, "==> {pass} <==");
        for Change(mark, line) in &step.changes {
            let line = if *mark == '.' { format!("    ... {line}") } else { format!("{mark} {line}") };
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text.push('\n');
    }
    if !unchanged.is_empty() {
        let _ = writeln!(text, "unchanged by {}", unchanged.join(", "));
    }
    text
}

/// Instead of a stage.
pub(super) const ALL: &str = "all";

/// Every level that was reached, each under its name. As JSON it is what `POST /v1/compile` answers.
fn emit_all(args: &EmitArgs, environment: &Environment) -> Result<Outcome, Usage> {
    let document = read(args)?;
    let request = &document.request;
    log(args, request)?;
    let mut compiled = check::ask(request, &args.shared, environment)?;
    if compiled.stencil.is_none() && Outcome::of(&compiled.diagnostics) == Outcome::Fine {
        compiled.diagnostics.push(compile::no_stencil(request));
    }
    match args.shared.format {
        Format::Json => print_json(&compiled),
        Format::Human => {
            let found = human::diagnostics(&compiled.diagnostics, request);
            if !found.is_empty() {
                say(found.trim_end());
            }
            match compiled.trace.as_ref().filter(|_| args.print_changed) {
                Some(trace) => print(&changes(trace, None)),
                None => {
                    let texts = compiled.stages.iter().map(|it| format!("==> {} <==\n{}", it.stage, it.text));
                    print(&texts.collect::<Vec<_>>().join("\n"));
                }
            }
            if args.remarks {
                print(&human::remarks(&compiled.remarks));
            }
        }
    }
    Ok(Outcome::of(&compiled.diagnostics))
}
