/* What the hand-written kernels for fields along k share: columns lie side by side, k the fastest. */
#include "../hand.h"

#define STRIDE_I(n) (call->fields[n].stride[0])

#if defined(__AVX512F__)
/* Eight rows of eight doubles become eight columns. */
static inline void transpose_8x8(__m512d r[8])
{
  __m512d t[8], u[8];
  for (int n = 0; n < 8; n += 2) {
    t[n] = _mm512_unpacklo_pd(r[n], r[n + 1]);
    t[n + 1] = _mm512_unpackhi_pd(r[n], r[n + 1]);
  }
  const __m512i low = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0), high = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
  for (int n = 0; n < 8; n += 4) {
    u[n] = _mm512_permutex2var_pd(t[n], low, t[n + 2]);
    u[n + 1] = _mm512_permutex2var_pd(t[n + 1], low, t[n + 3]);
    u[n + 2] = _mm512_permutex2var_pd(t[n], high, t[n + 2]);
    u[n + 3] = _mm512_permutex2var_pd(t[n + 1], high, t[n + 3]);
  }
  for (int n = 0; n < 4; ++n) {
    /* Of u[n] the halves hold columns n and n + 4 of rows 0 to 3, of u[n + 4] those of rows 4 to 7. */
    r[n] = _mm512_shuffle_f64x2(u[n], u[n + 4], 0x44);
    r[n + 4] = _mm512_shuffle_f64x2(u[n], u[n + 4], 0xee);
  }
}
#endif

/* Columns that are done side by side. */
#define COLUMNS 8

/* Levels `k` to `k + n` of so many columns, `stride` apart, into rows of COLUMNS columns, one for each level. */
static inline void load_columns(real *restrict to, const real *restrict from, int64_t stride, int64_t columns, int64_t n)
{
  int64_t k = 0;
#if defined(__AVX512F__)
  if (sizeof(real) == 8 && columns == COLUMNS) {
    for (; k + 8 <= n; k += 8) {
      __m512d r[8];
      for (int c = 0; c < 8; ++c) r[c] = _mm512_loadu_pd((const void *)(from + c * stride + k));
      transpose_8x8(r);
      for (int c = 0; c < 8; ++c) _mm512_storeu_pd((void *)(to + (k + c) * COLUMNS), r[c]);
    }
  }
#endif
  for (; k < n; ++k) {
    for (int64_t c = 0; c < columns; ++c) to[k * COLUMNS + c] = from[c * stride + k];
  }
}

/* The way back. */
static inline void store_columns(real *restrict to, const real *restrict from, int64_t stride, int64_t columns, int64_t n)
{
  int64_t k = 0;
#if defined(__AVX512F__)
  if (sizeof(real) == 8 && columns == COLUMNS) {
    for (; k + 8 <= n; k += 8) {
      __m512d r[8];
      for (int c = 0; c < 8; ++c) r[c] = _mm512_loadu_pd((const void *)(from + (k + c) * COLUMNS));
      transpose_8x8(r);
      for (int c = 0; c < 8; ++c) _mm512_storeu_pd((void *)(to + c * stride + k), r[c]);
    }
  }
#endif
  for (; k < n; ++k) {
    for (int64_t c = 0; c < columns; ++c) to[c * stride + k] = from[k * COLUMNS + c];
  }
}
