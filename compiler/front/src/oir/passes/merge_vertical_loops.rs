//! Makes one vertical loop of neighbouring ones.

use std::collections::BTreeMap;
use std::fmt;

use super::PassCx;
use crate::diag::Origin;
use crate::entity::Handle;
use crate::oir::nodes::{Field, Section, Stencil, VerticalLoop};
use crate::space::{Axis, LoopOrder};

pub const NAME: &str = "oir/merge-vertical-loops";

/// Merges each vertical loop into the one before it, where legal.
///
/// Two loops of one order become one in two cases. Either the second continues at the level at which the
/// first ends. Or both run over the same levels; then the executions of the second follow those of the first
/// on each level.
///
/// - **Precondition**: valid OIR.
/// - **Effect**: fewer vertical loops; executions keep their order within each section.
/// - **Legality**: [`may_join`]; every refusal becomes a remark. Where the second goes on after the first nothing
///   runs in another order than before.
/// - **Why**: executions can be merged within a section only, and a sweep keeps values at hand from level to level.
pub fn merge_vertical_loops(stencil: &mut Stencil, cx: &mut PassCx) {
    let mut merged: Vec<(VerticalLoop, LoopAccesses)> = Vec::new();
    for next in std::mem::take(&mut stencil.vertical_loops) {
        let after = LoopAccesses::of(stencil, &next);
        let origin = first_origin(stencil, &next);
        let Some((prev, before)) = merged.last_mut().filter(|(it, _)| it.order == next.order) else {
            merged.push((next, after));
            continue;
        };
        if cx.options.is_apart(origin.as_ref()) {
            cx.missed("not merged: the text keeps the statement apart", &origin);
            merged.push((next, after));
            continue;
        }
        if continues(prev, &next) {
            if cx.may_change() {
                cx.applied("goes on in the vertical loop before it", &origin);
                prev.sections.extend(next.sections);
                before.extend(after);
            } else {
                merged.push((next, after));
            }
            continue;
        }
        if !has_same_levels(prev, &next) {
            merged.push((next, after));
            continue;
        }
        match may_join(stencil, prev, before, &after) {
            Ok(()) if cx.may_change() => {
                cx.applied("runs in the vertical loop before it, over the same levels", &origin);
                for (section, other) in prev.sections.iter_mut().zip(next.sections) {
                    section.executions.extend(other.executions);
                }
                before.extend(after);
            }
            Ok(()) => merged.push((next, after)),
            Err(blocked) => {
                cx.missed(blocked.to_string(), &origin);
                merged.push((next, after));
            }
        }
    }
    stencil.vertical_loops = merged.into_iter().map(|(it, _)| it).collect();
}

fn first_origin(stencil: &Stencil, vertical_loop: &VerticalLoop) -> Option<Origin> {
    let mut executions = vertical_loop.sections.iter().flat_map(|it| &it.executions);
    executions.find_map(|&it| stencil.executions[it].body.first()).map(|it| it.origin.clone())
}

/// Whether `next` starts where `prev` ends, in the direction in which both run.
fn continues(prev: &VerticalLoop, next: &VerticalLoop) -> bool {
    let (Some(last), Some(first)) = (prev.sections.last(), next.sections.first()) else { return false };
    match prev.order {
        LoopOrder::Parallel | LoopOrder::Forward => last.interval.end == first.interval.start,
        LoopOrder::Backward => last.interval.start == first.interval.end,
    }
}

fn has_same_levels(prev: &VerticalLoop, next: &VerticalLoop) -> bool {
    let intervals = |it: &VerticalLoop| it.sections.iter().map(|it| it.interval).collect::<Vec<_>>();
    intervals(prev) == intervals(next)
}

/// The fields that a loop touches, as far as merging depends on them; updated while other loops join it.
#[derive(Debug, Default)]
struct LoopAccesses(BTreeMap<Handle<Field>, TouchedLevels>);

/// The levels of a field that are touched, as seen from the level at hand.
#[derive(Clone, Copy, Debug, Default)]
struct TouchedLevels {
    reads: Option<LevelRange>,
    writes: Option<LevelRange>,
    is_read_beside: bool,
}

/// From lowest to highest; nothing is known where a level is found at run time.
#[derive(Clone, Copy, Debug)]
struct LevelRange(Option<(i32, i32)>);

impl LevelRange {
    fn union(self, other: Self) -> Self {
        let both = self.0.zip(other.0);
        Self(both.map(|((lo, hi), (other_lo, other_hi))| (lo.min(other_lo), hi.max(other_hi))))
    }
}

fn include(known: &mut Option<LevelRange>, range: Option<LevelRange>) {
    *known = match (*known, range) {
        (Some(known), Some(range)) => Some(known.union(range)),
        (known, range) => known.or(range),
    };
}

impl LoopAccesses {
    fn of(stencil: &Stencil, vertical_loop: &VerticalLoop) -> Self {
        let mut all = Self::default();
        for Section { executions, .. } in &vertical_loop.sections {
            for &execution in executions {
                stencil.executions[execution].each_touch(&mut |it| {
                    let Some(field) = it.what.field() else { return };
                    // Without an axis K, all levels touch the same element.
                    let is_known = it.is_level_known && stencil.fields[field].axes.has(Axis::K);
                    let range = Some(LevelRange(is_known.then_some((it.offset.k, it.offset.k))));
                    let levels = all.0.entry(field).or_default();
                    levels.is_read_beside |= it.is_read_beside();
                    include(if it.is_write { &mut levels.writes } else { &mut levels.reads }, range);
                });
            }
        }
        all
    }

    fn extend(&mut self, other: Self) {
        for (field, levels) in other.0 {
            let known = self.0.entry(field).or_default();
            include(&mut known.reads, levels.reads);
            include(&mut known.writes, levels.writes);
            known.is_read_beside |= levels.is_read_beside;
        }
    }
}

/// Why two loops over the same levels stay two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// The second reads a level that the first would not have written yet.
    NotReady(String),
    /// The second would overwrite a level that the first has yet to read.
    StillNeeded(String),
    /// Both write, and the one that came last would come first.
    Overtaken(String),
    /// It takes the run to know the level, or there is but one.
    UnknownLevels(String),
    /// Columns that can be swept each by itself would have to wait for each other on every level.
    Beside(String),
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Blocked::NotReady(name) => {
                write!(f, "loops not merged: `{name}` is read at a level that is not computed by then")
            }
            Blocked::StillNeeded(name) => {
                write!(f, "loops not merged: `{name}` is overwritten at a level that is yet to be read")
            }
            Blocked::Overtaken(name) => {
                write!(f, "loops not merged: `{name}` is written by both, and the order would change")
            }
            Blocked::UnknownLevels(name) => {
                write!(f, "loops not merged: both touch `{name}` at the same levels again and again")
            }
            Blocked::Beside(name) => {
                write!(f, "loops not merged: columns would wait for `{name}` of each other on every level")
            }
        }
    }
}

/// Whether each level of the second loop may run right after that level of the first, and not after all of them.
///
/// Offsets are taken along the sweep. For each pair of accesses to a field, the first loop must be done with
/// an element before the second one touches it:
///
/// - A write at `w` before a read at `r` needs `w >= r`.
/// - A read at `r` before a write at `w` needs `r >= w`.
/// - A write must not be overtaken by a write of the second loop.
///
/// Another column could be read as well, since each execution is finished on a level before the next one. But
/// then no column could be swept by itself any more.
///
/// Parallel executions stay one after the other on all levels, so only sections are overtaken. Sections meet
/// only where another level is touched.
///
/// # Errors
///
/// The reason why it may not.
fn may_join(
    stencil: &Stencil,
    prev: &VerticalLoop,
    before: &LoopAccesses,
    after: &LoopAccesses,
) -> Result<(), Blocked> {
    if prev.order == LoopOrder::Parallel && prev.sections.len() == 1 {
        return Ok(());
    }
    for (&field, second) in &after.0 {
        let Some(first) = before.0.get(&field) else { continue };
        let name = || stencil.fields[field].name.clone();
        let waits = second.is_read_beside && first.writes.is_some()
            || first.is_read_beside && second.writes.is_some();
        if waits && prev.order != LoopOrder::Parallel {
            return Err(Blocked::Beside(name()));
        }
        let unknown = || Blocked::UnknownLevels(name());
        // The range along the sweep: the least and the greatest number of levels ahead.
        let ahead = |range: LevelRange| {
            let (lo, hi) = range.0.ok_or_else(unknown)?;
            match prev.order {
                LoopOrder::Parallel | LoopOrder::Forward => Ok((lo, hi)),
                LoopOrder::Backward => Ok((-hi, -lo)),
            }
        };
        let holds = |first: (i32, i32), second: (i32, i32)| match prev.order {
            LoopOrder::Parallel => (first, second) == ((0, 0), (0, 0)),
            LoopOrder::Forward | LoopOrder::Backward => first.0 >= second.1,
        };
        let pairs = [
            (first.writes, second.reads, Blocked::NotReady(name())),
            (first.reads, second.writes, Blocked::StillNeeded(name())),
            (first.writes, second.writes, Blocked::Overtaken(name())),
        ];
        for (one, other, blocked) in pairs {
            let (Some(one), Some(other)) = (one, other) else { continue };
            if !holds(ahead(one)?, ahead(other)?) {
                return Err(blocked);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oir::passes::tests::after;

    /// Two loops of an order with these statements, each over its levels; the remark and the number of loops.
    fn merged(order: &str, first: (&str, &str), second: (&str, &str)) -> (usize, String) {
        let text = format!(
            "
stencil two
field a: float64[IJK]
field b: float64[IJK]
field n: int64[IJK]
temporary t: float64[IJK]
temporary p: float64[IJ]
{order}
  {}
    x0
      {}
{order}
  {}
    x1
      {}
",
            first.0, first.1, second.0, second.1
        );
        let found = after(&text, merge_vertical_loops);
        let n_loops = found.lines().filter(|it| *it == order).count();
        let remark = found.lines().last().filter(|it| it.contains("ed: ")).unwrap_or_default();
        (n_loops, remark.to_owned())
    }

    #[test]
    fn a_loop_that_goes_on_where_another_ends_joins_it() {
        let goes_on = (1, "applied: goes on in the vertical loop before it".to_owned());
        let (low, high) = ("[start, start+1)", "[start+1, end)");
        for order in ["parallel", "forward"] {
            assert_eq!(merged(order, (low, "t = a"), (high, "b = a")), goes_on, "{order}");
            assert_eq!(merged(order, (high, "t = a"), (low, "b = a")).0, 2, "{order} against the sweep");
        }
        assert_eq!(merged("backward", (high, "t = a"), (low, "b = t[0,0,1]")), goes_on);
        assert_eq!(merged("backward", (low, "t = a"), (high, "b = a")).0, 2);
        assert_eq!(merged("forward", (low, "t = a"), ("[start+2, end)", "b = a")).0, 2, "there is a gap");
    }

    #[test]
    fn parallel_loops_over_the_same_levels_are_one() {
        let all = "[start+1, end-1)";
        let (n_loops, remark) = merged("parallel", (all, "t = a"), (all, "b = t[0,0,1] + t[1,0,-1]"));
        assert_eq!(
            (n_loops, remark.as_str()),
            (1, "applied: runs in the vertical loop before it, over the same levels")
        );
    }

    #[test]
    fn sweeps_over_the_same_levels_are_one_where_no_dependence_is_turned_round() {
        // Each of the rules at the offset where it still holds, then where it does not.
        let all = "[start+2, end-2)";
        let is_one =
            |order: &str, first: &str, second: &str| merged(order, (all, first), (all, second)).0 == 1;
        for (first, second) in [
            ("t = a", "b = t"),
            ("t = a", "b = t[0,0,-1]"),
            ("b = t[0,0,1]", "t = a"),
            ("b = t", "t = a"),
            ("t = a", "t = b"),
            ("t.up(1) = a", "b = t[0,0,1]"),
        ] {
            assert!(is_one("forward", first, second), "{first}, {second}");
        }
        for (first, second, expected) in [
            (
                "t = a",
                "b = t[0,0,1]",
                "missed: loops not merged: `t` is read at a level that is not computed by then",
            ),
            (
                "b = t[0,0,-1]",
                "t = a",
                "missed: loops not merged: `t` is overwritten at a level that is yet to be read",
            ),
            (
                "t = a",
                "t.up(1) = b",
                "missed: loops not merged: `t` is written by both, and the order would change",
            ),
            (
                "t = a",
                "b = t.up(n)",
                "missed: loops not merged: both touch `t` at the same levels again and again",
            ),
            (
                "t = a",
                "b = t[1,0,0]",
                "missed: loops not merged: columns would wait for `t` of each other on every level",
            ),
            ("p = a", "b = p", "missed: loops not merged: both touch `p` at the same levels again and again"),
        ] {
            assert_eq!(
                merged("forward", (all, first), (all, second)),
                (2, expected.to_owned()),
                "{first}, {second}"
            );
        }
        // Backward, below and above change places.
        assert!(is_one("backward", "t = a", "b = t[0,0,1]"));
        assert!(!is_one("backward", "t = a", "b = t[0,0,-1]"));
        assert!(is_one("backward", "b = t[0,0,-1]", "t = a"));
        assert!(!is_one("backward", "b = t[0,0,1]", "t = a"));
    }
}
