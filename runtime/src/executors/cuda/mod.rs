//! CUDA: kernels that NVRTC compiles in this process, run by the driver's interface.
//!
//! Neither is linked: both are looked for when somebody asks, and where one is missing that is an answer. Tests need no
//! GPU: machine code is made of every text, and launches and calls of the driver run on a CPU. What ran on a GPU, and
//! how fast, is in `docs/gpu.md`; memory of others did not.
//!
//! All work of the process is on one stream, one thing after the other. A call plans its launches; one like the last
//! one, with the same memory, is a graph from its second time on. Events between the steps tell how long each took.
//! Fields of the host go to the GPU and back with each call, unless they stay there for calls to come (`keep`); those of
//! a program lie there, in memory of ours or of its own (`lent`).

pub mod context;
pub mod error;
pub mod figures;
pub mod gpu;
pub mod nvrtc;
pub mod places;
pub mod plan;
pub mod written;

mod bytes;
mod call;
mod copying;
mod lent;
mod library;
mod module;
mod slice;
mod staging;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use isobar_compiler::backend::cuda::Artifact;
use isobar_compiler::backend::kernel::Kernels;
use isobar_compiler::backend::launch::{Argument, Launch};
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::Domain;

use self::call::OfCaller;
use self::gpu::{CudaDevice, Gpu};
use self::module::{Making, Module, module};
use self::nvrtc::Nvrtc;
use self::plan::{Plan, Variant};
use super::shapes::{self, Shapes};
use super::{Caller, Code, Executor, Failure, Mode, Prepared, Progress, Setting};
use crate::cache::{Kind, Parts};
use crate::device::Device;
use crate::events::Sink;
use crate::machine::gpu_in_words;
use isobar_compiler::backend::kernel::call::{Place, Refused, bytes_without_fields, places};

/// CUDA, on the first GPU that the driver lists.
#[derive(Clone, Debug)]
pub struct Cuda {
    device: Option<Arc<dyn Device>>,
    longest: Duration,
}

/// A run that goes on for longer is taken for one that does not end: a `while` of a stencil is counted, and a day of
/// weather is not one run.
const LONGEST: Duration = Duration::from_mins(10);

impl Cuda {
    /// Looks for the GPU. Where there is none, nothing gets ready, and tells why.
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

impl Executor for Cuda {
    fn workspace_bytes(
        &self,
        compilation: &Compilation,
        domain: Domain,
        _: u32,
        arguments: &[Argument],
    ) -> Option<u64> {
        let (kernels, artifact) = (compilation.levels.kernels()?, compilation.levels.cuda()?);
        if arguments.is_empty() {
            return bytes_without_fields(kernels, domain);
        }
        let places = places(kernels, compilation.signature.as_ref()?);
        let launch = Launch { domain, arguments: arguments.to_vec() };
        match Plan::of(kernels, artifact, &places, &launch) {
            Ok(plan) => plan.bytes(),
            Err(Refused::OutOfMemory) => None,
            // What stands in the way is told when it runs.
            Err(Refused::Other(_)) => Some(0),
        }
    }

    fn device(&self) -> Option<Arc<dyn Device>> {
        self.device.clone()
    }

    fn prepare(
        &self,
        compilation: &Compilation,
        setting: Setting<'_>,
        _: Sink<'_>,
    ) -> Result<Prepared, Failure> {
        let missing = || Failure::Machine("there are no kernels to compile".to_owned());
        let kernels = compilation.levels.kernels().ok_or_else(missing)?;
        let artifact = compilation.levels.cuda().ok_or_else(missing)?;
        let interface = compilation.signature.as_ref().ok_or_else(missing)?;
        Ok(Prepared::of(Arc::new(Made {
            gpu: Gpu::here()?,
            nvrtc: Nvrtc::here().map_err(error::CudaError::from)?,
            places: places(kernels, interface),
            kernels: kernels.clone(),
            artifact: artifact.clone(),
            stencil: compilation.stencil.clone().unwrap_or_else(|| interface.name.clone()),
            cache: setting.cache.map(Into::into),
            mode: setting.mode,
            longest: self.longest,
            modules: Shapes::default(),
        })))
    }

    fn kept_as(&self, compilation: &Compilation, _: Option<u32>, setting: Setting<'_>) -> Vec<(Kind, Parts)> {
        let (Some(artifact), Ok(gpu), Ok(nvrtc)) = (compilation.levels.cuda(), Gpu::here(), Nvrtc::here())
        else {
            return Vec::new();
        };
        let variant = |is_wide| [true, false].map(|is_unit| Variant { is_wide, is_unit });
        let variants = [false, true].into_iter().flat_map(variant);
        let text = &artifact.listing.text;
        variants.map(|it| (Kind::Cuda, module::parts(text, &gpu, nvrtc, (setting.mode, it)))).collect()
    }
}

/// A text, and its modules.
struct Made {
    gpu: Arc<Gpu>,
    nvrtc: &'static Nvrtc,
    kernels: Kernels,
    artifact: Artifact,
    places: Vec<Option<Place>>,
    stencil: String,
    cache: Option<PathBuf>,
    mode: Mode,
    longest: Duration,
    modules: Shapes<Variant, Module>,
}

type OfVariant = shapes::Made<Variant, Module>;

impl Made {
    fn plan(&self, launch: &Launch) -> Result<Plan, Failure> {
        Ok(Plan::of(&self.kernels, &self.artifact, &self.places, launch)?)
    }

    fn module(&self, variant: Variant, sink: Sink<'_>) -> Result<Arc<OfVariant>, Failure> {
        let Self { gpu, nvrtc, cache, stencil, mode, .. } = self;
        self.modules.get(variant, |&variant| {
            let making = Making { gpu, nvrtc, cache: cache.as_deref(), stencil, mode: *mode, variant };
            let names: Vec<&str> = self.artifact.kernels.iter().map(|it| it.name.as_str()).collect();
            module(&self.artifact.listing.text, &names, making, sink)
        })
    }
}

impl Code for Made {
    fn fit(&self, launch: &Launch, sink: Sink<'_>) -> Result<(), Failure> {
        if launch.domain.points() == 0 {
            return Ok(());
        }
        let plan = self.plan(launch)?;
        self.module(plan.variant, sink).map(drop)
    }

    fn caller(self: Arc<Self>) -> Box<dyn Caller> {
        let progress = Arc::new(Progress::default());
        let n_steps = self.kernels.program.steps.len();
        progress.total.store(i64::try_from(n_steps).unwrap_or(i64::MAX), Ordering::Relaxed);
        Box::new(OfCaller::new(self, progress))
    }
}
