//! Clients that send jobs one after another: none fails, and how long each waits.
//!
//! `cargo xtask load` runs it for a minute, with the release build of the runner, and shows the figures.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::time::{Duration, Instant};

use isobar_protocol::job::EndReason;
use serde_json::{Value, json};

use super::served::{ENDLESS, Runner, end, run_of, slow};

const HDIFF: &str = include_str!("../../static/gallery/horizontal_diffusion.py");

/// How many send jobs at the same time.
const CLIENTS: usize = 4;

/// Times of one job in milliseconds: until it was accepted, until its end was told, and until its field was
/// there.
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

/// A number of the environment, for long forms of these tests.
fn asked(name: &str, short: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(short)
}

#[test]
fn jobs_of_four_clients_come_back_and_none_fails() {
    let seconds = asked("ISOBAR_LOAD_SECONDS", 2);
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

#[test]
fn many_who_wait_for_events_take_little_memory() {
    let n = asked("ISOBAR_LOAD_STREAMS", 200);
    let (most, folder) = ((n + 16).to_string(), tempfile::tempdir().unwrap());
    let connections =
        ["--no-state", "--connections", &most, "--connections-per-address", &(n + 8).to_string()];
    // Both sides of each connection are open files.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let wanted = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Nofile, wanted);
    let runner = Runner::start(&connections, folder.path());
    let job = runner.submit(&run_of(&slow(ENDLESS)));
    runner.until_working(&job);
    let before = resident_mib(&runner);
    let streams: Vec<_> = (0..n).map(|_| runner.events(&job)).collect();
    let after = resident_mib(&runner);
    println!("{n} who wait for events: {before} MiB before, {after} MiB with them");
    assert!(after < 400 && after - before.min(after) <= 16 + n / 25, "{before} to {after} MiB");
    drop(streams);
    let (status, _) = runner.ask(&format!("DELETE /v1/jobs/{job}"), "text/plain", b"");
    assert!((200..300).contains(&status), "{status}");
}

/// Memory of the runner, without its jobs.
fn resident_mib(runner: &Runner) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", runner.id())).unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() / 1024
}

#[test]
fn a_job_that_is_cancelled_is_over_soon() {
    let (n, folder) = (asked("ISOBAR_LOAD_CANCELS", 10), tempfile::tempdir().unwrap());
    let runner = Runner::start(&["--no-state"], folder.path());
    let mut all = Vec::new();
    for backend in ["debug", "rayon", "openmp"] {
        let mut document = run_of(&slow(ENDLESS));
        document["backend"] = backend.into();
        for _ in 0..n {
            let job = runner.submit(&document);
            runner.until_working(&job);
            // Anywhere in what it does: compilers are ended as well.
            std::thread::sleep(Duration::from_millis(3 * (all.len() as u64 % 11)));
            let begun = Instant::now();
            runner.ask(&format!("DELETE /v1/jobs/{job}"), "text/plain", b"");
            assert_eq!(end(&runner.follow(&job)).0, EndReason::Cancelled);
            all.push([1e3 * begun.elapsed().as_secs_f64(); 3]);
        }
    }
    println!(
        "{} cancelled jobs were over after: p50 {:.1} ms, p99 {:.1} ms",
        all.len(),
        percentile(&all, 0, 50),
        percentile(&all, 0, 99)
    );
}
