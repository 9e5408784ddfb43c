//! Carries out the steps of a schedule, each with the checks of its transformation.

use super::{
    Path, Refusal, barrier, contract, copy, cut, distribute, merge, peel, placement, recompute, repeat,
    residence, roll, split, swap, tile, unit,
};
use crate::entity::Handle;
use crate::schedule::analysis::accesses::{AccessPaths, Accesses};
use crate::schedule::nodes::{Container, GpuMemory, Tree};
use crate::schedule::step::{LoopRef, Residence, Side, Step};

impl Step {
    /// Carries out the step, and keeps it in the tree.
    ///
    /// # Errors
    ///
    /// The reason why it would change the meaning, or the part of it that does not exist; the tree is as it
    /// was.
    pub fn apply(self, tree: &mut Tree) -> Result<(), Refusal> {
        match &self {
            Step::Merge { first, second, ranges } => {
                let path = first.find(tree)?;
                let behind = second.find(tree)?;
                if next_to(&path) != behind {
                    return Err(Refusal::new(format!("{second} does not stand right behind {first}")));
                }
                merge::merge(tree, &path, *ranges)?;
            }
            Step::Swap(outer) => swap::swap(tree, &outer.find(tree)?)?,
            Step::Distribute { at, before } => {
                let path = at.find(tree)?;
                let inner = before.find(tree)?;
                match inner.strip_prefix(path.as_slice()) {
                    Some([cut, ..]) => distribute::distribute(tree, &path, *cut)?,
                    _ => return Err(Refusal::new(format!("{before} does not stand in {at}"))),
                }
            }
            Step::Split { at, position } => split::split(tree, &at.find(tree)?, position)?,
            Step::Peel(at) => peel::peel_regions(tree, &at.find(tree)?)?,
            Step::Drop(at) => unit::drop_unit_loop(tree, &at.find(tree)?)?,
            Step::Tile { axis, size, first, last } => {
                let (outer, nodes) = neighbours(tree, first, last)?;
                let counts = Accesses::of(&tree.children).counts();
                tile::tile(tree, &outer, nodes, *axis, *size, &counts)?;
            }
            Step::Roll { axis, first, last } => {
                let (outer, nodes) = neighbours(tree, first, last)?;
                roll::roll(tree, &outer, nodes, *axis)?;
            }
            Step::Recompute { first, last } => {
                let (outer, nodes) = neighbours(tree, first, last)?;
                let counts = Accesses::of(&tree.children).counts();
                recompute::recompute(tree, &outer, nodes, &counts)?;
            }
            Step::Repeat { container, owner } => {
                let (path, found) = (owner.find(tree)?, named(tree, container)?);
                repeat::repeat(tree, &path, found)?;
            }
            Step::Copy { container, owner } => {
                let (path, found) = (owner.find(tree)?, named(tree, container)?);
                copy::copy_results(tree, &path, found)?;
            }
            Step::Contract { container, owner } => {
                let (path, found) = (owner.find(tree)?, named(tree, container)?);
                contract::contract(tree, &path, found, AccessPaths::of(tree).paths(found))?;
            }
            Step::Cut { at, size } => cut::cut(tree, &at.find(tree)?, *size)?,
            Step::Reside { container, place } => {
                let found = named(tree, container)?;
                let place = match place {
                    Residence::Register => GpuMemory::Register,
                    Residence::Shared => GpuMemory::Shared,
                    Residence::Scratch => GpuMemory::Scratch,
                    Residence::Over(output) => GpuMemory::Over(named(tree, output)?),
                };
                residence::reside(tree, found, place)?;
            }
            Step::Barrier { side, at } => {
                let path = at.find(tree)?;
                let path = if *side == Side::Before { path } else { next_to(&path) };
                barrier::put_barrier(tree, &path)?;
            }
            Step::Place(placement, at) => placement::place(tree, &at.find(tree)?, *placement)?,
        }
        tree.steps.push(self);
        Ok(())
    }
}

fn named(tree: &Tree, container: &str) -> Result<Handle<Container>, Refusal> {
    let found = tree.containers.find(|it| it.name == *container);
    found.ok_or_else(|| Refusal::new(format!("there is no `{container}`")))
}

/// The block that holds two loops and those between, the place of the first, and how many they are.
fn neighbours(tree: &Tree, first: &LoopRef, last: &LoopRef) -> Result<(Path, (usize, usize)), Refusal> {
    let (path, end) = (first.find(tree)?, last.find(tree)?);
    let neighbours = path.split_last().zip(end.split_last());
    let Some(((&from, outer), (&to, _))) = neighbours.filter(|(one, other)| one.1 == other.1) else {
        return Err(Refusal::new(format!("{first} and {last} are no neighbours")));
    };
    if to < from {
        return Err(Refusal::new(format!("{last} stands before {first}")));
    }
    Ok((outer.to_vec(), (from, to - from + 1)))
}

/// The place right behind.
fn next_to(path: &Path) -> Path {
    let mut next = path.clone();
    if let Some(last) = next.last_mut() {
        *last += 1;
    }
    next
}
