/* Laplacian of five points on fields along k: lanes along k. Three planes of neighbours along i stay in the second cache. */
#include "along_k.h"

int32_t isobar_run(const isobar_call *call)
{
  const int64_t I = call->domain[0], J = call->domain[1], K = call->domain[2];
  const real *restrict const q = FIELD(0);
  real *restrict const q_out = FIELD(1);
  const int64_t q_i = STRIDE_I(0), q_j = STRIDE_J(0), out_i = STRIDE_I(1), out_j = STRIDE_J(1);
  const bool streams = is_beyond_cache(call, 2);
  int32_t status = 0;
  #pragma omp parallel num_threads(threads_of(call)) reduction(max : status)
  {
    real *const row = rows(1, K);
    if (row == NULL) status = 2;
    #pragma omp for schedule(static)
    for (int64_t i = 0; i < I; ++i) {
      if (row == NULL) continue;
      for (int64_t j = 0; j < J; ++j) {
        const real *restrict const c = q + i * q_i + j * q_j;
        const real *restrict const e = c + q_i, *restrict const w = c - q_i;
        const real *restrict const n = c + q_j, *restrict const s = c - q_j;
        real *const out = q_out + i * out_i + j * out_j;
        real *restrict const to = streams ? row : out;
        prefetch_row(e + 8 * q_j, K);
        #pragma omp simd
        for (int64_t k = 0; k < K; ++k) to[k] = e[k] + w[k] + n[k] + s[k] - R(4.0) * c[k];
        if (streams) stream_row(out, row, K);
      }
    }
    _mm_sfence();
    free(row);
  }
  return status;
}
