//! Faults of a GPU of NVIDIA, provoked without one: a driver and an NVRTC of our own fail as they are told
//! (`driver.c`). Each fault gives a sentence that says what to do. Then the next run of the same stencil
//! works where the driver lets it. Where only another process can help, that run says why it does not work.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use isobar_compiler::call::array::Array;
use isobar_compiler::call::launch::{Call, Launch};
use isobar_compiler::config::Config;
use isobar_compiler::pipeline::{Compilation, NoHook, ProgramKind, route};
use isobar_compiler::project::Project;
use isobar_compiler::types::DType;
use isobar_runtime::executors::cuda::{self, Cuda};
use isobar_runtime::executors::{Failure, Prepared, Setting, prepare_compiled};
use isobar_runtime::plans::Plans;
use isobar_testing::skip;

/// Says to a process of these tests what it is to try.
const TRIED: &str = "ISOBAR_TRIED_FAULT";

/// Results of the driver.
const OUT_OF_MEMORY: i32 = 2;
const NO_BINARY: i32 = 209;
const NOT_READY: i32 = 600;
const OUT_OF_RESOURCES: i32 = 701;
const LAUNCH_FAILED: i32 = 719;

/// The libraries, made by the C compiler; none where there is none, which is said aloud.
fn libraries() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("faults-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder of the build");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/driver.c");
    for name in ["libcuda.so", "libnvrtc.so.12"] {
        let made = Command::new("cc")
            .args(["-shared", "-fPIC", "-w", "-O0", "-o"])
            .arg(folder.join(name))
            .arg(&source)
            .arg(format!("-Wl,-soname,{name}"))
            .status();
        match made {
            Ok(status) => assert!(status.success(), "{}", source.display()),
            Err(why) => {
                skip("what goes wrong with a GPU", format_args!("there is no C compiler: {why}"));
                return None;
            }
        }
    }
    Some(folder)
}

#[test]
fn what_goes_wrong_is_told_and_the_next_run_works() {
    if let Ok(tried) = std::env::var(TRIED) {
        return of_this_process(&tried);
    }
    let Some(folder) = libraries() else { return };
    let program = std::env::current_exe().expect("this program");
    let none: &[(&str, &str)] = &[];
    let tried = [
        ("works", none),
        ("lost", none),
        ("endless", none),
        ("shared", &[("FAKE_SHARED", "16")]),
        ("too old: the driver knows CUDA 11.4, and 12.0 or newer is needed", &[("FAKE_DRIVER", "11040")]),
        ("no GPU of NVIDIA", &[("FAKE_GPUS", "0")]),
        ("NVRTC 11.9 is too old: 12.0 or newer is needed, and `pip install", &[("FAKE_NVRTC", "11")]),
        ("which is no such library", &[("ISOBAR_NVRTC", "/nowhere")]),
        ("NVRTC 12.9 does not know sm_90: `pip install --upgrade", &[("FAKE_ARCH", "80")]),
        ("code: what NVRTC says", &[("FAKE_REFUSED", "6")]),
    ];
    for (what, variables) in tried {
        let mut child = Command::new(&program);
        child.args(["--exact", "faults::what_goes_wrong_is_told_and_the_next_run_works", "--nocapture"]);
        child.env(TRIED, what).env("LD_LIBRARY_PATH", &folder).env("ISOBAR_NVRTC", &folder);
        child.envs(variables.iter().copied());
        let output = child.output().expect("this program starts");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let more = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains("1 passed"), "{what}: {said}{more}");
    }
    // That it cannot be removed is no harm.
    let _ = std::fs::remove_dir_all(folder);
}

/// One that is given up soon.
fn executor() -> Cuda {
    Cuda::new().giving_up_after(Duration::from_millis(50))
}

fn of_text(body: &str) -> Compilation {
    let text = format!(
        "from gt4py.cartesian.gtscript import *\n\ndef f(q: Field[float], o: Field[float]):\n{body}\n"
    );
    let compilation = route::compile(&Project::of_one("main.py", &text), &Config::default(), &mut NoHook);
    assert!(!compilation.has_errors(), "{:?}", compilation.notes.diagnostics);
    compilation
}

fn compiled(body: &str) -> Compilation {
    of_text(&format!("    with computation(PARALLEL), interval(...):\n{body}"))
}

/// The first sweep leaves values for the second one, a column for each thread. They are in the shared memory
/// of a block.
const SOLVER: &str = "    with computation(FORWARD):
        with interval(0, 1):
            ratio = 1.0 / q
            value = o / q
        with interval(1, None):
            pivot = q - ratio[0, 0, -1]
            ratio = 1.0 / pivot
            value = (o - value[0, 0, -1]) / pivot
    with computation(BACKWARD):
        with interval(-1, None):
            o = value
        with interval(0, -1):
            o = value - ratio * o[0, 0, 1]";

const TWICE: &str = "        o = q * 2.0";

fn call(compilation: &Compilation) -> Launch {
    let zeros = || Array::zeros(DType::Float64, &[40, 30, 4]);
    let fields = BTreeMap::from([("q".to_owned(), zeros()), ("o".to_owned(), zeros())]);
    compilation.front.bind(Call { fields, ..Call::default() }).expect("it fits")
}

fn prepared(compilation: &Compilation) -> Prepared {
    prepare_compiled(&executor(), compilation, Setting::embedded(), &|_| ())
        .unwrap_or_else(|why| panic!("{why:?}"))
}

/// From now on this function of the driver gives this result; none does for an empty name.
#[expect(unsafe_code, reason = "the driver of the tests is told what to do")]
fn next(function: &str, result: i32) {
    // The name is read later on.
    let name = CString::new(function).expect("a name").into_raw();
    // SAFETY: it is the library that `libraries` made, which has a function like this.
    unsafe {
        let driver = libloading::Library::new("libcuda.so").expect("it is loaded already");
        let next = driver
            .get::<unsafe extern "C" fn(*const std::ffi::c_char, i32)>(b"isobar_next")
            .expect("the driver of the tests");
        next(name, result);
    }
}

fn said(ended: Result<(), Failure>) -> String {
    match ended {
        Err(Failure::Machine(why)) => why,
        Err(Failure::OutOfMemory) => "out of memory".to_owned(),
        Err(Failure::Code(why)) => format!("code: {why}"),
        other => panic!("{other:?}"),
    }
}

/// Tries one thing in a process of its own: what is lost stays lost in it.
fn of_this_process(tried: &str) {
    match tried {
        "works" => works(),
        "lost" => {
            let compilation = compiled(TWICE);
            let (mut one, mut other) = (prepared(&compilation), prepared(&compilation));
            one.run(&mut call(&compilation)).expect("it runs");
            next("cuEventQuery", LAUNCH_FAILED);
            let why = said(one.run(&mut call(&compilation)));
            assert!(why.contains("the GPU was lost: what the driver says"), "{why}");
            next("", 0);
            for it in [&mut one, &mut other] {
                let why = said(it.run(&mut call(&compilation)));
                assert!(why.contains("a run before this one broke it; nothing else runs on it"), "{why}");
            }
        }
        "endless" => {
            let compilation = compiled(TWICE);
            let mut prepared = prepared(&compilation);
            next("cuEventQuery", NOT_READY);
            let why = said(prepared.run(&mut call(&compilation)));
            assert!(why.contains("kernels did not end within 0.05 s"), "{why}");
            let why = said(prepared.run(&mut call(&compilation)));
            assert!(why.contains("nothing else runs on it in this process"), "{why}");
        }
        "shared" => {
            let compilation = of_text(SOLVER);
            let artifact = cuda::artifact(&Plans::of(compilation.clone()).plan_for(ProgramKind::Kernels))
                .expect("it compiles");
            assert!(artifact.kernels.iter().any(|it| it.is_dynamic), "{}", artifact.listing.text);
            let why = said(prepared(&compilation).run(&mut call(&compilation)));
            assert!(why.contains("bytes of shared memory for a block, and the GPU has 16"), "{why}");
            assert!(why.ends_with("choose smaller tiles"), "{why}");
            let compilation = compiled(TWICE);
            prepared(&compilation).run(&mut call(&compilation)).expect("it runs");
        }
        told => {
            let compilation = compiled(TWICE);
            let ready = prepare_compiled(&executor(), &compilation, Setting::embedded(), &|_| ());
            let why = match ready {
                Ok(mut it) => said(it.run(&mut call(&compilation))),
                Err(why) => {
                    let why = said(Err(why));
                    // The check of what can run here gives the same reason.
                    assert_eq!(cuda::check().as_ref(), Err(&why));
                    why
                }
            };
            let told = told.strip_prefix("too old: ").unwrap_or(told);
            assert!(why.contains(told), "{why}");
        }
    }
}

fn works() {
    let compilation = compiled(TWICE);
    assert!(cuda::check().is_ok_and(|it| it.contains("Fake (sm_90), NVRTC 12.9")));
    let failures = [
        ("cuMemHostAlloc", OUT_OF_MEMORY, "out of memory"),
        ("cuMemAlloc_v2", OUT_OF_MEMORY, "out of memory"),
        ("cuModuleLoadData", OUT_OF_MEMORY, "out of memory"),
        ("cuLaunchKernel", OUT_OF_RESOURCES, "cannot be launched: what the driver says"),
        ("cuStreamEndCapture", OUT_OF_MEMORY, "out of memory"),
        ("cuGraphLaunch", OUT_OF_MEMORY, "out of memory"),
        ("cuMemcpyDtoHAsync_v2", OUT_OF_RESOURCES, "the driver fails: what the driver says"),
    ];
    for (function, result, told) in failures {
        let mut one = prepared(&compilation);
        next(function, result);
        // Where nothing has failed by then, launches become a graph with the second call.
        let ended = (0..3).map(|_| one.run(&mut call(&compilation))).find(Result::is_err);
        let why = said(ended.unwrap_or_else(|| panic!("`{function}` was not called")));
        assert!(why.contains(told), "{function}: {why}");
        next("", 0);
        one.run(&mut call(&compilation)).unwrap_or_else(|why| panic!("behind `{function}`: {why:?}"));
    }
    // Code that the driver does not take is none for the next call either; another stencil has its own.
    let other = compiled("        o = q * 3.0");
    next("cuModuleLoadData", NO_BINARY);
    let mut refused = prepared(&other);
    let why = said(refused.run(&mut call(&other)));
    assert!(why.contains("does not take the code: what the driver says; a newer driver"), "{why}");
    next("", 0);
    prepared(&other).run(&mut call(&other)).expect("it runs");
}
