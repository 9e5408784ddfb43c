//! Times the back ends without generated code, on the gallery:
//! `cargo bench -p isobar-tests --bench interpreters`.
//!
//! The back ends take turns, so that other load of the machine affects both. Each line is the median of one
//! back end's runs with the quartiles, and how many times faster the second back end is.
#![expect(clippy::print_stdout, reason = "a benchmark talks to its user on stdout")]

use std::time::{Duration, Instant};

use isobar_compiler::call::run::NoControl;
use isobar_compiler::space::Domain;
use isobar_compiler::{debug, numpy};
use isobar_tests::{GALLERY, compiled, launch};

const DOMAIN: Domain = Domain { i: 64, j: 64, k: 64 };

/// Runs of each back end; of the slow one a third.
const REPETITIONS: usize = 31;

fn main() {
    let filter = std::env::args().skip(1).find(|it| !it.starts_with('-'));
    println!("on {DOMAIN}: median [quartiles] in ms");
    for name in GALLERY.iter().filter(|name| filter.as_ref().is_none_or(|it| name.contains(it))) {
        for precision in [64, 32] {
            measure(name, precision);
        }
    }
}

fn measure(name: &str, precision: u32) {
    let compilation = compiled(name, precision);
    let (Some(oir), Some(extents), Some(npir)) =
        (&compilation.front.oir, &compilation.front.extents, compilation.front.npir())
    else {
        println!("{name} does not compile");
        return;
    };
    let given = launch(&compilation, DOMAIN);
    let (mut of_debug, mut of_numpy) = (Vec::new(), Vec::new());
    for repetition in 0..REPETITIONS {
        if repetition % 3 == 0 {
            let mut launch = given.clone();
            let start = Instant::now();
            if let Err(stop) = debug::run(oir, extents, &mut launch, &mut NoControl) {
                println!("{name}: {stop}");
            }
            of_debug.push(start.elapsed());
        }
        let mut launch = given.clone();
        let start = Instant::now();
        if let Err(stop) = numpy::run(npir, &mut launch, &mut NoControl) {
            println!("{name}: {stop}");
        }
        of_numpy.push(start.elapsed());
    }
    let [debug, numpy] = [of_debug, of_numpy].map(quartiles);
    let times = debug[1].as_secs_f64() / numpy[1].as_secs_f64();
    println!("{name:24} f{precision}  debug {}  numpy {}  {times:6.1} times", told(debug), told(numpy));
}

fn quartiles(mut times: Vec<Duration>) -> [Duration; 3] {
    times.sort_unstable();
    let n = times.len() - 1;
    [n / 4, n / 2, n - n / 4].map(|it| times[it])
}

fn told([low, median, high]: [Duration; 3]) -> String {
    let ms = |it: Duration| it.as_secs_f64() * 1e3;
    format!("{:8.2} [{:.2} {:.2}]", ms(median), ms(low), ms(high))
}
