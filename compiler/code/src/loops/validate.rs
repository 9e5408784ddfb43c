//! The rules of this level.
//!
//! A program keeps all of them after lowering and after every pass; tests and debug builds check after each.
//! A violation is a fault of ours, and no text of a stencil can bring it about.
//!
//! - **Names** ([`names`]): arrays, locals, integers, positions and functions have names that differ, and a symbol has a
//!   meaning. Arguments are the caller's; rings, rows that were placed and arrays of threads are not.
//! - **Functions**: a step has one without positions, and is spread where it launches something. Every other function is
//!   launched once, by one behind it, with the positions that it has.
//! - **Positions**: a loop has a variable of its own and goes forward by one or more. A sum names the positions of loops
//!   around only.
//! - **Locals**: where statements declare locals, each use stands behind its declaration, in the same block or inside of
//!   it. A loop in strips declares what it keeps. Before `loops/declare-locals` nothing is declared.
//! - **Elements**: as many indices as the array has dimensions. An index of run time stands inside of the check that
//!   finds it.
//! - **Types**: an assignment has the type of what it assigns, a condition is a bool, an index an integer.
//! - **Decisions** ([`decisions`]): a loop has a handle of its own, and tables name loops and arrays that there are. Only
//!   parallel loops have lanes, and only along rows are there blocks, or rows that are stored past the caches. Loops
//!   with masks hold no loops. A loop that is a block has one position at most, and a part of a text one step.

mod names;
mod decisions;

use std::collections::BTreeSet;

use super::nodes::{
    Array, Assign, BoundsCheck, DimensionIndex, Element, Function, GpuAxis, Integer, Item, Launch, Local,
    MOST_BRANCHES, Positions, Program, Read, Storage, StripPart, Strips, Target, Trap,
};
use super::visit::{declared, kept, symbols};
use crate::entity::Handle;
use crate::expr::{self, Expr};
use crate::space::{Affine, Size, Symbol};
use crate::types::DType;

/// All violations, each as one sentence; they are faults of ours, never the user's.
#[must_use]
pub fn validate(program: &Program) -> Vec<String> {
    let mut found = Vec::new();
    names::names(program, &mut found);
    decisions::tables(program, &mut found);
    let mut rules = Rules {
        program,
        declared: declared(program),
        kept: kept(program),
        found,
        positions: Vec::new(),
        locals: BTreeSet::new(),
        integers: BTreeSet::new(),
        n_spread: (0, 0),
    };
    rules.program();
    rules.found
}

/// A program, and what may be named at the statement at hand.
struct Rules<'p> {
    program: &'p Program,
    /// The locals that some statement declares.
    declared: BTreeSet<Handle<Local>>,
    /// Those that a loop in strips keeps: it declares them, and so does the statement that gives them their value.
    kept: BTreeSet<Handle<Local>>,
    found: Vec<String>,
    /// The positions of the function and of the loops around, from outside in.
    positions: Vec<Symbol>,
    /// The locals that are declared in the blocks around.
    locals: BTreeSet<Handle<Local>>,
    /// The integers that are found around.
    integers: BTreeSet<Handle<Integer>>,
    /// How many loops around a GPU spreads over its grid, and how many over the threads of a block.
    n_spread: (usize, usize),
}

impl Rules<'_> {
    /// Notes a violation and goes on, so that one report has all of them. The sentence is made only where
    /// it is needed.
    fn demand(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.found.push(what());
        }
    }

    /// The rules of symbols and steps, and then those of each function.
    fn program(&mut self) {
        let program = self.program;
        let unknown: Vec<Symbol> =
            symbols(program).into_iter().filter(|it| !program.symbols.contains_key(it)).collect();
        for symbol in unknown {
            self.found.push(format!("`{symbol}` has no meaning"));
        }
        for (at, step) in program.steps.iter().enumerate() {
            let Some(function) = program.functions.get(step.function) else {
                self.found.push(format!("step {} has no function", at + 1));
                continue;
            };
            self.demand(function.step == at + 1, || format!("`{}` is not of step {}", function.name, at + 1));
            self.demand(function.positions.is_empty(), || {
                format!("`{}` is a step and gets positions", function.name)
            });
            let mut launches = false;
            super::visit::walk(&function.body, &mut |it| launches |= matches!(it, Item::Launch(_)));
            self.demand(launches == step.is_spread, || {
                format!("`{}` launches something and is not spread, or the other way round", function.name)
            });
        }
        for (at, function) in program.functions.iter() {
            self.function(at, function);
        }
    }

    /// Each function is a step, or is launched by one place, which stands behind it. A launch that stands
    /// before it counts twice, and so is always a violation.
    fn function(&mut self, at: Handle<Function>, function: &Function) {
        let program = self.program;
        self.positions = function.positions.clone();
        self.locals.clear();
        self.integers.clear();
        let is_step = program.steps.iter().any(|it| it.function == at);
        let mut n_launches = 0;
        for (caller, it) in program.functions.iter() {
            super::visit::walk(&it.body, &mut |item| {
                if matches!(item, Item::Launch(it) if it.function == at) {
                    n_launches += 1;
                    if caller <= at {
                        n_launches += 1;
                    }
                }
            });
        }
        self.demand(is_step == (n_launches == 0) && n_launches <= 1, || {
            format!("`{}` is neither one step nor launched once, by a function behind it", function.name)
        });
        self.block(&function.body);
    }

    /// A block: what it declares ends with it.
    fn block(&mut self, items: &[Item]) {
        let outer = self.locals.clone();
        items.iter().for_each(|it| self.item(it));
        self.locals = outer;
    }

    /// Checks one statement. The names in it must be known here, and the blocks inside know the names that it
    /// adds.
    fn item(&mut self, item: &Item) {
        match item {
            Item::Assign(it) => self.assign(it),
            Item::Declare(it) => {
                if let Some((value, _)) = &it.value {
                    self.expr(value);
                }
                if let Some(local) = self.program.locals.get(it.local) {
                    let dtype = it.value.as_ref().map_or(local.dtype, |(value, _)| value.dtype);
                    self.demand(dtype == local.dtype, || {
                        format!("`{}` is {} and gets {dtype}", local.name, local.dtype)
                    });
                    self.demand(!it.is_const || it.value.is_some(), || {
                        format!("`{}` is constant and has no value", local.name)
                    });
                    self.demand(!self.locals.contains(&it.local) || self.kept.contains(&it.local), || {
                        format!("`{}` is declared twice", local.name)
                    });
                } else {
                    self.found.push("a local is declared that does not exist".to_owned());
                }
                self.locals.insert(it.local);
            }
            Item::Checked(it) => self.checked(it),
            Item::For(it) => {
                self.decided(it);
                let outer = self.n_spread;
                match it.gpu {
                    Some(GpuAxis::Grid) => self.n_spread.0 += 1,
                    Some(GpuAxis::Block) => self.n_spread.1 += 1,
                    None => {}
                }
                self.within(&[&it.positions], |this| {
                    this.program.decisions.rows(it.id).for_each(|it| this.rank(it));
                    this.block(&it.body);
                });
                self.n_spread = outer;
            }
            Item::Strips(it) => self.strips(it),
            Item::Launch(it) => self.launch(it),
            Item::If(it) => {
                self.demand(!it.branches.is_empty(), || "an `if` has no branch".to_owned());
                for branch in &it.branches {
                    self.condition(&branch.condition);
                    self.block(&branch.body);
                }
                self.block(&it.otherwise);
            }
            Item::While(it) => {
                self.condition(&it.condition);
                self.trap(&it.trap);
                self.block(&it.body);
            }
            Item::Barrier => {
                self.demand(self.n_spread.0 > 0 && self.n_spread.1 == 0, || {
                    "a barrier stands outside of a grid, or in a loop of a block".to_owned()
                });
            }
        }
    }

    /// Checks the value before the target, since it is computed first.
    fn assign(&mut self, it: &Assign) {
        self.expr(&it.value);
        let (name, dtype) = match &it.target {
            Target::Local(local) => {
                self.local(*local);
                match self.program.locals.get(*local) {
                    Some(it) => (it.name.clone(), it.dtype),
                    None => return,
                }
            }
            Target::Element(element) => {
                self.element(element);
                let Some(array) = self.program.arrays.get(element.array) else { return };
                let name = name_of(array);
                self.demand(!array.is_scalar_argument(), || {
                    format!("`{name}` is passed as a value and is written")
                });
                (name, array.dtype)
            }
        };
        self.demand(dtype == it.value.dtype, || format!("`{name}` is {dtype} and gets {}", it.value.dtype));
    }

    /// Indices of one check may not name each other: they are known in its body, and not before.
    fn checked(&mut self, it: &BoundsCheck) {
        self.demand(!it.indices.is_empty(), || "a check checks nothing".to_owned());
        for index in &it.indices {
            self.expr(&index.value);
            self.size(&index.size);
            self.demand(index.value.dtype.is_int(), || {
                format!("an index is {}, which is no integer", index.value.dtype)
            });
        }
        self.trap(&it.trap);
        let outer = self.integers.clone();
        self.integers.extend(it.indices.iter().map(|it| it.integer));
        self.block(&it.body);
        self.integers = outer;
    }

    /// Kept locals are declared for all parts, since each part is a loop of its own over the strip.
    fn strips(&mut self, it: &Strips) {
        self.demand(it.positions.step == 1 && it.width > 0, || {
            format!("strips of {} go along a row by {}", it.width, it.positions.step)
        });
        let outer = self.locals.clone();
        self.locals.extend(&it.kept);
        self.within(&[&it.positions], |this| {
            it.parts.iter().for_each(|it| this.part(it, 0));
        });
        self.locals = outer;
    }

    /// A part of a loop in strips, in so many arms of branches.
    fn part(&mut self, part: &StripPart, depth: usize) {
        match part {
            StripPart::Lanes(items) => self.lanes(items),
            StripPart::While(it) => {
                self.demand(depth == 0, || "an arm of a branch of a strip repeats something".to_owned());
                self.condition(&it.condition);
                self.trap(&it.trap);
                it.parts.iter().for_each(|it| self.lanes(it));
            }
            StripPart::Branch(it) => {
                self.demand(depth < MOST_BRANCHES, || {
                    format!("more than {MOST_BRANCHES} branches of a strip stand in each other")
                });
                it.arms.iter().for_each(|it| self.condition(&it.condition));
                it.arms().flatten().for_each(|it| self.part(it, depth + 1));
            }
        }
    }

    /// A part of a loop in strips, which runs in lanes.
    fn lanes(&mut self, items: &[Item]) {
        let is_loop = |it: &Item| {
            matches!(it, Item::For(_) | Item::Strips(_) | Item::Launch(_) | Item::While(_) | Item::Checked(_))
        };
        let has_loop = super::visit::any(items, &mut |it| is_loop(it));
        self.demand(!has_loop, || "a part of a loop in strips holds a loop or a check".to_owned());
        self.block(items);
    }

    /// Positions are passed in order and without names: those of the loops around, then the launch's own.
    /// Both sides must agree.
    fn launch(&mut self, it: &Launch) {
        let Some(function) = self.program.functions.get(it.function) else {
            self.found.push("a function is launched that does not exist".to_owned());
            return;
        };
        let given: Vec<&Symbol> = it.outer.iter().chain(it.positions.iter().map(|it| &it.variable)).collect();
        let is_same = given.iter().copied().eq(&function.positions);
        self.demand(is_same, || format!("`{}` gets other positions than it is launched with", function.name));
        for symbol in &it.outer {
            self.demand(self.positions.contains(symbol), || format!("`{symbol}` is no loop around"));
        }
        let positions: Vec<&Positions> = it.positions.iter().collect();
        self.within(&positions, |_| {});
    }

    /// Checks loops, and calls `body` while their positions are known.
    fn within(&mut self, loops: &[&Positions], body: impl FnOnce(&mut Self)) {
        let n_outer = self.positions.len();
        for it in loops {
            let variable = &it.variable;
            self.size(&it.start);
            self.size(&it.end);
            self.demand(it.step >= 1, || format!("the loop over `{variable}` has the step {}", it.step));
            self.demand(!self.positions.contains(variable), || {
                format!("the loop over `{variable}` stands inside of another one")
            });
            self.positions.push(variable.clone());
        }
        body(self);
        self.positions.truncate(n_outer);
    }

    /// A report names positions of loops around only.
    fn trap(&mut self, it: &Trap) {
        it.cell.iter().chain([&it.turn]).for_each(|it| self.affine(it));
    }

    /// A condition is a bool; nothing is true by being another number than 0.
    fn condition(&mut self, it: &Expr<Read>) {
        self.expr(it);
        self.demand(it.dtype == DType::Bool, || format!("a condition is {}", it.dtype));
    }

    /// Checks types by the rules of all levels, and then the names at the leaves.
    fn expr(&mut self, expr: &Expr<Read>) {
        let program = self.program;
        let leaf = |read: &Read, _: Option<&expr::Index<Read>>| match read {
            Read::Element(it) => program
                .arrays
                .get(it.array)
                .map(|it| (name_of(it), it.dtype))
                .ok_or_else(|| "an array is read that does not exist".to_owned()),
            Read::Local(it) => program
                .locals
                .get(*it)
                .map(|it| (it.name.clone(), it.dtype))
                .ok_or_else(|| "a local is read that does not exist".to_owned()),
            Read::Sum(sum) => Ok((sum.to_string(), DType::Int64)),
        };
        expr::validate::validate(expr, &leaf, &mut self.found);
        expr.accesses(&mut |read| match read {
            Read::Element(it) => self.element(it),
            Read::Local(it) => {
                self.local(*it);
                if let Some(local) = program.locals.get(*it) {
                    self.demand(local.is_read, || format!("`{}` is read and not marked so", local.name));
                }
            }
            Read::Sum(sum) => self.affine(sum),
        });
    }

    /// A local is used behind its declaration. A program from before `loops/declare-locals` has no
    /// declaration of it, and may use it everywhere.
    fn local(&mut self, local: Handle<Local>) {
        let program = self.program;
        let Some(it) = program.locals.get(local) else { return };
        let is_open = self.locals.contains(&local) || !self.declared.contains(&local);
        self.demand(is_open, || format!("`{}` is used where it is not declared", it.name));
    }

    /// An element whose indices are all known here.
    fn element(&mut self, it: &Element) {
        self.rank(it);
        for at in &it.index {
            match at {
                DimensionIndex::Known(sum) => self.affine(sum),
                DimensionIndex::Found { integer, shift } => {
                    self.affine(shift);
                    let name =
                        self.program.integers.get(*integer).map(|it| it.name.clone()).unwrap_or_default();
                    self.demand(self.integers.contains(integer), || {
                        format!("`{name}` is an index and was not found before")
                    });
                }
            }
        }
    }

    /// The rank of an element, and whether its array is in memory.
    fn rank(&mut self, it: &Element) {
        let Some(array) = self.program.arrays.get(it.array) else {
            self.found.push("an array is used that does not exist".to_owned());
            return;
        };
        let (rank, n) = (array.shape.len(), it.index.len());
        let name = name_of(array);
        self.demand(rank == n, || format!("`{name}` has {rank} dimensions and {n} indices"));
        self.demand(array.storage != Storage::Register, || format!("`{name}` is a local and in no memory"));
    }

    /// A bound, or the size of a dimension.
    fn size(&mut self, size: &Size) {
        match size {
            Size::Affine(sum) => self.affine(sum),
            Size::Min(parts) | Size::Max(parts) => parts.iter().for_each(|it| self.size(it)),
        }
    }

    /// Whether every position in a sum is one of a loop around.
    fn affine(&mut self, sum: &Affine) {
        for (symbol, _) in sum.terms() {
            let is_position =
                matches!(self.program.symbols.get(symbol), Some(super::nodes::SymbolMeaning::Position(_)));
            self.demand(!is_position || self.positions.contains(symbol), || {
                format!("`{symbol}` is used outside of its loop")
            });
        }
    }
}

/// Returns the name of an array in messages.
fn name_of(array: &Array) -> String {
    array.name.clone().unwrap_or_else(|| array.stencil_name.clone())
}
