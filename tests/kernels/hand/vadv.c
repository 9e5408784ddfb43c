/* Vertical advection: blocks of rows small enough that what elimination leaves of all levels stays in the second
   cache until substitution reads it. The Courant numbers of one level are kept, as they are those above the next. */
#include "hand.h"

/* What elimination leaves of a block: two numbers for each point. */
#ifndef BLOCK_BYTES
#define BLOCK_BYTES (256 << 10)
#endif

#define IMPLICIT R(0.5 * (1.0 + 0.1))
#define EXPLICIT R(1.0 - 0.5 * (1.0 + 0.1))

int32_t isobar_run(const isobar_call *call)
{
  const int64_t I = call->domain[0], J = call->domain[1], K = call->domain[2];
  const real *restrict const u = FIELD(0), *restrict const w = FIELD(1), *restrict const tendency = FIELD(2);
  const real *restrict const rdz = FIELD(3);
  real *restrict const u_new = FIELD(4);
  const int64_t u_j = STRIDE_J(0), u_k = STRIDE_K(0), w_j = STRIDE_J(1), w_k = STRIDE_K(1);
  const int64_t t_j = STRIDE_J(2), t_k = STRIDE_K(2), rdz_k = STRIDE_K(3), out_j = STRIDE_J(4), out_k = STRIDE_K(4);
  const real dt = SCALAR(0);
  const bool streams = is_beyond_cache(call, 4);
  const int threads = threads_of(call);
  int64_t block = BLOCK_BYTES / (2 * I * K * (int64_t)sizeof(real));
  if (block > (J + threads - 1) / threads) block = (J + threads - 1) / threads;
  if (block < 1) block = 1;
  int32_t status = 0;
  #pragma omp parallel num_threads(threads) reduction(max : status)
  {
    const int64_t length = row_length(I);
    real *const memory = rows((2 * K + 1) * block, I);
    if (memory == NULL) status = 2;
    real *const upper = memory, *const rhs = memory + K * block * length;
    /* Of elimination the Courant numbers above the level at hand, of substitution the solution below it. */
    real *const kept = memory + 2 * K * block * length;
    #pragma omp for schedule(static)
    for (int64_t start = 0; start < J; start += block) {
      if (memory == NULL) continue;
      const int64_t height = least(block, J - start);
      for (int64_t k = 0; k < K; ++k) {
        const real factor = k + 1 < K ? R(0.5) * dt * rdz[(k + 1) * rdz_k] * R(0.5) : R(0.0);
        for (int64_t j = 0; j < height; ++j) {
          const real *restrict const c = u + (start + j) * u_j + k * u_k;
          const real *restrict const wn = w + (start + j) * w_j + (k + 1) * w_k;
          const real *restrict const t = tendency + (start + j) * t_j + k * t_k;
          real *restrict const up = upper + (k * block + j) * length, *restrict const r = rhs + (k * block + j) * length;
          const real *restrict const up_before = up - block * length, *restrict const r_before = r - block * length;
          real *restrict const courant = kept + j * length;
          prefetch_row(c + 2 * u_k, I);
          prefetch_row(wn + w_k, I);
          prefetch_row(t + t_k, I);
          if (k == 0) {
            #pragma omp simd
            for (int64_t i = 0; i < I; ++i) {
              const real above = factor * (wn[i - 1] + wn[i]);
              const real diagonal = R(1.0) - IMPLICIT * above;
              const real explicit = c[i] + dt * t[i] - EXPLICIT * above * (c[i + u_k] - c[i]);
              up[i] = IMPLICIT * above / diagonal;
              r[i] = explicit / diagonal;
              courant[i] = above;
            }
          } else if (k < K - 1) {
            #pragma omp simd
            for (int64_t i = 0; i < I; ++i) {
              const real below = courant[i];
              const real above = factor * (wn[i - 1] + wn[i]);
              const real lower = -IMPLICIT * below;
              const real diagonal = R(1.0) + IMPLICIT * (below - above) - lower * up_before[i];
              const real explicit = c[i] + dt * t[i]
                  - EXPLICIT * (below * (c[i] - c[i - u_k]) + above * (c[i + u_k] - c[i]));
              up[i] = IMPLICIT * above / diagonal;
              r[i] = (explicit - lower * r_before[i]) / diagonal;
              courant[i] = above;
            }
          } else {
            #pragma omp simd
            for (int64_t i = 0; i < I; ++i) {
              const real below = courant[i];
              const real lower = -IMPLICIT * below;
              const real diagonal = R(1.0) + IMPLICIT * below - lower * up_before[i];
              const real explicit = c[i] + dt * t[i] - EXPLICIT * below * (c[i] - c[i - u_k]);
              r[i] = (explicit - lower * r_before[i]) / diagonal;
            }
          }
        }
      }
      for (int64_t k = K - 1; k >= 0; --k) {
        for (int64_t j = 0; j < height; ++j) {
          const real *restrict const up = upper + (k * block + j) * length, *restrict const r = rhs + (k * block + j) * length;
          real *restrict const below = kept + j * length;
          real *restrict const out = u_new + (start + j) * out_j + k * out_k;
          if (k == K - 1) {
            #pragma omp simd
            for (int64_t i = 0; i < I; ++i) below[i] = r[i];
          } else {
            #pragma omp simd
            for (int64_t i = 0; i < I; ++i) below[i] = r[i] - up[i] * below[i];
          }
          if (streams) {
            stream_row(out, below, I);
          } else {
            #pragma omp simd
            for (int64_t i = 0; i < I; ++i) out[i] = below[i];
          }
        }
      }
    }
    _mm_sfence();
    free(memory);
  }
  return status;
}
