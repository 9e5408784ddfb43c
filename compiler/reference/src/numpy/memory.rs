//! The fields of a run, and what goes from them to registers and back.

use crate::call::array::Elements;
use crate::call::launch::{Argument, Launch};
use crate::call::layout::{FieldLayout, RelativeElement};
use crate::entity::Handle;
use crate::for_elements;
use crate::npir::nodes::{Field, ParamKind, Stencil};
use crate::space::{Axis, Domain};
use crate::types::{DType, Value};

use super::lanes::{Lane, Reg, Registers};
use super::program::{Datum, LevelIndex, TileElements};
use super::tile::Tile;

/// Everything that statements read and write.
#[derive(Debug)]
pub(super) struct TileMemory {
    pub(super) domain: Domain,
    slots: Vec<Slot>,
}

/// One field.
#[derive(Debug)]
struct Slot {
    elements: Elements,
    /// The elements before the current block; none where it does not need them.
    kept: Option<Elements>,
    layout: FieldLayout,
}

/// The first lane that asks for an element that does not exist.
#[derive(Debug)]
pub(super) struct MissingLaneElement {
    pub(super) lane: usize,
    pub(super) place: RelativeElement,
}

/// The first element of a tile, and what lies between neighbours along i and j.
#[derive(Clone, Copy)]
struct TileLayout {
    first: usize,
    strides: [usize; 2],
}

impl TileMemory {
    /// Takes the arrays out of the launch, and makes the temporaries; gives the scalars as well.
    pub(super) fn new(stencil: &Stencil, launch: &mut Launch) -> (Self, Vec<Value>) {
        let domain = launch.domain;
        let slot = |(_, field): (_, &Field)| {
            if !field.is_temporary {
                return Slot::missing(field.dtype);
            }
            let along = |axis: Axis| {
                let reach = field.extent.along(axis);
                i64::from(reach.lo)..domain.along(axis) + i64::from(reach.hi)
            };
            let (layout, n) = FieldLayout::owned(field.axes, &field.data_dims, &Axis::ALL.map(along));
            Slot { elements: Elements::filled(Value::undefined(field.dtype), n), kept: None, layout }
        };
        let mut slots: Vec<Slot> = stencil.fields.iter().map(slot).collect();
        let mut scalars: Vec<Value> = stencil.scalars.iter().map(|(_, it)| Value::zero(it.dtype)).collect();
        for (param, argument) in stencil.params.iter().zip(&mut launch.arguments) {
            match (param.what, argument) {
                (ParamKind::Field(field), Argument::Field(given)) => {
                    let layout = FieldLayout::of_argument(given, stencil.fields[field].axes);
                    let elements =
                        std::mem::replace(&mut given.array.elements, Elements::zeros(DType::Bool, 0));
                    slots[field.index()] = Slot { elements, kept: None, layout };
                }
                (ParamKind::Scalar(scalar), Argument::Scalar(value)) => scalars[scalar.index()] = *value,
                _ => {}
            }
        }
        (Self { domain, slots }, scalars)
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

    /// Copies what a field holds now.
    pub(super) fn keep(&mut self, field: Handle<Field>) {
        let slot = &mut self.slots[field.index()];
        slot.kept = Some(slot.elements.clone());
    }

    pub(super) fn forget(&mut self, field: Handle<Field>) {
        self.slots[field.index()].kept = None;
    }

    /// Reads the elements that the first `n` points of a tile mean, as far as the mask holds.
    pub(super) fn load(
        &self,
        to: Reg,
        spot: &TileElements,
        mask: Option<usize>,
        (tile, n): (&Tile, usize),
        registers: &mut Registers,
    ) -> Result<(), MissingLaneElement> {
        let slot = &self.slots[spot.field.index()];
        let elements = match &slot.kept {
            Some(kept) if spot.is_kept => kept,
            _ => &slot.elements,
        };
        match spot.run_in(&slot.layout, tile) {
            Some(run) => {
                for_elements!(elements, it => gather_rows(it, run, to, (tile, n), registers));
                Ok(())
            }
            None => {
                for_elements!(elements, it => gather(it, &slot.layout, spot, to, mask, (tile, n), registers))
            }
        }
    }

    /// Writes the elements that the first `n` points of a tile mean, as far as the mask holds.
    pub(super) fn store(
        &mut self,
        from: Reg,
        spot: &TileElements,
        mask: Option<usize>,
        (tile, n): (&Tile, usize),
        registers: &Registers,
    ) -> Result<(), MissingLaneElement> {
        let Slot { elements, layout, .. } = &mut self.slots[spot.field.index()];
        match spot.run_in(layout, tile) {
            Some(run) => {
                let mask = mask.map(|it| registers.mask(it));
                for_elements!(elements, it => scatter_rows(it, run, from, mask, (tile, n), registers));
                Ok(())
            }
            None => {
                for_elements!(elements, it => scatter(it, layout, spot, from, mask, (tile, n), registers))
            }
        }
    }
}

impl Slot {
    /// A field that was not passed: no element of it exists.
    fn missing(dtype: DType) -> Self {
        Self { elements: Elements::zeros(dtype, 0), kept: None, layout: FieldLayout::missing() }
    }
}

impl TileElements {
    /// Where the elements of a tile lie, if they lie as its points do and all of them exist.
    fn run_in(&self, layout: &FieldLayout, tile: &Tile) -> Option<TileLayout> {
        if !self.is_regular() {
            return None;
        }
        let place = |offset| RelativeElement { offset, level: None, data: self.literals() };
        let first = layout.position(&place(self.offset), [tile.i.start, tile.j.start, tile.k])?;
        // If the elements of two opposite corners exist, so do those of all points between.
        layout.position(&place(self.offset), [tile.i.end - 1, tile.j.end - 1, tile.k])?;
        let stride = |axis: usize| usize::try_from(layout.strides[axis]).ok();
        Some(TileLayout { first, strides: [stride(0)?, stride(1)?] })
    }

    fn literals(&self) -> Vec<i64> {
        let literal = |it: &Datum| match it {
            Datum::Literal(at) => *at,
            Datum::Found(_) => 0,
        };
        self.data.iter().map(literal).collect()
    }

    /// The place that one lane means.
    fn place(&self, cell: [i64; 3], lane: usize, registers: &Registers) -> RelativeElement {
        let found = |at: usize| registers.integers(at)[lane];
        let level = match self.level {
            LevelIndex::Offset => None,
            LevelIndex::Above(by) => Some(cell[2].saturating_add(found(by))),
            LevelIndex::At(level) => Some(found(level)),
        };
        let data = self.data.iter().map(|it| match *it {
            Datum::Literal(at) => at,
            Datum::Found(at) => found(at),
        });
        RelativeElement { offset: self.offset, level, data: data.collect() }
    }
}

fn gather_rows<E: Lane>(
    from: &[E],
    run: TileLayout,
    to: Reg,
    (tile, n): (&Tile, usize),
    registers: &mut Registers,
) {
    let mut lanes = registers.take::<E>(to.at);
    let TileLayout { first, strides: [along_i, along_j] } = run;
    for (row, lanes) in lanes[..n].chunks_mut(tile.width()).enumerate() {
        let first = first + row * along_j;
        match along_i {
            0 => lanes.fill(from[first]),
            1 => lanes.copy_from_slice(&from[first..first + lanes.len()]),
            _ => {
                let elements = from[first..].iter().step_by(along_i);
                lanes.iter_mut().zip(elements).for_each(|(to, from)| *to = *from);
            }
        }
    }
    registers.put(to.at, lanes);
}

fn scatter_rows<E: Lane>(
    to: &mut [E],
    run: TileLayout,
    from: Reg,
    mask: Option<&[bool]>,
    (tile, n): (&Tile, usize),
    registers: &Registers,
) {
    let lanes = &E::bank(registers)[from.at][..n];
    let TileLayout { first, strides: [along_i, along_j] } = run;
    for (row, lanes) in lanes.chunks(tile.width()).enumerate() {
        let first = first + row * along_j;
        match (mask, along_i) {
            (None, 1) => to[first..first + lanes.len()].copy_from_slice(lanes),
            (None, _) => {
                let elements = to[first..].iter_mut().step_by(along_i.max(1));
                elements.zip(lanes).for_each(|(to, from)| *to = *from);
            }
            (Some(mask), _) => {
                let mask = &mask[row * tile.width()..];
                let elements = to[first..].iter_mut().step_by(along_i.max(1));
                for ((to, from), mask) in elements.zip(lanes).zip(mask) {
                    *to = if *mask { *from } else { *to };
                }
            }
        }
    }
}

fn gather<E: Lane>(
    from: &[E],
    layout: &FieldLayout,
    spot: &TileElements,
    to: Reg,
    mask: Option<usize>,
    (tile, n): (&Tile, usize),
    registers: &mut Registers,
) -> Result<(), MissingLaneElement> {
    let mut lanes = registers.take::<E>(to.at);
    let mut result = Ok(());
    for (lane, to) in lanes[..n].iter_mut().enumerate() {
        if mask.is_some_and(|it| !registers.mask(it)[lane]) {
            continue;
        }
        let cell = tile.cell(lane);
        let place = spot.place(cell, lane, registers);
        let Some(element) = layout.position(&place, cell).and_then(|at| from.get(at)) else {
            result = Err(MissingLaneElement { lane, place });
            break;
        };
        *to = *element;
    }
    registers.put(to.at, lanes);
    result
}

fn scatter<E: Lane>(
    to: &mut [E],
    layout: &FieldLayout,
    spot: &TileElements,
    from: Reg,
    mask: Option<usize>,
    (tile, n): (&Tile, usize),
    registers: &Registers,
) -> Result<(), MissingLaneElement> {
    for (lane, value) in E::bank(registers)[from.at][..n].iter().enumerate() {
        if mask.is_some_and(|it| !registers.mask(it)[lane]) {
            continue;
        }
        let cell = tile.cell(lane);
        let place = spot.place(cell, lane, registers);
        let Some(element) = layout.position(&place, cell).and_then(|at| to.get_mut(at)) else {
            return Err(MissingLaneElement { lane, place });
        };
        *element = *value;
    }
    Ok(())
}
