//! Compares our kernels with hand-written C, with the machine's own speed, and with others that run the same
//! texts: `cargo xtask bench kernels`.
//!
//! All contestants take turns: each round calls every one once, in an order of its own (slow ones join fewer
//! rounds).
//! So other load of the machine affects all of them, and ratios mean more than times. Contestants in this
//! process share their fields. Each timed call follows one that is not timed, with the same arguments. The
//! hand-written version is checked against the interpreter before anything is timed.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark talks to its user")]

mod baseline;
mod clock;
mod measure;
mod picture;
mod report;
mod statistics;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Parser;
use isobar_compiler::space::Domain;
use isobar_tests::kernels::compiled::Compiled;
use isobar_tests::kernels::fields::Layout;
use isobar_tests::kernels::{KERNELS, Kernel};
use isobar_tests::{peers, root};

use baseline::Baseline;
use clock::Clock;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench kernels")]
struct Options {
    /// Which of copy, lap5, lap7, hdiff, vadv, tridiagonal, ppm, chain, physics
    #[arg(long, value_delimiter = ',')]
    kernel: Vec<String>,
    /// Points along I, J and K
    #[arg(long, value_delimiter = ',', value_parser = domain, default_value = "128x128x80")]
    size: Vec<Domain>,
    /// f64, f32
    #[arg(long, value_delimiter = ',', value_parser = precision, default_value = "f64")]
    dtype: Vec<u32>,
    #[arg(long, value_delimiter = ',', default_value = "1")]
    threads: Vec<u32>,
    /// Layouts of callers that our back ends are measured on as well: i, without room between rows, and k, as NumPy's
    #[arg(long, value_delimiter = ',', value_parser = layout)]
    layouts: Vec<Layout>,
    /// Calls of each contestant; of one that takes long, fewer
    #[arg(long, default_value_t = 31)]
    repeats: usize,
    /// Measure the time of processors and not that of the clock, on a machine that others use too; of one thread
    #[arg(long)]
    processor_time: bool,
    /// Write everything to this file
    #[arg(long)]
    json: Option<PathBuf>,
    /// Write the roofline to this file
    #[arg(long)]
    svg: Option<PathBuf>,
    /// A Python environment with gt4py, as `cargo xtask bench-env` makes
    #[arg(long)]
    gt4py: Option<PathBuf>,
    /// A Python with NumPy, to run the text of the stage `numpy`
    #[arg(long)]
    numpy: Option<PathBuf>,
    /// The date that the report shows
    #[arg(long)]
    date: Option<String>,
    /// `cargo bench` says so
    #[arg(long, hide = true)]
    bench: bool,
}

fn domain(text: &str) -> Result<Domain, String> {
    let sizes: Option<Vec<i64>> = text.split('x').map(|it| it.parse().ok().filter(|it| *it > 0)).collect();
    match sizes.as_deref() {
        Some(&[i, j, k]) => Ok(Domain::new(i, j, k)),
        _ => Err("a size is three numbers, as 128x128x80".to_owned()),
    }
}

fn precision(text: &str) -> Result<u32, String> {
    match text {
        "f64" => Ok(64),
        "f32" => Ok(32),
        _ => Err("a type is f64 or f32".to_owned()),
    }
}

fn layout(text: &str) -> Result<Layout, String> {
    match text {
        "i" => Ok(Layout::AlongI),
        "k" => Ok(Layout::AlongK),
        _ => Err("a layout is i or k".to_owned()),
    }
}

fn main() -> Result<()> {
    let options = Options::parse();
    // `cargo bench` starts it below; paths count from where `cargo xtask` works.
    std::env::set_current_dir(root())?;
    let wanted = wanted(&options.kernel)?;
    let gt4py = options.gt4py.as_deref().map(|it| peers::python_of(it, &[])).transpose()?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels");
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let clock = if options.processor_time { Clock::Processor } else { Clock::Wall };
    if clock == Clock::Processor && options.threads.iter().any(|it| *it != 1) {
        bail!("the time of processors adds up over threads: measure it with `--threads 1`");
    }
    let mut report = report::Report::new(options.date.clone(), options.repeats, clock);
    for &precision in &options.dtype {
        // Also where `copy` is not wanted itself, it is what the machine's speed is measured with.
        let copy = Compiled::new(&KERNELS[0], precision, &folder)?;
        let baseline = Baseline::new(&copy, &folder)?;
        for &threads in &options.threads {
            report.peaks.push(report::Peak { precision, threads, gflop_s: baseline.peak(threads)? });
        }
        for kernel in &wanted {
            let compiled = Compiled::new(kernel, precision, &folder)?;
            let agreement = compiled.check()?;
            eprintln!("{} f{precision}: by hand as `debug`, {}", kernel.name, agreement.told());
            report.compiled(&compiled);
            for &domain in &options.size {
                let given = isobar_tests::launch(&compiled.compilation, domain);
                for &threads in &options.threads {
                    let setting = measure::Setting {
                        domain,
                        threads,
                        repeats: options.repeats,
                        layouts: &options.layouts,
                        clock,
                        gt4py: gt4py.as_deref(),
                        numpy: options.numpy.as_deref(),
                        folder: &folder,
                    };
                    let measured = measure::measure(&compiled, &baseline, &given, &setting)?;
                    eprintln!("{}", report::line(&measured));
                    report.measured.push(measured);
                }
            }
        }
    }
    print!("{}", report.text());
    if let Some(path) = &options.json {
        let text = serde_json::to_string_pretty(&report)? + "\n";
        fs::write(path, text).with_context(|| path.display().to_string())?;
    }
    if let Some(path) = &options.svg {
        fs::write(path, picture::roofline(&report)).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// The kernels of these names, all where none is named.
fn wanted(names: &[String]) -> Result<Vec<&'static Kernel>> {
    if let Some(name) = names.iter().find(|name| KERNELS.iter().all(|it| it.name != **name)) {
        let known: Vec<_> = KERNELS.iter().map(|it| it.name).collect();
        bail!("there is no kernel `{name}`; there are {}", known.join(", "));
    }
    Ok(KERNELS.iter().filter(|it| names.is_empty() || names.iter().any(|name| name == it.name)).collect())
}
