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
//
// The second half of this file are the structures that derivatives work on: arrays that
// may stand in bags, cells, sparse cotangents and trees of reductions. Their rules are
// the same for all and stand at "Structures in arenas".

#ifndef CHAD_RT_H
#define CHAD_RT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#if defined(CHAD_API)
#elif defined(__GNUC__) || defined(__clang__)
#define CHAD_API __attribute__((visibility("default")))
#else
#define CHAD_API
#endif

#ifdef __cplusplus
#define CHAD_WORD alignas(8)
extern "C" {
#else
#define CHAD_WORD _Alignas(8)
#endif

// Raised whenever a declaration below changes its meaning or its layout.
#define CHAD_RT_ABI 16

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
  CHAD_DEFECT = 6,     // an access was out of bounds, see "Checked accesses"
};

// One result of a generated function: an array is its pointer and then its dimensions.
typedef union chad_word {
  double f;
  int64_t i;
  void *p;
} chad_word_t;

// Memory of the caller's for an array that a call returns, see chad_result_take.
typedef struct chad_out {
  CHAD_WORD void *data;
  int64_t bytes;  // negative: taken
} chad_out_t;

// Where a program failed. The fields are written by generated code before it returns
// CHAD_PROGRAM and read by its caller; the runtime itself never touches them. More,
// private, follows them in memory: only chad_context_new makes a context.
typedef struct chad_context {
  int32_t site;       // index into the failures of the function
  int32_t unused;     // keeps `values` at offset 8 whatever the compiler
  int64_t values[8];  // what the failure's message shows, say an index and a size
  // Pointers stand at multiples of eight bytes, of whatever size they are.
  CHAD_WORD char *stack_limit;  // frames of chad_deep's stack lie above; else NULL
  int64_t fuel;       // calls of subroutines until the next look for interrupts
  CHAD_WORD struct chad_fork *forks;  // the youngest branch that it has left, see "Pairs"
  CHAD_WORD struct chad_crew *crew;   // not NULL: branches are to be offered at once
  CHAD_WORD chad_out_t *outs;  // private: what chad_lend was given
} chad_context_t;

typedef chad_status_t (*chad_run_t)(chad_context_t *context, void *environment,
                                    int64_t chunk);

typedef chad_status_t (*chad_merge_t)(chad_context_t *context, void *environment,
                                      int64_t chunk, int64_t part);

// A branch: the second of two calls that may run at the same time. It lies in the frame
// of who does the first.
typedef struct chad_fork {
  CHAD_WORD struct chad_fork *above;  // the next older one of the context
  CHAD_WORD chad_run_t run;
  CHAD_WORD void *environment;
  CHAD_WORD struct chad_branch *branch;  // private; NULL: nobody else can have it
} chad_fork_t;

// The buffers of one region. Generated code allocates by itself as long as it can:
//
//   size = bytes rounded up to a multiple of CHAD_ALIGNMENT
//   if size > limit - cursor (unsigned): return chad_arena_grow(context, arena, bytes)
//   buffer = cursor; cursor += size
//
// `cursor` is never NULL and always aligned, so a buffer of zero bytes is a valid
// address that may not be accessed and may be equal to another's.
typedef struct chad_arena {
  CHAD_WORD char *cursor;
  CHAD_WORD char *limit;
  CHAD_WORD struct chad_chunk *first;    // private, like all that follows
  CHAD_WORD struct chad_chunk *current;
  CHAD_WORD char *small;                 // where the next small object goes
  CHAD_WORD char *small_limit;
  CHAD_WORD struct chad_chunk *grown;    // of the buffers that grow, each its own
  int64_t shared;                        // bytes of the chunks of small buffers
} chad_arena_t;

#define CHAD_ARENA_SIZE 64

#ifndef __cplusplus
static_assert(offsetof(chad_context_t, site) == 0, "generated code writes here");
static_assert(offsetof(chad_context_t, values) == 8, "generated code writes here");
static_assert(offsetof(chad_context_t, stack_limit) == 72, "generated code reads here");
static_assert(offsetof(chad_context_t, fuel) == 80, "generated code writes here");
static_assert(offsetof(chad_context_t, forks) == 88, "generated code writes here");
static_assert(offsetof(chad_context_t, crew) == 96, "generated code reads here");
static_assert(offsetof(chad_fork_t, above) == 0, "generated code writes here");
static_assert(offsetof(chad_fork_t, run) == 8, "generated code writes here");
static_assert(offsetof(chad_fork_t, environment) == 16, "generated code writes here");
static_assert(offsetof(chad_fork_t, branch) == 24, "generated code reads here");
static_assert(sizeof(chad_fork_t) == 32, "generated code makes such");
static_assert(offsetof(chad_arena_t, current) == 24, "generated code reads here");
static_assert(offsetof(chad_arena_t, limit) == 8, "generated code reads here");
static_assert(sizeof(chad_arena_t) == CHAD_ARENA_SIZE, "generated code steps by this");
static_assert(sizeof(chad_word_t) == 8, "generated code writes words of eight bytes");
#endif

// --- The library -------------------------------------------------------------------

// The CHAD_RT_ABI the library was built with. Needs no context; any thread.
CHAD_API int32_t chad_rt_abi(void);

// The date of the OpenMP specification that the threads speak (as _OPENMP, say 201511),
// or 0 if there is no OpenMP, so that everything runs serially. It is in a library of
// its own, libchad_omp beside this one, which is loaded at the first call of this or of
// a function of "Threads", and may be missing. Needs no context; any thread.
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
// up to 128 MiB for its next calls, because fresh memory is slow, and frees the rest.
// NULL is allowed. Order does not matter.
CHAD_API void chad_leave(chad_context_t *context, chad_arena_t *arenas);

// The arenas, which a branch of a chad_divide has entered, stay with all that is in
// them until the arenas of that chad_divide are given back.
CHAD_API void chad_keep(chad_context_t *context, chad_arena_t *arenas);

// A new buffer of `bytes` bytes, not zeroed, which is gone at the next chad_arena_reset
// of this arena or chad_leave. NULL if out of memory, above the limit, or if `bytes` is
// negative; older buffers stay valid and the arena usable. `arena` must come from
// chad_enter with this context.
CHAD_API void *chad_arena_grow(chad_context_t *context, chad_arena_t *arena,
                               int64_t bytes);

// The buffer `old` of `old_words` words of eight bytes, as one of `words`: what is in the
// first `used_words` is kept, and `old` is gone. It was made by this function, with the
// same arena, or is NULL and of no words. It is gone at chad_leave; an arena with such
// buffers is never reset or released. Fewer words than before, but more than
// CHAD_GROWN_WORDS, are given back where that takes nothing; they are still there
// otherwise. NULL if out of memory, above the limit, or if `words` is negative; then
// `old` stays as it was. Steps: a word that is copied, which is not needed for large
// buffers.
#define CHAD_GROWN_WORDS 1024
CHAD_API void *chad_arena_extend(chad_context_t *context, chad_arena_t *arena, void *old,
                                 int64_t old_words, int64_t used_words, int64_t words);

// A new buffer with room for `rows` rows of `words` words (> 0), as chad_arena_grow makes
// it. They begin in it where whole rows from `base` end, which is a buffer of any arena;
// the result is how many of these there are before the first, and may be negative. It is
// INT64_MIN where chad_arena_grow gives NULL.
CHAD_API int64_t chad_arena_segment(chad_context_t *context, chad_arena_t *arena,
                                    const void *base, int64_t words, int64_t rows);

// All buffers of the arena are gone; its memory stays with it for the next ones. O(1).
CHAD_API void chad_arena_reset(chad_arena_t *arena);

// All buffers of the arena are gone, and its memory is the context's again. The arena
// may be one that another context at work in the same chad_divide has kept.
CHAD_API void chad_arena_give(chad_context_t *context, chad_arena_t *arena);

// Back to where the arena was when `chunk` was its current one and `cursor` its cursor:
// buffers made since are gone. `chunk` is NULL if the arena had none. O(1).
CHAD_API void chad_arena_release(chad_arena_t *arena, struct chad_chunk *chunk,
                                 char *cursor);

// --- Recursion ---------------------------------------------------------------------

// run(context, argument), on a stack that is large enough for deep recursion. The stack
// belongs to the thread, which keeps it; within `run` the call may be nested, and then
// is a plain one. CHAD_MEMORY if there is no address space for the stack. Not for what
// a poll's callback runs in the same thread: that is CHAD_RECURSION.
CHAD_API chad_status_t chad_deep(chad_context_t *context,
                                 chad_status_t (*run)(chad_context_t *, void *),
                                 void *argument);

// For a frame below `stack_limit`: CHAD_RECURSION if the stack is used up, else lowers
// the limit.
CHAD_API chad_status_t chad_deeper(chad_context_t *context, const char *frame);

// --- Threads -----------------------------------------------------------------------
//
// A *parallel region* runs chunks of work on several threads: the calling one and
// helpers, each with a context of its own. Those of the helpers are the caller's
// *children*: they belong to it, what they use counts as its memory, and the limit holds
// for the sum. What a chunk leaves in its context, arenas that it did not give back
// excepted, is the caller's afterwards.
//
// Chunks may use an arena of the caller's for what is to outlive them, one chunk at a
// time. While the region runs, the caller's context is used by its own thread alone, and
// only there the poll callback is asked; all other chunks are told by chad_poll of
// theirs, as they are if a chunk before them has failed.
//
// There is one thread: in a region; in a child forked after the library has looked for
// OpenMP; without OpenMP; and, for as long as they last, while regions of other callers
// have all the helpers of the process.

// run(context, environment, chunk) for all chunks 0 .. chunks - 1, of which there are less
// than 2^31. Then `merge`, if it is not NULL, for each of its parts 0 .. parts - 1, by any
// thread, when `run` of it has succeeded; it must not fail or allocate. The same part of
// several chunks is merged in the order of the chunks, one at a time; different parts may
// be merged at the same time. `run` of a chunk begins after all parts of the one `lanes`
// before it have been merged, so what belongs to chunk % lanes is used by one at a time.
//
// The status is that of the first chunk in order that failed, whose error is then that
// of `context`; all before it have been run and merged, those behind it perhaps run, but
// not merged. CHAD_INTERRUPT, if the caller's poll asked to stop.
//
// With lanes <= 1, or one thread, all is done in order, with `context`: run(0) merge(0, 0)
// … merge(0, parts - 1) run(1) merge(1, 0) …
CHAD_API chad_status_t chad_parallel(chad_context_t *context, chad_run_t run,
                                     chad_merge_t merge, void *environment,
                                     int64_t chunks, int64_t lanes, int64_t parts);

// How many lanes a region of so many chunks should have: two for each thread that has a
// core, but one if there is only one, and not more than chunks.
CHAD_API int64_t chad_lanes(const chad_context_t *context, int64_t chunks);

// Waits until all chunks of the region before the one that calls this have been merged,
// so that it may add to what merges add to (`target`, which is not touched here). At once
// if there is one thread. CHAD_INTERRUPT: the chunk need not be run to its end.
CHAD_API chad_status_t chad_turn(chad_context_t *context, void *target);

// Rows to which steps of chunks add in the order of the steps: `rows` has a number for
// each, 0 at first, at the row's `place`. Best each is in a cache line of its own.
// chad_row_done says that a step has added to a row what it adds, and all before it have,
// too. chad_row_turn waits until all steps before this one have, of this chunk and of
// those before it, so that it may add to the row. At once if there is one thread.
// CHAD_INTERRUPT: the chunk need not be run to its end. A step may leave rows out: then
// who comes behind waits until its chunk is the first that is not merged.
CHAD_API chad_status_t chad_row_turn(chad_context_t *context, int64_t *rows, int64_t place,
                                     int64_t step);
CHAD_API void chad_row_done(int64_t *rows, int64_t place, int64_t step);

// Sorts a *log* of additions to an array of `size` elements, so that those to one of
// `parts` parts of it are together, in the order that they had: `count` places below
// `size`, and values of `bytes` bytes (8: double, 4: float). The log has room for so many
// entries twice, and the sorted ones are put behind `room`; part p has the entries
// starts[p] .. starts[p + 1] - 1. One part stays where it is. There are parts + 2 starts.
// Needs no context.
CHAD_API void chad_log_sort(int64_t *places, void *values, int64_t bytes, int64_t count,
                            int64_t room, int64_t size, int64_t parts, int64_t *starts);

// Fills so many bytes at `target` with zeros, or with those at `source`, which do not
// overlap. Large ones are filled by several threads. CHAD_INTERRUPT, if the caller's poll
// asked to stop: then they are filled in part.
CHAD_API chad_status_t chad_clear(chad_context_t *context, void *target, int64_t bytes);
CHAD_API chad_status_t chad_copy(chad_context_t *context, void *target,
                                 const void *source, int64_t bytes);

// CHAD_OK if there is no NaN among so many elements, else CHAD_PROGRAM: the program
// says what has failed. CHAD_INTERRUPT, if the caller's poll asked to stop. Large arrays
// are looked at by several threads.
CHAD_API chad_status_t chad_are_doubles(chad_context_t *context, const double *data,
                                        int64_t count);
CHAD_API chad_status_t chad_are_floats(chad_context_t *context, const float *data,
                                       int64_t count);

// How many threads a region would have, the caller's included: what chad_set_threads has
// chosen, else what OpenMP says, but no more than control groups grant cores, unless
// OMP_NUM_THREADS is set. Whoever has told OpenMP another number than usual for
// the calling thread, as threadpoolctl does, gets no more than that. `context` may be
// NULL. Any thread.
CHAD_API int64_t chad_threads(const chad_context_t *context);

// From now on the regions of the process have so many threads, at most 1024; 0: the
// default. Needs no context; any thread.
CHAD_API void chad_set_threads(int64_t threads);

// --- Pairs -------------------------------------------------------------------------
//
// Two calls that do not need each other, and two within each of these, and so on: what
// programs do that divide and conquer. Generated code does the first of a *pair*, and
// leaves the second, its branch, to whoever has nothing to do:
//
//   fork = {context->forks, second, environment, NULL};  context->forks = &fork
//   if (context->crew != NULL) chad_offer(context)
//   status = first(context, environment, 0)
//   context->forks = fork.above
//   if (fork.branch != NULL) status = chad_join(context, &fork, status)
//   else if (status == CHAD_OK) status = second(context, environment, 1)
//
// So a pair costs hardly more than two calls until there is reason to ask for help.

// run(context, environment, 0), whose pairs may run on several threads as soon as it has
// taken `patience` nanoseconds, which chad_poll notices. Within a region, on one thread,
// and with patience < 0 all runs in order. `arenas`, or NULL: those that take over what
// is kept; within another chad_divide those of the outermost do.
CHAD_API chad_status_t chad_divide(chad_context_t *context, chad_arena_t *arenas,
                                   chad_run_t run, void *environment,
                                   int64_t patience);

// From now on others may run the branches that the context has left.
CHAD_API void chad_offer(chad_context_t *context);

// Ends a pair whose branch was offered: runs it, or waits for who runs it. `status` is
// that of the first call; the result and the error are the first's if it failed, else
// the second's.
CHAD_API chad_status_t chad_join(chad_context_t *context, chad_fork_t *fork,
                                 chad_status_t status);

// --- Results -----------------------------------------------------------------------

// A new block of `bytes` bytes, not zeroed. The context owns it until one of the next
// functions is called. NULL if out of memory, above the limit, or if `bytes` is
// negative.
CHAD_API void *chad_result_alloc(chad_context_t *context, int64_t bytes);

// From now on the caller has memory for the arrays that calls return, one each, in order;
// NULL: for none. What was taken of that before no longer counts as memory in use.
CHAD_API void chad_lend(chad_context_t *context, chad_out_t *outs);

// The same for the array that is number `number` among those that the call returns: if
// the caller has memory of exactly this size for it that was not taken yet, that memory,
// which begins at a multiple of the size of an element and stays the caller's. It counts
// as memory in use. If the elements `are_added_to` again and again, memory that begins
// within a line of the cache is not taken if the array is of a size that is cheaper to
// copy in the end than to work in there.
CHAD_API void *chad_result_take(chad_context_t *context, int64_t number, int64_t bytes,
                                int32_t are_added_to);

// An array of elements of `bytes` bytes: `result` is where they are, and then its `rank`
// dimensions. If they are `dims`, its elements are `to` afterwards, where they may be
// already, its block is freed, and its pointer becomes NULL. Otherwise they are in a block.
// CHAD_MEMORY if there is none for them.
CHAD_API chad_status_t chad_result_copy(chad_context_t *context, chad_word_t *result,
                                        int64_t rank, int64_t bytes, void *to,
                                        const int64_t *dims);

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

// --- Lines -------------------------------------------------------------------------

enum { CHAD_LINE_WORDS = 64 };

// A line to be written. `text` is a format string of Python's, in which `{0}`, `{1:.3f}`
// stand for values. `kinds` has for each of them the letter of its type: d (f64), s (f32),
// i or b; or a (an array) or l (a list), the letter of its elements, and the number of its
// dimensions. A number is a word, an f32 as the double that it equals; an array is its
// address, the bytes of an element, and the dimensions. `error`: for the error stream.
typedef struct chad_line {
  const char *kinds;
  const char *text;
  const int64_t *words;
  int32_t error;
} chad_line_t;

// From now on lines are given to `callback`, in the thread of the call; any value but 0
// means stop. NULL: they are written to C's streams.
CHAD_API void chad_set_print(chad_context_t *context, int32_t (*callback)(void *line));

// The next word of the line that is being made.
CHAD_API void chad_print_real(chad_context_t *context, double value);
CHAD_API void chad_print_integer(chad_context_t *context, int64_t value);
CHAD_API void chad_print_address(chad_context_t *context, const void *value);

// Writes the line; its text stands behind the zero that ends its kinds. CHAD_INTERRUPT if
// the callback asks to stop.
CHAD_API chad_status_t chad_print(chad_context_t *context, const char *kinds,
                                  int64_t error);

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
// space limit, as they are when first needed, and again before a request is refused).
CHAD_API void chad_set_memory_limit(chad_context_t *context, int64_t bytes);

// The limit, in bytes: the default where none is set.
CHAD_API int64_t chad_memory_limit(const chad_context_t *context);

// --- Structures in arenas ----------------------------------------------------------
//
// Everything below lies in the arena it was made with, belongs to nobody else, and is
// gone with the other buffers of that arena. What refers to something must not outlive
// it: use one arena for things that refer to each other. Nothing but arrays and cells
// is ever changed after it was made, so parts may be shared freely.
//
// Unless said otherwise a pointer that is NULL as a result means that memory ran out;
// where NULL is a valid value, as it is for bags and cotangents, a function returns a
// status and writes its result through `out`, which a failure leaves alone. A failure
// changes nothing else either, and all may be used on, say to try again.
//
// Nothing here recurses: structures may be as deep as they are large. Memory to walk
// them is given back at the end of the walk.
//
// The context counts *steps*: one for each function below that makes or changes
// something, and what its comment says besides.

// The steps made with this context since it was made.
CHAD_API int64_t chad_steps(const chad_context_t *context);

// --- Arrays ------------------------------------------------------------------------

// Contributions to an array of doubles, not yet added up (§7); NULL is the empty bag.
typedef struct chad_bag chad_bag_t;

// What is different in an older version of an array.
typedef struct chad_change chad_change_t;

// An array. Its users never write to it, but for the data of one that is new. It is one
// of these, and becomes another where the runtime finds that cheaper:
//
//   current   data                  its elements stand there
//   a sum     bag                   its elements are the sums of what is in the bag
//   older     whole, change         `whole` with changes: the version that came next
//   a part    whole, place          the elements of `whole` from `place` on
typedef struct chad_array {
  // In C order, eight bytes each: double, int64_t or a pointer; or NULL.
  CHAD_WORD double *data;
  CHAD_WORD const chad_bag_t *bag;
  int64_t size;    // the product of dims; INT64_MAX if that is more
  int64_t rank;
  CHAD_WORD struct chad_array *whole;
  CHAD_WORD chad_change_t *change;
  int64_t place;   // of a part; of what is current the words at data that it may change
  int64_t turned;  // of what is current: the steps made to find versions of it
  int64_t dims[];  // `rank` of them, none negative
} chad_array_t;

#ifndef __cplusplus
static_assert(offsetof(chad_array_t, dims) == 64, "generated code reads here");
#endif

// A new array, whose data is not initialised and not NULL, even if it has no elements.
// A negative dimension counts as 0.
CHAD_API chad_array_t *chad_array_new(chad_context_t *context, chad_arena_t *arena,
                                      int64_t rank, const int64_t *dims);

// The part of `array` that begins at `offset` and has the dimensions from `drop` on: a
// row, a row of rows. It shares the data, which is collected first if it stands in a
// bag. The part must lie within the array, and `drop` in 0 .. rank.
CHAD_API chad_array_t *chad_array_row(chad_context_t *context, chad_arena_t *arena,
                                      chad_array_t *array, int64_t offset,
                                      int64_t drop);

// The array with other words from an offset on, within the array; it stays what it is.
// Steps: one for each word, if the array is current or was not long ago; see version.c.
CHAD_API chad_array_t *chad_array_with(chad_context_t *context, chad_arena_t *arena,
                                       chad_array_t *array, int64_t offset,
                                       int64_t count, const double *words);

// The array that has these dimensions, as many as `array`: as many words as it takes of
// `array`, which has them, and `count` others behind. Steps: as chad_array_with, but for
// an array whose memory is full.
CHAD_API chad_array_t *chad_array_resized(chad_context_t *context, chad_arena_t *arena,
                                          chad_array_t *array, const int64_t *dims,
                                          int64_t count, const double *words);

// The array of all contributions in a bag, which are not yet added up: O(rank).
CHAD_API chad_array_t *chad_array_of_bag(chad_context_t *context, chad_arena_t *arena,
                                         const chad_bag_t *bag, int64_t rank,
                                         const int64_t *dims);

// The data of an array, which is collected first if it stands in a bag: into zeros, or,
// if an array of its size is first in the bag, into a version of that one. What is older
// becomes current. Steps: those of chad_bag_collect and one for each element, once, or a
// constant for each node of the bag; none if the array is current. The data may change with the next call of a
// function that is given this array, a part or a version of it.
CHAD_API void *chad_array_data(chad_context_t *context, chad_arena_t *arena,
                               chad_array_t *array);

// --- Bags --------------------------------------------------------------------------
//
//   Bag = BEmpty | BOne index value | BPlus bag bag | BArray offset array
//
// All constructors are O(1), also BArray of an array that stands in a bag itself. The
// *cost* of a bag is the number of its nodes, and for each BArray that of the array's
// bag, or its size if it has data (§8.1): what building the bag has cost, if BArray
// costs as much as it will when collected. What is used several times counts as often.

// BOne
CHAD_API const chad_bag_t *chad_bag_one(chad_context_t *context, chad_arena_t *arena,
                                        int64_t index, double value);

// BPlus; if one of the two is empty, the other as it is.
CHAD_API chad_status_t chad_bag_plus(chad_context_t *context, chad_arena_t *arena,
                                     const chad_bag_t *a, const chad_bag_t *b,
                                     const chad_bag_t **out);

// BArray: the elements of an array, at `offset` >= 0. If the array stands in a bag and
// is added several times, that bag would be walked as often: therefore, from the second
// time on, an array whose bag costs more than its size is collected first. So no bag
// costs more than building it did, if BArray costs the size of its array.
CHAD_API chad_status_t chad_bag_array(chad_context_t *context, chad_arena_t *arena,
                                      int64_t offset, chad_array_t *array,
                                      const chad_bag_t **out);

// Adds what is in the bag to `size` numbers, from left to right. Steps: chad_bag_cost,
// or fewer if arrays were collected since.
// CHAD_INVALID if an index is not in 0 .. size - 1; then some may have been added.
CHAD_API chad_status_t chad_bag_collect(chad_context_t *context, const chad_bag_t *bag,
                                        double *data, int64_t size);

// The cost of a bag; UINT32_MAX if it is that or more. Needs no context; any thread.
CHAD_API int64_t chad_bag_cost(const chad_bag_t *bag);

// --- Cotangents --------------------------------------------------------------------
//
// Sparse cotangents of values of any type (§4.1); NULL is zero whatever the type. What
// they are is public, so that any code can read them, but only the functions make them.

enum {
  CHAD_CT_UNIT = 0,       // of what holds no real numbers
  CHAD_CT_REAL = 1,       // first.f
  CHAD_CT_PAIR = 2,       // first.ct, second.ct
  CHAD_CT_INJECTION = 3,  // of a sum: first.i is the tag, second.ct the payload's
  // Of an array, a bag of cotangents:
  CHAD_CT_EMPTY = 4,    // nothing, as NULL is, for those who tell one zero from another
  CHAD_CT_ONE = 5,      // at index first.i there is second.ct
  CHAD_CT_PLUS = 6,     // the contributions of first.ct and second.ct
  CHAD_CT_ARRAY = 7,    // from index first.i on there are those of second.array
  CHAD_CT_SCATTER = 8,  // at the indices of first.array there are those of second.array
};

typedef union chad_ct_word {
  double f;
  int64_t i;
  const struct chad_ct *ct;
  chad_array_t *array;  // with data: pointers to cotangents, or numbers (int64_t)
} chad_ct_word_t;

typedef struct chad_ct {
  int64_t kind;
  chad_ct_word_t first;
  chad_ct_word_t second;
} chad_ct_t;

// The cotangent of unit, and the empty bag. Need no context; any thread; they belong to
// the library.
CHAD_API const chad_ct_t *chad_ct_unit(void);
CHAD_API const chad_ct_t *chad_ct_empty(void);

CHAD_API const chad_ct_t *chad_ct_real(chad_context_t *context, chad_arena_t *arena,
                                       double value);

CHAD_API const chad_ct_t *chad_ct_pair(chad_context_t *context, chad_arena_t *arena,
                                       const chad_ct_t *first, const chad_ct_t *second);

CHAD_API const chad_ct_t *chad_ct_injection(chad_context_t *context,
                                            chad_arena_t *arena, int64_t tag,
                                            const chad_ct_t *payload);

// BOne of cotangents.
CHAD_API const chad_ct_t *chad_ct_one(chad_context_t *context, chad_arena_t *arena,
                                      int64_t index, const chad_ct_t *element);

// BArray of cotangents, without and with an index for each. The arrays must have data,
// which is not to be changed any more, and in the second case as many elements.
CHAD_API const chad_ct_t *chad_ct_array(chad_context_t *context, chad_arena_t *arena,
                                        int64_t offset, chad_array_t *array);
CHAD_API const chad_ct_t *chad_ct_scatter(chad_context_t *context, chad_arena_t *arena,
                                          chad_array_t *indices, chad_array_t *array);

// The sum. It shares with the summands what only one of them has, and where both are
// bags it is CHAD_CT_PLUS of them. Steps: one for each node that both have (a bag is
// one node), and one for each place where one has a node and the other is zero.
// CHAD_INVALID if they are not cotangents of one value, say of different tags.
CHAD_API chad_status_t chad_ct_plus(chad_context_t *context, chad_arena_t *arena,
                                    const chad_ct_t *a, const chad_ct_t *b,
                                    const chad_ct_t **out);

// Adds what is in a bag of cotangents to `size` cotangents, from left to right. Steps:
// one for each node and each element of an array, and those of the sums.
// CHAD_INVALID if an index is not in 0 .. size - 1, if this is not a bag, or if a sum
// is invalid. After a failure some may have been added.
CHAD_API chad_status_t chad_ct_collect(chad_context_t *context, chad_arena_t *arena,
                                       const chad_ct_t *bag, const chad_ct_t **elements,
                                       int64_t size);

// --- Cells -------------------------------------------------------------------------
//
// The accumulation array (§5): mutable, heterogeneous, and as long as the scope. It
// doubles its room when that is used up, so n cells that are open at once have been
// moved less than 2n times in all; each move is a step.

typedef struct chad_cells chad_cells_t;

// An accumulation array without cells, which takes all its memory from `arena`.
CHAD_API chad_cells_t *chad_cells_new(chad_context_t *context, chad_arena_t *arena);

// Opens a cell behind all others: its index, or -1 if memory ran out. A cell stands at
// its index until it is closed; cells may be closed in any order, and the array shrinks
// when those at its end are. The first holds zero, the second an empty bag for an array
// of these dimensions (negative ones count as 0), the third a cotangent.
CHAD_API int64_t chad_cells_open_real(chad_context_t *context, chad_cells_t *cells);
CHAD_API int64_t chad_cells_open_array(chad_context_t *context, chad_cells_t *cells,
                                       int64_t rank, const int64_t *dims);
CHAD_API int64_t chad_cells_open_ct(chad_context_t *context, chad_cells_t *cells,
                                    const chad_ct_t *initial);

// Adds to a cell, which must be open and of that kind. O(1), but for the sum of
// cotangents, chad_ct_plus(new, old), and an array that chad_bag_array collects.
// CHAD_INVALID: the element, or the array at its offset, is not within the cell's
// array; the cotangents do not fit.
CHAD_API void chad_cells_add_real(chad_cells_t *cells, int64_t cell, double value);
CHAD_API chad_status_t chad_cells_add_element(chad_context_t *context,
                                              chad_cells_t *cells, int64_t cell,
                                              int64_t index, double value);
CHAD_API chad_status_t chad_cells_add_array(chad_context_t *context,
                                            chad_cells_t *cells, int64_t cell,
                                            int64_t offset, chad_array_t *array);
CHAD_API chad_status_t chad_cells_add_ct(chad_context_t *context, chad_cells_t *cells,
                                         int64_t cell, const chad_ct_t *cotangent);

// Closes a cell, which must be open and of that kind, and gives what it holds; an array
// is not yet collected, and not NULL. Amortised O(1).
CHAD_API double chad_cells_close_real(chad_cells_t *cells, int64_t cell);
CHAD_API chad_array_t *chad_cells_close_array(chad_context_t *context,
                                              chad_cells_t *cells, int64_t cell);
CHAD_API const chad_ct_t *chad_cells_close_ct(chad_context_t *context,
                                              chad_cells_t *cells, int64_t cell);

// The number of cells, with those that are closed and stand below open ones.
CHAD_API int64_t chad_cells_length(const chad_cells_t *cells);

// How often a cell was moved to larger room.
CHAD_API int64_t chad_cells_moves(const chad_cells_t *cells);

// The steps made with the context of these cells since they were made.
CHAD_API int64_t chad_cells_steps(const chad_cells_t *cells);

// --- Trees -------------------------------------------------------------------------
//
// The tree of a reduction (§7): at each node its value, and the function that takes the
// node's cotangent to those of its two sides. What these words are is the caller's.

typedef struct chad_tree chad_tree_t;

// One step of unTree: writes the cotangents of both sides, or fails with any other
// status than CHAD_OK. It may use the context, and must return.
typedef chad_status_t (*chad_untree_t)(void *user, chad_word_t cotangent,
                                       chad_word_t function, chad_word_t *left,
                                       chad_word_t *right);

CHAD_API const chad_tree_t *chad_tree_leaf(chad_context_t *context, chad_arena_t *arena,
                                           chad_word_t value);

CHAD_API const chad_tree_t *chad_tree_node(chad_context_t *context, chad_arena_t *arena,
                                           const chad_tree_t *left, chad_word_t value,
                                           chad_word_t function,
                                           const chad_tree_t *right);

// The value of the whole reduction. Needs no context; any thread.
CHAD_API chad_word_t chad_tree_value(const chad_tree_t *tree);

// The number of leaves. O(1). Needs no context; any thread.
CHAD_API int64_t chad_tree_size(const chad_tree_t *tree);

// Takes a cotangent of the tree's value from the root to the leaves: `leaves` becomes
// their cotangents from left to right. A node is done before its sides, and its left
// side before its right one. Steps: one for each node and leaf. What `callback` fails
// with is the result; then some leaves may have been written.
CHAD_API chad_status_t chad_untree(chad_context_t *context, const chad_tree_t *tree,
                                   chad_word_t cotangent, chad_untree_t callback,
                                   void *user, chad_word_t *leaves);

// --- Functions of numbers ----------------------------------------------------------
//
// They need no context, may be called from any thread, and follow IEEE 754: NaN outside
// of the domain, an infinity at a pole, or NaN where its two sides differ.

// The logarithm of |gamma(x)|; +inf at 0, -1, -2, …
CHAD_API double chad_lgamma(double x);

// The derivative of chad_lgamma; -inf at +0, +inf at -0, NaN at -1, -2, …
CHAD_API double chad_digamma(double x);

// The n-th derivative of chad_digamma for n >= 0, NaN for a negative n.
CHAD_API double chad_polygamma(int64_t n, double x);

// The n-th derivative of sin(x) / x for 0 <= n <= 10000, NaN for another n.
CHAD_API double chad_sinc(int64_t n, double x);

// The greatest common divisor, not negative; 0 of two zeros. It is taken modulo 2^64:
// INT64_MIN where it is 2^63.
CHAD_API int64_t chad_gcd(int64_t a, int64_t b);

// n! for 0 <= n <= 20.
CHAD_API int64_t chad_factorial(int64_t n);

// The ways to choose k of n, without (comb) and with (perm) regard to their order, for
// n, k >= 0; -1 if an int64_t does not hold the number.
CHAD_API int64_t chad_comb(int64_t n, int64_t k);
CHAD_API int64_t chad_perm(int64_t n, int64_t k);

// Whether base to the power of n is an int64_t; 1 for a negative n.
CHAD_API int64_t chad_power_fits(int64_t base, int64_t n);

// base to the power of n >= 0, modulo m, which is not 0; it has the sign of m.
CHAD_API int64_t chad_powmod(int64_t base, int64_t n, int64_t m);

// x rounded to so many decimal places, -22 to 22, as Python does it: the double nearest
// to the decimal number nearest to x, the even one of two.
CHAD_API double chad_round_to(double x, int64_t digits);

// --- Checked accesses --------------------------------------------------------------
//
// What generated code calls that is compiled to check itself (`src/sanitize.c`). Any
// thread may; all threads share the table of buffers and the first violation. `what`
// names the function and the instruction.

// As the functions of these names do, and the buffers that they give are known.
CHAD_API chad_arena_t *chad_san_enter(chad_context_t *context, int64_t regions);
CHAD_API void chad_san_leave(chad_context_t *context, chad_arena_t *arenas);
CHAD_API void *chad_san_arena_grow(chad_context_t *context, chad_arena_t *arena,
                                   int64_t bytes);
CHAD_API void *chad_san_arena_extend(chad_context_t *context, chad_arena_t *arena,
                                     void *old, int64_t old_words, int64_t used_words,
                                     int64_t words);
CHAD_API int64_t chad_san_arena_segment(chad_context_t *context, chad_arena_t *arena,
                                        const void *base, int64_t words, int64_t rows);
CHAD_API void chad_san_arena_reset(chad_arena_t *arena);
CHAD_API void chad_san_arena_release(chad_arena_t *arena, struct chad_chunk *chunk,
                                     char *cursor);
CHAD_API void chad_san_arena_give(chad_context_t *context, chad_arena_t *arena);
CHAD_API void *chad_san_result_alloc(chad_context_t *context, int64_t bytes);
CHAD_API void *chad_san_array_new(chad_context_t *context, chad_arena_t *arena,
                                  int64_t rank, const int64_t *dims);
CHAD_API void *chad_san_array_row(chad_context_t *context, chad_arena_t *arena,
                                  chad_array_t *array, int64_t index, int64_t row);
CHAD_API void *chad_san_array_with(chad_context_t *context, chad_arena_t *arena,
                                   chad_array_t *array, int64_t offset, int64_t count,
                                   const double *words);
CHAD_API void *chad_san_array_resized(chad_context_t *context, chad_arena_t *arena,
                                      chad_array_t *array, const int64_t *dims,
                                      int64_t count, const double *words);
CHAD_API void *chad_san_array_of_bag(chad_context_t *context, chad_arena_t *arena,
                                     const chad_bag_t *bag, int64_t rank,
                                     const int64_t *dims);
CHAD_API void *chad_san_array_data(chad_context_t *context, chad_arena_t *arena,
                                   chad_array_t *array);
CHAD_API void *chad_san_cells_close_array(chad_context_t *context, chad_cells_t *cells,
                                          int64_t cell);

// A buffer that is known from now on: of a stack, or a constant.
CHAD_API void chad_san_buffer(const void *buffer, int64_t bytes);

// A copy of an input in front of a page that nobody may touch, or the input itself if
// there is no memory; and the end of it.
CHAD_API const void *chad_san_input(const void *input, int64_t bytes);
CHAD_API void chad_san_input_free(const void *copy, const void *input, int64_t bytes);

// Where to access so many bytes at `at`, in the buffer that `base` points into: there,
// or, of a violation, where it does no harm. Of elements side by side `here` has a bit
// for each that is accessed.
CHAD_API void *chad_san_access(const void *base, const void *at, int64_t bytes,
                               const char *what);
CHAD_API void *chad_san_masked(const void *base, const void *at, int64_t bytes,
                               int64_t elements, int64_t here, const char *what);

// How many bytes to fill or to copy at `at`: all, or none.
CHAD_API int64_t chad_san_bytes(const void *at, int64_t bytes, const char *what);

// How many words of an array to change, from an offset on: all, or none.
CHAD_API int64_t chad_san_words(const chad_array_t *array, int64_t offset, int64_t words,
                                const char *what);

// `base` moves by `index` elements of `size` bytes, and `is_wrong` if the arithmetic of
// the index has overflowed; and the same of another number.
CHAD_API void chad_san_step(const void *base, int64_t index, int64_t size,
                            int32_t is_wrong, const char *what);
CHAD_API void chad_san_overflow(int32_t is_wrong, const char *what);

// The status of a call: CHAD_DEFECT if there was a violation, which is then to be taken.
CHAD_API chad_status_t chad_san_end(chad_status_t status);

// Takes the sentence about the first violation; false if there was none.
CHAD_API int32_t chad_san_violation(char *text, int64_t bytes);

// --- Code for debuggers ------------------------------------------------------------

// Tells debuggers of code in memory, by a copy of its object file, in which each section
// has the address that it was put at; NULL if there is no memory. The result is given to
// chad_code_forget, once, before the code is gone. Any thread may call both.
CHAD_API void *chad_code_describe(const void *object, int64_t bytes);
CHAD_API void chad_code_forget(void *described);

// --- Failures on demand ------------------------------------------------------------

// So many requests of memory are granted, by all contexts together, and then none;
// negative: as many as there is memory for.
CHAD_API void chad_set_grants(int64_t requests);

// From now on, each buffer and each result ends (at a multiple of CHAD_ALIGNMENT) where a
// page begins that nobody may touch, and what is given back is gone: who reads or writes
// there, also in code that nobody has checked, is killed. It is for tests, and slow; it
// is called once, before the first context is made. Without effect on Windows.
CHAD_API void chad_set_guards(void);

#ifdef __cplusplus
}
#endif

#endif
