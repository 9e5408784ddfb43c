//! Devices: where buffers lie that are not in the memory of this process, and how one waits for what runs there.
//!
//! The host is none: its memory is read and written where it is, and what runs on it is done when the call returns.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;

use isobar_compiler::pass::GpuModel;

use crate::copying::Copies;
use crate::failure::Failure;

/// A device with memory of its own.
pub trait Device: fmt::Debug + Send + Sync {
    /// What people call it, as `cuda:0`.
    fn name(&self) -> &str;

    /// Memory for so many bytes, all of them zero.
    ///
    /// # Errors
    ///
    /// Where there is no such memory.
    fn allocate(&self, bytes: usize) -> Result<Box<dyn Memory>, Failure>;

    /// Memory that somebody else has on this device, by the address of its first byte. It is never freed here.
    ///
    /// # Errors
    ///
    /// Where the device does not take such memory.
    ///
    /// # Safety
    ///
    /// Behind `start` there are so many bytes of this device for as long as the memory is used. While a call goes on
    /// nobody else writes what the stencil reads, nor touches what it writes.
    #[expect(unsafe_code, reason = "the memory is somebody else's")]
    unsafe fn lend(&self, _start: u64, _bytes: usize) -> Result<Box<dyn Memory>, Failure> {
        Err(Failure::Machine(format!("{} takes its own memory alone", self.name())))
    }

    /// What it tells of itself, in the words of its driver, by name: model, driver, versions.
    fn about(&self) -> BTreeMap<&'static str, String> {
        BTreeMap::new()
    }

    /// What schedules for it are made for, as far as its driver tells.
    fn model(&self) -> Option<GpuModel> {
        None
    }

    /// How it copies within its own memory: measured when somebody first asks, and the same answer from then on.
    ///
    /// # Errors
    ///
    /// Where it cannot.
    fn copies(&self) -> Result<Copies, Failure> {
        Err(Failure::Machine(format!("how {} copies is not measured", self.name())))
    }
}

/// Memory of a device. What runs there and was submitted before is over before this is read or written.
pub trait Memory: Any + fmt::Debug + Send {
    /// How many bytes it has.
    fn bytes(&self) -> usize;

    /// Copies bytes to the device, from `at` on.
    ///
    /// # Errors
    ///
    /// Where the device fails, or there are not so many bytes.
    fn write(&mut self, at: usize, from: &[u8]) -> Result<(), Failure>;

    /// Copies bytes from the device, from `at` on.
    ///
    /// # Errors
    ///
    /// Where the device fails, or there are not so many bytes.
    fn read(&self, at: usize, to: &mut [u8]) -> Result<(), Failure>;

    /// The memory itself, for the back end of its device.
    fn as_any(&mut self) -> &mut dyn Any;
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
pub struct Over;

impl Ticket for Over {
    fn is_over(&self) -> bool {
        true
    }

    fn wait(self: Box<Self>) -> Result<(), Failure> {
        Ok(())
    }
}
