/* Reads descriptors of Fortran's arrays. It is compiled beside the compiler of Fortran whose header this is. */
#include <ISO_Fortran_binding.h>

#include <stdio.h>

#include "@NAME@.h"

static inline void isobar_describe_call(isobar_call *call, const int64_t *domain, const int32_t *threads, void *scratch,
                                        const int64_t *scratch_bytes, isobar_error *error)
{
  *call = (isobar_call)ISOBAR_CALL_INIT;
  for (int axis = 0; domain != NULL && axis < 3; ++axis) call->domain[axis] = domain[axis];
  if (threads != NULL) call->threads = *threads;
  if (scratch != NULL && scratch_bytes != NULL) {
    call->scratch = scratch;
    call->scratch_bytes = *scratch_bytes > 0 ? (uint64_t)*scratch_bytes : 0;
  }
  if (error != NULL) error->size = sizeof *error;
}

/* `bytes` are those of an element, `rank` and `axes` the dimensions and which axes they are; data dimensions have no origin.
   All of that is known while this is compiled: a division by a number that is not takes longer than the rest. */
static inline __attribute__((always_inline)) bool
isobar_describe(isobar_field *field, int32_t dtype, CFI_index_t bytes, const CFI_cdesc_t *given, int rank, int n_axes,
                const int *axes, const int64_t *origin, const int64_t *origins, int number)
{
  *field = (isobar_field){.size = sizeof *field, .dtype = dtype, .rank = given->rank, .data = given->base_addr};
#pragma GCC unroll 8
  for (int at = 0; at < rank; ++at) {
    field->shape[at] = given->dim[at].extent;
    /* Components of a type may lie a part of an element farther. */
    if (given->dim[at].sm % bytes != 0) return false;
    field->stride[at] = given->dim[at].sm / bytes;
    if (at >= n_axes) continue;
    if (origins != NULL) field->origin[at] = origins[3 * number + axes[at]];
    else if (origin != NULL) field->origin[at] = origin[axes[at]];
  }
  return true;
}

static int32_t isobar_refuse(isobar_error *error, const char *name)
{
  if (error != NULL) {
    snprintf(error->code, sizeof error->code, "A02");
    snprintf(error->message, sizeof error->message, "field `%s` has neighbours that are no whole number of elements apart", name);
  }
  return ISOBAR_WRONG_CALL;
}

static inline void isobar_describe_element(isobar_field *field, int32_t dtype, void *given)
{
  *field = (isobar_field){.size = sizeof *field, .dtype = dtype, .data = given};
}

@POINT@@SHIMS@
