//! Kernels in WGSL on a GPU, through wgpu.
//!
//! The text of a stencil's kernels becomes SPIR-V here, decorated so that no driver changes its bits, and pipelines.
//! A call is one command buffer with all its launches. Its fields are copied to the device and back, unless they lie
//! there already (`start`), or stay there for calls to come (`keep`).

mod boxes;
mod call;
mod copying;
pub(crate) mod device;
pub mod error;
#[cfg(test)]
mod faults;
mod memory;
mod model;
mod probe;
mod spirv;
mod stored;
#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock};

use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::{Argument, FieldArgument, Launch};
use isobar_compiler::kernel::call::{CallRefusal, bytes_without_fields, places};
use isobar_compiler::pipeline::ProgramKind;
use isobar_compiler::space::Domain;
use isobar_compiler::wgsl::{self, Doubles, plan};

use super::{Executor, Failure, Prepared, Setting};
use crate::cache::{CodeKind, KeyParts};
use crate::device::Device;
use crate::events::Sink;
use crate::machine::gpu_in_words;
use crate::plans::PlanHandle;
use crate::store::Store;
use call::WgpuCode;
use device::Devices;
use stored::PipelineStore;

/// WGSL on a GPU: the first of the best kind that Vulkan lists, cards before emulation by the processor.
///
/// It has no settings. The schedule decides threads and tiles, and a probe of the device decides how a text
/// computes.
#[derive(Clone, Copy, Debug)]
pub struct Wgpu;

/// Whether there is a GPU, and what it is: its name, how it has doubles, and what it computes differently.
///
/// The device is opened for that, and stays open.
///
/// # Errors
///
/// A sentence that says why there is none.
pub fn check() -> Result<String, String> {
    let gpu = Devices::here().find().map_err(|why| why.to_string())?;
    let doubles = match gpu.options.doubles {
        Doubles::Native => "doubles of its own",
        Doubles::Pairs => "doubles as pairs of words",
        Doubles::Singles => "singles in place of doubles",
    };
    let remark = gpu.remark.as_ref().map_or(String::new(), |it| format!("; {it}"));
    let schedules = gpu_in_words(&gpu.model);
    Ok(format!("{} through Vulkan, {doubles}{remark}; {schedules}", gpu.name))
}

/// Checks that a text is valid for a GPU; this needs no GPU.
///
/// # Errors
///
/// The fault in the text, in naga's words.
pub fn accepts(text: &str) -> Result<(), String> {
    spirv::translate(text, true).map(drop)
}

/// The device on which buffers can be made, for programs. It stays the same when the GPU is lost and opened again; memory
/// that was made before is lost with it.
///
/// # Errors
///
/// Where there is no GPU.
pub fn device() -> Result<Arc<dyn Device>, Failure> {
    static KNOWN: LazyLock<Arc<memory::WgpuDevice>> =
        LazyLock::new(|| Arc::new(memory::WgpuDevice(Devices::here())));
    Devices::here().find()?;
    let device: Arc<memory::WgpuDevice> = Arc::clone(&KNOWN);
    Ok(device)
}

/// The code of a plan for one of these devices.
fn code(devices: Arc<Devices>, plan: &PlanHandle, setting: Setting<'_>) -> Result<WgpuCode, Failure> {
    let (of_stencil, kernels) = (plan.ready_plan()?, plan.kernels()?);
    devices.find()?;
    let places = places(&kernels, &of_stencil.contract.signature);
    let pipelines = PipelineStore::of(&of_stencil, setting.cache);
    Ok(WgpuCode { devices, kernels, places, mode: setting.mode, pipelines, texts: Store::default() })
}

fn prepared(devices: Arc<Devices>, plan: &PlanHandle, setting: Setting<'_>) -> Result<Prepared, Failure> {
    Ok(Prepared::of(Arc::new(code(devices, plan, setting)?)))
}

/// How an argument lies in memory, without what it holds.
fn without_elements(it: &Argument) -> Argument {
    match it {
        Argument::Field(FieldArgument { array, origin }) => {
            let Array { elements, first, shape, strides } = array;
            let elements = Elements::zeros(elements.dtype(), 0);
            let (first, shape, strides) = (*first, shape.clone(), strides.clone());
            let array = Array { elements, first, shape, strides };
            Argument::Field(FieldArgument { array, origin: *origin })
        }
        Argument::Scalar(value) => Argument::Scalar(*value),
        Argument::Unused => Argument::Unused,
    }
}

impl Executor for Wgpu {
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
        let (of_stencil, kernels) = (plan.plan().ok()?, plan.kernels().ok()?);
        let signature = &of_stencil.contract.signature;
        if arguments.is_empty() {
            // The device holds the fields once more.
            return bytes_without_fields(&kernels, domain)?.checked_add(signature.compulsory_bytes(domain));
        }
        let gpu = Devices::here().find().ok()?;
        let places = places(&kernels, signature);
        let artifact = wgsl::generate(&kernels, &gpu.options);
        let launch = Launch { domain, arguments: arguments.iter().map(without_elements).collect() };
        let most = plan::DeviceLimits { bytes: u64::MAX, blocks: u32::MAX };
        match plan::Plan::of(&kernels, &artifact, &places, &launch, most) {
            Ok(plan) => plan.buffers.values().try_fold(0_u64, |all, it| all.checked_add(it.bytes)),
            Err(CallRefusal::OutOfMemory) => None,
            // The run itself reports other obstacles.
            Err(CallRefusal::Other(_)) => Some(0),
        }
    }

    fn device(&self) -> Option<Arc<dyn Device>> {
        device().ok()
    }

    fn prepare(&self, plan: &PlanHandle, setting: Setting<'_>, _: Sink<'_>) -> Result<Prepared, Failure> {
        prepared(Devices::here(), plan, setting)
    }

    fn code_keys(
        &self,
        plan: &PlanHandle,
        levels: Option<u32>,
        setting: Setting<'_>,
    ) -> Vec<(CodeKind, KeyParts)> {
        let (Ok(kernels), Ok(gpu)) = (plan.kernels(), Devices::here().find()) else {
            return Vec::new();
        };
        let all = call::code_keys(&gpu, &kernels, setting.mode, levels);
        all.into_iter().map(|it| (CodeKind::Pipelines, it)).collect()
    }
}
