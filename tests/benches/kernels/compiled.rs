//! From a kernel's texts to what can be called, and how long each stage of that took.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use isobar_compiler::backend::c;
use isobar_compiler::backend::launch::Launch;
use isobar_compiler::backend::signature::{AccessKind, Param, ParamKind, Signature};
use isobar_compiler::config::Config;
use isobar_compiler::pass::Timer;
use isobar_compiler::pipeline::{Compilation, StepKind, route};
use isobar_compiler::project::Project;
use isobar_compiler::space::Domain;
use isobar_protocol::request::Mode;
use isobar_runner::executors::foreign::Foreign;
use isobar_runner::executors::{Backend, Prepared, Setting};
use isobar_tests::root;
use serde::Serialize;

use crate::fields::{Agreement, Fields};
use crate::kernels::{EXACT, FLAGS, FUSED, Kernel};

/// What the runner adds to the flags that generated code asks for.
const MACHINE_FLAGS: [&str; 3] = ["-march=native", "-shared", "-fPIC"];

/// A size at which nothing is a multiple of anything.
const ODD: Domain = Domain { i: 71, j: 37, k: 19 };

/// A stage, and its milliseconds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StageTime {
    pub(crate) stage: String,
    pub(crate) ms: f64,
}

/// A kernel of one element type, ready to be called.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) kernel: &'static Kernel,
    pub(crate) precision: u32,
    pub(crate) text: PathBuf,
    pub(crate) compilation: Compilation,
    pub(crate) signature: Signature,
    pub(crate) stages: Vec<StageTime>,
    pub(crate) hand: Native,
    /// The same with contraction.
    pub(crate) fused: Native,
    pub(crate) openmp: Native,
}

/// Compiled C, and the parameters of the stencil in its order.
#[derive(Debug)]
pub(crate) struct Native {
    code: Foreign,
    order: Vec<usize>,
}

impl Native {
    pub(crate) fn call(
        &self,
        signature: &Signature,
        launch: &mut Launch,
        threads: u32,
    ) -> Result<(), String> {
        self.code.call(signature, &self.order, launch, threads)
    }
}

fn cc() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".to_owned())
}

/// What the C compiler says of itself.
pub(crate) fn cc_version() -> String {
    let said = Command::new(cc())
        .arg("--version")
        .output()
        .map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
    said.ok().and_then(|it| it.lines().next().map(str::to_owned)).unwrap_or_default()
}

/// Compiles C into a library.
fn library(sources: &Path, flags: &[&str], library: &Path) -> Result<()> {
    let said = Command::new(cc()).args(flags).arg("-o").arg(library).arg(sources).arg("-lm").output()?;
    if !said.status.success() {
        bail!("{}: {}", sources.display(), String::from_utf8_lossy(&said.stderr));
    }
    Ok(())
}

/// A file of hand-written C as a library of one type.
pub(crate) fn by_hand(name: &str, precision: u32, flags: &[&str], folder: &Path) -> Result<Foreign> {
    let source = root().join("tests/kernels/hand").join(format!("{name}.c"));
    let include = format!("-I{}", root().join("compiler/src/backend/c").display());
    let real = format!("-DREAL={}", if precision == 32 { "float" } else { "double" });
    let mut all = vec![include.as_str(), &real];
    all.extend(FLAGS);
    all.extend(flags);
    let suffix: String = flags.concat().chars().filter(char::is_ascii_alphanumeric).collect();
    let path = folder.join(format!("hand_{name}_{precision}_{suffix}.so"));
    library(&source, &all, &path)?;
    Foreign::load(&path, c::ENTRY).map_err(|why| anyhow!(why))
}

impl Compiled {
    pub(crate) fn new(kernel: &'static Kernel, precision: u32, folder: &Path) -> Result<Self> {
        let path = root().join(kernel.text);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let project = Project::of_one(kernel.text, &text);
        let config = Config::with_precision(precision);
        let begun = Instant::now();
        let ms = |begun: Instant| begun.elapsed().as_secs_f64() * 1e3;
        let mut timer = Timer::new(|| ms(begun));
        let compilation = route::compile(&project, &config, &mut timer);
        if compilation.has_errors() {
            bail!("{} does not compile: {:#?}", kernel.name, compilation.diagnostics);
        }
        // The passes of a level count to it.
        let mut stages: Vec<StageTime> = Vec::new();
        for it in timer.into_times() {
            if !matches!(it.step.kind, StepKind::Door | StepKind::Pipeline) {
                continue;
            }
            match stages.iter_mut().find(|stage| stage.stage == it.step.name) {
                Some(stage) => stage.ms += it.took,
                None => stages.push(StageTime { stage: it.step.name.to_owned(), ms: it.took }),
            }
        }
        let signature = compilation.signature.clone().context("it compiled")?;
        let artifact = compilation.levels.artifact.as_ref().context("it compiled")?;

        let begun = Instant::now();
        let source = folder.join(format!("{}_{precision}.c", kernel.name));
        fs::write(&source, &artifact.listing.text)?;
        let flags: Vec<&str> = c::FLAGS.into_iter().chain(MACHINE_FLAGS).collect();
        let path_of_library = source.with_extension("so");
        library(&source, &flags, &path_of_library)?;
        stages.push(StageTime { stage: "cc".to_owned(), ms: ms(begun) });
        let begun = Instant::now();
        let code = Foreign::load(&path_of_library, &artifact.entry).map_err(|why| anyhow!(why))?;
        stages.push(StageTime { stage: "load".to_owned(), ms: ms(begun) });

        let position = |name: &str| signature.params.iter().position(|it| it.name == name);
        let order = artifact.arguments.iter().map(|it| position(&it.name)).collect::<Option<_>>();
        let openmp = Native { code, order: order.context("every argument is a parameter")? };
        let by_hand = |contraction: &'static str| -> Result<Native> {
            let mut flags = vec![contraction];
            flags.extend(kernel.flags);
            let code = by_hand(kernel.name, precision, &flags, folder)?;
            Ok(Native { code, order: (0..signature.params.len()).collect() })
        };
        let (hand, fused) = (by_hand(EXACT)?, by_hand(FUSED)?);
        Ok(Self { kernel, precision, text: path, signature, stages, hand, fused, openmp, compilation })
    }

    /// Machine code made in process.
    pub(crate) fn rayon(&self, threads: u32, folder: &Path) -> Result<Box<dyn Prepared + '_>> {
        let cc = Err(String::new());
        let setting = Setting { cc: &cc, cache: None, temporary: folder, threads, mode: Mode::Reproducible };
        let prepared = Backend::Rayon.executor().prepare(&self.compilation, setting, &|_| ());
        prepared.map_err(|failure| anyhow!("{failure:?}"))
    }

    /// Holds what is written by hand, and what is generated, against the interpreter that defines the meaning.
    pub(crate) fn check(&self) -> Result<Agreement> {
        let given = isobar_tests::launch(&self.compilation, ODD);
        let mut fields = Fields::aligned(&given, &self.signature);
        isobar_tests::run_debug(&self.compilation, &mut fields.launch);
        let meant: Vec<_> = fields.written().map(|(at, it)| (at, it.clone())).collect();
        let mut agreement = Agreement::Bits;
        for (name, native, tolerance) in [
            ("by hand", &self.hand, self.kernel.tolerance),
            ("openmp", &self.openmp, crate::kernels::Tolerance::Bits),
        ] {
            for threads in [1, 2, 3] {
                fields.spoil();
                let ran = native.call(&self.signature, &mut fields.launch, threads);
                let agrees = ran.and_then(|()| fields.compare(&meant, tolerance));
                let agrees = agrees.map_err(|why| {
                    anyhow!(
                        "{} f{} {name} on {ODD} with {threads} threads: {why}",
                        self.kernel.name,
                        self.precision
                    )
                })?;
                agreement = agreement.max(agrees);
            }
        }
        Ok(agreement)
    }

    /// The bytes that a call moves at least: each field that is read once, and each that is written once.
    pub(crate) fn traffic_bytes(&self, domain: Domain) -> u64 {
        let of = |param: &Param| match &param.kind {
            ParamKind::Field { axes, dtype, .. } if param.access != AccessKind::None => {
                let times = u64::from(param.access.is_read()) + u64::from(param.access.is_written());
                let points = axes.iter().map(|axis| u64::try_from(domain.along(axis)).unwrap_or(0));
                points.fold(times * dtype.size_bytes() as u64, u64::saturating_mul)
            }
            ParamKind::Field { .. } | ParamKind::Scalar { .. } => 0,
        };
        self.signature.params.iter().map(of).sum()
    }
}
