//! Runners that the command line starts or asks.

use super::*;

/// A runner, ended with the test.
pub(super) struct Serving(Child, pub(super) String);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(super) fn serve() -> Serving {
    let mut child = Command::new(env!("CARGO_BIN_EXE_isobar"))
        .args(["serve", "--allow-root", "--no-state", "--bind", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    Serving(child, line.trim().to_owned())
}

#[test]
fn the_token_stands_in_no_list_of_processes() {
    let folder = tempfile::tempdir().unwrap();
    let (browser, told) = (folder.path().join("xdg-open"), folder.path().join("told"));
    std::fs::write(
        &browser,
        format!("#!/bin/sh\necho \"$@\" > {0}.part\nexec /bin/mv {0}.part {0}\n", told.display()),
    )
    .unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_isobar"))
        .args(["serve", "--allow-root", "--no-state", "--open", "--bind", "127.0.0.1:0"])
        .env("PATH", folder.path())
        .env("TMPDIR", folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let mut runner = Serving(child, line.trim().to_owned());
    let token = runner.1.split_once("#token=").unwrap().1.to_owned();
    assert!(eventually(|| told.exists()));
    let page = std::fs::read_to_string(&told).unwrap();
    let page = Path::new(page.trim());
    assert!(!page.to_str().unwrap().contains(&token), "{page:?}");
    assert!(std::fs::read_to_string(page).unwrap().contains(&runner.1));
    assert_eq!(page.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    for list in ["cmdline", "environ"] {
        let list = std::fs::read(format!("/proc/{}/{list}", runner.0.id())).unwrap();
        assert!(!text(&list).contains(&token));
    }
    let ended = Command::new("kill").arg(runner.0.id().to_string()).status().unwrap();
    assert!(ended.success() && runner.0.wait().unwrap().success());
    assert!(!page.exists());
}

#[test]
fn a_remote_runner_does_what_this_one_does() {
    let runner = serve();
    assert!(runner.1.starts_with("http://127.0.0.1:") && runner.1.contains("/#token="), "{}", runner.1);
    let arguments = ["run", &copy(), "--backend", "debug", "--init", "--domain", "4,3,2", "--format", "json"];
    let mut there = arguments.to_vec();
    there.extend(["--runner", &runner.1]);
    let (here, there) = (json(&isobar(&arguments)), json(&isobar(&there)));
    assert_eq!(here["fields"], there["fields"]);
    assert_eq!(here["hashes"], there["hashes"]);
    assert_eq!(here["hashes"]["q_out"].as_str().map(str::len), Some(16));
    assert_eq!(there["reason"], "ok");
    let emitted = isobar(&["emit", &copy(), "--stage", "gtir", "--runner", &runner.1]);
    assert_eq!(emitted.stdout, isobar(&["emit", &copy(), "--stage", "gtir"]).stdout);
    let address = runner.1.split('#').next().unwrap();
    let refused = isobar(&["backends", "--runner", address]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("ISOBAR_TOKEN"));
}

#[test]
fn a_job_does_not_outlive_the_command_that_started_it() {
    let endless = file(
        "endless.py",
        b"# @domain 64 64 8\n# @input a constant(1)\nfrom gt4py.cartesian.gtscript import *\n\n\
          def endless(a: Field[float], b: Field[float]):\n    with computation(FORWARD), interval(...):\n        \
          b = a\n        n = 0.0\n        while n < 900000.0:\n            n = n + b\n        b = n\n",
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_isobar"))
        .args(["run", &endless, "--backend", "debug", "--init"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let job = format!("run-{}", command.id());
    assert!(eventually(|| is_process(&job)), "the job has a process");
    command.kill().unwrap();
    command.wait().unwrap();
    assert!(eventually(|| !is_process(&job)), "it ended with the command");
}

fn is_process(job: &str) -> bool {
    let mut processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.any(|it| {
        let line = std::fs::read(it.path().join("cmdline")).unwrap_or_default();
        line.split(|&it| it == 0).any(|it| it == job.as_bytes())
    })
}

fn eventually(mut is_true: impl FnMut() -> bool) -> bool {
    (0..1000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        is_true()
    })
}
