//! How fast a GPU copies within its own memory: by a kernel that does nothing else, and by the driver's own
//! copies. The faster of both rates is the reference for runs.

use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::result;
use cudarc::driver::sys::CUevent_flags;

use super::error::CudaError;
use super::gpu::{CudaMemory, Gpu};
use super::nvrtc::Nvrtc;
use super::written::{HandWrittenModule, LaunchShape};
use crate::copying::CopyMeasurement;
use crate::failure::Failure;

/// Each thread moves four times 16 bytes, with all four loads in flight at once.
const TEXT: &str = r#"
struct __align__(16) words { unsigned x, y, z, w; };
extern "C" __global__ void __launch_bounds__(256) copy(const words *__restrict__ from, words *__restrict__ to)
{
    const size_t first = (size_t)blockIdx.x * 1024 + threadIdx.x;
    const words a = from[first], b = from[first + 256], c = from[first + 512], d = from[first + 768];
    to[first] = a;
    to[first + 256] = b;
    to[first + 512] = c;
    to[first + 768] = d;
}
"#;

const BYTES_OF_BLOCK: u64 = 16 << 10;

/// Copies that are not counted, since they warm up the GPU.
const WARM: usize = 3;

pub(super) fn measured(gpu: &Arc<Gpu>) -> Result<CopyMeasurement, Failure> {
    let mut bytes = CopyMeasurement::MOST_BYTES;
    let reserve = |bytes: u64| gpu.reserve(usize::try_from(bytes).unwrap_or(usize::MAX));
    let arrays = loop {
        match (reserve(bytes), reserve(bytes)) {
            (Ok(from), Ok(to)) => break [from, to],
            (Err(CudaError::OutOfMemory), _) | (_, Err(CudaError::OutOfMemory))
                if bytes / 2 >= CopyMeasurement::LEAST_BYTES =>
            {
                bytes /= 2;
            }
            (Err(why), _) | (_, Err(why)) => return Err(why.into()),
        }
    };
    arrays.iter().try_for_each(|it| it.fill(1))?;
    let by_driver = by_driver(gpu, &arrays, bytes)?;
    // Without NVRTC no stencil runs either, but how fast the GPU copies is known.
    let by_kernel = Nvrtc::here().ok().map(|it| by_kernel(gpu, it, &arrays, bytes)).transpose()?;
    let of = |ms| CopyMeasurement::of(2 * bytes, ms);
    let found = CopyMeasurement::faster(of(by_driver), by_kernel.and_then(of));
    found.ok_or_else(|| Failure::Machine("the GPU tells no time of a copy".to_owned()))
}

#[expect(unsafe_code, reason = "the driver copies here")]
fn by_driver(gpu: &Gpu, [from, to]: &[CudaMemory; 2], bytes: u64) -> Result<Vec<f64>, CudaError> {
    gpu.usable()?;
    let _order = gpu.order();
    let event = || gpu.context.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
    let [before, behind] = [event()?, event()?];
    let mut all = Vec::new();
    let first = Instant::now();
    while CopyMeasurement::go_on(&all, WARM, first) {
        before.record(&gpu.stream)?;
        let bytes = usize::try_from(bytes).unwrap_or(0);
        // SAFETY: both have so many bytes, and are there until `synchronize` answers.
        let copied =
            unsafe { result::memcpy_dtod_async(to.start, from.start, bytes, gpu.stream.cu_stream()) };
        copied.map_err(|why| gpu.note(why.into()))?;
        behind.record(&gpu.stream)?;
        behind.synchronize().map_err(|why| gpu.note(why.into()))?;
        all.push(f64::from(before.elapsed_ms(&behind)?));
    }
    Ok(all.split_off(WARM))
}

#[expect(unsafe_code, reason = "a kernel is launched here")]
fn by_kernel(
    gpu: &Arc<Gpu>,
    nvrtc: &Nvrtc,
    [from, to]: &[CudaMemory; 2],
    bytes: u64,
) -> Result<Vec<f64>, Failure> {
    let written = HandWrittenModule::on(gpu, nvrtc, TEXT, &["copy"])?;
    let blocks = u32::try_from(bytes / BYTES_OF_BLOCK).unwrap_or(u32::MAX);
    let shape = LaunchShape { blocks: [blocks, 1, 1], threads: [256, 1, 1], shared_bytes: 0 };
    let mut all = Vec::new();
    let first = Instant::now();
    while CopyMeasurement::go_on(&all, WARM, first) {
        // SAFETY: the kernel takes two addresses. Behind each there are as many bytes as its blocks touch.
        all.push(unsafe { written.launch_words(0, shape, &mut [from.start, to.start]) }?);
    }
    Ok(all.split_off(WARM))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_compiles_without_a_gpu() {
        let Ok(nvrtc) = Nvrtc::here() else {
            return isobar_testing::skip("a kernel of NVRTC", "there is no NVRTC");
        };
        let made = nvrtc.compile(TEXT, "sm_90", &[]).unwrap();
        assert_eq!(made.figures.len(), 1);
        assert_eq!(made.figures[0].spill_bytes, 0);
    }
}
