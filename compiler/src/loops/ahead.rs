//! What later turns of a loop over rows read, so that it can be fetched while this one computes.
//!
//! A row is read from its start to its end, and then another one that lies elsewhere: hardware, which follows what is
//! read, is late for the first lines of each. Measured on 128x128x80 points this takes a quarter off the time of
//! horizontal diffusion and of a chain of transport stages, and half off that of the Laplacians.

use std::collections::BTreeMap;

use super::nodes::{At, Element, For, Item, Positions, Program, Read, walk};
use crate::expr::ExprKind;
use crate::sdfg::nodes::{ContainerKind, Storage};
use crate::space::{Affine, Axis, AxisSet, Size, Symbol};

/// At most so many turns are between the one that asks for a row and the first that reads it.
const MOST_TURNS: usize = 6;

/// At least so many. With vectors of 64 bytes a turn of many operations is shorter than memory takes; with others it is
/// longer, and what is asked for sooner takes the place of what is read in between: vertical advection takes a tenth
/// more with two, transport with piecewise parabolas a twentieth.
fn least_turns(vector_bytes: u64) -> usize {
    if vector_bytes >= 64 { 2 } else { 1 }
}

/// Operations for each point of a row that take as long as memory does to answer while it is busy.
const OPERATIONS: usize = 48;

/// How many turns ahead rows are asked for: the fewer operations a turn has, the sooner it is over.
fn turns_ahead(body: &[Item], vector_bytes: u64) -> i64 {
    let mut n = 0;
    walk(body, &mut |item| {
        item.each_expr(&mut |expr| {
            expr.walk(&mut |it| {
                n += usize::from(matches!(
                    it.kind,
                    ExprKind::Binary(..)
                        | ExprKind::Unary(..)
                        | ExprKind::Call(..)
                        | ExprKind::Ternary { .. }
                ));
            });
        });
    });
    (OPERATIONS / n.max(1)).clamp(least_turns(vector_bytes), MOST_TURNS) as i64
}

/// One element of each row of a field that a later turn of a loop is the first to read, where the loop runs row by row:
/// no loop inside has more than one position, but those along the rows. How much later depends on the bytes of a vector,
/// 0 where they are not known.
#[must_use]
pub fn rows_of_later_turns(program: &Program, around: &For, vector_bytes: u64) -> Vec<Element> {
    let mut rows = Rows { program, around, known: BTreeMap::new(), found: BTreeMap::new(), has_rows: false };
    if around.axis == Axis::I || around.positions.step != 1 || !rows.items(&around.body) || !rows.has_rows {
        return Vec::new();
    }
    let turns = turns_ahead(&around.body, vector_bytes);
    let turns = if around.is_descending { -turns } else { turns };
    let found = rows.first_of_their_kind().into_iter().map(|(mut row, at)| {
        if let Some(At::Known(sum)) = row.index.get_mut(at.dimension) {
            *sum = sum.clone().moved(at.distance + turns);
        }
        row
    });
    found.collect()
}

/// How far `one` is ahead of `other`, where nothing else lies between them than a distance along one dimension.
fn ahead_of(one: &Element, other: &Element) -> Option<(Symbol, i64)> {
    if one.array != other.array || one.index.len() != other.index.len() {
        return None;
    }
    let mut found = None;
    for (one, other) in one.index.iter().zip(&other.index).filter(|(one, other)| one != other) {
        let (At::Known(one), At::Known(other)) = (one, other) else { return None };
        let distance = (one - other).as_constant()?;
        let mut terms = one.terms();
        let (Some((symbol, 1)), None, None) = (terms.next(), terms.next(), &found) else { return None };
        found = Some((symbol.clone(), distance));
    }
    found
}

/// Where a row lies along the loop.
#[derive(Clone, Copy)]
struct Place {
    dimension: usize,
    distance: i64,
}

struct Rows<'p> {
    program: &'p Program,
    around: &'p For,
    /// The positions of loops inside that have one only.
    known: BTreeMap<Symbol, Affine>,
    /// Rows at the turn at hand, and how far ahead of it the loop comes to them first.
    found: BTreeMap<Element, Place>,
    has_rows: bool,
}

impl Rows<'_> {
    /// What was found, but rows that were read before, when a loop around this one was where it lies ahead now.
    fn first_of_their_kind(&mut self) -> Vec<(Element, Place)> {
        let found = std::mem::take(&mut self.found);
        let is_known = |row: &Element| {
            let mut others = found.keys().filter_map(|other| ahead_of(other, row));
            others.any(|(symbol, distance)| distance > 0 && !self.descends(&symbol))
        };
        let kept: Vec<bool> = found.keys().map(|row| !is_known(row)).collect();
        found.into_iter().zip(kept).filter(|(_, is_kept)| *is_kept).map(|(it, _)| it).collect()
    }

    /// Whether a loop goes down along it.
    fn descends(&self, variable: &Symbol) -> bool {
        let mut is_any = false;
        for function in &self.program.functions {
            crate::loops::nodes::walk(&function.body, &mut |item| {
                is_any |=
                    matches!(item, Item::For(it) if it.is_descending && it.positions.variable == *variable);
            });
        }
        is_any
    }

    /// Adds what items read; tells whether they run row by row.
    fn items(&mut self, items: &[Item]) -> bool {
        items.iter().all(|item| match item {
            Item::For(it) if it.is_simd && it.axis == Axis::I => {
                self.row(it);
                self.has_rows = true;
                true
            }
            Item::For(it) => match self.position_of(&it.positions) {
                Some(position) => {
                    self.known.insert(it.positions.variable.clone(), position);
                    let is_by_rows = self.items(&it.body);
                    self.known.remove(&it.positions.variable);
                    is_by_rows
                }
                None => false,
            },
            Item::Launch(_) => false,
            Item::Assign(_) | Item::Declare(_) | Item::Checked(_) | Item::If(_) | Item::While(_) => true,
        })
    }

    /// The position of a loop that has one at most for each of the loop around.
    fn position_of(&self, it: &Positions) -> Option<Affine> {
        let variable = &self.around.positions.variable;
        let beside = |size: &Size| part(size, &|sum| sum.factor(variable) == 1);
        let (start, end) = (beside(&it.start)?, beside(&it.end)?);
        ((&end - &start).as_constant() == Some(1)).then_some(start)
    }

    fn row(&mut self, it: &For) {
        let along = &it.positions.variable;
        super::nodes::walk(&it.body, &mut |item| {
            item.each_expr(&mut |expr| {
                expr.accesses(&mut |read| {
                    if let Read::Element(element) = read {
                        self.add(element, along);
                    }
                });
            });
        });
    }

    fn add(&mut self, element: &Element, along: &Symbol) {
        let container = &self.program.arrays[element.array].container;
        // What is written is in a cache already, or will be; and a plane stays there from level to level.
        let is_input = matches!(container.kind, ContainerKind::Field { is_written: false, .. });
        if !is_input || container.storage != Storage::Caller || container.axes != AxisSet::IJK {
            return;
        }
        let variable = &self.around.positions.variable;
        let (mut row, mut place) = (element.clone(), None);
        for (dimension, at) in row.index.iter_mut().enumerate() {
            let At::Known(sum) = at else { return };
            for (symbol, value) in &self.known {
                *sum = sum.substituted(symbol, value);
            }
            if dimension == 0 {
                *sum = Affine::symbol(along);
            } else if sum.factor(variable) == 1 && place.is_none() {
                place = Some(Place { dimension, distance: sum.offset() });
                *sum = sum.clone().moved(-sum.offset());
            }
        }
        let Some(place) = place else { return };
        let is_descending = self.around.is_descending;
        self.found
            .entry(row)
            .and_modify(|known| {
                let (one, other) = (known.distance, place.distance);
                known.distance = if is_descending { one.min(other) } else { one.max(other) };
            })
            .or_insert(place);
    }
}

/// The part of a size that satisfies something.
fn part(size: &Size, is_wanted: &impl Fn(&Affine) -> bool) -> Option<Affine> {
    match size {
        Size::Affine(sum) => is_wanted(sum).then(|| sum.clone()),
        Size::Min(parts) | Size::Max(parts) => parts.iter().find_map(|it| part(it, is_wanted)),
    }
}
