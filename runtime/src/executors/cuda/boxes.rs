//! Boxes of elements, copied on the device.

use std::sync::{Arc, OnceLock};

use super::error::CudaError;
use super::gpu::{CudaMemory, Gpu};
use super::nvrtc::Nvrtc;
use super::sequence::CollectedLaunch;
use super::written::{HandWrittenModule, LaunchShape};
use crate::boxes::{BoxCopy, BoxDimension};
use crate::device::DeviceMemory;
use crate::failure::Failure;
use crate::wanted::ArrayPlane;

const TEXT: &str = include_str!("../../../../shaders/boxes.cuh");
const THREADS: usize = 256;

/// The two memories of a copy as those of the GPU.
pub(super) fn of_gpu(memories: [&dyn DeviceMemory; 2]) -> Result<(&CudaMemory, &CudaMemory), Failure> {
    match memories.map(|it| it.as_any().downcast_ref::<CudaMemory>()) {
        [Some(from), Some(to)] => Ok((from, to)),
        _ => Err(Failure::Machine("a copy is between memories of two devices".to_owned())),
    }
}

/// Starts a copy of elements of `size` bytes each.
#[expect(unsafe_code, reason = "a kernel is launched here")]
pub(super) fn copy(
    gpu: &Arc<Gpu>,
    memories: (&CudaMemory, &CudaMemory),
    size: usize,
    copy: &BoxCopy,
) -> Result<(), Failure> {
    let launches = launches(gpu, memories, size, copy)?;
    gpu.usable()?;
    let _order = gpu.order();
    // SAFETY: `launches` holds all elements against both memories.
    launches.iter().try_for_each(|it| unsafe { it.put(gpu) })?;
    Ok(())
}

/// The launches of a copy.
pub(super) fn launches(
    gpu: &Arc<Gpu>,
    (from, to): (&CudaMemory, &CudaMemory),
    size: usize,
    copy: &BoxCopy,
) -> Result<Vec<CollectedLaunch>, Failure> {
    /// There is one GPU for the process.
    static KERNEL: OnceLock<Result<HandWrittenModule, Failure>> = OnceLock::new();
    copy.fits(from.bytes() / size.max(1), to.bytes() / size.max(1))?;
    if copy.n() == 0 {
        return Ok(Vec::new());
    }
    let kernel = KERNEL.get_or_init(|| {
        let nvrtc = Nvrtc::here().map_err(CudaError::from)?;
        HandWrittenModule::on(gpu, nvrtc, TEXT, &["copy_box"])
    });
    let kernel = kernel.as_ref().map_err(Clone::clone)?.kernel(0)?;
    let launch = |copy: BoxCopy| {
        let mut words = vec![from.start, to.start];
        words.extend(arguments(size, &copy));
        let blocks = u32::try_from(copy.n().div_ceil(THREADS)).map_err(|_| Failure::OutOfMemory)?;
        let shape = LaunchShape { blocks: [blocks, 1, 1], threads: [256, 1, 1], shared_bytes: 0 };
        Ok(CollectedLaunch { kernel: kernel.clone(), name: "copy_box".to_owned(), shape, words })
    };
    copy.for_kernels().into_iter().map(launch).collect()
}

/// Returns the elements of a plane, of `size` bytes each, in the order of the plane's positions.
pub(super) fn cut(
    gpu: &Arc<Gpu>,
    field: &CudaMemory,
    size: usize,
    plane: &ArrayPlane,
) -> Result<Vec<u8>, Failure> {
    let n = plane.n();
    let cut = gpu.reserve(n * size)?;
    copy(gpu, (field, &cut), size, &of_plane(plane))?;
    let mut bytes = vec![0; n * size];
    cut.read(0, &mut bytes)?;
    Ok(bytes)
}

/// The copy of a plane to close together.
fn of_plane(plane: &ArrayPlane) -> BoxCopy {
    let mut between = 1;
    let mut dimensions = Vec::with_capacity(plane.dimensions.len());
    for &[n, distance] in plane.dimensions.iter().rev() {
        dimensions.push(BoxDimension { n, from: i64::try_from(distance).unwrap_or(i64::MAX), to: between });
        between = between.saturating_mul(i64::try_from(n).unwrap_or(i64::MAX));
    }
    dimensions.reverse();
    BoxCopy { from: plane.first, to: 0, dimensions }
}

/// The kernel's arguments behind its two addresses. The last dimension has as many points as are left.
fn arguments(size: usize, copy: &BoxCopy) -> Vec<u64> {
    let mut words = vec![copy.n() as u64, size as u64, copy.from as u64, copy.to as u64];
    for (at, (points, from, to)) in copy.fastest_first().enumerate() {
        if at + 1 < BoxCopy::DIMENSIONS {
            words.push(points);
        }
        words.extend([from.cast_unsigned(), to.cast_unsigned()]);
    }
    words
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

    /// The positions that the kernel computes from its arguments, as its text says: where elements come from, and where to.
    fn positions(given: &[u64]) -> Vec<[u64; 2]> {
        let [n, _, from, to, p0, f0, t0, p1, f1, t1, p2, f2, t2, f3, t3] = given.try_into().unwrap();
        let position = |at: u64| {
            let in_2 = at / p0 / p1;
            let [i, j, k, l] = [at % p0, at / p0 % p1, in_2 % p2, in_2 / p2];
            [from + i * f0 + j * f1 + k * f2 + l * f3, to + i * t0 + j * t1 + k * t2 + l * t3]
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
            let meant = plane.positions().enumerate().map(|(to, from)| [from as u64, to as u64]);
            let [copy] = of_plane(&plane).for_kernels().try_into().unwrap();
            assert_eq!(positions(&arguments(8, &copy)), meant.collect::<Vec<_>>(), "{plane:?}");
        }
    }
}
