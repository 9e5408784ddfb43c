/* Horizontal diffusion: one pass over each plane. Of the Laplacian two rows are kept, of the fluxes along j one;
   those along i are computed from it at once. */
#include "hand.h"

/* Rows that are asked for before they are read. */
#ifndef AHEAD
#define AHEAD 6
#endif

static inline real limited(real flux, real gradient) { return flux * gradient > R(0.0) ? R(0.0) : flux; }

int32_t isobar_run(const isobar_call *call)
{
  const int64_t I = call->domain[0], J = call->domain[1], K = call->domain[2];
  const real *restrict const q = FIELD(0), *restrict const coeff = FIELD(1);
  real *restrict const q_out = FIELD(2);
  const int64_t q_j = STRIDE_J(0), q_k = STRIDE_K(0), coeff_j = STRIDE_J(1), coeff_k = STRIDE_K(1);
  const int64_t out_j = STRIDE_J(2), out_k = STRIDE_K(2);
  const real alpha = SCALAR(0);
  const bool streams = is_beyond_cache(call, 3);
  int32_t status = 0;
  #pragma omp parallel num_threads(threads_of(call)) reduction(max : status)
  {
    const int64_t length = row_length(I + 2 * PER_LINE);
    real *const memory = rows(4, I + 2 * PER_LINE);
    if (memory == NULL) status = 2;
    real *restrict const flux_j = memory + PER_LINE, *const row = memory + length + PER_LINE;
    real *const laplacian[2] = {memory + 2 * length + PER_LINE, memory + 3 * length + PER_LINE};
    #pragma omp for schedule(static)
    for (int64_t k = 0; k < K; ++k) {
      if (memory == NULL) continue;
      /* Before row 0: the Laplacian of rows -1 and 0, and the flux between them. */
      for (int64_t j = -1; j < 1; ++j) {
        const real *restrict const c = q + j * q_j + k * q_k;
        real *restrict const lap = laplacian[j & 1];
        #pragma omp simd
        for (int64_t i = -1; i < I + 1; ++i) {
          lap[i] = c[i + 1] + c[i - 1] + c[i + q_j] + c[i - q_j] - R(4.0) * c[i];
        }
      }
      {
        const real *restrict const c = q + k * q_k;
        const real *restrict const here = laplacian[0], *restrict const south = laplacian[1];
        #pragma omp simd
        for (int64_t i = 0; i < I; ++i) flux_j[i] = limited(here[i] - south[i], c[i] - c[i - q_j]);
      }
      for (int64_t j = 0; j < J; ++j) {
        const real *restrict const c = q + j * q_j + k * q_k;
        const real *restrict const n = c + q_j, *restrict const nn = n + q_j;
        const real *restrict const co = coeff + j * coeff_j + k * coeff_k;
        const real *restrict const here = laplacian[j & 1];
        real *restrict const north = laplacian[(j + 1) & 1];
        real *const out = q_out + j * out_j + k * out_k;
        real *restrict const to = streams ? row : out;
        prefetch_row(c + AHEAD * q_j, I);
        prefetch_row(co + AHEAD * coeff_j, I);
        north[-1] = n[0] + n[-2] + nn[-1] + c[-1] - R(4.0) * n[-1];
        north[I] = n[I + 1] + n[I - 1] + nn[I] + c[I] - R(4.0) * n[I];
        #pragma omp simd
        for (int64_t i = 0; i < I; ++i) {
          const real lap = n[i + 1] + n[i - 1] + nn[i] + c[i] - R(4.0) * n[i];
          north[i] = lap;
          const real east = limited(here[i + 1] - here[i], c[i + 1] - c[i]);
          const real west = limited(here[i] - here[i - 1], c[i] - c[i - 1]);
          const real up = limited(lap - here[i], n[i] - c[i]);
          const real down = flux_j[i];
          flux_j[i] = up;
          to[i] = c[i] - alpha * co[i] * (east - west + up - down);
        }
        if (streams) stream_row(out, row, I);
      }
    }
    _mm_sfence();
    free(memory);
  }
  return status;
}
