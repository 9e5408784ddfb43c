//! Stores rows that nothing reads soon past the caches.
//!
//! A row that is written once and read by nothing else here need not be fetched before. Nor need it displace
//! rows that are read. Rows are stored by non-temporal stores of whole lines, if the fields of a call are too
//! large for the last cache. Too large means more bytes than it keeps from one call to the next. The gain
//! with each buffer is in `docs/benchmarks/loops.md`.
//!
//! ```text
//! for i in [0, I) parallel simd:           for i in [0, I) parallel simd:
//!   b[i, j, k] = a[i, j, k]                  stream b[i, j, k] through a row of 672 elements
//!                                            b[i, j, k] = a[i, j, k]
//! ```

use std::collections::BTreeSet;

use super::super::nodes::{
    Array, ArrayKind, Assign, DimensionIndex, Element, For, Item, Program, Read, RowBuffer, Storage, Stores,
    Target,
};
use super::super::visit::{any, walk};
use super::PassCx;
use super::split_loops::is_mined;
use crate::diag::Origin;
use crate::entity::Handle;
use crate::space::{Affine, Axis, AxisSet};
use crate::target::NonTemporal;
use crate::types::DType;

/// As options and remarks call it.
pub const NAME: &str = "loops/stream-stores";

/// Marks the arrays, and the loops that store their rows past the caches.
///
/// - **Precondition**: locals are declared.
/// - **Effect**: [`Decisions::is_streamed`] and [`Decisions::stores`].
/// - **Legality**: [`is_streamed`]: each read of the array is of an element that the same point has just
///   written; one place writes its rows.
/// - **Why**: without it, a row that is written is fetched before, which is half of its traffic.
pub fn stream_stores(program: &mut Program, cx: &mut PassCx) {
    let arrays = match cx.options.stores.value {
        NonTemporal::Vectors => unread(program),
        NonTemporal::Rows { .. } | NonTemporal::Registers { .. } => written_in_rows(program),
    };
    for array in arrays {
        if cx.may_change() {
            program.decisions.set_streamed(array);
            program.decisions.set_stream_from(cx.options.stream_from.value);
            let (name, reason) = (&program.arrays[array].stencil_name, cx.options.stores.reason);
            let message =
                format!("rows of `{name}` are stored past the caches, where these are smaller: {reason}");
            let mut origins: Vec<Origin> = Vec::new();
            program.functions.values().for_each(|it| {
                walk(&it.body, &mut |item| {
                    if let Item::Assign(Assign { target: Target::Element(element), origin, .. }) = item
                        && element.array == array
                    {
                        origins.push(origin.clone());
                    }
                });
            });
            cx.applied(message, &origins);
        }
    }
    let mut found = Vec::new();
    program.functions.values().for_each(|it| mark(program, &it.body, &mut found, cx));
    found.into_iter().for_each(|(by, stores)| program.decisions.set_stores(by, stores));
}

/// Finds the loops, and how they store their rows.
fn mark(program: &Program, items: &[Item], found: &mut Vec<(Handle<For>, Stores)>, cx: &PassCx) {
    for item in items {
        if let Item::For(it) = item {
            // A loop that is strip-mined for a `while` or a branch is no loop over a row any more.
            let is_mined = is_mined(it, &program.decisions, &cx.options);
            let rows = if is_mined { Vec::new() } else { streamed_rows(program, it) };
            if let Some(buffer) = buffer(program, it, &rows, cx.options.stores.value) {
                found.push((it.id, Stores { rows, buffer }));
            }
        }
        item.blocks().into_iter().for_each(|it| mark(program, it, found, cx));
    }
}

/// Where rows are before they are stored. None where there are no rows, or where each vector is stored as it
/// is.
fn buffer(program: &Program, it: &For, rows: &[Element], stores: NonTemporal) -> Option<RowBuffer> {
    let dtype = |row: &Element| program.arrays[row.array].dtype;
    let is_one_size = rows.windows(2).all(|pair| dtype(&pair[0]) == dtype(&pair[1]));
    let is_plain = !any(&it.body, &mut |it| matches!(it, Item::While(_) | Item::Checked(_)));
    match stores {
        _ if rows.is_empty() => None,
        NonTemporal::Vectors => None,
        NonTemporal::Rows { elements } => Some(RowBuffer::Row { elements }),
        NonTemporal::Registers { one, several, elements } => match (is_one_size && is_plain, rows.len()) {
            (false, _) => Some(RowBuffer::Row { elements }),
            (true, 1) => Some(RowBuffer::Registers { bytes: one }),
            // Shorter buffers of several rows wait for each other.
            (true, _) => Some(RowBuffer::Registers { bytes: several }),
        },
    }
}

/// The fields that the program writes and never reads.
fn unread(program: &Program) -> BTreeSet<Handle<Array>> {
    let is_meant = |&array: &Handle<Array>| {
        let it = &program.arrays[array];
        it.kind == ArrayKind::Field { is_read: false, is_written: true }
            && it.storage == Storage::Caller
            && it.axes == AxisSet::IJK
            && it.shape.len() == 3
            && it.dtype.is_float()
    };
    program.arrays.handles().filter(is_meant).collect()
}

/// Returns the arrays whose rows the program writes as a whole. It reads only elements of them that it wrote
/// at the same point just before.
fn written_in_rows(program: &Program) -> BTreeSet<Handle<Array>> {
    let mut arrays = BTreeSet::new();
    for function in program.functions.values() {
        walk(&function.body, &mut |item| {
            if let Item::For(it) = item {
                arrays.extend(rows_of(it).map(|row| row.array).filter(|&array| is_streamed(program, array)));
            }
        });
    }
    arrays
}

fn is_streamed(program: &Program, array: Handle<Array>) -> bool {
    let it = &program.arrays[array];
    matches!(it.kind, ArrayKind::Field { is_written: true, .. })
        && it.storage == Storage::Caller
        && it.axes == AxisSet::IJK
        && it.shape.len() == 3
        && matches!(it.dtype, DType::Float64 | DType::Float32)
        && reads_what_it_wrote(program, array)
}

/// Whether each read of an array stands behind the assignment of the same element of a row, in the same loop.
fn reads_what_it_wrote(program: &Program, array: Handle<Array>) -> bool {
    let (mut n_all, mut n_behind) = (0, 0);
    for function in program.functions.values() {
        n_all += reads(&function.body, &|it| it.array == array);
        walk(&function.body, &mut |item| {
            let Item::For(it) = item else { return };
            // An element that is assigned twice is one row, whose reads count once.
            let mut rows: Vec<&Element> = Vec::new();
            for row in rows_of(it).filter(|row| row.array == array) {
                if rows.contains(&row) {
                    continue;
                }
                rows.push(row);
                let assigns = |item: &Item| matches!(item, Item::Assign(Assign { target: Target::Element(element), .. }) if element == row);
                let behind = it.body.iter().position(assigns).map_or(it.body.len(), |at| at + 1);
                n_behind += reads(&it.body[behind..], &|it| it == row);
            }
        });
    }
    n_all == n_behind
}

/// How often items read elements that satisfy something.
fn reads(items: &[Item], is_meant: &dyn Fn(&Element) -> bool) -> usize {
    let mut n = 0;
    walk(items, &mut |item| {
        item.each_expr(&mut |expr| {
            expr.accesses(&mut |read| {
                n += usize::from(matches!(read, Read::Element(element) if is_meant(element)));
            });
        });
    });
    n
}

/// The rows that a loop along i writes and nothing else reads.
fn streamed_rows(program: &Program, it: &For) -> Vec<Element> {
    let mut rows: Vec<Element> =
        rows_of(it).filter(|row| program.decisions.is_streamed(row.array)).cloned().collect();
    // If an array is written in two places, each row would need a buffer of its own.
    let arrays: BTreeSet<Handle<Array>> = rows.iter().map(|it| it.array).collect();
    if arrays.len() < rows.len() || is_written_elsewhere(it, &rows) {
        rows.clear();
    }
    rows
}

/// The rows that a loop along i writes at every point of it.
fn rows_of(it: &For) -> impl Iterator<Item = &Element> {
    let is_along = it.is_simd && it.axis == Axis::I && it.positions.step == 1;
    let variable = &it.positions.variable;
    let along = move |at: &DimensionIndex| match at {
        DimensionIndex::Known(sum) => *sum == Affine::symbol(variable),
        DimensionIndex::Found { .. } => false,
    };
    let beside =
        move |at: &DimensionIndex| matches!(at, DimensionIndex::Known(sum) if sum.factor(variable) == 0);
    let targets = it.body.iter().filter_map(|item| match item {
        Item::Assign(Assign { target: Target::Element(element), .. }) => Some(element),
        _ => None,
    });
    targets.filter(move |element| match element.index.split_first() {
        Some((first, rest)) => is_along && along(first) && rest.iter().all(beside),
        None => false,
    })
}

/// Whether something in a loop writes rows of these arrays in another way.
fn is_written_elsewhere(it: &For, rows: &[Element]) -> bool {
    let mut n = 0;
    walk(&it.body, &mut |item| {
        if let Item::Assign(Assign { target: Target::Element(element), .. }) = item {
            n += usize::from(rows.iter().any(|row| row.array == element.array));
        }
    });
    n > rows.len()
}
