//! Stencils of a checkout, drawn by lot, on the layouts of arrays that callers have: `cargo xtask bench models PATH`.
//!
//! Nobody chose them, so that nothing can be tuned to them. Externals and inputs are made as `cargo xtask corpus` makes
//! them. All who are measured take turns in one process; each call that is timed follows one that is not, with the same
//! arguments. Before that, the results on all layouts are held against those on arrays of our own. Where gt4py is
//! installed, its back ends take turns with ours.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark talks to its user")]

mod beside;
mod measure;
mod report;
#[path = "../kernels/statistics.rs"]
mod statistics;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use clap::Parser;
use isobar_compiler::space::Domain;
use isobar_tests::agree::handed;
use isobar_tests::corpus::{Checkout, Trial};
use isobar_tests::native::{Workplace, named};
use isobar_tests::{peers, root};

use beside::Gt4py;

/// Deep nesting costs stack; the compiler's own limits see to it that this is enough.
const STACK_BYTES: usize = 256 * 1024 * 1024;

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
    /// A Python environment with gt4py, as `cargo xtask bench-env` makes: its back ends take turns with ours, on
    /// arrays that lie as each prefers
    #[arg(long)]
    gt4py: Option<PathBuf>,
    /// Which of its back ends
    #[arg(long, value_delimiter = ',', default_value = "gt:cpu_ifirst,gt:cpu_kfirst")]
    gt4py_backends: Vec<String>,
    /// Where it keeps what it has built, which takes long; below `target` without
    #[arg(long)]
    gt4py_cache: Option<PathBuf>,
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

fn main() -> Result<()> {
    let options = Options::parse();
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || work(&options));
    thread?.join().map_err(|_| anyhow!("the measurement panicked"))?
}

fn work(options: &Options) -> Result<()> {
    // `cargo bench` starts it below; paths count from where `cargo xtask` works.
    std::env::set_current_dir(root())?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("models");
    let cache = options.gt4py_cache.clone().unwrap_or_else(|| folder.join("gt4py"));
    fs::create_dir_all(&cache).with_context(|| cache.display().to_string())?;
    let cache = std::path::absolute(cache)?;
    let named_there: Vec<&str> = options.gt4py_backends.iter().map(String::as_str).collect();
    let python = options.gt4py.as_deref().map(|it| peers::python_of(it, &named_there)).transpose()?;
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
        let source = folder.join("source");
        if python.is_some() {
            if source.exists() {
                fs::remove_dir_all(&source).with_context(|| source.display().to_string())?;
            }
            handed::write_files(trial.files(), &source)?;
        }
        let gt4py = python.clone().map(|python| Gt4py {
            python,
            backends: &options.gt4py_backends,
            cache: &cache,
            folder: folder.join("peers"),
            source,
            threads: options.threads,
        });
        for (file, stencil) in stencils {
            let name = format!("{file}:{stencil}");
            let is_wanted = options.name.as_ref().is_none_or(|it| name.contains(it.as_str()));
            if n_left == 0 || !is_wanted || trial.expects_refusal(&file, &stencil) {
                continue;
            }
            let (project, config) = trial.project(&file, &stencil);
            match measure::measure(&name, &project, config, options, &workplace, &backends, gt4py.as_ref()) {
                Ok(Some(it)) => {
                    n_left -= 1;
                    eprintln!("{}", report::line(&it));
                    all.push(it);
                }
                Ok(None) => {}
                Err(why) => eprintln!("{name}: {why:#}"),
            }
            workplace.forget()?;
        }
    }
    print!("{}", report::report(&all, &backends));
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
        // Knuth's generator for 64 bits. Its upper bits are good.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = (state >> 33) % (last as u64 + 1);
        all.swap(last, usize::try_from(at).unwrap_or_default());
    }
}
