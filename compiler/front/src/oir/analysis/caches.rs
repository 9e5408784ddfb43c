//! Which fields a vertical loop could keep at hand: planes that only it needs, and levels that a sweep comes by again.
//!
//! These are facts and not changes. Schedules decide whether a machine has the room. For that they must know
//! whether a cache is legal, and which levels it reads first and writes back.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::super::nodes::{Field, Section, Stencil, VerticalLoop};
use crate::entity::Handle;
use crate::pass::{Analyses, Analysis, LogValue};
use crate::space::{Axis, Bound, Interval, LoopOrder, min_levels};

/// A sweep does not keep more levels than these on either side.
const MAX_DISTANCE: i32 = 5;

/// The fields that each vertical loop of a stencil could keep, in order of the loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caches {
    pub loops: Vec<Vec<Cache>>,
}

/// A field that a vertical loop could keep at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    pub field: Handle<Field>,
    pub kind: CacheKind,
}

/// How a field could be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheKind {
    /// One plane at a time, in a parallel loop: nobody else needs it, and no level needs another.
    Plane,
    /// A few levels of a column, in a sweep.
    Levels {
        /// The lowest and the highest, as seen from the level at hand.
        range: (i32, i32),
        /// Whether a level must be read from the field when the sweep first touches it.
        fill: bool,
        /// Whether levels must be written back to the field.
        flush: bool,
    },
}

impl fmt::Display for CacheKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CacheKind::Plane => f.write_str("ij-cache"),
            CacheKind::Levels { range: (lo, hi), fill, flush } => {
                write!(f, "k-cache[{lo}:{hi}]")?;
                f.write_str(if *fill { " fill" } else { "" })?;
                f.write_str(if *flush { " flush" } else { "" })
            }
        }
    }
}

/// The caches of a stencil, as a fact that passes and listings share.
#[derive(Debug)]
pub struct CachesOf;

impl Analysis<Stencil> for CachesOf {
    const NAME: &'static str = "oir/caches";
    type Fact = Caches;

    fn compute(stencil: &Stencil, _: &mut Analyses<Stencil>) -> Caches {
        caches(stencil)
    }

    /// How many of each kind there are.
    fn told(fact: &Caches) -> Option<LogValue> {
        let all = || fact.loops.iter().flatten();
        let count = |is_wanted: fn(CacheKind) -> bool| {
            let n = all().filter(|it| is_wanted(it.kind)).count();
            LogValue::Integer(i64::try_from(n).unwrap_or(i64::MAX))
        };
        Some(LogValue::Map(BTreeMap::from([
            ("ij".to_owned(), count(|it| it == CacheKind::Plane)),
            ("k".to_owned(), count(|it| matches!(it, CacheKind::Levels { .. }))),
            ("k_fill".to_owned(), count(|it| matches!(it, CacheKind::Levels { fill: true, .. }))),
            ("k_flush".to_owned(), count(|it| matches!(it, CacheKind::Levels { flush: true, .. }))),
        ])))
    }
}

/// Finds what each vertical loop could keep.
#[must_use]
pub fn caches(stencil: &Stencil) -> Caches {
    let min_levels = min_levels(stencil.placed().map(|it| it.interval)).max(1);
    let uses: Vec<BTreeMap<Handle<Field>, LoopUse>> =
        stencil.vertical_loops.iter().map(|it| uses(stencil, it, min_levels)).collect();
    let mut homes: BTreeMap<Handle<Field>, usize> = BTreeMap::new();
    let mut last_read: BTreeMap<Handle<Field>, usize> = BTreeMap::new();
    for (at, of_loop) in uses.iter().enumerate() {
        for (&field, it) in of_loop {
            *homes.entry(field).or_default() += 1;
            if it.is_read {
                last_read.insert(field, at);
            }
        }
    }
    let of_loop = |(at, of_loop): (usize, &BTreeMap<Handle<Field>, LoopUse>)| {
        let order = stencil.vertical_loops[at].order;
        let cache = |(&field, it): (&Handle<Field>, &LoopUse)| {
            let declared = &stencil.fields[field];
            if !it.is_static || !declared.data_dims.is_empty() || !declared.axes.has(Axis::K) {
                return None;
            }
            let is_read_later = last_read.get(&field).is_some_and(|&it| it > at);
            let kind = match order {
                LoopOrder::Parallel => {
                    let is_own = declared.is_temporary && homes.get(&field) == Some(&1);
                    (is_own && it.range == (0, 0)).then_some(CacheKind::Plane)
                }
                LoopOrder::Forward | LoopOrder::Backward => {
                    let (lo, hi) = it.range;
                    let is_near = lo < hi && lo >= -MAX_DISTANCE && hi <= MAX_DISTANCE && !it.is_read_beside;
                    let flush = it.is_written && (!declared.is_temporary || is_read_later);
                    is_near.then_some(CacheKind::Levels { range: it.range, fill: it.needs_fill, flush })
                }
            };
            kind.map(|kind| Cache { field, kind })
        };
        of_loop.iter().filter_map(cache).collect()
    };
    Caches { loops: uses.iter().enumerate().map(of_loop).collect() }
}

/// How a vertical loop uses a field.
#[derive(Clone, Debug)]
struct LoopUse {
    range: (i32, i32),
    is_static: bool,
    is_read_beside: bool,
    is_read: bool,
    is_written: bool,
    /// Whether a level may be read that the sweep did not write before.
    needs_fill: bool,
}

fn uses(
    stencil: &Stencil,
    vertical_loop: &VerticalLoop,
    min_levels: i64,
) -> BTreeMap<Handle<Field>, LoopUse> {
    let mut uses: BTreeMap<Handle<Field>, LoopUse> = BTreeMap::new();
    // For each field, the intervals of the earlier sections that set it on each of their levels.
    let mut swept: BTreeMap<Handle<Field>, Vec<Interval>> = BTreeMap::new();
    for section in &vertical_loop.sections {
        let set = set_on_each_level(stencil, section);
        let mut done = BTreeSet::new();
        for &execution in &section.executions {
            stencil.executions[execution].each_touch(&mut |touch| {
                let Some(field) = touch.what.field() else { return };
                let k = touch.offset.k;
                let it = uses.entry(field).or_insert_with(|| LoopUse {
                    range: (k, k),
                    is_static: true,
                    is_read_beside: false,
                    is_read: false,
                    is_written: false,
                    needs_fill: false,
                });
                it.range = (it.range.0.min(k), it.range.1.max(k));
                it.is_static &= touch.is_level_known && !touch.is_part();
                it.is_read_beside |= touch.is_read_beside();
                it.is_read |= !touch.is_write;
                it.is_written |= touch.is_write;
                if touch.is_write {
                    if k == 0 && !touch.scope.is_conditional {
                        done.insert(field);
                    }
                    return;
                }
                // Along the sweep: what lies behind was set as the sweep came by, what lies ahead was not.
                let behind = match vertical_loop.order {
                    LoopOrder::Forward => -k,
                    LoopOrder::Backward => k,
                    LoopOrder::Parallel => 0,
                };
                let earlier = swept.get(&field).map_or(&[][..], Vec::as_slice);
                it.needs_fill |= match behind {
                    0 => !done.contains(&field),
                    ..0 => true,
                    _ => {
                        let own = set.contains(&field).then_some(section.interval);
                        !hold(
                            earlier.iter().copied().chain(own),
                            section.interval,
                            k,
                            vertical_loop.order,
                            min_levels,
                        )
                    }
                };
            });
        }
        for field in set {
            swept.entry(field).or_default().push(section.interval);
        }
    }
    uses
}

/// The fields that every point of the section sets on its level, whatever the conditions.
fn set_on_each_level(stencil: &Stencil, section: &Section) -> BTreeSet<Handle<Field>> {
    let mut set = BTreeSet::new();
    for &execution in &section.executions {
        stencil.executions[execution].each_touch(&mut |touch| {
            if let Some(field) = touch.what.field()
                && touch.is_write
                && touch.is_here()
                && !touch.scope.is_conditional
            {
                set.insert(field);
            }
        });
    }
    set
}

/// Whether the levels of `section`, moved by `k` against the sweep, are all among those that are `set`. The
/// intervals of `set` come in the order of the sweep.
fn hold(
    set: impl Iterator<Item = Interval>,
    section: Interval,
    k: i32,
    order: LoopOrder,
    min_levels: i64,
) -> bool {
    // The levels that follow each other up to the last.
    let mut together: Option<Interval> = None;
    for next in set {
        together = Some(match (together, order) {
            (Some(it), LoopOrder::Backward) if next.end == it.start => Interval::new(next.start, it.end),
            (Some(it), LoopOrder::Forward | LoopOrder::Parallel) if it.end == next.start => {
                Interval::new(it.start, next.end)
            }
            _ => next,
        });
    }
    let moved = |it: Bound| Bound { offset: it.offset.saturating_add(k), ..it };
    together.is_some_and(|it| {
        it.start.is_at_most(moved(section.start), min_levels)
            && moved(section.end).is_at_most(it.end, min_levels)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oir::parse::parse;

    /// The caches of each loop, as they are printed.
    fn found(loops: &str) -> Vec<String> {
        let stencil = parse(&format!(
            "
stencil caches
field a: float64[IJK]
field b: float64[IJK]
field n: int64[IJK]
temporary t: float64[IJK]
temporary u: float64[IJK]
temporary p: float64[IJ]
{loops}"
        ))
        .expect("the text is OIR");
        let of_loop = |it: &Vec<Cache>| {
            let each = it.iter().map(|it| format!("{} {}", stencil.fields[it.field].name, it.kind));
            each.collect::<Vec<_>>().join(", ")
        };
        caches(&stencil).loops.iter().map(of_loop).collect()
    }

    #[test]
    fn a_temporary_of_one_parallel_loop_is_a_plane_at_a_time() {
        assert_eq!(
            found(
                "
parallel
  [start, end)
    x0
      t = a
      u = a
    x1
      b = t[1,0,0] + u[0,0,0]
parallel
  [start, end)
    x2
      b = u[1,0,0]
"
            ),
            ["t ij-cache", ""]
        );
        assert_eq!(
            found("parallel\n  [start+1, end)\n    x0\n      t = a\n    x1\n      b = t[0,0,-1]\n"),
            [""]
        );
        assert_eq!(found("parallel\n  [start, end)\n    x0\n      t = a\n    x1\n      b = t.up(n)\n"), [""]);
    }

    #[test]
    fn a_solver_of_tridiagonal_systems_keeps_one_level_each_way() {
        // After J. W. Thomas: forward elimination, then substitution from the top.
        assert_eq!(
            found(
                "
forward
  [start, start+1)
    x0
      t = a
      u = b
  [start+1, end-1)
    x1
      t = a / (2.0 - t[0,0,-1])
      u = (b - u[0,0,-1]) / 2.0
  [end-1, end)
    x2
      u = u[0,0,-1] / 2.0
backward
  [end-1, end)
    x3
      b = u
  [start, end-1)
    x4
      b = u - t * b[0,0,1]
"
            ),
            ["t k-cache[-1:0] flush, u k-cache[-1:0] flush", "b k-cache[0:1] flush"]
        );
    }

    #[test]
    fn what_the_sweep_did_not_set_is_filled_from_the_field() {
        let sweep = |interval: &str, body: &str| {
            found(&format!("forward\n  {interval}\n    x0\n      {body}\n")).concat()
        };
        // Behind the first level that it sets; ahead; before it sets it; and where only some points set it.
        assert_eq!(sweep("[start+1, end)", "b = b[0,0,-1] + a"), "b k-cache[-1:0] fill flush");
        assert_eq!(sweep("[start, end-1)", "b = b[0,0,1] + a"), "b k-cache[0:1] fill flush");
        assert_eq!(sweep("[start+1, end-1)", "b = a[0,0,-1] + a + a[0,0,1]"), "a k-cache[-1:1] fill");
        assert_eq!(
            sweep("[start+1, end)", "if a > 0.0\n        b = 1.0\n      a = b[0,0,-1]"),
            "b k-cache[-1:0] fill flush"
        );
        // Far levels, other columns and levels found at run time are not kept.
        assert_eq!(sweep("[start+6, end)", "b = b[0,0,-6] + a"), "");
        assert_eq!(sweep("[start+1, end)", "b = a[1,0,-1] + a"), "");
        assert_eq!(sweep("[start+1, end)", "b = a.up(n) + a[0,0,-1]"), "");
    }

    #[test]
    fn a_domain_of_one_or_two_levels_leaves_nothing_unset() {
        // The second section has no level where there is but one; nothing of it is read then either.
        let two = "
forward
  [start, start+1)
    x0
      t = a
  [start+1, end)
    x1
      t = t[0,0,-1] + a
";
        assert_eq!(found(two), ["t k-cache[-1:0]"]);
        // Two levels behind: the section before did not set one of them.
        let gap = two.replace("t[0,0,-1]", "t[0,0,-2]").replace("[start+1, end)", "[start+2, end)");
        assert_eq!(found(&gap), ["t k-cache[-2:0] fill"]);
    }
}
