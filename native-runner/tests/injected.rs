//! Injects faults into a runner: each has only the effects that it must have.
//!
//! A few of each as a test; `cargo xtask faults` injects many.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use isobar_protocol::job::{EndReason, EventKind};
use isobar_testing::{skip, skip_part};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_json::json;

use crate::served::{COPY, ENDLESS, Runner, RunnerFolder, end, eventually, run_of, seconds, slow};

/// How often each fault is injected.
fn rounds(of_test: u64) -> u64 {
    seconds("ISOBAR_FAULT_ROUNDS", of_test)
}

fn run_with(backend: &str) -> serde_json::Value {
    json!({"files": {"main.py": COPY}, "backend": backend, "init": {}})
}

fn works(runner: &Runner) {
    let events = runner.follow(&runner.submit(&run_of(COPY)));
    assert_eq!(end(&events).0, EndReason::Ok, "{events:?}");
}

/// The process of a job, which calls itself as that begins.
fn worker(job: &str) -> Option<Pid> {
    let mut processes = fs::read_dir("/proc").unwrap().flatten();
    let found = processes.find(|it| {
        let name = fs::read_to_string(it.path().join("comm")).unwrap_or_default();
        name.trim().strip_prefix("job ").is_some_and(|it| job.starts_with(it))
    })?;
    Pid::from_raw(found.file_name().to_str()?.parse().ok()?)
}

#[test]
fn a_killed_worker_costs_its_job_and_nothing_else() {
    let place = RunnerFolder::new();
    let runner = place.start(&["--jobs", "2"]);
    let n = rounds(4);
    for _ in 0..n {
        let (killed, other) = (runner.submit(&run_of(&slow(ENDLESS))), runner.submit(&run_of(COPY)));
        runner.until_working(&killed);
        assert!(eventually(|| worker(&killed).is_some_and(|it| kill_process(it, Signal::KILL).is_ok())));
        let (reason, problem) = end(&runner.follow(&killed));
        assert_eq!((reason, problem.unwrap().code.as_str()), (EndReason::Crash, "job-crashed"));
        assert_eq!(end(&runner.follow(&other)).0, EndReason::Ok);
    }
    works(&runner);
    println!("faults: {n} of {n} killed workers told, no other job hurt");
}

#[test]
fn a_killed_runner_loses_no_job() {
    let place = RunnerFolder::new();
    let n = rounds(3);
    let (mut jobs, mut longest, mut noted) = (Vec::new(), Duration::ZERO, String::new());
    let mut runner = place.start(&["--jobs", "2"]);
    for round in 0..n {
        jobs.extend((0..4).map(|_| runner.submit(&run_of(COPY))));
        // Sooner or later: before, while and after they work.
        std::thread::sleep(Duration::from_millis(round * 37 % 120));
        noted += &runner.noted();
        runner.kill();
        let begun = Instant::now();
        runner = place.start(&["--jobs", "2"]);
        assert_eq!(runner.get("/readyz").0, 200);
        longest = longest.max(begun.elapsed());
    }
    // A job may be hit twice while it works, and is then told as interrupted. The last 200 are remembered.
    let asked = &jobs[jobs.len().saturating_sub(200)..];
    let lost = |it: &&String| runner.get(&format!("/v1/jobs/{it}")).0 != 200;
    let lost: Vec<usize> = (0..asked.len()).filter(|&at| lost(&&asked[at])).collect();
    assert!(lost.is_empty(), "{lost:?} of {}: {noted}{}", asked.len(), runner.noted());
    let ends: Vec<EndReason> = asked.iter().map(|it| end(&runner.follow(it)).0).collect();
    let interrupted = ends.iter().filter(|it| **it == EndReason::Interrupted).count();
    assert!(ends.iter().all(|it| matches!(it, EndReason::Ok | EndReason::Interrupted)), "{ends:?}");
    assert!(interrupted * 4 <= ends.len(), "{interrupted} of {}", ends.len());
    println!(
        "faults: {n} killed runners, ready again within {} ms, {} jobs with one end each ({interrupted} interrupted)",
        longest.as_millis(),
        ends.len()
    );
}

/// A file system of 2 MiB, where one may be mounted.
struct Small(PathBuf);

impl Small {
    fn mount(folder: PathBuf) -> Option<Self> {
        fs::create_dir(&folder).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs"])
            .arg(&folder)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .status();
        mounted.is_ok_and(|it| it.success()).then_some(Self(folder))
    }

    fn fill(&self) {
        let mut file = fs::File::create(self.0.join("filler")).unwrap();
        while file.write_all(&[1; 4096]).is_ok() {}
    }

    fn empty(&self) {
        fs::remove_file(self.0.join("filler")).unwrap();
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_costs_keeping_and_no_job() {
    let place = RunnerFolder::new();
    let Some(disk) = Small::mount(place.at("state")) else {
        return skip("a full disk", "no small file system can be mounted here");
    };
    let is_kept = |runner: &Runner| {
        let events = runner.follow(&runner.submit(&run_of(&format!("{COPY}# {}\n", "x".repeat(200_000)))));
        assert_eq!(end(&events).0, EndReason::Ok, "{events:?}");
        !events.iter().any(|it| matches!(&it.what, EventKind::Log { text } if text.contains("lost when")))
    };
    for _ in 0..rounds(2) {
        // A new file each time: one that has grown has room within itself.
        let _ = fs::remove_dir_all(disk.0.join("jobs"));
        let runner = place.start(&["--jobs", "2"]);
        assert!(is_kept(&runner));
        disk.fill();
        assert!(eventually(|| !is_kept(&runner)), "{}", runner.noted());
        works(&runner);
        disk.empty();
        assert!(eventually(|| is_kept(&runner)), "{}", runner.noted());
        let told = |what| eventually(|| runner.noted().contains(what));
        assert!(told("cannot be kept") && told("kept again"), "{}", runner.noted());
    }
    disk.fill();
    let runner = place.start(&[]);
    works(&runner);
    drop(runner);
    println!("faults: a full disk, no job failed");
}

/// All files below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
    entries.flat_map(|it| if it.is_dir() { files_below(&it) } else { vec![it] }).collect()
}

#[test]
fn a_damaged_cache_costs_time_and_no_result() {
    let place = RunnerFolder::new();
    let runner = place.start(&[]);
    let has_compiler = {
        let (_, told) = runner.get("/v1/capabilities");
        let told: serde_json::Value = serde_json::from_slice(&told).unwrap();
        let backends = told["backends"].as_array().unwrap();
        backends.iter().any(|it| it["name"] == "openmp" && it["available"] == true)
    };
    if !has_compiler {
        skip_part("entries of openmp", "there is no C compiler");
    }
    let backends = if has_compiler { vec!["rayon", "openmp"] } else { vec!["rayon"] };
    let result = |backend: &str| {
        let job = runner.submit(&run_with(backend));
        let events = runner.follow(&job);
        assert_eq!(end(&events).0, EndReason::Ok, "{backend}: {events:?}");
        runner.field(&job, "b")
    };
    let right: Vec<_> = backends.iter().map(|it| result(it)).collect();
    assert!(right.iter().all(|it| it.0 == 200 && *it == right[0]));
    let cache = place.at("cache");
    let n = rounds(4);
    let mut n_damaged = 0;
    for round in 0..n {
        for file in files_below(&cache) {
            let mut bytes = fs::read(&file).unwrap();
            if bytes.is_empty() {
                continue;
            }
            let at = usize::try_from(round * 7919).unwrap() % bytes.len();
            match round % 3 {
                0 => bytes[at] ^= 1 << (round % 8),
                1 => bytes.truncate(at),
                _ => bytes.fill(b'x'),
            }
            // Others read these files, and nobody may change them in place. So the damage is a new file, as
            // another program would leave it.
            let _ = fs::remove_file(&file);
            fs::write(&file, bytes).unwrap();
            n_damaged += 1;
        }
        for (backend, right) in backends.iter().zip(&right) {
            assert_eq!(&result(backend), right, "{backend}");
        }
    }
    println!("faults: {n_damaged} damaged files of the cache, all results right");
    if geteuid().is_root() {
        return skip_part("a cache that cannot be written", "root can write everywhere");
    }
    for folder in [cache.join("isobar"), cache] {
        fs::set_permissions(&folder, Permissions::from_mode(0o500)).unwrap();
        backends.iter().for_each(|it| assert_eq!(result(it).0, 200, "{it}"));
        fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn clients_that_vanish_leave_nothing() {
    let place = RunnerFolder::new();
    let runner = place.start(&["--jobs", "2"]);
    let open = || fs::read_dir(format!("/proc/{}/fd", runner.id())).unwrap().count();
    works(&runner);
    let before = open();
    let n = rounds(10);
    for _ in 0..n {
        // In the middle of a head, of a body, of an upload, and of the events of a job.
        let mut head = TcpStream::connect(runner.address).unwrap();
        head.write_all(b"POST /v1/jobs HTTP/1.1\r\nHo").unwrap();
        for path in ["/v1/jobs", "/v1/uploads"] {
            let kind = if path.ends_with("jobs") { "application/json" } else { "application/octet-stream" };
            let mut body = TcpStream::connect(runner.address).unwrap();
            let (address, token) = (runner.address, &runner.token);
            write!(
                body,
                "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
                 Content-Type: {kind}\r\nContent-Length: 1000\r\n\r\n{{\"files\""
            )
            .unwrap();
        }
        let job = runner.submit(&run_of(COPY));
        let mut events = runner.open(&format!("GET /v1/jobs/{job}/events"));
        events.read_exact(&mut [0; 4]).unwrap();
        drop(events);
        assert_eq!(end(&runner.follow(&job)).0, EndReason::Ok);
    }
    works(&runner);
    assert!(eventually(|| open() <= before + 4), "{} descriptors, and {before} before", open());
    println!("faults: {} vanished clients, {before} descriptors before and {} after", 4 * n, open());
}
