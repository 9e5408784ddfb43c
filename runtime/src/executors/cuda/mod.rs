//! CUDA: kernels that NVRTC compiles in this process, run by the driver's interface.
//!
//! Neither library is linked: both are looked for at the first request, and a missing one is reported. Tests
//! need no GPU: every text is compiled to machine code, and launches and calls of the driver run on a CPU.
//! `docs/gpu.md` reports the runs on a GPU, and their times. Memory that other programs lend (`lent`) was not
//! tested there.
//!
//! All work of the process is on one stream, in order. A call plans its launches. A call like one of those before,
//! with the same memory, is a graph from its second time on. Events between the steps measure their times.
//! Fields of the host go to the GPU and back with each call, unless they stay there for later calls (`keep`).
//! Fields of a program lie on the GPU, in memory of ours or of its own (`lent`). A program's calls and copies are
//! collected up to the next joint, and put on the stream together (`sequence`).

pub mod context;
pub mod device;
pub mod error;
pub mod figures;
pub mod gpu;
pub mod nvrtc;
pub mod places;
pub mod plan;
pub mod written;

mod boxes;
mod call;
mod copying;
mod lent;
mod library;
mod module;
mod sequence;
mod staging;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::cuda::{self, CudaArtifact};
use isobar_compiler::entity::SideTable;
use isobar_compiler::kernel::Kernels;
use isobar_compiler::loops::nodes::Array;
use isobar_compiler::pipeline::ProgramKind;
use isobar_compiler::space::Domain;

use self::call::CudaCaller;
use self::device::CudaDevice;
use self::gpu::Gpu;
use self::module::{Module, ModuleInputs, module};
use self::nvrtc::Nvrtc;
use self::plan::{CallPlan, ModuleKey};
use self::sequence::LONGEST;
use super::{Caller, Code, Executor, Failure, Mode, Prepared, Progress, Setting};
use crate::cache::{CodeKind, KeyParts};
use crate::device::Device;
use crate::events::Sink;
use crate::machine::gpu_in_words;
use crate::plans::PlanHandle;
use crate::store::{Store, StoreEntry};
use isobar_compiler::kernel::call::{ArrayArgument, CallRefusal, bytes_without_fields, places};

/// CUDA, on the first GPU that the driver lists.
#[derive(Clone, Debug)]
pub struct Cuda {
    device: Option<Arc<dyn Device>>,
    longest: Duration,
}

impl Cuda {
    /// Looks for the GPU. Where there is none, `prepare` fails and tells why.
    #[must_use]
    pub fn new() -> Self {
        let device = Gpu::here().ok().map(|it| Arc::new(CudaDevice(it)) as Arc<dyn Device>);
        Self { device, longest: LONGEST }
    }

    /// The same, where a run that takes longer than this counts as one that does not end.
    #[must_use]
    pub fn giving_up_after(self, longest: Duration) -> Self {
        Self { longest, ..self }
    }
}

impl Default for Cuda {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether kernels can run here: on which GPU, and what compiles them.
///
/// # Errors
///
/// Everything that is missing.
pub fn check() -> Result<String, String> {
    match (Gpu::here(), Nvrtc::here()) {
        (Ok(gpu), Ok(nvrtc)) => {
            let (major, minor) = nvrtc.version();
            let schedules = gpu_in_words(gpu.figures());
            Ok(format!("{} ({}), NVRTC {major}.{minor}; {schedules}", gpu.model(), gpu.arch()))
        }
        (gpu, nvrtc) => {
            let missing = [gpu.err().map(|it| it.to_string()), nvrtc.err().map(|it| it.to_string())];
            Err(missing.into_iter().flatten().collect::<Vec<_>>().join("; "))
        }
    }
}

/// The CUDA C++ of a plan.
///
/// # Errors
///
/// That there is none.
pub fn artifact(plan: &PlanHandle) -> Result<Arc<CudaArtifact>, Failure> {
    plan.text(|| Ok(cuda::generate(&*plan.kernels()?)))
}

impl Executor for Cuda {
    fn program(&self, _: Setting<'_>) -> ProgramKind {
        ProgramKind::Kernels
    }

    fn workspace_bytes(
        &self,
        plan: &PlanHandle,
        domain: Domain,
        _: u32,
        arguments: &[Argument],
    ) -> Option<u64> {
        let kernels = plan.kernels().ok()?;
        if arguments.is_empty() {
            return bytes_without_fields(&kernels, domain);
        }
        let places = places(&kernels, &plan.plan().ok()?.contract.signature);
        let launch = Launch { domain, arguments: arguments.to_vec() };
        let artifact = artifact(plan).ok()?;
        match CallPlan::of(&kernels, &artifact, &places, &launch) {
            Ok(plan) => plan.bytes(),
            Err(CallRefusal::OutOfMemory) => None,
            // The run itself reports other obstacles.
            Err(CallRefusal::Other(_)) => Some(0),
        }
    }

    fn device(&self) -> Option<Arc<dyn Device>> {
        self.device.clone()
    }

    fn prepare(&self, plan: &PlanHandle, setting: Setting<'_>, _: Sink<'_>) -> Result<Prepared, Failure> {
        let (of_stencil, kernels) = (plan.ready_plan()?, plan.kernels()?);
        Ok(Prepared::of(Arc::new(CudaCode {
            gpu: Gpu::here()?,
            nvrtc: Nvrtc::here().map_err(error::CudaError::from)?,
            places: places(&kernels, &of_stencil.contract.signature),
            artifact: artifact(plan)?,
            kernels,
            stencil: of_stencil.stencil.clone(),
            cache: setting.cache.map(Into::into),
            mode: setting.mode,
            longest: self.longest,
            modules: Store::default(),
        })))
    }

    fn code_keys(
        &self,
        plan: &PlanHandle,
        _: Option<u32>,
        setting: Setting<'_>,
    ) -> Vec<(CodeKind, KeyParts)> {
        let (Ok(artifact), Ok(gpu), Ok(nvrtc)) = (artifact(plan), Gpu::here(), Nvrtc::here()) else {
            return Vec::new();
        };
        let keys = |is_wide| [true, false].map(|is_unit| ModuleKey { is_wide, is_unit });
        let keys = [false, true].into_iter().flat_map(keys);
        let text = &artifact.listing.text;
        keys.map(|it| (CodeKind::Cuda, module::parts(text, &gpu, nvrtc, (setting.mode, it)))).collect()
    }
}

/// The text of a plan's kernels, and its modules.
struct CudaCode {
    gpu: Arc<Gpu>,
    nvrtc: &'static Nvrtc,
    kernels: Arc<Kernels>,
    artifact: Arc<CudaArtifact>,
    places: SideTable<Array, ArrayArgument>,
    stencil: String,
    cache: Option<PathBuf>,
    mode: Mode,
    longest: Duration,
    modules: Store<ModuleKey, Module>,
}

type StoredModule = StoreEntry<ModuleKey, Module>;

impl CudaCode {
    fn plan(&self, launch: &Launch) -> Result<CallPlan, Failure> {
        Ok(CallPlan::of(&self.kernels, &self.artifact, &self.places, launch)?)
    }

    /// Whether blocks may have as much shared memory as the launches ask for.
    fn has_shared_memory(&self, plan: &CallPlan) -> Result<(), Failure> {
        let there = self.gpu.shared_bytes;
        match plan.launches.iter().find(|it| it.shared_bytes > there) {
            Some(it) => {
                let kernel = self.artifact.kernels[it.kernel].name.clone();
                Err(error::CudaError::Shared { kernel, needed: it.shared_bytes, there }.into())
            }
            None => Ok(()),
        }
    }

    fn module(&self, key: ModuleKey, sink: Sink<'_>) -> Result<Arc<StoredModule>, Failure> {
        let Self { gpu, nvrtc, cache, stencil, mode, .. } = self;
        self.modules.get(key, |&key| {
            let making = ModuleInputs { gpu, nvrtc, cache: cache.as_deref(), stencil, mode: *mode, key };
            let names: Vec<&str> = self.artifact.kernels.iter().map(|it| it.name.as_str()).collect();
            module(&self.artifact.listing.text, &names, making, sink)
        })
    }
}

impl Code for CudaCode {
    fn fit(&self, launch: &Launch, sink: Sink<'_>) -> Result<(), Failure> {
        if launch.domain.points() == 0 {
            return Ok(());
        }
        let plan = self.plan(launch)?;
        self.module(plan.module, sink).map(drop)
    }

    fn may_trap(&self) -> bool {
        !self.kernels.places.is_empty()
    }

    fn caller(self: Arc<Self>) -> Box<dyn Caller> {
        let progress = Arc::new(Progress::default());
        let n_steps = self.kernels.program.steps.len();
        progress.total.store(i64::try_from(n_steps).unwrap_or(i64::MAX), Ordering::Relaxed);
        Box::new(CudaCaller::new(self, progress))
    }
}
