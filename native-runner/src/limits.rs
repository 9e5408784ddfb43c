//! What is checked of a request before any work is done for it.

use isobar_protocol::limits::Limits;
use isobar_protocol::names;
use isobar_protocol::problem::LimitHit;
use isobar_protocol::request::Request;

use crate::error::ApiError;

/// The limits, with what this machine has: no job may have more than most of its memory.
#[must_use]
pub fn of_this_machine() -> Limits {
    let mut limits = Limits::default();
    let memory = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    });
    if let Some(memory) = memory {
        limits.job_memory_bytes = limits.job_memory_bytes.min(memory / 4 * 3);
    }
    limits
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
