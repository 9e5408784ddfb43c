//! C with OpenMP: compiled by the system's compiler, kept on disk, loaded and called.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use isobar_compiler::c::lines::{SOURCE, with_directives, written};
use isobar_compiler::c::{self, ArgumentKind, CArtifact};
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::call::signature::{Param, ParamKind, Signature};
use isobar_compiler::diag::StmtId;
use isobar_compiler::pass;
use isobar_compiler::pipeline::ProgramKind;
use isobar_compiler::space::{Axis, Domain};
use serde::{Deserialize, Serialize};

use super::inert;
use super::interface::{CArguments, CallThreads, LibraryEntry};
use super::layouts::{self, CodeMaker};
use super::workspace::Workspace;
use super::{Caller, Code, Executor, Failure, Mode, Prepared, Progress, Setting};
use crate::cache::{self as kept, CodeKind, KeyParts};
use crate::events::{Event, Sink, Step, step};
use crate::plans::PlanHandle;
use crate::store::Store;

/// C with OpenMP.
#[derive(Clone, Copy, Debug)]
pub struct Openmp;

/// The machine, and a library instead of a program, with nothing that runs when it is loaded.
const MACHINE_FLAGS: [&str; 5] = ["-march=native", "-falign-loops=64", "-shared", "-fPIC", "-nostartfiles"];

/// A C compiler of the system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CCompiler {
    pub program: PathBuf,
    /// The first line of its `--version`.
    pub version: String,
}

impl CCompiler {
    /// Whether it is clang, under whatever name.
    #[must_use]
    pub fn is_clang(&self) -> bool {
        self.version.contains("clang")
    }
}

/// The compiler that `CC` names, or `cc`; or why there is none.
///
/// # Errors
///
/// A sentence.
pub fn find_compiler(named: Option<&str>, path: &OsStr) -> Result<CCompiler, String> {
    let name = named.unwrap_or("cc");
    let program = if name.contains('/') {
        Some(PathBuf::from(name)).filter(|it| is_program(it))
    } else {
        std::env::split_paths(path).map(|folder| folder.join(name)).find(|it| is_program(it))
    };
    let Some(program) = program else {
        return Err(format!("no C compiler: there is no program `{name}`; install gcc, or set CC"));
    };
    // An absolute path, since jobs start it in folders of their own.
    let program = std::path::absolute(&program).unwrap_or(program);
    let said = Command::new(&program)
        .arg("--version")
        .env_clear()
        .env("PATH", path)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{} cannot be started: {error}", program.display()))?;
    let text = String::from_utf8_lossy(&said.stdout);
    match text.lines().next() {
        Some(version) if said.status.success() => {
            Ok(CCompiler { version: version.trim().to_owned(), program })
        }
        _ => Err(format!("{} does not tell its version", program.display())),
    }
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

/// The C of a plan.
///
/// # Errors
///
/// That there is none.
pub fn artifact(plan: &PlanHandle) -> Result<Arc<CArtifact>, Failure> {
    plan.text(|| Ok(c::generate(&*plan.loops()?, &c::COptions::default())))
}

impl Executor for Openmp {
    fn program(&self, _: Setting<'_>) -> ProgramKind {
        ProgramKind::Loops(pass::CodeGenerator::C)
    }

    fn workspace_bytes(
        &self,
        plan: &PlanHandle,
        domain: Domain,
        threads: u32,
        arguments: &[Argument],
    ) -> Option<u64> {
        let signature = &plan.plan().ok()?.contract.signature;
        let given: Vec<_> = signature.params.iter().zip(arguments).collect();
        let levels_beside = |name: &str| match given.iter().find(|(param, _)| param.name == name) {
            Some((Param { kind: ParamKind::Field { axes, .. }, .. }, Argument::Field(field))) => {
                field.levels_beside(*axes, domain)
            }
            _ => [0, 0],
        };
        let copies = layouts::bytes(signature, domain, arguments);
        artifact(plan).ok()?.workspace_bytes(domain, threads, &levels_beside)?.checked_add(copies)
    }

    fn prepare(&self, plan: &PlanHandle, setting: Setting<'_>, sink: Sink<'_>) -> Result<Prepared, Failure> {
        Ok(Prepared::of(layouts::code(*self, plan, setting, sink)?))
    }

    fn code_keys(
        &self,
        plan: &PlanHandle,
        _: Option<u32>,
        setting: Setting<'_>,
    ) -> Vec<(CodeKind, KeyParts)> {
        let (Ok(artifact), Ok(cc)) = (artifact(plan), setting.cc) else { return Vec::new() };
        let source = CSource::of(&artifact, plan, setting.mode, setting.has_lines);
        [true, false].map(|is_unit| (CodeKind::C, source.parts(is_unit, cc))).into()
    }
}

impl CodeMaker for Openmp {
    fn code(self, plan: &PlanHandle, setting: Setting<'_>, sink: Sink<'_>) -> Result<Arc<dyn Code>, Failure> {
        let artifact = artifact(plan)?;
        let of_stencil = plan.ready_plan()?;
        let source = CSource::of(&artifact, plan, setting.mode, setting.has_lines).into_owned();
        Ok(Arc::new(CompiledC {
            arguments: arguments(&artifact, &of_stencil.contract.signature)?,
            source,
            artifact,
            stencil: of_stencil.stencil.clone(),
            cc: setting.cc.clone().map_err(Failure::Machine)?,
            cache: setting.cache.and_then(|root| kept_below(root, sink)),
            folder: setting.temporary.to_owned(),
            threads: setting.threads,
            makers: setting.makers(),
            is_embedded: setting.is_embedded,
            code: Store::default(),
        }))
    }
}

/// The arguments of the code, each with its position among the parameters.
fn arguments(artifact: &CArtifact, signature: &Signature) -> Result<Vec<(usize, c::Argument)>, Failure> {
    let place = |it: &c::Argument| {
        let place = signature.params.iter().position(|param| param.name == it.name);
        place.map(|place| (place, it.clone())).ok_or_else(|| not_passed(it))
    };
    artifact.arguments.iter().map(place).collect()
}

fn not_passed(argument: &c::Argument) -> Failure {
    Failure::Machine(format!("the code asks for `{}`, which was not passed", argument.name))
}

/// The C of a plan, and its code for each kind of strides that it was called with.
struct CompiledC {
    artifact: Arc<CArtifact>,
    source: CSource<'static>,
    arguments: Vec<(usize, c::Argument)>,
    stencil: String,
    cc: CCompiler,
    cache: Option<PathBuf>,
    /// The folder of the job.
    folder: PathBuf,
    threads: u32,
    /// How many compilers may run at a time.
    makers: usize,
    is_embedded: bool,
    /// The code for neighbours along i that lie side by side in all fields, and that for strides of any kind.
    code: Store<bool, LibraryEntry>,
}

impl Code for CompiledC {
    fn fit(&self, launch: &Launch, sink: Sink<'_>) -> Result<(), Failure> {
        if launch.domain.points() == 0 {
            return Ok(());
        }
        self.code_for(launch, sink).map(drop)
    }

    fn caller(self: Arc<Self>) -> Box<dyn Caller> {
        let progress = Arc::new(Progress::default());
        progress.total.store(i64::try_from(self.artifact.n_steps).unwrap_or(i64::MAX), Ordering::Relaxed);
        Box::new(CCaller { made: self, sized: None, workspace: Workspace::default(), progress })
    }
}

/// The state of one caller.
struct CCaller {
    made: Arc<CompiledC>,
    /// The domain and the levels beside it that the size of the workspace is for.
    sized: Option<(Domain, Vec<[i64; 2]>)>,
    /// The memory of its temporaries.
    workspace: Workspace,
    progress: Arc<Progress>,
}

impl Caller for CCaller {
    fn run(&mut self, launch: &mut Launch) -> Result<(), Failure> {
        if launch.domain.points() == 0 {
            return Ok(());
        }
        let code = self.made.code_for(launch, &|_| ())?;
        self.reserve(launch)?;
        let mut times = vec![0.0; self.made.artifact.n_steps + 1];
        let done = self.made.call(code, launch, &mut times, &self.progress, &mut self.workspace);
        // The times of steps that did not end are still zero.
        let n_ended = times.iter().take_while(|it| **it > 0.0).count();
        self.progress.set_moments(times[..n_ended].iter().map(|it| 1e3 * it).collect());
        done
    }

    fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }
}

impl CCaller {
    /// Takes as much memory as the launch needs.
    fn reserve(&mut self, launch: &Launch) -> Result<(), Failure> {
        let made = &*self.made;
        let beside = |(position, argument): &(usize, c::Argument)| match (
            argument.kind,
            launch.arguments.get(*position),
        ) {
            (ArgumentKind::Field { axes, .. }, Some(Argument::Field(field))) => {
                field.levels_beside(axes, launch.domain)
            }
            _ => [0, 0],
        };
        let levels: Vec<[i64; 2]> = made.arguments.iter().map(beside).collect();
        let sized = Some((launch.domain, levels));
        if self.sized == sized {
            return Ok(());
        }
        let levels_beside = |name: &str| {
            let mut all = made.arguments.iter().zip(sized.iter().flat_map(|(_, levels)| levels));
            all.find(|((_, argument), _)| argument.name == name).map_or([0, 0], |(_, &levels)| levels)
        };
        let bytes = made.artifact.workspace_bytes(launch.domain, made.threads, &levels_beside);
        bytes.and_then(|it| self.workspace.reserve(it)).ok_or(Failure::OutOfMemory)?;
        self.sized = sized;
        Ok(())
    }
}

/// The folder of compiled code below that of the cache; none where it is not safe, which is told.
fn kept_below(root: &Path, sink: Sink<'_>) -> Option<PathBuf> {
    let folder = kept::private(root, kept::CodeKind::C.folder());
    folder.inspect_err(|why| sink(Event::Log { text: kept::not_kept(why) })).ok()
}

impl CompiledC {
    /// The code for the strides of a launch; made where it is the first of its kind.
    fn code_for(&self, launch: &Launch, sink: Sink<'_>) -> Result<LibraryEntry, Failure> {
        let is_side_by_side = |(position, argument): &(usize, c::Argument)| match (
            argument.kind,
            launch.arguments.get(*position),
        ) {
            (ArgumentKind::Field { axes, .. }, Some(Argument::Field(field))) => {
                !axes.has(Axis::I) || field.strides(axes)[Axis::I.index()] == 1
            }
            _ => true,
        };
        let is_long = launch.domain.i >= self.artifact.least_points;
        let is_unit = is_long && self.arguments.iter().all(is_side_by_side);
        let made = self.code.get(is_unit, |&is_unit| {
            let library = self.library(is_unit, sink)?;
            step("load", sink, || load(&library, &self.artifact.entry))
        })?;
        made.get().copied()
    }

    /// The compiled library: from the cache, where it is there and whole, else made.
    fn library(&self, is_unit: bool, sink: Sink<'_>) -> Result<PathBuf, Failure> {
        let step = Step::begin("cc", sink);
        let kept = self.cache.clone().map(|folder| {
            let parts = self.source.parts(is_unit, &self.cc);
            (kept::CodeEntry::of(kept::CodeKind::C, folder, parts.key()), parts)
        });
        if let Some((entry, _)) = kept.as_ref().filter(|it| it.0.is_whole()) {
            entry.touch();
            step.end_cached();
            return Ok(entry.library());
        }
        // One of those that need it at the same time makes it, while the others wait.
        let alone = kept.as_ref().and_then(|(entry, _)| entry.alone());
        if let Some((entry, _)) = kept.as_ref().filter(|it| alone.is_some() && it.0.is_whole()) {
            step.end_cached();
            return Ok(entry.library());
        }
        let made = make(&self.source, is_unit, &self.cc, &self.folder, self.makers)?;
        let library = match kept {
            Some((entry, parts)) => {
                match fs::read(&made).and_then(|code| entry.keep(&code, &self.stencil, &parts)) {
                    Ok(true) => {
                        // The cache has it; a failure to remove the rest is no harm.
                        let _ = made.parent().map(fs::remove_dir_all);
                        entry.library()
                    }
                    Ok(false) => made,
                    Err(why) => {
                        sink(Event::Log { text: kept::not_kept(&why) });
                        made
                    }
                }
            }
            None => made,
        };
        step.end();
        Ok(library)
    }

    /// Calls the code with the arrays of the launch. `times` has room for one more than there are steps.
    fn call(
        &self,
        code: LibraryEntry,
        launch: &mut Launch,
        times: &mut [f64],
        progress: &Progress,
        workspace: &mut Workspace,
    ) -> Result<(), Failure> {
        let domain = launch.domain;
        let mut given: Vec<Option<&mut Argument>> = launch.arguments.iter_mut().map(Some).collect();
        let mut passed = CArguments::default();
        for (position, argument) in &self.arguments {
            let is_passed = match given[*position].take() {
                Some(Argument::Field(field)) => match argument.kind {
                    ArgumentKind::Field { axes, .. } if field.array.dtype() == argument.dtype => {
                        passed.field(field, axes, domain);
                        true
                    }
                    ArgumentKind::Field { .. } | ArgumentKind::Scalar => false,
                },
                Some(Argument::Scalar(value)) => {
                    passed.scalar(*value);
                    argument.kind == ArgumentKind::Scalar && value.dtype() == argument.dtype
                }
                Some(Argument::Unused) | None => false,
            };
            if !is_passed {
                return Err(not_passed(argument));
            }
        }
        progress.done.store(0, Ordering::Relaxed);
        let threads = CallThreads { number: self.threads, are_placed: !self.is_embedded };
        match passed.call(code, domain, threads, Some(&progress.done), workspace, times) {
            Ok(0) => Ok(()),
            Ok(2) => Err(Failure::OutOfMemory),
            Ok(3) => Err(Failure::Cancelled),
            Ok(other) => Err(Failure::Machine(format!("the code ended with the unknown status {other}"))),
            Err(trap) => Err(Failure::Trap {
                message: "an index that is computed here leaves its field, or a `while` does not end"
                    .to_owned(),
                statement: StmtId(u32::try_from(trap.statement).unwrap_or(0)),
                cell: [trap.i, trap.j, trap.k],
            }),
        }
    }
}

/// Compiles in the job's folder, in as many parts as the text has and processors allow. Names are relative to
/// the folder, so that no message has a path of this machine.
fn make(
    source: &CSource<'_>,
    is_unit: bool,
    cc: &CCompiler,
    folder: &Path,
    makers: usize,
) -> Result<PathBuf, Failure> {
    // The loader does not load a name again, but returns the library that it has by that name.
    static MADE: AtomicU64 = AtomicU64::new(0);
    let made = MADE.fetch_add(1, Ordering::Relaxed);
    let library = format!("stencil-{made}.so");
    let machine = |error: std::io::Error| Failure::Machine(format!("the C compiler: {error}"));
    // Threads of one process make several at a time.
    let folder = &folder.join(format!("made-{made}"));
    fs::create_dir(folder).map_err(machine)?;
    fs::write(folder.join(SOURCE), source.text.as_ref()).map_err(machine)?;
    let started = |more: &[String]| {
        let mut command = Command::new(&cc.program);
        command.args(source.flags(is_unit, cc)).args(more).current_dir(folder).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(machine)
    };
    let ended = |child: Child| {
        let said = child.wait_with_output().map_err(machine)?;
        if said.status.success() {
            return Ok(());
        }
        let table =
            source.files.iter().enumerate().map(|(number, name)| format!("file \"{number}\" is {name}\n"));
        Err(Failure::Code(table.collect::<String>() + &String::from_utf8_lossy(&said.stderr)))
    };
    let n_parts = source.n_parts.min(makers);
    let mut parts = vec![SOURCE.to_owned()];
    if n_parts > 1 {
        parts = (0..n_parts).map(|part| format!("stencil-{made}-{part}.o")).collect();
        let compiling = parts.iter().enumerate().map(|(part, object)| {
            let own = ["-o", object, SOURCE].map(str::to_owned);
            started(&[&c::flags_of_part(part, n_parts)[..], &own].concat())
        });
        // All are started before one is waited for, and all are waited for.
        let compiling: Vec<Result<Child, Failure>> = compiling.collect();
        let done: Vec<Result<(), Failure>> = compiling.into_iter().map(|it| ended(it?)).collect();
        done.into_iter().collect::<Result<(), Failure>>()?;
    }
    let linked = ["-o".to_owned(), library.clone()].into_iter().chain(parts).chain(["-lm".to_owned()]);
    ended(started(&linked.collect::<Vec<_>>())?)?;
    Ok(folder.join(library))
}

/// The text that is compiled, and its options.
#[derive(Debug)]
pub struct CSource<'a> {
    text: Cow<'a, str>,
    flags: Vec<&'static str>,
    /// The number of parts that can be compiled at the same time.
    n_parts: usize,
    /// The names of the files whose numbers the text has.
    files: Vec<String>,
}

impl<'a> CSource<'a> {
    /// Without lines of the stencil the same code comes from the cache wherever the stencil is moved to.
    #[must_use]
    pub fn of(artifact: &'a CArtifact, plan: &PlanHandle, mode: Mode, has_lines: bool) -> Self {
        let mut flags = artifact.flags(mode == Mode::Fast);
        flags.extend(MACHINE_FLAGS);
        let text = &artifact.listing.text;
        if !has_lines {
            let text = Cow::Borrowed(text.as_str());
            return Self { text, flags, n_parts: artifact.n_parts, files: Vec::new() };
        }
        flags.extend(c::LINE_FLAGS);
        let text = with_directives(text, &written(&artifact.listing, plan.sources()));
        let files = plan.sources().map(|it| it.0.to_owned()).collect();
        Self { text: Cow::Owned(text), flags, n_parts: artifact.n_parts, files }
    }

    /// The same with a text of its own.
    fn into_owned(self) -> CSource<'static> {
        CSource { text: Cow::Owned(self.text.into_owned()), ..self }
    }

    /// For fields whose neighbours along i lie side by side, or for others.
    fn flags(&self, is_unit: bool, cc: &CCompiler) -> Vec<&'static str> {
        let is_known = |flag: &&str| !(cc.is_clang() && c::GCC_FLAGS.contains(flag));
        self.flags.iter().copied().filter(is_known).chain([c::flag_for(is_unit)]).collect()
    }

    /// Everything that decides the compiled code.
    #[must_use]
    pub fn parts(&self, is_unit: bool, cc: &CCompiler) -> kept::KeyParts {
        let compiler = format!("{}\n{}", cc.program.display(), cc.version);
        kept::KeyParts::of(&self.text, self.flags(is_unit, cc).join(" "), compiler)
    }
}

fn load(library: &Path, entry: &str) -> Result<LibraryEntry, Failure> {
    let failed = |why: String| Failure::Machine(format!("the compiled code cannot be loaded: {why}"));
    if cfg!(target_os = "linux") {
        let bytes = fs::read(library).map_err(|error| failed(error.to_string()))?;
        inert::check(&bytes).map_err(failed)?;
    }
    LibraryEntry::load(library, entry).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clang_is_told_nothing_that_it_does_not_know() {
        let source =
            CSource { text: Cow::Borrowed(""), flags: c::FLAGS.to_vec(), n_parts: 1, files: Vec::new() };
        let told = |version: &str| {
            let cc = CCompiler { program: PathBuf::from("/usr/bin/cc"), version: version.to_owned() };
            source.flags(true, &cc)
        };
        let (gcc, clang) = (told("cc (Debian 12.2.0-14) 12.2.0"), told("Debian clang version 14.0.6"));
        assert!(gcc.contains(&c::GCC_FLAGS[0]) && gcc.contains(&c::GCC_FLAGS[1]), "{gcc:?}");
        assert!(clang.iter().all(|it| !c::GCC_FLAGS.contains(it)), "{clang:?}");
        assert!(clang.contains(&"-ffp-contract=off"), "{clang:?}");
    }
}
