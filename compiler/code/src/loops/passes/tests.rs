//! Each pass alone, from text to text.

use expect_test::{Expect, expect};

use super::{PASSES, PassCx};
use crate::loops::parse::parse;
use crate::loops::print::listing;
use crate::loops::validate::validate;
use crate::pass::{Cache, MachineModel};
use crate::target::Target;

/// C for a machine with vectors of so many bytes.
pub(super) fn c(vector_bytes: u32) -> Target {
    let caches = vec![Cache { bytes: 32 << 10, cores: 1 }, Cache { bytes: 1 << 20, cores: 1 }];
    Target::c(Some(&MachineModel { cores: 2, caches, line_bytes: 64, vector_bytes }))
}

/// The names of a program: three fields, a table along K, a scalar and locals. One array is there for the whole run,
/// and each thread has rows of doubles, singles and truth values.
const NAMES: &str = "\
program s(a, b, o, p, s)
field a: float64[I, J, K] shift [0, 0, 0] along IJK given read
field b: float64[I, J, K] shift [0, 0, 0] along IJK given write
field o: float64[I, J, K] shift [0, 0, 0] along IJK given write
field p: float64[K] shift [0] along K given read
scalar s: float64
temporary t: float64[I] shift [0] along I packed private per thread
temporary u: float64[I, J, K] shift [0, 0, 0] along IJK packed heap
temporary v: float32[I] shift [0] along I packed private per thread
temporary m: bool[I] shift [0] along I packed private per thread
integer n
local x: float64
local y: float64
";

/// Runs one pass on the body of a launched function, and compares the whole program but for the names above.
pub(super) fn check(pass: &str, target: Target, body: &str, expected: &Expect) {
    expected.assert_eq(&after(&[pass], target, body));
}

/// Runs passes, one after the other, on the body of a launched function. Returns the whole program but for the names
/// above, and the remarks.
pub(super) fn after(passes: &[&str], target: Target, body: &str) -> String {
    let declares = |name: &str| body.contains(&format!("const {name}:"));
    let names: String = NAMES
        .lines()
        .filter(|it| {
            !["x", "y"].iter().any(|name| declares(name) && it.starts_with(&format!("local {name}:")))
        })
        .map(|it| format!("{it}\n"))
        .collect();
    // A body with a loop over the levels is launched for rows of columns.
    let positions = if body.contains("for k in ") { "j" } else { "k, j" };
    let launched = if positions == "j" { "" } else { "    over k in [0, K)\n" };
    let text = format!(
        "{names}\nfunction step_1_at({positions}) of step 1:\n{body}\nfunction step_1() of step 1:\n  \
         launch step_1_at():\n{launched}    over j in [0, J)\n\nstep step_1 on all threads\n"
    );
    let mut program = parse(&text).expect("it is a program");
    assert_eq!(validate(&program), Vec::<String>::new(), "{text}");
    let mut cx = PassCx::new(target);
    for name in passes {
        let pass = PASSES.iter().find(|it| it.name == *name).expect("it is a pass");
        pass.apply(&mut program, &mut cx, None);
        assert_eq!(validate(&program), Vec::<String>::new());
    }
    let after = listing(&program).text;
    let known: Vec<&str> = NAMES.lines().collect();
    let shown = after.lines().take_while(|it| *it != "function step_1() of step 1:");
    let shown = shown.filter(|it| !known.contains(it) && !it.is_empty()).map(str::to_owned);
    let remarks = cx.remarks().iter().map(|it| format!("# {}", it.message));
    shown.chain(remarks).map(|it| format!("{it}\n")).collect()
}

#[test]
fn loops_over_a_grid_are_plain_ones_where_there_is_none() {
    check(
        "loops/drop-grid",
        c(0),
        "
  for j_tile in [0, J) step 4 parallel grid:
    for i in [0, I) parallel block:
      b[i, j, k] = a[i, j, k]
",
        &expect![[r#"
            function step_1_at(k, j) of step 1:
              for j_tile in [0, J) step 4 parallel:
                for i in [0, I) parallel:
                  b[i, j, k] = a[i, j, k]
            # loops over a grid run one after the other here: C has no grid of blocks
        "#]],
    );
}

#[test]
fn what_lies_there_already_is_not_stored() {
    check(
        "loops/drop-idle-stores",
        c(32),
        "  for i in [0, 1) parallel:
    x = b[i, j, k]
    y = x
    b[i, j, k] = x
    x = a[i, j, k]
    b[i, j, k] = x + y
  for i in [1, I) parallel simd:
    x = b[i, j, k]
    if a[i, j, k] > s:
      b[i, j, k] = b[i, j, k]
    b[i, j, k] = x
",
        &expect![[r#"
            function step_1_at(k, j) of step 1:
              for i in [0, 1) parallel:
                x = b[i, j, k]
                y = x
                x = a[i, j, k]
                b[i, j, k] = x + y
              for i in [1, I) parallel simd:
                x = b[i, j, k]
            # what is stored lies there already
            # what is stored lies there already
            # what is stored lies there already
        "#]],
    );
    check(
        "loops/drop-idle-stores",
        c(32),
        "  for i in [0, I) parallel:
    x = b[i, j, k]
    b[i, j, k] = 0.0
    b[i, j, k] = x
    x = b[i - 1, j, k]
    b[i, j, k] = x
    x = b[i, j, k]
    if a[i, j, k] > s:
      x = s
    b[i, j, k] = x
",
        &expect![[r#"
            function step_1_at(k, j) of step 1:
              for i in [0, I) parallel:
                x = b[i, j, k]
                b[i, j, k] = 0.0
                b[i, j, k] = x
                x = b[i - 1, j, k]
                b[i, j, k] = x
                x = b[i, j, k]
                if a[i, j, k] > s:
                  x = s
                b[i, j, k] = x
        "#]],
    );
}

#[test]
fn what_is_the_same_in_all_iterations_stands_before_them() {
    check(
        "loops/hoist-invariants",
        c(0),
        "  for i in [0, I) parallel simd:\n    b[i, j, k] = a[i, j, k] * exp(s * p[k])\n",
        &expect![[r#"
            local once: float64
            function step_1_at(k, j) of step 1:
              once = exp(s * p[k])
              for i in [0, I) parallel simd:
                b[i, j, k] = a[i, j, k] * once
            # what is the same for all i is computed once before the loop
        "#]],
    );
}

#[test]
fn branches_that_assign_locals_are_choices() {
    check(
        "loops/convert-branches",
        c(0),
        "
  for i in [0, I) parallel simd:
    if a[i, j, k] > 0.0:
      x = a[i, j, k] + p[k]
    else:
      x = s
    b[i, j, k] = x
",
        &expect![[r#"
            local x_1: float64
            local x_2: float64
            function step_1_at(k, j) of step 1:
              for i in [0, I) parallel simd:
                x_1 = a[i, j, k] + p[k]
                x_2 = s
                x = x_1 if a[i, j, k] > 0.0 else x_2
                b[i, j, k] = x
            # the branch is a choice between values that all lanes compute
        "#]],
    );
}

#[test]
fn locals_are_declared_where_they_are_first_needed() {
    check(
        "loops/declare-locals",
        c(0),
        "  for i in [0, I) parallel simd:\n    x = a[i, j, k]\n    b[i, j, k] = x + x\n",
        &expect![[r#"
            function step_1_at(k, j) of step 1:
              for i in [0, I) parallel simd:
                const x: float64 = a[i, j, k]
                b[i, j, k] = x + x
        "#]],
    );
}

#[test]
fn rows_of_threads_start_where_most_of_them_is_written_at_a_line() {
    check(
        "loops/place-rows",
        c(0),
        "  for i in [1, I) parallel simd:\n    t[i] = a[i, j, k]\n  b[0, j, k] = t[1]\n",
        &expect![[r#"
            temporary t: float64[I] shift [0] along I packed private per thread rows from 7
            function step_1_at(k, j) of step 1:
              for i in [1, I) parallel simd:
                t[i] = a[i, j, k]
              b[0, j, k] = t[1]
            # rows of `t` start 7 elements into a cache line, where most are written
        "#]],
    );
}

#[test]
fn later_rows_are_prefetched() {
    check(
        "loops/prefetch-rows",
        c(64),
        "
  for j_front in [0, J) ascending:
    for i in [0, I) parallel simd:
      b[i, j_front, k] = a[i, j_front, k]
",
        &expect![[r#"
            function step_1_at(k, j) of step 1:
              for j_front in [0, J) ascending:
                prefetch a[i, j_front + 6, k]
                for i in [0, I) parallel simd:
                  b[i, j_front, k] = a[i, j_front, k]
            # rows of `a` are prefetched: hardware follows a row, and is late for the first lines of the next one
        "#]],
    );
}

#[test]
fn machine_code_masks_what_differs_between_lanes() {
    check(
        "loops/mask-lanes",
        Target::native(256, None),
        "  for i in [0, I) parallel simd:\n    b[i, j, k] = exp(a[i, j, k]) + log(a[i, j, k])\n",
        &expect![[r#"
            function step_1_at(k, j) of step 1:
              for i in [0, I) parallel simd masked overlapping split:
                b[i, j, k] = exp(a[i, j, k]) + log(a[i, j, k])
        "#]],
    );
}

#[test]
fn rows_that_nobody_reads_are_stored_past_the_caches() {
    check(
        "loops/stream-stores",
        c(32),
        "  for i in [0, I) parallel simd:\n    b[i, j, k] = a[i, j, k]\n",
        &expect![[r#"
            stream from 524288 bytes
            field b: float64[I, J, K] shift [0, 0, 0] along IJK given write streamed
            function step_1_at(k, j) of step 1:
              for i in [0, I) parallel simd:
                stream b[i, j, k] through registers of 256 bytes
                b[i, j, k] = a[i, j, k]
            # rows of `b` are stored past the caches, where these are smaller: half of the vector registers hold what is stored next, and a line is stored as it is computed
        "#]],
    );
}

#[test]
fn a_repeat_in_a_branch_comes_out_of_it() {
    check(
        "loops/lift-repeats",
        c(64),
        "
  for i in [0, I) parallel simd:
    y = 0.0
    if a[i, j, k] > 1.0:
      x = a[i, j, k]
      y = x
      while x > 1.0:
        turns n stop at [i, j, k] in sweep 0 turn k of 0
        x = x / 2.0
      b[i, j, k] = x
    elif a[i, j, k] > s:
      b[i, j, k] = s
    else:
      x = s
      while x > y:
        turns n stop at [i, j, k] in sweep 0 turn k of 0
        x = x - 1.0
      b[i, j, k] = x
",
        &expect![[r#"
            local taken: bool
            local taken_1: bool
            local taken_2: bool
            function step_1_at(k, j) of step 1:
              for i in [0, I) parallel simd:
                y = 0.0
                taken = a[i, j, k] > 1.0
                if taken:
                  x = a[i, j, k]
                  y = x
                while taken and x > 1.0:
                  turns n stop at [i, j, k] in sweep 0 turn k of 0
                  x = x / 2.0
                if taken:
                  b[i, j, k] = x
                taken_1 = not taken and a[i, j, k] > s
                if taken_1:
                  b[i, j, k] = s
                taken_2 = not taken_1 and not taken
                if taken_2:
                  x = s
                while taken_2 and x > y:
                  turns n stop at [i, j, k] in sweep 0 turn k of 0
                  x = x - 1.0
                if taken_2:
                  b[i, j, k] = x
            # the `while` comes out of its branch: a C compiler makes no vector loop of a loop with a `while` inside
        "#]],
    );
}

#[test]
fn functions_that_take_long_have_loops_of_their_own() {
    check(
        "loops/split-loops",
        c(32),
        "
  for i in [0, I) parallel simd:
    const x: float64 = a[i, j, k] / s
    b[i, j, k] = exp(x) / x
",
        &expect![[r#"
            function step_1_at(k, j) of step 1:
              strips of 32 i in [0, I) keeping x: float64, exp_value: float64:
                lanes:
                  const x: float64 = a[i, j, k] / s
                lanes:
                  const exp_value: float64 = exp(x)
                lanes:
                  b[i, j, k] = exp_value / x
            # the loop runs in strips of 32 points: with vectors of 256 bits, short loops have more iterations of a function in flight than a long body
        "#]],
    );
}

#[test]
fn short_loops_run_in_blocks() {
    let row = |n: i64| format!("  for i in [0, I) parallel simd:\n    b[i, j, k] = a[i, j, k] + {n}.0\n");
    check(
        "loops/block-rows",
        c(64),
        &(0..4).map(row).collect::<String>(),
        &expect![[r#"
        blocks from 8 points
        function step_1_at(k, j) of step 1:
          for i in [0, I) parallel simd in blocks of 8:
            b[i, j, k] = a[i, j, k] + 0.0
          for i in [0, I) parallel simd in blocks of 8:
            b[i, j, k] = a[i, j, k] + 1.0
          for i in [0, I) parallel simd in blocks of 8:
            b[i, j, k] = a[i, j, k] + 2.0
          for i in [0, I) parallel simd in blocks of 8:
            b[i, j, k] = a[i, j, k] + 3.0
        # rows of 8 points or more are computed in whole vectors: a C compiler splits each row into peel, main and remainder loop; with 32 vector registers whole blocks cost less
    "#]],
    );
}

#[test]
fn points_that_may_end_the_run_are_no_lanes_of_c() {
    let body = "  for i in [0, I) parallel simd:
    find n in [0, K) = int64(a[i, j, k])
    check stop at [i, j, k] in sweep 0 turn k of 0:
      b[i, j, k] = a[i, j, {n}]
  for i in [0, I) parallel simd:
    b[i, j, k] = s
";
    check(
        "loops/drop-lanes",
        c(32),
        body,
        &expect![[r#"
        function step_1_at(k, j) of step 1:
          for i in [0, I) parallel:
            find n in [0, K) = int64(a[i, j, k])
            check stop at [i, j, k] in sweep 0 turn k of 0:
              b[i, j, k] = a[i, j, {n}]
          for i in [0, I) parallel simd:
            b[i, j, k] = s
        # points along i are no lanes: a C compiler makes no vector loop of a loop that may report the end of the run
    "#]],
    );
    let of_machine_code = after(&["loops/drop-lanes"], Target::native(256, None), body);
    assert_eq!(of_machine_code.matches(" simd:").count(), 2, "{of_machine_code}");
}

#[test]
fn a_row_that_goes_past_the_caches_stays_in_lanes() {
    let body = "  for i in [0, I) parallel simd:
    find n in [0, K) = int64(a[i, j, k])
    check stop at [i, j, k] in sweep 0 turn k of 0:
      u[i, j, k] = a[i, j, {n}]
    b[i, j, k] = s
";
    check(
        "loops/stream-stores",
        c(32),
        body,
        &expect![[r#"
        stream from 524288 bytes
        field b: float64[I, J, K] shift [0, 0, 0] along IJK given write streamed
        function step_1_at(k, j) of step 1:
          for i in [0, I) parallel simd:
            stream b[i, j, k] through a row of 672 elements
            find n in [0, K) = int64(a[i, j, k])
            check stop at [i, j, k] in sweep 0 turn k of 0:
              u[i, j, k] = a[i, j, {n}]
            b[i, j, k] = s
        # rows of `b` are stored past the caches, where these are smaller: half of the vector registers hold what is stored next, and a line is stored as it is computed
    "#]],
    );
    let passes = ["loops/stream-stores", "loops/drop-lanes"];
    assert!(after(&passes, c(32), body).contains(" simd:"));
}

#[test]
fn loops_with_one_position_are_blocks_of_c() {
    let body = "  for i in [I - 1, I) parallel simd:
    b[i, j, k] = s
  for i in [max(0, I - 1), I) parallel:
    b[i, j, k] = a[i, j, k]
  for i in [0, 2) parallel:
    b[i, j, k] = a[i, j, k]
";
    check(
        "loops/drop-counters",
        c(32),
        body,
        &expect![[r#"
        function step_1_at(k, j) of step 1:
          for i in [I - 1, I) parallel simd once:
            b[i, j, k] = s
          for i in [max(0, I - 1), I) parallel once:
            b[i, j, k] = a[i, j, k]
          for i in [0, 2) parallel:
            b[i, j, k] = a[i, j, k]
    "#]],
    );
    let of_machine_code = after(&["loops/drop-counters"], Target::native(256, None), body);
    assert!(!of_machine_code.contains(" once:"), "{of_machine_code}");
}

#[test]
fn a_text_of_many_operations_is_long() {
    let is_long = |n: usize| {
        let value = vec!["exp(a[i, j, k])"; n].join(" + ");
        let body = format!("  for i in [0, I) parallel simd:\n    b[i, j, k] = {value}\n");
        after(&["loops/plan-compilation"], c(0), &body).starts_with("long text\n")
    };
    assert!(is_long(17) && !is_long(16));
}

#[test]
fn a_text_of_many_steps_has_parts() {
    let steps = |n: usize| -> String {
        let functions = (1..=n).map(|it| {
            format!(
                "function step_{it}_at(j) of step {it}:\n  b[0, j, 0] = s\n\n\
                 function step_{it}() of step {it}:\n  launch step_{it}_at():\n    over j in [0, J)\n\n"
            )
        });
        let steps = (1..=n).map(|it| format!("step step_{it} on all threads\n"));
        format!("{NAMES}\n{}{}", functions.collect::<String>(), steps.collect::<String>())
    };
    let parts = |n: usize| {
        let mut program = parse(&steps(n)).expect("it is a program");
        super::plan_compilation::plan_compilation(&mut program, &mut PassCx::new(c(0)));
        assert_eq!(validate(&program), Vec::<String>::new());
        let text = listing(&program).text;
        text.lines().find(|it| it.starts_with("text in")).map(str::to_owned)
    };
    assert_eq!(parts(3), None);
    assert_eq!(parts(4).as_deref(), Some("text in 4 parts"));
}

#[test]
fn long_arms_are_passed_over_where_no_lane_takes_them() {
    let long = vec!["s"; 13].join(" + ");
    let body = format!(
        "  for i in [0, I) parallel simd masked:
    if a[i, j, k] > 3.0:
      b[i, j, k] = {long}
    elif a[i, j, k] > 2.0:
      b[i, j, k] = exp(s)
    elif a[i, j, k] > 1.0:
      b[i, j, k] = s
  for i in [0, I) parallel simd:
    if a[i, j, k] > 3.0:
      b[i, j, k] = exp(s)
"
    );
    check(
        "loops/skip-branches",
        Target::native(512, None),
        &body,
        &expect![[r#"
        function step_1_at(k, j) of step 1:
          for i in [0, I) parallel simd masked:
            if a[i, j, k] > 3.0:
              skip where no lane takes it
              skip the others where no lane takes them
              b[i, j, k] = s + s + s + s + s + s + s + s + s + s + s + s + s
            elif a[i, j, k] > 2.0:
              skip where no lane takes it
              b[i, j, k] = exp(s)
            elif a[i, j, k] > 1.0:
              b[i, j, k] = s
          for i in [0, I) parallel simd:
            if a[i, j, k] > 3.0:
              b[i, j, k] = exp(s)
    "#]],
    );
    let short = body.replace(" + s + s + s", " + s + s");
    let text = after(&["loops/skip-branches"], Target::native(512, None), &short);
    assert_eq!(text.matches("skip where no lane takes it").count(), 1, "{text}");
    assert!(!after(&["loops/skip-branches"], c(64), &body).contains("skip"), "C has no masks");
}
