//! A stencil that is ready to run: compiled by this job, or found where an earlier one stored its plan.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

use isobar_compiler::call::launch::{Argument, Call, Launch};
use isobar_compiler::call::signature::Signature;
use isobar_compiler::diag;
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::Domain;
use isobar_protocol::bench::GraphStep;
use isobar_protocol::diagnostic::{Diagnostic, SpanResolver};
use isobar_protocol::job::EventKind;
use isobar_runtime::executable;
use isobar_runtime::executors::OwnedSetting;
use isobar_runtime::plans::{PlanHandle, Plans};
use serde::{Deserialize, Serialize};

use super::steps::steps_of;
use super::{End, StencilPlans, Tell, compiled};
use crate::backends::events::{Event, milliseconds};
use crate::backends::{Backends, Executor};
use crate::compile::ConfiguredProject;
use crate::plan::Callable;
use crate::translate;
use crate::wire::Order;

/// The name of a job's record in the file of a stencil.
const JOB: &str = "job";

/// Facts that a job tells of a stencil beside its plan, as documents.
#[derive(Serialize, Deserialize)]
struct JobRecord {
    diagnostics: String,
    steps: String,
}

/// A stencil that is to run.
pub(super) struct ReadyStencil {
    pub(super) source: ConfiguredProject,
    pub(super) plans: Arc<Plans>,
    /// The steps of its graph.
    pub(super) steps: Vec<GraphStep>,
}

impl ReadyStencil {
    /// Finds a stencil where an earlier job stored it, or compiles it; tells its diagnostics.
    pub(super) fn of(
        order: &Order,
        backends: &Backends,
        executor: &dyn Executor,
        tell: Tell<'_>,
    ) -> Result<Self, End> {
        let sink = |event: Event| tell(translate::event(event), None);
        let begun = Instant::now();
        if let Some((ready, diagnostics)) = Self::find(order, executor) {
            let (step, ms) = ("compile", milliseconds(begun.elapsed()));
            sink(Event::Begun { step });
            sink(Event::Ended { step, cached: true });
            sink(Event::Timing { step: "cache", ms, bytes: None });
            for diagnostic in diagnostics {
                tell(EventKind::Diagnostic { diagnostic }, None);
            }
            return Ok(ready);
        }
        let StencilPlans { source, plans, .. } = compiled(order, backends, tell)?;
        Ok(Self::store(order, source, plans, executor))
    }

    /// The stencil of an order with its diagnostics, where it is stored for this back end.
    fn find(order: &Order, executor: &dyn Executor) -> Option<(Self, Vec<Diagnostic>)> {
        let source = ConfiguredProject::of(&order.request);
        let setting = OwnedSetting::of(order.setting());
        let file = executable::file(&source.project, &source.config, executor, &setting)?;
        let plans = Plans::of_project(&source.project, &source.config, Some(file));
        let handle = plans.plan_for(executor.program(order.setting()));
        let record: JobRecord = handle.section()?.find(JOB, &())?;
        handle.plan().ok()?;
        let steps = serde_json::from_str(&record.steps).unwrap_or_default();
        let diagnostics = serde_json::from_str(&record.diagnostics).unwrap_or_default();
        Some((Self { source, plans, steps }, diagnostics))
    }

    /// Stores a stencil without errors, where there is a place for it.
    fn store(order: &Order, source: ConfiguredProject, plans: Arc<Plans>, executor: &dyn Executor) -> Self {
        let compilation = Arc::clone(plans.compilation());
        let steps = steps_of(&compilation);
        let setting = OwnedSetting::of(order.setting());
        let Some(file) = executable::file(&source.project, &source.config, executor, &setting) else {
            return Self { source, plans, steps };
        };
        let plans = Plans::stored(Arc::clone(&compilation), &source.config, Some(file));
        let handle = plans.plan_for(executor.program(order.setting()));
        if let (Ok(_), Some(section)) = (handle.plan(), handle.section()) {
            let places = SpanResolver::new(compilation.front.sources());
            let told: Vec<Diagnostic> =
                compilation.notes.diagnostics.iter().map(|it| places.diagnostic(it)).collect();
            let documents =
                serde_json::to_string(&told).and_then(|it| Ok((it, serde_json::to_string(&steps)?)));
            if let Ok((diagnostics, steps)) = documents {
                let Ok(_) = section
                    .get_or_make(JOB, &(), || Ok::<JobRecord, Infallible>(JobRecord { diagnostics, steps }));
            }
        }
        Self { source, plans, steps }
    }
}

/// The plan of a stencil for a back end.
pub(super) fn handle(plans: &Arc<Plans>, executor: &dyn Executor) -> PlanHandle {
    plans.plan_for(executor.program(crate::backends::Setting::embedded()))
}

impl Callable for Arc<Plans> {
    fn compilation(&self) -> &Arc<Compilation> {
        Plans::compilation(self)
    }

    fn signature(&self, executor: &dyn Executor) -> Option<Signature> {
        Some(handle(self, executor).plan().ok()?.contract.signature.clone())
    }

    fn bind(&self, call: Call, executor: &dyn Executor) -> Result<Launch, Vec<diag::Diagnostic>> {
        handle(self, executor).plan()?.contract.bind(call)
    }

    fn workspace_bytes(
        &self,
        executor: &dyn Executor,
        domain: Domain,
        threads: u32,
        made: &[Argument],
    ) -> [Option<u64>; 2] {
        let plan = handle(self, executor);
        let lies = |it: &Argument| match it {
            Argument::Field(it) => Some((it.origin, it.array.shape.clone(), it.array.strides.clone())),
            Argument::Scalar(_) | Argument::Unused => None,
        };
        let Domain { i, j, k } = domain;
        let key = (threads, [i, j, k], made.iter().map(lies).collect::<Vec<_>>());
        let bytes = || [0, threads].map(|it| executor.workspace_bytes(&plan, domain, it, made));
        plan.derived("workspace", &key, || Ok(bytes())).unwrap_or([None, None])
    }
}
