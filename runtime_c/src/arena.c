// Arenas: buffers that are given back all at once.
//
// An arena is a list of chunks, filled in order:
//
//   first -> ... -> current -> ... -> last
//   full            cursor..limit     free since the last reset
//
// When a buffer does not fit into `current`, the next chunk takes it; chunks on the way
// that are too small go back to the context, and behind the last comes a new one. A large
// buffer has a chunk of its own size. Small ones share chunks, each a quarter of the
// shared ones before it, so that many are taken in few steps and little is left over. A
// chunk is left only for a buffer larger than what is free in it, so memory stays within
// a constant of the largest sum of live buffers, also in a loop whose buffers grow from
// one reset to the next.
//
// An arena without chunks has cursor = limit = its own address.
//
// Nodes of a few words would waste most of a buffer of 64 bytes, so they share buffers:
// `small` .. `small_limit` is what is free in the last one.
//
// A buffer that grows lies among the others while it is small, and grows where it is if
// it is the last one; a large one has a chunk of its own (`grown`, see grown.c).
//
// `frames` are what chad_enter returns: one chunk with a count and the arenas. The
// context lists them, so that it can free what a failed call did not give back; those
// that are kept are in a list of their own, and then in one of the frame they go with.

#include <string.h>

#include "internal.h"

// The data of the first shared chunk, and of all those to which each may be as large as
// all before it together; the most of any.
static const int64_t FIRST_CHUNK = 512;
static const int64_t FIRST_CHUNKS = 16384;
static const int64_t GROWTH_MAX = (int64_t)32 << 20;

// A buffer that grows beyond this has a chunk of its own.
static const int64_t GROWN_ALONE = (int64_t)8 * CHAD_GROWN_WORDS;

// A buffer that has a chunk of its own.
static const int64_t LARGE_BUFFER = 65536;

// One that does not begin where others do in their pages (of so many bytes), and how far
// it is from the one before it: an odd number of lines, about a quarter of a page.
static const int64_t COLOURED = 131072;
static const int64_t COLOURS = 4096;
static const int64_t COLOUR_STEP = 17 * CHAD_ALIGNMENT;

// What small objects share; a quarter of it is the largest of them.
static const int64_t SMALL_BUFFER = 960;

typedef struct frame {
  int64_t regions;
  chad_chunk_t *kept;  // frames that go with it
  chad_state_t *maker;  // of a frame that is kept
} frame_t;

static_assert(sizeof(frame_t) <= CHAD_ALIGNMENT, "the arenas follow at 64 bytes");

static char *chunk_data(chad_chunk_t *const chunk) {
  return (char *)chunk + CHAD_ALIGNMENT;
}

static frame_t *frame_of(chad_arena_t *const arenas) {
  return (frame_t *)(void *)((char *)arenas - CHAD_ALIGNMENT);
}

static chad_chunk_t *frame_chunk(chad_arena_t *const arenas) {
  return (chad_chunk_t *)(void *)((char *)frame_of(arenas) - CHAD_ALIGNMENT);
}

static chad_arena_t *frame_arenas(chad_chunk_t *const chunk) {
  return (chad_arena_t *)(void *)(chunk_data(chunk) + CHAD_ALIGNMENT);
}

static void small_forget(chad_arena_t *const arena) {
  arena->small = (char *)arena;
  arena->small_limit = (char *)arena;
}

static void arena_start(chad_arena_t *const arena) {
  arena->cursor = (char *)arena;
  arena->limit = (char *)arena;
  arena->first = NULL;
  arena->current = NULL;
  arena->grown = NULL;
  arena->shared = 0;
  small_forget(arena);
}

static void arena_use(chad_arena_t *const arena, chad_chunk_t *const chunk) {
  arena->current = chunk;
  arena->cursor = chunk_data(chunk) + chunk->colour;
  arena->limit = (char *)chunk + chunk->size;
}

// Each call begins with the same colour, so that it finds its buffers where they were.
static void frame_link(chad_state_t *const state, chad_chunk_t *const chunk) {
  if (state->frames == NULL) {
    state->colour = 0;
  }
  chunk->previous = NULL;
  chunk->next = state->frames;
  if (chunk->next != NULL) {
    chunk->next->previous = chunk;
  }
  state->frames = chunk;
}

static void frame_unlink(chad_state_t *const state, const chad_chunk_t *const chunk) {
  if (chunk->next != NULL) {
    chunk->next->previous = chunk->previous;
  }
  if (chunk->previous != NULL) {
    chunk->previous->next = chunk->next;
  } else {
    state->frames = chunk->next;
  }
}

chad_arena_t *chad_enter(chad_context_t *const context, const int64_t regions) {
  chad_state_t *const state = (chad_state_t *)context;
  if (regions < 0 || regions > CHAD_LARGEST / CHAD_ARENA_SIZE) {
    return NULL;
  }
  const int64_t size = 2 * CHAD_ALIGNMENT + regions * CHAD_ARENA_SIZE;
  chad_chunk_t *const chunk = chad_chunk_take(state, size);
  if (chunk == NULL) {
    return NULL;
  }
  frame_link(state, chunk);
  frame_t *const frame = (frame_t *)(void *)chunk_data(chunk);
  frame->regions = regions;
  frame->kept = NULL;
  chad_arena_t *const arenas = frame_arenas(chunk);
  for (int64_t region = 0; region < regions; ++region) {
    arena_start(&arenas[region]);
  }
  return arenas;
}

// Gives all chunks of an arena back to the context.
static void give_chunks(chad_state_t *const state, const chad_arena_t *const arena) {
  chad_chunk_t *chunk = arena->first;
  while (chunk != NULL) {
    chad_chunk_t *const next = chunk->next;
    chad_chunk_give(state, chunk);
    chunk = next;
  }
  chunk = arena->grown;
  while (chunk != NULL) {
    chad_chunk_t *const next = chunk->next;
    chad_grown_give(state, chunk);
    chunk = next;
  }
}

void chad_arena_give(chad_context_t *const context, chad_arena_t *const arena) {
  give_chunks((chad_state_t *)context, arena);
  arena_start(arena);
}

// Gives back a frame that is in no list, with all buffers of its arenas.
static void frame_give(chad_state_t *const state, chad_chunk_t *const frame) {
  chad_arena_t *const arenas = frame_arenas(frame);
  for (int64_t region = 0; region < frame_of(arenas)->regions; ++region) {
    give_chunks(state, &arenas[region]);
  }
  chad_chunk_give(state, frame);
}

// Gives back a frame that was kept, to the context that has made it: a helper's, which
// has no region now. Else each call would fault in new memory for it. The bytes count as
// used by `state` by now, not by the helper.
static void kept_give(chad_state_t *const state, chad_chunk_t *const frame) {
  chad_state_t *const maker = frame_of(frame_arenas(frame))->maker;
  if (maker == state || state->account != NULL || state->is_limited) {
    frame_give(state, frame);
    return;
  }
  const int64_t before = maker->used;
  frame_give(maker, frame);
  const int64_t given = before - maker->used;
  maker->used = before;
  chad_unreserve(state, given);
}

void chad_leave(chad_context_t *const context, chad_arena_t *const arenas) {
  chad_state_t *const state = (chad_state_t *)context;
  if (arenas == NULL) {
    return;
  }
  chad_chunk_t *const chunk = frame_chunk(arenas);
  chad_chunk_t *kept = frame_of(arenas)->kept;
  frame_unlink(state, chunk);
  frame_give(state, chunk);
  while (kept != NULL) {
    chad_chunk_t *const next = kept->next;
    kept_give(state, kept);
    kept = next;
  }
}

void chad_keep(chad_context_t *const context, chad_arena_t *const arenas) {
  chad_state_t *const state = (chad_state_t *)context;
  chad_chunk_t *const chunk = frame_chunk(arenas);
  frame_unlink(state, chunk);
  frame_of(arenas)->maker = state;
  chunk->next = state->kept_frames;
  state->kept_frames = chunk;
}

void chad_frames_move(chad_arena_t *const arenas, chad_state_t *const from) {
  frame_t *const frame = frame_of(arenas);
  while (from->kept_frames != NULL) {
    chad_chunk_t *const chunk = from->kept_frames;
    from->kept_frames = chunk->next;
    chunk->next = frame->kept;
    frame->kept = chunk;
  }
}

void chad_frames_free(chad_state_t *const state) {
  while (state->frames != NULL) {
    chad_leave(&state->shared, frame_arenas(state->frames));
  }
}

// The data of the next shared chunk.
static int64_t generous_size(const chad_arena_t *const arena) {
  const int64_t shared = arena->shared;
  if (shared < FIRST_CHUNK) {
    return FIRST_CHUNK;
  }
  const int64_t more = shared < FIRST_CHUNKS ? shared : shared / 4;
  return more < GROWTH_MAX ? more : GROWTH_MAX;
}

// Where the data of a chunk begins, behind its header: a few lines of the cache further
// into a page than those of the one before it. Arrays that are walked through together
// are often of one size, and the system puts them at the same place of their pages: then
// all that is read and written at a time has its place in few lines of the cache, and
// processors take a store for one to what they load next.
static int64_t next_colour(chad_state_t *const state, chad_chunk_t *const chunk) {
  const int64_t there = (int64_t)((uintptr_t)chunk_data(chunk) % (uintptr_t)COLOURS);
  state->colour = (state->colour + COLOUR_STEP) % COLOURS;
  return (state->colour - there + COLOURS) % COLOURS;
}

// A new chunk for a buffer: generous if that leaves room for as much again, or a page
// larger for a colour, and the limit allows it; else just enough.
static chad_chunk_t *take_chunk(chad_state_t *const state, chad_arena_t *const arena,
                                const int64_t buffer) {
  const bool is_shared = buffer < LARGE_BUFFER;
  const int64_t size = CHAD_ALIGNMENT + buffer;
  const int64_t generous = CHAD_ALIGNMENT + generous_size(arena);
  chad_chunk_t *chunk = NULL;
  if (chad_is_guarded()) {
    chunk = chad_chunk_take(state, size);
    if (chunk != NULL) {
      chunk->colour = 0;
      chunk->is_shared = false;
    }
    return chunk;
  }
  if (is_shared && generous >= 2 * size) {
    chunk = chad_chunk_take(state, generous);
  } else if (buffer >= COLOURED) {
    chunk = chad_chunk_take(state, size + COLOURS);
  }
  const bool is_coloured = chunk != NULL && !is_shared;
  if (chunk == NULL) {
    chunk = chad_chunk_take(state, size);
  }
  if (chunk != NULL) {
    chunk->colour = is_coloured ? next_colour(state, chunk) : 0;
    chunk->is_shared = is_shared;
    arena->shared += is_shared ? chunk->size : 0;
  }
  return chunk;
}

// The chunk behind `current` that has room for a buffer, or NULL.
static chad_chunk_t *next_chunk(chad_state_t *const state, chad_arena_t *const arena,
                                const int64_t buffer) {
  chad_chunk_t *const current = arena->current;
  while (current != NULL && current->next != NULL) {
    chad_chunk_t *const next = current->next;
    const int64_t room = next->size - next->colour - CHAD_ALIGNMENT;
    if (chad_is_guarded() ? room == buffer : room >= buffer) {
      return next;
    }
    current->next = next->next;
    arena->shared -= next->is_shared ? next->size : 0;
    chad_chunk_give(state, next);
  }
  chad_chunk_t *const chunk = take_chunk(state, arena, buffer);
  if (chunk == NULL) {
    return NULL;
  }
  chunk->next = NULL;
  if (current != NULL) {
    current->next = chunk;
  } else {
    arena->first = chunk;
  }
  return chunk;
}

void *chad_arena_grow(chad_context_t *const context, chad_arena_t *const arena,
                      const int64_t bytes) {
  chad_state_t *const state = (chad_state_t *)context;
  if (bytes < 0 || bytes > CHAD_LARGEST) {
    return NULL;
  }
  const int64_t size = chad_round_up(bytes, CHAD_ALIGNMENT);
  const int64_t room = arena->limit - arena->cursor;
  if (chad_is_guarded() ? size != room : size > room) {
    chad_chunk_t *const chunk = next_chunk(state, arena, size);
    if (chunk == NULL) {
      return NULL;
    }
    arena_use(arena, chunk);
  }
  char *const buffer = arena->cursor;
  arena->cursor += size;
  return buffer;
}

// The first row may begin anywhere in a buffer that has room for one row more.
int64_t chad_arena_segment(chad_context_t *const context, chad_arena_t *const arena,
                           const void *const base, const int64_t words,
                           const int64_t rows) {
  if (words <= 0 || rows < 0 || rows >= CHAD_LARGEST / 8 / words) {
    return INT64_MIN;
  }
  const int64_t row = 8 * words;
  const void *const buffer = chad_arena_grow(context, arena, (rows + 1) * row);
  if (buffer == NULL) {
    return INT64_MIN;
  }
  const int64_t distance = (int64_t)((uintptr_t)buffer - (uintptr_t)base);
  return distance / row + (distance % row > 0);
}

// A buffer of a chunk of its own, which is linked to the arena.
static char *grown_alone(chad_state_t *const state, chad_arena_t *const arena,
                         chad_chunk_t *const old, const int64_t used,
                         const int64_t size) {
  chad_chunk_t *const chunk =
      chad_grown_take(state, old, CHAD_ALIGNMENT + used, CHAD_ALIGNMENT + size);
  if (chunk == NULL) {
    return NULL;
  }
  if (old == NULL) {
    chunk->previous = NULL;
    chunk->next = arena->grown;
  }
  if (chunk->next != NULL) {
    chunk->next->previous = chunk;
  }
  if (chunk->previous != NULL) {
    chunk->previous->next = chunk;
  } else {
    arena->grown = chunk;
  }
  return chunk_data(chunk);
}

void *chad_arena_extend(chad_context_t *const context, chad_arena_t *const arena,
                        void *const old, const int64_t old_words,
                        const int64_t used_words, const int64_t words) {
  chad_state_t *const state = (chad_state_t *)context;
  if (words < 0 || words > CHAD_LARGEST / 8) {
    return NULL;
  }
  const int64_t size = chad_round_up(8 * words, CHAD_ALIGNMENT);
  const int64_t old_size = chad_round_up(8 * old_words, CHAD_ALIGNMENT);
  if (old_words > 0 && size <= old_size && size <= GROWN_ALONE) {
    return old;
  }
  if (old_size > GROWN_ALONE) {
    chad_chunk_t *const chunk = (chad_chunk_t *)(void *)((char *)old - CHAD_ALIGNMENT);
    return grown_alone(state, arena, chunk, 8 * used_words, size);
  }
  const int64_t more = size - old_size;
  if (old_size > 0 && size <= GROWN_ALONE && (char *)old + old_size == arena->cursor &&
      !chad_is_guarded() && more <= arena->limit - arena->cursor) {
    arena->cursor += more;
    return old;
  }
  char *const buffer = size > GROWN_ALONE ? grown_alone(state, arena, NULL, 0, size)
                                          : chad_arena_grow(context, arena, size);
  if (buffer != NULL && used_words > 0) {
    memcpy(buffer, old, (size_t)(8 * used_words));
    chad_count(context, used_words);
  }
  return buffer;
}

void chad_arena_reset(chad_arena_t *const arena) {
  if (arena->first != NULL) {
    arena_use(arena, arena->first);
  }
  small_forget(arena);
}

void chad_arena_release(chad_arena_t *const arena, chad_chunk_t *const chunk,
                        char *const cursor) {
  if (chunk == NULL) {
    chad_arena_reset(arena);
    return;
  }
  arena_use(arena, chunk);
  arena->cursor = cursor;
  small_forget(arena);
}

void *chad_small(chad_context_t *const context, chad_arena_t *const arena,
                 const int64_t bytes) {
  if (bytes > SMALL_BUFFER / 4) {
    return chad_arena_grow(context, arena, bytes);
  }
  const int64_t size = chad_round_up(bytes, 8);
  if (size > arena->small_limit - arena->small) {
    char *const buffer = chad_arena_grow(context, arena, SMALL_BUFFER);
    if (buffer == NULL) {
      return chad_arena_grow(context, arena, size);
    }
    arena->small = buffer;
    arena->small_limit = buffer + SMALL_BUFFER;
  }
  char *const object = arena->small;
  arena->small += size;
  return object;
}
