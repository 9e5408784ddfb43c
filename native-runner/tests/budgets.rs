//! The budgets of a runner, each exceeded: what is told, and that others are served all the while.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use isobar_protocol::job::{EndReason, Event, EventKind};
use isobar_protocol::limits::Limits;
use isobar_protocol::names::is_harmful;
use isobar_protocol::problem::Problem;
use isobar_protocol::request::{Cache, Machine};
use isobar_runner::auth::{Auth, Hosts};
use isobar_runner::config::{Environment, Tools};
use isobar_runner::state::AppState;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::http::ENDLESS;
use crate::served::COPY;

fn app_below(folder: &Path, limits: Limits) -> Router {
    let tools = Tools::find(&Environment {
        path: std::env::var_os("PATH").unwrap_or_default(),
        cache: Some(folder.join("cache")),
        temporary: folder.to_owned(),
        program: PathBuf::from(env!("CARGO_BIN_EXE_isobar")),
        ..Environment::default()
    });
    let hosts = Hosts::new(([127, 0, 0, 1], 8787).into(), &[]);
    isobar_runner::app(AppState::new(Auth::new("secret"), hosts, limits, tools))
}

/// A runner with these limits, and its folder.
fn app(limits: Limits) -> (tempfile::TempDir, Router) {
    let folder = tempfile::tempdir().unwrap();
    let app = app_below(folder.path(), limits);
    (folder, app)
}

async fn ask(
    app: &Router,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Vec<u8>,
) -> (u16, Vec<u8>) {
    let mut request = Request::builder().method(method).uri(path).header("authorization", "Bearer secret");
    for (name, value) in [("host", "localhost:8787")].iter().chain(headers) {
        request = request.header(*name, *value);
    }
    let answer = app.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
    let status = answer.status().as_u16();
    if status == 503 && path.starts_with("/v1") {
        assert!(answer.headers().contains_key("retry-after"), "{path}");
    }
    (status, answer.into_body().collect().await.unwrap().to_bytes().to_vec())
}

async fn post(app: &Router, path: &str, document: &Value) -> (u16, Value) {
    let kind = [("content-type", "application/json")];
    let (status, body) = ask(app, "POST", path, &kind, document.to_string().into_bytes()).await;
    (status, serde_json::from_slice(&body).unwrap())
}

async fn submit(app: &Router, document: &Value) -> String {
    let (status, ticket) = post(app, "/v1/jobs", document).await;
    assert_eq!(status, 201, "{ticket}");
    ticket["job"].as_str().unwrap().to_owned()
}

async fn upload(app: &Router, bytes: Vec<u8>) -> (u16, Value) {
    let kind = [("content-type", "application/octet-stream")];
    let (status, body) = ask(app, "POST", "/v1/uploads", &kind, bytes).await;
    (status, serde_json::from_slice(&body).unwrap())
}

async fn get(app: &Router, path: &str) -> (u16, Vec<u8>) {
    ask(app, "GET", path, &[], Vec::new()).await
}

async fn state(app: &Router, job: &str) -> Value {
    serde_json::from_slice(&get(app, &format!("/v1/jobs/{job}")).await.1).unwrap()
}

/// All events of a job, to its end.
async fn follow(app: &Router, job: &str) -> Vec<Event> {
    let text = String::from_utf8(get(app, &format!("/v1/jobs/{job}/events")).await.1).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|it| serde_json::from_str(it).unwrap()).collect()
}

async fn cancel(app: &Router, job: &str) {
    ask(app, "DELETE", &format!("/v1/jobs/{job}"), &[], Vec::new()).await;
}

fn run_of(text: &str, backend: &str) -> Value {
    json!({"files": {"main.py": text}, "backend": backend, "init": {}})
}

fn problem_of(answer: Value) -> Problem {
    serde_json::from_value(answer).unwrap()
}

#[tokio::test]
async fn documents_that_wait_have_a_size_together() {
    let limits = Limits { jobs_at_once: 1, waiting_bytes: 40_000, ..Limits::default() };
    let (_folder, app) = app(limits);
    let long = submit(&app, &run_of(ENDLESS, "debug")).await;
    let large = run_of(&format!("{COPY}# {}\n", "x".repeat(20_000)), "debug");
    let first = submit(&app, &large).await;
    let (status, refused) = post(&app, "/v1/jobs", &large).await;
    let refused = problem_of(refused);
    assert_eq!((status, refused.code.as_str()), (503, "overloaded"));
    assert!(refused.detail.contains("40000") && refused.retry_after_ms.is_some(), "{}", refused.detail);
    // A small one still fits, and when the large one is over there is room again.
    let small = submit(&app, &run_of(COPY, "debug")).await;
    for job in [&first, &small, &long] {
        cancel(&app, job).await;
        follow(&app, job).await;
    }
    let again = submit(&app, &large).await;
    let last = follow(&app, &again).await.pop().unwrap().what;
    assert!(matches!(last, EventKind::Ended { reason: EndReason::Ok, .. }), "{last:?}");
}

#[tokio::test]
async fn two_jobs_that_need_more_memory_than_there_is_do_not_run_together() {
    const MIB: u64 = 1 << 20;
    let (job_memory_bytes, jobs_memory_bytes) = (32 * MIB, 40 * MIB);
    let (_folder, app) = app(Limits { job_memory_bytes, jobs_memory_bytes, ..Limits::default() });
    // 24 MiB of fields and temporaries.
    let mut large = run_of(ENDLESS, "debug");
    large["domain"] = json!([256, 192, 8]);
    let first = submit(&app, &large).await;
    let has = async |job: &str, wanted: &str| {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(20) {
            let text = String::from_utf8_lossy(&events_so_far(&app, job).await).into_owned();
            if text.contains(wanted) {
                return true;
            }
        }
        false
    };
    let (waits, memory) = ("until other jobs give memory back", "\"type\":\"memory\"");
    assert!(has(&first, memory).await);
    let second = submit(&app, &large).await;
    assert!(has(&second, waits).await);
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(!String::from_utf8_lossy(&events_so_far(&app, &second).await).contains(memory));
    cancel(&app, &first).await;
    assert!(has(&second, memory).await);
    cancel(&app, &second).await;
    // Small ones run beside each other.
    let small = [submit(&app, &run_of(COPY, "debug")).await, submit(&app, &run_of(COPY, "rayon")).await];
    for job in &small {
        let last = follow(&app, job).await.pop().unwrap().what;
        assert!(matches!(last, EventKind::Ended { reason: EndReason::Ok, .. }), "{last:?}");
    }
}

/// The events of a job by now.
async fn events_so_far(app: &Router, job: &str) -> Vec<u8> {
    let request = Request::builder().uri(format!("/v1/jobs/{job}/events"));
    let request = request.header("authorization", "Bearer secret").header("host", "localhost:8787");
    let mut body = app.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap().into_body();
    let mut told = Vec::new();
    while let Ok(Some(Ok(frame))) = tokio::time::timeout(Duration::from_millis(100), body.frame()).await {
        told.extend_from_slice(frame.data_ref().unwrap());
    }
    told
}

#[tokio::test]
async fn a_document_of_many_small_values_is_refused_before_it_is_read() {
    let (_folder, app) = app(Limits { document_values: 1000, ..Limits::default() });
    let mut document = run_of(COPY, "debug");
    document["passes"] = json!({"skip": vec![""; 2000]});
    let (status, refused) = post(&app, "/v1/jobs", &document).await;
    let limit = problem_of(refused).limit.unwrap();
    assert_eq!((status, limit.allowed), (413, 1000));
    assert!(limit.asked > 2000);
}

#[tokio::test]
async fn a_job_has_no_more_threads_than_the_runner_allows_and_its_limits_do_not_grow_with_what_it_asks() {
    let (_folder, app) = app(Limits { threads: 2, ..Limits::default() });
    let mut document = run_of(COPY, "rayon");
    document["options"] = json!({"threads": 1000});
    let events = follow(&app, &submit(&app, &document).await).await;
    let is_told = |it: &Event| matches!(&it.what, EventKind::Log { text } if text.contains("1000 threads") && text.contains(" 2 "));
    assert!(events.iter().any(is_told), "{events:?}");
    assert!(matches!(events.last().unwrap().what, EventKind::Ended { reason: EndReason::Ok, .. }));

    let tools = Tools::find(&Environment::default());
    let limits = Limits { threads: 2, ..Limits::default() };
    let order = |threads: Option<u32>| {
        let mut request = isobar_protocol::request::Request::default();
        request.options.threads = threads;
        let order = isobar_runner::wire::Order::new(request, false, &limits, &tools);
        (order.threads, order.processor_seconds, order.memory_bytes)
    };
    assert_eq!(order(Some(1000)), (2, order(Some(1)).1, order(Some(1)).2));
    assert_eq!(isobar_runner::limits::of_this_machine().threads, u64::from(tools.cores));
}

#[tokio::test]
async fn a_waiting_job_whose_client_has_gone_is_dropped_and_one_that_is_followed_is_not() {
    let limits = Limits { jobs_at_once: 1, abandoned_ms: 400, ..Limits::default() };
    let (_folder, app) = app(limits);
    let long = submit(&app, &run_of(ENDLESS, "debug")).await;
    let [followed, polled, left] = [
        submit(&app, &run_of(COPY, "debug")).await,
        submit(&app, &run_of(COPY, "debug")).await,
        submit(&app, &run_of(COPY, "debug")).await,
    ];
    let following = tokio::spawn({
        let (app, followed) = (app.clone(), followed.clone());
        async move { follow(&app, &followed).await }
    });
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(1500) {
        assert_eq!(state(&app, &polled).await["state"], "queued");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // A running job goes on, whether or not a client follows it.
    assert_eq!(state(&app, &long).await["state"], "running");
    let Some(EventKind::Ended { reason, problem }) = follow(&app, &left).await.pop().map(|it| it.what) else {
        panic!("it has ended");
    };
    assert_eq!(reason, EndReason::Cancelled);
    assert!(problem.unwrap().detail.contains("nobody asked"));
    cancel(&app, &long).await;
    let last = following.await.unwrap().pop().unwrap().what;
    assert!(matches!(last, EventKind::Ended { reason: EndReason::Ok, .. }), "{last:?}");
}

#[tokio::test]
async fn who_has_an_event_that_was_never_told_is_told_so_and_nobody_hangs() {
    let limits = Limits { jobs_at_once: 1, ..Limits::default() };
    let (_folder, app) = app(limits);
    let over = submit(&app, &run_of(COPY, "debug")).await;
    let last = follow(&app, &over).await.last().unwrap().seq;
    let long = submit(&app, &run_of(ENDLESS, "debug")).await;
    let waits = submit(&app, &run_of(COPY, "debug")).await;
    for job in [&over, &long, &waits] {
        let path = format!("/v1/jobs/{job}/events");
        for id in ["99999", "18446744073709551614", "18446744073709551615", "18446744073709551616", "-1", "x"]
        {
            let header = [("last-event-id", id)];
            let asked = ask(&app, "GET", &path, &header, Vec::new());
            let (status, body) = tokio::time::timeout(Duration::from_secs(20), asked).await.unwrap();
            assert_eq!(status, 400, "{id}");
            assert_eq!(serde_json::from_slice::<Problem>(&body).unwrap().code, "invalid-request");
        }
    }
    // After the last one there is nothing to say.
    let path = format!("/v1/jobs/{over}/events");
    let last = [("last-event-id", &*last.to_string())];
    let asked = ask(&app, "GET", &path, &last, Vec::new());
    let (status, body) = tokio::time::timeout(Duration::from_secs(20), asked).await.unwrap();
    assert_eq!((status, body.len()), (200, 0));
    cancel(&app, &long).await;
}

#[tokio::test]
async fn an_upload_that_cannot_be_kept_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let app = app_below(&folder.path().join("nowhere"), Limits::default());
    let (status, refused) = upload(&app, b"bytes".to_vec()).await;
    let refused = problem_of(refused);
    assert_eq!((status, refused.code.as_str()), (507, "no-room"));
    assert!(refused.detail.contains("temporary folder"), "{}", refused.detail);
    assert!(!refused.detail.contains(folder.path().to_str().unwrap()), "{}", refused.detail);
    let (status, body) = get(&app, "/readyz").await;
    assert_eq!((status, serde_json::from_slice::<Problem>(&body).unwrap().code.as_str()), (503, "not-ready"));
}

#[tokio::test]
async fn an_upload_is_gone_after_its_age_and_says_so() {
    let (_folder, app) = app(Limits { upload_age_ms: 1, ..Limits::default() });
    let (status, ticket) = upload(&app, b"bytes".to_vec()).await;
    assert_eq!(status, 201);
    tokio::time::sleep(Duration::from_millis(5)).await;
    let document = json!({"files": {"main.py": COPY}, "backend": "debug", "fields": ticket["upload"]});
    let (status, gone) = post(&app, "/v1/jobs", &document).await;
    assert_eq!((status, problem_of(gone).code.as_str()), (410, "gone"));
    let (status, unknown) =
        post(&app, "/v1/jobs", &json!({"files": {"main.py": COPY}, "backend": "debug", "fields": "never"}))
            .await;
    assert_eq!((status, problem_of(unknown).code.as_str()), (404, "not-found"));
}

#[tokio::test]
async fn how_fast_this_machine_copies_is_measured_for_it_alone() {
    let (folder, app) = app(Limits::default());
    let other = Machine {
        cores: 3,
        caches: vec![Cache { bytes: 1 << 20, cores: 1 }],
        line_bytes: 128,
        vector_bytes: 16,
    };
    let mut rates = Vec::new();
    let mut kept = Vec::new();
    for machine in [None, Some(other), None] {
        let mut document = run_of(COPY, "rayon");
        document["passes"] = json!({"machine": machine});
        let events = follow(&app, &submit(&app, &document).await).await;
        rates.extend(events.into_iter().filter_map(|it| match it.what {
            EventKind::Copy { copy } => Some(copy),
            _ => None,
        }));
        kept.push(std::fs::read(folder.path().join("cache/machine/copy.json")).unwrap());
    }
    assert_eq!(rates.len(), 3);
    assert!(rates.iter().all(|it| *it == rates[0]) && kept.iter().all(|it| *it == kept[0]), "{rates:?}");
}

#[tokio::test]
async fn a_long_name_is_nowhere_answered_as_long_as_it_is() {
    let (_folder, app) = app(Limits::default());
    let long = "x".repeat(60_000);
    let with = |change: &dyn Fn(&mut Value)| {
        let mut document = run_of(COPY, "debug");
        change(&mut document);
        document
    };
    let of_key = |path: &str| with(&|it| *it.pointer_mut(path).unwrap() = json!({&long: 1}));
    let mut documents = vec![
        with(&|it| it["backend"] = json!(long)),
        with(&|it| it["stages"] = json!([long])),
        with(&|it| it["stencil"] = json!(long)),
        with(&|it| it["results"] = json!({"fields": [long]})),
        with(&|it| it["dtypes"] = json!({"float": long})),
        with(&|it| it["scalars"] = json!({"a": long})),
        with(&|it| it["init"] = json!({"a": format!("{long}(1)")})),
        with(&|it| it["fields"] = json!({"a": {"dtype": long, "shape": [1], "data": "AAAA"}})),
        with(&|it| it["fields"] = json!(long)),
        with(&|it| it["passes"] = json!({"schedule": long})),
        with(&|it| it["main"] = json!(long)),
        with(&|it| it["tile"] = json!(long)),
        with(&|it| it["files"] = json!({"main.py": COPY.replace("b = a\n", &format!("b = {long}\n"))})),
        with(&|it| it["files"] = json!({"main.py": format!("# @input {long} constant(1)\n{COPY}")})),
        with(&|it| it["files"] = json!({"main.py": COPY.replace("along=i", &long)})),
        of_key("/init"),
        of_key("/files"),
    ];
    documents.push(json!({&long: 1, "\u{1b}[2J": 1}));
    let mut told: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    for (at, document) in documents.iter().enumerate() {
        let (status, answer) = post(&app, "/v1/jobs", document).await;
        let text = match status {
            201 => {
                let job = answer["job"].as_str().unwrap();
                get(&app, &format!("/v1/jobs/{job}/events")).await.1
            }
            _ => answer.to_string().into_bytes(),
        };
        assert!((201..500).contains(&status), "{at}: {status}");
        told.insert(at, text);
        // The levels of a stencil that compiles have its names; what is said about it has not.
        let (_, answer) = post(&app, "/v1/compile", document).await;
        let said = [&answer["diagnostics"], &answer["detail"], &answer["next"]];
        told.insert(1000 + at, said.iter().map(|it| it.to_string()).collect::<String>().into_bytes());
    }
    for (at, (method, path, header)) in [
        (long.as_str(), "/v1/jobs".to_owned(), None),
        ("GET", format!("/{long}"), None),
        ("GET", format!("/v1/jobs/{long}"), None),
        ("GET", format!("/v1/jobs/none/fields/{long}"), None),
        ("GET", format!("/problems/{long}"), None),
        ("GET", "/v1/jobs/none/events".to_owned(), Some(("last-event-id", long.as_str()))),
        ("GET", "/v1/jobs".to_owned(), Some(("origin", long.as_str()))),
        ("GET", "/v1/jobs".to_owned(), Some(("sec-fetch-site", long.as_str()))),
    ]
    .into_iter()
    .enumerate()
    {
        let (status, body) = ask(&app, method, &path, header.as_slice(), Vec::new()).await;
        assert!((400..500).contains(&status), "{status}");
        told.insert(2000 + at, body);
    }
    for (at, text) in told {
        let text = String::from_utf8(text).unwrap();
        assert!(!text.contains(&"x".repeat(3000)), "{at}: {} bytes", text.len());
        let is_line = |it: char| it == '\n';
        assert!(!text.chars().any(|it| is_harmful(it) && !is_line(it)), "{at}");
    }
}
