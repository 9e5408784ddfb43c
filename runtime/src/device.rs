//! Devices: owners of buffers that are not in the memory of this process, and how a program waits for their
//! calls.
//!
//! The host is no device. Its memory is accessed in place, and its calls are over when they return.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;

use isobar_compiler::pass::GpuModel;

use crate::boxes::BoxCopy;
use crate::copying::CopyMeasurement;
use crate::failure::Failure;

/// A device with memory of its own.
pub trait Device: fmt::Debug + Send + Sync {
    /// The name that users give it, as `cuda:0`.
    fn name(&self) -> &str;

    /// Allocates memory of `bytes` bytes, all of them zero.
    ///
    /// # Errors
    ///
    /// Where there is no such memory.
    fn allocate(&self, bytes: usize) -> Result<Box<dyn DeviceMemory>, Failure>;

    /// Memory on this device that somebody else owns, by the address of its first byte. It is never freed
    /// here.
    ///
    /// # Errors
    ///
    /// Where the device cannot use such memory.
    ///
    /// # Safety
    ///
    /// The given number of bytes from `start` on must be memory of this device for as long as the memory is
    /// used. During a call nobody else may write elements that the stencil reads, or access elements that it
    /// writes.
    #[expect(unsafe_code, reason = "the memory is somebody else's")]
    unsafe fn lend(&self, _start: u64, _bytes: usize) -> Result<Box<dyn DeviceMemory>, Failure> {
        Err(Failure::Machine(format!("{} takes its own memory alone", self.name())))
    }

    /// Whether it copies boxes of elements that have so many bytes each.
    fn copies_boxes(&self, _size: usize) -> bool {
        false
    }

    /// Starts a copy of elements of `size` bytes between two memories of this device, which differ. Work that was submitted
    /// before is over then.
    ///
    /// # Errors
    ///
    /// Where the box leaves a memory, or the device fails.
    fn copy_box(
        &self,
        _from: &dyn DeviceMemory,
        _to: &dyn DeviceMemory,
        _size: usize,
        _copy: &BoxCopy,
    ) -> Result<(), Failure> {
        Err(Failure::Machine(format!("{} copies no boxes", self.name())))
    }

    /// Collects calls and copies that are put on the device at once; none where each is put there by itself.
    fn sequence(&self) -> Option<Box<dyn DeviceSequence>> {
        None
    }

    /// Facts about the device, in the words of its driver, by name: model, driver, versions.
    fn about(&self) -> BTreeMap<&'static str, String> {
        BTreeMap::new()
    }

    /// The GPU model that schedules are chosen for, as far as the driver gives its numbers.
    fn model(&self) -> Option<GpuModel> {
        None
    }

    /// Its copies within its own memory. They are measured at the first call; later calls return the same
    /// result.
    ///
    /// # Errors
    ///
    /// Where it cannot.
    fn copies(&self) -> Result<CopyMeasurement, Failure> {
        Err(Failure::Machine(format!("how {} copies is not measured", self.name())))
    }
}

/// Memory of a device. Reads and writes wait until all work that was submitted before is over.
pub trait DeviceMemory: Any + fmt::Debug + Send {
    /// How many bytes it has.
    fn bytes(&self) -> usize;

    /// Copies bytes to the device, from `at` on.
    ///
    /// # Errors
    ///
    /// Where the device fails, or the memory has fewer bytes.
    fn write(&mut self, at: usize, from: &[u8]) -> Result<(), Failure>;

    /// Copies bytes from the device, from `at` on.
    ///
    /// # Errors
    ///
    /// Where the device fails, or the memory has fewer bytes.
    fn read(&self, at: usize, to: &mut [u8]) -> Result<(), Failure>;

    /// The memory itself, for the back end of its device.
    fn as_any(&self) -> &dyn Any;
}

/// Calls and copies that a device carries out in order, once they are submitted. Until then nothing may free, read or write
/// the memory that they touch.
pub trait DeviceSequence: Any + fmt::Debug + Send {
    /// Adds a copy, as [`Device::copy_box`] starts one.
    ///
    /// # Errors
    ///
    /// Where the box leaves a memory, or the device fails.
    fn copy_box(
        &mut self,
        from: &dyn DeviceMemory,
        to: &dyn DeviceMemory,
        size: usize,
        copy: &BoxCopy,
    ) -> Result<(), Failure>;

    /// Whether so much is collected that the device should begin.
    fn is_full(&self) -> bool;

    /// Has the device begin with all that was collected; none where that is nothing.
    ///
    /// # Errors
    ///
    /// Where the device does not begin.
    fn submit(&mut self) -> Result<Option<Box<dyn Ticket>>, Failure>;

    /// Drops all that was collected.
    fn forget(&mut self);

    /// The sequence itself, for the back end of its device.
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// A call that a device carries out.
pub trait Ticket: Send {
    /// Whether it is over.
    fn is_over(&self) -> bool;

    /// Waits until it is over.
    ///
    /// # Errors
    ///
    /// Why it ended before its end.
    fn wait(self: Box<Self>) -> Result<(), Failure>;
}

/// A call that is over, as those of the host are when they return.
#[derive(Debug)]
pub struct FinishedTicket;

impl Ticket for FinishedTicket {
    fn is_over(&self) -> bool {
        true
    }

    fn wait(self: Box<Self>) -> Result<(), Failure> {
        Ok(())
    }
}
