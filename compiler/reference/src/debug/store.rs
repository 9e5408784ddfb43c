//! The fields of a run: those of the caller, and the temporaries.

use std::ops::Range;

use crate::call::array::Elements;
use crate::call::launch::{Argument, Launch};
use crate::call::layout::{FieldLayout, RelativeElement};
use crate::entity::Handle;
use crate::oir::analysis::{Extents, touched, touches};
use crate::oir::nodes::{Field, ParamKind, Stencil};
use crate::space::Domain;
use crate::types::{DType, Value};

/// Everything that statements read and write.
#[derive(Debug)]
pub(super) struct DebugMemory {
    pub(super) domain: Domain,
    slots: Vec<Slot>,
    pub(super) scalars: Vec<Value>,
}

/// One field.
#[derive(Debug)]
struct Slot {
    elements: Elements,
    /// The elements before the current execution; none where it does not need them.
    before: Option<Elements>,
    layout: FieldLayout,
}

/// An access to an element that does not exist.
#[derive(Clone, Debug)]
pub(super) struct MissingElement {
    pub(super) field: Handle<Field>,
    pub(super) place: RelativeElement,
    /// The point that asked for it.
    pub(super) cell: [i64; 3],
}

impl DebugMemory {
    /// Takes the arrays out of the launch, and makes the temporaries.
    pub(super) fn new(stencil: &Stencil, extents: &Extents, launch: &mut Launch) -> Self {
        let domain = launch.domain;
        let mut slots: Vec<Slot> = stencil.fields.iter().map(|_| Slot::missing()).collect();
        let mut scalars: Vec<Value> = stencil.scalars.iter().map(|(_, it)| Value::zero(it.dtype)).collect();
        for (param, argument) in stencil.params.iter().zip(&mut launch.arguments) {
            match (param.what, argument) {
                (ParamKind::Field(field), Argument::Field(given)) => {
                    let axes = stencil.fields[field].axes;
                    let layout = FieldLayout::of_argument(given, axes);
                    let elements =
                        std::mem::replace(&mut given.array.elements, Elements::zeros(DType::Bool, 0));
                    slots[field.index()] = Slot { elements, before: None, layout };
                }
                (ParamKind::Scalar(scalar), Argument::Scalar(value)) => scalars[scalar.index()] = *value,
                _ => {}
            }
        }
        let is_temporary = |field: Handle<Field>| stencil.fields[field].is_temporary;
        let of_temporaries = touches(stencil, extents, |field| is_temporary(field).then_some(field.index()));
        let ranges = touched(&of_temporaries, stencil.fields.len(), domain);
        for (field, declared) in stencil.fields.iter().filter(|(_, it)| it.is_temporary) {
            let Some([i, j, _]) = ranges[field.index()].clone() else { continue };
            slots[field.index()] = Slot::temporary(declared, &[i, j, 0..domain.k]);
        }
        Self { domain, slots, scalars }
    }

    /// Gives the arrays back.
    pub(super) fn give_back(self, stencil: &Stencil, launch: &mut Launch) {
        let mut slots: Vec<Option<Slot>> = self.slots.into_iter().map(Some).collect();
        for (param, argument) in stencil.params.iter().zip(&mut launch.arguments) {
            if let (ParamKind::Field(field), Argument::Field(given)) = (param.what, argument)
                && let Some(slot) = slots[field.index()].take()
            {
                given.array.elements = slot.elements;
            }
        }
    }

    /// Keeps what `field` holds now, for reads at other points until [`forget`](Self::forget).
    pub(super) fn remember(&mut self, field: Handle<Field>) {
        let slot = &mut self.slots[field.index()];
        slot.before = Some(slot.elements.clone());
    }

    pub(super) fn forget(&mut self, field: Handle<Field>) {
        self.slots[field.index()].before = None;
    }

    /// The element at a place seen from a point.
    pub(super) fn read(
        &self,
        field: Handle<Field>,
        place: &RelativeElement,
        cell: [i64; 3],
    ) -> Result<Value, MissingElement> {
        let slot = &self.slots[field.index()];
        let outside = || MissingElement { field, place: place.clone(), cell };
        let position = slot.layout.position(place, cell).ok_or_else(outside)?;
        Ok(slot.seen_at(place).get(position))
    }

    /// Stores the element at a place seen from a point.
    pub(super) fn write(
        &mut self,
        field: Handle<Field>,
        place: &RelativeElement,
        cell: [i64; 3],
        value: Value,
    ) -> Result<(), MissingElement> {
        let slot = &mut self.slots[field.index()];
        let outside = || MissingElement { field, place: place.clone(), cell };
        let position = slot.layout.position(place, cell).ok_or_else(outside)?;
        slot.elements.set(position, value);
        Ok(())
    }
}

impl Slot {
    /// A field that was not passed: no element of it exists.
    fn missing() -> Self {
        Self { elements: Elements::zeros(DType::Bool, 0), before: None, layout: FieldLayout::missing() }
    }

    fn temporary(field: &Field, needed: &[Range<i64>; 3]) -> Self {
        let (layout, n) = FieldLayout::owned(field.axes, &field.data_dims, needed);
        Self { elements: Elements::filled(Value::undefined(field.dtype), n), before: None, layout }
    }

    /// A read beside the point sees what was before the execution, where that was kept.
    fn seen_at(&self, place: &RelativeElement) -> &Elements {
        match &self.before {
            Some(before) if !place.is_here() => before,
            _ => &self.elements,
        }
    }
}
