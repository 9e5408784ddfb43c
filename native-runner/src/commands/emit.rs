//! `isobar emit` — any level, any generated text.

use isobar_compiler::pipeline::Stage;
use isobar_protocol::compile::StageText;
use isobar_protocol::report::EmitReport;

use super::{Outcome, Usage, check, human, print, print_json, say};
use crate::cli::{EmitArgs, Format};
use crate::compile;
use crate::config::Environment;
use crate::document::Document;

pub(crate) fn emit(args: &EmitArgs, environment: &Environment) -> Result<Outcome, Usage> {
    if args.stage == ALL {
        return emit_all(args, environment);
    }
    let Some(stage) = Stage::from_name(&args.stage) else {
        let known: Vec<&str> = Stage::ALL.iter().map(|it| it.name()).collect();
        let known = known.join(", ");
        return Err(Usage::Wrong(format!("no stage `{}`: there are {known}, and {ALL}", args.stage)));
    };
    let document = Document::read(args.file.as_deref(), &args.shared)?;
    let request = &document.request;
    let mut report = match &args.after {
        None => {
            let compiled = check::ask(request, &args.shared, environment)?;
            let level = compiled.stages.into_iter().find(|it| it.stage == stage.name());
            EmitReport {
                diagnostics: compiled.diagnostics,
                stencil: compiled.stencil,
                level: level.unwrap_or_default(),
            }
        }
        Some(_) if args.shared.runner.is_some() => {
            return Err(Usage::Wrong("--after works here only, without --runner".to_owned()));
        }
        Some(pass) => compile::here_after(request, stage, pass).map_err(Usage::Wrong)?,
    };
    report.level.stage = stage.name().to_owned();
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
            print(text);
        }
    }
    Ok(if outcome == Outcome::Fine { Outcome::of(&report.diagnostics) } else { outcome })
}

/// Instead of a stage.
const ALL: &str = "all";

/// Every level that was reached, each under its name. As JSON it is what `POST /v1/compile` answers.
fn emit_all(args: &EmitArgs, environment: &Environment) -> Result<Outcome, Usage> {
    if args.after.is_some() {
        return Err(Usage::Wrong("--after needs one stage".to_owned()));
    }
    let document = Document::read(args.file.as_deref(), &args.shared)?;
    let request = &document.request;
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
            let texts: Vec<String> =
                compiled.stages.iter().map(|it| format!("==> {} <==\n{}", it.stage, it.text)).collect();
            print(&texts.join("\n"));
        }
    }
    Ok(Outcome::of(&compiled.diagnostics))
}
