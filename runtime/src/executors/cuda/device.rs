//! The GPU as a device of programs: they allocate on it, copy boxes, and collect calls.

use std::collections::BTreeMap;
use std::sync::Arc;

use isobar_compiler::pass::GpuModel;

use super::boxes;
use super::copying;
use super::gpu::Gpu;
use super::nvrtc::Nvrtc;
use super::sequence::{CudaSequence, LONGEST};
use crate::boxes::BoxCopy;
use crate::copying::CopyMeasurement;
use crate::device::{Device, DeviceMemory, DeviceSequence};
use crate::failure::Failure;

/// A GPU, as programs allocate on it.
#[derive(Debug)]
pub struct CudaDevice(pub Arc<Gpu>);

impl Device for CudaDevice {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn DeviceMemory>, Failure> {
        let memory = self.0.reserve(bytes)?;
        let order = self.0.order();
        memory.fill(0)?;
        drop(order);
        Ok(Box::new(memory))
    }

    #[expect(unsafe_code, reason = "the memory is somebody else's")]
    unsafe fn lend(&self, start: u64, bytes: usize) -> Result<Box<dyn DeviceMemory>, Failure> {
        Ok(Box::new(self.0.lent(start, bytes)))
    }

    fn copies_boxes(&self, size: usize) -> bool {
        matches!(size, 1 | 2 | 4 | 8)
    }

    fn copy_box(
        &self,
        from: &dyn DeviceMemory,
        to: &dyn DeviceMemory,
        size: usize,
        copy: &BoxCopy,
    ) -> Result<(), Failure> {
        boxes::copy(&self.0, boxes::of_gpu([from, to])?, size, copy)
    }

    fn sequence(&self) -> Option<Box<dyn DeviceSequence>> {
        Some(Box::new(CudaSequence::new(Arc::clone(&self.0), LONGEST)))
    }

    fn about(&self) -> BTreeMap<&'static str, String> {
        let gpu = &self.0;
        let (major, minor) = (gpu.driver / 1000, gpu.driver % 1000 / 10);
        let mut about = BTreeMap::from([
            ("model", gpu.model().to_owned()),
            ("architecture", gpu.arch().to_owned()),
            ("cuda", format!("{major}.{minor}")),
        ]);
        // People know a driver by the version of its kernel module.
        if let Ok(text) = std::fs::read_to_string("/proc/driver/nvidia/version")
            && let Some(line) = text.lines().next()
        {
            about.insert("driver", line.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        if let Ok(nvrtc) = Nvrtc::here() {
            let (major, minor) = nvrtc.version();
            about.insert("nvrtc", format!("{major}.{minor}"));
        }
        about
    }

    fn model(&self) -> Option<GpuModel> {
        Some(*self.0.figures())
    }

    fn copies(&self) -> Result<CopyMeasurement, Failure> {
        self.0.copies.get_or_init(|| copying::measured(&self.0)).clone()
    }
}
