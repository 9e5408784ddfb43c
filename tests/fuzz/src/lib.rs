//! Functions that the targets share.

use std::path::PathBuf;
use std::sync::LazyLock;

/// The file that keeps the input at hand, where one is named.
static KEPT: LazyLock<Option<PathBuf>> =
    LazyLock::new(|| std::env::var_os("ISOBAR_FUZZ_INPUT").map(Into::into));

/// Keeps an input, to find out why the process ended: libFuzzer writes none when a stack overflows.
pub fn keep(text: &str) {
    if let Some(path) = &*KEPT {
        std::fs::write(path, text).expect("the input is kept");
    }
}
