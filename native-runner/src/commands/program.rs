//! `--program`: a document of several stencils in the place of one.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use isobar_compiler::call::array::Array;
use isobar_compiler::call::run::NoControl;
use isobar_compiler::diag;
use isobar_compiler::diag::catalog::{call, programs};
use isobar_compiler::inputs::Directives;
use isobar_program::compile::{ProgramCompilation, compile};
use isobar_program::group::group_calls;
use isobar_program::interpret::{HaloFill, MOST_BYTES, ProgramInputs, ProgramInstance, ProgramStop};
use isobar_program::nodes::Container;
use isobar_program::print::listing;
use isobar_protocol::compile::StageText;
use isobar_protocol::diagnostic::{Diagnostic, SpanResolver};
use isobar_protocol::field::FieldInfo;
use isobar_protocol::fields::statistics;
use isobar_protocol::job::EndReason;
use isobar_protocol::report::{EmitReport, MeasuredStep, RunReport};
use isobar_protocol::request::{Mode, Request};
use isobar_runtime::executors::OwnedSetting;
use isobar_runtime::programs::ProgramCode;

use super::run::{check_writable, hash, tell, write};
use super::{Outcome, Usage, human, print, print_json, say};
use crate::backends::Backend;
use crate::cli::{EmitArgs, Format, RunArgs, Shared};
use crate::config::{Environment, Tools};
use crate::document::{Document, shown};
use crate::error::ApiError;
use crate::npz;

/// The stage that a program has.
pub(super) const STAGE: &str = "program";

/// `isobar emit --program FILE --stage program`
pub(super) fn emit(path: &Path, args: &EmitArgs) -> Result<Outcome, Usage> {
    if args.stage != STAGE {
        return Err(Usage::Wrong(format!("--program has the stage `{STAGE}`, and no `{}`", args.stage)));
    }
    let mut opened = OpenedProgram::read(path, &args.shared)?;
    let mut report = EmitReport { diagnostics: opened.told(), ..EmitReport::default() };
    let text = opened.compilation.program.as_ref().map(|it| listing(it).text);
    report.level =
        StageText { stage: STAGE.to_owned(), text: text.unwrap_or_default(), ..StageText::default() };
    match args.shared.format {
        Format::Json => print_json(&report),
        Format::Human => {
            opened.say(&report.diagnostics);
            print(&report.level.text);
        }
    }
    Ok(Outcome::of(&report.diagnostics))
}

/// `isobar run --program FILE`
pub(super) fn run(path: &Path, args: &RunArgs, environment: &Environment) -> Result<Outcome, Usage> {
    let others = [
        ("--target", args.target.is_some()),
        ("--only", !args.only.is_empty()),
        ("--plane", args.plane.is_some()),
        ("--lines", args.lines),
        ("--init", !args.init.is_empty()),
    ];
    refuse(&others)?;
    let tools = Tools::find(environment);
    let backend = backend(args, &tools)?;
    let mut opened = OpenedProgram::read(path, &args.shared)?;
    if let Some(out) = &opened.document.out {
        check_writable(out)?;
    }
    let mut report = RunReport {
        diagnostics: opened.told(),
        backend: backend.name().to_owned(),
        reason: EndReason::Error,
        fields: Vec::new(),
        hashes: BTreeMap::new(),
        timings: Vec::new(),
        mode: Mode::default(),
        memory: None,
        copy: None,
        layout: None,
        steps: Vec::new(),
        tuned: None,
        out: None,
    };
    let fill = args.halo.as_deref().and_then(HaloFill::from_name).unwrap_or_default();
    // The C compiler writes there; libraries stay loaded until the program ends.
    let temporary = tempfile::tempdir_in(&tools.temporary)
        .map_err(|error| Usage::Unreadable { path: shown(&tools.temporary), error })?;
    let code = (backend != Backend::DEBUG)
        .then(|| code(backend, args, (&tools, temporary.path()), &opened.document.request));
    let fields = match opened.compilation.program {
        Some(_) => opened.run(fill, code, &mut report)?,
        None => Vec::new(),
    };
    if report.reason == EndReason::Ok {
        if let Some(out) = &opened.document.out {
            write(out, &fields)?;
            report.out = Some(shown(out));
        }
        report.hashes = fields.iter().map(|(info, bytes)| (info.name.clone(), hash(bytes))).collect();
        report.fields = fields.into_iter().map(|it| it.0).collect();
    }
    match args.shared.format {
        Format::Json => print_json(&report),
        Format::Human => tell(&report, &opened.document),
    }
    Ok(if report.reason == EndReason::Ok { Outcome::Fine } else { Outcome::Failed })
}

/// The back end that runs the stencils: the interpreter where none is named.
fn backend(args: &RunArgs, tools: &Tools) -> Result<Backend, Usage> {
    let Some(name) = &args.backend else { return Ok(Backend::DEBUG) };
    let named = Request { backend: Some(name.clone()), ..Request::default() };
    let wrong = |why: ApiError| Usage::Wrong(why.to_string());
    let backend = tools.backends.of(&named).map_err(wrong)?;
    if backend.is_on_gpu() {
        let why = format!("--program keeps its fields on the host, and `{name}` runs on a GPU");
        return Err(Usage::Wrong(why));
    }
    backend.check(&tools.found()).map_err(wrong)?;
    Ok(backend)
}

/// The code that a back end has of the stencils; none yet.
fn code(
    backend: Backend,
    args: &RunArgs,
    (tools, temporary): (&Tools, &Path),
    request: &Request,
) -> ProgramCode {
    let setting = OwnedSetting {
        cc: tools.cc.clone(),
        cache: tools.cache.clone(),
        temporary: temporary.to_owned(),
        is_embedded: false,
        ..OwnedSetting::embedded(args.threads.unwrap_or(tools.cores))
    };
    let options = request.config(&Directives::default()).passes;
    ProgramCode::new(backend.executor().into(), setting, options)
}

/// Options that say something about one stencil only.
fn refuse(options: &[(&str, bool)]) -> Result<(), Usage> {
    match options.iter().find(|it| it.1) {
        Some((option, _)) => Err(Usage::Wrong(format!("{option} is for a stencil, and not for --program"))),
        None => Ok(()),
    }
}

/// A program whose file is read and compiled.
struct OpenedProgram {
    /// Its files are those of the document, and the document itself.
    document: Document,
    compilation: ProgramCompilation,
}

impl OpenedProgram {
    fn read(path: &Path, shared: &Shared) -> Result<Self, Usage> {
        refuse(&[
            ("--stencil", shared.stencil.is_some()),
            ("--module", !shared.modules.is_empty()),
            ("--externals", shared.externals.is_some()),
            ("--tile", shared.tile.is_some()),
            ("--schedule", shared.schedule.is_some()),
            ("--machine", shared.machine.is_some()),
            ("--skip", !shared.skip.is_empty()),
            ("--mode", shared.mode.is_some()),
            ("--no-tuned", shared.no_tuned),
            ("--origin", shared.origin.is_some()),
            ("--runner", shared.runner.is_some()),
            ("--request", shared.request.is_some()),
        ])?;
        let mut document = Document::read(Some(path), shared)?;
        let request = &mut document.request;
        let name = request.main.clone().unwrap_or_default();
        let text = request.files.get(&name).cloned().unwrap_or_default();
        let compilation = compile(&name, &text, request.config(&Directives::default()));
        let files = compilation.fronts.project().files.iter();
        request.files.extend(files.map(|(name, text)| (name.clone(), text.to_string())));
        Ok(Self { document, compilation })
    }

    /// The diagnostics of the compilation.
    fn told(&mut self) -> Vec<Diagnostic> {
        let found = std::mem::take(&mut self.compilation.diagnostics);
        self.resolved(&found)
    }

    fn resolved(&self, found: &[diag::Diagnostic]) -> Vec<Diagnostic> {
        let (name, text) = &self.compilation.document;
        let files = self.compilation.fronts.project().files.iter().map(|(name, text)| (&**name, &**text));
        let resolver = SpanResolver::new(files.chain([(name.as_str(), text.as_str())]));
        found.iter().map(|it| resolver.diagnostic(it)).collect()
    }

    fn say(&self, found: &[Diagnostic]) {
        let text = human::diagnostics(found, &self.document.request);
        if !text.is_empty() {
            say(text.trim_end());
        }
    }

    /// Runs the program once; answers the fields that it may write.
    fn run(
        &mut self,
        fill: HaloFill,
        code: Option<ProgramCode>,
        report: &mut RunReport,
    ) -> Result<Vec<(FieldInfo, Vec<u8>)>, Usage> {
        let Some(domain) = self.document.request.domain else {
            return Err(Usage::Wrong("--program needs --domain I,J,K".to_owned()));
        };
        let mut inputs = ProgramInputs::default();
        match self.document.request.scalar_inputs() {
            Ok(scalars) => inputs.scalars = scalars,
            Err(wrong) => {
                report.diagnostics.extend(self.resolved(&wrong));
                return Ok(Vec::new());
            }
        }
        if let Some(path) = &self.document.fields {
            let unreadable = |error| Usage::Unreadable { path: shown(path), error };
            let bytes = std::fs::read(path).map_err(unreadable)?;
            match npz::read(&bytes, MOST_BYTES) {
                Ok(fields) => inputs.fields = fields,
                Err(why) => {
                    let told = call::cannot_read("the input fields", &why.to_string());
                    report.diagnostics.extend(self.resolved(&[told]));
                    return Ok(Vec::new());
                }
            }
        }
        let Some(mut program) = self.compilation.program.take() else { return Ok(Vec::new()) };
        if code.as_ref().is_some_and(ProgramCode::joins_calls) {
            group_calls(&mut program);
        }
        let made = ProgramInstance::new(&program, &mut self.compilation.fronts, domain, fill, MOST_BYTES);
        let ended = match made {
            Ok(mut instance) => ran(&mut instance, &mut inputs, code, &mut report.timings).map(|()| instance),
            Err(wrong) => Err(ProgramStop::Fault(wrong)),
        };
        match ended {
            Ok(instance) => {
                report.reason = EndReason::Ok;
                let written = instance.results();
                Ok(written
                    .filter_map(|it| Some(described(it, inputs.fields.get(&it.name)?, domain)))
                    .collect())
            }
            Err(ProgramStop::Cancelled) => {
                report.reason = EndReason::Cancelled;
                Ok(Vec::new())
            }
            Err(ProgramStop::Fault(wrong)) => {
                report.diagnostics.extend(self.resolved(&wrong));
                Ok(Vec::new())
            }
        }
    }
}

/// Runs a program once, and measures it.
fn ran(
    instance: &mut ProgramInstance,
    inputs: &mut ProgramInputs,
    code: Option<ProgramCode>,
    timings: &mut Vec<MeasuredStep>,
) -> Result<(), ProgramStop> {
    let mut measure = |step: &str, since: Instant| {
        let ms = since.elapsed().as_secs_f64() * 1e3;
        timings.push(MeasuredStep { step: step.to_owned(), ms, bytes: None });
    };
    let ended = match code {
        None => {
            let begun = Instant::now();
            let ended = instance.run(inputs, &mut NoControl);
            measure("run", begun);
            ended
        }
        Some(mut code) => {
            let begun = Instant::now();
            code.prepare(instance).map_err(|why| {
                ProgramStop::Fault(vec![programs::run_input(&why, "run it on another back end")])
            })?;
            measure("prepare", begun);
            let begun = Instant::now();
            let ended = instance.run_with(inputs, &mut code, &mut NoControl);
            measure("run", begun);
            ended
        }
    };
    ended.map(drop)
}

/// A field of a program, with its bytes in C order.
fn described(container: &Container, array: &Array, domain: [i64; 3]) -> (FieldInfo, Vec<u8>) {
    let data = container.data_dims.iter().map(|&it| u64::from(it));
    let origin = container.axes.iter().map(|it| container.origin[it.index()]);
    let points = container.axes.iter().map(|it| u64::try_from(domain[it.index()]).unwrap_or(0));
    let mut info = FieldInfo {
        name: container.name.clone(),
        dtype: container.dtype.to_string(),
        axes: container.axes.to_string(),
        shape: array.shape.iter().map(|&it| it as u64).collect(),
        origin: origin.chain(data.clone().map(|_| 0)).collect(),
        domain: points.chain(data).collect(),
        ..FieldInfo::default()
    };
    let held = info.held();
    let is_held = |index: &Vec<usize>| {
        let along = index.iter().zip(&held).zip(&info.origin);
        along.into_iter().all(|((&at, held), origin)| {
            let position = i64::try_from(at).unwrap_or(i64::MAX) - origin;
            u64::try_from(position).is_ok_and(|it| held.contains(&it))
        })
    };
    info.statistics = statistics(array.indices().filter(is_held).map(|it| array.get(&it).as_f64()));
    (info, array.to_c_order_le_bytes())
}
