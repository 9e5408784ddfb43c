//! Jobs: who waits, who works, what they said, what they left behind.

pub mod child;
pub(crate) mod compiling;
pub(crate) mod folder;
mod gpus;
mod inputs;
mod keeping;
pub mod lifecycle;
pub mod memory;
pub mod started;
pub mod queue;
mod records;
pub mod store;
pub mod stream;

pub use queue::Jobs;
pub use store::Store;
pub use stream::Job;
