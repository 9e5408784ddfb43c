//! A stencil that ran before is not compiled again, and nobody sees that but by the time.

use std::fs;

use isobar_protocol::job::{EndReason, Event, EventKind};
use serde_json::{Value, json};

use crate::served::{Runner, RunnerFolder, end};

/// The first directive is none: that is a warning.
const TEXT: &str = "\
# @input a random(
# @input a random(low=0, high=1, seed=3)
# @input n constant(1)
from gt4py.cartesian.gtscript import FORWARD, PARALLEL, Field, computation, interval

def s(a: Field[float], n: Field[float], b: Field[float], c: Field[float]):
    with computation(PARALLEL), interval(...):
        t = a[1, 0, 0] + a[0, -1, 0]
        b = t * a
    with computation(FORWARD), interval(0, 1):
        c = n
    with computation(FORWARD), interval(1, None):
        c = b[0, 0, -1] + n
        while c > 2.5:
            c = c - n
";

fn job(text: &str, backend: &str, domain: [i64; 3]) -> Value {
    json!({"files": {"main.py": text}, "backend": backend, "init": {}, "domain": domain})
}

/// Whether what was compiled before was found, and the compiler did not run.
fn is_found(events: &[Event]) -> bool {
    let stages: Vec<(&str, bool)> = events
        .iter()
        .filter_map(|it| match &it.what {
            EventKind::Stage { name, cached, .. } => Some((name.as_str(), *cached)),
            _ => None,
        })
        .collect();
    let is_found = stages.contains(&("compile", true));
    assert_ne!(is_found, stages.iter().any(|it| it.0 == "gtir"), "{stages:?}");
    is_found
}

fn said(events: &[Event]) -> Vec<String> {
    let diagnostic = |it: &Event| match &it.what {
        EventKind::Diagnostic { diagnostic } => Some(format!("{diagnostic:?}")),
        _ => None,
    };
    events.iter().filter_map(diagnostic).collect()
}

/// Runs a job. Returns its events, and its fields `b` and `c`.
fn run(runner: &Runner, document: &Value) -> (Vec<Event>, [Vec<u8>; 2]) {
    let job = runner.submit(document);
    let events = runner.follow(&job);
    assert_eq!(end(&events), (EndReason::Ok, None));
    (events, ["b", "c"].map(|it| runner.field(&job, it).1))
}

#[test]
fn a_job_finds_what_another_one_compiled() {
    let place = RunnerFolder::new();
    let runner = place.start(&[]);
    let mut found = Vec::new();
    let mut warnings = Vec::new();
    // Schedules are made for a domain; what is in its fields does not count.
    for (domain, seed) in [([12, 9, 7], 3), ([12, 9, 7], 4), ([0, 5, 4], 3), ([0, 5, 4], 3), ([12, 9, 7], 5)]
    {
        let of = |backend: &str| {
            let mut document = job(TEXT, backend, domain);
            document["init"] = json!({"a": format!("random(low=0, high=1, seed={seed})")});
            run(&runner, &document)
        };
        let ((events, fields), (_, meant)) = (of("rayon"), of("debug"));
        assert!(fields == meant, "{domain:?} {seed}");
        found.push(is_found(&events));
        warnings.push(said(&events));
        let of_steps = |it: &Event| matches!(&it.what, EventKind::Steps { steps } if !steps.is_empty());
        assert_eq!(events.iter().any(of_steps), domain[0] > 0, "{domain:?}");
    }
    assert_eq!(found, [false, true, false, true, true]);
    assert!(warnings[0].len() == 1 && warnings.iter().all(|it| *it == warnings[0]), "{warnings:?}");
    // Another text, another way to schedule, and a runner behind this one.
    let other = TEXT.replace("t * a", "t - a");
    assert!(!is_found(&run(&runner, &job(&other, "rayon", [4, 4, 4])).0));
    let mut unfused = job(TEXT, "rayon", [12, 9, 7]);
    unfused["passes"] = json!({"skip": ["fuse-graph"]});
    assert!(!is_found(&run(&runner, &unfused).0));
    runner.kill();
    let runner = place.start(&[]);
    assert!(is_found(&run(&runner, &job(TEXT, "rayon", [12, 9, 7])).0));
}

#[test]
fn what_is_damaged_is_compiled_again_and_right() {
    let place = RunnerFolder::new();
    let runner = place.start(&[]);
    let document = job(TEXT, "rayon", [12, 9, 7]);
    let (_, meant) = run(&runner, &document);
    let folder = place.at("cache/isobar/rayon");
    let files = || fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path());
    let file = files().find(|it| it.extension().is_some_and(|it| it == "stencil")).unwrap();
    let whole = fs::read(&file).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 7) {
        assert!(is_found(&run(&runner, &document).0));
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        fs::write(&file, &damaged[..if at % 2 == 0 { damaged.len() } else { at }]).unwrap();
        let (events, fields) = run(&runner, &document);
        assert!(!is_found(&events) && fields == meant, "{at}");
    }
}

#[test]
fn a_run_that_stops_itself_says_where_each_time() {
    let place = RunnerFolder::new();
    let runner = place.start(&[]);
    let document = job(&TEXT.replace("c = c - n", "c = c + n"), "rayon", [12, 9, 7]);
    let told = [(); 3].map(|()| {
        let events = runner.follow(&runner.submit(&document));
        assert_eq!(end(&events).0, EndReason::Trap);
        let trap = |it: &Event| match &it.what {
            EventKind::Trap { message, diagnostic, cell } => {
                Some(format!("{message} {diagnostic:?} {cell:?}"))
            }
            _ => None,
        };
        (is_found(&events), events.iter().find_map(trap).unwrap())
    });
    assert_eq!([told[0].0, told[1].0, told[2].0], [false, true, true]);
    assert!(told[1..].iter().all(|it| it.1 == told[0].1), "{told:?}");
}
