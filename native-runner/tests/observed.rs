//! The log and the figures that the operator of a runner sees, and the input of clients that they must not
//! show.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};

use isobar_protocol::job::EndReason;
use isobar_protocol::report::{CheckState, DoctorReport};
use serde_json::{Value, json};

use crate::served::{COPY, Runner, RunnerFolder, end, eventually, run_of};

/// A word that only the texts, names and paths of clients have, so that a log with this word shows a leak.
const MARK: &str = "marked_word";

fn lines(runner: &Runner, kind: &str) -> Vec<Value> {
    let all = runner.noted();
    let parsed = all.lines().map(|it| serde_json::from_str::<Value>(it).unwrap_or_else(|_| panic!("{it}")));
    parsed.filter(|it| it["target"] == format!("isobar_runner::note::{kind}")).collect()
}

#[test]
fn each_request_and_job_is_a_line_without_what_was_sent() {
    let place = RunnerFolder::new();
    let runner = place.start(&["--log", "json"]);
    let text = format!("# {MARK}\n{COPY}").replace("copy(", &format!("{MARK}("));
    let job = runner.submit(&run_of(&text));
    assert_eq!(end(&runner.follow(&job)).0, EndReason::Ok);
    let (_, field) = runner.field(&job, "b");
    runner.get(&format!("/v1/jobs/{job}/fields/{MARK}"));
    runner.get(&format!("/{MARK}?{MARK}"));
    runner.ask(&format!("{} /v1/jobs", MARK.to_uppercase()), MARK, b"");
    let broken = runner.submit(&run_of(&format!("{COPY}    {MARK} = ")));
    assert_eq!(end(&runner.follow(&broken)).0, EndReason::Error);
    let body = json!({"files": {"main.py": text}, "backend": MARK}).to_string();
    assert_eq!(runner.ask("POST /v1/jobs", "application/json", body.as_bytes()).0, 422);
    assert!(eventually(|| lines(&runner, "request").len() == 9), "{}", runner.noted());

    let requests = lines(&runner, "request");
    let of_field = requests.iter().find(|it| it["route"] == "/v1/jobs/{id}/fields/{name}").unwrap();
    assert_eq!(of_field["status"], 200);
    assert_eq!((&of_field["method"], &of_field["job"]), (&json!("GET"), &json!(job)));
    assert_eq!(of_field["bytes"], field.len());
    assert_eq!(of_field["from"], "127.0.0.0/24");
    assert!(of_field["ms"].as_f64().unwrap() >= of_field["head_ms"].as_f64().unwrap());
    let submitted = requests.iter().find(|it| it["route"] == "/v1/jobs" && it["status"] == 201).unwrap();
    assert_eq!(submitted["job"], json!(job));
    assert!(requests.iter().any(|it| it["route"] == "none" && it["status"] == 404));
    assert!(requests.iter().any(|it| it["method"] == "other"));
    let jobs = lines(&runner, "job");
    assert_eq!(jobs.len(), 2);
    assert_eq!(
        (&jobs[0]["job"], &jobs[0]["reason"], &jobs[0]["backend"]),
        (&json!(job), &json!("ok"), &json!("debug"))
    );
    assert_eq!(jobs[0]["result_bytes"], field.len());
    assert!(jobs[0]["worked_ms"].as_f64().unwrap() > 0.0);
    assert_eq!((&jobs[1]["reason"], &jobs[1]["code"]), (&json!("error"), &json!("compile-failed")));
    let all = runner.noted().to_lowercase();
    assert!(!all.contains(MARK) && !all.contains(&runner.token.to_lowercase()), "{all}");
}

#[test]
fn without_the_option_requests_are_not_noted() {
    let place = RunnerFolder::new();
    let runner = place.start(&[]);
    runner.get("/healthz");
    let (noted, _) = (runner.noted(), runner.get("/healthz"));
    assert!(!noted.contains("/healthz"), "{noted}");
    let runner = place.start(&["--log", "text"]);
    runner.get("/healthz");
    assert!(eventually(|| runner.noted().contains("route=\"/healthz\"")), "{}", runner.noted());
}

fn scrape(address: SocketAddr, host: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

#[test]
fn figures_are_answered_on_their_own_address_and_only_there() {
    let place = RunnerFolder::new();
    let runner = place.start(&["--metrics", "127.0.0.1:0"]);
    assert!(eventually(|| runner.noted().contains("/metrics")));
    let noted = runner.noted();
    let address = noted.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let address: SocketAddr = address.parse().unwrap();
    let of = |name: &str| -> Option<f64> {
        let (status, text) = scrape(address, &address.to_string(), "/metrics");
        assert_eq!(status, 200);
        text.lines().find_map(|it| it.strip_prefix(name)?.trim().parse().ok())
    };
    assert_eq!(of("isobar_jobs_total{backend=\"debug\",reason=\"ok\"}"), None);
    let job = runner.submit(&run_of(COPY));
    assert_eq!(end(&runner.follow(&job)).0, EndReason::Ok);
    let compile = json!({"files": {"main.py": COPY}}).to_string();
    assert_eq!(runner.ask("POST /v1/compile", "application/json", compile.as_bytes()).0, 200);
    assert!(eventually(|| of("isobar_jobs_total{backend=\"debug\",reason=\"ok\"}") == Some(1.0)));
    assert_eq!(of("isobar_job_seconds_count{backend=\"debug\"}"), Some(1.0));
    assert_eq!(of("isobar_compile_seconds_count"), Some(1.0));
    assert!(eventually(
        || of("isobar_requests_total{method=\"POST\",route=\"/v1/jobs\",class=\"2xx\"}") == Some(1.0)
    ));
    assert_eq!((of("isobar_jobs_waiting"), of("isobar_jobs_working")), (Some(0.0), Some(0.0)));
    assert!(of("process_resident_memory_bytes").unwrap() > 1e6);
    assert!(of("process_open_fds").unwrap() > 3.0 && of("isobar_connections").unwrap() >= 1.0);
    assert!(of("isobar_cache_bytes").unwrap() >= 0.0);
    // Neither name that is made to point here, nor anything else, nor on the address of the runner.
    assert_eq!(scrape(address, "evil.example", "/metrics").0, 403);
    assert_eq!(scrape(address, &address.to_string(), "/v1/jobs").0, 404);
    assert_eq!(runner.get("/metrics").0, 404);
    let output = Command::new(env!("CARGO_BIN_EXE_isobar"))
        .args(["serve", "--allow-root", "--no-state", "--bind", "127.0.0.1:0", "--metrics", "0.0.0.0:0"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--allow-remote"));
}

#[test]
fn a_doctor_says_of_each_thing_how_it_is_and_what_to_do() {
    let place = RunnerFolder::new();
    let doctor = |temporary: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_isobar"))
            .args(["doctor", "--bind", "127.0.0.1:0", "--format", "json"])
            .env("XDG_CACHE_HOME", place.at("cache"))
            .env("XDG_STATE_HOME", place.at("home"))
            .env("TMPDIR", temporary)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        (output.status.code(), serde_json::from_slice::<DoctorReport>(&output.stdout).unwrap())
    };
    let (code, report) = doctor(place.at(".").to_str().unwrap());
    let wrong: Vec<_> = report.checks.iter().filter(|it| it.state == CheckState::Wrong).collect();
    assert_eq!(
        (code, report.diagnostics.len()),
        (Some(i32::from(!wrong.is_empty())), wrong.len()),
        "{wrong:?}"
    );
    let names: Vec<&str> = report.checks.iter().map(|it| it.name.as_str()).collect();
    for name in [
        "C compiler",
        "back ends",
        "cache folder",
        "state folder",
        "temporary folder",
        "descriptors",
        "memory",
        "port",
        "user",
        "clock",
        "Landlock",
        "seccomp",
        "user namespaces",
        "jobs",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    for check in &report.checks {
        assert_eq!(check.help.is_empty(), check.state == CheckState::Fine, "{check:?}");
    }
    let (code, report) = doctor("/proc/nothing");
    assert_eq!(code, Some(1));
    assert!(report.diagnostics.iter().any(|it| it.message.starts_with("temporary folder: ")), "{report:?}");
}

/// Answers of a runner whose log goes to `log`, until it is told to end; and how it ended.
fn with_log(log: Stdio) -> (Vec<bool>, std::process::ExitStatus) {
    let place = RunnerFolder::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_isobar"));
    command.args(["serve", "--allow-root", "--bind", "127.0.0.1:0", "--log", "json"]);
    for (name, folder) in [("XDG_CACHE_HOME", "cache"), ("XDG_STATE_HOME", "home"), ("TMPDIR", "temporary")] {
        command.env(name, place.at(folder));
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    let mut runner = command.spawn().unwrap();
    let mut told = String::new();
    let mut stdout = std::io::BufReader::new(runner.stdout.take().unwrap());
    while !told.contains("http://") {
        assert!(std::io::BufRead::read_line(&mut stdout, &mut told).unwrap() > 0, "it ended: {told}");
    }
    let address = told.split("http://").nth(1).unwrap().split(['/', '\n', ' ']).next().unwrap().to_owned();
    let address: SocketAddr = address.parse().unwrap();
    let answers = (0..50).map(|_| scrape(address, &address.to_string(), "/healthz").0 == 200).collect();
    let pid = rustix::process::Pid::from_child(&runner);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    (answers, runner.wait().unwrap())
}

#[test]
fn a_log_that_cannot_be_written_ends_nothing() {
    // A full disk, and a reader that has gone.
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let (reader, gone) = std::io::pipe().unwrap();
    drop(reader);
    for log in [Stdio::from(full), Stdio::from(gone)] {
        let (answers, ended) = with_log(log);
        assert_eq!(answers, [true; 50]);
        assert!(ended.success(), "{ended}");
    }
}
