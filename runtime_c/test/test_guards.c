// Memory between guards: who goes beyond a buffer, or uses one that was given back, is
// killed, and nobody else is.

#define _POSIX_C_SOURCE 200809L

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

typedef volatile char *place_t;

// Whether a read of a byte, in a process of its own, ends that.
static int is_guarded(const volatile char *const place) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    (void)signal(SIGSEGV, SIG_DFL);
    (void)signal(SIGBUS, SIG_DFL);
    (void)*place;
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
  return WIFSIGNALED(status);
}

// The last byte of a buffer, rounded up, may be read, and no other.
static void check_end(const place_t buffer, const int64_t bytes) {
  CHECK(is_aligned((const void *)buffer));
  const int64_t size = (bytes + CHAD_ALIGNMENT - 1) / CHAD_ALIGNMENT * CHAD_ALIGNMENT;
  CHECK(!is_guarded(buffer + size - 1));
  CHECK(is_guarded(buffer + size));
}

static void test_buffers(void) {
  static const int64_t SIZES[] = {8, 64, 72, 4096, 100000, 3 * MIB};
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES; ++k) {
    const place_t first = allocate(context, arena, SIZES[k]);
    const place_t second = allocate(context, arena, SIZES[k]);
    check_end(first, SIZES[k]);
    check_end(second, SIZES[k]);
  }
  chad_leave(context, arena);
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
}

static void test_buffers_of_loops(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  place_t last = NULL;
  for (int64_t bytes = 64; bytes <= 640; bytes += 64) {
    chad_arena_reset(arena);
    last = chad_arena_grow(context, arena, bytes);
    check_end(last, bytes);
  }
  chad_arena_give(context, arena);
  CHECK(is_guarded(last));
  chad_leave(context, arena);
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
}

static void test_a_buffer_that_grows(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  int64_t *buffer = NULL;
  for (int64_t words = 8, old = 0; words < 100000; old = words, words *= 3) {
    buffer = chad_arena_extend(context, arena, buffer, old, old, words);
    for (int64_t k = 0; k < old; ++k) {
      CHECK(buffer[k] == k);
    }
    for (int64_t k = old; k < words; ++k) {
      buffer[k] = k;
    }
    check_end((place_t)buffer, 8 * words);
  }
  chad_leave(context, arena);
  CHECK(is_guarded((place_t)buffer));
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
}

static void test_results(void) {
  chad_context_t *const context = new_context();
  const place_t result = chad_result_alloc(context, 1000);
  const place_t other = chad_result_alloc(context, 8);
  check_end(result, 1000);
  check_end(other, 8);
  chad_results_release(context);
  chad_context_free(context);
  CHECK(!is_guarded(result));
  chad_free((void *)(uintptr_t)result);
  CHECK(is_guarded(result));
  chad_free((void *)(uintptr_t)other);
}

int main(void) {
  chad_set_guards();
  test_buffers();
  test_buffers_of_loops();
  test_a_buffer_that_grows();
  test_results();
  return 0;
}
