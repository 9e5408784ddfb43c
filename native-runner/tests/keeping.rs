//! Accepted jobs outlive their runner, whatever ends it, and a runner starts whatever it finds.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use isobar_protocol::job::{EndReason, EventKind};
use serde_json::{Value, json};

use crate::served::{COPY, ENDLESS, Runner, RunnerFolder, end, eventually, run_of, slow};

/// An archive with both fields of the copy, and the elements of its input.
fn archive(first: u32) -> (Vec<u8>, Vec<u8>) {
    let data: Vec<u8> = (first..first + 24).flat_map(|it| f64::from(it).to_le_bytes()).collect();
    let zeros = [0; 24 * 8];
    let arrays = [("a", "float64", vec![4, 3, 2], &data[..]), ("b", "float64", vec![4, 3, 2], &zeros[..])];
    let mut npz = std::io::Cursor::new(Vec::new());
    isobar_runner::npz::write(&mut npz, arrays).unwrap();
    (npz.into_inner(), data)
}

fn was_restarted(runner: &Runner, job: &str) -> Option<bool> {
    runner.follow(job).iter().find_map(|it| match it.what {
        EventKind::Restarted { was_running } => Some(was_running),
        _ => None,
    })
}

#[test]
fn jobs_that_worked_and_waited_are_done_after_the_runner_was_killed() {
    let place = RunnerFolder::new();
    let runner = place.start(&["--jobs", "1"]);
    let (npz, data) = archive(7);
    let (_, ticket) = runner.ask("POST /v1/uploads", "application/octet-stream", &npz);
    let upload = serde_json::from_slice::<Value>(&ticket).unwrap()["upload"].clone();
    let before = runner.submit(&run_of(COPY));
    assert_eq!(end(&runner.follow(&before)).0, EndReason::Ok);
    let working = runner.submit(&run_of(&slow(60)));
    runner.until_working(&working);
    let of_upload = json!({"files": {"main.py": COPY}, "backend": "debug", "fields": upload});
    let waiting = [runner.submit(&of_upload), runner.submit(&of_upload), runner.submit(&run_of(COPY))];
    let copies = || fs::read_dir(place.at("state/jobs/inputs")).unwrap().count();
    assert_eq!(copies(), 1, "jobs share the copy of an upload");
    let token = runner.token.clone();
    runner.kill();

    let runner = place.start(&["--jobs", "1"]);
    assert_eq!(runner.token, token);
    assert_eq!(was_restarted(&runner, &working), Some(true));
    for job in &waiting {
        assert_eq!(was_restarted(&runner, job), Some(false));
    }
    for job in waiting.iter().chain([&working]) {
        let events = runner.follow(job);
        assert_eq!(end(&events), (EndReason::Ok, None), "{job}");
        let numbers: Vec<u64> = events.iter().map(|it| it.seq).collect();
        assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
    }
    for job in &waiting[..2] {
        assert_eq!(runner.field(job, "b"), (200, data.clone()));
    }
    let ones: Vec<u8> = std::iter::repeat_n(1.0_f64.to_le_bytes(), 64 * 64 * 8).flatten().collect();
    assert_eq!(runner.field(&working, "b"), (200, ones));
    // A job that was over before the restart can still be asked about. Its fields are gone.
    assert_eq!(runner.state(&before).reason, Some(EndReason::Ok));
    assert_eq!(runner.field(&before, "b").0, 410);
    assert!(eventually(|| copies() == 0), "the copy goes with its last job");
    let working_still = || fs::read_dir(place.at("state/jobs/working")).unwrap().count();
    assert!(eventually(|| working_still() == 0), "the ends are written soon");
    runner.kill();
    // Nothing is done twice.
    let runner = place.start(&[]);
    assert!(waiting.iter().all(|it| runner.state(it).reason == Some(EndReason::Ok)));
    assert_eq!(was_restarted(&runner, &working), None);
}

#[test]
fn a_stream_that_is_taken_up_after_a_restart_begins_anew() {
    let place = RunnerFolder::new();
    let runner = place.start(&["--jobs", "1"]);
    let working = runner.submit(&run_of(&slow(ENDLESS)));
    let job = runner.submit(&run_of(COPY));
    runner.until_working(&working);
    runner.kill();
    let runner = place.start(&["--jobs", "2"]);
    let events = runner.follow(&job);
    let ask = |last: &str| {
        let head = format!("GET /v1/jobs/{job}/events HTTP/1.0\r\nLast-Event-ID: {last}\r\nX-Rest:");
        String::from_utf8(runner.ask(&head, "text/plain", b"").1).unwrap()
    };
    // Of the runner before, which had told more than there is now.
    let anew = ask("3");
    assert!(anew.contains("id: 2.0\n") && anew.contains("\"restarted\""), "{anew}");
    let last = events.last().unwrap().seq;
    let rest = ask(&format!("2.{}", last - 1));
    assert!(!rest.contains("restarted") && rest.contains(&format!("id: 2.{last}\n")), "{rest}");
}

#[test]
fn a_job_during_which_the_runner_is_killed_twice_is_told_as_interrupted() {
    let place = RunnerFolder::new();
    let mut runner = place.start(&["--jobs", "1"]);
    let job = runner.submit(&run_of(&slow(ENDLESS)));
    for _ in 0..2 {
        runner.until_working(&job);
        runner.kill();
        runner = place.start(&["--jobs", "1", "--log", "json"]);
    }
    assert!(eventually(|| runner.noted().contains("\"reason\":\"interrupted\"")), "{}", runner.noted());
    for _ in 0..2 {
        let (reason, problem) = end(&runner.follow(&job));
        assert_eq!(reason, EndReason::Interrupted);
        assert_eq!(problem.unwrap().code, "interrupted");
        assert_eq!(runner.state(&job).state, "ended");
        assert_eq!(runner.field(&job, "b").0, 410);
        // The next one is not held up, and the end is kept.
        assert_eq!(end(&runner.follow(&runner.submit(&run_of(COPY)))).0, EndReason::Ok);
        runner.kill();
        runner = place.start(&[]);
    }
}

#[test]
fn a_runner_starts_whatever_it_finds_as_its_state() {
    let works = |runner: &Runner| {
        let events = runner.follow(&runner.submit(&run_of(COPY)));
        assert_eq!(end(&events).0, EndReason::Ok, "{events:?}");
    };
    let place = RunnerFolder::new();
    works(&place.start(&[]));
    let file = place.at("state/jobs/jobs-1.redb");
    assert_eq!(file.metadata().unwrap().mode() & 0o7777, 0o600);
    assert_eq!(place.at("state/jobs").metadata().unwrap().mode() & 0o7777, 0o700);
    let whole = fs::read(&file).unwrap();
    for damaged in [&whole[..whole.len() / 2], b"garbage", b""] {
        fs::write(&file, damaged).unwrap();
        let runner = place.start(&[]);
        works(&runner);
        assert_eq!(runner.noted().contains("jobs-1.redb.broken"), !damaged.is_empty(), "{}", runner.noted());
        assert!(!runner.noted().contains("not kept"), "{}", runner.noted());
        // It is a store again.
        let job = runner.submit(&run_of(COPY));
        runner.follow(&job);
        let kept = |it: &Runner| it.get(&format!("/v1/jobs/{job}")).0 == 200;
        assert!(kept(&runner));
        runner.terminate();
        assert!(eventually(|| std::net::TcpStream::connect(runner.address).is_err()));
        drop(runner);
        assert!(kept(&place.start(&[])));
    }
    // Where there can be no store, there is none.
    let in_a_file = place.at("token/state");
    let nowhere = [in_a_file.to_str().unwrap(), "/proc/isobar"];
    for folder in nowhere {
        let runner = Runner::start(&["--state", folder], &place.at("."));
        works(&runner);
        assert!(runner.noted().contains("jobs are not kept"), "{}", runner.noted());
    }
    let open = place.at("open");
    fs::create_dir_all(open.join("jobs")).unwrap();
    fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
    let runner = Runner::start(&["--state", open.to_str().unwrap()], &place.at("."));
    works(&runner);
    assert!(runner.noted().contains("others can write"), "{}", runner.noted());
    if rustix::process::geteuid().is_root() {
        return isobar_testing::skip_part("a state that cannot be written", "root can write everywhere");
    }
    fs::set_permissions(&open, Permissions::from_mode(0o500)).unwrap();
    works(&Runner::start(&["--state", open.to_str().unwrap()], &place.at(".")));
}

#[test]
fn of_two_runners_with_one_state_the_second_keeps_nothing_and_says_so() {
    let place = RunnerFolder::new();
    let first = place.start(&["--jobs", "1"]);
    let working = first.submit(&run_of(&slow(ENDLESS)));
    let second = place.start(&[]);
    assert!(second.noted().contains("another runner uses"), "{}", second.noted());
    assert_eq!(second.get(&format!("/v1/jobs/{working}")).0, 404);
    assert_eq!(end(&second.follow(&second.submit(&run_of(COPY)))).0, EndReason::Ok);
    let kept = |it: &Runner| {
        serde_json::from_slice::<Value>(&it.get("/v1/capabilities").1).unwrap()["jobs_kept"].clone()
    };
    assert_eq!((kept(&first), kept(&second)), (json!(true), json!(false)));
    let without = Runner::start(&["--no-state"], &place.at("."));
    assert_eq!(kept(&without), json!(false));
    assert!(!place.at("home").exists(), "nothing is written where it was not asked for");
}

#[test]
fn a_runner_that_is_told_to_end_lets_jobs_end_and_keeps_those_that_wait() {
    let place = RunnerFolder::new();
    let mut runner = place.start(&["--jobs", "1", "--drain", "50"]);
    let working = runner.submit(&run_of(&slow(400)));
    let waiting = runner.submit(&run_of(COPY));
    runner.until_working(&working);
    let [of_working, of_waiting] = [&working, &waiting].map(|job| runner.events(job));
    runner.terminate();
    let refused = eventually(|| {
        runner
            .try_submit(&run_of(COPY))
            .is_err_and(|it| (it.status, it.code.as_str()) == (503, "shutting-down"))
    });
    assert!(refused, "no job is taken any more");
    assert_eq!(runner.get("/readyz").0, 503);
    assert_eq!(end(&of_working.all()), (EndReason::Ok, None));
    let (reason, problem) = end(&of_waiting.all());
    assert_eq!(reason, EndReason::RunnerShutdown);
    assert!(problem.unwrap().detail.contains("takes the job up again"));
    assert!(runner.ended().success());
    let runner = place.start(&[]);
    assert_eq!(end(&runner.follow(&waiting)).0, EndReason::Ok);
    assert_eq!(runner.state(&working).reason, Some(EndReason::Ok));
}

#[test]
fn the_time_to_end_is_limited_and_no_job_is_lost_by_it() {
    let place = RunnerFolder::new();
    let mut job = None;
    // More often than a job may be interrupted without notice: this was with notice.
    for _ in 0..3 {
        let mut runner = place.start(&["--jobs", "1", "--drain", "0"]);
        let job = job.get_or_insert_with(|| runner.submit(&run_of(&slow(ENDLESS))));
        runner.until_working(job);
        let told = Instant::now();
        runner.terminate();
        assert!(runner.ended().success());
        assert!(told.elapsed() < Duration::from_secs(10), "{:?}", told.elapsed());
    }
    // Where nothing is kept, the job is over, and says so.
    let mut runner = Runner::start(&["--no-state", "--drain", "0"], &place.at("."));
    let lost = runner.submit(&run_of(&slow(ENDLESS)));
    runner.until_working(&lost);
    let events = runner.events(&lost);
    runner.terminate();
    let (reason, problem) = end(&events.all());
    assert_eq!(reason, EndReason::RunnerShutdown);
    assert!(!problem.unwrap().detail.contains("again"));
    assert!(runner.ended().success());
}

/// Runs `isobar serve` with arguments that it refuses. Returns its exit status and its output.
fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_isobar"))
        .args(["serve", "--allow-root", "--no-state", "--bind", "127.0.0.1:0"])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

#[test]
fn a_token_is_kept_in_a_file_that_is_its_owners_alone_and_is_not_repeated() {
    let place = RunnerFolder::new();
    let path = place.at("token");
    let runner = place.start(&[]);
    assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o600);
    assert_eq!(runner.get("/v1/capabilities").0, 200);
    assert!(!runner.printed.contains(&runner.token) && !runner.noted().contains(&runner.token));
    let token = runner.token.clone();
    drop(runner);
    let named = path.to_str().unwrap();
    for mode in [0o644, 0o640, 0o602] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let (code, said) = refused(&["--token-file", named]);
        assert_eq!(code, Some(2));
        assert!(said.contains("others can read") && said.contains("chmod 600"), "{said}");
        assert!(!said.contains(&token));
    }
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let link = place.at("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let (code, said) = refused(&["--token-file", link.to_str().unwrap()]);
    assert!(code == Some(2) && said.contains("it is a link"), "{said}");
    fs::write(&path, "short").unwrap();
    let (code, said) = refused(&["--token-file", named]);
    assert!(code == Some(2) && said.contains("has no token") && !said.contains("short\n"), "{said}");
}
