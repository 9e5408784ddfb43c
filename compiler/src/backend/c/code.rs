//! Generated code before it is text: statements whose locals still lack a place.

use std::collections::BTreeSet;

use crate::diag::Origin;
use crate::types::DType;

/// A function of the generated file.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    /// What it does, in a comment above it.
    pub(super) about: String,
    /// Positions that it gets.
    pub(super) positions: Vec<String>,
    pub(super) body: Vec<Item>,
}

/// A value that lives in a block; named by its position in the list of all locals.
#[derive(Debug)]
pub(super) struct Local {
    pub(super) name: String,
    pub(super) dtype: DType,
    /// Whether a statement or a condition uses its value.
    pub(super) is_read: bool,
}

/// A statement.
#[derive(Debug)]
pub(super) enum Item {
    Assign(Assign),
    Declare(Declare),
    Checked(Checked),
    For(For),
    Launch(Launch),
    If(If),
    While(While),
}

/// `target = value;`
#[derive(Debug)]
pub(super) struct Assign {
    pub(super) target: Target,
    pub(super) value: String,
    /// Whether the value depends on what the target held.
    pub(super) reads_target: bool,
    pub(super) origin: Origin,
    pub(super) uses: Uses,
}

#[derive(Debug)]
pub(super) enum Target {
    Element(String),
    Local(usize),
}

/// Indices that are found at run time, and what runs if all of them exist.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) indices: Vec<Index>,
    pub(super) trap: Trap,
    /// Whether it stands in the body of a `while`, which must not go on then: what would end it is left out.
    pub(super) is_in_while: bool,
    pub(super) uses: Uses,
    pub(super) origin: Origin,
    pub(super) body: Vec<Item>,
}

/// An index under a name, and what it has to be less than.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) size: String,
}

/// What is reported where the run must end: the statement and the cell, and what puts it in order.
#[derive(Debug)]
pub(super) struct Trap {
    pub(super) statement: u32,
    /// Which loop over the levels it stands in, in the text.
    pub(super) sweep: u32,
    /// The level, in the order in which a sweep comes to it; 0 where levels have no order.
    pub(super) turn: String,
    /// The outermost statement around, which is finished at all points before the next one starts.
    pub(super) outermost: u32,
    pub(super) cell: [String; 3],
}

/// A local, declared before its first use, with the value of its first assignment where that stands in the same block.
#[derive(Debug)]
pub(super) struct Declare {
    pub(super) local: usize,
    /// The text of the value, and the statement that it is from.
    pub(super) value: Option<(String, Origin)>,
    pub(super) is_const: bool,
    pub(super) uses: Uses,
}

/// A loop over positions.
#[derive(Debug)]
pub(super) struct For {
    pub(super) variable: String,
    pub(super) start: String,
    pub(super) end: String,
    pub(super) step: i64,
    pub(super) is_descending: bool,
    pub(super) is_simd: bool,
    pub(super) uses: Uses,
    pub(super) body: Vec<Item>,
}

/// Where a loop that is shared starts, ends, and how far it goes each time.
#[derive(Debug)]
pub(super) struct Positions {
    pub(super) variable: String,
    pub(super) start: String,
    pub(super) end: String,
    pub(super) step: i64,
}

/// Calls a function for positions in parallel; without positions, once.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) positions: Vec<Positions>,
    pub(super) function: String,
    /// Positions of the loops around, that the function gets before its own.
    pub(super) outer: Vec<String>,
    pub(super) uses: Uses,
}

#[derive(Debug)]
pub(super) struct If {
    pub(super) branches: Vec<Branch>,
    pub(super) otherwise: Vec<Item>,
}

#[derive(Debug)]
pub(super) struct Branch {
    pub(super) condition: String,
    pub(super) uses: Uses,
    pub(super) origin: Origin,
    pub(super) body: Vec<Item>,
}

#[derive(Debug)]
pub(super) struct While {
    pub(super) condition: String,
    pub(super) uses: Uses,
    pub(super) origin: Origin,
    /// The report of a loop that does not end.
    pub(super) trap: Trap,
    pub(super) counter: String,
    pub(super) body: Vec<Item>,
}

/// Below the compute domain, or above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    Below,
    Above,
}

impl Side {
    pub(super) fn name(self) -> &'static str {
        match self {
            Side::Below => "below",
            Side::Above => "above",
        }
    }
}

/// What a piece of code needs from around it.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    /// Arrays and arguments, by position in [`Program::arrays`](super::from_sdfg::Program).
    pub(super) containers: BTreeSet<usize>,
    /// Sizes of the domain, by axis.
    pub(super) sizes: BTreeSet<usize>,
    /// The container's strides along a dimension.
    pub(super) strides: BTreeSet<(usize, usize)>,
    /// The levels that the container's array has beside those of the domain.
    pub(super) levels: BTreeSet<(usize, Side)>,
    /// Positions of loops, by name.
    pub(super) positions: BTreeSet<String>,
    /// Locals that are read or written, by position.
    pub(super) locals: BTreeSet<usize>,
}

impl Uses {
    pub(super) fn add(&mut self, other: &Self) {
        self.containers.extend(&other.containers);
        self.sizes.extend(&other.sizes);
        self.strides.extend(&other.strides);
        self.levels.extend(&other.levels);
        self.positions.extend(other.positions.iter().cloned());
        self.locals.extend(&other.locals);
    }

    /// What all the items need together.
    pub(super) fn of_all(items: &[Item]) -> Self {
        let mut all = Self::default();
        all.add_all(items);
        all
    }

    fn add_all(&mut self, items: &[Item]) {
        for item in items {
            item.each_head(&mut |uses| self.add(uses));
            item.blocks().into_iter().for_each(|block| self.add_all(block));
        }
    }
}

impl Item {
    /// The blocks inside.
    pub(super) fn blocks(&self) -> Vec<&[Item]> {
        match self {
            Item::Assign(_) | Item::Declare(_) | Item::Launch(_) => Vec::new(),
            Item::For(it) => vec![&it.body],
            Item::Checked(it) => vec![&it.body],
            Item::While(it) => vec![&it.body],
            Item::If(it) => {
                let branches = it.branches.iter().map(|it| it.body.as_slice());
                branches.chain(std::iter::once(it.otherwise.as_slice())).collect()
            }
        }
    }

    pub(super) fn blocks_mut(&mut self) -> Vec<&mut Vec<Item>> {
        match self {
            Item::Assign(_) | Item::Declare(_) | Item::Launch(_) => Vec::new(),
            Item::For(it) => vec![&mut it.body],
            Item::Checked(it) => vec![&mut it.body],
            Item::While(it) => vec![&mut it.body],
            Item::If(it) => {
                let branches = it.branches.iter_mut().map(|it| &mut it.body);
                branches.chain(std::iter::once(&mut it.otherwise)).collect()
            }
        }
    }

    /// Calls `each` for what is needed before the blocks inside are entered.
    pub(super) fn each_head(&self, each: &mut dyn FnMut(&Uses)) {
        match self {
            Item::Assign(it) => each(&it.uses),
            Item::Declare(it) => each(&it.uses),
            Item::Launch(it) => each(&it.uses),
            Item::For(it) => each(&it.uses),
            Item::Checked(it) => each(&it.uses),
            Item::While(it) => each(&it.uses),
            Item::If(it) => it.branches.iter().for_each(|it| each(&it.uses)),
        }
    }
}

/// Whether something in the items satisfies `is_wanted`, at any depth.
pub(super) fn any(items: &[Item], is_wanted: &mut impl FnMut(&Item) -> bool) -> bool {
    items.iter().any(|item| is_wanted(item) || item.blocks().iter().any(|block| any(block, is_wanted)))
}
