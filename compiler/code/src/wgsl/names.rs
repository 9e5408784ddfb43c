//! The names of a program's things, as WGSL has them.

use std::collections::BTreeMap;

use super::words;
use crate::entity::{Namer, SideTable};
use crate::kernel::Kernels;
use crate::loops::nodes::{Array, Integer, Local, Side, SymbolMeaning};
use crate::space::{Axis, Symbol};

/// The names in a text. A name that means something in the language gets a number.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) arrays: SideTable<Array, String>,
    pub(super) locals: SideTable<Local, String>,
    pub(super) integers: SideTable<Integer, String>,
    positions: BTreeMap<Symbol, String>,
    pub(super) kernels: Vec<String>,
    /// Buffers of several arrays, as many as there may be.
    pub(super) shared: Vec<String>,
    threads: [String; 3],
    /// The thread in its block.
    pub(super) thread: String,
    /// The thread, and the block, in the launch.
    pub(super) of_all: [String; 2],
    /// Threads of the launch.
    pub(super) n_of_all: String,
}

impl Names {
    pub(super) fn of(kernels: &Kernels) -> Self {
        let program = &kernels.program;
        let reserved: Vec<&str> = words::all().chain(Axis::ALL.iter().map(|it| it.name())).collect();
        let mut namer = Namer::new(&reserved);
        let arrays = program.arrays.iter().map(|(handle, it)| {
            let Some(name) = &it.name else { return (handle, String::new()) };
            let mut suffixes: Vec<String> = (0..it.shape.len()).map(|at| it.suffix(at)).collect();
            suffixes.extend([Side::Below, Side::Above].map(|it| format!("_{}", it.name())));
            suffixes.extend(["_at".to_owned(), "_size".to_owned()]);
            let suffixes: Vec<&str> = suffixes.iter().map(String::as_str).collect();
            (handle, namer.family(name, &suffixes))
        });
        let arrays: SideTable<Array, String> = arrays.collect();
        let mut positions = BTreeMap::new();
        for (symbol, meaning) in &program.symbols {
            if let SymbolMeaning::Position(name) = meaning {
                positions.insert(symbol.clone(), name.clone());
            }
        }
        // Loops of one name, as in the program.
        let mut spelled: BTreeMap<String, String> = BTreeMap::new();
        for name in positions.values_mut() {
            let known = spelled.entry(name.clone()).or_insert_with(|| namer.name(name));
            name.clone_from(known);
        }
        let locals = program.locals.iter().map(|(handle, it)| (handle, namer.name(&it.name))).collect();
        let integers = program.integers.iter().map(|(handle, it)| (handle, namer.name(&it.name))).collect();
        let names = kernels.kernels.iter().map(|it| namer.name(&it.name)).collect();
        let threads = Axis::ALL.map(|axis| namer.name(&format!("{}_thread", axis.position_name())));
        let shared = (0..program.arrays.len()).map(|at| namer.name(&format!("memory_{at}"))).collect();
        let [thread, of_all, block, n_of_all] =
            ["thread", "thread_of_all", "block_of_all", "n_threads"].map(|it| namer.name(it));
        let of_all = [of_all, block];
        Self {
            arrays,
            locals,
            integers,
            positions,
            kernels: names,
            shared,
            threads,
            thread,
            of_all,
            n_of_all,
        }
    }

    pub(super) fn thread_along(&self, axis: Axis) -> &str {
        &self.threads[axis.index()]
    }

    pub(super) fn position(&self, symbol: &Symbol) -> Option<&str> {
        self.positions.get(symbol).map(String::as_str)
    }
}
