//! WGSL: kernels for GPUs as WebGPU and wgpu take them.
//!
//! A text computes the interpreter's bits in two ways: with doubles of the device, where it has them, or with pairs of
//! words ([`Doubles`]). What either carries beside its kernels is in `shaders/`; functions of mathematics are printed
//! from their definitions. Nothing is decided here: what is a block, a thread or a barrier is known by then.

mod binding;
pub mod expression;
mod formula;
mod math;
pub mod prelude;
mod words;

use crate::types::DType;
pub use formula::Tables;

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

/// What decides about a text beside its kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WgslOptions {
    pub doubles: Doubles,
    /// Whether results of singles are kept apart by hand, for compilers that fuse or reorder.
    pub keeps: bool,
    /// Whether quotients and roots are ours and not the device's, which need not round correctly.
    pub divides: bool,
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
