//! Rows that are stored past the caches.

use std::collections::BTreeSet;

use super::print::File;
use crate::braces::Braces;
use crate::c_family::expression::c_element_type;
use crate::entity::Handle;
use crate::loops::nodes::{Array, DimensionIndex, Element, For, Item, RowBuffer, Stores};
use crate::loops::visit::walk;
use crate::space::{Affine, Symbol};

/// Where the elements of a row are that is stored past the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamBuffer {
    /// In an array of as many points as are stored together.
    Row,
    /// In an array of a few vectors.
    Piece,
}

/// The arrays whose row at hand is computed beside them.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    pub(super) arrays: BTreeSet<Handle<Array>>,
    pub(super) form: StreamBuffer,
}

impl Streams {
    pub(super) fn none() -> Self {
        Self { arrays: BTreeSet::new(), form: StreamBuffer::Row }
    }
}

impl File<'_> {
    /// Writes a loop along rows; some of the rows are stored past the caches.
    pub(super) fn streamed(&mut self, it: &For, stores: &Stores) {
        match stores.buffer {
            RowBuffer::Row { elements } => self.by_rows(it, &stores.rows, elements),
            RowBuffer::Registers { bytes } => self.by_pieces(it, &stores.rows, bytes),
        }
    }

    /// Whether rows of some loop are stored from a whole row, and whether some are from registers.
    pub(super) fn has_buffers(&self) -> [bool; 2] {
        let mut has = [false; 2];
        for function in self.program.functions.values() {
            walk(&function.body, &mut |item| {
                if let Item::For(it) = item
                    && let Some(stores) = self.program.decisions.stores(it.id)
                {
                    match stores.buffer {
                        RowBuffer::Row { .. } => has[0] = true,
                        RowBuffer::Registers { .. } => has[1] = true,
                    }
                }
            });
        }
        has
    }

    /// Writes the loop in parts. Whole pieces that start at a cache line are stored past the caches. Elements
    /// before and behind these pieces are stored as usual. So the text of the body stands there twice.
    fn by_pieces(&mut self, it: &For, rows: &[Element], bytes: i64) {
        let (_, start, end, _) = self.bounds(&it.positions);
        let Some(first) = rows.first() else { return };
        let dtype = self.program.arrays[first.array].dtype;
        let ctype = c_element_type(dtype);
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
        self.streams = Streams { arrays, form: StreamBuffer::Piece };
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

    /// Writes the loop in parts. Each part computes its rows in the first cache, then stores them past the
    /// others.
    fn by_rows(&mut self, it: &For, rows: &[Element], elements: u32) {
        let (_, start, end, _) = self.bounds(&it.positions);
        self.open("loop", []);
        let block = self.program.decisions.lanes(it.id).block;
        // The last part has a whole block.
        let most = block.unwrap_or(0) + i64::from(elements);
        let (declared, next, qualified) = match block {
            Some(_) => (", i_end", "i_row = i_end".to_owned(), ""),
            None => ("", format!("i_row += {elements}"), "const int64_t "),
        };
        self.writer.line(format_args!("for (int64_t i_row = {start}{declared}; i_row < {end}; {next}) {{"));
        self.writer.indent();
        self.writer
            .line(format_args!("{qualified}i_end = {end} - i_row < {most} ? {end} : i_row + {elements};"));
        for row in rows {
            let array = &self.program.arrays[row.array];
            let name = self.name_of(row);
            let ctype = c_element_type(array.dtype);
            let first = self.element_at(row, "i_row");
            self.writer.line(format_args!("{ctype} {name}_row[{most}];"));
            self.writer.line(format_args!(
                "{ctype} *restrict const {name}_to = is_unit && run->streams ? {name}_row : &{first};"
            ));
            let stride = format!("{name}{}", array.suffix(0));
            self.writer
                .line(format_args!("const int64_t {name}_step = is_unit && run->streams ? 1 : {stride};"));
        }
        self.streams = Streams { arrays: rows.iter().map(|it| it.array).collect(), form: StreamBuffer::Row };
        if let Some(block) = block {
            let last = format!("i_end - {block}");
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
            *along = DimensionIndex::Known(Affine::symbol(&Symbol::new(position)));
        }
        self.words().element(&element).0
    }
}

/// From so many bytes of all fields on.
pub(super) fn threshold(stream_from: Option<u64>) -> String {
    format!(
        "\
/* From so many bytes of all fields on, rows that nobody reads are written past the caches. */
#ifndef ISOBAR_STREAM_FROM
#define ISOBAR_STREAM_FROM {}.0
#endif
",
        stream_from.unwrap_or(u64::MAX)
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

/// For [`StreamBuffer::Piece`].
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

/// For [`StreamBuffer::Row`].
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
