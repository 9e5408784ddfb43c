/* The chain of ten stages: one pass over each plane, and nothing computed twice. Stages that read the one before
   along j run rows ahead of those that read them, and keep as many rows as are read, all in the first cache; what
   reads nothing beside the point shares a loop. */
#include "hand.h"

/* Rows that are asked for before they are read. */
#ifndef AHEAD
#define AHEAD 8
#endif

#define P1 R(7.0 / 12.0)
#define P2 R(-1.0 / 12.0)

/* Points beside a row. */
#define BESIDE (2 * PER_LINE)

static inline real edge(real a, real b, real c, real d) { return P1 * (b + c) + P2 * (a + d); }

/* What crosses a face between two cells, from their values and those of the faces: of the cell upwind only. */
static inline real flux(real c, real q_before, real q, real face_before, real face, real face_behind)
{
  const bool is_positive = c > R(0.0);
  const real size = magnitude(c);
  const real cell = is_positive ? q_before : q;
  const real l = (is_positive ? face_before : face) - cell, r = (is_positive ? face : face_behind) - cell;
  return c * (cell + (R(1.0) - size) * ((is_positive ? r : l) - size * (l + r)));
}

struct rows_of {
  /* Along j of `q`, columns -3 to I + 2. */
  real *edge_y[3], *fy_inner[2];
  real *q_i;
  /* Along i of what that leaves. */
  real *edge_qi, *fx_outer;
  /* Along i of `q`. */
  real *edge_x, *fx_inner[4];
  /* Along j of what that leaves. */
  real *q_j[4], *edge_qj[3], *fy_outer[2];
  real *out;
};

#define ROWS 23

static void lay_out(struct rows_of *rows, real *memory, int64_t length)
{
  real *next = memory + BESIDE;
  #define ROW(it) ((it) = next, next += length)
  for (int n = 0; n < 3; ++n) ROW(rows->edge_y[n]);
  for (int n = 0; n < 2; ++n) ROW(rows->fy_inner[n]);
  ROW(rows->q_i);
  ROW(rows->edge_qi);
  ROW(rows->fx_outer);
  ROW(rows->edge_x);
  for (int n = 0; n < 4; ++n) ROW(rows->fx_inner[n]);
  for (int n = 0; n < 4; ++n) ROW(rows->q_j[n]);
  for (int n = 0; n < 3; ++n) ROW(rows->edge_qj[n]);
  for (int n = 0; n < 2; ++n) ROW(rows->fy_outer[n]);
  ROW(rows->out);
  #undef ROW
}

int32_t isobar_run(const isobar_call *call)
{
  const int64_t I = call->domain[0], J = call->domain[1], K = call->domain[2];
  const real *restrict const q_field = FIELD(0), *restrict const crx_field = FIELD(1), *restrict const cry_field = FIELD(2);
  const real *restrict const area_field = FIELD(3);
  real *restrict const q_out = FIELD(4);
  const int64_t q_j = STRIDE_J(0), q_k = STRIDE_K(0), crx_j = STRIDE_J(1), crx_k = STRIDE_K(1);
  const int64_t cry_j = STRIDE_J(2), cry_k = STRIDE_K(2), area_j = STRIDE_J(3), out_j = STRIDE_J(4), out_k = STRIDE_K(4);
  const bool streams = is_beyond_cache(call, 4);
  int32_t status = 0;
  #pragma omp parallel num_threads(threads_of(call)) reduction(max : status)
  {
    const int64_t length = row_length(I + 2 * BESIDE);
    real *const memory = rows(ROWS, I + 2 * BESIDE);
    if (memory == NULL) status = 2;
    struct rows_of rows = {.out = NULL};
    if (memory != NULL) lay_out(&rows, memory, length);
    #pragma omp for schedule(static)
    for (int64_t k = 0; k < K; ++k) {
      if (memory == NULL) continue;
      /* Row j of the result needs row j + 3 of `q_j`, row j + 2 of the faces, row j + 1 of the fluxes. */
      for (int64_t j = -6; j < J; ++j) {
        const real *restrict const q0 = q_field + j * q_j + k * q_k;
        const real *restrict const q1 = q0 + q_j, *restrict const q2 = q1 + q_j, *restrict const q3 = q2 + q_j;
        const real *restrict const crx3 = crx_field + (j + 3) * crx_j + k * crx_k;
        const real *restrict const crx0 = crx_field + j * crx_j + k * crx_k;
        const real *restrict const cry0 = cry_field + j * cry_j + k * cry_k, *restrict const cry1 = cry0 + cry_j;
        /* Rows of rings; + 12 keeps numbers positive. */
        const int at2 = (int)((j + 12) % 2), at3 = (int)((j + 12) % 3), at4 = (int)((j + 12) % 4);
        const real *restrict const ey0 = rows.edge_y[at3], *restrict const ey1 = rows.edge_y[(at3 + 1) % 3];
        real *restrict const ey2 = rows.edge_y[(at3 + 2) % 3];
        const real *restrict const fyi0 = rows.fy_inner[at2];
        real *restrict const fyi1 = rows.fy_inner[1 - at2];
        real *restrict const qi = rows.q_i, *restrict const eqi = rows.edge_qi, *restrict const fxo = rows.fx_outer;
        real *restrict const ex = rows.edge_x, *restrict const fxi3 = rows.fx_inner[(at4 + 3) % 4];
        const real *restrict const fxi0 = rows.fx_inner[at4];
        const real *restrict const qj0 = rows.q_j[at4], *restrict const qj1 = rows.q_j[(at4 + 1) % 4];
        const real *restrict const qj2 = rows.q_j[(at4 + 2) % 4];
        real *restrict const qj3 = rows.q_j[(at4 + 3) % 4];
        const real *restrict const eqj0 = rows.edge_qj[at3], *restrict const eqj1 = rows.edge_qj[(at3 + 1) % 3];
        real *restrict const eqj2 = rows.edge_qj[(at3 + 2) % 3];
        const real *restrict const fyo0 = rows.fy_outer[at2];
        real *restrict const fyo1 = rows.fy_outer[1 - at2];

        prefetch_row(q3 + AHEAD * q_j, I);
        prefetch_row(crx3 + AHEAD * crx_j, I);
        prefetch_row(cry1 + AHEAD * cry_j, I);

        /* Faces of row j + 2 along j, fluxes of row j + 1, and what they leave of row j. */
        if (j >= 0) {
          #pragma omp simd
          for (int64_t i = -3; i < I + 3; ++i) {
            const real face = edge(q0[i], q1[i], q2[i], q3[i]);
            ey2[i] = face;
            const real fy = flux(cry1[i], q0[i], q1[i], ey0[i], ey1[i], face);
            fyi1[i] = fy;
            qi[i] = (q0[i] + fyi0[i] - fy) / (R(1.0) + cry0[i] - cry1[i]);
          }
        } else if (j >= -3) {
          #pragma omp simd
          for (int64_t i = -3; i < I + 3; ++i) {
            const real face = edge(q0[i], q1[i], q2[i], q3[i]);
            ey2[i] = face;
            if (j == -1) fyi1[i] = flux(cry1[i], q0[i], q1[i], ey0[i], ey1[i], face);
          }
        }
        /* Faces along i: of row j + 3 of `q`, of row j of what was left. */
        if (j >= 0) {
          #pragma omp simd
          for (int64_t i = -1; i < I + 2; ++i) {
            ex[i] = edge(q3[i - 2], q3[i - 1], q3[i], q3[i + 1]);
            eqi[i] = edge(qi[i - 2], qi[i - 1], qi[i], qi[i + 1]);
          }
          #pragma omp simd
          for (int64_t i = 0; i < I + 1; ++i) {
            fxi3[i] = flux(crx3[i], q3[i - 1], q3[i], ex[i - 1], ex[i], ex[i + 1]);
            fxo[i] = flux(crx0[i], qi[i - 1], qi[i], eqi[i - 1], eqi[i], eqi[i + 1]);
          }
        } else {
          #pragma omp simd
          for (int64_t i = -1; i < I + 2; ++i) ex[i] = edge(q3[i - 2], q3[i - 1], q3[i], q3[i + 1]);
          #pragma omp simd
          for (int64_t i = 0; i < I + 1; ++i) {
            fxi3[i] = flux(crx3[i], q3[i - 1], q3[i], ex[i - 1], ex[i], ex[i + 1]);
          }
        }
        /* What those leave of row j + 3, faces of row j + 2 along j, fluxes of row j + 1, the result of row j. */
        if (j >= 0) {
          const real *restrict const area = area_field + j * area_j;
          real *const out = q_out + j * out_j + k * out_k;
          real *restrict const to = streams ? rows.out : out;
          #pragma omp simd
          for (int64_t i = 0; i < I; ++i) {
            const real left = (q3[i] + fxi3[i] - fxi3[i + 1]) / (R(1.0) + crx3[i] - crx3[i + 1]);
            qj3[i] = left;
            const real face = edge(qj0[i], qj1[i], qj2[i], left);
            eqj2[i] = face;
            const real fy = flux(cry1[i], qj0[i], qj1[i], eqj0[i], eqj1[i], face);
            fyo1[i] = fy;
            const real west = R(0.5) * (fxo[i] + fxi0[i]), east = R(0.5) * (fxo[i + 1] + fxi0[i + 1]);
            const real south = R(0.5) * (fyo0[i] + fyi0[i]), north = R(0.5) * (fy + fyi1[i]);
            to[i] = q0[i] + (west - east + south - north) / area[i];
          }
          if (streams) stream_row(out, rows.out, I);
        } else {
          #pragma omp simd
          for (int64_t i = 0; i < I; ++i) {
            const real left = (q3[i] + fxi3[i] - fxi3[i + 1]) / (R(1.0) + crx3[i] - crx3[i + 1]);
            qj3[i] = left;
            if (j >= -3) {
              const real face = edge(qj0[i], qj1[i], qj2[i], left);
              eqj2[i] = face;
              if (j == -1) fyo1[i] = flux(cry1[i], qj0[i], qj1[i], eqj0[i], eqj1[i], face);
            }
          }
        }
      }
    }
    _mm_sfence();
    free(memory);
  }
  return status;
}
