//! Limits on the input that a runner accepts from its clients, over real connections.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use isobar_protocol::limits::{Limits, MOST_CONNECTIONS};
use isobar_protocol::problem::Problem;
use isobar_runner::auth::{Auth, Hosts};
use isobar_runner::config::{Environment, Tools};
use isobar_runner::state::AppState;

use crate::http::ENDLESS;

/// A runner in this process, with `limits`; its token is `secret`.
fn serve(limits: Limits) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let tools = Tools::find(&Environment {
                temporary: std::env::temp_dir(),
                program: PathBuf::from(env!("CARGO_BIN_EXE_isobar")),
                ..Environment::default()
            });
            let state = AppState::new(Auth::new("secret"), Hosts::new(address, &[]), limits, tools);
            isobar_runner::server::serve(listener, isobar_runner::app(state), limits, std::future::pending())
                .await;
        });
    });
    address
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// The head of a request with a JSON body.
fn head(address: SocketAddr, token: &str, rest: &str) -> String {
    format!(
        "POST /v1/compile HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\n{rest}\r\n\r\n"
    )
}

/// Status and body of the next answer.
fn answer(stream: &TcpStream) -> (u16, Vec<u8>) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("no answer: {line:?}")).parse().unwrap();
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (status, body)
}

fn problem(stream: &TcpStream) -> Problem {
    let (status, body) = answer(stream);
    let problem: Problem = serde_json::from_slice(&body).unwrap();
    assert_eq!(problem.status, status);
    assert!(!problem.next.is_empty());
    problem
}

/// Whether the other end closes within the time that a read may take.
fn is_closed(mut stream: &TcpStream) -> bool {
    stream.read(&mut [0; 64]).is_ok_and(|it| it == 0)
}

#[test]
fn who_does_not_say_what_he_wants_is_not_waited_for() {
    let address = serve(Limits { head_ms: 300, body_ms: 300, ..Limits::default() });
    let silent = connect(address);
    let mut slow = connect(address);
    slow.write_all(b"GET /healthz HTTP/1.1\r\nHost: ").unwrap();
    let begun = Instant::now();
    assert!(is_closed(&silent) && is_closed(&slow));

    let mut body = connect(address);
    body.write_all(head(address, "secret", "Content-Length: 100").as_bytes()).unwrap();
    body.write_all(b"{\"files\"").unwrap();
    let late = problem(&body);
    assert_eq!((late.code.as_str(), late.limit.unwrap().allowed), ("slow-body", 300));
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn one_connection_too_many_is_told_so_and_the_others_go_on() {
    let address = serve(Limits { connections: 2, ..Limits::default() });
    let ask = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\n\r\n");
    // With the token: others make room.
    let open = [get(address, "/v1/capabilities"), get(address, "/v1/capabilities")];
    for stream in &open {
        assert_eq!(answer(stream).0, 200);
    }
    let mut third = connect(address);
    third.write_all(ask.as_bytes()).unwrap();
    let refused = problem(&third);
    assert_eq!((refused.code.as_str(), refused.status), ("overloaded", 503));
    assert!(is_closed(&third));
    for mut stream in &open {
        stream.write_all(ask.as_bytes()).unwrap();
        assert_eq!(answer(stream).0, 200);
    }
    drop(open);
    assert!(is_free(address), "the place of a connection that ended is free again");
}

#[test]
fn a_long_head_is_refused() {
    let address = serve(Limits::default());
    let mut stream = connect(address);
    let name = "x".repeat(100 * 1024);
    // The other end may close before it has read everything.
    let _ = stream.write_all(head(address, "secret", &format!("X-Name: {name}")).as_bytes());
    assert_eq!(answer(&stream).0, 431);
}

#[test]
fn silent_connections_lock_nobody_out_and_are_closed() {
    // Long enough that a busy machine opens and asks them all before the first one is closed.
    let limits = Limits { connections: 8, connections_per_address: 4, head_ms: 6000, ..Limits::default() };
    let address = serve(limits);
    let ask = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let silent: Vec<TcpStream> = (0..4).map(|_| connect(address)).collect();
    // A later connection takes the place of the oldest silent one.
    let mut fifth = connect(address);
    fifth.write_all(ask.as_bytes()).unwrap();
    assert_eq!(answer(&fifth).0, 200);
    assert!(is_closed(&silent[0]));
    drop(fifth);
    // A connection on which the token was shown stays, and who has none is told when all have.
    let known: Vec<TcpStream> = (0..4).map(|_| get(address, "/v1/capabilities")).collect();
    assert!(known.iter().all(|it| answer(it).0 == 200));
    let mut further = connect(address);
    further.write_all(ask.as_bytes()).unwrap();
    let refused = problem(&further);
    assert_eq!((refused.code.as_str(), refused.status), ("overloaded", 503));
    assert!(refused.detail.contains("one address"), "{}", refused.detail);
    // Another address of this machine is answered at once.
    let other = from_another_address(address);
    (&other).write_all(ask.as_bytes()).unwrap();
    assert_eq!(answer(&other).0, 200);
    // Those that say nothing are closed, and their places are free.
    drop(known);
    assert!(silent.iter().all(is_closed));
    assert!(is_free(address));
}

/// Whether a connection is taken and answered, once those that ended are gone.
fn is_free(address: SocketAddr) -> bool {
    (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        answer(&get(address, "/healthz")).0 == 200
    })
}

/// A connection from 127.0.0.2.
fn from_another_address(to: SocketAddr) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(([127, 0, 0, 2], 0).into()).unwrap();
        socket.connect(to).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// Begins an upload of so many bytes, and sends none.
fn upload(address: SocketAddr, bytes: usize) -> TcpStream {
    let mut stream = connect(address);
    let head = head(address, "secret", &format!("Content-Length: {bytes}"));
    let head =
        head.replace("/v1/compile", "/v1/uploads").replace("application/json", "application/octet-stream");
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

#[test]
fn slow_uploads_make_room_for_one_that_waits() {
    let address = serve(Limits { upload_turn_ms: 300, upload_bytes_per_s: 1000, ..Limits::default() });
    let slow: Vec<TcpStream> = (0..4).map(|_| upload(address, 1 << 20)).collect();
    let mut drops = slow.iter().map(|it| it.try_clone().unwrap()).collect::<Vec<_>>();
    std::thread::spawn(move || {
        // A few bytes each second, so that none is silent.
        while drops.iter_mut().any(|it| it.write_all(b"x").is_ok()) {
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    std::thread::sleep(Duration::from_millis(100));
    let begun = Instant::now();
    for _ in 0..3 {
        let mut fast = upload(address, 5);
        fast.write_all(b"12345").unwrap();
        assert_eq!(answer(&fast).0, 201);
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let refused = slow.iter().filter(|it| {
        it.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        it.peek(&mut [0]).is_ok_and(|it| it > 0)
    });
    let refused: Vec<Problem> = refused.map(problem).collect();
    assert_eq!(refused.len(), 1, "one place is enough for those after it");
    assert_eq!((refused[0].status, refused[0].code.as_str()), (503, "overloaded"));
    assert!(refused[0].detail.contains("slow"), "{}", refused[0].detail);
}

/// Asks for a job on this connection; status and answer.
fn submit_on(stream: &mut TcpStream, address: SocketAddr, text: &str) -> (u16, serde_json::Value) {
    let body = serde_json::json!({"files": {"main.py": text}, "backend": "debug", "init": {}}).to_string();
    let head = head(address, "secret", &format!("Content-Length: {}", body.len()));
    stream.write_all((head.replace("/v1/compile", "/v1/jobs") + &body).as_bytes()).unwrap();
    let (status, body) = answer(stream);
    (status, serde_json::from_slice(&body).unwrap())
}

fn state(address: SocketAddr, job: &str) -> serde_json::Value {
    serde_json::from_slice(&answer(&get(address, &format!("/v1/jobs/{job}"))).1).unwrap()
}

#[test]
fn a_client_that_fills_the_queue_leaves_room_and_turns_to_others() {
    let address = serve(Limits { jobs_at_once: 1, jobs_waiting: 4, ..Limits::default() });
    let (mut many, mut late) = (connect(address), connect(address));
    let submitted = |stream: &mut TcpStream, text: &str| {
        let (status, ticket) = submit_on(stream, address, text);
        assert_eq!(status, 201, "{ticket}");
        ticket["job"].as_str().unwrap().to_owned()
    };
    let jobs: Vec<String> = (0..5).map(|_| submitted(&mut many, ENDLESS)).collect();
    assert_eq!(submit_on(&mut many, address, ENDLESS).0, 503, "its own jobs make no room");
    let own = submitted(&mut late, crate::served::COPY);
    // The newest of the client that has the most is told why it ended.
    let events = get(address, &format!("/v1/jobs/{}/events", jobs[4]));
    let last = BufReader::new(events).lines().map_while(Result::ok).find(|it| it.contains("\"ended\""));
    let last = last.unwrap();
    assert!(last.contains("\"limit\"") && last.contains("made room"), "{last}");
    // The first works; when it ends, the late client is next, though three came before it.
    let mut cancel = connect(address);
    let path = format!("/v1/jobs/{}", jobs[0]);
    write!(cancel, "DELETE {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer secret\r\n\r\n")
        .unwrap();
    assert_eq!(answer(&cancel).0, 202);
    let begun = Instant::now();
    while state(address, &own)["state"] != "ended" {
        assert!(begun.elapsed() < Duration::from_secs(20), "the late client waits for the others");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(state(address, &own)["reason"], "ok");
    drop((many, late));
}

/// Writes a field of 64 MiB: more than the system holds of what nobody reads.
const LARGE: &str = "\
# @domain 256 256 128
from gt4py.cartesian.gtscript import PARALLEL, Field, computation, interval

def large(a: Field[float]):
    with computation(PARALLEL), interval(...):
        a = 1.0
";

fn submit(address: SocketAddr, text: &str, backend: &str) -> String {
    let body = serde_json::json!({"files": {"main.py": text}, "backend": backend, "init": {}}).to_string();
    let mut stream = connect(address);
    let head = head(address, "secret", &format!("Content-Length: {}", body.len()));
    stream.write_all(head.replace("/v1/compile", "/v1/jobs").as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let (status, body) = answer(&stream);
    let ticket: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(status, 201, "{ticket}");
    ticket["job"].as_str().unwrap().to_owned()
}

fn get(address: SocketAddr, path: &str) -> TcpStream {
    let mut stream = connect(address);
    let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer secret\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

#[test]
fn a_reader_that_takes_nothing_is_detached_and_a_silent_stream_is_not() {
    let limits = Limits { write_ms: 500, jobs_at_once: 1, ..Limits::default() };
    let address = serve(limits);
    let large = submit(address, LARGE, "rayon");
    let ended = |job: &str| {
        let mut text = String::new();
        let mut stream = BufReader::new(get(address, &format!("/v1/jobs/{job}/events")));
        while !text.contains("\"type\":\"ended\"") {
            text.clear();
            assert!(stream.read_line(&mut text).unwrap() > 0, "the stream ends with `ended`");
        }
        text
    };
    assert!(ended(&large).contains("\"ok\""));
    let endless = submit(address, ENDLESS, "debug");
    let waits = submit(address, ENDLESS, "debug");
    // Nothing is told of a job that waits; the stream has to be there all the same.
    let silent = get(address, &format!("/v1/jobs/{waits}/events"));
    let mut silent = BufReader::new(silent);
    let reader = get(address, &format!("/v1/jobs/{large}/fields/a"));
    std::thread::sleep(Duration::from_secs(3));
    let mut taken = Vec::new();
    let end = (&reader).read_to_end(&mut taken);
    assert!(end.is_err() || taken.len() < 64 << 20, "{} bytes came", taken.len());
    for job in [&endless, &waits] {
        let mut stream = connect(address);
        let head = format!(
            "DELETE /v1/jobs/{job} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer secret\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        assert_eq!(answer(&stream).0, 202);
    }
    let mut line = String::new();
    while !line.contains("cancelled") {
        line.clear();
        assert!(silent.read_line(&mut line).unwrap() > 0, "the stream goes on");
    }
}

/// A runner as a process of its own, ended with the test.
struct Serving(Child, SocketAddr, String);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Serving {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isobar"));
        Self::of(
            command
                .args(["serve", "--allow-root", "--no-state", "--bind", "127.0.0.1:0"])
                .stderr(Stdio::null()),
        )
    }

    fn of(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (address, token) = line.trim().split_once("/#token=").unwrap();
        let address = address.strip_prefix("http://").unwrap().parse().unwrap();
        Serving(child, address, token.to_owned())
    }

    /// The most memory that it ever had, in MiB.
    fn peak_mib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:")).unwrap();
        line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() / 1024
    }
}

#[test]
fn a_body_of_100_mb_is_refused_and_takes_no_memory() {
    let runner = Serving::start();
    let limit = Limits::default().body_bytes;
    let before = runner.peak_mib();
    let part = vec![b' '; 64 * 1024];
    for kind in ["Transfer-Encoding: chunked", "Content-Length: 104857600"] {
        let mut stream = connect(runner.1);
        stream.write_all(head(runner.1, &runner.2, kind).as_bytes()).unwrap();
        // Everything is sent, whether or not the answer is there already.
        for _ in 0..1600 {
            if kind.starts_with("Transfer") {
                write!(stream, "{:x}\r\n", part.len()).unwrap();
            }
            stream.write_all(&part).unwrap();
            if kind.starts_with("Transfer") {
                stream.write_all(b"\r\n").unwrap();
            }
        }
        let refused = problem(&stream);
        let hit = refused.limit.unwrap();
        assert_eq!((refused.code.as_str(), hit.allowed), ("payload-too-large", limit));
        assert!(hit.asked > limit);
    }
    let grown = runner.peak_mib() - before;
    assert!(grown < 64, "a document of 2 MiB may be held, and this grew by {grown} MiB");
}

/// A runner that is started by a shell with these limits on open files, its words on standard error.
fn with_files(soft: u32, hard: u32, connections: &str) -> (Serving, String, u64) {
    let script = format!(
        "ulimit -Sn {soft}; ulimit -Hn {hard}; exec \"$0\" serve --allow-root --no-state --bind 127.0.0.1:0 --connections {connections}"
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_isobar")]).stderr(Stdio::piped());
    let mut runner = Serving::of(&mut command);
    // All of it was said before the address was.
    let mut said = String::new();
    let mut stderr = BufReader::new(runner.0.stderr.take().unwrap());
    while !said.contains("Open this address") {
        assert!(stderr.read_line(&mut said).unwrap() > 0, "{said}");
    }
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", runner.0.id())).unwrap();
    let line = limits.lines().find_map(|it| it.strip_prefix("Max open files")).unwrap();
    let files = line.split_whitespace().next().unwrap().parse().unwrap();
    (runner, said, files)
}

#[test]
fn as_many_files_may_be_open_as_connections_need_or_less_is_said() {
    let (_enough, said, files) = with_files(256, 4096, "3000");
    assert!(files > 3000, "{files} files");
    assert!(!said.contains("ulimit"), "{said}");

    let (runner, said, files) = with_files(256, 1024, "3000");
    assert_eq!(files, 1024);
    assert!(said.contains("open 1024 files") && said.contains("connections at a time"), "{said}");
    let mut stream = connect(runner.1);
    write!(
        stream,
        "GET /v1/capabilities HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        runner.1, runner.2
    )
    .unwrap();
    let found: serde_json::Value = serde_json::from_slice(&answer(&stream).1).unwrap();
    let limits = &found["limits"];
    assert!((100..1024).contains(&limits["connections"].as_u64().unwrap()), "{limits}");
    assert!(limits["connections_per_address"].as_u64() < limits["connections"].as_u64(), "{limits}");
}

#[test]
fn a_port_that_is_asked_for_and_taken_is_no_other_port() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let serve = |more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_isobar"))
            .args(["serve", "--allow-root"])
            .args(more)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap(), output.stdout)
    };
    let (code, said, printed) = serve(&["--bind", &address]);
    assert_eq!((code, printed.len()), (Some(2), 0), "{said}");
    assert!(said.contains(&address) && said.contains("--bind"), "{said}");
    // At an address that is taken, whatever is let through ends all the same.
    let too_many = (MOST_CONNECTIONS + 1).to_string();
    let (code, said, _) = serve(&["--bind", &address, "--connections", &too_many]);
    assert!(code == Some(2) && said.contains(&too_many), "{said}");
    let of_one = ["--bind", &address, "--connections", "100", "--connections-per-address", "100"];
    let (code, said, _) = serve(&of_one);
    assert!(code == Some(2) && said.contains("one address"), "{said}");
}

#[test]
fn root_and_other_machines_are_refused_unasked() {
    let serve = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isobar"));
        let output = command.arg("serve").args(arguments).args(["--no-state"]).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = serve(&["--bind", "0.0.0.0:0", "--allow-root"]);
    assert!(code == Some(2) && said.contains("--allow-remote"), "{said}");
    let own = std::fs::read_to_string("/proc/self/status").unwrap();
    if !own.lines().any(|it| it.starts_with("Uid:\t0\t")) {
        isobar_testing::skip_part("root", "this is somebody else");
        return;
    }
    let (code, said) = serve(&["--bind", "127.0.0.1:0"]);
    assert!(code == Some(2) && said.contains("--allow-root"), "{said}");
}

#[test]
fn a_full_temporary_folder_is_told_as_such() {
    // No file of this runner may be larger than 512 KiB, as where there is no more room.
    let mut command = Command::new("sh");
    let script = "ulimit -f 1024; trap '' XFSZ; exec \"$0\" serve --allow-root --no-state --bind 127.0.0.1:0";
    let runner =
        Serving::of(command.args(["-c", script, env!("CARGO_BIN_EXE_isobar")]).stderr(Stdio::null()));
    let mut stream = connect(runner.1);
    let head = head(runner.1, &runner.2, "Content-Length: 8388608").replace("/v1/compile", "/v1/uploads");
    stream.write_all(head.replace("application/json", "application/octet-stream").as_bytes()).unwrap();
    stream.write_all(&vec![0; 8 << 20]).unwrap();
    let refused = problem(&stream);
    assert_eq!((refused.code.as_str(), refused.status), ("no-room", 507));
}
