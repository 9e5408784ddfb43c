//! Contents of panes, made of plain data: sentences, charts, and the colours of a text.
//!
//! Nothing here has a signal or a view, so tests run without a browser.

pub mod benchmark;
pub mod charts;
pub mod compare;
pub mod field;
pub mod help;
pub mod highlight;
pub mod inputs;
pub mod manual;
pub mod pipeline;
pub mod slider;
