//! Programs whose elements lie on a device: their containers stay there from call to call.
//!
//! A container has elements in its array and on the device. At most one of them is newer. Statements that the interpreter
//! carries out itself bring elements to the array first: copies, fills, exchanges and callbacks.

use std::sync::Arc;

use isobar_ground::call::array::{Array, Elements};
use isobar_ground::call::launch::{Argument, FieldArgument, Launch};
use isobar_ground::call::run::Control;
use isobar_ground::diag::Span;
use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::entity::Handle;
use isobar_ground::space::Domain;
use isobar_ground::types::Value;
use isobar_reference::front::Front;

use super::arrays::{gather, part_view, scatter};
use super::calls::origin;
use super::runner::{DeviceRunner, GroupParam, GroupStop, StencilRunner, StencilStop};
use super::{ProgramInstance, ProgramStop};
use crate::nodes::{Container, ContainerPart, ContainerRole, StencilCall};

/// A local whose first touch a device has not been told.
#[derive(Clone, Copy, Debug)]
pub(super) struct BegunLocal {
    pub(super) container: Handle<Container>,
    /// The local that had its memory.
    pub(super) before: Option<Handle<Container>>,
    /// Whether its first elements may be read.
    pub(super) has_values: bool,
}

/// An array that tells how elements lie, and has none.
fn without_elements(array: &Array) -> Array {
    Array {
        elements: Elements::zeros(array.dtype(), 0),
        first: array.first,
        shape: array.shape.clone(),
        strides: array.strides.clone(),
    }
}

impl ProgramInstance {
    /// Begins a run on the runner's device, if it has one. The caller's arrays are the newer ones then.
    pub(super) fn begin_on_device(&mut self, runner: &mut dyn StencilRunner) {
        self.begun_locals.clear();
        let last = self.last_run.take();
        let Some(device) = runner.device() else { return };
        self.last_run = Some(device.begin_run(last));
        for (handle, container) in self.program.containers.iter() {
            if matches!(container.role, ContainerRole::Argument | ContainerRole::Constant) {
                device.is_newer_here(handle);
            }
        }
    }

    /// Brings all that a run may have written, and waits for all calls.
    pub(super) fn end_on_device(&mut self, runner: &mut dyn StencilRunner) -> Result<(), StencilStop> {
        let Some(device) = runner.device() else { return Ok(()) };
        let mut ended = Ok(());
        for &handle in &self.written {
            let is_kept = !matches!(self.program.containers[handle].role, ContainerRole::Local);
            if is_kept {
                let brought = device.bring(handle, &mut self.arrays[handle.index()]);
                ended = ended.and(brought);
            }
        }
        let waited = device.wait();
        ended.and(waited)
    }

    /// Tells the device which locals have begun.
    fn tell_begun(&mut self, device: &mut dyn DeviceRunner) {
        for it in self.begun_locals.drain(..) {
            device.begins(it.container, it.before);
            if it.has_values {
                device.is_newer_here(it.container);
            }
        }
    }

    /// Begins a container where it has not begun; answers the device of the runner, which knows that then.
    fn device_for<'r>(
        &mut self,
        handle: Handle<Container>,
        runner: &'r mut dyn StencilRunner,
    ) -> Option<&'r mut dyn DeviceRunner> {
        self.begin(handle);
        let device = runner.device()?;
        self.tell_begun(device);
        Some(device)
    }

    /// Gives a container memory on the device, with its newest elements.
    pub(super) fn send(
        &mut self,
        handle: Handle<Container>,
        runner: &mut dyn StencilRunner,
    ) -> Result<(), StencilStop> {
        match self.device_for(handle, runner) {
            Some(device) => device.send(handle, &self.arrays[handle.index()]),
            None => Ok(()),
        }
    }

    /// Gives a container its newest elements, in its array.
    pub(super) fn bring(
        &mut self,
        handle: Handle<Container>,
        runner: &mut dyn StencilRunner,
    ) -> Result<(), StencilStop> {
        match self.device_for(handle, runner) {
            Some(device) => device.bring(handle, &mut self.arrays[handle.index()]),
            None => Ok(()),
        }
    }

    /// Notes that the array of a container was changed.
    pub(super) fn is_changed(&mut self, handle: Handle<Container>, runner: &mut dyn StencilRunner) {
        if let Some(device) = runner.device() {
            device.is_newer_here(handle);
        }
    }

    /// Exchanges two containers of the program's own.
    pub(super) fn swap(&mut self, pair: [Handle<Container>; 2], runner: &mut dyn StencilRunner) {
        pair.into_iter().for_each(|it| self.begin(it));
        let [one, other] = pair;
        self.arrays.swap(one.index(), other.index());
        if let Some(device) = runner.device() {
            self.tell_begun(device);
            device.swaps(one, other);
        }
    }

    /// Starts a call on a device. `used` are its fields by position, and whether it writes them.
    pub(super) fn start_call(
        &mut self,
        call: &StencilCall,
        (front, used): (&Arc<Front>, &[(usize, ContainerPart, bool)]),
        mut arguments: Vec<Argument>,
        (device, control): (&mut dyn DeviceRunner, &mut dyn Control),
    ) -> Result<(), StencilStop> {
        self.tell_begun(device);
        let mut containers = vec![None; arguments.len()];
        let mut copied = Vec::new();
        for (at, part, is_written) in used {
            let index = part.container.index();
            // Arguments share memory where the call only reads it.
            let of_container = || used.iter().filter(|it| it.1.container == part.container);
            let array = if of_container().count() == 1 || of_container().all(|it| !it.2) {
                device.send(part.container, &self.arrays[index])?;
                containers[*at] = Some(part.container);
                part_view(&self.arrays[index], &self.program.containers[part.container], part)
            } else {
                device.bring(part.container, &mut self.arrays[index])?;
                if *is_written {
                    copied.push((*at, part));
                }
                gather(&self.arrays[index], &self.program.containers[part.container], part)
            };
            arguments[*at] =
                Argument::Field(FieldArgument { array, origin: origin(&self.program, call, *at) });
        }
        let [i, j, k] = self.program.stencils[call.stencil].domain.map(|it| it.on(self.domain));
        let mut launch = Launch { domain: Domain::new(i, j, k), arguments };
        let ended = device.start(front, &mut launch, &containers, control);
        for (at, part) in copied {
            let Argument::Field(field) = &launch.arguments[at] else { continue };
            let container = &self.program.containers[part.container];
            scatter(&mut self.arrays[part.container.index()], container, part, &field.array);
            device.is_newer_here(part.container);
        }
        ended
    }

    /// Starts the code of a group on a device.
    pub(super) fn start_group(
        &mut self,
        number: usize,
        params: &[GroupParam],
        scalars: &[Vec<Option<Value>>],
        (device, control): (&mut dyn DeviceRunner, &mut dyn Control),
    ) -> Result<(), GroupStop> {
        let mut containers = vec![None; params.len()];
        let mut arguments = Vec::with_capacity(params.len());
        for (param, slot) in params.iter().zip(&mut containers) {
            arguments.push(match *param {
                GroupParam::Container(handle) => {
                    self.begin(handle);
                    self.tell_begun(device);
                    let array = &self.arrays[handle.index()];
                    device.send(handle, array).map_err(|stop| GroupStop { stop, statement: None })?;
                    *slot = Some(handle);
                    let (array, origin) = (without_elements(array), self.program.containers[handle].origin);
                    Argument::Field(FieldArgument { array, origin })
                }
                GroupParam::Scalar { statement, param } => {
                    let value = scalars.get(statement).and_then(|it| it.get(param).copied().flatten());
                    value.map_or(Argument::Unused, Argument::Scalar)
                }
            });
        }
        let mut launch = Launch { domain: self.domain, arguments };
        device.start_group(number, &mut launch, &containers, control)
    }

    /// Why the elements of a field did not come to their place, at a statement.
    pub(super) fn not_moved(&self, handle: Handle<Container>, stop: StencilStop, span: Span) -> ProgramStop {
        match stop {
            StencilStop::Cancelled => ProgramStop::Cancelled,
            StencilStop::Fault { why, .. } => {
                let name = &self.program.containers[handle].name;
                ProgramStop::Fault(vec![catalog::ended(
                    &format!("the elements of `{name}` were not copied: {why}"),
                    span,
                )])
            }
        }
    }
}
