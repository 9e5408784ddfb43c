//! All calls into the browser: no signal and no pane is known here.

pub mod chord;
pub mod locale;
pub mod sse;

#[cfg(target_arch = "wasm32")]
pub mod asker;
#[cfg(target_arch = "wasm32")]
pub mod editor;
#[cfg(target_arch = "wasm32")]
pub mod drops;
#[cfg(target_arch = "wasm32")]
pub mod files;
#[cfg(target_arch = "wasm32")]
pub mod keys;
#[cfg(target_arch = "wasm32")]
pub mod page;
#[cfg(target_arch = "wasm32")]
pub mod runner;
#[cfg(target_arch = "wasm32")]
pub mod storage;
#[cfg(target_arch = "wasm32")]
pub mod worker;
#[cfg(target_arch = "wasm32")]
pub mod words;
#[cfg(target_arch = "wasm32")]
pub mod workspaces;
