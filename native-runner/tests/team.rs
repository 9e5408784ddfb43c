//! Threads of OpenMP stay where they are.
//!
//! The test looks at all threads of its process, so it runs in a process of its own: this program again, with one test.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use isobar_compiler::config::Config;
use isobar_compiler::inputs::call_for;
use isobar_compiler::pipeline::NoHook;
use isobar_compiler::pipeline::route::compile;
use isobar_compiler::project::Project;
use isobar_compiler::space::Domain;
use isobar_runner::backends::{Backend, Setting, prepare_compiled};
use isobar_runner::config::{Environment, Tools};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity};

/// The processors that each thread of this process may be on.
fn places() -> BTreeMap<i32, Vec<usize>> {
    let entries = fs::read_dir("/proc/self/task").expect("there are threads");
    let threads = entries.filter_map(|it| it.ok()?.file_name().to_str()?.parse().ok());
    threads
        .map(|thread: i32| {
            let allowed = sched_getaffinity(Pid::from_raw(thread)).expect("it is one of ours");
            (thread, (0..CpuSet::MAX_CPU).filter(|&it| allowed.is_set(it)).collect())
        })
        .collect()
}

/// Set in the process that runs the one test.
const ALONE: &str = "ISOBAR_TEST_ALONE";

#[test]
fn threads_of_openmp_stay_on_processors_of_their_own() {
    if std::env::var_os(ALONE).is_some() {
        if let Err(why) = each_thread_stays_on_its_processor() {
            isobar_testing::skip("threads of OpenMP", why);
        }
        return;
    }
    let name = "team::threads_of_openmp_stay_on_processors_of_their_own";
    let mut alone = Command::new(std::env::current_exe().expect("this program has a path"));
    let output = alone.args(["--exact", name, "--nocapture"]).env(ALONE, "1").output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (told, errors) = (text(&output.stdout), text(&output.stderr));
    // A name of libtest may stand in the same line.
    if let Some((_, why)) = told.lines().find_map(|it| it.split_once("skipped: threads of OpenMP, ")) {
        isobar_testing::skip("threads of OpenMP", why);
    }
    assert!(output.status.success() && told.contains("1 passed"), "{told}{errors}");
}

/// Fails where a thread moves; an error is why it cannot be asked.
fn each_thread_stays_on_its_processor() -> Result<(), &'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let tools = Tools::find(&Environment { path, ..Environment::default() });
    let before = places();
    let all = before.values().next().expect("this thread is one").clone();
    if all.len() < 2 || Backend::OPENMP.check(&tools.found()).is_err() {
        return Err("there is one processor, or no C compiler");
    }
    let text = "
# @input a linear(low=0, high=1, along=k)
from gt4py.cartesian.gtscript import *

def twice(a: Field[float], b: Field[float]):
    with computation(PARALLEL), interval(...):
        b = a + a
";
    let compilation = compile(&Project::of_one("main.py", text), &Config::default(), &mut NoHook);
    assert!(!compilation.has_errors(), "{:?}", compilation.notes.diagnostics);
    let signature = compilation.front.signature.as_ref().expect("it compiled");
    let temporary = tempfile::tempdir().expect("there is room");
    let setting = Setting {
        cc: &tools.cc,
        temporary: temporary.path(),
        threads: u32::try_from(all.len()).expect("it is small"),
        is_embedded: false,
        ..Setting::embedded()
    };
    let mut prepared =
        prepare_compiled(&*Backend::OPENMP.executor(), &compilation, setting, &|_| ()).expect("it compiles");
    let call = call_for(signature, &compilation.front.directives, Domain::new(8, 4, 16));
    let mut launch = compilation.front.bind(call).expect("all inputs are there");
    for _ in 0..3 {
        prepared.run(&mut launch).expect("it runs");
        let mut after = places();
        // The threads from before keep their processors, so that programs that they start may still run
        // anywhere.
        before.iter().for_each(|(thread, allowed)| assert_eq!(after.remove(thread).as_ref(), Some(allowed)));
        let mut own: Vec<Vec<usize>> = after.into_values().collect();
        own.sort();
        let others: Vec<Vec<usize>> = all[1..].iter().map(|&it| vec![it]).collect();
        assert_eq!(own, others);
    }
    Ok(())
}
