/* Laplacian of five points: a plane at a time, whose rows stay in the first cache for their three uses. */
#include "hand.h"

/* Rows that are asked for before they are read. */
#ifndef AHEAD
#define AHEAD 8
#endif

int32_t isobar_run(const isobar_call *call)
{
  const int64_t I = call->domain[0], J = call->domain[1], K = call->domain[2];
  const real *restrict const q = FIELD(0);
  real *restrict const q_out = FIELD(1);
  const int64_t q_j = STRIDE_J(0), q_k = STRIDE_K(0), out_j = STRIDE_J(1), out_k = STRIDE_K(1);
  const bool streams = is_beyond_cache(call, 2);
  int32_t status = 0;
  #pragma omp parallel num_threads(threads_of(call)) reduction(max : status)
  {
    real *const row = rows(1, I);
    if (row == NULL) status = 2;
    #pragma omp for schedule(static)
    for (int64_t k = 0; k < K; ++k) {
      if (row == NULL) continue;
      for (int64_t j = 0; j < J; ++j) {
        const real *restrict const c = q + j * q_j + k * q_k;
        const real *restrict const n = c + q_j, *restrict const s = c - q_j;
        real *const out = q_out + j * out_j + k * out_k;
        real *restrict const to = streams ? row : out;
        prefetch_row(c + AHEAD * q_j, I);
        #pragma omp simd
        for (int64_t i = 0; i < I; ++i) to[i] = c[i + 1] + c[i - 1] + n[i] + s[i] - R(4.0) * c[i];
        if (streams) stream_row(out, row, I);
      }
    }
    _mm_sfence();
    free(row);
  }
  return status;
}
