//! Jobs: who waits, who works, what they said, what they left behind.

pub mod child;
pub(crate) mod folder;
mod inputs;
pub mod lifecycle;
pub mod queue;
mod records;
pub mod store;
pub mod stream;

pub use queue::Jobs;
pub use store::Store;
pub use stream::Job;
