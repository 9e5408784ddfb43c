//! A stencil that is ready is called as often as one likes.

use std::ffi::OsStr;
use std::process::Command;
use std::sync::Mutex;

use isobar_compiler::config::Config;
use isobar_compiler::inputs::call_for;
use isobar_compiler::pipeline::route::compile;
use isobar_compiler::pipeline::{Compilation, NoHook};
use isobar_compiler::project::Project;
use isobar_compiler::space::Domain;
use isobar_protocol::job::EventKind;
use isobar_protocol::request::Mode;
use isobar_runner::config::{Environment, Tools};
use isobar_runner::executors::{Backend, Failure, Setting, Vectors};

const COUNTER: &str = "
# @input a linear(low=0, high=1, along=k)
# @input b constant(0)
from gt4py.cartesian.gtscript import *

def count(a: Field[float], b: Field[float]):
    with computation(FORWARD), interval(1, None):
        t = a[0, 0, -1] + 1.0
        b = b + t
";

fn compilation(text: &str) -> Compilation {
    let project = Project::of_one("main.py", text);
    let compilation = compile(&project, &Config::default(), &mut NoHook);
    assert!(!compilation.has_errors(), "{:?}", compilation.diagnostics);
    compilation
}

fn tools() -> Tools {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Tools::find(&Environment { path, ..Environment::default() })
}

#[test]
fn each_call_goes_on_from_what_the_one_before_left() {
    let (compilation, tools) = (compilation(COUNTER), tools());
    let signature = compilation.signature.as_ref().unwrap();
    let domain = Domain::new(3, 2, 4);
    let temporary = tempfile::tempdir().unwrap();
    let cache = tempfile::tempdir().unwrap();
    let setting = Setting {
        cc: &tools.cc,
        cache: Some(&cache.path().join("kept")),
        temporary: temporary.path(),
        threads: 2,
        mode: Mode::Reproducible,
        vectors: Vectors::Widest,
        has_lines: false,
    };
    for backend in Backend::ALL {
        if backend.check(&tools).is_err() {
            println!("skipped: {} cannot run here", backend.name());
            continue;
        }
        let told = Mutex::new(Vec::new());
        let sink = |event: EventKind| told.lock().unwrap().push(event);
        let mut prepared = backend.executor().prepare(&compilation, setting, &sink).unwrap();
        let call = call_for(signature, &compilation.directives, domain);
        let mut launch = compilation.bind(call).unwrap();
        let before = launch.clone();
        prepared.fit(&launch, &sink).unwrap();
        for _ in 0..3 {
            prepared.run(&mut launch).unwrap();
        }
        // The C compiler and the loader, or what makes machine code, begin, end, and tell their times; a call tells
        // nothing.
        let of_getting_ready = match backend {
            Backend::Openmp => 6,
            Backend::Rayon => 3,
            Backend::Debug | Backend::Numpy => 0,
        };
        assert_eq!(told.lock().unwrap().len(), of_getting_ready, "{}", backend.name());
        assert_ne!(format!("{launch:?}"), format!("{before:?}"), "{}", backend.name());
        // Three calls are three times one call.
        let mut once = before;
        for _ in 0..3 {
            let mut other = backend.executor().prepare(&compilation, setting, &sink).unwrap();
            other.run(&mut once).unwrap();
        }
        assert_eq!(format!("{launch:?}"), format!("{once:?}"), "{}", backend.name());
    }
}

#[test]
fn without_a_c_compiler_nothing_gets_ready() {
    let compilation = compilation(COUNTER);
    let tools =
        Tools::find(&Environment { path: OsStr::new("/nowhere").to_owned(), ..Environment::default() });
    let temporary = tempfile::tempdir().unwrap();
    let setting = Setting {
        cc: &tools.cc,
        cache: None,
        temporary: temporary.path(),
        threads: 1,
        mode: Mode::Reproducible,
        vectors: Vectors::Widest,
        has_lines: false,
    };
    let ready = Backend::Openmp.executor().prepare(&compilation, setting, &|_| ());
    assert!(matches!(ready.err(), Some(Failure::Machine(why)) if why.contains("no C compiler")));
}

#[test]
fn compiled_code_tells_which_lines_of_the_stencil_it_comes_from() {
    let (compilation, tools) = (compilation(COUNTER), tools());
    let has_reader = Command::new("objdump").arg("--version").output().is_ok_and(|it| it.status.success());
    if Backend::Openmp.check(&tools).is_err() || !has_reader {
        println!("skipped: there is no C compiler, or no `objdump` to read its tables");
        return;
    }
    let call =
        call_for(compilation.signature.as_ref().unwrap(), &compilation.directives, Domain::new(3, 2, 4));
    let launch = compilation.bind(call).unwrap();
    for has_lines in [true, false] {
        let temporary = tempfile::tempdir().unwrap();
        let setting = Setting {
            cc: &tools.cc,
            cache: None,
            temporary: temporary.path(),
            threads: 1,
            mode: Mode::Reproducible,
            has_lines,
            vectors: Vectors::Widest,
        };
        let mut prepared = Backend::Openmp.executor().prepare(&compilation, setting, &|_| ()).unwrap();
        prepared.fit(&launch, &|_| ()).unwrap();
        let files = std::fs::read_dir(temporary.path()).unwrap().map(|it| it.unwrap().path());
        let library = files.into_iter().find(|it| it.extension().is_some_and(|it| it == "so")).unwrap();
        let read = Command::new("objdump").arg("--dwarf=decodedline").arg(library).output().unwrap();
        let table = String::from_utf8_lossy(&read.stdout).into_owned();
        let (name, text) = compilation.sources().next().unwrap();
        let statement = text.lines().position(|it| it.contains("b = b + t")).unwrap() + 1;
        let row = |line: &str| {
            let mut words = line.split_whitespace();
            words.next() == Some(name) && words.next() == Some(&statement.to_string())
        };
        assert_eq!(table.lines().any(row), has_lines, "{name}:{statement}\n{table}");
    }
}
