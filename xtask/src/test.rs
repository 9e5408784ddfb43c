//! `cargo xtask test`: installs what the tests need, runs every check and test, and sums up.

pub(crate) mod count;
mod lanes;
mod libtest;
mod report;
mod skips;

use crate::build::{Built, TestProgram, build, build_telling, linting_cargo};
use crate::page::{Profile, page};
use crate::process::{WORKSPACE, built, cargo, output, program, root, run, say, spelled, target_dir};
use crate::{install, nvrtc, registry, tidy};
use anyhow::{Context, Result, bail};
use count::Count;
use lanes::{Chosen, Task, Variables};
use report::{Report, Told};
use std::collections::BTreeMap;
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::slice;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

/// Runs all checks and tests, or with a `filter` the tests alone whose name contains it.
///
/// The last line of its output is `N passed, N failed, N skipped`; each crate that is linted counts as one test.
pub(crate) fn test(filter: Option<&str>) -> Result<()> {
    let mut report = Report::new();
    match filter {
        None => everything(&mut report),
        Some(filter) => match browser_of(filter) {
            Some((browser, part)) => in_browser(&mut report, browser, Profile::Quick, part),
            None => some(&mut report, filter)?,
        },
    }
    ended(report, filter)
}

/// Prints the report, and fails where a test failed or none ran.
fn ended(mut report: Report, filter: Option<&str>) -> Result<()> {
    if filter.is_none() && env::var_os("CI").is_some() {
        report.hold_skips();
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

/// `cargo xtask check`: what tells within minutes whether a change holds; nothing of page or browser.
pub(crate) fn check() -> Result<()> {
    let mut report = Report::new();
    let variables = variables(false)?;
    let (tasks, queue) = mpsc::channel();
    let mut alone = Vec::new();
    // The largest crate is built last, with one processor: the tests of others have the other one meanwhile.
    let (ran, time) = thread::scope(|scope| {
        let of_sources = scope.spawn(sources);
        let lanes = scope.spawn(|| lanes::run_as_they_come(queue, n_lanes(), &variables));
        report.step("build and lint", || {
            let mut take = |program: &TestProgram| {
                let [beside, more] = lanes::shares(slice::from_ref(program), Chosen::FirstShards)?;
                beside.into_iter().for_each(|it| drop(tasks.send(Task::Share(it))));
                alone.extend(more);
                Ok(())
            };
            let mut units = linting_cargo();
            units.args(["test", "--no-run", "--locked", "--lib", "--bin", "xtask"]).args(WORKSPACE);
            let why = "build and lint all libraries and the chores with their unit tests";
            Ok(lints(&build_telling(&mut units, why, &mut take)?))
        });
        drop(tasks);
        report.join(of_sources.join().expect("the thread of the sources does not panic"));
        let start = Instant::now();
        (lanes.join().expect("a lane does not panic"), start.elapsed())
    });
    report.add("tests that were left", time, Told::default());
    run_alone(&mut report, ran, alone, &variables);
    ended(report, None)
}

/// `cargo xtask release`: what is held before a version goes out, beside what `test` holds.
///
/// Everything that `test` leaves to it is a step here: see `docs/contributing.md`.
pub(crate) fn release() -> Result<()> {
    let mut report = Report::new();
    report.step("install", || install().map(|()| Count::default()));
    report.step("page as it is released", || page(Profile::Release).map(|_| Count::one()));
    report.step("sizes of the page", || crate::size::size().map(|()| Count::one()));
    report.step("program as it is released", || crate::binary::binary().map(|()| Count::one()));
    in_browser(&mut report, Browser::Chromium, Profile::Release, "");
    in_browser(&mut report, Browser::Firefox, Profile::Release, "");
    report.step("python as it is released", || in_python(Profile::Release));
    report
        .step("fuzz, instrumented", || crate::fuzz::fuzz(crate::fuzz::Effort::Fixed).map(|()| Count::one()));
    report.step("20,000 seeds", || crate::generated(20_000).map(|()| Count::one()));
    report.step("soak", || crate::endure::soak(30, false).map(|()| Count::one()));
    ended(report, None)
}

/// The Python package alone: with what the tests build, or as it is released.
pub(crate) fn python(profile: Profile) -> Result<()> {
    let mut report = Report::new();
    report.step("python", || in_python(profile));
    ended(report, Some("python"))
}

/// The disk space of a build of everything, in kilobytes. It counts from nothing, with the wheels and
/// browsers.
const DISK_KB: u64 = 10 << 20;

/// Says so where the disk may become full: failures then do not say so in one place.
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
    report.join(sources());
    report.step("install", || install().map(|()| Count::default()));
    let mut programs = Vec::new();
    // The page uses another folder of the target, and takes processors that build and tests leave idle.
    thread::scope(|scope| {
        let page = scope.spawn(|| {
            let start = Instant::now();
            (page(Profile::Quick).map(|it| lints(&it)), start.elapsed())
        });
        report.step("build and lint", || {
            let all = build_all()?;
            programs.clone_from(&all.test_programs);
            Ok(lints(&all))
        });
        let others: Vec<Task<'_>> = vec![
            Task::Other("python", Box::new(|| in_python(Profile::Quick))),
            Task::Other("nvrtc", Box::new(|| nvrtc::sample().map(|()| Count::one().into()))),
            Task::Other(
                "lessons",
                Box::new(|| {
                    crate::lessons(&root().join("static/lessons/first-course")).map(|()| Count::one().into())
                }),
            ),
        ];
        let page_is_made = |report: &mut Report| {
            let (made, time) = page.join().expect("the thread of the page does not panic");
            let told = made.unwrap_or_else(|error| {
                println!("error: page: {error:#}");
                Count::failure()
            });
            report.add("page, and lint it", time, told.into());
        };
        let ready = variables(true).and_then(|it| Ok((it, lanes::shares(&programs, Chosen::All)?)));
        match ready {
            Ok((variables, shares)) => run_shares(report, shares, &variables, others, page_is_made),
            Err(error) => report.step("tests", || -> Result<Count> { Err(error) }),
        }
    });
    report.step("end to end", || end_to_end(Browser::Chromium, ""));
}

/// The steps that need no build.
fn sources() -> Report {
    let mut report = Report::new();
    report.step("format", || {
        check_by(cargo().args(["fmt", "--all", "--check"]), "check the format of the sources")
    });
    report.step("tidy", || tidy::tidy().map(|()| Count::one()));
    report.step("typos", || registry::typos().map(|()| Count::one()));
    report.step("deny", || registry::deny().map(|()| Count::one()));
    report
}

/// All targets of all crates: built once, linted on the way.
fn build_all() -> Result<Built> {
    let mut all = linting_cargo();
    all.args(["test", "--no-run", "--locked", "--all-targets"]).args(WORKSPACE);
    build(&mut all, "build and lint all crates with their tests, examples and benchmarks")
}

/// The number of crates with and without lints.
fn lints(built: &Built) -> Count {
    Count::of(built.n_clean, built.n_linted)
}

/// The tests whose name contains `filter`, and no page.
fn some(report: &mut Report, filter: &str) -> Result<()> {
    let mut command = linting_cargo();
    command.args(["test", "--no-run", "--locked", "--tests"]).args(WORKSPACE);
    let all = build(&mut command, "build all crates with their tests")?;
    let shares = lanes::shares(&all.test_programs, Chosen::Named(filter))?;
    let needs_tools = shares.iter().flatten().any(|it| it.has("export"));
    run_shares(report, shares, &variables(needs_tools)?, Vec::new(), |_| {});
    Ok(())
}

/// The environment variables that tests read; `has_tools` where exported projects are built.
fn variables(has_tools: bool) -> Result<Variables> {
    let mut variables = Variables::new();
    if has_tools {
        install::fortran()?;
        // Where it is named, a tool that is missing fails the test.
        variables.push(("ISOBAR_EXPORT_TOOLS", registry::export()?.into()));
    }
    if let Some(window) = window() {
        variables.push(("ISOBAR_SEED_WINDOW", window.into()));
    }
    Ok(variables)
}

/// So many seeds of generated stencils are tried beside those that each run has.
const WINDOW_SEEDS: u64 = 20;

/// Seeds that the committed tree chooses: each commit tries others, and always the same. None outside of a checkout.
fn window() -> Option<String> {
    let tree = output(program("git").args(["rev-parse", "HEAD^{tree}"])).ok()?;
    let first = 1_000_000 + u64::from_str_radix(tree.get(..8)?, 16).ok()? % 100_000_000;
    Some(format!("{first}..{}", first + WINDOW_SEEDS))
}

/// As many lanes as there are processors, at least two: a test that waits leaves its processor to another one.
fn n_lanes() -> usize {
    let asked = env::var("ISOBAR_LANES").ok().and_then(|it| it.parse().ok());
    asked.unwrap_or_else(|| thread::available_parallelism().map_or(2, |it| it.get().max(2)))
}

/// Runs shares of tests and other tasks beside each other, then those that run alone, and reports each package. In
/// between, `quiet` waits for all that still works beside.
fn run_shares(
    report: &mut Report,
    [beside, alone]: [Vec<lanes::Share>; 2],
    variables: &Variables,
    others: Vec<Task<'_>>,
    quiet: impl FnOnce(&mut Report),
) {
    let start = Instant::now();
    // The others have a lane of their own: they often wait.
    let ran = thread::scope(|scope| {
        let others = scope.spawn(|| lanes::run(others, 1, variables));
        let mut ran = lanes::run(beside.into_iter().map(Task::Share).collect(), n_lanes(), variables);
        ran.extend(others.join().expect("a lane does not panic"));
        ran
    });
    report.add("tests beside each other", start.elapsed(), Told::default());
    quiet(report);
    run_alone(report, ran, alone, variables);
}

/// Runs what has the machine for itself, and reports each package with what ran of it before.
fn run_alone(report: &mut Report, mut ran: Vec<lanes::Ran>, alone: Vec<lanes::Share>, variables: &Variables) {
    let start = Instant::now();
    ran.extend(lanes::run(alone.into_iter().map(Task::Share).collect(), 1, variables));
    report.add("tests alone", start.elapsed(), Told::default());
    let mut sums = BTreeMap::new();
    for it in ran {
        report.add_times(it.times.into_iter().map(|(test, time)| (format!("{} {test}", it.name), time)));
        let (time, told): &mut (_, Told) = sums.entry(it.name).or_default();
        *time += it.time;
        told.add(it.told);
    }
    for (name, (time, told)) in sums {
        report.add(&format!("  {name}"), time, told);
    }
}

/// The browser that runs the page.
#[derive(Clone, Copy, Debug)]
enum Browser {
    Chromium,
    Firefox,
}

/// The browser and the part that `e2e:PART` and `firefox:PART` ask for.
fn browser_of(filter: &str) -> Option<(Browser, &str)> {
    [("e2e", Browser::Chromium), ("firefox", Browser::Firefox)].into_iter().find_map(|(name, browser)| {
        Some((browser, filter.strip_prefix(name)?.trim_start_matches([':', '/'])))
    })
}

/// The scenarios in a browser whose name contains `part`, with what they need.
fn in_browser(report: &mut Report, browser: Browser, profile: Profile, part: &str) {
    report.step("install", || install().map(|()| Count::default()));
    report.step("page, and lint it", || page(profile).map(|it| lints(&it)));
    let name = match browser {
        Browser::Chromium => "end to end",
        Browser::Firefox => "end to end, Firefox",
    };
    report.step(name, || end_to_end(browser, part));
}

fn install() -> Result<()> {
    install::wasm_target()?;
    install::npm_packages()?;
    install::vulkan()?;
    install::fortran()?;
    install::chromium()?;
    install::crates()
}

/// The story of a user, in a real browser against the runner as cargo's dev profile builds it.
fn end_to_end(browser: Browser, part: &str) -> Result<Told> {
    let (variable, program_of_it, artifacts, what) = match browser {
        Browser::Chromium => {
            ("ISOBAR_CHROMIUM", install::chromium()?, ".artifacts/e2e", "drive the page in Chromium")
        }
        Browser::Firefox => {
            ("ISOBAR_FIREFOX", install::firefox()?, ".artifacts/firefox", "drive the page in Firefox")
        }
    };
    built("isobar")?;
    let mut tests = program("node");
    tests.arg("tests/e2e/run.mjs").arg(part);
    tests.env(variable, program_of_it).env("ISOBAR_BIN", target_dir().join("debug").join("isobar"));
    tests.env("ISOBAR_ARTIFACTS", root().join(artifacts));
    // Its NumPy reads what the page writes.
    tests.env("ISOBAR_PYTHON", registry::export()?.join("bin/python"));
    counted(&mut tests, what)
}

/// The Python package: its wheel, its types and its tests.
fn in_python(profile: Profile) -> Result<Told> {
    let installed = crate::python::install(profile)?;
    installed.check_types()?;
    let mut told = Told::from(Count::one());
    told.add(counted(&mut installed.tests(), "run the tests of the Python package")?);
    Ok(told)
}

fn check_by(command: &mut Command, why: &str) -> Result<Count> {
    run(command, why).map(|()| Count::one())
}

/// Runs tests whose last line is `N passed, N failed, N skipped`, and shows what they print.
fn counted(command: &mut Command, why: &str) -> Result<Told> {
    let line = spelled(command);
    say(&format!("{why}: {line}"));
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("`{line}` could not be started"))?;
    let mut told = Told::default();
    if let Some(stdout) = child.stdout.take() {
        let mut terminal = std::io::stdout();
        for line in BufReader::new(stdout).lines() {
            let line = line?;
            told.count.add_closing_line(&line);
            if let Some(skip) = line.strip_prefix("skipped: ") {
                told.skips.push(skip.to_owned());
            }
            writeln!(terminal, "{line}")?;
        }
    }
    let status = child.wait()?;
    if !status.success() && told.count.failed == 0 {
        // It crashed: no line told so.
        println!("error: `{line}` failed ({status})");
        told.count.failed = 1;
    }
    Ok(told)
}
