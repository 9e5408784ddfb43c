//! A back end beside `debug`: the same launch on both, and whether they leave the same bits.

use std::fmt::Write as _;

use anyhow::{Context, Result, ensure};
use isobar_compiler::call::array::Array;
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::call::run::{NoControl, Stop};
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::types::Value;
use isobar_compiler::{debug, numpy};
use isobar_runner::backends::{Backend, Failure, Setting, Vectors, prepare};
use isobar_runtime::plans::Plans;

use crate::levels::Held;

/// Fewer threads than rows, as many as this machine may have, and more than that, in no even number.
pub const THREADS: [u32; 3] = [1, 2, 7];

/// Whether two values are the same; all NaNs are, since which one an operation makes is the machine's choice.
#[must_use]
pub fn is_same(one: Value, other: Value) -> bool {
    one == other || one.dtype() == other.dtype() && one.as_f64().is_nan() && other.as_f64().is_nan()
}

/// Runs `numpy` and `debug` on copies of a launch.
///
/// # Errors
///
/// Where they leave other bits, or stop in another way.
pub fn numpy_gives_the_bits_of_debug(compilation: &Compilation, launch: &Launch) -> Result<()> {
    let (oir, extents) = compilation.front.reference().context("there is no OIR")?;
    let npir = compilation.front.npir().context("there is no NPIR")?;
    let (mut meant, mut found) = (launch.clone(), launch.clone());
    let expected = debug::run(oir, extents, &mut meant, &mut NoControl);
    let ended = numpy::run(npir, &mut found, &mut NoControl);
    match (&expected, &ended) {
        (Ok(()), Ok(())) => same_fields(compilation, &meant, &found),
        (Err(expected), Err(ended)) => {
            ensure!(expected == ended, "`debug` says {expected}, `numpy` says {ended}");
            Ok(())
        }
        _ => anyhow::bail!("`debug` ends with {expected:?}, `numpy` with {ended:?}"),
    }
}

/// Runs `debug` and a back end of the runner on copies of launches. The back end runs with each number of
/// [`THREADS`]. Where it makes machine code, it also runs with narrower vectors.
/// Returns the number of launches, and in how many of them another statement or cell ended the run. That may
/// be where a level leaves out what nobody needs.
///
/// # Errors
///
/// Where they leave other bits, or one ends and the other does not.
pub fn native_gives_the_bits_of_debug(
    backend: Backend,
    compilation: &Compilation,
    launches: &[Launch],
    setting: Setting<'_>,
) -> Result<Held> {
    let (oir, extents) = compilation.front.reference().context("there is no OIR")?;
    let mean = |launch: &Launch| {
        let mut meant = launch.clone();
        let ended = debug::run(oir, extents, &mut meant, &mut NoControl);
        (ended, meant)
    };
    let meant: Vec<_> = launches.iter().map(mean).collect();
    let executor = backend.executor();
    let mut is_other_trap = vec![false; launches.len()];
    // A GPU has threads of its own.
    let threads = if backend.is_on_gpu() { &THREADS[..1] } else { &THREADS };
    let mut widths: Vec<_> = threads.iter().map(|it| (*it, Vectors::Widest)).collect();
    if backend == Backend::RAYON {
        // Other widths have code of their own, with any number of threads.
        widths.extend([Vectors::Half, Vectors::Common].map(|it| (THREADS[0], it)));
    }
    let plans = Plans::of(compilation.clone());
    for (threads, vectors) in widths {
        let told = || format!("{} with {threads} threads and {vectors:?} vectors", backend.name());
        let prepared = prepare(&*executor, &plans, Setting { threads, vectors, ..setting }, &|_| ());
        let mut prepared = prepared.map_err(|it| anyhow::anyhow!("{it:?}")).with_context(told)?;
        for ((launch, (expected, meant)), is_other) in launches.iter().zip(&meant).zip(&mut is_other_trap) {
            let told = || format!("{} on {}", told(), launch.domain);
            // Two calls, because the state that a call leaves behind must not matter to the next one.
            for _ in 0..2 {
                let mut found = launch.clone();
                match (expected, prepared.run(&mut found)) {
                    (Ok(()), Ok(())) => same_fields(compilation, meant, &found).with_context(told)?,
                    (Err(Stop::Trap(meant)), Err(Failure::Trap { statement, cell, .. })) => {
                        *is_other |= meant.origin.stmt != statement || meant.cell != cell;
                    }
                    (_, ended) => {
                        anyhow::bail!("`debug` ends with {expected:?}, and {} with {ended:?}", told())
                    }
                }
            }
        }
    }
    let other_traps = is_other_trap.into_iter().map(u64::from).sum();
    Ok(Held { runs: launches.len() as u64, other_traps })
}

/// Whether both launches hold the same arrays, halos included, and what lies between their rows.
///
/// # Errors
///
/// The first difference of each field.
pub fn same_fields(compilation: &Compilation, meant: &Launch, found: &Launch) -> Result<()> {
    let signature = compilation.front.signature.as_ref().context("there is no signature")?;
    let mut wrong = String::new();
    for (param, (meant, found)) in signature.params.iter().zip(meant.arguments.iter().zip(&found.arguments)) {
        let (Argument::Field(meant), Argument::Field(found)) = (meant, found) else { continue };
        let (meant, found) = (&meant.array, &found.array);
        ensure!(meant.strides == found.strides, "`{}` lies otherwise than before", param.name);
        let mut positions = 0..meant.elements.len();
        let at = |it: &Array, position| it.elements.get(position);
        if positions.all(|it| is_same(at(meant, it), at(found, it))) {
            continue;
        }
        let different = meant.indices().find(|it| !is_same(meant.get(it), found.get(it)));
        let _ = match different {
            Some(index) => {
                let (meant, found) = (meant.get(&index), found.get(&index));
                writeln!(wrong, "`{}` is {found} at {index:?}, and {meant} is meant", param.name)
            }
            None => writeln!(wrong, "`{}` is written between its rows", param.name),
        };
    }
    ensure!(wrong.is_empty(), wrong);
    Ok(())
}
