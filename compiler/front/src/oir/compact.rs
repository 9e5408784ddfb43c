//! Drops the entities that no statement names any more, and numbers the rest anew.

use super::nodes::{Field, HorizontalExecution, Local, Stencil, Target};
use super::visit::Visit;
use crate::entity::{Arena, Handle, SideTable};

impl Stencil {
    /// Drops temporaries and locals that are not used, executions that stand nowhere or do nothing,
    /// and sections and vertical loops without executions. Parameters stay.
    pub fn compact(&mut self) {
        self.drop_empty();
        let mut executions = Arena::default();
        for vertical_loop in &mut self.vertical_loops {
            for handle in vertical_loop.sections.iter_mut().flat_map(|it| &mut it.executions) {
                *handle = executions.push(std::mem::replace(
                    &mut self.executions[*handle],
                    HorizontalExecution { body: Vec::new() },
                ));
            }
        }
        self.executions = executions;
        self.renumber();
    }

    fn drop_empty(&mut self) {
        for vertical_loop in &mut self.vertical_loops {
            for section in &mut vertical_loop.sections {
                section.executions.retain(|it| !self.executions[*it].body.is_empty());
            }
            vertical_loop.sections.retain(|it| !it.executions.is_empty());
        }
        self.vertical_loops.retain(|it| !it.sections.is_empty());
    }

    fn renumber(&mut self) {
        let (mut used_fields, mut used_locals) = (SideTable::default(), SideTable::default());
        for (_, execution) in self.executions.iter() {
            execution.each_touch(&mut |touch| match touch.what {
                Target::Field(field) => drop(used_fields.insert(field, ())),
                Target::Local(local) => drop(used_locals.insert(local, ())),
            });
        }
        let is_kept =
            |(it, field): (Handle<Field>, &Field)| !field.is_temporary || used_fields.get(it).is_some();
        if self.fields.iter().all(is_kept) && self.locals.handles().all(|it| used_locals.get(it).is_some()) {
            return;
        }
        let mut fields: Arena<Field> = Arena::default();
        let mut new_fields: SideTable<Field, Handle<Field>> = SideTable::default();
        for (old, field) in self.fields.iter() {
            if is_kept((old, field)) {
                new_fields.insert(old, fields.push(field.clone()));
            }
        }
        let mut locals: Arena<Local> = Arena::default();
        let mut new_locals: SideTable<Local, Handle<Local>> = SideTable::default();
        for (old, local) in self.locals.iter() {
            if used_locals.get(old).is_some() {
                new_locals.insert(old, locals.push(local.clone()));
            }
        }
        (self.fields, self.locals) = (fields, locals);
        let mut rename = |what: &mut Target| {
            *what = match *what {
                Target::Field(field) => Target::Field(new_fields[field]),
                Target::Local(local) => Target::Local(new_locals[local]),
            };
        };
        for (_, execution) in self.executions.iter_mut() {
            execution.body.iter_mut().for_each(|it| it.rename(&mut rename));
        }
    }
}
