//! A callback that a run has come to, as its caller answers it.

use std::collections::BTreeSet;

use isobar_ground::call::array::Array;
use isobar_ground::entity::Handle;
use isobar_ground::types::Value;

use super::ProgramInstance;
use crate::nodes::{Container, ContainerPart};
use crate::scalar::ScalarVariable;

/// A callback of a program: the fields that it names, and the scalars that it gives.
#[derive(Debug)]
pub struct Callback<'i> {
    pub(super) name: &'i str,
    pub(super) reads: &'i [ContainerPart],
    pub(super) writes: &'i [ContainerPart],
    pub(super) gives: &'i [Handle<ScalarVariable>],
    pub(super) instance: &'i mut ProgramInstance,
    given: BTreeSet<Handle<ScalarVariable>>,
}

impl<'i> Callback<'i> {
    pub(super) fn new(
        name: &'i str,
        (reads, writes): (&'i [ContainerPart], &'i [ContainerPart]),
        gives: &'i [Handle<ScalarVariable>],
        instance: &'i mut ProgramInstance,
    ) -> Self {
        Self { name, reads, writes, gives, instance, given: BTreeSet::new() }
    }

    /// Its name in the document.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name
    }

    /// All points of a field that it reads or writes, by the field's name: views have no names of their own here.
    #[must_use]
    pub fn array(&self, field: &str) -> Option<&Array> {
        let handle = self.named(field, true)?;
        self.instance.lent.get(&handle).or_else(|| self.instance.arrays.get(handle.index()))
    }

    /// The same for a field that it writes.
    pub fn array_mut(&mut self, field: &str) -> Option<&mut Array> {
        let handle = self.named(field, false)?;
        let instance = &mut *self.instance;
        instance.lent.get_mut(&handle).or_else(|| instance.arrays.get_mut(handle.index()))
    }

    fn named(&self, field: &str, may_be_read: bool) -> Option<Handle<Container>> {
        let read = self.reads.iter().filter(|_| may_be_read);
        let mut all = self.writes.iter().chain(read).map(|it| it.container);
        all.find(|it| self.instance.program.containers[*it].name == field)
    }

    /// Gives a scalar its value. Answers whether the callback gives one of this name and type.
    #[must_use]
    pub fn give(&mut self, scalar: &str, value: Value) -> bool {
        let scalars = &self.instance.program.scalars;
        let is_meant = |it: &&Handle<ScalarVariable>| {
            scalars[**it].name == scalar && scalars[**it].dtype == value.dtype()
        };
        let Some(&handle) = self.gives.iter().find(is_meant) else { return false };
        self.instance.scalars[handle.index()] = value;
        self.given.insert(handle);
        true
    }

    /// The first scalar that has got no value.
    pub(super) fn missing(&self) -> Option<&str> {
        let missing = self.gives.iter().find(|it| !self.given.contains(it))?;
        Some(&self.instance.program.scalars[*missing].name)
    }
}
