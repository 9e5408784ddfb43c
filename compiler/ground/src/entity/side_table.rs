//! Facts about entities, kept beside the arena and not in the nodes.

use std::marker::PhantomData;
use std::ops::Index;

use serde::{Deserialize, Serialize};

use super::Handle;

/// One fact of type `F` for each `T` of an arena, where it is known.
#[derive(Serialize, Deserialize)]
#[serde(transparent, bound(serialize = "F: Serialize", deserialize = "F: Deserialize<'de>"))]
pub struct SideTable<T, F> {
    facts: Vec<Option<F>>,
    #[serde(skip)]
    of: PhantomData<fn() -> T>,
}

impl<T, F> SideTable<T, F> {
    /// The fact about `entity`, if one was recorded.
    #[must_use]
    pub fn get(&self, entity: Handle<T>) -> Option<&F> {
        self.facts.get(entity.index()).and_then(Option::as_ref)
    }

    /// The fact about `entity`, to be changed.
    pub fn get_mut(&mut self, entity: Handle<T>) -> Option<&mut F> {
        self.facts.get_mut(entity.index()).and_then(Option::as_mut)
    }

    /// Records the fact and returns the one that stood there.
    pub fn insert(&mut self, entity: Handle<T>, fact: F) -> Option<F> {
        let index = entity.index();
        if index >= self.facts.len() {
            self.facts.resize_with(index + 1, || None);
        }
        self.facts[index].replace(fact)
    }

    /// The fact about `entity`, to be changed; the default where none was recorded.
    pub fn get_or_default(&mut self, entity: Handle<T>) -> &mut F
    where
        F: Default,
    {
        let index = entity.index();
        if index >= self.facts.len() {
            self.facts.resize_with(index + 1, || None);
        }
        self.facts[index].get_or_insert_default()
    }

    /// Forgets the fact and returns it.
    pub fn remove(&mut self, entity: Handle<T>) -> Option<F> {
        self.facts.get_mut(entity.index()).and_then(Option::take)
    }

    /// The recorded facts without what they are about, in the arena's order.
    pub fn values(&self) -> impl Iterator<Item = &F> {
        self.facts.iter().flatten()
    }

    /// The recorded facts, in the arena's order.
    pub fn iter(&self) -> impl Iterator<Item = (Handle<T>, &F)> {
        self.facts.iter().enumerate().filter_map(|(index, fact)| Some((Handle::new(index), fact.as_ref()?)))
    }
}

impl<T, F> FromIterator<(Handle<T>, F)> for SideTable<T, F> {
    fn from_iter<I: IntoIterator<Item = (Handle<T>, F)>>(facts: I) -> Self {
        let mut table = Self::default();
        facts.into_iter().for_each(|(entity, fact)| {
            table.insert(entity, fact);
        });
        table
    }
}

impl<T, F: Clone> Clone for SideTable<T, F> {
    fn clone(&self) -> Self {
        Self { facts: self.facts.clone(), of: PhantomData }
    }
}

impl<T, F: PartialEq> PartialEq for SideTable<T, F> {
    fn eq(&self, other: &Self) -> bool {
        self.facts == other.facts
    }
}

impl<T, F: Eq> Eq for SideTable<T, F> {}

impl<T, F> Default for SideTable<T, F> {
    fn default() -> Self {
        Self { facts: Vec::new(), of: PhantomData }
    }
}

impl<T, F: std::fmt::Debug> std::fmt::Debug for SideTable<T, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Panics where no fact was recorded: ask with [`SideTable::get`] when that can be.
impl<T, F> Index<Handle<T>> for SideTable<T, F> {
    type Output = F;
    fn index(&self, entity: Handle<T>) -> &F {
        self.get(entity).expect("the analysis records a fact for each entity that it is asked about")
    }
}
