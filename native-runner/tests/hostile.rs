//! Sends thousands of hostile requests over real connections. Each is answered, none with a fault of the
//! runner. Afterwards the runner is as it was before.
//!
//! `cargo xtask hostile` sends many more of them than the test does.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

mod requests;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use isobar_protocol::names::is_harmful;
use isobar_protocol::problem::Problem;
use serde_json::{Value, json};

use requests::{LearnedNames, Maker, Sent, Then};

/// How many requests, and the seed of the first.
const REQUESTS: &str = "ISOBAR_HOSTILE_REQUESTS";
const SEED: &str = "ISOBAR_HOSTILE_SEED";
/// Connections at a time.
const CLIENTS: u64 = 8;
/// The runner never has more memory than this, in MiB, whatever is sent.
const MOST_MIB: u64 = 384;
/// An answer takes no longer.
const PATIENCE: Duration = Duration::from_secs(60);
/// Faults that are told of a job and are none of the request's.
const FAULTS_OF_JOBS: [&str; 3] = ["job-crashed", "\"internal\"", "code-generation-failed"];
/// The permitted answers with a status of 500 or more: status and code of the problem.
const EXPECTED: [(u16, &str); 4] =
    [(503, "overloaded"), (503, "not-ready"), (504, "timed-out"), (507, "no-room")];

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().map_or(otherwise, |it| it.parse().unwrap())
}

/// A runner with folders of its own, ended with the test.
struct Runner {
    child: Child,
    address: SocketAddr,
    token: String,
    folder: tempfile::TempDir,
}

impl Drop for Runner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Runner {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [temporary, cache] = ["temporary", "cache"].map(|it| folder.path().join(it));
        std::fs::create_dir(&temporary).unwrap();
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_isobar"))
            .args([
                "serve",
                "--allow-root",
                "--no-state",
                "--bind",
                "127.0.0.1:0",
                "--job-time",
                "20",
                "--job-memory",
                "512",
            ])
            .envs([("TMPDIR", &temporary), ("XDG_CACHE_HOME", &cache)])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (address, token) = line.trim().split_once("/#token=").unwrap();
        let address = address.strip_prefix("http://").unwrap().parse().unwrap();
        let token = token.to_owned();
        Self { child, address, token, folder }
    }

    fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.folder.path().join("log")).unwrap()).into_owned()
    }

    /// The most memory that it ever had, in MiB.
    fn peak_mib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:")).unwrap();
        line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() / 1024
    }

    fn open_files(&self) -> usize {
        std::fs::read_dir(Path::new("/proc").join(self.child.id().to_string()).join("fd")).unwrap().count()
    }

    /// Asks as a client that means well.
    fn ask(&self, line: &str, body: &str) -> Answer {
        let head = format!(
            "{line} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        let mut stream = connect(self.address);
        stream.get_mut().write_all(head.as_bytes()).unwrap();
        answer(&mut stream, line.starts_with("HEAD")).unwrap()
    }
}

fn connect(address: SocketAddr) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    BufReader::new(stream)
}

#[derive(Debug, Default)]
struct Answer {
    status: u16,
    kind: String,
    body: Vec<u8>,
    /// The connection is of no further use.
    is_last: bool,
}

/// The next answer of a connection; an error where it is closed instead.
fn answer(stream: &mut BufReader<TcpStream>, is_head: bool) -> std::io::Result<Answer> {
    let ended = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
    let line = |stream: &mut BufReader<TcpStream>| {
        let mut line = Vec::new();
        match stream.read_until(b'\n', &mut line)? {
            0 => Err(ended()),
            _ => Ok(String::from_utf8_lossy(&line).trim_end().to_owned()),
        }
    };
    loop {
        let status = line(stream)?.split(' ').nth(1).and_then(|it| it.parse().ok()).ok_or_else(ended)?;
        let mut answer = Answer { status, ..Answer::default() };
        let (mut length, mut is_chunked) = (0_u64, false);
        while let Some((name, value)) = line(stream)?.split_once(':') {
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().unwrap(),
                "content-type" => value.trim().clone_into(&mut answer.kind),
                "transfer-encoding" => is_chunked = true,
                "connection" => answer.is_last = value.trim() == "close",
                _ => {}
            }
        }
        if status < 200 {
            continue;
        }
        if is_head {
            return Ok(answer);
        }
        while is_chunked {
            let size = u64::from_str_radix(&line(stream)?, 16).map_err(|_| ended())?;
            stream.take(size).read_to_end(&mut answer.body)?;
            line(stream)?;
            is_chunked = size > 0;
        }
        stream.take(length).read_to_end(&mut answer.body)?;
        return Ok(answer);
    }
}

/// Returns the fault of an answer, if there is one.
fn fault(answer: &Answer) -> Option<String> {
    let Answer { status, kind, body, .. } = answer;
    if kind == "text/event-stream" {
        let text = String::from_utf8_lossy(body);
        return FAULTS_OF_JOBS
            .iter()
            .find(|it| text.contains(*it))
            .map(|it| format!("the job ended with {it}"));
    }
    if *status < 400 {
        return None;
    }
    // The server refuses bytes that are not HTTP before the runner can give a reason.
    if body.is_empty() && *status < 500 {
        return None;
    }
    // A program that was built without the page says so to people.
    if *status == 404 && body.starts_with(b"<!doctype html>") {
        return None;
    }
    let Ok(problem) = serde_json::from_slice::<Problem>(body) else {
        return Some(format!("{status} with no problem"));
    };
    if problem.status != *status || kind != "application/problem+json" {
        return Some(format!("{status}, {kind}, with a problem of {}", problem.status));
    }
    if *status >= 500 && !EXPECTED.contains(&(*status, problem.code.as_str())) {
        return Some(format!("{status} {}: {}", problem.code, problem.detail));
    }
    let is_told = |text: &str| text.len() < 10_000 && !text.chars().any(|it| is_harmful(it) && it != '\n');
    if !is_told(&problem.detail) || !problem.next.iter().all(|it| is_told(it)) {
        return Some(format!("a problem that cannot be printed: {:?}", problem.detail));
    }
    None
}

/// Sends one request after the other, and adds up the answers by status.
fn client(
    runner: &Runner,
    mut maker: Maker,
    left: &AtomicU64,
    known: &Mutex<LearnedNames>,
) -> Result<BTreeMap<u16, u64>, String> {
    let mut found = BTreeMap::new();
    let mut open: Option<BufReader<TcpStream>> = None;
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |it| it.checked_sub(1)).is_ok() {
        let known_now = known.lock().unwrap().clone();
        let Sent { bytes, then, is_head, may_be_closed } = maker.request(&known_now);
        let told = |what: &str| format!("{what}, of\n{}", bytes[..bytes.len().min(3000)].escape_ascii());
        let mut stream = open.take().unwrap_or_else(|| connect(runner.address));
        let is_sent = stream.get_mut().write_all(&bytes).is_ok();
        if then == Then::Vanish {
            continue;
        }
        let begun = Instant::now();
        let answered = match answer(&mut stream, is_head) {
            // Between two requests a runner may close a connection.
            Err(_) if !may_be_closed => {
                stream = connect(runner.address);
                stream.get_mut().write_all(&bytes).map_err(|why| told(&why.to_string()))?;
                answer(&mut stream, is_head)
            }
            other => other,
        };
        let answered = match answered {
            Ok(answered) => answered,
            Err(_) if may_be_closed && begun.elapsed() < PATIENCE => {
                *found.entry(0).or_default() += 1;
                continue;
            }
            Err(why) => return Err(told(&format!("no answer ({why}) after {:?}", begun.elapsed()))),
        };
        if let Some(fault) = fault(&answered) {
            left.store(0, Ordering::Relaxed);
            return Err(told(&fault));
        }
        *found.entry(answered.status).or_default() += 1;
        known.lock().unwrap().learn(&serde_json::from_slice(&answered.body).unwrap_or(Value::Null));
        if is_sent && !may_be_closed && !answered.is_last {
            open = Some(stream);
        }
    }
    Ok(found)
}

/// A job of a client that means well, which is to go as ever.
fn works(runner: &Runner) {
    let document =
        json!({"files": {"main.py": requests::STENCIL}, "backend": "debug", "init": {}}).to_string();
    let begun = Instant::now();
    // Earlier requests may fill the queue for a while.
    let ticket = loop {
        let answer = runner.ask("POST /v1/jobs", &document);
        if answer.status == 201 {
            break serde_json::from_slice::<Value>(&answer.body).unwrap();
        }
        assert!(answer.status == 503 && begun.elapsed() < Duration::from_secs(120), "{answer:?}");
        std::thread::sleep(Duration::from_millis(100));
    };
    let events = runner.ask(&format!("GET /v1/jobs/{}/events", ticket["job"].as_str().unwrap()), "");
    let text = String::from_utf8(events.body).unwrap();
    assert!(text.contains("\"reason\":\"ok\""), "{text}");
    assert_eq!(runner.ask("GET /readyz", "").status, 200);
}

#[test]
fn no_request_breaks_the_runner() {
    let (requests, seed) = (number(REQUESTS, 1000), number(SEED, 1));
    let runner = Runner::start();
    works(&runner);
    let files = runner.open_files();
    let (left, known) = (AtomicU64::new(requests), Mutex::new(LearnedNames::default()));
    let begun = Instant::now();
    let ended: Vec<_> = std::thread::scope(|scope| {
        let start = |at: u64| {
            let seed = seed.wrapping_mul(1_000_003).wrapping_add(at);
            let maker = Maker::new(seed, runner.address, &runner.token);
            let (runner, left, known) = (&runner, &left, &known);
            scope.spawn(move || client(runner, maker, left, known))
        };
        let clients: Vec<_> = (0..CLIENTS).map(start).collect();
        clients.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let mut found = BTreeMap::<u16, u64>::new();
    for of_client in ended {
        let of_client = of_client.unwrap_or_else(|why| panic!("seed {seed}: {why}\n{}", runner.log()));
        of_client.into_iter().for_each(|(status, n)| *found.entry(status).or_default() += n);
    }
    let (peak, log) = (runner.peak_mib(), runner.log());
    println!(
        "{requests} requests in {:.1} s, by status {found:?}, at most {peak} MiB",
        begun.elapsed().as_secs_f64()
    );
    assert!(!log.contains("panicked") && !log.contains("crashed"), "{log}");
    assert!(peak < MOST_MIB, "{peak} MiB");
    works(&runner);
    // Uploads stay for a while, and the connections of those who vanished for a moment.
    let allowed = files + 64 + 16;
    let settled = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        runner.open_files() <= allowed
    });
    assert!(settled, "{} files are open, and {files} were before", runner.open_files());
}
