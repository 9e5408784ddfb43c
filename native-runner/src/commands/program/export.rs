//! `export` of programs: one function that runs all of one.

use isobar_compiler::diag::catalog::programs as catalog;
use isobar_compiler::export::{self, Binding, ExportedCode};
use isobar_compiler::inputs::Directives;
use isobar_compiler::pipeline::whole::{WholeOptions, compile_whole};
use isobar_program::interpret::{Answers, HaloFill};
use isobar_protocol::diagnostic::Diagnostic;
use isobar_protocol::request::{Mode, Request};

use super::super::Usage;
use super::super::export::{ExportedProject, GENERATOR};
use super::{ClassOptions, OpenedProgram, ProgramSource};
use crate::cli::{CALLER, EDGES, ExportArgs, NO_EDGES};
use crate::compile::on_large_stack;

/// The files of a program's project, and the request whose files its diagnostics name.
pub(in crate::commands) fn export(
    source: &ProgramSource<'_>,
    args: &ExportArgs,
    bindings: Vec<&'static Binding>,
) -> Result<(ExportedProject, Request), Usage> {
    let edges = if args.edges.is_empty() { [true; 4] } else { edges(&args.edges)? };
    if matches!(source, ProgramSource::Document(_)) && !args.edges.is_empty() {
        return Err(Usage::Wrong("--edges is for a class: a document has `edges` in its `grid`".to_owned()));
    }
    let of_class = ClassOptions { halo_points: args.halo_points, edges };
    let mut opened = OpenedProgram::read(source, &args.shared, of_class)?;
    let only = opened.document.request.domain;
    if matches!(source, ProgramSource::Class(..)) && only.is_none() {
        let why = "a class is exported for one domain, which its constructor reads: give --domain";
        return Err(Usage::Wrong(why.to_owned()));
    }
    let halo = args.halo.as_deref().or(opened.directives.halo.as_deref());
    let fill = halo.and_then(HaloFill::from_name).unwrap_or_default();
    let answers = if halo == Some(CALLER) { Answers::Exchanges } else { Answers::Callbacks };
    let mut project = ExportedProject { diagnostics: opened.told(), ..ExportedProject::default() };
    if opened.compilation.program.is_none() {
        return Ok((project, opened.document.request));
    }
    let mut request = opened.document.request.clone();
    request.passes.contiguous =
        args.contiguous.as_deref().and_then(|it| serde_json::from_value(it.into()).ok());
    let options = request.config(&Directives::default()).passes;
    let whole = WholeOptions { passes: &options, fill, answers, only };
    let made = on_large_stack(|| compile_whole(&mut opened.compilation, whole));
    match made.unwrap_or_else(|_| Err(vec![catalog::run_input("the compiler crashed", "report it")])) {
        Ok(whole) => {
            let files = opened.compilation.fronts.project().files.iter();
            let files = files.map(|(name, text)| (&**name, &**text));
            let (name, text) = &opened.compilation.document;
            let stencil = export::CompiledStencil {
                signature: &whole.signature,
                code: ExportedCode::Program(&whole),
                sources: files.chain([(name.as_str(), text.as_str())]).collect(),
            };
            let is_fast = request.options.mode == Mode::Fast;
            let asked = export::Request {
                name: args.name.as_deref(),
                bindings,
                stencils: vec![stencil],
                is_fast,
                generator: GENERATOR,
            };
            match export::files(&asked) {
                Ok(files) => {
                    project.stencils = vec![whole.signature.name.clone()];
                    project.files = files;
                }
                Err(why) => {
                    let told = format!("the program is not exported: {why}");
                    project.diagnostics.push(Diagnostic::without_place("R10", told, ""));
                }
            }
        }
        Err(found) => project.diagnostics.extend(opened.resolved(&found)),
    }
    Ok((project, opened.document.request))
}

/// Which edges are named, in the order west, east, south and north.
fn edges(named: &[String]) -> Result<[bool; 4], Usage> {
    if named.len() > 1 && named.iter().any(|it| it == NO_EDGES) {
        return Err(Usage::Wrong(format!("--edges has `{NO_EDGES}` beside an edge")));
    }
    Ok(EDGES.map(|edge| named.iter().any(|it| it == edge)))
}
