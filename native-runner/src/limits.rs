//! Checks a request before any work is done for it.

use std::fs;
use std::path::Path;

use isobar_protocol::limits::Limits;
use isobar_protocol::names;
use isobar_protocol::problem::LimitHit;
use isobar_protocol::request::Request;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::ApiError;

/// The limits, with what this machine has: no job may have more than most of its memory, nor may all together.
#[must_use]
pub fn of_this_machine() -> Limits {
    let mut limits = Limits::default();
    let memory = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    });
    if let Some(memory) = memory.map(|it| memory_of_group().map_or(it, |of_group| of_group.min(it))) {
        limits.jobs_memory_bytes = memory / 4 * 3;
        limits.job_memory_bytes = limits.job_memory_bytes.min(limits.jobs_memory_bytes);
    }
    limits.threads = std::thread::available_parallelism().map_or(1, |it| it.get() as u64);
    limits
}

/// The memory that our control group may have, where that is limited.
pub(crate) fn memory_of_group() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/cgroup").ok()?;
    let below = text.lines().find_map(|it| it.strip_prefix("0::"))?.trim_start_matches('/');
    let roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map(Path::new);
    let root = roots.into_iter().find(|it| it.join("cgroup.controllers").is_file())?;
    fs::read_to_string(root.join(below).join("memory.max")).ok()?.trim().parse().ok()
}

/// Files that each job at work has open here: its pipes, its folder, its input.
const FILES_OF_JOB: u64 = 8;
/// Files that are open whatever is asked: the listener, the log, the threads, connections that are refused.
const OWN_FILES: u64 = 128;

/// Files that may be open at the same time.
fn files_of(limits: &Limits) -> u64 {
    let of_jobs = limits.jobs_at_once.saturating_mul(FILES_OF_JOB);
    let of_inputs = limits.uploads.saturating_add(limits.jobs_waiting);
    OWN_FILES.saturating_add(of_jobs).saturating_add(of_inputs).saturating_add(limits.connections)
}

/// Raises the limit of open files as far as the system allows. Where that is too low, there are fewer
/// connections. Answers a message for this case.
pub fn room_for_files(limits: &mut Limits) -> Option<String> {
    let needed = files_of(limits);
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let have = current.unwrap_or(u64::MAX);
    if have >= needed {
        return None;
    }
    let wanted = needed.min(maximum.unwrap_or(u64::MAX));
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    let given = if raised.is_ok() { wanted } else { have };
    let missing = needed.saturating_sub(given);
    if missing == 0 {
        return None;
    }
    limits.connections = limits.connections.saturating_sub(missing).max(2);
    limits.connections_per_address = limits.connections_per_address.min(limits.connections - 1);
    Some(format!(
        "the system lets this program open {given} files, and {needed} are needed: it takes {} connections at a time; \
         `ulimit -Hn` tells how many may be allowed",
        limits.connections
    ))
}

/// Checks all names, the number and size of the files, and that nothing is named that only the command line has.
///
/// # Errors
///
/// 413 beyond a limit, 400 for paths and for names that are none.
pub fn check_request(request: &Request, limits: &Limits) -> Result<(), ApiError> {
    if request.path.is_some() || !request.modules.is_empty() || request.out.is_some() {
        return Err(ApiError::InvalidRequest(
            "`path`, `modules` and `out` are for the command line: send the texts in `files`".to_owned(),
        ));
    }
    if request.files.is_empty() {
        return Err(ApiError::InvalidRequest("`files` is empty: there is nothing to compile".to_owned()));
    }
    names::check(request).map_err(|it| ApiError::InvalidRequest(it.to_string()))?;
    check_sources(request, limits).map_err(|limit| ApiError::TooLarge { limit })
}

/// Checks the number and size of the files.
///
/// # Errors
///
/// The limit that is exceeded.
pub fn check_sources(request: &Request, limits: &Limits) -> Result<(), LimitHit> {
    let files = request.files.len() as u64;
    if files > limits.files {
        return Err(LimitHit::new("number of files", limits.files, files, "files"));
    }
    let bytes: u64 = request.files.iter().map(|(name, text)| (name.len() + text.len()) as u64).sum();
    if bytes > limits.source_bytes {
        return Err(LimitHit::new("source text", limits.source_bytes, bytes, "bytes"));
    }
    Ok(())
}
