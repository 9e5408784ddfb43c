//! Jobs: who waits, who works, what they said, what they left behind.

pub mod child;
pub(crate) mod compiling;
pub(crate) mod folder;
mod keeping;
pub mod lifecycle;
pub mod queue;
pub mod stream;

pub use queue::Jobs;
pub use stream::Job;
