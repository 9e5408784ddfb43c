//! Many more threads than processors: code is made and called among them all.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use isobar_compiler::call::launch::Argument;
use isobar_compiler::config::Config;
use isobar_compiler::inputs::call_for;
use isobar_compiler::pipeline::NoHook;
use isobar_compiler::pipeline::route::compile;
use isobar_compiler::project::Project;
use isobar_compiler::space::Domain;
use isobar_runner::backends::{Backend, Failure, Setting, prepare_compiled};

/// Its code calls functions, reads tables, and shares loops: all that a loader has to place.
const TEXT: &str = "\
# @domain 20 30 40
# @input a random(low=0.5, high=2, seed=1)
# @input c constant(0)
from gt4py.cartesian.gtscript import *

def calls(a: Field[float], b: Field[float], c: Field[float]):
    with computation(PARALLEL), interval(...):
        t = exp(a[1, 0, 0]) + log(a) * a ** 0.3
        b = t[0, 1, 0] % 0.7 + sin(a[0, -1, 0])
    with computation(FORWARD), interval(1, None):
        c = c[0, 0, -1] + tanh(b)
";

const MANY: u32 = 1024;

/// The bytes of all fields behind the call, with so many threads; none where the system does not give as many.
fn written(threads: u32, domains: &[Domain]) -> Option<Vec<Vec<u8>>> {
    let compilation = compile(&Project::of_one("main.py", TEXT), &Config::default(), &mut NoHook);
    let signature = compilation.front.signature.as_ref().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let setting = Setting {
        cc: &Err(String::new()),
        temporary: temporary.path(),
        threads,
        is_embedded: false,
        ..Setting::embedded()
    };
    let mut prepared = prepare_compiled(&*Backend::RAYON.executor(), &compilation, setting, &|_| ()).unwrap();
    let run = |domain: &Domain| {
        let call = call_for(signature, &compilation.front.directives, *domain);
        let mut launch = compilation.front.bind(call).unwrap();
        match prepared.run(&mut launch) {
            Ok(()) => {}
            Err(Failure::Machine(why)) if why.contains("thread") => {
                isobar_testing::skip("a thousand threads", why);
                return None;
            }
            Err(failure) => panic!("{failure:?}"),
        }
        let bytes = launch.arguments.iter().flat_map(|it| match it {
            Argument::Field(field) => field.array.to_c_order_le_bytes(),
            Argument::Scalar(_) | Argument::Unused => Vec::new(),
        });
        Some(bytes.collect())
    };
    domains.iter().map(run).collect()
}

#[test]
fn a_thousand_threads_are_as_good_as_one() {
    // Of each there is code of its own, which the later ones get while all threads are there.
    let domains = [[20, 30, 40], [7, 1025, 3], [1, 1, 2000]].map(|[i, j, k]| Domain::new(i, j, k));
    let Some(many) = written(MANY, &domains) else { return };
    assert!(many == written(1, &domains).unwrap());
}
