//! Courses as data: what a lesson says, and whether a learner's stencil does what it asks for.
//!
//! A course is a folder with a `course.toml` and a folder for each lesson: `lesson.md`, `start.py`, `solution.py` and
//! `checks.toml`. [`course`] and [`markdown`] read the texts for the page. [`check`] compiles and runs in the
//! page's worker. [`folder`] proves a whole course, as `cargo xtask lessons` does.

pub mod check;
pub mod course;
pub mod folder;
pub mod glossary;
pub mod markdown;
pub mod toml;
