//! The panes that travel in the second part of the page's program. Nothing but this table leads to them.

use leptos::prelude::*;

use crate::panes::bar::{more, opened, size};
use crate::panes::benchmark::Measurement;
use crate::panes::compare::Comparison;
use crate::panes::decisions::Decisions;
use crate::panes::field::{below, charts};
use crate::panes::gallery::GalleryView;
use crate::panes::help::HelpDialog;
use crate::panes::inputs::Inputs;
use crate::panes::learn::LearnView;
use crate::panes::lesson::LessonPane;
use crate::panes::manual::ManualView;
use crate::panes::output::Output;
use crate::panes::share::ShareDialog;
use crate::panes::stages::passes;
use crate::widgets::later::Panes;

/// The panes, from within the second part.
#[must_use]
pub fn panes() -> &'static Panes {
    static PANES: Panes = Panes(&[
        ("benchmark", || view! { <Measurement /> }.into_any()),
        ("charts", charts::later),
        ("comparison", || view! { <Comparison /> }.into_any()),
        ("decisions", || view! { <Decisions /> }.into_any()),
        ("below-the-field", below::later),
        ("gallery", || view! { <GalleryView /> }.into_any()),
        ("help", || view! { <HelpDialog /> }.into_any()),
        ("inputs", || view! { <Inputs /> }.into_any()),
        ("learn", || view! { <LearnView /> }.into_any()),
        ("lesson", || view! { <LessonPane /> }.into_any()),
        ("manual", || view! { <ManualView /> }.into_any()),
        ("more", more::later),
        ("opened", opened::later),
        ("output", || view! { <Output /> }.into_any()),
        ("passes", passes::later),
        ("size", size::later),
        ("share", || view! { <ShareDialog /> }.into_any()),
    ]);
    &PANES
}
