//! Memory of the GPU that programs hold.
//!
//! Its bytes are those of the host, so that programs fill it without knowing the device. Kernels take
//! elements of 32 and of 64 bits where they lie. Narrower elements are words for kernels, and are widened and
//! narrowed around each call.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use isobar_compiler::call::array::Elements;
use isobar_compiler::pass::GpuModel;
use isobar_compiler::types::DType;

use super::device::{Devices, Gpu};
use super::error::WgpuError;
use super::{boxes, copying};
use crate::boxes::BoxCopy;
use crate::copying::CopyMeasurement;
use crate::device::{Device, DeviceMemory};
use crate::failure::Failure;

/// The GPU as a device of the runtime.
pub(super) struct WgpuDevice(pub(super) Arc<Devices>);

impl std::fmt::Debug for WgpuDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WgpuDevice").finish_non_exhaustive()
    }
}

impl Device for WgpuDevice {
    fn name(&self) -> &str {
        "wgpu:0"
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn DeviceMemory>, Failure> {
        let size = u64::try_from(bytes).map_err(|_| Failure::OutOfMemory)?;
        let gpu = self.0.find()?;
        let buffer = gpu.storage(size)?;
        Ok(Box::new(WgpuMemory { gpu, buffer, bytes }))
    }

    fn copies_boxes(&self, size: usize) -> bool {
        // Narrower elements share words with their neighbours.
        matches!(size, 4 | 8)
    }

    fn copy_box(
        &self,
        from: &dyn DeviceMemory,
        to: &dyn DeviceMemory,
        size: usize,
        copy: &BoxCopy,
    ) -> Result<(), Failure> {
        let [Some(from), Some(to)] = [from, to].map(|it| it.as_any().downcast_ref::<WgpuMemory>()) else {
            return Err(WgpuError::Elsewhere.into());
        };
        if !Arc::ptr_eq(&from.gpu, &to.gpu) || from.gpu.lost().is_some() {
            return Err(WgpuError::FieldLost.into());
        }
        copy.fits(from.bytes / size.max(1), to.bytes / size.max(1))?;
        boxes::copy(&to.gpu, (&from.buffer, &to.buffer), size as u64, copy)
    }

    fn about(&self) -> BTreeMap<&'static str, String> {
        let Ok(gpu) = self.0.find() else { return BTreeMap::new() };
        let remark = gpu.remark.clone().map(|it| ("remark", it));
        [("model", gpu.name.clone()), ("driver", gpu.driver.clone())].into_iter().chain(remark).collect()
    }

    fn model(&self) -> Option<GpuModel> {
        self.0.find().ok().map(|it| it.model)
    }

    fn copies(&self) -> Result<CopyMeasurement, Failure> {
        let gpu = self.0.find()?;
        gpu.copies.get_or_init(|| copying::measured(&gpu)).clone()
    }
}

/// A buffer that a program holds. Its bytes are those of the host: narrow elements lie close together.
pub(super) struct WgpuMemory {
    pub(super) gpu: Arc<Gpu>,
    pub(super) buffer: wgpu::Buffer,
    bytes: usize,
}

impl std::fmt::Debug for WgpuMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WgpuMemory").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl WgpuMemory {
    fn checked(&self, at: usize, n: usize) -> Result<(u64, u64), Failure> {
        if self.gpu.lost().is_some() {
            return Err(WgpuError::FieldLost.into());
        }
        let is_there = at.checked_add(n).is_some_and(|it| it <= self.bytes);
        if !is_there {
            let bytes = self.bytes;
            return Err(Failure::Machine(format!(
                "{n} bytes from {at} on are not among {bytes} bytes of the GPU"
            )));
        }
        let [at, n] = [at, n].map(|it| u64::try_from(it).unwrap_or(u64::MAX));
        Ok((at, n))
    }
}

impl DeviceMemory for WgpuMemory {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn write(&mut self, at: usize, from: &[u8]) -> Result<(), Failure> {
        let (first, n) = self.checked(at, from.len())?;
        if n == 0 {
            return Ok(());
        }
        // Whole words are copied: bytes beside the range keep their values.
        let (start, end) = (first / 4 * 4, (first + n).next_multiple_of(4));
        if start == first && end == first + n {
            return Ok(self.gpu.write(&self.buffer, first, from)?);
        }
        let mut words = self.gpu.read(&self.buffer, start, end - start)?;
        let skipped = at % 4;
        words[skipped..skipped + from.len()].copy_from_slice(from);
        Ok(self.gpu.write(&self.buffer, start, &words)?)
    }

    fn read(&self, at: usize, to: &mut [u8]) -> Result<(), Failure> {
        let (first, n) = self.checked(at, to.len())?;
        let start = first / 4 * 4;
        let words = self.gpu.read(&self.buffer, start, first + n - start)?;
        let skipped = at % 4;
        to.copy_from_slice(&words[skipped..skipped + to.len()]);
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Whether elements have the same bytes on the device and here.
pub(super) fn is_alike(dtype: DType) -> bool {
    match dtype {
        DType::Int32 | DType::Int64 | DType::Float32 | DType::Float64 => true,
        DType::Bool | DType::Int8 | DType::Int16 => false,
    }
}

/// Bytes of the host as the words of a device.
pub(super) fn widened(dtype: DType, bytes: &[u8]) -> Vec<u8> {
    let word = |it: i32| it.to_le_bytes();
    match dtype {
        DType::Bool => bytes.iter().flat_map(|it| word(i32::from(*it != 0))).collect(),
        DType::Int8 => bytes.iter().flat_map(|it| word(i32::from(it.cast_signed()))).collect(),
        DType::Int16 => {
            bytes.chunks(2).flat_map(|it| word(i32::from(i16::from_le_bytes([it[0], it[1]])))).collect()
        }
        DType::Int32 | DType::Int64 | DType::Float32 | DType::Float64 => bytes.to_vec(),
    }
}

/// Words of a device as bytes of the host.
pub(super) fn narrowed(dtype: DType, words: &[u8]) -> Vec<u8> {
    let n = match dtype {
        DType::Bool | DType::Int8 => 1,
        DType::Int16 => 2,
        DType::Int32 | DType::Int64 | DType::Float32 | DType::Float64 => return words.to_vec(),
    };
    words.chunks(4).flat_map(|it| it[..n].iter().copied()).collect()
}

/// Elements as the bytes of the device.
pub(super) fn sent(elements: &Elements) -> Vec<u8> {
    let dtype = elements.dtype();
    let bytes = elements.to_le_bytes();
    if is_alike(dtype) { bytes } else { widened(dtype, &bytes) }
}

/// Takes the bytes of the device as elements, in place.
pub(super) fn take(elements: &mut Elements, bytes: &[u8]) {
    macro_rules! words {
        ($to:expr, $of:ty, $size:literal, $value:expr) => {
            $to.iter_mut().zip(bytes.chunks_exact($size)).for_each(|(to, it)| {
                let mut word = [0; $size];
                word.copy_from_slice(it);
                *to = $value(<$of>::from_le_bytes(word));
            })
        };
    }
    #[expect(clippy::cast_possible_truncation, reason = "a word is a narrow integer's sign extension")]
    match elements {
        Elements::Bool(to) => words!(to, i32, 4, |it| it != 0),
        Elements::Int8(to) => words!(to, i32, 4, |it| it as i8),
        Elements::Int16(to) => words!(to, i32, 4, |it| it as i16),
        Elements::Int32(to) => words!(to, i32, 4, |it| it),
        Elements::Int64(to) => words!(to, i64, 8, |it| it),
        Elements::Float32(to) => words!(to, f32, 4, |it| it),
        Elements::Float64(to) => words!(to, f64, 8, |it| it),
    }
}
