/* The generated code of calls that stand behind each other in a program. */
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* As the program calls it. */
#define isobar_field isobar_kernel_field
#define isobar_call isobar_kernel_call
#define isobar_trap isobar_kernel_trap
#define isobar_run @NAME@
#pragma GCC visibility push(hidden)
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "@KERNEL@"

/* Bytes of memory with which a call allocates nothing. */
uint64_t @NAME@_workspace(const isobar_call *call);
uint64_t @NAME@_workspace(const isobar_call *call) { return isobar_workspace(call); }
#pragma GCC visibility pop
