//! Makes planes of temporaries that are the same on all levels.

use std::collections::BTreeSet;
use std::fmt;

use super::PassCx;
use super::inline_temporaries::facts::{Definition, Facts};
use crate::entity::Handle;
use crate::expr::{ExprKind, Index};
use crate::oir::nodes::{
    Access, Field, HorizontalExecution, Section, Stencil, Stmt, StmtKind, Target, VerticalLoop,
};
use crate::oir::visit::may_end_run;
use crate::space::{Axis, AxisSet, Bound, Interval, LoopOrder};

pub const NAME: &str = "oir/reduce-temporaries";

/// Takes the axis K from each temporary that has the same value on all levels. Its value is computed once,
/// before the vertical loop in which it was computed.
///
/// - **Precondition**: valid OIR; temporaries that can be are locals already.
/// - **Effect**: smaller temporaries, fewer operations; a new sweep over one level for what was found in each loop.
/// - **Legality**: [`may_reduce`]. A temporary that was a plane already may add up levels and is left alone.
/// - **Why**: a parallel computation cannot assign a plane, so text spells a plane as a field of equal levels.
pub fn reduce_temporaries(stencil: &mut Stencil, cx: &mut PassCx) {
    let facts = Facts::of(stencil);
    let mut reduced = BTreeSet::new();
    for definition in &facts.definitions {
        let Some(field) = definition.target.field().filter(|&it| is_column(&stencil.fields[it])) else {
            continue;
        };
        let name = stencil.fields[field].name.clone();
        match may_reduce(stencil, &facts, &reduced, field, definition) {
            Ok(()) if cx.may_change() => {
                cx.applied(
                    format!("`{name}` is the same on all levels, and stored once"),
                    [&definition.origin],
                );
                // Its readers see a plane from here on.
                stencil.fields[field].axes = AxisSet::IJ;
                reduced.insert(field);
            }
            Err(blocked) if depends_on_no_level(stencil, definition) => {
                cx.missed(format!("`{name}` is stored on all levels: {blocked}"), [&definition.origin]);
            }
            _ => {}
        }
    }
    if !reduced.is_empty() {
        hoist(stencil, &reduced);
    }
}

fn is_column(field: &Field) -> bool {
    field.is_temporary && field.axes == AxisSet::IJK && field.data_dims.is_empty()
}

/// Why a temporary keeps its levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    NotOneAssignment,
    DependsOnLevel,
    FoundLevel,
    ReadBefore,
    OtherLevels,
    Overwritten(String),
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Blocked::NotOneAssignment => "it takes more than one assignment at every point to compute it",
            Blocked::DependsOnLevel => "it depends on the level",
            Blocked::FoundLevel => "it is read at a level that is found at run time",
            Blocked::ReadBefore => "it is read before it is computed",
            Blocked::OtherLevels => "it is read at levels where it is not computed",
            Blocked::Overwritten(name) => {
                return write!(f, "`{name}`, which it depends on, is written in the same loop");
            }
        })
    }
}

/// Whether one plane, computed before the loop of the definition, can stand for all levels.
///
/// # Errors
///
/// The reason why it cannot.
fn may_reduce(
    stencil: &Stencil,
    facts: &Facts,
    reduced: &BTreeSet<Handle<Field>>,
    field: Handle<Field>,
    definition: &Definition,
) -> Result<(), Blocked> {
    if !definition.is_whole || facts.writes.get(&field).is_none_or(|it| it.len() != 1) {
        return Err(Blocked::NotOneAssignment);
    }
    if !depends_on_no_level(stencil, definition) {
        return Err(Blocked::DependsOnLevel);
    }
    for read in facts.reads.get(&field).into_iter().flatten() {
        let Some(offset) = read.offset else { return Err(Blocked::FoundLevel) };
        if read.at <= definition.at {
            return Err(Blocked::ReadBefore);
        }
        // A level that is not computed has no value, and so must not get one.
        if !facts.is_within(read.interval, offset.k, definition.interval) {
            return Err(Blocked::OtherLevels);
        }
    }
    let mut overwritten = None;
    definition.value.accesses(&mut |it| {
        if let Access::Field { field, .. } = it
            // A reduced field is computed before the loop as well, so its value is there by then.
            && !reduced.contains(field)
            && facts.is_written_between(*field, definition.around)
        {
            overwritten = Some(Blocked::Overwritten(stencil.fields[*field].name.clone()));
        }
    });
    overwritten.map_or(Ok(()), Err)
}

/// Whether the value is the same on all levels, as long as what it reads stays the same.
fn depends_on_no_level(stencil: &Stencil, definition: &Definition) -> bool {
    let mut depends = may_end_run(&definition.value);
    definition.value.walk(&mut |it| {
        depends |= match it.kind {
            ExprKind::Access(Access::Field { field, .. })
            | ExprKind::Element(Access::Field { field, .. }, _) => stencil.fields[field].axes.has(Axis::K),
            ExprKind::Access(Access::Local(_)) => true,
            ExprKind::Position(axis) => axis == Axis::K,
            _ => false,
        };
    });
    !depends
}

/// Moves the assignments of `planes` before their vertical loops, and reads them as planes.
fn hoist(stencil: &mut Stencil, planes: &BTreeSet<Handle<Field>>) {
    let mut vertical_loops = Vec::new();
    for vertical_loop in std::mem::take(&mut stencil.vertical_loops) {
        let mut hoisted = Vec::new();
        for &execution in vertical_loop.sections.iter().flat_map(|it| &it.executions) {
            let body = std::mem::take(&mut stencil.executions[execution].body);
            let (planes, rest): (Vec<Stmt>, Vec<Stmt>) =
                body.into_iter().partition(|it| assigns_one_of(it, planes));
            stencil.executions[execution].body = rest;
            for stmt in planes {
                hoisted.push(stencil.executions.push(HorizontalExecution { body: vec![stmt] }));
            }
        }
        if !hoisted.is_empty() {
            // There is at least one level, and a sweep over it may write a plane.
            let interval = Interval::new(Bound::start(0), Bound::start(1));
            let sections = vec![Section { interval, executions: hoisted }];
            vertical_loops.push(VerticalLoop { order: LoopOrder::Forward, sections });
        }
        vertical_loops.push(vertical_loop);
    }
    stencil.vertical_loops = vertical_loops;
    for (_, execution) in stencil.executions.iter_mut() {
        execution.body.iter_mut().for_each(|it| read_planes(it, planes));
    }
}

fn assigns_one_of(stmt: &Stmt, planes: &BTreeSet<Handle<Field>>) -> bool {
    matches!(&stmt.kind, StmtKind::Assign { target: Target::Field(field), index, .. }
        if planes.contains(field) && *index == Index::HERE)
}

/// A plane has no levels, so none is beside the point.
fn read_planes(stmt: &mut Stmt, planes: &BTreeSet<Handle<Field>>) {
    stmt.exprs_mut().for_each(|it| {
        it.accesses_mut(&mut |it| {
            if let Access::Field { field, offset } = it
                && planes.contains(field)
            {
                offset.k = 0;
            }
        });
    });
    for body in stmt.bodies_mut() {
        body.iter_mut().for_each(|it| read_planes(it, planes));
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::oir::passes::tests::after;

    fn reduced(loops: &str) -> String {
        after(
            &format!(
                "
stencil planes
field a: float64[IJK]
field b: float64[IJK]
field p: float64[IJ]
field n: int64[IJK]
scalar s: float64
temporary t: float64[IJK]
temporary u: float64[IJK]
temporary q: float64[IJ]
{loops}"
            ),
            reduce_temporaries,
        )
    }

    #[test]
    fn what_is_the_same_on_all_levels_is_computed_once() {
        let found = reduced(
            "
parallel
  [start, end)
    x0
      t = p[1,0] * s
    x1
      u = t[1,0,0] + 1.0
    x2
      b = u[0,1,0] + t[-1,0,0]
",
        );
        let (_, found) = found.split_once("scalar s: float64\n").expect("it has a scalar");
        expect![[r#"
            temporary t: float64[IJ]
            temporary u: float64[IJ]

            forward
              [start, start+1)
                x0
                  t = p[1,0] * s
                x1
                  u = t[1,0] + 1.0

            parallel
              [start, end)
                x2
                  b = u[0,1] + t[-1,0]
            applied: `t` is the same on all levels, and stored once
            applied: `u` is the same on all levels, and stored once
        "#]]
        .assert_eq(found);
    }

    #[test]
    fn what_depends_on_a_level_or_is_read_elsewhere_keeps_its_levels() {
        for (loops, expected) in [
            ("parallel\n  [start, end)\n    x0\n      t = a\n    x1\n      b = t[1,0,0]\n", None),
            ("parallel\n  [start, end)\n    x0\n      t = float64(K)\n    x1\n      b = t[1,0,0]\n", None),
            (
                "parallel\n  [start, end-1)\n    x0\n      t = s\nparallel\n  [start, end-1)\n    x1\n      b = t[1,0,1]\n",
                Some("it is read at levels where it is not computed"),
            ),
            (
                "parallel\n  [start, end)\n    x0\n      t = s\n    x1\n      b = t.up(n)\n",
                Some("it is read at a level that is found at run time"),
            ),
            (
                "forward\n  [start, end)\n    x0\n      q = p\n    x1\n      t = q\n    x2\n      b = t[1,0,0]\n",
                Some("`q`, which it depends on, is written in the same loop"),
            ),
            (
                "parallel\n  [start, end)\n    x0\n      t = s\n    x1\n      t = p\n    x2\n      b = t[1,0,0]\n",
                Some("it takes more than one assignment at every point to compute it"),
            ),
        ] {
            let found = reduced(loops);
            assert!(!found.contains("temporary t: float64[IJ]\n"), "{found}");
            let missed =
                found.lines().find_map(|it| it.strip_prefix("missed: `t` is stored on all levels: "));
            assert_eq!(missed, expected, "{found}");
        }
    }

    #[test]
    fn a_plane_that_adds_up_levels_is_kept_as_it_is() {
        let found = reduced(
            "
forward
  [start, start+1)
    x0
      q = a
  [start+1, end)
    x1
      q = q + a
forward
  [start, end)
    x2
      b = q[1,0]
",
        );
        assert!(found.contains("      q = q + a\n"), "{found}");
        assert!(!found.contains("applied"), "{found}");
    }
}
