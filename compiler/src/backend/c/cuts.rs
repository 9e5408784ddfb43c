//! Loops over rows, cut where a point waits longest for itself.
//!
//! A processor has some 250 instructions in flight. Of a loop that computes an exponential and divides by what comes of
//! it, that is three turns, each of which waits for its own results most of the time. Where the exponential has a loop
//! of its own there are twice as many turns of both, and what goes from one to the other lies in the first cache: the
//! loop runs in [strips](super::strips). Every point sees the same operations in the same order.

use std::collections::BTreeSet;

use super::streams::streamed_rows;
use super::strips::{has_turns, is_in_lanes};
use crate::diag::Origin;
use crate::expr::{Expr, ExprKind};
use crate::loops::hoist::{Names, takes_long};
use crate::loops::nodes::{Assign, Declare, For, Item, Program, Read};
use crate::types::BinaryOp;

/// What a machine has of which it was measured that cuts pay.
const VECTOR_BYTES: u64 = 32;

/// Whether loops are cut for a machine with vectors of so many bytes.
pub(super) fn pay(vector_bytes: u64) -> bool {
    vector_bytes == VECTOR_BYTES
}

/// The parts of a body, each of which is a loop of its own: what repeats something, where `is_cut` also each function
/// that takes long, and what stands between them.
pub(super) fn parts(items: &[Item], is_cut: bool) -> impl Iterator<Item = &[Item]> {
    let stands_alone = move |it: &Item| matches!(it, Item::While(_)) || is_cut && is_call(it);
    items.chunk_by(move |one, other| !stands_alone(one) && !stands_alone(other))
}

/// Whether an item computes a function that takes long.
fn is_call(item: &Item) -> bool {
    match item {
        Item::Declare(Declare { value: Some((value, _)), .. }) | Item::Assign(Assign { value, .. }) => {
            value.is_transcendental()
        }
        _ => false,
    }
}

/// Gives a statement of its own to each function that takes long, and to what it is of where that takes long too, in
/// loops over rows that run in strips or come to.
///
/// - **Precondition**: locals are declared.
/// - **Effect**: new locals, declared before the statement that a function was in; [`parts`] finds them.
/// - **Legality**: both arms of a choice may be evaluated, and what `and` and `or` need not evaluate stays where it is.
pub(super) fn name_functions(program: &mut Program, streamed: &BTreeSet<usize>) {
    let mut functions = std::mem::take(&mut program.functions);
    let names = Names { locals: &mut program.locals, arrays: &program.arrays, namer: &mut program.namer };
    let mut named = Named { names };
    functions.iter_mut().for_each(|it| named.loops(&mut it.body, streamed));
    program.functions = functions;
}

/// Whether a loop over a row that repeats nothing is cut.
pub(super) fn is_cut(it: &For, streamed: &BTreeSet<usize>) -> bool {
    it.is_simd
        && !it.is_descending
        && it.positions.only_turn().is_none()
        && is_in_lanes(it)
        && streamed_rows(streamed, it).is_empty()
        && parts(&it.body, true).nth(1).is_some()
}

struct Named<'p, 'n> {
    names: Names<'p, 'n>,
}

impl Named<'_, '_> {
    fn loops(&mut self, items: &mut [Item], streamed: &BTreeSet<usize>) {
        for item in items {
            match item {
                Item::For(it) if is_in_lanes(it) => {
                    if has_turns(it) || it.is_simd && streamed_rows(streamed, it).is_empty() {
                        self.statements(&mut it.body);
                    }
                }
                item => item.blocks_mut().into_iter().for_each(|it| self.loops(it, streamed)),
            }
        }
    }

    fn statements(&mut self, items: &mut Vec<Item>) {
        for mut item in std::mem::take(items) {
            match &mut item {
                Item::While(it) => self.statements(&mut it.body),
                Item::Assign(Assign { value, origin, .. })
                | Item::Declare(Declare { value: Some((value, origin)), .. }) => {
                    if value.is_transcendental() {
                        self.operands(value, origin, items);
                    } else {
                        self.functions(value, origin, items);
                    }
                }
                Item::Declare(_) | Item::If(_) | Item::Checked(_) | Item::For(_) | Item::Launch(_) => {}
            }
            items.push(item);
        }
    }

    /// Declares what an expression has of functions that take long.
    fn functions(&mut self, expr: &mut Expr<Read>, origin: &Origin, before: &mut Vec<Item>) {
        if expr.is_transcendental() {
            self.operands(expr, origin, before);
            self.declare(expr, &format!("{}_value", name_of(expr)), origin, before);
        } else if !matches!(expr.kind, ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..)) {
            for it in expr.operands_mut() {
                self.functions(it, origin, before);
            }
        }
    }

    /// Declares what a function is of, where that takes long.
    fn operands(&mut self, call: &mut Expr<Read>, origin: &Origin, before: &mut Vec<Item>) {
        let wanted = format!("{}_argument", name_of(call));
        for it in call.operands_mut() {
            self.functions(it, origin, before);
            if takes_long(it) {
                self.declare(it, &wanted, origin, before);
            }
        }
    }

    fn declare(&mut self, expr: &mut Expr<Read>, wanted: &str, origin: &Origin, before: &mut Vec<Item>) {
        let local = self.names.new_local(wanted, expr.dtype);
        let kind = std::mem::replace(&mut expr.kind, ExprKind::Access(Read::Local(local)));
        let value = Expr { kind, dtype: expr.dtype, span: expr.span };
        before.push(Item::Declare(Declare { local, value: Some((value, origin.clone())), is_const: true }));
    }
}

fn name_of(call: &Expr<Read>) -> &'static str {
    match &call.kind {
        ExprKind::Call(function, _) => function.name(),
        _ => "power",
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::backend::c::{COptions, generate};
    use crate::sdfg::{from_schedule, samples};

    /// The loops over a row that `body` becomes, for vectors of so many bytes.
    fn generated(body: &str, vector_bytes: u64) -> String {
        let tree = samples::parsed(&format!(
            "\
schedule same
field a: float64[I, J, K] shift [0, 0, 0] read
field b: float64[I, J, K] shift [0, 0, 0] read-write
field o: float64[I, J, K] shift [0, 0, 0] read-write
temporary t: float64[I] shift [0] along I in j
local c: float64
local d: float64
threads j in [0, J) parallel:
  for k in [0, K) parallel:
    simd i in [0, I) parallel:
{body}    simd i in [0, I) parallel:
      b[i, j, k] = b[i, j, k] + t[i]
"
        ));
        let options = COptions { vector_bytes, ..COptions::default() };
        let text = generate(&from_schedule::lower(&tree), &options).listing.text;
        let function = &text[text.find("void step_1_at").expect("there is a step")..];
        let loops = &function[function.find("  for (int64_t k = 0").expect("there is a loop")..];
        let loops = loops[..loops.find("\n}").expect("functions end")].lines();
        loops.map(|it| format!("{}\n", it.strip_prefix("  ").unwrap_or(it))).collect()
    }

    fn check(body: &str, expected: &Expect) {
        expected.assert_eq(&generated(body, 32));
    }

    #[test]
    fn a_function_and_what_reads_it_have_loops_of_their_own() {
        check(
            "      c = a[i, j, k] * 2.0
      t[i] = c / exp(a[i, j, k] - 1.0) if exp(1.0 / c) > 0.0 else c
",
            &expect![[r#"
                  for (int64_t k = 0; k < K; ++k) {
                    for (int64_t i = 0; is_unit && i < run->I; i += 8) {
                      ISOBAR_FETCH(a[i * a_i + j * a_j + (k + 5) * a_k]);
                    }
                    for (int64_t i_strip = 0; i_strip < I; i_strip += 32) {
                      const int64_t i_end = I - i_strip < 32 ? I : i_strip + 32;
                      double c[32];
                      double a_1[32];
                      double exp_value[32];
                      double exp_argument[32];
                      double exp_value_1[32];
                      #pragma omp simd
                      for (int64_t i = i_strip; i < i_end; ++i) {
                        const int64_t lane = i - i_strip;
                        (void)lane;
                        c[lane] = a[i * a_i + j * a_j + k * a_k] * 2.0;
                        a_1[lane] = a[i * a_i + j * a_j + k * a_k];
                      }
                      #pragma omp simd
                      for (int64_t i = i_strip; i < i_end; ++i) {
                        const int64_t lane = i - i_strip;
                        (void)lane;
                        exp_value[lane] = isobar_exp_f64(a_1[lane] - 1.0);
                      }
                      #pragma omp simd
                      for (int64_t i = i_strip; i < i_end; ++i) {
                        const int64_t lane = i - i_strip;
                        (void)lane;
                        exp_argument[lane] = 1.0 / c[lane];
                      }
                      #pragma omp simd
                      for (int64_t i = i_strip; i < i_end; ++i) {
                        const int64_t lane = i - i_strip;
                        (void)lane;
                        exp_value_1[lane] = isobar_exp_f64(exp_argument[lane]);
                      }
                      #pragma omp simd
                      for (int64_t i = i_strip; i < i_end; ++i) {
                        const int64_t lane = i - i_strip;
                        (void)lane;
                        t[i] = exp_value_1[lane] > 0.0 ? c[lane] / exp_value[lane] : c[lane];
                      }
                    }
                    #pragma omp simd
                    for (int64_t i = 0; i < I; ++i) {
                      b[i * b_i + j * b_j + k * b_k] = b[i * b_i + j * b_j + k * b_k] + t[i];
                    }
                  }
            "#]],
        );
    }

    #[test]
    fn turns_of_all_points_are_cut_too() {
        check(
            "      c = a[i, j, k]
      d = 1.0
      while c > 1.0:
        d = 3.0 * c ** 1.5 + c ** 2
        c = c - log(d)
      t[i] = c
",
            &expect![[r#"
                  for (int64_t k = 0; k < K; ++k) {
                    for (int64_t i = 0; is_unit && i < run->I; i += 8) {
                      ISOBAR_FETCH(a[i * a_i + j * a_j + (k + 6) * a_k]);
                    }
                    for (int64_t i_strip = 0; i_strip < I; i_strip += 32) {
                      const int64_t i_end = I - i_strip < 32 ? I : i_strip + 32;
                      double c[32];
                      double d[32];
                      double power_value[32];
                      double log_value[32];
                      int64_t goes_on[32];
                      #pragma omp simd
                      for (int64_t i = i_strip; i < i_end; ++i) {
                        const int64_t lane = i - i_strip;
                        (void)lane;
                        c[lane] = a[i * a_i + j * a_j + k * a_k];
                        d[lane] = 1.0;
                      }
                      for (uint64_t turn = 0;; ++turn) {
                        int64_t some_go_on = 0;
                        #pragma omp simd reduction(| : some_go_on)
                        for (int64_t i = i_strip; i < i_end; ++i) {
                          const int64_t lane = i - i_strip;
                          (void)lane;
                          goes_on[lane] = c[lane] > 1.0;
                          some_go_on |= goes_on[lane];
                        }
                        if (some_go_on == 0) break;
                        if (turn == 1000000u) {
                          for (int64_t i = i_strip; i < i_end; ++i) {
                            if (goes_on[i - i_strip] != 0) isobar_raise(run->raised, 0, 0, 2, 2, i, j, k);
                          }
                          break;
                        }
                        #pragma omp simd
                        for (int64_t i = i_strip; i < i_end; ++i) {
                          const int64_t lane = i - i_strip;
                          (void)lane;
                          power_value[lane] = isobar_pow_f64(c[lane], 1.5);
                        }
                        #pragma omp simd
                        for (int64_t i = i_strip; i < i_end; ++i) {
                          const int64_t lane = i - i_strip;
                          (void)lane;
                          d[lane] = goes_on[lane] != 0 ? (3.0 * power_value[lane] + isobar_square_f64(c[lane])) : d[lane];
                        }
                        #pragma omp simd
                        for (int64_t i = i_strip; i < i_end; ++i) {
                          const int64_t lane = i - i_strip;
                          (void)lane;
                          log_value[lane] = isobar_log_f64(d[lane]);
                        }
                        #pragma omp simd
                        for (int64_t i = i_strip; i < i_end; ++i) {
                          const int64_t lane = i - i_strip;
                          (void)lane;
                          c[lane] = goes_on[lane] != 0 ? (c[lane] - log_value[lane]) : c[lane];
                        }
                      }
                      #pragma omp simd
                      for (int64_t i = i_strip; i < i_end; ++i) {
                        const int64_t lane = i - i_strip;
                        (void)lane;
                        t[i] = c[lane];
                      }
                    }
                    #pragma omp simd
                    for (int64_t i = 0; i < I; ++i) {
                      b[i * b_i + j * b_j + k * b_k] = b[i * b_i + j * b_j + k * b_k] + t[i];
                    }
                  }
            "#]],
        );
    }

    #[test]
    fn a_row_is_one_loop_where_cuts_do_not_pay() {
        let is_cut = |body: &str, vector_bytes: u64| generated(body, vector_bytes).contains("i_strip");
        assert!(is_cut("      t[i] = exp(a[i, j, k]) + 1.0\n", 32));
        assert!(!is_cut("      t[i] = exp(a[i, j, k]) + 1.0\n", 64), "it was not measured");
        assert!(!is_cut("      t[i] = exp(a[i, j, k] * 2.0)\n", 32), "there is one part");
        assert!(!is_cut("      t[i] = sqrt(a[i, j, k]) + a[i, j, k] ** 2\n", 32), "no function takes long");
        assert!(!is_cut("      o[i, j, k] = exp(a[i, j, k]) + 1.0\n", 32), "the row goes past the caches");
        let choice = "      t[i] = 1.0 if a[i, j, k] > 0.0 and log(a[i, j, k]) > 1.0 else 2.0\n";
        assert!(!is_cut(choice, 32), "a point may not need it");
    }
}
