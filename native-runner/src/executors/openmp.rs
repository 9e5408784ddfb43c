//! C with OpenMP: compiled by the system's compiler, kept on disk, loaded and called.

use std::ffi::{OsStr, c_void};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use isobar_compiler::backend::array::Elements;
use isobar_compiler::backend::c::{self, ArgumentKind, Artifact};
use isobar_compiler::backend::launch::{Argument, Launch};
use isobar_compiler::backend::signature::{Param, ParamKind, Signature};
use isobar_compiler::diag::StmtId;
use isobar_compiler::for_elements;
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::Domain;
use isobar_compiler::types::Value;
use isobar_protocol::job::EventKind;
use isobar_protocol::request::Mode;

use super::steps::{Sink, Step, step};
use super::{Executor, Failure, Prepared, Progress, Setting};
use crate::cache::{self, Entry};
use crate::compile;
use crate::config::CCompiler;

pub(crate) struct Openmp;

/// The machine, and a library instead of a program.
const MACHINE_FLAGS: [&str; 3] = ["-march=native", "-shared", "-fPIC"];

/// The compiler that `CC` names, or `cc`; or why there is none.
///
/// # Errors
///
/// A sentence.
pub(crate) fn find_compiler(named: Option<&str>, path: &OsStr) -> Result<CCompiler, String> {
    let name = named.unwrap_or("cc");
    let program = if name.contains('/') {
        Some(PathBuf::from(name)).filter(|it| is_program(it))
    } else {
        std::env::split_paths(path).map(|folder| folder.join(name)).find(|it| is_program(it))
    };
    let Some(program) = program else {
        return Err(format!("no C compiler: there is no program `{name}`; install gcc, or set CC"));
    };
    // Jobs start it in a folder of their own.
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

impl Executor for Openmp {
    fn workspace_bytes(
        &self,
        compilation: &Compilation,
        domain: Domain,
        threads: u32,
        arguments: &[Argument],
    ) -> Option<u64> {
        let params = compilation.signature.iter().flat_map(|it| &it.params);
        let given: Vec<_> = params.zip(arguments).collect();
        let levels_beside = |name: &str| match given.iter().find(|(param, _)| param.name == name) {
            Some((Param { kind: ParamKind::Field { axes, .. }, .. }, Argument::Field(field))) => {
                field.levels_beside(*axes, domain)
            }
            _ => [0, 0],
        };
        compile::artifact(compilation)?.workspace_bytes(domain, threads, &levels_beside)
    }

    fn prepare<'a>(
        &self,
        compilation: &'a Compilation,
        setting: Setting<'_>,
        sink: Sink<'_>,
    ) -> Result<Box<dyn Prepared + 'a>, Failure> {
        let missing = || Failure::Machine("there is no C to compile".to_owned());
        let artifact = compile::artifact(compilation).ok_or_else(missing)?;
        let signature = compilation.signature.as_ref().ok_or_else(missing)?;
        let arguments = arguments(artifact, signature)?;
        let library = library(&signature.name, artifact, setting, sink)?;
        let entry = step("load", sink, || load(&library, &artifact.entry))?;
        let progress = Arc::new(Progress::default());
        progress.total.store(i64::try_from(artifact.steps.len()).unwrap_or(i64::MAX), Ordering::Relaxed);
        let n_steps = artifact.steps.len();
        Ok(Box::new(Loaded { entry, arguments, n_steps, threads: setting.threads, progress }))
    }
}

/// What the code asks for, each with its place among the parameters.
fn arguments<'a>(
    artifact: &'a Artifact,
    signature: &Signature,
) -> Result<Vec<(usize, &'a c::Argument)>, Failure> {
    let place = |it: &'a c::Argument| {
        let place = signature.params.iter().position(|param| param.name == it.name);
        place.map(|place| (place, it)).ok_or_else(|| not_passed(it))
    };
    artifact.arguments.iter().map(place).collect()
}

fn not_passed(argument: &c::Argument) -> Failure {
    Failure::Machine(format!("the code asks for `{}`, which was not passed", argument.name))
}

/// Compiled code in this process.
struct Loaded<'a> {
    entry: Code,
    arguments: Vec<(usize, &'a c::Argument)>,
    n_steps: usize,
    threads: u32,
    progress: Arc<Progress>,
}

impl Prepared for Loaded<'_> {
    fn run(&mut self, launch: &mut Launch) -> Result<(), Failure> {
        let mut times = vec![0.0; self.n_steps + 1];
        let done = call(self.entry, &self.arguments, launch, (self.threads, &mut times), &self.progress);
        // Those of steps that did not end are still zero.
        let n_ended = times.iter().take_while(|it| **it > 0.0).count();
        self.progress.set_moments(times[..n_ended].iter().map(|it| 1e3 * it).collect());
        done
    }

    fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }
}

/// The compiled library: from the cache, where it is there and whole, else made.
fn library(
    stencil: &str,
    artifact: &Artifact,
    setting: Setting<'_>,
    sink: Sink<'_>,
) -> Result<PathBuf, Failure> {
    let cc = setting.cc.as_ref().map_err(|reason| Failure::Machine(reason.clone()))?;
    let step = Step::begin("cc", sink);
    let cache = setting.cache.and_then(|root| match cache::private(root, cache::OF_C) {
        Ok(folder) => Some(folder),
        Err(why) => {
            sink(EventKind::Log { text: format!("compiled code is not kept: {why}") });
            None
        }
    });
    let kept = cache.map(|folder| {
        let parts = parts(artifact, setting.mode, cc);
        (Entry::of(folder, parts.key()), parts)
    });
    if let Some((entry, _)) = kept.as_ref().filter(|it| it.0.is_whole()) {
        entry.touch();
        step.end_cached();
        return Ok(entry.library());
    }
    let made = make(&artifact.listing.text, &flags(artifact, setting.mode), cc, setting.temporary)?;
    let library = match kept {
        Some((entry, parts)) => {
            let done = entry.keep(&made, stencil, &parts);
            done.map_err(|error| Failure::Machine(format!("the cache: {error}")))?;
            entry.library()
        }
        None => made,
    };
    step.end();
    Ok(library)
}

/// Compiles in the job's folder. Names are relative to it, so that no message has a path of this machine.
fn make(text: &str, flags: &[&str], cc: &CCompiler, folder: &Path) -> Result<PathBuf, Failure> {
    const SOURCE: &str = "stencil.c";
    const LIBRARY: &str = "stencil.so";
    let machine = |error: std::io::Error| Failure::Machine(format!("the C compiler: {error}"));
    fs::write(folder.join(SOURCE), text).map_err(machine)?;
    let said = Command::new(&cc.program)
        .args(flags)
        .args(["-o", LIBRARY, SOURCE, "-lm"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(machine)?;
    if !said.status.success() {
        return Err(Failure::Code(String::from_utf8_lossy(&said.stderr).into_owned()));
    }
    Ok(folder.join(LIBRARY))
}

/// All that decides the code of an artifact here.
pub(crate) fn parts(artifact: &Artifact, mode: Mode, cc: &CCompiler) -> cache::Parts {
    let flags = flags(artifact, mode).join(" ");
    cache::Parts::of(&artifact.listing.text, flags, format!("{}\n{}", cc.program.display(), cc.version))
}

fn flags(artifact: &Artifact, mode: Mode) -> Vec<&'static str> {
    let mut flags = artifact.flags(mode == Mode::Fast);
    flags.extend(MACHINE_FLAGS);
    flags
}

#[repr(C)]
struct CField {
    data: *mut c_void,
    stride: [i64; 3],
    data_stride: *const i64,
    below: i64,
    above: i64,
}

#[repr(C)]
#[derive(Default)]
struct CTrap {
    statement: i32,
    i: i64,
    j: i64,
    k: i64,
}

#[repr(C)]
struct CCall {
    domain: [i64; 3],
    fields: *const CField,
    scalars: *const *const c_void,
    threads: i32,
    progress: *mut i64,
    cancel: *const i32,
    trap: *mut CTrap,
    times: *mut f64,
}

/// Calls the entry with the arrays of the launch. `times` has room for one more than there are steps.
fn call(
    entry: Code,
    arguments: &[(usize, &c::Argument)],
    launch: &mut Launch,
    (threads, times): (u32, &mut [f64]),
    progress: &Progress,
) -> Result<(), Failure> {
    let Domain { i, j, k } = launch.domain;
    if launch.domain.points() == 0 {
        return Ok(());
    }
    let (mut fields, mut values): (Vec<CField>, Vec<u64>) = (Vec::new(), Vec::new());
    // Each lies where it is until the call is over.
    let mut data_strides: Vec<Box<[i64]>> = Vec::new();
    for &(position, argument) in arguments {
        let unknown = || not_passed(argument);
        match (argument.kind, &mut launch.arguments[position]) {
            (ArgumentKind::Field { axes, .. }, Argument::Field(field))
                if field.array.dtype() == argument.dtype =>
            {
                let signed = |it: usize| i64::try_from(it).unwrap_or(i64::MAX);
                let stride = field.strides(axes).map(signed);
                let [below, above] = field.levels_beside(axes, launch.domain);
                let of_data: Box<[i64]> = field.data_strides(axes).iter().map(|&it| signed(it)).collect();
                let data_stride = of_data.as_ptr();
                data_strides.push(of_data);
                let start = field.start(axes);
                let data = start_of(&mut field.array.elements, start).ok_or_else(unknown)?;
                fields.push(CField { data, stride, data_stride, below, above });
            }
            (ArgumentKind::Scalar, Argument::Scalar(value)) if value.dtype() == argument.dtype => {
                values.push(in_memory(*value));
            }
            _ => return Err(unknown()),
        }
    }
    let scalars: Vec<*const c_void> = values.iter().map(|it| std::ptr::from_ref(it).cast()).collect();
    let (never, mut trap) = (0_i32, CTrap::default());
    progress.done.store(0, Ordering::Relaxed);
    let call = CCall {
        domain: [i, j, k],
        fields: fields.as_ptr(),
        scalars: scalars.as_ptr(),
        threads: i32::try_from(threads).unwrap_or(1),
        progress: progress.done.as_ptr(),
        cancel: &raw const never,
        trap: &raw mut trap,
        times: times.as_mut_ptr(),
    };
    let status = enter(entry, &call);
    match status {
        0 => Ok(()),
        1 => Err(Failure::Trap {
            message: "an index that is computed here leaves its field, or a `while` does not end".to_owned(),
            statement: StmtId(u32::try_from(trap.statement).unwrap_or(0)),
            cell: [trap.i, trap.j, trap.k],
        }),
        2 => Err(Failure::OutOfMemory),
        3 => Err(Failure::Cancelled),
        other => Err(Failure::Machine(format!("the code ended with the unknown status {other}"))),
    }
}

/// The address of the element at `start`; `None` where there is no such element.
pub(super) fn start_of(elements: &mut Elements, start: usize) -> Option<*mut c_void> {
    for_elements!(elements, it => it.get_mut(start..).map(|it| it.as_mut_ptr().cast()))
}

/// A value as it lies in memory, followed by zeros.
fn in_memory(value: Value) -> u64 {
    let mut bytes = [0; 8];
    let mut put = |it: &[u8]| bytes[..it.len()].copy_from_slice(it);
    match value {
        Value::Bool(it) => put(&[u8::from(it)]),
        Value::Int8(it) => put(&it.to_ne_bytes()),
        Value::Int16(it) => put(&it.to_ne_bytes()),
        Value::Int32(it) => put(&it.to_ne_bytes()),
        Value::Int64(it) => put(&it.to_ne_bytes()),
        Value::Float32(it) => put(&it.to_ne_bytes()),
        Value::Float64(it) => put(&it.to_ne_bytes()),
    }
    u64::from_ne_bytes(bytes)
}

/// The entry of generated code (`abi.h`).
type Code = unsafe extern "C" fn(*const CCall) -> i32;

/// Loads the library and finds its entry.
#[expect(unsafe_code, reason = "this is where generated code comes in")]
fn load(library: &Path, entry: &str) -> Result<Code, Failure> {
    let failed =
        |error: libloading::Error| Failure::Machine(format!("the compiled code cannot be loaded: {error}"));
    // SAFETY: the file was compiled from text that our generator made, in a folder that only this
    // user can write, and its bytes are those that were recorded; it has no initialisers.
    let library = unsafe { libloading::Library::new(library) }.map_err(failed)?;
    // SAFETY: the generator gives the entry this type; `CCall` mirrors its argument field by field.
    let entry = *unsafe { library.get::<Code>(entry.as_bytes()) }.map_err(failed)?;
    // The threads of OpenMP outlive a call and stand in code of the library's own dependencies:
    // it stays loaded until the process ends, and so does the entry.
    std::mem::forget(library);
    Ok(entry)
}

#[expect(unsafe_code, reason = "this is where generated code is entered")]
fn enter(entry: Code, call: &CCall) -> i32 {
    // SAFETY: all pointers of `call` point to live memory for the whole of this call. The launch was
    // checked by `bind`: each array holds every element that the domain and the stencil's extents
    // reach, from the start of the domain with these strides; run-time indices are guarded by the
    // code. Arrays are distinct, and nothing else touches them until the call returns.
    unsafe { entry(call) }
}
