//! WGSL: kernels for GPUs as WebGPU and wgpu take them.
//!
//! A text computes the interpreter's bits in two ways: with doubles of the device, where it has them, or with
//! pairs of words ([`Doubles`]). The code that either needs beside its kernels is in `shaders/`. Functions of
//! mathematics are made from their definitions, written out or as tables of steps. Nothing is decided here:
//! blocks, threads and barriers are known by then.

mod binding;
pub mod elements;
pub mod expression;
mod formula;
mod math;
pub mod memory;
mod names;
pub mod plan;
pub mod prelude;
mod print;
mod steps;
mod words;

use crate::diag::Listing;
use crate::entity::{Handle, SideTable};
use crate::kernel::Kernels;
use crate::loops::nodes::{Array, Side};
use crate::space::Axis;
use crate::types::DType;
pub use formula::Tables;
pub use memory::ArrayPlacement;

/// A text, and how its kernels are launched. Arrays are positions in the program's.
#[derive(Clone, Debug)]
pub struct WgslArtifact {
    /// Its lines know their statements.
    pub listing: Listing,
    pub options: WgslOptions,
    /// The buffers of group 0, by their numbers.
    pub bindings: Vec<Binding>,
    /// The entries of the block of sizes, in order. They follow its first word, which is 0.
    pub params: Vec<Param>,
    pub tables: Tables,
    /// In the order of [`Kernels::kernels`].
    pub entries: Vec<KernelEntry>,
    /// Where each array lives; none for what has no memory.
    pub lives: SideTable<Array, ArrayPlacement>,
    /// The bytes that each launch gets: positions of the host's loops around, as words.
    pub immediate_bytes: u32,
}

/// The contents of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    /// The block of sizes.
    Sizes,
    /// The entries of tables: doubles, or pairs of words.
    Tables,
    /// A word for each place where a run may have to end; see `kernel/cell.rs`.
    Traps,
    /// Arrays, one behind the other.
    Arrays {
        arrays: Vec<Handle<Array>>,
        is_written: bool,
        /// Whether the run makes them.
        is_own: bool,
    },
}

/// An entry of the block of sizes. All but values are integers of 32 bits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Param {
    /// Points of the domain.
    Size(Axis),
    /// Where in its buffer the element at index 0 along every axis is, or would be. For arrays of blocks or
    /// threads, the start of all of them.
    Start(Handle<Array>),
    /// In elements.
    Stride { array: Handle<Array>, dimension: usize },
    /// The levels of an array beside those of the domain.
    Levels { array: Handle<Array>, side: Side },
    /// Elements of a block's array.
    Elements(Handle<Array>),
    /// A value that the caller passes.
    Value(Handle<Array>),
}

impl Param {
    /// How many words it has.
    #[must_use]
    pub fn words(&self, kernels: &Kernels, options: &WgslOptions) -> usize {
        match self {
            Param::Value(array) => {
                let bytes = options.element_bytes(kernels.program.arrays[*array].dtype);
                if bytes == 8 { 2 } else { 1 }
            }
            _ => 1,
        }
    }
}

/// The entry point of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelEntry {
    pub name: String,
    /// Along x, y, z.
    pub threads: [u32; 3],
    /// The arrays that it writes.
    pub writes: Vec<Handle<Array>>,
}

/// Writes kernels down.
#[must_use]
pub fn generate(kernels: &Kernels, options: &WgslOptions) -> WgslArtifact {
    print::module(kernels, options)
}

/// How a text computes with doubles, and with integers of 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Doubles {
    /// The device has both.
    #[default]
    Native,
    /// Both are pairs of words, with the same bits.
    Pairs,
    /// A double is a single, and functions are the device's: fast, and not the interpreter's bits. Integers of 64 bits
    /// are pairs of words.
    Singles,
}

/// The options of a text, which depends on its kernels and on these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WgslOptions {
    pub doubles: Doubles,
    /// Whether results of singles are kept apart by hand, for compilers that fuse or reorder.
    pub keeps: bool,
    /// Whether quotients and roots are ours and not the device's, which need not round correctly.
    pub divides: bool,
    /// Storage buffers that a kernel may bind.
    pub buffers: u32,
    /// Bytes that the arrays of a block may have together.
    pub shared_bytes: u32,
    /// Whether neighbours along i lie side by side in every field.
    pub is_unit: bool,
    /// The number of levels, where the text is for this number only. Arrays of a block or a thread for a
    /// whole column then have a known size, and need no buffer.
    pub levels: Option<u32>,
}

impl Default for WgslOptions {
    /// Limits that every device meets.
    fn default() -> Self {
        Self {
            doubles: Doubles::Native,
            keeps: false,
            divides: false,
            buffers: 8,
            shared_bytes: 16 << 10,
            is_unit: true,
            levels: None,
        }
    }
}

impl WgslOptions {
    /// Whether a value of this type is a pair of words.
    #[must_use]
    pub fn is_pair(&self, dtype: DType) -> bool {
        match dtype {
            DType::Float64 => self.doubles == Doubles::Pairs,
            DType::Int64 => self.doubles != Doubles::Native,
            DType::Bool | DType::Int8 | DType::Int16 | DType::Int32 | DType::Float32 => false,
        }
    }

    /// The type that values of a type have in a text: doubles may be singles there.
    #[must_use]
    pub fn computed(&self, dtype: DType) -> DType {
        match dtype {
            DType::Float64 if self.doubles == Doubles::Singles => DType::Float32,
            it => it,
        }
    }

    /// The WGSL type of a value.
    #[must_use]
    pub fn value_type(&self, dtype: DType) -> &'static str {
        match self.computed(dtype) {
            it if self.is_pair(it) => "vec2<u32>",
            DType::Bool => "bool",
            DType::Int8 | DType::Int16 | DType::Int32 => "i32",
            DType::Int64 => "i64",
            DType::Float32 => "f32",
            DType::Float64 => "f64",
        }
    }

    /// The WGSL type of an element in memory: what is narrower than a word is one.
    #[must_use]
    pub fn element_type(&self, dtype: DType) -> &'static str {
        if dtype == DType::Bool { "i32" } else { self.value_type(dtype) }
    }

    /// Bytes of an element in memory of the device.
    #[must_use]
    pub fn element_bytes(&self, dtype: DType) -> u64 {
        match self.computed(dtype) {
            DType::Int64 | DType::Float64 => 8,
            DType::Bool | DType::Int8 | DType::Int16 | DType::Int32 | DType::Float32 => 4,
        }
    }
}
