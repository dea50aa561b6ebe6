// Parallel regions: what they compute, errors, stopping, memory.

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { MOST = 2000 };

// What the chunks of a test share, and how they behave.
typedef struct plan {
  double out[MOST];      // by the chunks
  int64_t order[MOST];   // of the merges
  int64_t merged;
  int64_t lanes;
  _Atomic int32_t busy[MOST];  // by lane
  _Atomic int64_t runs;
  int64_t bad[4];        // chunks that fail; -1: none
  int64_t slow;          // a chunk that takes its time; -1: none
  int64_t bytes;         // in each chunk's arena
} plan_t;

static plan_t *new_plan(void) {
  plan_t *const plan = calloc(1, sizeof(plan_t));
  CHECK(plan != NULL);
  plan->lanes = MOST;
  plan->slow = -1;
  for (int index = 0; index < 4; ++index) {
    plan->bad[index] = -1;
  }
  return plan;
}

static void take_time(void) {
  for (int turn = 0; turn < 200; ++turn) {
    sched_yield();
  }
}

static chad_status_t run(chad_context_t *const context, void *const environment,
                         const int64_t chunk) {
  plan_t *const plan = environment;
  atomic_fetch_add(&plan->runs, 1);
  CHECK(atomic_exchange(&plan->busy[chunk % plan->lanes], 1) == 0);
  chad_arena_t *const arenas = chad_enter(context, 1);
  double *const room = arenas == NULL ? NULL : allocate(context, arenas, plan->bytes);
  if (room == NULL) {
    chad_leave(context, arenas);
    return CHAD_MEMORY;
  }
  if (chunk == plan->slow) {
    take_time();
  }
  for (int index = 0; index < 4; ++index) {
    if (plan->bad[index] == chunk) {
      context->site = (int32_t)chunk;
      context->values[7] = 10 * chunk;
      return CHAD_PROGRAM;  // The runtime gives back the arena.
    }
  }
  memset(room, 1, (size_t)plan->bytes);
  plan->out[chunk] = 1.0 / (double)(chunk + 1);
  chad_leave(context, arenas);
  return CHAD_OK;
}

static chad_status_t merge(chad_context_t *const context, void *const environment,
                           const int64_t chunk) {
  (void)context;
  plan_t *const plan = environment;
  plan->order[plan->merged] = chunk;
  ++plan->merged;
  atomic_store(&plan->busy[chunk % plan->lanes], 0);
  return CHAD_OK;
}

static void check_all_done(const plan_t *const plan, const int64_t chunks) {
  CHECK(plan->runs == chunks);
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    CHECK(plan->out[chunk] == 1.0 / (double)(chunk + 1));
  }
}

static void check_merged(const plan_t *const plan, const int64_t chunks) {
  CHECK(plan->merged == chunks);
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    CHECK(plan->order[chunk] == chunk);
  }
}

static void test_every_chunk_is_run_once(void) {
  chad_context_t *const context = new_context();
  for (int64_t chunks = 0; chunks <= 40; ++chunks) {
    plan_t *const plan = new_plan();
    plan->slow = chunks / 2;
    CHECK(chad_parallel(context, run, NULL, plan, chunks, 8) == CHAD_OK);
    check_all_done(plan, chunks);
    free(plan);
  }
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
}

static void test_merges_are_in_order_and_lanes_are_exclusive(void) {
  chad_context_t *const context = new_context();
  for (int64_t lanes = 1; lanes <= 9; ++lanes) {
    plan_t *const plan = new_plan();
    plan->lanes = lanes;
    plan->slow = 3;
    CHECK(chad_parallel(context, run, merge, plan, MOST, lanes) == CHAD_OK);
    check_all_done(plan, MOST);
    check_merged(plan, MOST);
    free(plan);
  }
  chad_context_free(context);
}

// Chunk 20 fails early, chunk 7 late: the first in order counts.
static void test_the_first_error_in_order(void) {
  chad_context_t *const context = new_context();
  for (int round = 0; round < 200; ++round) {
    plan_t *const plan = new_plan();
    plan->lanes = round % 2 == 0 ? 4 : 64;
    plan->bad[0] = 20;
    plan->bad[1] = 7;
    plan->bad[2] = 8;
    plan->slow = round % 3 == 0 ? 7 : 5;
    context->site = -1;
    CHECK(chad_parallel(context, run, merge, plan, MOST, plan->lanes) == CHAD_PROGRAM);
    CHECK(context->site == 7 && context->values[7] == 70);
    check_merged(plan, 7);
    CHECK(plan->runs < 100);  // It stops early.
    free(plan);
  }
  chad_context_free(context);
}

static void test_a_failed_chunk_leaks_nothing(void) {
  chad_context_t *const context = new_context();
  chad_set_threads(4);
  plan_t *const plan = new_plan();
  plan->bad[0] = 100;
  plan->bytes = 100000;
  CHECK(chad_parallel(context, run, NULL, plan, MOST, 8) == CHAD_PROGRAM);
  // The leader's own arenas are the caller's business, as in a call without threads.
  CHECK(chad_memory_used(context) <= 200000);
  chad_context_free(context);
  free(plan);
}

int main(void) {
  for (int64_t threads = 0; threads <= 4; ++threads) {
    chad_set_threads(threads);
    test_every_chunk_is_run_once();
    test_merges_are_in_order_and_lanes_are_exclusive();
    test_the_first_error_in_order();
  }
  test_a_failed_chunk_leaks_nothing();
  return 0;
}
