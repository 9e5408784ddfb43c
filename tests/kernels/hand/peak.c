/* As many multiplications and additions as the machine does: the flat part of the roofline. Each level of the domain
   is a turn of every thread, and a turn is OPERATIONS of them. */
#include "hand.h"

/* So many vectors of a cache line are under way at once: more than additions take to come back. */
#define VECTORS 16
/* OPERATIONS = 2 * VECTORS * TURNS * elements of a cache line */
#define TURNS 1000

int32_t isobar_run(const isobar_call *call)
{
  const int64_t K = call->domain[2];
  real *const out = call->fields[1].data;
  #pragma omp parallel num_threads(threads_of(call))
  {
    real at[VECTORS][ALIGNMENT / sizeof(real)] __attribute__((aligned(ALIGNMENT)));
    for (int n = 0; n < VECTORS; ++n)
      for (int64_t i = 0; i < PER_LINE; ++i) at[n][i] = R(1.0) + (real)(n + i);
#if defined(__AVX512F__)
#define VECTOR __attribute__((vector_size(64), aligned(64)))
#else
#define VECTOR __attribute__((vector_size(32), aligned(32)))
#endif
    typedef real vector VECTOR;
    enum { N = VECTORS * ALIGNMENT / sizeof(vector) };
    vector x[N];
    memcpy(x, at, sizeof x);
    for (int64_t k = 0; k < K; ++k) {
      for (int turn = 0; turn < TURNS; ++turn) {
        #pragma GCC unroll 32
        for (int n = 0; n < (int)N; ++n) x[n] = x[n] * R(0.999) + R(0.001);
      }
    }
    memcpy(at, x, sizeof x);
    real sum = R(0.0);
    for (int n = 0; n < VECTORS; ++n)
      for (int64_t i = 0; i < PER_LINE; ++i) sum += at[n][i];
    #pragma omp critical
    out[0] = sum;
  }
  return 0;
}
