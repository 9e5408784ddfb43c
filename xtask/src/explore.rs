//! `cargo xtask explore`: looks where no run looked before. CI has fixed seeds, so this is a command of its
//! own.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};

use crate::fuzz::{self, Effort};
use crate::page::files_below;
use crate::process::{cargo, root, run, say};

/// The crates with tests of properties that the page's bundle is not needed for.
const CRATES: [(&str, &str); 4] = [
    ("compiler/ground", "isobar-ground"),
    ("compiler/front", "isobar-front"),
    ("compiler/reference", "isobar-reference"),
    ("compiler/service", "isobar-service"),
];

/// The seed of the inputs of property tests; `.cargo/config.toml` sets it for all other runs.
const SEED: &str = "PROPTEST_RNG_SEED";

/// How many stencils of the generator each round has.
const GENERATED: u64 = 500;

/// The kinds of inputs that can be looked at alone.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum What {
    Schedules,
}

/// Looks at so many inputs of one kind, from a seed on that is printed. Each failure prints its own seed.
pub(crate) fn only(what: What, count: u64, seed: Option<u64>) -> Result<()> {
    let first = seed.unwrap_or_else(fresh);
    match what {
        What::Schedules => crate::equivalence(&["rayon".to_owned()], |command| {
            command.args([first, count].map(|it| it.to_string())).args(["--schedules", "drawn"]);
        }),
    }
}

/// Seeds of one hour follow each other, so that two explorers that start together differ as well.
fn fresh() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_micros());
    u64::try_from(now).unwrap_or_default() % 1_000_000_000_000
}

/// Tests of properties and generated stencils with other seeds each round, and then the fuzzer, a third of the time each.
///
/// A failure prints its seed: `--seed N --seconds 1` is the same round again.
pub(crate) fn explore(seconds: u64, seed: Option<u64>) -> Result<()> {
    let third = Duration::from_secs(seconds / 3);
    let mut seed = seed.unwrap_or_else(fresh);
    let begun = Instant::now();
    loop {
        say(&format!("this round has the seed {seed}"));
        for (folder, package) in CRATES {
            let mut tests = cargo();
            tests.args(["test", "--locked", "--quiet", "--package", package, "--lib", "--"]);
            run(
                tests.args(property_tests(folder)?).env(SEED, seed.to_string()),
                &format!(
                    "test properties; what fails is kept in {folder}/proptest-regressions, to be committed"
                ),
            )?;
        }
        let held =
            crate::Held { first: seed, generated: GENERATED, jobs: None, is_shared: false, levels: None };
        crate::equivalence(&[], |command| held.ask(command))?;
        seed += GENERATED;
        if begun.elapsed() >= third * 2 {
            break;
        }
    }
    fuzz::fuzz(Effort::Seconds(third.as_secs().max(1)))
}

/// The modules of a crate that have tests of properties.
fn property_tests(folder: &str) -> Result<BTreeSet<String>> {
    let src = root().join(folder).join("src");
    let mut found = BTreeSet::new();
    for file in files_below(&src)?.into_iter().filter(|it| it.extension().is_some_and(|it| it == "rs")) {
        if fs::read_to_string(&file)?.contains("proptest! {") {
            let module = file.strip_prefix(&src)?.with_extension("");
            let names: Vec<_> = module.components().map(|it| it.as_os_str().to_string_lossy()).collect();
            found.insert(names.join("::").trim_end_matches("::mod").to_owned());
        }
    }
    if found.is_empty() {
        bail!("{folder} has no tests of properties");
    }
    Ok(found)
}
