/* What all exported stencils have in common; several headers may bring it along. */
#ifndef ISOBAR_ABI
#define ISOBAR_ABI 1

/* What a call answers. */
enum {
  ISOBAR_OK = 0,
  ISOBAR_WRONG_CALL = 2, /* arrays, sizes or options do not fit; nothing was written */
  ISOBAR_TRAP = 3,       /* a statement ended the run */
  ISOBAR_MEMORY = 4,     /* there is no memory for temporaries */
  ISOBAR_CANCELLED = 5,
  ISOBAR_VERSION = 7     /* header and library differ */
};

/* Types of elements. */
enum {
  ISOBAR_BOOL = 0,
  ISOBAR_INT8 = 1,
  ISOBAR_INT16 = 2,
  ISOBAR_INT32 = 3,
  ISOBAR_INT64 = 4,
  ISOBAR_FLOAT32 = 5,
  ISOBAR_FLOAT64 = 6
};

/* Instead of a size of the domain: the largest that fits all fields. */
#define ISOBAR_LARGEST (-1)

/* An array of the caller's. Nothing is copied, whatever the strides are. */
typedef struct isobar_field {
  uint32_t size;               /* sizeof(isobar_field) */
  int32_t dtype, rank, device; /* device: 0, this processor */
  void *data;                  /* the element with the index 0 along all dimensions */
  int64_t shape[8];            /* axes in the order I, J, K, then data dimensions */
  int64_t stride[8];           /* in elements; may be negative, and 0 where nothing is written */
  int64_t origin[8];           /* index of the first point of the compute domain; 0 along data dimensions */
} isobar_field;

/* How to call. A pointer to none means the largest domain, all threads, and memory of the library's own. */
typedef struct isobar_call {
  uint32_t size, abi;             /* sizeof(isobar_call), ISOBAR_ABI */
  int64_t domain[3];              /* points along I, J, K; ISOBAR_LARGEST for the largest that fits */
  int32_t threads;                /* 0: as many as there are, and one where the domain is small */
  int32_t flags;                  /* 0 */
  void *scratch;                  /* memory for temporaries, or NULL; two calls at a time need one each */
  uint64_t scratch_bytes;
  void *stream;                   /* NULL */
  const volatile int32_t *cancel; /* the call ends soon where this is not 0; or NULL */
} isobar_call;

/* What went wrong. */
typedef struct isobar_error {
  uint32_t size;        /* sizeof(isobar_error), set before the call */
  char code[8];         /* C01 to C08 are those of `isobar explain`, the others are in the README */
  int32_t line, column; /* of the statement that ended the run, or 0 */
  int64_t cell[3];      /* where it did, from the start of the compute domain */
  char message[512];
  char file[256];
} isobar_error;

#define ISOBAR_CALL_INIT {sizeof(isobar_call), ISOBAR_ABI, {ISOBAR_LARGEST, ISOBAR_LARGEST, ISOBAR_LARGEST}, 0, 0, NULL, 0, NULL, NULL}
#define ISOBAR_ERROR_INIT {sizeof(isobar_error), "", 0, 0, {0, 0, 0}, "", ""}

#elif ISOBAR_ABI != 1
#error "two exported stencils have different ABIs: export both with the same version of Isobar"
#endif
