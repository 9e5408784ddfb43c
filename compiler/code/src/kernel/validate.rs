//! The rules of kernels.
//!
//! A violation is a fault of ours: no text of a stencil can cause one.
//!
//! - **Launches**: the host launches each kernel from one place, inside of the loops whose positions it gets.
//! - **Grids** have three loops at most, whose bounds hold sizes and positions of the host.
//! - **Threads**: a block has as many as the target lets it have; a stage uses axes that have threads, each once.
//! - **Barriers** stand only where all threads of a block come. Bounds and conditions of the loops and
//!   branches around them hold only sizes, positions of the grid, and positions of such loops.
//! - **Arrays** of a block have sizes that the call tells; a thread's are named in one stage.
//! - Beside stages, each thread writes locals only.

use std::collections::BTreeSet;

use super::nodes::{ArrayMemory, BlockStep, Host, Kernel, Kernels, Stage};
use crate::entity::Handle;
use crate::loops::nodes::{Array, Assign, Item, Positions, Read, Target};
use crate::loops::visit::walk;
use crate::space::{Axis, Symbol};

/// All violations, each as one sentence.
#[must_use]
pub fn validate(kernels: &Kernels, max_threads: u32) -> Vec<String> {
    let mut rules = Rules { kernels, found: Vec::new() };
    let mut launched = vec![0; kernels.kernels.len()];
    rules.host(&kernels.host, &mut Vec::new(), &mut launched);
    for (kernel, n) in kernels.kernels.iter().zip(launched) {
        rules.demand(n == 1, || format!("`{}` is launched from {n} places", kernel.name));
        rules.kernel(kernel, max_threads);
    }
    rules.found
}

struct Rules<'k> {
    kernels: &'k Kernels,
    found: Vec<String>,
}

impl Rules<'_> {
    fn demand(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.found.push(what());
        }
    }

    fn host(&mut self, items: &[Host], around: &mut Vec<Symbol>, launched: &mut [usize]) {
        for it in items {
            match it {
                Host::Launch(at) => match self.kernels.kernels.get(*at) {
                    Some(kernel) => {
                        launched[*at] += 1;
                        let same = kernel.outer == *around;
                        self.demand(same, || {
                            format!("`{}` gets other positions than there are", kernel.name)
                        });
                    }
                    None => self.found.push("a kernel is launched that does not exist".to_owned()),
                },
                Host::For { positions, body, .. } => {
                    around.push(positions.variable.clone());
                    self.host(body, around, launched);
                    around.pop();
                }
            }
        }
    }

    fn kernel(&mut self, it: &Kernel, max_threads: u32) {
        let name = &it.name;
        self.demand(it.grid.len() <= 3, || format!("the grid of `{name}` has more than three loops"));
        let n = it.threads.iter().fold(1_u32, |n, it| n.saturating_mul(it.count));
        self.demand(n <= max_threads, || format!("a block of `{name}` has {n} threads"));
        let mut known: BTreeSet<Symbol> =
            Axis::ALL.iter().map(|axis| Symbol::new(axis.name())).chain(it.outer.iter().cloned()).collect();
        let levels = self.kernels.program.symbols.iter();
        known.extend(levels.filter(|(_, it)| is_of_call(it)).map(|(symbol, _)| symbol.clone()));
        for positions in &it.grid {
            self.bounds(name, "grid", positions, &known);
        }
        known.extend(it.grid.iter().map(|it| it.variable.clone()));
        self.pieces(it, &it.body, &mut known);
        self.own(it);
    }

    fn bounds(&mut self, name: &str, what: &str, it: &Positions, known: &BTreeSet<Symbol>) {
        for size in [&it.start, &it.end] {
            let mut unknown = None;
            size.each_symbol(&mut |symbol| {
                if !known.contains(symbol) {
                    unknown = Some(symbol.clone());
                }
            });
            let variable = &it.variable;
            if let Some(symbol) = unknown {
                self.found.push(format!("the {what} of `{name}` over `{variable}` depends on `{symbol}`"));
            }
        }
    }

    fn pieces(&mut self, kernel: &Kernel, pieces: &[BlockStep], known: &mut BTreeSet<Symbol>) {
        let name = &kernel.name;
        for piece in pieces {
            match piece {
                BlockStep::Barrier => {}
                BlockStep::Stage(Stage { positions, .. }) => {
                    let mut axes = BTreeSet::new();
                    for (axis, _) in positions {
                        let has = kernel.threads.iter().any(|it| it.axis == *axis);
                        self.demand(has, || format!("a stage of `{name}` has no threads along {axis:?}"));
                        let is_new = axes.insert(*axis);
                        self.demand(is_new, || format!("a stage of `{name}` uses {axis:?} twice"));
                    }
                }
                BlockStep::For { positions, body, .. } => {
                    self.bounds(name, "uniform loop", positions, known);
                    let is_new = known.insert(positions.variable.clone());
                    self.pieces(kernel, body, known);
                    if is_new {
                        known.remove(&positions.variable);
                    }
                }
                BlockStep::If { branches, otherwise } => {
                    for arm in branches {
                        let mut reads = false;
                        arm.condition.accesses(&mut |it| reads |= matches!(it, Read::Element(_)));
                        let has_barrier = holds_barrier(&arm.body);
                        self.demand(!(reads && has_barrier), || {
                            format!("a barrier of `{name}` stands behind a condition that reads memory")
                        });
                        self.pieces(kernel, &arm.body, known);
                    }
                    self.pieces(kernel, otherwise, known);
                }
                BlockStep::Each(items) => {
                    let mut writes = false;
                    walk(items, &mut |it| {
                        writes |= matches!(it, Item::Assign(Assign { target: Target::Element(_), .. }));
                    });
                    self.demand(!writes, || format!("each thread of `{name}` writes memory"));
                }
                BlockStep::Once(_) => {}
            }
        }
    }

    /// A thread's arrays are named in one stage.
    fn own(&mut self, kernel: &Kernel) {
        let mut stages: Vec<BTreeSet<Handle<Array>>> = Vec::new();
        each_stage(&kernel.body, &mut |items| {
            let mut own = BTreeSet::new();
            walk(items, &mut |item| {
                item.each_element(&mut |it| {
                    own.insert(it.array);
                });
            });
            stages.push(own);
        });
        for array in self.kernels.program.arrays.handles() {
            let is_own = matches!(
                self.kernels.memory(array),
                Some(ArrayMemory::Registers | ArrayMemory::SharedByThread | ArrayMemory::Scratch)
            );
            let n = stages.iter().filter(|it| it.contains(&array)).count();
            self.demand(!is_own || n <= 1, || {
                let name = &self.kernels.program.arrays[array].stencil_name;
                format!("`{name}` is a thread's own and named in {n} stages of `{}`", kernel.name)
            });
        }
    }
}

fn is_of_call(it: &crate::loops::nodes::SymbolMeaning) -> bool {
    use crate::loops::nodes::SymbolMeaning;
    match it {
        SymbolMeaning::Size(_) | SymbolMeaning::Levels { .. } => true,
        SymbolMeaning::Position(_) => false,
    }
}

fn holds_barrier(pieces: &[BlockStep]) -> bool {
    pieces.iter().any(|it| match it {
        BlockStep::Barrier => true,
        BlockStep::For { body, .. } => holds_barrier(body),
        BlockStep::If { branches, otherwise } => {
            branches.iter().any(|it| holds_barrier(&it.body)) || holds_barrier(otherwise)
        }
        BlockStep::Stage(_) | BlockStep::Each(_) | BlockStep::Once(_) => false,
    })
}

fn each_stage<'a>(pieces: &'a [BlockStep], each: &mut impl FnMut(&'a [Item])) {
    for it in pieces {
        match it {
            BlockStep::Stage(it) => each(&it.items),
            BlockStep::Once(items) => each(items),
            BlockStep::For { body, .. } => each_stage(body, each),
            BlockStep::If { branches, otherwise } => {
                branches.iter().for_each(|it| each_stage(&it.body, each));
                each_stage(otherwise, each);
            }
            BlockStep::Barrier | BlockStep::Each(_) => {}
        }
    }
}
