//! The SDFG: which data moves where, and what must happen before what.
//!
//! States hold data flow, blocks hold control flow, and every access names its elements in a memlet. The
//! graph keeps the order of the loops as the schedule made it. It knows neither a machine nor a language:
//! those belong to the code generators, which read this level and no other.

pub mod nodes;
pub mod edges;
pub mod visit;
pub mod analysis;
pub mod subset;
pub mod edit;

pub mod from_schedule;

pub mod passes;

pub mod validate;

pub mod print;
pub mod file;
