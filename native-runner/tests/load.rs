//! Clients that send jobs one after another: none fails, and how long each waits.
//!
//! `cargo xtask load` runs it for a minute, with the release build of the runner, and shows the figures.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]
#![expect(clippy::print_stdout, reason = "figures are shown")]

use std::time::{Duration, Instant};

use isobar_protocol::job::EndReason;
use serde_json::{Value, json};

use super::served::{Runner, end};

const HDIFF: &str = include_str!("../../static/gallery/horizontal_diffusion.py");

/// How many send jobs at the same time.
const CLIENTS: usize = 4;

/// What one job took, in milliseconds: until it was accepted, until its end was told, and until its field was there.
type Took = [f64; 3];

fn job(backend: &str) -> Value {
    json!({
        "files": {"main.py": HDIFF},
        "backend": backend,
        "init": {},
        "domain": [64, 64, 64],
    })
}

/// One client: jobs until the time is over.
fn client(runner: &Runner, document: &Value, until: Instant) -> Vec<Took> {
    let mut all = Vec::new();
    while Instant::now() < until {
        let begun = Instant::now();
        let ms = || 1e3 * begun.elapsed().as_secs_f64();
        let job = runner.submit(document);
        let accepted = ms();
        let (reason, problem) = end(&runner.follow(&job));
        assert_eq!((reason, problem), (EndReason::Ok, None));
        let ended = ms();
        let (status, bytes) = runner.field(&job, "q_out");
        assert!(status == 200 && bytes.len() >= 8 * 64 * 64 * 64, "{status}");
        all.push([accepted, ended, ms()]);
    }
    all
}

/// The value below which so many of a hundred lie.
fn percentile(all: &[Took], which: usize, percent: usize) -> f64 {
    let mut values: Vec<f64> = all.iter().map(|it| it[which]).collect();
    values.sort_by(f64::total_cmp);
    values[(values.len() * percent / 100).min(values.len() - 1)]
}

#[test]
fn jobs_of_four_clients_come_back_and_none_fails() {
    let seconds = std::env::var("ISOBAR_LOAD_SECONDS").ok().and_then(|it| it.parse().ok()).unwrap_or(2);
    for backend in ["rayon", "openmp"] {
        let folder = tempfile::tempdir().unwrap();
        let runner = Runner::start(&["--no-state"], folder.path());
        let document = job(backend);
        // The first one has code made.
        client(&runner, &document, Instant::now() + Duration::from_millis(1));
        let begun = Instant::now();
        let until = begun + Duration::from_secs(seconds);
        let all: Vec<Took> = std::thread::scope(|scope| {
            let clients = (0..CLIENTS).map(|_| scope.spawn(|| client(&runner, &document, until)));
            clients.collect::<Vec<_>>().into_iter().flat_map(|it| it.join().unwrap()).collect()
        });
        let rate = all.len() as f64 / begun.elapsed().as_secs_f64();
        let [accepted, ended, field] = [(0, 99), (1, 95), (2, 95)].map(|(it, of)| percentile(&all, it, of));
        println!(
            "{backend}: {rate:.0} jobs/s of {CLIENTS} clients; accepted p99 {accepted:.1} ms, ended p95 {ended:.1} ms, field \
             p95 {field:.1} ms"
        );
        assert!(all.len() >= CLIENTS);
        assert!(!runner.noted().contains("panicked"), "{}", runner.noted());
    }
}
