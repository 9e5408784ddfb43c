//! From a kernel's texts to what can be called, and how long each stage of that took.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use isobar_compiler::c;
use isobar_compiler::call::launch::Launch;
use isobar_compiler::call::signature::{AccessKind, Param, ParamKind, Signature};
use isobar_compiler::config::Config;
use isobar_compiler::pass::Timer;
use isobar_compiler::pipeline::{Compilation, StepKind, route};
use isobar_compiler::project::Project;
use isobar_compiler::space::Domain;
use isobar_runner::backends::events::{Event, Sink};
use isobar_runner::backends::foreign::ForeignLibrary;
use isobar_runner::backends::{Backend, Mode, Prepared, Relayout, Setting, Vectors, prepare_compiled};
use isobar_runner::config::{Environment, Tools};
use serde::Serialize;

use super::fields::{Agreement, Fields};
use super::{EXACT, FLAGS, FUSED, Kernel, Tolerance};
use crate::native::machine_of;
use crate::{launch, root, run_debug};

/// A size at which nothing is a multiple of anything.
const ODD: Domain = Domain { i: 71, j: 37, k: 19 };

/// A stage, and its milliseconds.
#[derive(Clone, Debug, Serialize)]
pub struct StageTime {
    pub stage: String,
    pub ms: f64,
}

/// A kernel of one element type, ready to be called.
#[derive(Debug)]
pub struct Compiled {
    pub kernel: &'static Kernel,
    pub precision: u32,
    pub project: Project,
    pub config: Config,
    pub compilation: Compilation,
    pub signature: Signature,
    pub stages: Vec<StageTime>,
    pub hand: Native,
    /// The same with contraction.
    pub fused: Native,
    /// The hand-written version for fields along k, where there is one.
    pub hand_along_k: Option<Native>,
    ready: Ready,
}

/// Compiled C, and the parameters of the stencil in its order.
#[derive(Debug)]
pub struct Native {
    code: ForeignLibrary,
    order: Vec<usize>,
}

impl Native {
    pub fn call(&self, signature: &Signature, launch: &mut Launch, threads: u32) -> Result<(), String> {
        self.code.call(signature, &self.order, launch, threads)
    }
}

/// The tools and folders with which our back ends get ready.
#[derive(Debug)]
struct Ready {
    tools: Tools,
    cache: PathBuf,
    folder: PathBuf,
}

impl Ready {
    fn prepare(
        &self,
        backend: Backend,
        compilation: &Compilation,
        threads: u32,
        sink: Sink<'_>,
    ) -> Result<Prepared> {
        let setting = Setting {
            cc: &self.tools.cc,
            cache: Some(&self.cache),
            temporary: &self.folder,
            threads,
            mode: Mode::Reproducible,
            vectors: Vectors::Widest,
            relayout: Relayout::ByCost,
            has_lines: false,
            is_embedded: false,
        };
        let prepared = prepare_compiled(&*backend.executor(), compilation, setting, sink);
        prepared.map_err(|why| anyhow!("{} does not get ready: {why:?}", backend.name()))
    }
}

fn cc() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".to_owned())
}

/// Returns the name and version of the C compiler.
#[must_use]
pub fn cc_version() -> String {
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

/// A file of hand-written C as a library of one type, in `folder`.
///
/// # Errors
///
/// Where the C compiler refuses it.
pub fn by_hand(name: &str, precision: u32, flags: &[&str], folder: &Path) -> Result<ForeignLibrary> {
    let source = root().join("tests/kernels/hand").join(format!("{name}.c"));
    let include = format!("-I{}", root().join("compiler/code/src/c").display());
    let real = format!("-DREAL={}", if precision == 32 { "float" } else { "double" });
    let mut all = vec![include.as_str(), &real];
    all.extend(FLAGS);
    all.extend(flags);
    let suffix: String = flags.concat().chars().filter(char::is_ascii_alphanumeric).collect();
    let path = folder.join(format!("hand_{}_{precision}_{suffix}.so", name.replace('/', "_")));
    library(&source, &all, &path)?;
    ForeignLibrary::load(&path, c::ENTRY).map_err(|why| anyhow!(why))
}

impl Compiled {
    /// Compiles the stencil, and what is written by hand, in `folder`.
    ///
    /// # Errors
    ///
    /// Where one of the two is refused.
    pub fn new(kernel: &'static Kernel, precision: u32, folder: &Path) -> Result<Self> {
        let path = root().join(kernel.text);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let project = Project::of_one(kernel.text, &text);
        let tools = Tools::find(&Environment {
            path: std::env::var_os("PATH").unwrap_or_default(),
            cc: std::env::var("CC").ok(),
            ..Environment::default()
        });
        // As a run is scheduled.
        let mut config = Config::with_precision(precision);
        config.passes.machine = Some(machine_of(&tools));
        let begun = Instant::now();
        let ms = |begun: Instant| begun.elapsed().as_secs_f64() * 1e3;
        let mut timer = Timer::new(|| ms(begun));
        let compilation = route::compile(&project, &config, &mut timer);
        if compilation.has_errors() {
            bail!("{} does not compile: {:#?}", kernel.name, compilation.notes.diagnostics);
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
        let signature = compilation.front.signature.clone().context("it compiled")?;

        // Nothing is kept from a run before, so that the C compiler's time is told.
        let cache = folder.join(format!("cache-{}-{precision}", kernel.name));
        if cache.exists() {
            fs::remove_dir_all(&cache).with_context(|| cache.display().to_string())?;
        }
        let ready = Ready { tools, cache, folder: folder.to_owned() };
        let told = Mutex::new(Vec::new());
        let tell = |event| {
            if let (Event::Timing { step: name, ms, .. }, Ok(mut told)) = (event, told.lock()) {
                told.push(StageTime { stage: name.to_owned(), ms });
            }
        };
        let prepared = ready.prepare(Backend::OPENMP, &compilation, 1, &tell)?;
        let fitted = prepared.fit(&launch(&compilation, ODD), &tell);
        fitted.map_err(|why| anyhow!("{} does not get ready: {why:?}", kernel.name))?;
        drop(prepared);
        stages.extend(told.into_inner().unwrap_or_default());

        let by_hand = |contraction: &'static str| -> Result<Native> {
            let mut flags = vec![contraction];
            flags.extend(kernel.flags);
            let code = by_hand(kernel.name, precision, &flags, folder)?;
            Ok(Native { code, order: (0..signature.params.len()).collect() })
        };
        let (hand, fused) = (by_hand(EXACT)?, by_hand(FUSED)?);
        let along_k = format!("along_k/{}", kernel.name);
        let is_there = root().join("tests/kernels/hand").join(format!("{along_k}.c")).exists();
        let hand_along_k = is_there.then(|| -> Result<Native> {
            let code = self::by_hand(&along_k, precision, &[EXACT], folder)?;
            Ok(Native { code, order: (0..signature.params.len()).collect() })
        });
        let hand_along_k = hand_along_k.transpose()?;
        Ok(Self {
            kernel,
            precision,
            project,
            config,
            compilation,
            signature,
            stages,
            hand,
            fused,
            hand_along_k,
            ready,
        })
    }

    /// Our back ends of the CPU but the interpreter, ready for so many threads.
    ///
    /// # Errors
    ///
    /// Where one of them does not get ready.
    pub fn back_ends(&self, threads: u32) -> Result<Vec<(&'static str, Prepared)>> {
        let is_one = |it: &Backend| ![Backend::DEBUG, Backend::CUDA, Backend::WGPU].contains(it);
        let all = Backend::ALL.into_iter().filter(is_one);
        let prepared =
            all.map(|it| Ok((it.name(), self.ready.prepare(it, &self.compilation, threads, &|_| ())?)));
        prepared.collect()
    }

    /// Holds what is written by hand, and what is generated, against the interpreter that defines the meaning.
    ///
    /// # Errors
    ///
    /// Where one of them differs by more than it may.
    pub fn check(&self) -> Result<Agreement> {
        let given = launch(&self.compilation, ODD);
        let mut fields = Fields::aligned(&given, &self.signature);
        run_debug(&self.compilation, &mut fields.launch);
        let meant: Vec<_> = fields.written().map(|(at, it)| (at, it.clone())).collect();
        let mut agreement = Agreement::Bits;
        for threads in [1, 2, 3] {
            let place = |name: &str, why: &str| {
                anyhow!("{} f{} {name} on {ODD}, threads: {threads}: {why}", self.kernel.name, self.precision)
            };
            fields.spoil();
            let ran = self.hand.call(&self.signature, &mut fields.launch, threads);
            let agrees = ran.and_then(|()| fields.compare(&meant, self.kernel.tolerance));
            agreement = agreement.max(agrees.map_err(|why| place("by hand", &why))?);
            for (name, mut prepared) in self.back_ends(threads)? {
                fields.spoil();
                prepared.run(&mut fields.launch).map_err(|why| place(name, &format!("{why:?}")))?;
                fields.compare(&meant, Tolerance::Bits).map_err(|why| place(name, &why))?;
            }
        }
        Ok(agreement)
    }

    /// The bytes that a call moves at least: each field that is read once, and each that is written once.
    #[must_use]
    pub fn traffic_bytes(&self, domain: Domain) -> u64 {
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
