//! CUBINs: made by NVRTC or taken from the cache, and loaded.
//!
//! All kernels of a stencil form one text and one module, because a start of NVRTC takes longer than more
//! text. The key of the cache has everything that decides the code: text, options, architecture, the versions
//! of NVRTC and of this program. It does not have the name of a processor, so that several machines can share
//! a folder.

use std::path::Path;
use std::sync::Arc;

use cudarc::driver::sys::CUfunction_attribute_enum as Attribute;
use cudarc::driver::{CudaFunction, CudaModule, DriverError};
use cudarc::nvrtc::Ptx;

use super::error::{CudaError, said};
use super::gpu::Gpu;
use super::nvrtc::{FUSED, Nvrtc, OPTIONS, UNIT, WIDE};
use super::plan::ModuleKey;
use crate::cache as kept;
use crate::events::{Event, Sink, Step};
use crate::executors::{Failure, Mode};

/// A loaded module.
#[derive(Debug)]
pub(super) struct Module {
    /// In the order of the artifact's kernels.
    pub(super) kernels: Vec<CudaFunction>,
    _module: Arc<CudaModule>,
}

/// The inputs of a module beside its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModuleInputs<'a> {
    pub(super) gpu: &'a Arc<Gpu>,
    pub(super) nvrtc: &'a Nvrtc,
    /// The cache folder, if CUBINs are stored.
    pub(super) cache: Option<&'a Path>,
    pub(super) stencil: &'a str,
    pub(super) mode: Mode,
    pub(super) key: ModuleKey,
}

/// The module of a text with these kernels.
pub(super) fn module(
    text: &str,
    kernels: &[&str],
    making: ModuleInputs<'_>,
    sink: Sink<'_>,
) -> Result<Module, Failure> {
    let code = cubin(text, making, sink)?;
    let gpu = making.gpu;
    gpu.usable()?;
    // Memory that is not there, and a GPU that is lost, are not the code's fault.
    let refused = |why: DriverError| match gpu.note(why.into()) {
        CudaError::Driver(_) => CudaError::Module(said(why)),
        other => other,
    };
    let module = gpu.context.load_module(Ptx::from_binary(code)).map_err(refused)?;
    let function = |name: &&str| {
        let function = module.load_function(name).map_err(refused)?;
        let most = i32::try_from(gpu.shared_bytes).unwrap_or(i32::MAX);
        let own = function.shared_size_bytes().map_err(CudaError::from)?;
        // Launches that need more are refused earlier.
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        function.set_attribute(attribute, (most - own).max(0)).map_err(CudaError::from)?;
        Ok(function)
    };
    let kernels: Result<Vec<CudaFunction>, CudaError> = kernels.iter().map(function).collect();
    Ok(Module { kernels: kernels?, _module: module })
}

/// The options of NVRTC for such a module, beside those that it always has.
fn options(mode: Mode, key: ModuleKey) -> Vec<&'static str> {
    let all = [(mode == Mode::Fast, FUSED), (key.is_wide, WIDE), (key.is_unit, UNIT)];
    all.into_iter().filter(|it| it.0).map(|it| it.1).collect()
}

/// All that decides the code of such a module of this text.
pub(super) fn parts(text: &str, gpu: &Gpu, nvrtc: &Nvrtc, (mode, key): (Mode, ModuleKey)) -> kept::KeyParts {
    let flags: Vec<&str> = OPTIONS.iter().copied().chain(options(mode, key)).collect();
    let (major, minor) = nvrtc.version();
    let parts = kept::KeyParts::of(text, flags.join(" "), format!("NVRTC {major}.{minor}"));
    kept::KeyParts { processor: gpu.arch.clone(), ..parts }
}

fn cubin(text: &str, making: ModuleInputs<'_>, sink: Sink<'_>) -> Result<Vec<u8>, Failure> {
    let ModuleInputs { gpu, nvrtc, cache, stencil, mode, key } = making;
    let step = Step::begin("nvrtc", sink);
    let kept = cache.and_then(|root| {
        let folder = kept::private(root, kept::CodeKind::Cuda.folder());
        let folder = folder.inspect_err(|why| sink(Event::Log { text: kept::not_kept(why) })).ok()?;
        let parts = parts(text, gpu, nvrtc, (mode, key));
        Some((kept::CodeEntry::of(kept::CodeKind::Cuda, folder, parts.key()), parts))
    });
    if let Some((entry, _)) = &kept
        && let Some(code) = entry.whole()
    {
        entry.touch();
        step.end_cached();
        return Ok(code);
    }
    let made = nvrtc.compile(text, &gpu.arch, &options(mode, key)).map_err(CudaError::from)?;
    if let Some((entry, parts)) = kept
        && let Err(why) = entry.keep(&made.code, stencil, &parts)
    {
        sink(Event::Log { text: kept::not_kept(&why) });
    }
    step.end();
    for it in made.figures.iter().filter(|it| it.spill_bytes > 0) {
        let (kernel, registers, bytes) = (&it.kernel, it.registers, it.spill_bytes);
        let text = format!("`{kernel}` has {registers} registers, and spills {bytes} bytes");
        sink(Event::Log { text });
    }
    Ok(made.code)
}
