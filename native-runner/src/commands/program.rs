//! `--program`, and classes: several stencils in the place of one.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use isobar_classes::calls::call_steps;
use isobar_compiler::call::array::Array;
use isobar_compiler::call::run::NoControl;
use isobar_compiler::config::Config;
use isobar_compiler::diag;
use isobar_compiler::diag::catalog::{call, programs};
use isobar_compiler::front::stage::StageOrigin;
use isobar_compiler::frontend::models::ModelChoice;
use isobar_compiler::inputs::{Directives, InputDirective, parse};
use isobar_compiler::pipeline::group::compile_group;
use isobar_compiler::pipeline::{Compilation, NoHook, Stage, registry, route};
use isobar_compiler::sdfg::file::json::{ControlFlowStyle, to_json};
use isobar_compiler::space::Domain;
use isobar_program::analysis::calls::aliases;
use isobar_program::compile::{ProgramCompilation, compile, compile_class};
use isobar_program::decomposition::{RankGrid, Topology};
use isobar_program::from_class::ClassRequest;
use isobar_program::group::group_calls;
use isobar_program::interpret::{
    HaloFill, MOST_BYTES, ProgramBytes, ProgramInputs, ProgramInstance, ProgramStop, StatementMeasure,
    StencilInterpreter, make_inputs,
};
use isobar_program::localize::FieldKept;
use isobar_program::nodes::{Container, ProgramIr, ProgramStmt, ProgramStmtKind, StencilCall};
use isobar_program::print::listing;
use isobar_protocol::bench::Memory;
use isobar_protocol::compile::{Remark, StageText};
use isobar_protocol::diagnostic::{Diagnostic, SpanResolver};
use isobar_protocol::field::FieldInfo;
use isobar_protocol::fields::statistics;
use isobar_protocol::job::EndReason;
use isobar_protocol::report::{EmitReport, MeasuredStep, RunReport};
use isobar_protocol::request::{Mode, Request};
use isobar_runtime::executors::{Executor, OwnedSetting};
use isobar_runtime::programs::{CodeSetting, CutProgram, ProgramCode};

use super::emit::ask_passes;
use super::run::{add_generators, check_writable, hash, tell, write};
use super::{Outcome, Usage, human, print, print_json, say};
use crate::backends::Backend;
use crate::backends::events::milliseconds;
use crate::cli::{CUBE, CompareArgs, EmitArgs, Format, GraphFormat, RunArgs, Shared};
use crate::compile::{ConfiguredProject, on_large_stack};
use crate::config::{Environment, Tools};
use crate::document::{Document, shown};
use crate::error::ApiError;
use crate::npz;

/// The written fields of a run.
pub(super) type WrittenFields = Vec<(FieldInfo, Vec<u8>)>;

/// The stage that a program has.
pub(super) const STAGE: &str = "program";

/// Where a program comes from.
pub(super) enum ProgramSource<'a> {
    /// A document, or an object graph.
    Document(&'a Path),
    /// A class of a Python file, and the method that is the program.
    Class(&'a Path, ModelChoice),
}

impl<'a> ProgramSource<'a> {
    /// The class that is meant by `--stencil`, or by the file's `# @stencil` line; `None` where that is a stencil.
    pub(super) fn class(file: Option<&'a Path>, shared: &Shared) -> Result<Option<Self>, Usage> {
        let Some(file) = file.filter(|_| shared.request.is_none()) else { return Ok(None) };
        let document = Document::read(Some(file), shared)?;
        let project = ConfiguredProject::of(&document.request).project;
        let choice = project.stencil.as_ref().and_then(|it| ModelChoice::of(&project, it));
        Ok(choice.map(|it| Self::Class(file, it)))
    }
}

/// `isobar emit --program FILE --stage program`
pub(super) fn emit(path: &ProgramSource<'_>, args: &EmitArgs) -> Result<Outcome, Usage> {
    if args.stage != STAGE {
        return emit_groups(path, args);
    }
    if args.group.is_some() {
        return Err(Usage::Wrong(format!("--group is for stages behind `{STAGE}`")));
    }
    let mut opened = OpenedProgram::read(path, &args.shared, args.halo_points)?;
    let mut report = EmitReport { diagnostics: opened.told(), ..EmitReport::default() };
    let text = opened.compilation.program.as_ref().map(|it| listing(it).text);
    report.level =
        StageText { stage: STAGE.to_owned(), text: text.unwrap_or_default(), ..StageText::default() };
    match args.shared.format {
        Format::Json => print_json(&report),
        Format::Human => {
            opened.say(&report.diagnostics);
            print(&report.level.text);
            for it in opened.compilation.kept.iter().filter(|_| args.remarks) {
                let FieldKept { name, role, why, span } = it;
                let place = opened.place(*span);
                print(&format!("{place}: `{name}` stays {role}: {why}\n"));
            }
        }
    }
    Ok(Outcome::of(&report.diagnostics))
}

/// The same for a level of the groups, the calls that become one piece of code.
fn emit_groups(path: &ProgramSource<'_>, args: &EmitArgs) -> Result<Outcome, Usage> {
    refuse(&[
        ("--print-changed", args.print_changed),
        ("--log", args.log.is_some()),
        ("--steps", args.steps),
        ("--lines", args.lines),
    ])?;
    let known: Vec<Stage> = registry::texts().map(|it| it.stage).filter(|&it| is_of_groups(it)).collect();
    let Some(stage) = known.iter().copied().find(|it| it.name() == args.stage) else {
        let names = known.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ");
        let why = format!("--program has the stages {STAGE}, {names}, and no `{}`", args.stage);
        return Err(Usage::Wrong(why));
    };
    let is_file = args.form == GraphFormat::Sdfg;
    if is_file && stage != Stage::SDFG || args.flat && !is_file {
        return Err(Usage::Wrong("--form sdfg is for --stage sdfg, and --flat for both".to_owned()));
    }
    let mut opened = OpenedProgram::read(path, &args.shared, args.halo_points)?;
    let mut passes = opened.document.request.passes.clone();
    ask_passes(args, &mut passes)?;
    let request = Request { passes, ..opened.document.request.clone() };
    let options = request.config(&Directives::default()).passes;
    let mut report = EmitReport { diagnostics: opened.told(), ..EmitReport::default() };
    report.level.stage = stage.name().to_owned();
    let mut text = String::new();
    let mut missed = Vec::new();
    if let Some(mut program) = opened.compilation.program.take() {
        missed = group_calls(&mut program);
        let groups = groups(&program, args.group)?;
        if is_file && groups.len() != 1 {
            let why =
                format!("--form sdfg is one graph, and there are {} groups: choose --group", groups.len());
            return Err(Usage::Wrong(why));
        }
        for (number, body) in groups {
            if args.group.is_none() && !is_file {
                let _ = writeln!(text, "==> group {number} <==");
            }
            let fronts = &mut opened.compilation.fronts;
            let made = on_large_stack(|| {
                let fronts = RefCell::new(fronts);
                let front_of = |call: &StencilCall| {
                    let stencil = &program.stencils[call.stencil];
                    fronts.borrow_mut().unified(stencil, &aliases(&program, call)).ok()
                };
                compile_group(&program, (number, body), &front_of, &options, &mut NoHook)
            });
            match made.unwrap_or_else(|_| Err("the compiler crashed".to_owned())) {
                Ok(group) => {
                    text += &level_of(&group.compilation, stage, is_file.then_some(args.flat));
                    report.remarks.extend(opened.remarks(&group.compilation, stage, args.remarks));
                }
                Err(why) => {
                    let _ = writeln!(text, "its calls run one by one: {why}");
                }
            }
            text.push('\n');
        }
    }
    report.level.text = text.trim_end().to_owned() + "\n";
    match args.shared.format {
        Format::Json => print_json(&report),
        Format::Human => {
            opened.say(&report.diagnostics);
            print(&report.level.text);
            if args.remarks {
                print(&human::remarks(&report.remarks));
                for (stmt, why) in &missed {
                    let place = opened.place(stmt.span);
                    print(&format!("{place}: stands for itself: {why}\n"));
                }
            }
        }
    }
    Ok(Outcome::of(&report.diagnostics))
}

/// Whether the stencils of a class have a stage, each for itself; or all stages are asked for.
pub(super) fn is_of_stencils(stage: &str) -> bool {
    let of_stencils = || Stage::OF_STENCIL.iter().find(|it| it.name() == stage);
    stage == super::emit::ALL || of_stencils().is_some_and(|it| !is_of_groups(*it))
}

/// Whether a group of calls has a stage: the trees of its stencils are made one by one.
fn is_of_groups(stage: Stage) -> bool {
    let mut at = stage;
    loop {
        if at == Stage::TREE {
            return true;
        }
        match at.from() {
            StageOrigin::Passed(above) | StageOrigin::Lowered(above) => at = above,
            StageOrigin::Text => return false,
        }
    }
}

/// The groups of a program, or the one of a number.
fn groups(program: &ProgramIr, wanted: Option<usize>) -> Result<Vec<(usize, &[ProgramStmt])>, Usage> {
    let mut n_groups = 0;
    let mut groups: Vec<(usize, &[ProgramStmt])> = Vec::new();
    program.body.iter().for_each(|it| {
        it.walk(&mut |stmt| {
            if let ProgramStmtKind::Group { number, body } = &stmt.kind {
                n_groups += 1;
                if wanted.is_none_or(|it| it == *number) {
                    groups.push((*number, body));
                }
            }
        });
    });
    if groups.is_empty() {
        return Err(Usage::Wrong(match wanted {
            Some(number) => format!("there is no group {number}: the program has {n_groups} of them"),
            None => "no two calls of the program stand behind each other, so it has no group".to_owned(),
        }));
    }
    Ok(groups)
}

/// The text of a level, or the graph as a file.
fn level_of(compilation: &Compilation, stage: Stage, is_flat: Option<bool>) -> String {
    let Some(is_flat) = is_flat else {
        return compilation.listing(stage).map(|it| it.text.clone()).unwrap_or_default();
    };
    let sources: Vec<(&str, &str)> = compilation.front.sources().collect();
    let form = if is_flat { ControlFlowStyle::Flat } else { ControlFlowStyle::Regions };
    let graph = compilation.graph();
    graph.map(|it| format!("{:#}\n", to_json(it, &sources, form))).unwrap_or_default()
}

/// `isobar run --program FILE`
pub(super) fn run(
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
    if grid.is_some() && matches!(path, ProgramSource::Class(..)) {
        let why =
            "--layout and --halo cube are for program documents: the constructor of a class has its edges";
        return Err(Usage::Wrong(why.to_owned()));
    }
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

/// Runs a document on ranks, for a comparison; answers how it ended, with the fields that it may write, whole.
pub(super) fn on_ranks(
    path: &Path,
    args: &CompareArgs,
    (grid, name): (RankGrid, &str),
    init: Option<&BTreeMap<String, String>>,
    environment: &Environment,
) -> Result<(RunReport, WrittenFields), Usage> {
    let tools = Tools::find(environment);
    let backend = backend(Some(name), &tools)?;
    let mut opened = OpenedProgram::read(&ProgramSource::Document(path), &args.shared, None)?;
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
    if backend.is_on_gpu() {
        let why = format!("--program keeps its fields on the host, and `{name}` runs on a GPU");
        return Err(Usage::Wrong(why));
    }
    backend.check(&tools.found()).map_err(wrong)?;
    Ok(backend)
}

/// The ranks that cut the domain; none where one has all of it.
pub(super) fn grid(halo: Option<&str>, layout: Option<[u32; 2]>) -> Option<RankGrid> {
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
    /// The comment lines of a class that describe its run.
    directives: Directives,
}

/// The domain that a class is printed for, where nothing tells another one.
const USUAL_DOMAIN: [i64; 3] = [12, 12, 10];

/// The points of a halo that NDSL has without a word.
const USUAL_HALO: u32 = 3;

impl OpenedProgram {
    fn read(source: &ProgramSource<'_>, shared: &Shared, halo_points: Option<u32>) -> Result<Self, Usage> {
        if let ProgramSource::Document(_) = source {
            refuse(&[
                ("--stencil", shared.stencil.is_some()),
                ("--module", !shared.modules.is_empty()),
                ("--externals", shared.externals.is_some()),
                ("--halo-points", halo_points.is_some()),
            ])?;
        }
        refuse(&[
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
        let path = match source {
            ProgramSource::Document(path) | ProgramSource::Class(path, _) => path,
        };
        let mut document = Document::read(Some(path), shared)?;
        let request = &mut document.request;
        let name = request.main.clone().unwrap_or_default();
        let text = request.files.get(&name).cloned().unwrap_or_default();
        let mut described = Directives::default();
        let compilation = match source {
            ProgramSource::Document(_) => compile(&name, &text, request.config(&described)),
            ProgramSource::Class(_, ModelChoice { class, method }) => {
                let source =
                    ConfiguredProject::of(&Request { externals: BTreeMap::new(), ..request.clone() });
                described = source.directives;
                request.domain = request.domain.or(described.domain);
                let domain = request.domain.unwrap_or(USUAL_DOMAIN);
                let Ok(points) = domain.map(u32::try_from).into_iter().collect::<Result<Vec<_>, _>>() else {
                    return Err(Usage::Wrong("a domain has no negative number of points".to_owned()));
                };
                let domain = [points[0], points[1], points[2]];
                let given = request.constructor(&described);
                let halo = halo_points.unwrap_or(USUAL_HALO);
                let wanted = ClassRequest { class, method, given: &given, domain, halo };
                // Of a class, they are arguments of its constructor.
                let config = Config { externals: BTreeMap::new(), ..source.config };
                on_large_stack(|| compile_class(&source.project, &wanted, config.clone()))
                    .map_err(|_| Usage::Wrong("the compiler crashed".to_owned()))?
            }
        };
        let files = compilation.fronts.project().files.iter();
        request.files.extend(files.map(|(name, text)| (name.clone(), text.to_string())));
        Ok(Self { document, compilation, directives: described })
    }

    /// The diagnostics of the compilation.
    fn told(&mut self) -> Vec<Diagnostic> {
        let found = std::mem::take(&mut self.compilation.diagnostics);
        self.resolved(&found)
    }

    fn resolved(&self, found: &[diag::Diagnostic]) -> Vec<Diagnostic> {
        let resolver = self.resolver();
        found.iter().map(|it| resolver.diagnostic(it)).collect()
    }

    fn resolver(&self) -> SpanResolver<'_> {
        let (name, text) = &self.compilation.document;
        let files = self.compilation.fronts.project().files.iter().map(|(name, text)| (&**name, &**text));
        SpanResolver::new(files.chain([(name.as_str(), text.as_str())]))
    }

    /// The remarks of the passes up to a stage, where they are asked for.
    fn remarks(&self, compilation: &Compilation, stage: Stage, is_asked: bool) -> Vec<Remark> {
        let is_wanted = |pass: &str| route::level_of(pass).is_some_and(|it| stage.shows_passes_of(it));
        let places = self.resolver();
        let all = compilation.notes.remarks.iter().map(|it| Remark::new(it, &places));
        all.filter(|it| is_asked && is_wanted(&it.pass)).collect()
    }

    /// File and line of a place.
    fn place(&self, span: diag::Span) -> String {
        let (name, text) = self.compilation.file(span.file);
        let before = text.get(..span.start as usize).unwrap_or_default();
        format!("{}:{}", shown(Path::new(name)), before.matches('\n').count() + 1)
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
}

impl OpenedProgram {
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
        let config = self.document.request.config(&Directives::default());
        let begun = Instant::now();
        let (name, text) = self.compilation.document.clone();
        let made =
            on_large_stack(|| CutProgram::new((&name, &text), &config, (domain, grid), code, joins_calls));
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
