/* What each CUDA text of Isobar begins with: the types and words of generated code.
 *
 * NVRTC has no headers, so that the types are ours there; any other compiler has those of the C library. The words in
 * capitals are defined here unless something in front has done so: `tests/emulation/emulation.h` does, and runs the
 * same text on a CPU.
 */
#if defined(__CUDACC_RTC__)
/* Not every kernel of a text calls each of its functions. */
#pragma nv_diag_suppress 177
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INT64_MAX 9223372036854775807LL
#define INT64_MIN (-INT64_MAX - 1)
#define NAN __int_as_float(0x7fc00000)
#define INFINITY __int_as_float(0x7f800000)
/* As of (double, double): without this one the call could as well be that of (float, double). */
static __device__ __forceinline__ double copysign(int size, double sign) { return copysign((double)size, sign); }
#else
#include <math.h>
#include <stdint.h>
#endif

/* Positions, strides and indices: 32 bits, unless an array of the call has 2^31 elements or more. */
#if defined(ISOBAR_WIDE)
typedef int64_t isobar_index;
#else
typedef int32_t isobar_index;
#endif

/* The stride along i of a field of the call: 1 in a module for calls of which all fields have that. */
#if defined(ISOBAR_UNIT)
#define ISOBAR_ALONG_I(stride) 1
#else
#define ISOBAR_ALONG_I(stride) (stride)
#endif

#ifndef ISOBAR_SHARED
#define ISOBAR_INLINE static __device__ __forceinline__
/* An array of the block. */
#define ISOBAR_SHARED(T, name, n) __shared__ T name[n]
/* The same at a byte of the memory that the launch sizes: the other kind ends at 48 KiB. */
#define ISOBAR_SHARED_AT(T, name, first)                  \
    extern __shared__ __align__(16) uint8_t isobar_shared[]; \
    T *const name = (T *)(void *)(isobar_shared + (first))
/* Every thread of the block comes here before one goes on. */
#define ISOBAR_BARRIER() __syncthreads()
#endif

ISOBAR_INLINE uint64_t isobar_bits(double x) { return (uint64_t)__double_as_longlong(x); }
ISOBAR_INLINE double isobar_from_bits(uint64_t bits) { return __longlong_as_double((long long)bits); }

/* a * b - product exactly, given the rounded product. The one fused operation that a text has: `--fmad=false` keeps
 * the compiler from making others. */
ISOBAR_INLINE double isobar_product_error(double a, double b, double product) { return __fma_rn(a, b, -product); }

ISOBAR_INLINE isobar_index isobar_least(isobar_index a, isobar_index b) { return b < a ? b : a; }
ISOBAR_INLINE isobar_index isobar_greatest(isobar_index a, isobar_index b) { return a < b ? b : a; }
