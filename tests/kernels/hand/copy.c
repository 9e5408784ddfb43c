/* Copy: rows shared by the threads, past the caches where both fields together do not fit. */
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
  #pragma omp parallel num_threads(threads_of(call))
  {
    #pragma omp for schedule(static) collapse(2)
    for (int64_t k = 0; k < K; ++k) {
      for (int64_t j = 0; j < J; ++j) {
        const real *restrict const from = q + j * q_j + k * q_k;
        real *restrict const to = q_out + j * out_j + k * out_k;
        prefetch_row(from + AHEAD * q_j, I);
        if (streams) {
          stream_row(to, from, I);
        } else {
          #pragma omp simd
          for (int64_t i = 0; i < I; ++i) to[i] = from[i];
        }
      }
    }
    _mm_sfence();
  }
  return 0;
}
