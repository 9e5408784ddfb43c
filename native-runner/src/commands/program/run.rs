//! Runs of programs: on the only rank, and on ranks that cut the domain.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use isobar_classes::calls::call_steps;
use isobar_compiler::call::array::Array;
use isobar_compiler::call::run::NoControl;
use isobar_compiler::diag;
use isobar_compiler::diag::catalog::{call, programs};
use isobar_compiler::inputs::{Directives, InputDirective, parse};
use isobar_compiler::space::Domain;
use isobar_program::decomposition::{RankGrid, Topology};
use isobar_program::group::group_calls;
use isobar_program::interpret::{
    HaloFill, MOST_BYTES, ProgramBytes, ProgramInputs, ProgramInstance, ProgramStop, StatementMeasure,
    StencilInterpreter, make_inputs,
};
use isobar_program::nodes::{Container, ProgramIr};
use isobar_protocol::bench::Memory;
use isobar_protocol::diagnostic::Diagnostic;
use isobar_protocol::field::FieldInfo;
use isobar_protocol::fields::statistics;
use isobar_protocol::job::EndReason;
use isobar_protocol::report::{MeasuredStep, RunReport};
use isobar_protocol::request::{Mode, Request};
use isobar_runtime::executors::{Executor, OwnedSetting};
use isobar_runtime::programs::{CodeSetting, CutProgram, ProgramCode, RankSource};

use super::super::run::{add_generators, check_writable, hash, tell, write};
use super::super::{Outcome, Usage, human, print_json, say};
use super::{OpenedProgram, ProgramSource, WrittenFields, refuse};
use crate::backends::Backend;
use crate::backends::events::milliseconds;
use crate::cli::{CUBE, CompareArgs, Format, RunArgs};
use crate::compile::on_large_stack;
use crate::config::{Environment, Tools};
use crate::document::shown;
use crate::error::ApiError;
use crate::npz;

/// `isobar run --program FILE`
pub(in crate::commands) fn run(
    path: &ProgramSource<'_>,
    args: &RunArgs,
    environment: &Environment,
) -> Result<Outcome, Usage> {
    let others = [
        ("--target", args.target.is_some()),
        ("--only", !args.only.is_empty()),
        ("--plane", args.plane.is_some()),
        ("--lines", args.lines),
    ];
    refuse(&others)?;
    let tools = Tools::find(environment);
    let backend = backend(args.backend.as_deref(), &tools)?;
    let mut opened = OpenedProgram::read(path, &args.shared, args.halo_points)?;
    add_generators(&mut opened.document.request, &args.init)?;
    if let Some(out) = &opened.document.out {
        check_writable(out)?;
    }
    let mut report = begun(backend, opened.told());
    let halo = args.halo.as_deref().or(opened.directives.halo.as_deref());
    let fill = halo.and_then(HaloFill::from_name).unwrap_or_default();
    let grid = grid(halo, args.layout);
    // The C compiler writes there; libraries stay loaded until the program ends.
    let temporary = tempfile::tempdir_in(&tools.temporary)
        .map_err(|error| Usage::Unreadable { path: shown(&tools.temporary), error })?;
    let joins_calls = args.scope.as_deref() != Some("stencil");
    let n_ranks = grid.map_or(1, |it| it.n_ranks());
    // Ranks share the cores.
    let threads = args.threads.unwrap_or((tools.cores / n_ranks).max(1));
    let code: CodeSetting =
        (backend != Backend::DEBUG).then(|| code(backend, threads, (&tools, temporary.path())));
    let told = args.shared.format == Format::Human;
    let fields = match (&opened.compilation.program, grid) {
        (None, _) => Vec::new(),
        (Some(_), Some(grid)) => {
            opened.run_on_ranks(grid, (&code, joins_calls), (threads * n_ranks, told), &mut report)?
        }
        (Some(_), None) => {
            let options = opened.document.request.config(&Directives::default()).passes;
            let code = code.map(|(executor, setting)| ProgramCode::new(executor, setting, options));
            opened.run(fill, (code, joins_calls), (threads, told), &mut report)?
        }
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

/// The report of a run that has not ended yet.
fn begun(backend: Backend, diagnostics: Vec<Diagnostic>) -> RunReport {
    RunReport {
        diagnostics,
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
        calls: Vec::new(),
        tuned: None,
        out: None,
    }
}

/// Runs a program on ranks, for a comparison; answers how it ended, with the fields that it may write, whole.
pub(in crate::commands) fn on_ranks(
    source: &ProgramSource<'_>,
    args: &CompareArgs,
    (grid, name): (RankGrid, &str),
    init: Option<&BTreeMap<String, String>>,
    environment: &Environment,
) -> Result<(RunReport, WrittenFields), Usage> {
    let tools = Tools::find(environment);
    let backend = backend(Some(name), &tools)?;
    let mut opened = OpenedProgram::read(source, &args.shared, None)?;
    opened.document.request.init = init.cloned();
    let mut report = begun(backend, opened.told());
    let temporary = tempfile::tempdir_in(&tools.temporary)
        .map_err(|error| Usage::Unreadable { path: shown(&tools.temporary), error })?;
    let n_ranks = grid.n_ranks();
    let threads = args.threads.unwrap_or((tools.cores / n_ranks).max(1));
    let code: CodeSetting =
        (backend != Backend::DEBUG).then(|| code(backend, threads, (&tools, temporary.path())));
    let fields = match opened.compilation.program {
        Some(_) => opened.run_on_ranks(grid, (&code, true), (threads * n_ranks, false), &mut report)?,
        None => Vec::new(),
    };
    Ok((report, fields))
}

/// The back end that runs the stencils: the interpreter where none is named.
fn backend(name: Option<&str>, tools: &Tools) -> Result<Backend, Usage> {
    let Some(name) = name else { return Ok(Backend::DEBUG) };
    let named = Request { backend: Some(name.to_owned()), ..Request::default() };
    let wrong = |why: ApiError| Usage::Wrong(why.to_string());
    let backend = tools.backends.of(&named).map_err(wrong)?;
    backend.check(&tools.found()).map_err(wrong)?;
    Ok(backend)
}

/// The ranks that cut the domain; none where one has all of it.
pub(in crate::commands) fn grid(halo: Option<&str>, layout: Option<[u32; 2]>) -> Option<RankGrid> {
    let is_cube = halo == Some(CUBE);
    let topology = if is_cube {
        Topology::Cube
    } else {
        Topology::Tile(halo.and_then(HaloFill::from_name).unwrap_or_default())
    };
    (is_cube || layout.is_some()).then(|| RankGrid { topology, layout: layout.unwrap_or([1, 1]) })
}

/// The executor of a back end for the stencils, and where it works.
fn code(
    backend: Backend,
    threads: u32,
    (tools, temporary): (&Tools, &Path),
) -> (Arc<dyn Executor>, OwnedSetting) {
    let setting = OwnedSetting {
        cc: tools.cc.clone(),
        cache: tools.cache.clone(),
        temporary: temporary.to_owned(),
        is_embedded: false,
        ..OwnedSetting::embedded(threads)
    };
    (backend.executor().into(), setting)
}

impl OpenedProgram {
    /// Runs the program once; answers the fields that it may write.
    fn run(
        &mut self,
        fill: HaloFill,
        (code, joins_calls): (Option<ProgramCode>, bool),
        (threads, is_told): (u32, bool),
        report: &mut RunReport,
    ) -> Result<WrittenFields, Usage> {
        let domain = self.domain()?;
        let Some(mut inputs) = self.given(report)? else { return Ok(Vec::new()) };
        let Some(mut program) = self.compilation.program.take() else { return Ok(Vec::new()) };
        self.make(&program, domain, &mut inputs)?;
        if joins_calls && code.as_ref().is_some_and(ProgramCode::joins_calls) {
            group_calls(&mut program);
        }
        let [i, j, k] = domain;
        let ProgramBytes { given: fields_bytes, own: workspace_bytes } = match code {
            Some(_) => ProgramBytes::sharing(&program, &mut self.compilation.fronts, Domain::new(i, j, k)),
            None => ProgramBytes::of(&program, Domain::new(i, j, k)),
        };
        let (scratch_bytes, allowed_bytes) = (0, MOST_BYTES);
        let memory = Memory { fields_bytes, workspace_bytes, scratch_bytes, threads, allowed_bytes };
        if is_told {
            say(&human::memory(&memory));
        }
        report.memory = Some(memory);
        let made = ProgramInstance::new(&program, &mut self.compilation.fronts, domain, fill, MOST_BYTES);
        let ended = match made {
            Ok(mut instance) => {
                let measures = ran(&mut instance, &mut inputs, code, &mut report.timings);
                measures.map(|it| (instance, it))
            }
            Err(wrong) => Err(ProgramStop::Fault(wrong)),
        };
        match ended {
            Ok((instance, measures)) => {
                report.reason = EndReason::Ok;
                report.calls = call_steps(instance.program(), &measures, domain, &self.resolver());
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

    fn domain(&self) -> Result<[i64; 3], Usage> {
        self.document.request.domain.ok_or_else(|| Usage::Wrong("a program needs --domain I,J,K".to_owned()))
    }

    /// The scalars and fields of the call; none where they cannot be read, which the report tells.
    fn given(&self, report: &mut RunReport) -> Result<Option<ProgramInputs>, Usage> {
        let mut inputs = ProgramInputs::default();
        match self.document.request.scalar_inputs() {
            Ok(scalars) => inputs.scalars = scalars,
            Err(wrong) => {
                report.diagnostics.extend(self.resolved(&wrong));
                return Ok(None);
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
                    return Ok(None);
                }
            }
        }
        Ok(Some(inputs))
    }

    /// Makes the inputs that are not given, where generators are asked for.
    fn make(
        &mut self,
        program: &ProgramIr,
        domain: [i64; 3],
        inputs: &mut ProgramInputs,
    ) -> Result<(), Usage> {
        let Some(generators) = &self.document.request.init else { return Ok(()) };
        for (name, text) in generators {
            let generator =
                parse::generator(text).map_err(|why| Usage::Wrong(format!("--init {name}: {why}")))?;
            self.directives.inputs.retain(|it| it.field != *name);
            let span = diag::Span::default();
            self.directives.inputs.push(InputDirective { field: name.clone(), generator, span });
        }
        let [i, j, k] = domain;
        make_inputs(program, &self.directives, Domain::new(i, j, k), inputs);
        Ok(())
    }

    /// Runs the program once on ranks that cut the domain; answers the fields that it may write, whole.
    fn run_on_ranks(
        &mut self,
        grid: RankGrid,
        (code, joins_calls): (&CodeSetting, bool),
        (threads, is_told): (u32, bool),
        report: &mut RunReport,
    ) -> Result<WrittenFields, Usage> {
        let domain = self.domain()?;
        let Some(mut inputs) = self.given(report)? else { return Ok(Vec::new()) };
        let begun = Instant::now();
        let config = match &self.class {
            Some(class) => class.config.clone(),
            None => self.document.request.config(&Directives::default()),
        };
        // Each rank has its own domain.
        let class = self.class.as_ref().map(|it| (&it.project, it.on([0; 3])));
        let (name, text) = &self.compilation.document;
        let source = match &class {
            Some((project, request)) => RankSource::Class(project, request),
            None => RankSource::Document(name, text),
        };
        let made = on_large_stack(|| CutProgram::new(source, &config, (domain, grid), code, joins_calls));
        let made = made.map_err(|_| Usage::Wrong("the compiler crashed".to_owned()))?;
        let mut program = match made {
            Ok(program) => program,
            Err(refused) => {
                report.diagnostics.extend(self.resolved(&refused.diagnostics));
                return Ok(Vec::new());
            }
        };
        report.timings.push(timed("prepare", begun));
        let whole = program.whole().clone();
        self.make(&whole, domain, &mut inputs)?;
        let ProgramBytes { given: fields_bytes, own: workspace_bytes } = program.bytes();
        let (scratch_bytes, allowed_bytes) = (0, MOST_BYTES);
        let memory = Memory { fields_bytes, workspace_bytes, scratch_bytes, threads, allowed_bytes };
        if is_told {
            say(&human::memory(&memory));
        }
        report.memory = Some(memory);
        let clock = Instant::now();
        let ended = program.run(&mut inputs, &|| milliseconds(clock.elapsed()));
        report.timings.push(timed("run", clock));
        match ended {
            Ok(ran) => {
                report.reason = EndReason::Ok;
                let of_rank = program.domain_of_rank();
                if let Some(first) = program.first() {
                    report.calls = call_steps(first, &ran.measures, of_rank, &self.resolver());
                }
                let written = program.results();
                Ok(written
                    .filter_map(|it| Some(described(it, inputs.fields.get(&it.name)?, domain)))
                    .collect())
            }
            Err(refused) => {
                report.diagnostics.extend(self.resolved(&refused.diagnostics));
                Ok(Vec::new())
            }
        }
    }
}

/// A step that began then, and has ended.
fn timed(step: &str, since: Instant) -> MeasuredStep {
    MeasuredStep { step: step.to_owned(), ms: since.elapsed().as_secs_f64() * 1e3, bytes: None }
}

/// Runs a program once, and measures it.
fn ran(
    instance: &mut ProgramInstance,
    inputs: &mut ProgramInputs,
    code: Option<ProgramCode>,
    timings: &mut Vec<MeasuredStep>,
) -> Result<Vec<StatementMeasure>, ProgramStop> {
    let clock = Instant::now();
    let now = || milliseconds(clock.elapsed());
    let mut measure = |step: &str, since: Instant| timings.push(timed(step, since));
    let ended = match code {
        None => {
            let begun = Instant::now();
            let ended = instance.run_measured(inputs, &mut StencilInterpreter, &mut NoControl, &now);
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
            let ended = instance.run_measured(inputs, &mut code, &mut NoControl, &now);
            measure("run", begun);
            ended
        }
    };
    ended.map(|it| it.1)
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
