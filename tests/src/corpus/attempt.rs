//! One stencil, as far as it goes.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use isobar_compiler::backend::debug::{self, Control};
use isobar_compiler::backend::launch::ScalarInput;
use isobar_compiler::backend::signature::{ParamKind, Signature};
use isobar_compiler::config::{Config, External};
use isobar_compiler::diag::{FileId, Severity, Span};
use isobar_compiler::inputs::{self, Directives, Generator, InputDirective, ScalarDirective};
use isobar_compiler::pipeline::{Compilation, NoHook, route};
use isobar_compiler::project::Project;
use isobar_compiler::space::Domain;
use isobar_compiler::types::DType;

/// What became of a stencil.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It compiled through all levels in this time; `Err` says why a run on small fields ended early.
    Accepted { took: Duration, run: Result<(), String> },
    /// The first error: its code, and its sentence.
    Refused { code: &'static str, message: String },
    /// A fault of the compiler.
    Crashed { what: String },
}

/// Values that stand in for externals that nobody gives, one after the other.
const GUESSES: [External; 6] = [
    External::Int(1),
    External::Bool(true),
    External::Bool(false),
    External::Float(0.5),
    External::Int(5),
    External::Int(10),
];

/// Compiles a stencil, with externals guessed where it needs some, and runs it with `debug` on `domain`.
#[must_use]
pub fn attempt(project: &Project, domain: Domain) -> Outcome {
    let done = catch_unwind(AssertUnwindSafe(|| {
        let start = Instant::now();
        let plain = route::compile(project, &Config::default(), &mut NoHook);
        let took = start.elapsed();
        let guessed = || GUESSES.iter().map(|guess| with_externals(project, &plain, guess));
        let accepted = match plain.has_errors() {
            false => Some((plain.clone(), took)),
            true => guessed().find(|(it, _)| !it.has_errors()),
        };
        match accepted {
            Some((compilation, took)) => Outcome::Accepted { took, run: run(&compilation, domain) },
            None => refused(&plain, guessed().map(|(it, _)| it)),
        }
    }));
    done.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Outcome::Crashed { what: text.lines().next().unwrap_or_default().to_owned() }
    })
}

fn with_externals(project: &Project, plain: &Compilation, guess: &External) -> (Compilation, Duration) {
    let mut config = Config::default();
    for name in &plain.externals {
        if External::of_single_tile(name).is_none() {
            config.externals.insert(name.clone(), guess.clone());
        }
    }
    let start = Instant::now();
    let compilation = route::compile(project, &config, &mut NoHook);
    (compilation, start.elapsed())
}

/// The first error of the attempt that has fewest codes: what a guess of externals brings about says nothing.
fn refused(plain: &Compilation, others: impl Iterator<Item = Compilation>) -> Outcome {
    let n_codes = |it: &Compilation| errors(it).map(|(code, _)| code).collect::<BTreeSet<_>>().len();
    let best = others.min_by_key(n_codes);
    let best = best.filter(|it| n_codes(it) < n_codes(plain)).unwrap_or_else(|| plain.clone());
    let (code, message) = errors(&best).next().unwrap_or(("", String::new()));
    Outcome::Refused { code, message }
}

fn errors(of: &Compilation) -> impl Iterator<Item = (&'static str, String)> {
    let errors = of.diagnostics.iter().filter(|it| it.severity == Severity::Error);
    errors.map(|it| (it.code.0, it.message.clone()))
}

fn run(compilation: &Compilation, domain: Domain) -> Result<(), String> {
    struct GoOn;
    impl Control for GoOn {
        fn progress(&mut self, _done: u64, _total: u64) -> bool {
            true
        }
    }
    let (Some(signature), Some(oir), Some(extents)) =
        (&compilation.signature, &compilation.levels.oir, &compilation.levels.extents)
    else {
        return Err("a level is missing".to_owned());
    };
    let domain = Domain::new(domain.i, domain.j, domain.k.max(signature.min_levels));
    let call = inputs::call_for(signature, &small_inputs(signature), domain);
    let mut launch = compilation.bind(call).map_err(|wrong| {
        wrong.iter().map(|it| format!("{} {}", it.code, it.message)).collect::<Vec<_>>().join("; ")
    })?;
    debug::run(oir, extents, &mut launch, &mut GoOn).map_err(|stop| format!("{stop:?}"))
}

/// Random positive fields, and a scalar of each kind.
fn small_inputs(signature: &Signature) -> Directives {
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
