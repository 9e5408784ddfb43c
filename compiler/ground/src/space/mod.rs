//! The space a stencil works in: axes, offsets, extents, intervals, regions, sizes.

pub mod axis;
pub mod offset;
pub mod extent;
pub mod interval;
pub mod region;
pub mod elements;
pub mod parse;
pub mod affine;
pub mod ring;
pub mod domain;
pub mod threads;
pub mod names;
pub mod order;
pub mod assume;

pub use affine::{Affine, Size, Symbol};
pub use axis::{Axis, AxisSet};
pub use domain::Domain;
pub use elements::{ElementBox, FieldElements};
pub use extent::{Extent, Reach};
pub use interval::{Bound, Interval, Level, LoopOrder, min_levels};
pub use offset::Offset;
pub use region::{Region, Side};
pub use ring::Ring;
