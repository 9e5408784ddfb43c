//! A stencil with its back end. A program compiles it once, and calls it from all its threads.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use isobar_compiler::call::array::Array;
use isobar_compiler::call::launch::{Argument, Call, Launch, ScalarInput};
use isobar_compiler::call::signature::Signature;
use isobar_compiler::config::Config;
use isobar_compiler::diag::Diagnostic;
use isobar_compiler::pass;
use isobar_compiler::pipeline::{self, Compilation, Plan};
use isobar_compiler::project::Project;
use isobar_compiler::space::Domain;

use crate::buffer::{Buffer, DeviceBuffer};
use crate::cache::{self, CodeKind, Explanation, KeyParts};
use crate::device::{Device, FinishedTicket, Ticket};
use crate::events::{CallLayout, Event, Sink};
pub use crate::executors::OwnedSetting;
use crate::executors::{Code, Executor, Prepared};
use crate::failure::Failure;
use crate::plans::{PlanHandle, Plans};
use crate::store::file::StencilFile;

/// Why a stencil or a call is refused.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// The faults of the stencil or the call, in the words of the compiler.
    Diagnostics(Vec<Diagnostic>),
    /// A field lies on another device than the back end runs on; nothing is copied without its owner's
    /// knowledge.
    Elsewhere { field: String, is_on: String, runs_on: String },
    /// A failure of the machine.
    Failure(Failure),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// The arguments that a program calls a stencil with, by parameter name.
#[derive(Debug, Default)]
pub struct Arguments {
    pub fields: BTreeMap<String, Buffer>,
    pub scalars: BTreeMap<String, ScalarInput>,
    /// Points along I, J, K; where it is missing, the largest domain that fits.
    pub domain: Option<[i64; 3]>,
}

/// A stencil that can be called with any arrays, from any thread, at the same time. Clones share it.
#[derive(Clone)]
pub struct Executable {
    shared: Arc<ExecutableState>,
}

struct ExecutableState {
    executor: Arc<dyn Executor>,
    setting: OwnedSetting,
    /// The stencil as it is written: each parameter has its own array.
    own: Arc<CallablePlan>,
    /// Variants in which parameters share an array, by the pairs of these parameters.
    with_aliases: Mutex<BTreeMap<Vec<[usize; 2]>, Arc<CallablePlan>>>,
}

/// A plan with its code, for calls in which certain parameters are one array.
struct CallablePlan {
    handle: PlanHandle,
    plan: Arc<Plan>,
    code: Arc<dyn Code>,
    is_on_device: bool,
    /// Callers that are not in use now, each with a frame and a workspace.
    idle: Mutex<Vec<Prepared>>,
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executable").field("executor", &self.shared.executor).finish_non_exhaustive()
    }
}

impl Executable {
    /// Compiles the stencil of a project and prepares it. Reports its steps to `sink`. Kernels are made for
    /// the GPU of the back end, unless the configuration names one.
    ///
    /// # Errors
    ///
    /// The faults of the stencil, or why the back end cannot be prepared.
    pub fn new(
        project: &Project,
        mut config: Config,
        executor: Arc<dyn Executor>,
        setting: OwnedSetting,
        sink: Sink<'_>,
    ) -> Result<Self, Refusal> {
        find_gpu(&mut config, &*executor);
        let file = file(project, &config, &*executor, &setting);
        let plans = Plans::of_project(project, &config, file);
        let handle = plans.plan_for(executor.program(setting.borrow()));
        let own = Arc::new(CallablePlan::new(handle, &*executor, &setting, sink)?);
        let with_aliases = Mutex::default();
        Ok(Self { shared: Arc::new(ExecutableState { executor, setting, own, with_aliases }) })
    }

    /// Whether the cache has the stencil from another process; if not, the parts in which the most similar
    /// entry differs. None where the back end stores nothing, there is no place for it, or the stencil does
    /// not compile.
    #[must_use]
    pub fn explain(
        project: &Project,
        mut config: Config,
        executor: &dyn Executor,
        setting: &OwnedSetting,
    ) -> Option<Explanation> {
        find_gpu(&mut config, executor);
        let handle =
            || Plans::of_project(project, &config, None).plan_for(executor.program(setting.borrow()));
        if !executor.stores_plans() {
            return explain(&handle(), executor, (setting, None));
        }
        let root = setting.cache.as_ref()?;
        let name = project.stencil.clone().or_else(|| Some(handle().plan().ok()?.stencil.clone()));
        let parts = parts(project, &config, setting);
        Some(cache::explain(root, CodeKind::Stencils, name.as_deref().unwrap_or_default(), &parts))
    }

    /// The memory that a call with these numbers of points allocates beside its arrays, in bytes; none where
    /// no memory could hold it.
    #[must_use]
    pub fn workspace_bytes(&self, [i, j, k]: [i64; 3]) -> Option<u64> {
        let ExecutableState { executor, setting, .. } = &*self.shared;
        executor.workspace_bytes(&self.shared.own.handle, Domain::new(i, j, k), setting.threads, &[])
    }

    /// All levels of the stencil. A stencil whose code came from the cache is compiled now.
    #[must_use]
    pub fn compilation(&self) -> &Compilation {
        self.shared.own.handle.plans().compilation()
    }

    /// Whether the stencil was compiled in this process. A stencil from the cache is compiled only when
    /// somebody asks for its levels, or calls it with other arrays.
    #[must_use]
    pub fn is_compiled(&self) -> bool {
        self.shared.own.handle.plans().is_compiled()
    }

    /// The signature of the stencil.
    #[must_use]
    pub fn signature(&self) -> &Signature {
        &self.shared.own.plan.contract.signature
    }

    /// Where its fields have to lie; none for the host.
    #[must_use]
    pub fn device(&self) -> Option<Arc<dyn Device>> {
        self.shared.executor.device()
    }

    /// Checks a call. One array for several parameters, with one origin, is one field. Each statement reads
    /// the values that earlier statements wrote through any of the names.
    ///
    /// # Errors
    ///
    /// The faults of the call (codes C01 to C06 and C08), or a field that lies on another device.
    pub fn bind(&self, arguments: Arguments) -> Result<CheckedCall, Refusal> {
        let own = &self.shared.own;
        let signature = self.signature();
        let Arguments { fields, scalars, domain } = arguments;
        let mut call = Call { scalars, domain, ..Call::default() };
        let mut memories: BTreeMap<String, DeviceBuffer> = BTreeMap::new();
        let runs_on = self.shared.executor.device();
        for (name, Buffer { array, on_device, origin }) in fields {
            let is_there = match (&on_device, &runs_on) {
                (None, None) => true,
                (Some(it), Some(device)) => Arc::ptr_eq(&it.device, device),
                (Some(_), None) | (None, Some(_)) => false,
            };
            if !is_there {
                let named = |it: Option<&Arc<dyn Device>>| it.map_or("the host", |it| it.name()).to_owned();
                let (is_on, runs_on) =
                    (named(on_device.as_ref().map(|it| &it.device)), named(runs_on.as_ref()));
                return Err(Refusal::Elsewhere { field: name, is_on, runs_on });
            }
            if let Some(origin) = origin {
                call.origin.insert(name.clone(), origin);
            }
            if let Some(memory) = on_device {
                memories.insert(name.clone(), memory);
            }
            call.fields.insert(name, array);
        }
        let bound = own.plan.contract.bind_shared(call).map_err(Refusal::Diagnostics)?;
        let pipeline::BoundLaunch { mut launch, shared } = bound;
        let memories = signature.params.iter().map(|it| memories.remove(&it.name)).collect();
        let mut others = Vec::with_capacity(shared.len());
        for &[_, other] in &shared {
            let argument = std::mem::replace(&mut launch.arguments[other], Argument::Unused);
            others.push((other, argument));
        }
        let callable = if shared.is_empty() { Arc::clone(own) } else { self.shared.with_aliases(shared)? };
        Ok(CheckedCall { callable, launch, others, memories })
    }

    /// How a call deals with the layout of its arrays. Makes the code for that layout, where there is none
    /// yet.
    ///
    /// # Errors
    ///
    /// Why there is no code.
    pub fn layout(&self, bound: &CheckedCall) -> Result<CallLayout, Failure> {
        let found = Mutex::new(CallLayout::default());
        bound.callable.code.fit(&bound.launch, &|event| {
            if let Event::Layout(it) = event {
                *found.lock().unwrap_or_else(PoisonError::into_inner) = it;
            }
        })?;
        Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls the stencil once, with arguments that [`bind`](Self::bind) of this stencil checked. Updates them
    /// in place.
    ///
    /// # Errors
    ///
    /// Why the run ended early. Values that it has written by then stay.
    pub fn run(&self, bound: &mut CheckedCall) -> Result<(), Failure> {
        let (mut caller, ticket) = bound.start();
        let ended = ticket.and_then(Ticket::wait);
        bound.callable.give_back(&mut caller);
        ended
    }

    /// Calls the stencil without waiting: a device works while the program goes on. On the host, the call is
    /// over when this returns.
    pub fn submit(&self, mut bound: CheckedCall) -> PendingCall {
        let (caller, ticket) = bound.start();
        PendingCall { bound: Some(bound), caller, ticket: Some(ticket) }
    }
}

impl ExecutableState {
    /// The variant in which these pairs of parameters are one array; made by the first call that asks for it.
    fn with_aliases(&self, pairs: Vec<[usize; 2]>) -> Result<Arc<CallablePlan>, Refusal> {
        let mut known = self.with_aliases.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(callable) = known.get(&pairs) {
            return Ok(Arc::clone(callable));
        }
        let handle = self.own.handle.with_aliases(&pairs);
        let callable = Arc::new(CallablePlan::new(handle, &*self.executor, &self.setting, &|_| ())?);
        known.insert(pairs, Arc::clone(&callable));
        Ok(callable)
    }
}

/// Chooses the GPU of the back end as the target of kernels, unless the configuration names one.
fn find_gpu(config: &mut Config, executor: &dyn Executor) {
    let passes = &mut config.passes;
    if passes.device == pass::Device::Cpu && passes.gpu.is_none() {
        passes.gpu = executor.device().and_then(|it| it.model());
    }
}

/// Whether the cache has code of a plan, as in [`Executable::explain`]. Applies to back ends that find code
/// by its text. `levels` is the number of levels of the calls, where it is known. The code of a call depends
/// on its arrays; an entry for any arrays is a hit.
#[must_use]
pub fn explain(
    handle: &PlanHandle,
    executor: &dyn Executor,
    (setting, levels): (&OwnedSetting, Option<u32>),
) -> Option<Explanation> {
    let root = setting.cache.as_ref()?;
    let plan = handle.plan().ok()?;
    let all = executor.code_keys(handle, levels, setting.borrow()).into_iter();
    let mut all: Vec<Explanation> =
        all.map(|(kind, it)| cache::explain(root, kind, &plan.stencil, &it)).collect();
    let hit = all.iter().position(|it| it.is_hit).unwrap_or(0);
    (hit < all.len()).then(|| all.swap_remove(hit))
}

/// The file of a stencil, where the back end stores plans and there is a place for it.
#[must_use]
pub fn file(
    project: &Project,
    config: &Config,
    executor: &dyn Executor,
    setting: &OwnedSetting,
) -> Option<Arc<StencilFile>> {
    let root = setting.cache.as_ref().filter(|_| executor.stores_plans())?;
    StencilFile::open(root, parts(project, config, setting), project.stencil.as_deref())
}

/// All that decides the plans and the code of a stencil.
fn parts(
    Project { files, main, stencil }: &Project,
    config: &Config,
    OwnedSetting { mode, vectors, relayout, .. }: &OwnedSetting,
) -> KeyParts {
    let texts = files.iter().flat_map(|(name, text)| [name.as_str(), text]);
    let texts = [main.as_str(), stencil.as_deref().unwrap_or_default()].into_iter().chain(texts);
    KeyParts::of_own_code(texts, format!("{config:?} {mode:?} {vectors:?} {relayout:?}"))
}

impl CallablePlan {
    fn new(
        handle: PlanHandle,
        executor: &dyn Executor,
        setting: &OwnedSetting,
        sink: Sink<'_>,
    ) -> Result<Self, Refusal> {
        let plan = handle.plan().map_err(Refusal::Diagnostics)?;
        let ready = executor.prepare(&handle, setting.borrow(), sink)?;
        let (code, idle) = (ready.code(), Mutex::new(vec![ready]));
        Ok(Self { handle, plan, code, is_on_device: executor.device().is_some(), idle })
    }

    /// Takes a caller that is not in use, or makes one.
    fn caller(&self) -> Prepared {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| Prepared::of(Arc::clone(&self.code)))
    }

    fn give_back(&self, caller: &mut Option<Prepared>) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).extend(caller.take());
    }
}

/// A checked call.
pub struct CheckedCall {
    callable: Arc<CallablePlan>,
    launch: Launch,
    /// The arguments that share the array of an earlier parameter, by position.
    others: Vec<(usize, Argument)>,
    /// The memories of fields on a device, in the order of the signature.
    memories: Vec<Option<DeviceBuffer>>,
}

impl fmt::Debug for CheckedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckedCall").field("domain", &self.launch.domain).finish_non_exhaustive()
    }
}

impl CheckedCall {
    /// The checked arguments, in the order of the signature.
    #[must_use]
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    /// Changes the value of a scalar for later calls, by its position in the signature. A parameter that the
    /// stencil does not use stays unused.
    ///
    /// # Errors
    ///
    /// C01 where the value and the parameter differ in type; then nothing changes.
    pub fn set_scalar(&mut self, position: usize, input: ScalarInput) -> Result<(), Diagnostic> {
        self.launch.set_scalar(&self.callable.plan.contract.signature, position, input)
    }

    /// Gives the fields back, by parameter name.
    #[must_use]
    pub fn into_fields(self) -> BTreeMap<String, Buffer> {
        let Self { callable, mut launch, others, memories } = self;
        for (at, argument) in others {
            launch.arguments[at] = argument;
        }
        let params = callable.plan.contract.signature.params.iter();
        let fields =
            params.zip(launch.arguments).zip(memories).filter_map(|((param, argument), on_device)| {
                let Argument::Field(field) = argument else { return None };
                let array: Array = field.array;
                Some((param.name.clone(), Buffer { array, on_device, origin: None }))
            });
        fields.collect()
    }

    fn start(&mut self) -> (Option<Prepared>, Result<Box<dyn Ticket>, Failure>) {
        let mut caller = self.callable.caller();
        let memories: Vec<_> = self.memories.iter().map(|it| it.as_ref().map(|it| &*it.memory)).collect();
        let ticket = if self.callable.is_on_device {
            caller.start(&mut self.launch, &memories)
        } else {
            caller.run(&mut self.launch).map(|()| Box::new(FinishedTicket) as Box<dyn Ticket>)
        };
        (Some(caller), ticket)
    }
}

/// A call that has been submitted. Dropping it waits for its end, since its buffers are in use until then.
pub struct PendingCall {
    bound: Option<CheckedCall>,
    caller: Option<Prepared>,
    ticket: Option<Result<Box<dyn Ticket>, Failure>>,
}

impl fmt::Debug for PendingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingCall").field("is_over", &self.is_over()).finish_non_exhaustive()
    }
}

impl PendingCall {
    /// Whether it is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.ticket.as_ref().is_none_or(|it| it.as_ref().map_or(true, |it| it.is_over()))
    }

    /// Waits until the call is over, and gives all arguments back, even where it failed.
    pub fn wait(mut self) -> (Option<CheckedCall>, Result<(), Failure>) {
        let ended = self.end();
        (self.bound.take(), ended)
    }

    fn end(&mut self) -> Result<(), Failure> {
        let ended = self.ticket.take().map_or(Ok(()), |it| it.and_then(Ticket::wait));
        if let Some(bound) = &self.bound {
            bound.callable.give_back(&mut self.caller);
        }
        ended
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        // The result is ignored: a program that drops the call does not ask for it.
        let _ = self.end();
    }
}
