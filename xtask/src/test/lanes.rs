//! Runs test programs in lanes: each lane takes the next share of tests, and the slow ones come first.
//!
//! A share has the tests of one module of one program, so that tests that wait for each other keep one process. Shards of
//! a loop are shares of their own.
//! Tests that `tests/alone.txt` names run behind all others, with nothing beside them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::count::Count;
use super::libtest::Outcome;
use super::report::Told;
use crate::build::TestProgram;
use crate::process::{output, root};

/// Tests that measure time, or count what the machine has: they have it for themselves.
const ALONE: &str = "tests/alone.txt";

/// Programs whose tests take longest, in this order before all others.
const SLOW_FIRST: [&str; 7] = [
    "isobar-tests",
    "isobar-runner",
    "isobar-fuzz-targets",
    "isobar-hostile",
    "isobar-worker-second",
    "isobar-web",
    "isobar-runtime",
];

/// Variables of the environment that tests read.
pub(super) type Variables = Vec<(&'static str, OsString)>;

/// The tests of a run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Chosen<'a> {
    All,
    /// Of each loop that is cut into shards, the first one: it has cases of each kind.
    FirstShards,
    /// Those whose name contains this.
    Named(&'a str),
}

impl Chosen<'_> {
    fn has(self, test: &str) -> bool {
        match self {
            Self::All => true,
            Self::FirstShards => !is_shard(test) || test.ends_with("::shard_1"),
            Self::Named(part) => test.contains(part),
        }
    }
}

/// Tests of one module of a program.
#[derive(Clone, Debug)]
pub(super) struct Share {
    program: TestProgram,
    module: String,
    tests: Vec<String>,
}

/// All shares whose tests are chosen: first those that run beside each other, then those that run alone.
///
/// # Errors
///
/// Where a program does not list its tests, or a line of `tests/alone.txt` names none.
pub(super) fn shares(programs: &[TestProgram], chosen: Chosen<'_>) -> Result<[Vec<Share>; 2]> {
    let text = fs::read_to_string(root().join(ALONE)).context(ALONE)?;
    let alone = alone(&text)?;
    let mut used = vec![false; alone.len()];
    let mut made = [Vec::new(), Vec::new()];
    for program in programs {
        let mut modules: [BTreeMap<String, Vec<String>>; 2] = Default::default();
        for test in tests_of(program)? {
            let at = alone.iter().position(|it| it.0 == program.package && test.starts_with(it.1));
            if let Some(at) = at {
                used[at] = true;
            }
            if chosen.has(&test) {
                modules[usize::from(at.is_some())].entry(module_of(&test)).or_default().push(test);
            }
        }
        for (made, modules) in made.iter_mut().zip(modules) {
            let share = |(module, tests)| Share { program: program.clone(), module, tests };
            made.extend(modules.into_iter().map(share));
        }
    }
    // `check` has unit tests alone.
    let has_all = programs.iter().any(|it| it.kind == "test");
    if let Some(dead) = used.iter().position(|it| !it).filter(|_| has_all) {
        bail!("{ALONE}: no test of {} starts with `{}`", alone[dead].0, alone[dead].1);
    }
    made.iter_mut().for_each(|it| it.sort_by_key(Share::rank));
    Ok(made)
}

/// The module whose tests run in one process: the first of the name, and for a shard of a loop all of it.
fn module_of(test: &str) -> String {
    if is_shard(test) {
        return test.to_owned();
    }
    let (path, _) = test.rsplit_once("::").unwrap_or(("", test));
    path.split_once("::").map_or(path, |it| it.0).to_owned()
}

/// Whether a test is a part of a loop that is cut into several.
fn is_shard(test: &str) -> bool {
    test.rsplit("::").next().is_some_and(|it| it.starts_with("shard_"))
}

/// Package and start of the name, of each line.
fn alone(text: &str) -> Result<Vec<(&str, &str)>> {
    let lines = text.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with('#'));
    lines
        .map(|line| {
            let (names, _) =
                line.split_once(" # ").with_context(|| format!("{ALONE}: `{line}` has no reason"))?;
            names.trim().split_once(' ').with_context(|| format!("{ALONE}: `{line}` names no test"))
        })
        .collect()
}

fn tests_of(program: &TestProgram) -> Result<Vec<String>> {
    let listed = output(command(program).args(["--list", "--format", "terse"]))?;
    Ok(listed.lines().filter_map(|it| it.strip_suffix(": test")).map(str::to_owned).collect())
}

fn command(program: &TestProgram) -> Command {
    let mut command = Command::new(&program.executable);
    command.current_dir(&program.folder).env("CARGO_MANIFEST_DIR", &program.folder);
    command
}

impl Share {
    /// Whether one of its tests has this in its name.
    pub(super) fn has(&self, part: &str) -> bool {
        self.tests.iter().any(|it| it.contains(part))
    }

    /// How it is called: the package, and what it is of that.
    fn title(&self) -> String {
        let Self { program: TestProgram { package, kind, .. }, module, .. } = self;
        format!("{package} {kind} {module}")
    }

    fn rank(&self) -> (usize, bool) {
        let rank = SLOW_FIRST.iter().position(|it| *it == self.program.package).unwrap_or(SLOW_FIRST.len());
        (rank, self.program.kind == "lib")
    }

    /// Runs its tests, one after the other, and prints how they went.
    fn told(&self, variables: &Variables) -> Outcome {
        let start = Instant::now();
        let mut outcome = Outcome::default();
        if let Err(error) = self.read_into(&mut outcome, variables) {
            outcome.read(&format!("error: {}: {error:#}", self.title()), Instant::now(), Instant::now());
            outcome.end(false);
        }
        tell(self, start.elapsed(), &outcome);
        outcome
    }

    fn read_into(&self, outcome: &mut Outcome, variables: &Variables) -> Result<()> {
        let mut command = command(&self.program);
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        command.arg("--exact").args(&self.tests).args(["--show-output", "--test-threads", "1"]);
        // Messages of panics, and programs that tests start.
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let errors = child.stderr.take().map(|it| {
            thread::spawn(move || BufReader::new(it).split(b'\n').map_while(Result::ok).collect::<Vec<_>>())
        });
        let mut before = Instant::now();
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).split(b'\n') {
                let now = Instant::now();
                outcome.read(&String::from_utf8_lossy(&line?), before, now);
                before = now;
            }
        }
        let status = child.wait()?;
        outcome.end(status.success());
        if !status.success() {
            let lines = errors.and_then(|it| it.join().ok()).unwrap_or_default();
            for line in lines {
                outcome.text.push_str(&String::from_utf8_lossy(&line));
                outcome.text.push('\n');
            }
            outcome.text.push_str(&format!("the program ended with {status}\n"));
        }
        Ok(())
    }
}

/// The next task of a lane.
pub(super) enum Task<'a> {
    Share(Share),
    /// A step of another kind, by its name. It prints by itself.
    Other(&'static str, Box<dyn FnOnce() -> Result<Told> + Send + 'a>),
}

/// A task that ran.
#[derive(Debug)]
pub(super) struct Ran {
    /// The package of a share, or the name of the step.
    pub(super) name: String,
    pub(super) time: Duration,
    pub(super) told: Told,
    /// How long single tests took.
    pub(super) times: Vec<(String, Duration)>,
}

impl Task<'_> {
    fn run(self, variables: &Variables) -> Ran {
        let start = Instant::now();
        match self {
            Self::Share(share) => {
                let Outcome { count, skips, finds, times, .. } = share.told(variables);
                let name = share.program.package.clone();
                Ran { name, time: start.elapsed(), told: Told { count, skips, finds }, times }
            }
            Self::Other(name, work) => {
                let told = work().unwrap_or_else(|error| {
                    println!("error: {name}: {error:#}");
                    Count::failure().into()
                });
                Ran { name: name.to_owned(), time: start.elapsed(), told, times: Vec::new() }
            }
        }
    }
}

/// Runs tasks in so many lanes, and tells of each how it went.
pub(super) fn run(tasks: Vec<Task<'_>>, n_lanes: usize, variables: &Variables) -> Vec<Ran> {
    let (sender, queue) = mpsc::channel();
    tasks.into_iter().for_each(|it| drop(sender.send(it)));
    drop(sender);
    run_as_they_come(queue, n_lanes, variables)
}

/// The same for tasks that are found one by one, until there will be no other.
pub(super) fn run_as_they_come(tasks: Receiver<Task<'_>>, n_lanes: usize, variables: &Variables) -> Vec<Ran> {
    let queue = Mutex::new(tasks);
    let next = || queue.lock().expect("no lane panics while it takes a task").recv().ok();
    thread::scope(|scope| {
        let lane = || {
            let mut ran = Vec::new();
            while let Some(task) = next() {
                ran.push(task.run(variables));
            }
            ran
        };
        let lanes: Vec<_> = (0..n_lanes).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().flat_map(|it| it.join().expect("a lane does not panic")).collect()
    })
}

fn tell(share: &Share, time: Duration, outcome: &Outcome) {
    let (title, count) = (share.title(), outcome.count);
    let word = if count.failed > 0 { "FAILED" } else { "ok" };
    let mut text = format!("{word:<7} {title} ({count}, {:.1} s)\n", time.as_secs_f64());
    if count.failed > 0 || !outcome.finds.is_empty() {
        text.push_str(&outcome.text);
    }
    for skip in &outcome.skips {
        text.push_str(&format!("        skipped: {skip}\n"));
    }
    // As one piece: other lanes tell of theirs.
    print!("{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_run_by_themselves_and_other_tests_with_their_module() {
        assert_eq!(module_of("oir::passes::tests::one"), "oir");
        assert_eq!(module_of("oir::one"), "oir");
        assert_eq!(module_of("gpu::generated::shard_2"), "gpu::generated::shard_2");
        assert_eq!(module_of("gpu::generated::window_of_the_tree"), "gpu");
    }

    #[test]
    fn a_change_is_checked_with_the_first_shard_of_each_loop() {
        let all =
            ["gpu::one", "gpu::generated::shard_1", "gpu::generated::shard_2", "gpu::generated::shard_11"];
        let of = |chosen: Chosen<'_>| all.into_iter().filter(|it| chosen.has(it)).collect::<Vec<_>>();
        assert_eq!(of(Chosen::FirstShards), ["gpu::one", "gpu::generated::shard_1"]);
        assert_eq!(of(Chosen::Named("shard_2")), ["gpu::generated::shard_2"]);
        assert_eq!(of(Chosen::All), all);
    }

    #[test]
    fn a_line_of_what_runs_alone_has_a_package_a_name_and_a_reason() {
        let text = "# About.\n\nisobar-runner soak:: # it counts threads\n";
        assert_eq!(alone(text).expect("it is well formed"), [("isobar-runner", "soak::")]);
        assert!(alone("isobar-runner soak::\n").is_err());
        assert!(alone("isobar-runner # it counts threads\n").is_err());
    }
}
