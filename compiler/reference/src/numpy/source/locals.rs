//! How the locals of a block appear in the text: as plain names, or as fields of the block's size.
//!
//! A local that only ever means the slice at hand, the block's or that of a region, is a plain name for an array.
//! One that carries values from one slice to another is indexed by them.

use crate::entity::{Handle, SideTable};
use crate::expr::ExprKind;
use crate::npir::nodes::{Access, Block, Local, Stmt, StmtKind, Target};

/// Facts about the locals of one block.
#[derive(Clone, Debug, Default)]
pub(super) struct Locals {
    facts: SideTable<Local, LocalUse>,
    /// The mask that each mask is made within.
    within: SideTable<Local, Option<Handle<Local>>>,
}

#[derive(Clone, Debug, Default)]
struct LocalUse {
    /// The region that it was used in last, by number, or 0 for the block.
    slice: usize,
    is_indexed: bool,
    /// The masks that limit every use, outermost first.
    masks: Vec<Handle<Local>>,
}

impl Locals {
    pub(super) fn of(block: &Block) -> Self {
        let mut found = Self::default();
        let mut regions = 0;
        for stmt in &block.body {
            found.stmt(stmt, 0, &mut regions);
        }
        found
    }

    /// All that the block uses, in order.
    pub(super) fn all(&self) -> impl Iterator<Item = Handle<Local>> {
        self.facts.iter().map(|(local, _)| local)
    }

    /// Whether it is indexed by the slice that is meant.
    pub(super) fn is_indexed(&self, local: Handle<Local>) -> bool {
        self.facts.get(local).is_some_and(|it| it.is_indexed)
    }

    /// Whether nobody sees what it holds where the mask is false.
    pub(super) fn is_unseen_outside(&self, local: Handle<Local>, mask: Handle<Local>) -> bool {
        self.facts.get(local).is_some_and(|it| it.masks.contains(&mask))
    }

    fn stmt(&mut self, stmt: &Stmt, slice: usize, regions: &mut usize) {
        if let Some(mask) = stmt.made_mask() {
            self.within.insert(mask, stmt.limiting_mask());
        }
        let mut used: Vec<Handle<Local>> = Vec::new();
        for expr in stmt.exprs() {
            expr.walk(&mut |it| {
                if let ExprKind::Access(Access::Local(local)) = it.kind {
                    used.push(local);
                }
            });
        }
        used.extend(stmt.limiting_mask());
        if let StmtKind::Rest { of, .. } = stmt.kind {
            used.push(of);
        }
        let written = match stmt.kind {
            StmtKind::Assign { target: Target::Local(local), .. } => Some(local),
            _ => stmt.made_mask(),
        };
        // Masks are made anew as a whole.
        let is_whole = !matches!(stmt.kind, StmtKind::Assign { mask: Some(_), .. });
        let masks = self.chain(stmt.limiting_mask());
        for (local, is_anew) in used.into_iter().map(|it| (it, false)).chain(written.map(|it| (it, is_whole)))
        {
            match self.facts.get_mut(local) {
                Some(fact) => {
                    fact.is_indexed |= fact.slice != slice && !is_anew;
                    fact.slice = slice;
                    let common =
                        fact.masks.iter().zip(&masks).take_while(|(one, other)| one == other).count();
                    fact.masks.truncate(common);
                }
                None => {
                    let fact = LocalUse { slice, is_indexed: false, masks: masks.clone() };
                    self.facts.insert(local, fact);
                }
            }
        }
        let slice = if let StmtKind::Region { .. } = stmt.kind {
            *regions += 1;
            *regions
        } else {
            slice
        };
        stmt.children().iter().for_each(|it| self.stmt(it, slice, regions));
    }

    /// A mask after those that it is made within.
    fn chain(&self, mask: Option<Handle<Local>>) -> Vec<Handle<Local>> {
        let mut found: Vec<_> =
            std::iter::successors(mask, |it| self.within.get(*it).copied().flatten()).collect();
        found.reverse();
        found
    }
}
