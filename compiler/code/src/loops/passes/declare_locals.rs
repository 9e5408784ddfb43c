//! Where each local is declared: in the innermost block that holds all its uses, right before the first of them.
//!
//! ```text
//! x = a[i, j, k]                           const x: float64 = a[i, j, k]
//! b[i, j, k] = x + x                       b[i, j, k] = x + x
//! ```

use std::collections::BTreeMap;

use super::super::nodes::{Assign, Declare, Item, Local, Program, Read, Target};
use super::super::visit::each_read;
use super::PassCx;
use crate::entity::Handle;
use crate::expr::Expr;

/// As options and remarks call it.
pub const NAME: &str = "loops/declare-locals";

/// Declares each local in the innermost block that holds all its uses.
///
/// - **Precondition**: no local is declared.
/// - **Effect**: a declaration stands before the first use. It has the value of the first assignment, if that
///   is the first use. It is constant if that is the only assignment.
/// - **Legality**: always; nothing reads the value that a local has when its block is entered again.
/// - **Why**: short-lived values are kept in registers. Code generators need it, so it always runs.
pub fn declare_locals(program: &mut Program, cx: &mut PassCx) {
    for function in program.functions.values_mut() {
        let mut found = LocalUses::default();
        found.block(&function.body, BlockNesting { around: ItemPosition { block: 0, at: 0 }, depth: 0 });
        if !found.homes.is_empty() && cx.may_change() {
            declare(&mut function.body, found);
        }
    }
}

fn declare(items: &mut Vec<Item>, found: LocalUses) {
    let mut homes: BTreeMap<(usize, usize), Vec<Handle<Local>>> = BTreeMap::new();
    for (local, home) in found.homes {
        homes.entry((home.block, home.at)).or_default().push(local);
    }
    Declarations { homes, n_assignments: found.n_assignments, n_blocks: 0 }.block(items);
}

/// A place among the items of a block; blocks are numbered in the order in which they open.
#[derive(Clone, Copy)]
struct ItemPosition {
    block: usize,
    at: usize,
}

/// A block, by the item that it stands in, and how many blocks are around it. The outermost stands in itself.
#[derive(Clone, Copy)]
struct BlockNesting {
    around: ItemPosition,
    depth: usize,
}

/// Where locals are used.
#[derive(Default)]
struct LocalUses {
    blocks: Vec<BlockNesting>,
    /// For each local the innermost block that holds the uses found so far, and the first of its items that does.
    homes: BTreeMap<Handle<Local>, ItemPosition>,
    n_assignments: BTreeMap<Handle<Local>, usize>,
}

impl LocalUses {
    fn block(&mut self, items: &[Item], this: BlockNesting) {
        let block = self.blocks.len();
        self.blocks.push(this);
        for (at, item) in items.iter().enumerate() {
            let place = ItemPosition { block, at };
            if let Item::Assign(Assign { target: Target::Local(local), .. }) = item {
                *self.n_assignments.entry(*local).or_default() += 1;
            }
            item.each_expr(&mut |expr| each_read(expr, &mut |local| self.use_at(local, place)));
            if let Item::Assign(Assign { target: Target::Local(local), .. }) = item {
                self.use_at(*local, place);
            }
            let inside = BlockNesting { around: place, depth: this.depth + 1 };
            item.blocks().into_iter().for_each(|inner| self.block(inner, inside));
        }
    }

    fn use_at(&mut self, local: Handle<Local>, place: ItemPosition) {
        let Some(&known) = self.homes.get(&local) else {
            self.homes.insert(local, place);
            return;
        };
        // The uses come in order, so the item that holds those before stands first.
        let (mut home, mut other) = (known, place);
        while home.block != other.block {
            let (of_home, of_other) = (self.blocks[home.block], self.blocks[other.block]);
            if of_home.depth >= of_other.depth {
                home = of_home.around;
            }
            if of_other.depth >= of_home.depth {
                other = of_other.around;
            }
        }
        self.homes.insert(local, home);
    }
}

/// Puts the declarations into blocks, in the same order.
struct Declarations {
    /// The locals that are declared before an item of a block.
    homes: BTreeMap<(usize, usize), Vec<Handle<Local>>>,
    n_assignments: BTreeMap<Handle<Local>, usize>,
    n_blocks: usize,
}

impl Declarations {
    fn block(&mut self, items: &mut Vec<Item>) {
        let block = self.n_blocks;
        self.n_blocks += 1;
        for (at, mut item) in std::mem::take(items).into_iter().enumerate() {
            item.blocks_mut().into_iter().for_each(|inner| self.block(inner));
            for local in self.homes.remove(&(block, at)).unwrap_or_default() {
                item = match item {
                    // The first assignment gives the value, unless it reads the local itself.
                    Item::Assign(Assign { target: Target::Local(it), value, origin })
                        if it == local && !reads(&value, local) =>
                    {
                        let is_const = self.n_assignments.get(&local) == Some(&1);
                        Item::Declare(Declare { local, value: Some((value, origin)), is_const })
                    }
                    item => {
                        items.push(Item::Declare(Declare { local, value: None, is_const: false }));
                        item
                    }
                };
            }
            items.push(item);
        }
    }
}

fn reads(expr: &Expr<Read>, local: Handle<Local>) -> bool {
    let mut is_read = false;
    each_read(expr, &mut |it| is_read |= it == local);
    is_read
}
