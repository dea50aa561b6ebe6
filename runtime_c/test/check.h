// The little our C tests need. CHECK ends the program with the place and the text of
// what does not hold; unlike assert it is there in release builds too.

#ifndef CHAD_CHECK_H
#define CHAD_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include "chad_rt.h"

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      (void)fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__,    \
                    #condition);                                                \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

#define MIB ((int64_t)1 << 20)

static inline chad_context_t *new_context(void) {
  chad_context_t *const context = chad_context_new();
  CHECK(context != NULL);
  return context;
}

// What generated code does inline.
static inline void *allocate(chad_context_t *const context, chad_arena_t *const arena,
                             const int64_t bytes) {
  const uint64_t size = ((uint64_t)bytes + 63) & ~(uint64_t)63;
  if (size > (uint64_t)(arena->limit - arena->cursor)) {
    return chad_arena_grow(context, arena, bytes);
  }
  char *const buffer = arena->cursor;
  arena->cursor += size;
  return buffer;
}

// A step of a simple generator of random numbers: 0 .. count - 1.
static inline int64_t random_below(uint64_t *const state, const int64_t count) {
  *state = *state * 6364136223846793005U + 1442695040888963407U;
  return (int64_t)((*state >> 33) % (uint64_t)count);
}

static inline int is_aligned(const void *const pointer) {
  return pointer != NULL && (uintptr_t)pointer % CHAD_ALIGNMENT == 0;
}

#endif
