//! Fields as a program hands them over: elements on the host or on a device, and how indices find them.

use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::buffer::{Buffer as Slice, LentMemory};
use isobar_compiler::types::DType;

use crate::device::{Device, DeviceMemory};
use crate::failure::Failure;

/// A field of a call.
#[derive(Debug)]
pub struct Buffer {
    /// Shape and strides in elements, in the order I, J, K, then data dimensions. Holds the elements of a
    /// field on the host, and none of a field on a device.
    pub(crate) array: Array,
    pub(crate) on_device: Option<DeviceBuffer>,
    pub(crate) origin: Option<Vec<i64>>,
}

/// Memory of a device, with the device.
#[derive(Debug)]
pub(crate) struct DeviceBuffer {
    pub(crate) device: Arc<dyn Device>,
    pub(crate) memory: Box<dyn DeviceMemory>,
}

impl Buffer {
    /// An array of the host.
    #[must_use]
    pub fn host(array: Array) -> Self {
        Self { array, on_device: None, origin: None }
    }

    /// Memory of the host that the caller lends. The buffer does not free, move or copy it. The stencil
    /// writes to it where it writes the field.
    ///
    /// `first` is the address of the element at index `[0, 0, ...]`. `strides` are the distances between
    /// neighbours, in elements. A stride is negative where elements run backwards, and 0 where all of them
    /// are one element.
    ///
    /// # Errors
    ///
    /// Where shape and strides differ in length, or reach beyond the memory of any machine.
    ///
    /// # Safety
    ///
    /// Every element that shape and strides reach must be memory of this type, aligned, initialized, and
    /// alive as long as the buffer. During a call nobody else may write elements that the stencil reads, or
    /// access elements that it writes.
    #[expect(unsafe_code, reason = "the memory is somebody else's")]
    pub unsafe fn lent(
        dtype: DType,
        first: NonNull<u8>,
        shape: &[usize],
        strides: &[i64],
    ) -> Result<Self, Failure> {
        let ElementSpan { before, n, offset } = ElementSpan::of(dtype, shape, strides)?;
        // SAFETY: the lowest element is one of those that the caller vouches for.
        let lowest = unsafe { first.offset(offset) };
        macro_rules! slice {
            ($kind:ident) => {
                Elements::$kind(Slice::lent(Box::new(LentElements { start: lowest.cast(), n })))
            };
        }
        let elements = match dtype {
            DType::Bool => slice!(Bool),
            DType::Int8 => slice!(Int8),
            DType::Int16 => slice!(Int16),
            DType::Int32 => slice!(Int32),
            DType::Int64 => slice!(Int64),
            DType::Float32 => slice!(Float32),
            DType::Float64 => slice!(Float64),
        };
        Ok(Self::host(Array { elements, first: before, shape: shape.to_vec(), strides: strides.to_vec() }))
    }

    /// Memory of a device that the caller lends, as in [`lent`](Self::lent); `first` is an address on the
    /// device.
    ///
    /// # Errors
    ///
    /// Where shape and strides differ in length, or reach beyond any memory, or the device cannot use lent
    /// memory.
    ///
    /// # Safety
    ///
    /// As for [`lent`](Self::lent), with memory of this device.
    #[expect(unsafe_code, reason = "the memory is somebody else's")]
    pub unsafe fn lent_on(
        device: &Arc<dyn Device>,
        dtype: DType,
        first: u64,
        shape: &[usize],
        strides: &[i64],
    ) -> Result<Self, Failure> {
        let ElementSpan { before, n, offset } = ElementSpan::of(dtype, shape, strides)?;
        let lowest = first.checked_add_signed(offset as i64).ok_or_else(ElementSpan::beyond)?;
        // SAFETY: every element from the lowest to the highest is one of those that the caller vouches for.
        let memory = unsafe { device.lend(lowest, n * dtype.size_bytes()) }?;
        let address = usize::try_from(lowest).map_err(|_| ElementSpan::beyond())?;
        macro_rules! far {
            ($kind:ident) => {
                Elements::$kind(Slice::lent(Box::new(DeviceElements { address, of: PhantomData })))
            };
        }
        let elements = match dtype {
            DType::Bool => far!(Bool),
            DType::Int8 => far!(Int8),
            DType::Int16 => far!(Int16),
            DType::Int32 => far!(Int32),
            DType::Int64 => far!(Int64),
            DType::Float32 => far!(Float32),
            DType::Float64 => far!(Float64),
        };
        let array = Array { elements, first: before, shape: shape.to_vec(), strides: strides.to_vec() };
        let on_device = Some(DeviceBuffer { device: Arc::clone(device), memory });
        Ok(Self { array, on_device, origin: None })
    }

    /// Zeros on a device, the first axis contiguous.
    ///
    /// # Errors
    ///
    /// Where the device has no such memory.
    pub fn zeros_on(device: &Arc<dyn Device>, dtype: DType, shape: &[usize]) -> Result<Self, Failure> {
        let n = shape.iter().try_fold(dtype.size_bytes(), |n, &size| n.checked_mul(size));
        let memory = device.allocate(n.ok_or(Failure::OutOfMemory)?)?;
        let mut n = 1;
        let mut strides = Vec::with_capacity(shape.len());
        for &size in shape {
            strides.push(i64::try_from(n).unwrap_or(i64::MAX));
            n *= size;
        }
        let array = Array { elements: Elements::zeros(dtype, 0), first: 0, shape: shape.to_vec(), strides };
        let on_device = Some(DeviceBuffer { device: Arc::clone(device), memory });
        Ok(Self { array, on_device, origin: None })
    }

    /// Sets the index of the first point of the compute domain, along I, J, K or along each axis of the
    /// field.
    #[must_use]
    pub fn with_origin(self, origin: &[i64]) -> Self {
        Self { origin: Some(origin.to_vec()), ..self }
    }

    #[must_use]
    pub fn dtype(&self) -> DType {
        self.array.dtype()
    }

    /// Points per dimension.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.array.shape
    }

    /// Elements between neighbours, per dimension.
    #[must_use]
    pub fn strides(&self) -> &[i64] {
        &self.array.strides
    }

    /// The device that it lies on; none for the host.
    #[must_use]
    pub fn device(&self) -> Option<&Arc<dyn Device>> {
        self.on_device.as_ref().map(|it| &it.device)
    }

    /// The array, where it lies on the host.
    #[must_use]
    pub fn array(&self) -> Option<&Array> {
        self.on_device.is_none().then_some(&self.array)
    }

    /// The array itself, where it lies on the host.
    #[must_use]
    pub fn into_array(self) -> Option<Array> {
        self.on_device.is_none().then_some(self.array)
    }

    /// The memory, where it lies on a device.
    pub fn memory(&mut self) -> Option<&mut dyn DeviceMemory> {
        self.on_device.as_mut().map(|it| &mut *it.memory)
    }
}

/// The elements that shape and strides reach from the element at index 0.
struct ElementSpan {
    /// Elements before the element at index 0.
    before: usize,
    /// Elements from the lowest to the highest address.
    n: usize,
    /// Distance from the element at index 0 to the lowest element, in bytes; not positive.
    offset: isize,
}

impl ElementSpan {
    fn beyond() -> Failure {
        Failure::Machine("shape and strides reach beyond any memory".to_owned())
    }

    fn of(dtype: DType, shape: &[usize], strides: &[i64]) -> Result<Self, Failure> {
        if shape.len() != strides.len() {
            return Err(Failure::Machine(format!(
                "{} sizes were given, and {} strides",
                shape.len(),
                strides.len()
            )));
        }
        // Elements before the element at index 0, and after it.
        let (mut before, mut behind) = (0_i64, 0_i64);
        for (&size, &stride) in shape.iter().zip(strides) {
            let last = i64::try_from(size).map_err(|_| Self::beyond())?.saturating_sub(1).max(0);
            let reach = last.checked_mul(stride).ok_or_else(Self::beyond)?;
            before = before.checked_add(reach.min(0)).ok_or_else(Self::beyond)?;
            behind = behind.checked_add(reach.max(0)).ok_or_else(Self::beyond)?;
        }
        let is_empty = shape.contains(&0);
        let (before, behind) = if is_empty { (0, -1) } else { (before, behind) };
        let n = behind.checked_sub(before).and_then(|it| it.checked_add(1));
        let n = n.and_then(|it| usize::try_from(it).ok()).ok_or_else(Self::beyond)?;
        let bytes = i64::try_from(dtype.size_bytes()).unwrap_or(8);
        let offset = before.checked_mul(bytes).and_then(|it| isize::try_from(it).ok());
        let offset = offset.ok_or_else(Self::beyond)?;
        let all = n.checked_mul(dtype.size_bytes());
        all.filter(|it| isize::try_from(*it).is_ok()).ok_or_else(Self::beyond)?;
        let before = usize::try_from(-before).map_err(|_| Self::beyond())?;
        Ok(Self { before, n, offset })
    }
}

/// Elements on a device. Their address is known, so that calls find fields that overlap; the elements cannot
/// be accessed from the host.
struct DeviceElements<T> {
    address: usize,
    of: PhantomData<fn() -> T>,
}

impl<T> fmt::Debug for DeviceElements<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceElements").finish_non_exhaustive()
    }
}

impl<T> LentMemory<T> for DeviceElements<T> {
    fn elements(&self) -> &[T] {
        &[]
    }

    fn elements_mut(&mut self) -> &mut [T] {
        &mut []
    }

    fn start(&mut self) -> *mut T {
        std::ptr::without_provenance_mut(self.address)
    }
}

/// Elements that somebody else owns.
struct LentElements<T> {
    start: NonNull<T>,
    n: usize,
}

impl<T> fmt::Debug for LentElements<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LentElements").field("n", &self.n).finish_non_exhaustive()
    }
}

// SAFETY: the lender vouches for the elements wherever the buffer goes; see `Buffer::lent`.
#[expect(unsafe_code, reason = "the memory is somebody else's")]
unsafe impl<T: Send> Send for LentElements<T> {}
// SAFETY: as above.
#[expect(unsafe_code, reason = "the memory is somebody else's")]
unsafe impl<T: Sync> Sync for LentElements<T> {}

impl<T: Send + Sync> LentMemory<T> for LentElements<T> {
    #[expect(unsafe_code, reason = "the memory is somebody else's")]
    fn elements(&self) -> &[T] {
        // SAFETY: the caller of `Buffer::lent` vouches for this.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.n) }
    }

    #[expect(unsafe_code, reason = "the memory is somebody else's")]
    fn elements_mut(&mut self) -> &mut [T] {
        // SAFETY: as above; where two buffers lend the same elements, only one is written at a time.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.n) }
    }

    fn start(&mut self) -> *mut T {
        self.start.as_ptr()
    }
}
