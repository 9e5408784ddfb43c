/* The generated code of one stencil for calls with one thread. */
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* As the other file calls it. */
#define isobar_field isobar_kernel_field
#define isobar_call isobar_kernel_call
#define isobar_trap isobar_kernel_trap
#define isobar_run @NAME@_kernel_one_thread
#pragma GCC visibility push(hidden)
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "../kernels/one_thread/@NAME@.c"
#pragma GCC visibility pop
