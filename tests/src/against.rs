//! A back end beside `debug`: the same launch on both, and whether they leave the same bits.

use std::fmt::Write as _;

use anyhow::{Context, Result, ensure};
use isobar_compiler::backend::launch::{Argument, Launch};
use isobar_compiler::backend::run::NoControl;
use isobar_compiler::backend::{debug, numpy};
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::types::Value;

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
