//! Rows that are written past the caches.
//!
//! What is written once and read by nobody else here need not be fetched before, nor take the place of what is read. Where
//! the fields of a call are more than a last cache keeps from one call to the next, its rows are computed in
//! the first cache and then written as whole lines.

use std::collections::BTreeSet;

use super::COptions;
use super::expression::c_element_type;
use super::print::File;
use crate::backend::code::nodes::{Assign, At, Element, For, Item, Program, Read, Target, suffix, walk};
use crate::sdfg::nodes::{ContainerKind, Storage};
use crate::space::{Affine, Axis, AxisSet, Symbol};
use crate::types::DType;

/// Points of a row that are written together: a few pages of the first cache. Rows of whole pages would all take the
/// same places of it.
const LENGTH: u32 = 672;

/// The arrays whose rows may be written past the caches: the program writes whole rows of them, and reads nothing of
/// them but what it wrote at the same point a moment before.
pub(super) fn streamed_arrays(program: &Program) -> BTreeSet<usize> {
    let is_streamed = |array: usize| {
        let it = &program.arrays[array].container;
        matches!(it.kind, ContainerKind::Field { is_written: true, .. })
            && it.storage == Storage::Caller
            && it.axes == AxisSet::IJK
            && it.shape.len() == 3
            && matches!(it.dtype, DType::Float64 | DType::Float32)
            && reads_what_it_wrote(program, array)
    };
    let mut arrays = BTreeSet::new();
    for function in &program.functions {
        walk(&function.body, &mut |item| {
            if let Item::For(it) = item {
                arrays.extend(rows_of(it).map(|row| row.array).filter(|&array| is_streamed(array)));
            }
        });
    }
    arrays
}

/// Whether each read of an array stands behind the assignment of the same element of a row, in the same loop.
fn reads_what_it_wrote(program: &Program, array: usize) -> bool {
    let (mut n_all, mut n_behind) = (0, 0);
    for function in &program.functions {
        n_all += reads(&function.body, &|it| it.array == array);
        walk(&function.body, &mut |item| {
            let Item::For(it) = item else { return };
            // What is assigned twice is one row, whose reads count once.
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

/// The rows that a loop along i writes and nobody else reads.
pub(super) fn streamed_rows(streamed: &BTreeSet<usize>, it: &For) -> Vec<Element> {
    let mut rows: Vec<Element> = rows_of(it).filter(|row| streamed.contains(&row.array)).cloned().collect();
    // Of an array that is written in two places each row would need a place of its own.
    let arrays: BTreeSet<usize> = rows.iter().map(|it| it.array).collect();
    if arrays.len() < rows.len() || is_written_elsewhere(it, &rows) {
        rows.clear();
    }
    rows
}

/// The rows that a loop along i writes at every point of it.
fn rows_of(it: &For) -> impl Iterator<Item = &Element> {
    let is_along = it.is_simd && it.axis == Axis::I && it.positions.step == 1;
    let variable = &it.positions.variable;
    let along = move |at: &At| matches!(at, At::Known(sum) if *sum == Affine::symbol(variable));
    let beside = move |at: &At| matches!(at, At::Known(sum) if sum.factor(variable) == 0);
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

impl File<'_> {
    /// Writes a loop along rows of which some go past the caches.
    pub(super) fn streamed(&mut self, it: &For, rows: &[Element]) {
        let (_, start, end, _) = self.bounds(&it.positions);
        self.open("loop", []);
        let block = self.blocks(it);
        // The last part has a whole block.
        let most = block.map_or(0, |it| it.points) + i64::from(LENGTH);
        let (declared, next, qualified) = match block {
            Some(_) => (", i_end", "i_row = i_end".to_owned(), ""),
            None => ("", format!("i_row += {LENGTH}"), "const int64_t "),
        };
        self.writer.line(format_args!("for (int64_t i_row = {start}{declared}; i_row < {end}; {next}) {{"));
        self.writer.indent();
        self.writer
            .line(format_args!("{qualified}i_end = {end} - i_row < {most} ? {end} : i_row + {LENGTH};"));
        for row in rows {
            let array = &self.program.arrays[row.array];
            let name = array.name.clone().unwrap_or_default();
            let ctype = c_element_type(array.container.dtype);
            let first = self.first_of(row);
            self.writer.line(format_args!("{ctype} {name}_row[{most}];"));
            self.writer.line(format_args!(
                "{ctype} *restrict const {name}_to = is_unit && run->streams ? {name}_row : &{first};"
            ));
            let stride = format!("{name}{}", suffix(&array.container, 0));
            self.writer
                .line(format_args!("const int64_t {name}_step = is_unit && run->streams ? 1 : {stride};"));
        }
        self.streams = rows.iter().map(|it| it.array).collect();
        if let Some(block) = block {
            let last = format!("i_end - {}", block.points);
            self.in_blocks(it, block, ("i_row", "i_end", &last));
        } else {
            self.in_lanes(it, ("i_row", "i_end"));
        }
        self.streams.clear();
        for row in rows {
            let name = self.program.arrays[row.array].name.clone().unwrap_or_default();
            let first = self.first_of(row);
            self.writer.line(format_args!(
                "if (is_unit && run->streams) isobar_stream(&{first}, {name}_row, (i_end - i_row) * (int64_t)sizeof *{name}_row);"
            ));
        }
        self.writer.dedent();
        self.writer.line("}");
        self.writer.close();
    }

    fn first_of(&self, row: &Element) -> String {
        let mut first = row.clone();
        if let Some(along) = first.index.first_mut() {
            *along = At::Known(Affine::symbol(&Symbol::new("i_row")));
        }
        self.words().element(&first).0
    }
}

/// From so many bytes of all fields on.
pub(super) fn threshold(options: &COptions) -> String {
    format!(
        "\
/* From so many bytes of all fields on, rows that nobody reads are written past the caches. */
#ifndef ISOBAR_STREAM_FROM
#define ISOBAR_STREAM_FROM {}.0
#endif
",
        options.stream_from
    )
}

pub(super) const STREAM: &str = "\
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)
#define ISOBAR_PAST_CACHES __builtin_ia32_movntdq512
#define ISOBAR_VECTOR 64
#elif defined(__GNUC__) && !defined(__clang__) && defined(__AVX__)
#define ISOBAR_PAST_CACHES __builtin_ia32_movntdq256
#define ISOBAR_VECTOR 32
#endif

/* Writes past the caches, whole lines of 64 bytes where they are. */
static inline void isobar_stream(void *to, const void *from, int64_t bytes)
{
  int64_t at = 0;
#ifdef ISOBAR_VECTOR
  typedef long long isobar_line __attribute__((vector_size(ISOBAR_VECTOR)));
  typedef long long isobar_part __attribute__((vector_size(ISOBAR_VECTOR), aligned(4), may_alias));
  at = (int64_t)((64 - (uintptr_t)to % 64) % 64);
  if (at > bytes) at = bytes;
  if (at > 0) __builtin_memcpy(to, from, (size_t)at);
  for (const int64_t end = bytes - (bytes - at) % 64; at < end; at += ISOBAR_VECTOR) {
    const isobar_part part = *(const isobar_part *)((const char *)from + at);
    ISOBAR_PAST_CACHES((isobar_line *)((char *)to + at), (isobar_line)part);
  }
#endif
  if (at < bytes) __builtin_memcpy((char *)to + at, (const char *)from + at, (size_t)(bytes - at));
}

/* Others see what was written past the caches. */
static inline void isobar_end_stream(void)
{
#ifdef ISOBAR_VECTOR
  __builtin_ia32_sfence();
#endif
}
";
