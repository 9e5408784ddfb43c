//! Messages between the page and its worker, over HTTP, and on the command line.
//!
//! Plain serde data. Lines and columns count from 1, columns in characters. Lines of listings count from 0.
//! Axes are in the order I, J, K. Bytes are little-endian and in C order (the last axis contiguous).

pub mod request;
pub mod names;
pub mod door;
pub mod notebook;
pub mod diagnostic;
pub mod compile;
pub mod passes;
pub mod field;
pub mod fields;
pub mod picture;
pub mod zip;
pub mod npz;
pub mod bench;
pub mod tune;
pub mod job;
pub mod problem;
pub mod report;
pub mod limits;
pub mod service;
pub mod layout;
pub mod lesson;
pub mod why;
pub mod worker;
pub mod share;
