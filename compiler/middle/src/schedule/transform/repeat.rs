//! Lets a loop compute values of an earlier one again, from data that nothing overwrites.

use std::collections::{BTreeMap, BTreeSet};

use super::recompute::{has_position, moved};
use super::refusal::name_of;
use super::{Path, Refusal};
use crate::entity::Handle;
use crate::schedule::analysis::accesses::Accesses;
use crate::schedule::nodes::{Access, Assign, Container, ContainerKind, Loop, Node, Subscript, Tree};
use crate::space::order::is_at_most;
use crate::space::{Axis, Size, Symbol};

/// The most values that are computed again for one.
const MOST_VALUES: usize = 16;

/// Lets the loop over levels at `path` compute in locals the values that it reads of the temporary
/// `container`. Loops before it in the same block wrote that temporary.
///
/// - **Effect**: the loop does not read the temporary any more, which need not last until then.
/// - **Legality**: [`plan`].
/// - **Why**: values that wait for a later sweep take memory, and are stored and loaded. The data that they
///   are computed from may be near.
///
/// # Errors
///
/// The reason why not; the tree is as it was.
pub fn repeat(tree: &mut Tree, path: &Path, container: Handle<Container>) -> Result<(), Refusal> {
    let values = plan(tree, path, container)?;
    let mut names: BTreeSet<String> = tree.containers.iter().map(|(_, it)| it.name.clone()).collect();
    let mut locals: BTreeMap<(Handle<Container>, i64), Handle<Container>> = BTreeMap::new();
    for it in &values {
        let of = &tree.containers[it.container];
        let stem = format!("{}_again", name_of(of));
        let others = (2_u32..).map(|number| format!("{stem}_{number}"));
        let name = std::iter::once(stem.clone()).chain(others).find(|it| !names.contains(it)).unwrap_or(stem);
        names.insert(name.clone());
        let local = Container::local(name, of);
        locals.insert((it.container, it.levels), tree.containers.push(local));
    }
    let of_local = |container: Handle<Container>, levels: i64| {
        locals.get(&(container, levels)).map(|&container| Access { container, index: Vec::new() })
    };
    let mut body = Vec::new();
    for it in &values {
        let value = it.assign.value.map_accesses(&mut |read| {
            let beside = it.of.get(&read.container).copied();
            beside
                .and_then(|levels| of_local(read.container, levels))
                .unwrap_or_else(|| moved(read, [0, 0, it.levels]))
        });
        if let Some(target) = of_local(it.container, it.levels) {
            body.push(Node::Assign(Assign { target, value, origin: it.assign.origin.clone() }));
        }
    }
    let own = values.last().map(|it| it.assign.target.clone());
    if let (Some(own), Some(it)) = (own, tree.loop_at_mut(path)) {
        for node in &mut it.children {
            node.each_access_mut(&mut |access| {
                if access.container == container
                    && let Some(levels) = levels_beside(&own, access)
                    && let Some(local) = of_local(container, levels)
                {
                    *access = local;
                }
            });
        }
        it.children.splice(0..0, body);
    }
    Ok(())
}

/// A value to be computed again.
#[derive(Clone, Debug)]
struct RepeatedValue {
    container: Handle<Container>,
    /// So many levels above the one at hand.
    levels: i64,
    /// The statement that computes it.
    assign: Assign,
    /// The containers it is computed from that are computed again too, each with its level.
    of: BTreeMap<Handle<Container>, i64>,
}

/// Plans the values that the loop at `path` computes again, each behind those that it needs.
///
/// All assignments to the temporary have the same expression at the same place. It reads containers that
/// nothing ever writes, or temporaries and values that obey the same rule. So an element has the same bits
/// whenever it is computed. Loops before this one, side by side with it, come to each level that this one
/// reads. Only limits along the levels stand around an assignment, and no other condition.
///
/// # Errors
///
/// The reason why not.
fn plan(tree: &Tree, path: &Path, container: Handle<Container>) -> Result<Vec<RepeatedValue>, Refusal> {
    let (&at, outer) = path.split_last().ok_or_else(|| Refusal::new("there is no such loop"))?;
    let it = tree.loop_at(path).ok_or_else(|| Refusal::new("there is no such loop"))?;
    let array = &tree.containers[container];
    let name = name_of(array);
    let refuse = |why: String| Err(Refusal::new(why).about(&Node::Loop(it.clone())));
    if array.kind != ContainerKind::Temporary || array.shape.is_empty() {
        return refuse(format!("`{name}` is no array of the stencil's own"));
    }
    let mut has_loop = false;
    it.children.iter().for_each(|it| it.walk(&mut |it| has_loop |= matches!(it, Node::Loop(_))));
    if it.variable.name() != Axis::K.position_name() || it.step != 1 || has_loop {
        return refuse("it is no innermost loop over levels".to_owned());
    }
    let inside = Accesses::of(&it.children);
    if inside.has_write_of(container) {
        return refuse(format!("`{name}` is written in the loop itself"));
    }
    let before = tree.block(outer).and_then(|it| it.get(..at)).unwrap_or_default();
    let mut planning = RepeatPlanner { tree, before, at: it, values: Vec::new(), open: Vec::new() };
    let target = planning.only(container)?.target.clone();
    let mut levels = BTreeSet::new();
    for read in inside.of_container(container) {
        match levels_beside(&target, read.access) {
            Some(it) => drop(levels.insert(it)),
            None => return refuse(format!("`{name}` is read beside the column")),
        }
    }
    if levels.is_empty() {
        return refuse(format!("`{name}` is not read there"));
    }
    for &levels in &levels {
        planning.value(container, levels)?;
    }
    // The last one tells what the reads are to become.
    if planning.values.last().is_none_or(|it| it.container != container) {
        return refuse(format!("`{name}` is computed from itself"));
    }
    Ok(planning.values)
}

/// How many levels above the element `one` another one lies; none where it is no such element.
fn levels_beside(one: &Access, other: &Access) -> Option<i64> {
    let levels = Symbol::new(Axis::K.position_name());
    let mut beside = 0;
    for (one, other) in one.index.iter().zip(&other.index) {
        let by = other.as_known()?.distance_from(one.as_known()?)?;
        match one.known.factor(&levels) {
            1 => beside += by,
            _ if by == 0 => {}
            _ => return None,
        }
    }
    Some(beside)
}

/// The ranges of levels in which some loops assign a container without a condition.
fn levels_written(nodes: &[Node], container: Handle<Container>) -> Vec<(Size, Size)> {
    fn visit(nodes: &[Node], range: &(Size, Size), of: Handle<Container>, found: &mut Vec<(Size, Size)>) {
        for node in nodes {
            match node {
                Node::Assign(it) if it.target.container == of => found.push(range.clone()),
                Node::Where(it) if it.variable.name() == Axis::K.position_name() => {
                    visit(&it.children, &(it.start.clone(), it.end.clone()), of, found);
                }
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    for node in nodes {
        if let Node::Loop(Loop { variable, start, end, step: 1, children, .. }) = node
            && variable.name() == Axis::K.position_name()
        {
            visit(children, &(start.clone(), end.clone()), container, &mut found);
        }
    }
    found
}

/// Whether ranges that follow each other hold all levels from `start` to `end`.
fn covers(ranges: &[(Size, Size)], start: &Size, end: &Size) -> bool {
    ranges.iter().any(|(first, last)| {
        let mut reached = last;
        while let Some(next) = ranges.iter().find(|it| it.0 == *reached && it.1 != *reached) {
            if is_at_most(&next.1, reached) {
                break;
            }
            reached = &next.1;
        }
        is_at_most(first, start) && is_at_most(end, reached)
    })
}

struct RepeatPlanner<'t> {
    tree: &'t Tree,
    /// The nodes before the loop that computes again, and that loop.
    before: &'t [Node],
    at: &'t Loop,
    values: Vec<RepeatedValue>,
    /// Containers that are being looked into.
    open: Vec<Handle<Container>>,
}

impl<'t> RepeatPlanner<'t> {
    /// The one statement, in one or several copies, that writes a container.
    fn only(&self, container: Handle<Container>) -> Result<&'t Assign, Refusal> {
        let name = name_of(&self.tree.containers[container]);
        let mut all: Vec<&Assign> = Vec::new();
        let n_writes =
            Accesses::of(&self.tree.children).of_container(container).filter(|it| it.role.is_write()).count();
        assignments(&self.tree.children, container, &mut all);
        let Some((&first, others)) = all.split_first() else {
            return Err(Refusal::new(format!("`{name}` is written under a condition")));
        };
        if all.len() != n_writes {
            return Err(Refusal::new(format!("`{name}` is written under a condition")));
        }
        let is_same = |it: &&Assign| it.target.index == first.target.index && it.value.is_same(&first.value);
        if !others.iter().all(is_same) {
            return Err(Refusal::new(format!("`{name}` is computed in several ways")));
        }
        Ok(first)
    }

    /// Notes the values that are needed for the one so many levels above the one at hand, and that value.
    fn value(&mut self, container: Handle<Container>, levels: i64) -> Result<(), Refusal> {
        if self.values.iter().any(|it| it.container == container && it.levels == levels) {
            return Ok(());
        }
        let tree = self.tree;
        let name = name_of(&tree.containers[container]);
        if self.open.contains(&container) || self.values.len() >= MOST_VALUES {
            return Err(Refusal::new(format!("`{name}` takes too many values to compute")));
        }
        let assign = self.only(container)?;
        if levels != 0 && has_position(&assign.value) {
            return Err(Refusal::new(format!("`{name}` is computed from its position")));
        }
        let is_local = tree.containers[container].kind == ContainerKind::Local;
        let (start, end) = (self.at.start.moved(levels), self.at.end.moved(levels));
        if !is_local && !covers(&levels_written(self.before, container), &start, &end) {
            return Err(Refusal::new(format!("`{name}` is not computed at all levels before")));
        }
        let is_known = |it: &Subscript| it.found.is_none();
        if !assign.target.index.iter().all(is_known) {
            return Err(Refusal::new(format!("`{name}` is written where only the run tells")));
        }
        self.open.push(container);
        let mut reads = Vec::new();
        assign.value.accesses(&mut |it| reads.push(it.clone()));
        let mut of = BTreeMap::new();
        for read in reads {
            let from = name_of(&tree.containers[read.container]);
            if !read.index.iter().all(is_known) {
                return Err(Refusal::new(format!("`{from}` is read where only the run tells")));
            }
            if !Accesses::of(&tree.children).has_write_of(read.container) {
                continue;
            }
            let is_own = matches!(
                tree.containers[read.container].kind,
                ContainerKind::Temporary | ContainerKind::Local
            );
            if !is_own {
                return Err(Refusal::new(format!("`{from}` is overwritten")));
            }
            let written = self.only(read.container)?;
            let Some(by) = levels_beside(&written.target, &read) else {
                return Err(Refusal::new(format!("`{from}` is read beside the column")));
            };
            if of.insert(read.container, levels + by).is_some_and(|known| known != levels + by) {
                return Err(Refusal::new(format!("`{from}` is read at several levels")));
            }
            self.value(read.container, levels + by)?;
        }
        self.open.pop();
        self.values.push(RepeatedValue { container, levels, assign: assign.clone(), of });
        Ok(())
    }
}

/// The assignments to a container that no condition but limits guards.
fn assignments<'t>(nodes: &'t [Node], container: Handle<Container>, found: &mut Vec<&'t Assign>) {
    for node in nodes {
        match node {
            Node::Assign(it) if it.target.container == container => found.push(it),
            Node::Loop(it) => assignments(&it.children, container, found),
            Node::Where(it) => assignments(&it.children, container, found),
            Node::Assign(_) | Node::If(_) | Node::While(_) | Node::Region(_) | Node::Barrier => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::schedule::transform::tests::{after, first};

    /// Sweeps of a column; the last one reads values that the first one wrote.
    fn sweeps(value: &str, levels: &str, read: &str) -> String {
        format!(
            "for j in [0, J) parallel:
  for i in [0, I) parallel:
    for k in {levels} ascending:
      u[i + 2, j + 2, k] = {value}
    for k in [0, K) descending:
      b[i, j, k] = {read}
"
        )
    }

    fn again(loops: &str, name: &str) -> String {
        let it = |tree: &mut Tree| {
            let found = tree.containers.find(|it| it.name == name).expect("it is declared");
            repeat(tree, &first(&[0, 0, 1]), found)
        };
        after(loops, it)
    }

    #[test]
    fn a_later_sweep_computes_again_what_it_reads() {
        expect![[r#"
        local u_again: float64

        for j in [0, J) parallel:
          for i in [0, I) parallel:
            for k in [0, K) ascending:
              u[i + 2, j + 2, k] = a[i + 2, j + 2, k] * 2.0
            for k in [0, K) descending:
              u_again = a[i + 2, j + 2, k] * 2.0
              b[i, j, k] = u_again + p[i, j]
    "#]]
        .assert_eq(&again(
            &sweeps("a[i + 2, j + 2, k] * 2.0", "[0, K)", "u[i + 2, j + 2, k] + p[i, j]"),
            "u",
        ));
        // The values that it is computed from are computed again too.
        let chain = "for j in [0, J) parallel:
  for i in [0, I) parallel:
    for k in [0, K) ascending:
      c = a[i + 2, j + 2, k] * 2.0
      t[i + 2, j + 2, k] = c + 1.0
      u[i + 2, j + 2, k] = t[i + 2, j + 2, k] / c
    for k in [1, K) descending:
      b[i, j, k] = u[i + 2, j + 2, k] + u[i + 2, j + 2, k - 1]
";
        expect![[r#"
        local c_again: float64
        local t_again: float64
        local u_again: float64
        local c_again_2: float64
        local t_again_2: float64
        local u_again_2: float64

        for j in [0, J) parallel:
          for i in [0, I) parallel:
            for k in [0, K) ascending:
              c = a[i + 2, j + 2, k] * 2.0
              t[i + 2, j + 2, k] = c + 1.0
              u[i + 2, j + 2, k] = t[i + 2, j + 2, k] / c
            for k in [1, K) descending:
              c_again = a[i + 2, j + 2, k - 1] * 2.0
              t_again = c_again + 1.0
              u_again = t_again / c_again
              c_again_2 = a[i + 2, j + 2, k] * 2.0
              t_again_2 = c_again_2 + 1.0
              u_again_2 = t_again_2 / c_again_2
              b[i, j, k] = u_again_2 + u_again
    "#]]
        .assert_eq(&again(chain, "u"));
    }

    #[test]
    fn what_would_be_another_value_is_not_computed_again() {
        let plain = "a[i + 2, j + 2, k] * 2.0";
        let read = "u[i + 2, j + 2, k]";
        for (loops, reason) in [
            (sweeps("b[i, j, k] * 2.0", "[0, K)", read), "`b` is overwritten"),
            (sweeps("p[i, j] * 2.0", "[1, K)", read), "`u` is not computed at all levels before"),
            (sweeps(plain, "[0, K)", "u[i + 3, j + 2, k]"), "`u` is read beside the column"),
            (sweeps(plain, "[0, K - 1)", read), "`u` is not computed at all levels before"),
            (sweeps(plain, "[0, K)", "p[i, j]"), "`u` is not read there"),
            (sweeps("a[{n[i, j]}, j + 2, k]", "[0, K)", read), "`a` is read where only the run tells"),
            (
                sweeps(plain, "[0, K)", read) + "      u[i + 2, j + 2, k] = 1.0\n",
                "`u` is written in the loop itself",
            ),
            (
                sweeps(plain, "[0, K)", read).replace(
                    "      u[i + 2, j + 2, k] = a",
                    "      if p[i, j] > 0.0:\n        u[i + 2, j + 2, k] = 1.0\n      u[i + 2, j + 2, k] = a",
                ),
                "`u` is written under a condition",
            ),
            (
                sweeps(plain, "[0, K)", read).replace(
                    "      u[i + 2, j + 2, k] = a",
                    "      u[i + 2, j + 2, k] = 1.0\n      u[i + 2, j + 2, k] = a",
                ),
                "`u` is computed in several ways",
            ),
        ] {
            assert_eq!(again(&loops, "u"), format!("refused: {reason}\n"), "{loops}");
        }
    }
}
