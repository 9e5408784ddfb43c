//! The fields of a run: those of the caller, and the temporaries.

use std::fmt;
use std::ops::Range;

use itertools::Itertools;

use crate::backend::array::Elements;
use crate::backend::launch::{Argument, Launch};
use crate::entity::Handle;
use crate::oir::analysis::extents::{Extents, touched};
use crate::oir::nodes::{Field, ParamKind, Stencil};
use crate::space::{Axis, Domain, Offset};
use crate::types::{DType, Value};

/// Everything that statements read and write.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) domain: Domain,
    slots: Vec<Slot>,
    pub(super) scalars: Vec<Value>,
}

/// One field.
#[derive(Debug)]
struct Slot {
    elements: Elements,
    /// What the elements were before the execution at hand, where it asks for that.
    before: Option<Elements>,
    /// The element at the first point of the compute domain.
    start: i64,
    /// Between neighbours along I, J, K; 0 along an axis that the field lacks.
    strides: [i64; 3],
    /// The size of each data dimension, and what lies between its neighbours.
    data: Vec<(i64, i64)>,
    /// The positions that exist, relative to the compute domain.
    exists: [Range<i64>; 3],
}

/// Which element of a field is meant, seen from a point.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// Along K it counts where there is no level.
    pub(super) offset: Offset,
    /// The level, counted from the start of the compute domain, where it was found at run time.
    pub(super) level: Option<i64>,
    /// For each data dimension.
    pub(super) data: Vec<i64>,
}

impl From<Offset> for Place {
    fn from(offset: Offset) -> Self {
        Self { offset, level: None, data: Vec::new() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.offset != Offset::CENTRE || self.level.is_none() && self.data.is_empty() {
            write!(f, "{}", self.offset)?;
        }
        if let Some(level) = self.level {
            write!(f, ".at({level})")?;
        }
        if self.data.is_empty() { Ok(()) } else { write!(f, ".A[{}]", self.data.iter().format(", ")) }
    }
}

/// An access to an element that does not exist.
#[derive(Clone, Debug)]
pub(super) struct Outside {
    pub(super) field: Handle<Field>,
    pub(super) place: Place,
    /// The point that asked for it.
    pub(super) cell: [i64; 3],
}

/// Elements of one field along a row of points, ready to be read or written.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub(super) elements: &'a Elements,
    pub(super) first: usize,
    pub(super) stride: usize,
}

impl Memory {
    /// Takes the arrays out of the launch, and makes the temporaries.
    pub(super) fn new(stencil: &Stencil, extents: &Extents, launch: &mut Launch) -> Self {
        let domain = launch.domain;
        let mut slots: Vec<Slot> = stencil.fields.iter().map(|_| Slot::missing()).collect();
        let mut scalars: Vec<Value> = stencil.scalars.iter().map(|(_, it)| Value::zero(it.dtype)).collect();
        for (param, argument) in stencil.params.iter().zip(&mut launch.arguments) {
            match (param.what, argument) {
                (ParamKind::Field(field), Argument::Field(given)) => {
                    let axes = stencil.fields[field].axes;
                    let strides = given.strides(axes).map(signed);
                    let start = signed(given.start(axes));
                    let sizes = given.array.shape.iter().zip(&given.array.strides).skip(axes.len());
                    let data = sizes.map(|(&size, &stride)| (signed(size), signed(stride))).collect();
                    let mut exists = Axis::ALL.map(|_| i64::MIN..i64::MAX);
                    for (axis, &size) in axes.iter().zip(&given.array.shape) {
                        let origin = given.origin[axis.index()];
                        exists[axis.index()] = -origin..signed(size) - origin;
                    }
                    let elements = std::mem::replace(&mut given.array.elements, Elements::Bool(Vec::new()));
                    slots[field.index()] = Slot { elements, before: None, start, strides, data, exists };
                }
                (ParamKind::Scalar(scalar), Argument::Scalar(value)) => scalars[scalar.index()] = *value,
                _ => {}
            }
        }
        let ranges = touched(stencil, extents, domain);
        for (field, declared) in stencil.fields.iter().filter(|(_, it)| it.is_temporary) {
            let Some([i, j, _]) = ranges.get(field).cloned() else { continue };
            slots[field.index()] = Slot::temporary(declared, [i, j, 0..domain.k]);
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
    pub(super) fn read(&self, field: Handle<Field>, place: &Place, cell: [i64; 3]) -> Result<Value, Outside> {
        let slot = &self.slots[field.index()];
        let outside = || Outside { field, place: place.clone(), cell };
        let position = slot.position(place, cell).ok_or_else(outside)?;
        Ok(slot.seen_at(place).get(position))
    }

    /// Stores the element at a place seen from a point.
    pub(super) fn write(
        &mut self,
        field: Handle<Field>,
        place: &Place,
        cell: [i64; 3],
        value: Value,
    ) -> Result<(), Outside> {
        let slot = &mut self.slots[field.index()];
        let outside = || Outside { field, place: place.clone(), cell };
        let position = slot.position(place, cell).ok_or_else(outside)?;
        slot.elements.set(position, value);
        Ok(())
    }

    /// The elements at `offset` from the points `i` of a row.
    pub(super) fn row(
        &self,
        field: Handle<Field>,
        offset: Offset,
        i: Range<i64>,
        j: i64,
        k: i64,
    ) -> Result<Row<'_>, Outside> {
        let slot = &self.slots[field.index()];
        let place = Place::from(offset);
        let (first, stride) =
            slot.row(&place, i, j, k).map_err(|cell| Outside { field, place: offset.into(), cell })?;
        Ok(Row { elements: slot.seen_at(&place), first, stride })
    }

    /// The elements at the points `i` of a row, to be written, with the first position and the stride.
    pub(super) fn row_mut(
        &mut self,
        field: Handle<Field>,
        i: Range<i64>,
        j: i64,
        k: i64,
    ) -> Result<(&mut Elements, usize, usize), Outside> {
        let place = Place::default();
        let slot = &mut self.slots[field.index()];
        let outside = |cell| Outside { field, place: Place::default(), cell };
        let (first, stride) = slot.row(&place, i, j, k).map_err(outside)?;
        Ok((&mut slot.elements, first, stride))
    }
}

impl Slot {
    /// A field that was not passed: no element of it exists.
    fn missing() -> Self {
        let exists = Axis::ALL.map(|_| 0..0);
        let elements = Elements::Bool(Vec::new());
        Self { elements, before: None, start: 0, strides: [0; 3], data: Vec::new(), exists }
    }

    fn temporary(field: &Field, needed: [Range<i64>; 3]) -> Self {
        let mut slot = Self::missing();
        let mut n: i64 = 1;
        for axis in Axis::ALL {
            let range = &needed[axis.index()];
            if field.axes.has(axis) {
                slot.strides[axis.index()] = n;
                slot.start -= range.start * n;
                n *= (range.end - range.start).max(0);
                slot.exists[axis.index()] = range.clone();
            } else {
                slot.exists[axis.index()] = i64::MIN..i64::MAX;
            }
        }
        for &size in &field.data_dims {
            slot.data.push((i64::from(size), n));
            n *= i64::from(size);
        }
        slot.elements = undefined(field.dtype, usize::try_from(n).unwrap_or(0));
        slot
    }

    /// A read beside the point sees what was before the execution, where that was kept.
    fn seen_at(&self, place: &Place) -> &Elements {
        match &self.before {
            Some(before) if place.offset != Offset::CENTRE || place.level.is_some() => before,
            _ => &self.elements,
        }
    }

    fn position(&self, place: &Place, cell: [i64; 3]) -> Option<usize> {
        let offset = [place.offset.i, place.offset.j, place.offset.k];
        let mut position = self.start;
        for axis in 0..3 {
            let at = match place.level {
                Some(level) if axis == 2 => level,
                _ => cell[axis] + i64::from(offset[axis]),
            };
            if !self.exists[axis].contains(&at) {
                return None;
            }
            position += at * self.strides[axis];
        }
        for (&at, &(size, stride)) in place.data.iter().zip(&self.data) {
            if !(0..size).contains(&at) {
                return None;
            }
            position += at * stride;
        }
        usize::try_from(position).ok()
    }

    /// The first position and the stride of a row; the first point outside, where there is one.
    fn row(&self, place: &Place, i: Range<i64>, j: i64, k: i64) -> Result<(usize, usize), [i64; 3]> {
        let outside = |i: i64| self.position(place, [i, j, k]).is_none();
        if outside(i.start) || outside(i.end - 1) {
            let first = i.clone().find(|&it| outside(it)).unwrap_or(i.start);
            return Err([first, j, k]);
        }
        let first = self.position(place, [i.start, j, k]).unwrap_or(0);
        Ok((first, usize::try_from(self.strides[0]).unwrap_or(0)))
    }
}

/// `n` elements that no statement has written.
fn undefined(dtype: DType, n: usize) -> Elements {
    match Value::undefined(dtype) {
        Value::Bool(it) => Elements::Bool(vec![it; n]),
        Value::Int8(it) => Elements::Int8(vec![it; n]),
        Value::Int16(it) => Elements::Int16(vec![it; n]),
        Value::Int32(it) => Elements::Int32(vec![it; n]),
        Value::Int64(it) => Elements::Int64(vec![it; n]),
        Value::Float32(it) => Elements::Float32(vec![it; n]),
        Value::Float64(it) => Elements::Float64(vec![it; n]),
    }
}

fn signed(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
