//! A handle names one entity of an arena by its position.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

/// How the handles of an entity are spelled in listings: `f3`, `x7`.
pub trait Spelled {
    /// The letters before the number.
    const PREFIX: &'static str;
}

/// The name of a `T` in the [`Arena`](super::Arena) that it came from.
#[derive(Serialize, Deserialize)]
#[serde(transparent, bound = "")]
pub struct Handle<T> {
    index: u32,
    #[serde(skip)]
    of: PhantomData<fn() -> T>,
}

impl<T> Handle<T> {
    /// The handle of the entity at `index` of its arena.
    ///
    /// # Panics
    ///
    /// When an arena holds more than `u32::MAX` entities, which the limits on source size exclude.
    #[must_use]
    pub fn new(index: usize) -> Self {
        Self {
            index: u32::try_from(index).expect("an arena holds fewer than 2^32 entities"),
            of: PhantomData,
        }
    }

    /// The position in the arena.
    #[must_use]
    pub fn index(self) -> usize {
        self.index as usize
    }
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Handle<T> {}
impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}
impl<T> Eq for Handle<T> {}
impl<T> PartialOrd for Handle<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Handle<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.index.cmp(&other.index)
    }
}
impl<T> Hash for Handle<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.index.hash(state);
    }
}
impl<T: Spelled> fmt::Display for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", T::PREFIX, self.index)
    }
}
impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.index)
    }
}
