/* Tridiagonal systems: blocks of rows small enough that what elimination leaves of all levels stays in the second
   cache until substitution reads it; along i eight columns or more at a time. */
#include "hand.h"

/* What elimination leaves of a block: two numbers for each point. */
#ifndef BLOCK_BYTES
#define BLOCK_BYTES (256 << 10)
#endif

int32_t isobar_run(const isobar_call *call)
{
  const int64_t I = call->domain[0], J = call->domain[1], K = call->domain[2];
  const real *restrict const lower = FIELD(0), *restrict const diagonal = FIELD(1);
  const real *restrict const upper = FIELD(2), *restrict const rhs = FIELD(3);
  real *restrict const x = FIELD(4);
  const int64_t l_j = STRIDE_J(0), l_k = STRIDE_K(0), d_j = STRIDE_J(1), d_k = STRIDE_K(1);
  const int64_t u_j = STRIDE_J(2), u_k = STRIDE_K(2), r_j = STRIDE_J(3), r_k = STRIDE_K(3);
  const int64_t x_j = STRIDE_J(4), x_k = STRIDE_K(4);
  const bool streams = is_beyond_cache(call, 5);
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
    real *const ratio = memory, *const value = memory + K * block * length;
    real *const last = memory + 2 * K * block * length;
    #pragma omp for schedule(static)
    for (int64_t start = 0; start < J; start += block) {
      if (memory == NULL) continue;
      const int64_t height = least(block, J - start);
      for (int64_t k = 0; k < K; ++k) {
        for (int64_t j = 0; j < height; ++j) {
          const real *restrict const l = lower + (start + j) * l_j + k * l_k;
          const real *restrict const d = diagonal + (start + j) * d_j + k * d_k;
          const real *restrict const u = upper + (start + j) * u_j + k * u_k;
          const real *restrict const r = rhs + (start + j) * r_j + k * r_k;
          real *restrict const c = ratio + (k * block + j) * length, *restrict const v = value + (k * block + j) * length;
          prefetch_row(l + l_k, I);
          prefetch_row(d + d_k, I);
          prefetch_row(u + u_k, I);
          prefetch_row(r + r_k, I);
          if (k == 0) {
            #pragma omp simd
            for (int64_t i = 0; i < I; ++i) {
              c[i] = u[i] / d[i];
              v[i] = r[i] / d[i];
            }
          } else {
            const real *restrict const above = c - block * length, *restrict const v_above = v - block * length;
            #pragma omp simd
            for (int64_t i = 0; i < I; ++i) {
              const real pivot = d[i] - l[i] * above[i];
              c[i] = u[i] / pivot;
              v[i] = (r[i] - l[i] * v_above[i]) / pivot;
            }
          }
        }
      }
      for (int64_t k = K - 1; k >= 0; --k) {
        for (int64_t j = 0; j < height; ++j) {
          const real *restrict const c = ratio + (k * block + j) * length, *restrict const v = value + (k * block + j) * length;
          real *restrict const below = last + j * length;
          real *restrict const out = x + (start + j) * x_j + k * x_k;
          if (k == K - 1) {
            #pragma omp simd
            for (int64_t i = 0; i < I; ++i) below[i] = v[i];
          } else {
            #pragma omp simd
            for (int64_t i = 0; i < I; ++i) below[i] = v[i] - c[i] * below[i];
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
