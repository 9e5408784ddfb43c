
/* A call with what its caller answers by. */
typedef struct {
  isobar_call call;
  const void *caller;
} isobar_answered;

enum { ISOBAR_CALLBACK = 0, ISOBAR_UPDATE = 1, ISOBAR_START = 2, ISOBAR_WAIT = 3 };

/* A statement that the caller carries out. */
typedef struct {
  int32_t event, number, kind, width;
  int32_t n_fields, n_values;
  const char *name;
  const isobar_array *const *arrays;
  const char *const *names;
  const int32_t *dtypes;
  const bool *written;
  const char *const *value_names;
  const int32_t *value_dtypes;
  void *const *values;
  int64_t domain[3];
} isobar_statement;

/* Marks a number that a callback has to give. No callback gives these bits: they are neither true nor false. */
static __attribute__((unused)) void isobar_leave_out(void *value, size_t bytes) { memset(value, 0xa5, bytes); }

static __attribute__((unused)) bool isobar_is_left_out(const void *value, size_t bytes)
{
  static const char mark[8] = {'\xa5', '\xa5', '\xa5', '\xa5', '\xa5', '\xa5', '\xa5', '\xa5'};
  return memcmp(value, mark, bytes) == 0;
}

/* Hands it to the caller; defined beside the interface. */
