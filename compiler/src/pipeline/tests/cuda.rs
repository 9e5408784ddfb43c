//! The CUDA C++ of whole stencils.

use expect_test::{Expect, expect};

use crate::config::Config;
use crate::pipeline::{NoHook, route};
use crate::project::Project;

/// Compares the kernels of a stencil: what stands before them is nearly the same in every text.
fn check(text: &str, expected: &Expect) {
    let project = Project::of_one("main.py", text);
    let compilation = route::compile(&project, &Config::default(), &mut NoHook);
    let text = &compilation.cuda().expect("it compiles").listing.text;
    expected.assert_eq(&text[text.find("/* Step 1 ").expect("there is a step")..]);
}

#[test]
fn names_that_mean_something_to_cuda_are_others_and_the_stride_along_i_may_be_1() {
    check(
        "def s(new: Field[float], thread: Field[float], this: float):\n    with computation(PARALLEL), interval(...):\n        thread = new[1, 0, 0] * this\n",
        &expect![[r#"
            /* Step 1 of 1 */
            extern "C" __global__ void __launch_bounds__(256) kernel_1(
                const double *new_1, double *__restrict__ thread, const double this_1, const isobar_index I,
                const isobar_index J, const isobar_index new_1_along_i, const isobar_index new_1_j,
                const isobar_index new_1_k, const isobar_index thread_along_i, const isobar_index thread_j,
                const isobar_index thread_k)
            {
              const isobar_index new_1_i = ISOBAR_ALONG_I(new_1_along_i);
              const isobar_index thread_i = ISOBAR_ALONG_I(thread_along_i);
              const isobar_index k = (isobar_index)blockIdx.z;
              const isobar_index j_tile = 8 * (isobar_index)blockIdx.y;
              const isobar_index i_tile = 32 * (isobar_index)blockIdx.x;
              const isobar_index j_thread = (isobar_index)threadIdx.y;
              const isobar_index i_thread = (isobar_index)threadIdx.x;
              for (isobar_index j = j_tile + j_thread; j < isobar_least(J, j_tile + 8); j += 8) {
                for (isobar_index i = i_tile + i_thread; i < isobar_least(I, i_tile + 32); i += 32) {
                  thread[i * thread_i + j * thread_j + k * thread_k]
                      = new_1[(i + 1) * new_1_i + j * new_1_j + k * new_1_k] * this_1;
                }
              }
            }
        "#]],
    );
}

#[test]
fn only_what_a_kernel_writes_is_said_to_be_apart() {
    let text = "def s(a: Field[float], b: Field[float]):\n    with computation(PARALLEL), interval(...):\n        b = a * 2.0\n        b = b if b > 1.0 else a\n";
    let compilation = route::compile(&Project::of_one("main.py", text), &Config::default(), &mut NoHook);
    let text = &compilation.cuda().expect("it compiles").listing.text;
    assert!(text.contains("const double *a, double *__restrict__ b,"), "{text}");
}

#[test]
fn a_place_where_a_run_may_have_to_end_has_a_slot() {
    check(
        "def s(a: Field[float], n: Field[int], out: Field[float]):\n    with computation(FORWARD), interval(...):\n        out = a.at(K=n)\n",
        &expect![[r#"
            /* Step 1 of 1 */
            extern "C" __global__ void __launch_bounds__(64) kernel_1(
                const double *a, const int64_t *n, double *__restrict__ out, const isobar_index I,
                const isobar_index J, const isobar_index K, const isobar_index a_along_i, const isobar_index a_j,
                const isobar_index a_k, const isobar_index n_along_i, const isobar_index n_j,
                const isobar_index n_k, const isobar_index out_along_i, const isobar_index out_j,
                const isobar_index out_k, const isobar_index a_below, const isobar_index a_above,
                uint32_t *__restrict__ slots)
            {
              const isobar_index a_i = ISOBAR_ALONG_I(a_along_i);
              const isobar_index n_i = ISOBAR_ALONG_I(n_along_i);
              const isobar_index out_i = ISOBAR_ALONG_I(out_along_i);
              const isobar_index j = (isobar_index)blockIdx.y;
              const isobar_index i_tile = 64 * (isobar_index)blockIdx.x;
              const isobar_index i_thread = (isobar_index)threadIdx.x;
              for (isobar_index i = i_tile + i_thread; i < isobar_least(I, i_tile + 64); i += 64) {
                for (isobar_index k = 0; k < K; ++k) {
                  const int64_t a_at = isobar_add_i64((int64_t)a_below, n[i * n_i + j * n_j + k * n_k]);
                  if (a_at < 0 || a_at >= K + a_above + a_below) {
                    isobar_raise(&slots[0], k + 65, j + 65, i + 65, J + 130, I + 130);
                  } else {
                    out[i * out_i + j * out_j + k * out_k] = a[i * a_i + j * a_j + (a_at - a_below) * a_k];
                  }
                }
              }
            }
        "#]],
    );
}
