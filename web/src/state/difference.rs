//! A level around a pass, in words.

use isobar_page_model::difference::{self, DiffText, DiffView};
use isobar_protocol::passes::PassDiff;

use crate::bridge::locale::t;

/// The name of a part of a level.
#[must_use]
pub fn title(side: DiffView) -> &'static str {
    match side {
        DiffView::Changes => t!("state-side-changes"),
        DiffView::Whole => t!("state-side-whole"),
        DiffView::Before => t!("state-side-before"),
        DiffView::After => t!("state-side-after"),
    }
}

/// A level around a pass, as `side` shows it.
#[must_use]
pub fn seen(around: &PassDiff, side: DiffView) -> DiffText {
    difference::seen(around, side, |n| t!("state-side-stayed", n = n))
}
