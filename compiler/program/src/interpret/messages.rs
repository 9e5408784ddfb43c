//! Elements on their way between containers, on the host or on a device.

use isobar_ground::call::array::{Array, Elements, c_strides};
use isobar_ground::entity::Handle;
use isobar_ground::types::{DType, Value};

use super::ProgramInstance;
use super::arrays::ElementBox;
use super::runner::{StencilRunner, StencilStop};
use crate::nodes::{Container, ContainerPart};

/// Boxes of containers, in the order of their elements in a message.
pub(super) type MessageBoxes = Vec<(Handle<Container>, ElementBox)>;

/// Elements of boxes, one box behind the other, each in C order.
pub(super) enum BoxMessage {
    Here(Elements),
    /// By the number that the device gave it.
    OnDevice(u64),
}

/// Elements as an array of one dimension.
fn line(elements: Elements) -> Array {
    let n = elements.len();
    Array { elements, first: 0, shape: vec![n], strides: vec![1] }
}

impl ProgramInstance {
    /// The box of a part, as one of a message.
    pub(super) fn box_of(&mut self, part: &ContainerPart) -> (Handle<Container>, ElementBox) {
        self.begin(part.container);
        let container = &self.program.containers[part.container];
        (part.container, ElementBox::of_part(&self.arrays[part.container.index()], container, part))
    }

    /// Takes the elements of boxes, all of one type.
    pub(super) fn picked(
        &mut self,
        boxes: &MessageBoxes,
        dtype: DType,
        runner: &mut dyn StencilRunner,
    ) -> Result<BoxMessage, StencilStop> {
        boxes.iter().try_for_each(|it| self.send(it.0, runner))?;
        if let Some(device) = runner.device()
            && let Some(number) = device.gather(dtype, boxes)?
        {
            return Ok(BoxMessage::OnDevice(number));
        }
        boxes.iter().try_for_each(|it| self.bring(it.0, runner))?;
        Ok(BoxMessage::Here(self.picked_here(boxes, dtype)))
    }

    /// The elements of boxes of the arrays.
    fn picked_here(&self, boxes: &MessageBoxes, dtype: DType) -> Elements {
        let n = boxes.iter().map(|it| it.1.n()).sum();
        let mut message = line(Elements::zeros(dtype, n));
        let mut at = 0;
        for (container, ElementBox { start, shape, strides }) in boxes {
            let from = &self.arrays[container.index()];
            message.copy_box((at, &c_strides(shape)), (from, *start, strides), shape);
            at += shape.iter().product::<usize>();
        }
        message.elements
    }

    /// Stores the elements of a message in boxes.
    pub(super) fn store(
        &mut self,
        message: BoxMessage,
        boxes: &MessageBoxes,
        runner: &mut dyn StencilRunner,
    ) -> Result<(), StencilStop> {
        match message {
            BoxMessage::OnDevice(number) => {
                boxes.iter().try_for_each(|it| self.send(it.0, runner))?;
                runner.device().map_or(Ok(()), |it| it.scatter(number, boxes))
            }
            BoxMessage::Here(elements) => {
                boxes.iter().try_for_each(|it| self.bring(it.0, runner))?;
                self.store_here(elements, boxes);
                boxes.iter().for_each(|it| self.is_changed(it.0, runner));
                Ok(())
            }
        }
    }

    fn store_here(&mut self, elements: Elements, boxes: &MessageBoxes) {
        let message = line(elements);
        let mut at = 0;
        for (container, ElementBox { start, shape, strides }) in boxes {
            let to = &mut self.arrays[container.index()];
            to.copy_box((*start, strides), (&message, at, &c_strides(shape)), shape);
            at += shape.iter().product::<usize>();
        }
    }

    /// Takes several messages to the host. A device copies all of them at once.
    pub(super) fn picked_apart(
        &mut self,
        messages: &[MessageBoxes],
        dtype: DType,
        runner: &mut dyn StencilRunner,
    ) -> Result<Vec<Elements>, StencilStop> {
        if runner.device().is_none() {
            messages.iter().flatten().for_each(|it| self.begin(it.0));
            return Ok(messages.iter().map(|it| self.picked_here(it, dtype)).collect());
        }
        let all: MessageBoxes = messages.iter().flatten().cloned().collect();
        let all = match self.picked(&all, dtype, runner)? {
            BoxMessage::Here(elements) => elements,
            BoxMessage::OnDevice(number) => match runner.device() {
                Some(device) => device.read(number)?,
                None => Elements::zeros(dtype, 0),
            },
        };
        let (all, mut at) = (line(all), 0);
        let part = |it: &MessageBoxes| {
            let n = it.iter().map(|it| it.1.n()).sum();
            let mut part = line(Elements::zeros(dtype, n));
            part.copy_box((0, &[1]), (&all, at, &[1]), &[n]);
            at += n;
            part.elements
        };
        Ok(messages.iter().map(part).collect())
    }

    /// Stores several messages of the host. A device gets all of them at once.
    pub(super) fn store_apart(
        &mut self,
        messages: Vec<(Elements, MessageBoxes)>,
        dtype: DType,
        runner: &mut dyn StencilRunner,
    ) -> Result<(), StencilStop> {
        if runner.device().is_none() {
            for (elements, boxes) in messages {
                self.store_here(elements, &boxes);
            }
            return Ok(());
        }
        let n = messages.iter().map(|it| it.0.len()).sum();
        let (mut all, mut at) = (line(Elements::zeros(dtype, n)), 0);
        let mut boxes = MessageBoxes::new();
        for (elements, its) in messages {
            let n = elements.len();
            all.copy_box((at, &[1]), (&line(elements), 0, &[1]), &[n]);
            at += n;
            boxes.extend(its);
        }
        let sent = match runner.device() {
            Some(device) => device.message(&all.elements)?,
            None => None,
        };
        let message = sent.map_or(BoxMessage::Here(all.elements), BoxMessage::OnDevice);
        self.store(message, &boxes, runner)
    }

    /// Stores one value in all elements of a part.
    pub(super) fn fill(
        &mut self,
        part: &ContainerPart,
        value: Value,
        runner: &mut dyn StencilRunner,
    ) -> Result<(), StencilStop> {
        let (handle, its) = self.box_of(part);
        self.send(handle, runner)?;
        if let Some(device) = runner.device()
            && device.fill(handle, &its, value)?
        {
            return Ok(());
        }
        let elements = Elements::filled(value, its.n());
        self.store(BoxMessage::Here(elements), &vec![(handle, its)], runner)
    }
}
