//! The results of a measurement, in words and numbers.

use isobar_protocol::bench::{Benchmark, Samples};
use isobar_protocol::compile::bytes;
use isobar_protocol::request::Mode;

use crate::bridge::locale::{decimal, t};
use crate::plots::number;

/// A sentence that tells the measured stencil, its domain, and the settings of the measurement.
#[expect(clippy::cast_precision_loss, reason = "a size of some digits")]
#[must_use]
pub fn of(it: &Benchmark, precision: u32, is_stale: bool) -> String {
    let [i, j, k] = it.domain;
    let mut text = t!(
        "bench-of",
        stencil = &it.stencil,
        i = i,
        j = j,
        k = k,
        precision = precision,
        threads = it.threads,
        mode = it.mode.name(),
        rounds = it.rounds,
        bytes = decimal(bytes(it.bytes as f64)),
    );
    if is_stale {
        text.push(' ');
        text += t!("bench-stale");
    }
    text
}

/// Whether the interval is wider than what is worth telling apart.
#[must_use]
pub fn is_noisy(it: &Samples) -> bool {
    const WIDTH: f64 = 0.1;
    it.high_ms - it.low_ms > WIDTH * it.median_ms
}

/// Of three digits: what is measured differs in the third.
#[must_use]
pub fn time(ms: f64) -> String {
    number::short(ms, 3)
}

#[must_use]
pub fn rate(gb_per_s: Option<f64>) -> Option<String> {
    gb_per_s.map(|it| number::short(it, 3))
}

/// Whether the back ends wrote the same, and whether that is as it must be.
#[must_use]
pub fn agreement(it: &Benchmark) -> Option<(&'static str, bool)> {
    (it.backends.len() > 1).then_some(match (it.agree, it.mode) {
        (true, _) => (t!("bench-agree"), true),
        (false, Mode::Fast) => (t!("bench-differ-fast"), true),
        (false, Mode::Reproducible) => (t!("bench-differ"), false),
    })
}

#[cfg(test)]
mod tests {
    use isobar_protocol::bench::BackendMeasurement;

    use super::*;

    fn benchmark() -> Benchmark {
        let one = BackendMeasurement {
            backend: "rayon".to_owned(),
            ready: Vec::new(),
            first_ms: 1.0,
            calls: Samples::default(),
            gb_per_s: None,
            of_copy: None,
            on_device: None,
            steps: Vec::new(),
            tuned: None,
            layouts: Vec::new(),
        };
        Benchmark {
            stencil: "s".to_owned(),
            domain: [4, 3, 2],
            threads: 1,
            mode: Mode::Reproducible,
            rounds: 7,
            bytes: 2_000_000,
            copy: Samples::default(),
            backends: vec![one.clone(), one],
            agree: true,
        }
    }

    #[test]
    fn a_sentence_tells_what_was_measured() {
        let found = benchmark();
        let text = of(&found, 32, false);
        assert!(text.starts_with("s on 4 × 3 × 2 points, fp32, 1 thread, reproducible, 7 rounds"), "{text}");
        assert_eq!(of(&found, 32, true), format!("{text} The text has changed since."));
    }

    #[test]
    fn an_interval_of_a_tenth_is_noisy() {
        let of = |low_ms, high_ms| Samples { median_ms: 10.0, low_ms, high_ms, ms: Vec::new() };
        assert!(!is_noisy(&of(9.8, 10.5)));
        assert!(is_noisy(&of(9.8, 11.0)));
    }

    #[test]
    fn bits_that_differ_are_a_fault_where_they_must_be_the_same() {
        let mut it = benchmark();
        assert!(agreement(&it).is_some_and(|it| it.1));
        it.agree = false;
        assert!(agreement(&it).is_some_and(|it| !it.1));
        it.mode = Mode::Fast;
        assert!(agreement(&it).is_some_and(|it| it.1));
        it.backends.pop();
        assert_eq!(agreement(&it), None);
    }
}
