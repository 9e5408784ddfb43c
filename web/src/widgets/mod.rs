//! What panes are made of; nothing here knows stencils.

pub mod listing;
pub mod split;
pub mod tabs;
