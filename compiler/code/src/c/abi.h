/* How generated code is called. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
  void *data;        /* the element at the start of the compute domain */
  int64_t stride[3]; /* in elements along i, j, k; 0 along an axis that the field lacks */
  const int64_t *data_stride; /* the same for each data dimension */
  int64_t below, above; /* levels of the array below the compute domain and above it */
} isobar_field;

/* The statement that ended the run, and where. */
typedef struct {
  int32_t statement;
  int64_t i, j, k;
} isobar_trap;

typedef struct isobar_call {
  int64_t domain[3];
  const isobar_field *fields;  /* one for each field, in the order of the artifact's arguments */
  const void *const *scalars;  /* pointers to values of the declared types, in order */
  int32_t threads;             /* 0: as many as there are */
  volatile int64_t *progress;  /* steps finished so far; may be NULL */
  const volatile int32_t *cancel; /* asked between steps; may be NULL */
  isobar_trap *trap;
  void *workspace;             /* memory for temporaries, which starts at a cache line; may be NULL */
  uint64_t workspace_bytes;    /* so much of it; a call that needs more takes its own */
  double *times;               /* in seconds: when the first step began, and when each ended; may be NULL */
} isobar_call;

/* 0 done, 1 trap, 2 out of memory, 3 cancelled, 4 compiled for other strides, or for longer rows */
int32_t isobar_run(const isobar_call *call);
