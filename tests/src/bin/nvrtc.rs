//! `cargo xtask nvrtc`: CUDA of our stencils and of generated ones as machine code, without a GPU. It tells the registers
//! of each kernel and what spills, and finds operations that were fused though they must not be.
#![expect(clippy::print_stdout, reason = "a command-line program talks to its user on stdout")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use isobar_compiler::expr::{Expr, ExprKind};
use isobar_compiler::kernel::Kernels;
use isobar_compiler::loops::nodes::Read;
use isobar_compiler::space::Domain;
use isobar_compiler::types::BinaryOp;
use isobar_runtime::executors::cuda::nvrtc::{Cubin, Nvrtc, NvrtcError, UNIT, WIDE};
use isobar_tests::agree::subject::Subject;
use isobar_tests::gpu::hand::{HAND, Hand};
use isobar_tests::root;

const USAGE: &str =
    "nvrtc [--generated N] [--first SEED] [--arch sm_90]... [--disassembler nvdisasm] [FOLDER]...";

/// Deep nesting costs stack; the compiler's own limits see to it that this is enough.
const STACK_BYTES: usize = 256 * 1024 * 1024;

fn main() -> ExitCode {
    let work = || Options::of(std::env::args().skip(1)).and_then(|it| run(&it));
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        Ok(Ok(Err(error))) => {
            println!("error: {error:#}");
            ExitCode::FAILURE
        }
        Ok(Err(_)) | Err(_) => ExitCode::FAILURE,
    }
}

struct Options {
    generated: u64,
    first: u64,
    archs: Vec<String>,
    disassembler: Option<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Options {
    fn of(mut given: impl Iterator<Item = String>) -> Result<Self> {
        let mut options =
            Self { generated: 0, first: 0, archs: Vec::new(), disassembler: None, folders: Vec::new() };
        while let Some(option) = given.next() {
            let mut value = || given.next().context(USAGE);
            match option.as_str() {
                "--generated" => options.generated = value()?.parse().context(USAGE)?,
                "--first" => options.first = value()?.parse().context(USAGE)?,
                "--arch" => options.archs.push(value()?),
                "--disassembler" => options.disassembler = Some(value()?.into()),
                it if it.starts_with('-') => bail!(USAGE),
                folder => options.folders.push(folder.into()),
            }
        }
        if options.archs.is_empty() {
            options.archs = ["sm_80", "sm_90", "sm_100"].map(str::to_owned).to_vec();
        }
        Ok(options)
    }
}

/// The results so far.
#[derive(Debug, Default)]
struct Total {
    texts: u32,
    kernels: u32,
    spilling: u32,
    disassembled: u32,
    longest: Duration,
    /// Of a kernel: that of its text by the number of those in it.
    of_kernels: Vec<Duration>,
}

impl Total {
    /// Notes how long a text with so many kernels took.
    fn took(&mut self, took: Duration, n_kernels: usize) {
        self.texts += 1;
        self.longest = self.longest.max(took);
        let n = u32::try_from(n_kernels).unwrap_or(u32::MAX).max(1);
        self.of_kernels.extend(std::iter::repeat_n(took / n, n_kernels));
    }
}

fn run(options: &Options) -> Result<()> {
    let nvrtc = match Nvrtc::here() {
        Ok(it) => it,
        Err(NvrtcError::Missing) => bail!("{}", NvrtcError::Missing),
        Err(other) => return Err(other.into()),
    };
    let (major, minor) = nvrtc.version();
    println!("NVRTC {major}.{minor}, for {}", options.archs.join(", "));
    let domain = Domain::new(5, 4, 6);
    let mut subjects = Subject::of_folder("gallery", &root().join("static/gallery"), domain)?;
    subjects.extend(Subject::of_folder("kernels", &root().join("tests/kernels"), domain)?);
    for folder in &options.folders {
        subjects.extend(Subject::of_checkout(folder, &[], domain)?);
    }
    let n_written = subjects.len();
    subjects.extend((options.first..options.first + options.generated).map(Subject::of_seed));
    let mut total = Total::default();
    for hand in &HAND {
        check_hand(nvrtc, hand, options, &mut total).with_context(|| hand.name)?;
    }
    for (at, subject) in subjects.iter().enumerate() {
        check(nvrtc, subject, options, at < n_written, &mut total)
            .with_context(|| format!("{}: {}", subject.origin, subject.name))?;
    }
    let Total { texts, kernels, spilling, disassembled, longest, mut of_kernels } = total;
    of_kernels.sort_unstable();
    let [median, most] = [of_kernels.get(of_kernels.len() / 2), of_kernels.last()]
        .map(|it| it.copied().unwrap_or_default().as_millis());
    println!(
        "{texts} texts with {kernels} kernels compile; {spilling} kernels spill; a kernel takes {median} ms (median), \
         {most} ms at most; the longest text {} ms",
        longest.as_millis()
    );
    match options.disassembler {
        Some(_) => {
            println!("{disassembled} of them have no division, root or function, and no fused operation")
        }
        None => isobar_testing::skip_part("a search for fused operations", "there is no disassembler"),
    }
    Ok(())
}

/// Compiles kernels that are written by hand, which must not spill.
fn check_hand(nvrtc: &Nvrtc, hand: &Hand, options: &Options, total: &mut Total) -> Result<()> {
    for arch in &options.archs {
        let begun = Instant::now();
        let cubin = nvrtc.compile(&hand.text(), arch, &[]).with_context(|| arch.clone())?;
        total.took(begun.elapsed(), cubin.figures.len());
        ensure!(!cubin.log.contains("warning"), "{arch}: {}", cubin.log);
        ensure!(cubin.figures.len() == hand.kernels().len(), "{arch}: {}", cubin.log);
        for it in &cubin.figures {
            total.kernels += 1;
            ensure!(
                it.spill_bytes == 0 && it.stack_bytes == 0,
                "{arch}: {} spills\n{}",
                it.kernel,
                cubin.log
            );
            println!("by hand {:<36} {arch:<7} {:<10} {:>3} registers", hand.name, it.kernel, it.registers);
        }
        // The other one divides.
        if let Some(disassembler) = options.disassembler.as_ref().filter(|_| hand.name == "hdiff") {
            total.disassembled += u32::try_from(cubin.figures.len()).unwrap_or(0);
            let fused = fused(disassembler, &cubin)?;
            ensure!(fused.is_empty(), "{arch}: fused operations: {}", fused.join("\n"));
        }
    }
    Ok(())
}

/// Compiles the kernels of a stencil for all architectures.
fn check(
    nvrtc: &Nvrtc,
    subject: &Subject,
    options: &Options,
    is_told: bool,
    total: &mut Total,
) -> Result<()> {
    let compilation = subject.compile();
    if compilation.has_errors() {
        ensure!(!is_told || !options.folders.is_empty(), "{:#?}", compilation.notes.diagnostics);
        return Ok(());
    }
    let (Some(kernels), Some(artifact)) = (compilation.kernels(), compilation.cuda()) else {
        bail!("there are no kernels")
    };
    let text = &artifact.listing.text;
    for arch in &options.archs {
        let begun = Instant::now();
        let cubin = nvrtc.compile(text, arch, &[UNIT]).with_context(|| format!("{arch}\n{text}"))?;
        let took = begun.elapsed();
        total.took(took, cubin.figures.len());
        if is_told {
            println!(
                "{:<44} {arch:<7} {} kernels in {} ms",
                subject.name,
                cubin.figures.len(),
                took.as_millis()
            );
        }
        let foreign: Vec<&str> = cubin.log.lines().filter(|it| it.contains("warning")).collect();
        ensure!(foreign.is_empty(), "{arch}: {}", cubin.log);
        ensure!(
            cubin.figures.len() == artifact.kernels.len(),
            "{arch}: the log tells of other kernels\n{}",
            cubin.log
        );
        for it in &cubin.figures {
            total.kernels += 1;
            total.spilling += u32::from(it.spill_bytes > 0);
            if is_told || it.spill_bytes > 0 {
                println!(
                    "{:<44} {arch:<7} {:<10} {:>3} registers, {} bytes spilled, {} on the stack, {} shared",
                    subject.name, it.kernel, it.registers, it.spill_bytes, it.stack_bytes, it.shared_bytes
                );
            }
        }
        if let Some(disassembler) = &options.disassembler
            && !may_be_fused(kernels)
        {
            total.disassembled += u32::try_from(cubin.figures.len()).unwrap_or(0);
            let fused = fused(disassembler, &cubin)?;
            ensure!(fused.is_empty(), "{arch}: fused operations: {}\n{text}", fused.join("\n"));
        }
    }
    // Of the other variants what is most unlike this one.
    if let Some(arch) = options.archs.first() {
        nvrtc.compile(text, arch, &[WIDE]).with_context(|| format!("{arch} with {WIDE}\n{text}"))?;
    }
    Ok(())
}

/// Whether something is computed that is made of fused operations: a quotient, a remainder, a root, a function.
fn may_be_fused(kernels: &Kernels) -> bool {
    let mut may = false;
    let mut look = |expr: &Expr<Read>| {
        expr.walk(&mut |it| {
            may |= match &it.kind {
                ExprKind::Binary(op, ..) => matches!(op, BinaryOp::Div | BinaryOp::Mod | BinaryOp::Pow),
                ExprKind::Call(..) => true,
                _ => false,
            };
        });
    };
    for kernel in &kernels.kernels {
        kernel.walk(&mut |item| item.each_expr(&mut look));
    }
    may
}

/// The instructions that round a product and a sum once.
fn fused(disassembler: &Path, cubin: &Cubin) -> Result<Vec<String>> {
    let file = std::env::temp_dir().join(format!("isobar-{}.cubin", std::process::id()));
    std::fs::write(&file, &cubin.code)?;
    let said = Command::new(disassembler).arg("-c").arg(&file).output();
    std::fs::remove_file(&file)?;
    let said = said.with_context(|| disassembler.display().to_string())?;
    ensure!(said.status.success(), "nvdisasm: {}", String::from_utf8_lossy(&said.stderr));
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    ensure!(text.contains("EXIT"), "nvdisasm tells no instruction");
    let is_fused = |line: &&str| line.contains("FFMA") || line.contains("DFMA");
    Ok(text.lines().filter(is_fused).map(|it| it.trim().to_owned()).collect())
}
