//! The rules of the marks that passes set on loops.

use std::collections::BTreeSet;

use super::super::nodes::{DimensionIndex, For, Item, RowBuffer, Stores};
use super::super::visit::any;
use super::{Rules, name_of};
use crate::space::Axis;

impl Rules<'_> {
    /// Checks the marks that a loop has beside its positions and its body.
    pub(super) fn marks(&mut self, it: &For) {
        let variable = &it.positions.variable;
        let lanes = it.lanes;
        self.demand(!(it.is_parallel && it.is_descending), || {
            format!("the loop over `{variable}` is parallel and goes down")
        });
        // Order and lanes exclude each other: lanes run together.
        let is_marked =
            it.is_simd || it.gpu.is_some() || lanes.is_masked || lanes.may_overlap || lanes.is_split;
        self.demand(it.is_parallel || !is_marked, || {
            format!("the loop over `{variable}` has an order and its iterations are spread")
        });
        self.demand(lanes.is_masked || !lanes.may_overlap && !lanes.is_split, || {
            format!("the loop over `{variable}` is in no lanes that may overlap or be split")
        });
        self.demand(lanes.block.is_none_or(|block| block > 0 && it.is_simd && it.axis == Axis::I), || {
            format!("the loop over `{variable}` is no row and runs in blocks")
        });
        // A loop with lanes is the innermost one.
        let is_row = !any(&it.body, &mut |it| matches!(it, Item::For(_) | Item::Strips(_) | Item::Launch(_)));
        self.demand(is_row || !lanes.is_masked && lanes.block.is_none(), || {
            format!("the loop over `{variable}` has lanes and a loop inside")
        });
        self.demand(
            it.prefetched.iter().all(|it| matches!(it.index.first(), Some(DimensionIndex::Known(_)))),
            || format!("the loop over `{variable}` prefetches what is found at run time"),
        );
        if let Some(stores) = &it.stores {
            self.stores(it, stores, is_row);
        }
    }

    /// Checks that a loop stores whole rows through a buffer, and that the rows lie along it. Two rows of one
    /// array would have two buffers of the same name.
    fn stores(&mut self, it: &For, Stores { rows, buffer }: &Stores, is_row: bool) {
        let variable = &it.positions.variable;
        self.demand(is_row && it.is_parallel && it.axis == Axis::I && !rows.is_empty(), || {
            format!("the loop over `{variable}` is no row and stores rows past the caches")
        });
        let is_some = match buffer {
            RowBuffer::Row { elements } => *elements > 0,
            RowBuffer::Registers { bytes } => *bytes > 0,
        };
        self.demand(is_some, || format!("the loop over `{variable}` stores rows through nothing"));
        let mut arrays = BTreeSet::new();
        for row in rows {
            let Some(array) = self.program.arrays.get(row.array) else { continue };
            let name = name_of(array);
            self.demand(array.is_streamed, || {
                format!("`{name}` is stored past the caches and not marked so")
            });
            self.demand(arrays.insert(row.array), || format!("two rows of `{name}` are stored in one loop"));
            let is_along =
                matches!(row.index.first(), Some(DimensionIndex::Known(it)) if it.factor(variable) == 1);
            self.demand(is_along, || format!("a row of `{name}` does not lie along the loop that stores it"));
        }
    }
}
