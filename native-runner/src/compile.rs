//! The compiler as the runner calls it: with a clock, enough stack, and a net under it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use isobar_classes::levels;
use isobar_classes::opened::ProgramChoice;
use isobar_compiler::diag::catalog::compile_time::WHICH_STENCIL;
use isobar_compiler::diag::{FileId, Span, StmtId};
use isobar_compiler::frontend::models::models;
use isobar_compiler::inputs::{self, Directives, Rows};
use isobar_compiler::pass::{self, Printer, Timer};
use isobar_compiler::pipeline::registry::StageListing;
use isobar_compiler::pipeline::{Compilation, Hook, NoHook, Stage};
use isobar_compiler::project::Project;
use isobar_compiler::sdfg::file::json::{ControlFlowStyle, to_json};
use isobar_compiler::session::Session;
use isobar_compiler::space::Domain;
use isobar_protocol::compile::{Compiled, StepTime};
use isobar_protocol::diagnostic::Diagnostic;
use isobar_protocol::limits::Limits;
use isobar_protocol::request::Request;
use isobar_runtime::machine::LINE_BYTES;

use crate::backends::events::milliseconds;
use crate::backends::{Backend, Code};

/// Deep nesting costs stack; this is more than the compiler's own limits on depth let it use.
pub(crate) const STACK_BYTES: usize = 256 * 1024 * 1024;

/// A compilation with what belongs to it.
#[derive(Clone, Debug)]
pub(crate) struct ConfiguredProject {
    pub project: Project,
    pub config: isobar_compiler::config::Config,
    pub directives: Directives,
}

impl ConfiguredProject {
    /// The text and options of a request.
    pub(crate) fn of(request: &Request) -> Self {
        let main = request.main_file().unwrap_or_default().to_owned();
        let text = request.files.get(&main).map_or("", String::as_str);
        let file = request.files.keys().position(|it| *it == main).and_then(|it| u16::try_from(it).ok());
        // Mistakes in directives are ignored here: the compilation warns about them.
        let (directives, _) = inputs::directive::read(text, FileId(file.unwrap_or_default()));
        let stencil = request.stencil.clone().or_else(|| directives.stencil.clone());
        let config = request.config(&directives);
        let files = request.files.iter().map(|(name, text)| (name.clone(), text.as_str().into())).collect();
        Self { project: Project { files, main, stencil }, config, directives }
    }

    /// The same with a schedule of what a back end carries out: launches where it runs on a GPU.
    pub(crate) fn scheduled_for(&self, backend: Backend) -> Self {
        let mut source = self.clone();
        if backend.is_on_gpu() {
            source.config.passes.device = pass::Device::Gpu;
        }
        source
    }

    /// The same with a schedule document in the place of what the compiler would choose.
    pub(crate) fn with_schedule(&self, document: &str) -> Self {
        let mut source = self.clone();
        let mut name = "kept.schedule".to_owned();
        while source.project.files.contains_key(&name) {
            name.push('_');
        }
        source.project.files.insert(name.clone(), document.into());
        source.config.passes.schedule = Some(name);
        source
    }

    pub(crate) fn compile(&self, hook: &mut dyn Hook) -> Arc<Compilation> {
        Session::new().compile(&self.project, &self.config, hook)
    }
}

/// Measures each step in milliseconds.
fn timer() -> Timer<impl FnMut() -> f64> {
    let begun = Instant::now();
    Timer::new(move || milliseconds(begun.elapsed()))
}

/// Compiles in this process, and makes these texts.
pub(crate) fn here(request: &Request, texts: &[&'static StageListing]) -> Compiled {
    if let Some(refused) = too_large(request) {
        return refused;
    }
    on_large_stack(|| {
        if let Some(choice) = program_of(request) {
            return class_here(request, &choice);
        }
        let mut timer = timer();
        let compilation = ConfiguredProject::of(request).compile(&mut timer);
        let texts = texts.iter().filter_map(|it| Some((it.stage, compilation.text(it)?)));
        let times = StepTime::of(&timer.into_times());
        let compiled = Compiled::new(&compilation.front, &compilation.notes, texts, times);
        Compiled { steps: compilation.schedule_steps(), ..compiled }
    })
    .unwrap_or_else(|panic| {
        refused("R07", crashed(&panic), "report this stencil: the fault is the compiler's")
    })
}

/// The program that a request means in the place of a stencil.
pub(crate) fn program_of(request: &Request) -> Option<ProgramChoice> {
    ProgramChoice::of(&ConfiguredProject::of(request).project)
}

/// A class as a program, with the stages that the request wants.
fn class_here(request: &Request, choice: &ProgramChoice) -> Compiled {
    let begun = Instant::now();
    let (compiled, _) = levels::compiled(request, choice, &|| milliseconds(begun.elapsed()));
    let classes = models(&ConfiguredProject::of(request).project);
    Compiled { stencils: classes.into_iter().map(|it| it.name).collect(), ..compiled }
}

/// The answer to more text than is compiled at once.
pub(crate) fn too_large(request: &Request) -> Option<Compiled> {
    let limits = Limits::default().with_local_files();
    let limit = crate::limits::check_sources(request, &limits).err()?;
    let message = format!(
        "the {} is {} {}, and at most {} are compiled",
        limit.name, limit.asked, limit.unit, limit.allowed
    );
    Some(refused("R06", message, "compile fewer or shorter files"))
}

/// The graph of a stencil as a `.sdfg` file; empty where it is not reached.
pub(crate) fn graph_file(request: &Request, is_flat: bool) -> String {
    let form = if is_flat { ControlFlowStyle::Flat } else { ControlFlowStyle::Regions };
    let made = on_large_stack(|| {
        let compilation = ConfiguredProject::of(request).compile(&mut NoHook);
        let sources: Vec<(&str, &str)> = compilation.front.sources().collect();
        let graph = compilation.graph();
        graph.map(|it| format!("{:#}\n", to_json(it, &sources, form))).unwrap_or_default()
    });
    made.unwrap_or_default()
}

/// The text that a back end makes for a domain; empty where the stencil has errors. The domain is that of the
/// request, otherwise that of the file, otherwise 128 x 128 x 80 points.
pub(crate) fn code(request: &Request, code: &Code) -> Result<String, String> {
    let made = on_large_stack(|| {
        let source = ConfiguredProject::of(request);
        let compilation = source.compile(&mut NoHook);
        if compilation.has_errors() {
            return Ok(String::new());
        }
        let [i, j, k] = request.domain.or(source.directives.domain).unwrap_or([128, 128, 80]);
        (code.make)(&compilation, Domain::new(i, j, k), rows(request))
    });
    made.unwrap_or_else(|_| Err("the compiler crashed".to_owned()))
}

/// How the fields lie that are made for a request.
pub(crate) fn rows(request: &Request) -> Rows {
    let line_bytes = request.passes.machine.as_ref().map_or(LINE_BYTES, |it| it.line_bytes);
    Rows::AtLines { bytes: usize::try_from(line_bytes).unwrap_or(0) }
}

/// The course of a compilation: its steps, what passes report, and the levels as they change, where these are wanted.
pub(crate) fn course(request: &Request, has_levels: bool) -> String {
    let told = on_large_stack(|| {
        let mut text = String::new();
        let mut printer = Printer::new(|line: &str| text.extend([line, "\n"]));
        if has_levels {
            printer = printer.with_levels();
        }
        ConfiguredProject::of(request).compile(&mut printer);
        text
    });
    told.unwrap_or_default()
}

/// Compiles request after request; a file that they share is parsed once.
#[derive(Debug, Default)]
pub(crate) struct SharedSession {
    session: Session,
}

impl SharedSession {
    /// Compiles what its caller read itself, so that the limits of requests do not count. No text is made.
    pub(crate) fn compile(&mut self, request: &Request) -> Compiled {
        on_large_stack(|| {
            let source = ConfiguredProject::of(request);
            let compilation = self.session.compile(&source.project, &source.config, &mut NoHook);
            Compiled::new(&compilation.front, &compilation.notes, [], Vec::new())
        })
        .unwrap_or_else(|panic| {
            refused("R07", crashed(&panic), "report this stencil: the fault is the compiler's")
        })
    }
}

/// Runs `work` where deep recursion has room, and catches its panic.
pub(crate) fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("compiler".to_owned()).stack_size(STACK_BYTES);
        let started = thread.spawn_scoped(scope, || catch_unwind(AssertUnwindSafe(work)));
        let panic = |panic: Box<dyn std::any::Any + Send>| {
            let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
            text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
        };
        match started.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(Ok(done))) => Ok(done),
            Ok(Ok(Err(it)) | Err(it)) => Err(panic(it)),
            Err(error) => Err(error.to_string()),
        }
    })
}

pub(crate) fn crashed(panic: &str) -> String {
    let first = panic.lines().next().unwrap_or_default();
    format!("the compiler crashed: {first}")
}

/// The diagnostic of a crash of the compiler.
pub(crate) fn crash(panic: &str) -> Diagnostic {
    Diagnostic::without_place("R07", crashed(panic), "report this stencil: the fault is the compiler's")
}

/// Where a statement is written.
pub(crate) fn span_of(compilation: &Compilation, statement: StmtId) -> Option<Span> {
    let nodes = compilation.listings().flat_map(|(_, it)| &it.nodes);
    nodes.filter(|it| it.stmts == [statement]).find_map(|it| it.spans.first().copied())
}

pub(crate) fn refused(code: &str, message: String, help: &str) -> Compiled {
    Compiled { diagnostics: vec![Diagnostic::without_place(code, message, help)], ..Compiled::default() }
}

/// For those who need a stencil and find none.
pub(crate) fn no_stencil(request: &Request) -> Diagnostic {
    let file = request.main_file().unwrap_or_default();
    let help = "a stencil is a function at the top of the file whose body has `with computation(...)`";
    Diagnostic::without_place("R09", format!("`{file}` has no stencil"), help)
}

/// For a level that no error explains.
pub(crate) fn not_reached(stage: Stage) -> Diagnostic {
    Diagnostic::without_place(
        "R08",
        format!("there is no {stage} of this stencil"),
        "look at the level before it",
    )
}

/// Whether a diagnostic of a file without stencils only says that there is none to choose.
pub(crate) fn is_about_no_stencil(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == WHICH_STENCIL.0
}
