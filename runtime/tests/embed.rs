//! A program of its own: it links the runtime alone, and runs a stencil on its own strided arrays from two threads.

use std::collections::BTreeMap;

use isobar_compiler::backend::array::{Array, Elements};
use isobar_compiler::backend::launch::{Argument, Call};
use isobar_compiler::pipeline::{NoHook, route::compile};
use isobar_compiler::{config::Config, project::Project};
use isobar_runtime::executors::{Executor, Prepared, Setting, rayon::Rayon};

const TEXT: &str = "
from gt4py.cartesian.gtscript import *

def sum_of_levels(q: Field[float], o: Field[float]):
    with computation(FORWARD):
        with interval(0, 1):
            o = q
        with interval(1, None):
            o = o[0, 0, -1] + q
";

#[test]
fn two_threads_run_a_stencil_on_their_own_strided_arrays() {
    let compilation = compile(&Project::of_one("main.py", TEXT), &Config::default(), &mut NoHook);
    let ready = Rayon.prepare(&compilation, Setting::embedded(), &|_| ()).expect("machine code can be made here");
    let run = |mut ready: Prepared, number: i32| {
        // As NumPy makes them: levels side by side, those of `q` from the top down.
        let field = |value: f64| Elements::Float64(vec![value; 4 * 3 * 5].into());
        let q = Array {
            first: 4,
            strides: vec![15, 5, -1],
            ..Array::from_c_order(field(f64::from(number)), &[4, 3, 5])?
        };
        let o = Array::from_c_order(field(0.0), &[4, 3, 5])?;
        let call = Call { fields: BTreeMap::from([("q".into(), q), ("o".into(), o)]), ..Call::default() };
        let mut launch = compilation.bind(call).ok()?;
        ready.run(&mut launch).ok()?;
        let Argument::Field(o) = &launch.arguments[1] else { return None };
        Some(o.array.get(&[3, 2, 4]).as_f64())
    };
    let ran = std::thread::scope(|scope| {
        let started = [1, 2].map(|it| {
            let ready = ready.clone();
            scope.spawn(move || run(ready, it))
        });
        started.map(|it| it.join().ok().flatten())
    });
    assert_eq!(ran, [Some(5.0), Some(10.0)]);
}
