/* Horizontal diffusion by hand, for an H100: what the generated kernel of the gallery's stencil is measured against.
 *
 * A thread has W neighbours along i, which are 16 bytes, and goes along j. Each row of `q` is loaded once for a strip, as
 * three packs, and stays in registers until no later row needs it; so do the Laplacian of the row ahead and the flux
 * between both. Nothing is shared and nothing is waited for, so that many loads are on their way. In order to avoid
 * branches, a thread computes and loads also beside the domain: rows have a margin on both sides (`MARGIN` in
 * `tests/src/gpu/hand.rs`).
 *
 * The expressions are those of `static/gallery/horizontal_diffusion.py`, in their order: the bits are `debug`'s.
 */

template <typename T, int W> struct alignas(sizeof(T) * W) pack {
    T at[W];
};

/* Of a row the points from two before a thread's first one up to two behind its last one. */
template <typename T, int W> struct row {
    T at[W + 4];
};

/* The same of the Laplacian, from one before up to one behind. */
template <typename T, int W> struct narrow {
    T at[W + 2];
};

template <typename T, int W> ISOBAR_INLINE row<T, W> load(const T *__restrict__ first)
{
    const pack<T, W> *const packs = (const pack<T, W> *)first;
    const pack<T, W> west = packs[-1], here = packs[0], east = packs[1];
    row<T, W> made;
    made.at[0] = west.at[W - 2];
    made.at[1] = west.at[W - 1];
#pragma unroll
    for (int n = 0; n < W; ++n) made.at[n + 2] = here.at[n];
    made.at[W + 2] = east.at[0];
    made.at[W + 3] = east.at[1];
    return made;
}

template <typename T, int W>
ISOBAR_INLINE narrow<T, W> laplacian(const row<T, W> &south, const row<T, W> &here, const row<T, W> &north)
{
    narrow<T, W> made;
#pragma unroll
    for (int n = 0; n < W + 2; ++n) {
        made.at[n] = here.at[n + 2] + here.at[n] + north.at[n + 1] + south.at[n + 1] - (T)4.0 * here.at[n + 1];
    }
    return made;
}

template <typename T> ISOBAR_INLINE T limited(T flux, T gradient) { return flux * gradient > (T)0.0 ? (T)0.0 : flux; }

/* Strides of all fields are the same: `stride_j` and `stride_k` elements. Pointers are those of the point (0, 0, 0). */
template <typename T, int W>
ISOBAR_INLINE void hdiff(const T *__restrict__ q, const T *__restrict__ coeff, T *__restrict__ q_out, T alpha, int I,
                         int J, int K, int stride_j, int stride_k, int rows)
{
    const int i = ((int)blockIdx.x * 32 + (int)threadIdx.x) * W;
    const int k = (int)blockIdx.z * 4 + (int)threadIdx.y;
    const int first = (int)blockIdx.y * rows;
    if (i >= I || k >= K) return;
    const int end = isobar_least(J, first + rows);
    const T *const here_q = q + i + k * stride_k;
    row<T, W> here = load<T, W>(here_q + (first - 1) * stride_j);
    row<T, W> north = load<T, W>(here_q + first * stride_j);
    narrow<T, W> lap = laplacian(load<T, W>(here_q + (first - 2) * stride_j), here, north);
    row<T, W> beyond = load<T, W>(here_q + (first + 1) * stride_j);
    narrow<T, W> lap_north = laplacian(here, north, beyond);
    T flux_south[W];
#pragma unroll
    for (int n = 0; n < W; ++n) {
        flux_south[n] = limited(lap_north.at[n + 1] - lap.at[n + 1], north.at[n + 2] - here.at[n + 2]);
    }
#pragma unroll 2
    for (int j = first; j < end; ++j) {
        here = north;
        north = beyond;
        lap = lap_north;
        const int at = i + j * stride_j + k * stride_k;
        beyond = load<T, W>(here_q + (j + 2) * stride_j);
        const pack<T, W> weight = *(const pack<T, W> *)(coeff + at);
        lap_north = laplacian(here, north, beyond);
        T flux_i[W + 1];
#pragma unroll
        for (int n = 0; n < W + 1; ++n) {
            flux_i[n] = limited(lap.at[n + 1] - lap.at[n], here.at[n + 2] - here.at[n + 1]);
        }
        pack<T, W> made;
#pragma unroll
        for (int n = 0; n < W; ++n) {
            const T flux_j = limited(lap_north.at[n + 1] - lap.at[n + 1], north.at[n + 2] - here.at[n + 2]);
            made.at[n] = here.at[n + 2]
                - alpha * weight.at[n] * (flux_i[n + 1] - flux_i[n] + flux_j - flux_south[n]);
            flux_south[n] = flux_j;
        }
        if (i + W <= I) {
            *(pack<T, W> *)(q_out + at) = made;
        } else {
#pragma unroll
            for (int n = 0; n < W; ++n) {
                if (i + n < I) q_out[at + n] = made.at[n];
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(128)
    hdiff_f64(const double *__restrict__ q, const double *__restrict__ coeff, double *__restrict__ q_out,
              const double alpha, const int I, const int J, const int K, const int stride_j, const int stride_k,
              const int rows)
{
    hdiff<double, 2>(q, coeff, q_out, alpha, I, J, K, stride_j, stride_k, rows);
}

extern "C" __global__ void __launch_bounds__(128)
    hdiff_f32(const float *__restrict__ q, const float *__restrict__ coeff, float *__restrict__ q_out,
              const float alpha, const int I, const int J, const int K, const int stride_j, const int stride_k,
              const int rows)
{
    hdiff<float, 4>(q, coeff, q_out, alpha, I, J, K, stride_j, stride_k, rows);
}
