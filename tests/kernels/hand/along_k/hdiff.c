/* Horizontal diffusion on fields along k: tiles of columns along i, through which rows of columns go along j. Of the
   Laplacian two rows of a tile are kept, of the fluxes along j one; those along i are computed from it at once. */
#include "along_k.h"

/* Columns of a tile along i. */
#ifndef TILE
#define TILE 16
#endif

static inline real limited(real flux, real gradient) { return flux * gradient > R(0.0) ? R(0.0) : flux; }

int32_t isobar_run(const isobar_call *call)
{
  const int64_t I = call->domain[0], J = call->domain[1], K = call->domain[2];
  const real *restrict const q = FIELD(0), *restrict const coeff = FIELD(1);
  real *restrict const q_out = FIELD(2);
  const int64_t q_i = STRIDE_I(0), q_j = STRIDE_J(0), coeff_i = STRIDE_I(1), coeff_j = STRIDE_J(1);
  const int64_t out_i = STRIDE_I(2), out_j = STRIDE_J(2);
  const real alpha = SCALAR(0);
  const bool streams = is_beyond_cache(call, 3);
  const int64_t length = row_length(K);
  int32_t status = 0;
  #pragma omp parallel num_threads(threads_of(call)) reduction(max : status)
  {
    real *const memory = rows(2 * (TILE + 2) + TILE + 1, K);
    if (memory == NULL) status = 2;
    real *const laplacian[2] = {memory + length, memory + (TILE + 2 + 1) * length};
    real *const flux_j = memory + 2 * (TILE + 2) * length, *const row = flux_j + TILE * length;
    #pragma omp for schedule(static)
    for (int64_t start = 0; start < I; start += TILE) {
      if (memory == NULL) continue;
      const int64_t width = least(TILE, I - start);
      for (int64_t j = -1; j < J + 1; ++j) {
        real *const lap = laplacian[j & 1];
        const real *const before = laplacian[(j + 1) & 1];
        for (int64_t i = -1; i < width + 1; ++i) {
          const real *restrict const c = q + (start + i) * q_i + j * q_j;
          const real *restrict const e = c + q_i, *restrict const w = c - q_i;
          const real *restrict const n = c + q_j, *restrict const s = c - q_j;
          real *restrict const to = lap + i * length;
          prefetch_row(n + q_j, K);
          #pragma omp simd
          for (int64_t k = 0; k < K; ++k) to[k] = e[k] + w[k] + n[k] + s[k] - R(4.0) * c[k];
        }
        if (j == -1) continue;
        for (int64_t i = 0; i < width; ++i) {
          /* The flux between the rows j - 1 and j, and the result of row j - 1. */
          const real *restrict const here = q + (start + i) * q_i + (j - 1) * q_j;
          const real *restrict const n = here + q_j, *restrict const e = here + q_i, *restrict const w = here - q_i;
          const real *restrict const l = before + i * length, *restrict const l_e = l + length, *restrict const l_w = l - length;
          const real *restrict const l_n = lap + i * length;
          real *restrict const down = flux_j + i * length;
          if (j == 0) {
            #pragma omp simd
            for (int64_t k = 0; k < K; ++k) down[k] = limited(l_n[k] - l[k], n[k] - here[k]);
            continue;
          }
          const real *restrict const co = coeff + (start + i) * coeff_i + (j - 1) * coeff_j;
          real *const out = q_out + (start + i) * out_i + (j - 1) * out_j;
          real *restrict const to = streams ? row : out;
          prefetch_row(co + coeff_j, K);
          #pragma omp simd
          for (int64_t k = 0; k < K; ++k) {
            const real east = limited(l_e[k] - l[k], e[k] - here[k]);
            const real west = limited(l[k] - l_w[k], here[k] - w[k]);
            const real up = limited(l_n[k] - l[k], n[k] - here[k]);
            to[k] = here[k] - alpha * co[k] * (east - west + up - down[k]);
            down[k] = up;
          }
          if (streams) stream_row(out, row, K);
        }
      }
    }
    _mm_sfence();
    free(memory);
  }
  return status;
}
