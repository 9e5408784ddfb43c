//! The client of a remote runner. It uses HTTP/1.0 over one connection for each request. Every answer ends by
//! closing the connection, so an event stream is simply lines until the end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use isobar_protocol::compile::Compiled;
use isobar_protocol::problem::Problem;
use isobar_protocol::request::Request;
use serde::de::DeserializeOwned;

use super::Usage;
use crate::config::Environment;

/// The connection to a runner.
#[derive(Debug)]
pub(crate) struct Client {
    /// Name and port.
    authority: String,
    token: String,
}

/// An answer, its body not yet read.
pub(crate) struct Answer {
    pub status: u16,
    /// Names in small letters.
    headers: Vec<(String, String)>,
    pub body: BufReader<TcpStream>,
}

/// No answer is longer.
const MOST_BYTES: u64 = 16 * 1024 * 1024 * 1024;
const CONNECT: Duration = Duration::from_secs(10);
/// The runner sends a sign of life more often than this.
const SILENCE: Duration = Duration::from_secs(120);

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn bytes(self) -> std::io::Result<Vec<u8>> {
        let length = self.header("content-length").and_then(|it| it.parse::<usize>().ok());
        let mut bytes = Vec::new();
        self.body.take(MOST_BYTES).read_to_end(&mut bytes)?;
        match length {
            Some(length) if bytes.len() != length => Err(std::io::Error::other("the answer broke off")),
            _ => Ok(bytes),
        }
    }
}

impl Client {
    /// A client of the runner at `url`: `http://127.0.0.1:8787`, with a token in its fragment or in `ISOBAR_TOKEN`.
    pub(crate) fn new(url: &str, environment: &Environment) -> Result<Self, Usage> {
        let rest = url.strip_prefix("http://").ok_or_else(|| {
            Usage::Wrong(format!("--runner takes an address like http://127.0.0.1:8787, and not {url}"))
        })?;
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let authority = rest.split('/').next().unwrap_or_default();
        let in_fragment = fragment.split('&').find_map(|it| it.strip_prefix("token="));
        let token =
            in_fragment.map(str::to_owned).or_else(|| environment.token.clone()).ok_or_else(|| {
                Usage::Wrong("set ISOBAR_TOKEN to the token that `isobar serve` printed".to_owned())
            })?;
        let is_plain = |text: &str| text.chars().all(|it| it.is_ascii_graphic());
        if authority.is_empty() || !is_plain(authority) || !is_plain(&token) {
            return Err(Usage::Wrong(format!(
                "--runner takes an address like http://127.0.0.1:8787, and not {url}"
            )));
        }
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let authority = if has_port { authority.to_owned() } else { format!("{authority}:80") };
        Ok(Self { authority, token })
    }

    /// Sends a request and reads the head of the answer.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, Usage> {
        let failed =
            |error: std::io::Error| Usage::Wrong(format!("no answer from {}: {error}", self.authority));
        let mut stream = self.connect().map_err(failed)?;
        let mut head = format!(
            "{method} {path} HTTP/1.0\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n",
            self.authority,
            self.token,
            body.len()
        );
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += "\r\n";
        // A runner that refuses a body answers before it has read it all: what it says is what counts.
        let sent = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        let mut body = BufReader::new(stream);
        let mut line = String::new();
        let read = body.by_ref().take(64 * 1024).read_line(&mut line);
        if line.is_empty() {
            sent.map_err(failed)?;
        }
        read.map_err(failed)?;
        let status = line.split(' ').nth(1).and_then(|it| it.parse().ok());
        let status = status.ok_or_else(|| failed(std::io::Error::other("this is no HTTP server")))?;
        let mut headers = Vec::new();
        loop {
            line.clear();
            body.by_ref().take(64 * 1024).read_line(&mut line).map_err(failed)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
            if headers.len() > 100 {
                return Err(failed(std::io::Error::other("too many headers")));
            }
        }
        Ok(Answer { status, headers, body })
    }

    fn connect(&self) -> std::io::Result<TcpStream> {
        use std::net::ToSocketAddrs;
        let mut failure = std::io::Error::other("the name is not known");
        for address in self.authority.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(SILENCE))?;
                    stream.set_nodelay(true)?;
                    return Ok(stream);
                }
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    /// The document at `path`.
    pub(crate) fn get_json<T: DeserializeOwned>(&self, path: &str) -> Result<T, Usage> {
        let answer = self.send("GET", path, &[], &[])?;
        self.understood(answer)
    }

    /// The answer to a document.
    pub(crate) fn post_json<T: DeserializeOwned>(&self, path: &str, document: &Request) -> Result<T, Usage> {
        let body = serde_json::to_vec(document).map_err(|error| Usage::Wrong(error.to_string()))?;
        let answer = self.send("POST", path, &[("Content-Type", "application/json")], &body)?;
        self.understood(answer)
    }

    pub(crate) fn compile(&self, request: &Request) -> Result<Compiled, Usage> {
        self.post_json("/v1/compile", request)
    }

    pub(crate) fn understood<T: DeserializeOwned>(&self, answer: Answer) -> Result<T, Usage> {
        let bytes = self.accepted(answer)?;
        serde_json::from_slice(&bytes).map_err(|error| {
            Usage::Wrong(format!("the answer of {} is not understood: {error}", self.authority))
        })
    }

    /// The body of an answer that is no problem.
    pub(crate) fn accepted(&self, answer: Answer) -> Result<Vec<u8>, Usage> {
        let status = answer.status;
        let bytes = answer
            .bytes()
            .map_err(|error| Usage::Wrong(format!("no answer from {}: {error}", self.authority)))?;
        if (200..300).contains(&status) {
            return Ok(bytes);
        }
        let what = match serde_json::from_slice::<Problem>(&bytes) {
            Ok(problem) => format!("{} ({}): {}", problem.title, problem.code, problem.detail),
            Err(_) => format!("status {status}"),
        };
        Err(Usage::Wrong(format!("the runner at {} refuses: {what}", self.authority)))
    }
}

/// A name as a part of a path; one that is not spelled out would end the line of the request.
pub(super) fn part_of_path(name: &str) -> String {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'.' | b'_' | b'~');
    let spelled = name.bytes().map(|it| match is_plain(it) {
        true => char::from(it).to_string(),
        false => format!("%{it:02X}"),
    });
    spelled.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_within_its_part_of_a_path() {
        assert_eq!(part_of_path("q_1"), "q_1");
        assert_eq!(part_of_path("ö/a b\r\nX: y?#"), "%C3%B6%2Fa%20b%0D%0AX%3A%20y%3F%23");
    }
}
