use super::inline_temporaries;
use crate::oir::passes::tests::after;

/// The assignments of `b` and the remarks after the pass on these vertical loops.
fn inlined(loops: &str) -> Vec<String> {
    let text = format!(
        "
stencil chain
field a: float64[IJK]
field b: float64[IJK]
field p: float64[IJ]
field n: int64[IJK]
scalar s: float64
temporary t: float64[IJK]
temporary u: float64[IJK]
local l: float64
{loops}"
    );
    let found = after(&text, inline_temporaries);
    let is_told =
        |it: &&str| it.starts_with("b = ") || it.starts_with("applied: ") || it.starts_with("missed: ");
    found.lines().map(str::trim).filter(is_told).map(str::to_owned).collect()
}

const APPLIED: &str = "applied: `t` is computed where it is read, and not stored";

fn refused(loops: &str) -> String {
    let found = inlined(loops);
    let reason =
        found.iter().find_map(|it| it.strip_prefix("missed: `t` is not computed where it is read: "));
    reason.unwrap_or_else(|| panic!("`t` is not refused: {found:?}")).to_owned()
}

#[test]
fn one_that_is_read_at_one_place_is_computed_there() {
    assert_eq!(
        inlined(
            "
parallel
  [start, end)
    x0
      t = sqrt(a[1,0,0]) / p
    x1
      b = t[-1,2,0] + t[-1,2,0]
"
        ),
        ["b = sqrt(a[0,2,0]) / p[-1,2] + sqrt(a[0,2,0]) / p[-1,2]", APPLIED]
    );
}

#[test]
fn what_costs_no_more_than_a_read_is_computed_at_any_number_of_places() {
    assert_eq!(
        inlined(
            "
parallel
  [start, end)
    x0
      t = -a * s
    x1
      b = t[-1,0,0] + t + t[1,0,0]
"
        ),
        ["b = -a[-1,0,0] * s + -a * s + -a[1,0,0] * s", APPLIED]
    );
}

#[test]
fn something_cheap_is_computed_at_two_places_and_not_at_three() {
    let text = |reads: &str| {
        format!(
            "
parallel
  [start, end)
    x0
      t = a[1,0,0] - a
    x1
      b = {reads}
"
        )
    };
    assert_eq!(inlined(&text("t - t[-1,0,0]"))[1], APPLIED);
    assert_eq!(
        refused(&text("t - t[-1,0,0] + t[1,0,0]")),
        "computing it at each place costs more than storing it"
    );
}

#[test]
fn values_at_the_point_come_along() {
    assert_eq!(
        inlined(
            "
parallel
  [start, end)
    x0
      l = a * 2.0
      t = l + 1.0
    x1
      u = t[1,0,0]
    x2
      b = u[0,1,0]
"
        ),
        ["b = a[1,1,0] * 2.0 + 1.0", APPLIED, "applied: `u` is computed where it is read, and not stored"]
    );
}

#[test]
fn levels_move_within_those_that_are_computed() {
    let text = |read: &str| {
        format!(
            "
parallel
  [start, end)
    x0
      t = a
  [start+1, end)
    x1
      b = {read}
"
        )
    };
    let text = |read: &str| text(read).replace("  [start+1", "parallel\n  [start+1");
    assert_eq!(inlined(&text("t[0,0,-1]"))[0], "b = a[0,0,-1]");
    assert_eq!(refused(&text("t[0,0,1]")), "it is read at levels where it is not computed");
    assert_eq!(refused(&text("t.up(n)")), "it is read at a level that is found at run time");
}

#[test]
fn what_is_overwritten_in_between_is_stored() {
    // The operand is overwritten by another execution, then by the one that reads. In a sweep, an execution
    // after it overwrites the operand on other levels. In the last case the temporary reads levels as they
    // were before its own execution.
    for loops in [
        "
parallel
  [start, end)
    x0
      u = a
      t = u
    x1
      u = 1.0
    x2
      b = t[1,0,0]
",
        "
parallel
  [start, end)
    x0
      u = a
      t = u
    x1
      u = t
    x2
      b = u
",
        "
parallel
  [start+1, end)
    x0
      u = a
    x1
      t = u[0,0,-1]
forward
  [start+1, end)
    x2
      b = t
    x3
      u = 1.0
",
        "
parallel
  [start+1, end)
    x0
      u = a
      t = u[0,0,-1]
    x1
      b = t
",
    ] {
        assert_eq!(refused(loops), "`u`, which it depends on, is written in between", "{loops}");
    }
}

#[test]
fn what_is_not_one_expression_at_every_point_is_stored() {
    for (loops, expected) in [
        (
            "
parallel
  [start, end)
    x0
      t = a
    x1
      if a > 0.0
        t = 1.0
    x2
      b = t[1,0,0]
",
            "it takes more than one assignment at every point to compute it",
        ),
        (
            "
parallel
  [start, end)
    x0
      region i[start, start+1) j[, )
        t = a
    x1
      b = t[1,0,0]
",
            "it takes more than one assignment at every point to compute it",
        ),
        (
            "
forward
  [start, end)
    x0
      t = a
    x1
      b = t[1,0,0]
",
            "it is computed in a sweep",
        ),
        (
            "
parallel
  [start, end)
    x0
      b = t[1,0,0]
    x1
      t = a
",
            "it is read before it is computed",
        ),
        (
            "
parallel
  [start, end)
    x0
      t = a
    x1
      region i[start, start+1) j[, )
        b = t[-1,0,0]
",
            "it is read in a region",
        ),
        (
            "
parallel
  [start, end)
    x0
      t = a
    x1
      while b < t[1,0,0]
        b = b + 1.0
",
            "it is read in a loop",
        ),
        (
            "
parallel
  [start, end)
    x0
      l = a
      if a > 0.0
        l = 1.0
      t = l
    x1
      b = t[1,0,0]
",
            "it depends on a value at the point that is assigned several times",
        ),
        (
            "
parallel
  [start, end)
    x0
      t = a.up(n)
    x1
      b = t[1,0,0]
",
            "what computes it may end the run",
        ),
        (
            "
parallel
  [start, end-1)
    x0
      t = float64(K)
parallel
  [start, end-2)
    x1
      b = t[0,0,1]
",
            "it depends on the position",
        ),
    ] {
        assert_eq!(refused(loops), expected, "{loops}");
    }
}

#[test]
fn what_is_the_same_on_a_level_costs_little_to_compute_again() {
    let at_four_places = |value: &str| {
        let text = format!(
            "
stencil column
field a: float64[IJK]
field b: float64[IJK]
field d: float64[K]
scalar s: float64
temporary t: float64[IJK]
parallel
  [start, end)
    x0
      t = {value}
parallel
  [start, end-1)
    x1
      b = t + t[0,0,1]
    x2
      b = b * (t + t[0,0,1])
"
        );
        after(&text, inline_temporaries).contains(APPLIED)
    };
    assert!(at_four_places("0.5 * s * d * (a + a[1,0,0])"));
    assert!(!at_four_places("0.5 * s * a * (a + a[1,0,0])"));
    assert!(!at_four_places("s / d * (a + a[1,0,0])"));
}

#[test]
fn a_literal_does_not_come_to_tell_a_level() {
    let text = "
stencil finds
field a: float64[IJK]
field b: float64[IJK]
temporary t: int64[IJK]

parallel
  [start, end)
    x0
      t = 3
    x1
      b = a.up(t[1,0,0])
";
    let found = after(text, inline_temporaries);
    assert!(found.starts_with(text.trim_start()), "{found}");
    assert!(
        found.contains("missed: `t` is not computed where it is read: an element is found with it"),
        "{found}"
    );
}

#[test]
fn long_chains_do_not_explode() {
    // Each step alone is cheap; all together would double with each.
    let steps: String =
        (0..20).map(|it| format!("    x{it}\n      t{} = t{it}[1,0,0] - t{it}\n", it + 1)).collect();
    let declared: String = (0..21).map(|it| format!("temporary t{it}: float64[IJK]\n")).collect();
    let text = format!(
        "
stencil chain
field a: float64[IJK]
field b: float64[IJK]
{declared}
parallel
  [start, end)
    x100
      t0 = a * a
{steps}    x101
      b = t20[1,0,0] - t20
"
    );
    let found = after(&text, inline_temporaries);
    let listing = found.split_once("parallel").map_or("", |it| it.1);
    let code: usize = listing.lines().filter(|it| it.starts_with("      ")).map(str::len).sum();
    assert!(code < 3000, "{code} bytes\n{found}");
}
