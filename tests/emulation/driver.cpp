/* A GPU that any program of CUDA's driver finds, on a CPU: `libcuda.so.1` as far as Isobar's executor calls it.
 *
 * Kernels are libraries of `nvrtc.cpp`, run by `emulation.cpp`. What a real GPU hides is a fault here:
 *
 * - Device memory can be touched by kernels and copies alone; the host dies at it. Beside it lie guards, and what was
 *   freed is never anybody else's: a kernel that goes there ends as with an illegal address.
 * - Work waits on its stream until somebody waits for that: who forgets a stream finds what was there before.
 * - A stream that is captured waits for no other stream.
 * - Calls need the context of their thread.
 *
 * `emulated_count` tells what there is and what was done; `emulated_later` puts a copy on a stream.
 * EMULATED_GPUS is the number of GPUs, 2 where it is missing.
 */
#include <dlfcn.h>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "driver.h"
#include "emulation.h"

#define API extern "C" __attribute__((visibility("default"))) int

enum {
    FINE = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_FAILED = 719,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_ISOLATION = 905
};

namespace {

const size_t PAGE = 4096;
const uint8_t GUARD_BYTE = 0xa5;

struct memory {
    int device;
    size_t bytes, whole;
};

struct graph {
    std::vector<std::function<int()>> work;
};

struct stream {
    std::vector<std::function<int()>> pending;
    graph *captured;
};

struct event {
    stream *recorded;
};

struct module {
    void *library;
};

struct function {
    emulated_kernel call;
    const char *(*launch)(emulated_kernel, const uint64_t *, const uint64_t *, size_t, uint64_t, void **);
    int arity;
    std::string name;
};

struct context {
    int device;
};

std::recursive_mutex lock;
context contexts[8];
thread_local context *current;
thread_local stream own_default;
stream legacy_default;
std::map<uint64_t, memory> memories;
std::set<stream *> streams;
std::map<std::string, int64_t> counts;
/* What broke the context. */
int broken = FINE;
uint64_t n_launches;
sigjmp_buf before_fault;

typedef std::lock_guard<std::recursive_mutex> guard;

/* Device memory may be touched as long as there is one. */
struct opened {
    static int depth;
    opened() { if (depth++ == 0) protect(PROT_READ | PROT_WRITE); }
    ~opened() { if (--depth == 0) protect(PROT_NONE); }
    static void protect(int how)
    {
        for (auto &it : memories) mprotect((void *)it.first, it.second.whole, how);
    }
};
int opened::depth;

int breaks(int how, const char *why)
{
    fprintf(stderr, "the emulated GPU: %s\n", why);
    return broken = how;
}

stream *known(void *handle)
{
    if (handle == NULL || handle == (void *)1) return &legacy_default;
    if (handle == (void *)2) return &own_default;
    return streams.count((stream *)handle) ? (stream *)handle : NULL;
}

/* Does what waits on a stream. */
int flush(stream *it)
{
    std::vector<std::function<int()>> work;
    work.swap(it->pending);
    for (auto &one : work) {
        if (broken == FINE) broken = one();
    }
    return broken;
}

int flush_all()
{
    flush(&legacy_default);
    flush(&own_default);
    for (stream *it : std::set<stream *>(streams)) flush(it);
    return broken;
}

/* Puts work on a stream, or into the graph that is made of it. */
int put(void *handle, std::function<int()> work)
{
    stream *on = known(handle);
    if (on == NULL) return INVALID_HANDLE;
    if (on->captured) on->captured->work.push_back(work);
    else on->pending.push_back(work);
    return FINE;
}

bool within(uint64_t address, size_t bytes)
{
    auto behind = memories.upper_bound(address);
    if (behind == memories.begin()) return false;
    auto it = std::prev(behind);
    return address + bytes <= it->first + it->second.bytes;
}

/* Whether nobody wrote behind a memory; before it lies a page of the system's. */
bool is_whole(uint64_t start, const memory &it)
{
    for (size_t at = it.bytes; at < it.whole; ++at) {
        if (((uint8_t *)start)[at] != GUARD_BYTE) return false;
    }
    return true;
}

void on_fault(int) { siglongjmp(before_fault, 1); }

int run(function *it, const uint64_t *grid, const uint64_t *threads, size_t shared, std::vector<uint64_t> words)
{
    std::vector<void *> arguments;
    for (uint64_t &word : words) arguments.push_back(&word);
    arguments.push_back(NULL);
    opened memory;
    struct sigaction ours, theirs;
    memset(&ours, 0, sizeof ours);
    ours.sa_handler = on_fault;
    sigaction(SIGSEGV, &ours, &theirs);
    const char *volatile fault = NULL;
    bool is_illegal = sigsetjmp(before_fault, 1) != 0;
    if (!is_illegal) fault = it->launch(it->call, grid, threads, shared, ++n_launches, arguments.data());
    sigaction(SIGSEGV, &theirs, NULL);
    if (is_illegal) return breaks(ILLEGAL_ADDRESS, (it->name + " touches memory that is not there").c_str());
    if (fault) return breaks(LAUNCH_FAILED, (it->name + ": " + fault).c_str());
    for (auto &one : memories) {
        if (!is_whole(one.first, one.second)) {
            return breaks(LAUNCH_FAILED, (it->name + " writes behind an array").c_str());
        }
    }
    return FINE;
}

} // namespace

#define NEEDS_CONTEXT                                  \
    guard held(lock);                                  \
    if (current == NULL) return INVALID_CONTEXT;       \
    if (broken != FINE) return broken

/* For tests: what there is, and what was done. */
extern "C" __attribute__((visibility("default"))) int64_t emulated_count(const char *what)
{
    guard held(lock);
    return counts[what];
}

/* For tests: bytes that a stream writes once somebody waits for it. */
API emulated_later(void *handle, uint64_t to, const void *from, size_t bytes)
{
    NEEDS_CONTEXT;
    if (!within(to, bytes)) return INVALID_VALUE;
    std::string copy((const char *)from, bytes);
    return put(handle, [=] {
        opened memory;
        memcpy((void *)to, copy.data(), copy.size());
        return FINE;
    });
}

API cuInit(unsigned) { return FINE; }

API cuDriverGetVersion(int *version)
{
    *version = 12090;
    return FINE;
}

API cuDeviceGetCount(int *count)
{
    const char *given = getenv("EMULATED_GPUS");
    *count = given ? atoi(given) : 2;
    return FINE;
}

API cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return FINE;
}

API cuDeviceGetName(char *name, int length, int)
{
    snprintf(name, (size_t)length, "emulated");
    return FINE;
}

API cuDeviceGetAttribute(int *value, int attribute, int)
{
    /* 75 and 76 are the compute capability, 97 the shared memory that a block may ask for. */
    *value = attribute == 75 ? EMULATED_ARCH / 10 : attribute == 76 ? EMULATED_ARCH % 10 : attribute == 97 ? 232448 : 0;
    return FINE;
}

API cuDeviceTotalMem_v2(size_t *bytes, int)
{
    *bytes = (size_t)1 << 34;
    return FINE;
}

API cuDevicePrimaryCtxRetain(void **made, int device)
{
    guard held(lock);
    contexts[device].device = device;
    *made = &contexts[device];
    return FINE;
}

API cuDevicePrimaryCtxRelease_v2(int) { return FINE; }

API cuCtxGetCurrent(void **it)
{
    *it = current;
    return FINE;
}

API cuCtxSetCurrent(void *it)
{
    current = (context *)it;
    return FINE;
}

API cuCtxSynchronize(void)
{
    NEEDS_CONTEXT;
    return flush_all();
}

API cuStreamCreate(void **made, unsigned)
{
    NEEDS_CONTEXT;
    stream *it = new stream();
    streams.insert(it);
    counts["streams"]++;
    *made = it;
    return FINE;
}

API cuStreamDestroy_v2(void *handle)
{
    NEEDS_CONTEXT;
    stream *it = known(handle);
    if (it == NULL) return INVALID_HANDLE;
    flush(it);
    streams.erase(it);
    counts["streams"]--;
    /* An event that was recorded on it may ask it still: it stays, with nothing to do. */
    return FINE;
}

API cuStreamSynchronize(void *handle)
{
    NEEDS_CONTEXT;
    stream *it = known(handle);
    return it == NULL ? (int)INVALID_HANDLE : it->captured ? (int)CAPTURE_UNSUPPORTED : flush(it);
}

API cuStreamWaitEvent(void *handle, void *of, unsigned)
{
    NEEDS_CONTEXT;
    stream *it = known(handle);
    if (it == NULL) return INVALID_HANDLE;
    if (it->captured) return CAPTURE_ISOLATION;
    counts["waits"]++;
    stream *other = ((event *)of)->recorded;
    if (other == NULL || other == it) return FINE;
    return put(handle, [=] { return flush(other); });
}

API cuStreamBeginCapture_v2(void *handle, int)
{
    NEEDS_CONTEXT;
    stream *it = known(handle);
    if (it == NULL || it == &legacy_default) return INVALID_HANDLE;
    it->captured = new graph();
    return FINE;
}

API cuStreamEndCapture(void *handle, void **made)
{
    NEEDS_CONTEXT;
    stream *it = known(handle);
    if (it == NULL || it->captured == NULL) return INVALID_HANDLE;
    counts["graphs"]++;
    *made = it->captured;
    it->captured = NULL;
    return FINE;
}

API cuGraphInstantiateWithFlags(void **made, void *of, unsigned long long)
{
    NEEDS_CONTEXT;
    counts["graphs"]++;
    *made = new graph(*(graph *)of);
    return FINE;
}

API cuGraphUpload(void *, void *)
{
    NEEDS_CONTEXT;
    return FINE;
}

API cuGraphLaunch(void *of, void *handle)
{
    NEEDS_CONTEXT;
    counts["graph launches"]++;
    for (auto &work : ((graph *)of)->work) {
        if (int why = put(handle, work)) return why;
    }
    return FINE;
}

API cuGraphDestroy(void *it)
{
    guard held(lock);
    delete (graph *)it;
    counts["graphs"]--;
    return FINE;
}

API cuGraphExecDestroy(void *it) { return cuGraphDestroy(it); }

API cuEventCreate(void **made, unsigned)
{
    NEEDS_CONTEXT;
    counts["events"]++;
    *made = new event();
    return FINE;
}

API cuEventDestroy_v2(void *it)
{
    guard held(lock);
    delete (event *)it;
    counts["events"]--;
    return FINE;
}

API cuEventRecordWithFlags(void *of, void *handle, unsigned flags)
{
    NEEDS_CONTEXT;
    stream *it = known(handle);
    if (it == NULL) return INVALID_HANDLE;
    /* 1 is an event that is to be asked outside of the graph. */
    if (it->captured && flags != 1) return CAPTURE_UNSUPPORTED;
    ((event *)of)->recorded = it;
    return FINE;
}

API cuEventRecord(void *of, void *handle) { return cuEventRecordWithFlags(of, handle, 0); }

API cuEventSynchronize(void *of)
{
    NEEDS_CONTEXT;
    stream *it = ((event *)of)->recorded;
    return it ? flush(it) : (int)FINE;
}

API cuEventQuery(void *of) { return cuEventSynchronize(of); }

API cuEventElapsedTime(float *ms, void *, void *)
{
    *ms = 1;
    return FINE;
}

API cuEventElapsedTime_v2(float *ms, void *start, void *end) { return cuEventElapsedTime(ms, start, end); }

API cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    NEEDS_CONTEXT;
    if (bytes == 0) return INVALID_VALUE;
    size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    uint8_t *pages = (uint8_t *)mmap(NULL, whole + 2 * PAGE, PROT_NONE, flags, -1, 0);
    if (pages == MAP_FAILED) return OUT_OF_MEMORY;
    uint8_t *start = pages + PAGE;
    mprotect(start, whole, PROT_READ | PROT_WRITE);
    /* What nobody has written is no number. */
    memset(start, 0xff, bytes);
    memset(start + bytes, GUARD_BYTE, whole - bytes);
    mprotect(start, whole, PROT_NONE);
    memories[(uint64_t)start] = memory{current->device, bytes, whole};
    counts["memory"]++;
    *address = (uint64_t)start;
    return FINE;
}

API cuMemFree_v2(uint64_t address)
{
    guard held(lock);
    auto it = memories.find(address);
    if (it == memories.end()) return INVALID_VALUE;
    flush_all();
    /* Its pages stay, so that nobody gets that address again. */
    madvise((void *)address, it->second.whole, MADV_DONTNEED);
    memories.erase(it);
    counts["memory"]--;
    return FINE;
}

API cuMemHostAlloc(void **made, size_t bytes, unsigned)
{
    NEEDS_CONTEXT;
    *made = malloc(bytes);
    counts["pinned"]++;
    return FINE;
}

API cuMemFreeHost(void *it)
{
    guard held(lock);
    free(it);
    counts["pinned"]--;
    return FINE;
}

API cuMemsetD8Async(uint64_t to, unsigned char byte, size_t bytes, void *handle)
{
    NEEDS_CONTEXT;
    if (!within(to, bytes)) return INVALID_VALUE;
    return put(handle, [=] {
        opened memory;
        memset((void *)to, byte, bytes);
        return FINE;
    });
}

API cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *handle)
{
    NEEDS_CONTEXT;
    counts["to device"]++;
    if (!within(to, bytes)) return INVALID_VALUE;
    return put(handle, [=] {
        opened memory;
        memcpy((void *)to, from, bytes);
        return FINE;
    });
}

API cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *handle)
{
    NEEDS_CONTEXT;
    counts["to host"]++;
    if (!within(from, bytes)) return INVALID_VALUE;
    return put(handle, [=] {
        opened memory;
        memcpy(to, (void *)from, bytes);
        return FINE;
    });
}

API cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    int why = cuMemcpyHtoDAsync_v2(to, from, bytes, NULL);
    return why ? why : cuStreamSynchronize(NULL);
}

API cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    int why = cuMemcpyDtoHAsync_v2(to, from, bytes, NULL);
    return why ? why : cuStreamSynchronize(NULL);
}

API cuPointerGetAttribute(void *value, int attribute, uint64_t address)
{
    NEEDS_CONTEXT;
    counts["asked for"]++;
    /* 9 is the number of the GPU. */
    if (attribute != 9 || !within(address, 1)) return INVALID_VALUE;
    *(int *)value = std::prev(memories.upper_bound(address))->second.device;
    return FINE;
}

API cuModuleLoadData(void **made, const void *image)
{
    NEEDS_CONTEXT;
    const char *bytes = (const char *)image;
    if (memcmp(bytes, EMULATED_MAGIC, 8) != 0) return INVALID_IMAGE;
    uint64_t length;
    memcpy(&length, bytes + 8, sizeof length);
    /* A name of its own each time: the loader takes the same name for the same library. */
    std::string path = std::filesystem::temp_directory_path() / "emulated-module-XXXXXX";
    int file = mkstemp(path.data());
    bool is_written = file >= 0 && write(file, bytes + 16, length) == (ssize_t)length;
    if (file >= 0) close(file);
    void *library = is_written ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : NULL;
    unlink(path.c_str());
    if (library == NULL) return breaks(INVALID_IMAGE, dlerror());
    counts["modules"]++;
    *made = new module{library};
    return FINE;
}

API cuModuleUnload(void *it)
{
    NEEDS_CONTEXT;
    flush_all();
    /* The library stays: what is left of a launch that broke is on its stacks. */
    delete (module *)it;
    counts["modules"]--;
    return FINE;
}

API cuModuleGetFunction(void **made, void *of, const char *name)
{
    NEEDS_CONTEXT;
    void *library = ((module *)of)->library;
    const std::string text = name;
    auto arity = (int (*)())dlsym(library, ("emulated_arity_" + text).c_str());
    function it = {(emulated_kernel)dlsym(library, ("emulated_by_" + text).c_str()), NULL, 0, text};
    *(void **)&it.launch = dlsym(library, "emulated_launch");
    if (it.call == NULL || it.launch == NULL || arity == NULL) return NOT_FOUND;
    it.arity = arity();
    *made = new function(it);
    return FINE;
}

API cuFuncGetAttribute(int *value, int, void *)
{
    *value = 0;
    return FINE;
}

API cuFuncSetAttribute(void *, int, int) { return FINE; }

API cuLaunchKernel(void *of, unsigned x, unsigned y, unsigned z, unsigned i, unsigned j, unsigned k, unsigned shared,
                   void *handle, void **arguments, void **)
{
    NEEDS_CONTEXT;
    function *it = (function *)of;
    if ((size_t)x * y * z == 0 || (size_t)i * j * k == 0 || (size_t)i * j * k > 1024) return INVALID_VALUE;
    counts["launches"]++;
    /* Isobar passes words. */
    std::vector<uint64_t> words(it->arity);
    for (int at = 0; at < it->arity; ++at) memcpy(&words[at], arguments[at], sizeof(uint64_t));
    return put(handle, [=] {
        const uint64_t grid[] = {x, y, z}, threads[] = {i, j, k};
        return run(it, grid, threads, shared, words);
    });
}

API cuGetErrorString(int error, const char **said)
{
    *said = error == ILLEGAL_ADDRESS ? "an illegal address" : "what the emulated GPU says";
    return FINE;
}

API cuGetErrorName(int, const char **said)
{
    *said = "its name";
    return FINE;
}
