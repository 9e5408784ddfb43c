//! Prefetches the rows that later iterations of a loop over rows read.
//!
//! A row is read from its start to its end, and then another one that lies elsewhere. Hardware follows what is read, and
//! is late for the first lines of each row. How much that takes is in `docs/benchmarks/loops.md`.
//!
//! Before, and after with a distance of six iterations:
//!
//! ```text
//! for k in [0, K) parallel:                for k in [0, K) parallel:
//!   for i in [0, I) parallel simd:           prefetch a[i, j, k + 6]
//!     b[i, j, k] = a[i, j, k]                for i in [0, I) parallel simd:
//!                                              b[i, j, k] = a[i, j, k]
//! ```

use std::collections::BTreeMap;

use super::super::nodes::{ArrayKind, DimensionIndex, Element, For, Item, Positions, Program, Read, Storage};
use super::super::visit::{each_origin, walk};
use super::PassCx;
use crate::diag::Origin;
use crate::entity::Handle;
use crate::expr::ExprKind;
use crate::space::{Affine, Axis, AxisSet, Size, Symbol};
use crate::target::Prefetch;

/// As options and remarks call it.
pub const NAME: &str = "loops/prefetch-rows";

/// Marks in loops the rows that they prefetch when an iteration begins.
///
/// - **Precondition**: none.
/// - **Effect**: [`Decisions::prefetched`](super::super::nodes::Decisions::prefetched) of outermost loops that run row by row.
/// - **Legality**: always; a prefetch reads nothing, so the row need not exist.
/// - **Why**: the target's [`prefetch`](crate::target::Target::prefetch).
pub fn prefetch_rows(program: &mut Program, cx: &mut PassCx) {
    let Some(distances) = cx.options.prefetch.value else { return };
    let descending = descending(program);
    let mut marking = PrefetchMarker { program, distances, descending: &descending, found: Vec::new(), cx };
    program.functions.values().for_each(|it| marking.items(&it.body));
    let found = marking.found;
    found.into_iter().for_each(|(by, rows)| program.decisions.set_prefetched(by, rows));
}

/// The variables of loops that go down.
fn descending(program: &Program) -> Vec<Symbol> {
    let mut found = Vec::new();
    for function in program.functions.values() {
        walk(&function.body, &mut |item| {
            if let Item::For(it) = item
                && it.is_descending
            {
                found.push(it.positions.variable.clone());
            }
        });
    }
    found
}

/// A program whose loops are marked, and the distances by which they prefetch.
struct PrefetchMarker<'p, 'c> {
    program: &'p Program,
    distances: Prefetch,
    descending: &'p [Symbol],
    found: Vec<(Handle<For>, Vec<Element>)>,
    cx: &'c mut PassCx,
}

impl PrefetchMarker<'_, '_> {
    /// Marks the outermost loop that runs row by row, and nothing inside of it.
    fn items(&mut self, items: &[Item]) {
        for item in items {
            if let Item::For(it) = item
                && it.positions.only_turn().is_none()
            {
                let rows = rows_of_later_iterations(self.program, it, self.distances, self.descending);
                let is_along_i =
                    matches!(rows.first().map(|it| it.index.first()), Some(Some(DimensionIndex::Known(_))));
                if is_along_i && self.cx.may_change() {
                    let mut names: Vec<&str> =
                        rows.iter().map(|it| self.program.arrays[it.array].stencil_name.as_str()).collect();
                    names.dedup();
                    let mut origins: Vec<Origin> = Vec::new();
                    each_origin(&it.body, &mut |it| origins.push(it.clone()));
                    let reason = self.cx.options.prefetch.reason;
                    self.cx.applied(
                        format!("rows of `{}` are prefetched: {reason}", names.join("`, `")),
                        &origins,
                    );
                    self.found.push((it.id, rows));
                    // One loop prefetches for all loops inside.
                    continue;
                }
            }
            item.blocks().into_iter().for_each(|it| self.items(it));
        }
    }
}

/// How many iterations ahead rows are prefetched.
///
/// A row must arrive before it is needed, which takes a certain time. A long iteration takes longer, so fewer
/// of them pass in that time.
fn distance(body: &[Item], Prefetch { least, most, operations }: Prefetch) -> i64 {
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
    (operations / n.max(1)).clamp(least, most) as i64
}

/// Returns one element of each row of a field that a later iteration of a loop is the first to read. The loop
/// must run row by row: no loop inside has more than one position, except those along rows.
fn rows_of_later_iterations(
    program: &Program,
    around: &For,
    distances: Prefetch,
    descending: &[Symbol],
) -> Vec<Element> {
    let mut rows = RowSearch {
        program,
        around,
        descending,
        known: BTreeMap::new(),
        found: BTreeMap::new(),
        has_rows: false,
    };
    if around.axis == Axis::I || around.positions.step != 1 || !rows.items(&around.body) || !rows.has_rows {
        return Vec::new();
    }
    let ahead = distance(&around.body, distances);
    let ahead = if around.is_descending { -ahead } else { ahead };
    let found = rows.first_of_their_kind().into_iter().map(|(mut row, at)| {
        if let Some(DimensionIndex::Known(sum)) = row.index.get_mut(at.dimension) {
            *sum = sum.clone().moved(at.distance + ahead);
        }
        row
    });
    found.collect()
}

/// How far `one` is ahead of `other`, if they differ only by a distance along one dimension.
///
/// ```text
/// a[i, j + 1, k] is 1 ahead of a[i, j, k] along j; a[i, j + 1, k + 1] is not ahead of it, nor behind
/// ```
fn ahead_of(one: &Element, other: &Element) -> Option<(Symbol, i64)> {
    if one.array != other.array || one.index.len() != other.index.len() {
        return None;
    }
    let mut found = None;
    for (one, other) in one.index.iter().zip(&other.index).filter(|(one, other)| one != other) {
        let (DimensionIndex::Known(one), DimensionIndex::Known(other)) = (one, other) else { return None };
        let distance = (one - other).as_constant()?;
        let mut terms = one.terms();
        let (Some((symbol, 1)), None, None) = (terms.next(), terms.next(), &found) else { return None };
        found = Some((symbol.clone(), distance));
    }
    found
}

/// Where a row lies along the loop.
#[derive(Clone, Copy)]
struct RowPosition {
    dimension: usize,
    distance: i64,
}

struct RowSearch<'p> {
    program: &'p Program,
    around: &'p For,
    /// The variables of loops that go down.
    descending: &'p [Symbol],
    /// The positions of inner loops that have only one position.
    known: BTreeMap<Symbol, Affine>,
    /// Rows at the iteration at hand, and how far ahead of it the loop comes to them first.
    found: BTreeMap<Element, RowPosition>,
    has_rows: bool,
}

impl RowSearch<'_> {
    /// Returns the rows found, without those that an earlier iteration of a loop around has read already.
    fn first_of_their_kind(&mut self) -> Vec<(Element, RowPosition)> {
        let found = std::mem::take(&mut self.found);
        let is_known = |row: &Element| {
            let mut others = found.keys().filter_map(|other| ahead_of(other, row));
            others.any(|(symbol, distance)| distance > 0 && !self.descending.contains(&symbol))
        };
        let kept: Vec<bool> = found.keys().map(|row| !is_known(row)).collect();
        found.into_iter().zip(kept).filter(|(_, is_kept)| *is_kept).map(|(it, _)| it).collect()
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
            Item::Strips(_) | Item::Launch(_) => false,
            Item::Assign(_)
            | Item::Declare(_)
            | Item::Checked(_)
            | Item::If(_)
            | Item::While(_)
            | Item::Barrier => true,
        })
    }

    /// The position of a loop that has at most one for each position of the loop around.
    fn position_of(&self, it: &Positions) -> Option<Affine> {
        let variable = &self.around.positions.variable;
        let beside = |size: &Size| part(size, &|sum| sum.factor(variable) == 1);
        let (start, end) = (beside(&it.start)?, beside(&it.end)?);
        ((&end - &start).as_constant() == Some(1)).then_some(start)
    }

    /// Adds what a loop along a row reads.
    fn row(&mut self, it: &For) {
        let along = &it.positions.variable;
        walk(&it.body, &mut |item| {
            item.each_expr(&mut |expr| {
                expr.accesses(&mut |read| {
                    if let Read::Element(element) = read {
                        self.add(element, along);
                    }
                });
            });
        });
    }

    /// Adds the row of an element, if it moves with the loop around. Of rows that differ along that loop
    /// only, one stays: the one to which the loop comes first.
    fn add(&mut self, element: &Element, along: &Symbol) {
        let container = &self.program.arrays[element.array];
        // A written field is in a cache already, or will be. A plane stays there from level to level.
        let is_input = matches!(container.kind, ArrayKind::Field { is_written: false, .. });
        if !is_input || container.storage != Storage::Caller || container.axes != AxisSet::IJK {
            return;
        }
        let variable = &self.around.positions.variable;
        let (mut row, mut place) = (element.clone(), None);
        for (dimension, at) in row.index.iter_mut().enumerate() {
            let DimensionIndex::Known(sum) = at else { return };
            for (symbol, value) in &self.known {
                *sum = sum.substituted(symbol, value);
            }
            if dimension == 0 {
                *sum = Affine::symbol(along);
            } else if sum.factor(variable) == 1 && place.is_none() {
                place = Some(RowPosition { dimension, distance: sum.offset() });
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
