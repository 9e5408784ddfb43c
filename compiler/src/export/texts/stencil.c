/* What stands between the interface and the generated code of one stencil. */

/* Before anything is hidden below. */
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The generated code has an interface of its own, which has the same names. */
#define isobar_field isobar_kernel_field
#define isobar_call isobar_kernel_call
#define isobar_trap isobar_kernel_trap
#define isobar_run @NAME@_kernel
#pragma GCC visibility push(hidden)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "kernels/@NAME@.c"
#pragma GCC diagnostic pop
#pragma GCC visibility pop
#undef isobar_field
#undef isobar_call
#undef isobar_trap
#undef isobar_run

#pragma GCC visibility push(default)
#include "@HEADER@.h"
#pragma GCC visibility pop
#include "isobar_checks.h"

/* The same for one thread, for which OpenMP has no team to make. */
__attribute__((visibility("hidden"))) int32_t @NAME@_kernel_one_thread(const isobar_kernel_call *call);

@TABLES@

/* Where statements are written that may end a run. */
static const struct {
  int32_t statement, line, column;
  const char *file, *why;
} isobar_statements[] = {
@TRAPS@};

static __attribute__((noinline, cold)) int32_t isobar_trapped(const isobar_kernel_trap *trap, isobar_error *error)
{
  isobar_fail(error, ISOBAR_TRAP, "A03", "a statement ended the run");
  if (error == NULL) return ISOBAR_TRAP;
  error->cell[0] = trap->i;
  error->cell[1] = trap->j;
  error->cell[2] = trap->k;
  for (size_t at = 0; at < sizeof isobar_statements / sizeof *isobar_statements; ++at) {
    if (@HAS_TRAPS@ && isobar_statements[at].statement == trap->statement) {
      error->line = isobar_statements[at].line;
      error->column = isobar_statements[at].column;
      snprintf(error->message, sizeof error->message, "%s", isobar_statements[at].why);
      snprintf(error->file, sizeof error->file, "%s", isobar_statements[at].file);
    }
  }
  return ISOBAR_TRAP;
}

/* A call as the generated code takes it: what was checked, and nothing of the caller's but its arrays. */
static inline void isobar_prepare(const isobar_call *call, const isobar_field *const *given, const int64_t domain[3],
                                  isobar_kernel_field *fields, isobar_kernel_call *run)
{
  static const int order[] = {@ORDER@};
  for (int at = 0; at < @N_KERNEL@; ++at) {
    isobar_pass(&isobar_fields[order[at]], given[order[at]], domain, &fields[at]);
  }
  const int64_t points = domain[0] * domain[1] * domain[2];
  *run = (isobar_kernel_call){
      .domain = {domain[0], domain[1], domain[2]},
      .fields = fields,
      .threads = call != NULL && call->threads > 0 ? call->threads : points < ISOBAR_SMALL ? 1 : omp_get_max_threads(),
      .cancel = call != NULL ? call->cancel : NULL,
  };
}

@SCRATCH@
{
  const isobar_field *const given[] = {@GIVEN@};
  isobar_view views[@N_FIELDS@];
  int64_t domain[3];
  if (isobar_check(&isobar_description, call, given, views, domain, NULL) != ISOBAR_OK) return UINT64_MAX;
  isobar_kernel_field fields[@N_PASSED@];
  isobar_kernel_call run;
  isobar_prepare(call, given, domain, fields, &run);
  return isobar_workspace(&run);
}

@RUN@
{
@UNUSED@  const isobar_field *const given[] = {@GIVEN@};
  isobar_view views[@N_FIELDS@];
  int64_t domain[3];
  const int32_t status = isobar_check(&isobar_description, call, given, views, domain, error);
  if (status != ISOBAR_OK) return status;
@ASKED@  if (domain[0] == 0 || domain[1] == 0 || domain[2] == 0) return ISOBAR_OK;
  isobar_kernel_field fields[@N_PASSED@];
  isobar_kernel_call run;
  isobar_prepare(call, given, domain, fields, &run);
  const void *const scalars[] = {@SCALARS@};
  run.scalars = scalars;
  isobar_kernel_trap trap = {0};
  run.trap = &trap;

  /* Memory for temporaries: the caller's, some of the stack, or what the generated code allocates for this call. */
  const uint64_t bytes = isobar_workspace(&run);
  _Alignas(64) char on_stack[ISOBAR_ON_STACK];
  char *memory = on_stack;
  uint64_t available = sizeof on_stack;
  if (call != NULL && call->scratch != NULL) {
    if (call->scratch_bytes < bytes) {
      return isobar_fail(error, ISOBAR_WRONG_CALL, "A02", "`scratch` has %llu bytes, and the call needs %llu",
                         (unsigned long long)call->scratch_bytes, (unsigned long long)bytes);
    }
    memory = call->scratch;
    available = call->scratch_bytes;
  }
  if (bytes > 0 && bytes <= available) {
    const uint64_t skipped = (64 - (uintptr_t)memory % 64) % 64;
    run.workspace = memory + skipped;
    run.workspace_bytes = available - skipped;
  }
  switch (run.threads == 1 ? @NAME@_kernel_one_thread(@PASSED@) : @NAME@_kernel(@PASSED@)) {
  case 0: return ISOBAR_OK;
  case 1: return isobar_trapped(&trap, error);
  case 2:
    return isobar_fail(error, ISOBAR_MEMORY, "A04", "there is no memory for the temporaries of this call, %llu bytes",
                       (unsigned long long)bytes);
  case 3: return isobar_fail(error, ISOBAR_CANCELLED, "A05", "the call was cancelled: fields that it writes are in an unknown state");
@OTHERS@  default: return isobar_fail(error, ISOBAR_VERSION, "A01", "the generated code was compiled with flags that it does not take");
  }
}
@EVENT@