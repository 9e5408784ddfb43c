/* Implicit vertical advection by hand, for an H100: what the generated kernel of the gallery's stencil is measured
 * against.
 *
 * A thread has a column, and blocks of 64 columns along i. Going up, a thread keeps what it will need of the next AHEAD
 * levels in registers, as a ring that is moved by copies: a level's loads are on their way while three others are
 * computed. `upper` waits in shared memory, the other half of the eliminated rows in the output's own memory, of which
 * as much is in flight as the second cache holds; going down, both are asked for as far ahead.
 *
 * The expressions are those of `static/gallery/vertical_advection.py`, in their order: the bits are `debug`'s.
 */

template <typename T> struct level {
    /* The vertical wind of the western and of the own column, and what changes on the level. */
    T west, own, u, tendency, rdz;
};

/* Strides of all fields are the same: `stride_j` and `stride_k` elements. Pointers are those of the point (0, 0, 0). A
 * domain has two levels at least. */
template <typename T, int AHEAD>
ISOBAR_INLINE void vadv(const T *__restrict__ u, const T *__restrict__ w, const T *__restrict__ u_tendency,
                        const T *__restrict__ rdz, T *u_new, T dt, int I, int K, int stride_j, int stride_k)
{
    /* 0.5 * (1.0 + 0.1), and what is left of 1. */
    const T implicit = (T)0.55, explicit_ = (T)0.44999999999999996;
    ISOBAR_SHARED_AT(T, upper_of, 0);
    const int thread = (int)threadIdx.x;
    const int i = (int)blockIdx.x * 64 + thread;
    if (i >= I) return;
    const int column = i + (int)blockIdx.y * stride_j;
    level<T> ring[AHEAD];
#pragma unroll
    for (int n = 0; n < AHEAD; ++n) {
        const int k = isobar_least(n + 1, K - 1), at = column + k * stride_k;
        ring[n].rdz = rdz[k];
        ring[n].west = w[at - 1];
        ring[n].own = w[at];
        ring[n].u = u[at];
        ring[n].tendency = u_tendency[at];
    }
    T u_below = (T)0.0, u_here = u[column], tendency = u_tendency[column];
    T below = (T)0.0, upper = (T)0.0, rhs = (T)0.0;
    for (int k = 0; k < K - 1; ++k) {
        const level<T> next = ring[0];
#pragma unroll
        for (int n = 0; n < AHEAD - 1; ++n) ring[n] = ring[n + 1];
        {
            /* At the end the last level is loaded again, which nobody looks at. */
            const int later = isobar_least(k + 1 + AHEAD, K - 1), at = column + later * stride_k;
            ring[AHEAD - 1].rdz = rdz[later];
            ring[AHEAD - 1].west = w[at - 1];
            ring[AHEAD - 1].own = w[at];
            ring[AHEAD - 1].u = u[at];
            ring[AHEAD - 1].tendency = u_tendency[at];
        }
        const T above = (T)0.5 * dt * next.rdz * (T)0.5 * (next.west + next.own);
        if (k == 0) {
            const T diagonal = (T)1.0 - implicit * above;
            rhs = u_here + dt * tendency - explicit_ * above * (next.u - u_here);
            upper = implicit * above / diagonal;
            rhs = rhs / diagonal;
        } else {
            const T lower = -implicit * below;
            const T diagonal = (T)1.0 + implicit * (below - above) - lower * upper;
            const T right = u_here + dt * tendency
                - explicit_ * (below * (u_here - u_below) + above * (next.u - u_here));
            upper = implicit * above / diagonal;
            rhs = (right - lower * rhs) / diagonal;
        }
        upper_of[k * 64 + thread] = upper;
        u_new[column + k * stride_k] = rhs;
        u_below = u_here;
        u_here = next.u;
        tendency = next.tendency;
        below = above;
    }
    const T lower = -implicit * below;
    const T diagonal = (T)1.0 + implicit * below - lower * upper;
    const T right = u_here + dt * tendency - explicit_ * below * (u_here - u_below);
    T solution = (right - lower * rhs) / diagonal;
    u_new[column + (K - 1) * stride_k] = solution;
    T waiting[AHEAD];
#pragma unroll
    for (int n = 0; n < AHEAD; ++n) waiting[n] = u_new[column + isobar_greatest(K - 2 - n, 0) * stride_k];
    for (int k = K - 2; k >= 0; --k) {
        const T eliminated = waiting[0];
#pragma unroll
        for (int n = 0; n < AHEAD - 1; ++n) waiting[n] = waiting[n + 1];
        if (k - AHEAD >= 0) waiting[AHEAD - 1] = u_new[column + (k - AHEAD) * stride_k];
        solution = eliminated - upper_of[k * 64 + thread] * solution;
        u_new[column + k * stride_k] = solution;
    }
}

extern "C" __global__ void __launch_bounds__(64)
    vadv_f64(const double *__restrict__ u, const double *__restrict__ w, const double *__restrict__ u_tendency,
             const double *__restrict__ rdz, double *u_new, const double dt, const int I, const int K,
             const int stride_j, const int stride_k)
{
    vadv<double, 3>(u, w, u_tendency, rdz, u_new, dt, I, K, stride_j, stride_k);
}

extern "C" __global__ void __launch_bounds__(64)
    vadv_f32(const float *__restrict__ u, const float *__restrict__ w, const float *__restrict__ u_tendency,
             const float *__restrict__ rdz, float *u_new, const float dt, const int I, const int K,
             const int stride_j, const int stride_k)
{
    vadv<float, 4>(u, w, u_tendency, rdz, u_new, dt, I, K, stride_j, stride_k);
}
