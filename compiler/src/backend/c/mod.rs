//! C with OpenMP, from the SDFG.
//!
//! One file without dependencies: the interface, the mathematics that is used, a
//! function for each step of the graph, and [`ENTRY`], which checks, allocates and
//! calls the steps. The text has no undefined behaviour, and compiled with [`FLAGS`]
//! it computes the interpreter's bits for any number of threads.

pub mod math;

mod code;
mod expression;
mod from_sdfg;
mod print;

use crate::diag::Listing;
use crate::sdfg::nodes::{Container, ContainerKind, Sdfg, Storage};
use crate::space::{AxisSet, Domain, Size};
use crate::types::DType;

/// The function that a runner calls; its type stands in the text itself.
pub const ENTRY: &str = "isobar_run";

/// What the compiler must be told besides the target machine, or the bits change.
pub const FLAGS: [&str; 8] = [
    "-std=gnu11",
    "-O3",
    "-fopenmp",
    "-fno-fast-math",
    math::FLAGS[0],
    math::FLAGS[1],
    math::FLAGS[2],
    // Needed for nothing but speed: fields of different arguments never overlap, and the text says so.
    "-fstrict-aliasing",
];

/// What may be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct COptions {
    /// After so many turns at one cell, a `while` loop counts as endless and ends the run with a trap.
    pub max_turns: u64,
}

impl Default for COptions {
    fn default() -> Self {
        Self { max_turns: 1_000_000 }
    }
}

/// Generated C and how to call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// The text; its lines know their statements.
    pub listing: Listing,
    /// The name of the function to call.
    pub entry: String,
    /// In the order in which `isobar_call` lists fields and scalars, each kind by itself.
    pub arguments: Vec<Argument>,
    /// How many steps a run reports.
    pub steps: u64,
    temporaries: Vec<Container>,
}

/// An argument of the stencil.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    pub name: String,
    pub dtype: DType,
    pub kind: ArgumentKind,
}

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    Field { axes: AxisSet, is_read: bool, is_written: bool },
    Scalar,
}

impl Artifact {
    /// What a run allocates on this domain; `None` where that is beyond any memory.
    #[must_use]
    pub fn workspace_bytes(&self, domain: Domain) -> Option<u64> {
        let mut total = 0_u64;
        for it in &self.temporaries {
            total = total.checked_add(reserved_bytes(it, domain)?)?;
        }
        if total == 0 { Some(0) } else { total.checked_add(ALIGNMENT) }
    }
}

/// Every temporary starts at a multiple of so many bytes: a cache line, and the widest vector.
const ALIGNMENT: u64 = 64;

fn reserved_bytes(container: &Container, domain: Domain) -> Option<u64> {
    let mut bytes = container.dtype.size_bytes() as u64;
    for size in &container.shape {
        let length = evaluated(size, domain)?.max(0);
        bytes = bytes.checked_mul(u64::try_from(length).ok()?)?;
    }
    bytes.checked_next_multiple_of(ALIGNMENT)
}

fn evaluated(size: &Size, domain: Domain) -> Option<i64> {
    let along = |name: &str| match name {
        "I" => Some(domain.i),
        "J" => Some(domain.j),
        "K" => Some(domain.k),
        _ => None,
    };
    size.evaluated(&mut |symbol| along(symbol.name()))
}

/// Generates C for a valid graph.
#[must_use]
pub fn generate(sdfg: &Sdfg, options: &COptions) -> Artifact {
    let (listing, steps) = print::file(sdfg, options);
    let argument = |it: &Container| {
        let kind = match it.kind {
            ContainerKind::Field { is_read, is_written } => {
                ArgumentKind::Field { axes: it.axes, is_read, is_written }
            }
            ContainerKind::Scalar | ContainerKind::Temporary | ContainerKind::Local => ArgumentKind::Scalar,
        };
        Argument { name: it.name.clone(), dtype: it.dtype, kind }
    };
    Artifact {
        listing,
        entry: ENTRY.to_owned(),
        arguments: sdfg.arguments.iter().map(|&it| argument(&sdfg.containers[it])).collect(),
        steps,
        temporaries: sdfg
            .containers
            .iter()
            .filter(|(_, it)| it.storage == Storage::Heap)
            .map(|(_, it)| it.clone())
            .collect(),
    }
}
