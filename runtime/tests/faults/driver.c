// NVIDIA's driver and NVRTC as far as the executor calls them, without a GPU: memory is the host's, kernels do nothing,
// and what goes wrong is chosen, by the environment when it is asked for and by `isobar_next` for what comes next.

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int result;

// What fails from now on, with which result.
static const char *failing = "";
static result failure;

void isobar_next(const char *function, result with) {
  failing = function;
  failure = with;
}

static long given(const char *name, long otherwise) {
  const char *value = getenv(name);
  return value ? atol(value) : otherwise;
}

#define OF(name) if (!strcmp(failing, #name)) return failure
#define FINE(name, ...) result name(__VA_ARGS__) { OF(name); return 0; }
#define MAKES(name, ...) result name(void **made, ##__VA_ARGS__) { OF(name); *made = malloc(1); return 0; }
#define FREES(name) result name(void *it) { free(it); return 0; }

FINE(cuInit, unsigned flags)
result cuDriverGetVersion(int *version) { *version = given("FAKE_DRIVER", 12090); return 0; }
result cuDeviceGetCount(int *count) { *count = given("FAKE_GPUS", 1); return 0; }
result cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
result cuDeviceGetName(char *name, int length, int device) { strncpy(name, "Fake", length); return 0; }
result cuDeviceGetAttribute(int *value, int attribute, int device) {
  // 75 and 76 are the compute capability, 97 the shared memory that a block may ask for.
  *value = attribute == 75 ? 9 : attribute == 97 ? given("FAKE_SHARED", 232448) : 0;
  return 0;
}
result cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = (size_t)1 << 36; return 0; }
MAKES(cuDevicePrimaryCtxRetain, int device)
FINE(cuDevicePrimaryCtxRelease_v2, int device)
static void *current;
result cuCtxGetCurrent(void **context) { *context = current; return 0; }
result cuCtxSetCurrent(void *context) { current = context; return 0; }
FINE(cuCtxSynchronize, void)
MAKES(cuStreamCreate, unsigned flags)
FREES(cuStreamDestroy_v2)
FINE(cuStreamSynchronize, void *stream)
FINE(cuStreamWaitEvent, void *stream, void *event, unsigned flags)
FINE(cuStreamBeginCapture_v2, void *stream, int mode)
result cuStreamEndCapture(void *stream, void **graph) { OF(cuStreamEndCapture); *graph = malloc(1); return 0; }
MAKES(cuGraphInstantiateWithFlags, void *graph, unsigned long long flags)
FINE(cuGraphUpload, void *graph, void *stream)
FINE(cuGraphLaunch, void *graph, void *stream)
FREES(cuGraphDestroy)
FREES(cuGraphExecDestroy)
MAKES(cuEventCreate, unsigned flags)
FREES(cuEventDestroy_v2)
FINE(cuEventRecord, void *event, void *stream)
FINE(cuEventRecordWithFlags, void *event, void *stream, unsigned flags)
FINE(cuEventQuery, void *event)
FINE(cuEventSynchronize, void *event)
result cuEventElapsedTime(float *ms, void *start, void *end) { *ms = 1; return 0; }
result cuEventElapsedTime_v2(float *ms, void *start, void *end) { *ms = 1; return 0; }
result cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  OF(cuMemAlloc_v2);
  *address = (uint64_t)(uintptr_t)malloc(bytes);
  return 0;
}
result cuMemFree_v2(uint64_t address) { free((void *)(uintptr_t)address); return 0; }
result cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  OF(cuMemHostAlloc);
  *memory = malloc(bytes);
  return 0;
}
FREES(cuMemFreeHost)
result cuMemsetD8Async(uint64_t address, unsigned char byte, size_t bytes, void *stream) {
  memset((void *)(uintptr_t)address, byte, bytes);
  return 0;
}
result cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
  OF(cuMemcpyHtoDAsync_v2);
  memcpy((void *)(uintptr_t)to, from, bytes);
  return 0;
}
result cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
  OF(cuMemcpyDtoHAsync_v2);
  memcpy(to, (void *)(uintptr_t)from, bytes);
  return 0;
}
MAKES(cuModuleLoadData, const void *image)
FREES(cuModuleUnload)
result cuModuleGetFunction(void **function, void *module, const char *name) { *function = module; return 0; }
result cuFuncGetAttribute(int *value, int attribute, void *function) { *value = 0; return 0; }
FINE(cuFuncSetAttribute, void *function, int attribute, int value)
FINE(cuLaunchKernel, void *function, unsigned x, unsigned y, unsigned z, unsigned i, unsigned j, unsigned k,
     unsigned shared, void *stream, void **arguments, void **extra)
result cuGetErrorString(result error, const char **said) { *said = "what the driver says"; return 0; }
result cuGetErrorName(result error, const char **said) { *said = "its name"; return 0; }

result nvrtcVersion(int *major, int *minor) { *major = given("FAKE_NVRTC", 12); *minor = 9; return 0; }
result nvrtcGetNumSupportedArchs(int *count) { *count = 1; return 0; }
result nvrtcGetSupportedArchs(int *archs) { *archs = given("FAKE_ARCH", 90); return 0; }
MAKES(nvrtcCreateProgram, const char *text, const char *name, int n, const char *const *h, const char *const *i)
// 6 is a text with errors.
result nvrtcCompileProgram(void *program, int n, const char *const *options) { return given("FAKE_REFUSED", 0); }
static const char SAID[] = "what NVRTC says";
result nvrtcGetProgramLogSize(void *program, size_t *bytes) { *bytes = sizeof SAID; return 0; }
result nvrtcGetProgramLog(void *program, char *log) { memcpy(log, SAID, sizeof SAID); return 0; }
result nvrtcGetCUBINSize(void *program, size_t *bytes) { *bytes = 4; return 0; }
result nvrtcGetCUBIN(void *program, char *code) { memcpy(code, "code", 4); return 0; }
result nvrtcDestroyProgram(void **program) { free(*program); return 0; }
