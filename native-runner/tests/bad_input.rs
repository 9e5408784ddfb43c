//! Faults of a stencil or a call are told with code, place and help, the same by HTTP and on the command
//! line.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::io::{Cursor, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use isobar_protocol::diagnostic::Diagnostic;
use isobar_protocol::job::{EndReason, Event, EventKind};
use isobar_protocol::limits::Limits;
use isobar_protocol::problem::Problem;
use isobar_runner::auth::{Auth, Hosts};
use isobar_runner::config::{Environment, Tools};
use isobar_runner::state::AppState;
use serde_json::{Value, json};
use tower::ServiceExt;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const STENCIL: &str = "\
from gt4py.cartesian.gtscript import PARALLEL, Field, computation, interval

def shift(a: Field[float], b: Field[float], alpha: float):
    with computation(PARALLEL), interval(...):
        b = alpha * a[1, 0, 0]
";

/// An `.npy` file.
fn npy(descr: &str, is_fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    let header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}\n");
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(data);
    out
}

fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut out = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, array) in arrays {
        out.start_file(format!("{name}.npy"), options).unwrap();
        out.write_all(array).unwrap();
    }
    out.finish().unwrap().into_inner()
}

/// Five by two by one elements, 0 to 9.
fn numbers(to_bytes: impl Fn(f64) -> [u8; 8]) -> Vec<u8> {
    (0..10).flat_map(|it| to_bytes(f64::from(it))).collect()
}

fn array() -> Vec<u8> {
    npy("'<f8'", false, "(5, 2, 1)", &numbers(f64::to_le_bytes))
}

fn with_a(a: Vec<u8>) -> Vec<u8> {
    npz(&[("a", a), ("b", array())])
}

/// A call, and what is to be said of it.
struct Case {
    text: String,
    fields: Vec<u8>,
    /// The other entries of the request document.
    rest: Value,
    code: &'static str,
    /// Of the text; 0 where the call is at fault.
    line: u32,
    /// Something that the message says.
    word: &'static str,
}

fn case(code: &'static str, line: u32, word: &'static str) -> Case {
    let (text, fields) = (STENCIL.to_owned(), with_a(array()));
    Case { text, fields, rest: json!({"scalars": {"alpha": 2.0}}), code, line, word }
}

fn of_text(from: &str, to: &str, (code, line, word): (&'static str, u32, &'static str)) -> Case {
    assert!(STENCIL.contains(from));
    Case { text: STENCIL.replacen(from, to, 1), ..case(code, line, word) }
}

fn of_fields(fields: Vec<u8>, code: &'static str, word: &'static str) -> Case {
    Case { fields, ..case(code, 0, word) }
}

fn of_rest(rest: Value, code: &'static str, word: &'static str) -> Case {
    Case { rest, ..case(code, 0, word) }
}

fn cases() -> Vec<Case> {
    let good = with_a(array());
    let mut magic = good.clone();
    magic[..2].copy_from_slice(b"XX");
    let mut flipped = good.clone();
    // Within the data of the first entry, behind its name.
    flipped[60] ^= 0xff;
    let eight = |descr: &str| npy(descr, false, "(5, 2, 1)", &[0; 80]);
    let scalars = |alpha: Value| json!({"scalars": {"alpha": alpha}});
    vec![
        of_text("alpha * a", "alpha * )", ("E00", 5, "this `)` closes nothing")),
        of_text("alpha * a", "alhpa * a", ("E07", 5, "`alhpa`")),
        of_text("b: Field[float]", "b: Field[str]", ("E01", 3, "parameter `b`")),
        of_text("b: Field[float]", "b: Field[IQ, float]", ("E01", 3, "parameter `b`")),
        of_text("interval(...)", "interval(3, 1)", ("E10", 4, "interval")),
        // The domain of the arrays has one level.
        of_text("interval(...)", "interval(0, 9)", ("C05", 0, "9 levels")),
        of_rest(json!({"scalars": {"alpha": 2}, "domain": [5, 2, 1]}), "C04", "6 points along I"),
        of_rest(json!({"scalars": {"alpha": 2}, "domain": [-1, 2, 1]}), "C04", "-1"),
        of_rest(json!({"scalars": {"alpha": 2}, "origin": {"a": [-2, 0, 0]}}), "C03", "leaves out a point"),
        of_rest(json!({"scalars": {"alpha": 2}, "origin": {"a": [1, 0]}}), "C02", "2 entries"),
        of_rest(json!({"scalars": {"alpha": 2}, "origin": {"q": [0, 0, 0]}}), "C06", "`q`"),
        of_rest(json!({"scalars": {"alpha": 2}, "init": {"q": "constant(1)"}}), "C06", "`q`"),
        of_rest(json!({"scalars": {"alpha": 2}, "init": {"a": "constnt(1)"}}), "C07", "`constnt`"),
        of_rest(scalars("two".into()), "C01", "\"two\""),
        of_rest(scalars(true.into()), "C01", "boolean"),
        of_rest(scalars(json!([1])), "C01", "[1]"),
        of_rest(json!({"scalars": {"alpha": 1, "beta": 1}}), "C06", "`beta`"),
        Case { rest: json!({}), ..case("C06", 3, "scalar `alpha`") },
        Case { fields: npz(&[("a", array())]), ..case("C06", 3, "field `b`") },
        of_fields(npz(&[("a", array()), ("b", array()), ("c", array())]), "C06", "`c`"),
        of_fields(with_a(npy("'<f4'", false, "(5, 2, 1)", &[0; 40])), "C01", "float32"),
        of_fields(with_a(npy("'<f8'", false, "(5, 2)", &[0; 80])), "C02", "2 dimensions"),
        of_fields(with_a(npy("'<f2'", false, "(5, 2, 1)", &[0; 20])), "C07", "`<f2`"),
        of_fields(with_a(eight("'|O'")), "C07", "`|O`"),
        of_fields(with_a(eight("[('x', '<f8')]")), "C07", "plain numbers"),
        of_fields(with_a(npy("'<f8'", false, "(5, 2, 2)", &[0; 80])), "C07", "80 bytes of data follow"),
        of_fields(with_a(npy("'<f8'", false, "(5, 2, 1)", &[0; 88])), "C07", "more than the 80 bytes"),
        of_fields(with_a(b"XNUMPY".to_vec()), "C07", "array `a`"),
        of_fields(good[..good.len() / 2].to_vec(), "C07", "breaks off"),
        of_fields(magic, "C07", "damaged"),
        of_fields(flipped, "C07", "damaged"),
        of_fields(array(), "C07", "numpy.savez"),
        of_fields(Vec::new(), "C07", "empty"),
        of_fields(b"hello".to_vec(), "C07", "no .npz file"),
    ]
}

fn document(case: &Case) -> Value {
    let mut document = json!({"files": {"main.py": case.text}, "backend": "debug"});
    document.as_object_mut().unwrap().extend(case.rest.as_object().unwrap().clone());
    document
}

/// Exit code and report of the command line.
fn by_command(document: &Value, fields: &[u8]) -> (Option<i32>, Value) {
    let folder = tempfile::tempdir().unwrap();
    let (request, npz) = (folder.path().join("request.json"), folder.path().join("in.npz"));
    std::fs::write(&request, document.to_string()).unwrap();
    std::fs::write(&npz, fields).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_isobar"))
        .args(["run", "--format", "json", "--request"])
        .arg(&request)
        .arg("--fields")
        .arg(&npz)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
}

fn app() -> Router {
    let tools = Tools::find(&Environment {
        temporary: std::env::temp_dir(),
        program: PathBuf::from(env!("CARGO_BIN_EXE_isobar")),
        ..Environment::default()
    });
    let hosts = Hosts::new(([127, 0, 0, 1], 8787).into(), &[]);
    isobar_runner::app(AppState::new(Auth::new("secret"), hosts, Limits::default(), tools))
}

async fn ask(app: &Router, method: &str, path: &str, kind: &str, body: Vec<u8>) -> Vec<u8> {
    let request = Request::builder().method(method).uri(path).header("host", "localhost:8787");
    let request = request.header("authorization", "Bearer secret").header("content-type", kind);
    let answer = app.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
    assert!(answer.status().is_success(), "{path}: {}", answer.status());
    answer.into_body().collect().await.unwrap().to_bytes().to_vec()
}

/// The end of a job, and the diagnostics before it.
async fn by_http(
    app: &Router,
    document: &Value,
    fields: &[u8],
) -> (EndReason, Option<Problem>, Vec<Diagnostic>) {
    let upload = ask(app, "POST", "/v1/uploads", "application/octet-stream", fields.to_vec()).await;
    let upload: Value = serde_json::from_slice(&upload).unwrap();
    let mut document = document.clone();
    document["fields"] = upload["upload"].clone();
    let ticket = ask(app, "POST", "/v1/jobs", "application/json", document.to_string().into()).await;
    let ticket: Value = serde_json::from_slice(&ticket).unwrap();
    let path = format!("/v1/jobs/{}/events", ticket["job"].as_str().unwrap());
    let text = String::from_utf8(ask(app, "GET", &path, "", Vec::new()).await).unwrap();
    let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let mut found = Vec::new();
    for event in events {
        match serde_json::from_str::<Event>(event).unwrap().what {
            EventKind::Diagnostic { diagnostic } => found.push(diagnostic),
            EventKind::Ended { reason, problem } => return (reason, problem, found),
            _ => {}
        }
    }
    panic!("the events of a job end with `ended`");
}

#[tokio::test]
async fn every_fault_has_its_code_place_and_help() {
    let app = app();
    for case in cases() {
        let about = format!("{} {} {}", case.code, case.word, case.rest);
        let document = document(&case);
        let (exit, report) = by_command(&document, &case.fields);
        let found: Vec<Diagnostic> = serde_json::from_value(report["diagnostics"].clone()).unwrap();
        let first = found.first().unwrap_or_else(|| panic!("nothing is said of {about}"));
        assert_eq!(exit, Some(1), "{about}");
        assert_eq!((first.code.as_str(), first.start.line), (case.code, case.line), "{about}: {first:?}");
        assert_eq!((first.severity.as_str(), first.file.is_empty()), ("error", case.line == 0), "{about}");
        assert!(first.message.contains(case.word), "{about}: {}", first.message);
        assert!(first.help.as_ref().is_some_and(|it| !it.is_empty()), "{about}");

        let (reason, problem, told) = by_http(&app, &document, &case.fields).await;
        assert_eq!((reason, &told), (EndReason::Error, &found), "{about}");
        let code = if case.code.starts_with('E') { "compile-failed" } else { "call-refused" };
        assert_eq!(problem.unwrap().code, code, "{about}");
    }
}

#[tokio::test]
async fn both_orders_and_both_ends_mean_the_same() {
    let by_column: Vec<u8> =
        [0, 2, 4, 6, 8, 1, 3, 5, 7, 9].iter().flat_map(|&it| f64::from(it).to_le_bytes()).collect();
    let document = document(&case("", 0, ""));
    let mut fields = Vec::new();
    for a in [
        array(),
        npy("'<f8'", true, "(5, 2, 1)", &by_column),
        npy("'>f8'", false, "(5, 2, 1)", &numbers(f64::to_be_bytes)),
    ] {
        let (exit, report) = by_command(&document, &with_a(a));
        assert_eq!(exit, Some(0), "{report:#}");
        fields.push(report["fields"].clone());
    }
    assert_eq!(fields[0][0]["statistics"]["max"], 18.0);
    assert!(fields.iter().all(|it| *it == fields[0]), "{fields:?}");
}

#[tokio::test]
async fn a_bomb_is_refused_for_what_it_promises() {
    // It would fill a terabyte, and its header says so.
    let bomb = with_a(npy("'<f8'", false, "(131072, 1024, 1024)", &vec![0; 16 << 20]));
    assert!(bomb.len() < 64 << 10);
    let document = document(&case("", 0, ""));
    let (exit, report) = by_command(&document, &bomb);
    assert_eq!((exit, &report["diagnostics"][0]["code"]), (Some(1), &json!("R02")), "{report:#}");
    let (reason, problem, _) = by_http(&app(), &document, &bomb).await;
    let problem = problem.unwrap();
    assert_eq!((reason, problem.code.as_str()), (EndReason::Limit, "domain-too-large"));
    assert!(problem.limit.unwrap().asked >= 1 << 40);
}

#[tokio::test]
async fn a_file_without_a_stencil_is_said_to_have_none() {
    let document = json!({"files": {"main.py": "x = 1\n"}, "backend": "debug"});
    let (exit, report) = by_command(&document, &with_a(array()));
    assert_eq!((exit, &report["diagnostics"][0]["code"]), (Some(1), &json!("R09")));
    let (reason, _, found) = by_http(&app(), &document, &with_a(array())).await;
    assert_eq!((reason, found[0].code.as_str()), (EndReason::Error, "R09"));
}
