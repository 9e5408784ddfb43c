//! What panes are made of; nothing here knows stencils.

pub mod article;
pub mod direction;
pub mod figure;
pub mod later;
pub mod listing;
pub mod popover;
pub mod prose;
pub mod quotes;
pub mod split;
pub mod tabs;
