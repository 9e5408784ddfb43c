//! The view that the address names, the lesson that is open, and the progress of the learner.
//!
//! A lesson's text is opened beside the user's own, which comes back when the lesson is left. The text typed in a lesson is
//! kept with its progress. [`Lessons`] is all that the page knows about it. A [`LessonEvent`] changes it, by
//! [`Lessons::take`], which answers with the [`LessonEffect`]s that the page has to carry out.

mod event;
mod state;
mod take;

pub use event::{LessonEffect, LessonEvent};
pub use state::{LessonTrouble, LessonVerdicts, Lessons, OpenLesson, ShownLesson};

#[cfg(test)]
mod tests;
