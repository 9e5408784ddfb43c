//! `export` of programs: one function that runs all of one.

use isobar_compiler::diag::catalog::programs as catalog;
use isobar_compiler::export::{self, Binding, ExportedCode};
use isobar_compiler::inputs::Directives;
use isobar_compiler::pipeline::whole::compile_whole;
use isobar_program::interpret::HaloFill;
use isobar_protocol::diagnostic::Diagnostic;
use isobar_protocol::request::{Mode, Request};

use super::super::Usage;
use super::super::export::{ExportedProject, GENERATOR};
use super::{OpenedProgram, ProgramSource};
use crate::cli::ExportArgs;
use crate::compile::on_large_stack;

/// The files of a program's project, and the request whose files its diagnostics name.
pub(in crate::commands) fn export(
    source: &ProgramSource<'_>,
    args: &ExportArgs,
    bindings: Vec<&'static Binding>,
) -> Result<(ExportedProject, Request), Usage> {
    let mut opened = OpenedProgram::read(source, &args.shared, args.halo_points)?;
    let only = opened.document.request.domain;
    if matches!(source, ProgramSource::Class(..)) && only.is_none() {
        let why = "a class is exported for one domain, which its constructor reads: give --domain";
        return Err(Usage::Wrong(why.to_owned()));
    }
    let halo = args.halo.as_deref().or(opened.directives.halo.as_deref());
    let fill = halo.and_then(HaloFill::from_name).unwrap_or_default();
    let mut project = ExportedProject { diagnostics: opened.told(), ..ExportedProject::default() };
    if opened.compilation.program.is_none() {
        return Ok((project, opened.document.request));
    }
    let mut request = opened.document.request.clone();
    request.passes.contiguous =
        args.contiguous.as_deref().and_then(|it| serde_json::from_value(it.into()).ok());
    let options = request.config(&Directives::default()).passes;
    let made = on_large_stack(|| compile_whole(&mut opened.compilation, &options, fill, only));
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
