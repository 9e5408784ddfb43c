//! Pictures of fields: numbers in, pixels out.

pub mod colormap;
pub mod number;
pub mod raster;
pub mod slice;
