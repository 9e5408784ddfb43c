/* Column physics with the system's vector mathematics: what depends on the level alone is computed once for it;
   blocks of a row take Newton's steps together, until none of them needs another; all of a column happens while it
   lies in the second cache. To be compiled with -ffast-math, without which gcc does not call that mathematics. */
#include "hand.h"

#define GRAV R(9.80665)
#define RDGAS R(287.05)
#define ES_A R(17.67)
#define ES_B R(29.65)
#define E00 R(611.2)
#define TICE R(273.15)
#define EPS R(287.05 / 461.50)
#define LCP R(2.5e6 / 1004.6)
#define KAPPA R(287.05 / 1004.6)

/* Points that take steps together. */
#ifndef WIDTH
#define WIDTH 64
#endif
/* Points of a row whose columns are done before the next begin. */
#ifndef CHUNK
#define CHUNK 128
#endif

static inline real exponential(real x) { return sizeof x == sizeof(float) ? (real)expf((float)x) : (real)exp((double)x); }
static inline real power(real x, real y)
{
  return sizeof x == sizeof(float) ? (real)powf((float)x, (float)y) : (real)pow((double)x, (double)y);
}
static inline real logarithm(real x) { return sizeof x == sizeof(float) ? (real)logf((float)x) : (real)log((double)x); }

/* Condenses or evaporates until a block is just saturated. */
static inline void adjust(int64_t n, real pressure, real exner, const real *restrict theta, real *restrict qv,
                          real *restrict qc, real *restrict t)
{
  real before[WIDTH], now[WIDTH], vapour[WIDTH];
  /* Points behind the end of a row do as the last one does. */
  for (int64_t i = 0; i < WIDTH; ++i) {
    const int64_t at = i < n ? i : n - 1;
    before[i] = theta[at] * exner;
    now[i] = before[i];
    vapour[i] = qv[at];
  }
  real last[WIDTH];
  for (int i = 0; i < WIDTH; ++i) last[i] = R(1.0);
  for (int turn = 0; turn < 12; ++turn) {
    real largest = R(0.0);
    /* Each part waits for itself: in loops of their own more points are under way. */
    real of[WIDTH], per_b[WIDTH];
    #pragma omp simd
    for (int i = 0; i < WIDTH; ++i) {
      per_b[i] = R(1.0) / (now[i] - ES_B);
      of[i] = ES_A * (now[i] - TICE) * per_b[i];
    }
    #pragma omp simd
    for (int i = 0; i < WIDTH; ++i) of[i] = exponential(of[i]);
    #pragma omp simd reduction(max : largest)
    for (int i = 0; i < WIDTH; ++i) {
      const bool goes_on = magnitude(last[i]) > R(1.0e-3);
      const real es = E00 * of[i];
      const real dry = R(1.0) / (pressure - es);
      const real qs = EPS * es * dry;
      const real slope = qs * pressure * dry * (ES_A * (TICE - ES_B)) * (per_b[i] * per_b[i]);
      const real step = (now[i] - before[i] - LCP * (vapour[i] - qs)) / (R(1.0) + LCP * slope);
      now[i] = goes_on ? now[i] - step : now[i];
      last[i] = goes_on ? step : last[i];
      largest = larger(largest, magnitude(last[i]));
    }
    if (!(largest > R(1.0e-3))) break;
  }
  real condensed[WIDTH];
  for (int i = 0; i < WIDTH; ++i) condensed[i] = (now[i] - before[i]) * (R(1.0) / LCP);
  for (int64_t i = 0; i < n; ++i) {
    const real c = larger(condensed[i], -qc[i]);
    t[i] = before[i] + LCP * c;
    qv[i] -= c;
    qc[i] += c;
  }
}

int32_t isobar_run(const isobar_call *call)
{
  const int64_t I = call->domain[0], J = call->domain[1], K = call->domain[2];
  real *restrict const theta = FIELD(0), *restrict const qv = FIELD(1), *restrict const qc = FIELD(2);
  const real *restrict const p_face = FIELD(3);
  real *restrict const precip = FIELD(4), *restrict const cloud_top = FIELD(5);
  const int64_t theta_j = STRIDE_J(0), theta_k = STRIDE_K(0), qv_j = STRIDE_J(1), qv_k = STRIDE_K(1);
  const int64_t qc_j = STRIDE_J(2), qc_k = STRIDE_K(2), p_k = STRIDE_K(3);
  const int64_t precip_j = STRIDE_J(4), top_j = STRIDE_J(5);
  const real dt = SCALAR(0);
  /* What depends on the level alone. */
  real *const levels = malloc((size_t)(3 * K) * sizeof(real));
  if (levels == NULL) return 2;
  real *const thickness = levels, *const pressure = levels + K, *const exner = levels + 2 * K;
  for (int64_t k = 0; k < K; ++k) {
    const real above = p_face[k * p_k], below = p_face[(k + 1) * p_k];
    thickness[k] = logarithm(below / above);
    pressure[k] = (below - above) / thickness[k];
    exner[k] = power(pressure[k] / R(1.0e5), KAPPA);
  }
  const real rains_out = R(1.0) - exponential(R(-1.0e-3) * dt);
  int32_t status = 0;
  #pragma omp parallel num_threads(threads_of(call)) reduction(max : status)
  {
    const int64_t length = row_length(CHUNK);
    real *const t = rows(K + 1, CHUNK);
    real *const height = t + K * length;
    if (t == NULL) status = 2;
    /* Some columns take more steps than others. */
    #pragma omp for schedule(dynamic, 1) collapse(2)
    for (int64_t j = 0; j < J; ++j) {
      for (int64_t start = 0; start < I; start += CHUNK) {
        if (t == NULL) continue;
        const int64_t n = least(CHUNK, I - start);
        real *restrict const rain_at_ground = precip + j * precip_j + start;
        real *restrict const top = cloud_top + j * top_j + start;
        for (int64_t k = 0; k < K; ++k) {
          const real *restrict const th = theta + j * theta_j + k * theta_k + start;
          real *restrict const v = qv + j * qv_j + k * qv_k + start, *restrict const c = qc + j * qc_j + k * qc_k + start;
          real *restrict const tk = t + k * length;
          for (int64_t i = 0; i < n; i += WIDTH) {
            adjust(least(WIDTH, n - i), pressure[k], exner[k], th + i, v + i, c + i, tk + i);
          }
          if (k == 0) {
            for (int64_t i = 0; i < n; ++i) rain_at_ground[i] = R(0.0);
            continue;
          }
          const real mass = (p_face[(k + 1) * p_k] - p_face[k * p_k]) / GRAV, per_mass = R(1.0) / mass;
          const real p = pressure[k];
          #pragma omp simd
          for (int64_t i = 0; i < n; ++i) {
            const real cloud = c[i];
            const real slowly = (cloud - R(5.0e-4)) * rains_out, at_once = cloud - R(5.0e-4);
            const real some = cloud > R(5.0e-4) ? slowly : R(0.0);
            const real rain = cloud > R(2.0e-3) ? at_once : some;
            c[i] = cloud - rain;
            const real es = E00 * exponential(ES_A * (tk[i] - TICE) / (tk[i] - ES_B));
            const real qs = EPS * es / (p - es);
            const real dryness = larger(R(1.0) - v[i] / qs, R(0.0));
            const real fallen = rain_at_ground[i];
            const real evaporated = smaller(R(2.0e-4) * dt * dryness * power(fallen, R(0.525)), fallen);
            v[i] += evaporated * per_mass;
            tk[i] -= LCP * evaporated * per_mass;
            rain_at_ground[i] = fallen + rain * mass - evaporated;
          }
        }
        for (int64_t k = K - 1; k >= 0; --k) {
          real *restrict const th = theta + j * theta_j + k * theta_k + start;
          const real *restrict const c = qc + j * qc_j + k * qc_k + start, *restrict const tk = t + k * length;
          const real per_exner = R(1.0) / exner[k], metres = RDGAS / GRAV * thickness[k];
          if (k == K - 1) {
            #pragma omp simd
            for (int64_t i = 0; i < n; ++i) {
              th[i] = tk[i] * per_exner;
              height[i] = tk[i] * metres;
              top[i] = c[i] > R(1.0e-6) ? height[i] : R(0.0);
            }
          } else {
            #pragma omp simd
            for (int64_t i = 0; i < n; ++i) {
              th[i] = tk[i] * per_exner;
              height[i] += tk[i] * metres;
              top[i] = c[i] > R(1.0e-6) ? height[i] : top[i];
            }
          }
        }
      }
    }
    free(t);
  }
  free(levels);
  return status;
}
