// Memory from the system, counted and limited, and the chunks kept for the next call.
//
// Chunks up to 1 MiB have, behind their header, one of eight sizes for each power of two,
// and a list for each size; larger ones are in one list, which is short because no more
// than 128 MiB are kept. So taking and giving a chunk need no search that grows with the
// number of chunks, and at most an eighth of a chunk is not asked for.

#define _DEFAULT_SOURCE

#include <stdlib.h>
#if defined(_WIN32) || defined(__wasm__)
#define CHAD_NO_GUARDS
#else
#include <sys/mman.h>
#endif

#include "internal.h"

enum { PAGE = 4096, HUGE_PAGE = 2 << 20 };

// The data of the smallest chunk, and how many sizes there are until it has doubled.
enum { LEAST_DATA = 512, SIZES = 8 };

static_assert(LEAST_DATA / SIZES % CHAD_ALIGNMENT == 0, "chunks are aligned");

// Below this nobody needs to ask how much memory there is.
static const int64_t SURELY_THERE = (int64_t)64 << 20;

static int64_t min_size(const int64_t a, const int64_t b) { return a < b ? a : b; }

// Of the chunks of a class, with the header.
static int64_t class_size(const int index) {
  const int64_t data = (int64_t)(SIZES + index % SIZES) << (index / SIZES);
  return CHAD_ALIGNMENT + data * (LEAST_DATA / SIZES);
}

// The list for chunks of `size` bytes: the first whose chunks are large enough.
static int class_of(const int64_t size) {
  const int64_t units =
      (size - CHAD_ALIGNMENT + LEAST_DATA / SIZES - 1) / (LEAST_DATA / SIZES);
  int octave = 0;
  while (octave < CHAD_CLASSES / SIZES && (int64_t)(2 * SIZES) << octave < units) {
    ++octave;
  }
  const int64_t steps = (units + ((int64_t)1 << octave) - 1) >> octave;
  const int64_t index = octave * SIZES + (steps < SIZES ? 0 : steps - SIZES);
  return index < CHAD_CLASSES ? (int)index : CHAD_CLASSES;
}

// Whether this context may use so many bytes. What the system grants is measured where
// it is first of interest, and again before it refuses: a limit may have been lifted.
static bool grants(chad_state_t *const state, const int64_t wanted) {
  if (state->limit < 0 && wanted <= SURELY_THERE) {
    return true;
  }
  if (wanted > state->limit && !state->is_limited) {
    state->limit = chad_default_limit();
  }
  return wanted <= state->limit;
}

static bool grants_together(chad_account_t *const account, const int64_t wanted) {
  int64_t limit = atomic_load_explicit(&account->limit, memory_order_relaxed);
  if (limit < 0 && wanted <= SURELY_THERE) {
    return true;
  }
  if (wanted > limit && !account->is_limited) {
    limit = chad_default_limit();
    atomic_store_explicit(&account->limit, limit, memory_order_relaxed);
  }
  return wanted <= limit;
}

// The same as below. What is refused is never counted, not for a moment, for it could
// make another thread's request be refused.
static bool reserve_together(chad_account_t *const account, const int64_t size) {
  int64_t used = atomic_load_explicit(&account->used, memory_order_relaxed);
  do {
    if (!grants_together(account, used + size)) {
      return false;
    }
  } while (!atomic_compare_exchange_weak_explicit(
      &account->used, &used, used + size, memory_order_relaxed, memory_order_relaxed));
  int64_t peak = atomic_load_explicit(&account->peak, memory_order_relaxed);
  while (peak < used + size &&
         !atomic_compare_exchange_weak_explicit(&account->peak, &peak, used + size,
                                                memory_order_relaxed,
                                                memory_order_relaxed)) {
  }
  return true;
}

// How many more requests are granted; negative: all. What asks on several threads at
// once may be refused in any order, so the order of memory is relaxed.
static _Atomic int64_t grants_left = -1;

void chad_set_grants(const int64_t requests) {
  atomic_store_explicit(&grants_left, requests, memory_order_relaxed);
}

static bool is_refused(void) {
  int64_t left = atomic_load_explicit(&grants_left, memory_order_relaxed);
  while (left > 0 && !atomic_compare_exchange_weak_explicit(&grants_left, &left, left - 1,
                                                            memory_order_relaxed,
                                                            memory_order_relaxed)) {
  }
  return left == 0;
}

void *chad_zeroed(const size_t bytes) { return is_refused() ? NULL : calloc(1, bytes); }

bool chad_reserve(chad_state_t *const state, const int64_t size) {
  if (is_refused()) {
    return false;
  }
  if (state->account != NULL) {
    const bool is_there = reserve_together(state->account, size);
    state->own += is_there ? size : 0;
    return is_there;
  }
  const int64_t wanted = state->used + size;
  if (!grants(state, wanted)) {
    return false;
  }
  state->used = wanted;
  if (state->peak < wanted) {
    state->peak = wanted;
  }
  return true;
}

void chad_unreserve(chad_state_t *const state, const int64_t size) {
  if (state->account != NULL) {
    atomic_fetch_sub_explicit(&state->account->used, size, memory_order_relaxed);
    state->own -= size;
  } else {
    state->used -= size;
  }
}

// Memory between guards. It is set before other threads are there.

static bool guards = false;

#ifdef CHAD_NO_GUARDS
void chad_set_guards(void) {}

static void *allocate_guarded(const int64_t size) { return malloc((size_t)size); }

static void release_guarded(void *const memory, const int64_t size) {
  (void)size;
  free(memory);
}
#else
void chad_set_guards(void) { guards = true; }

static size_t pages_of(const int64_t size) {
  return (size_t)chad_round_up(size, PAGE) + PAGE;
}

static void *allocate_guarded(const int64_t size) {
  const size_t whole = pages_of(size);
  char *const pages =
      mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    return NULL;
  }
  (void)mprotect(pages + whole - PAGE, PAGE, PROT_NONE);
  return pages + whole - PAGE - size;
}

static void release_guarded(void *const memory, const int64_t size) {
  const size_t whole = pages_of(size);
  (void)munmap((char *)memory + size + PAGE - whole, whole);
}
#endif

bool chad_is_guarded(void) { return guards; }

int64_t chad_most_kept(const chad_state_t *const state) {
  if (guards) {
    return 0;
  }
  return state->limit < 0 ? state->most_kept : min_size(state->most_kept, state->limit);
}

void chad_release_system(void *const memory, const int64_t size) {
  if (guards) {
    release_guarded(memory, size);
    return;
  }
#ifdef _WIN32
  _aligned_free(memory);
#else
  free(memory);
#endif
}

void chad_release(const chad_state_t *const state, void *const memory,
                  const int64_t size) {
  if (state->source.take == NULL) {
    chad_release_system(memory, size);
  } else {
    state->source.give(state->source.owner, memory, size);
  }
}

void chad_trim(chad_state_t *const state, const int64_t bytes) {
  if (state->kept > bytes) {
    chad_grown_trim(state, bytes);
  }
  for (int index = CHAD_CLASSES; index >= 0 && state->kept > bytes; --index) {
    while (state->kept > bytes && state->kept_chunks[index] != NULL) {
      chad_chunk_t *const chunk = state->kept_chunks[index];
      state->kept_chunks[index] = chunk->next;
      state->kept -= chunk->size;
      chad_release(state, chunk, chunk->size);
    }
  }
}

void chad_advise(void *const memory, const int64_t size) {
#ifdef __linux__
  if (size >= 2 * HUGE_PAGE) {
    const uintptr_t first = ((uintptr_t)memory + PAGE - 1) / PAGE * PAGE;
    const uintptr_t last = ((uintptr_t)memory + (uintptr_t)size) / PAGE * PAGE;
    (void)madvise((void *)first, last - first, MADV_HUGEPAGE);  // Only advice: may fail.
  }
#else
  (void)memory;
  (void)size;
#endif
}

// `size` bytes from malloc; free gives them back. Large memory asks for huge pages: to
// fault in a big tape page by page takes longer than to fill it. It is not aligned to
// them, for then malloc would not use the same memory again for the next result.
static void *allocate_new(const int64_t size) {
  if (guards) {
    return allocate_guarded(size);
  }
#ifdef _WIN32
  void *const memory = _aligned_malloc((size_t)size, CHAD_ALIGNMENT);
#else
  void *const memory = aligned_alloc(CHAD_ALIGNMENT, (size_t)size);
#endif
  if (memory != NULL) {
    chad_advise(memory, size);
  }
  return memory;
}

void *chad_allocate(const chad_state_t *const state, const int64_t size) {
  if (state->source.take == NULL) {
    return allocate_new(size);
  }
  return state->source.take(state->source.owner, size);
}

// What other threads of a region use is theirs to keep.
void chad_make_way(chad_state_t *const state) {
  const int64_t own = state->account == NULL ? state->used : state->own;
  chad_trim(state, chad_most_kept(state) - own);
}

void *chad_system_take(chad_state_t *const state, const int64_t size) {
  const int64_t peak = state->peak;
  if (!chad_reserve(state, size)) {
    return NULL;
  }
  chad_make_way(state);
  void *memory = chad_allocate(state, size);
  if (memory == NULL) {
    chad_trim(state, 0);
    memory = chad_allocate(state, size);
  }
  if (memory == NULL) {
    chad_unreserve(state, size);
    state->peak = peak;
  }
  return memory;
}

void chad_system_give(chad_state_t *const state, void *const memory,
                      const int64_t size) {
  chad_unreserve(state, size);
  chad_release(state, memory, size);
}

// The link to the kept chunk that fits `size` best, or NULL. One more than an eighth
// larger is refused: what a call uses should not depend on what the call before it did.
static chad_chunk_t **find_kept(chad_state_t *const state, const int64_t size) {
  int64_t best_size = size + size / SIZES + 1;
  chad_chunk_t **best = NULL;
  chad_chunk_t **link = &state->kept_chunks[class_of(size)];
  for (; *link != NULL; link = &(*link)->next) {
    if ((*link)->size == size) {
      return link;
    }
    if ((*link)->size > size && (*link)->size < best_size) {
      best = link;
      best_size = (*link)->size;
    }
  }
  return best;
}

// A whole chunk: as large as all of its class, or as close as guards are.
static int64_t whole_size(const int64_t size) {
  const int index = class_of(size);
  if (guards) {
    return chad_round_up(size, CHAD_ALIGNMENT);
  }
  return index < CHAD_CLASSES ? class_size(index) : chad_round_up(size, PAGE);
}

chad_chunk_t *chad_chunk_take(chad_state_t *const state, const int64_t size) {
  const int64_t whole = whole_size(size);
  chad_chunk_t **const kept = find_kept(state, whole);
  if (kept != NULL && chad_reserve(state, (*kept)->size)) {
    chad_chunk_t *const chunk = *kept;
    *kept = chunk->next;
    state->kept -= chunk->size;
    return chunk;
  }
  chad_chunk_t *const chunk = chad_system_take(state, whole);
  if (chunk != NULL) {
    chunk->size = whole;
  }
  return chunk;
}

void chad_chunk_give(chad_state_t *const state, chad_chunk_t *const chunk) {
  if (state->kept + chunk->size > chad_most_kept(state)) {
    chad_system_give(state, chunk, chunk->size);
    return;
  }
  const int index = class_of(chunk->size);
  chad_unreserve(state, chunk->size);
  state->kept += chunk->size;
  chunk->next = state->kept_chunks[index];
  state->kept_chunks[index] = chunk;
}

int64_t chad_memory_used(const chad_context_t *const context) {
  const chad_state_t *const state = (const chad_state_t *)context;
  return state->account == NULL
             ? state->used
             : atomic_load_explicit(&state->account->used, memory_order_relaxed);
}

int64_t chad_memory_peak(const chad_context_t *const context) {
  return ((const chad_state_t *)context)->peak;
}

void chad_memory_reset_peak(chad_context_t *const context) {
  chad_state_t *const state = (chad_state_t *)context;
  state->peak = state->used;
}

int64_t chad_memory_limit(const chad_context_t *const context) {
  const chad_state_t *const state = (const chad_state_t *)context;
  return state->is_limited ? state->limit : chad_default_limit();
}

void chad_set_memory_limit(chad_context_t *const context, const int64_t bytes) {
  chad_state_t *const state = (chad_state_t *)context;
  state->limit = bytes < 0 ? -1 : bytes;
  state->is_limited = bytes >= 0;
  if (bytes >= 0) {
    chad_trim(state, bytes - state->used);
  }
}
