//! A runner as a process of its own, and a client of it, for the tests that end runners.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use isobar_protocol::job::{EndReason, Event, EventKind, JobState, JobTicket};
use isobar_protocol::problem::Problem;
use serde_json::{Value, json};

/// Nothing that a test waits for takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const COPY: &str = "\
# @domain 4 3 2
# @input a linear(low=0, high=1, along=i)
from gt4py.cartesian.gtscript import PARALLEL, Field, computation, interval

def copy(a: Field[float], b: Field[float]):
    with computation(PARALLEL), interval(...):
        b = a
";

/// Works for hours with `debug`, and then leaves `a` in `b`; with fewer `iterations` for a shorter time.
pub(crate) fn slow(iterations: u32) -> String {
    format!(
        "\
# @domain 64 64 8
# @input a constant(1)
from gt4py.cartesian.gtscript import FORWARD, Field, computation, interval

def slow(a: Field[float], b: Field[float]):
    with computation(FORWARD), interval(...):
        b = a
        n = 0.0
        while n < {iterations}.0:
            n = n + a
        b = a
"
    )
}

pub(crate) const ENDLESS: u32 = 900_000;

pub(crate) fn run_of(text: &str) -> Value {
    json!({"files": {"main.py": text}, "backend": "debug", "init": {}})
}

/// A folder for one test, with what its runners share.
pub(crate) struct RunnerFolder(tempfile::TempDir);

impl RunnerFolder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("temporary")).unwrap();
        Self(folder)
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A runner that keeps its jobs and its token here.
    pub(crate) fn start(&self, further: &[&str]) -> Runner {
        let (state, token) = (self.at("state"), self.at("token"));
        let mut arguments = vec!["--state", state.to_str().unwrap(), "--token-file", token.to_str().unwrap()];
        arguments.extend(further);
        Runner::start_in(&arguments, self.0.path(), &self.at("temporary"))
    }
}

/// A runner, killed with the test.
pub(crate) struct Runner {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    /// Its first line of standard output. Its notes are on standard error.
    pub(crate) printed: String,
    noted: Arc<Mutex<String>>,
}

impl Drop for Runner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Runner {
    /// Its token is in the file of that option, or in the address that it prints. Caches and the like lie in `folder`.
    pub(crate) fn start(arguments: &[&str], folder: &Path) -> Self {
        Self::start_in(arguments, folder, &std::env::temp_dir())
    }

    fn start_in(arguments: &[&str], folder: &Path, temporary: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_isobar"))
            .args(["serve", "--allow-root", "--bind", "127.0.0.1:0"])
            .args(arguments)
            .env("XDG_CACHE_HOME", folder.join("cache"))
            .env("XDG_STATE_HOME", folder.join("home"))
            .env("TMPDIR", temporary)
            // Drivers of GPUs complain on standard error where there is no such folder.
            .env("XDG_RUNTIME_DIR", folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let noted = Arc::new(Mutex::new(String::new()));
        let (stderr, into) = (child.stderr.take().unwrap(), Arc::clone(&noted));
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                into.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        let mut printed = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut printed).unwrap();
        let (address, token) = printed.trim().split_once('/').map_or(("", ""), |_| {
            let rest = printed.trim().strip_prefix("http://").unwrap_or_default();
            rest.split_once('/').unwrap_or((rest, ""))
        });
        let file = arguments.iter().position(|it| *it == "--token-file").map(|at| arguments[at + 1]);
        let token = match file {
            Some(file) => std::fs::read_to_string(file).unwrap().trim().to_owned(),
            None => token.strip_prefix("#token=").unwrap_or_default().to_owned(),
        };
        let address = address.parse().unwrap_or_else(|_| panic!("{printed:?} {}", noted.lock().unwrap()));
        Self { address, token, printed, noted, child }
    }

    /// Returns its notes so far, which are the lines of standard error.
    pub(crate) fn noted(&self) -> String {
        self.noted.lock().unwrap().clone()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it without notice.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Tells it to end.
    pub(crate) fn terminate(&self) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        eventually(|| self.child.try_wait().unwrap().is_some());
        self.child.try_wait().unwrap().unwrap()
    }

    fn send(&self, head: &str, kind: &str, body: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (address, token, length) = (self.address, &self.token, body.len());
        write!(
            stream,
            "{head} HTTP/1.0\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nContent-Type: {kind}\r\n\
             Content-Length: {length}\r\n\r\n"
        )
        .unwrap();
        stream.write_all(body).unwrap();
        stream
    }

    /// An answer, to be read by who asks.
    pub(crate) fn open(&self, head: &str) -> TcpStream {
        self.send(head, "text/plain", b"")
    }

    /// Status and body of an answer.
    pub(crate) fn ask(&self, head: &str, kind: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let mut answer = Vec::new();
        self.send(head, kind, body).read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
        let status = String::from_utf8_lossy(&answer[..end]).split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer.split_off(end + 4))
    }

    pub(crate) fn get(&self, path: &str) -> (u16, Vec<u8>) {
        self.ask(&format!("GET {path}"), "text/plain", b"")
    }

    pub(crate) fn try_submit(&self, document: &Value) -> Result<String, Problem> {
        let (status, body) = self.ask("POST /v1/jobs", "application/json", document.to_string().as_bytes());
        match status {
            201 => Ok(serde_json::from_slice::<JobTicket>(&body).unwrap().job),
            _ => Err(serde_json::from_slice(&body).unwrap()),
        }
    }

    pub(crate) fn submit(&self, document: &Value) -> String {
        self.try_submit(document).unwrap_or_else(|problem| panic!("{problem:?}"))
    }

    pub(crate) fn state(&self, job: &str) -> JobState {
        let (status, body) = self.get(&format!("/v1/jobs/{job}"));
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
        serde_json::from_slice(&body).unwrap()
    }

    /// Waits until the job works.
    pub(crate) fn until_working(&self, job: &str) {
        assert!(eventually(|| self.state(job).state == "running"), "{:?}", self.state(job));
    }

    /// Returns the events of a job, after the first has arrived.
    pub(crate) fn events(&self, job: &str) -> Events {
        let mut events = BufReader::new(self.open(&format!("GET /v1/jobs/{job}/events")));
        let mut head = String::new();
        while !head.contains("data: ") {
            assert_ne!(events.read_line(&mut head).unwrap(), 0, "{head}");
        }
        assert!(head.starts_with("HTTP/1.0 200"), "{head}");
        Events(events, head)
    }

    /// All events of a job, to its end.
    pub(crate) fn follow(&self, job: &str) -> Vec<Event> {
        self.events(job).all()
    }

    pub(crate) fn field(&self, job: &str, name: &str) -> (u16, Vec<u8>) {
        self.get(&format!("/v1/jobs/{job}/fields/{name}"))
    }
}

/// A stream of events, and what of it has arrived.
pub(crate) struct Events(BufReader<TcpStream>, String);

impl Events {
    /// All of them, to the end of the job.
    pub(crate) fn all(mut self) -> Vec<Event> {
        self.0.read_to_string(&mut self.1).unwrap();
        let data = self.1.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|it| serde_json::from_str(it).unwrap()).collect()
    }
}

/// The one end among events.
pub(crate) fn end(events: &[Event]) -> (EndReason, Option<Problem>) {
    let mut ends = events.iter().filter_map(|it| match &it.what {
        EventKind::Ended { reason, problem } => Some((*reason, problem.clone())),
        _ => None,
    });
    let end = ends.next().unwrap_or_else(|| panic!("there is no end: {events:?}"));
    assert!(ends.next().is_none(), "there is one end: {events:?}");
    end
}

/// A number that a chore sets, or that of a test.
pub(crate) fn seconds(name: &str, of_test: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(of_test)
}

pub(crate) fn eventually(mut is_true: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if is_true() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}
