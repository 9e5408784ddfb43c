//! Rows that are written past the caches.
//!
//! What is written once and read by nobody else here need not be fetched before, nor take the place of what is read. Where
//! the fields of a call are more than a last cache keeps from one call to the next, its rows are written as whole lines:
//! piece by piece as they are computed, or from the first cache, where a row is computed as a whole before. With vectors
//! of 32 bytes pieces take a tenth less in horizontal diffusion, and a sixth less in Laplacians; wider ones were measured
//! with rows.

use std::collections::BTreeSet;

use super::COptions;
use super::expression::c_element_type;
use super::print::File;
use crate::loops::nodes::{Assign, At, Element, For, Item, Program, Read, Target, any, suffix, walk};
use crate::sdfg::nodes::{ContainerKind, Storage};
use crate::space::{Affine, Axis, AxisSet, Symbol};
use crate::types::DType;

/// Points of a row that are written together: a few pages of the first cache. Rows of whole pages would all take the
/// same places of it.
const LENGTH: u32 = 672;

/// What a machine has whose rows are written in pieces.
const VECTOR_BYTES: u64 = 32;

/// Of a piece: half of the vectors that a processor has registers for, so that a compiler keeps them there.
const PIECE_BYTES: i64 = 256;

/// Of each piece where a loop writes several rows. Shorter ones of several rows wait for each other: transport with
/// piecewise parabolas takes a seventh longer.
const PIECE_OF_SEVERAL_BYTES: i64 = 512;

/// Where the elements of a row are that is written past the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// In an array of as many points as are written together.
    Row,
    /// In an array of a few vectors.
    Piece,
}

/// The arrays whose row at hand is computed beside them.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    pub(super) arrays: BTreeSet<usize>,
    pub(super) form: Form,
}

impl Streams {
    pub(super) fn none() -> Self {
        Self { arrays: BTreeSet::new(), form: Form::Row }
    }
}

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
        match self.form(it, rows) {
            Form::Row => self.by_rows(it, rows),
            Form::Piece => self.by_pieces(it, rows),
        }
    }

    /// Whether rows of some loop go past the caches in this form.
    pub(super) fn has_form(&self, form: Form) -> bool {
        let is_meant = |it: &For| {
            let rows = streamed_rows(&self.streamed, it);
            !rows.is_empty() && self.form(it, &rows) == form
        };
        let has = |items: &[Item]| any(items, &mut |it| matches!(it, Item::For(it) if is_meant(it)));
        self.program.functions.iter().any(|it| has(&it.body))
    }

    fn form(&self, it: &For, rows: &[Element]) -> Form {
        let dtype = |row: &Element| self.program.arrays[row.array].container.dtype;
        let is_one_size = rows.windows(2).all(|pair| dtype(&pair[0]) == dtype(&pair[1]));
        let is_plain = !any(&it.body, &mut |it| matches!(it, Item::While(_) | Item::Checked(_)));
        match self.options.vector_bytes == VECTOR_BYTES && is_one_size && is_plain {
            true => Form::Piece,
            false => Form::Row,
        }
    }

    /// Writes the loop in parts: whole pieces that start at a line, which go past the caches, and what is before and
    /// behind them, which does not. The text of its body stands there twice.
    fn by_pieces(&mut self, it: &For, rows: &[Element]) {
        let (_, start, end, _) = self.bounds(&it.positions);
        let Some(first) = rows.first() else { return };
        let dtype = self.program.arrays[first.array].container.dtype;
        let ctype = c_element_type(dtype);
        let bytes = if rows.len() == 1 { PIECE_BYTES } else { PIECE_OF_SEVERAL_BYTES };
        let points = bytes / dtype.size_bytes() as i64;
        let from = self.element_at(first, "i_from");
        let alike = rows.iter().skip(1).map(|row| {
            let [one, other] = [first, row].map(|it| self.element_at(it, &start));
            format!(" && isobar_are_alike(&{one}, &{other})")
        });
        let alike: String = alike.collect();
        self.open("loop", []);
        self.writer.line("{");
        self.writer.indent();
        self.writer.line(format_args!("const bool streams = is_unit && run->streams{alike};"));
        self.writer
            .line(format_args!("for (int64_t i_from = {start}, i_to; i_from < {end}; i_from = i_to) {{"));
        self.writer.indent();
        self.writer.line(format_args!(
            "const int64_t i_end = i_from + (streams ? isobar_whole(&{from}, {end} - i_from, {points}) : 0);"
        ));
        self.writer.line("if (i_end > i_from) {");
        self.writer.indent();
        self.writer.line("i_to = i_end;");
        self.writer
            .line(format_args!("for (int64_t i_block = i_from; i_block < i_end; i_block += {points}) {{"));
        self.writer.indent();
        for row in rows {
            self.writer.line(format_args!("_Alignas(64) {ctype} {}_row[{points}];", self.name_of(row)));
        }
        let arrays = rows.iter().map(|it| it.array).collect();
        self.streams = Streams { arrays, form: Form::Piece };
        self.in_lanes(it, ("i_block", &format!("i_block + {points}")));
        self.streams = Streams::none();
        for row in rows {
            let (to, name) = (self.element_at(row, "i_block"), self.name_of(row));
            self.writer.line(format_args!("isobar_past_caches(&{to}, {name}_row, {bytes});"));
        }
        self.writer.dedent();
        self.writer.line("}");
        self.writer.dedent();
        self.writer.line("} else {");
        self.writer.indent();
        self.writer.line(format_args!(
            "i_to = streams ? i_from + isobar_before(&{from}, {end} - i_from, sizeof({ctype})) : {end};"
        ));
        self.in_lanes(it, ("i_from", "i_to"));
        self.writer.dedent();
        self.writer.line("}");
        self.writer.dedent();
        self.writer.line("}");
        self.writer.dedent();
        self.writer.line("}");
        self.writer.close();
    }

    /// Writes the loop in parts of which the rows are computed in the first cache, and then go past the others.
    fn by_rows(&mut self, it: &For, rows: &[Element]) {
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
            let name = self.name_of(row);
            let ctype = c_element_type(array.container.dtype);
            let first = self.element_at(row, "i_row");
            self.writer.line(format_args!("{ctype} {name}_row[{most}];"));
            self.writer.line(format_args!(
                "{ctype} *restrict const {name}_to = is_unit && run->streams ? {name}_row : &{first};"
            ));
            let stride = format!("{name}{}", suffix(&array.container, 0));
            self.writer
                .line(format_args!("const int64_t {name}_step = is_unit && run->streams ? 1 : {stride};"));
        }
        self.streams = Streams { arrays: rows.iter().map(|it| it.array).collect(), form: Form::Row };
        if let Some(block) = block {
            let last = format!("i_end - {}", block.points);
            self.in_blocks(it, block, ("i_row", "i_end", &last));
        } else {
            self.in_lanes(it, ("i_row", "i_end"));
        }
        self.streams = Streams::none();
        for row in rows {
            let (first, name) = (self.element_at(row, "i_row"), self.name_of(row));
            self.writer.line(format_args!(
                "if (is_unit && run->streams) isobar_stream(&{first}, {name}_row, (i_end - i_row) * (int64_t)sizeof *{name}_row);"
            ));
        }
        self.writer.dedent();
        self.writer.line("}");
        self.writer.close();
    }

    fn name_of(&self, row: &Element) -> String {
        self.program.arrays[row.array].name.clone().unwrap_or_default()
    }

    /// The element of a row at a position that the text names so.
    fn element_at(&self, row: &Element, position: &str) -> String {
        let mut element = row.clone();
        if let Some(along) = element.index.first_mut() {
            *along = At::Known(Affine::symbol(&Symbol::new(position)));
        }
        self.words().element(&element).0
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

pub(super) const PAST_CACHES: &str = "\
#if defined(__AVX512F__)
#define ISOBAR_VECTOR 64
#elif defined(__AVX__)
#define ISOBAR_VECTOR 32
#endif
#if defined(__clang__)
#define ISOBAR_PAST_CACHES(to, line) __builtin_nontemporal_store(line, to)
#elif defined(__AVX512F__)
#define ISOBAR_PAST_CACHES __builtin_ia32_movntdq512
#else
#define ISOBAR_PAST_CACHES __builtin_ia32_movntdq256
#endif
";

/// For [`Form::Piece`].
pub(super) const PIECES: &str = "\
/* Whether two rows start at the same place of a line of 64 bytes. */
static inline bool isobar_are_alike(const void *a, const void *b)
{
  return ((uintptr_t)a - (uintptr_t)b) % 64 == 0;
}

/* How many of n elements from a place on are whole pieces of so many points, if the first starts at a line. */
static inline int64_t isobar_whole(const void *to, int64_t n, int64_t points)
{
  return (uintptr_t)to % 64 == 0 ? n - n % points : 0;
}

/* How many of n elements of so many bytes are before the next line, or behind the last whole piece. */
static inline int64_t isobar_before(const void *to, int64_t n, int64_t bytes)
{
  const int64_t before = (int64_t)(64 - (uintptr_t)to % 64) / bytes;
  return n < before || (uintptr_t)to % 64 == 0 ? n : before > 0 ? before : 1;
}

/* Writes whole lines past the caches. */
static inline void isobar_past_caches(void *to, const void *from, int64_t bytes)
{
#ifdef ISOBAR_VECTOR
  typedef long long isobar_line __attribute__((vector_size(ISOBAR_VECTOR), may_alias));
  for (int64_t at = 0; at < bytes; at += ISOBAR_VECTOR) {
    ISOBAR_PAST_CACHES((isobar_line *)((char *)to + at), *(const isobar_line *)((const char *)from + at));
  }
#else
  __builtin_memcpy(to, from, (size_t)bytes);
#endif
}
";

/// For [`Form::Row`].
pub(super) const ROWS: &str = "\
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
";

pub(super) const END: &str = "\
/* Others see what was written past the caches. */
static inline void isobar_end_stream(void)
{
#ifdef ISOBAR_VECTOR
  __builtin_ia32_sfence();
#endif
}
";
