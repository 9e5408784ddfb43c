//! All calls into the browser: no signal and no pane is known here.

pub mod chord;
pub mod locale;
pub mod sse;

pub mod asker;
pub mod editor;
pub mod drops;
pub mod files;
pub mod keys;
pub mod page;
pub mod runner;
pub mod storage;
pub mod worker;
pub mod words;
pub mod workspaces;
