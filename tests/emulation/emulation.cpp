/* Threads, blocks, launches, and the conversation with whoever started the program; see `emulation.h`. A library, for
 * `driver.cpp`, has no conversation: it is compiled with EMULATED_LIBRARY.
 *
 * All numbers are 64 bits, in the machine's order. A run is read from the standard input:
 *   the number of buffers, and of each its bytes and what is in it;
 *   the number of launches, and of each: kernel, blocks along x, y, z, threads along x, y, z, bytes of shared memory,
 *   whether there are barriers, a seed, the number of arguments, and of each: 0 and its bits, or 1, a buffer and a
 *   distance in bytes from its start.
 * The answer is 0 and the buffers, or 1, the length of a sentence and the sentence.
 */
#include "emulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#if !defined(__x86_64__)
#error "fibers are written for x86-64"
#endif

emulated_index threadIdx, blockIdx, blockDim, gridDim;

namespace {

const size_t STACK = 128 << 10;
const size_t THREADS = 1024;
/* Around each buffer, so that a write beside it is seen. */
const size_t GUARD = 4096;
const uint8_t GUARD_BYTE = 0xa5;
const size_t ARRAYS = 64;

struct fiber {
    void *stack_pointer;
    /* 0 while it runs, the line of the barrier at which it waits, or -1 when it has ended. */
    int line;
    emulated_index index;
};

struct {
    emulated_kernel kernel;
    void **arguments;
    bool has_barriers;
    fiber fibers[THREADS];
    fiber *current;
    void *scheduler;
    uint8_t *stacks;
    uint8_t *memory;
    size_t memory_bytes;
    struct {
        int line;
        size_t bytes, room;
        void *start;
    } arrays[ARRAYS];
    size_t n_arrays;
    uint64_t random;
    char fault[256];
} now;

uint64_t next_random()
{
    now.random ^= now.random << 13;
    now.random ^= now.random >> 7;
    now.random ^= now.random << 17;
    return now.random;
}

void shuffle(uint32_t *order, size_t n)
{
    for (size_t at = 0; at < n; ++at) order[at] = (uint32_t)at;
    for (size_t at = n; at > 1; --at) {
        size_t other = next_random() % at;
        uint32_t one = order[at - 1];
        order[at - 1] = order[other];
        order[other] = one;
    }
}

} // namespace

/* Leaves the stack at hand, whose pointer it notes in `from`, for another one. */
extern "C" __attribute__((visibility("hidden"))) void emulated_switch(void **from, void *to);
asm(".text\n"
    ".globl emulated_switch\n"
    ".hidden emulated_switch\n"
    ".type emulated_switch, @function\n"
    "emulated_switch:\n"
    "  pushq %rbp\n"
    "  pushq %rbx\n"
    "  pushq %r12\n"
    "  pushq %r13\n"
    "  pushq %r14\n"
    "  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n"
    "  popq %r14\n"
    "  popq %r13\n"
    "  popq %r12\n"
    "  popq %rbx\n"
    "  popq %rbp\n"
    "  ret\n"
    ".size emulated_switch, . - emulated_switch\n");

static void run_fiber()
{
    now.kernel(now.arguments);
    now.current->line = -1;
    emulated_switch(&now.current->stack_pointer, now.scheduler);
    abort();
}

static void fault(const char *what, long one, long other)
{
    if (now.fault[0] == 0) snprintf(now.fault, sizeof now.fault, what, one, other);
}

void *emulated_shared(int line, size_t bytes)
{
    for (size_t at = 0; at < now.n_arrays; ++at) {
        if (now.arrays[at].line == line) return now.arrays[at].start;
    }
    if (now.n_arrays == ARRAYS) abort();
    auto &array = now.arrays[now.n_arrays++];
    if (array.room < bytes) {
        free(array.start);
        array.start = aligned_alloc(64, (bytes + 63) / 64 * 64);
        array.room = bytes;
    }
    array.line = line;
    array.bytes = bytes;
    memset(array.start, 0xff, bytes);
    return array.start;
}

uint8_t *emulated_memory() { return now.memory; }

void emulated_barrier(int line)
{
    if (!now.has_barriers) {
        fault("a barrier in a kernel that has none (line %ld)", line, 0);
        return;
    }
    fiber *own = now.current;
    own->line = line;
    emulated_switch(&own->stack_pointer, now.scheduler);
    threadIdx = own->index;
}

static void resume(fiber *it)
{
    now.current = it;
    it->line = 0;
    threadIdx = it->index;
    emulated_switch(&now.scheduler, it->stack_pointer);
}

static emulated_index thread_of(size_t number)
{
    unsigned x = (unsigned)number % blockDim.x, rest = (unsigned)number / blockDim.x;
    return {x, rest % blockDim.y, rest / blockDim.y};
}

static void run_block()
{
    static uint32_t order[THREADS];
    size_t n = (size_t)blockDim.x * blockDim.y * blockDim.z;
    now.n_arrays = 0;
    memset(now.memory, 0xff, now.memory_bytes);
    if (!now.has_barriers) {
        shuffle(order, n);
        for (size_t at = 0; at < n; ++at) {
            threadIdx = thread_of(order[at]);
            now.kernel(now.arguments);
        }
        return;
    }
    for (size_t at = 0; at < n; ++at) {
        fiber &it = now.fibers[at];
        /* Six registers, where it begins, and an address to return to that nobody uses. */
        void **top = (void **)(void *)(now.stacks + (at + 1) * STACK);
        top[-1] = NULL;
        top[-2] = (void *)run_fiber;
        it.stack_pointer = top - 8;
        it.line = 0;
        it.index = thread_of(at);
    }
    for (;;) {
        shuffle(order, n);
        for (size_t at = 0; at < n; ++at) resume(&now.fibers[order[at]]);
        int line = now.fibers[0].line;
        for (size_t at = 1; at < n; ++at) {
            int other = now.fibers[at].line;
            if (other != line) {
                fault("threads of a block do not wait for each other: one is at line %ld, another one at line %ld "
                      "(-1 has ended)",
                      line, other);
                return;
            }
        }
        if (line == -1) return;
    }
}

static void run_launch(const uint64_t *grid)
{
    size_t n = (size_t)(grid[0] * grid[1] * grid[2]);
    uint32_t *order = (uint32_t *)malloc(n * sizeof *order);
    shuffle(order, n);
    for (size_t at = 0; at < n && now.fault[0] == 0; ++at) {
        unsigned x = order[at] % gridDim.x, rest = order[at] / gridDim.x;
        blockIdx = {x, rest % gridDim.y, rest / gridDim.y};
        run_block();
    }
    free(order);
}

/* Runs a kernel; what goes wrong is in `now.fault`. */
static void launch(emulated_kernel kernel, const uint64_t *grid, const uint64_t *threads, size_t memory_bytes,
                   bool has_barriers, uint64_t seed, void **arguments)
{
    if (now.stacks == NULL) {
        now.stacks = (uint8_t *)mmap(NULL, THREADS * STACK, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (memory_bytes > now.memory_bytes) {
        free(now.memory);
        now.memory = (uint8_t *)aligned_alloc(64, (memory_bytes + 63) / 64 * 64);
        now.memory_bytes = memory_bytes;
    }
    now.has_barriers = has_barriers;
    now.random = seed * 2 + 1;
    gridDim = {(unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2]};
    blockDim = {(unsigned)threads[0], (unsigned)threads[1], (unsigned)threads[2]};
    now.kernel = kernel;
    now.arguments = arguments;
    if (now.fault[0] == 0) run_launch(grid);
}

#if defined(EMULATED_LIBRARY)

/* Runs a kernel; answers what goes wrong, if anything. Barriers may be anywhere. */
extern "C" const char *emulated_launch(emulated_kernel kernel, const uint64_t *grid, const uint64_t *threads,
                                       size_t memory_bytes, uint64_t seed, void **arguments)
{
    now.fault[0] = 0;
    launch(kernel, grid, threads, memory_bytes, true, seed, arguments);
    return now.fault[0] == 0 ? NULL : now.fault;
}

#else

static bool read_all(void *to, size_t bytes) { return fread(to, 1, bytes, stdin) == bytes; }

static uint64_t number()
{
    uint64_t value;
    if (!read_all(&value, sizeof value)) exit(2);
    return value;
}

static void tell(uint64_t value) { fwrite(&value, sizeof value, 1, stdout); }

int main()
{
    uint64_t n_buffers;
    while (read_all(&n_buffers, sizeof n_buffers)) {
        now.fault[0] = 0;
        size_t *bytes = (size_t *)calloc(n_buffers + 1, sizeof *bytes);
        uint8_t **buffers = (uint8_t **)calloc(n_buffers + 1, sizeof *buffers);
        for (size_t at = 0; at < n_buffers; ++at) {
            bytes[at] = number();
            buffers[at] = (uint8_t *)aligned_alloc(64, (bytes[at] + 63) / 64 * 64 + 2 * GUARD);
            memset(buffers[at], GUARD_BYTE, (bytes[at] + 63) / 64 * 64 + 2 * GUARD);
            if (!read_all(buffers[at] + GUARD, bytes[at])) exit(2);
        }
        uint64_t n_launches = number();
        for (uint64_t one = 0; one < n_launches; ++one) {
            uint64_t kernel = number(), grid[3], threads[3];
            for (int at = 0; at < 3; ++at) grid[at] = number();
            for (int at = 0; at < 3; ++at) threads[at] = number();
            uint64_t memory_bytes = number();
            bool has_barriers = number() != 0;
            uint64_t seed = number();
            uint64_t n_arguments = number();
            uint64_t *values = (uint64_t *)calloc(n_arguments + 1, sizeof *values);
            void **arguments = (void **)calloc(n_arguments + 1, sizeof *arguments);
            for (uint64_t at = 0; at < n_arguments; ++at) {
                uint64_t is_pointer = number();
                values[at] = number();
                if (is_pointer) {
                    int64_t distance = (int64_t)number();
                    values[at] = (uint64_t)(uintptr_t)(buffers[values[at]] + GUARD) + (uint64_t)distance;
                }
                arguments[at] = &values[at];
            }
            if (kernel >= emulated_n_kernels || threads[0] * threads[1] * threads[2] > THREADS) exit(2);
            launch(emulated_kernels[kernel], grid, threads, memory_bytes, has_barriers, seed, arguments);
            free(arguments);
            free(values);
        }
        for (size_t at = 0; at < n_buffers; ++at) {
            size_t whole = (bytes[at] + 63) / 64 * 64 + 2 * GUARD;
            for (size_t byte = 0; byte < whole; ++byte) {
                bool is_beside = byte < GUARD || byte >= GUARD + bytes[at];
                if (is_beside && buffers[at][byte] != GUARD_BYTE) {
                    fault("buffer %ld is written beside its start or end, at byte %ld", (long)at,
                          (long)byte - (long)GUARD);
                }
            }
        }
        if (now.fault[0] != 0) {
            tell(1);
            tell(strlen(now.fault));
            fwrite(now.fault, 1, strlen(now.fault), stdout);
        } else {
            tell(0);
            for (size_t at = 0; at < n_buffers; ++at) fwrite(buffers[at] + GUARD, 1, bytes[at], stdout);
        }
        fflush(stdout);
        for (size_t at = 0; at < n_buffers; ++at) free(buffers[at]);
        free(buffers);
        free(bytes);
    }
    return 0;
}

#endif
