//! An embedded run leaves the processors to the system: no thread is bound to one.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use isobar_compiler::call::array::Array;
use isobar_compiler::config::Config;
use isobar_compiler::project::Project;
use isobar_compiler::types::DType;
use isobar_runtime::executable::OwnedSetting;
use isobar_runtime::executors::rayon::Rayon;
use isobar_runtime::{Arguments, Buffer, Executable};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity};

/// The processors that each thread of this process may be on, each answer once. A thread may end meanwhile.
fn places() -> Vec<Vec<usize>> {
    let entries = fs::read_dir("/proc/self/task").expect("there are threads");
    let threads = entries.filter_map(|it| it.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let mut all: Vec<Vec<usize>> = threads
        .filter_map(|it| sched_getaffinity(Pid::from_raw(it)).ok())
        .map(|allowed| (0..CpuSet::MAX_CPU).filter(|&it| allowed.is_set(it)).collect())
        .collect();
    all.sort();
    all.dedup();
    all
}

#[test]
fn no_thread_of_an_embedded_run_is_bound_to_a_processor() {
    let before = places();
    assert_eq!(before.len(), 1, "this process is not restricted thread by thread");
    let threads = u32::try_from(before[0].len().max(2)).expect("it is small");
    let text = "
from gt4py.cartesian.gtscript import *

def twice(a: Field[float], b: Field[float]):
    with computation(PARALLEL), interval(...):
        b = a + a
";
    let (project, setting) = (Project::of_one("main.py", text), OwnedSetting::embedded(threads));
    let stencil = Executable::new(&project, Config::default(), Arc::new(Rayon), setting, &|_| ());
    let stencil = stencil.expect("machine code can be made here");
    // Two shapes in turn: the threads are there from the first call on.
    for shape in [[40, 30, 20], [8, 64, 5]].into_iter().cycle().take(6) {
        let field = || Buffer::host(Array::zeros(DType::Float64, &shape));
        let fields = BTreeMap::from([("a".to_owned(), field()), ("b".to_owned(), field())]);
        let mut bound = stencil.bind(Arguments { fields, ..Arguments::default() }).expect("they fit");
        stencil.run(&mut bound).expect("it runs");
        assert_eq!(places(), before);
    }
}
