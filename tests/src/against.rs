//! A back end beside `debug`: the same launch on both, and whether they leave the same bits.

use std::fmt::Write as _;

use anyhow::{Context, Result, ensure};
use isobar_compiler::backend::launch::{Argument, Launch};
use isobar_compiler::backend::run::{NoControl, Stop};
use isobar_compiler::backend::{debug, numpy};
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::types::Value;
use isobar_runner::executors::{Backend, Failure, Setting, Vectors};

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
    let levels = &compilation.levels;
    let (oir, extents) = levels.oir.as_ref().zip(levels.extents.as_ref()).context("there is no OIR")?;
    let npir = levels.npir().context("there is no NPIR")?;
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

/// Runs a back end of the runner, with each number of [`THREADS`] and with common vectors, and `debug` on copies of a launch.
/// Answers whether another statement ended the run, which may be where a level leaves out what nobody needs.
///
/// # Errors
///
/// Where they leave other bits, or one ends and the other does not.
pub fn native_gives_the_bits_of_debug(
    backend: Backend,
    compilation: &Compilation,
    launch: &Launch,
    setting: Setting<'_>,
) -> Result<bool> {
    let levels = &compilation.levels;
    let (oir, extents) = levels.oir.as_ref().zip(levels.extents.as_ref()).context("there is no OIR")?;
    let mut meant = launch.clone();
    let expected = debug::run(oir, extents, &mut meant, &mut NoControl);
    let executor = backend.executor();
    let mut is_other_trap = false;
    // Another width has code of its own, with any number of threads.
    let widths = THREADS.map(|it| (it, Vectors::Widest)).into_iter().chain([(THREADS[0], Vectors::Common)]);
    for (threads, vectors) in widths {
        let told = || format!("{} with {threads} threads and {vectors:?} vectors", backend.name());
        let prepared = executor.prepare(compilation, Setting { threads, vectors, ..setting }, &|_| ());
        let mut prepared = prepared.map_err(|it| anyhow::anyhow!("{it:?}")).with_context(told)?;
        // What a call leaves behind must not matter to the next.
        for _ in 0..2 {
            let mut found = launch.clone();
            match (&expected, prepared.run(&mut found)) {
                (Ok(()), Ok(())) => same_fields(compilation, &meant, &found).with_context(told)?,
                (Err(Stop::Trap(meant)), Err(Failure::Trap { statement, cell, .. })) => {
                    is_other_trap |= meant.origin.stmt != statement || meant.cell != cell;
                }
                (_, ended) => {
                    anyhow::bail!("`debug` ends with {expected:?}, and {} with {ended:?}", told())
                }
            }
        }
    }
    Ok(is_other_trap)
}

/// Whether both launches hold the same arrays, halos included.
///
/// # Errors
///
/// The first difference of each field.
pub fn same_fields(compilation: &Compilation, meant: &Launch, found: &Launch) -> Result<()> {
    let signature = compilation.signature.as_ref().context("there is no signature")?;
    let mut wrong = String::new();
    for (param, (meant, found)) in signature.params.iter().zip(meant.arguments.iter().zip(&found.arguments)) {
        let (Argument::Field(meant), Argument::Field(found)) = (meant, found) else { continue };
        let different = meant.array.indices().find(|it| !is_same(meant.array.get(it), found.array.get(it)));
        if let Some(at) = different {
            let (meant, found) = (meant.array.get(&at), found.array.get(&at));
            let _ = writeln!(wrong, "`{}` is {found} at {at:?}, and {meant} is meant", param.name);
        }
    }
    ensure!(wrong.is_empty(), wrong);
    Ok(())
}
