//! Translates events of the runtime into messages, and options of a request into those of the runtime.

use isobar_compiler::space::Axis;
use isobar_protocol::bench::CopyRate;
use isobar_protocol::job::{EventKind, StageState};
use isobar_protocol::layout::{Layout, StrideHandling, UnitStrideAxis};
use isobar_protocol::report::{CacheEntry, Explanation};
use isobar_protocol::request::Mode;
use isobar_runtime::cache;
use isobar_runtime::copying;

use crate::backends;
use crate::backends::events::{self, Event};

/// An event of a run in the form that readers of a job receive.
#[must_use]
pub fn event(event: Event) -> EventKind {
    let stage = |name: &str, state, cached| EventKind::Stage { name: name.to_owned(), state, cached };
    match event {
        Event::Begun { step } => stage(step, StageState::Begun, false),
        Event::Ended { step, cached } => stage(step, StageState::Ended, cached),
        Event::Timing { step, ms, bytes } => EventKind::Timing { name: step.to_owned(), ms, bytes },
        Event::Progress { done, total } => EventKind::Progress { done, total },
        Event::Layout(it) => EventKind::Layout { layout: layout(it) },
        Event::Log { text } => EventKind::Log { text },
    }
}

/// How the fields of a call lie, and what is made of that.
pub(crate) fn layout(it: events::CallLayout) -> Layout {
    let events::CallLayout { fields, way, copied, there_bytes, back_bytes, rows } = it;
    let way = match way {
        events::LayoutTreatment::AsGiven => StrideHandling::AsGiven,
        events::LayoutTreatment::Turned => StrideHandling::Turned,
        events::LayoutTreatment::Copied => StrideHandling::Copied,
    };
    let fields = fields.into_iter().map(|(name, axis)| (name, lies(axis))).collect();
    Layout { fields, way, copied, there_bytes, back_bytes, rows }
}

pub(crate) fn lies(axis: Option<Axis>) -> UnitStrideAxis {
    match axis {
        Some(Axis::I) => UnitStrideAxis::I,
        Some(Axis::J) => UnitStrideAxis::J,
        Some(Axis::K) => UnitStrideAxis::K,
        None => UnitStrideAxis::Apart,
    }
}

/// How exactly a request wants its run to keep to the meaning.
#[must_use]
pub fn mode(mode: Mode) -> backends::Mode {
    match mode {
        Mode::Reproducible => backends::Mode::Reproducible,
        Mode::Fast => backends::Mode::Fast,
    }
}

/// How fast a machine copies.
pub(crate) fn copy_rate(copying::CopyRate { bytes_per_s, threads }: copying::CopyRate) -> CopyRate {
    CopyRate { bytes_per_s, threads }
}

/// An entry of the cache.
pub(crate) fn cache_entry(entry: cache::CacheEntry) -> CacheEntry {
    let cache::CacheEntry { kind, key, stencil, bytes, is_whole, unused } = entry;
    let (backend, unused_s) = (kind.backend().to_owned(), unused.as_secs());
    CacheEntry { backend, key, stencil, bytes, is_whole, unused_s }
}

/// Why compiled code was found in the cache, or was not.
pub(crate) fn explanation(explanation: cache::Explanation) -> Explanation {
    let cache::Explanation { key, is_hit, nearest, differs } = explanation;
    let differs = differs.into_iter().map(str::to_owned).collect();
    Explanation { key, is_hit, nearest, differs }
}
