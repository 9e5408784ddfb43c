//! CUDA: kernels that NVRTC compiles in this process, run by the driver's interface.
//!
//! Neither is linked: both are looked for when somebody asks, and where one is missing that is an answer. No GPU was at
//! hand when this was written: that machine code is made of every text is tested, that it runs is not, and no speed was
//! measured.

pub mod figures;
pub mod nvrtc;
pub mod places;
pub mod plan;
