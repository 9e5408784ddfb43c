//! Whether this machine has what a runner needs: each thing looked at by itself, and what to do where it is missing.
//!
//! Nothing is changed but that missing folders of the cache and the state are made, as a runner makes them.

mod kernel;

use std::ffi::OsStr;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use isobar_protocol::report::{Check, CheckState};
use isobar_runtime::cache::{self, CodeKind};
use rustix::process::{Resource, geteuid, getrlimit};

use crate::config::{Environment, Tools};
use crate::confine::Confined;
use crate::jobs::{folder, store};
use crate::limits::memory_of_group;

const MIB: u64 = 1024 * 1024;
/// Below this much room in the temporary folder a job can hardly work, and uploads are refused early.
const LEAST_ROOM: u64 = 64 * MIB;
const ENOUGH_ROOM: u64 = 2048 * MIB;
const ENOUGH_MEMORY: u64 = 1024 * MIB;
/// Each connection, upload and job needs some.
const LEAST_DESCRIPTORS: u64 = 512;
const ENOUGH_DESCRIPTORS: u64 = 4096;

/// Looks at everything; a runner would listen on `bind`.
#[must_use]
pub fn examine(environment: &Environment, bind: SocketAddr) -> Vec<Check> {
    let tools = Tools::find(environment);
    let mut checks = vec![compiler(&tools)];
    checks.extend(backends(&tools));
    checks.push(cache_folder(environment.cache.as_deref()));
    checks.push(state_folder(environment.state.as_deref()));
    checks.push(temporary(&environment.temporary));
    checks.push(descriptors());
    checks.push(memory());
    checks.push(port(bind));
    checks.push(user());
    checks.push(clock(&environment.program));
    checks.extend(kernel::examine());
    checks.push(jobs(&tools));
    checks
}

/// Whether something was looked at and is as it should be, or what to do.
pub(crate) fn check(name: &str, state: CheckState, found: impl Into<String>, help: &str) -> Check {
    let help = if state == CheckState::Fine { String::new() } else { help.to_owned() };
    Check { name: name.to_owned(), state, found: found.into(), help }
}

/// The parts of the sandbox that hold a job here, as a test process finds them.
fn jobs(tools: &Tools) -> Check {
    let Confined { held, missing } = Confined::here(&tools.worker, &tools.temporary);
    let help = "jobs are held by less: the checks before this one say what the machine would have to offer";
    if missing.is_empty() {
        check("jobs", CheckState::Fine, format!("held by {}", held.join(", ")), help)
    } else {
        check("jobs", CheckState::Warning, format!("not held by {}", missing.join(", ")), help)
    }
}

fn compiler(tools: &Tools) -> Check {
    let help = "install gcc or clang, or name one with CC; only the back end `openmp` needs it";
    match &tools.cc {
        Err(reason) => check("C compiler", CheckState::Warning, reason.clone(), help),
        Ok(cc) => match compiles(&cc.program, &tools.path, &tools.temporary) {
            Ok(()) => check("C compiler", CheckState::Fine, cc.version.clone(), help),
            Err(reason) => {
                let found = format!("{} does not work: {reason}", cc.version);
                check("C compiler", CheckState::Warning, found, help)
            }
        },
    }
}

/// Whether the compiler makes a library with OpenMP, as jobs have it do.
fn compiles(program: &Path, path: &OsStr, temporary: &Path) -> Result<(), String> {
    let folder = folder::make(temporary).map_err(|error| error.to_string())?;
    let source = folder.path().join("probe.c");
    fs::write(&source, "int probe(int n) { return n + 1; }\n").map_err(|error| error.to_string())?;
    let output = Command::new(program)
        .args(["-shared", "-fPIC", "-fopenmp", "-o", "probe.so", "probe.c"])
        .env_clear()
        .env("PATH", path)
        .env("TMPDIR", folder.path())
        .env("LC_ALL", "C")
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    match output.status.success() && folder.path().join("probe.so").is_file() {
        true => Ok(()),
        false => {
            Err(String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("it failed").to_owned())
        }
    }
}

/// Processors must have their back ends; GPUs are a gift.
fn backends(tools: &Tools) -> Vec<Check> {
    let described = tools.backends.described(&tools.found());
    let names = |wanted: &dyn Fn(&isobar_protocol::job::Backend) -> bool| {
        described.iter().filter(|it| wanted(it)).map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let missing = names(&|it| it.device == "cpu" && !it.available);
    let there = names(&|it| it.available);
    let help = "`isobar backends` says what each lacks";
    let state = match (there.is_empty(), missing.is_empty()) {
        (true, _) => CheckState::Wrong,
        (_, false) => CheckState::Warning,
        (_, true) => CheckState::Fine,
    };
    let missing = if missing.is_empty() { String::new() } else { format!("; missing: {missing}") };
    let mut checks = vec![check("back ends", state, format!("{there}{missing}"), help)];
    let without = names(&|it| it.device == "gpu" && !it.available);
    if !without.is_empty() {
        let found = format!("not here: {without}; `isobar backends` says why");
        checks.push(check("GPUs", CheckState::Fine, found, ""));
    }
    checks
}

fn cache_folder(root: Option<&Path>) -> Check {
    let name = "cache folder";
    let help = "without it each run compiles anew; set XDG_CACHE_HOME to a folder of yours that nobody else can write to";
    let Some(root) = root else { return check(name, CheckState::Warning, "there is none", help) };
    let usable = cache::private(root, CodeKind::C.folder()).and_then(|it| writable(&it));
    match usable {
        Ok(()) => check(name, CheckState::Fine, root.display().to_string(), help),
        Err(reason) => check(name, CheckState::Warning, reason, help),
    }
}

fn state_folder(root: Option<&Path>) -> Check {
    let name = "state folder";
    let help = "without it jobs that wait are lost when the runner is killed; name a folder of yours with `serve --state`";
    let Some(root) = root else { return check(name, CheckState::Warning, "there is none", help) };
    match store::folder(root).and_then(|it| writable(&it)) {
        Ok(()) => check(name, CheckState::Fine, root.display().to_string(), help),
        Err(reason) => check(name, CheckState::Warning, reason, help),
    }
}

/// A file can be made there.
fn writable(folder: &Path) -> Result<(), String> {
    let made = tempfile::tempfile_in(folder);
    made.map(|_| ()).map_err(|error| format!("{} cannot be written to: {error}", folder.display()))
}

fn temporary(folder: &Path) -> Check {
    let name = "temporary folder";
    let help = "jobs and uploads work there: make room, or set TMPDIR to a folder with more";
    if let Err(reason) = writable(folder) {
        return check(name, CheckState::Wrong, reason, help);
    }
    let Ok(found) = rustix::fs::statvfs(folder) else {
        return check(name, CheckState::Warning, "how much room it has is not known", help);
    };
    let room = found.f_bavail.saturating_mul(found.f_frsize);
    let state = graded(room, LEAST_ROOM, ENOUGH_ROOM);
    check(name, state, format!("{} has room for {} MiB", folder.display(), room / MIB), help)
}

fn graded(found: u64, least: u64, enough: u64) -> CheckState {
    match found {
        _ if found < least => CheckState::Wrong,
        _ if found < enough => CheckState::Warning,
        _ => CheckState::Fine,
    }
}

fn descriptors() -> Check {
    let help = "raise the limit with `ulimit -n 16384`, or LimitNOFILE= of its unit";
    let most = getrlimit(Resource::Nofile).current;
    let found = most.map_or("no limit".to_owned(), |it| format!("{it} may be open"));
    let state = graded(most.unwrap_or(u64::MAX), LEAST_DESCRIPTORS, ENOUGH_DESCRIPTORS);
    check("descriptors", state, found, help)
}

fn memory() -> Check {
    let help = "end other programs, or give jobs less with `serve --job-memory MIB --jobs 1`";
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let of = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|it| it.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    };
    let Some(available) = of("MemAvailable:") else {
        return check("memory", CheckState::Warning, "how much there is is not known", help);
    };
    let group = memory_of_group();
    let least = group.map_or(available, |it| it.min(available));
    let limited = group.map_or(String::new(), |it| format!("; its group may have {} MiB", it / MIB));
    let state = graded(least, 0, ENOUGH_MEMORY);
    check("memory", state, format!("{} MiB are free{limited}", available / MIB), help)
}

fn port(bind: SocketAddr) -> Check {
    let help = "end the program that listens there, perhaps another runner, or choose another one with `serve --bind`";
    match TcpListener::bind(bind) {
        Ok(_) => check("port", CheckState::Fine, format!("{bind} is free"), help),
        Err(error) => check("port", CheckState::Warning, format!("{bind}: {error}"), help),
    }
}

fn user() -> Check {
    let help = "start it as a user of its own: what breaks out of a job of root is root";
    let id = geteuid();
    let state = if id.is_root() { CheckState::Warning } else { CheckState::Fine };
    check(
        "user",
        state,
        if id.is_root() { "root".to_owned() } else { format!("number {}", id.as_raw()) },
        help,
    )
}

/// Certificates, ends of tokens and the ages of files are told by it.
fn clock(program: &Path) -> Check {
    let help = "set the clock, or have it set: `timedatectl set-ntp true`";
    let made = program.metadata().and_then(|it| it.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    match SystemTime::now().duration_since(made) {
        Ok(_) => check("clock", CheckState::Fine, "it is later than when this program was made", help),
        Err(_) => check("clock", CheckState::Wrong, "it is earlier than when this program was made", help),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_told_with_what_to_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "").expect("it is ours");
        for (check, state) in [
            (cache_folder(Some(&file)), CheckState::Warning),
            (cache_folder(None), CheckState::Warning),
            (state_folder(Some(&file)), CheckState::Warning),
            (temporary(&file), CheckState::Wrong),
        ] {
            assert_eq!(check.state, state, "{check:?}");
            assert!(!check.help.is_empty() && !check.found.is_empty(), "{check:?}");
        }
        for check in [cache_folder(Some(folder.path())), state_folder(Some(folder.path()))] {
            assert_eq!((check.state, check.help.as_str()), (CheckState::Fine, ""), "{check:?}");
        }
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let taken = listener.local_addr().expect("an address");
        assert_eq!(port(taken).state, CheckState::Warning);
        assert_eq!(clock(&file).state, CheckState::Fine);
    }

    #[test]
    fn a_compiler_that_does_not_work_is_found_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let refused = compiles(Path::new("/bin/false"), OsStr::new(""), folder.path());
        assert!(refused.is_err());
        let lazy = compiles(Path::new("/bin/true"), OsStr::new(""), folder.path());
        assert!(lazy.is_err(), "it says that it worked, and made nothing");
    }
}
