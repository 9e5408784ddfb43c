/* Copy of fields along k: columns shared by the threads, past the caches where both fields together do not fit. */
#include "along_k.h"

int32_t isobar_run(const isobar_call *call)
{
  const int64_t I = call->domain[0], J = call->domain[1], K = call->domain[2];
  const real *restrict const q = FIELD(0);
  real *restrict const q_out = FIELD(1);
  const int64_t q_i = STRIDE_I(0), q_j = STRIDE_J(0), out_i = STRIDE_I(1), out_j = STRIDE_J(1);
  const bool streams = is_beyond_cache(call, 2);
  #pragma omp parallel num_threads(threads_of(call))
  {
    #pragma omp for schedule(static) collapse(2)
    for (int64_t i = 0; i < I; ++i) {
      for (int64_t j = 0; j < J; ++j) {
        const real *restrict const from = q + i * q_i + j * q_j;
        real *restrict const to = q_out + i * out_i + j * out_j;
        prefetch_row(from + 8 * q_j, K);
        if (streams) {
          stream_row(to, from, K);
        } else {
          #pragma omp simd
          for (int64_t k = 0; k < K; ++k) to[k] = from[k];
        }
      }
    }
    _mm_sfence();
  }
  return 0;
}
