/* Holds a call against what a stencil declares, before anything runs. Nothing here is global or allocates. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* There is no such bound. */
#define ISOBAR_NONE INT32_MIN

/* Positions along an axis of n points: from the least of `start` and n + `start_end` to the greatest of the others. */
typedef struct {
  int32_t start, start_end, end, end_end;
} isobar_hull;

/* A bound of a region or interval: `is_end` says what `offset` counts from. */
typedef struct {
  int32_t is_end, offset;
} isobar_bound;

/* What a statement in a region touches of a field. */
typedef struct {
  int32_t field, lo[2], hi[2];
  isobar_bound start[3], end[3];
  int32_t offset[3], is_level_known;
} isobar_touch;

typedef struct {
  const char *name;
  int32_t dtype, n_axes, n_data, is_used, is_written, is_touched;
  int32_t axis[3], data[8];
  int32_t lo[3], hi[3]; /* positions lo to n + hi must be there */
  isobar_hull touched[3];
} isobar_parameter;

typedef struct {
  const char *name;
  int32_t n_fields, n_touches;
  int64_t min_levels;
  const isobar_parameter *fields;
  const isobar_touch *touches;
} isobar_stencil;

/* Bytes between neighbours along a dimension, and how many there are. */
typedef struct {
  int64_t bytes, n;
} isobar_step;

/* What a call touches of an array: the elements from `low` to before `high`. */
typedef struct {
  int64_t address, element, low, high;
  int32_t field, n_steps;
  isobar_step step[8];
} isobar_view;

static const char *const isobar_dtype_name[] = {"bool", "int8", "int16", "int32", "int64", "float32", "float64"};
static const int64_t isobar_dtype_bytes[] = {1, 1, 2, 4, 8, 4, 8};

static __attribute__((noinline, cold, format(printf, 4, 5))) int32_t
isobar_fail(isobar_error *error, int32_t status, const char *code, const char *format, ...)
{
  if (error != NULL && error->size >= sizeof *error) {
    snprintf(error->code, sizeof error->code, "%s", code);
    error->line = error->column = 0;
    error->cell[0] = error->cell[1] = error->cell[2] = 0;
    error->file[0] = 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
  }
  return status;
}

static inline int64_t isobar_sum(int64_t a, int64_t b)
{
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static inline int64_t isobar_product(int64_t a, int64_t b)
{
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? ((a < 0) != (b < 0) ? INT64_MIN : INT64_MAX) : product;
}

/* Bytes between two elements of one dimension: as many times as a number from `first` to `last`. */
typedef struct {
  int64_t bytes, first, last;
} isobar_distance;

static inline int64_t isobar_floor(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); }

/* Whether a sum of distances lies from `from` to `to`. So many numbers are tried before that counts as so. */
static bool isobar_reaches_with(const isobar_distance *distance, int n, int64_t from, int64_t to, int *tries)
{
  if (n == 0) return from <= 0 && 0 <= to;
  int64_t least = 0, most = 0;
  for (int at = 1; at < n; ++at) {
    least = isobar_sum(least, isobar_product(distance[at].bytes, distance[at].first));
    most = isobar_sum(most, isobar_product(distance[at].bytes, distance[at].last));
  }
  const int64_t bytes = distance->bytes;
  int64_t first = -isobar_floor(-isobar_sum(from, most == INT64_MIN ? INT64_MAX : -most), bytes);
  int64_t last = isobar_floor(isobar_sum(to, least == INT64_MIN ? INT64_MAX : -least), bytes);
  if (first < distance->first) first = distance->first;
  if (last > distance->last) last = distance->last;
  for (int64_t number = first; number <= last; ++number) {
    if (++*tries > 100000) return true;
    const int64_t by = isobar_product(bytes, number), back = by == INT64_MIN ? INT64_MAX : -by;
    if (isobar_reaches_with(distance + 1, n - 1, isobar_sum(from, back), isobar_sum(to, back), tries)) return true;
  }
  return false;
}

static bool isobar_reaches(isobar_distance *distance, int n, int64_t from, int64_t to)
{
  int kept = 0;
  for (int at = 0; at < n; ++at) {
    isobar_distance it = distance[at];
    if (it.bytes == 0) continue;
    if (it.bytes < 0) it = (isobar_distance){it.bytes == INT64_MIN ? INT64_MAX : -it.bytes, -it.last, -it.first};
    int behind = kept++;
    for (; behind > 0 && distance[behind - 1].bytes < it.bytes; --behind) distance[behind] = distance[behind - 1];
    distance[behind] = it;
  }
  n = kept;
  kept = 0;
  for (int at = 0; at < n; ++at) {
    if (kept > 0 && distance[kept - 1].bytes == distance[at].bytes) {
      distance[kept - 1].first = isobar_sum(distance[kept - 1].first, distance[at].first);
      distance[kept - 1].last = isobar_sum(distance[kept - 1].last, distance[at].last);
    } else {
      distance[kept++] = distance[at];
    }
  }
  int tries = 0;
  return isobar_reaches_with(distance, kept, from, to, &tries);
}

/* Whether an element of it stands at several points. */
static bool isobar_shows_one_twice(const isobar_view *view)
{
  /* Mostly each dimension steps over all that those with smaller steps reach. */
  int order[8];
  for (int at = 0; at < view->n_steps; ++at) {
    int behind = at;
    const int64_t bytes = view->step[at].bytes < 0 ? -view->step[at].bytes : view->step[at].bytes;
    for (; behind > 0; --behind) {
      const int64_t other = view->step[order[behind - 1]].bytes;
      if ((other < 0 ? -other : other) <= bytes) break;
      order[behind] = order[behind - 1];
    }
    order[behind] = at;
  }
  int64_t reached = view->element;
  bool steps_over = true;
  for (int at = 0; at < view->n_steps && steps_over; ++at) {
    const isobar_step it = view->step[order[at]];
    const int64_t bytes = it.bytes < 0 ? -it.bytes : it.bytes;
    if (it.n < 2) continue;
    steps_over = bytes >= reached;
    reached = isobar_sum(reached, isobar_product(bytes, it.n - 1));
  }
  if (steps_over) return false;
  /* Two points that differ along one dimension, and anyhow along the others. */
  for (int at = 0; at < view->n_steps; ++at) {
    if (view->step[at].n < 2) continue;
    isobar_distance distance[8];
    for (int other = 0; other < view->n_steps; ++other) {
      const isobar_step it = view->step[other];
      distance[other] = (isobar_distance){it.bytes, other == at ? 1 : 1 - it.n, it.n - 1};
    }
    if (isobar_reaches(distance, view->n_steps, 1 - view->element, view->element - 1)) return true;
  }
  return false;
}

/* Whether a byte belongs to elements of both. */
static bool isobar_meets(const isobar_view *a, const isobar_view *b)
{
  if (a->high <= b->low || b->high <= a->low) return false;
  isobar_distance distance[16];
  int n = 0;
  for (int at = 0; at < a->n_steps; ++at) {
    distance[n++] = (isobar_distance){a->step[at].bytes, 0, a->step[at].n - 1};
  }
  for (int at = 0; at < b->n_steps; ++at) {
    distance[n++] = (isobar_distance){b->step[at].bytes, 1 - b->step[at].n, 0};
  }
  const int64_t apart = b->address - a->address;
  return isobar_reaches(distance, n, apart - a->element + 1, apart + b->element - 1);
}

/* Widens a range by another one; an empty one adds nothing. */
static inline void isobar_widen(int64_t range[2], int64_t start, int64_t end)
{
  if (start >= end) return;
  if (range[0] >= range[1]) {
    range[0] = start;
    range[1] = end;
  } else {
    if (start < range[0]) range[0] = start;
    if (end > range[1]) range[1] = end;
  }
}

static inline int64_t isobar_bound_at(isobar_bound bound, int64_t n, int64_t none)
{
  return bound.offset == ISOBAR_NONE ? none : bound.offset + (bound.is_end ? n : 0);
}

/* The positions of a field that a call touches; nothing where it touches none. */
static bool isobar_touched(const isobar_stencil *stencil, int32_t field, const int64_t domain[3], int64_t range[3][2])
{
  const isobar_parameter *it = &stencil->fields[field];
  bool is_touched = it->is_touched;
  for (int axis = 0; axis < 3; ++axis) {
    const isobar_hull *hull = &it->touched[axis];
    const int64_t n = domain[axis];
    range[axis][0] = range[axis][1] = 0;
    if (!it->is_touched || (hull->start == ISOBAR_NONE && hull->start_end == ISOBAR_NONE)) continue;
    const int64_t start = hull->start == ISOBAR_NONE ? INT64_MAX : hull->start;
    const int64_t start_end = hull->start_end == ISOBAR_NONE ? INT64_MAX : n + hull->start_end;
    const int64_t end = hull->end == ISOBAR_NONE ? INT64_MIN : hull->end;
    const int64_t end_end = hull->end_end == ISOBAR_NONE ? INT64_MIN : n + hull->end_end;
    range[axis][0] = start < start_end ? start : start_end;
    range[axis][1] = end > end_end ? end : end_end;
  }
  for (int32_t at = 0; at < stencil->n_touches; ++at) {
    const isobar_touch *touch = &stencil->touches[at];
    if (touch->field != field) continue;
    int64_t own[3][2];
    bool is_empty = false;
    for (int axis = 0; axis < 3; ++axis) {
      const int64_t n = domain[axis];
      const int64_t lo = axis < 2 ? touch->lo[axis] : 0, hi = axis < 2 ? n + touch->hi[axis] : n;
      own[axis][0] = isobar_bound_at(touch->start[axis], n, lo);
      own[axis][1] = isobar_bound_at(touch->end[axis], n, hi);
      if (own[axis][0] < lo) own[axis][0] = lo;
      if (own[axis][1] > hi) own[axis][1] = hi;
      is_empty = is_empty || own[axis][0] >= own[axis][1];
    }
    if (is_empty) continue;
    for (int axis = 0; axis < 3; ++axis) {
      if (axis == 2 && !touch->is_level_known) continue;
      isobar_widen(range[axis], own[axis][0] + touch->offset[axis], own[axis][1] + touch->offset[axis]);
    }
    is_touched = true;
  }
  return is_touched;
}

/* Type, dimensions and address of a field. */
static int32_t isobar_check_field(const isobar_parameter *it, const isobar_field *given, isobar_error *error)
{
  if (given == NULL) {
    return isobar_fail(error, ISOBAR_WRONG_CALL, "C06", "field `%s` is used by the stencil and was not passed", it->name);
  }
  if (given->size < sizeof *given) {
    return isobar_fail(error, ISOBAR_VERSION, "A01", "field `%s`: its `size` is %u, and %u is expected: set it, or build with the header of this library",
                       it->name, given->size, (unsigned)sizeof *given);
  }
  if (given->dtype != it->dtype) {
    const bool is_known = given->dtype >= ISOBAR_BOOL && given->dtype <= ISOBAR_FLOAT64;
    return isobar_fail(error, ISOBAR_WRONG_CALL, "C01", "field `%s` has elements of type %s, and is declared %s", it->name,
                       is_known ? isobar_dtype_name[given->dtype] : "unknown", isobar_dtype_name[it->dtype]);
  }
  if (given->rank != it->n_axes + it->n_data) {
    return isobar_fail(error, ISOBAR_WRONG_CALL, "C02", "field `%s` has %d dimensions, and the array has %d", it->name,
                       it->n_axes + it->n_data, given->rank);
  }
  if (given->device != 0) {
    return isobar_fail(error, ISOBAR_WRONG_CALL, "A02", "field `%s` lies on device %d, and this library computes on the processor",
                       it->name, given->device);
  }
  bool is_empty = false;
  for (int at = 0; at < given->rank; ++at) {
    is_empty = is_empty || given->shape[at] == 0;
    if (given->shape[at] < 0) {
      return isobar_fail(error, ISOBAR_WRONG_CALL, "C02", "field `%s` has %lld points along dimension %d", it->name,
                         (long long)given->shape[at], at);
    }
    if (at < it->n_axes) continue;
    if (given->shape[at] != it->data[at - it->n_axes]) {
      return isobar_fail(error, ISOBAR_WRONG_CALL, "C02", "field `%s` has a data dimension of the size %d, and the array one of %lld",
                         it->name, it->data[at - it->n_axes], (long long)given->shape[at]);
    }
    if (given->origin[at] != 0) {
      return isobar_fail(error, ISOBAR_WRONG_CALL, "C02", "the origin of field `%s` is not 0 along a data dimension", it->name);
    }
  }
  if (!is_empty && given->data == NULL) {
    return isobar_fail(error, ISOBAR_WRONG_CALL, "C06", "field `%s` has no memory: its `data` is NULL", it->name);
  }
  if ((uintptr_t)given->data % (uintptr_t)isobar_dtype_bytes[it->dtype] != 0) {
    return isobar_fail(error, ISOBAR_WRONG_CALL, "A02", "field `%s` is not aligned: %p is no address of a %s", it->name, given->data,
                       isobar_dtype_name[it->dtype]);
  }
  return ISOBAR_OK;
}

/* Whether the array has what the domain asks for, from `start` to before `end`, relative to the compute domain. */
static int32_t isobar_check_range(const isobar_parameter *it, const isobar_field *given, int dimension, int64_t start,
                                  int64_t end, isobar_error *error)
{
  const char axis = "IJK"[it->axis[dimension]];
  const int64_t origin = given->origin[dimension], size = given->shape[dimension];
  if (isobar_sum(origin, start) < 0) {
    return isobar_fail(error, ISOBAR_WRONG_CALL, "C03", "field `%s` needs an origin of at least %lld along %c, and has %lld", it->name,
                       (long long)-start, axis, (long long)origin);
  }
  if (isobar_sum(origin, end) > size) {
    return isobar_fail(error, ISOBAR_WRONG_CALL, "C04", "field `%s` needs %lld points along %c, and the array has %lld", it->name,
                       (long long)isobar_sum(origin, end), axis, (long long)size);
  }
  return ISOBAR_OK;
}

/* Checks a call, and finds its domain. `views` has room for one of each field. */
static int32_t isobar_check(const isobar_stencil *stencil, const isobar_call *call, const isobar_field *const *given,
                            isobar_view *views, int64_t domain[3], isobar_error *error)
{
  if (error != NULL && error->size < sizeof *error) return ISOBAR_VERSION;
  domain[0] = domain[1] = domain[2] = ISOBAR_LARGEST;
  if (call != NULL) {
    if (call->size < sizeof *call || call->abi != ISOBAR_ABI) {
      return isobar_fail(error, ISOBAR_VERSION, "A01", "the call is made for version %u of the ABI with %u bytes, and the library has version %d with %u: build with the header of this library",
                         call->abi, call->size, ISOBAR_ABI, (unsigned)sizeof *call);
    }
    if (call->flags != 0 || call->stream != NULL || call->threads < 0) {
      return isobar_fail(error, ISOBAR_WRONG_CALL, "A02", "`flags` and `threads` of the call are %d and %d, and `stream` is %p: no such options are known",
                         call->flags, call->threads, call->stream);
    }
    memcpy(domain, call->domain, sizeof call->domain);
  }
  for (int32_t at = 0; at < stencil->n_fields; ++at) {
    if (!stencil->fields[at].is_used) continue;
    const int32_t status = isobar_check_field(&stencil->fields[at], given[at], error);
    if (status != ISOBAR_OK) return status;
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (domain[axis] != ISOBAR_LARGEST) continue;
    int64_t largest = INT64_MAX;
    for (int32_t at = 0; at < stencil->n_fields; ++at) {
      const isobar_parameter *it = &stencil->fields[at];
      for (int dimension = 0; it->is_used && dimension < it->n_axes; ++dimension) {
        if (it->axis[dimension] != axis) continue;
        const int64_t origin = given[at]->origin[dimension];
        const int64_t points = isobar_sum(given[at]->shape[dimension], origin == INT64_MIN ? INT64_MAX : -origin) - it->hi[axis];
        if (points < largest) largest = points;
      }
    }
    domain[axis] = largest == INT64_MAX ? 1 : largest < 0 ? 0 : largest;
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (domain[axis] < 0 || domain[axis] > 1048576) {
      return isobar_fail(error, ISOBAR_WRONG_CALL, "C04", "the domain %lld x %lld x %lld is not between 0 and 2^20 points along each axis",
                         (long long)domain[0], (long long)domain[1], (long long)domain[2]);
    }
  }
  const bool is_empty = domain[0] == 0 || domain[1] == 0 || domain[2] == 0;
  if (!is_empty && domain[2] < stencil->min_levels) {
    return isobar_fail(error, ISOBAR_WRONG_CALL, "C05", "`%s` needs at least %lld levels, and the domain has %lld", stencil->name,
                       (long long)stencil->min_levels, (long long)domain[2]);
  }
  int32_t n_views = 0;
  for (int32_t at = 0; at < stencil->n_fields; ++at) {
    const isobar_parameter *it = &stencil->fields[at];
    if (!it->is_used) continue;
    const isobar_field *field = given[at];
    for (int dimension = 0; dimension < it->n_axes; ++dimension) {
      const int axis = it->axis[dimension];
      const int32_t status =
          isobar_check_range(it, field, dimension, it->lo[axis], domain[axis] + it->hi[axis], error);
      if (status != ISOBAR_OK) return status;
    }
    int64_t range[3][2];
    if (is_empty || !isobar_touched(stencil, at, domain, range)) continue;
    isobar_view *view = &views[n_views++];
    view->element = isobar_dtype_bytes[it->dtype];
    view->field = at;
    view->n_steps = field->rank;
    int64_t address = (int64_t)(uintptr_t)field->data, before = 0, behind = view->element;
    bool is_none = false;
    for (int dimension = 0; dimension < field->rank; ++dimension) {
      const int64_t bytes = isobar_product(field->stride[dimension], view->element);
      if (bytes == INT64_MIN || bytes == INT64_MAX) {
        return isobar_fail(error, ISOBAR_WRONG_CALL, "C04", "field `%s` reaches beyond any memory with these strides", it->name);
      }
      int64_t from = 0, n = field->shape[dimension];
      if (dimension < it->n_axes) {
        const int axis = it->axis[dimension];
        const int32_t status = isobar_check_range(it, field, dimension, range[axis][0], range[axis][1], error);
        if (status != ISOBAR_OK) return status;
        /* Along K all levels count, since some may be found at run time. */
        if (axis < 2) {
          from = field->origin[dimension] + range[axis][0];
          n = range[axis][1] - range[axis][0];
        }
      }
      view->step[dimension] = (isobar_step){bytes, n};
      is_none = is_none || n <= 0;
      address = isobar_sum(address, isobar_product(from, bytes));
      const int64_t length = isobar_product(bytes, n - 1);
      if (length < 0) before = isobar_sum(before, length);
      else behind = isobar_sum(behind, length);
    }
    if (is_none) {
      --n_views;
      continue;
    }
    view->address = address;
    view->low = isobar_sum(address, before);
    view->high = isobar_sum(address, behind);
    if (view->low == INT64_MIN || view->high == INT64_MAX) {
      return isobar_fail(error, ISOBAR_WRONG_CALL, "C04", "field `%s` reaches beyond any memory with these strides", it->name);
    }
    if (it->is_written && isobar_shows_one_twice(view)) {
      return isobar_fail(error, ISOBAR_WRONG_CALL, "C08", "field `%s` is written, and the same element of its array stands at several points",
                         it->name);
    }
    for (int32_t other = 0; other + 1 < n_views; ++other) {
      const isobar_parameter *before_it = &stencil->fields[views[other].field];
      if ((it->is_written || before_it->is_written) && isobar_meets(&views[other], view)) {
        return isobar_fail(error, ISOBAR_WRONG_CALL, "C08", "fields `%s` and `%s` share elements, and `%s` is written: pass a copy of one of them",
                           before_it->name, it->name, it->is_written ? it->name : before_it->name);
      }
    }
  }
  return ISOBAR_OK;
}

/* A field as the generated code takes it. */
static inline void isobar_pass(const isobar_parameter *it, const isobar_field *given, const int64_t domain[3],
                               isobar_kernel_field *passed)
{
  int64_t start = 0;
  *passed = (isobar_kernel_field){.data_stride = given->stride + it->n_axes};
  for (int dimension = 0; dimension < it->n_axes; ++dimension) {
    const int axis = it->axis[dimension];
    const int64_t origin = given->origin[dimension];
    passed->stride[axis] = given->stride[dimension];
    start = isobar_sum(start, isobar_product(origin, given->stride[dimension]));
    if (axis == 2) {
      passed->below = origin;
      passed->above = given->shape[dimension] - origin - domain[2];
    }
  }
  /* The start of the domain may lie outside of the array, which is then not touched. */
  passed->data = (void *)((uintptr_t)given->data + (uintptr_t)start * (uintptr_t)isobar_dtype_bytes[it->dtype]);
}

/* So few points are computed by one thread unless the call says how many. */
#define ISOBAR_SMALL 8192

/* Temporaries of so many bytes lie on the stack where the call gives no memory. */
#define ISOBAR_ON_STACK 16384
