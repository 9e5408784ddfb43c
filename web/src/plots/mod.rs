//! Pictures of fields: numbers in, pixels and lines out.

pub mod number;
pub mod ticks;
pub mod colormap;
pub mod raster;
pub mod scene;
pub mod plane;
pub mod chart;
pub mod export;

// On the page.
#[cfg(target_arch = "wasm32")]
pub mod drawing;
#[cfg(target_arch = "wasm32")]
pub mod figure;
#[cfg(target_arch = "wasm32")]
pub mod image;
