/* Tridiagonal systems on fields along k: eight columns at a time, transposed in registers by blocks of eight levels. */
#include "along_k.h"

int32_t isobar_run(const isobar_call *call)
{
  const int64_t I = call->domain[0], J = call->domain[1], K = call->domain[2];
  const real *restrict const lower = FIELD(0), *restrict const diagonal = FIELD(1);
  const real *restrict const upper = FIELD(2), *restrict const rhs = FIELD(3);
  real *restrict const x = FIELD(4);
  int32_t status = 0;
  #pragma omp parallel num_threads(threads_of(call)) reduction(max : status)
  {
    real *const memory = rows(6, K * COLUMNS);
    if (memory == NULL) status = 2;
    const int64_t length = row_length(K * COLUMNS);
    real *restrict const l = memory, *restrict const d = memory + length, *restrict const u = memory + 2 * length;
    real *restrict const r = memory + 3 * length, *restrict const c = memory + 4 * length;
    real *restrict const v = memory + 5 * length;
    #pragma omp for schedule(static) collapse(2)
    for (int64_t start = 0; start < I; start += COLUMNS) {
      for (int64_t j = 0; j < J; ++j) {
        if (memory == NULL) continue;
        const int64_t columns = least(COLUMNS, I - start);
        load_columns(l, lower + start * STRIDE_I(0) + j * STRIDE_J(0), STRIDE_I(0), columns, K);
        load_columns(d, diagonal + start * STRIDE_I(1) + j * STRIDE_J(1), STRIDE_I(1), columns, K);
        load_columns(u, upper + start * STRIDE_I(2) + j * STRIDE_J(2), STRIDE_I(2), columns, K);
        load_columns(r, rhs + start * STRIDE_I(3) + j * STRIDE_J(3), STRIDE_I(3), columns, K);
        for (int64_t n = 0; n < COLUMNS; ++n) {
          c[n] = u[n] / d[n];
          v[n] = r[n] / d[n];
        }
        for (int64_t k = 1; k < K; ++k) {
          #pragma omp simd
          for (int64_t n = k * COLUMNS; n < (k + 1) * COLUMNS; ++n) {
            const real pivot = d[n] - l[n] * c[n - COLUMNS];
            c[n] = u[n] / pivot;
            v[n] = (r[n] - l[n] * v[n - COLUMNS]) / pivot;
          }
        }
        for (int64_t k = K - 2; k >= 0; --k) {
          #pragma omp simd
          for (int64_t n = k * COLUMNS; n < (k + 1) * COLUMNS; ++n) v[n] = v[n] - c[n] * v[n + COLUMNS];
        }
        store_columns(x + start * STRIDE_I(4) + j * STRIDE_J(4), v, STRIDE_I(4), columns, K);
      }
    }
    free(memory);
  }
  return status;
}
