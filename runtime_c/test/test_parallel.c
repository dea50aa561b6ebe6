// Parallel regions: what they compute, errors, stopping, memory.

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

enum { MOST = 2000, PARTS = 5 };

// What the chunks of a test share, and how they behave.
typedef struct plan {
  double out[MOST];      // by the chunks
  int64_t order[PARTS][MOST];  // of the merges
  int64_t merged[PARTS];
  _Atomic int32_t merging[PARTS];
  int64_t parts;
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
  plan->parts = 1;
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

// What it writes down is not atomic: ThreadSanitizer sees whether it is ordered.
static chad_status_t merge(chad_context_t *const context, void *const environment,
                           const int64_t chunk, const int64_t part) {
  (void)context;
  plan_t *const plan = environment;
  CHECK(atomic_exchange(&plan->merging[part], 1) == 0);
  CHECK(plan->out[chunk] == 1.0 / (double)(chunk + 1));
  plan->order[part][plan->merged[part]] = chunk;
  ++plan->merged[part];
  atomic_store(&plan->merging[part], 0);
  if (atomic_fetch_add(&plan->busy[chunk % plan->lanes], 1) == plan->parts) {
    atomic_store(&plan->busy[chunk % plan->lanes], 0);
  }
  return CHAD_OK;
}

static void check_all_done(const plan_t *const plan, const int64_t chunks) {
  CHECK(plan->runs == chunks);
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    CHECK(plan->out[chunk] == 1.0 / (double)(chunk + 1));
  }
}

static void check_merged(const plan_t *const plan, const int64_t chunks) {
  for (int64_t part = 0; part < PARTS; ++part) {
    CHECK(plan->merged[part] == (part < plan->parts ? chunks : 0));
    for (int64_t chunk = 0; chunk < plan->merged[part]; ++chunk) {
      CHECK(plan->order[part][chunk] == chunk);
    }
  }
}

static void test_every_chunk_is_run_once(void) {
  chad_context_t *const context = new_context();
  for (int64_t chunks = 0; chunks <= 40; ++chunks) {
    plan_t *const plan = new_plan();
    plan->slow = chunks / 2;
    CHECK(chad_parallel(context, run, NULL, plan, chunks, 8, 1) == CHAD_OK);
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
    plan->parts = 1 + lanes % PARTS;
    plan->slow = 3;
    CHECK(chad_parallel(context, run, merge, plan, MOST, lanes, plan->parts) == CHAD_OK);
    check_all_done(plan, MOST);
    check_merged(plan, MOST);
    free(plan);
  }
  chad_context_free(context);
}

// Chunk 20 fails early, chunk 7 late: the first in order counts.
static void test_the_first_error_in_order(void) {
  chad_context_t *const context = new_context();
  for (int round = 0; round < 60; ++round) {
    plan_t *const plan = new_plan();
    plan->lanes = round % 2 == 0 ? 4 : 64;
    plan->bad[0] = 20;
    plan->bad[1] = 7;
    plan->bad[2] = 8;
    plan->slow = round % 3 == 0 ? 7 : 5;
    plan->parts = 1 + round % PARTS;
    context->site = -1;
    CHECK(chad_parallel(context, run, merge, plan, MOST, plan->lanes, plan->parts) ==
          CHAD_PROGRAM);
    CHECK(context->site == 7 && context->values[7] == 70);
    check_merged(plan, 7);
    CHECK(plan->runs < 100);  // It stops early.
    free(plan);
  }
  chad_context_free(context);
}

// Without merges threads begin at different places. Whoever meets an error first, all
// chunks before the first one that fails are run.
static void test_the_first_error_of_shares(void) {
  chad_context_t *const context = new_context();
  for (int64_t first = 0; first < MOST; first += 97) {
    plan_t *const plan = new_plan();
    plan->bad[0] = MOST - 1;
    plan->bad[1] = first;
    plan->bad[2] = (first + MOST) / 2;
    plan->slow = first / 2;
    CHECK(chad_parallel(context, run, NULL, plan, MOST, MOST, 1) == CHAD_PROGRAM);
    CHECK(context->site == first && context->values[7] == 10 * first);
    for (int64_t chunk = 0; chunk < first; ++chunk) {
      CHECK(plan->out[chunk] == 1.0 / (double)(chunk + 1));
    }
    free(plan);
  }
  chad_context_free(context);
}

// --- Turns -------------------------------------------------------------------------

enum { TURNS = 300 };

typedef struct turns {
  int64_t order[TURNS];  // of what chunks did at their turns, which is not atomic
  int64_t count;
  int64_t merged;
  int64_t bad;
} turns_t;

static chad_status_t run_in_turn(chad_context_t *const context, void *const environment,
                                 const int64_t chunk) {
  turns_t *const turns = environment;
  if (chunk == turns->bad) {
    return CHAD_PROGRAM;
  }
  if (chunk % 3 == 0) {
    take_time();
  }
  if (chunk % 2 == 0) {
    const chad_status_t status = chad_turn(context, turns);
    if (status != CHAD_OK) {
      return status;
    }
    CHECK(turns->merged == chunk);
    turns->order[turns->count++] = chunk;
  }
  return CHAD_OK;
}

static chad_status_t merge_turn(chad_context_t *const context, void *const environment,
                                const int64_t chunk, const int64_t part) {
  (void)context;
  turns_t *const turns = environment;
  if (part == 0) {
    CHECK(turns->merged++ == chunk);
  }
  return CHAD_OK;
}

static void test_a_turn_comes_when_all_before_are_merged(void) {
  chad_context_t *const context = new_context();
  for (int64_t lanes = 1; lanes <= 9; lanes += 4) {
    turns_t turns = {.bad = lanes == 5 ? 101 : -1};
    const chad_status_t status =
        chad_parallel(context, run_in_turn, merge_turn, &turns, TURNS, lanes, 2);
    CHECK(status == (turns.bad < 0 ? CHAD_OK : CHAD_PROGRAM));
    CHECK(turns.count == (turns.bad < 0 ? TURNS / 2 : 51));
    for (int64_t turn = 0; turn < turns.count; ++turn) {
      CHECK(turns.order[turn] == 2 * turn);
    }
  }
  CHECK(chad_turn(context, NULL) == CHAD_OK);
  chad_context_free(context);
}

// --- Rows --------------------------------------------------------------------------

enum { ROWS = 5, PLACES = 8, STEPS_OF_CHUNK = 3 };

typedef struct rows {
  int64_t next[ROWS * PLACES];
  int64_t order[ROWS][TURNS];  // of the steps, which is not atomic
  int64_t count[ROWS];
  int64_t bad;    // a chunk that fails; -1: none
  int64_t every;  // steps that are a multiple of this leave the last row out
} rows_t;

static chad_status_t run_over_rows(chad_context_t *const context, void *const environment,
                                   const int64_t chunk) {
  rows_t *const rows = environment;
  for (int64_t k = 0; k < STEPS_OF_CHUNK; ++k) {
    const int64_t step = chunk * STEPS_OF_CHUNK + k;
    if (step % 7 == 0) {
      take_time();
    }
    for (int64_t row = 0; row < ROWS - (step % rows->every == 0); ++row) {
      const chad_status_t status = chad_row_turn(context, rows->next, row * PLACES, step);
      if (status != CHAD_OK) {
        return status;
      }
      rows->order[row][rows->count[row]++] = step;
      chad_row_done(rows->next, row * PLACES, step);
    }
  }
  return chunk == rows->bad ? CHAD_PROGRAM : CHAD_OK;
}

static chad_status_t merge_nothing(chad_context_t *const context, void *const environment,
                                   const int64_t chunk, const int64_t part) {
  (void)context;
  (void)environment;
  (void)chunk;
  (void)part;
  return CHAD_OK;
}

static void test_steps_are_at_rows_in_their_order(void) {
  chad_context_t *const context = new_context();
  for (int64_t lanes = 1; lanes <= 9; lanes += 4) {
    for (int64_t every = 4; every <= TURNS; every += TURNS - 4) {
      rows_t rows = {.bad = lanes == 5 ? 40 : -1, .every = every};
      const chad_status_t status =
          chad_parallel(context, run_over_rows, merge_nothing, &rows,
                        TURNS / STEPS_OF_CHUNK, lanes, 1);
      CHECK(status == (rows.bad < 0 ? CHAD_OK : CHAD_PROGRAM));
      for (int64_t row = 0; row < ROWS; ++row) {
        const int64_t least = (rows.bad < 0 ? TURNS : 41 * STEPS_OF_CHUNK) * 3 / 4;
        CHECK(rows.count[row] >= (row < ROWS - 1 ? least / 3 * 4 : least));
        for (int64_t turn = 1; turn < rows.count[row]; ++turn) {
          CHECK(rows.order[row][turn - 1] < rows.order[row][turn]);
        }
      }
    }
  }
  chad_context_free(context);
}

// --- Memory ------------------------------------------------------------------------

static void test_a_failed_chunk_leaks_nothing(void) {
  chad_context_t *const context = new_context();
  plan_t *const plan = new_plan();
  plan->bad[0] = 100;
  plan->bytes = 100000;
  CHECK(chad_parallel(context, run, NULL, plan, MOST, 8, 1) == CHAD_PROGRAM);
  // The caller's own arena is the caller's business, as in a call without threads.
  CHECK(chad_memory_used(context) <= 300000);
  chad_context_free(context);
  free(plan);
}

enum { PIECE = 100000, PIECES = 20 };

typedef struct pieces {
  chad_arena_t *arenas;
  char *places[PIECES];
} pieces_t;

// Memory that outlives its chunk: in an arena of the caller's, and as a result.
static chad_status_t grow(chad_context_t *const context, void *const environment,
                          const int64_t chunk) {
  pieces_t *const pieces = environment;
  char *const place = allocate(context, &pieces->arenas[chunk], PIECE);
  if (place == NULL) {
    return CHAD_MEMORY;
  }
  memset(place, (int)chunk, PIECE);
  pieces->places[chunk] = place;
  char *const result = chad_result_alloc(context, 8);
  if (result == NULL) {
    return CHAD_MEMORY;
  }
  memset(result, 1, 8);
  return CHAD_OK;
}

static void test_what_chunks_leave_is_the_callers(void) {
  chad_context_t *const context = new_context();
  pieces_t pieces = {.arenas = chad_enter(context, PIECES)};
  CHECK(pieces.arenas != NULL);
  CHECK(chad_parallel(context, grow, NULL, &pieces, PIECES, 8, 1) == CHAD_OK);
  for (int chunk = 0; chunk < PIECES; ++chunk) {
    CHECK(pieces.places[chunk][0] == chunk && pieces.places[chunk][PIECE - 1] == chunk);
  }
  const int64_t used = chad_memory_used(context);
  CHECK(used >= PIECES * PIECE && chad_memory_peak(context) >= used);
  chad_leave(context, pieces.arenas);
  CHECK(chad_memory_used(context) >= PIECES * 8);
  CHECK(chad_memory_used(context) <= PIECES * 128);
  chad_results_discard(context);
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
}

static void test_the_limit_holds_for_the_sum(void) {
  chad_context_t *const context = new_context();
  const int64_t limit = 10 * PIECE;
  chad_set_memory_limit(context, limit);
  for (int round = 0; round < 20; ++round) {
    pieces_t pieces = {.arenas = chad_enter(context, PIECES)};
    CHECK(pieces.arenas != NULL);
    CHECK(chad_parallel(context, grow, NULL, &pieces, PIECES, 8, 1) == CHAD_MEMORY);
    CHECK(chad_memory_peak(context) <= limit);
    CHECK(chad_memory_used(context) >= 6 * PIECE);
    chad_leave(context, pieces.arenas);
    chad_results_discard(context);
    CHECK(chad_memory_used(context) == 0);
  }
  chad_context_free(context);
}

// --- Stopping ----------------------------------------------------------------------

typedef struct waiting {
  int64_t culprit;  // the chunk that fails; -1: none
  _Atomic int32_t begun;
  _Atomic int64_t asked;
  int64_t patience;
  pthread_t caller;
} waiting_t;

static chad_status_t wait_for_poll(chad_context_t *const context,
                                   void *const environment, const int64_t chunk) {
  waiting_t *const waiting = environment;
  if (chunk == waiting->culprit) {
    const bool alone = chad_threads(NULL) == 1;
    while (!alone && atomic_load(&waiting->begun) == 0) {
      sched_yield();
    }
    context->site = 17;
    return CHAD_PROGRAM;
  }
  atomic_fetch_add(&waiting->begun, 1);
  chad_status_t status = CHAD_OK;
  while (status == CHAD_OK) {
    status = chad_poll(context);
  }
  return status;
}

static int32_t stop_later(void *const user) {
  waiting_t *const waiting = user;
  CHECK(pthread_equal(pthread_self(), waiting->caller) != 0);
  return atomic_fetch_add(&waiting->asked, 1) >= waiting->patience;
}

static void test_a_poll_stops_all(void) {
  chad_context_t *const context = new_context();
  waiting_t waiting = {.culprit = -1, .patience = 2, .caller = pthread_self()};
  chad_set_poll(context, stop_later, &waiting);
  CHECK(chad_parallel(context, wait_for_poll, NULL, &waiting, 40, 8, 1) == CHAD_INTERRUPT);
  // The callback is the caller's again.
  waiting.asked = 0;
  waiting.patience = 0;
  while (chad_poll(context) == CHAD_OK) {
  }
  CHECK(waiting.asked == 1);
  chad_context_free(context);
}

// Chunk 1 runs until chunk 0, which fails, has told it to stop.
static void test_an_error_stops_those_behind_it(void) {
  chad_context_t *const context = new_context();
  waiting_t waiting = {.culprit = 0, .patience = 1000, .caller = pthread_self()};
  chad_set_poll(context, stop_later, &waiting);
  CHECK(chad_parallel(context, wait_for_poll, NULL, &waiting, 40, 8, 1) == CHAD_PROGRAM);
  CHECK(context->site == 17);
  chad_context_free(context);
}

// --- Regions in regions, and on deep stacks ----------------------------------------

typedef struct nest {
  _Atomic int64_t inner;
  bool is_deep;
} nest_t;

static chad_status_t count(chad_context_t *const context, void *const environment,
                           const int64_t chunk) {
  nest_t *const nest = environment;
  CHECK(context->values[0] == chunk);  // In order, with the same context.
  context->values[0] = chunk + 1;
  atomic_fetch_add(&nest->inner, 1);
  return CHAD_OK;
}

static chad_status_t count_inside(chad_context_t *const context,
                                  void *const environment, const int64_t chunk) {
  (void)chunk;
  const nest_t *const nest = environment;
  CHECK((context->stack_limit != NULL) == nest->is_deep);
  CHECK(chad_threads(context) == 1 && chad_lanes(context, 100) == 1);
  context->values[0] = 0;
  return chad_parallel(context, count, NULL, environment, 10, 8, 1);
}

static void test_a_region_in_a_region_is_serial(void) {
  chad_context_t *const context = new_context();
  nest_t nest = {0};
  if (chad_threads(NULL) > 1) {
    CHECK(chad_parallel(context, count_inside, NULL, &nest, 50, 8, 1) == CHAD_OK);
    CHECK(nest.inner == 500);
  }
  chad_context_free(context);
}

static chad_status_t region(chad_context_t *const context, void *const argument) {
  return chad_parallel(context, count_inside, NULL, argument, 50, 8, 1);
}

static void test_helpers_are_on_deep_stacks_if_the_caller_is(void) {
  chad_context_t *const context = new_context();
  nest_t nest = {.is_deep = true};
  if (chad_threads(NULL) > 1) {
    CHECK(chad_deep(context, region, &nest) == CHAD_OK);
    CHECK(nest.inner == 500);
  }
  chad_context_free(context);
}

// --- Steps -------------------------------------------------------------------------

static chad_status_t step(chad_context_t *const context, void *const environment,
                          const int64_t chunk) {
  (void)environment;
  chad_arena_t *const arena = chad_enter(context, 1);
  const bool made = arena != NULL && chad_bag_one(context, arena, chunk, 1.0) != NULL;
  chad_leave(context, arena);
  return made ? CHAD_OK : CHAD_MEMORY;
}

static void test_steps_of_all_are_counted(void) {
  chad_context_t *const context = new_context();
  CHECK(chad_parallel(context, step, NULL, NULL, 100, 8, 1) == CHAD_OK);
  CHECK(chad_steps(context) == 100);
  chad_context_free(context);
}

int main(void) {
  for (int64_t threads = 1; threads <= 4; threads *= 2) {
    chad_set_threads(threads);
    test_every_chunk_is_run_once();
    test_merges_are_in_order_and_lanes_are_exclusive();
    test_the_first_error_in_order();
    test_the_first_error_of_shares();
    test_a_turn_comes_when_all_before_are_merged();
    test_steps_are_at_rows_in_their_order();
    test_a_failed_chunk_leaks_nothing();
    test_what_chunks_leave_is_the_callers();
    test_the_limit_holds_for_the_sum();
    test_a_poll_stops_all();
    test_an_error_stops_those_behind_it();
    test_a_region_in_a_region_is_serial();
    test_helpers_are_on_deep_stacks_if_the_caller_is();
    test_steps_of_all_are_counted();
  }
  return 0;
}
