/* Transport along i: each row by itself, in four loops over rows of the first cache. The faces near the two edges of
   the tile are set apart from the others (of which there are some: I >= 4), and the upwind cell is chosen before anything is computed from it. */
#include "hand.h"

/* Rows that are asked for before they are read. */
#ifndef AHEAD
#define AHEAD 2
#endif

#define NEAR R(7.0 / 12.0)
#define FAR R(-1.0 / 12.0)
#define C1 R(-2.0 / 14.0)
#define C2 R(11.0 / 14.0)
#define C3 R(5.0 / 14.0)
#define STEEPEST R(2.0)

static inline real extrapolated(real near, real far, real dx_near, real dx_far)
{
  return ((R(2.0) * dx_near + dx_far) * near - dx_near * far) / (dx_near + dx_far);
}

static inline real between(real value, real one, real other)
{
  return larger(smaller(one, other), smaller(value, larger(one, other)));
}

int32_t isobar_run(const isobar_call *call)
{
  const int64_t I = call->domain[0], J = call->domain[1], K = call->domain[2];
  const real *restrict const q_field = FIELD(0), *restrict const courant = FIELD(1), *restrict const width = FIELD(2);
  real *restrict const q_out = FIELD(3), *restrict const q_change = FIELD(4);
  const int64_t q_j = STRIDE_J(0), q_k = STRIDE_K(0), c_j = STRIDE_J(1), c_k = STRIDE_K(1), dx_j = STRIDE_J(2);
  const int64_t out_j = STRIDE_J(3), out_k = STRIDE_K(3), change_j = STRIDE_J(4), change_k = STRIDE_K(4);
  const bool streams = is_beyond_cache(call, 4);
  int32_t status = 0;
  #pragma omp parallel num_threads(threads_of(call)) reduction(max : status)
  {
    const int64_t length = row_length(I + 2 * PER_LINE);
    real *const memory = rows(6, I + 2 * PER_LINE);
    if (memory == NULL) status = 2;
    real *restrict const face = memory + PER_LINE, *restrict const left = face + length;
    real *restrict const right = left + length, *restrict const flux = right + length;
    real *const row = flux + length, *const other_row = row + length;
    #pragma omp for schedule(static)
    for (int64_t k = 0; k < K; ++k) {
      if (memory == NULL) continue;
      for (int64_t j = 0; j < J; ++j) {
        const real *restrict const q = q_field + j * q_j + k * q_k;
        const real *restrict const c = courant + j * c_j + k * c_k;
        const real *restrict const dx = width + j * dx_j;
        prefetch_row(q + AHEAD * q_j, I);
        prefetch_row(c + AHEAD * c_j, I);
        #pragma omp simd
        for (int64_t i = -1; i < I + 2; ++i) {
          const real value = NEAR * (q[i - 1] + q[i]) + FAR * (q[i - 2] + q[i + 1]);
          face[i] = between(value, q[i - 1], q[i]);
        }
        /* From two cells on each side, of which the nearer is the second and the third number. */
        const int64_t edges[2] = {0, I};
        for (int edge = 0; edge < 2; ++edge) {
          const real *const at = q + edges[edge], *const dx_at = dx + edges[edge];
          real *const face_at = face + edges[edge];
          face_at[-1] = between(C1 * at[-3] + C2 * at[-2] + C3 * at[-1], at[-2], at[-1]);
          const real west = extrapolated(at[-1], at[-2], dx_at[-1], dx_at[-2]);
          const real east = extrapolated(at[0], at[1], dx_at[0], dx_at[1]);
          face_at[0] = between(R(0.5) * (west + east), at[-1], at[0]);
          face_at[1] = between(C3 * at[0] + C2 * at[1] + C1 * at[2], at[0], at[1]);
        }
        #pragma omp simd
        for (int64_t i = -1; i < I + 1; ++i) {
          const real l = face[i] - q[i], r = face[i + 1] - q[i];
          const bool is_flat = l * r >= R(0.0);
          const bool is_left_steep = magnitude(l) > STEEPEST * magnitude(r), is_right_steep = magnitude(r) > STEEPEST * magnitude(l);
          const real low = is_left_steep ? -STEEPEST * r : l;
          const real high = is_right_steep ? -STEEPEST * l : r;
          left[i] = is_flat ? R(0.0) : low;
          right[i] = is_flat ? R(0.0) : high;
        }
        #pragma omp simd
        for (int64_t i = 0; i < I + 1; ++i) {
          const bool is_west = c[i] > R(0.0);
          const real size = magnitude(c[i]);
          const real cell = is_west ? q[i - 1] : q[i];
          const real l = is_west ? left[i - 1] : left[i], r = is_west ? right[i - 1] : right[i];
          const real mean = cell + (R(1.0) - size) * ((is_west ? r : l) - size * (l + r));
          flux[i] = c[i] * (is_west ? dx[i - 1] : dx[i]) * mean;
        }
        real *const out = q_out + j * out_j + k * out_k, *const change = q_change + j * change_j + k * change_k;
        real *restrict const to = streams ? row : out, *restrict const change_to = streams ? other_row : change;
        #pragma omp simd
        for (int64_t i = 0; i < I; ++i) {
          const real step = (flux[i] - flux[i + 1]) / dx[i];
          change_to[i] = step;
          to[i] = q[i] + step;
        }
        if (streams) {
          stream_row(out, row, I);
          stream_row(change, other_row, I);
        }
      }
    }
    _mm_sfence();
    free(memory);
  }
  return status;
}
