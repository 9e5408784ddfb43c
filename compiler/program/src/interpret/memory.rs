//! The memory of locals: shared by those that live at different times, where a runner allows it.
//!
//! A local takes over the memory of the one before it when it is first touched. Nothing of what it finds there is read:
//! locals that may be read where nothing has written them have memory of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use isobar_ground::call::array::{Array, Elements};
use isobar_ground::entity::Handle;
use isobar_ground::types::Value;

use super::arrays::{absent, filled, shape};
use super::on_device::BegunLocal;
use super::{GroupParam, ProgramInstance, StencilRunner};
use crate::analysis::lifetimes::{SharedMemory, shared_memory};
use crate::nodes::{Container, ContainerRole, ProgramStmtKind};

/// The parameters of the groups that run as one piece of code, by their numbers.
type GroupParams = BTreeMap<usize, Arc<[GroupParam]>>;

/// The memory that locals share.
#[derive(Clone, Debug, Default)]
pub(super) struct LocalMemory {
    /// The groups that run as one piece of code, on which the plan rests.
    groups: GroupParams,
    plan: SharedMemory,
    /// The local that has each memory.
    tenants: Vec<Option<Handle<Container>>>,
}

impl ProgramInstance {
    /// Forgets the values of locals. Those that no run reads where nothing has written them keep their arrays, unless the
    /// runner wants them undefined.
    pub(super) fn forget_locals(&mut self, runner: &mut dyn StencilRunner) {
        self.begun.clear();
        if runner.forgets_locals() {
            if self.memory.take().is_some() {
                self.drop_locals();
            }
            return;
        }
        let groups = self.groups_of(runner);
        if self.memory.as_ref().is_none_or(|it| it.groups != groups) {
            self.drop_locals();
            let elements = |it: &Container| shape(it, self.domain).into_iter().product();
            let is_alone = |it| self.needing.contains(&it);
            let containers = groups.iter().map(|(number, it)| (*number, containers_of(it))).collect();
            let plan = shared_memory(&self.program, &containers, &elements, &is_alone);
            let tenants = vec![None; plan.sizes.len()];
            self.memory = Some(LocalMemory { groups, plan, tenants });
        }
        let plan = self.memory.as_ref().map(|it| &it.plan);
        for (handle, container) in self.program.containers.iter() {
            let is_shared = plan.is_some_and(|it| it.memory_of[handle.index()].is_some());
            let is_made = !self.arrays[handle.index()].elements.is_empty();
            if container.role == ContainerRole::Local
                && is_made
                && !is_shared
                && !self.needing.contains(&handle)
            {
                self.begun.insert(handle);
            }
        }
    }

    fn drop_locals(&mut self) {
        let locals = self.program.containers.iter().filter(|it| it.1.role == ContainerRole::Local);
        for (handle, container) in locals {
            self.arrays[handle.index()] = absent(container.dtype);
        }
    }

    /// The groups for which a runner has code.
    fn groups_of(&self, runner: &mut dyn StencilRunner) -> GroupParams {
        let mut groups = GroupParams::new();
        self.program.body.iter().for_each(|it| {
            it.walk(&mut |stmt| {
                let ProgramStmtKind::Group { number, .. } = &stmt.kind else { return };
                groups.extend(runner.group(*number).map(|it| (*number, it)));
            });
        });
        groups
    }

    /// Gives a local its array. The elements are undefined; in shared memory they are those of the local before.
    pub(super) fn begin(&mut self, handle: Handle<Container>) {
        let container = &self.program.containers[handle];
        if container.role != ContainerRole::Local || !self.begun.insert(handle) {
            return;
        }
        let memory = self.memory.as_mut().and_then(|it| Some((it.plan.memory_of[handle.index()]?, it)));
        let Some((at, memory)) = memory else {
            self.arrays[handle.index()] = filled(container, self.domain, Value::undefined(container.dtype));
            let has_values = self.needing.contains(&handle);
            self.begun_locals.push(BegunLocal { container: handle, before: None, has_values });
            return;
        };
        let before = memory.tenants[at].replace(handle);
        if before == Some(handle) {
            return;
        }
        let elements = match before {
            Some(before) => {
                self.begun.remove(&before);
                let array = std::mem::replace(&mut self.arrays[before.index()], absent(container.dtype));
                array.elements
            }
            None => Elements::zeros(container.dtype, memory.plan.sizes[at]),
        };
        let shape = shape(container, self.domain);
        self.arrays[handle.index()] = Array::over(elements, &shape);
        self.begun_locals.push(BegunLocal { container: handle, before, has_values: false });
    }

    /// The bytes of the memory of locals that runs have made so far.
    #[must_use]
    pub fn local_bytes(&self) -> u64 {
        let locals = self.program.containers.iter().filter(|it| it.1.role == ContainerRole::Local);
        locals
            .map(|(handle, it)| (self.arrays[handle.index()].elements.len() * it.dtype.size_bytes()) as u64)
            .sum()
    }
}

fn containers_of(params: &[GroupParam]) -> BTreeSet<Handle<Container>> {
    let containers = params.iter().filter_map(|it| match it {
        GroupParam::Container(handle) => Some(*handle),
        GroupParam::Scalar { .. } => None,
    });
    containers.collect()
}
