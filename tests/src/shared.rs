//! Generated stencils that are called with one array for several parameters.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::{Argument, Call, Launch};
use isobar_compiler::call::run::NoControl;
use isobar_compiler::call::signature::{AccessKind, ParamKind, Signature};
use isobar_compiler::debug;
use isobar_compiler::for_elements;
use isobar_compiler::oir::nodes::Stencil;
use isobar_compiler::pipeline::{BoundLaunch, Compilation, NoHook, NoVariant, ProgramKind, Variant, back};
use isobar_compiler::space::{Domain, LoopOrder};
use isobar_compiler::types::Value;
use isobar_equivalence::compare::compare;
use isobar_equivalence::journey::Journey;
use isobar_runner::backends::Backend;
use isobar_runtime::executable::OwnedSetting;
use isobar_runtime::executors::rayon::Rayon;
use isobar_runtime::{Arguments, Buffer, Executable};

use crate::against::{native_gives_the_bits_of_debug, numpy_gives_the_bits_of_debug, same_fields};
use crate::agree::prepare::call;
use crate::agree::subject::Subject;
use crate::generate::Features;
use crate::generate::random::Random;
use crate::levels::{DOMAINS, Held};
use crate::native::Workplace;

/// The result of a seed.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeldShared {
    /// Calls in which several parameters were one array.
    pub runs: u64,
    /// Those of them that were compared with `debug` on the shared memory itself. In the others a statement
    /// reads a neighbour of what it writes, so that the order of the points would matter.
    pub by_memory: u64,
    /// Calls that are refused, since only a run shows which element a statement reads beside the one that it
    /// writes.
    pub refused: u64,
    pub other_traps: u64,
}

impl From<HeldShared> for Held {
    fn from(held: HeldShared) -> Self {
        Self { runs: held.runs, other_traps: held.other_traps }
    }
}

/// Calls the stencil of a seed with one array for two or three of its parameters. Compares all levels,
/// `numpy` and a back end of the runner with `debug`. Also compares `debug` with its own results on arrays
/// that are the same memory.
///
/// # Errors
///
/// The difference, with the seed, the text of the stencil, the domain and the parameters.
pub fn hold_shared(seed: u64, backend: Backend, workplace: &Workplace) -> Result<HeldShared> {
    let subject = Subject::of_seed_with(seed, |it| Features { partial: seed.is_multiple_of(3), ..it });
    let mut random = Random::new(!seed);
    let compilation = subject.compile();
    let text = subject.project.main_id().map_or("", |it| subject.project.text(it));
    ensure!(!compilation.has_errors(), "{}: {:#?}\n{text}", subject.name, compilation.notes.diagnostics);
    let signature =
        compilation.front.signature.as_ref().context("a compilation without errors has a signature")?;
    let alike = alike(signature);
    let mut held = HeldShared::default();
    if alike.is_empty() {
        return Ok(held);
    }
    let [one, other] = *random.pick(&alike);
    let mut same = vec![one, other];
    if random.chance(20) {
        let third = alike.iter().find(|it| it[0] == one && it[1] != other || it[1] == one && it[0] != other);
        same.extend(third.map(|it| if it[0] == one { it[1] } else { it[0] }));
    }
    let domain = *random.pick(&DOMAINS);
    let domain = Domain::new(domain.i, domain.j, domain.k.max(signature.min_levels));
    let names: Vec<&str> = same.iter().map(|&it| signature.params[it].name.as_str()).collect();
    let in_context = || format!("{} on {domain}, one array for {names:?}\n{text}", subject.name);
    let on_domain = Subject { domain, ..subject.clone() };
    let given = call(&on_domain, &compilation, signature)?;
    let mut memory = common(signature, &same, domain);
    let before = memory.elements.clone();
    let bound = with_memory(given.clone(), signature, &same, &mut memory, domain)?;
    // A domain that is too small for the stencil is refused, and so is tested elsewhere.
    let Ok(BoundLaunch { launch: mut in_memory, shared }) = compilation.front.bind_shared(bound) else {
        return Ok(held);
    };
    // On a small domain a stencil may not touch all of them.
    if shared.is_empty() {
        return Ok(held);
    }
    let variant = Variant::of(&subject.config.passes, ProgramKind::Reference).with_aliases(&shared);
    let unified = match back(&compilation.front, compilation.options(), &variant, &mut NoHook) {
        Ok(unified) => unified,
        Err(NoVariant::Order(why)) => bail!("the axes stay as they are: {why:?}"),
        Err(NoVariant::Aliases(found)) => {
            ensure!(found.iter().all(|it| it.code.0 == "C08"), "{found:#?}");
            held.refused += 1;
            return Ok(held);
        }
    };
    let oir = unified.front.oir.as_ref().context("it compiled")?;
    let mut launch = in_memory.clone();
    shared.iter().for_each(|it| launch.arguments[it[1]] = Argument::Unused);
    let run = |compilation: &Compilation, launch: &mut Launch| -> Result<_> {
        let (oir, extents) = compilation.front.reference().context("there is no OIR")?;
        Ok(debug::run(oir, extents, launch, &mut NoControl).map_err(|it| it.to_string()))
    };
    if !depends_on_order(&compilation, oir) {
        let mut meant = launch.clone();
        let ended = run(&unified, &mut meant)?;
        let own = run(&compilation, &mut in_memory)?;
        // The launch has the memory as it was, for a parameter that touches nothing that another one writes.
        for at in same.iter().filter(|&at| !shared.iter().any(|it| it.contains(at))) {
            in_memory.arguments[*at] = Argument::Unused;
            meant.arguments[*at] = Argument::Unused;
        }
        ensure!(ended.is_ok() == own.is_ok(), "{ended:?}, and in memory {own:?}: {}", in_context());
        if ended.is_ok() {
            same_fields(&unified, &meant, &in_memory).context("in memory").with_context(in_context)?;
        }
        held.by_memory += 1;
    }
    drop(in_memory);
    if let Some(fault) = compare(&Journey::usual(oir), &launch, &[1]).1 {
        anyhow::bail!("{fault}: {}", in_context());
    }
    numpy_gives_the_bits_of_debug(&unified, &launch).with_context(in_context)?;
    let launches = std::slice::from_ref(&launch);
    let found = native_gives_the_bits_of_debug(backend, &unified, launches, workplace.setting())
        .with_context(in_context)?;
    held.runs += found.runs;
    held.other_traps += found.other_traps;
    if seed.is_multiple_of(4) {
        memory.elements = before;
        let mut meant = launch.clone();
        if run(&unified, &mut meant)?.is_ok() {
            as_a_program_calls_it(&subject, given, signature, &same, (&mut memory, domain))
                .with_context(in_context)?;
            let Argument::Field(kept) = &meant.arguments[shared[0][0]] else { return Ok(held) };
            let is_equal =
                memory.indices().all(|it| crate::against::is_same(memory.get(&it), kept.array.get(&it)));
            ensure!(is_equal, "the runtime gives other bits: {}", in_context());
        }
    }
    Ok(held)
}

/// Whether a statement reads a neighbour of what it writes, or in a parallel loop another level. The stencil
/// is the one in which the parameters are one field.
fn depends_on_order(written: &Compilation, unified: &Stencil) -> bool {
    let n_fields = written.front.oir.as_ref().map_or(0, |it| it.fields.len());
    unified.fields.len() > n_fields
        || unified.placed().filter(|it| it.order == LoopOrder::Parallel).any(|placed| {
            let touches = unified.executions[placed.execution].touches();
            let elsewhere = |it: &&_| {
                let it: &isobar_compiler::oir::visit::TargetTouch<'_> = it;
                !it.is_write && !it.is_here()
            };
            touches.iter().filter(elsewhere).any(|read| {
                let is_param = read.what.field().is_some_and(|it| !unified.fields[it].is_temporary);
                is_param && touches.iter().any(|it| it.is_write && it.what == read.what)
            })
        })
}

/// The pairs of parameters for which one array can be given. At least one of each pair is written.
fn alike(signature: &Signature) -> Vec<[usize; 2]> {
    let declared = |at: usize| match &signature.params[at] {
        it if it.access == AccessKind::None => None,
        it => match &it.kind {
            ParamKind::Field { axes, data_dims, dtype, .. } => Some((*axes, data_dims, *dtype)),
            ParamKind::Scalar { .. } => None,
        },
    };
    let n = signature.params.len();
    let pairs = (0..n).flat_map(|one| (one + 1..n).map(move |other| [one, other]));
    let is_written = |at: usize| signature.params[at].access.is_written();
    pairs
        .filter(|&[one, other]| declared(one).is_some() && declared(one) == declared(other))
        .filter(|&[one, other]| is_written(one) || is_written(other))
        .collect()
}

/// Points beside the compute domain that some of the parameters need, below and above, along each axis of theirs.
fn halos(signature: &Signature, same: &[usize]) -> Vec<[usize; 2]> {
    let of = |at: usize| match &signature.params[at].kind {
        ParamKind::Field { axes, .. } => {
            axes.iter().map(|axis| signature.params[at].kind.halo(axis).into()).collect::<Vec<[i64; 2]>>()
        }
        ParamKind::Scalar { .. } => Vec::new(),
    };
    let all: Vec<_> = same.iter().map(|&at| of(at)).collect();
    let most = |axis: usize, side: usize| {
        let needed = all.iter().map(|it| usize::try_from(it[axis][side]).unwrap_or(0));
        needed.max().unwrap_or(0)
    };
    (0..all[0].len()).map(|axis| [most(axis, 0), most(axis, 1)]).collect()
}

/// One array for all of them, with numbers in it.
fn common(signature: &Signature, same: &[usize], domain: Domain) -> Array {
    let ParamKind::Field { axes, data_dims, dtype, .. } = &signature.params[same[0]].kind else {
        unreachable!("they are fields")
    };
    let size = |n: i64| usize::try_from(n).unwrap_or(0);
    let halos = halos(signature, same);
    let mut shape: Vec<usize> = axes
        .iter()
        .zip(&halos)
        .map(|(axis, [below, above])| size(domain.along(axis)) + below + above)
        .collect();
    shape.extend(data_dims.iter().map(|&it| it as usize));
    let n = shape.iter().product();
    let mut elements = Elements::zeros(*dtype, n);
    for at in 0..n {
        let number = (at * 7919 % 1009) as f64;
        elements.set(
            at,
            Value::Float64(if dtype.is_float() { 0.5 + number / 1009.0 } else { number % 3.0 }).cast(*dtype),
        );
    }
    Array::from_c_order(elements, &shape).expect("it has as many elements")
}

/// Lends the array for each of the parameters.
fn lent(signature: &Signature, same: &[usize], memory: &mut Array) -> Result<BTreeMap<String, Buffer>> {
    let halos = halos(signature, same);
    let origin: Vec<i64> = halos.iter().map(|it| it[0] as i64).collect();
    let origin = [origin, vec![0; memory.shape.len() - halos.len()]].concat();
    let first = for_elements!(&mut memory.elements, it => NonNull::new(it.as_mut_ptr().cast::<u8>()));
    let first = first.context("it lies somewhere")?;
    let lend = |&at: &usize| {
        // SAFETY: the array lives for as long as the calls that it is lent for, and is not touched meanwhile.
        #[expect(unsafe_code, reason = "the elements stay where they are")]
        let buffer = unsafe { Buffer::lent(memory.dtype(), first, &memory.shape, &memory.strides) };
        let buffer = buffer.map_err(|it| anyhow::anyhow!("{it:?}"))?;
        Ok((signature.params[at].name.clone(), buffer.with_origin(&origin)))
    };
    same.iter().map(lend).collect()
}

/// The call with the array in place of its own.
fn with_memory(
    mut call: Call,
    signature: &Signature,
    same: &[usize],
    memory: &mut Array,
    domain: Domain,
) -> Result<Call> {
    let halos = halos(signature, same);
    for (name, buffer) in lent(signature, same, memory)? {
        let origin: Vec<i64> = halos.iter().map(|it| it[0] as i64).collect();
        call.origin.insert(name.clone(), origin);
        call.fields.insert(name, buffer.into_array().context("it lies here")?);
    }
    call.domain = Some([domain.i, domain.j, domain.k]);
    Ok(call)
}

/// Calls it as a program does that links the runtime, with the array for each of the parameters.
fn as_a_program_calls_it(
    subject: &Subject,
    call: Call,
    signature: &Signature,
    same: &[usize],
    (memory, domain): (&mut Array, Domain),
) -> Result<()> {
    let setting = OwnedSetting::embedded(2);
    let stencil =
        Executable::new(&subject.project, subject.config.clone(), Arc::new(Rayon), setting, &|_| ());
    let stencil = stencil.map_err(|it| anyhow::anyhow!("{it:?}"))?;
    let own = |(name, array): (String, Array)| {
        let origin = call.origin.get(&name).cloned();
        let buffer = Buffer::host(array);
        (name, origin.iter().fold(buffer, |buffer, it| buffer.with_origin(it)))
    };
    let mut fields: BTreeMap<String, Buffer> = call.fields.into_iter().map(own).collect();
    fields.extend(lent(signature, same, memory)?);
    let domain = Some([domain.i, domain.j, domain.k]);
    let bound = stencil.bind(Arguments { fields, scalars: call.scalars, domain });
    let mut bound = bound.map_err(|it| anyhow::anyhow!("{it:?}"))?;
    stencil.run(&mut bound).map_err(|it| anyhow::anyhow!("{it:?}"))
}
