// The C runtime of chadllvm: the whole interface between generated code, its callers
// and the runtime. Nothing else is exported from the shared library.
//
// A *context* holds all state of the calls made with it: there are no globals, no
// errno, no output. A context serves one call at a time; different contexts may be used
// by different threads at the same time. A function takes a context unless it says that
// it needs none.
//
// A call allocates its temporaries in *arenas*, one for each region of the program, and
// the arrays it returns in *result blocks*. Every buffer starts at a multiple of 64
// bytes. All that a context holds is counted and kept below a limit; what cannot be had
// is NULL, never a crash, and a failure leaves everything allocated before as it was.

#ifndef CHAD_RT_H
#define CHAD_RT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define CHAD_API __attribute__((visibility("default")))
#else
#define CHAD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// Raised whenever a declaration below changes its meaning or its layout.
#define CHAD_RT_ABI 1

// The number of bytes every buffer is aligned to and every size is rounded up to.
#define CHAD_ALIGNMENT 64

// What a generated function returns.
typedef int32_t chad_status_t;

enum {
  CHAD_OK = 0,         // the results are valid
  CHAD_INVALID = 1,    // the arguments do not fit the function
  CHAD_PROGRAM = 2,    // the program failed at context->site
  CHAD_MEMORY = 3,     // out of memory, or above the limit of the context
  CHAD_RECURSION = 4,  // too many nested calls
  CHAD_INTERRUPT = 5,  // the poll callback asked to stop
};

// One result of a generated function: an array is its pointer and then its dimensions.
typedef union chad_word {
  double f;
  int64_t i;
  void *p;
} chad_word_t;

// Where a program failed. The fields are written by generated code before it returns
// CHAD_PROGRAM and read by its caller; the runtime itself never touches them. More,
// private, follows them in memory: only chad_context_new makes a context.
typedef struct chad_context {
  int32_t site;       // index into the failures of the function
  int32_t unused;     // keeps `values` at offset 8 whatever the compiler
  int64_t values[2];  // what the failure's message shows, say an index and a size
} chad_context_t;

// The buffers of one region. Generated code allocates by itself as long as it can:
//
//   size = bytes rounded up to a multiple of CHAD_ALIGNMENT
//   if size > limit - cursor (unsigned): return chad_arena_grow(context, arena, bytes)
//   buffer = cursor; cursor += size
//
// `cursor` is never NULL and always aligned, so a buffer of zero bytes is a valid
// address that may not be accessed and may be equal to another's.
typedef struct chad_arena {
  char *cursor;
  char *limit;
  struct chad_chunk *first;    // private, like all that follows
  struct chad_chunk *current;
  void *unused[4];
} chad_arena_t;

#define CHAD_ARENA_SIZE 64

#ifndef __cplusplus
static_assert(offsetof(chad_context_t, site) == 0, "generated code writes here");
static_assert(offsetof(chad_context_t, values) == 8, "generated code writes here");
static_assert(offsetof(chad_arena_t, limit) == 8, "generated code reads here");
static_assert(sizeof(chad_arena_t) == CHAD_ARENA_SIZE, "generated code steps by this");
static_assert(sizeof(chad_word_t) == 8, "generated code writes words of eight bytes");
#endif

// --- The library -------------------------------------------------------------------

// The CHAD_RT_ABI the library was built with. Needs no context; any thread.
CHAD_API int32_t chad_rt_abi(void);

// The date of the OpenMP specification the library was built with (as _OPENMP, say
// 201511), or 0 for a serial build. Needs no context; any thread.
CHAD_API int32_t chad_openmp(void);

// --- Contexts ----------------------------------------------------------------------

// A new context that the caller owns and gives back by chad_context_free; NULL if out
// of memory. Any thread; the context may be handed to another thread between two calls.
CHAD_API chad_context_t *chad_context_new(void);

// Frees the context and all that it owns: kept memory, arenas not yet given back,
// result blocks not yet released. NULL is allowed.
CHAD_API void chad_context_free(chad_context_t *context);

// --- Arenas ------------------------------------------------------------------------

// `regions` (>= 0) empty arenas in a row, which the context owns until chad_leave.
// Calls may be nested to any depth. NULL if out of memory.
CHAD_API chad_arena_t *chad_enter(chad_context_t *context, int64_t regions);

// Takes back what chad_enter gave, with all buffers of these arenas. The context keeps
// up to 64 MiB for its next calls, because fresh memory is slow, and frees the rest.
// NULL is allowed. Order does not matter.
CHAD_API void chad_leave(chad_context_t *context, chad_arena_t *arenas);

// A new buffer of `bytes` bytes, not zeroed, which is gone at the next chad_arena_reset
// of this arena or chad_leave. NULL if out of memory, above the limit, or if `bytes` is
// negative; older buffers stay valid and the arena usable. `arena` must come from
// chad_enter with this context.
CHAD_API void *chad_arena_grow(chad_context_t *context, chad_arena_t *arena,
                               int64_t bytes);

// All buffers of the arena are gone; its memory stays with it for the next ones. O(1).
CHAD_API void chad_arena_reset(chad_arena_t *arena);

// --- Results -----------------------------------------------------------------------

// A new block of `bytes` bytes, not zeroed. The context owns it until one of the next
// two functions is called. NULL if out of memory, above the limit, or if `bytes` is
// negative.
CHAD_API void *chad_result_alloc(chad_context_t *context, int64_t bytes);

// Frees all blocks the context owns: for a call that failed.
CHAD_API void chad_results_discard(chad_context_t *context);

// The caller owns all these blocks from now on and frees each by chad_free; they no
// longer count as memory of the context and may outlive it.
CHAD_API void chad_results_release(chad_context_t *context);

// Frees one released block. NULL is allowed. Needs no context; any thread.
CHAD_API void chad_free(void *block);

// --- Interrupts --------------------------------------------------------------------

// CHAD_INTERRUPT if the callback asks to stop, else CHAD_OK. The callback runs at most
// ten times a second; in between this costs some ten nanoseconds.
CHAD_API chad_status_t chad_poll(chad_context_t *context);

// From now on `callback(user)` is asked by chad_poll, in the thread of the call; any
// value but 0 means stop. NULL: nobody is asked. `user` stays the caller's.
CHAD_API void chad_set_poll(chad_context_t *context, int32_t (*callback)(void *user),
                            void *user);

// --- Accounting --------------------------------------------------------------------

// The bytes in use now: arenas, with the free rest of their memory, and result blocks
// not yet released. Memory kept for the next call is not in use.
CHAD_API int64_t chad_memory_used(const chad_context_t *context);

// The largest chad_memory_used since the context was made or the peak was reset.
CHAD_API int64_t chad_memory_peak(const chad_context_t *context);

// The peak becomes what is used now.
CHAD_API void chad_memory_reset_peak(chad_context_t *context);

// No allocation may bring what is used, or used and kept together, above `bytes`; what
// is already allocated stays. A negative number restores the default: three quarters of
// the memory this process may have (the machine's, its control group's and its address
// space limit, as they are when first needed).
CHAD_API void chad_set_memory_limit(chad_context_t *context, int64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
