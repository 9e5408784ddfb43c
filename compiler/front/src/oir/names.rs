//! New names beside those that a stencil has.

use std::collections::{BTreeMap, BTreeSet};

use super::nodes::Stencil;

/// The names that are in use.
#[derive(Debug)]
pub(super) struct Names {
    used: BTreeSet<String>,
    /// The next number to try behind a name: a stencil may need a thousand like it.
    next: BTreeMap<String, u32>,
}

impl Names {
    /// Every name of the stencil.
    pub(super) fn of(stencil: &Stencil) -> Self {
        let fields = stencil.fields.iter().map(|(_, it)| it.name.clone());
        let scalars = stencil.scalars.iter().map(|(_, it)| it.name.clone());
        let locals = stencil.locals.iter().map(|(_, it)| it.name.clone());
        Self { used: fields.chain(scalars).chain(locals).collect(), next: BTreeMap::new() }
    }

    /// A new name like the one that is wanted, with a number.
    pub(super) fn unused(&mut self, wanted: &str) -> String {
        let next = self.next.entry(wanted.to_owned()).or_insert(2);
        loop {
            let name = format!("{wanted}_{next}");
            *next += 1;
            if self.used.insert(name.clone()) {
                return name;
            }
        }
    }

    /// The name that is wanted if it is free, else one like it.
    pub(super) fn unused_or_numbered(&mut self, wanted: &str) -> String {
        if self.used.insert(wanted.to_owned()) { wanted.to_owned() } else { self.unused(wanted) }
    }
}
