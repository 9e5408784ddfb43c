//! `cargo xtask test`: installs what the tests need, runs every check and test, and sums up.

mod count;

use crate::fuzz::Effort;
use crate::page::{Profile, page};
use crate::process::{ALL_OTHERS, cargo, program, root, run, say, spelled, target_dir};
use crate::{fuzz, install, nvrtc, registry, tidy};
use anyhow::{Context, Result, bail};
use count::Count;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What ran so far.
#[derive(Debug, Default)]
struct Report {
    total: Count,
    steps: Vec<(&'static str, Duration, Count)>,
}

impl Report {
    /// Runs one step; a step that cannot even run counts as one failure, and the next ones run all the same.
    fn step(&mut self, name: &'static str, work: impl FnOnce() -> Result<Count>) {
        let start = Instant::now();
        let count = work().unwrap_or_else(|error| {
            println!("error: {name}: {error:#}");
            Count { passed: 0, failed: 1 }
        });
        self.total += count;
        self.steps.push((name, start.elapsed(), count));
    }

    fn print(&self) {
        println!();
        for (name, time, count) in &self.steps {
            let sum = format!("{} passed, {} failed", count.passed, count.failed);
            println!("{name:<28} {:>6.1} s   {sum}", time.as_secs_f64());
        }
        println!("\n{} passed, {} failed", self.total.passed, self.total.failed);
    }
}

/// Runs all checks and tests, or with a `filter` the tests alone whose name contains it.
///
/// The last line of its output is `N passed, M failed`; each lint counts as one test.
pub(crate) fn test(filter: Option<&str>) -> Result<()> {
    let mut report = Report::default();
    match filter {
        None => everything(&mut report),
        Some(filter) => match browser_of(filter) {
            Some((browser, part)) => in_browser(&mut report, browser, part),
            None => report.step("cargo test", || cargo_test(&[], Some(filter))),
        },
    }
    report.print();
    if report.total.failed > 0 {
        bail!("not everything passes");
    }
    if report.total.passed == 0 {
        bail!("no test has `{}` in its name", filter.unwrap_or_default());
    }
    Ok(())
}

/// The Python package alone, as it is released.
pub(crate) fn python() -> Result<()> {
    let mut report = Report::default();
    report.step("python", || in_python(Profile::Release));
    report.print();
    if report.total.failed > 0 {
        bail!("not everything passes");
    }
    Ok(())
}

/// What a build of everything takes on disk, in kilobytes; from nothing, with the wheels and browsers beside it.
const DISK_KB: u64 = 10 << 20;

/// Tells where the disk may become full: what fails then does not say so in one place.
fn tell_of_disk() {
    let asked = Command::new("df").args(["-Pk", "."]).current_dir(root()).output();
    let told = asked.map(|it| String::from_utf8_lossy(&it.stdout).into_owned()).unwrap_or_default();
    let free = told.lines().last().and_then(|it| it.split_whitespace().nth(3)).and_then(|it| it.parse().ok());
    let is_built = target_dir().join("debug/isobar").is_file();
    if let Some(free) = free.filter(|&it: &u64| it < DISK_KB && !is_built) {
        let [free, needed] = [free, DISK_KB].map(|it| it >> 20);
        say(&format!("the disk has {free} GB free, and all of this takes up to {needed} GB"));
    }
}

fn everything(report: &mut Report) {
    tell_of_disk();
    report.step("format", || {
        check(cargo().args(["fmt", "--all", "--check"]), "check the format of the sources")
    });
    report.step("tidy", || tidy::tidy().map(|()| Count::one()));
    report.step("typos", || registry::typos().map(|()| Count::one()));
    report.step("deny", || registry::deny().map(|()| Count::one()));
    report.step("install", || install().map(|()| Count::default()));
    report.step("page", || page(Profile::Release).map(|()| Count::one()));
    report.step("clippy", || {
        let mut lint = cargo();
        lint.args(["clippy", "--locked", "--workspace", "--all-targets", "--", "--deny", "warnings"]);
        check(&mut lint, "lint the sources")
    });
    report.step("clippy for the page", || {
        let mut lint = cargo();
        lint.args(["clippy", "--locked", "--package", "isobar-web", "--target", "wasm32-unknown-unknown"]);
        lint.args(["--", "--deny", "warnings"]);
        check(&mut lint, "lint the page as it is compiled for the browser")
    });
    report.step("cargo test", || {
        let mut count = cargo_test(&ALL_OTHERS, None)?;
        count += cargo_test(&["--package", "xtask"], None)?;
        Ok(count)
    });
    report.step("lessons", || {
        crate::lessons(&root().join("static/lessons/first-course")).map(|()| Count::one())
    });
    report.step("python", || in_python(Profile::Dev));
    report.step("nvrtc", || nvrtc::sample().map(|()| Count::one()));
    report.step("fuzz", || fuzz::fuzz(Effort::Fixed).map(|()| Count::one()));
    report.step("end to end", || end_to_end(Browser::Chromium, ""));
    report.step("end to end, Firefox", || end_to_end(Browser::Firefox, ""));
}

/// What drives the page.
#[derive(Clone, Copy, Debug)]
enum Browser {
    Chromium,
    Firefox,
}

/// What `e2e:PART` and `firefox:PART` ask for.
fn browser_of(filter: &str) -> Option<(Browser, &str)> {
    [("e2e", Browser::Chromium), ("firefox", Browser::Firefox)].into_iter().find_map(|(name, browser)| {
        Some((browser, filter.strip_prefix(name)?.trim_start_matches([':', '/'])))
    })
}

/// The scenarios in a browser whose name contains `part`, with what they need.
fn in_browser(report: &mut Report, browser: Browser, part: &str) {
    report.step("install", || install().map(|()| Count::default()));
    report.step("page", || page(Profile::Release).map(|()| Count::one()));
    report.step("end to end", || end_to_end(browser, part));
}

fn install() -> Result<()> {
    install::wasm_target()?;
    install::npm_packages()?;
    install::vulkan()?;
    install::fortran()?;
    install::crates()
}

fn cargo_test(packages: &[&str], filter: Option<&str>) -> Result<Count> {
    let mut tests = cargo();
    tests.args(["test", "--locked", "--no-fail-fast"]).args(packages).args(filter);
    let are_exports_meant = filter.is_none_or(|it| it.contains("export"));
    if are_exports_meant {
        install::fortran()?;
        // Where it is named, a tool that is missing fails the test.
        tests.env("ISOBAR_EXPORT_TOOLS", registry::export()?);
    }
    counted(&mut tests, "run the tests of all crates", Count::add_cargo_line)
}

/// The story of a user, in a real browser against the runner as cargo's dev profile builds it.
fn end_to_end(browser: Browser, part: &str) -> Result<Count> {
    let (variable, program_of_it, artifacts, what) = match browser {
        Browser::Chromium => {
            ("ISOBAR_CHROMIUM", install::chromium()?, ".artifacts/e2e", "drive the page in Chromium")
        }
        Browser::Firefox => {
            ("ISOBAR_FIREFOX", install::firefox()?, ".artifacts/firefox", "drive the page in Firefox")
        }
    };
    // As the tests of all crates were built, the runner among them, so that nothing is compiled twice.
    run(
        cargo().args(["test", "--locked"]).args(ALL_OTHERS).arg("--no-run"),
        "build the runner that the browser talks to",
    )?;
    let mut tests = program("node");
    tests.arg("tests/e2e/run.mjs").arg(part);
    tests.env(variable, program_of_it).env("ISOBAR_BIN", target_dir().join("debug").join("isobar"));
    tests.env("ISOBAR_ARTIFACTS", root().join(artifacts));
    // Its NumPy reads what the page writes.
    tests.env("ISOBAR_PYTHON", registry::export()?.join("bin/python"));
    counted(&mut tests, what, Count::add_closing_line)
}

/// The Python package: its wheel, its types and its tests.
fn in_python(profile: Profile) -> Result<Count> {
    let installed = crate::python::install(profile)?;
    installed.check_types()?;
    let mut count = Count::one();
    count += counted(&mut installed.tests(), "run the tests of the Python package", Count::add_closing_line)?;
    Ok(count)
}

fn check(command: &mut Command, why: &str) -> Result<Count> {
    run(command, why).map(|()| Count::one())
}

/// Runs tests, shows what they print, and counts them by reading it with `add`.
fn counted(command: &mut Command, why: &str, add: impl Fn(&mut Count, &str)) -> Result<Count> {
    let line = spelled(command);
    say(&format!("{why}: {line}"));
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("`{line}` could not be started"))?;
    let mut count = Count::default();
    if let Some(stdout) = child.stdout.take() {
        let mut terminal = std::io::stdout();
        for line in BufReader::new(stdout).lines() {
            let line = line?;
            add(&mut count, &line);
            writeln!(terminal, "{line}")?;
        }
    }
    let status = child.wait()?;
    if !status.success() && count.failed == 0 {
        // It did not compile, or it crashed: no line told so.
        println!("error: `{line}` failed ({status})");
        count.failed = 1;
    }
    Ok(count)
}
