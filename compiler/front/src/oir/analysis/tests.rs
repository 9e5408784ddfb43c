//! Extents and access kinds of whole stencils, and against brute force.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::access::{AccessKind, access_kinds};
use super::definite_assignment::{UndefinedRead, reads_undefined, warn};
use super::extents::{Extents, clipped, extents};
use super::touches::{touched, touches_of_params};
use crate::diag::Diagnostics;
use crate::oir::nodes::Stencil;
use crate::oir::parse::parse;
use crate::space::{Bound, Domain, Extent, Offset, Reach, Region, Side};

fn parsed(text: &str) -> (Stencil, Extents) {
    let stencil = parse(text).expect("the text is OIR");
    let extents = extents(&stencil);
    (stencil, extents)
}

/// `name i[..] j[..]` for every field.
fn field_extents(text: &str) -> Vec<String> {
    let (stencil, extents) = parsed(text);
    stencil.fields.iter().map(|(field, it)| format!("{} {}", it.name, extents.fields[field])).collect()
}

#[test]
fn extents_widen_step_by_step() {
    let text = "
stencil lap
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
parallel
  [start, end)
    x0
      t = a[-1,0,0] + a[1,0,0] + a[0,-1,0] + a[0,1,0]
    x1
      b = t[-1,0,0] + t[1,0,0] + t[0,-1,0] + t[0,1,0]
";
    assert_eq!(field_extents(text), ["a i[-2,2] j[-2,2]", "b i[0,0] j[0,0]", "t i[-1,1] j[-1,1]"]);
    let (stencil, extents) = parsed(text);
    let listing = crate::oir::print::listing_with_extents(&stencil, &extents).text;
    assert!(listing.contains("x0 on i[-1,1] j[-1,1]\n"), "{listing}");
    assert!(listing.contains("x1 on i[0,0] j[0,0]\n"), "{listing}");
}

#[test]
fn a_field_read_on_one_side_only_starts_there() {
    let text = "
stencil east
field a: float64[IJK]
field b: float64[IJK]
parallel
  [start, end)
    x0
      b = a[1,0,0]
";
    assert_eq!(field_extents(text), ["a i[1,1] j[0,0]", "b i[0,0] j[0,0]"]);
}

#[test]
fn a_region_widens_the_side_it_is_anchored_at() {
    let of = |region: &str, offset: &str| {
        let text = format!(
            "
stencil edge
field a: float64[IJK]
field b: float64[IJK]
parallel
  [start, end)
    x0
      region {region}
        b = a[{offset}]
"
        );
        field_extents(&text)[0].clone()
    };
    assert_eq!(of("i[start, start+1) j[, )", "-1,0,0"), "a i[-1,0] j[0,0]");
    assert_eq!(of("i[start+1, start+2) j[, )", "-1,0,0"), "a i[0,0] j[0,0]");
    assert_eq!(of("i[end-1, end) j[, )", "1,0,0"), "a i[0,1] j[0,0]");
    assert_eq!(of("i[end-2, end-1) j[, )", "1,0,0"), "a i[0,0] j[0,0]");
    // The far side is not looked at.
    assert_eq!(of("i[, ) j[start, start+1)", "0,5,0"), "a i[0,0] j[0,0]");
    // Outside of the block.
    assert_eq!(of("i[start-1, start) j[, )", "-5,0,0"), "a i[0,0] j[0,0]");
}

#[test]
fn what_is_really_touched_depends_on_the_domain() {
    let (stencil, extents) = parsed(
        "
stencil far
field a: float64[IJK]
field b: float64[IJK]
parallel
  [start, end)
    x0
      region i[start, start+1) j[, )
        b = a[5,0,-1]
",
    );
    let a = stencil.fields.find(|it| it.name == "a").expect("a");
    let touches = touches_of_params(&stencil, &extents);
    assert_eq!(touched(&touches, 2, Domain::new(9, 2, 4))[0], Some([5..6, 0..2, -1..3]));
    assert_eq!(extents.fields[a], Extent::ZERO);
    // On a domain of one point it lies five points beyond the end.
    assert_eq!(extents.true_fields[a], Extent::new(Reach::new(5, 5), Reach::ZERO));
}

#[test]
fn a_region_keeps_a_write_within_the_domain_where_its_block_runs_beyond_it() {
    let of = |region: &str| {
        let text = format!(
            "
stencil s
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
parallel
  [start, end)
    x0
      t = a
    x1
      region {region}
        t = b
        b = a
    x2
      a = t[-1,0,0]
"
        );
        crate::oir::validate::validate(&parsed(&text).0)
    };
    assert_eq!(of("i[start, start+1) j[, )"), Vec::<String>::new());
    assert_eq!(of("i[, ) j[start, start+1)"), ["x1 writes `b` beyond the domain"]);
}

fn kinds(text: &str) -> Vec<String> {
    let (stencil, extents) = parsed(text);
    let kinds = access_kinds(&stencil, &extents);
    stencil.fields.iter().map(|(field, it)| format!("{} {}", it.name, kinds[field])).collect()
}

#[test]
fn what_some_points_skip_keeps_its_old_value() {
    let text = "
stencil kinds
field read: float64[IJK]
field branch: float64[IJK]
parallel
  [start, end)
    x0
      if read > 0.0
        branch = 1.0
";
    assert_eq!(kinds(text), ["read read", "branch read-write"]);
}

#[test]
fn what_is_written_in_part_keeps_the_rest() {
    // One element of two, and another level than the one at hand.
    let of = |field: &str, statement: &str| {
        let text = format!(
            "stencil s\nfield a: float64[IJK]\nfield b: {field}\nforward\n  [start, end)\n    x0\n      {statement}\n"
        );
        kinds(&text)[1].clone()
    };
    assert_eq!(of("float64[IJK][2]", "b.A[0] = a"), "b read-write");
    assert_eq!(of("float64[IJK]", "b.up(1) = a"), "b read-write");
    assert_eq!(of("float64[IJK]", "b = a"), "b write");
}

#[test]
fn only_fields_written_as_a_whole_before_they_are_read_are_written_only() {
    let text = "
stencil kinds
field unused: float64[IJK]
field read: float64[IJK]
field whole: float64[IJK]
field after: float64[IJK]
field branch: float64[IJK]
field part: float64[IJK]
field swept: float64[IJK]
field elsewhere: float64[IJK]
field plane: float64[IJ]
forward
  [start, start+1)
    x0
      whole = read
    x1
      swept = 0.0
    x2
      plane = read
forward
  [start+1, end)
    x3
      whole = whole[0,0,-1]
    x4
      swept = swept[0,0,-1] + 1.0
    x5
      after = after + 1.0
    x6
      if read > 0.0
        branch = 1.0
    x7
      part = 1.0
    x8
      region i[start-9, start-8) j[, )
        elsewhere = 1.0
    x9
      plane = plane + 1.0
";
    assert_eq!(
        kinds(text),
        [
            "unused none",
            "read read",
            "whole write",
            "after read-write",
            "branch read-write",
            "part read-write",
            "swept write",
            "elsewhere none",
            "plane write"
        ]
    );
}

#[test]
fn a_later_branch_does_not_bring_old_values_back() {
    let text = "
stencil later
field a: float64[IJK]
field b: float64[IJK]
parallel
  [start, end)
    x0
      b = 0.0
    x1
      if a > 0.0
        b = b + 1.0
";
    assert_eq!(kinds(text)[1], "b write");
    assert_eq!(AccessKind::default(), AccessKind::None);
}

/// The access kind of the written field `b`.
fn kind_of_written(field: &str, body: &str) -> String {
    let text = format!("stencil s\nfield a: float64[IJK]\nfield b: {field}\nfield c: float64[IJK]\n{body}\n");
    kinds(&text)[1].clone()
}

#[test]
fn a_field_that_both_branches_write_as_a_whole_needs_no_old_values() {
    let of =
        |body: &str| kind_of_written("float64[IJK]", &format!("parallel\n  [start, end)\n    x0\n{body}"));
    let both = "      if a > 0.0\n        b = 1.0\n      else\n        b = 2.0";
    assert_eq!(of(both), "b write");
    let nested = "      if a > 0.0\n        if a > 1.0\n          b = 1.0\n        else\n          b = 2.0\n      else\n        b = 3.0";
    assert_eq!(of(nested), "b write");
    let three_of_four =
        "      if a > 0.0\n        if a > 1.0\n          b = 1.0\n      else\n        b = 3.0";
    assert_eq!(of(three_of_four), "b read-write");
    let read_first = "      if b > 0.0\n        b = 1.0\n      else\n        b = 2.0";
    assert_eq!(of(read_first), "b read-write");
    let read_in_one = "      if a > 0.0\n        b = 1.0\n      else\n        b = b + 2.0";
    assert_eq!(of(read_in_one), "b read-write");
    let in_loop = "      while a > 0.0\n        b = 1.0";
    assert_eq!(of(in_loop), "b read-write");
    let in_regions = "      region i[start, ) j[, )\n        b = 1.0";
    assert_eq!(of(in_regions), "b read-write");
    let plane =
        "forward\n  [start, end)\n    x0\n      if a > 0.0\n        b = 1.0\n      else\n        b = 2.0";
    assert_eq!(kind_of_written("float64[IJ]", plane), "b write");
}

#[test]
fn intervals_that_cover_the_column_together_write_it_as_a_whole() {
    let of = |body: &str| kind_of_written("float64[IJK]", body);
    let branch = "      if a > 0.0\n        b = 1.0\n      else\n        b = 2.0";
    let parts = |order: &str, parts: &[&str]| {
        let parts = parts.iter().enumerate();
        let parts = parts.map(|(at, it)| format!("{order}\n  {it}\n    x{at}\n{branch}")).collect::<Vec<_>>();
        of(&parts.join("\n"))
    };
    assert_eq!(parts("parallel", &["[start, start+1)", "[start+1, end-1)", "[end-1, end)"]), "b write");
    assert_eq!(parts("backward", &["[end-1, end)", "[start, end-1)"]), "b write");
    assert_eq!(parts("forward", &["[start, end-1)", "[start+1, end)"]), "b write");
    assert_eq!(parts("forward", &["[start, end-1)"]), "b read-write");
    assert_eq!(parts("parallel", &["[start, start+2)", "[end-2, end)"]), "b read-write");
    assert_eq!(parts("parallel", &["[start, start+1)", "[start+2, end)"]), "b read-write");
}

#[test]
fn writes_at_another_level_count_where_they_leave_none_out() {
    let of = |body: &str| kind_of_written("float64[IJK]", body);
    let first = "forward\n  [start, start+1)\n    x0\n      b = 1.0\n";
    let above = "forward\n  [start, end-1)\n    x1\n      b.up(1) = a";
    assert_eq!(of(&format!("{first}{above}")), "b write");
    assert_eq!(of(above), "b read-write");
    let read_ahead = "forward\n  [start, end-1)\n    x1\n      b = b[0,0,1]";
    assert_eq!(of(&format!("{first}{read_ahead}")), "b read-write");
}

#[test]
fn reads_outside_the_compute_domain_need_old_values() {
    let of = |read: &str| {
        let whole = "parallel\n  [start, end)\n    x0\n      b = a\n";
        kind_of_written("float64[IJK]", &format!("{whole}parallel\n  {read}"))
    };
    assert_eq!(of("[start+1, end)\n    x1\n      c = b[0,0,-1]"), "b write");
    assert_eq!(of("[start, end)\n    x1\n      c = b[0,0,-1]"), "b read-write");
    assert_eq!(of("[start, end)\n    x1\n      c = b[0,0,1]"), "b read-write");
    // On a domain of one level it is the one below the domain.
    assert_eq!(of("[end-1, end)\n    x1\n      c = b[0,0,-1]"), "b read-write");
    let edge = "[start, end)\n    x1\n      region i[end-1, end) j[, )\n        c = b[-1,0,0]";
    assert_eq!(of(edge), "b read-write");
}

fn bounds() -> impl Strategy<Value = Option<Bound>> {
    prop_oneof![
        Just(None),
        (-3..4_i32).prop_map(|it| Some(Bound::start(it))),
        (-3..4_i32).prop_map(|it| Some(Bound::end(it))),
    ]
}

fn sides() -> impl Strategy<Value = Side> {
    (bounds(), bounds()).prop_map(|(start, end)| Side { start, end })
}

proptest! {
    /// `true_fields` and `touched` hold exactly the points that brute force finds.
    #[test]
    fn true_extents_hold_every_touched_point(side in sides(), offset in -3..4_i32, reach in (-2..1_i32, 0..3_i32)) {
        let block = Reach::new(reach.0, reach.1);
        // The temporary widens the block that reads `a`.
        let text = format!(
            "
stencil s
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
parallel
  [start, end)
    x0
      t = 0.0
    x1
      b = t[{},0,0] + t[{},0,0]
",
            block.lo, block.hi
        );
        let mut stencil = parse(&text).expect("OIR");
        let a = stencil.fields.find(|it| it.name == "a").expect("a");
        let first = stencil.executions.handles().next().expect("x0");
        let assign = stencil.executions[first].body.remove(0);
        let region = Region { i: side, ..Region::default() };
        let mut reading = assign.clone();
        if let crate::oir::nodes::StmtKind::Assign { value, .. } = &mut reading.kind {
            value.kind = crate::expr::ExprKind::Access(crate::oir::nodes::Access::Field {
                field: a,
                offset: Offset::new(offset, 0, 0),
            });
        }
        let kind = crate::oir::nodes::StmtKind::Region { region, body: vec![reading] };
        stencil.executions[first].body.push(crate::oir::nodes::Stmt { kind, origin: assign.origin });

        let extents = extents(&stencil);
        prop_assert_eq!(extents.executions[first].i, block.union(Reach::ZERO));
        let runs = extents.executions[first].i;
        let touches = touches_of_params(&stencil, &extents);
        let (mut least, mut most) = (None::<i64>, None::<i64>);
        for n in 1..=8_i64 {
            let points: BTreeSet<i64> = (i64::from(runs.lo)..n + i64::from(runs.hi))
                .filter(|&i| side.contains(i, n))
                .map(|i| i + i64::from(offset))
                .collect();
            let range = touched(&touches, 2, Domain::new(n, 1, 1))[0].clone().map(|it| it[0].clone());
            let found: BTreeSet<i64> = range.into_iter().flatten().collect();
            prop_assert_eq!(&found, &points, "n = {}", n);
            least = least.into_iter().chain(points.first().copied()).min();
            most = most.into_iter().chain(points.last().map(|it| it + 1 - n)).max();
            prop_assert_eq!(clipped(runs, side, n).count(), points.len());
        }
        let truth = extents.true_fields[a].i;
        match (least, most) {
            (Some(least), Some(most)) => {
                prop_assert!(i64::from(truth.lo) <= least && most <= i64::from(truth.hi), "{truth} {least} {most}");
                // Only bounds that count from the other end may cost a little more.
                let is_exact = |bound: Option<Bound>| bound.is_none();
                if is_exact(side.start) && is_exact(side.end) {
                    prop_assert_eq!((i64::from(truth.lo), i64::from(truth.hi)), (least, most));
                }
            }
            _ => prop_assert_eq!(truth, Reach::ZERO),
        }
    }
}

/// Which of the temporaries `t` and `p` may be read undefined in these loops.
fn undefined(loops: &str) -> Vec<String> {
    let header = "
stencil undefined
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
temporary p: float64[IJ]
";
    let (stencil, extents) = parsed(&format!("{header}{loops}"));
    let found = reads_undefined(&stencil, &extents);
    let text = |it: UndefinedRead<'_>| {
        let beside = it.written.map_or(String::new(), |written| format!(" beside {written}"));
        format!("{} in {}{beside}", stencil.fields[it.field].name, it.origin.stmt)
    };
    found.into_iter().map(text).collect()
}

#[test]
fn what_may_be_undefined_is_warned_of_once() {
    let (stencil, extents) = parsed(
        "
stencil warned
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
temporary u: float64[IJK]
temporary v: float64[IJK]
forward
  [start+1, end)
    x0
      t = a
      v = a
    x1
      if a > 0.0
        u = 1.0
    x2
      b = t[0,0,-1] + u + v
    x3
      b = b + t[0,0,-1]
",
    );
    let mut diagnostics = Diagnostics::default();
    warn(&stencil, &extents, &mut diagnostics);
    let found: Vec<String> = diagnostics.iter().map(|it| format!("{} {}", it.code, it.message)).collect();
    let of = |name: &str| format!("W01 `{name}` may be read where it was never assigned");
    assert_eq!(found, [of("t"), of("u")]);
}

#[test]
fn what_every_read_finds_written_needs_no_value_to_start_with() {
    for loops in [
        "
parallel
  [start, end)
    x0
      t = a
    x1
      b = t[1,0,0] + t[0,-1,0]
",
        "
parallel
  [start, end)
    x0
      if a > 0.0
        t = a
      else
        t = 0.0
      b = t
",
        "
forward
  [start, start+1)
    x0
      t = a
      p = a
  [start+1, end)
    x1
      t = t[0,0,-1] + a
      p = p + t
backward
  [end-1, end)
    x2
      b = t
  [start, end-1)
    x3
      b = t[0,0,1] + p
",
        "
forward
  [start, start+2)
    x0
      t = a
  [start+2, end-1)
    x1
      t = t[0,0,-2]
    x2
      b = t[0,0,-1]
parallel
  [end-1, end)
    x3
      b = t[0,0,-1]
",
        "
parallel
  [start+1, end)
    x0
      t = a
  [end-1, end)
    x1
      b = t
",
        "
parallel
  [start, end)
    x0
      t = a
    x1
      region i[start, start+1) j[, )
        b = t[-1,0,0]
    x2
      region i[start-3, start-1) j[, )
        b = t[-4,0,0]
",
    ] {
        assert_eq!(undefined(loops), Vec::<String>::new(), "{loops}");
    }
}

#[test]
fn what_some_read_may_not_find_written_is_told_with_its_statement() {
    for (loops, expected) in [
        ("parallel\n  [start, end)\n    x0\n      b = t\n", "t in s0"),
        ("parallel\n  [start, end)\n    x0\n      if a > 0.0\n        t = a\n      b = t\n", "t in s2"),
        (
            "parallel\n  [start, end)\n    x0\n      while b > 0.0\n        t = a\n        b = t - 1.0\n    x1\n      b = t\n",
            "t in s3",
        ),
        (
            "parallel\n  [start, end)\n    x0\n      region i[start, end) j[, )\n        t = a\n    x1\n      b = t\n",
            "t in s2",
        ),
        // The first level.
        ("parallel\n  [start+1, end)\n    x0\n      t = a\n  [start, end)\n    x1\n      b = t\n", "t in s1"),
        // The level before, of a sweep that starts here.
        ("forward\n  [start+1, end)\n    x0\n      t = a\n    x1\n      b = t[0,0,-1]\n", "t in s1"),
        // The level ahead, which the sweep has not been to.
        ("forward\n  [start, end-1)\n    x0\n      t = a\n    x1\n      b = t[0,0,1]\n", "t in s1"),
        ("forward\n  [start, end)\n    x0\n      p = p + a\n", "p in s0"),
        // Two levels may be one and the same, or the first of them missing: three would be needed.
        (
            "parallel\n  [start, start+1)\n    x0\n      t = a\n  [end-2, end)\n    x1\n      b = t\n",
            "t in s1",
        ),
        // On a domain of one column, the neighbour of the last one is before the first.
        (
            "parallel\n  [start, end)\n    x0\n      t = a\n    x1\n      region i[end-1, end) j[, )\n        b = t[-1,0,0]\n",
            "t in s2 beside i[0,0] j[0,0]",
        ),
    ] {
        assert_eq!(undefined(loops), [expected], "{loops}");
    }
}

#[test]
fn a_write_in_a_region_is_known_in_the_same_region() {
    let of = |order: &str, writes: &str, reads: &str| {
        undefined(&format!("{order}\n  [start, end)\n{writes}{reads}"))
    };
    let region = |name: &str, region: &str, stmt: &str| {
        let execution = if name.is_empty() { String::new() } else { format!("    {name}\n") };
        format!("{execution}      region {region}\n        {stmt}\n")
    };
    let corner = "i[start, start+1) j[end-1, end)";
    let none: [&str; 0] = [];
    let writes = region("x0", corner, "t = a[1,0,0]");
    // In another execution, in the same one, and in a part of the region.
    assert_eq!(of("parallel", &writes, &region("x1", corner, "b = t")), none);
    assert_eq!(of("parallel", &writes, &region("", corner, "b = t")), none);
    let inside = "if a > 0.0\n          b = t";
    assert_eq!(of("parallel", &writes, &region("x1", corner, inside)), none);
    // Of the level before, the first one was not written.
    let below = region("x1", corner, "b = t[0,0,-1]");
    assert_eq!(undefined(&format!("forward\n  [start+1, end)\n{writes}{below}")), ["t in s3"]);
    // Another region, a neighbour, no region, and a branch around the write.
    let other = "i[start, start+1) j[end-2, end)";
    assert_eq!(of("parallel", &writes, &region("x1", other, "b = t")), ["t in s3"]);
    assert_eq!(of("parallel", &writes, &region("x1", corner, "b = t[1,0,0]")), ["t in s3"]);
    assert_eq!(of("parallel", &writes, "    x1\n      b = t\n"), ["t in s2"]);
    let sometimes = region("x0", corner, "if a > 0.0\n          t = a");
    assert_eq!(of("parallel", &sometimes, &region("x1", corner, "b = t")), ["t in s4"]);
    let in_branch = format!("    x0\n      if a > 0.0\n        region {corner}\n          t = a\n");
    assert_eq!(of("parallel", &in_branch, &region("x1", corner, "b = t")), ["t in s4"]);
    // Columns that are written everywhere count as before.
    let both = format!("    x0\n      t = a\n{}", region("x1", corner, "t = 0.0"));
    let edge = region("x2", "i[end-1, end) j[, )", "b = t[-1,0,0]");
    assert_eq!(of("parallel", &both, &edge), ["t in s4 beside i[0,0] j[0,0]"]);
}

#[test]
fn what_a_condition_guards_is_known_where_it_holds_again() {
    let of = |loops: &str| {
        let (stencil, extents) = parsed(&format!(
            "
stencil guards
field a: float64[IJK]
field b: float64[IJK]
field n: int64[IJ]
temporary t: float64[IJK]
temporary m: int64[IJ]
forward
  [start, end)
{loops}"
        ));
        let found = reads_undefined(&stencil, &extents);
        found.iter().map(|it| stencil.fields[it.field].name.clone()).collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    assert_eq!(of("    x0\n      if K < n\n        t = a\n    x1\n      if K < n\n        b = t\n"), none);
    assert_eq!(of("    x0\n      if K < n\n        t = a\n      if K < n\n        b = t\n"), none);
    // Another condition, another level or none at all.
    assert_eq!(of("    x0\n      if K < n\n        t = a\n    x1\n      if K > n\n        b = t\n"), ["t"]);
    assert_eq!(
        of("    x0\n      if K < n\n        t = a\n    x1\n      if K < n\n        b = t[0,0,-1]\n"),
        ["t"]
    );
    assert_eq!(of("    x0\n      if K < n\n        t = a\n    x1\n      b = t\n"), ["t"]);
    // The condition may have changed in between.
    let changed = "    x0\n      m = n\n    x1\n      if K < m\n        t = a\n    x2\n      m = 7\n    x3\n      if K < m\n        b = t\n";
    assert_eq!(of(changed), ["t"]);
    // It was learned where another condition holds too, in a region, or before a loop that changes what it reads.
    let nested =
        "    x0\n      if a > 0.0\n        if K < n\n          t = a\n      if K < n\n        b = t\n";
    assert_eq!(of(nested), ["t"]);
    let region = "    x0\n      region i[start, start+1) j[, )\n        if K < n\n          t = a\n      if K < n\n        b = t\n";
    assert_eq!(of(region), ["t"]);
    let turns = "    x0\n      m = n\n      if K < m\n        t = a\n      while b > 0.0\n        if K < m\n          b = t\n        m = 7\n";
    assert_eq!(of(turns), ["t"]);
    // It was learned before all of these, or both branches set it.
    let before = "    x0\n      if K < n\n        t = a\n      if a > 0.0\n        while b > 0.0\n          if K < n\n            b = t\n";
    assert_eq!(of(before), none);
    let both = "    x0\n      if K < n\n        if a > 0.0\n          t = a\n        else\n          t = b\n      if K < n\n        b = t\n";
    assert_eq!(of(both), none);
}

#[test]
fn each_element_of_data_dimensions_is_written_by_itself() {
    let of = |statements: &str| {
        let (stencil, extents) = parsed(&format!(
            "
stencil elements
field b: float64[IJK]
scalar n: int64
temporary t: float64[IJK][2]
parallel
  [start, end)
    x0
{statements}"
        ));
        reads_undefined(&stencil, &extents).len()
    };
    assert_eq!(of("      t.A[0] = 1.0\n      b = t.A[0]\n"), 0);
    assert_eq!(of("      t.A[0] = 1.0\n      b = t.A[1]\n"), 1);
    assert_eq!(of("      t.A[0] = 1.0\n      b = t.A[n]\n"), 1);
    assert_eq!(of("      t.A[n] = 1.0\n      b = t.A[0]\n"), 1);
    assert_eq!(of("      t.A[0] = 1.0\n      t.A[1] = 1.0\n    x1\n      b = t.A[n]\n"), 0);
}

#[test]
fn writes_to_other_levels_count_where_they_go() {
    let of = |loops: &str| {
        let text = format!(
            "stencil s\nfield a: float64[IJK]\nfield b: float64[IJK]\ntemporary t: float64[IJK]\n{loops}"
        );
        let (stencil, extents) = parsed(&text);
        reads_undefined(&stencil, &extents).len()
    };
    let first = "forward\n  [start, start+1)\n    x0\n      t = a\n";
    let sweep = "forward\n  [start, end-1)\n    x1\n      b = t\n    x2\n      t.up(1) = b\n";
    assert_eq!(of(&format!("{first}{sweep}")), 0);
    assert_eq!(of(sweep), 1);
    assert_eq!(of(&format!("{first}{}", sweep.replace("forward", "backward"))), 1);
    // A level that is found at run time may be any.
    let any = "forward\n  [start, end)\n    x3\n      b = t.at(2)\n";
    assert_eq!(of(&format!("{first}{any}")), 1);
    assert_eq!(of(&format!("{first}{sweep}{any}")), 0);
}
