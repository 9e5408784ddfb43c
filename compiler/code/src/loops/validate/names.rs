//! The rules of names, arrays and arguments.

use std::collections::BTreeSet;

use super::super::nodes::{Array, Program, Storage, SymbolMeaning};
use super::name_of;

/// Adds the violations of names, arrays and arguments.
///
/// Names of all kinds are one space: C has arrays, locals and functions side by side.
pub(super) fn names(program: &Program, found: &mut Vec<String>) {
    let positions = program.symbols.values().filter_map(|it| match it {
        SymbolMeaning::Position(name) => Some(name.as_str()),
        SymbolMeaning::Size(_) | SymbolMeaning::Levels { .. } => None,
    });
    let all = program
        .arrays
        .values()
        .filter_map(|it| it.name.as_deref())
        .chain(program.locals.values().map(|it| it.name.as_str()))
        .chain(program.integers.values().map(|it| it.name.as_str()))
        .chain(program.functions.values().map(|it| it.name.as_str()))
        .chain(positions);
    let mut taken = BTreeSet::new();
    found.extend(all.filter(|it| !taken.insert(*it)).map(|it| format!("the name `{it}` is used twice")));
    for array in program.arrays.values() {
        self::array(array, found);
    }
    for &at in &program.arguments {
        match program.arrays.get(at) {
            Some(it) if it.storage == Storage::Caller => {}
            Some(it) => found.push(format!("`{}` is an argument and not the caller's", name_of(it))),
            None => found.push("an argument does not exist".to_owned()),
        }
    }
    let levels = program.symbols.iter().filter_map(|(symbol, it)| match it {
        SymbolMeaning::Levels { array, .. } => Some((symbol, *array)),
        SymbolMeaning::Size(_) | SymbolMeaning::Position(_) => None,
    });
    for (symbol, array) in levels.filter(|(_, it)| !program.arguments.contains(it)) {
        let array = program.arrays.get(array).map(name_of).unwrap_or_default();
        found.push(format!("`{symbol}` tells the levels of `{array}`, which nobody passes"));
    }
}

/// The rules of one array. A pass may change the layout only of arrays that the run allocates: the caller's
/// stay as they are.
fn array(it: &Array, found: &mut Vec<String>) {
    let name = name_of(it);
    let mut demand = |holds: bool, what: &str| {
        if !holds {
            found.push(format!("`{name}` {what}"));
        }
    };
    demand(
        it.name.is_some() == (it.storage != Storage::Register),
        "has a name and is a local, or has neither",
    );
    demand(
        it.shape.len() == it.shift.len() && it.axes.len() <= it.shape.len(),
        "has shape, shift and axes of different rank",
    );
    demand(
        it.ring.is_none_or(|it_| it_.dimension < it.shape.len() && it_.places.count_ones() == 1),
        "has a ring along no dimension of its own",
    );
    demand(it.ring.is_none() || it.is_own(), "has a ring and is the caller's");
    demand(!it.is_per_thread || it.is_own(), "is each thread's own and is the caller's");
}
