//! How fast the machine and its devices copy, which runs are held against.

use isobar_protocol::bench::CopyRate;
use isobar_protocol::job::EventKind;
use isobar_runtime::{Device, copying};

use super::Tell;
use crate::backends::events::{Event, step};
use crate::translate;
use crate::wire::Order;

/// The step that the device's own clock tells: the kernels, and nothing around them.
pub(super) const ON_GPU: &str = "on the GPU";

/// How fast a device copies within its own memory, which it is asked for as a step.
pub(super) fn device_copy_rate(device: &dyn Device, tell: Tell<'_>) -> Option<CopyRate> {
    let sink = |event: Event| tell(translate::event(event), None);
    match step("copy", &sink, || device.copies()) {
        Ok(copies) => Some(translate::copy_rate(copies.rate())),
        Err(why) => {
            let text = format!("how fast {} copies is not known: {why:?}", device.name());
            tell(EventKind::Log { text }, None);
            None
        }
    }
}

/// How fast this machine copies, where that was measured before.
fn known_rate(order: &Order) -> Option<copying::CopyRate> {
    copying::known(order.cache.as_ref()?, &(&order.machine).into(), order.threads)
}

/// Tells how fast this machine copies. A measurement is a step, and the runner keeps it; without a place for that,
/// nobody waits for it at every run.
pub(super) fn tell_copy_rate(order: &Order, taken: u64, tell: Tell<'_>) {
    if order.cache.is_none() {
        return;
    }
    let sink = |event: Event| tell(translate::event(event), None);
    let bytes = copying::measured_bytes(&(&order.machine).into());
    // The copy must fit beside the arrays of the job.
    let is_allowed = bytes.saturating_add(taken) <= order.memory_bytes;
    let measure = || is_allowed.then(|| step("copy", &sink, || copying::measured(bytes, order.threads)));
    if let Some(copy) = known_rate(order).or_else(|| measure().flatten()) {
        tell(EventKind::Copy { copy: translate::copy_rate(copy) }, None);
    }
}
