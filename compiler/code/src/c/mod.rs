//! C with OpenMP, from the SDFG.
//!
//! One file without dependencies: the interface, the mathematics that is used, a function for each step of
//! the graph, and [`ENTRY`]. The entry checks, allocates and calls the steps. The text has no undefined
//! behaviour. Compiled with [`FLAGS`], it computes the interpreter's bits for any number of threads.

pub mod lines;

mod blocks;
mod entry;
mod loops;
mod pieces;
mod print;
mod streams;
mod strips;
mod words;

#[cfg(test)]
mod tests;

pub use crate::c_family::expression::c_type;
pub use crate::c_family::math;
use crate::diag::Listing;
use crate::loops::nodes::{Array, ArrayKind, Program};
use crate::loops::nodes::{LINE_BYTES, bytes_of_threads};
use crate::space::{AxisSet, Domain, Size, Symbol, names};
use crate::types::DType;

/// The function that a runner calls; its type stands in the text itself.
pub const ENTRY: &str = "isobar_run";

/// The text of the interface between a runner and the code.
pub const ABI: &str = include_str!("abi.h");

/// Flags for passes of gcc. Clang has other passes, and rejects these names. The first two are among
/// [`FLAGS`], the third is [`BLOCK_FLAGS`], and the others are [`LONG_FLAGS`].
pub const GCC_FLAGS: [&str; 6] = [
    "-fno-tree-loop-distribution",
    "-fno-tree-loop-distribute-patterns",
    "-fno-ivopts",
    "-fira-region=one",
    "-fno-tree-pre",
    "-fno-gcse",
];

/// Flags that the compiler needs besides the target machine; without them the bits change.
pub const FLAGS: [&str; 10] = [
    "-std=gnu11",
    "-O3",
    "-fopenmp",
    "-fno-fast-math",
    math::FLAGS[0],
    math::FLAGS[1],
    math::FLAGS[2],
    // Keep the stores of a loop in one loop: gcc 12 moves conditional stores behind the store after them.
    GCC_FLAGS[0],
    GCC_FLAGS[1],
    // Needed for nothing but speed: fields of different arguments never overlap, and the text says so.
    "-fstrict-aliasing",
];

/// Added after [`FLAGS`] where rows are computed in blocks: gcc would give each row an induction variable of
/// its own.
pub const BLOCK_FLAGS: [&str; 1] = [GCC_FLAGS[2]];

/// Added after these for a long text, where some passes of gcc take long. Registers are then allocated for a
/// function as a whole, not loop by loop. Fewer passes look for values that are computed twice.
pub const LONG_FLAGS: [&str; 3] = [GCC_FLAGS[3], GCC_FLAGS[4], GCC_FLAGS[5]];

/// Added after [`FLAGS`] where a run may differ from the interpreter in the last bits: products and sums
/// become one operation.
pub const FAST_FLAGS: [&str; 2] = ["-ffp-contract=fast", "-fno-signed-zeros"];

/// Added after these where the text calls no function of mathematics: allows sums and products in another
/// order. The results of our functions depend on the order of their operations.
pub const REORDERING_FLAGS: [&str; 1] = ["-fassociative-math"];

/// Added after the other flags: compiles the text for one kind of calls only. In these, neighbours along i
/// lie side by side in every field (`is_unit`), or not in every field. Any other call ends with status 4.
#[must_use]
pub fn flag_for(is_unit: bool) -> &'static str {
    if is_unit { "-DISOBAR_IS_UNIT(it)=true" } else { "-DISOBAR_IS_UNIT(it)=false" }
}

/// Added after the other flags: compiles one of several parts of the text, to be linked with the others.
#[must_use]
pub fn flags_of_part(part: usize, n_parts: usize) -> [String; 3] {
    ["-c".to_owned(), format!("-DISOBAR_PARTS={n_parts}"), format!("-DISOBAR_PART={part}")]
}

/// Added after these: compiled code gets a table of the lines that it comes from, and no other debug
/// information.
pub const LINE_FLAGS: [&str; 1] = ["-g1"];

/// Options of the generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct COptions {
    /// After so many iterations at one cell, a `while` loop counts as endless and ends the run with a trap.
    pub max_turns: u64,
    /// Whether loops are shared by threads. Without, the text is for calls with one thread, which then do not wait for
    /// OpenMP to make a team of it.
    pub has_threads: bool,
}

impl Default for COptions {
    fn default() -> Self {
        Self { max_turns: 1_000_000, has_threads: true }
    }
}

/// Generated C and how to call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CArtifact {
    /// The text; its lines know their statements.
    pub listing: Listing,
    /// The name of the function to call.
    pub entry: String,
    /// In the order in which `isobar_call` lists fields and scalars, each kind by itself.
    pub arguments: Vec<Argument>,
    /// How many steps a run reports: those of the program that the text writes down.
    pub n_steps: usize,
    /// In how many parts the text can be compiled at the same time; see [`flags_of_part`].
    pub n_parts: usize,
    /// Code for neighbours that lie side by side is for domains of so many points along I.
    pub least_points: i64,
    /// Whether the text carries functions of mathematics; see [`REORDERING_FLAGS`].
    has_mathematics: bool,
    /// Whether a compiler takes long for it; see [`LONG_FLAGS`].
    is_long: bool,
    temporaries: Vec<Temporary>,
    /// The text of a function `isobar_workspace`, for the end of the file. It takes the arguments of the
    /// entry, and returns how many bytes a call allocates.
    pub workspace: String,
}

/// An array that a run allocates.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Temporary {
    dtype: DType,
    places: Vec<Size>,
    /// Whether it allocates one for each thread.
    is_per_thread: bool,
    /// The length of its rows is rounded up to a multiple of so many elements.
    row_unit: u64,
}

/// An argument of the stencil.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// As the stencil calls it.
    pub name: String,
    pub dtype: DType,
    pub kind: ArgumentKind,
}

/// The kind of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    Field { axes: AxisSet, is_read: bool, is_written: bool },
    Scalar,
}

impl CArtifact {
    /// Returns the flags that the compiler needs besides the target machine; `is_fast` allows other bits than
    /// the interpreter's.
    #[must_use]
    pub fn flags(&self, is_fast: bool) -> Vec<&'static str> {
        let mut flags = FLAGS.to_vec();
        if self.least_points > 0 {
            flags.extend(BLOCK_FLAGS);
        }
        if self.is_long {
            flags.extend(LONG_FLAGS);
        }
        if is_fast {
            flags.extend(FAST_FLAGS);
            if !self.has_mathematics {
                flags.extend(REORDERING_FLAGS);
            }
        }
        flags
    }

    /// Returns the bytes that a run with so many threads allocates on this domain; `None` where that is
    /// beyond any memory. `levels_beside` tells how many levels the array of a field has below the domain and
    /// above it.
    #[must_use]
    pub fn workspace_bytes(
        &self,
        domain: Domain,
        threads: u32,
        levels_beside: &dyn Fn(&str) -> [i64; 2],
    ) -> Option<u64> {
        let mut symbols =
            vec![("I".to_owned(), domain.i), ("J".to_owned(), domain.j), ("K".to_owned(), domain.k)];
        for it in &self.arguments {
            let (container, [below, above]) = (names::of_container(&it.name), levels_beside(&it.name));
            symbols.push((names::levels_below(&container).name().to_owned(), below));
            symbols.push((names::levels_above(&container).name().to_owned(), above));
        }
        let (mut shared, mut own) = (0_u64, 0_u64);
        for it in &self.temporaries {
            let total = if it.is_per_thread { &mut own } else { &mut shared };
            *total = total.checked_add(reserved_bytes(it, &symbols)?)?;
        }
        let total = shared.checked_add(bytes_of_threads(own, threads)?)?;
        if total == 0 { Some(0) } else { total.checked_add(LINE_BYTES) }
    }
}

fn reserved_bytes(it: &Temporary, symbols: &[(String, i64)]) -> Option<u64> {
    let mut bytes = it.dtype.size_bytes() as u64;
    let mut unit = it.row_unit;
    for size in &it.places {
        let value_of = &mut |symbol: &Symbol| symbols.iter().find(|it| it.0 == symbol.name()).map(|it| it.1);
        let length = size.evaluated(value_of)?.max(0);
        let length = u64::try_from(length).ok()?.checked_next_multiple_of(unit)?;
        (bytes, unit) = (bytes.checked_mul(length)?, 1);
    }
    bytes.checked_next_multiple_of(LINE_BYTES)
}

/// Generates C for a valid program.
#[must_use]
pub fn generate(program: &Program, options: &COptions) -> CArtifact {
    let print::PrintedFile { listing, n_steps, temporaries, has_mathematics, workspace } =
        print::file(program, options);
    let argument = |it: &Array| {
        let kind = match it.kind {
            ArrayKind::Field { is_read, is_written } => {
                ArgumentKind::Field { axes: it.axes, is_read, is_written }
            }
            ArrayKind::Scalar | ArrayKind::Temporary => ArgumentKind::Scalar,
        };
        Argument { name: it.stencil_name.clone(), dtype: it.dtype, kind }
    };
    CArtifact {
        listing,
        entry: ENTRY.to_owned(),
        arguments: program.arguments.iter().map(|&it| argument(&program.arrays[it])).collect(),
        n_steps,
        n_parts: program.decisions.n_parts(),
        least_points: program.decisions.least_points(),
        has_mathematics,
        is_long: program.decisions.is_long(),
        temporaries,
        workspace,
    }
}
