//! The HTTP interface, asked through `app()` as a client would ask it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::path::PathBuf;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use http_body_util::BodyExt;
use isobar_protocol::limits::Limits;
use isobar_protocol::problem::Problem;
use isobar_runner::auth::{Auth, Hosts};
use isobar_runner::config::{Environment, Tools};
use isobar_runner::routes::{Access, ROUTES};
use isobar_runner::state::AppState;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::served::COPY;

/// Works for hours, and then ends.
pub(crate) const ENDLESS: &str = "\
# @domain 64 64 8
# @input a constant(1)
from gt4py.cartesian.gtscript import FORWARD, Field, computation, interval

def endless(a: Field[float], b: Field[float]):
    with computation(FORWARD), interval(...):
        b = a
        x = a
        n = 0.0
        while n < 900000.0:
            x = x * 0.5 + a
            n = n + 1.0
        b = x
";

pub(crate) fn tools() -> Tools {
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("http/cache");
    Tools::find(&Environment {
        path: std::env::var_os("PATH").unwrap_or_default(),
        cache: Some(cache),
        temporary: std::env::temp_dir(),
        program: PathBuf::from(env!("CARGO_BIN_EXE_isobar")),
        ..Environment::default()
    })
}

pub(crate) fn app_of(limits: Limits, tools: Tools) -> Router {
    let hosts = Hosts::new(([127, 0, 0, 1], 8787).into(), &[]);
    isobar_runner::app(AppState::new(Auth::new("secret"), hosts, limits, tools))
}

pub(crate) fn app_with(limits: Limits) -> Router {
    app_of(limits, tools())
}

pub(crate) fn app() -> Router {
    app_with(Limits::default())
}

pub(crate) fn request(method: &str, path: &str) -> axum::http::request::Builder {
    Request::builder().method(method).uri(path).header("host", "localhost:8787")
}

pub(crate) fn authorized(method: &str, path: &str) -> axum::http::request::Builder {
    request(method, path).header("authorization", "Bearer secret")
}

pub(crate) fn document(path: &str, document: &Value) -> Request<Body> {
    let body = Body::from(document.to_string());
    authorized("POST", path).header("content-type", "application/json").body(body).unwrap()
}

pub(crate) async fn ask(app: &Router, request: Request<Body>) -> Response {
    app.clone().oneshot(request).await.unwrap()
}

pub(crate) async fn bytes(response: Response) -> Vec<u8> {
    response.into_body().collect().await.unwrap().to_bytes().to_vec()
}

/// The problem of an answer, whose form is checked on the way.
pub(crate) async fn problem(response: Response) -> Problem {
    let status = response.status();
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    let problem: Problem = serde_json::from_slice(&bytes(response).await).unwrap();
    assert_eq!(problem.status, status.as_u16());
    assert_eq!(problem.kind, format!("/problems/{}", problem.code));
    assert!(!problem.detail.is_empty() && !problem.next.is_empty());
    problem
}

pub(crate) fn run_of(text: &str, backend: &str) -> Value {
    json!({"files": {"main.py": text}, "backend": backend, "init": {}})
}

#[tokio::test]
async fn every_address_has_a_class_and_the_default_is_to_refuse() {
    let app = app();
    for route in ROUTES {
        let path = route.path.replace("{id}", "none").replace("{name}", "q").replace("{code}", "internal");
        let answer =
            ask(&app, request(&route.method.to_uppercase(), &path).body(Body::empty()).unwrap()).await;
        match route.access {
            Access::Public => assert_eq!(answer.status(), StatusCode::OK, "{path}"),
            Access::Token => {
                assert!(matches!(answer.status().as_u16(), 401 | 429), "{path}");
                assert!(matches!(problem(answer).await.code.as_str(), "unauthenticated" | "rate-limited"));
            }
        }
        // The routes under /v1 need a token, and no others do.
        assert_eq!(route.path.starts_with("/v1"), route.access == Access::Token, "{path}");
    }
    for path in ["/v1", "/v1/", "/v2/jobs", "/metrics", "/..%2f..%2fetc/passwd", "/healthz/x", "/%00"] {
        let answer = ask(&app, request("GET", path).body(Body::empty()).unwrap()).await;
        assert!(matches!(answer.status().as_u16(), 401 | 429), "{path}");
        let answer = ask(&app, authorized("GET", path).body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
    }
    let answer = ask(&app, authorized("PUT", "/v1/jobs").body(Body::empty()).unwrap()).await;
    assert_eq!(problem(answer).await.code, "method-not-allowed");
}

#[tokio::test]
async fn foreign_hosts_and_pages_are_refused_whatever_they_ask() {
    let app = app();
    for method in ["GET", "POST", "DELETE", "OPTIONS", "HEAD"] {
        for path in ["/", "/healthz", "/v1/jobs", "/nothing"] {
            let foreign = Request::builder().method(method).uri(path).header("host", "evil.example:8787");
            let foreign = foreign.header("authorization", "Bearer secret").body(Body::empty()).unwrap();
            assert_eq!(ask(&app, foreign).await.status(), StatusCode::FORBIDDEN, "{method} {path}");
        }
        let page = authorized(method, "/v1/jobs").header("origin", "http://evil.example");
        let answer = ask(&app, page.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{method}");
        assert!(!answer.headers().contains_key("access-control-allow-origin"));
    }
}

#[tokio::test]
async fn every_answer_keeps_to_itself() {
    let app = app();
    for path in ["/healthz", "/v1/capabilities", "/problems/internal"] {
        let answer = ask(&app, request("GET", path).body(Body::empty()).unwrap()).await;
        let headers = answer.headers();
        assert!(headers["content-security-policy"].to_str().unwrap().starts_with("default-src 'none'"));
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert_eq!(headers["cross-origin-opener-policy"], "same-origin");
        assert_eq!(headers["cross-origin-embedder-policy"], "require-corp");
        assert!(headers.contains_key("cache-control"));
    }
}

#[tokio::test]
async fn bad_bodies_are_refused_with_the_place_and_never_a_5xx() {
    let limits = Limits { body_bytes: 10_000, source_bytes: 5_000, files: 3, ..Limits::default() };
    let app = app_with(limits);
    let send = |kind: &'static str, body: String| {
        let request = authorized("POST", "/v1/jobs").header("content-type", kind);
        ask(&app, request.body(Body::from(body)).unwrap())
    };
    let wrong_type = problem(send("text/plain", "{}".to_owned()).await).await;
    assert_eq!(wrong_type.code, "unsupported-media-type");

    let broken = problem(send("application/json", "{\"files\": {},\n  \"main\": }".to_owned()).await).await;
    assert_eq!((broken.code.as_str(), broken.diagnostics[0].start.line), ("invalid-request", 2));
    assert!(broken.detail.contains("line 2"), "{}", broken.detail);

    let unknown = problem(send("application/json; charset=utf-8", "{\"filez\": {}}".to_owned()).await).await;
    assert!(unknown.detail.contains("filez"), "{}", unknown.detail);

    let deep = "[".repeat(5_000);
    assert_eq!(problem(send("application/json", deep).await).await.code, "invalid-request");

    let large = problem(send("application/json", " ".repeat(10_001)).await).await;
    assert_eq!((large.code.as_str(), large.limit.unwrap().allowed), ("payload-too-large", 10_000));

    // A body of 100 MB is refused for what it says of itself, before it is read.
    let huge = authorized("POST", "/v1/compile").header("content-type", "application/json");
    let huge = huge.header("content-length", 100_000_000).body(Body::empty()).unwrap();
    assert_eq!(problem(ask(&app, huge).await).await.limit.unwrap().asked, 100_000_000);

    for document in [
        json!({"files": {"main.py": "x".repeat(5_001)}, "backend": "debug"}),
        json!({"files": {"a": "", "b": "", "c": "", "d": ""}, "backend": "debug"}),
    ] {
        let answer = problem(send("application/json", document.to_string()).await).await;
        assert_eq!(answer.code, "payload-too-large");
        assert!(answer.limit.is_some());
    }
    for document in [json!({}), json!({"path": "main.py"}), json!({"files": {"a.py": ""}, "out": "x"})] {
        assert_eq!(
            problem(send("application/json", document.to_string()).await).await.code,
            "invalid-request"
        );
    }
    let other = problem(send("application/json", run_of(COPY, "fortran").to_string()).await).await;
    assert_eq!((other.status, other.code.as_str()), (422, "backend-unavailable"));
    assert!(other.next[0].contains("openmp"));
    let upload = json!({"files": {"a.py": COPY}, "backend": "debug", "fields": "nowhere"});
    assert_eq!(problem(send("application/json", upload.to_string()).await).await.code, "not-found");
}

#[tokio::test]
async fn a_name_of_a_text_that_is_very_long_is_told_in_short() {
    let app = app();
    let long = "q".repeat(400_000);
    let directives =
        [format!("# @input {long} constant(1)\n"), format!("# @{long}\n"), format!("# @stencil {long}\n")];
    let mut texts = directives.map(|it| format!("{it}{COPY}")).to_vec();
    texts.push(COPY.replace("b = a", &format!("{long} = a\n        b = {long}")));
    texts.push(COPY.replace("copy(", &format!("{long}(")));
    texts.push(format!("from {long} import x\n{COPY}"));
    texts.push(format!("from __externals__ import {long}\n{COPY}"));
    texts.push(COPY.replace("Field[float]", &format!("\"{long}\"")));
    for text in texts {
        let answer = ask(&app, document("/v1/compile", &json!({"files": {"main.py": text}}))).await;
        assert_eq!(answer.status(), StatusCode::OK);
        let answer = bytes(answer).await;
        let start = &text[..text.len().min(40)];
        assert!(answer.len() < 200_000, "{start}: {} bytes", answer.len());
        let compiled: Value = serde_json::from_slice(&answer).unwrap();
        let is_of_text = !text.starts_with("# @");
        let has_error =
            compiled["diagnostics"].as_array().unwrap().iter().any(|it| it["severity"] == "error");
        assert!(has_error || !is_of_text, "{start}: {}", compiled["diagnostics"]);
    }
}

#[tokio::test]
async fn a_name_that_could_be_more_than_a_name_is_refused() {
    let app = app();
    let long = "x".repeat(129);
    let lines = json!({"lines": true});
    let hostile = [
        "m\r#include </etc/hostname>\r.py",
        "m\n.py",
        "\u{1b}[2J.py",
        "m\u{2028}.py",
        "../m.py",
        "/m.py",
        "a\\b.py",
        &long,
    ];
    for name in hostile {
        let mut run = json!({"files": {name: COPY}, "backend": "debug", "init": {}, "options": lines});
        for path in ["/v1/compile", "/v1/jobs"] {
            let refused = problem(ask(&app, document(path, &run)).await).await;
            assert_eq!((refused.status, refused.code.as_str()), (400, "invalid-request"), "{name:?}");
            assert!(refused.detail.starts_with("the name of a file"), "{}", refused.detail);
            assert!(!refused.detail.chars().any(isobar_protocol::names::is_harmful), "{:?}", refused.detail);
        }
        // Of whatever it is the name.
        run["files"] = json!({"main.py": COPY});
        if !matches!(name, "../m.py" | "/m.py") {
            run["stencil"] = json!(name);
            assert_eq!(problem(ask(&app, document("/v1/jobs", &run)).await).await.status, 400, "{name:?}");
        }
    }
    let fine = json!({"files": {"pkg/sub.py": COPY}});
    assert_eq!(ask(&app, document("/v1/compile", &fine)).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn compile_answers_errors_as_diagnostics() {
    let app = app();
    let compiled = ask(&app, document("/v1/compile", &json!({"files": {"main.py": COPY}}))).await;
    assert_eq!(compiled.status(), StatusCode::OK);
    let compiled: Value = serde_json::from_slice(&bytes(compiled).await).unwrap();
    assert_eq!(compiled["stencil"], "copy");
    assert_eq!(compiled["diagnostics"], json!([]));
    assert_eq!(compiled["stages"].as_array().unwrap().len(), 14);

    let text = COPY.replace("b = a\n", "b = nowhere\n");
    let refused = ask(&app, document("/v1/compile", &json!({"files": {"main.py": text}}))).await;
    assert_eq!(refused.status(), StatusCode::OK);
    let refused: Value = serde_json::from_slice(&bytes(refused).await).unwrap();
    assert_eq!(refused["diagnostics"][0]["severity"], "error");
    assert_eq!(refused["diagnostics"][0]["start"]["line"], 7);
}

#[tokio::test]
async fn compile_answers_the_stages_that_are_wanted_and_refuses_unknown_ones() {
    let app = app();
    let wanting =
        |stages: Value| document("/v1/compile", &json!({"files": {"main.py": COPY}, "stages": stages}));
    for (wanted, answered) in [(json!(["c", "oir"]), json!(["oir", "c"])), (json!([]), json!([]))] {
        let compiled: Value = serde_json::from_slice(&bytes(ask(&app, wanting(wanted)).await).await).unwrap();
        let stages = compiled["stages"].as_array().unwrap().iter();
        assert_eq!(Value::from_iter(stages.map(|it| it["stage"].clone())), answered);
        assert_eq!(compiled["signature"]["name"], "copy");
    }
    for unknown in ["assembly", "clif", "a\u{1b}[31m"] {
        let refused = ask(&app, wanting(json!(["oir", unknown]))).await;
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{unknown:?}");
    }
    let refused = ask(&app, wanting(json!(["assembly"]))).await;
    let problem: Value = serde_json::from_slice(&bytes(refused).await).unwrap();
    assert_eq!(problem["code"], "invalid-request");
    assert!(problem["next"][0].as_str().unwrap().contains("oir, npir, tree"), "{problem}");
}

/// Takes the compiler for very long.
fn many_intervals() -> String {
    let intervals: String = (0..6000)
        .map(|it| format!("        with interval({it}, {}):\n            a = a + 1.0\n", it + 1))
        .collect();
    format!(
        "from gt4py.cartesian.gtscript import FORWARD, Field, computation, interval\n\n\
         def many(a: Field[float]):\n    with computation(FORWARD):\n{intervals}"
    )
}

#[tokio::test]
async fn long_compilations_of_one_client_leave_room_for_a_short_one() {
    let limits = Limits { compile_turn_ms: 300, ..Limits::default() };
    let app = app_of(limits, Tools { cores: 2, ..tools() });
    let of = |text: &str| json!({"files": {"main.py": text}, "stages": []});
    // They would hold both places for a minute, and those beside them too.
    let long: Vec<_> = (0..4)
        .map(|_| {
            let (app, text) = (app.clone(), of(&many_intervals()));
            tokio::spawn(async move { ask(&app, document("/v1/compile", &text)).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(1000)).await;
    let begun = std::time::Instant::now();
    let short = ask(&app, document("/v1/compile", &of(COPY))).await;
    assert_eq!(short.status(), StatusCode::OK);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let mut made_room = 0;
    for it in long {
        if it.is_finished() {
            let refused = problem(it.await.unwrap()).await;
            assert_eq!((refused.status, refused.code.as_str()), (504, "timed-out"));
            assert!(refused.detail.contains("made room"), "{}", refused.detail);
            made_room += 1;
        } else {
            it.abort();
        }
    }
    assert_eq!(made_room, 1);
}

#[tokio::test]
async fn a_long_compilation_blocks_nobody_and_ends_with_its_client_or_its_time() {
    let temporary = tempfile::tempdir().unwrap();
    let places = || Tools { temporary: temporary.path().to_owned(), ..tools() };
    let is_over = || std::fs::read_dir(temporary.path()).unwrap().next().is_none();
    let of = |text: &str| json!({"files": {"main.py": text}, "stages": []});
    let app = app_of(Limits::default(), places());
    let long = tokio::spawn({
        let (app, text) = (app.clone(), of(&many_intervals()));
        async move { ask(&app, document("/v1/compile", &text)).await }
    });
    while is_over() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Another one is answered meanwhile.
    let short = ask(&app, document("/v1/compile", &of(COPY))).await;
    assert_eq!(short.status(), StatusCode::OK);
    assert!(!long.is_finished(), "it is not long enough");
    long.abort();
    assert!(long.await.is_err());
    for _ in 0..200 {
        if is_over() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(is_over(), "it goes on without its client");
    let hurried = app_of(Limits { compile_ms: 200, ..Limits::default() }, places());
    let late = ask(&hurried, document("/v1/compile", &of(&many_intervals()))).await;
    assert_eq!(late.status(), StatusCode::GATEWAY_TIMEOUT);
    assert!(is_over(), "it goes on after its time");
}
