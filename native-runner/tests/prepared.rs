//! A stencil that is ready is called as often as one likes.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use isobar_compiler::call::array::Array;
use isobar_compiler::call::launch::{Call, Launch};
use isobar_compiler::config::Config;
use isobar_compiler::inputs::call_for;
use isobar_compiler::pipeline::route::compile;
use isobar_compiler::pipeline::{Compilation, NoHook};
use isobar_compiler::project::Project;
use isobar_compiler::space::Domain;
use isobar_compiler::types::{DType, Value};
use isobar_runner::backends::events::Event;
use isobar_runner::backends::{Backend, Failure, Prepared, Setting, prepare_compiled};
use isobar_runner::config::{Environment, Tools};
use isobar_testing::{skip, skip_part};

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
    assert!(!compilation.has_errors(), "{:?}", compilation.notes.diagnostics);
    compilation
}

fn tools() -> Tools {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Tools::find(&Environment { path, ..Environment::default() })
}

#[test]
fn each_call_goes_on_from_what_the_one_before_left() {
    let (compilation, tools) = (compilation(COUNTER), tools());
    let signature = compilation.front.signature.as_ref().unwrap();
    let domain = Domain::new(3, 2, 4);
    let temporary = tempfile::tempdir().unwrap();
    let cache = tempfile::tempdir().unwrap();
    let setting = Setting {
        cc: &tools.cc,
        cache: Some(&cache.path().join("kept")),
        temporary: temporary.path(),
        threads: 2,
        is_embedded: false,
        ..Setting::embedded()
    };
    for backend in Backend::ALL {
        if backend.check(&tools.found()).is_err() {
            skip_part(backend.name(), "it cannot run here");
            continue;
        }
        let told = Mutex::new(Vec::new());
        let sink = |event: Event| told.lock().unwrap().push(event);
        let mut prepared = prepare_compiled(&*backend.executor(), &compilation, setting, &sink).unwrap();
        let call = call_for(signature, &compilation.front.directives, domain);
        let mut launch = compilation.front.bind(call).unwrap();
        let before = launch.clone();
        prepared.fit(&launch, &sink).unwrap();
        for _ in 0..3 {
            prepared.run(&mut launch).unwrap();
        }
        // Each step of getting ready tells its begin, its end and its time. The steps are the C compiler and
        // the loader, the text and its pipelines, or the making of machine code. Code of a CPU also tells how
        // the fields lie. A call tells nothing.
        let of_getting_ready = match backend.name() {
            "openmp" => 7,
            "wgpu" => 6,
            "rayon" => 4,
            _ => 0,
        };
        assert_eq!(told.lock().unwrap().len(), of_getting_ready, "{}", backend.name());
        assert_ne!(format!("{launch:?}"), format!("{before:?}"), "{}", backend.name());
        // Three calls are three times one call.
        let mut once = before;
        for _ in 0..3 {
            let mut other = prepare_compiled(&*backend.executor(), &compilation, setting, &sink).unwrap();
            other.run(&mut once).unwrap();
        }
        assert_eq!(format!("{launch:?}"), format!("{once:?}"), "{}", backend.name());
    }
}

#[test]
fn code_that_is_made_anew_runs_and_what_was_loaded_before_stays() {
    let tools = tools();
    let temporary = tempfile::tempdir().unwrap();
    let cache = tempfile::tempdir().unwrap();
    let kept = cache.path().join("kept");
    // One stencil before and after an edit: it keeps its name, its parameters and its folders.
    let edited = COUNTER.replace("+ 1.0", "+ 3.0");
    let compilations = [compilation(COUNTER), compilation(&edited)];
    let calls = compilations.each_ref().map(|it| {
        let call = call_for(it.front.signature.as_ref().unwrap(), &it.front.directives, Domain::new(3, 2, 4));
        it.front.bind(call).unwrap()
    });
    let left_by = |prepared: &mut Prepared, call: &Launch| {
        let mut launch = call.clone();
        prepared.run(&mut launch).unwrap();
        format!("{launch:?}")
    };
    for backend in Backend::ALL {
        if backend.check(&tools.found()).is_err() {
            skip_part(backend.name(), "it cannot run here");
            continue;
        }
        for cache in [None, Some(kept.as_path())] {
            let setting = Setting {
                cc: &tools.cc,
                cache,
                temporary: temporary.path(),
                is_embedded: false,
                ..Setting::embedded()
            };
            let prepared = |at: usize| {
                prepare_compiled(&*backend.executor(), &compilations[at], setting, &|_| ()).unwrap()
            };
            let mut first = prepared(0);
            let before = left_by(&mut first, &calls[0]);
            let after = left_by(&mut prepared(1), &calls[1]);
            assert_ne!(before, after, "{}: the code of before ran", backend.name());
            assert_eq!(left_by(&mut first, &calls[0]), before, "{}", backend.name());
            // Each has one more, whether it is made again or was kept.
            assert_eq!(left_by(&mut prepared(0), &calls[0]), before, "{}", backend.name());
            assert_eq!(left_by(&mut prepared(1), &calls[1]), after, "{}", backend.name());
        }
    }
}

/// Reads and writes that leave out the first points of the domain, or the last ones, or all of it.
const INWARD: &str = "
from gt4py.cartesian.gtscript import *

def inward(a: Field[float], far: Field[float], low: Field[float], out: Field[float], plane: Field[IJ, float]):
    with computation(FORWARD), interval(1, None):
        out = a[2, 0, 0] + a[3, 1, -1] * far[0, -40, 0] + plane[1, 0]
    with computation(PARALLEL), interval(0, -2):
        low = low + out[0, 0, 2] if a[2, 0, 0] > 0.5 else far[0, -40, 0]
";

#[test]
fn arrays_that_leave_out_what_is_not_used_give_the_same_bits_on_all_back_ends() {
    let (compilation, tools) = (compilation(INWARD), tools());
    let temporary = tempfile::tempdir().unwrap();
    let setting = Setting {
        cc: &tools.cc,
        temporary: temporary.path(),
        threads: 2,
        is_embedded: false,
        ..Setting::embedded()
    };
    let [i, j, k] = [70, 9, 6];
    // The origin lies before the array, or behind it.
    let fields = [
        ("a", vec![71, 10, 6], vec![-2, 0, 0]),
        ("far", vec![70, 9, 6], vec![0, 40, 0]),
        ("low", vec![70, 9, 4], vec![0, 0, 0]),
        ("out", vec![70, 9, 5], vec![0, 0, -1]),
        ("plane", vec![70, 9], vec![-1, 0]),
    ];
    let mut call = Call { domain: Some([i, j, k]), ..Call::default() };
    for (name, shape, origin) in &fields {
        let mut array = Array::zeros(DType::Float64, shape);
        for (number, index) in (0_u32..).zip(array.indices().collect::<Vec<_>>()) {
            let position = array.position(&index);
            array.elements.set(position, Value::Float64(f64::from(number * 7919 % 1009) / 1009.0));
        }
        call.fields.insert((*name).to_owned(), array);
        call.origin.insert((*name).to_owned(), origin.clone());
    }
    let bound = compilation.front.bind(call.clone()).unwrap();
    assert_eq!(compilation.front.bind(Call { domain: None, ..call.clone() }).unwrap().domain, bound.domain);
    for (name, at) in [("a", 0), ("out", 2), ("plane", 0), ("far", 1)] {
        let mut call = call.clone();
        let origin = call.origin.get_mut(name).unwrap();
        origin[at] -= 1;
        assert!(compilation.front.bind(call).is_err(), "the origin of `{name}` is too small");
    }
    let mut meant: Option<String> = None;
    for backend in Backend::ALL {
        if backend.check(&tools.found()).is_err() {
            skip_part(backend.name(), "it cannot run here");
            continue;
        }
        let mut prepared = prepare_compiled(&*backend.executor(), &compilation, setting, &|_| {}).unwrap();
        let mut launch = bound.clone();
        prepared.fit(&launch, &|_| {}).unwrap();
        prepared.run(&mut launch).unwrap();
        let found = format!("{:?}", launch.arguments);
        assert_ne!(found, format!("{:?}", bound.arguments), "{}", backend.name());
        match &meant {
            Some(meant) => assert!(found == *meant, "{} gives other bits", backend.name()),
            None => meant = Some(found),
        }
    }
}

#[test]
fn without_a_c_compiler_nothing_gets_ready() {
    let compilation = compilation(COUNTER);
    let tools =
        Tools::find(&Environment { path: OsStr::new("/nowhere").to_owned(), ..Environment::default() });
    let temporary = tempfile::tempdir().unwrap();
    let setting =
        Setting { cc: &tools.cc, temporary: temporary.path(), is_embedded: false, ..Setting::embedded() };
    let ready = prepare_compiled(&*Backend::OPENMP.executor(), &compilation, setting, &|_| ());
    assert!(matches!(ready.err(), Some(Failure::Machine(why)) if why.contains("no C compiler")));
}

#[test]
fn compiled_code_tells_which_lines_of_the_stencil_it_comes_from() {
    let (compilation, tools) = (compilation(COUNTER), tools());
    let has_reader = Command::new("objdump").arg("--version").output().is_ok_and(|it| it.status.success());
    if Backend::OPENMP.check(&tools.found()).is_err() || !has_reader {
        return skip("lines of the stencil", "there is no C compiler, or no `objdump` to read its tables");
    }
    let call = call_for(
        compilation.front.signature.as_ref().unwrap(),
        &compilation.front.directives,
        Domain::new(3, 2, 4),
    );
    let launch = compilation.front.bind(call).unwrap();
    for has_lines in [true, false] {
        let temporary = tempfile::tempdir().unwrap();
        let setting = Setting {
            cc: &tools.cc,
            temporary: temporary.path(),
            has_lines,
            is_embedded: false,
            ..Setting::embedded()
        };
        let prepared =
            prepare_compiled(&*Backend::OPENMP.executor(), &compilation, setting, &|_| ()).unwrap();
        prepared.fit(&launch, &|_| ()).unwrap();
        let below = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
        // Compiled code has a folder of its own.
        let library = below(temporary.path())
            .flat_map(|it| below(&it))
            .find(|it| it.extension().is_some_and(|it| it == "so"))
            .unwrap();
        let read = Command::new("objdump").arg("--dwarf=decodedline").arg(library).output().unwrap();
        let table = String::from_utf8_lossy(&read.stdout).into_owned();
        let (_, text) = compilation.front.sources().next().unwrap();
        let statement = text.lines().position(|it| it.contains("b = b + t")).unwrap() + 1;
        let row = |line: &str| {
            let mut words = line.split_whitespace();
            words.next() == Some("0") && words.next() == Some(&statement.to_string())
        };
        assert_eq!(table.lines().any(row), has_lines, "0:{statement}\n{table}");
    }
}
