//! `cargo xtask check`: what tells within two minutes whether a change holds; nothing of page or browser.

use anyhow::Result;

use crate::process::{cargo, run};
use crate::tidy;

/// Format, tidy, lints, and the unit tests of all crates but the page's. It ends at the first that fails.
pub(crate) fn check() -> Result<()> {
    run(cargo().args(["fmt", "--all", "--check"]), "check the format of the sources")?;
    tidy::tidy()?;
    // The default members, which leave out the page: it needs the editor's bundle.
    let mut lint = cargo();
    lint.args(["clippy", "--locked", "--all-targets", "--quiet", "--", "--deny", "warnings"]);
    run(&mut lint, "lint the sources")?;
    let mut tests = cargo();
    tests.args(["test", "--locked", "--lib", "--bins", "--quiet"]);
    run(&mut tests, "run the unit tests")
}
