//! `cargo xtask equivalence`: generated stencils through every level, every pass and every interpreter, or on the back
//! ends of the runner.
#![expect(clippy::print_stdout, reason = "a command-line program talks to its user on stdout")]

use std::io::{BufRead, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use isobar_runner::backends::Backend;
use isobar_tests::against::native_gives_the_bits_of_debug;
use isobar_tests::emulation::{hold_all, hold_emulated};
use isobar_tests::fence::Fence;
use isobar_tests::gpu::written::{called, subjects};
use isobar_tests::levels::{Held, hold, hold_kernels};
use isobar_tests::native::{Workplace, hold_native, named};
use isobar_tests::programs::{hold_on_ranks, hold_program_levels, hold_results_in_code, hold_whole_program};
use isobar_tests::schedules::hold as hold_schedules;
use isobar_tests::shared::hold_shared;
use serde::{Deserialize, Serialize};

/// Guards memory while schedules are held that somebody could have written.
#[global_allocator]
static MEMORY: Fence = Fence;

/// Deep nesting costs stack; the compiler's own limits see to it that this is enough.
const STACK_BYTES: usize = 256 * 1024 * 1024;
/// After so many failures the rest tells little more.
const MOST_FAILURES: u64 = 20;
/// After so many stencils it is told that they are done.
const TOLD: u64 = 1000;
/// A process holds so many stencils: compiled code stays loaded in it.
const SEEDS_OF_PROCESS: u64 = 400;

const USAGE: &str = "equivalence FIRST_SEED COUNT [--jobs N] [--backend rayon|openmp|wgpu|cuda|cuda-emulation]... [--arrays own|shared] [--levels all|kernels|programs|results|whole|ranks]
equivalence FIRST_SEED COUNT [--jobs N] --schedules drawn --backend rayon
equivalence written [--backend wgpu|cuda|cuda-emulation]... [--in FOLDER]... [--with FOLDER]...";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match &arguments[..] {
        [what, backend, given] if what == "hold" => {
            on_large_stack(|| serve(backend, Given::named(given)?).map(|()| true))
        }
        [what, options @ ..] if what == "written" => on_large_stack(|| on_written(options)),
        _ => Options::of(&arguments).and_then(run),
    };
    match outcome {
        Ok(is_fine) => ExitCode::from(u8::from(!is_fine)),
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Which seeds are checked, on which back ends, and by how many jobs at the same time.
struct Options {
    first: u64,
    count: u64,
    jobs: usize,
    /// Of the runner; none where all levels are held.
    backends: Vec<Backend>,
    /// Whether CUDA is held as a CPU runs it.
    emulates: bool,
    given: Given,
    /// Where no back end is held.
    levels: fn(u64) -> Result<Held>,
}

/// The arrays and the schedule that a stencil is given on a back end.
#[derive(Clone, Copy, Debug)]
enum Given {
    /// An array for each parameter.
    Own,
    /// Several parameters the same array.
    Shared,
    /// A schedule that somebody could have written, and arrays whose ends are guarded.
    Schedules,
}

impl Given {
    fn named(name: &str) -> Result<Self> {
        match name {
            "own" => Ok(Self::Own),
            "shared" => Ok(Self::Shared),
            "schedules" => Ok(Self::Schedules),
            _ => bail!(USAGE),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Shared => "shared",
            Self::Schedules => "schedules",
        }
    }
}

impl Options {
    fn of(arguments: &[String]) -> Result<Self> {
        let mut words = arguments.iter();
        let mut number = || words.next().context(USAGE)?.parse().context(USAGE);
        let (first, count) = (number()?, number()?);
        let mut jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let (mut backends, mut given, mut emulates) = (Vec::new(), Given::Own, false);
        let mut levels: fn(u64) -> Result<Held> = hold;
        while let Some(option) = words.next() {
            let value = words.next().context(USAGE)?;
            match option.as_str() {
                "--jobs" => jobs = value.parse().context(USAGE)?,
                "--backend" if value == EMULATION => emulates = true,
                "--backend" => backends.push(named(value)?),
                "--levels" if value == "all" => levels = hold,
                "--levels" if value == "kernels" => levels = hold_kernels,
                "--levels" if value == "programs" => levels = hold_program_levels,
                "--levels" if value == "results" => levels = hold_results_in_code,
                "--levels" if value == "whole" => levels = hold_whole_program,
                "--levels" if value == "ranks" => levels = hold_on_ranks,
                "--schedules" if value == "drawn" => given = Given::Schedules,
                "--arrays" => given = Given::named(value)?,
                _ => bail!(USAGE),
            }
        }
        Ok(Self { first, count, jobs: jobs.max(1), backends, emulates, given, levels })
    }
}

/// The name of CUDA on a CPU.
const EMULATION: &str = "cuda-emulation";
/// So many stencils are one program.
const STENCILS_OF_PROGRAM: usize = 20;

fn run(options: Options) -> Result<bool> {
    let is_fine = !options.emulates || on_emulation(&options)?;
    if options.backends.is_empty() && options.emulates {
        return Ok(is_fine);
    }
    if options.backends.is_empty() {
        return Ok(on_levels(&options));
    }
    let workplace = Workplace::temporary()?;
    let mut is_fine = is_fine;
    for &backend in &options.backends {
        workplace.check(backend).map_err(anyhow::Error::msg)?;
        is_fine &= on_backend(&options, backend);
    }
    Ok(is_fine)
}

/// The results so far, shared by all threads.
#[derive(Debug, Default)]
struct Found {
    next: AtomicU64,
    held: AtomicU64,
    runs: AtomicU64,
    failures: AtomicU64,
    other_traps: AtomicU64,
}

impl Found {
    /// The next seed that nobody has taken, unless enough failed.
    fn next(&self, options: &Options) -> Option<u64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let goes_on = number < options.count && self.failures.load(Ordering::Relaxed) < MOST_FAILURES;
        goes_on.then(|| options.first + number)
    }

    fn add(&self, seed: u64, held: Result<Held>) {
        let n_held = 1 + self.held.fetch_add(1, Ordering::Relaxed);
        if n_held.is_multiple_of(TOLD) {
            println!("{n_held} stencils are held");
        }
        match held {
            Ok(held) => {
                self.runs.fetch_add(held.runs, Ordering::Relaxed);
                self.other_traps.fetch_add(held.other_traps, Ordering::Relaxed);
                if held.other_traps > 0 {
                    println!("seed {seed}: another statement than that of `debug` ends the run");
                }
            }
            Err(wrong) => {
                self.failures.fetch_add(1, Ordering::Relaxed);
                println!("seed {seed}: {wrong:#}\n");
            }
        }
    }

    /// Prints how many were held; whether nothing failed.
    fn tell(self, options: &Options, how: &str, begun: Instant) -> bool {
        let (held, first, failures) = (self.held.into_inner(), options.first, self.failures.into_inner());
        println!(
            "{held} generated stencils from seed {first}{how}: {} runs, {failures} failures, {} runs that another \
             statement ends, {} s",
            self.runs.into_inner(),
            self.other_traps.into_inner(),
            begun.elapsed().as_secs()
        );
        failures == 0
    }
}

/// Prints where levels differ, and how many stencils were held.
fn on_levels(options: &Options) -> bool {
    let (begun, found) = (Instant::now(), Found::default());
    let work = || {
        while let Some(seed) = found.next(options) {
            found.add(seed, without_panic(|| (options.levels)(seed)));
        }
    };
    std::thread::scope(|scope| {
        let start = |_| std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        let threads: Vec<_> = (0..options.jobs).map(start).collect();
        if threads.iter().all(Result::is_err) {
            work();
        }
    });
    found.tell(options, "", begun)
}

/// Prints where CUDA, as a CPU runs it, differs from `debug`, and how many stencils were held.
fn on_emulation(options: &Options) -> Result<bool> {
    let (begun, found) = (Instant::now(), Found::default());
    let home = std::env::temp_dir().join(format!("isobar-emulation-{}", std::process::id()));
    let work = |job: usize| -> Result<()> {
        let folder = home.join(job.to_string());
        std::fs::create_dir_all(&folder)?;
        loop {
            let seeds: Vec<u64> =
                std::iter::from_fn(|| found.next(options)).take(STENCILS_OF_PROGRAM).collect();
            if seeds.is_empty() {
                return Ok(());
            }
            match catch_unwind(AssertUnwindSafe(|| hold_emulated(&seeds, &folder))) {
                Ok(answers) => answers.into_iter().for_each(|(seed, held)| found.add(seed, held)),
                // One of them.
                Err(_) => seeds.iter().for_each(|&seed| {
                    let alone =
                        || hold_emulated(&[seed], &folder).pop().map_or(Ok(Held::default()), |it| it.1);
                    found.add(seed, without_panic(alone));
                }),
            }
        }
    };
    let done: Result<()> = std::thread::scope(|scope| {
        let work = &work;
        let start =
            |job| std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || work(job));
        let threads: Vec<_> = (0..options.jobs).map(start).collect::<std::io::Result<_>>()?;
        threads.into_iter().try_for_each(|it| it.join().unwrap_or_else(|_| bail!("it panicked")))
    });
    std::fs::remove_dir_all(&home)?;
    done?;
    Ok(found.tell(options, &format!(" on `{EMULATION}`"), begun))
}

/// Holds what people wrote on GPUs: each stencil in the form that is chosen, and in one form in turn.
fn on_written(options: &[String]) -> Result<bool> {
    let (mut backends, mut folders, mut libraries) = (Vec::new(), Vec::new(), Vec::new());
    for option in options.chunks(2) {
        let [option, value] = option else { bail!(USAGE) };
        match option.as_str() {
            "--backend" => backends.push(value.clone()),
            "--in" => folders.push(PathBuf::from(value)),
            "--with" => libraries.push(PathBuf::from(value)),
            _ => bail!(USAGE),
        }
    }
    let subjects = subjects(&folders, &libraries)?;
    let mut is_fine = true;
    for name in &backends {
        let (begun, mut runs, mut failures, mut other_traps) = (Instant::now(), 0, 0, 0);
        let workplace = Workplace::temporary()?;
        let native = if name == EMULATION { None } else { Some(named(name)?) };
        if let Some(backend) = native {
            workplace.check(backend).map_err(anyhow::Error::msg)?;
        }
        let mut left = (0..).zip(subjects.iter().flat_map(|it| [(it, false), (it, true)]));
        loop {
            let mut answers = Vec::new();
            let mut all = Vec::new();
            for (number, (subject, is_forced)) in left.by_ref().take(STENCILS_OF_PROGRAM) {
                match catch_unwind(AssertUnwindSafe(|| called(subject, number, is_forced))) {
                    Ok(Ok(it)) => all.push(it),
                    Ok(Err(why)) => answers.push((number, Err(why))),
                    Err(_) => answers.push((number, Err(anyhow!("{} crashes the compiler", subject.name)))),
                }
            }
            if all.is_empty() && answers.is_empty() {
                break;
            }
            match native {
                None => answers.extend(hold_all(&all, workplace.setting().temporary)),
                Some(backend) => answers.extend(all.iter().map(|it| {
                    let held = || {
                        let setting = workplace.setting();
                        native_gives_the_bits_of_debug(backend, &it.compilation, &it.launches, setting)
                    };
                    (it.number, without_panic(held).with_context(|| it.about.clone()))
                })),
            }
            for (number, held) in answers {
                match held {
                    Ok(held) => {
                        runs += held.runs;
                        other_traps += held.other_traps;
                    }
                    Err(why) => {
                        failures += 1;
                        println!("{number}: {why:#}\n");
                    }
                }
            }
        }
        println!(
            "{} stencils that people wrote, in two forms each, on `{name}`: {runs} runs, {failures} failures, \
             {other_traps} runs that another statement ends, {} s",
            subjects.len(),
            begun.elapsed().as_secs()
        );
        is_fine &= failures == 0;
    }
    Ok(is_fine)
}

/// Prints where a back end differs from `debug`, and how many stencils were compared. Compiled code runs in
/// processes of its own, so that a crash is reported by its seed.
fn on_backend(options: &Options, backend: Backend) -> bool {
    let (begun, found) = (Instant::now(), Found::default());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                let mut holder = None;
                let mut left = 0;
                while let Some(seed) = found.next(options) {
                    if left == 0 {
                        (holder, left) = (None, SEEDS_OF_PROCESS);
                    }
                    left -= 1;
                    let held = ask(&mut holder, (backend, options.given), seed);
                    if held.is_err() {
                        // It may have ended.
                        left = 0;
                    }
                    found.add(seed, held.and_then(|it| it.into_result()));
                }
            });
        }
    });
    found.tell(options, &format!(" on `{}`", backend.name()), begun)
}

/// A process that holds stencils, and the pipes to it.
struct Holder {
    process: Child,
    /// None once nothing more is asked.
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Holder {
    fn start((backend, given): (Backend, Given)) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["hold", backend.name(), given.name()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let answers = BufReader::new(process.stdout.take().context("it has a pipe")?);
        Ok(Self { questions: process.stdin.take(), answers, process })
    }

    /// The answer's line; empty where the process ended instead.
    fn answer(&mut self, seed: u64) -> Result<String> {
        let questions = self.questions.as_mut().context("it has a pipe")?;
        writeln!(questions, "{seed}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(line)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // Without questions it ends, and removes its files.
        self.questions = None;
        let _ = self.process.wait();
    }
}

/// The answer of a process about a seed.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Held { runs: u64, other_traps: u64 },
    Differs(String),
}

impl Answer {
    fn into_result(self) -> Result<Held> {
        match self {
            Answer::Held { runs, other_traps } => Ok(Held { runs, other_traps }),
            Answer::Differs(what) => Err(anyhow!(what)),
        }
    }
}

fn ask(holder: &mut Option<Holder>, what: (Backend, Given), seed: u64) -> Result<Answer> {
    let asked = match holder {
        Some(it) => it,
        None => holder.insert(Holder::start(what)?),
    };
    let line = asked.answer(seed)?;
    if line.is_empty() {
        bail!("the process ended: {}", asked.process.wait()?);
    }
    Ok(serde_json::from_str(&line)?)
}

/// Answers for seeds on stdin, until there is none any more.
fn serve(name: &str, given: Given) -> Result<()> {
    let backend = named(name)?;
    let workplace = Workplace::temporary()?;
    for line in std::io::stdin().lines() {
        let seed = line?.parse()?;
        let held = || match given {
            Given::Own => hold_native(seed, backend, &workplace),
            Given::Schedules => hold_schedules(seed, backend, workplace.setting()),
            Given::Shared => hold_shared(seed, backend, &workplace).map(Held::from),
        };
        let answer = match without_panic(held) {
            Ok(Held { runs, other_traps }) => Answer::Held { runs, other_traps },
            Err(wrong) => Answer::Differs(format!("{wrong:#}")),
        };
        workplace.forget()?;
        println!("{}", serde_json::to_string(&answer)?);
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn on_large_stack<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work)?;
        thread.join().unwrap_or_else(|_| bail!("it panicked"))
    })
}

fn without_panic(held: impl FnOnce() -> Result<Held>) -> Result<Held> {
    match catch_unwind(AssertUnwindSafe(held)) {
        Ok(outcome) => outcome,
        Err(panic) => match panic.downcast::<String>() {
            Ok(said) => Err(anyhow!("it crashed: {said}")),
            Err(_) => bail!("it crashed"),
        },
    }
}
