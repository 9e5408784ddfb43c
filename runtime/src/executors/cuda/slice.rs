//! Planes of fields, cut on the device.

use std::sync::{Arc, OnceLock};

use super::error::CudaError;
use super::gpu::{CudaMemory, Gpu};
use super::nvrtc::Nvrtc;
use super::written::{HandWrittenModule, LaunchShape};
use crate::device::DeviceMemory;
use crate::failure::Failure;
use crate::wanted::ArrayPlane;

const TEXT: &str = include_str!("../../../../shaders/slice.cuh");
const THREADS: usize = 256;
/// The dimensions of a plane that the kernel cuts.
const DIMENSIONS: usize = 4;

/// Returns the elements of a plane, of `size` bytes each, in the order of the plane's positions. `None` where
/// the plane has too many dimensions.
#[expect(unsafe_code, reason = "a kernel is launched here")]
pub(super) fn cut(
    gpu: &Arc<Gpu>,
    field: &CudaMemory,
    size: usize,
    plane: &ArrayPlane,
) -> Result<Option<Vec<u8>>, Failure> {
    /// There is one GPU for the process.
    static KERNEL: OnceLock<Result<HandWrittenModule, Failure>> = OnceLock::new();
    let n = plane.n();
    if plane.dimensions.len() > DIMENSIONS {
        return Ok(None);
    }
    if n == 0 {
        return Ok(Some(Vec::new()));
    }
    let kernel = KERNEL.get_or_init(|| {
        let nvrtc = Nvrtc::here().map_err(CudaError::from)?;
        HandWrittenModule::on(gpu, nvrtc, TEXT, &["slice"])
    });
    let kernel = kernel.as_ref().map_err(Clone::clone)?;
    let cut = gpu.reserve(n * size)?;
    let mut words = vec![field.start, cut.start];
    words.extend(arguments(n, size, plane));
    let blocks = u32::try_from(n.div_ceil(THREADS)).map_err(|_| Failure::OutOfMemory)?;
    let shape = LaunchShape { blocks: [blocks, 1, 1], threads: [256, 1, 1], shared_bytes: 0 };
    // SAFETY: the positions of a plane lie in its array, and the other one has as many elements as there are.
    unsafe { kernel.launch_words(0, shape, &mut words) }?;
    let mut bytes = vec![0; n * size];
    cut.read(0, &mut bytes)?;
    Ok(Some(bytes))
}

/// The kernel's arguments behind its two addresses. The last dimension has as many points as are left.
fn arguments(n: usize, size: usize, plane: &ArrayPlane) -> Vec<u64> {
    let mut fastest: Vec<[usize; 2]> = plane.dimensions.iter().rev().copied().collect();
    fastest.resize(DIMENSIONS, [1, 0]);
    let mut numbers = vec![n, size, plane.first];
    numbers.extend(fastest.iter().flatten());
    // The kernel takes only the distance of the last one.
    numbers.remove(numbers.len() - 2);
    numbers.iter().map(|&it| u64::try_from(it).unwrap_or(u64::MAX)).collect()
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
        assert_eq!((made.figures.len(), made.figures[0].spill_bytes), (1, 0));
    }

    /// The positions that the kernel computes from its arguments, as its text says.
    fn positions(given: &[u64]) -> Vec<u64> {
        let [n, _, first, p0, b0, p1, b1, p2, b2, b3] = given.try_into().unwrap();
        let position = |at: u64| {
            let in_2 = at / p0 / p1;
            first + at % p0 * b0 + at / p0 % p1 * b1 + in_2 % p2 * b2 + in_2 / p2 * b3
        };
        (0..n).map(position).collect()
    }

    #[test]
    fn its_arguments_are_the_positions_of_the_plane() {
        for dimensions in [
            vec![],
            vec![[5, 1]],
            vec![[3, 40], [5, 2]],
            vec![[2, 400], [3, 40], [4, 7]],
            vec![[3, 900], [2, 400], [3, 40], [4, 7]],
        ] {
            let plane = ArrayPlane { first: 11, dimensions };
            let meant: Vec<u64> = plane.positions().map(|it| it as u64).collect();
            assert_eq!(positions(&arguments(plane.n(), 8, &plane)), meant, "{plane:?}");
        }
    }
}
