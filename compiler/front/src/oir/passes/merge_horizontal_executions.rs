//! Merges neighbouring horizontal executions into one.

use std::collections::BTreeSet;
use std::fmt;

use super::PassCx;
use crate::entity::Handle;
use crate::oir::analysis::extents::{Extents, ExtentsOf};
use crate::oir::nodes::{Field, HorizontalExecution, Section, Stencil};
use crate::space::LoopOrder;

pub const NAME: &str = "oir/merge-horizontal-executions";
pub const AGAIN: &str = "oir/merge-executions-again";

/// Merges each horizontal execution into the one before it, where legal.
///
/// - **Precondition**: valid OIR.
/// - **Effect**: fewer, longer horizontal executions; statements keep their order.
/// - **Legality**: [`may_merge`]; every refusal becomes a remark.
/// - **Why**: each execution that remains costs one pass over memory.
pub fn merge_horizontal_executions(stencil: &mut Stencil, cx: &mut PassCx) {
    let extents = cx.get::<ExtentsOf>(stencil);
    let mut vertical_loops = std::mem::take(&mut stencil.vertical_loops);
    for vertical_loop in &mut vertical_loops {
        for section in &mut vertical_loop.sections {
            merge_section(stencil, cx, &extents, vertical_loop.order, section);
        }
    }
    stencil.vertical_loops = vertical_loops;
}

fn merge_section(
    stencil: &mut Stencil,
    cx: &mut PassCx,
    extents: &Extents,
    order: LoopOrder,
    section: &mut Section,
) {
    let mut merged: Vec<(Handle<HorizontalExecution>, ExecutionAccesses)> = Vec::new();
    for next in std::mem::take(&mut section.executions) {
        let after = ExecutionAccesses::of(order, &stencil.executions[next]);
        let Some((prev, before)) = merged.last_mut() else {
            merged.push((next, after));
            continue;
        };
        let origin = stencil.executions[next].body.first().map(|it| it.origin.clone());
        let may = match cx.options.is_apart(origin.as_ref()) {
            true => Err(Blocked::KeptApart),
            false => may_merge(stencil, extents, (*prev, before), (next, &after)),
        };
        match may {
            Ok(()) if cx.may_change() => {
                cx.applied("runs with the statements before it, point by point", &origin);
                before.extend(after);
                let body = std::mem::take(&mut stencil.executions[next].body);
                stencil.executions[*prev].body.extend(body);
            }
            Ok(()) => merged.push((next, after)),
            Err(blocked) => {
                cx.missed(blocked.to_string(), &origin);
                merged.push((next, after));
            }
        }
    }
    section.executions = merged.into_iter().map(|(execution, _)| execution).collect();
}

/// The fields that an execution touches, as far as merging depends on them. They are updated while other
/// executions are merged into it, since a section may have a thousand of them.
#[derive(Debug, Default)]
struct ExecutionAccesses {
    /// Read at a point other than the one at hand, in order, each once.
    ///
    /// In a sweep the other levels are out of reach of both executions.
    read_elsewhere: Vec<Handle<Field>>,
    written: BTreeSet<Handle<Field>>,
}

impl ExecutionAccesses {
    fn of(order: LoopOrder, execution: &HorizontalExecution) -> Self {
        let mut all = Self::default();
        execution.each_touch(&mut |it| {
            let Some(field) = it.what.field() else { return };
            let is_elsewhere =
                it.offset.is_horizontal() || (order == LoopOrder::Parallel && it.is_of_other_level());
            if it.is_write {
                all.written.insert(field);
            } else if is_elsewhere && !all.read_elsewhere.contains(&field) {
                all.read_elsewhere.push(field);
            }
        });
        all
    }

    fn extend(&mut self, other: Self) {
        for field in other.read_elsewhere {
            if !self.read_elsewhere.contains(&field) {
                self.read_elsewhere.push(field);
            }
        }
        self.written.extend(other.written);
    }

    /// A field that is read elsewhere here, and written by `writer`.
    fn read_elsewhere_of(&self, writer: &Self) -> Option<Handle<Field>> {
        self.read_elsewhere.iter().copied().find(|it| writer.written.contains(it))
    }
}

/// Why two executions stay apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// A line `# @keep apart` stands above it.
    KeptApart,
    /// One runs farther beyond the compute domain than the other.
    ExtentsDiffer,
    /// The second reads a value at a point where the first may not have written it yet.
    NotReady(String),
    /// The second overwrites a value that the first may still need at another point.
    StillNeeded(String),
    /// One of them reads what it writes at another level, and so needs the old values of all levels.
    NeedsOldLevels(String),
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Blocked::KeptApart => f.write_str("not merged: the text keeps the statement apart"),
            Blocked::ExtentsDiffer => f.write_str("not merged: the statements before run on another extent"),
            Blocked::NotReady(name) => {
                write!(f, "not merged: `{name}` is read at another point than the one just written")
            }
            Blocked::StillNeeded(name) => {
                write!(f, "not merged: `{name}` is overwritten, and was just read at another point")
            }
            Blocked::NeedsOldLevels(name) => {
                write!(f, "not merged: `{name}` is read at another level by the statement that writes it")
            }
        }
    }
}

/// Whether `next` may run at each point right after `prev`, without a barrier.
///
/// # Errors
///
/// The reason why it may not.
fn may_merge(
    stencil: &Stencil,
    extents: &Extents,
    (prev, before): (Handle<HorizontalExecution>, &ExecutionAccesses),
    (next, after): (Handle<HorizontalExecution>, &ExecutionAccesses),
) -> Result<(), Blocked> {
    if extents.executions.get(prev) != extents.executions.get(next) {
        return Err(Blocked::ExtentsDiffer);
    }
    let name = |field: Handle<Field>| stencil.fields[field].name.clone();
    if let Some(field) = after.read_elsewhere_of(before) {
        return Err(Blocked::NotReady(name(field)));
    }
    // A later write must not overtake an earlier read at another point either.
    if let Some(field) = before.read_elsewhere_of(after) {
        return Err(Blocked::StillNeeded(name(field)));
    }
    let own = before.read_elsewhere_of(before).or_else(|| after.read_elsewhere_of(after));
    own.map_or(Ok(()), |field| Err(Blocked::NeedsOldLevels(name(field))))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::oir::passes::tests::after;

    fn check(text: &str, expected: Expect) {
        expected.assert_eq(&after(text, merge_horizontal_executions));
    }

    #[test]
    fn merges_what_meets_at_the_point() {
        check(
            "
stencil point
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
parallel
  [start, end)
    x0
      t = a[1,0,0]
    x1
      b = t + 1.0
",
            expect![[r#"
                stencil point
                field a: float64[IJK]
                field b: float64[IJK]
                temporary t: float64[IJK]

                parallel
                  [start, end)
                    x0
                      t = a[1,0,0]
                      b = t + 1.0
                applied: runs with the statements before it, point by point
            "#]],
        );
    }

    #[test]
    fn keeps_executions_of_different_extent_apart() {
        check(
            "
stencil shift
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
parallel
  [start, end)
    x0
      t = a + 1.0
    x1
      b = t[1,0,0]
",
            expect![[r#"
                stencil shift
                field a: float64[IJK]
                field b: float64[IJK]
                temporary t: float64[IJK]

                parallel
                  [start, end)
                    x0
                      t = a + 1.0
                    x1
                      b = t[1,0,0]
                missed: not merged: the statements before run on another extent
            "#]],
        );
    }

    #[test]
    fn keeps_the_barrier_before_a_neighbour_read() {
        // The region is inside, so it asks for no wider extent.
        check(
            "
stencil edge
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
parallel
  [start, end)
    x0
      t = a
    x1
      region i[start+1, start+2) j[, )
        b = t[-1,0,0]
",
            expect![[r#"
                stencil edge
                field a: float64[IJK]
                field b: float64[IJK]
                temporary t: float64[IJK]

                parallel
                  [start, end)
                    x0
                      t = a
                    x1
                      region i[start+1, start+2) j[, )
                        b = t[-1,0,0]
                missed: not merged: `t` is read at another point than the one just written
            "#]],
        );
    }

    #[test]
    fn keeps_a_value_that_a_neighbour_still_needs() {
        // Upstream merges the last two, and then reads overwritten neighbours.
        check(
            "
stencil overwritten
field a: float64[IJK]
field b: float64[IJK]
field o: float64[IJK]
temporary t: float64[IJK]
parallel
  [start, end)
    x0
      t = a
    x1
      o = t[-1,0,0] + t[1,0,0]
    x2
      t = b
    x3
      b = t
",
            expect![[r#"
                stencil overwritten
                field a: float64[IJK]
                field b: float64[IJK]
                field o: float64[IJK]
                temporary t: float64[IJK]

                parallel
                  [start, end)
                    x0
                      t = a
                    x1
                      o = t[-1,0,0] + t[1,0,0]
                    x2
                      t = b
                      b = t
                missed: not merged: the statements before run on another extent
                missed: not merged: `t` is overwritten, and was just read at another point
                applied: runs with the statements before it, point by point
            "#]],
        );
    }

    #[test]
    fn keeps_levels_apart_in_parallel_loops_only() {
        let text = |order: &str| {
            format!(
                "
stencil levels
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
{order}
  [start, start+1)
    x0
      t = a
  [start+1, end)
    x1
      t = a
    x2
      b = t[0,0,-1]
"
            )
        };
        assert!(after(&text("parallel"), merge_horizontal_executions).ends_with(
            "    x2\n      b = t[0,0,-1]\nmissed: not merged: `t` is read at another point than the one just written\n"
        ));
        assert!(
            after(&text("forward"), merge_horizontal_executions)
                .contains("      t = a\n      b = t[0,0,-1]\n")
        );
    }

    #[test]
    fn keeps_a_statement_that_needs_its_old_levels_alone() {
        let found = after(
            "
stencil old
field a: float64[IJK]
field b: float64[IJK]
parallel
  [start+1, end)
    x0
      a = a[0,0,-1]
    x1
      b = 1.0
",
            merge_horizontal_executions,
        );
        assert!(
            found.ends_with(
                "missed: not merged: `a` is read at another level by the statement that writes it\n"
            )
        );
    }

    #[test]
    fn sections_stay_apart() {
        // Their levels differ, and no remark is due: nobody expects it.
        let text = "
stencil sections
field b: float64[IJK]

forward
  [start, start+1)
    x0
      b = 0.0
  [start+1, end)
    x1
      b = b[0,0,-1] + 1.0
";
        assert_eq!(after(text, merge_horizontal_executions).trim(), text.trim());
    }
}
