//! One stencil: everybody takes turns.

use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use isobar_compiler::call::launch::Launch;
use isobar_compiler::call::signature::{ParamKind, Signature};
use isobar_compiler::config::Config;
use isobar_compiler::pipeline::{Compilation, NoHook, route};
use isobar_compiler::project::Project;
use isobar_compiler::space::{AxisSet, Domain};
use isobar_protocol::job::EventKind;
use isobar_runner::backends::{Backend, Prepared, Setting, prepare_compiled};
use isobar_runner::translate;
use isobar_runtime::copying::Copiers;
use isobar_tests::corpus::launch;
use isobar_tests::kernels::fields::{Fields, Layout};
use isobar_tests::native::Workplace;
use serde::Serialize;

use crate::beside::{Beside, Gt4py, Theirs};
use crate::statistics::Summary;
use crate::{Options, shuffle};

/// Seconds that all calls of one contestant may take. A slower contestant takes fewer turns.
const PATIENCE: f64 = 4.0;

/// The passes that say why a loop could not be merged with another.
const FUSING: [&str; 2] = ["schedule/merge-loops", "schedule/fuse-in-tiles"];

/// The layouts that are measured: arrays of our own, and those of callers.
pub(crate) const LAYOUTS: [Option<Layout>; 3] = [None, Some(Layout::AlongI), Some(Layout::AlongK)];

pub(crate) fn told(layout: Option<Layout>) -> &'static str {
    layout.map_or("own", Layout::told)
}

/// The measurement of one stencil.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    pub(crate) stencil: String,
    pub(crate) domain: [i64; 3],
    pub(crate) fields: usize,
    /// The least bytes that a call moves.
    pub(crate) bytes: u64,
    pub(crate) copy_ms: Option<Summary>,
    pub(crate) contestants: Vec<Contestant>,
    /// The loops that were not fused, and why.
    pub(crate) apart: Vec<String>,
    /// The back ends of gt4py, where they are asked for.
    pub(crate) gt4py: Vec<Beside>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Contestant {
    pub(crate) backend: &'static str,
    pub(crate) layout: &'static str,
    /// From the compiled levels to code for these arrays.
    pub(crate) ready_ms: f64,
    pub(crate) ms: Option<Summary>,
    /// The run's messages about its layout.
    pub(crate) way: Vec<String>,
}

impl Measured {
    pub(crate) fn median(&self, backend: &str, layout: Option<Layout>) -> Option<f64> {
        let is_it = |it: &&Contestant| it.backend == backend && it.layout == told(layout);
        Some(self.contestants.iter().find(is_it)?.ms.as_ref()?.median)
    }

    /// The time of a back end of gt4py.
    pub(crate) fn of_gt4py(&self, backend: &str) -> Option<f64> {
        Some(self.gt4py.iter().find(|it| it.backend == backend)?.ms.as_ref()?.median)
    }

    /// The least time of those.
    pub(crate) fn best_of_gt4py(&self) -> Option<f64> {
        self.gt4py.iter().filter_map(|it| Some(it.ms.as_ref()?.median)).min_by(f64::total_cmp)
    }

    pub(crate) fn copy(&self) -> Option<f64> {
        Some(self.copy_ms.as_ref()?.median)
    }
}

/// Measures a stencil; none where it does not compile, has no field along all axes, or does not fit the domain.
pub(crate) fn measure(
    name: &str,
    project: &Project,
    mut config: Config,
    options: &Options,
    workplace: &Workplace,
    backends: &[Backend],
    gt4py: Option<&Gt4py<'_>>,
) -> Result<Option<Measured>> {
    config.passes.machine = Some(workplace.machine());
    let compilation = route::compile(project, &config, &mut NoHook);
    let Some(signature) = compilation.front.signature.as_ref().filter(|_| !compilation.has_errors()) else {
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
        turn.every = every(begun.elapsed().as_secs_f64(), options.repeats);
    }
    for it in &turns {
        if let Err(why) = it.fields.compare_with(&turns[meant].fields, &given) {
            bail!("{} {} computes something else: {why}", it.told.backend, it.told.layout);
        }
    }
    let mut theirs = match gt4py {
        Some(it) => it.start(name, project, &config, &compilation, &given, &turns[meant].prepared),
        None => Theirs::default(),
    };
    theirs.try_once(options.repeats);
    let bytes = signature.compulsory_bytes(given.domain);
    let mut copiers = Copiers::new(bytes, options.threads);
    let mut copies = Vec::new();
    let n_ours = turns.len();
    let mut order: Vec<usize> = (0..n_ours + theirs.len()).collect();
    for round in 0..options.repeats {
        shuffle(&mut order, round as u64 + 1);
        copiers.copy();
        copies.push(copiers.copy().as_secs_f64() * 1e3);
        for &at in &order {
            if let Some(number) = at.checked_sub(n_ours) {
                theirs.take_turn(number, round);
                continue;
            }
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
    let apart = compilation.notes.remarks.iter().filter(|it| !it.is_applied && FUSING.contains(&it.pass));
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
        gt4py: theirs.into_told(),
    }))
}

/// In every how many rounds somebody takes part whose call takes so many seconds.
pub(crate) fn every(seconds: f64, repeats: usize) -> f64 {
    let n = (PATIENCE / (2.0 * seconds).max(1e-9)).min(repeats as f64);
    (repeats as f64 / n.max(5.0)).ceil().max(1.0)
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
        let prepared = prepare_compiled(&*backend.executor(), compilation, setting, &|_| ());
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
