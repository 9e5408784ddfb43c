//! Jobs over HTTP: what they tell while they live, what they leave, and how they end.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::StatusCode;
use isobar_protocol::job::{EndReason, Event, EventKind, JobTicket, StageState};
use isobar_protocol::limits::Limits;
use isobar_runner::backends::CCompiler;
use isobar_runner::config::Tools;
use serde_json::{Value, json};

use crate::http::{
    ENDLESS, app, app_of, app_with, ask, authorized, bytes, document, problem, request, run_of, tools,
};
use crate::served::COPY;

/// Stops itself at the cell (1, 0, 0), which never reaches zero.
const TRAPPED: &str = "\
# @domain 3 2 1
# @input a linear(low=-1, high=1, along=i)
from gt4py.cartesian.gtscript import PARALLEL, Field, computation, interval

def trapped(a: Field[float], b: Field[float]):
    with computation(PARALLEL), interval(...):
        b = a
        while b == 0.0:
            b = a
";

/// All events of a job, to its end.
async fn follow(app: &Router, job: &str, after: Option<u64>) -> Vec<Event> {
    let mut request = authorized("GET", &format!("/v1/jobs/{job}/events"));
    if let Some(after) = after {
        request = request.header("last-event-id", after);
    }
    let response = ask(app, request.body(Body::empty()).unwrap()).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let text = String::from_utf8(bytes(response).await).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|it| serde_json::from_str(it).unwrap()).collect()
}

async fn submit(app: &Router, body: &Value) -> String {
    let response = ask(app, document("/v1/jobs", body)).await;
    assert_eq!(response.status(), StatusCode::CREATED);
    let location = response.headers()["location"].to_str().unwrap().to_owned();
    let ticket: JobTicket = serde_json::from_slice(&bytes(response).await).unwrap();
    assert_eq!(location, format!("/v1/jobs/{}", ticket.job));
    ticket.job
}

/// The back ends that can run here.
fn backends() -> Vec<&'static str> {
    if tools().cc.is_err() {
        isobar_testing::skip_part("openmp", "there is no C compiler");
        return vec!["debug", "numpy"];
    }
    vec!["debug", "numpy", "openmp"]
}

#[tokio::test]
async fn a_job_tells_its_life_without_gaps_and_leaves_its_fields() {
    let app = app();
    let job = submit(&app, &run_of(COPY, "debug")).await;
    let events = follow(&app, &job, None).await;
    let numbers: Vec<u64> = events.iter().map(|it| it.seq).collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
    assert!(matches!(&events[0].what, EventKind::Accepted { job: it } if *it == job));
    let last = &events.last().unwrap().what;
    assert_eq!(*last, EventKind::Ended { reason: EndReason::Ok, problem: None });
    assert!(events.iter().any(|it| matches!(&it.what, EventKind::Stage { name, .. } if name == "run")));
    let resumed = follow(&app, &job, Some(2)).await;
    assert_eq!(resumed, events[3..]);

    let field = format!("/v1/jobs/{job}/fields/b");
    let whole = ask(&app, authorized("GET", &field).body(Body::empty()).unwrap()).await;
    assert_eq!(whole.headers()["isobar-dtype"], "float64");
    assert_eq!(whole.headers()["isobar-shape"], "4,3,2");
    let whole = bytes(whole).await;
    assert_eq!(whole.len(), 4 * 3 * 2 * 8);
    let level = ask(&app, authorized("GET", &format!("{field}?k=1")).body(Body::empty()).unwrap()).await;
    assert_eq!(level.headers()["isobar-shape"], "4,3");
    assert_eq!(bytes(level).await[..8], whole[8..16]);
    for (path, code) in [
        (format!("{field}?k=2"), "invalid-request"),
        (format!("{field}?k=x"), "invalid-request"),
        (format!("/v1/jobs/{job}/fields/%ff"), "invalid-request"),
        ("/v1/jobs/%ff/events".to_owned(), "invalid-request"),
        ("/v1/jobs/%ff".to_owned(), "invalid-request"),
        ("/problems/%ff".to_owned(), "invalid-request"),
        (format!("/v1/jobs/{job}/fields/a"), "not-found"),
        ("/v1/jobs/none/fields/b".to_owned(), "not-found"),
    ] {
        let answer = ask(&app, authorized("GET", &path).body(Body::empty()).unwrap()).await;
        assert_eq!(problem(answer).await.code, code, "{path}");
    }
    let state = ask(&app, authorized("GET", &format!("/v1/jobs/{job}")).body(Body::empty()).unwrap()).await;
    let state: Value = serde_json::from_slice(&bytes(state).await).unwrap();
    assert_eq!((&state["state"], &state["reason"]), (&json!("ended"), &json!("ok")));
}

#[tokio::test]
async fn where_no_back_end_is_named_machine_code_is_made_in_process() {
    let app = app();
    let mut body = run_of(COPY, "rayon");
    body.as_object_mut().unwrap().remove("backend");
    let events = follow(&app, &submit(&app, &body).await, None).await;
    let has_step = |wanted: &str| {
        events.iter().any(|it| matches!(&it.what, EventKind::Timing { name, .. } if name == wanted))
    };
    assert!(has_step("machine code") && !has_step("cc"));
    assert!(matches!(events.last().unwrap().what, EventKind::Ended { reason: EndReason::Ok, .. }));
}

#[tokio::test]
async fn each_step_is_told_with_its_time_and_the_run_with_its_progress() {
    let app = app();
    for backend in backends() {
        let events = follow(&app, &submit(&app, &run_of(COPY, backend)).await, None).await;
        let mut open = Vec::new();
        let (mut steps, mut times) = (Vec::new(), Vec::new());
        for event in &events {
            match &event.what {
                EventKind::Stage { name, state: StageState::Begun, .. } => open.push(name.as_str()),
                EventKind::Stage { name, state: StageState::Ended, .. } => {
                    assert_eq!(open.pop(), Some(name.as_str()), "{events:?}");
                    steps.push(name.as_str());
                }
                EventKind::Timing { name, ms, bytes } => {
                    assert!(*ms >= 0.0);
                    // 4 x 3 x 2 points of 8 bytes, read and written.
                    assert_eq!(*bytes, (name == "run").then_some(2 * 24 * 8), "{name}");
                    // Where the tests ran before, the code is there already.
                    let of_cache = if backend == "rayon" { "compile" } else { "cc" };
                    times.push(if name == "cache" { of_cache } else { name });
                }
                _ => {}
            }
        }
        assert!(open.is_empty(), "{events:?}");
        let is_found = backend == "rayon" && steps.starts_with(&["compile"]);
        assert!(is_found || steps.starts_with(&["frontend", "definition", "gtir", "oir"]), "{steps:?}");
        let of_run: &[&str] = if backend != "openmp" {
            &["inputs", "run", "fields"]
        } else {
            &["inputs", "cc", "load", "run", "fields"]
        };
        // How fast the machine copies is measured by whichever run is the first.
        steps.retain(|it| *it != "copy");
        times.retain(|it| *it != "copy");
        assert!(steps.ends_with(of_run), "{steps:?}");
        steps.push("total");
        assert_eq!(times, steps);

        let progress = events.iter().filter_map(|it| match it.what {
            EventKind::Progress { done, total } => Some((done, total)),
            _ => None,
        });
        let progress: Vec<_> = progress.collect();
        assert!(progress.is_sorted() && progress.iter().all(|it| it.0 <= it.1), "{progress:?}");
        assert!(progress.last().is_some_and(|it| it.0 == it.1), "{progress:?}");
        let fields =
            events.iter().filter(|it| matches!(&it.what, EventKind::Field { field } if field.name == "b"));
        assert_eq!(fields.count(), 1);
    }
}

#[tokio::test]
async fn long_runs_tell_their_progress_while_they_work() {
    let app = app();
    let job = submit(&app, &run_of(&ENDLESS.replace("900000.0", "900.0"), "debug")).await;
    let events = follow(&app, &job, None).await;
    let progress = events.iter().filter(|it| matches!(it.what, EventKind::Progress { .. }));
    let times: Vec<f64> = progress.map(|it| it.t_ms).collect();
    assert!(times.len() > 2 && times.is_sorted(), "{events:?}");
}

#[tokio::test]
async fn a_run_that_stops_itself_tells_statement_and_cell() {
    let app = app();
    for backend in backends() {
        let events = follow(&app, &submit(&app, &run_of(TRAPPED, backend)).await, None).await;
        let trap = events.iter().find_map(|it| match &it.what {
            EventKind::Trap { message, diagnostic, cell } => Some((message, diagnostic.as_ref(), *cell)),
            _ => None,
        });
        let (message, diagnostic, cell) = trap.unwrap_or_else(|| panic!("{backend}: {events:?}"));
        assert_eq!(cell, Some([1, 0, 0]), "{backend}");
        assert!(message.contains("`while`"), "{message}");
        let diagnostic = diagnostic.unwrap();
        assert_eq!((diagnostic.code.as_str(), diagnostic.start.line), ("R01", 8), "{backend}");
        let EventKind::Ended { reason: EndReason::Trap, problem: Some(problem) } =
            &events.last().unwrap().what
        else {
            panic!("{events:?}");
        };
        assert_eq!((problem.code.as_str(), problem.status), ("run-trapped", 422));
    }
}

#[tokio::test]
async fn what_a_c_compiler_says_that_refuses_is_told() {
    let broken = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("broken-cc");
    std::fs::write(&broken, "#!/bin/sh\necho 'this compiler is broken' >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&broken, std::fs::Permissions::from_mode(0o755)).unwrap();
    let cc = Ok(CCompiler { program: broken, version: "broken 1.0".to_owned() });
    let app = app_of(Limits::default(), Tools { cc, ..tools() });
    let events = follow(&app, &submit(&app, &run_of(COPY, "openmp")).await, None).await;
    assert!(
        events.iter().any(|it| matches!(&it.what, EventKind::Log { text } if text.contains("is broken")))
    );
    let EventKind::Ended { reason: EndReason::Error, problem: Some(problem) } = &events.last().unwrap().what
    else {
        panic!("{events:?}");
    };
    assert_eq!(problem.code, "code-generation-failed");
}

#[tokio::test]
async fn a_stencil_that_does_not_compile_ends_its_job_with_diagnostics() {
    let app = app();
    let job = submit(&app, &run_of(&COPY.replace("b = a\n", "b = nowhere\n"), "debug")).await;
    let events = follow(&app, &job, None).await;
    assert!(events.iter().any(|it| matches!(it.what, EventKind::Diagnostic { .. })));
    let EventKind::Ended { reason: EndReason::Error, problem: Some(problem) } = &events.last().unwrap().what
    else {
        panic!("{events:?}");
    };
    assert_eq!(problem.code, "compile-failed");
}

#[tokio::test]
async fn a_run_that_is_too_large_is_refused_with_both_numbers() {
    let app = app_with(Limits { job_memory_bytes: 1 << 20, ..Limits::default() });
    let mut body = run_of(COPY, "debug");
    body["domain"] = json!([256, 256, 128]);
    let events = follow(&app, &submit(&app, &body).await, None).await;
    let EventKind::Ended { reason: EndReason::Limit, problem: Some(problem) } = &events.last().unwrap().what
    else {
        panic!("{events:?}");
    };
    let limit = problem.limit.as_ref().unwrap();
    assert_eq!(problem.code, "domain-too-large");
    assert!(limit.allowed == 1 << 20 && limit.asked >= 2 * 256 * 256 * 128 * 8, "{limit:?}");
}

#[tokio::test]
async fn a_benchmark_is_a_job_whose_result_is_an_event() {
    let app = app();
    let mut body = run_of(COPY, "debug");
    body["bench"] = json!({"backends": ["debug", "numpy"], "rounds": 3});
    let events = follow(&app, &submit(&app, &body).await, None).await;
    let benchmark = events.iter().find_map(|it| match &it.what {
        EventKind::Benchmark { benchmark } => Some(benchmark),
        _ => None,
    });
    let found = benchmark.unwrap();
    assert_eq!((found.rounds, found.domain, found.bytes, found.agree), (3, [4, 3, 2], 2 * 24 * 8, true));
    assert_eq!(found.backends.len(), 2);
    assert!(
        events.iter().any(|it| matches!(it.what, EventKind::Memory { memory } if memory.fields_bytes > 0))
    );
    assert!(!events.iter().any(|it| matches!(it.what, EventKind::Field { .. })));
    assert!(matches!(events.last().unwrap().what, EventKind::Ended { reason: EndReason::Ok, .. }));

    body["bench"] = json!({"backends": ["debug", "fortran"]});
    let refused = problem(ask(&app, document("/v1/jobs", &body)).await).await;
    assert_eq!(refused.status, 422, "{refused:?}");
}

#[tokio::test]
async fn uploads_become_inputs_and_damaged_ones_a_diagnostic() {
    let app = app();
    let send = |body: Vec<u8>| {
        let request = authorized("POST", "/v1/uploads").header("content-type", "application/octet-stream");
        ask(&app, request.body(Body::from(body)).unwrap())
    };
    let mut npz = std::io::Cursor::new(Vec::new());
    let data: Vec<u8> = (0..24).flat_map(|it| f64::from(it).to_le_bytes()).collect();
    let zeros = [0; 24 * 8];
    let arrays = [("a", "float64", vec![4, 3, 2], &data[..]), ("b", "float64", vec![4, 3, 2], &zeros[..])];
    isobar_runner::npz::write(&mut npz, arrays).unwrap();
    let ticket: Value = serde_json::from_slice(&bytes(send(npz.into_inner()).await).await).unwrap();
    let body = json!({"files": {"main.py": COPY}, "backend": "debug", "fields": ticket["upload"]});
    let job = submit(&app, &body).await;
    let events = follow(&app, &job, None).await;
    assert!(
        matches!(events.last().unwrap().what, EventKind::Ended { reason: EndReason::Ok, .. }),
        "{events:?}"
    );
    let field = authorized("GET", &format!("/v1/jobs/{job}/fields/b")).body(Body::empty()).unwrap();
    assert_eq!(bytes(ask(&app, field).await).await, data);

    let ticket: Value = serde_json::from_slice(&bytes(send(b"no archive".to_vec()).await).await).unwrap();
    let body = json!({"files": {"main.py": COPY}, "backend": "debug", "fields": ticket["upload"]});
    let events = follow(&app, &submit(&app, &body).await, None).await;
    let codes: Vec<&str> = events
        .iter()
        .filter_map(|it| match &it.what {
            EventKind::Diagnostic { diagnostic } => Some(diagnostic.code.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(codes, ["C07"]);
}

#[tokio::test]
async fn a_cancelled_job_ends_at_once_and_the_next_one_works() {
    let app = app_with(Limits { jobs_at_once: 1, ..Limits::default() });
    let long = submit(&app, &run_of(ENDLESS, "debug")).await;
    let waiting = submit(&app, &run_of(COPY, "debug")).await;
    let next = submit(&app, &run_of(COPY, "debug")).await;
    for job in [&waiting, &long] {
        let answer =
            ask(&app, authorized("DELETE", &format!("/v1/jobs/{job}")).body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status(), StatusCode::ACCEPTED);
        let events = follow(&app, job, None).await;
        let last = &events.last().unwrap().what;
        assert!(matches!(last, EventKind::Ended { reason: EndReason::Cancelled, .. }), "{last:?}");
    }
    let events = follow(&app, &next, None).await;
    assert!(events.iter().any(|it| matches!(it.what, EventKind::Queued { .. })));
    assert!(matches!(events.last().unwrap().what, EventKind::Ended { reason: EndReason::Ok, .. }));
}

#[tokio::test]
async fn one_job_too_many_is_refused_until_another_ends() {
    let app = app_with(Limits { jobs_at_once: 1, jobs_waiting: 1, ..Limits::default() });
    let long = submit(&app, &run_of(ENDLESS, "debug")).await;
    let waiting = submit(&app, &run_of(COPY, "debug")).await;
    let answer = ask(&app, document("/v1/jobs", &run_of(COPY, "debug"))).await;
    assert!(answer.headers().contains_key("retry-after"));
    let refused = problem(answer).await;
    assert_eq!((refused.status, refused.code.as_str()), (503, "overloaded"));
    assert!(refused.retry_after_ms.is_some());
    ask(&app, authorized("DELETE", &format!("/v1/jobs/{long}")).body(Body::empty()).unwrap()).await;
    follow(&app, &waiting, None).await;
    submit(&app, &run_of(COPY, "debug")).await;
}

#[tokio::test]
async fn a_run_that_was_told_to_stop_before_says_so() {
    let app = app();
    for (backend, last) in [
        ("rayon", "oir/prune-regions"),
        ("rayon", "schedule/merge-loops"),
        ("openmp", "oir/fold-constants"),
        ("openmp", "loops/convert-branches"),
    ] {
        let mut body = run_of(COPY, backend);
        body["passes"] = json!({"stop_after": last});
        let events = follow(&app, &submit(&app, &body).await, None).await;
        let EventKind::Ended { reason: EndReason::Error, problem: Some(problem) } =
            &events.last().unwrap().what
        else {
            panic!("{backend} after {last}: {events:?}");
        };
        assert!(problem.detail.contains("told to stop") && problem.detail.contains(last), "{problem:?}");
        assert_eq!(problem.code, "compile-failed");
    }
}

#[tokio::test]
async fn a_job_ends_at_its_time_limit_by_name() {
    let app = app_with(Limits { run_ms: 300, ..Limits::default() });
    let events = follow(&app, &submit(&app, &run_of(ENDLESS, "debug")).await, None).await;
    let EventKind::Ended { reason: EndReason::Limit, problem: Some(problem) } = &events.last().unwrap().what
    else {
        panic!("{events:?}");
    };
    assert_eq!((problem.code.as_str(), problem.limit.as_ref().unwrap().allowed), ("time-limit", 300));
}

#[tokio::test]
async fn a_job_whose_process_is_killed_says_so_and_the_runner_lives() {
    let app = app();
    let job = submit(&app, &run_of(ENDLESS, "debug")).await;
    let mut killed = false;
    for _ in 0..500 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let state =
            ask(&app, authorized("GET", &format!("/v1/jobs/{job}")).body(Body::empty()).unwrap()).await;
        let state: Value = serde_json::from_slice(&bytes(state).await).unwrap();
        let Some(worker) = worker_with(&job).filter(|_| state["state"] == "running") else { continue };
        killed = std::process::Command::new("kill").args(["-KILL", &worker]).status().unwrap().success();
        break;
    }
    assert!(killed, "the job has a process");
    let events = follow(&app, &job, None).await;
    let EventKind::Ended { reason: EndReason::Crash, problem: Some(problem) } = &events.last().unwrap().what
    else {
        panic!("{events:?}");
    };
    assert_eq!(problem.code, "job-crashed");
    assert!(problem.detail.contains("signal 9") && !problem.next.is_empty());
    let alive = ask(&app, request("GET", "/healthz").body(Body::empty()).unwrap()).await;
    assert_eq!(alive.status(), StatusCode::OK);
}

/// Environment variables that tell where the libraries of GPUs are.
const OF_GPUS: [&str; 7] = [
    "LD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES",
    "VK_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "ISOBAR_NVRTC",
    "CUDA_HOME",
    "CUDA_PATH",
];

#[tokio::test]
async fn a_job_has_a_folder_of_its_own_while_it_works() {
    let temporary = tempfile::tempdir().unwrap();
    let app = app_of(Limits::default(), Tools { temporary: temporary.path().to_owned(), ..tools() });
    let folders =
        || std::fs::read_dir(temporary.path()).unwrap().map(|it| it.unwrap().path()).collect::<Vec<_>>();
    let job = submit(&app, &run_of(ENDLESS, "debug")).await;
    let (mut seen, mut is_confined) = (Vec::new(), false);
    for _ in 0..500 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        seen = folders();
        let Some(worker) = worker_with(&job).filter(|_| !seen.is_empty()) else { continue };
        // It starts in this folder, and knows nothing of the runner's environment.
        assert_eq!(std::fs::read_link(format!("/proc/{worker}/cwd")).unwrap(), seen[0]);
        let environment = std::fs::read(format!("/proc/{worker}/environ")).unwrap();
        let names = String::from_utf8_lossy(&environment);
        let mut names: Vec<&str> =
            names.split_terminator('\0').filter_map(|it| Some(it.split_once('=')?.0)).collect();
        names.sort_unstable();
        // Where libraries of a GPU are told, if anywhere.
        names.retain(|it| !OF_GPUS.contains(it));
        // The C library cuts the list of its settings into pieces.
        names.retain(|it| !it.starts_with("glibc."));
        let of_libraries = ["GLIBC_TUNABLES", "GOMP_SPINCOUNT"];
        assert_eq!(names, [&of_libraries[..], &["LC_ALL", "PATH", "TMPDIR", "XDG_RUNTIME_DIR"]].concat());
        let status = std::fs::read_to_string(format!("/proc/{worker}/status")).unwrap();
        // At first it has not yet read what it is to do.
        is_confined = status.contains("NoNewPrivs:\t1");
        if is_confined {
            break;
        }
    }
    assert!(is_confined && seen.len() == 1, "{seen:?}");
    assert_eq!(std::fs::metadata(&seen[0]).unwrap().permissions().mode() & 0o777, 0o700);
    ask(&app, authorized("DELETE", &format!("/v1/jobs/{job}")).body(Body::empty()).unwrap()).await;
    follow(&app, &job, None).await;
    assert!(folders().is_empty(), "it went with the job that was cancelled");
    for backend in backends() {
        follow(&app, &submit(&app, &run_of(COPY, backend)).await, None).await;
        assert!(folders().is_empty(), "it went with the job that is over");
    }
}

/// The process of a job, by the name that the runner gave it.
fn worker_with(job: &str) -> Option<String> {
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    let mut names = processes.filter_map(|it| it.file_name().into_string().ok());
    names.find(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(job)
    })
}

#[tokio::test]
async fn openmp_computes_what_the_interpreter_computes() {
    if tools().cc.is_err() {
        return isobar_testing::skip("openmp", "there is no C compiler");
    }
    let app = app();
    let mut results = Vec::new();
    for backend in ["debug", "openmp"] {
        let job = submit(&app, &run_of(COPY, backend)).await;
        let events = follow(&app, &job, None).await;
        let last = &events.last().unwrap().what;
        assert!(matches!(last, EventKind::Ended { reason: EndReason::Ok, .. }), "{events:?}");
        let field = authorized("GET", &format!("/v1/jobs/{job}/fields/b")).body(Body::empty()).unwrap();
        results.push(bytes(ask(&app, field).await).await);
    }
    assert_eq!(results[0], results[1]);
}

#[tokio::test]
async fn tuning_is_a_job_whose_result_is_an_event() {
    let app = app();
    let mut body = run_of(COPY, "rayon");
    body["tune"] = json!({"candidates": 3, "seconds": 20});
    let events = follow(&app, &submit(&app, &body).await, None).await;
    let tuning = events.iter().find_map(|it| match &it.what {
        EventKind::Tuning { tuning } => Some(tuning),
        _ => None,
    });
    let found = tuning.unwrap();
    assert_eq!((found.backend.as_str(), found.domain), ("rayon", [4, 3, 2]));
    assert!((2..=4).contains(&found.candidates.len()) && found.candidates.iter().all(|it| it.agrees));
    assert!(!events.iter().any(|it| matches!(it.what, EventKind::Field { .. })));
    assert!(matches!(events.last().unwrap().what, EventKind::Ended { reason: EndReason::Ok, .. }));

    body["backend"] = json!("debug");
    let events = follow(&app, &submit(&app, &body).await, None).await;
    let EventKind::Ended { reason: EndReason::Error, problem: Some(problem) } = &events.last().unwrap().what
    else {
        panic!("{events:?}");
    };
    assert!(problem.detail.contains("no schedule"), "{problem:?}");
}
