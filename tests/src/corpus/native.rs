//! A stencil on a back end of the runner: whether it gives the bits of `debug`, and how soon it is ready.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use isobar_compiler::config::Config;
use isobar_compiler::pipeline::{NoHook, route};
use isobar_compiler::project::Project;
use isobar_compiler::space::Domain;
use isobar_runner::backends::{Backend, Setting, prepare_compiled};

use super::attempt::launch;
use crate::against::native_gives_the_bits_of_debug;
use crate::levels::Held;
use crate::native::{Layout, Workplace, params};

/// Vectors with a rest, and more rows than a tile has.
const WIDE: Domain = Domain { i: 37, j: 17, k: 5 };

/// The outcome of a stencil on a back end.
#[derive(Clone, Debug)]
pub struct OnBackend {
    pub backend: Backend,
    /// An error says what differs from `debug`, or why the stencil does not get ready.
    pub outcome: Result<Agreed, String>,
}

/// A stencil that gives the bits of `debug`.
#[derive(Clone, Copy, Debug)]
pub struct Agreed {
    /// From its text to code that can be called, without what is kept from before.
    pub ready: Duration,
    pub held: Held,
}

/// Compiles a stencil for this machine, makes it ready, and holds it against `debug` on `domain` and on a wider one,
/// in two layouts.
///
/// # Errors
///
/// The difference, or the reason why the stencil does not get ready.
pub(super) fn hold_on(
    backend: Backend,
    project: &Project,
    config: &Config,
    domain: Domain,
    workplace: &Workplace,
) -> Result<Agreed> {
    let mut config = config.clone();
    config.passes.machine = Some(workplace.machine());
    let begun = Instant::now();
    let compilation = route::compile(project, &config, &mut NoHook);
    let compiled = begun.elapsed();
    ensure!(
        !compilation.has_errors(),
        "for this machine it does not compile: {:#?}",
        compilation.notes.diagnostics
    );
    let mut launches = Vec::new();
    for domain in [domain, WIDE] {
        // A domain that does not fit is reported where the stencil is run with `debug`.
        let Ok(given) = launch(&compilation, domain) else { continue };
        launches.extend([Layout::Fortran, Layout::C].map(|it| it.of(&given, params(&compilation))));
    }
    let executor = backend.executor();
    let alone = Setting { cache: None, ..workplace.setting() };
    let begun = Instant::now();
    let failed = |why| anyhow!("it does not get ready: {why:?}");
    let prepared = prepare_compiled(&*executor, &compilation, alone, &|_| ()).map_err(failed)?;
    if let Some(launch) = launches.last_chunk::<2>().map(|[it, _]| it) {
        prepared.fit(launch, &|_| ()).map_err(failed)?;
    }
    let ready = compiled + begun.elapsed();
    drop(prepared);
    let held = native_gives_the_bits_of_debug(backend, &compilation, &launches, workplace.setting())?;
    workplace.forget()?;
    Ok(Agreed { ready, held })
}
