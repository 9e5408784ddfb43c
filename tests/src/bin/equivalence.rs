//! `cargo xtask equivalence`: generated stencils through every level, every pass and every interpreter.
#![expect(clippy::print_stdout, reason = "a command-line program talks to its user on stdout")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use isobar_tests::levels::hold;

/// Deep nesting costs stack; the compiler's own limits see to it that this is enough.
const STACK_BYTES: usize = 256 * 1024 * 1024;
/// After so many failures the rest tells little more.
const MOST_FAILURES: u64 = 20;

fn main() -> ExitCode {
    match std::env::args().skip(1).map(|it| it.parse()).collect::<Result<Vec<u64>, _>>().as_deref() {
        Ok([first, count]) => run(*first, *count),
        _ => {
            println!("usage: equivalence FIRST_SEED COUNT");
            ExitCode::from(2)
        }
    }
}

/// Prints what differs, and how many stencils were held.
fn run(first: u64, count: u64) -> ExitCode {
    let begun = Instant::now();
    let (next, runs, failures) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count || failures.load(Ordering::Relaxed) >= MOST_FAILURES {
                break;
            }
            let seed = first + number;
            match held(seed) {
                Ok(n) => _ = runs.fetch_add(n, Ordering::Relaxed),
                Err(wrong) => {
                    failures.fetch_add(1, Ordering::Relaxed);
                    println!("seed {seed}: {wrong:#}\n");
                }
            }
        }
    };
    let n_threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        let start = |_| std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        let threads: Vec<_> = (0..n_threads).map(start).collect();
        if threads.iter().all(Result::is_err) {
            work();
        }
    });
    let (runs, failures) = (runs.into_inner(), failures.into_inner());
    let took = begun.elapsed().as_secs();
    println!("{count} generated stencils from seed {first}: {runs} runs, {failures} failures, {took} s");
    ExitCode::from(u8::from(failures > 0))
}

fn held(seed: u64) -> Result<u64> {
    match catch_unwind(AssertUnwindSafe(|| hold(seed))) {
        Ok(Ok(runs)) => Ok(u64::try_from(runs)?),
        Ok(Err(wrong)) => Err(wrong),
        Err(panic) => match panic.downcast::<String>() {
            Ok(said) => Err(anyhow!("the compiler crashed: {said}")),
            Err(_) => bail!("the compiler crashed"),
        },
    }
}
