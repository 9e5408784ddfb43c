//! Requests that nobody means well, made from a seed.

use std::net::SocketAddr;

use serde_json::{Map, Value, json};

pub(super) const STENCIL: &str = "\
# @domain 4 3 2
# @input a linear(low=0, high=1, along=i)
from gt4py.cartesian.gtscript import PARALLEL, FORWARD, Field, computation, interval, sin

def step(a: Field[float], b: Field[float], alpha: float = 2.0):
    with computation(PARALLEL), interval(...):
        b = alpha * a[1, 0, 0] + sin(a)
    with computation(FORWARD), interval(1, None):
        b = b[0, 0, -1] if a > 0.5 else b
";

/// The client's use of the connection after it has sent its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Listen,
    /// Closed without waiting for an answer.
    Vanish,
}

/// A request as it is sent.
#[derive(Debug)]
pub(super) struct Sent {
    pub bytes: Vec<u8>,
    pub then: Then,
    pub is_head: bool,
    /// It is so wrong that the runner may close the connection without a word.
    pub may_be_closed: bool,
}

/// Names of jobs and uploads, learned from answers.
#[derive(Clone, Debug, Default)]
pub(super) struct LearnedNames {
    jobs: Vec<String>,
    uploads: Vec<String>,
}

impl LearnedNames {
    pub(super) fn learn(&mut self, answer: &Value) {
        for (of, all) in [("job", &mut self.jobs), ("upload", &mut self.uploads)] {
            if let Some(name) = answer[of].as_str().filter(|it| !all.iter().any(|known| known == it)) {
                all.push(name.to_owned());
                // Those before are mostly gone, which is worth a try now and then.
                if all.len() > 20 {
                    all.remove(0);
                }
            }
        }
    }
}

/// Makes requests; the same seed makes the same, but for what was learned.
#[derive(Debug)]
pub(super) struct Maker {
    state: u64,
    host: String,
    token: String,
}

const NAMES: [&str; 22] = [
    "",
    ".",
    "..",
    "/etc/passwd",
    "../../../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "C:\\windows\\win.ini",
    "a\0b",
    "a\r\nb: c",
    "\u{1b}]0;x\u{7}",
    "\u{202e}yp.niam",
    "\u{200b}",
    "\u{feff}main.py",
    "*/ system(\"x\"); /*",
    "\"\n#include </etc/hostname>\n",
    "??/\\\n.py",
    "main.py\u{2028}",
    "__proto__",
    "größe",
    "a/b/c/d/e/f/g/h.py",
    "%s%n%x",
    "con",
];

/// Names that a file may have, and that C could take for more than a name.
const FINE_NAMES: [&str; 6] = ["\"*/.py", "a'b.py", "#include <x>.py", "??=.py", "$(id).py", "-o.py"];

const PATHS: [&str; 24] = [
    "/",
    "*",
    "//",
    "/v1",
    "/v1/",
    "/v1/jobs",
    "/v1/jobs/",
    "/v1/compile",
    "/v1/uploads",
    "/v1/capabilities",
    "/v1/jobs/%00",
    "/v1/jobs/..%2f..%2f",
    "/v1/jobs/none/fields/%ff%fe",
    "/v1/jobs/none/fields/../../../etc/passwd",
    "/../../etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/problems/../../etc/passwd",
    "/problems/%3cscript%3e",
    "/healthz?x=%",
    "/index.html/..",
    "/v1/jobs?k=1#x",
    "/v1/jobs;x=1",
    "http://evil.example/v1/jobs",
    "/\\evil",
];

const METHODS: [&str; 12] = [
    "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "X-\u{7f}", "PRI",
];

impl Maker {
    pub(super) fn new(seed: u64, address: SocketAddr, token: &str) -> Self {
        Self { state: seed, host: address.to_string(), token: token.to_owned() }
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n.max(1) as u64).unwrap()
    }

    fn is(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    fn name(&mut self) -> String {
        match self.below(8) {
            0 => "x".repeat(60_000),
            1 => "é".repeat(self.below(300)),
            2 => self.text(40),
            _ => self.one(&NAMES).to_owned(),
        }
    }

    fn text(&mut self, most: usize) -> String {
        let n = self.below(most);
        (0..n).filter_map(|_| char::from_u32(u32::try_from(self.next() % 0x1_1000).unwrap())).collect()
    }

    /// A value that stands where another is expected.
    fn value(&mut self) -> Value {
        match self.below(16) {
            0 => Value::Null,
            1 => json!(true),
            2 => json!(-1),
            3 => json!(u64::MAX),
            4 => json!(i64::MIN),
            5 => json!(1e308),
            6 => json!(0.5),
            7 => json!([]),
            8 => json!({}),
            9 => json!(["", null, 3, {}]),
            10 => json!({self.name(): 1}),
            11 => (0..100).fold(json!(0), |inner, _| json!([inner])),
            12 => json!(vec![0; 2000]),
            13 => json!([1_u64 << 40, 1_u64 << 40, 1_u64 << 40]),
            _ => json!(self.name()),
        }
    }

    fn document(&mut self) -> Value {
        let backend = self.one(&["debug", "debug", "numpy", "rayon"]);
        json!({
            "files": {"main.py": STENCIL}, "main": "main.py", "backend": backend, "init": {}, "stencil": "step",
            "scalars": {"alpha": 1.5}, "domain": [4, 3, 2], "origin": {"a": [0, 0, 0]}, "externals": {},
            "dtypes": {"float": "float64"}, "options": {"mode": "reproducible", "threads": 2, "lines": false},
            "passes": {"skip": []}, "stages": ["oir", "c"], "results": {"fields": ["b"]},
        })
    }

    /// Makes a request document in which something is not as it should be.
    fn odd_document(&mut self, known: &LearnedNames) -> Value {
        let mut document = self.document();
        let entries = document.as_object_mut().unwrap();
        match self.below(7) {
            0 => {
                let text = self.source();
                entries.insert("files".into(), json!({"main.py": text}));
            }
            1 => {
                let name = self.name();
                let files: Map<String, Value> = [(name.clone(), json!(STENCIL))].into_iter().collect();
                entries.extend([("files".into(), files.into()), ("main".into(), json!(name))]);
            }
            // Lines in generated code name the file. Its compiler takes long, so that this is rare.
            2 if self.is(8) => {
                let name = self.one(&FINE_NAMES);
                let files: Map<String, Value> = [(name.to_owned(), json!(STENCIL))].into_iter().collect();
                let options = json!({"lines": true});
                entries.extend([("files".into(), files.into()), ("main".into(), json!(name))]);
                entries.extend([("options".into(), options), ("backend".into(), json!("openmp"))]);
            }
            3 => {
                let upload = self.one(&[&known.uploads[..], &["none".to_owned()]].concat());
                entries.insert("fields".into(), json!(upload));
                entries.remove("init");
            }
            4 => {
                let bytes = self.one(&["AAAA", "!", "", "AAAAAAAAAAA="]);
                let shape = self.one(&[vec![1, 1, 1], vec![u64::MAX, 2], vec![], vec![0; 40]]);
                let dtype = self.one(&["float64", "float16", "object", ""]);
                let field = json!({"dtype": dtype, "shape": shape, "data": bytes});
                entries.insert("fields".into(), json!({"a": field, "b": field}));
            }
            _ => {
                for _ in 0..=self.below(2) {
                    let keys: Vec<String> = entries.keys().cloned().collect();
                    let (key, value) = (self.one(&keys), self.value());
                    // Somewhere below, or the entry itself.
                    match entries.get_mut(&key).and_then(Value::as_object_mut) {
                        Some(below) if self.is(2) => drop(below.insert(self.name(), value)),
                        _ => drop(entries.insert(key, value)),
                    }
                }
            }
        }
        document
    }

    /// The text of a stencil that is broken somewhere.
    fn source(&mut self) -> String {
        let mut text: Vec<char> = STENCIL.chars().collect();
        match self.below(6) {
            0 => return format!("{STENCIL}        b = {}a{}\n", "(".repeat(3000), ")".repeat(3000)),
            1 => return STENCIL.replace("a[1, 0, 0]", &format!("a[{}, 0, 0]", self.next())),
            2 => return STENCIL.replace("sin(a)", &"sin(".repeat(self.below(500))),
            3 => return STENCIL.replace('b', &self.name()),
            4 => return self.text(2000),
            _ => {}
        }
        for _ in 0..=self.below(8) {
            let (from, to) = (self.below(text.len()), self.below(text.len()));
            match self.below(3) {
                0 => drop(text.remove(from)),
                1 => text.swap(from, to),
                _ => {
                    text.insert(from, self.one(&['(', ']', ':', '\t', '\0', '\u{2028}', '"', '\\', '@', '9']))
                }
            }
        }
        text.into_iter().collect()
    }

    fn junk(&mut self, most: usize) -> Vec<u8> {
        let n = self.below(most);
        (0..n).map(|_| self.next().to_le_bytes()[0]).collect()
    }

    /// Bytes that are changed here and there.
    fn mutated(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        for _ in 0..=self.below(6) {
            let at = self.below(bytes.len());
            match self.below(4) {
                _ if bytes.is_empty() => {}
                0 => bytes[at] = self.next().to_le_bytes()[0],
                1 => bytes.truncate(at),
                2 => drop(bytes.splice(at..at, self.junk(20))),
                _ => {
                    let part = bytes[at..].to_vec();
                    bytes.extend(part);
                }
            }
        }
        bytes
    }

    fn npz(&mut self) -> Vec<u8> {
        let zeros = [0; 8 * 24];
        let mut file = std::io::Cursor::new(Vec::new());
        let names = [self.one(&["a", "a", "..", "/etc/x", "a\0"]), "b"];
        let arrays = names.map(|name| (name, "float64", vec![4, 3, 2], &zeros[..]));
        isobar_runner::npz::write(&mut file, arrays).unwrap();
        let bytes = file.into_inner();
        if self.is(4) { bytes } else { self.mutated(bytes) }
    }

    /// A whole request: line, ordinary headers, some more, and the body.
    fn sent(&mut self, line: &str, kind: &str, more: &str, body: &[u8]) -> Sent {
        let mut bytes = format!(
            "{line} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: {kind}\r\n{more}\
             Content-Length: {}\r\n\r\n",
            self.host,
            self.token,
            body.len()
        )
        .into_bytes();
        bytes.extend(body);
        let is_head = line.starts_with("HEAD ");
        Sent { bytes, then: Then::Listen, is_head, may_be_closed: false }
    }

    fn job_path(&mut self, known: &LearnedNames) -> String {
        let job = self.one(&[&known.jobs[..], &["none".to_owned()]].concat());
        format!("/v1/jobs/{job}")
    }

    pub(super) fn request(&mut self, known: &LearnedNames) -> Sent {
        let to = self.one(&["/v1/compile", "/v1/jobs", "/v1/jobs"]);
        let post = format!("POST {to}");
        let json = "application/json";
        match self.below(20) {
            0..6 => {
                let document = self.odd_document(known).to_string();
                self.sent(&post, json, "", document.as_bytes())
            }
            6 | 7 => {
                let document = self.document().to_string().into_bytes();
                let broken = self.mutated(document);
                self.sent(&post, json, "", &broken)
            }
            8 => {
                let open = self.one(&[
                    "[",
                    "{\"a\":",
                    "[[{\"files\":",
                    "\"\\ud800\"",
                    "1e9",
                    "-",
                    "{\"files\":{\"a\":",
                ]);
                let body = open.repeat(self.below(20_000));
                self.sent(&post, json, "", body.as_bytes())
            }
            9 | 10 => {
                let file = self.npz();
                self.sent("POST /v1/uploads", "application/octet-stream", "", &file)
            }
            11 => {
                let junk = self.junk(5000);
                self.sent("POST /v1/uploads", "application/octet-stream", "", &junk)
            }
            12 => {
                // A job is ended before its events are read: none of it takes long.
                let path = self.job_path(known);
                self.sent(&format!("DELETE {path}"), json, "", b"")
            }
            13 | 14 => {
                let path = self.job_path(known);
                let ids = [
                    "0",
                    "1",
                    "5",
                    "999999",
                    "18446744073709551615",
                    "99999999999999999999",
                    "-1",
                    "",
                    "NaN",
                    "1e3",
                ];
                let id = format!("Last-Event-ID: {}\r\n", self.one(&ids));
                self.sent(&format!("GET {path}/events"), json, &id, b"")
            }
            15 => {
                let path = self.job_path(known);
                let slices = [
                    "",
                    "?k=0",
                    "?k=-1",
                    "?k=99",
                    "?data=1,2",
                    "?data=,",
                    "?x=1",
                    "?k=0&k=1",
                    "?k=%",
                    "?data=9223372036854775808",
                ];
                let slice = self.one(&slices);
                let name = self.one(&["a", "b", "%2e%2e", "b%00", "\u{e4}", "b/b"]);
                let name: String =
                    name.escape_default().filter(|it| !matches!(it, '\\' | '{' | '}')).collect();
                self.sent(&format!("GET {path}/fields/{name}{slice}"), json, "", b"")
            }
            16 => {
                let (method, path) = (self.one(&METHODS), self.one(&PATHS));
                let mut sent = self.sent(&format!("{method} {path}"), json, "", b"");
                sent.may_be_closed = true;
                sent
            }
            17 | 18 => self.odd_head(),
            _ => {
                let document = self.document().to_string();
                let mut sent = self.sent(&post, json, "", document.as_bytes());
                let length = self.below(sent.bytes.len());
                sent.bytes.truncate(length);
                Sent { then: Then::Vanish, ..sent }
            }
        }
    }

    /// A request whose headers are not as they should be.
    fn odd_head(&mut self) -> Sent {
        let host = self.host.clone();
        let document = self.document().to_string();
        let more = match self.below(16) {
            0 => "Host: evil.example\r\n".to_owned(),
            1 => "Origin: null\r\n".to_owned(),
            2 => format!("Origin: http://{host}.evil.example\r\n"),
            3 => "Content-Length: 5\r\n".to_owned(),
            4 => "Transfer-Encoding: chunked\r\n".to_owned(),
            5 => "Transfer-Encoding: gzip, identity\r\n".to_owned(),
            6 => format!("X-Long: {}\r\n", "x".repeat(self.below(60_000))),
            7 => "X-Many: 1\r\n".repeat(self.below(400)),
            8 => "Content-Encoding: gzip\r\n".to_owned(),
            9 => "Expect: 100-continue\r\n".to_owned(),
            10 => "Authorization: Bearer wrong\r\n".to_owned(),
            11 => "Sec-Fetch-Site: cross-site\r\n".to_owned(),
            12 => "Upgrade: websocket\r\nConnection: Upgrade\r\n".to_owned(),
            13 => "Range: bytes=0-18446744073709551615\r\nIf-None-Match: *\r\n".to_owned(),
            14 => "X: \u{e4}\u{2028}\r\n folded: yes\r\n".to_owned(),
            _ => "Connection: close\r\nKeep-Alive: timeout=99999\r\n".to_owned(),
        };
        let line =
            self.one(&["POST /v1/jobs", "POST /v1/compile", "GET /v1/capabilities", "GET /healthz", "GET /"]);
        let body = if line.starts_with("POST") { document.as_bytes() } else { b"" };
        let mut sent = self.sent(line, "application/json", &more, body);
        sent.may_be_closed = true;
        sent
    }
}
