//! Sets of files, large stencils, and edits: `cargo bench -p isobar-tests --bench files`.
//!
//! Each line is the median of some repetitions, with the allocations of one. With the folder of a checkout in
//! `ISOBAR_CORPUS`, and of a library that it imports in `ISOBAR_CORPUS_WITH`, all stencils of it are compiled too.
#![expect(clippy::print_stdout, reason = "a benchmark talks to its user on stdout")]
#![expect(unsafe_code, reason = "an allocator that counts is an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use isobar_compiler::config::Config;
use isobar_compiler::pass::Timer;
use isobar_compiler::pipeline::{Hook, NoHook, Stage, Step, StepKind};
use isobar_compiler::project::Project;
use isobar_compiler::session::Session;
use isobar_tests::corpus::{Checkout, Trial};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// Nothing counts while time is taken: it would take a good part of it.
static IS_COUNTING: AtomicBool = AtomicBool::new(false);

fn count(size: usize) {
    if IS_COUNTING.load(Ordering::Relaxed) {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(size as u64, Ordering::Relaxed);
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is handed on to the system's allocator as it is; the counters are no part of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise is the one that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block came from `System`, since every one does.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, size) }
    }
}

/// Tells when the OIR was there, which is when all is known that can be wrong with a text.
struct UntilOir {
    start: Instant,
    took: Duration,
}

impl Hook for UntilOir {
    fn end(&mut self, step: Step) {
        if step == (Step { kind: StepKind::Door, name: "oir" }) {
            self.took = self.start.elapsed();
        }
    }
}

/// Tells how long the middle takes: from the OIR as it was lowered to the SDFG behind its passes.
struct Middle {
    start: Instant,
    took: Duration,
}

impl Hook for Middle {
    fn begin(&mut self, step: Step) {
        if step == (Step { kind: StepKind::Pipeline, name: "oir" }) {
            self.start = Instant::now();
        }
        if step == (Step { kind: StepKind::Door, name: "c" }) {
            self.took = self.start.elapsed();
        }
    }
}

fn middle(session: &mut Session, project: &Project, config: &Config) -> Duration {
    let mut hook = Middle { start: Instant::now(), took: Duration::ZERO };
    let compilation = session.compile(project, config, &mut hook);
    assert!(!compilation.has_errors(), "{:#?}", compilation.notes.diagnostics);
    hook.took
}

/// Prints what takes longest in one compilation.
fn steps(name: &str, project: &Project, config: &Config) {
    let begun = Instant::now();
    let mut timer = Timer::new(|| begun.elapsed().as_secs_f64() * 1e3);
    Session::new().compile(project, config, &mut timer);
    let mut times = timer.into_times();
    times.sort_by(|a, b| b.took.total_cmp(&a.took));
    for it in times.iter().take(30) {
        let kind = format!("{:?}", it.step.kind).to_lowercase();
        println!("{:<58} {:>9.2} ms", format!("{name}: {kind} {}", it.step), it.took);
    }
}

/// Prints the median of what `work` says it took, and what one more of it allocates.
fn measure(name: &str, repetitions: usize, mut work: impl FnMut(usize) -> Duration) {
    let mut times: Vec<Duration> = (0..repetitions).map(&mut work).collect();
    times.sort_unstable();
    let (count, bytes) = (ALLOCATIONS.load(Ordering::Relaxed), BYTES.load(Ordering::Relaxed));
    IS_COUNTING.store(true, Ordering::Relaxed);
    work(repetitions);
    IS_COUNTING.store(false, Ordering::Relaxed);
    let count = ALLOCATIONS.load(Ordering::Relaxed) - count;
    let bytes = BYTES.load(Ordering::Relaxed) - bytes;
    let ms = |it: Duration| it.as_secs_f64() * 1e3;
    println!(
        "{name:<58} {:>9.2} ms (least {:.2}) {count:>9} allocations {:>7.1} MB",
        ms(times[repetitions / 2]),
        ms(times[0]),
        bytes as f64 / 1e6
    );
}

fn until_oir(session: &mut Session, project: &Project) -> Duration {
    let mut hook = UntilOir { start: Instant::now(), took: Duration::ZERO };
    let compilation = session.compile(project, &Config::default(), &mut hook);
    assert!(!compilation.has_errors(), "{:#?}", compilation.notes.diagnostics);
    hook.took
}

fn until_code(session: &mut Session, project: &Project) -> Duration {
    let start = Instant::now();
    session.compile(project, &Config::default(), &mut NoHook);
    start.elapsed()
}

/// A stencil of about `lines` lines: differences of differences, conditions, two sweeps.
fn stencil(name: &str, lines: usize) -> String {
    let mut text = format!("\n\ndef {name}(q: FloatField, c: FloatField, out: FloatField, dt: Float):\n");
    text += "    with computation(PARALLEL), interval(...):\n        t0 = q\n";
    for line in 1..lines.saturating_sub(7) {
        let before = line - 1;
        text += &match line % 5 {
            0 => format!("        t{line} = clip(t{before}, q) * dt\n"),
            1 => format!("        t{line} = 0.25 * (q[1, 0, 0] + q[-1, 0, 0]) - t{before}\n"),
            2 => format!("        t{line} = t{before} if c > 0.5 else q * LIMIT\n"),
            3 => format!("        t{line} = t{before} + c[0, 1, 0] * sqrt(q + {line}.0)\n"),
            _ => format!("        t{line} = max(t{before}, 0.5 * c)\n"),
        };
    }
    let last = lines.saturating_sub(8);
    text += &format!("        out = t{last}\n    with computation(FORWARD), interval(1, None):\n");
    text += "        out = out[0, 0, -1] + dt * out\n";
    text
}

/// The head of a stencil whose statements `body` writes.
fn stencil_of(name: &str, body: impl FnOnce(&mut String)) -> String {
    let mut text = format!("\n\ndef {name}(q: FloatField, c: FloatField, out: FloatField, dt: Float):\n");
    body(&mut text);
    text
}

/// Stages that each read the one before beside the point, as far as halos allow.
fn chain(name: &str, lines: usize) -> String {
    stencil_of(name, |text| {
        *text += "    with computation(PARALLEL), interval(...):\n        t0 = q\n";
        for line in 1..lines - 1 {
            let before = line - 1;
            *text += &match line % 10 {
                0 => format!("        t{line} = q + t{before}\n        out = out + t{line}\n"),
                1 => format!("        t{line} = q[1, 0, 0] - q[-1, 0, 0]\n"),
                it if it % 2 == 0 => {
                    format!("        t{line} = t{before}[0, 1, 0] - dt * t{before}[0, -1, 0]\n")
                }
                _ => format!("        t{line} = t{before}[1, 0, 0] - dt * t{before}[-1, 0, 0]\n"),
            };
        }
    })
}

/// Sweeps up and down, and what each of them needs.
fn sweeps(name: &str, lines: usize) -> String {
    stencil_of(name, |text| {
        for sweep in 0..lines / 4 {
            let order = if sweep % 2 == 0 { "FORWARD" } else { "BACKWARD" };
            let (interval, behind) = if sweep % 2 == 0 { ("1, None", -1) } else { ("0, -1", 1) };
            *text += &format!(
                "    with computation(PARALLEL), interval(...):\n        a{sweep} = q + c * {sweep}.0\n"
            );
            *text += &format!("        b{sweep} = a{sweep} * dt\n");
            *text += &format!("    with computation({order}), interval({interval}):\n");
            *text += &format!(
                "        b{sweep} = b{sweep} + a{sweep}[0, 0, {behind}] * b{sweep}[0, 0, {behind}]\n"
            );
            *text += &format!("        out = out + b{sweep}\n");
        }
    })
}

/// Conditions within conditions.
fn branches(name: &str, lines: usize) -> String {
    stencil_of(name, |text| {
        *text += "    with computation(PARALLEL), interval(...):\n        t = q\n";
        for line in 0..lines / 4 {
            *text += &format!("        if c > {line}.0:\n            t = t + q[1, 0, 0] * {line}.0\n");
            *text += "            if q > t:\n                t = t * dt\n";
            *text += "        else:\n            t = t - c[0, 1, 0]\n";
        }
        *text += "        out = t\n";
    })
}

/// A text of so many statements.
type Text = fn(&str, usize) -> String;

/// The kinds of stencils with many statements.
const KINDS: [(&str, Text); 4] =
    [("at the point", stencil), ("a chain", chain), ("sweeps", sweeps), ("branches", branches)];

const HEAD: &str = "from gt4py.cartesian.gtscript import PARALLEL, FORWARD, computation, function, interval\n\
    from ndsl.dsl.typing import Float, FloatField\n\nLIMIT = 0.5\n\n\n@function\ndef clip(a, b):\n    \
    return min(max(a, -b), b)\n";

/// A project of one file that has about a thousand lines; the stencil that is compiled is its last.
fn thousand_lines(each: usize) -> Project {
    let stencils = (0..1000 / each).map(|it| stencil(&format!("s{it}"), each));
    let text = HEAD.to_owned() + &stencils.collect::<String>();
    let last = format!("s{}", 1000 / each - 1);
    Project { stencil: Some(last), ..Project::of_one("main.py", &text) }
}

/// The same project after a letter was typed into its last stencil; `at` tells one letter from another.
fn edited(project: &Project, at: usize) -> Project {
    let mut project = project.clone();
    let text = project.files.get_mut("main.py").expect("it is there");
    let place = text.rfind("0.25 *").expect("it is there");
    *text = format!("{}{}.25{}", &text[..place], at + 1, &text[place + 4..]).into();
    project
}

/// A project of many files: each imports functions of the one before.
fn many_files(n: usize) -> Project {
    let mut files = std::collections::BTreeMap::new();
    for file in 0..n {
        let mut text = HEAD.to_owned();
        if let Some(before) = file.checked_sub(1) {
            text += &format!("from model.f{before} import g{before}\n");
        }
        text += &format!("@function\ndef g{file}(q):\n    return q + {file}.0\n");
        text += &stencil("other", 150);
        files.insert(format!("model/f{file}.py"), text.into());
    }
    let last = n - 1;
    let main = format!("{HEAD}from model.f{last} import g{last}\n{}", stencil("s", 40));
    files.insert("main.py".to_owned(), main.replace("out = t", &format!("out = g{last}(q) + t")).into());
    Project { files, main: "main.py".to_owned(), stencil: None }
}

fn main() {
    // `cargo bench` says `--bench`, and may be asked for a part by name.
    let wanted = std::env::args().skip(1).find(|it| !it.starts_with('-')).unwrap_or_default();
    let is_wanted = |name: &str| name.contains(&wanted);
    // A kind of stencil may be named behind it.
    let kind_wanted = std::env::args().skip(1).filter(|it| !it.starts_with('-')).nth(1).unwrap_or_default();
    let kinds = || KINDS.into_iter().filter(|(kind, _)| kind.contains(&kind_wanted));

    if is_wanted("keystroke") {
        for each in [50, 200, 1000] {
            let project = thousand_lines(each);
            let name = format!("keystroke, 1,000 lines, a stencil of {each} of them");
            let mut session = Session::new();
            measure(&format!("{name}: to OIR"), 15, |at| until_oir(&mut session, &edited(&project, at)));
            measure(&format!("{name}: all levels"), 15, |at| {
                until_code(&mut session, &edited(&project, 100 + at))
            });
        }
    }
    if is_wanted("middle") {
        for (kind, text) in kinds() {
            for lines in [250, 500, 1000, 2000] {
                let project = Project::of_one("main.py", &(HEAD.to_owned() + &text("s", lines)));
                measure(&format!("middle, {lines} statements, {kind}: OIR to SDFG"), 7, |_| {
                    middle(&mut Session::new(), &project, &Config::default())
                });
            }
        }
    }
    if is_wanted("steps") {
        for (kind, text) in kinds() {
            let project = Project::of_one("main.py", &(HEAD.to_owned() + &text("s", 2000)));
            steps(&format!("2000 statements, {kind}"), &project, &Config::default());
        }
    }
    if is_wanted("files") {
        let project = many_files(200);
        measure("200 files of 150 lines, one reached: to OIR", 15, |_| {
            until_oir(&mut Session::new(), &project)
        });
        let mut session = Session::new();
        measure("200 files of 150 lines, edit of one: to OIR", 15, |at| {
            until_oir(&mut session, &edited(&project, at))
        });
    }
    if is_wanted("folder") {
        match std::env::var_os("ISOBAR_CORPUS") {
            Some(folder) => checkout(&PathBuf::from(folder)),
            None => println!("skipped: no checkout is named in ISOBAR_CORPUS"),
        }
    }
}

/// All stencils of a checkout, and the one of them that takes longest.
fn checkout(folder: &std::path::Path) {
    let libraries: Vec<PathBuf> =
        std::env::var_os("ISOBAR_CORPUS_WITH").map(PathBuf::from).into_iter().collect();
    let read = || Checkout::read(folder, &libraries).expect("a folder with Python files");
    let mut stencils = Vec::new();
    measure("folder, all stencils, parse to C", 3, |_| {
        let mut trial = Trial::new(read());
        let start = Instant::now();
        stencils = trial.stencils();
        for (file, stencil) in &stencils {
            trial.compile(file, stencil);
        }
        start.elapsed()
    });
    let mut trial = Trial::new(read());
    let largest = stencils.iter().max_by_key(|(file, stencil)| {
        let compilation = trial.compile(file, stencil);
        compilation.listing(Stage::OIR).map_or(0, |it| it.text.len())
    });
    if let Some((file, stencil)) = largest {
        let (project, config) = trial.project(file, stencil);
        measure(&format!("largest stencil, {stencil}: text to OIR"), 15, |_| {
            let mut hook = UntilOir { start: Instant::now(), took: Duration::ZERO };
            Session::new().compile(&project, &config, &mut hook);
            hook.took
        });
        measure(&format!("largest stencil, {stencil}: middle, OIR to SDFG"), 15, |_| {
            middle(&mut Session::new(), &project, &config)
        });
        steps("largest stencil", &project, &config);
    }
}
