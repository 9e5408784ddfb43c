/* What a program needs beside the code of its stencils: arrays with all their points, and scalars with Python's rules. */
#include <math.h>
#include <omp.h>
#include <string.h>

/* An array of the program, from its first element on. */
typedef struct {
  char *data;
  int32_t bytes, rank;         /* of an element; dimensions, those of axes first */
  int32_t n_axes, axis[3];     /* the dimensions of I, J and K, or -1 */
  int64_t shape[8], stride[8]; /* in elements */
  int64_t origin[3];           /* the index of the first point of the compute domain */
} isobar_array;

static inline void isobar_move(char *to, const char *from, int32_t bytes)
{
  switch (bytes) {
  case 1: memcpy(to, from, 1); break;
  case 2: memcpy(to, from, 2); break;
  case 4: memcpy(to, from, 4); break;
  default: memcpy(to, from, 8); break;
  }
}

/* The distance of the first point of the compute domain from the first element, in bytes. */
static inline int64_t isobar_start(const isobar_array *a)
{
  int64_t start = 0;
  for (int axis = 0; axis < 3; ++axis) {
    if (a->axis[axis] >= 0) start += a->origin[axis] * a->stride[a->axis[axis]];
  }
  return start * a->bytes;
}

/* Takes the memory of the caller. */
static inline void isobar_take(isobar_array *a, const isobar_field *given)
{
  for (int axis = 0; axis < 3; ++axis) {
    if (a->axis[axis] >= 0) a->stride[a->axis[axis]] = given->stride[axis];
  }
  for (int at = a->n_axes; at < a->rank; ++at) a->stride[at] = given->data_stride[at - a->n_axes];
  a->data = (char *)((uintptr_t)given->data - (uintptr_t)isobar_start(a));
}

/* The array as the code of a group takes it. */
static inline void isobar_lend(const isobar_array *a, int64_t n_levels, isobar_field *lent)
{
  *lent = (isobar_field){.data = (void *)((uintptr_t)a->data + (uintptr_t)isobar_start(a)), .data_stride = a->stride + a->n_axes};
  for (int axis = 0; axis < 3; ++axis) {
    if (a->axis[axis] >= 0) lent->stride[axis] = a->stride[a->axis[axis]];
  }
  if (a->axis[2] >= 0) {
    lent->below = a->origin[2];
    lent->above = a->shape[a->axis[2]] - a->origin[2] - n_levels;
  }
}

static inline uint64_t isobar_most_of(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* No memory has so many bytes. */
#define ISOBAR_BEYOND ((uint64_t)1 << 62)

/* Lays an array out with rows that start at cache lines; answers its bytes. */
static inline uint64_t isobar_pack(isobar_array *a)
{
  uint64_t n = 1;
  for (int at = 0; at < a->rank; ++at) {
    a->stride[at] = (int64_t)n;
    uint64_t length = a->shape[at] > 0 ? (uint64_t)a->shape[at] : 0;
    if (at == 0 && a->rank > 1) {
      const uint64_t unit = 64 / (uint64_t)a->bytes;
      length = (length + unit - 1) / unit * unit;
    }
    if (__builtin_mul_overflow(n, length, &n) || n > ISOBAR_BEYOND / 64) return ISOBAR_BEYOND;
  }
  return n * (uint64_t)a->bytes;
}

/* Where so many bytes start; the next ones start at a cache line. */
static inline uint64_t isobar_place(uint64_t *size, uint64_t bytes)
{
  const uint64_t start = *size;
  *size = start >= ISOBAR_BEYOND || bytes >= ISOBAR_BEYOND ? ISOBAR_BEYOND : (start + bytes + 63) / 64 * 64;
  return start;
}

/* A part of an array: at this index of its first data dimensions. */
static inline isobar_array isobar_part(const isobar_array *a, int n_fixed, const int64_t *index)
{
  isobar_array part = *a;
  int64_t start = 0;
  for (int at = 0; at < n_fixed; ++at) start += index[at] * a->stride[a->n_axes + at];
  part.data += start * a->bytes;
  part.rank -= n_fixed;
  for (int at = a->n_axes; at < part.rank; ++at) {
    part.shape[at] = a->shape[at + n_fixed];
    part.stride[at] = a->stride[at + n_fixed];
  }
  return part;
}

/* Calls BODY for each row: `to` and `from` are its first elements, and `n` is how many it has. */
#define ISOBAR_ROWS(A, B, BODY) \
  do { \
    const isobar_array *const of_a = (A), *const of_b = (B); \
    int64_t n = of_a->rank > 0 ? of_a->shape[0] : 1, n_rows = 1; \
    for (int at = 1; at < of_a->rank; ++at) n_rows *= of_a->shape[at] > 0 ? of_a->shape[at] : 0; \
    const int64_t step_a = of_a->rank > 0 ? of_a->stride[0] * of_a->bytes : 0; \
    const int64_t step_b = of_b->rank > 0 ? of_b->stride[0] * of_b->bytes : 0; \
    for (int64_t row = 0; row < n_rows; ++row) { \
      int64_t left = row, start_a = 0, start_b = 0; \
      for (int at = 1; at < of_a->rank; ++at) { \
        const int64_t index = left % of_a->shape[at]; \
        left /= of_a->shape[at]; \
        start_a += index * of_a->stride[at]; \
        start_b += index * of_b->stride[at]; \
      } \
      char *const to = of_a->data + start_a * of_a->bytes; \
      char *const from = of_b->data + start_b * of_b->bytes; \
      (void)from; \
      (void)step_b; \
      BODY \
    } \
  } while (0)

static __attribute__((unused)) void isobar_copy_all(const isobar_array *target, const isobar_array *source)
{
  const int32_t bytes = target->bytes;
  ISOBAR_ROWS(target, source, {
    if (step_a == bytes && step_b == bytes) {
      if (n > 0) memcpy(to, from, (size_t)(n * bytes));
    } else {
      for (int64_t at = 0; at < n; ++at) isobar_move(to + at * step_a, from + at * step_b, bytes);
    }
  });
}

static __attribute__((unused)) void isobar_fill_all(const isobar_array *target, const void *value)
{
  const int32_t bytes = target->bytes;
  ISOBAR_ROWS(target, target, {
    for (int64_t at = 0; at < n; ++at) isobar_move(to + at * step_a, value, bytes);
  });
}

static __attribute__((unused)) void isobar_swap_all(const isobar_array *one, const isobar_array *other)
{
  const int32_t bytes = one->bytes;
  ISOBAR_ROWS(one, other, {
    for (int64_t at = 0; at < n; ++at) {
      char held[8];
      isobar_move(held, to + at * step_a, bytes);
      isobar_move(to + at * step_a, from + at * step_b, bytes);
      isobar_move(from + at * step_b, held, bytes);
    }
  });
}

/* The values that an exchange stores in halos. */
enum { ISOBAR_AS_IT_LIES = 0, ISOBAR_PERIODIC = 1, ISOBAR_ZERO_GRADIENT = 2 };

/* The position whose value stands at a position along an axis of `n` points, of which the array has `own`. */
static inline int64_t isobar_source(int64_t position, int64_t n, int64_t own, int fill)
{
  switch (fill) {
  case ISOBAR_PERIODIC: {
    if (0 <= position && position < own) return position;
    const int64_t left = position % n;
    return left < 0 ? left + n : left;
  }
  case ISOBAR_ZERO_GRADIENT: return position < 0 ? 0 : position >= own ? own - 1 : position;
  default: return position;
  }
}

/* Copies the halo of one array, as wide as `width`, to another one of its shape. */
static __attribute__((unused)) void isobar_halo(const isobar_array *to, const isobar_array *from, const int64_t n[2],
                                                const int64_t own[2], int64_t width, int fill)
{
  int64_t first[2] = {0, 0}, end[2] = {1, 1}, to_step[2] = {0, 0}, from_step[2] = {0, 0};
  for (int axis = 0; axis < 2; ++axis) {
    const int at = to->axis[axis];
    if (at < 0) continue;
    first[axis] = to->origin[axis] > width ? to->origin[axis] - width : 0;
    end[axis] = to->origin[axis] + own[axis] + width;
    if (end[axis] > to->shape[at]) end[axis] = to->shape[at];
    to_step[axis] = to->stride[at] * to->bytes;
    from_step[axis] = from->stride[at] * from->bytes;
  }
  int64_t n_others = 1;
  for (int at = 0; at < to->rank; ++at) {
    if (at != to->axis[0] && at != to->axis[1]) n_others *= to->shape[at] > 0 ? to->shape[at] : 0;
  }
  for (int64_t other = 0; other < n_others; ++other) {
    int64_t left = other, to_start = 0, from_start = 0;
    for (int at = 0; at < to->rank; ++at) {
      if (at == to->axis[0] || at == to->axis[1]) continue;
      const int64_t index = left % to->shape[at];
      left /= to->shape[at];
      to_start += index * to->stride[at] * to->bytes;
      from_start += index * from->stride[at] * from->bytes;
    }
    for (int64_t j = first[1]; j < end[1]; ++j) {
      const int64_t y = to->axis[1] < 0 ? 0 : j - to->origin[1];
      const bool is_beside = to->axis[1] >= 0 && (y < 0 || y >= own[1]);
      const int64_t from_j = to->axis[1] < 0 ? 0 : isobar_source(y, n[1], own[1], fill) + to->origin[1];
      for (int64_t i = first[0]; i < end[0]; ++i) {
        const int64_t x = to->axis[0] < 0 ? 0 : i - to->origin[0];
        if (!is_beside && (to->axis[0] < 0 || (x >= 0 && x < own[0]))) continue;
        const int64_t from_i = to->axis[0] < 0 ? 0 : isobar_source(x, n[0], own[0], fill) + to->origin[0];
        isobar_move(to->data + to_start + i * to_step[0] + j * to_step[1],
                    from->data + from_start + from_i * from_step[0] + from_j * from_step[1], to->bytes);
      }
    }
  }
}

/* Scalars. Where Python raises an exception, or an integer leaves 64 bits, `fault` tells so. */
#define ISOBAR_CHECKED(NAME, OPERATION) \
  static inline int64_t NAME(int64_t a, int64_t b, int *fault) \
  { \
    int64_t result; \
    if (!OPERATION(a, b, &result)) return result; \
    *fault = 1; \
    return 0; \
  }
ISOBAR_CHECKED(isobar_int_add, __builtin_add_overflow)
ISOBAR_CHECKED(isobar_int_sub, __builtin_sub_overflow)
ISOBAR_CHECKED(isobar_int_mul, __builtin_mul_overflow)

static inline int64_t isobar_int_floor_div(int64_t a, int64_t b, int *fault)
{
  if (b == 0 || (a == INT64_MIN && b == -1)) {
    *fault = 1;
    return 0;
  }
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static inline int64_t isobar_int_mod(int64_t a, int64_t b, int *fault)
{
  if (b == 0) {
    *fault = 1;
    return 0;
  }
  if (b == -1) return 0;
  const int64_t left = a % b;
  return left != 0 && (left < 0) != (b < 0) ? left + b : left;
}

static inline int64_t isobar_int_pow(int64_t a, int64_t b, int *fault)
{
  if (b < 0) {
    *fault = 1;
    return 0;
  }
  if (a == 0 || a == 1) return b == 0 ? 1 : a;
  if (a == -1) return b % 2 == 0 ? 1 : -1;
  int64_t result = 1;
  for (int64_t turn = 0; turn < b; ++turn) {
    result = isobar_int_mul(result, a, fault);
    if (*fault != 0) return 0;
  }
  return result;
}

/* The double nearest to the quotient, rounded once. */
static inline double isobar_int_div(int64_t a, int64_t b, int *fault)
{
  if (b == 0) {
    *fault = 1;
    return 0.0;
  }
  const uint64_t exact = (uint64_t)1 << 53;
  const uint64_t n = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, d = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
  if (n <= exact && d <= exact) return (double)a / (double)b;
  const int bits_n = n == 0 ? 0 : 64 - __builtin_clzll(n), bits_d = 64 - __builtin_clzll(d);
  const int shift = 55 + bits_d > bits_n ? 55 + bits_d - bits_n : 0;
  const unsigned __int128 wide = (unsigned __int128)n << shift;
  const unsigned __int128 found = wide / d | (wide % d != 0);
  const uint64_t quotient = found > UINT64_MAX ? UINT64_MAX : (uint64_t)found;
  const uint64_t scale_bits = (uint64_t)(1023 - shift) << 52;
  double scale;
  memcpy(&scale, &scale_bits, sizeof scale);
  const double magnitude = (double)quotient * scale;
  return (a < 0) == (b < 0) ? magnitude : -magnitude;
}

static inline double isobar_float_div(double a, double b, int *fault)
{
  if (b == 0.0) *fault = 1;
  return a / b;
}

static inline float isobar_single_div(float a, float b, int *fault)
{
  if (b == 0.0f) *fault = 1;
  return a / b;
}

static inline double isobar_float_divmod(double a, double b, bool is_quotient, int *fault)
{
  if (b == 0.0) {
    *fault = 1;
    return 0.0;
  }
  double left = fmod(a, b), quotient = (a - left) / b;
  if (left == 0.0) {
    left = copysign(0.0, b);
  } else if ((b < 0.0) != (left < 0.0)) {
    left += b;
    quotient -= 1.0;
  }
  if (!is_quotient) return left;
  if (quotient == 0.0) return copysign(0.0, a / b);
  const double floored = floor(quotient);
  return quotient - floored > 0.5 ? floored + 1.0 : floored;
}

/* `result` is `a ** b`. */
static inline double isobar_float_pow(double a, double b, double result, int *fault)
{
  if ((a == 0.0 && b < 0.0) || (a < 0.0 && isfinite(a) && isfinite(b) && b != trunc(b)) ||
      (isinf(result) && isfinite(a) && isfinite(b))) {
    *fault = 1;
  }
  return result;
}

/* `result` is a function of `x`. */
static inline double isobar_elementary(double x, double result, int *fault)
{
  if ((isfinite(x) && !isfinite(result)) || (!isnan(x) && isnan(result))) *fault = 1;
  return result;
}

static inline int64_t isobar_float_int(double whole, int *fault)
{
  if (whole >= -0x1p63 && whole < 0x1p63) return (int64_t)whole;
  *fault = 1;
  return 0;
}

static inline int64_t isobar_int_abs(int64_t a, int *fault) { return a < 0 ? isobar_int_sub(0, a, fault) : a; }

/* -1, 0 or 1; 2 where `b` is NaN. The integer is not rounded. */
static inline int isobar_compare(int64_t a, double b)
{
  if (isnan(b)) return 2;
  if (b < -0x1p63) return 1;
  if (b >= 0x1p63) return -1;
  const double cut = trunc(b);
  const int64_t whole = (int64_t)cut;
  if (a != whole) return a < whole ? -1 : 1;
  return b - cut > 0.0 ? -1 : b - cut < 0.0 ? 1 : 0;
}

#define ISOBAR_STORED(NAME, TYPE) \
  static inline TYPE NAME(int64_t value, int *fault) \
  { \
    if ((int64_t)(TYPE)value != value) *fault = 1; \
    return (TYPE)value; \
  }
ISOBAR_STORED(isobar_to_int8, int8_t)
ISOBAR_STORED(isobar_to_int16, int16_t)
ISOBAR_STORED(isobar_to_int32, int32_t)

static inline float isobar_to_float32(double value, int *fault)
{
  const float single = (float)value;
  if (isfinite(value) && isinf(single)) *fault = 1;
  return single;
}
