/* Runs the text of CUDA kernels on a CPU: this stands in front of the very text that NVRTC compiles.
 *
 * A thread is a fiber. Between two barriers the threads of a block run one after the other, in shuffled order, and so do
 * the blocks of a launch. All threads must wait at one line, or all have ended; anything else is a fault. Memory of a
 * block is filled with 0xff when it begins. `emulation.cpp` has the other half: it reads runs from its standard input
 * and writes what they leave. `driver.cpp` and `nvrtc.cpp` make a GPU of it that any program of CUDA's driver finds.
 */
#pragma once
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define __global__
#define __device__
#define __forceinline__ inline __attribute__((always_inline, unused))
#define __launch_bounds__(...)

struct emulated_index {
    unsigned x, y, z;
};
extern emulated_index threadIdx, blockIdx, blockDim, gridDim;

/* The block's array of that line, made by the first thread that comes there. */
void *emulated_shared(int line, size_t bytes);
/* The block's memory that the launch asked for. */
uint8_t *emulated_memory();
void emulated_barrier(int line);

#define ISOBAR_INLINE static __forceinline__
#define ISOBAR_SHARED(T, name, n) T *const name = (T *)emulated_shared(__LINE__, sizeof(T) * (n))
#define ISOBAR_SHARED_AT(T, name, first) T *const name = (T *)(void *)(emulated_memory() + (first))
#define ISOBAR_BARRIER() emulated_barrier(__LINE__)

ISOBAR_INLINE long long __double_as_longlong(double x)
{
    long long bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

ISOBAR_INLINE double __longlong_as_double(long long bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

ISOBAR_INLINE double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }

ISOBAR_INLINE uint32_t atomicMin(uint32_t *at, uint32_t value)
{
    uint32_t before = *at;
    *at = value < before ? value : before;
    return before;
}

/* A kernel, called with pointers to its arguments as a driver has them. */
typedef void (*emulated_kernel)(void **arguments);

template <size_t... N> struct emulated_numbers {};
template <size_t N, size_t... More> struct emulated_up_to : emulated_up_to<N - 1, N - 1, More...> {};
template <size_t... More> struct emulated_up_to<0, More...> {
    typedef emulated_numbers<More...> type;
};

template <typename T> struct emulated_plain {
    typedef T type;
};
template <typename T> struct emulated_plain<const T> {
    typedef T type;
};

template <typename... A, size_t... N>
static inline void emulated_call(void (*kernel)(A...), void **arguments, emulated_numbers<N...>)
{
    (void)arguments;
    kernel(*(typename emulated_plain<A>::type *)arguments[N]...);
}

template <typename... A> static inline void emulated_call(void (*kernel)(A...), void **arguments)
{
    emulated_call(kernel, arguments, typename emulated_up_to<sizeof...(A)>::type());
}

/* How many arguments a kernel has. */
template <typename... A> static inline int emulated_arity(void (*)(A...)) { return sizeof...(A); }

/* Written behind the texts: all kernels, in order. */
extern const emulated_kernel emulated_kernels[];
extern const size_t emulated_n_kernels;
