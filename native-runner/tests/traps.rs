//! Runs that stop themselves. Every back end names the same cell and statement as `debug`, and none goes on
//! for long after it found one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use isobar_testing::{Shard, skip_part};
use serde_json::Value;

/// Bodies with many cells whose loop never ends. Threads, lanes and strips do not reach these cells in the
/// order of `debug` by themselves.
const BODIES: [&str; 7] = [
    // Every cell.
    "
    with computation(PARALLEL), interval(...):
        b = a
        while b >= 0.0:
            b = a",
    // Up, and not from the first level on.
    "
    with computation(FORWARD), interval(0, 2):
        b = a
    with computation(FORWARD), interval(2, None):
        b = b[0, 0, -1]
        while b > 0.4 and a < 0.9:
            b = a",
    // Down.
    "
    with computation(BACKWARD), interval(...):
        b = a
        while b > 0.5:
            b = a",
    // The first statement ends the run later in the rows, and the second one sooner.
    "
    with computation(PARALLEL), interval(...):
        b = a
        while b > 0.9:
            b = a
        c = a
        while c > 0.1:
            c = a",
    // Within a row, the later statement meets an endless cell before the earlier one does.
    "
    with computation(PARALLEL), interval(...):
        b = a
        t = a
        while t > 0.8:
            t = a
    with computation(PARALLEL), interval(...):
        b = t[1, 0, 0]
        while b > 0.1:
            b = t",
    // One in another, which ends.
    "
    with computation(PARALLEL), interval(...):
        b = a
        n = 0.0
        while b > 0.6:
            n = 0.0
            while n < 3.0:
                n = n + 1.0",
    // In a branch, where lanes part.
    "
    with computation(PARALLEL), interval(...):
        b = a
        c = 0.0
        if a > 0.3:
            while b > 0.0:
                b = a
        else:
            c = 1.0",
];

/// Statement and cell at which a run stopped, and how long the command took.
fn stopped(text: &str, backend: &str, threads: &str) -> (Value, Value, Duration) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("main.py");
    std::fs::write(&file, text).unwrap();
    let begun = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_isobar"))
        .arg("run")
        .arg(&file)
        .args(["--init", "--format", "json", "--backend", backend, "--threads", threads])
        .env("XDG_CACHE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let first = &report["diagnostics"][0];
    assert_eq!((output.status.code(), &first["code"]), (Some(1), &Value::from("R01")), "{report:#}");
    (first["start"].clone(), first["message"].clone(), begun.elapsed())
}

fn text(domain: &str, body: &str) -> String {
    format!(
        "# @domain {domain}\n# @input a random(low=0, high=1, seed=3)\n\
         from gt4py.cartesian.gtscript import *\n\n\
         def stops(a: Field[float], b: Field[float], c: Field[float]):{body}\n    \
         with computation(PARALLEL), interval(...):\n        c = b\n"
    )
}

/// The back ends that compile.
fn compiled() -> &'static [&'static str] {
    if Command::new("cc").arg("--version").output().is_ok_and(|it| it.status.success()) {
        return &["rayon", "openmp"];
    }
    skip_part("openmp", "there is no C compiler");
    &["rayon"]
}

isobar_testing::shards! {
    every_back_end_stops_where_debug_does_whatever_its_threads: 4 shards of bodies;
}

fn bodies(shard: Shard) {
    for body in shard.of(BODIES) {
        let text = text("37 5 6", body);
        let (statement, message, _) = stopped(&text, "debug", "1");
        for backend in compiled() {
            for threads in ["1", "3"] {
                let (at, said, _) = stopped(&text, backend, threads);
                assert_eq!((&at, &said), (&statement, &message), "{backend}, {threads} threads: {body}");
            }
        }
    }
}

#[test]
fn no_back_end_goes_on_for_long_after_it_has_to_stop() {
    // All cells of it would take minutes: each goes round a million times.
    let text = text("64 64 80", BODIES[0]);
    let (statement, message, _) = stopped(&text, "debug", "1");
    for backend in compiled() {
        let (at, said, elapsed) = stopped(&text, backend, "2");
        assert_eq!((&at, &said), (&statement, &message), "{backend}");
        assert!(elapsed < Duration::from_secs(20), "{backend} took {elapsed:?}");
    }
}
