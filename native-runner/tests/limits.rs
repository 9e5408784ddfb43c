//! What a runner takes of its clients, over real connections.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use isobar_protocol::limits::Limits;
use isobar_protocol::problem::Problem;
use isobar_runner::auth::{Auth, Hosts};
use isobar_runner::config::Tools;
use isobar_runner::state::AppState;

/// A runner in this process, with `limits`; its token is `secret`.
fn serve(limits: Limits) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let tools = Tools::find(&isobar_runner::config::Environment::default());
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
    let open = [connect(address), connect(address)];
    for mut stream in &open {
        stream.write_all(ask.as_bytes()).unwrap();
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
    let freed = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        let mut next = connect(address);
        next.write_all(ask.as_bytes()).unwrap();
        answer(&next).0 == 200
    });
    assert!(freed, "the place of a connection that ended is free again");
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
        let mut child = Command::new(env!("CARGO_BIN_EXE_isobar"))
            .args(["serve", "--no-state", "--bind", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
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
    assert!(grown < 64, "a document of 16 MiB may be held, and this grew by {grown} MiB");
}
