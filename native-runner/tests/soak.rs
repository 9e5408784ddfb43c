//! A mixed load for some time: nothing grows, nothing is lost, nothing is left.
//!
//! A few seconds as a test; `cargo xtask soak` runs it for half an hour.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use isobar_protocol::job::EndReason;
use serde_json::{Value, json};

use crate::served::{COPY, ENDLESS, Runner, RunnerFolder, end, eventually, run_of, seconds, slow};

/// As a test.
const SHORT: u64 = 8;
const CLIENTS: u64 = 4;
/// Resident memory and descriptors may be so much more at the end than they were after a fifth of the time.
const MORE_MIB: u64 = 24;
const MORE_DESCRIPTORS: u64 = 16;
/// An upload is an open file without a name. The runner keeps 64 of them. Each client may hold one more: an
/// upload that arrives, or one that a job still uses.
const MOST_UPLOADS: u64 = 64 + CLIENTS;

/// How often each action was done, by its name.
#[derive(Default)]
struct Done(Mutex<BTreeMap<String, u64>>);

impl Done {
    fn count(&self, what: &str) {
        *self.0.lock().unwrap().entry(what.to_owned()).or_default() += 1;
    }
}

/// Numbers without an end, the same for the same start.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        // Xorshift, after Marsaglia, "Xorshift RNGs", 2003.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// One thing that a client does.
fn act(runner: &Runner, numbers: &mut Numbers, done: &Done) {
    let followed = |job: &str| {
        let (reason, problem) = end(&runner.follow(job));
        assert_eq!(runner.state(job).reason, Some(reason), "its state is that of its one end");
        done.count(&format!("job {reason:?}"));
        (reason, problem)
    };
    match numbers.below(12) {
        0..=3 => {
            let backend = ["debug", "numpy", "rayon"][usize::try_from(numbers.below(3)).unwrap()];
            let document = json!({"files": {"main.py": COPY}, "backend": backend, "init": {}});
            let job = runner.submit(&document);
            assert_eq!(followed(&job), (EndReason::Ok, None));
            let (status, field) = runner.field(&job, "b");
            // Others may have pushed it out of what is kept.
            assert!(status == 200 && field.len() == 24 * 8 || status == 410, "{status}");
        }
        4 => {
            let data: Vec<u8> = (0..24).flat_map(|it| f64::from(it).to_le_bytes()).collect();
            let mut npz = std::io::Cursor::new(Vec::new());
            let arrays = ["a", "b"].map(|it| (it, "float64", vec![4, 3, 2], &data[..]));
            isobar_runner::npz::write(&mut npz, arrays).unwrap();
            let (status, ticket) = runner.ask("POST /v1/uploads", "application/octet-stream", npz.get_ref());
            assert_eq!(status, 201);
            let upload = serde_json::from_slice::<Value>(&ticket).unwrap()["upload"].clone();
            let document = json!({"files": {"main.py": COPY}, "backend": "debug", "fields": upload});
            assert_eq!(followed(&runner.submit(&document)).0, EndReason::Ok);
            done.count("upload");
        }
        5 => {
            let job = runner.submit(&run_of(&slow(ENDLESS)));
            std::thread::sleep(Duration::from_millis(numbers.below(120)));
            assert_eq!(runner.ask(&format!("DELETE /v1/jobs/{job}"), "text/plain", b"").0, 202);
            assert_eq!(followed(&job).0, EndReason::Cancelled);
        }
        6 => {
            let broken = runner.submit(&run_of(&format!("{COPY}        b = nothing\n")));
            assert_eq!(followed(&broken).0, EndReason::Error);
        }
        7 | 8 => {
            let document = json!({"files": {"main.py": COPY}}).to_string();
            assert_eq!(runner.ask("POST /v1/compile", "application/json", document.as_bytes()).0, 200);
            done.count("compilation");
        }
        9 => {
            let status = runner.ask("POST /v1/jobs", "application/json", b"{\"files\": {]").0;
            assert_eq!(status, 400);
            assert_eq!(runner.get("/v1/jobs/none").0, 404);
            done.count("bad request");
        }
        10 => {
            // A client that goes away in the middle of the events, and one that never says what it wants.
            let job = runner.submit(&run_of(COPY));
            let mut stream = runner.open(&format!("GET /v1/jobs/{job}/events"));
            let _ = stream.read(&mut [0; 16]);
            drop(stream);
            assert_eq!(followed(&job).0, EndReason::Ok);
            let mut silent = TcpStream::connect(runner.address).unwrap();
            silent.write_all(b"GET /heal").unwrap();
            done.count("vanished client");
        }
        _ => {
            assert_eq!(runner.get("/v1/capabilities").0, 200);
            assert_eq!(runner.get("/healthz").0, 200);
            done.count("look");
        }
    }
}

/// Of a process.
#[derive(Clone, Copy)]
struct ProcessUsage {
    resident_mib: u64,
    /// But for those of uploads.
    descriptors: u64,
    uploads: u64,
}

fn held(process: u32) -> ProcessUsage {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).unwrap();
    let kib: u64 = line.trim().strip_suffix("kB").unwrap().trim().parse().unwrap();
    let all: Vec<_> = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap().flatten().collect();
    let is_upload = |it: &&std::fs::DirEntry| {
        std::fs::read_link(it.path()).is_ok_and(|it| it.to_string_lossy().ends_with("(deleted)"))
    };
    let uploads = all.iter().filter(is_upload).count() as u64;
    ProcessUsage { resident_mib: kib / 1024, descriptors: all.len() as u64 - uploads, uploads }
}

/// Processes that a process started and that are there still, dead ones among them; those that wait for jobs do not
/// count.
fn children(process: u32) -> usize {
    let children = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("children")).ok();
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap().flatten();
    let all: Vec<String> = tasks.filter_map(children).collect();
    let waits = |it: &&str| {
        let line = std::fs::read(format!("/proc/{it}/cmdline")).unwrap_or_default();
        line.split(|&it| it == 0).any(|it| it == b"waiting")
    };
    all.iter().flat_map(|it| it.split_whitespace()).filter(|it| !waits(it)).count()
}

fn left_in(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().flatten();
    names.map(|it| it.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_mixed_load_leaves_nothing_behind_and_each_job_has_one_end() {
    let place = RunnerFolder::new();
    let mut runner = place.start(&["--jobs", "2"]);
    let (process, time) = (runner.id(), Duration::from_secs(seconds("ISOBAR_SOAK_SECONDS", SHORT)));
    let (done, is_over, acts) = (Done::default(), AtomicBool::new(false), AtomicU64::new(0));
    let begun = Instant::now();
    let samples = std::thread::scope(|scope| {
        let clients: Vec<_> = (1..=CLIENTS)
            .map(|client| {
                let (runner, done, acts) = (&runner, &done, &acts);
                scope.spawn(move || {
                    let mut numbers = Numbers(client.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                    while begun.elapsed() < time {
                        act(runner, &mut numbers, done);
                        acts.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        let watcher = scope.spawn(|| {
            let mut samples = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                samples.push((begun.elapsed(), held(process)));
                std::thread::sleep(Duration::from_millis(100));
            }
            samples
        });
        let failed = clients.into_iter().map(|it| it.join()).filter(Result::is_err).count();
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(failed, 0, "{}", runner.noted());
        watcher.join().unwrap()
    });

    // Caches fill and allocators settle at first.
    let settled: Vec<_> = samples.iter().filter(|it| it.0 > time / 5).map(|it| it.1).collect();
    let median = |part: &[ProcessUsage], of: fn(&ProcessUsage) -> u64| {
        let mut sorted: Vec<u64> = part.iter().map(of).collect();
        sorted.sort_unstable();
        sorted[sorted.len() / 2]
    };
    let quarter = (settled.len() / 4).max(1);
    let (first, last) = (&settled[..quarter], &settled[settled.len() - quarter..]);
    let [resident, descriptors] = [(|it| it.resident_mib) as fn(&ProcessUsage) -> u64, |it| it.descriptors]
        .map(|of| [median(first, of), median(last, of)]);
    let uploads = settled.iter().map(|it| it.uploads).max().unwrap();
    println!("soak: {} s, {} actions", time.as_secs(), acts.load(Ordering::Relaxed));
    for (what, times) in &*done.0.lock().unwrap() {
        println!("  {what}: {times}");
    }
    println!("  resident MiB {resident:?}, descriptors {descriptors:?}, and {uploads} uploads at most");
    assert!(resident[1] <= resident[0] + MORE_MIB, "memory grew: {resident:?} MiB");
    assert!(descriptors[1] <= descriptors[0] + MORE_DESCRIPTORS, "descriptors grew: {descriptors:?}");
    assert!(uploads <= MOST_UPLOADS, "{uploads} uploads are open");
    assert!(eventually(|| children(process) == 0), "no process of a job is left");
    // Those of the processes that wait for the next jobs.
    let folders = || left_in(&place.at("temporary"));
    assert!(eventually(|| folders().len() <= 2), "{:?}", folders());
    for folder in ["inputs", "working"] {
        let folder = place.at("state/jobs").join(folder);
        assert!(eventually(|| left_in(&folder).is_empty()), "{:?}", left_in(&folder));
    }
    assert!(!runner.noted().contains("panicked"), "{}", runner.noted());
    runner.terminate();
    assert!(runner.ended().success());
}
