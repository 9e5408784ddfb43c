//! The workers that fill fields.

/// A part of some work, which may be done at the same time as others.
pub type WorkItem<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Does work in pieces: on one thread or on several, in any order. The filled values do not depend on that.
pub trait Workers {
    /// In how many pieces work is divided.
    fn pieces(&self) -> usize;

    /// Does all of them, and returns when they are done.
    fn all(&self, work: Vec<WorkItem<'_>>);
}

/// The thread that asks.
#[derive(Clone, Copy, Debug)]
pub struct CallingThread;

impl Workers for CallingThread {
    fn pieces(&self) -> usize {
        1
    }

    fn all(&self, work: Vec<WorkItem<'_>>) {
        work.into_iter().for_each(|it| it());
    }
}
