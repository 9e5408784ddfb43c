/* What the hand-written kernels share: how they are called, which is how generated code is called, the type of
   their elements, rows, and stores that go past the caches. */
#include "abi.h"

#include <immintrin.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#ifndef REAL
#define REAL double
#endif
typedef REAL real;

/* Literals take the type of the fields. */
#define R(x) ((real)(x))

#define ALIGNMENT 64
#define PER_LINE ((int64_t)(ALIGNMENT / sizeof(real)))

/* The fields of a call, in the order of the stencil's parameters; along i neighbours lie side by side. */
#define FIELD(n) ((real *restrict)call->fields[n].data)
#define STRIDE_J(n) (call->fields[n].stride[1])
#define STRIDE_K(n) (call->fields[n].stride[2])
#define SCALAR(n) (*(const real *)call->scalars[n])

static inline int threads_of(const isobar_call *call)
{
  return call->threads > 0 ? (int)call->threads : omp_get_max_threads();
}

static inline int64_t least(int64_t a, int64_t b) { return b < a ? b : a; }

static inline real magnitude(real x) { return sizeof x == sizeof(float) ? (real)__builtin_fabsf((float)x) : (real)__builtin_fabs((double)x); }
static inline real larger(real a, real b) { return a > b ? a : b; }
static inline real smaller(real a, real b) { return a < b ? a : b; }

/* Whether so many bytes of all fields together are more than the last cache keeps from one call to the next. Only
   then is it cheaper to write past the caches, which saves reading what is overwritten. */
#ifndef STREAM_FROM
#define STREAM_FROM (16u << 20)
#endif
static inline bool is_beyond_cache(const isobar_call *call, int fields)
{
  const int64_t points = call->domain[0] * call->domain[1] * call->domain[2];
  return (uint64_t)(points * fields) * sizeof(real) > STREAM_FROM;
}

/* Writes a row past the caches. */
static inline void stream_row(real *restrict to, const real *restrict from, int64_t n)
{
  int64_t i = 0;
  for (; i < n && (uintptr_t)(to + i) % ALIGNMENT != 0; ++i) to[i] = from[i];
#if defined(__AVX512F__)
  for (; i + PER_LINE <= n; i += PER_LINE) {
    _mm512_stream_si512((void *)(to + i), _mm512_loadu_si512((const void *)(from + i)));
  }
#elif defined(__AVX__)
  for (; i + PER_LINE / 2 <= n; i += PER_LINE / 2) {
    _mm256_stream_si256((void *)(to + i), _mm256_loadu_si256((const void *)(from + i)));
  }
#endif
  for (; i < n; ++i) to[i] = from[i];
}

/* Asks for a row of which nothing was read yet: what the processor asks for on its own ends where a row does. */
static inline void prefetch_row(const real *from, int64_t n)
{
  for (int64_t i = 0; i < n; i += PER_LINE) __builtin_prefetch(from + i, 0, 3);
}

/* So many rows of `length` elements for each thread, all of which start at a cache line; row `r` of the result
   starts at `r * row_length(length)`. */
static inline int64_t row_length(int64_t length)
{
  return (length + PER_LINE - 1) / PER_LINE * PER_LINE + PER_LINE;
}

static inline real *rows(int64_t count, int64_t length)
{
  void *memory = NULL;
  const size_t bytes = (size_t)(count * row_length(length)) * sizeof(real);
  return posix_memalign(&memory, ALIGNMENT, bytes) == 0 ? memory : NULL;
}
