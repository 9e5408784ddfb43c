//! Confines the process of a job: it may do little while its code is made, and next to nothing while that
//! code runs.
//!
//! The sandbox assumes that the compiler of stencils has faults. A job's process comes in two phases.
//! **Making**: it compiles, and may start the C compiler, which is confined in the same way. Both read the
//! programs and libraries of the system and the stored code. They write below the folder of the job alone,
//! and reach no network. **Running** begins before the first call of made code. Then no file is opened,
//! except by the driver of a GPU, and no process is started. A system call that only a wrong or hostile
//! program makes ends the process, and the runner logs the call by name.
//!
//! Where a machine allows it, all processes of a job live in a PID namespace of their own. They end with its
//! first process, also where the runner was killed. [`Confined`] lists the parts that a machine does not
//! allow.

mod attempts;
mod calls;
mod files;
mod inherited;
mod namespaces;
mod root;

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::thread::set_no_new_privs;
use serde::{Deserialize, Serialize};

pub(crate) use attempts::Attempt;
pub use calls::{REFUSED_STATUS, refused_calls};
pub(crate) use inherited::let_go;
pub(crate) use namespaces::alone;

/// The parts of the sandbox that hold a job's process, and the parts that this machine did not allow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confined {
    pub held: Vec<String>,
    /// Each with its reason.
    pub missing: Vec<String>,
}

impl Confined {
    pub(crate) fn note(&mut self, what: &str, done: Result<(), String>) {
        match done {
            Ok(()) => self.held.push(what.to_owned()),
            Err(why) => self.missing.push(format!("{what}: {why}")),
        }
    }

    /// Tests in a process of its own which parts of the sandbox work on this machine.
    #[must_use]
    pub fn here(worker: &Path, temporary: &Path) -> Self {
        let probe = Command::new(worker)
            .args(["worker", "probe", "--probe"])
            .env_clear()
            .env("TMPDIR", temporary)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let found = probe.map_err(|why| why.to_string()).and_then(|it| {
            serde_json::from_slice(&it.stdout).map_err(|_| format!("the process that tries it {}", it.status))
        });
        found.unwrap_or_else(|why| Self { held: Vec::new(), missing: vec![format!("any of it: {why}")] })
    }

    /// Whether every promised part holds, as far as known by now.
    ///
    /// # Errors
    ///
    /// The first part that does not.
    pub(crate) fn keeps(&self, promised: &[String]) -> Result<(), String> {
        let broken = self.missing.iter().find(|missing| promised.iter().any(|it| missing.starts_with(it)));
        broken.map_or(Ok(()), |it| Err(it.clone()))
    }

    /// Whether all of it is there.
    ///
    /// # Errors
    ///
    /// The missing parts.
    pub(crate) fn is_whole(&self) -> Result<(), String> {
        if self.missing.is_empty() { Ok(()) } else { Err(self.missing.join(", ")) }
    }

    /// In words, for those who ask what a runner can do.
    #[must_use]
    pub fn told(&self) -> String {
        let held = if self.held.is_empty() { "nothing".to_owned() } else { self.held.join(", ") };
        let missing = if self.missing.is_empty() {
            String::new()
        } else {
            format!("; not on this machine: {}", self.missing.join(", "))
        };
        format!(
            "each job in a process of its own, with limits on memory, processor time and files; held by {held}{missing}"
        )
    }
}

/// The word of a process that came out.
const OUT: &str = "out";

/// Tries each way out of a job's process, and before that whether it is one where nothing holds the process.
///
/// # Errors
///
/// The first that leads out, or that says nothing.
pub(crate) fn try_to_break_out(worker: &Path, temporary: &Path) -> Result<(), String> {
    let outside =
        tempfile::tempdir_in(temporary).map_err(|why| format!("there is no folder to try it in: {why}"))?;
    let (folder, secret) = (outside.path().join("job"), outside.path().join("secret"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let address =
        listener.as_ref().map_err(ToString::to_string)?.local_addr().map_err(|why| why.to_string())?;
    let named = outside.path().join("named");
    let _receiver = UnixDatagram::bind(&named).map_err(|why| why.to_string())?;
    let made = fs::create_dir(&folder).and_then(|()| fs::write(&secret, "a secret"));
    made.map_err(|why| format!("there is no file to try it with: {why}"))?;
    for attempt in Attempt::ALL {
        let target = match attempt {
            Attempt::Connect => address.to_string(),
            Attempt::Send => named.to_string_lossy().into_owned(),
            _ => secret.to_string_lossy().into_owned(),
        };
        let comes_out = |is_held: bool| {
            let mut process = Command::new(worker);
            process.args(["worker", &target, "--attempt", attempt.name()]).env_clear().env("TMPDIR", &folder);
            if !is_held {
                process.arg("--unheld");
            }
            let output = process.stdin(Stdio::null()).stderr(Stdio::null()).output();
            output.map(|it| it.stdout.starts_with(OUT.as_bytes())).map_err(|why| why.to_string())
        };
        if !comes_out(false)? {
            return Err(format!("where nothing holds a process, it is not so that {}", attempt.told()));
        }
        if comes_out(true)? {
            return Err(format!("{} by a job", attempt.told()));
        }
    }
    Ok(())
}

/// The process of one attempt: held as one of a job, or not held at all.
pub(crate) fn attempt(attempt: Attempt, target: &str, is_held: bool) {
    if is_held {
        let folder = std::env::temp_dir();
        let needs =
            Needs { folder: &folder, read: Vec::new(), has_gpu: attempt.has_gpu(), has_compiler: false };
        let _ = set_no_new_privs(true);
        // The attempt itself shows which of these do not hold.
        let (_, alone) = (let_go(), alone());
        let _ = making(&needs, alone.is_ok());
        if attempt.is_while_running() {
            let _ = running(false);
        }
    }
    if attempt.works(target) {
        let _ = rustix::io::write(rustix::stdio::stdout(), OUT.as_bytes());
    }
}

/// The paths and tools that a job's process needs while its code is made.
#[derive(Clone, Debug)]
pub(crate) struct Needs<'a> {
    /// The folder of the job, which it may write.
    pub folder: &'a Path,
    /// Folders and files that it may read, beside those of the system.
    pub read: Vec<PathBuf>,
    /// Whether it speaks with a GPU.
    pub has_gpu: bool,
    /// Whether it starts the C compiler.
    pub has_compiler: bool,
}

/// The first phase, for this process and all that it starts. It has one thread yet.
///
/// `is_alone` where it lives in namespaces of its own.
pub(crate) fn making(needs: &Needs<'_>, is_alone: bool) -> Confined {
    let mut confined = Confined::default();
    let no_namespace = || Err("there is no namespace for it".to_owned());
    confined.note("a root of its own", if is_alone { root::enter(needs) } else { no_namespace() });
    confined.note("no capabilities", namespaces::drop_capabilities());
    confined.note("Landlock", files::restrict(needs));
    confined.note("a list of system calls", calls::making(needs));
    confined
}

/// Whether `/proc` has this process under the number that it knows itself by.
pub(crate) fn sees_itself() -> bool {
    let own = std::fs::read_link("/proc/self").ok();
    own.and_then(|it| it.to_str()?.parse().ok()) == Some(std::process::id())
}

/// The second phase, for all threads of this process; nothing undoes it.
///
/// # Errors
///
/// Why it is not in force.
pub(crate) fn running(has_gpu: bool) -> Result<(), String> {
    RUNNING.store(true, Ordering::SeqCst);
    calls::running(has_gpu)
}

/// The name of the second phase in reports.
pub(crate) const WHILE_RUNNING: &str = "nothing opened or started while code runs";

/// The name of the namespace in reports.
pub(crate) const NAMESPACE: &str = "a PID namespace";

/// Whether the second phase has begun.
pub(crate) fn is_running() -> bool {
    RUNNING.load(Ordering::SeqCst)
}

static RUNNING: AtomicBool = AtomicBool::new(false);

/// Ends this process at once, without a word to anybody in it.
pub(crate) fn end() -> ! {
    calls::end(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_out_is_told_and_so_is_an_attempt_that_shows_nothing() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let worker = |text: &str| {
            let path = folder.path().join("worker");
            fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("it is ours");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("it is ours");
            try_to_break_out(&path, folder.path())
        };
        assert_eq!(
            worker("echo out"),
            Err("the rights of a file of the runner can be changed by a job".to_owned())
        );
        let nothing = "where nothing holds a process, it is not so that the rights of a file of the runner can be changed";
        assert_eq!(worker("exit 0"), Err(nothing.to_owned()));
        assert_eq!(worker("case $* in *--unheld*) echo out;; esac"), Ok(()));
        let starts = "case $* in *--unheld*|*start*) echo out;; esac";
        assert_eq!(worker(starts), Err("a program can be started while code runs by a job".to_owned()));
    }

    #[test]
    fn what_was_promised_and_does_not_hold_is_told() {
        let mut confined = Confined::default();
        confined.note("Landlock", Ok(()));
        confined.note(NAMESPACE, Err("the kernel allows no user namespace".to_owned()));
        let promised = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        assert_eq!(confined.keeps(&promised(&["Landlock"])), Ok(()));
        let told = "a PID namespace: the kernel allows no user namespace".to_owned();
        assert_eq!(confined.keeps(&promised(&["Landlock", NAMESPACE])), Err(told));
        assert_eq!(Confined::default().keeps(&promised(&[NAMESPACE])), Ok(()), "it is not known yet");
    }
}
