//! Splits loops along rows: strip-mines them, so that each part runs for a strip of iterations before the next part does.
//!
//! A processor has some 250 instructions in flight. These are three iterations of a loop that computes an
//! exponential and divides by a value made from it. Each of them waits for its own results most of the time.
//! If the exponential has a loop of its own, twice as many iterations of both loops are in flight. The values
//! that go from one loop to the other lie in the first cache.
//!
//! A `while` at each point keeps a loop out of vector lanes. In a strip, its iterations are loops over lanes,
//! repeated as long as some point goes on.
//!
//! Lanes compute all arms of a branch. In a strip, a long arm is a loop of its own, which does not run where
//! no point takes it.
//!
//! ```text
//! for i in [0, I) parallel simd:           strips of 32 i in [0, I) keeping e: float64:
//!   b[i, j, k] = exp(a[i, j, k]) / 2.0       lanes:
//!                                              const e: float64 = exp(a[i, j, k])
//!                                            lanes:
//!                                              b[i, j, k] = e / 2.0
//! ```

use std::collections::{BTreeMap, BTreeSet};

mod branches;
mod functions;

use self::branches::{branch_of_strip, has_long_branch, is_long_branch, may_pass_over, pieces_of_arm};
use self::functions::named;
use super::super::nodes::{
    Assign, Decisions, Declare, For, If, Item, Local, MOST_BRANCHES, Program, Read, StripPart, Strips,
    Target as Written, While, WhileOfStrip,
};
use super::super::visit::{any, each_origin, walk};
use super::hoist_invariants::takes_long;
use super::{Names, PassCx, each_body};
use crate::diag::Origin;
use crate::entity::Handle;
use crate::expr::{Expr, ExprKind};
use crate::space::Axis;
use crate::target::{Divergence, Fission, Target};
use crate::types::BinaryOp;

/// As options and remarks call it.
pub const NAME: &str = "loops/split-loops";

/// Strip-mines the loops along rows whose points repeat something, or compute functions that take long.
///
/// - **Precondition**: locals are declared; rows that are stored past the caches are marked.
/// - **Effect**: [`Item::Strips`]; new locals for functions that take long and for their arguments.
/// - **Legality**: [`is_in_lanes`]: iterations are parallel, and there is no other loop inside but one
///   `while` at a time. Both arms of a choice may be evaluated; operands that `and` and `or` need not
///   evaluate stay where they are.
/// - **Why**: the target's [`fission`](Target::fission) and [`divergence`](Target::divergence).
pub fn split_loops(program: &mut Program, cx: &mut PassCx) {
    let Some(width) = width(&cx.options) else { return };
    let is_cut = splits(&cx.options);
    each_body(program, &mut |items, names| loops(items, (width, is_cut), names, cx));
}

/// Iterations of a strip, where the target has strips.
fn width(target: &Target) -> Option<u32> {
    match (target.divergence.value, target.fission.value) {
        (Divergence::Strips { width }, _) | (_, Fission::Strips { width }) => Some(width),
        (Divergence::Masks, Fission::Whole | Fission::Vectors) => None,
    }
}

/// Whether functions have loops of their own.
fn splits(target: &Target) -> bool {
    matches!(target.fission.value, Fission::Strips { .. })
}

fn loops(items: &mut [Item], (width, is_cut): (u32, bool), names: &mut Names<'_>, cx: &mut PassCx) {
    for item in items {
        match item {
            Item::For(it)
                if is_in_lanes(it)
                    && (has_while(it)
                        || has_long_branch(it, names.decisions)
                        || is_cut && is_worth(it, names.decisions)) =>
            {
                if !cx.may_change() {
                    continue;
                }
                if is_cut {
                    named(&mut it.body, names);
                }
                let mut origins: Vec<Origin> = Vec::new();
                each_origin(&it.body, &mut |it| origins.push(it.clone()));
                let reason = if has_while(it) {
                    cx.options.divergence.reason
                } else if has_long_branch(it, names.decisions) {
                    "what no point of a strip takes of a branch is passed over"
                } else {
                    cx.options.fission.reason
                };
                cx.applied(format!("the loop runs in strips of {width} points: {reason}"), &origins);
                names.decisions.forget(it.id);
                // A branch becomes one of strips, or a part of it does.
                walk(&it.body, &mut |item| {
                    if let Item::If(it) = item {
                        names.decisions.forget_branch(it.id);
                    }
                });
                *item = Item::Strips(strips(it, width, is_cut));
            }
            item => item.blocks_mut().into_iter().for_each(|it| loops(it, (width, is_cut), names, cx)),
        }
    }
}

/// A loop in strips.
///
/// Each part of the body becomes a loop over the strip. A `while` repeats its own parts, which are such
/// loops.
fn strips(it: &For, width: u32, is_cut: bool) -> Strips {
    let of_while = |it: &While| WhileOfStrip {
        condition: it.condition.clone(),
        origin: it.origin.clone(),
        trap: it.trap.clone(),
        counter: it.counter,
        parts: parts(&it.body, is_cut).map(<[Item]>::to_vec).collect(),
    };
    let part = |items: &[Item]| match items {
        [Item::While(it)] => StripPart::While(Box::new(of_while(it))),
        [Item::If(it)] if is_long_branch(it) => StripPart::Branch(branch_of_strip(it, 1)),
        items => StripPart::Lanes(items.to_vec()),
    };
    Strips {
        positions: it.positions.clone(),
        width,
        kept: kept(it, is_cut).into_iter().collect(),
        parts: parts(&it.body, is_cut).map(part).collect(),
    }
}

/// Whether a loop becomes one in strips because of a `while` or a long branch.
pub(super) fn is_mined(it: &For, decisions: &Decisions, target: &Target) -> bool {
    is_in_lanes(it) && (has_while(it) || width(target).is_some() && has_long_branch(it, decisions))
}

/// Whether strips of a loop will pass over a branch.
pub(super) fn is_passed_over(branch: &If, it: &For, target: &Target) -> bool {
    width(target).is_some() && is_in_lanes(it) && may_pass_over(it) && is_long_branch(branch)
}

/// Splits a body into parts, each a loop of its own. A `while` or a long branch is a part, and with `is_cut`
/// each function that takes long. The statements between them are parts too.
fn parts(items: &[Item], is_cut: bool) -> impl Iterator<Item = &[Item]> {
    let stands_alone = move |it: &Item| match it {
        Item::While(_) => true,
        Item::If(it) => is_long_branch(it),
        it => is_cut && is_call(it),
    };
    items.chunk_by(move |one, other| !stands_alone(one) && !stands_alone(other))
}

/// Whether an item computes a function that takes long.
fn is_call(item: &Item) -> bool {
    value_of(item).is_some_and(Expr::is_transcendental)
}

/// Returns the value that an item assigns.
fn value_of(item: &Item) -> Option<&Expr<Read>> {
    match item {
        Item::Declare(Declare { value: Some((value, _)), .. }) | Item::Assign(Assign { value, .. }) => {
            Some(value)
        }
        Item::Declare(_)
        | Item::Checked(_)
        | Item::For(_)
        | Item::Strips(_)
        | Item::Launch(_)
        | Item::If(_)
        | Item::While(_)
        | Item::Barrier => None,
    }
}

/// Whether a loop over a row that repeats nothing has more than one part, if its functions stand alone.
fn is_worth(it: &For, decisions: &Decisions) -> bool {
    let names_something = |item: &Item| match value_of(item) {
        Some(value) if value.is_transcendental() => value.operands().into_iter().any(takes_long),
        Some(value) => reaches_function(value),
        None => false,
    };
    it.is_simd
        && !it.is_descending
        && it.positions.only_turn().is_none()
        && decisions.stores(it.id).is_none()
        && (parts(&it.body, true).nth(1).is_some() || it.body.iter().any(names_something))
}

/// Whether [`FunctionNamer::functions`] finds something in an expression.
fn reaches_function(expr: &Expr<Read>) -> bool {
    expr.is_transcendental()
        || !matches!(expr.kind, ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..))
            && expr.operands().into_iter().any(reaches_function)
}

/// Whether points of a loop may take part in a loop in strips, whatever they repeat.
fn is_in_lanes(it: &For) -> bool {
    let is_plain = |items: &[Item]| {
        !any(items, &mut |it| {
            matches!(it, Item::While(_) | Item::Checked(_) | Item::For(_) | Item::Strips(_) | Item::Launch(_))
        })
    };
    it.axis == Axis::I
        && it.is_parallel
        && it.positions.step == 1
        && it.body.iter().all(|it| match it {
            Item::While(it) => is_plain(&it.body),
            item => is_plain(std::slice::from_ref(item)),
        })
}

/// Whether points of a loop repeat something.
fn has_while(it: &For) -> bool {
    it.body.iter().any(|it| matches!(it, Item::While(_)))
}

/// The locals of a loop in strips whose values go from one part of its body to another.
fn kept(it: &For, is_cut: bool) -> BTreeSet<Handle<Local>> {
    // A local that is declared before the loop is the same for all points.
    let mut own = BTreeSet::new();
    walk(&it.body, &mut |item| {
        if let Item::Declare(it) = item {
            own.insert(it.local);
        }
    });
    let mut kept = SharedLocals::default();
    for items in parts(&it.body, is_cut) {
        match items {
            [Item::While(it)] => {
                // A condition is evaluated in a loop of its own, so the locals that it shares with the body
                // are kept too.
                it.condition.accesses(&mut |read| {
                    if let Read::Local(local) = read {
                        kept.locals.insert(*local);
                    }
                });
                parts(&it.body, is_cut).for_each(|it| kept.part(it));
            }
            [Item::If(it)] if is_long_branch(it) => kept.branch(it, 1),
            items => kept.part(items),
        }
    }
    kept.locals.retain(|it| own.contains(it));
    kept.locals
}

/// Which locals more than one part names.
#[derive(Default)]
struct SharedLocals {
    first_part: BTreeMap<Handle<Local>, usize>,
    locals: BTreeSet<Handle<Local>>,
    n_parts: usize,
}

impl SharedLocals {
    /// Adds a branch, whose conditions are evaluated in a loop of their own.
    fn branch(&mut self, it: &If, depth: usize) {
        self.n_parts += 1;
        for branch in &it.branches {
            branch.condition.accesses(&mut |read| {
                if let Read::Local(local) = read {
                    self.named(*local);
                }
            });
        }
        for items in it.branches.iter().map(|it| it.body.as_slice()).chain([it.otherwise.as_slice()]) {
            for items in pieces_of_arm(items, depth) {
                match items {
                    [Item::If(it)] if depth < MOST_BRANCHES && is_long_branch(it) => {
                        self.branch(it, depth + 1);
                    }
                    items => self.part(items),
                }
            }
        }
    }

    /// Notes that the last part names a local.
    fn named(&mut self, local: Handle<Local>) {
        if *self.first_part.entry(local).or_insert(self.n_parts) != self.n_parts {
            self.locals.insert(local);
        }
    }

    fn part(&mut self, items: &[Item]) {
        self.n_parts += 1;
        walk(items, &mut |item| each_local(item, &mut |local| self.named(local)));
    }
}

/// Calls `each` for the locals that an item itself reads, writes or declares.
fn each_local(item: &Item, each: &mut dyn FnMut(Handle<Local>)) {
    item.each_expr(&mut |expr: &Expr<Read>| {
        expr.accesses(&mut |read| {
            if let Read::Local(local) = read {
                each(*local);
            }
        });
    });
    match item {
        Item::Assign(Assign { target: Written::Local(local), .. }) | Item::Declare(Declare { local, .. }) => {
            each(*local);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::tests::{after, c};
    use super::super::{convert_branches, declare_locals, stream_stores};

    /// The loops that one over a row becomes, for vectors of so many bytes. Another loop reads its row.
    fn split(body: &str, vector_bytes: u32) -> String {
        let passes = [convert_branches::NAME, declare_locals::NAME, stream_stores::NAME, super::NAME];
        let last = "    b[i, j, k] = b[i, j, k] + t[i]\n";
        let loops =
            format!("  for i in [0, I) parallel simd:\n{body}  for i in [0, I) parallel simd:\n{last}");
        after(&passes, c(vector_bytes), &loops)
    }

    fn check(body: &str, expected: &Expect) {
        expected.assert_eq(&split(body, 32));
    }

    #[test]
    fn a_function_and_what_reads_it_have_loops_of_their_own() {
        check(
            "    x = a[i, j, k] * 2.0
    t[i] = x / exp(a[i, j, k] - 1.0) if exp(1.0 / x) > 0.0 else x
",
            &expect![[r#"
                field p: float64[K] shift [0] along K given unused
                function step_1_at(k, j) of step 1:
                  strips of 32 i in [0, I) keeping x: float64, a_1: float64, exp_value: float64, exp_argument: float64, exp_value_1: float64:
                    lanes:
                      const x: float64 = a[i, j, k] * 2.0
                      const a_1: float64 = a[i, j, k]
                    lanes:
                      const exp_value: float64 = exp(a_1 - 1.0)
                    lanes:
                      const exp_argument: float64 = 1.0 / x
                    lanes:
                      const exp_value_1: float64 = exp(exp_argument)
                    lanes:
                      t[i] = x / exp_value if exp_value_1 > 0.0 else x
                  for i in [0, I) parallel simd:
                    b[i, j, k] = b[i, j, k] + t[i]
                # the loop runs in strips of 32 points: with vectors of 256 bits, short loops have more iterations of a function in flight than a long body
            "#]],
        );
    }

    #[test]
    fn turns_of_all_points_are_cut_too() {
        check(
            "    x = a[i, j, k]
    y = 1.0
    while x > 1.0:
      turns n stop at [i, j, k] in sweep 0 turn k of 0
      y = 3.0 * x ** 1.5 + x ** 2
      x = x - log(y)
    t[i] = x
",
            &expect![[r#"
                field p: float64[K] shift [0] along K given unused
                function step_1_at(k, j) of step 1:
                  strips of 32 i in [0, I) keeping x: float64, y: float64, power_value: float64, log_value: float64:
                    lanes:
                      let x: float64 = a[i, j, k]
                      let y: float64 = 1.0
                    while x > 1.0:
                      turns n stop at [i, j, k] in sweep 0 turn k of 0
                      lanes:
                        const power_value: float64 = x ** 1.5
                      lanes:
                        y = 3.0 * power_value + x ** 2
                      lanes:
                        const log_value: float64 = log(y)
                      lanes:
                        x = x - log_value
                    lanes:
                      t[i] = x
                  for i in [0, I) parallel simd:
                    b[i, j, k] = b[i, j, k] + t[i]
                # the loop runs in strips of 32 points: a C compiler makes no vector loop of a loop with a `while` inside
            "#]],
        );
    }

    #[test]
    fn a_row_is_one_loop_where_cuts_do_not_pay() {
        let is_cut = |body: &str, vector_bytes: u32| split(body, vector_bytes).contains("strips of 32");
        assert!(is_cut("    t[i] = exp(a[i, j, k]) + 1.0\n", 32));
        assert!(!is_cut("    t[i] = exp(a[i, j, k]) + 1.0\n", 64), "it was not measured");
        assert!(!is_cut("    t[i] = exp(a[i, j, k] * 2.0)\n", 32), "there is one part");
        assert!(!is_cut("    t[i] = sqrt(a[i, j, k]) + a[i, j, k] ** 2\n", 32), "no function takes long");
        assert!(!is_cut("    o[i, j, k] = exp(a[i, j, k]) + 1.0\n", 32), "the row goes past the caches");
        let choice = "    t[i] = 1.0 if a[i, j, k] > 0.0 and log(a[i, j, k]) > 1.0 else 2.0\n";
        assert!(!is_cut(choice, 32), "a point may not need it");
    }

    /// An expression of `operand` that is worth passing over.
    fn long(operand: &str) -> String {
        vec![format!("exp({operand})"); 4].join(" + ")
    }

    #[test]
    fn long_arms_run_where_some_point_takes_them() {
        check(
            &format!(
                "    x = a[i, j, k] * 2.0
    if x > 1.0:
      x = {}
    elif x > 0.0:
      b[i, j, k] = x
    t[i] = x
",
                long("x")
            ),
            &expect![[r#"
                field p: float64[K] shift [0] along K given unused
                function step_1_at(k, j) of step 1:
                  strips of 32 i in [0, I) keeping x: float64:
                    lanes:
                      let x: float64 = a[i, j, k] * 2.0
                    if x > 1.0:
                      lanes:
                        x = exp(x) + exp(x) + exp(x) + exp(x)
                    elif x > 0.0:
                      lanes:
                        b[i, j, k] = x
                    lanes:
                      t[i] = x
                  for i in [0, I) parallel simd:
                    b[i, j, k] = b[i, j, k] + t[i]
                # the loop runs in strips of 32 points: what no point of a strip takes of a branch is passed over
            "#]],
        );
    }

    #[test]
    fn branches_in_arms_are_passed_over_too_if_they_are_long() {
        let (deep, long) = (long("x - 1.0"), long("x"));
        check(
            &format!(
                "    if a[i, j, k] > 1.0:
      x = b[i, j, k]
      if x > 2.0:
        o[i, j, k] = {deep}
      else:
        o[i, j, k] = 0.0
      if x < 0.0:
        x = 0.0
      t[i] = {long}
    else:
      t[i] = 0.0
"
            ),
            &expect![[r#"
                field p: float64[K] shift [0] along K given unused
                function step_1_at(k, j) of step 1:
                  strips of 32 i in [0, I) keeping x: float64:
                    if a[i, j, k] > 1.0:
                      lanes:
                        let x: float64 = b[i, j, k]
                      if x > 2.0:
                        lanes:
                          o[i, j, k] = exp(x - 1.0) + exp(x - 1.0) + exp(x - 1.0) + exp(x - 1.0)
                      else:
                        lanes:
                          o[i, j, k] = 0.0
                      lanes:
                        if x < 0.0:
                          x = 0.0
                        t[i] = exp(x) + exp(x) + exp(x) + exp(x)
                    else:
                      lanes:
                        t[i] = 0.0
                  for i in [0, I) parallel simd:
                    b[i, j, k] = b[i, j, k] + t[i]
                # the loop runs in strips of 32 points: what no point of a strip takes of a branch is passed over
            "#]],
        );
    }

    #[test]
    fn short_arms_are_computed_by_all_lanes() {
        check(
            "    x = 0.0
    if a[i, j, k] > 1.0:
      x = exp(a[i, j, k]) / 2.0
    t[i] = x
",
            &expect![[r#"
                field p: float64[K] shift [0] along K given unused
                function step_1_at(k, j) of step 1:
                  strips of 32 i in [0, I) keeping x: float64, exp_value: float64:
                    lanes:
                      let x: float64 = 0.0
                    lanes:
                      const exp_value: float64 = exp(a[i, j, k])
                    lanes:
                      const x_1: float64 = exp_value / 2.0
                      x = x_1 if a[i, j, k] > 1.0 else x
                      t[i] = x
                  for i in [0, I) parallel simd:
                    b[i, j, k] = b[i, j, k] + t[i]
                # the branch is a choice between values that all lanes compute
                # the loop runs in strips of 32 points: with vectors of 256 bits, short loops have more iterations of a function in flight than a long body
            "#]],
        );
    }
}
