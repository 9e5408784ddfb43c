//! Stencils of a checkout, drawn by lot, on the layouts of arrays that callers have: `cargo xtask bench models PATH`.
//!
//! Nobody chose them, so that nothing can be tuned to them. Externals and inputs are made as `cargo xtask corpus` makes
//! them. All who are measured take turns in one process; each call that is timed follows one that is not, with the same
//! arguments. Before that, the results on all layouts are held against those of `rayon` on arrays of our own.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark talks to its user")]

#[path = "../kernels/statistics.rs"]
mod statistics;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use clap::Parser;
use isobar_compiler::backend::launch::Launch;
use isobar_compiler::backend::signature::{ParamKind, Signature};
use isobar_compiler::config::Config;
use isobar_compiler::pipeline::{Compilation, NoHook, route};
use isobar_compiler::project::Project;
use isobar_compiler::space::{AxisSet, Domain};
use isobar_protocol::job::EventKind;
use isobar_runner::backends::{Backend, Prepared, Setting};
use isobar_runner::translate;
use isobar_runtime::copying::Copiers;
use isobar_tests::corpus::{Checkout, Trial, launch};
use isobar_tests::kernels::fields::{Fields, Layout};
use isobar_tests::native::{Workplace, named};
use serde::Serialize;

use statistics::Summary;

/// Deep nesting costs stack; the compiler's own limits see to it that this is enough.
const STACK_BYTES: usize = 256 * 1024 * 1024;

/// Who takes longer than this for all calls takes fewer turns, in seconds.
const PATIENCE: f64 = 4.0;

/// What a loop could not be merged with is told by these passes.
const FUSING: [&str; 2] = ["schedule/merge-loops", "schedule/fuse-in-tiles"];

#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench models")]
struct Options {
    /// Folders with the files of a model
    #[arg(required = true)]
    path: Vec<PathBuf>,
    /// Folders of modules that they import
    #[arg(long)]
    with: Vec<PathBuf>,
    /// Which lot is drawn
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many stencils are drawn from each folder
    #[arg(long, default_value_t = 20)]
    stencils: usize,
    /// Only those whose names contain this
    #[arg(long)]
    name: Option<String>,
    /// Points along I, J and K
    #[arg(long, value_parser = domain, default_value = "96x96x72")]
    size: Domain,
    #[arg(long, default_value_t = 1)]
    threads: u32,
    /// Calls of each contestant; of one that takes long, fewer
    #[arg(long, default_value_t = 31)]
    repeats: usize,
    #[arg(long, value_delimiter = ',', default_value = "openmp,rayon")]
    backends: Vec<String>,
    /// Write everything to this file
    #[arg(long)]
    json: Option<PathBuf>,
    /// `cargo bench` says so
    #[arg(long, hide = true)]
    bench: bool,
}

fn domain(text: &str) -> Result<Domain, String> {
    let sizes: Option<Vec<i64>> = text.split('x').map(|it| it.parse().ok().filter(|it| *it > 0)).collect();
    match sizes.as_deref() {
        Some(&[i, j, k]) => Ok(Domain::new(i, j, k)),
        _ => Err("a size is three numbers, as 96x96x72".to_owned()),
    }
}

/// The layouts that are measured: arrays of our own, and those of callers.
const LAYOUTS: [Option<Layout>; 3] = [None, Some(Layout::AlongI), Some(Layout::AlongK)];

fn told(layout: Option<Layout>) -> &'static str {
    layout.map_or("own", Layout::told)
}

/// What came of a stencil.
#[derive(Debug, Serialize)]
struct Measured {
    stencil: String,
    domain: [i64; 3],
    fields: usize,
    /// What a call moves at least.
    bytes: u64,
    copy_ms: Option<Summary>,
    contestants: Vec<Contestant>,
    /// What was not fused, and why.
    apart: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Contestant {
    backend: &'static str,
    layout: &'static str,
    /// From the compiled levels to code for these arrays.
    ready_ms: f64,
    ms: Option<Summary>,
    /// What the run told of its layout.
    way: Vec<String>,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || work(&options));
    thread?.join().map_err(|_| anyhow!("the measurement panicked"))?
}

fn work(options: &Options) -> Result<()> {
    let workplace = Workplace::temporary()?;
    let backends = options.backends.iter().map(|it| named(it)).collect::<Result<Vec<_>>>()?;
    for &backend in &backends {
        workplace.check(backend).map_err(|why| anyhow!(why))?;
    }
    println!(
        "seed {}, {}, {} rounds, threads: {}\n",
        options.seed, options.size, options.repeats, options.threads
    );
    let mut all = Vec::new();
    for root in &options.path {
        let mut trial = Trial::new(Checkout::read(root, &options.with)?);
        let mut stencils = trial.stencils();
        shuffle(&mut stencils, options.seed);
        let mut n_left = options.stencils;
        for (file, stencil) in stencils {
            let name = format!("{file}:{stencil}");
            let is_wanted = options.name.as_ref().is_none_or(|it| name.contains(it.as_str()));
            if n_left == 0 || !is_wanted || trial.expects_refusal(&file, &stencil) {
                continue;
            }
            let (project, config) = trial.project(&file, &stencil);
            match measure(&name, &project, config, options, &workplace, &backends) {
                Ok(Some(it)) => {
                    n_left -= 1;
                    eprintln!("{}", line(&it));
                    all.push(it);
                }
                Ok(None) => {}
                Err(why) => eprintln!("{name}: {why:#}"),
            }
            workplace.forget()?;
        }
    }
    print!("{}", report(&all, &backends));
    if let Some(path) = &options.json {
        let text = serde_json::to_string_pretty(&all)? + "\n";
        fs::write(path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// Another order, which the seed decides.
fn shuffle<T>(all: &mut [T], seed: u64) {
    let mut state = seed;
    for last in (1..all.len()).rev() {
        // Knuth's generator for 64 bits, of which the upper ones are good.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = (state >> 33) % (last as u64 + 1);
        all.swap(last, usize::try_from(at).unwrap_or_default());
    }
}

/// Measures a stencil; none where it does not compile, has no field along all axes, or does not fit the domain.
fn measure(
    name: &str,
    project: &Project,
    mut config: Config,
    options: &Options,
    workplace: &Workplace,
    backends: &[Backend],
) -> Result<Option<Measured>> {
    config.passes.machine = Some(workplace.machine());
    let compilation = route::compile(project, &config, &mut NoHook);
    let Some(signature) = compilation.signature.as_ref().filter(|_| !compilation.has_errors()) else {
        return Ok(None);
    };
    let n_fields = n_whole(signature);
    let Some(given) = launch(&compilation, options.size).ok().filter(|_| n_fields > 0) else {
        return Ok(None);
    };
    let mut turns = turns(&compilation, signature, &given, options, workplace, backends)?;
    let meant = turns.iter().position(|it| it.told.layout == told(None)).context("our own is a layout")?;
    for turn in &mut turns {
        turn.fields.spoil();
        let begun = Instant::now();
        turn.run().with_context(|| name.to_owned())?;
        let took = 2.0 * begun.elapsed().as_secs_f64();
        let n = (PATIENCE / took.max(1e-9)).min(options.repeats as f64);
        turn.every = (options.repeats as f64 / n.max(5.0)).ceil().max(1.0);
    }
    for it in &turns {
        if let Err(why) = it.fields.compare_with(&turns[meant].fields, &given) {
            bail!("{} {} computes something else: {why}", it.told.backend, it.told.layout);
        }
    }
    let bytes = signature.compulsory_bytes(given.domain);
    let mut copiers = Copiers::new(bytes, options.threads);
    let mut copies = Vec::new();
    let mut order: Vec<usize> = (0..turns.len()).collect();
    for round in 0..options.repeats {
        shuffle(&mut order, round as u64 + 1);
        copiers.copy();
        copies.push(copiers.copy().as_secs_f64() * 1e3);
        for &at in &order {
            let turn = &mut turns[at];
            if round as f64 % turn.every >= 1.0 {
                continue;
            }
            turn.fields.restore();
            turn.run()?;
            turn.fields.restore();
            let begun = Instant::now();
            turn.run()?;
            turn.times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
    }
    let apart = compilation.remarks.iter().filter(|it| !it.is_applied && FUSING.contains(&it.pass));
    let mut apart: Vec<String> = apart.map(|it| it.message.clone()).collect();
    apart.sort();
    apart.dedup();
    let Domain { i, j, k } = given.domain;
    Ok(Some(Measured {
        stencil: name.to_owned(),
        domain: [i, j, k],
        fields: n_fields,
        bytes,
        copy_ms: Summary::of(&copies),
        contestants: turns
            .into_iter()
            .map(|it| Contestant { ms: Summary::of(&it.times), ..it.told })
            .collect(),
        apart,
    }))
}

/// Fields along all three axes.
fn n_whole(signature: &Signature) -> usize {
    let is_whole = |kind: &ParamKind| matches!(kind, ParamKind::Field { axes, .. } if *axes == AxisSet::IJK);
    signature.params.iter().filter(|it| is_whole(&it.kind)).count()
}

/// Somebody who is called, with fields of its own.
struct Turn {
    told: Contestant,
    prepared: Prepared,
    fields: Fields,
    /// It takes part in every so many rounds.
    every: f64,
    times: Vec<f64>,
}

impl Turn {
    fn run(&mut self) -> Result<()> {
        let ran = self.prepared.run(&mut self.fields.launch);
        ran.map_err(|why| anyhow!("{} {}: {why:?}", self.told.backend, self.told.layout))
    }
}

fn turns(
    compilation: &Compilation,
    signature: &Signature,
    given: &Launch,
    options: &Options,
    workplace: &Workplace,
    backends: &[Backend],
) -> Result<Vec<Turn>> {
    let setting = Setting { threads: options.threads, ..workplace.setting() };
    let mut turns = Vec::new();
    for &backend in backends {
        let prepared = backend.executor().prepare(compilation, setting, &|_| ());
        let prepared = prepared.map_err(|why| anyhow!("{} does not get ready: {why:?}", backend.name()))?;
        for layout in LAYOUTS {
            let fields = match layout {
                None => Fields::aligned(given, signature),
                Some(layout) => Fields::of_layout(given, signature, layout),
            };
            let way = Mutex::new(Vec::new());
            let tell = |event| {
                if let (EventKind::Layout { layout }, Ok(mut way)) = (translate::event(event), way.lock()) {
                    way.push(layout.told());
                }
            };
            let begun = Instant::now();
            let prepared = prepared.clone();
            prepared.fit(&fields.launch, &tell).map_err(|why| anyhow!("{}: {why:?}", backend.name()))?;
            let told = Contestant {
                backend: backend.name(),
                layout: told(layout),
                ready_ms: begun.elapsed().as_secs_f64() * 1e3,
                ms: None,
                way: way.into_inner().unwrap_or_default(),
            };
            turns.push(Turn { told, prepared, fields, every: 1.0, times: Vec::new() });
        }
    }
    Ok(turns)
}

impl Measured {
    fn median(&self, backend: &str, layout: Option<Layout>) -> Option<f64> {
        let is_it = |it: &&Contestant| it.backend == backend && it.layout == told(layout);
        Some(self.contestants.iter().find(is_it)?.ms.as_ref()?.median)
    }

    fn copy(&self) -> Option<f64> {
        Some(self.copy_ms.as_ref()?.median)
    }
}

/// One stencil in a line, while others go on.
fn line(it: &Measured) -> String {
    let mut line = format!("{}: copy {:.3}", it.stencil, it.copy().unwrap_or_default());
    for contestant in &it.contestants {
        let ms = contestant.ms.as_ref().map_or(f64::NAN, |it| it.median);
        let _ = write!(line, "; {} {} {ms:.3}", contestant.backend, contestant.layout);
    }
    line
}

/// Tables to read.
fn report(all: &[Measured], backends: &[Backend]) -> String {
    let mut text = String::new();
    let mut columns = vec!["stencil".to_owned(), "fields".to_owned(), "MB".to_owned(), "copy".to_owned()];
    for backend in backends {
        columns.push(backend.name().to_owned());
        columns.push("of copy".to_owned());
        columns.extend(LAYOUTS.iter().skip(1).map(|it| told(*it).to_owned()));
    }
    let _ = writeln!(text, "| {} |", columns.join(" | "));
    let _ = writeln!(text, "|---|{}", "---:|".repeat(columns.len() - 1));
    // Logarithms of ratios, by back end and layout.
    let mut sums = vec![vec![(0.0, 0_u32); LAYOUTS.len()]; backends.len()];
    for it in all {
        let mut cells = vec![
            format!("`{}`", it.stencil),
            it.fields.to_string(),
            format!("{:.1}", it.bytes as f64 / 1e6),
            it.copy().map(|it| format!("{it:.2}")).unwrap_or_default(),
        ];
        for (backend, sums) in backends.iter().zip(&mut sums) {
            let own = it.median(backend.name(), None);
            cells.push(own.map(|it| format!("{it:.2}")).unwrap_or_default());
            for (layout, sum) in LAYOUTS.iter().zip(sums.iter_mut()) {
                let ratio = match layout {
                    None => it.copy().zip(own).map(|(copy, own)| copy / own),
                    Some(_) => own.zip(it.median(backend.name(), *layout)).map(|(own, other)| own / other),
                };
                if let Some(ratio) = ratio {
                    *sum = (sum.0 + ratio.ln(), sum.1 + 1);
                }
                cells.push(ratio.map(|it| format!("{it:.2}")).unwrap_or_default());
            }
        }
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    let mut cells = vec!["geometric mean".to_owned(), String::new(), String::new(), String::new()];
    for sums in &sums {
        cells.push(String::new());
        cells.extend(sums.iter().map(|&(sum, n)| format!("{:.2}", (sum / f64::from(n.max(1))).exp())));
    }
    let _ = writeln!(text, "| {} |", cells.join(" | "));
    let _ = writeln!(
        text,
        "\nms on arrays of our own, as a part of copying what has to be moved, and that through the time on the other \
         layouts: 1 is as fast, more is faster.\n"
    );
    for it in all {
        let ways: Vec<&str> = it
            .contestants
            .iter()
            .filter(|it| it.layout == Layout::AlongK.told())
            .flat_map(|it| it.way.iter().map(String::as_str))
            .collect();
        if let Some(way) = ways.first() {
            let _ = writeln!(text, "- `{}` along k: {way}", it.stencil);
        }
        for why in &it.apart {
            let _ = writeln!(text, "- `{}` not fused: {why}", it.stencil);
        }
    }
    text
}
