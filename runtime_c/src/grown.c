// Chunks of buffers that grow, each alone in its chunk.
//
// Where the system can (Linux), such a chunk is mapped by itself, and grows by moving its
// pages, which copies nothing and needs no memory besides. Elsewhere, and where the
// memory of a context is not from the system, it is copied into a new one.
//
// A call counts what it asked for (`size`), not what the chunk could hold (`capacity`):
// chunks are kept as they have grown, so that the next call does not fault them in again,
// but how much a call uses does not depend on the call before it.

#ifdef __linux__
#define _GNU_SOURCE
#include <sys/mman.h>
#endif

#include <string.h>

#include "internal.h"

static int64_t whole_size(const int64_t size) {
  return chad_round_up(size, chad_is_guarded() ? CHAD_ALIGNMENT : 4096);
}

static inline bool is_mapped(const chad_state_t *const state) {
#ifdef __linux__
  return state->source.take == NULL && !chad_is_guarded();
#else
  (void)state;
  return false;
#endif
}

static chad_chunk_t *take_new(const chad_state_t *const state, const int64_t capacity) {
#ifdef __linux__
  if (is_mapped(state)) {
    void *const memory = mmap(NULL, (size_t)capacity, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      return NULL;
    }
    chad_advise(memory, capacity);
    return memory;
  }
#endif
  return chad_allocate(state, capacity);
}

static void free_whole(const chad_state_t *const state, chad_chunk_t *const chunk) {
#ifdef __linux__
  if (is_mapped(state)) {
    (void)munmap(chunk, (size_t)chunk->capacity);
    return;
  }
#endif
  chad_release(state, chunk, chunk->capacity);
}

// A chunk of this capacity with what `chunk` holds, which is gone; NULL: it is not.
static chad_chunk_t *move(chad_state_t *const state, chad_chunk_t *const chunk,
                          const int64_t used, const int64_t capacity) {
#ifdef __linux__
  if (is_mapped(state)) {
    void *const memory =
        mremap(chunk, (size_t)chunk->capacity, (size_t)capacity, MREMAP_MAYMOVE);
    if (memory == MAP_FAILED) {
      return NULL;
    }
    chad_advise(memory, capacity);
    return memory;
  }
#endif
  // For a moment there are both.
  const int64_t both = chunk->size;
  if (!chad_reserve(state, both)) {
    return NULL;
  }
  chad_chunk_t *const copy = take_new(state, capacity);
  if (copy != NULL) {
    memcpy(copy, chunk, (size_t)used);
    free_whole(state, chunk);
  }
  chad_unreserve(state, both);
  return copy;
}

// A kept one, or a new one with `capacity`; NULL if out of memory.
//
// What is asked for at first says little about how large a buffer becomes. But of pieces
// of work that are taken from a list, the oldest are the largest, so who comes first gets
// the largest chunk: then chunks become no larger than the work they serve, call by call.
static chad_chunk_t *take(chad_state_t *const state, const int64_t capacity) {
  chad_chunk_t *chunk = state->kept_grown;
  // Under a limit nothing may be had that is not counted.
  if (chunk != NULL && !state->is_limited && chunk->capacity >= capacity) {
    state->kept_grown = chunk->next;
    state->kept -= chunk->capacity;
    return chunk;
  }
  chad_make_way(state);
  chunk = take_new(state, capacity);
  if (chunk == NULL) {
    chad_trim(state, 0);
    chunk = take_new(state, capacity);
  }
  if (chunk != NULL) {
    chunk->capacity = capacity;
  }
  return chunk;
}

// As much more as was asked for, not counted as used.
static chad_chunk_t *stretch(chad_state_t *const state, chad_chunk_t *const chunk,
                             const int64_t used, const int64_t size) {
  if (size <= chunk->capacity) {
    return chunk;
  }
  const int64_t capacity = whole_size(size);
  chad_chunk_t *moved = move(state, chunk, used, capacity);
  if (moved == NULL) {
    chad_trim(state, 0);
    moved = move(state, chunk, used, capacity);
  }
  if (moved != NULL) {
    moved->capacity = capacity;
  }
  return moved;
}

// What is behind `size` counts no more: pages that nobody wrote to take no memory. Where
// that is not so, or nothing may be had that is not counted, all goes on to count.
static chad_chunk_t *shrunk(chad_state_t *const state, chad_chunk_t *const chunk,
                            const int64_t size) {
  if (is_mapped(state) && !state->is_limited) {
    chad_unreserve(state, chunk->size - size);
    chunk->size = size;
  }
  return chunk;
}

chad_chunk_t *chad_grown_take(chad_state_t *const state, chad_chunk_t *const chunk,
                              const int64_t used, const int64_t size) {
  const int64_t more = chunk == NULL ? size : size - chunk->size;
  if (more <= 0) {
    return shrunk(state, chunk, size);
  }
  if (!chad_reserve(state, more)) {
    return NULL;
  }
  chad_chunk_t *const grown = chunk == NULL
                                  ? take(state, whole_size(size))
                                  : stretch(state, chunk, used, size);
  if (grown == NULL) {
    chad_unreserve(state, more);
    return NULL;
  }
  grown->size = size;
  return grown;
}

// The largest stay: they serve any buffer, and to grow another takes as much again.
void chad_grown_trim(chad_state_t *const state, const int64_t bytes) {
  int64_t all = 0;
  for (const chad_chunk_t *chunk = state->kept_grown; chunk != NULL;
       chunk = chunk->next) {
    all += chunk->capacity;
  }
  int64_t room = bytes - (state->kept - all);
  chad_chunk_t **link = &state->kept_grown;
  while (*link != NULL) {
    chad_chunk_t *const chunk = *link;
    if (chunk->capacity <= room) {
      room -= chunk->capacity;
      link = &chunk->next;
    } else {
      *link = chunk->next;
      state->kept -= chunk->capacity;
      free_whole(state, chunk);
    }
  }
}

void chad_grown_give(chad_state_t *const state, chad_chunk_t *const chunk) {
  chad_unreserve(state, chunk->size);
  chad_chunk_t **link = &state->kept_grown;
  while (*link != NULL && (*link)->capacity > chunk->capacity) {
    link = &(*link)->next;
  }
  chunk->next = *link;
  *link = chunk;
  state->kept += chunk->capacity;
  if (state->kept > chad_most_kept(state)) {
    chad_grown_trim(state, chad_most_kept(state));
  }
}
