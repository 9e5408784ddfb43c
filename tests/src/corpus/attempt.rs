//! One stencil, as far as it goes.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use isobar_compiler::call::launch::{Launch, ScalarInput};
use isobar_compiler::call::signature::{ParamKind, Signature};
use isobar_compiler::config::{Config, External};
use isobar_compiler::debug::{self, Control};
use isobar_compiler::diag::{FileId, Severity, Span};
use isobar_compiler::frontend::externals::{ExternalKind, guess};
use isobar_compiler::inputs::{self, Directives, Generator, InputDirective, ScalarDirective};
use isobar_compiler::pipeline::{Compilation, NoHook};
use isobar_compiler::project::Project;
use isobar_compiler::session::Session;
use isobar_compiler::space::Domain;
use isobar_compiler::types::DType;
use isobar_equivalence::compare::compare;
use isobar_equivalence::journey::Journey;
use isobar_runner::backends::Backend;

use super::Checkout;
use super::native::{OnBackend, hold_on};
use crate::levels::reads_back;
use crate::native::Workplace;

/// The outcome of a stencil.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It compiled through all levels in this time, with these warnings. An error of `run` says why a run on
    /// small fields ended early. An error of `levels` says why a level has another meaning, or does not read
    /// back as it is printed. `native` has the outcomes on back ends.
    Accepted {
        took: Duration,
        run: Result<(), String>,
        levels: Result<(), String>,
        native: Vec<OnBackend>,
        warnings: BTreeSet<&'static str>,
    },
    /// The first error: its code, and its sentence.
    Refused { code: &'static str, message: String },
    /// A fault of the compiler.
    Crashed { what: String },
}

/// Numbers and switches that are tried for externals that nobody gives, one set after the other.
const GUESSES: [(i64, bool); 6] = [(1, true), (1, false), (5, true), (10, true), (2, false), (0, false)];
/// How many functions are tried for each external that is called.
const FUNCTIONS: usize = 4;

/// Compiles stencils of a checkout.
#[derive(Debug)]
pub struct Trial {
    checkout: Checkout,
    session: Session,
    /// Whether every level and every pass is run and held against the meaning.
    compares: bool,
    /// The back ends that are held against the meaning.
    backends: Vec<Backend>,
    workplace: Option<Workplace>,
}

impl Trial {
    #[must_use]
    pub fn new(checkout: Checkout) -> Self {
        Self { checkout, session: Session::new(), compares: false, backends: Vec::new(), workplace: None }
    }

    /// The same, where every level and every pass is also run and held against the meaning.
    #[must_use]
    pub fn comparing(self) -> Self {
        Self { compares: true, ..self }
    }

    /// The same, where each stencil also runs on these back ends, and is held against the meaning.
    ///
    /// # Errors
    ///
    /// When one of them cannot run here.
    pub fn on(self, backends: &[Backend]) -> anyhow::Result<Self> {
        if backends.is_empty() {
            return Ok(self);
        }
        let workplace = Workplace::temporary()?;
        for &backend in backends {
            workplace.check(backend).map_err(anyhow::Error::msg)?;
        }
        Ok(Self { backends: backends.to_vec(), workplace: Some(workplace), ..self })
    }

    /// All files.
    #[must_use]
    pub fn files(&self) -> &Project {
        self.checkout.files()
    }

    /// Every stencil: its file and its name.
    pub fn stencils(&mut self) -> Vec<(String, String)> {
        self.checkout.stencils()
    }

    /// Whether a test of the file expects that the stencil is refused.
    pub fn expects_refusal(&mut self, file: &str, stencil: &str) -> bool {
        self.checkout.expectations(file).refused.contains(stencil)
    }

    /// Whether the tests of the file parse the stencil, and ask nothing of what is checked later.
    pub fn is_only_parsed(&mut self, file: &str, stencil: &str) -> bool {
        self.checkout.expectations(file).only_parsed.contains(stencil)
    }

    /// Compiles a stencil, with externals guessed where it needs some.
    pub fn compile(&mut self, file: &str, stencil: &str) -> Arc<Compilation> {
        match self.accepted(file, stencil, true) {
            Ok((compilation, ..)) => compilation,
            Err(refused) => Arc::clone(&refused[0]),
        }
    }

    /// Compiles a stencil, with externals guessed where it needs some, and runs it with `debug` on `domain`.
    #[must_use]
    pub fn attempt(&mut self, file: &str, stencil: &str, domain: Domain) -> Outcome {
        // A stencil that a test expects to be refused gets no guesses: an external may be missing there on
        // purpose.
        let guesses = !self.expects_refusal(file, stencil);
        let done = catch_unwind(AssertUnwindSafe(|| match self.accepted(file, stencil, guesses) {
            Ok((compilation, took, config)) => {
                // Each text is made when it is asked for, and none may panic either.
                let _ = compilation.listings().count();
                let launch = launch(&compilation, domain);
                let levels =
                    reads_back(&compilation).and_then(|()| match (&launch, &compilation.front.oir) {
                        (Ok(launch), Some(oir)) if self.compares => {
                            compare(&Journey::usual(oir), launch, &[1])
                                .1
                                .map_or(Ok(()), |it| Err(it.to_string()))
                        }
                        _ => Ok(()),
                    });
                let native = match &launch {
                    Ok(_) => self.on_backends(file, stencil, &config, domain),
                    Err(_) => Vec::new(),
                };
                Outcome::Accepted {
                    took,
                    native,
                    run: launch.and_then(|launch| run(&compilation, launch)),
                    levels,
                    warnings: codes(&compilation, Severity::Warning).map(|(code, _)| code).collect(),
                }
            }
            Err(refused) => self::refused(&refused),
        }));
        done.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            Outcome::Crashed { what: text.lines().next().unwrap_or_default().to_owned() }
        })
    }

    fn on_backends(&mut self, file: &str, stencil: &str, config: &Config, domain: Domain) -> Vec<OnBackend> {
        let project = self.checkout.project(file, stencil);
        let held = |workplace, &backend: &Backend| {
            let held = hold_on(backend, project, config, domain, workplace);
            OnBackend { backend, outcome: held.map_err(|wrong| format!("{wrong:#}")) }
        };
        let workplace = self.workplace.iter();
        workplace.flat_map(|it| self.backends.iter().map(move |backend| held(it, backend))).collect()
    }

    /// The files, and the configuration with which the stencil compiles, if any does.
    pub fn project(&mut self, file: &str, stencil: &str) -> (Project, Config) {
        let config = self.accepted(file, stencil, true).map(|(_, _, config)| config).unwrap_or_default();
        (self.checkout.project(file, stencil).clone(), config)
    }

    /// The first compilation without errors, how long it took and with which configuration, or all that have some.
    fn accepted(
        &mut self,
        file: &str,
        stencil: &str,
        guesses: bool,
    ) -> Result<(Arc<Compilation>, Duration, Config), Vec<Arc<Compilation>>> {
        let (plain, took) = self.timed(file, stencil, &Config::default());
        if !plain.has_errors() {
            return Ok((plain, took, Config::default()));
        }
        let externals = plain.front.externals.clone();
        if externals.is_empty() || !guesses {
            return Err(vec![plain]);
        }
        let mut refused = Vec::new();
        let mut functions = BTreeMap::new();
        for it in &externals {
            if let ExternalKind::Function { n_args } = it.kind {
                functions.insert(&it.name, self.checkout.functions(&it.name, n_args));
            }
        }
        let n_functions = functions.values().map(Vec::len).max().unwrap_or(0).clamp(1, FUNCTIONS);
        for (chosen, (int, switch)) in (0..n_functions).flat_map(|it| GUESSES.map(|guess| (it, guess))) {
            let mut config = Config::default();
            for it in externals.iter().filter(|it| External::of_single_tile(&it.name).is_none()) {
                let function = functions.get(&it.name).and_then(|them| them.get(chosen).or(them.first()));
                let value = match function {
                    Some(path) => Some(External::Function(path.clone())),
                    None => guess(&it.kind).map(|it| varied(it, int, switch)),
                };
                config.externals.extend(value.map(|value| (it.name.clone(), value)));
            }
            let (compilation, took) = self.timed(file, stencil, &config);
            if !compilation.has_errors() {
                return Ok((compilation, took, config));
            }
            refused.push(compilation);
        }
        Err(refused)
    }

    fn timed(&mut self, file: &str, stencil: &str, config: &Config) -> (Arc<Compilation>, Duration) {
        let project = self.checkout.project(file, stencil);
        let start = Instant::now();
        let compilation = self.session.compile(project, config, &mut NoHook);
        (compilation, start.elapsed())
    }
}

/// The guess with other numbers and switches in it.
fn varied(guess: External, int: i64, switch: bool) -> External {
    match guess {
        External::Int(_) => External::Int(int),
        External::Bool(_) => External::Bool(switch),
        External::Namespace(members) => {
            let members = members.into_iter().map(|(name, it)| (name, varied(it, int, switch)));
            External::Namespace(members.collect())
        }
        other => other,
    }
}

/// The first error of the attempt that has fewest codes: what a guess of externals brings about says nothing.
fn refused(attempts: &[Arc<Compilation>]) -> Outcome {
    fn errors(of: &Compilation) -> impl Iterator<Item = (&'static str, String)> {
        codes(of, Severity::Error)
    }
    let n_codes = |it: &Compilation| errors(it).map(|(code, _)| code).collect::<BTreeSet<_>>().len();
    let best = attempts.iter().min_by_key(|it| n_codes(it));
    let (code, message) = best.and_then(|it| errors(it).next()).unwrap_or(("", String::new()));
    Outcome::Refused { code, message }
}

fn codes(of: &Compilation, severity: Severity) -> impl Iterator<Item = (&'static str, String)> {
    let told = of.notes.diagnostics.iter().filter(move |it| it.severity == severity);
    told.map(|it| (it.code.0, it.message.clone()))
}

/// A call with random fields.
///
/// # Errors
///
/// Why there is none: what the call lacks, or that the stencil does not compile.
pub fn launch(compilation: &Compilation, domain: Domain) -> Result<Launch, String> {
    let signature = compilation.front.signature.as_ref().ok_or("a level is missing")?;
    let domain = Domain::new(domain.i, domain.j, domain.k.max(signature.min_levels));
    let call = inputs::call_for(signature, &small_inputs(signature), domain);
    compilation.front.bind(call).map_err(|wrong| {
        wrong.iter().map(|it| format!("{} {}", it.code, it.message)).collect::<Vec<_>>().join("; ")
    })
}

fn run(compilation: &Compilation, mut launch: Launch) -> Result<(), String> {
    struct GoOn;
    impl Control for GoOn {
        fn progress(&mut self, _done: u64, _total: u64) -> bool {
            true
        }
    }
    let (Some(oir), Some(extents)) = (&compilation.front.oir, &compilation.front.extents) else {
        return Err("a level is missing".to_owned());
    };
    debug::run(oir, extents, &mut launch, &mut GoOn).map_err(|stop| format!("{stop:?}"))
}

/// Random positive fields, and a scalar of each kind.
#[must_use]
pub fn small_inputs(signature: &Signature) -> Directives {
    let mut directives = Directives::default();
    let span = Span { file: FileId(0), start: 0, end: 0 };
    for (param, seed) in signature.params.iter().zip(1..) {
        match &param.kind {
            ParamKind::Field { .. } => directives.inputs.push(InputDirective {
                field: param.name.clone(),
                generator: Generator::Random { low: 0.5, high: 1.5, seed },
                span,
            }),
            ParamKind::Scalar { default: Some(_), .. } => {}
            ParamKind::Scalar { dtype, default: None } => {
                let value = match dtype {
                    DType::Bool => ScalarInput::Bool(true),
                    it if it.is_int() => ScalarInput::Int(1),
                    _ => ScalarInput::Float(0.5),
                };
                directives.scalars.push(ScalarDirective { name: param.name.clone(), value, span });
            }
        }
    }
    directives
}
