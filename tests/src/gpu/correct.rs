//! Whether a GPU gives the bits of `debug`: on stencils that people wrote, on generated ones, and by hand.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Context, Result, anyhow, ensure};
use isobar_compiler::space::Domain;
use isobar_runner::backends::{Backend, Setting};
use serde::{Deserialize, Serialize};

use super::bench::OnGpu;
use super::hand::Hand;
use super::{PRECISIONS, Stencil, model_of};
use crate::against::{native_gives_the_bits_of_debug, same_fields};
use crate::levels::Held;
use crate::native::{Layout, Workplace, hold_native, params};
use crate::programs::{ProgramRunner, hold_program};
use crate::{launch, run_debug};

/// One thing that was held.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// `hdiff`, or the seed of a generated stencil.
    pub what: String,
    /// Bits of its floats.
    pub precision: u32,
    pub runs: u64,
    /// Runs that another statement ends than with `debug`.
    pub other_traps: u64,
    /// The difference, if there is one.
    pub wrong: Option<String>,
}

impl Answer {
    fn of(what: String, precision: u32, held: impl FnOnce() -> Result<Held>) -> Self {
        let held = catch_unwind(AssertUnwindSafe(held)).unwrap_or_else(|panic| {
            Err(anyhow!(
                "it crashed: {}",
                panic.downcast::<String>().map_or_else(|_| String::new(), |it| *it)
            ))
        });
        let (held, wrong) = match held {
            Ok(held) => (held, None),
            // The difference comes first, because texts of stencils are long.
            Err(why) => {
                let whole: String = format!("{why:#}").chars().take(2000).collect();
                (Held::default(), Some(format!("{}\n{whole}", why.root_cause())))
            }
        };
        Self { what, precision, runs: held.runs, other_traps: held.other_traps, wrong }
    }
}

/// A single column, a few blocks that nothing divides, and rows longer than a tile.
const DOMAINS: [Domain; 3] =
    [Domain { i: 1, j: 1, k: 4 }, Domain { i: 13, j: 9, k: 6 }, Domain { i: 70, j: 37, k: 13 }];

/// Holds stencils that people wrote, in both element types, with rows of two kinds.
pub fn written(backend: Backend, stencils: &[Stencil], mut tell: impl FnMut(Answer)) {
    let gpu = model_of(backend);
    for stencil in stencils {
        for precision in PRECISIONS {
            tell(Answer::of(stencil.name.to_owned(), precision, || {
                let compilation = stencil.compiled(precision, gpu)?;
                let launches = DOMAINS.iter().flat_map(|&domain| {
                    let given = launch(&compilation, domain);
                    [Layout::C.of(&given, params(&compilation)), given]
                });
                let launches: Vec<_> = launches.collect();
                native_gives_the_bits_of_debug(backend, &compilation, &launches, Setting::embedded())
            }));
        }
    }
}

/// Holds generated stencils, each with its own domain, layout and features.
///
/// # Errors
///
/// Where there is no folder for what is needed in between.
pub fn generated(backend: Backend, first: u64, count: u64, mut tell: impl FnMut(Answer)) -> Result<()> {
    let workplace = Workplace::temporary()?;
    for seed in first..first + count {
        // As `Subject::of_seed` chooses it.
        let precision = if seed % 8 < 6 { 64 } else { 32 };
        tell(Answer::of(seed.to_string(), precision, || hold_native(seed, backend, &workplace)));
        workplace.forget()?;
    }
    Ok(())
}

/// Holds generated programs, whose fields stay on the device: each with the code of its stencils, and with joined calls.
pub fn programs(backend: Backend, first: u64, count: u64, mut tell: impl FnMut(Answer)) {
    for seed in first..first + count {
        tell(Answer::of(seed.to_string(), 64, || {
            let mut runs = 0;
            for joins_calls in [false, true] {
                let temporary = std::env::temp_dir();
                let runner =
                    ProgramRunner { executor: Some(backend.executor().into()), joins_calls, temporary };
                let pieces = hold_program(seed, &runner).map_err(anyhow::Error::msg)?;
                runs += (pieces.n_groups + pieces.n_stencils) as u64;
            }
            Ok(Held { runs, other_traps: 0 })
        }));
    }
}

/// Holds CUDA that is written by hand.
pub fn by_hand(hands: &[Hand], mut tell: impl FnMut(Answer)) {
    for hand in hands {
        for precision in PRECISIONS {
            tell(Answer::of(hand.name.to_owned(), precision, || {
                let stencil = super::stencil(hand.name).context("it is a stencil's")?;
                let compilation = stencil.compiled(precision, None)?;
                for domain in DOMAINS {
                    let given = launch(&compilation, domain);
                    let (mut meant, mut found) = (given.clone(), given.clone());
                    run_debug(&compilation, &mut meant);
                    let planned = hand.planned(&compilation, &given, precision)?;
                    let mut ready = OnGpu::new(hand, planned)?;
                    ready.launch()?;
                    ready.bring(&mut found)?;
                    same_fields(&compilation, &meant, &found).with_context(|| domain.to_string())?;
                }
                ensure!(!DOMAINS.is_empty());
                Ok(Held { runs: DOMAINS.len() as u64, other_traps: 0 })
            }));
        }
    }
}
