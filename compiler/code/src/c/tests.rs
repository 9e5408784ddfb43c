//! The text of the generated file: functions of steps, names, flags and memory.

use expect_test::{Expect, expect};

use super::*;
use crate::loops::ready;
use crate::sdfg::from_schedule::lower;
use crate::target::Target;
use isobar_middle::samples;
use isobar_middle::schedule::nodes::Tree;

/// Compares the functions of the steps: what stands before and after them is nearly the same in every file.
fn check(tree: &Tree, expected: &Expect) {
    let text = generate(&ready(&lower(tree), &Target::c(None)), &COptions::default()).listing.text;
    let from = text.find("/* What step 1").expect("there is a step");
    let to = text.find("int32_t isobar_run(const isobar_call *call)\n{").expect("there is an entry");
    expected.assert_eq(&text[from..to]);
}

#[test]
fn a_map_over_threads_becomes_a_function() {
    check(
        &samples::copy_scale(),
        &expect![[r#"
            /* What step 1 does at one position k. */
            static inline __attribute__((always_inline)) void step_1_at(const struct run *run, const bool is_unit, const int64_t k)
            {
              const int64_t I = run->I, J = run->J;
              const double *restrict const q_in = run->q_in;
              const int64_t q_in_i = is_unit ? 1 : run->q_in_i, q_in_j = run->q_in_j, q_in_k = run->q_in_k;
              double *restrict const q_out = run->q_out;
              const int64_t q_out_i = is_unit ? 1 : run->q_out_i, q_out_j = run->q_out_j, q_out_k = run->q_out_k;
              const double factor = run->factor;
              for (int64_t j = 0; j < J; ++j) {
                for (int64_t i = 0; is_unit && i < run->I; i += 8) {
                  ISOBAR_FETCH(q_in[i * q_in_i + (j + 6) * q_in_j + k * q_in_k]);
                }
                for (int64_t i_row = 0; i_row < I; i_row += 672) {
                  const int64_t i_end = I - i_row < 672 ? I : i_row + 672;
                  double q_out_row[672];
                  double *restrict const q_out_to = is_unit && run->streams ? q_out_row : &q_out[i_row * q_out_i + j * q_out_j + k * q_out_k];
                  const int64_t q_out_step = is_unit && run->streams ? 1 : q_out_i;
                  #pragma omp simd
                  for (int64_t i = i_row; i < i_end; ++i) {
                    q_out_to[(i - i_row) * q_out_step] = factor * q_in[i * q_in_i + j * q_in_j + k * q_in_k];
                  }
                  if (is_unit && run->streams) isobar_stream(&q_out[i_row * q_out_i + j * q_out_j + k * q_out_k], q_out_row, (i_end - i_row) * (int64_t)sizeof *q_out_row);
                }
              }
              if (is_unit && run->streams) isobar_end_stream();
            }

            /* k from 0 to K, shared by the threads */
            static void step_1(const struct run *run, const bool is_unit)
            {
              const int64_t K = run->K;
              #pragma omp parallel for schedule(static) num_threads(run->threads)
              for (int64_t k = 0; k < K; ++k)
                if (ISOBAR_IS_UNIT(is_unit)) step_1_at(run, true, k);
                else step_1_at(run, false, k);
            }

        "#]],
    );
}

#[test]
fn control_flow_stays_and_locals_stand_where_they_are_first_needed() {
    check(
        &samples::columns(),
        &expect![[r#"
            /* What step 1 does at one position k. */
            static inline __attribute__((always_inline)) void step_1_at(const struct run *run, const bool is_unit, const int64_t k)
            {
              const int64_t I = run->I, J = run->J;
              double *restrict const q = run->q;
              const int64_t q_i = is_unit ? 1 : run->q_i, q_j = run->q_j, q_k = run->q_k;
              double *restrict const out = run->out;
              const int64_t out_i = is_unit ? 1 : run->out_i, out_j = run->out_j, out_k = run->out_k;
              for (int64_t j = 0; j < J; ++j) {
                for (int64_t i_strip = 0; i_strip < I; i_strip += 32) {
                  const int64_t i_end = I - i_strip < 32 ? I : i_strip + 32;
                  double x[32];
                  int64_t n[32];
                  int64_t goes_on[32];
                  #pragma omp simd
                  for (int64_t i = i_strip; i < i_end; ++i) {
                    const int64_t lane = i - i_strip;
                    (void)lane;
                    x[lane] = q[i * q_i + j * q_j + k * q_k];
                    n[lane] = 0;
                    if (i < 1) {
                      x[lane] = 7.5;
                    }
                  }
                  for (uint64_t turn = isobar_done(run->raised, 1000000u, 0, 0, 6, i_strip, j, k);; ++turn) {
                    int64_t some_go_on = 0;
                    #pragma omp simd reduction(| : some_go_on)
                    for (int64_t i = i_strip; i < i_end; ++i) {
                      const int64_t lane = i - i_strip;
                      (void)lane;
                      goes_on[lane] = x[lane] > 1.0;
                      some_go_on |= goes_on[lane];
                    }
                    if (some_go_on == 0) break;
                    if (turn == 1000000u) {
                      for (int64_t i = i_strip; i < i_end; ++i) {
                        if (goes_on[i - i_strip] != 0) isobar_raise(run->raised, 0, 0, 6, 6, i, j, k);
                      }
                      break;
                    }
                    #pragma omp simd
                    for (int64_t i = i_strip; i < i_end; ++i) {
                      const int64_t lane = i - i_strip;
                      (void)lane;
                      x[lane] = goes_on[lane] != 0 ? (0.5 * x[lane]) : x[lane];
                      n[lane] = goes_on[lane] != 0 ? (isobar_add_i64(n[lane], 1)) : n[lane];
                    }
                  }
                  #pragma omp simd
                  for (int64_t i = i_strip; i < i_end; ++i) {
                    const int64_t lane = i - i_strip;
                    (void)lane;
                    if (x[lane] > 0.0) {
                      out[i * out_i + j * out_j + k * out_k] = 1.0;
                    } else if (q[i * q_i + j * q_j + k * q_k] > 0.0) {
                      out[i * out_i + j * out_j + k * out_k] = x[lane];
                    } else {
                      out[i * out_i + j * out_j + k * out_k] = -1.0;
                    }
                    q[i * q_i + j * q_j + k * q_k] = x[lane] + (double)n[lane];
                  }
                }
              }
            }

            /* k from 0 to K, shared by the threads */
            static void step_1(const struct run *run, const bool is_unit)
            {
              const int64_t K = run->K;
              #pragma omp parallel for schedule(static) num_threads(run->threads)
              for (int64_t k = 0; k < K; ++k)
                if (ISOBAR_IS_UNIT(is_unit)) step_1_at(run, true, k);
                else step_1_at(run, false, k);
            }

        "#]],
    );
}

#[test]
fn an_index_that_is_found_at_run_time_is_checked_before_it_is_used() {
    let text = "\
schedule elements
field a: float64[I, J, __a_K_above + __a_K_below + K] shift [0, 0, __a_K_below] read
field n: int32[I, J] shift [0, 0] read
temporary t: float64[I, J, K, 3] shift [0, 0, 0, 0] heap
threads j in [0, J) parallel:
  for k in [0, K) ascending:
    for i in [0, I) parallel:
      t[i, j, k, {n[i, j]}] = a[i, j, __a_K_below + k + {n[i, j]}] + a[i, j, __a_K_below + {int64(t[i, j, k, {n[i, j] + int32(1)}])}]
      while t[i, j, k, 2] > 0.0:
        t[i, j, k, 2] = a[i, j, __a_K_below + {n[i, j]}]
";
    check(
        &samples::parsed(text),
        &expect![[r#"
            /* What step 1 does at one position j. */
            static inline __attribute__((always_inline)) void step_1_at(const struct run *run, const bool is_unit, const int64_t j)
            {
              const int64_t I = run->I, K = run->K;
              const double *restrict const a = run->a;
              const int64_t a_i = is_unit ? 1 : run->a_i, a_j = run->a_j, a_k = run->a_k;
              const int32_t *restrict const n = run->n;
              const int64_t n_i = is_unit ? 1 : run->n_i, n_j = run->n_j;
              double *restrict const t = run->t;
              const int64_t t_j = run->t_j, t_k = run->t_k, t_d0 = run->t_d0;
              const int64_t a_below = run->a_below;
              const int64_t a_above = run->a_above;
              for (int64_t k = 0; k < K; ++k) {
                for (int64_t i = 0; i < I; ++i) {
                  const int64_t a_at = isobar_add_i64(a_below + k, (int64_t)n[i * n_i + j * n_j]);
                  const int64_t t_at = (int64_t)isobar_add_i32(n[i * n_i + j * n_j], 1);
                  if (a_at < 0 || a_at >= K + a_above + a_below || t_at < 0 || t_at >= 3) {
                    isobar_raise(run->raised, 0, k, 0, 0, i, j, k);
                  } else {
                    const int64_t a_at_1 = isobar_add_i64(a_below,
                        isobar_f64_to_i64(t[i + j * t_j + k * t_k + t_at * t_d0]));
                    const int64_t t_at_1 = (int64_t)n[i * n_i + j * n_j];
                    if (a_at_1 < 0 || a_at_1 >= K + a_above + a_below || t_at_1 < 0 || t_at_1 >= 3) {
                      isobar_raise(run->raised, 0, k, 0, 0, i, j, k);
                    } else {
                      t[i + j * t_j + k * t_k + t_at_1 * t_d0]
                          = a[i * a_i + j * a_j + (a_at - a_below) * a_k]
                          + a[i * a_i + j * a_j + (a_at_1 - a_below) * a_k];
                    }
                  }
                  for (uint64_t turn = isobar_done(run->raised, 1000000u, 0, k, 1, i, j,
                      k); t[i + j * t_j + k * t_k + 2 * t_d0] > 0.0; ++turn) {
                    if (turn == 1000000u) {
                      isobar_raise(run->raised, 0, k, 1, 1, i, j, k);
                      break;
                    }
                    const int64_t a_at_2 = isobar_add_i64(a_below, (int64_t)n[i * n_i + j * n_j]);
                    if (a_at_2 < 0 || a_at_2 >= K + a_above + a_below) {
                      isobar_raise(run->raised, 0, k, 1, 2, i, j, k);
                      break;
                    } else {
                      t[i + j * t_j + k * t_k + 2 * t_d0] = a[i * a_i + j * a_j + (a_at_2 - a_below) * a_k];
                    }
                  }
                }
              }
            }

            /* j from 0 to J, shared by the threads */
            static void step_1(const struct run *run, const bool is_unit)
            {
              const int64_t J = run->J;
              #pragma omp parallel for schedule(static) num_threads(run->threads)
              for (int64_t j = 0; j < J; ++j)
                if (ISOBAR_IS_UNIT(is_unit)) step_1_at(run, true, j);
                else step_1_at(run, false, j);
            }

        "#]],
    );
}

#[test]
fn extrema_that_ask_for_no_nan_are_those_of_c() {
    let program = "\
program s(a, b)
field a: float64[I, J, K] shift [0, 0, 0] along IJK given read
field b: float64[I, J, K] shift [0, 0, 0] along IJK given write

function step_1_at(k, j) of step 1:
  for i in [0, I) parallel simd:
    b[i, j, k] = NaN if a[i, j, k] != a[i, j, k] else max_c(min_c(a[i, j, k], 1.0), 0.0)

function step_1() of step 1:
  launch step_1_at():
    over k in [0, K)
    over j in [0, J)

step step_1 on all threads
";
    let program = crate::loops::parse::parse(program).expect("it is a program");
    let text = generate(&program, &COptions::default()).listing.text;
    assert!(text.contains("? (double)NAN"), "{text}");
    assert!(text.contains(": isobar_max_c_f64(isobar_min_c_f64("), "{text}");
}

#[test]
fn a_sweep_stays_inside_the_thread() {
    check(
        &samples::sweep(),
        &expect![[r#"
            /* What step 1 does at one position j. */
            static inline __attribute__((always_inline)) void step_1_at(const struct run *run, const bool is_unit, const int64_t j)
            {
              const int64_t I = run->I, K = run->K;
              const double *restrict const q = run->q;
              const int64_t q_i = is_unit ? 1 : run->q_i, q_j = run->q_j, q_k = run->q_k;
              double *restrict const out = run->out;
              const int64_t out_i = is_unit ? 1 : run->out_i, out_j = run->out_j, out_k = run->out_k;
              for (int64_t k = 1; k < K; ++k) {
                for (int64_t i = 0; is_unit && i < run->I; i += 8) {
                  ISOBAR_FETCH(q[i * q_i + j * q_j + (k + 6) * q_k]);
                }
                #pragma omp simd
                for (int64_t i = 0; i < I; ++i) {
                  out[i * out_i + j * out_j + k * out_k]
                      = out[i * out_i + j * out_j + (k - 1) * out_k] + q[i * q_i + j * q_j + k * q_k];
                }
              }
            }

            /* j from 0 to J, shared by the threads */
            static void step_1(const struct run *run, const bool is_unit)
            {
              const int64_t J = run->J;
              #pragma omp parallel for schedule(static) num_threads(run->threads)
              for (int64_t j = 0; j < J; ++j)
                if (ISOBAR_IS_UNIT(is_unit)) step_1_at(run, true, j);
                else step_1_at(run, false, j);
            }

        "#]],
    );
}

#[test]
fn the_entry_allocates_temporaries_and_reports_steps() {
    let text =
        generate(&ready(&lower(&samples::laplacian()), &Target::c(None)), &COptions::default()).listing.text;
    let from = text.find("int32_t isobar_run(const isobar_call *call)\n{").expect("there is an entry");
    expect![[r#"
        int32_t isobar_run(const isobar_call *call)
        {
          const int64_t I = call->domain[0], J = call->domain[1], K = call->domain[2];
          if (I <= 0 || J <= 0 || K <= 0) return 0;
          struct run run = {.I = I, .J = J, .K = K, .is_unit = true};
          run.threads = call->threads > 0 ? (int)call->threads : omp_get_max_threads();
          run.streams = (double)I * (double)J * (double)K * 16.0 > ISOBAR_STREAM_FROM;
          run.q = call->fields[0].data;
          run.q_i = call->fields[0].stride[0];
          run.is_unit = run.is_unit && run.q_i == 1;
          run.q_j = call->fields[0].stride[1];
          run.q_k = call->fields[0].stride[2];
          run.out = call->fields[1].data;
          run.out_i = call->fields[1].stride[0];
          run.is_unit = run.is_unit && run.out_i == 1;
          run.out_j = call->fields[1].stride[1];
          run.out_k = call->fields[1].stride[2];
          if (ISOBAR_IS_UNIT(run.is_unit) != run.is_unit) return 4;

          /* All temporaries in one piece: the caller's, or one of this call. */
          uint64_t size = 0;
          const uint64_t lap_at = isobar_reserve(&size, I + 2, J + 2, K, sizeof(double));
          char *memory = NULL, *workspace = call->workspace;
          if (workspace == NULL || (uintptr_t)workspace % 64 != 0 || call->workspace_bytes < size) {
            memory = size < SIZE_MAX - 63 ? malloc((size_t)size + 63) : NULL;
            if (memory == NULL) return 2;
            workspace = memory + (64 - (uintptr_t)memory % 64) % 64;
          }
          run.lap_j = (I + 2);
          run.lap_k = run.lap_j * (J + 2);
          run.lap = (double *)(void *)(workspace + lap_at) + 1 + 1 * run.lap_j;

          int32_t status = 0;
          if (call->times != NULL) call->times[0] = omp_get_wtime();
          /* Step 1 of 2 */
          if (call->cancel != NULL && *call->cancel != 0) {
            status = 3;
            goto end;
          }
          step_1(&run, run.is_unit);
          if (call->progress != NULL) *call->progress = 1;
          if (call->times != NULL) call->times[1] = omp_get_wtime();
          /* Step 2 of 2 */
          if (call->cancel != NULL && *call->cancel != 0) {
            status = 3;
            goto end;
          }
          step_2(&run, run.is_unit);
          if (call->progress != NULL) *call->progress = 2;
          if (call->times != NULL) call->times[2] = omp_get_wtime();
        end:
          free(memory);
          return status;
        }
    "#]]
    .assert_eq(&text[from..]);
}

#[test]
fn the_workspace_is_known_before_the_call() {
    let artifact = generate(&ready(&lower(&samples::laplacian()), &Target::c(None)), &COptions::default());
    let none = |_: &str| [0, 0];
    assert_eq!(artifact.n_steps, 2);
    assert_eq!(artifact.workspace_bytes(Domain::new(6, 6, 2), 2, &none), Some(8 * 8 * 2 * 8 + 64));
    let huge = i64::MAX / 4;
    assert_eq!(artifact.workspace_bytes(Domain::new(huge, huge, 8), 2, &none), None);
    let without = generate(&ready(&lower(&samples::copy_scale()), &Target::c(None)), &COptions::default());
    assert_eq!(without.workspace_bytes(Domain::new(6, 6, 2), 2, &none), Some(0));
}

#[test]
fn no_flag_reorders_a_function_of_mathematics() {
    let plain = generate(&ready(&lower(&samples::copy_scale()), &Target::c(None)), &COptions::default());
    assert_eq!(plain.flags(false), FLAGS);
    assert!(REORDERING_FLAGS.iter().all(|it| plain.flags(true).contains(it)));
    let exponential = "\
schedule exponential
field q: float64[I, J, K] shift [0, 0, 0] read-write
threads k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      q[i, j, k] = exp(q[i, j, k])
";
    let artifact =
        generate(&ready(&lower(&samples::parsed(exponential)), &Target::c(None)), &COptions::default());
    assert!(FAST_FLAGS.iter().all(|it| artifact.flags(true).contains(it)));
    assert!(REORDERING_FLAGS.iter().all(|it| !artifact.flags(true).contains(it)));
}

#[test]
fn a_row_that_is_read_at_once_goes_past_the_caches_and_one_that_is_read_first_does_not() {
    let text = |first: &str| {
        let tree = format!(
            "\
schedule twice
field q: float64[I, J, K] shift [0, 0, 0] read
field a: float64[I, J, K] shift [0, 0, 0] read-write
field b: float64[I, J, K] shift [0, 0, 0] write
field c: float64[I, J, K] shift [0, 0, 0] write
threads k in [0, K) parallel:
  for j in [0, J) parallel:
    simd i in [0, I) parallel:
      c[i, j, k] = {first}[i, j, k]
      a[i, j, k] = q[i, j, k] * 2.0
      b[i, j, k] = a[i, j, k] + 1.0
"
        );
        generate(&ready(&lower(&samples::parsed(&tree)), &Target::c(None)), &COptions::default()).listing.text
    };
    let behind = text("q");
    assert!(behind.contains("double a_row[672];"), "{behind}");
    assert!(behind.contains("b_to[(i - i_row) * b_step] = a_1 + 1.0;"), "{behind}");
    let before = text("a");
    assert!(!before.contains("double a_row[672];"), "{before}");
}

#[test]
fn a_row_that_is_read_first_stays_in_the_caches_however_often_another_loop_assigns_it() {
    let tree = "\
schedule often
field q: float64[I, J, K] shift [0, 0, 0] read
field a: float64[I, J, K] shift [0, 0, 0] read-write
field b: float64[I, J, K] shift [0, 0, 0] read-write
threads k in [0, K - 1) parallel:
  for j in [0, J) parallel:
    simd i in [0, I) parallel:
      a[i, j, k] = q[i, j, k] * 2.0
      if q[i, j, k] > 1.0:
        a[i, j, k] = b[i, j, k]
      b[i, j, k] = a[i, j, k] + 1.0
      a[i, j, k] = q[i, j, k]
threads k in [0, K) parallel:
  for j in [0, J) parallel:
    simd i in [0, I) parallel:
      a[i, j, k] = a[i, j, k] + 1.0
";
    let text =
        generate(&ready(&lower(&samples::parsed(tree)), &Target::c(None)), &COptions::default()).listing.text;
    assert!(!text.contains("a_row"), "{text}");
}

#[test]
fn each_assignment_knows_its_statement() {
    let artifact = generate(&ready(&lower(&samples::laplacian()), &Target::c(None)), &COptions::default());
    let lines: Vec<&str> = artifact.listing.text.lines().collect();
    let stmts: Vec<(u32, &str)> = artifact
        .listing
        .nodes
        .iter()
        .filter(|it| it.kind == "assignment")
        .map(|it| (it.stmts[0].0, lines[it.lines.start as usize].trim_start()))
        .map(|(stmt, line)| (stmt, line.split(' ').next().unwrap_or_default()))
        .collect();
    assert_eq!(stmts, [(0, "lap[i"), (1, "const"), (2, "out_to[(i")]);
}

/// A row of so many exponentials, and of a logarithm that not all points need.
fn with_exponentials(n: usize) -> CArtifact {
    let terms: Vec<String> = (0..n).map(|at| format!("exp(a[i, j, k] + {at}.0)")).collect();
    let tree = samples::parsed(&format!(
        "\
schedule many
field a: float64[I, J, K] shift [0, 0, 0] read
field b: float64[I, J, K] shift [0, 0, 0] write
threads j in [0, J) parallel:
  for k in [0, K) parallel:
    simd i in [0, I) parallel:
      b[i, j, k] = (log(a[i, j, k]) if a[i, j, k] > 0.0 else 0.0) + {}
",
        terms.join(" + ")
    ));
    generate(&ready(&lower(&tree), &Target::c(None)), &COptions::default())
}

#[test]
fn a_long_text_has_one_vector_function_of_each_function() {
    let long = with_exponentials(20);
    let text = &long.listing.text;
    assert!(text.contains("double isobar_exp_f64_shared(double x) { return isobar_exp_f64(x); }"), "{text}");
    assert!(text.contains(" + isobar_exp_f64_shared(a_1 + 0.0)"), "{text}");
    // gcc makes no vector loop of a loop with a call that not all points come to.
    assert!(text.contains("? isobar_log_f64(a"), "{text}");
    assert!(long.flags(false).contains(&LONG_FLAGS[0]));
    let short = with_exponentials(2);
    assert!(!short.listing.text.contains("_shared"), "{}", short.listing.text);
    assert!(!short.flags(false).contains(&LONG_FLAGS[0]));
}
