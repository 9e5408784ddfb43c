//! Rows of fields that a run makes start at cache lines, which nobody sees from outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use isobar_compiler::call::array::Array;
use isobar_compiler::call::launch::Argument;
use isobar_compiler::config::Config;
use isobar_compiler::inputs::{Rows, bytes_for, bytes_with, call_for};
use isobar_compiler::pipeline::route::compile;
use isobar_compiler::pipeline::{Compilation, NoHook};
use isobar_compiler::project::Project;
use isobar_compiler::space::Domain;
use isobar_protocol::layout::{StrideHandling, UnitStrideAxis};
use isobar_protocol::report::RunReport;
use isobar_runner::backends::{Backend, Setting, prepare_compiled};
use isobar_runner::config::{Environment, Tools};
use isobar_runner::npz;

/// Reads beside the point, along each axis, of two types and of fields with fewer axes and with data dimensions.
const WIDE: &str = "
# @input a sum(random(low=0, high=1, seed=1), linear(low=0, high=3, along=i))
# @input b random(low=0, high=1, seed=2)
# @input c random(low=0, high=1, seed=3)
# @input d random(low=0, high=1, seed=4)
# @input q random(low=0, high=1, seed=5)
import numpy as np
from gt4py.cartesian.gtscript import *

def wide(
    a: Field[np.float64],
    b: Field[IJ, np.float32],
    c: Field[K, np.float64],
    d: Field[IJK, (np.float64, (2,))],
    q: Field[np.float64],
    r: Field[np.float64],
    s: Field[np.float32],
    n: Field[IJ, np.int32],
):
    with computation(PARALLEL), interval(...):
        r = a[-2, 0, 0] + a[1, 1, 0] * b + c * d[0, 0, 0][1]
        s = float32(a[0, -1, 0])
    with computation(FORWARD), interval(1, None):
        q = q[0, 0, -1] * 0.5 + r
    with computation(FORWARD), interval(0, 1):
        n = int32(10.0 * b)
";

/// Ends itself at the cell (137, 0, 0), the first at which `a` is so large.
const TRAPPED: &str = "
# @input a linear(low=0, high=141, along=i)
import numpy as np
from gt4py.cartesian.gtscript import *

def trapped(a: Field[np.float64], b: Field[np.float64]):
    with computation(PARALLEL), interval(...):
        b = a[-1, 0, 0]
        while a > 137.0:
            b = a
";

/// Rows of 141 points, or some more, end in the middle of a line.
const DOMAIN: [i64; 3] = [141, 20, 9];

const LIMIT: u64 = 1 << 28;

fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("rows");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn tools() -> Tools {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Tools::find(&Environment { path, ..Environment::default() })
}

fn backends() -> Vec<Backend> {
    let tools = tools();
    let can_run = |it: &Backend| {
        let can_run = it.check(&tools.found()).is_ok();
        if !can_run {
            isobar_testing::skip_part(it.name(), "it cannot run here");
        }
        can_run
    };
    Backend::ALL.into_iter().filter(can_run).collect()
}

fn compilation(text: &str) -> Compilation {
    let compilation = compile(&Project::of_one("main.py", text), &Config::default(), &mut NoHook);
    assert!(!compilation.has_errors(), "{:?}", compilation.notes.diagnostics);
    compilation
}

fn isobar(text: &str, name: &str, backend: Backend, more: &[&str]) -> Output {
    let source = folder().join(format!("{name}.py"));
    std::fs::write(&source, text).unwrap();
    let domain = DOMAIN.map(|it| it.to_string()).join(",");
    Command::new(env!("CARGO_BIN_EXE_isobar"))
        .arg("run")
        .arg(source)
        .args(["--backend", backend.name(), "--threads", "2", "--domain", &domain, "--format", "json"])
        .args(more)
        .env("XDG_CACHE_HOME", folder().join("cache"))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Runs the interpreter on arrays without room between their rows. Returns the written fields.
fn meant(compilation: &Compilation) -> BTreeMap<String, Array> {
    let (signature, tools) = (compilation.front.signature.as_ref().unwrap(), tools());
    let setting = Setting {
        cc: &tools.cc,
        temporary: Path::new("/nowhere"),
        is_embedded: false,
        ..Setting::embedded()
    };
    let [i, j, k] = DOMAIN;
    let call = call_for(signature, &compilation.front.directives, Domain::new(i, j, k));
    let mut launch = compilation.front.bind(call).unwrap();
    prepare_compiled(&*Backend::DEBUG.executor(), compilation, setting, &|_| ())
        .unwrap()
        .run(&mut launch)
        .unwrap();
    let written = signature.params.iter().zip(launch.arguments).filter(|(it, _)| it.access.is_written());
    let array = |argument| match argument {
        Argument::Field(field) => field.array,
        Argument::Scalar(_) | Argument::Unused => panic!("a field"),
    };
    written.map(|(param, argument)| (param.name.clone(), array(argument))).collect()
}

#[test]
fn results_are_those_of_fields_without_room_between_their_rows() {
    let compilation = compilation(WIDE);
    let meant = meant(&compilation);
    assert_eq!(meant.keys().collect::<Vec<_>>(), ["n", "q", "r", "s"]);
    // There is room indeed.
    let signature = compilation.front.signature.as_ref().unwrap();
    let domain = Domain::new(DOMAIN[0], DOMAIN[1], DOMAIN[2]);
    let bytes = bytes_with(signature, domain, Rows::AtLines { bytes: 64 });
    assert!(bytes > bytes_for(signature, domain) + 10_000);
    for backend in backends() {
        let out = folder().join(format!("wide-{}.npz", backend.name()));
        let output = isobar(WIDE, "wide", backend, &["--init", "--out", out.to_str().unwrap()]);
        let report: RunReport = serde_json::from_slice(&output.stdout).unwrap();
        // The memory that the report tells is the memory that the fields take.
        let told = report.memory.unwrap().fields_bytes;
        assert!(told >= bytes_for(signature, domain) && told <= bytes + 4096, "{told} {bytes}");
        let found = npz::read(&std::fs::read(&out).unwrap(), LIMIT).unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), meant.keys().collect::<Vec<_>>());
        for (name, array) in &meant {
            let other = &found[name];
            assert_eq!((&array.shape, array.dtype()), (&other.shape, other.dtype()));
            assert!(array.to_c_order_le_bytes() == other.to_c_order_le_bytes(), "{}: {name}", backend.name());
        }
        let means: BTreeMap<_, _> = report.fields.iter().map(|it| (&*it.name, it.statistics.mean)).collect();
        let mean = means["r"].unwrap();
        let all = meant["r"].indices().map(|it| meant["r"].get(&it).as_f64());
        let expected = all.sum::<f64>() / DOMAIN.into_iter().map(|it| it as f64).product::<f64>();
        assert!((mean - expected).abs() < 1e-9, "{mean} {expected}");
    }
}

#[test]
fn fields_that_are_given_stand_beside_those_that_are_made() {
    let compilation = compilation(WIDE);
    let meant = meant(&compilation);
    let signature = compilation.front.signature.as_ref().unwrap();
    let call =
        call_for(signature, &compilation.front.directives, Domain::new(DOMAIN[0], DOMAIN[1], DOMAIN[2]));
    // As it is read from a file: the last axis is the fastest.
    let mut file = std::io::Cursor::new(Vec::new());
    let q = &call.fields["q"];
    let shape = q.shape.iter().map(|&it| it as u64).collect();
    npz::write(&mut file, [("q", "float64", shape, &q.to_c_order_le_bytes()[..])]).unwrap();
    let given = folder().join("given.npz");
    std::fs::write(&given, file.into_inner()).unwrap();
    for backend in backends() {
        let out = folder().join(format!("given-{}.npz", backend.name()));
        let paths = [given.to_str().unwrap(), out.to_str().unwrap()];
        let output = isobar(WIDE, "given", backend, &["--fields", paths[0], "--init", "--out", paths[1]]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let report: RunReport = serde_json::from_slice(&output.stdout).unwrap();
        let layout = report.layout.unwrap();
        assert_eq!((layout.way, &*layout.copied), (StrideHandling::Read, &["q".to_owned()][..]));
        assert_eq!((layout.fields["q"], layout.fields["a"]), (UnitStrideAxis::K, UnitStrideAxis::I));
        let found = npz::read(&std::fs::read(&out).unwrap(), LIMIT).unwrap();
        for (name, array) in &meant {
            let found = found[name].to_c_order_le_bytes();
            assert!(array.to_c_order_le_bytes() == found, "{}: {name}", backend.name());
        }
    }
}

#[test]
fn a_trap_tells_the_cell_and_not_where_it_lies() {
    for backend in backends() {
        let output = isobar(TRAPPED, "trapped", backend, &["--init"]);
        let report: RunReport = serde_json::from_slice(&output.stdout).unwrap();
        let messages: Vec<_> = report.diagnostics.iter().map(|it| it.message.as_str()).collect();
        assert!(messages.iter().any(|it| it.contains("at i=137, j=0, k=0")), "{messages:?}");
    }
}
