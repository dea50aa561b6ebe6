// Accounting, the limit, and memory kept between calls.

#include <string.h>

#include "check.h"

// One call: `count` buffers of `bytes` bytes in one region; 0 if memory ran out.
static int call(chad_context_t *const context, const int count, const int64_t bytes) {
  chad_arena_t *const arena = chad_enter(context, 1);
  int done = arena != NULL;
  for (int i = 0; done && i < count; ++i) {
    char *const buffer = allocate(context, arena, bytes);
    done = buffer != NULL;
    if (done) {
      buffer[0] = 1;
      buffer[bytes - 1] = 1;
    }
  }
  chad_leave(context, arena);
  return done;
}

static void test_used_and_peak(void) {
  chad_context_t *const context = new_context();
  CHECK(chad_memory_used(context) == 0 && chad_memory_peak(context) == 0);
  CHECK(call(context, 10, MIB));
  CHECK(chad_memory_used(context) == 0);
  const int64_t peak = chad_memory_peak(context);
  CHECK(peak >= 10 * MIB && peak <= 11 * MIB);
  CHECK(call(context, 1, 1000));
  CHECK(chad_memory_peak(context) == peak);
  chad_memory_reset_peak(context);
  CHECK(chad_memory_peak(context) == 0);
  CHECK(call(context, 10, MIB));
  CHECK(chad_memory_peak(context) == peak);
  chad_context_free(context);
}

// The second call of the same kind gets the same memory; so does one after a call whose
// memory is of no use to it.
static void test_kept_memory_is_reused(void) {
  chad_context_t *const context = new_context();
  for (int round = 0; round < 3; ++round) {
    CHECK(call(context, 60, MIB));
    CHECK(call(context, 1, 40 * MIB));
    chad_arena_t *arena = chad_enter(context, 1);
    void *const first = allocate(context, arena, 40 * MIB);
    chad_leave(context, arena);
    arena = chad_enter(context, 1);
    CHECK(allocate(context, arena, 40 * MIB) == first);
    chad_leave(context, arena);
  }
  chad_context_free(context);
}

// Every way to hit the limit, however small: NULL, nothing lost, usable afterwards.
static void test_limit_at_every_size(void) {
  for (int64_t limit = 0; limit < 3 * MIB; limit += limit / 8 + 512) {
    chad_context_t *const context = new_context();
    chad_set_memory_limit(context, limit);
    (void)call(context, 3000, 777);
    CHECK(chad_memory_used(context) == 0);
    CHECK(chad_memory_peak(context) <= limit);
    (void)call(context, 3, MIB / 2);
    CHECK(chad_memory_used(context) == 0);
    CHECK(chad_memory_peak(context) <= limit);
    chad_set_memory_limit(context, 16 * MIB);
    CHECK(call(context, 3000, 777));
    chad_context_free(context);
  }
}

// Growth is generous, but not at the price of a failure.
static void test_growth_yields_to_limit(void) {
  chad_context_t *const context = new_context();
  chad_set_memory_limit(context, 20 * MIB);
  CHECK(call(context, 17, MIB));
  CHECK(!call(context, 21, MIB));
  CHECK(call(context, 17, MIB));
  chad_context_free(context);
}

static void test_failure_keeps_older_buffers(void) {
  chad_context_t *const context = new_context();
  chad_set_memory_limit(context, MIB);
  chad_arena_t *const arena = chad_enter(context, 1);
  char *const buffer = allocate(context, arena, 10000);
  memset(buffer, 3, 10000);
  CHECK(allocate(context, arena, 2 * MIB) == NULL);
  CHECK(buffer[0] == 3 && buffer[9999] == 3);
  CHECK(allocate(context, arena, 10000) != NULL);
  chad_leave(context, arena);
  chad_context_free(context);
}

// The limit counts kept memory too: what does not fit beside it makes it go.
static void test_lower_limit_frees_kept(void) {
  chad_context_t *const context = new_context();
  CHECK(call(context, 1, 30 * MIB));
  chad_set_memory_limit(context, 4 * MIB);
  CHECK(!call(context, 1, 5 * MIB));
  CHECK(call(context, 1, 3 * MIB));
  chad_set_memory_limit(context, -1);
  CHECK(call(context, 1, 30 * MIB));
  chad_context_free(context);
}

// The system itself has no more: also only NULL.
static void test_system_refuses(void) {
  chad_context_t *const context = new_context();
  chad_set_memory_limit(context, INT64_MAX);
  CHECK(call(context, 1, 1000));
  const int64_t peak = chad_memory_peak(context);
  CHECK(!call(context, 1, (int64_t)1 << 46));
  CHECK(chad_result_alloc(context, (int64_t)1 << 46) == NULL);
  CHECK(chad_memory_used(context) == 0);
  CHECK(chad_memory_peak(context) == peak);
  CHECK(call(context, 1, 1000));
  chad_context_free(context);
}

int main(void) {
  test_used_and_peak();
  test_kept_memory_is_reused();
  test_limit_at_every_size();
  test_growth_yields_to_limit();
  test_failure_keeps_older_buffers();
  test_lower_limit_frees_kept();
  test_system_refuses();
  return 0;
}
