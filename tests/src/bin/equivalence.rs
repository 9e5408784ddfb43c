//! `cargo xtask equivalence`: generated stencils through every level, every pass and every interpreter.
#![expect(clippy::print_stdout, reason = "a command-line program talks to its user on stdout")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use isobar_tests::levels::{Held, hold};

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
    let [next, runs, failures, other_traps] = std::array::from_fn(|_| AtomicU64::new(0));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count || failures.load(Ordering::Relaxed) >= MOST_FAILURES {
                break;
            }
            let seed = first + number;
            match held(seed) {
                Ok(held) => {
                    runs.fetch_add(held.runs, Ordering::Relaxed);
                    other_traps.fetch_add(held.other_traps, Ordering::Relaxed);
                    if held.other_traps > 0 {
                        println!("seed {seed}: a level tells another statement that ends the run");
                    }
                }
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
    let other_traps = other_traps.into_inner();
    println!(
        "{count} generated stencils from seed {first}: {runs} runs, {failures} failures, {other_traps} runs that \
         another statement ends, {took} s"
    );
    ExitCode::from(u8::from(failures > 0))
}

fn held(seed: u64) -> Result<Held> {
    match catch_unwind(AssertUnwindSafe(|| hold(seed))) {
        Ok(outcome) => outcome,
        Err(panic) => match panic.downcast::<String>() {
            Ok(said) => Err(anyhow!("the compiler crashed: {said}")),
            Err(_) => bail!("the compiler crashed"),
        },
    }
}
