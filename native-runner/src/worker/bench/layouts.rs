//! A back end on arrays as callers have them, in turn with arrays of its own.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use isobar_compiler::call::launch::Launch;
use isobar_compiler::call::signature::Param;
use isobar_compiler::space::Axis;
use isobar_protocol::bench::{OnLayout, Samples};
use isobar_protocol::job::EventKind;
use isobar_protocol::layout::{Layout, UnitStrideAxis};
use isobar_runtime::copying::Copiers;

use super::{Contestant, Rounds, same_bits};
use crate::backends::events::{Event, milliseconds};
use crate::backends::{Failure, Prepared, RunThreads, along};
use crate::translate;

/// The layouts to measure, and the parameters of the stencil.
pub(super) struct LayoutSelection<'a> {
    pub params: &'a [Param],
    pub axes: &'a [UnitStrideAxis],
    pub near: &'a RunThreads,
}

/// Arrays of a caller, and what calls on them took.
struct Turn {
    lies: UnitStrideAxis,
    axis: Axis,
    prepared: Prepared,
    launch: Launch,
    layout: Layout,
    ms: Vec<f64>,
}

/// Has code made for arrays of each layout.
pub(super) fn fit(
    own: &mut Contestant<'_>,
    params: &[Param],
    axes: &[UnitStrideAxis],
    near: &RunThreads,
) -> Result<(), Failure> {
    for axis in axes.iter().copied().filter_map(axis) {
        let launch = along(params, &mut own.launch, axis, near);
        own.prepared.clone().fit(&launch, &|_| ())?;
    }
    Ok(())
}

fn axis(lies: UnitStrideAxis) -> Option<Axis> {
    match lies {
        UnitStrideAxis::I => Some(Axis::I),
        UnitStrideAxis::J => Some(Axis::J),
        UnitStrideAxis::K => Some(Axis::K),
        UnitStrideAxis::Apart => None,
    }
}

/// Calls a back end on arrays of each layout, and on its own, round after round. Answers the times, and
/// whether all arrays have the same elements after the same number of calls. The caller adds the comparison
/// with copying.
pub(super) fn measured(
    own: &mut Contestant<'_>,
    asked: &LayoutSelection<'_>,
    copiers: &mut Copiers,
    (part, rounds): (u64, &Rounds<'_>),
) -> Result<(Vec<OnLayout>, bool), Failure> {
    let &LayoutSelection { params, axes, near } = asked;
    let mut turns = Vec::with_capacity(axes.len());
    for &lies in axes {
        let Some(axis) = axis(lies) else { continue };
        let launch = along(params, &mut own.launch, axis, near);
        let prepared = own.prepared.clone();
        let layout = Mutex::new(Layout::default());
        let hear = |event: Event| match translate::event(event) {
            EventKind::Layout { layout: it } => *layout.lock().unwrap_or_else(PoisonError::into_inner) = it,
            other => (rounds.tell)(other, None),
        };
        prepared.fit(&launch, &hear)?;
        let layout = layout.into_inner().unwrap_or_else(PoisonError::into_inner);
        turns.push(Turn { lies, axis, prepared, launch, layout, ms: Vec::new() });
    }
    // The first call on each of them finds nothing warm.
    own.call()?;
    for it in &mut turns {
        it.call()?;
    }
    let mut own_ms = Vec::new();
    for round in 1..=rounds.each {
        // The first call of a round finds nothing in the caches.
        let is_first = round % 2 == 0;
        if is_first {
            own_ms.push(own.call()?);
        }
        turns.rotate_left(1);
        for it in &mut turns {
            let ms = it.call()?;
            it.ms.push(ms);
        }
        if !is_first {
            own_ms.push(own.call()?);
        }
        // As around the calls that these are beside: what was in the caches leaves them.
        copiers.copy();
        rounds.over(part, round);
    }
    let n = turns.len().max(1);
    turns.rotate_right(rounds.each as usize % n);
    let own_ms = Samples::of(own_ms).unwrap_or_default().median_ms;
    let mut agree = true;
    let mut found = Vec::with_capacity(turns.len());
    for it in turns {
        agree &= same_bits(&it.launch, &along(params, &mut own.launch, it.axis, near));
        let calls = Samples::of(it.ms).unwrap_or_default();
        let of_own = own_ms / calls.median_ms.max(f64::MIN_POSITIVE);
        found.push(OnLayout { along: it.lies, of_own, calls, of_copy: None, layout: it.layout });
    }
    Ok((found, agree))
}

impl Turn {
    fn call(&mut self) -> Result<f64, Failure> {
        let begun = Instant::now();
        self.prepared.run(&mut self.launch)?;
        Ok(milliseconds(begun.elapsed()))
    }
}
