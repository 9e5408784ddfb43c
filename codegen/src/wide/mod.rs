//! Loops over lanes as code with vectors of 512 or 256 bits, where the processor has them.
//!
//! The code generator for everything else knows vectors of 128 bits. So the body of a vector loop is also
//! made into operations on vectors as wide as the processor's ([`nodes`]). These become instructions
//! ([`emit`], [`values`], [`registers`], [`codes`], [`avx2`], [`encode`]). The function around calls that
//! code with the addresses and numbers that do not change in the loop.

mod avx2;
mod codes;
mod emit;
mod encode;
mod expressions;
mod lower;
mod nodes;
mod registers;
mod values;

#[cfg(test)]
mod decoded;
#[cfg(test)]
mod tests;

pub(super) use emit::emit;
pub(super) use nodes::{Body, Isa};

use crate::Vectors;

/// The vectors of this processor that code may use, where all instructions that it may have are there.
pub(super) fn known(vectors: Vectors) -> Option<Isa> {
    #[cfg(all(target_arch = "x86_64", unix))]
    {
        let has_avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl");
        let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        match vectors {
            Vectors::Widest if has_avx512 => Some(Isa::Avx512),
            Vectors::Widest | Vectors::Half if has_avx2 => Some(Isa::Avx2),
            _ => None,
        }
    }
    #[cfg(not(all(target_arch = "x86_64", unix)))]
    {
        let _ = vectors;
        None
    }
}

/// Lets other threads see what this one has written past the caches.
pub(super) fn end_stream() {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "an instruction that all of these processors have")]
    // SAFETY: nothing is asked of the caller.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
