//! Places the rows that a thread has for itself.
//!
//! A vector that is written across the end of a cache line costs twice as much. Across the end of a page, it
//! costs as much as a hundred operations. The loops over a row often start elsewhere than the row does. Some
//! loops need points beside it, and others leave the points at the edge of a region to other loops. So a row
//! is placed by the loop that writes most of it.
//!
//! Only the address of the first element moves. `rows from 7` means that the seven elements before it are
//! unused. So the element at index 1 starts a line of eight.

use std::collections::BTreeMap;

use super::super::nodes::{
    Array, Assign, DimensionIndex, For, Item, LINE_BYTES, Positions, Program, Storage, Target,
};
use super::PassCx;
use crate::entity::Handle;
use crate::space::{Affine, Axis, Size};

/// As options and remarks call it.
pub const NAME: &str = "loops/place-rows";

/// Places the rows of threads so that the long loops in vector lanes write whole lines.
pub fn place_rows(program: &mut Program, cx: &mut PassCx) {
    let mut found = Vec::new();
    program.functions.values().for_each(|it| find(&it.body, false, &mut found));
    // Loops that run a few times count only where no other loop writes the row.
    found.sort_by_key(|(is_rare, ..)| *is_rare);
    let mut firsts: BTreeMap<Handle<Array>, i64> = BTreeMap::new();
    for (_, array, first) in found {
        firsts.entry(array).or_insert(first);
    }
    let Program { arrays, decisions, .. } = program;
    for (handle, array) in arrays.iter() {
        if let Some(first) = firsts.get(&handle).and_then(|it| position(array, *it)) {
            let unit = LINE_BYTES / array.dtype.size_bytes() as u64;
            let row_start = (unit - first.rem_euclid(unit as i64) as u64) % unit;
            if row_start > 0 && cx.may_change() {
                decisions.set_row_start(handle, row_start);
                let name = &array.stencil_name;
                cx.applied(
                    format!("rows of `{name}` start {row_start} elements into a cache line, where most are written"),
                    [],
                );
            }
        }
    }
}

/// Finds the elements that loops over most of a row write first. Each entry tells whether a loop of a few
/// iterations is around, the array, and the index along the row.
fn find(items: &[Item], is_rare: bool, found: &mut Vec<(bool, Handle<Array>, i64)>) {
    for item in items {
        let mut is_rare = is_rare;
        if let Item::For(it) = item {
            found.extend(written_first(it).into_iter().map(|(array, first)| (is_rare, array, first)));
            is_rare |= has_few_iterations(&it.positions);
        }
        item.blocks().into_iter().for_each(|it| find(it, is_rare, found));
    }
}

fn has_few_iterations(Positions { start, end, .. }: &Positions) -> bool {
    matches!((start, end), (Size::Affine(start), Size::Affine(end)) if end.distance_from(start).is_some())
}

/// Returns the index along the row that a loop over most of a row writes first, for each array.
fn written_first(it: &For) -> Vec<(Handle<Array>, i64)> {
    let Positions { variable, start, step, .. } = &it.positions;
    let (Size::Affine(start), true) = (start, it.is_simd && it.axis == Axis::I && *step == 1) else {
        return Vec::new();
    };
    if has_few_iterations(&it.positions) {
        return Vec::new();
    }
    let targets = it.body.iter().filter_map(|item| match item {
        Item::Assign(Assign { target: Target::Element(element), .. }) => Some(element),
        _ => None,
    });
    let first = targets.filter_map(|element| match element.index.first()? {
        // Rows of a tile count from where it starts.
        DimensionIndex::Known(sum) => {
            Some((element.array, (&(sum - &Affine::symbol(variable)) + start).as_constant()?))
        }
        DimensionIndex::Found { .. } => None,
    });
    first.collect()
}

/// The place of an index in the row, where each thread has such rows.
fn position(array: &Array, index: i64) -> Option<i64> {
    let shift = match array.storage {
        Storage::Private => 0,
        _ => array.shift.first()?.as_constant()?,
    };
    array.is_per_thread.then_some(index + shift)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::tests::{after, c, check};

    /// The elements before each row of `t`, after these loops of a thread.
    fn start_of_rows(loops: &str) -> Option<u64> {
        let text = after(&[super::NAME], c(0), loops);
        let row = text.lines().find(|it| it.starts_with("temporary t: "))?;
        row.split_once(" rows from ")?.1.parse().ok()
    }

    #[test]
    fn rows_start_so_that_the_long_loop_writes_whole_lines() {
        // The long one begins at the fourth element.
        check(
            super::NAME,
            c(0),
            "  for i in [0, 3) parallel simd:
    t[i] = 0.0
  for i in [3, I) parallel simd:
    t[i] = a[i, j, k]
",
            &expect![[r#"
                temporary t: float64[I] shift [0] along I packed private per thread rows from 5
                function step_1_at(k, j) of step 1:
                  for i in [0, 3) parallel simd:
                    t[i] = 0.0
                  for i in [3, I) parallel simd:
                    t[i] = a[i, j, k]
                # rows of `t` start 5 elements into a cache line, where most are written
            "#]],
        );
        assert_eq!(start_of_rows("  for i in [0, I) parallel simd:\n    t[i] = a[i, j, k]\n"), None);
    }

    #[test]
    fn lines_hold_more_elements_of_half_the_size() {
        let of_singles = "  for i in [3, I) parallel simd:\n    v[i] = float32(a[i, j, k])\n";
        check(
            super::NAME,
            c(0),
            of_singles,
            &expect![[r#"
            temporary v: float32[I] shift [0] along I packed private per thread rows from 13
            function step_1_at(k, j) of step 1:
              for i in [3, I) parallel simd:
                v[i] = float32(a[i, j, k])
            # rows of `v` start 13 elements into a cache line, where most are written
        "#]],
        );
    }

    #[test]
    fn a_loop_that_runs_only_twice_does_not_count() {
        let long = "  for i in [3, I) parallel simd:\n    t[i] = a[i, j, k]\n";
        let twice = "  for j_tile in [0, 2) parallel:
    for i in [0, I) parallel simd:
      t[i] = a[i, j, k]
";
        assert_eq!(start_of_rows(&format!("{twice}{long}")), Some(5));
        assert_eq!(start_of_rows(twice), None);
    }

    #[test]
    fn rows_of_a_tile_count_from_where_it_starts() {
        let in_tiles = |start: &str| {
            start_of_rows(&format!(
                "  for i_tile in [0, I) step 32 parallel:
    for i in [{start}, min(I, i_tile + 33)) parallel simd:
      t[i - i_tile + 1] = a[i, j, k]
"
            ))
        };
        assert_eq!(in_tiles("i_tile - 1"), None);
        assert_eq!(in_tiles("i_tile"), Some(7));
    }
}
