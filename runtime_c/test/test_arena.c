// Arenas: growth, reuse after reset, nesting, odd sizes.

#include <stdbool.h>
#include <string.h>

#include "check.h"

// Buffers are aligned, distinct and keep what is written to them while others grow.
static void test_growth(void) {
  enum { COUNT = 2000 };
  static unsigned char *buffers[COUNT];
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  for (int i = 0; i < COUNT; ++i) {
    const int64_t bytes = 1 + (i * 37) % 3000;
    buffers[i] = allocate(context, arena, bytes);
    CHECK(is_aligned(buffers[i]));
    CHECK(is_aligned(arena->cursor));
    memset(buffers[i], i % 251, (size_t)bytes);
  }
  for (int i = 0; i < COUNT; ++i) {
    const int64_t bytes = 1 + (i * 37) % 3000;
    for (int64_t k = 0; k < bytes; ++k) {
      CHECK(buffers[i][k] == i % 251);
    }
  }
  chad_leave(context, arena);
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
}

// A loop that resets its region uses no more memory in its second step or its last.
static void test_reset_reuses(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  void *first = NULL;
  int64_t used = 0;
  for (int step = 0; step < 1000; ++step) {
    void *const start = allocate(context, arena, 40);
    for (int i = 0; i < 50; ++i) {
      memset(allocate(context, arena, 1000 * i), 1, (size_t)(1000 * i));
    }
    if (step == 0) {
      first = start;
      used = chad_memory_used(context);
    }
    CHECK(start == first);
    CHECK(chad_memory_used(context) == used);
    chad_arena_reset(arena);
  }
  chad_leave(context, arena);
  chad_context_free(context);
}

// Buffers that grow from step to step do not pile up.
static void test_growing_steps_stay_bounded(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  for (int64_t bytes = 64; bytes < 40 * MIB; bytes += bytes / 16 + 64) {
    CHECK(is_aligned(allocate(context, arena, bytes)));
    CHECK(is_aligned(allocate(context, arena, 64)));
    CHECK(is_aligned(allocate(context, arena, bytes)));
    CHECK(chad_memory_used(context) <= 8 * bytes + 16384);
    chad_arena_reset(arena);
  }
  chad_leave(context, arena);
  chad_context_free(context);
}

// A large buffer costs its own size, not the next step of the growth.
static void test_large_request(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  CHECK(is_aligned(allocate(context, arena, 100)));
  CHECK(is_aligned(allocate(context, arena, 48 * MIB)));
  CHECK(chad_memory_used(context) < 49 * MIB);
  chad_leave(context, arena);
  chad_context_free(context);
}

// So do many of them, between small ones.
static void test_large_requests_share_nothing(void) {
  enum { COUNT = 20, BYTES = 300000 };
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < COUNT; ++i) {
      memset(allocate(context, arena, 100), i, 100);
      memset(allocate(context, arena, BYTES), i, BYTES);
    }
    CHECK(chad_memory_used(context) < COUNT * (int64_t)BYTES * 9 / 8 + 32768);
    chad_arena_reset(arena);
  }
  chad_leave(context, arena);
  chad_context_free(context);
}

// Arrays of the same size begin at different places of their pages, also where the
// memory is from a call before; but not for a page that there is not.
static void test_large_buffers_begin_elsewhere(void) {
  enum { COUNT = 4, BYTES = 1 << 18, PAGE = 4096 };
  chad_context_t *const context = new_context();
  for (int call = 0; call < 3; ++call) {
    chad_arena_t *const arena = chad_enter(context, 1);
    char *buffers[COUNT];
    for (int step = 0; step < 2; ++step) {
      for (int i = 0; i < COUNT; ++i) {
        char *const buffer = allocate(context, arena, BYTES);
        CHECK(is_aligned(buffer));
        CHECK(step == 0 || buffer == buffers[i]);
        memset(buffer, i, BYTES);
        buffers[i] = buffer;
        for (int k = 0; k < i; ++k) {
          const uintptr_t far = ((uintptr_t)buffer - (uintptr_t)buffers[k]) % PAGE;
          CHECK(far >= PAGE / 8 && far <= PAGE - PAGE / 8);
        }
      }
      chad_arena_reset(arena);
    }
    chad_leave(context, arena);
  }
  chad_context_free(context);
  chad_context_t *const limited = new_context();
  chad_arena_t *const arena = chad_enter(limited, 1);
  chad_set_memory_limit(limited, chad_memory_used(limited) + BYTES + 64);
  CHECK(is_aligned(allocate(limited, arena, BYTES)));
  chad_leave(limited, arena);
  chad_context_free(limited);
}

// Small buffers leave no more than about a quarter free.
static void test_small_requests(void) {
  enum { COUNT = 20000, BYTES = 640 };
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  for (int i = 1; i <= COUNT; ++i) {
    memset(allocate(context, arena, BYTES), 1, BYTES);
    CHECK(i < 100 || chad_memory_used(context) < (int64_t)i * BYTES * 3 / 2);
  }
  chad_leave(context, arena);
  chad_context_free(context);
}

// What an arena gives back, another can have.
static void test_memory_is_given_back(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arenas = chad_enter(context, 2);
  const int64_t before = chad_memory_used(context);
  for (int step = 0; step < 5; ++step) {
    chad_arena_t *const arena = &arenas[step % 2];
    memset(allocate(context, arena, MIB), 1, MIB);
    memset(allocate(context, arena, 100), 1, 100);
    CHECK(chad_memory_peak(context) < before + MIB + 16384);
    chad_arena_give(context, arena);
    CHECK(chad_memory_used(context) == before);
  }
  chad_arena_give(context, arenas);
  CHECK(is_aligned(allocate(context, arenas, 64)));
  chad_leave(context, arenas);
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
}

static void test_regions_are_independent(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arenas = chad_enter(context, 3);
  char *const kept = allocate(context, &arenas[0], 5000);
  memset(kept, 7, 5000);
  for (int step = 0; step < 100; ++step) {
    memset(allocate(context, &arenas[1], 9000), 1, 9000);
    memset(allocate(context, &arenas[2], 300), 2, 300);
    chad_arena_reset(&arenas[1]);
    chad_arena_reset(&arenas[2]);
  }
  CHECK(kept[0] == 7 && kept[4999] == 7);
  chad_leave(context, arenas);
  chad_context_free(context);
}

// Calls in calls, to a depth no recursive implementation would survive.
static void test_nesting(void) {
  enum { DEPTH = 20000 };
  static chad_arena_t *frames[DEPTH];
  static int64_t *values[DEPTH];
  chad_context_t *const context = new_context();
  for (int depth = 0; depth < DEPTH; ++depth) {
    frames[depth] = chad_enter(context, 1 + depth % 20);
    CHECK(is_aligned(frames[depth]));
    values[depth] = allocate(context, &frames[depth][depth % (1 + depth % 20)], 8);
    *values[depth] = depth;
  }
  for (int depth = DEPTH - 1; depth >= 0; --depth) {
    CHECK(*values[depth] == depth);
    chad_leave(context, frames[depth]);
  }
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
}

static void test_leave_in_any_order(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const a = chad_enter(context, 1);
  chad_arena_t *const b = chad_enter(context, 2);
  chad_arena_t *const c = chad_enter(context, 3);
  CHECK(allocate(context, b, 100) != NULL);
  chad_leave(context, b);
  chad_leave(context, a);
  chad_leave(context, c);
  chad_leave(context, NULL);
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
}

// What a failed call leaves behind goes with the context.
static void test_free_without_leave(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arenas = chad_enter(context, 2);
  CHECK(allocate(context, &arenas[1], 100000) != NULL);
  CHECK(chad_enter(context, 5) != NULL);
  CHECK(chad_result_alloc(context, 100) != NULL);
  chad_context_free(context);
  chad_context_free(NULL);
}

static void test_odd_sizes(void) {
  chad_context_t *const context = new_context();
  CHECK(chad_enter(context, -1) == NULL);
  CHECK(chad_enter(context, INT64_MAX) == NULL);
  chad_arena_t *const none = chad_enter(context, 0);
  CHECK(none != NULL);
  chad_leave(context, none);
  chad_arena_t *const arena = chad_enter(context, 1);
  chad_arena_reset(arena);
  CHECK(is_aligned(allocate(context, arena, 0)));
  CHECK(is_aligned(chad_arena_grow(context, arena, 0)));
  CHECK(chad_arena_grow(context, arena, -1) == NULL);
  CHECK(chad_arena_grow(context, arena, INT64_MIN) == NULL);
  CHECK(chad_arena_grow(context, arena, INT64_MAX) == NULL);
  CHECK(chad_arena_grow(context, arena, INT64_MAX - 62) == NULL);
  CHECK(is_aligned(allocate(context, arena, 64)));
  chad_leave(context, arena);
  chad_context_free(context);
}

// Fills a buffer that grows to so many words, with others made now and then.
static void grow_to(chad_context_t *const context, chad_arena_t *const arena,
                    const int64_t target) {
  const int64_t before = chad_memory_used(context);
  int64_t *buffer = NULL;
  int64_t words = 0;
  while (words < target) {
    const int64_t more = words + words / 4 + 16;
    buffer = chad_arena_extend(context, arena, buffer, words, words, more);
    CHECK(is_aligned(buffer));
    for (int64_t k = words; k < more; ++k) {
      buffer[k] = 3 * k;
    }
    words = more;
    if (words % 5 == 0) {
      memset(allocate(context, arena, 100), 255, 100);
    }
    CHECK(chad_memory_used(context) - before <= 8 * words + MIB);
  }
  for (int64_t k = 0; k < words; ++k) {
    CHECK(buffer[k] == 3 * k);
  }
}

// Buffers that grow keep what they hold, and take no more than they asked for: the
// second call no more than the first, which left behind what it had.
static void test_extend(void) {
  chad_context_t *const context = new_context();
  int64_t peak = 0;
  for (int call = 0; call < 3; ++call) {
    chad_memory_reset_peak(context);
    chad_arena_t *const arena = chad_enter(context, 2);
    grow_to(context, &arena[0], 1 << 19);
    grow_to(context, &arena[0], 100);
    grow_to(context, &arena[1], 1 << 17);
    grow_to(context, &arena[0], 1 << 17);
    CHECK(call == 0 || chad_memory_peak(context) == peak);
    peak = chad_memory_peak(context);
    CHECK(peak < 5 * (8 << 19) / 4 + 5 * (8 << 18) / 4 + MIB);
    chad_leave(context, arena);
    CHECK(chad_memory_used(context) == 0);
  }
  chad_context_free(context);
}

// Whether the last word of a buffer that grows to so many is as a call before left it.
static bool grows_into_kept(chad_context_t *const context, chad_arena_t *const arena,
                            const int64_t words) {
  int64_t *buffer = chad_arena_extend(context, arena, NULL, 0, 0, MIB / 64);
  CHECK(buffer != NULL);
  buffer = chad_arena_extend(context, arena, buffer, MIB / 64, 0, words);
  CHECK(buffer != NULL);
  const bool is_kept = buffer[words - 1] == words;
  buffer[words - 1] = words;
  return is_kept;
}

// The same buffers again, the largest first: each gets memory that was kept, and none
// gets more and more of it, though all have begun with the same size.
static void test_growing_buffers_are_reused(void) {
  chad_context_t *const context = new_context();
  for (int call = 0; call < 6; ++call) {
    chad_arena_t *const arenas = chad_enter(context, 4);
    for (int k = 0; k < 4; ++k) {
      const bool is_kept = grows_into_kept(context, &arenas[k], (4 * MIB) >> k);
#ifdef __linux__
      CHECK(is_kept == (call > 0));
#else
      (void)is_kept;
#endif
    }
    chad_leave(context, arenas);
  }
  chad_context_free(context);
}

// Of more than a context may keep the largest stay, in whatever order they come back.
static void test_the_largest_are_kept(void) {
  chad_context_t *const context = new_context();
  for (int call = 0; call < 3; ++call) {
    chad_arena_t *const arenas = chad_enter(context, 4);
    for (int k = 3; k >= 0; --k) {
      const bool is_kept = grows_into_kept(context, &arenas[k], (k == 3 ? 11 : 4) * MIB);
#ifdef __linux__
      CHECK(is_kept == (call > 0 && k >= 2));
#else
      (void)is_kept;
#endif
    }
    chad_leave(context, arenas);
  }
  chad_context_free(context);
}

// A buffer that shrinks keeps what it holds, and grows again; what it gives back does
// not count any more, but where nothing may be had that is not counted.
static void test_shrink(void) {
  chad_context_t *const context = new_context();
  const int64_t words = MIB / 8;
  for (int limited = 0; limited < 2; ++limited) {
    chad_set_memory_limit(context, limited ? 64 * MIB : -1);
    chad_arena_t *const arena = chad_enter(context, 1);
    int64_t *buffer = chad_arena_extend(context, arena, NULL, 0, 0, words);
    for (int64_t k = 0; k < words / 2; ++k) {
      buffer[k] = 5 * k;
    }
    buffer = chad_arena_extend(context, arena, buffer, words, words / 2, words / 2);
    CHECK(buffer != NULL);
#ifdef __linux__
    CHECK((chad_memory_used(context) < 3 * MIB / 4) == !limited);
#endif
    allocate(context, arena, 3 * MIB);
    buffer = chad_arena_extend(context, arena, buffer, words / 2, words / 2, 2 * words);
    CHECK(chad_memory_used(context) >= 5 * MIB);
    for (int64_t k = 0; k < words / 2; ++k) {
      CHECK(buffer[k] == 5 * k);
    }
    memset(buffer, 1, (size_t)(16 * words));
    int64_t *const small = chad_arena_extend(context, arena, NULL, 0, 0, 100);
    CHECK(chad_arena_extend(context, arena, small, 100, 20, 20) == small);
    chad_leave(context, arena);
    CHECK(chad_memory_used(context) == 0);
  }
  chad_context_free(context);
}

// What is refused leaves the buffer as it was.
static void test_extend_refused(void) {
  chad_context_t *const context = new_context();
  chad_set_memory_limit(context, 4 * MIB);
  chad_arena_t *const arena = chad_enter(context, 1);
  const int64_t words = MIB / 8;
  char *const buffer = chad_arena_extend(context, arena, NULL, 0, 0, words);
  CHECK(buffer != NULL);
  memset(buffer, 7, (size_t)MIB);
  CHECK(chad_arena_extend(context, arena, buffer, words, words, 5 * words) == NULL);
  CHECK(chad_arena_extend(context, arena, buffer, words, words, INT64_MAX) == NULL);
  CHECK(chad_arena_extend(context, arena, buffer, words, words, -1) == NULL);
  for (int64_t k = 0; k < MIB; ++k) {
    CHECK(buffer[k] == 7);
  }
  CHECK(chad_arena_extend(context, arena, buffer, words, words, 3 * words) != NULL);
  chad_context_free(context);
}

// Rows of all segments lie as many rows from the base as it is said, and in no other.
static void test_segments(void) {
  enum { COUNT = 40 };
  int64_t *rows[COUNT];
  chad_context_t *const context = new_context();
  chad_context_t *const other = new_context();
  for (int64_t words = 1; words < 12; ++words) {
    chad_arena_t *const arena = chad_enter(context, 1);
    chad_arena_t *const their = chad_enter(other, 1);
    int64_t *const base = allocate(context, arena, 8);
    for (int i = 0; i < COUNT; ++i) {
      const bool is_ours = i % 3 > 0;
      const int64_t number =
          chad_arena_segment(is_ours ? context : other, is_ours ? arena : their, base,
                             words, (i * i) % 1000);
      CHECK(number != INT64_MIN);
      rows[i] = (int64_t *)((uintptr_t)base + (uintptr_t)(8 * words * number));
      for (int64_t k = 0; k < words * ((i * i) % 1000); ++k) {
        rows[i][k] = i;
      }
    }
    for (int i = 0; i < COUNT; ++i) {
      for (int64_t k = 0; k < words * ((i * i) % 1000); ++k) {
        CHECK(rows[i][k] == i);
      }
    }
    chad_leave(other, their);
    chad_leave(context, arena);
  }
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(other);
  chad_context_free(context);
}

static void test_segments_refused(void) {
  chad_context_t *const context = new_context();
  chad_set_memory_limit(context, MIB);
  chad_arena_t *const arena = chad_enter(context, 1);
  char *const base = allocate(context, arena, 64);
  CHECK(chad_arena_segment(context, arena, base, 4, MIB / 32) == INT64_MIN);
  CHECK(chad_arena_segment(context, arena, base, 4, -1) == INT64_MIN);
  CHECK(chad_arena_segment(context, arena, base, 0, 1) == INT64_MIN);
  CHECK(chad_arena_segment(context, arena, base, 3, INT64_MAX) == INT64_MIN);
  CHECK(chad_arena_segment(context, arena, base, INT64_MAX, 3) == INT64_MIN);
  CHECK(chad_arena_segment(context, arena, base, 4, MIB / 64) != INT64_MIN);
  chad_context_free(context);
}

int main(void) {
  test_growth();
  test_reset_reuses();
  test_growing_steps_stay_bounded();
  test_large_request();
  test_large_buffers_begin_elsewhere();
  test_large_requests_share_nothing();
  test_small_requests();
  test_memory_is_given_back();
  test_regions_are_independent();
  test_nesting();
  test_leave_in_any_order();
  test_free_without_leave();
  test_odd_sizes();
  test_extend();
  test_growing_buffers_are_reused();
  test_the_largest_are_kept();
  test_shrink();
  test_extend_refused();
  test_segments();
  test_segments_refused();
  return 0;
}
