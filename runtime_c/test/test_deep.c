// Recursion: a stack of our own, what is asked on it, and arenas given back by calls.

#define _DEFAULT_SOURCE  // mincore

#include <stdbool.h>
#include <string.h>

#include "check.h"

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

typedef struct walk {
  int64_t depth;   // how deep to go; negative: until somebody refuses
  int64_t calls;   // how many calls there were
  int64_t asked;   // how often the callback was run
  char *outside;   // an address on the thread's own stack
  char *deepest;   // the last frame
  chad_status_t answer;
} walk_t;

// What generated code does at the entry of a subroutine.
static chad_status_t look(chad_context_t *const context) {
  char *const frame = __builtin_frame_address(0);
  return frame > context->stack_limit ? CHAD_OK : chad_deeper(context, frame);
}

// Each frame has some bytes that it needs when the calls below it are over.
static chad_status_t descend(chad_context_t *const context, walk_t *const walk,
                             const int64_t depth) {
  const chad_status_t status = look(context);
  if (status != CHAD_OK) {
    return status;
  }
  volatile char own[256];
  memset((void *)(uintptr_t)own, (int)(depth & 127), sizeof(own));
  walk->calls += 1;
  walk->deepest = __builtin_frame_address(0);
  if (depth == walk->depth) {
    return CHAD_OK;
  }
  const chad_status_t below = descend(context, walk, depth + 1);
  CHECK(own[0] == (char)(depth & 127) && own[255] == (char)(depth & 127));
  return below;
}

static chad_status_t run(chad_context_t *const context, void *const argument) {
  return descend(context, argument, 0);
}

// Deep, not so deep, and deep again: the limit is back where it was in between.
static void test_depth(void) {
  chad_context_t *const context = new_context();
  for (int k = 0; k < 6; ++k) {
    walk_t walk = {.depth = k % 2 == 0 ? 20000 : 10};
    CHECK(chad_deep(context, run, &walk) == CHAD_OK);
    CHECK(walk.calls == walk.depth + 1);
    CHECK(context->stack_limit == NULL);
  }
  chad_context_free(context);
}

#ifdef __linux__
// Whether a page is there whose address this is.
static bool is_used(char *const at) {
  const uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
  unsigned char there = 0;
  CHECK(mincore((void *)((uintptr_t)at / size * size), size, &there) == 0);
  return (there & 1) != 0;
}

// The next call finds the pages of an ordinary one; those of a very deep one are gone.
static void test_what_stays(void) {
  chad_context_t *const context = new_context();
  walk_t walk = {.depth = 5000};
  CHECK(chad_deep(context, run, &walk) == CHAD_OK);
  CHECK(is_used(walk.deepest));
  walk_t deeper = {.depth = 60000};
  CHECK(chad_deep(context, run, &deeper) == CHAD_OK);
  CHECK(!is_used(deeper.deepest));
  CHECK(is_used(walk.deepest));
  chad_context_free(context);
}
#endif

static void test_too_deep(void) {
  chad_context_t *const context = new_context();
  walk_t walk = {.depth = -1};
  CHECK(chad_deep(context, run, &walk) == CHAD_RECURSION);
  CHECK(walk.calls > 1000);
  CHECK(context->stack_limit == NULL);
  walk = (walk_t){.depth = 100};
  CHECK(chad_deep(context, run, &walk) == CHAD_OK);
  CHECK(walk.calls == 101);
  chad_context_free(context);
}

static chad_status_t run_nested(chad_context_t *const context, void *const argument) {
  char *const limit = context->stack_limit;
  CHECK(limit != NULL);
  const chad_status_t status = chad_deep(context, run, argument);
  CHECK(context->stack_limit <= limit && context->stack_limit != NULL);
  return status;
}

// Within a call, another one is a plain call on the same stack.
static void test_nesting(void) {
  chad_context_t *const context = new_context();
  walk_t walk = {.depth = 2000};
  CHECK(chad_deep(context, run_nested, &walk) == CHAD_OK);
  CHECK(walk.calls == 2001);
  chad_context_free(context);
}

// What a poll asks is run on the thread's own stack, where no recursion is possible.
static int32_t ask(void *const user) {
  walk_t *const walk = user;
  const char *const here = __builtin_frame_address(0);
  CHECK(walk->outside - here < MIB && here - walk->outside < MIB);
  walk->asked += 1;
  chad_context_t *const other = new_context();
  walk_t inner = {.depth = 3};
  CHECK(chad_deep(other, run, &inner) == CHAD_RECURSION);
  CHECK(inner.calls == 0);
  chad_context_free(other);
  return walk->answer == CHAD_OK ? 0 : 1;
}

static chad_status_t run_polling(chad_context_t *const context, void *const argument) {
  walk_t *const walk = argument;
  CHECK((char *)__builtin_frame_address(0) > context->stack_limit);
  const int64_t before = walk->asked;  // A poll asks only now and then.
  while (walk->asked < before + 3) {
    const chad_status_t status = chad_poll(context);
    if (status != CHAD_OK) {
      return status;
    }
  }
  return descend(context, walk, 0);
}

static void test_questions(void) {
  chad_context_t *const context = new_context();
  walk_t walk = {.depth = 10, .outside = __builtin_frame_address(0)};
  chad_set_poll(context, ask, &walk);
  walk.answer = CHAD_OK;
  CHECK(chad_deep(context, run_polling, &walk) == CHAD_OK);
  CHECK(walk.asked == 3 && walk.calls == 11);
  walk.answer = CHAD_INTERRUPT;
  CHECK(chad_deep(context, run_polling, &walk) == CHAD_INTERRUPT);
  CHECK(walk.asked == 4 && walk.calls == 11);
  CHECK(context->stack_limit == NULL);
  chad_context_free(context);
}

// Buffers made since a mark are gone, those before it stay, and memory is used again.
static void test_release(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  char *const none = arena->cursor;
  CHECK(arena->current == NULL);
  CHECK(allocate(context, arena, 1000) != NULL);
  chad_arena_release(arena, NULL, none);
  char *const kept = allocate(context, arena, 1000);
  memset(kept, 5, 1000);
  int64_t used = 0;
  for (int step = 0; step < 100; ++step) {
    struct chad_chunk *const chunk = arena->current;
    char *const cursor = arena->cursor;
    char *const first = allocate(context, arena, 64);
    memset(first, 6, 64);
    for (int k = 0; k < 20; ++k) {
      char *const buffer = allocate(context, arena, 100000 * k);
      memset(buffer, 7, (size_t)(100000 * k));
    }
    chad_arena_release(arena, chunk, cursor);
    CHECK(arena->current == chunk && arena->cursor == cursor);
    used = step == 0 ? chad_memory_used(context) : used;
    CHECK(chad_memory_used(context) == used);
  }
  for (int k = 0; k < 1000; ++k) {
    CHECK(kept[k] == 5);
  }
  chad_leave(context, arena);
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
}

int main(void) {
  test_depth();
#ifdef __linux__
  test_what_stays();
#endif
  test_too_deep();
  test_nesting();
  test_questions();
  test_release();
  return 0;
}
