//! A stencil that an earlier job compiled. Its code is found without the compiler, which runs only when a
//! caller needs the compilation itself.

use std::convert::Infallible;
use std::sync::Arc;

use isobar_compiler::backend::launch::{Argument, Call, Launch};
use isobar_compiler::backend::signature::Signature;
use isobar_compiler::diag;
use isobar_compiler::pipeline::{Compilation, Contract, NoHook, route};
use isobar_compiler::space::Domain;
use isobar_protocol::bench::GraphStep;
use isobar_protocol::diagnostic::{Diagnostic, Places};
use isobar_runtime::executable;
use isobar_runtime::executors::source::Source as Later;
use isobar_runtime::executors::{OwnedSetting, Recalled};
use isobar_runtime::kept::Part;
use serde::{Deserialize, Serialize};

use super::steps::steps_of;
use crate::backends::{Executor, Prepared};
use crate::compile::Source;
use crate::plan::Callable;
use crate::wire::Order;

/// The name of its record, beside the records that other programs keep of the same stencil.
const NAME: &str = "job";

/// The data that a job needs of a stencil beside its code.
#[derive(Serialize, Deserialize)]
struct Record {
    contract: Contract,
    recipe: Vec<u8>,
    /// The diagnostics of the compiler and the steps of the graph, as documents.
    diagnostics: String,
    steps: String,
}

/// A stencil that is kept.
pub(super) struct Kept {
    pub source: Source,
    part: Part,
    record: Record,
    later: Arc<Later>,
}

impl Kept {
    /// The stencil of an order, where it is kept for this back end.
    pub(super) fn find(order: &Order, executor: &dyn Executor) -> Option<Self> {
        let source = Source::of(&order.request);
        let part = place(order, &source, executor)?;
        let record: Record = part.find(NAME)?;
        part.call(&record.contract.signature.name);
        let later = Later::later({
            let (project, config) = (source.project.clone(), source.config.clone());
            move || route::compile(&project, &config, &mut NoHook)
        });
        Some(Self { source, part, record, later: Arc::new(later) })
    }

    /// Keeps a stencil without errors; gives it back where it cannot be kept.
    pub(super) fn keep(
        order: &Order,
        source: &Source,
        compilation: Arc<Compilation>,
        executor: &dyn Executor,
    ) -> Result<Self, Arc<Compilation>> {
        let record = || {
            let places = Places::new(compilation.sources());
            let told: Vec<Diagnostic> =
                compilation.diagnostics.iter().map(|it| places.diagnostic(it)).collect();
            Some(Record {
                contract: compilation.contract()?,
                recipe: executor.recipe(&compilation, order.setting())?,
                diagnostics: serde_json::to_string(&told).ok()?,
                steps: serde_json::to_string(&steps_of(&compilation)).ok()?,
            })
        };
        let kept = place(order, source, executor).and_then(|part| Some((part, record()?)));
        let Some((part, record)) = kept else { return Err(compilation) };
        part.call(compilation.stencil.as_deref().unwrap_or(&record.contract.signature.name));
        let Ok(record) = part.get_or_make(NAME, &(), || Ok::<Record, Infallible>(record));
        let compilation = Arc::try_unwrap(compilation).unwrap_or_else(|it| (*it).clone());
        Ok(Self { source: source.clone(), part, record, later: Arc::new(compilation.into()) })
    }

    /// The diagnostics of the compiler.
    pub(super) fn diagnostics(&self) -> Vec<Diagnostic> {
        serde_json::from_str(&self.record.diagnostics).unwrap_or_default()
    }

    pub(super) fn steps(&self) -> Vec<GraphStep> {
        serde_json::from_str(&self.record.steps).unwrap_or_default()
    }

    /// Makes it ready; none where what is kept is no recipe.
    pub(super) fn recall(&self, order: &Order, executor: &dyn Executor) -> Option<Prepared> {
        let stencil = Recalled {
            source: &self.later,
            signature: &self.record.contract.signature,
            machine: self.source.config.passes.machine.as_ref(),
            part: &self.part,
        };
        executor.recall(&stencil, &self.record.recipe, order.setting())
    }
}

/// Where a stencil is kept, if the back end keeps any and there is a place for it.
fn place(order: &Order, source: &Source, executor: &dyn Executor) -> Option<Part> {
    let setting = OwnedSetting::of(order.setting());
    executable::kept(&source.project, &source.config, executor, &setting)
}

impl Callable for Kept {
    fn signature(&self) -> Option<&Signature> {
        Some(&self.record.contract.signature)
    }

    fn compilation(&self) -> &Compilation {
        self.later.compilation()
    }

    fn bind(&self, call: Call) -> Result<Launch, Vec<diag::Diagnostic>> {
        self.record.contract.bind(call)
    }

    fn workspace_bytes(
        &self,
        executor: &dyn Executor,
        domain: Domain,
        threads: u32,
        made: &[Argument],
    ) -> [Option<u64>; 2] {
        let lies = |it: &Argument| match it {
            Argument::Field(it) => Some((it.origin, it.array.shape.clone(), it.array.strides.clone())),
            Argument::Scalar(_) | Argument::Unused => None,
        };
        let Domain { i, j, k } = domain;
        let key = (threads, [i, j, k], made.iter().map(lies).collect::<Vec<_>>());
        let Ok(bytes) = self.part.get_or_make("workspace", &key, || {
            let bytes = self.compilation().workspace_bytes(executor, domain, threads, made);
            Ok::<_, Infallible>(bytes)
        });
        bytes
    }
}
