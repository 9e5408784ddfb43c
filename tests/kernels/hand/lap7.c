/* Laplacian of seven points: blocks of rows, so that three levels of a block stay in the second cache while k goes
   on and each element comes from memory once. */
#include "hand.h"

/* Rows that are asked for before they are read. */
#ifndef AHEAD
#define AHEAD 8
#endif

/* Rows of a block: three levels of them and what is written are well below the second cache. */
#ifndef BLOCK_BYTES
#define BLOCK_BYTES (160 << 10)
#endif

int32_t isobar_run(const isobar_call *call)
{
  const int64_t I = call->domain[0], J = call->domain[1], K = call->domain[2];
  const real *restrict const q = FIELD(0);
  real *restrict const q_out = FIELD(1);
  const int64_t q_j = STRIDE_J(0), q_k = STRIDE_K(0), out_j = STRIDE_J(1), out_k = STRIDE_K(1);
  const real alpha = SCALAR(0);
  const bool streams = is_beyond_cache(call, 2);
  const int threads = threads_of(call);
  int64_t block = BLOCK_BYTES / (I * (int64_t)sizeof(real));
  if (block < 1) block = 1;
  if (block > J) block = J;
  /* Where there are fewer blocks than threads, levels are shared as well. */
  const int64_t blocks = (J + block - 1) / block;
  const int64_t slabs = blocks % threads == 0 ? 1 : threads;
  int32_t status = 0;
  #pragma omp parallel num_threads(threads) reduction(max : status)
  {
    real *const row = rows(1, I);
    if (row == NULL) status = 2;
    #pragma omp for schedule(static) collapse(2)
    for (int64_t slab = 0; slab < slabs; ++slab) {
      for (int64_t b = 0; b < blocks; ++b) {
        if (row == NULL) continue;
        for (int64_t k = K * slab / slabs; k < K * (slab + 1) / slabs; ++k) {
          const bool is_inside = k > 0 && k < K - 1;
          for (int64_t j = b * block; j < least(J, (b + 1) * block); ++j) {
            const real *restrict const c = q + j * q_j + k * q_k;
            const real *restrict const n = c + q_j, *restrict const s = c - q_j;
            const real *restrict const u = c + q_k, *restrict const d = c - q_k;
            real *const out = q_out + j * out_j + k * out_k;
            real *restrict const to = streams ? row : out;
            prefetch_row(u + AHEAD * q_j, I);
            if (is_inside) {
              #pragma omp simd
              for (int64_t i = 0; i < I; ++i) {
                to[i] = c[i] + alpha * (c[i + 1] + c[i - 1] + n[i] + s[i] + u[i] + d[i] - R(6.0) * c[i]);
              }
            } else {
              #pragma omp simd
              for (int64_t i = 0; i < I; ++i) to[i] = c[i];
            }
            if (streams) stream_row(out, row, I);
          }
        }
      }
    }
    _mm_sfence();
    free(row);
  }
  return status;
}
