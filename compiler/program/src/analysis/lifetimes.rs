//! The locals of a program that may lie in the same memory, one after the other.
//!
//! A local lives from the first statement that touches it to the last one. Where a loop has some of these statements,
//! and not all, it lives during the whole loop. Locals that live at different times may share memory:
//!
//! ```text
//! call a(q, t)      t           t: 0 to 1
//! call b(t, u)      t  u        u: 1 to 2      v shares memory with t
//! call c(u, v)         u  v     v: 2 to 3
//! call d(v, q)            v
//! ```

use std::collections::{BTreeMap, BTreeSet};

use isobar_ground::entity::Handle;

use crate::nodes::{Container, ContainerRole, ProgramIr, ProgramStmt, ProgramStmtKind};

/// The first and the last position at which a container is touched.
type Life = [usize; 2];

/// The parts of a program that are one piece of code, by their numbers: the containers that each has as parameters.
pub type GroupContainers = BTreeMap<usize, BTreeSet<Handle<Container>>>;

/// Which locals share memory, and how much each memory has to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedMemory {
    /// For each container: the number of its memory, where it shares some.
    pub memory_of: Vec<Option<usize>>,
    /// The elements of each memory.
    pub sizes: Vec<usize>,
    /// The local that each memory is as large as.
    pub largest: Vec<Handle<Container>>,
}

/// Assigns memory to locals. `elements` tells how many elements one has, and `is_alone` whether it must have memory of
/// its own.
///
/// The largest ones come first, and each takes the first memory of its type that is free during its life.
#[must_use]
pub fn shared_memory(
    program: &ProgramIr,
    groups: &GroupContainers,
    elements: &dyn Fn(&Container) -> usize,
    is_alone: &dyn Fn(Handle<Container>) -> bool,
) -> SharedMemory {
    let lives = lives(program, groups);
    let locals = program.containers.iter().filter(|(handle, it)| {
        it.role == ContainerRole::Local && !is_alone(*handle) && lives.contains_key(handle)
    });
    let mut locals: Vec<_> = locals.map(|(handle, it)| (elements(it), lives[&handle], handle)).collect();
    locals.sort_by_key(|it| (std::cmp::Reverse(it.0), it.1, it.2));
    let mut shared =
        SharedMemory { memory_of: vec![None; program.containers.len()], ..SharedMemory::default() };
    let mut tenants: Vec<Vec<(Life, Handle<Container>)>> = Vec::new();
    for (size, life, handle) in locals {
        let dtype = program.containers[handle].dtype;
        let is_free = |them: &Vec<(Life, Handle<Container>)>| {
            them.iter().all(|(other, it)| {
                program.containers[*it].dtype == dtype && (other[1] < life[0] || life[1] < other[0])
            })
        };
        let at = tenants.iter().position(is_free).unwrap_or_else(|| {
            tenants.push(Vec::new());
            shared.sizes.push(size);
            shared.largest.push(handle);
            tenants.len() - 1
        });
        tenants[at].push((life, handle));
        shared.memory_of[handle.index()] = Some(at);
    }
    shared
}

/// The groups of a program with all containers that their statements touch: what they need at most, whichever locals their
/// code keeps to itself.
#[must_use]
pub fn whole_groups(program: &ProgramIr) -> GroupContainers {
    let mut groups = GroupContainers::new();
    program.body.iter().for_each(|it| {
        it.walk(&mut |stmt| {
            if let ProgramStmtKind::Group { number, body } = &stmt.kind {
                let parts = body.iter().flat_map(|it| it.own_parts(program));
                groups.insert(*number, parts.map(|it| it.container).collect());
            }
        });
    });
    groups
}

/// The lives of all containers that run as arrays. Two whose arrays are exchanged are left out.
fn lives(program: &ProgramIr, groups: &GroupContainers) -> BTreeMap<Handle<Container>, Life> {
    let mut walk = LifeWalk { program, groups, n_positions: 0, touches: BTreeMap::new(), loops: Vec::new() };
    walk.body(&program.body);
    let LifeWalk { touches, mut loops, .. } = walk;
    // Inner loops first: a life that grows may reach into a loop around.
    loops.sort_by_key(|it| it[1] - it[0]);
    let swapped = swapped(program);
    let all = touches.into_iter().filter(|it| !swapped.contains(&it.0));
    all.filter_map(|(handle, touches)| {
        let mut life = [*touches.first()?, *touches.last()?];
        for &[start, end] in &loops {
            let is_inside = start <= life[0] && life[1] <= end;
            if !is_inside && life[0] <= end && start <= life[1] {
                life = [life[0].min(start), life[1].max(end)];
            }
        }
        Some((handle, life))
    })
    .collect()
}

struct LifeWalk<'p> {
    program: &'p ProgramIr,
    groups: &'p GroupContainers,
    n_positions: usize,
    /// In order.
    touches: BTreeMap<Handle<Container>, Vec<usize>>,
    /// The first and the last position of each loop.
    loops: Vec<Life>,
}

impl LifeWalk<'_> {
    fn body(&mut self, body: &[ProgramStmt]) {
        body.iter().for_each(|it| self.statement(it));
    }

    fn statement(&mut self, stmt: &ProgramStmt) {
        let start = self.n_positions;
        self.n_positions += 1;
        let mut touched: BTreeSet<_> =
            stmt.own_parts(self.program).into_iter().map(|it| it.container).collect();
        match &stmt.kind {
            ProgramStmtKind::Group { number, .. } if self.groups.contains_key(number) => {
                touched.clone_from(&self.groups[number]);
            }
            _ => stmt.blocks().into_iter().for_each(|it| self.body(it)),
        }
        for handle in touched {
            self.touches.entry(handle).or_default().push(start);
        }
        if matches!(stmt.kind, ProgramStmtKind::For { .. } | ProgramStmtKind::While { .. }) {
            self.loops.push([start, self.n_positions - 1]);
        }
    }
}

fn swapped(program: &ProgramIr) -> BTreeSet<Handle<Container>> {
    let mut found = BTreeSet::new();
    program.body.iter().for_each(|it| {
        it.walk(&mut |stmt| {
            if let ProgramStmtKind::Swap(one, other) = &stmt.kind {
                found.extend([one.container, other.container]);
            }
        });
    });
    found
}
