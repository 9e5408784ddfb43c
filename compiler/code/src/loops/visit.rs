//! The one place that knows the parts of each statement, and its reads and writes.
//!
//! Every search in a program goes through here, and so sees each kind of statement:
//!
//! - [`walk`] visits all statements from outside in.
//! - `each_expr` visits the expressions that a statement evaluates before the blocks inside.
//! - `each_element` visits the elements that it touches.
//! - `each_size` visits its bounds.
//!
//! A new kind of statement is added here, and all analyses see it then. The matches name every kind, so that
//! none is forgotten.

use std::collections::BTreeSet;

use super::nodes::{
    Array, ArrayKind, Assign, DimensionIndex, Element, Item, Local, Positions, Program, Read, StepSubject,
    StripPart, Target, Trap,
};
use crate::diag::{Origin, Span};
use crate::entity::Handle;
use crate::expr::Expr;
use crate::space::{Affine, Size, Symbol};

impl Item {
    /// The blocks inside.
    #[must_use]
    pub fn blocks(&self) -> Vec<&[Item]> {
        match self {
            Item::Assign(_) | Item::Declare(_) | Item::Launch(_) | Item::Barrier => Vec::new(),
            Item::For(it) => vec![&it.body],
            Item::Strips(it) => it.parts.iter().flat_map(StripPart::blocks).collect(),
            Item::Checked(it) => vec![&it.body],
            Item::While(it) => vec![&it.body],
            Item::If(it) => {
                let branches = it.branches.iter().map(|it| it.body.as_slice());
                branches.chain(std::iter::once(it.otherwise.as_slice())).collect()
            }
        }
    }

    /// The same, for a pass to change; a body may grow or shrink, and the item stays what it is.
    pub fn blocks_mut(&mut self) -> Vec<&mut Vec<Item>> {
        match self {
            Item::Assign(_) | Item::Declare(_) | Item::Launch(_) | Item::Barrier => Vec::new(),
            Item::For(it) => vec![&mut it.body],
            Item::Strips(it) => it.parts.iter_mut().flat_map(StripPart::blocks_mut).collect(),
            Item::Checked(it) => vec![&mut it.body],
            Item::While(it) => vec![&mut it.body],
            Item::If(it) => {
                let branches = it.branches.iter_mut().map(|it| &mut it.body);
                branches.chain(std::iter::once(&mut it.otherwise)).collect()
            }
        }
    }

    /// Calls `each` for every expression that is evaluated before the blocks inside are entered; of a branch,
    /// before its own.
    pub fn each_expr<'a>(&'a self, each: &mut dyn FnMut(&'a Expr<Read>)) {
        match self {
            Item::Assign(it) => each(&it.value),
            Item::Declare(it) => it.value.iter().for_each(|(value, _)| each(value)),
            Item::Checked(it) => it.indices.iter().for_each(|it| each(&it.value)),
            Item::While(it) => each(&it.condition),
            Item::If(it) => it.branches.iter().for_each(|it| each(&it.condition)),
            Item::Strips(it) => it.parts.iter().for_each(|it| it.each_condition(each)),
            Item::For(_) | Item::Launch(_) | Item::Barrier => {}
        }
    }

    /// The expressions of `each_expr`, for a pass to change.
    pub(crate) fn exprs_mut(&mut self) -> Vec<&mut Expr<Read>> {
        match self {
            Item::Assign(it) => vec![&mut it.value],
            Item::Declare(it) => it.value.iter_mut().map(|(value, _)| value).collect(),
            Item::Checked(it) => it.indices.iter_mut().map(|it| &mut it.value).collect(),
            Item::While(it) => vec![&mut it.condition],
            Item::If(it) => it.branches.iter_mut().map(|it| &mut it.condition).collect(),
            Item::Strips(it) => it.parts.iter_mut().flat_map(StripPart::conditions_mut).collect(),
            Item::For(_) | Item::Launch(_) | Item::Barrier => Vec::new(),
        }
    }

    /// Calls `each` for every element that the item itself reads or writes.
    pub fn each_element<'a>(&'a self, each: &mut dyn FnMut(&'a Element)) {
        self.each_expr(&mut |expr| {
            expr.accesses(&mut |it| {
                if let Read::Element(element) = it {
                    each(element);
                }
            });
        });
        if let Item::Assign(Assign { target: Target::Element(element), .. }) = self {
            each(element);
        }
    }

    /// Calls `each` for the bounds of loops and the sizes of dimensions that are asked for at the item itself.
    pub fn each_size<'a>(&'a self, each: &mut dyn FnMut(&'a Size)) {
        let mut of_positions = |it: &'a Positions| {
            each(&it.start);
            each(&it.end);
        };
        match self {
            Item::For(it) => of_positions(&it.positions),
            Item::Strips(it) => of_positions(&it.positions),
            Item::Launch(it) => it.positions.iter().for_each(of_positions),
            Item::Checked(it) => it.indices.iter().for_each(|it| each(&it.size)),
            Item::Assign(_) | Item::Declare(_) | Item::If(_) | Item::While(_) | Item::Barrier => {}
        }
    }
}

impl StripPart {
    fn blocks(&self) -> Vec<&[Item]> {
        match self {
            StripPart::Lanes(items) => vec![items],
            StripPart::While(it) => it.parts.iter().map(Vec::as_slice).collect(),
            StripPart::Branch(it) => it.arms().flatten().flat_map(StripPart::blocks).collect(),
        }
    }

    fn blocks_mut(&mut self) -> Vec<&mut Vec<Item>> {
        match self {
            StripPart::Lanes(items) => vec![items],
            StripPart::While(it) => it.parts.iter_mut().collect(),
            StripPart::Branch(it) => {
                let arms = it.arms.iter_mut().flat_map(|it| &mut it.parts);
                arms.chain(&mut it.otherwise).flat_map(StripPart::blocks_mut).collect()
            }
        }
    }

    /// The parts, from outside in: arms of branches after the branch.
    pub(crate) fn walk<'a>(&'a self, each: &mut dyn FnMut(&'a StripPart)) {
        each(self);
        if let StripPart::Branch(it) = self {
            it.arms().flatten().for_each(|it| it.walk(each));
        }
    }

    fn each_condition<'a>(&'a self, each: &mut dyn FnMut(&'a Expr<Read>)) {
        self.walk(&mut |part| match part {
            StripPart::Lanes(_) => {}
            StripPart::While(it) => each(&it.condition),
            StripPart::Branch(it) => it.arms.iter().for_each(|it| each(&it.condition)),
        });
    }

    fn conditions_mut(&mut self) -> Vec<&mut Expr<Read>> {
        match self {
            StripPart::Lanes(_) => Vec::new(),
            StripPart::While(it) => vec![&mut it.condition],
            StripPart::Branch(it) => {
                let mut found = Vec::new();
                for arm in &mut it.arms {
                    found.push(&mut arm.condition);
                    found.extend(arm.parts.iter_mut().flat_map(StripPart::conditions_mut));
                }
                found.extend(it.otherwise.iter_mut().flat_map(StripPart::conditions_mut));
                found
            }
        }
    }
}

/// Calls `each` for every item, at any depth, from outside in.
pub fn walk<'a>(items: &'a [Item], each: &mut impl FnMut(&'a Item)) {
    for item in items {
        each(item);
        item.blocks().into_iter().for_each(|block| walk(block, each));
    }
}

/// Calls `each` for the origin of every statement and condition, from outside in.
pub fn each_origin(items: &[Item], each: &mut dyn FnMut(&Origin)) {
    walk(items, &mut |item| match item {
        Item::Assign(it) => each(&it.origin),
        Item::Declare(it) => it.value.iter().for_each(|(_, origin)| each(origin)),
        Item::Checked(it) => each(&it.origin),
        Item::If(it) => it.branches.iter().for_each(|it| each(&it.origin)),
        Item::While(it) => each(&it.origin),
        Item::Strips(it) => it.parts.iter().for_each(|it| {
            it.walk(&mut |part| match part {
                StripPart::Lanes(_) => {}
                StripPart::While(it) => each(&it.origin),
                StripPart::Branch(it) => it.arms.iter().for_each(|it| each(&it.origin)),
            });
        }),
        Item::For(_) | Item::Launch(_) | Item::Barrier => {}
    });
}

/// Calls `each` for every local that items read or write, at any depth.
pub fn each_local(items: &[Item], each: &mut impl FnMut(Handle<Local>)) {
    walk(items, &mut |item| {
        item.each_expr(&mut |expr| each_read(expr, each));
        if let Item::Assign(Assign { target: Target::Local(local), .. }) = item {
            each(*local);
        }
    });
}

/// Calls `each` for every local that an expression reads.
pub fn each_read(expr: &Expr<Read>, each: &mut impl FnMut(Handle<Local>)) {
    expr.accesses(&mut |read| {
        if let Read::Local(local) = read {
            each(*local);
        }
    });
}

/// Whether something in the items satisfies `is_wanted`, at any depth.
pub fn any(items: &[Item], is_wanted: &mut impl FnMut(&Item) -> bool) -> bool {
    items.iter().any(|item| is_wanted(item) || item.blocks().iter().any(|block| any(block, is_wanted)))
}

impl Program {
    /// Whether a run may have to end at a cell.
    #[must_use]
    pub fn has_traps(&self) -> bool {
        let is_trap = |it: &Item| match it {
            Item::While(_) | Item::Checked(_) => true,
            Item::Strips(it) => it.parts.iter().any(|it| matches!(it, StripPart::While(_))),
            Item::Assign(_)
            | Item::Declare(_)
            | Item::For(_)
            | Item::Launch(_)
            | Item::If(_)
            | Item::Barrier => false,
        };
        self.functions.values().any(|it| any(&it.body, &mut |it| is_trap(it)))
    }

    /// Whether cells may run a `while` of their own.
    #[must_use]
    pub fn has_whiles(&self) -> bool {
        let is_while = |it: &Item| match it {
            Item::While(_) => true,
            Item::Strips(it) => it.parts.iter().any(|it| matches!(it, StripPart::While(_))),
            Item::Checked(_)
            | Item::Assign(_)
            | Item::Declare(_)
            | Item::For(_)
            | Item::Launch(_)
            | Item::If(_)
            | Item::Barrier => false,
        };
        self.functions.values().any(|it| any(&it.body, &mut |it| is_while(it)))
    }

    /// Describes the step at a position.
    ///
    /// The description is the comment of the step in generated code. Names are the stencil's, not those of
    /// code.
    #[must_use]
    pub fn about(&self, step: usize) -> StepSubject {
        let (mut shared, mut own, mut spans) = (Vec::new(), Vec::new(), BTreeSet::new());
        let mut note = |origin: &Origin| {
            // A called function stands elsewhere; the call itself stands in the stencil.
            spans.extend(origin.spans().last().map(|it| (it.file, it.start, it.end)));
        };
        for function in self.functions.values().filter(|it| it.step == step + 1) {
            each_origin(&function.body, &mut note);
            walk(&function.body, &mut |item| {
                if let Item::Assign(Assign { target: Target::Element(element), .. }) = item {
                    let array = &self.arrays[element.array];
                    let name = array.stencil_name.clone();
                    let among = if array.is_per_thread { &mut own } else { &mut shared };
                    if !among.contains(&name) {
                        among.push(name);
                    }
                }
            });
        }
        StepSubject {
            writes: if shared.is_empty() { own } else { shared },
            spans: spans.into_iter().map(|(file, start, end)| Span::new(file, start, end)).collect(),
        }
    }

    /// Marks the fields that no statement reads any more.
    pub(super) fn forget_reads(&mut self) {
        let mut read: BTreeSet<Handle<Array>> = BTreeSet::new();
        self.each_expr(&mut |expr| {
            expr.accesses(&mut |it| {
                if let Read::Element(element) = it {
                    read.insert(element.array);
                }
            });
        });
        for (at, array) in self.arrays.iter_mut() {
            if let ArrayKind::Field { is_read, .. } = &mut array.kind {
                *is_read = *is_read && read.contains(&at);
            }
        }
    }

    /// Every expression of the program.
    pub fn each_expr<'a>(&'a self, each: &mut dyn FnMut(&'a Expr<Read>)) {
        for function in self.functions.values() {
            walk(&function.body, &mut |item| item.each_expr(each));
        }
    }
}

/// The locals that loops in strips keep from one part to the next.
#[must_use]
pub fn kept(program: &Program) -> BTreeSet<Handle<Local>> {
    let mut kept = BTreeSet::new();
    for function in program.functions.values() {
        walk(&function.body, &mut |item| {
            if let Item::Strips(it) = item {
                kept.extend(&it.kept);
            }
        });
    }
    kept
}

/// The locals that statements declare; a loop in strips does so with those that it keeps.
///
/// It is empty before `loops/declare-locals`, when locals belong to their function as a whole.
#[must_use]
pub fn declared(program: &Program) -> BTreeSet<Handle<Local>> {
    let mut declared = BTreeSet::new();
    for function in program.functions.values() {
        walk(&function.body, &mut |item| match item {
            Item::Declare(it) => {
                declared.insert(it.local);
            }
            Item::Strips(it) => declared.extend(&it.kept),
            Item::Assign(_)
            | Item::Checked(_)
            | Item::For(_)
            | Item::Launch(_)
            | Item::If(_)
            | Item::While(_)
            | Item::Barrier => {}
        });
    }
    declared
}

/// The symbols that a program names.
///
/// They stand in shapes and shifts of arrays, in the positions of functions, and in statements. Rows that loops
/// prefetch or store have them too. The validator holds them against [`Program::symbols`].
#[must_use]
pub fn symbols(program: &Program) -> BTreeSet<Symbol> {
    let mut found = BTreeSet::new();
    for array in program.arrays.values() {
        array.shape.iter().for_each(|it| {
            it.each_symbol(&mut |it| {
                found.insert(it.clone());
            })
        });
        array.shift.iter().flat_map(Affine::terms).for_each(|(it, _)| {
            found.insert(it.clone());
        });
    }
    for function in program.functions.values() {
        found.extend(function.positions.iter().cloned());
        walk(&function.body, &mut |item| {
            each_symbol(item, &mut |it| {
                found.insert(it.clone());
            })
        });
    }
    for of in program.decisions.loops() {
        program.decisions.rows(of).for_each(|it| {
            each_symbol_of(it, &mut |it| {
                found.insert(it.clone());
            })
        });
    }
    found
}

/// Calls `each` for every symbol that an item names, without those of the blocks inside.
pub fn each_symbol(item: &Item, each: &mut dyn FnMut(&Symbol)) {
    item.each_size(&mut |it| it.each_symbol(each));
    item.each_element(&mut |it| each_symbol_of(it, each));
    item.each_expr(&mut |expr| {
        expr.accesses(&mut |it| match it {
            Read::Sum(sum) => sum.terms().for_each(|(symbol, _)| each(symbol)),
            Read::Element(_) | Read::Local(_) => {}
        });
    });
    let mut of_trap = |it: &Trap| {
        it.cell.iter().chain([&it.turn]).flat_map(Affine::terms).for_each(|(symbol, _)| each(symbol));
    };
    match item {
        Item::Checked(it) => of_trap(&it.trap),
        Item::While(it) => of_trap(&it.trap),
        Item::Strips(it) => it.parts.iter().for_each(|part| match part {
            StripPart::Lanes(_) | StripPart::Branch(_) => {}
            StripPart::While(it) => of_trap(&it.trap),
        }),
        Item::Assign(_) | Item::Declare(_) | Item::For(_) | Item::Launch(_) | Item::If(_) | Item::Barrier => {
        }
    }
    match item {
        Item::For(it) => each(&it.positions.variable),
        Item::Strips(it) => each(&it.positions.variable),
        Item::Launch(it) => {
            it.outer.iter().chain(it.positions.iter().map(|it| &it.variable)).for_each(each);
        }
        Item::Assign(_)
        | Item::Declare(_)
        | Item::Checked(_)
        | Item::If(_)
        | Item::While(_)
        | Item::Barrier => {}
    }
}

/// Calls `each` for the symbols in an element's index.
///
/// Of an index of run time, those of its shift.
fn each_symbol_of(element: &Element, each: &mut dyn FnMut(&Symbol)) {
    let sums = element.index.iter().map(|it| match it {
        DimensionIndex::Known(sum) | DimensionIndex::Found { shift: sum, .. } => sum,
    });
    sums.flat_map(Affine::terms).for_each(|(symbol, _)| each(symbol));
}
