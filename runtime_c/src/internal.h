// What the source files of the runtime share; nothing here is exported.
//
//   limit    how much memory, and how many cores, this process may have
//   memory   memory from the system, counted and limited; chunks kept for reuse
//   grown    chunks that grow            result   blocks handed to the caller
//   arena    chunks -> arenas
//   context  the context itself, and interrupts
//
//   team     OpenMP's threads        pool     the helpers that they are
//   threads  how many a call has     wait     without sleep, for what comes soon
//   region   several threads at the same work: of a loop (parallel), of pairs (both)
//   fill     large arrays, in pieces         numbers  whether there is a NaN
//   logs     additions, sorted by where
//
//   stack    what a walk has yet to do       array    arrays, with or without data
//   bag      contributions to an array       cotangent  sparse cotangents of any type
//   cells    the accumulation array          tree     trees of reductions

#ifndef CHAD_INTERNAL_H
#define CHAD_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "chad_rt.h"

enum {
  CHAD_CLASSES = 89,  // sizes of chunks: eight from 2^9 to 2^10 bytes, ... to 2^20
  CHAD_MOST_THREADS = 1024,
};

// What a context keeps for its next calls, and those that help it, all together.
#define CHAD_MOST_KEPT ((int64_t)128 << 20)
#define CHAD_HELPERS_KEEP ((int64_t)64 << 20)

// Requests above this are refused before any arithmetic on them can overflow.
#define CHAD_LARGEST ((int64_t)1 << 46)

// A piece of memory for arenas: this header, padded to CHAD_ALIGNMENT, then the data.
// It is in one list at a time, of its arena, of the frames or of kept chunks; only the
// lists of frames and of buffers that grow are linked in both directions.
typedef struct chad_chunk {
  struct chad_chunk *next;
  struct chad_chunk *previous;
  int64_t size;      // with the header
  int64_t capacity;  // of one with a buffer that grows: what it may grow to as it is
  int64_t colour;    // how far behind the header the data of an arena's begins
  bool is_shared;    // by the small buffers of an arena
} chad_chunk_t;

// The header of a result block, padded in the same way.
typedef struct chad_result {
  struct chad_result *next;
  int64_t size;  // with the header
} chad_result_t;

// The memory that the contexts of a parallel region use together.
//
// Invariant: `used` is the sum over all of them, as `used` of a state is for one, and
// never above the limit. Each is a number by itself, so the order of memory is relaxed;
// what refuses memory, or is the peak, may differ from run to run, but no result does.
typedef struct chad_account {
  _Atomic int64_t used;
  _Atomic int64_t peak;
  _Atomic int64_t limit;  // negative: not yet asked for
  bool is_limited;        // by the caller
} chad_account_t;

// Where the memory of a context comes from, if not from malloc. `take` gives `size` bytes
// (a multiple of CHAD_ALIGNMENT) at a multiple of CHAD_ALIGNMENT, or NULL.
typedef struct chad_source {
  void *(*take)(void *owner, int64_t size);  // NULL: malloc
  void (*give)(void *owner, void *memory, int64_t size);
  void *owner;
} chad_source_t;

// The context as the runtime sees it.
typedef struct chad_state {
  chad_context_t shared;
  // Within a parallel region what counts instead of `used`, `peak` and `limit`; else
  // NULL.
  chad_account_t *account;
  struct chad_worker *worker;  // the same: what it does there; or NULL
  struct chad_crew *divides;   // what its pairs may become work of; or NULL
  // Invariant: `used` is the sum of the sizes of all chunks in arenas and frames, of all
  // result blocks, and of `lent`, `kept` that of all chunks in `kept_chunks`; used <= peak.
  int64_t used;
  int64_t peak;
  int64_t own;  // within a region: what this context alone uses
  int64_t kept;
  int64_t limit;  // negative: not yet asked for
  int64_t most_kept;
  bool is_limited;  // by the caller
  chad_chunk_t *kept_chunks[CHAD_CLASSES + 1];  // by size class; the last: all larger
  chad_chunk_t *kept_grown;  // of buffers that grew, the largest first
  chad_chunk_t *frames;
  chad_chunk_t *kept_frames;
  chad_result_t *results;
  int64_t lent;  // the bytes of the caller's that results have taken
  int64_t steps;
  int64_t colour;  // where the last large buffer begins in its page
  int32_t (*callback)(void *user);
  void *user;
  int64_t next_poll;  // nanoseconds of the monotonic clock
  int32_t (*print)(void *line);  // NULL: lines go to C's streams
  int64_t word_count;            // of the line that is being made
  int64_t words[CHAD_LINE_WORDS];
  // Contexts for the helpers of this one's regions, made as they are needed.
  struct chad_state **children;
  int64_t child_count;
  chad_source_t source;  // its calls run on one thread
} chad_state_t;

static_assert(offsetof(chad_state_t, shared) == 0, "a context is the start of a state");
static_assert(sizeof(chad_chunk_t) <= CHAD_ALIGNMENT, "the data follows at 64 bytes");
static_assert(sizeof(chad_result_t) <= CHAD_ALIGNMENT, "the data follows at 64 bytes");

// `bytes` (0 .. CHAD_LARGEST) rounded up to a multiple of `unit`, a power of two.
static inline int64_t chad_round_up(const int64_t bytes, const int64_t unit) {
  return (bytes + unit - 1) & ~(unit - 1);
}

// The answer of a poll's callback, which runs on the thread's own stack.
int32_t chad_deep_ask(chad_context_t *context, int32_t (*callback)(void *user),
                      void *user);

// Three quarters of the memory this process may have.
int64_t chad_default_limit(void);

// As many cores as the control groups of this process grant; INT64_MAX: no limit.
int64_t chad_core_limit(void);

// `size` bytes (a multiple of CHAD_ALIGNMENT) from the system, counted as used and
// owned by the caller until chad_system_give; NULL if above the limit or out of memory.
void *chad_system_take(chad_state_t *state, int64_t size);
void chad_system_give(chad_state_t *state, void *memory, int64_t size);

// A chunk of at least `size` bytes with its header, kept or new, counted as used and
// owned by the caller until chad_chunk_give; NULL if above the limit or out of memory.
chad_chunk_t *chad_chunk_take(chad_state_t *state, int64_t size);
void chad_chunk_give(chad_state_t *state, chad_chunk_t *chunk);

// Frees kept chunks until at most `bytes` are kept.
void chad_trim(chad_state_t *state, int64_t bytes);

// Something new is made, for what is kept did not serve: makes room among that, so that
// all that the context uses can be kept at the end of the call, whatever earlier calls
// left behind.
void chad_make_way(chad_state_t *state);

// Memory of zeros for the runtime's own structures, which is not counted; free() gives it
// back. NULL if there is none.
void *chad_zeroed(size_t bytes);

// Counts `size` bytes more as used, unless that is above the limit; and fewer.
bool chad_reserve(chad_state_t *state, int64_t size);
void chad_unreserve(chad_state_t *state, int64_t size);

// How many bytes may be kept while nothing is used.
int64_t chad_most_kept(const chad_state_t *state);

// `size` bytes from where the context has its memory, not counted; NULL if there is none.
void *chad_allocate(const chad_state_t *state, int64_t size);
void chad_release(const chad_state_t *state, void *memory, int64_t size);

// Whether each buffer ends where a page begins that nobody may touch.
bool chad_is_guarded(void);

// What malloc, or its guarded kind, gave.
void chad_release_system(void *memory, int64_t size);

// Large memory asks for huge pages.
void chad_advise(void *memory, int64_t size);

// The chunk of a buffer that grows, for `size` bytes with its header: of `chunk`, which
// holds `used` bytes with its header, or a new one if that is NULL. It may be smaller
// than before. NULL if above the limit or out of memory; then `chunk` is as it was.
chad_chunk_t *chad_grown_take(chad_state_t *state, chad_chunk_t *chunk, int64_t used,
                              int64_t size);
void chad_grown_give(chad_state_t *state, chad_chunk_t *chunk);

// Frees kept ones, until at most `bytes` are kept of all chunks or none of these is left.
void chad_grown_trim(chad_state_t *state, int64_t bytes);

// The blocks of `from` become those of `to`.
void chad_results_move(chad_state_t *to, chad_state_t *from);

// What the state has kept goes with these arenas from now on.
void chad_frames_move(chad_arena_t *arenas, chad_state_t *from);

// Gives back all arenas that were not.
void chad_frames_free(chad_state_t *state);

// `bytes` (>= 0) bytes at a multiple of 8, with the lifetime of a buffer of the arena;
// NULL if out of memory. Small objects lie side by side.
void *chad_small(chad_context_t *context, chad_arena_t *arena, int64_t bytes);

// --- Threads -----------------------------------------------------------------------

// Takes up to `wanted` helpers of what `threads` and all others leave free, which are to
// be dismissed. Returns how many; perhaps none.
int64_t chad_hire(int64_t threads, int64_t wanted);
void chad_dismiss(int64_t helpers);

// How many are hired by all callers together.
int64_t chad_hired(void);

// serve() on a team of so many threads, the calling one included, or of fewer.
void chad_team(int64_t threads, void (*serve)(void));

// Work that helpers may join, each with a number of its own: 1, 2, … `wanted`. It is the
// start of a struct that says what the work is.
typedef struct chad_job {
  void (*help)(struct chad_job *job, int64_t number);
  int64_t wanted;
  int64_t joined;
  struct chad_job *next;
  // Pieces of it that somebody has begun. It is a number by itself, which tells who waits
  // for a core whether others get on: the order of memory is relaxed.
  _Atomic int64_t pieces;
} chad_job_t;

// From now on helpers may join. As many as `wanted` are hired.
void chad_job_offer(chad_job_t *job, int64_t wanted);

// Somebody begins with a piece.
static inline void chad_job_goes_on(chad_job_t *const job) {
  atomic_fetch_add_explicit(&job->pieces, 1, memory_order_relaxed);
}

// Nobody joins any more. Returns how many have; that they are done is for them to say.
int64_t chad_job_close(chad_job_t *job);

// --- Waiting -----------------------------------------------------------------------

// Whether a number comes to `target` soon, without a sleep. What was written before it
// was stored, if that was a release, is seen then. `idle`: how many threads that work in
// no region wait like that, with this one.
bool chad_comes_soon(_Atomic int64_t *number, int64_t target, int64_t idle);

// Sleeps for about as long as that looks.
void chad_nap(void);

// Counts the cores that this thread may run on: before there is an OpenMP, which may keep
// each thread on one of them.
void chad_count_cores(void);

// How many there are.
int64_t chad_cores(void);

// How many of so many threads run at the same time, for want of cores.
static inline int64_t chad_at_once(const int64_t threads) {
  return threads < chad_cores() ? threads : chad_cores();
}

// So many more threads work in regions, or fewer.
void chad_busy(int64_t more);

// The context has left branches and offers none yet: is it time to?
void chad_heartbeat(chad_state_t *state);

// --- Counting steps ----------------------------------------------------------------

static inline void chad_count(chad_context_t *const context, const int64_t steps) {
  ((chad_state_t *)context)->steps += steps;
}

// --- Stacks: what a walk has yet to do ---------------------------------------------

// A stack of frames of one size, which is a few words. Its memory comes from the context
// and goes back to it; frames do not move.
typedef struct chad_stack {
  chad_state_t *state;
  int64_t frame;
  chad_chunk_t *chunk;  // the one with the top; `next` of it is NULL or empty
  char *cursor;         // behind the top
} chad_stack_t;

// An empty stack, which needs no memory.
chad_stack_t chad_stack_new(chad_context_t *context, int64_t frame);

// A new frame on top, not initialised; NULL if out of memory.
void *chad_stack_push(chad_stack_t *stack);

// The top, which is taken off and may be read until the next push; NULL if the stack is
// empty.
void *chad_stack_pop(chad_stack_t *stack);

// Gives back the memory. The stack is empty and may be used again.
void chad_stack_free(chad_stack_t *stack);

// --- Arrays ------------------------------------------------------------------------

// An array with these dimensions and neither data nor bag; NULL if out of memory.
chad_array_t *chad_array_bare(chad_context_t *context, chad_arena_t *arena,
                              int64_t rank, const int64_t *dims);

// Whether the elements of an array are the sums of what is in its bag.
bool chad_array_is_sum(const chad_array_t *array);

// Whether an array is a part of another one.
bool chad_array_is_part(const chad_array_t *array);

// The part of an array, which is neither a part itself nor a sum; NULL if out of memory.
chad_array_t *chad_array_part(chad_context_t *context, chad_arena_t *arena,
                              chad_array_t *whole, int64_t place, int64_t rank,
                              const int64_t *dims);

// Memory for so many words, not initialised; NULL if out of memory.
double *chad_array_words(chad_context_t *context, chad_arena_t *arena, int64_t count);

// Makes a bare array a version of another one, which is no sum and is the same until one
// of them changes. False: that has no memory to be changed, or there is no memory, which
// `status` says.
bool chad_version_take(chad_context_t *context, chad_arena_t *arena,
                       chad_array_t *array, chad_array_t *other,
                       chad_status_t *status);

// Adds words to those of an array that has taken over another one.
chad_status_t chad_version_add(chad_context_t *context, chad_arena_t *arena,
                               chad_array_t *array, chad_array_t *other,
                               int64_t offset, int64_t count, const double *words);

// Makes an older version current; NULL if out of memory.
double *chad_version_data(chad_context_t *context, chad_arena_t *arena,
                          chad_array_t *array);

// Collects the bag of an array into the array.
chad_status_t chad_bag_settle(chad_context_t *context, chad_arena_t *arena,
                              chad_array_t *array);

#endif
