//! `tests/gpu/verify`: whether kernels give the right bits on the GPUs of this machine, and how fast; one JSON out.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program talks to its user")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail, ensure};
use isobar_compiler::pass::GpuModel;
use isobar_compiler::space::Domain;
use isobar_runner::backends::{AvailableTools, Backend};
use isobar_tests::gpu::bench::{Absent, Case, HAND as BY_HAND, measure};
use isobar_tests::gpu::correct::{Answer, by_hand, generated, programs, written};
use isobar_tests::gpu::hand::HAND;
use isobar_tests::gpu::report::{Correctness, FORMAT, Model, OfDevice, Report};
use isobar_tests::gpu::{BACKENDS, GALLERY, KERNELS, MEASURED, PRECISIONS, Stencil, stencil};
use serde::{Deserialize, Serialize};

const USAGE: &str = "gpu-verify [--out FILE] [--backend wgpu|cuda]... [--generated N] [--first SEED] \
                     [--kernel NAME]... [--domain 256x256x80]... [--rounds N] [--skip correctness|benchmark]";

/// Deep nesting costs stack; the compiler's own limits see to it that this is enough.
const STACK_BYTES: usize = 256 * 1024 * 1024;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let work = move || match &arguments[..] {
        [what, part] if what == "part" => {
            serde_json::from_str::<Part>(part).map_err(Into::into).and_then(|it| {
                it.answer()?;
                Ok(true)
            })
        }
        _ => Options::of(&arguments).and_then(|it| verify(&it, &arguments)),
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(is_fine))) => ExitCode::from(u8::from(!is_fine)),
        Ok(Ok(Err(error))) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
        Ok(Err(_)) | Err(_) => ExitCode::from(2),
    }
}

struct Options {
    out: Option<PathBuf>,
    backends: Vec<Backend>,
    generated: u64,
    first: u64,
    /// Names of written stencils to check and to measure. Where the list is empty, all are checked, and those
    /// of `MEASURED` are measured.
    kernels: Vec<String>,
    domains: Vec<Domain>,
    rounds: u32,
    is_held: bool,
    is_measured: bool,
}

impl Options {
    fn of(arguments: &[String]) -> Result<Self> {
        let mut options = Self {
            out: None,
            backends: Vec::new(),
            generated: 500,
            first: 0,
            kernels: Vec::new(),
            domains: Vec::new(),
            rounds: 31,
            is_held: true,
            is_measured: true,
        };
        let mut given = arguments.iter();
        while let Some(option) = given.next() {
            let value = given.next().context(USAGE)?;
            match option.as_str() {
                "--out" => options.out = Some(value.into()),
                "--backend" => options.backends.push(backend(value)?),
                "--generated" => options.generated = value.parse().context(USAGE)?,
                "--first" => options.first = value.parse().context(USAGE)?,
                "--kernel" => {
                    ensure!(stencil(value).is_some(), "there is no kernel `{value}`");
                    options.kernels.push(value.clone());
                }
                "--domain" => options.domains.push(domain(value)?),
                "--rounds" => options.rounds = value.parse().context(USAGE)?,
                "--skip" if value == "correctness" => options.is_held = false,
                "--skip" if value == "benchmark" => options.is_measured = false,
                _ => bail!(USAGE),
            }
        }
        if options.backends.is_empty() {
            options.backends = BACKENDS.to_vec();
        }
        if options.domains.is_empty() {
            options.domains = vec![Domain::new(256, 256, 80), Domain::new(512, 512, 80)];
        }
        Ok(options)
    }
}

impl Options {
    fn wants(&self, name: &str) -> bool {
        self.kernels.is_empty() || self.kernels.iter().any(|it| it == name)
    }

    fn measures(&self, name: &str) -> bool {
        if self.kernels.is_empty() { MEASURED.contains(&name) } else { self.wants(name) }
    }
}

fn backend(name: &str) -> Result<Backend> {
    BACKENDS
        .into_iter()
        .find(|it| it.name() == name)
        .with_context(|| format!("no back end `{name}`; {USAGE}"))
}

fn domain(text: &str) -> Result<Domain> {
    let sizes: Option<Vec<i64>> = text.split('x').map(|it| it.parse().ok().filter(|it| *it > 0)).collect();
    match sizes.as_deref() {
        Some(&[i, j, k]) => Ok(Domain::new(i, j, k)),
        _ => bail!("a domain is three numbers, as 256x256x80, and not `{text}`"),
    }
}

/// The tasks for processes of their own, which answer in lines of JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Part {
    About {
        backend: String,
    },
    /// Of the gallery and the kernels.
    Written {
        backend: String,
        stencils: Vec<String>,
    },
    Generated {
        backend: String,
        first: u64,
        count: u64,
    },
    Programs {
        backend: String,
        first: u64,
        count: u64,
    },
    ByHand,
    Bench {
        kernel: String,
        precision: u32,
        domain: [i64; 3],
        rounds: u32,
        backends: Vec<String>,
    },
}

fn tell(it: &impl Serialize) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(it)?)?;
    Ok(out.flush()?)
}

impl Part {
    /// Does it, in this process.
    fn answer(self) -> Result<()> {
        // The process that asked notices that a line is missing.
        let each = |it: Answer| drop(tell(&it));
        match self {
            Self::About { backend } => tell(&about(self::backend(&backend)?)),
            Self::Written { backend, stencils } => {
                let stencils: Vec<Stencil> = stencils.iter().filter_map(|it| stencil(it)).copied().collect();
                written(self::backend(&backend)?, &stencils, each);
                Ok(())
            }
            Self::Generated { backend, first, count } => {
                generated(self::backend(&backend)?, first, count, each)
            }
            Self::Programs { backend, first, count } => {
                programs(self::backend(&backend)?, first, count, each);
                Ok(())
            }
            Self::ByHand => {
                by_hand(&HAND, each);
                Ok(())
            }
            Self::Bench { kernel, precision, domain: [i, j, k], rounds, backends } => {
                let stencil = stencil(&kernel).context("there is no such kernel")?;
                let backends = backends.iter().map(|it| backend(it)).collect::<Result<Vec<_>>>()?;
                tell(&measure(stencil, precision, Domain::new(i, j, k), rounds, &backends)?)
            }
        }
    }

    /// Has a process of its own do it; answers what that told, and why it ended early, if it did.
    fn ask<T: for<'a> Deserialize<'a>>(&self, mut each: impl FnMut(T)) -> Result<()> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["part", &serde_json::to_string(self)?]).stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let lines = BufReader::new(process.stdout.take().context("it has a pipe")?).lines();
        for line in lines {
            // Drivers talk as well.
            if let Ok(it) = serde_json::from_str(&line?) {
                each(it);
            }
        }
        let status = process.wait()?;
        ensure!(status.success(), "the process ended: {status}");
        Ok(())
    }
}

fn about(backend: Backend) -> OfDevice {
    let none =
        || OfDevice { backend: backend.name().to_owned(), absent: None, about: BTreeMap::new(), model: None };
    let cc = Err("no C compiler was looked for".to_owned());
    if let Err(why) = backend.check(&AvailableTools { cc: &cc }) {
        return OfDevice { absent: Some(why.to_string()), ..none() };
    }
    let Some(device) = backend.executor().device() else { return none() };
    let about = device.about().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    OfDevice { about, model: device.model().map(model), ..none() }
}

fn model(it: GpuModel) -> Model {
    Model {
        multiprocessors: it.multiprocessors,
        clock_mhz: it.clock_mhz,
        bandwidth_gb: it.bandwidth_gb,
        l2_bytes: it.l2_bytes,
        shared_bytes_of_block: it.shared_bytes_of_block,
        threads_of_block: it.threads_of_block,
    }
}

fn verify(options: &Options, arguments: &[String]) -> Result<bool> {
    let begun = Instant::now();
    if let Some(out) = &options.out {
        // Nobody wants to hear in the end that the result has no place.
        std::fs::write(out, "").with_context(|| out.display().to_string())?;
    }
    let mut report = Report {
        format: FORMAT,
        isobar: env!("CARGO_PKG_VERSION").to_owned(),
        arguments: arguments.to_vec(),
        host: host(),
        devices: Vec::new(),
        correctness: Vec::new(),
        benchmark: Vec::new(),
        absent: Vec::new(),
        seconds: 0,
        is_fine: false,
    };
    for &backend in &options.backends {
        report.devices.push(device(backend));
    }
    let present: Vec<Backend> = options
        .backends
        .iter()
        .copied()
        .filter(|backend| report.devices.iter().any(|it| it.backend == backend.name() && it.absent.is_none()))
        .collect();
    for it in &report.devices {
        report.absent.extend(it.absent.clone().map(|why| Absent { who: it.backend.clone(), why }));
    }
    if !present.contains(&Backend::CUDA) {
        let why = "it runs through CUDA, which is absent".to_owned();
        report.absent.push(Absent { who: BY_HAND.to_owned(), why });
    }
    if options.is_held {
        for &backend in &present {
            report.correctness.extend(held(backend, options)?);
        }
    }
    let mut n_lost = 0;
    if options.is_measured && !present.is_empty() {
        n_lost = measured(options, &present, &mut report)?;
    }
    let is_right = |it: &Case| it.absent.is_empty() && it.measured.iter().all(|it| it.wrong.is_none());
    report.is_fine = !present.is_empty()
        && n_lost == 0
        && report.correctness.iter().all(|it| it.failures == 0)
        && report.benchmark.iter().all(is_right);
    report.seconds = begun.elapsed().as_secs();
    let text = serde_json::to_string_pretty(&report)? + "\n";
    eprint!("{}", report.in_words());
    match &options.out {
        Some(out) => std::fs::write(out, text).with_context(|| out.display().to_string())?,
        None => print!("{text}"),
    }
    Ok(report.is_fine)
}

/// Asks a process of its own for the device of a back end.
fn device(backend: Backend) -> OfDevice {
    let mut found = None;
    let asked = Part::About { backend: backend.name().to_owned() }.ask(|it| found = Some(it));
    found.unwrap_or_else(|| {
        let why = asked.err().map_or_else(|| "it tells nothing".to_owned(), |it| format!("{it:#}"));
        OfDevice {
            backend: backend.name().to_owned(),
            absent: Some(why),
            about: BTreeMap::new(),
            model: None,
        }
    })
}

fn held(backend: Backend, options: &Options) -> Result<Vec<Correctness>> {
    let name = || backend.name().to_owned();
    let mut all = Vec::new();
    // Each has a process of its own.
    let of = |all: &[Stencil]| -> Vec<Part> {
        let wanted = all.iter().filter(|it| options.wants(it.name));
        wanted.map(|it| Part::Written { backend: name(), stencils: vec![it.name.to_owned()] }).collect()
    };
    let mut parts = vec![("kernels", of(&KERNELS)), ("gallery", of(&GALLERY))];
    if backend == Backend::CUDA {
        parts.push((BY_HAND, vec![Part::ByHand]));
    }
    for (what, parts) in parts {
        eprintln!("{}: {what}", backend.name());
        let mut answers: Vec<Answer> = Vec::new();
        for part in parts {
            if let Err(why) = part.ask(|it| answers.push(it)) {
                let what = if let Part::Written { stencils, .. } = &part {
                    stencils.join(", ")
                } else {
                    what.to_owned()
                };
                answers.push(ended(&what, &why));
            }
        }
        all.extend(Correctness::of(backend.name(), what, &answers));
    }
    let part = |first, count| Part::Generated { backend: name(), first, count };
    let answers = of_seeds("generated stencils", &part, backend, (options.first, options.generated))?;
    all.extend(Correctness::of(backend.name(), "generated", &answers));
    let part = |first, count| Part::Programs { backend: name(), first, count };
    let n_programs = options.generated.div_ceil(STENCILS_OF_PROGRAM);
    let answers = of_seeds("generated programs", &part, backend, (options.first, n_programs))?;
    all.extend(Correctness::of(backend.name(), "programs", &answers));
    Ok(all)
}

/// Failures behind which nothing more is asked, and how many seeds one process holds.
const MOST_ENDED: usize = 20;
const SEEDS_OF_PROCESS: u64 = 100;

/// A program has as many calls as that, and takes as long.
const STENCILS_OF_PROGRAM: u64 = 25;

/// The answers about seeds, some of them at a time in a process of its own.
fn of_seeds(
    what: &str,
    part: &dyn Fn(u64, u64) -> Part,
    backend: Backend,
    (first, n): (u64, u64),
) -> Result<Vec<Answer>> {
    let mut answers: Vec<Answer> = Vec::new();
    let (mut next, end, mut n_ended) = (first, first + n, 0);
    while next < end && n_ended < MOST_ENDED {
        let count = SEEDS_OF_PROCESS.min(end - next);
        eprintln!("{}: {what}, {next} to {}", backend.name(), next + count);
        let before = answers.len();
        let asked = part(next, count).ask(|it| answers.push(it));
        next += u64::try_from(answers.len() - before)?;
        match asked {
            Ok(()) => ensure!(answers.len() > before, "no answer"),
            Err(why) => {
                answers.push(ended(&next.to_string(), &why));
                n_ended += 1;
                next += 1;
            }
        }
    }
    Ok(answers)
}

/// That a process ended before its answer.
fn ended(what: &str, why: &anyhow::Error) -> Answer {
    let wrong = Some(format!("{why:#}"));
    Answer { what: what.to_owned(), precision: 64, runs: 0, other_traps: 0, wrong }
}

/// Measures all; answers how many processes ended before their answer.
fn measured(options: &Options, present: &[Backend], report: &mut Report) -> Result<u32> {
    let mut n_lost = 0;
    for kernel in GALLERY.iter().chain(&KERNELS).map(|it| it.name).filter(|it| options.measures(it)) {
        for precision in PRECISIONS {
            for domain in &options.domains {
                eprintln!("{kernel} f{precision} on {domain}");
                let Domain { i, j, k } = *domain;
                let with = |backends: &[Backend]| Part::Bench {
                    kernel: kernel.to_owned(),
                    precision,
                    domain: [i, j, k],
                    rounds: options.rounds,
                    backends: backends.iter().map(|it| it.name().to_owned()).collect(),
                };
                // Where one of them breaks the process, the others are measured alone.
                let alone = present.iter().filter(|_| present.len() > 1).map(std::slice::from_ref);
                let mut is_whole = false;
                for backends in std::iter::once(present).chain(alone) {
                    if is_whole {
                        break;
                    }
                    let mut case: Option<Case> = None;
                    let asked = with(backends).ask(|it| case = Some(it));
                    if let Some(case) = case {
                        report.benchmark.push(case);
                        is_whole = backends.len() == present.len();
                        continue;
                    }
                    let why = asked.err().unwrap_or_else(|| anyhow!("it tells nothing"));
                    let names = backends.iter().map(|it| it.name()).collect::<Vec<_>>().join(" and ");
                    let who = format!("{kernel} f{precision} on {domain} with {names}");
                    report.absent.push(Absent { who, why: format!("{why:#}") });
                    n_lost += 1;
                }
            }
        }
    }
    Ok(n_lost)
}

/// The machine around, without its name.
fn host() -> BTreeMap<String, String> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let of = |text: &str, start: &str| {
        let line = text.lines().find(|it| it.starts_with(start))?;
        Some(line.split_once([':', '='])?.1.trim().trim_matches('"').to_owned())
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let told = [
        ("processor", of(&read("/proc/cpuinfo"), "model name")),
        ("system", of(&read("/etc/os-release"), "PRETTY_NAME")),
        ("cores", Some(cores.to_string())),
        ("kernel", Some(read("/proc/sys/kernel/osrelease").trim().to_owned())),
    ];
    told.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
