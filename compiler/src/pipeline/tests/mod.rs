//! Texts that take the whole trip.

mod cuda;
mod mended;
