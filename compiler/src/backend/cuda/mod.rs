//! CUDA C++ of kernels, as NVRTC takes it: one text without headers, whose kernels are one module.
//!
//! The notation is that of C (`emit/c_family`); what stands in front is in `shaders/*.cuh`. Sizes, strides and where
//! shared arrays lie are parameters, so that one module serves all calls; threads, tiles and rings are constants. With
//! the options of a run the text computes the bits of `debug`, and a host program runs it as well
//! (`tests/emulation`). Nothing is decided here.

mod print;
mod words;

use crate::backend::kernel::Kernels;
use crate::backend::kernel::nodes::ArrayMemory;
use crate::diag::Listing;
use crate::loops::nodes::{Array, Side, Storage, Strides};
use crate::space::{Axis, Symbol};

/// A text, and how its kernels are launched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Its lines know their statements.
    pub listing: Listing,
    /// In the order of [`Kernels::kernels`].
    pub kernels: Vec<Signature>,
}

/// The parameters and settings of a kernel's launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub name: String,
    /// In order.
    pub params: Vec<Param>,
    /// Along x, y, z.
    pub threads: [u32; 3],
    /// Its arrays of a block, or of a thread in shared memory.
    pub shared: Vec<usize>,
    /// Whether the launch has to ask for the memory of these, and tells where each begins.
    pub is_dynamic: bool,
    /// Its arrays of a thread in the device's memory.
    pub scratch: Vec<usize>,
    pub has_barriers: bool,
}

/// A parameter of a kernel. Arrays are positions in the program's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Param {
    /// Where the element at index 0 along every axis is, or would be; of a thread's array the start of the memory of all.
    Pointer(usize),
    /// A value that the caller passes.
    Value(usize),
    /// Points of the domain. This and those below are integers of 32 bits, or of 64 in a module for large arrays.
    Size(Axis),
    /// In elements.
    Stride { array: usize, dimension: usize },
    /// The levels of an array beside those of the domain.
    Levels { array: usize, side: Side },
    /// Of a loop of the host.
    Position(Symbol),
    /// Bytes from the start of the block's memory to an array.
    SharedAt(usize),
    /// A word for each place where a run may have to end; see `kernel/cell.rs`.
    Slots,
}

/// Bytes of shared memory that arrays of a kernel may have together without asking for them.
pub const STATIC_SHARED_BYTES: u64 = 48 << 10;

/// Alignment in bytes of each array in shared memory.
pub const SHARED_ALIGNMENT: u64 = 16;

/// Writes kernels down.
#[must_use]
pub fn generate(kernels: &Kernels) -> Artifact {
    print::text(kernels)
}

/// Where an array of a run lives: an array of registers has so many elements as the text can tell.
#[must_use]
pub fn memory(kernels: &Kernels, array: usize) -> Option<ArrayMemory> {
    match kernels.memory(array)? {
        ArrayMemory::Registers if elements(kernels, array).is_none() => Some(ArrayMemory::Scratch),
        other => Some(other),
    }
}

/// How many elements an array has, where that is the same for every call.
fn elements(kernels: &Kernels, array: usize) -> Option<u64> {
    lengths(kernels, array)
        .into_iter()
        .try_fold(1_u64, |n, it| n.checked_mul(u64::try_from(it?.max(0)).ok()?))
}

/// The length of an array along each dimension, where that is the same for every call.
fn lengths(kernels: &Kernels, array: usize) -> Vec<Option<i64>> {
    kernels.program.arrays[array].places().map(|it| it.evaluated(&mut |_| None)).collect()
}

/// Whether a dimension is that along i of an array of the caller: there its stride is 1 in a module for such calls.
#[must_use]
pub fn is_along_i(array: &Array, dimension: usize) -> bool {
    array.strides == Strides::Given && dimension == 0 && array.axes.has(Axis::I)
}

/// Whether an array is one that a run allocates for all threads.
#[must_use]
pub fn is_of_run(kernels: &Kernels, array: usize) -> bool {
    let it = &kernels.program.arrays[array];
    it.storage != Storage::Caller && memory(kernels, array) == Some(ArrayMemory::Global)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::config::Config;
    use crate::pipeline::{NoHook, route};
    use crate::project::Project;

    /// Compares the kernels of a stencil: what stands before them is nearly the same in every text.
    fn check(text: &str, expected: &Expect) {
        let project = Project::of_one("main.py", text);
        let compilation = route::compile(&project, &Config::default(), &mut NoHook);
        let text = &compilation.levels.cuda().expect("it compiles").listing.text;
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
        let text = &compilation.levels.cuda().expect("it compiles").listing.text;
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
}
