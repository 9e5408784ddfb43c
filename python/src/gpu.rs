//! Arrays on a GPU as fields: shape, strides and address as their owners tell them, and nothing copied.
//!
//! Two protocols lend such memory. `__cuda_array_interface__` is a dictionary; its version 3 names the stream on which
//! the array is still being written, and we wait for that one. With DLPack the owner is told a stream of ours, and has
//! that wait. An older dictionary says nothing of streams, so that DLPack is asked where there is both.

use std::sync::Arc;

use isobar_compiler::types::DType;
use isobar_runtime::executors::cuda::gpu::Gpu;
use isobar_runtime::{Buffer, Device};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMemoryView, PyString};

use crate::arrays::ArrayDescription;
use crate::dlpack::{self, contiguous};
use crate::failures::{Elsewhere, unavailable};

/// Devices of DLPack: memory of a GPU, and memory that both it and the host see.
const ON_GPU: [i32; 2] = [2, 13];
/// Memory of the host: ordinary memory, and pinned memory, which the GPU can address.
const ON_HOST: [i32; 2] = [1, 3];

/// An array of somebody else's on a GPU.
pub(crate) struct OnGpu<'py> {
    address: u64,
    shape: Vec<usize>,
    /// Bytes between neighbours.
    strides: Vec<isize>,
    kind: u8,
    byteorder: u8,
    bytes: usize,
    is_writeable: bool,
    /// The number of its GPU, where its owner tells.
    device: Option<i32>,
    /// The stream whose work has to end before the array is used.
    pub(crate) stream: Option<u64>,
    /// The index of its first compute point, where it knows one.
    pub(crate) origin: Option<Vec<i64>>,
    /// The Python object that lends the array.
    pub(crate) object: Bound<'py, PyAny>,
    /// The loan, which ends with it.
    _capsule: Option<Bound<'py, PyAny>>,
}

/// An array for the field of this name, in the order I, J, K, then data dimensions.
pub(crate) fn on_gpu<'py>(name: &str, value: &Bound<'py, PyAny>, gpu: &Gpu) -> PyResult<OnGpu<'py>> {
    let mut array = of_protocols(name, value, gpu)?;
    let py = value.py();
    array.is_writeable &= !is_of_jax(value)?;
    array.origin = match value.getattr_opt(intern!(py, "__gt_origin__"))? {
        Some(it) if !it.is_none() => Some(it.try_iter()?.map(|it| it?.extract()).collect::<PyResult<_>>()?),
        _ => None,
    };
    if let Some(dims) = value.getattr_opt(intern!(py, "__gt_dims__"))?.filter(|it| !it.is_none()) {
        let names: Vec<String> =
            dims.try_iter()?.map(|it| Ok(it?.str()?.to_string())).collect::<PyResult<_>>()?;
        array.put_in_order(&names);
    }
    Ok(array)
}

/// Arrays of JAX never change, which neither of its loans tells.
fn is_of_jax(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let module = value.get_type().module()?;
    let module = module.to_cow()?;
    Ok(["jax", "jaxlib"].contains(&module.split('.').next().unwrap_or_default()))
}

fn of_protocols<'py>(name: &str, value: &Bound<'py, PyAny>, gpu: &Gpu) -> PyResult<OnGpu<'py>> {
    let py = value.py();
    let withheld = |why: PyErr| {
        PyTypeError::new_err(format!("`{name}` does not hand over its memory: {}", why.value(py)))
    };
    let interface = value.getattr_opt(intern!(py, "__cuda_array_interface__")).map_err(withheld)?;
    let ask = intern!(py, "__dlpack_device__");
    if let Some(interface) = &interface {
        let interface = interface.cast::<PyDict>().map_err(|_| {
            PyTypeError::new_err(format!("the `__cuda_array_interface__` of `{name}` is no dictionary"))
        })?;
        if interface.contains(intern!(py, "stream"))? || !value.hasattr(ask)? {
            return of_interface(name, value, interface);
        }
    }
    if let Some(ask) = value.getattr_opt(ask)? {
        let (kind, number): (i32, i32) = ask.call0().and_then(|it| it.extract()).map_err(withheld)?;
        if ON_GPU.contains(&kind) {
            let stream = gpu.arrivals().map_err(|why| unavailable(why.into()))?;
            let capsule = capsule(value, stream).map_err(withheld)?;
            return of_capsule(name, value, capsule, stream);
        }
        return Err(if ON_HOST.contains(&kind) {
            on_host(name)
        } else {
            Elsewhere::new_err(format!(
                "`{name}` lies on another device (number {number} of DLPack's kind {kind}), and the stencil runs on a \
                 GPU of NVIDIA: nothing is copied unasked"
            ))
        });
    }
    if value.hasattr(intern!(py, "__array_interface__"))? || PyMemoryView::from(value).is_ok() {
        return Err(on_host(name));
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("`{name}` is a field, and was given a {kind}, which is no array")))
}

/// That a field lies on the host.
pub(crate) fn on_host(name: &str) -> PyErr {
    Elsewhere::new_err(format!(
        "`{name}` lies in the memory of the processor, and the stencil runs on a GPU: nothing is copied unasked; \
         `cupy.asarray({name})` makes a copy there"
    ))
}

/// The capsule of an array that has this stream of ours wait for what writes it.
fn capsule<'py>(value: &Bound<'py, PyAny>, stream: u64) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let ask = value.getattr(intern!(py, "__dlpack__"))?;
    let options = PyDict::new(py);
    options.set_item(intern!(py, "stream"), stream)?;
    let newer = options.copy()?;
    newer.set_item(intern!(py, "max_version"), dlpack::VERSION)?;
    newer.set_item(intern!(py, "copy"), false)?;
    match ask.call((), Some(&newer)) {
        // It knows no versions.
        Err(why) if why.is_instance_of::<PyTypeError>(py) => ask.call((), Some(&options)),
        other => other,
    }
}

fn of_capsule<'py>(
    name: &str,
    value: &Bound<'py, PyAny>,
    capsule: Bound<'py, PyAny>,
    stream: u64,
) -> PyResult<OnGpu<'py>> {
    let it = dlpack::read(name, &capsule)?;
    let size = isize::try_from(it.bytes).unwrap_or(1);
    let strides = it.strides.iter().map(|&it| isize::try_from(it).unwrap_or(0).saturating_mul(size));
    Ok(OnGpu {
        address: it.address,
        strides: strides.collect(),
        shape: it.shape,
        kind: it.kind,
        byteorder: b'=',
        bytes: it.bytes,
        is_writeable: it.is_writeable,
        device: Some(it.device),
        stream: Some(stream),
        origin: None,
        object: value.clone(),
        _capsule: Some(capsule),
    })
}

fn of_interface<'py>(
    name: &str,
    value: &Bound<'py, PyAny>,
    interface: &Bound<'py, PyDict>,
) -> PyResult<OnGpu<'py>> {
    let py = interface.py();
    let wrong =
        |what: &str| PyTypeError::new_err(format!("the `__cuda_array_interface__` of `{name}` {what}"));
    let entry = |key: &Bound<'py, PyString>| -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(interface.get_item(key)?.filter(|it| !it.is_none()))
    };
    let needed = |key: &Bound<'py, PyString>| entry(key)?.ok_or_else(|| wrong(&format!("has no `{key}`")));
    let shape: Vec<usize> =
        needed(intern!(py, "shape"))?.extract().map_err(|_| wrong("has a `shape` of no sizes"))?;
    let (address, is_read_only): (u64, bool) = needed(intern!(py, "data"))?
        .extract()
        .map_err(|_| wrong("has `data` that are no address and whether it may be written"))?;
    let typestr: String =
        needed(intern!(py, "typestr"))?.extract().map_err(|_| wrong("has a `typestr` that is no text"))?;
    let (&[byteorder, kind], digits) =
        typestr.as_bytes().split_first_chunk::<2>().ok_or_else(|| wrong("has a short `typestr`"))?;
    let bytes = std::str::from_utf8(digits).ok().and_then(|it| it.parse().ok()).unwrap_or(0);
    if entry(intern!(py, "mask"))?.is_some() {
        return Err(wrong("has a mask, which no field has"));
    }
    let strides = match entry(intern!(py, "strides"))? {
        Some(it) => it.extract().map_err(|_| wrong("has `strides` that are no integers"))?,
        None => {
            let size = isize::try_from(bytes).unwrap_or(1);
            let bytes_of = |it: i64| isize::try_from(it).unwrap_or(0).saturating_mul(size);
            contiguous(&shape).into_iter().map(bytes_of).collect::<Vec<isize>>()
        }
    };
    if strides.len() != shape.len() {
        return Err(wrong("has more strides than sizes, or fewer"));
    }
    let stream = entry(intern!(py, "stream"))?.map(|it| it.extract::<u64>()).transpose();
    let stream = stream.map_err(|_| wrong("has a `stream` that is no number of one"))?;
    if stream == Some(0) {
        return Err(PyValueError::new_err(format!(
            "the `__cuda_array_interface__` of `{name}` names stream 0, which may be either default stream: 1 is that \
             of the process, and 2 that of the thread"
        )));
    }
    Ok(OnGpu {
        address,
        shape,
        strides,
        kind,
        byteorder,
        bytes,
        is_writeable: !is_read_only,
        device: None,
        stream,
        origin: None,
        object: value.clone(),
        _capsule: None,
    })
}

impl OnGpu<'_> {
    /// Puts the dimensions into the order I, J, K. An owner that names its dimensions may have them in any
    /// order.
    fn put_in_order(&mut self, names: &[String]) {
        if names.len() != self.shape.len() {
            return;
        }
        let place = |at: &usize| ["I", "J", "K"].iter().position(|it| *it == names[*at]).unwrap_or(3);
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by_key(place);
        self.shape = order.iter().map(|&at| self.shape[at]).collect();
        self.strides = order.iter().map(|&at| self.strides[at]).collect();
        if let Some(origin) = self.origin.as_mut().filter(|it| it.len() == order.len()) {
            *origin = order.iter().map(|&at| origin[at]).collect();
        }
    }

    fn lies(&self) -> ArrayDescription<'_> {
        ArrayDescription {
            address: self.address,
            shape: &self.shape,
            strides: &self.strides,
            kind: self.kind,
            byteorder: self.byteorder,
            bytes: self.bytes,
            is_writeable: self.is_writeable,
        }
    }

    /// Adds all that decides a call with this array.
    pub(crate) fn describe(&self, words: &mut Vec<u64>) {
        self.lies().describe(words);
        words.push(self.device.map_or(u64::MAX, |it| it as u64));
    }

    /// The array, lent for as long as the buffer is.
    ///
    /// # Safety
    ///
    /// The caller keeps the array alive for as long as something runs on the buffer.
    #[expect(unsafe_code, reason = "the memory is its owner's")]
    pub(crate) unsafe fn lent(
        &self,
        name: &str,
        gpu: &Gpu,
        device: &Arc<dyn Device>,
        is_written: bool,
    ) -> PyResult<Buffer> {
        let told = || format!("{}{}", char::from(self.kind), self.bytes);
        let (dtype, strides): (DType, Vec<i64>) = self.lies().checked(name, told, is_written)?;
        if !self.shape.contains(&0) {
            self.is_on(name, gpu)?;
        }
        // SAFETY: the owner vouches for the reach of shape and strides; the caller keeps the array alive.
        let buffer = unsafe { Buffer::lent_on(device, dtype, self.address, &self.shape, &strides) };
        buffer.map_err(|why| PyValueError::new_err(format!("`{name}`: {why:?}")))
    }

    /// Refuses memory that is not there, or on another GPU.
    fn is_on(&self, name: &str, gpu: &Gpu) -> PyResult<()> {
        let own = gpu.ordinal();
        let elsewhere = |other: String| {
            Elsewhere::new_err(format!(
                "`{name}` lies on GPU {other}, and the stencil runs on GPU {own}, the first one that the driver lists: \
                 CUDA_VISIBLE_DEVICES chooses it"
            ))
        };
        if let Some(other) = self.device.filter(|it| usize::try_from(*it) != Ok(own)) {
            return Err(elsewhere(other.to_string()));
        }
        if self.address == 0 {
            return Err(PyValueError::new_err(format!(
                "`{name}` has elements, and no memory: its address is 0"
            )));
        }
        match gpu.owner(self.address).map_err(|why| unavailable(why.into()))? {
            Some(other) if other == own => Ok(()),
            Some(other) => Err(elsewhere(other.to_string())),
            None => Err(PyValueError::new_err(format!(
                "the driver knows no memory at the address of `{name}`: it was freed, or was never that of a GPU"
            ))),
        }
    }
}
