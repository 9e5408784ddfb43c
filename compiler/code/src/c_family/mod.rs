//! The common parts of C and CUDA C++: expressions, and the mathematics that generated code carries.
//!
//! CUDA C++ has the notation of C. The qualifiers of functions and tables differ. The prelude differs, too:
//! it is [`math`]'s for C, and the back end's own for CUDA. The text of an expression is the same in both.

pub(crate) mod binding;
pub(crate) mod expression;
pub(crate) mod lines;
pub mod math;

mod formula;

/// A language of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    /// CUDA C++, as NVRTC takes it: no header is there.
    Cuda,
}

impl Language {
    /// The qualifiers of a function of ours that is inlined where it is called.
    pub(crate) fn inline(self) -> &'static str {
        match self {
            Language::C => "static inline",
            // Defined by the prelude.
            Language::Cuda => "ISOBAR_INLINE",
        }
    }

    /// The qualifiers of a table of doubles. On a GPU the table is in global memory: threads of a warp read
    /// different entries, which constant memory would serve one after the other.
    fn table(self) -> &'static str {
        match self {
            Language::C => "static const double",
            Language::Cuda => "static __device__ const double",
        }
    }
}
