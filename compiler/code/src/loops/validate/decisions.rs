//! The rules of decisions about loops and arrays.

use std::collections::{BTreeMap, BTreeSet};

use super::super::nodes::{ArrayKind, DimensionIndex, For, Item, Program, RowBuffer, Stores};
use super::super::visit::{any, walk};
use super::{Rules, name_of};
use crate::space::Axis;

/// Adds the violations of the tables.
///
/// Each loop and each branch has a handle of its own that was given away. A decision is about something
/// that there is, and fits it.
pub(super) fn tables(program: &Program, found: &mut Vec<String>) {
    let (mut loops, mut branches) = (BTreeSet::new(), BTreeMap::new());
    for function in program.functions.values() {
        walk(&function.body, &mut |item| {
            if let Item::If(it) = item {
                if branches.insert(it.id, it.branches.len()).is_some() {
                    found.push("a branch has the handle of another one".to_owned());
                }
                if it.id.index() >= program.n_branches {
                    found.push("a branch has a handle that nobody gave it".to_owned());
                }
            }
            let Item::For(it) = item else { return };
            let variable = &it.positions.variable;
            if !loops.insert(it.id) {
                found.push(format!("the loop over `{variable}` has the handle of another one"));
            }
            if it.id.index() >= program.n_loops {
                found.push(format!("the loop over `{variable}` has a handle that nobody gave it"));
            }
        });
    }
    let decisions = &program.decisions;
    let n_spread = program.steps.iter().filter(|it| it.is_spread).count();
    if decisions.n_parts() > 1 && decisions.n_parts() != n_spread {
        found.push(format!("{} parts have {n_spread} steps on all threads", decisions.n_parts()));
    }
    if decisions.loops().any(|it| !loops.contains(&it)) {
        found.push("something is decided about a loop that does not exist".to_owned());
    }
    for (of, skipped) in decisions.branches() {
        let n_arms = branches.get(&of).copied().unwrap_or_default();
        if skipped.arms.iter().chain(&skipped.others).any(|it| *it >= n_arms) {
            found.push("something is decided about an arm that does not exist".to_owned());
        }
    }
    for at in decisions.arrays() {
        let Some(array) = program.arrays.get(at) else {
            found.push("something is decided about an array that does not exist".to_owned());
            continue;
        };
        if decisions.row_start(at) != 0 && !array.is_own() {
            found.push(format!("`{}` has rows that were placed and is the caller's", name_of(array)));
        }
        if decisions.is_streamed(at) && !matches!(array.kind, ArrayKind::Field { .. }) {
            found.push(format!("`{}` is stored past the caches and is no field", name_of(array)));
        }
    }
}

impl Rules<'_> {
    /// Checks what the schedule and passes decided about a loop.
    pub(super) fn decided(&mut self, it: &For) {
        let variable = &it.positions.variable;
        let decisions = &self.program.decisions;
        let lanes = decisions.lanes(it.id);
        self.demand(!(it.is_parallel && it.is_descending), || {
            format!("the loop over `{variable}` is parallel and goes down")
        });
        // Order and lanes exclude each other: lanes run together.
        let is_marked =
            it.is_simd || it.gpu.is_some() || lanes.is_masked || lanes.may_overlap || lanes.is_split;
        self.demand(it.is_parallel || !is_marked, || {
            format!("the loop over `{variable}` has an order and its iterations are spread")
        });
        self.demand(lanes.is_masked || !lanes.may_overlap && !lanes.is_split, || {
            format!("the loop over `{variable}` is in no lanes that may overlap or be split")
        });
        self.demand(lanes.block.is_none_or(|block| block > 0 && it.is_simd && it.axis == Axis::I), || {
            format!("the loop over `{variable}` is no row and runs in blocks")
        });
        // A loop with lanes is the innermost one.
        let is_row = !any(&it.body, &mut |it| matches!(it, Item::For(_) | Item::Strips(_) | Item::Launch(_)));
        self.demand(is_row || !lanes.is_masked && lanes.block.is_none(), || {
            format!("the loop over `{variable}` has lanes and a loop inside")
        });
        self.demand(
            decisions
                .prefetched(it.id)
                .iter()
                .all(|it| matches!(it.index.first(), Some(DimensionIndex::Known(_)))),
            || format!("the loop over `{variable}` prefetches what is found at run time"),
        );
        let is_block = it.positions.only_turn().is_some() && decisions.stores(it.id).is_none();
        self.demand(is_block || !decisions.is_once(it.id), || {
            format!("the loop over `{variable}` is a block and may have several positions")
        });
        if let Some(stores) = decisions.stores(it.id) {
            self.stores(it, stores, is_row);
        }
    }

    /// Checks that a loop stores whole rows through a buffer, and that the rows lie along it. Two rows of one
    /// array would have two buffers of the same name.
    fn stores(&mut self, it: &For, Stores { rows, buffer }: &Stores, is_row: bool) {
        let variable = &it.positions.variable;
        self.demand(is_row && it.is_parallel && it.axis == Axis::I && !rows.is_empty(), || {
            format!("the loop over `{variable}` is no row and stores rows past the caches")
        });
        let is_some = match buffer {
            RowBuffer::Row { elements } => *elements > 0,
            RowBuffer::Registers { bytes } => *bytes > 0,
        };
        self.demand(is_some, || format!("the loop over `{variable}` stores rows through nothing"));
        let mut arrays = BTreeSet::new();
        for row in rows {
            let Some(array) = self.program.arrays.get(row.array) else { continue };
            let name = name_of(array);
            self.demand(self.program.decisions.is_streamed(row.array), || {
                format!("`{name}` is stored past the caches and not marked so")
            });
            self.demand(arrays.insert(row.array), || format!("two rows of `{name}` are stored in one loop"));
            let is_along =
                matches!(row.index.first(), Some(DimensionIndex::Known(it)) if it.factor(variable) == 1);
            self.demand(is_along, || format!("a row of `{name}` does not lie along the loop that stores it"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::validate;
    use crate::entity::Handle;
    use crate::loops::nodes::{Item, Lanes, SkippedArms};
    use crate::loops::parse::parse;

    const ROWS: &str = "\
program s(a, b)
field a: float64[I, J, K] shift [0, 0, 0] along IJK given read
field b: float64[I, J, K] shift [0, 0, 0] along IJK given write

function step_1() of step 1:
  for k in [0, K) parallel:
    for j in [0, J) parallel:
      for i in [0, I) parallel simd masked:
        b[i, j, k] = a[i, j, k]

step step_1
";

    #[test]
    fn each_loop_has_a_handle_of_its_own() {
        let mut program = parse(ROWS).expect("it is a program");
        assert_eq!(validate(&program), Vec::<String>::new());
        let step = program.steps[0].function;
        let Item::For(it) = &mut program.functions[step].body[0] else { panic!("it is a loop") };
        it.id = Handle::new(1);
        assert_eq!(validate(&program), ["the loop over `j` has the handle of another one"]);
        let Item::For(it) = &mut program.functions[step].body[0] else { panic!("it is a loop") };
        it.id = Handle::new(3);
        assert_eq!(validate(&program), ["the loop over `k` has a handle that nobody gave it"]);
    }

    #[test]
    fn decisions_are_about_loops_and_arrays_that_there_are() {
        let mut program = parse(ROWS).expect("it is a program");
        let gone = program.new_loop();
        program.decisions.set_lanes(gone, Lanes::default());
        program.decisions.set_streamed(Handle::new(2));
        assert_eq!(
            validate(&program),
            [
                "something is decided about a loop that does not exist",
                "something is decided about an array that does not exist",
            ]
        );
        program.decisions.forget(gone);
        assert_eq!(validate(&program), ["something is decided about an array that does not exist"]);
    }

    #[test]
    fn arms_that_are_passed_over_are_those_of_a_branch() {
        let rows = ROWS.replace(
            "        b[i, j, k] = a[i, j, k]\n",
            "        if a[i, j, k] > 0.0:\n          skip where no lane takes it\n          b[i, j, k] = a[i, j, k]\n",
        );
        let mut program = parse(&rows).expect("it is a program");
        assert_eq!(validate(&program), Vec::<String>::new());
        let of = program.new_branch();
        let skipped = SkippedArms { arms: [0].into(), ..SkippedArms::default() };
        program.decisions.set_skipped(of, skipped);
        assert_eq!(validate(&program), ["something is decided about an arm that does not exist"]);
    }
}
