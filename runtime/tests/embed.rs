//! A program of its own: it links the runtime alone, and runs a stencil on its own strided arrays from two threads.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::Arc;

use isobar_compiler::{config::Config, project::Project, types::DType::Float64};
use isobar_runtime::executable::OwnedSetting;
use isobar_runtime::{Arguments, Buffer, Executable, executors::rayon::Rayon};

const TEXT: &str = "
from gt4py.cartesian.gtscript import *

def sum_of_levels(q: Field[float], o: Field[float]):
    with computation(FORWARD):
        with interval(0, 1):
            o = q
        with interval(1, None):
            o = o[0, 0, -1] + q
";

/// A field of 4 by 3 by 5 points in a NumPy array, levels side by side, as they are or from the top down.
fn lend(array: &mut [f64], is_reversed: bool) -> Option<Buffer> {
    let (first, along_k) = if is_reversed { (4, -1) } else { (0, 1) };
    let first = NonNull::from(array.get_mut(first)?).cast();
    // SAFETY: the array has the 60 elements that this reaches, and outlives the call below.
    #[expect(unsafe_code, reason = "the elements stay where they are")]
    unsafe { Buffer::lent(Float64, first, &[4, 3, 5], &[15, 5, along_k]) }.ok()
}

#[test]
fn two_threads_run_a_stencil_on_their_own_strided_arrays() {
    let (project, setting) = (Project::of_one("main.py", TEXT), OwnedSetting::embedded(1));
    let stencil =
        Executable::new(&project, Config::default(), Arc::new(Rayon), setting, &|_| ()).expect("it runs");
    let run = |value: f64| {
        let (mut q, mut o) = (vec![value; 60], vec![0.0; 60]);
        (0..60).for_each(|at| q[at] += (at % 5) as f64);
        let fields = BTreeMap::from([("q".into(), lend(&mut q, true)?), ("o".into(), lend(&mut o, false)?)]);
        let mut bound = stencil.bind(Arguments { fields, ..Arguments::default() }).ok()?;
        stencil.run(&mut bound).ok()?;
        Some((o[55], o[59]))
    };
    let ran = std::thread::scope(|scope| {
        [1.0, 2.0].map(|it| scope.spawn(move || run(it))).map(|it| it.join().ok().flatten())
    });
    assert_eq!(ran, [Some((5.0, 15.0)), Some((6.0, 20.0))]);
}
