//! A program on a device: its code is started there, on fields that stay there.

use std::sync::Arc;

use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::Launch;
use isobar_compiler::call::run::Control;
use isobar_compiler::call::signature::Signature;
use isobar_compiler::entity::Handle;
use isobar_compiler::front::Front;
use isobar_compiler::types::{DType, Value};
use isobar_program::interpret::{DeviceRunner, ElementBox, GroupStop, StencilStop};
use isobar_program::nodes::Container;

use super::device_fields::DeviceFields;
use super::{ProgramCode, not_made};

/// Why there is no device, for code that runs on the host.
const NO_DEVICE: &str = "its back end runs on the host";

impl DeviceRunner for ProgramCode {
    fn begin_run(&mut self, last: Option<u64>) -> u64 {
        self.device.as_mut().map_or(0, |it| it.begin_run(last))
    }

    fn send(&mut self, container: Handle<Container>, array: &Array) -> Result<(), StencilStop> {
        self.device.as_mut().map_or(Ok(()), |it| it.send(container, array)).map_err(not_made)
    }

    fn bring(&mut self, container: Handle<Container>, array: &mut Array) -> Result<(), StencilStop> {
        self.device.as_mut().map_or(Ok(()), |it| it.bring(container, array)).map_err(not_made)
    }

    fn is_newer_here(&mut self, container: Handle<Container>) {
        if let Some(device) = &mut self.device {
            device.is_newer_here(container);
        }
    }

    fn begins(&mut self, container: Handle<Container>, before: Option<Handle<Container>>) {
        if let Some(device) = &mut self.device {
            device.begins(container, before);
        }
    }

    fn gather(
        &mut self,
        dtype: DType,
        boxes: &[(Handle<Container>, ElementBox)],
    ) -> Result<Option<u64>, StencilStop> {
        self.device.as_mut().map_or(Ok(None), |it| it.gather(dtype, boxes)).map_err(not_made)
    }

    fn scatter(
        &mut self,
        message: u64,
        boxes: &[(Handle<Container>, ElementBox)],
    ) -> Result<(), StencilStop> {
        self.device.as_mut().map_or(Ok(()), |it| it.scatter(message, boxes)).map_err(not_made)
    }

    fn read(&mut self, message: u64) -> Result<Elements, StencilStop> {
        self.device.as_mut().ok_or_else(no_device)?.read(message).map_err(not_made)
    }

    fn message(&mut self, elements: &Elements) -> Result<Option<u64>, StencilStop> {
        self.device.as_mut().map_or(Ok(None), |it| it.message(elements)).map_err(not_made)
    }

    fn fill(
        &mut self,
        container: Handle<Container>,
        its: &ElementBox,
        value: Value,
    ) -> Result<bool, StencilStop> {
        self.device.as_mut().map_or(Ok(false), |it| it.fill(container, its, value)).map_err(not_made)
    }

    fn swaps(&mut self, one: Handle<Container>, other: Handle<Container>) {
        if let Some(device) = &mut self.device {
            device.swaps(one, other);
        }
    }

    fn start(
        &mut self,
        front: &Arc<Front>,
        launch: &mut Launch,
        containers: &[Option<Handle<Container>>],
        _control: &mut dyn Control,
    ) -> Result<(), StencilStop> {
        self.code(front).map_err(not_made)?;
        let Some(at) = self.position(front) else { return Err(no_device()) };
        let (code, Some(device)) = (&mut self.codes[at], &mut self.device) else { return Err(no_device()) };
        let written = writes(code.front.signature.as_ref());
        let ended = device.start(&mut code.prepared, launch, containers, &written);
        ended.map_err(|failure| code.stop(failure))
    }

    fn start_group(
        &mut self,
        number: usize,
        launch: &mut Launch,
        containers: &[Option<Handle<Container>>],
        _control: &mut dyn Control,
    ) -> Result<(), GroupStop> {
        let (Some(code), Some(device)) = (self.groups.get_mut(&number), &mut self.device) else {
            return Err(GroupStop { stop: no_device(), statement: None });
        };
        let written = writes(code.signature.as_ref());
        let ended = device.start(&mut code.prepared, launch, containers, &written);
        ended.map_err(|failure| code.stop(failure))
    }

    fn wait(&mut self) -> Result<(), StencilStop> {
        self.device.as_mut().map_or(Ok(()), DeviceFields::wait).map_err(not_made)
    }
}

fn no_device() -> StencilStop {
    StencilStop::Fault { why: NO_DEVICE.to_owned(), statement: None }
}

/// Whether a stencil writes the parameter at a position.
fn writes(signature: Option<&Signature>) -> impl Fn(usize) -> bool {
    let params = signature.map(|it| it.params.as_slice()).unwrap_or_default();
    move |at| params.get(at).is_none_or(|it| it.access.is_written())
}
