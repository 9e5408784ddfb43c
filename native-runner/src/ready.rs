//! Whether the runner has what jobs need of the machine: room for their files.

use std::io::Write;
use std::path::Path;

use isobar_runtime::cache;

use crate::config::Tools;
use crate::error::ApiError;

/// A job that cannot write as much cannot work.
const LEAST_BYTES: usize = 64 * 1024;

/// Writes to where jobs do, and keeps nothing.
///
/// # Errors
///
/// 503 with what cannot be written; where it is is the owner's to know, and in the log.
pub(crate) fn check(tools: &Tools) -> Result<(), ApiError> {
    let refused = |what: &'static str, why: &dyn std::fmt::Display| {
        tracing::warn!("{what}: {why}");
        ApiError::NotReady(what)
    };
    write_below(&tools.temporary)
        .map_err(|error| refused("its temporary folder is full or cannot be written", &error))?;
    let Some(root) = &tools.cache else { return Ok(()) };
    let what = "the folder of its cache is full or cannot be used";
    let folder = cache::private(root, cache::OF_MACHINE).map_err(|why| refused(what, &why))?;
    write_below(&folder).map_err(|error| refused(what, &error))
}

fn write_below(folder: &Path) -> std::io::Result<()> {
    let mut file = tempfile::tempfile_in(folder)?;
    file.write_all(&vec![0; LEAST_BYTES])?;
    file.flush()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::config::Environment;

    #[test]
    fn what_cannot_be_written_is_named_without_its_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let there = folder.path().to_owned();
        let tools = |temporary: &Path, cache: &Path| {
            let cache = Some(cache.to_owned());
            Tools::find(&Environment { temporary: temporary.to_owned(), cache, ..Environment::default() })
        };
        let refused = |tools: &Tools| check(tools).expect_err("it cannot be written").problem();
        let cache = there.join("cache");
        check(&tools(&there, &cache)).expect("both can be written");
        std::fs::set_permissions(&cache, std::fs::Permissions::from_mode(0o777)).expect("it is ours");
        let missing = there.join("nowhere");
        for (tools, word) in [(tools(&missing, &cache), "temporary"), (tools(&there, &cache), "cache")] {
            let problem = refused(&tools);
            assert_eq!((problem.status, problem.code.as_str()), (503, "not-ready"));
            assert!(problem.detail.contains(word), "{}", problem.detail);
            assert!(!problem.detail.contains(there.to_str().expect("it is text")), "{}", problem.detail);
        }
    }
}
