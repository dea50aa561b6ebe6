// Pairs of calls at the same time: results, the first error, stopping, memory.

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "check.h"

typedef struct pair {
  chad_run_t first;
  chad_run_t second;
  void *environment;
} pair_t;

// What generated code does; that it has no patience is seen at the first poll.
static chad_status_t run_pair(chad_context_t *const context, void *const argument,
                              const int64_t none) {
  (void)none;
  const pair_t *const pair = argument;
  chad_fork_t fork = {context->forks, pair->second, pair->environment, NULL};
  context->forks = &fork;
  chad_status_t status = chad_poll(context);
  if (context->crew != NULL) {
    chad_offer(context);
  }
  if (status == CHAD_OK) {
    status = pair->first(context, pair->environment, 0);
  }
  context->forks = fork.above;
  if (fork.branch != NULL) {
    return chad_join(context, &fork, status);
  }
  return status == CHAD_OK ? pair->second(context, pair->environment, 1) : status;
}

static chad_status_t both(chad_context_t *const context, const chad_run_t first,
                          const chad_run_t second, void *const environment) {
  pair_t pair = {first, second, environment};
  return chad_divide(context, NULL, run_pair, &pair, 0);
}

// A sum over the leaves of a tree, which is not balanced, made by pairs down to the
// leaves: those from `from` to `to`.
typedef struct part {
  const struct plan *plan;
  int64_t from;
  int64_t to;
  int64_t sums[2];
} part_t;

typedef struct plan {
  int64_t bad[3];  // leaves that fail; -1: none
  int64_t slow;
  int64_t bytes;
  bool is_deep;
} plan_t;

static const plan_t GOOD = {.bad = {-1, -1, -1}, .slow = -1};

static void take_time(void) {
  for (int turn = 0; turn < 200; ++turn) {
    sched_yield();
  }
}

static chad_status_t leaf(chad_context_t *const context, const plan_t *const plan,
                          const int64_t index) {
  CHECK(!plan->is_deep || context->stack_limit != NULL);
  if (plan->slow == index) {
    take_time();
  }
  for (int bad = 0; bad < 3; ++bad) {
    if (plan->bad[bad] == index) {
      context->site = (int32_t)index;
      context->values[1] = -index;
      return CHAD_PROGRAM;
    }
  }
  return CHAD_OK;
}

static chad_status_t side(chad_context_t *const context, void *const environment,
                          const int64_t which) {
  part_t *const part = environment;
  const int64_t middle = part->from + (part->to - part->from + 2) / 3;
  part_t mine = {.plan = part->plan,
                 .from = which == 0 ? part->from : middle,
                 .to = which == 0 ? middle : part->to};
  if (mine.to - mine.from == 1) {
    part->sums[which] = mine.from;
    return leaf(context, part->plan, mine.from);
  }
  chad_arena_t *const arenas = chad_enter(context, 1);
  if (arenas == NULL || allocate(context, arenas, part->plan->bytes) == NULL) {
    return CHAD_MEMORY;
  }
  pair_t pair = {side, side, &mine};
  const chad_status_t status = run_pair(context, &pair, 0);
  chad_leave(context, arenas);
  part->sums[which] = mine.sums[0] + mine.sums[1];
  return status;
}

static chad_status_t sum(chad_context_t *const context, const plan_t *const plan,
                         const int64_t leaves, int64_t *const out) {
  part_t all = {.plan = plan, .from = 0, .to = leaves};
  const chad_status_t status = both(context, side, side, &all);
  *out = all.sums[0] + all.sums[1];
  return status;
}

static void test_sums(void) {
  chad_context_t *const context = new_context();
  plan_t plan = GOOD;
  plan.bytes = 10000;
  for (int64_t leaves = 2; leaves <= 1000; leaves = 2 * leaves + 1) {
    int64_t total = 0;
    plan.slow = leaves / 2;
    CHECK(sum(context, &plan, leaves, &total) == CHAD_OK);
    CHECK(total == leaves * (leaves - 1) / 2);
  }
  CHECK(chad_memory_used(context) == 0);
  CHECK(chad_memory_peak(context) >= 5 * plan.bytes);
  chad_context_free(context);
}

static void test_the_first_error_in_order(void) {
  chad_context_t *const context = new_context();
  for (int round = 0; round < 60; ++round) {
    plan_t plan = GOOD;
    plan.bad[0] = 61;
    plan.bad[1] = round + 1;
    plan.bad[2] = 90;
    plan.slow = round % 2 == 0 ? round + 1 : round / 2;
    int64_t total = 0;
    context->site = -1;
    CHECK(sum(context, &plan, 100, &total) == CHAD_PROGRAM);
    CHECK(context->site == round + 1 && context->values[1] == -round - 1);
  }
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
}

typedef struct deep {
  plan_t plan;
  int64_t total;
} deep_t;

static chad_status_t sum_deep(chad_context_t *const context, void *const argument) {
  deep_t *const deep = argument;
  return sum(context, &deep->plan, 300, &deep->total);
}

static void test_helpers_are_on_deep_stacks_if_the_caller_is(void) {
  chad_context_t *const context = new_context();
  deep_t deep = {.plan = GOOD};
  deep.plan.is_deep = true;
  CHECK(chad_deep(context, sum_deep, &deep) == CHAD_OK);
  CHECK(deep.total == 300 * 299 / 2);
  chad_context_free(context);
}

// --- Stopping ----------------------------------------------------------------------

typedef struct waiting {
  bool fails;
  _Atomic int32_t begun;
  _Atomic int64_t asked;
  pthread_t caller;
} waiting_t;

static chad_status_t wait_for_poll(chad_context_t *const context,
                                   void *const environment, const int64_t which) {
  (void)which;
  waiting_t *const waiting = environment;
  atomic_store(&waiting->begun, 1);
  chad_status_t status = CHAD_OK;
  while (status == CHAD_OK) {
    status = chad_poll(context);
  }
  return status;
}

static chad_status_t fail_later(chad_context_t *const context, void *const environment,
                                const int64_t which) {
  (void)which;
  waiting_t *const waiting = environment;
  const bool alone = chad_threads(NULL) == 1;
  while (!alone && atomic_load(&waiting->begun) == 0) {
    sched_yield();
  }
  context->site = 3;
  return CHAD_PROGRAM;
}

// Waits within a pair of pairs, for a branch is stopped by what is above it.
static chad_status_t wait_below(chad_context_t *const context, void *const environment,
                                const int64_t which) {
  (void)which;
  pair_t pair = {wait_for_poll, wait_for_poll, environment};
  return run_pair(context, &pair, 0);
}

static int32_t stop_later(void *const user) {
  waiting_t *const waiting = user;
  CHECK(pthread_equal(pthread_self(), waiting->caller) != 0);
  return atomic_fetch_add(&waiting->asked, 1) >= 2;
}

static void test_a_poll_stops_all(void) {
  chad_context_t *const context = new_context();
  waiting_t waiting = {.caller = pthread_self()};
  chad_set_poll(context, stop_later, &waiting);
  CHECK(both(context, wait_below, wait_below, &waiting) == CHAD_INTERRUPT);
  chad_context_free(context);
}

static void test_an_error_stops_the_other(void) {
  chad_context_t *const context = new_context();
  waiting_t waiting = {0};
  CHECK(both(context, fail_later, wait_below, &waiting) == CHAD_PROGRAM);
  CHECK(context->site == 3);
  chad_context_free(context);
}

// --- Memory that outlives its branch -----------------------------------------------

typedef struct kept {
  int64_t *numbers[64];
} kept_t;

static chad_status_t keep(chad_context_t *const context, kept_t *const kept,
                          const int64_t index) {
  chad_arena_t *const arenas = chad_enter(context, 1);
  int64_t *const number = arenas == NULL ? NULL : allocate(context, arenas, 20000);
  if (number == NULL) {
    return CHAD_MEMORY;
  }
  *number = index;
  kept->numbers[index] = number;
  chad_keep(context, arenas);
  return CHAD_OK;
}

typedef struct keeping {
  kept_t *kept;
  int64_t from;
  int64_t to;
} keeping_t;

static chad_status_t keep_side(chad_context_t *const context, void *const environment,
                               const int64_t which) {
  const keeping_t *const all = environment;
  const int64_t middle = (all->from + all->to) / 2;
  keeping_t mine = {.kept = all->kept,
                    .from = which == 0 ? all->from : middle,
                    .to = which == 0 ? middle : all->to};
  if (mine.to - mine.from == 1) {
    return keep(context, mine.kept, mine.from);
  }
  pair_t pair = {keep_side, keep_side, &mine};
  return run_pair(context, &pair, 0);
}

static void test_what_is_kept_goes_with_the_caller(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arenas = chad_enter(context, 1);
  kept_t kept = {{NULL}};
  keeping_t all = {.kept = &kept, .from = 0, .to = 64};
  pair_t pair = {keep_side, keep_side, &all};
  CHECK(chad_divide(context, arenas, run_pair, &pair, 0) == CHAD_OK);
  for (int64_t index = 0; index < 64; ++index) {
    CHECK(*kept.numbers[index] == index);
  }
  CHECK(chad_memory_used(context) >= 64 * 20000);
  chad_leave(context, arenas);
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
}

typedef struct returning {
  int64_t from;
  int64_t to;
  chad_arena_t *arenas[2];  // where each call has left what it returns
  int64_t *numbers[2];
} returning_t;

// The numbers from `from` to `to`: those of both sides, copied, and these are given back
// by who has asked for them.
static chad_status_t return_side(chad_context_t *const context, void *const environment,
                                 const int64_t which) {
  returning_t *const all = environment;
  const int64_t middle = (all->from + all->to) / 2;
  returning_t mine = {.from = which == 0 ? all->from : middle,
                      .to = which == 0 ? middle : all->to};
  const int64_t count = mine.to - mine.from;
  chad_arena_t *const arenas = chad_enter(context, 1);
  int64_t *const numbers = arenas == NULL ? NULL : allocate(context, arenas, 8 * count);
  if (numbers == NULL) {
    return CHAD_MEMORY;
  }
  *numbers = mine.from;
  if (count > 1) {
    pair_t pair = {return_side, return_side, &mine};
    const chad_status_t status = run_pair(context, &pair, 0);
    if (status != CHAD_OK) {
      return status;
    }
    for (int64_t k = 0; k < count; ++k) {
      const int64_t half = count / 2;
      numbers[k] = k < half ? mine.numbers[0][k] : mine.numbers[1][k - half];
    }
    chad_arena_give(context, mine.arenas[0]);
    chad_arena_give(context, mine.arenas[1]);
  }
  all->arenas[which] = arenas;
  all->numbers[which] = numbers;
  chad_keep(context, arenas);
  return CHAD_OK;
}

static void test_what_is_returned_is_given_back(void) {
  enum { COUNT = 1 << 12 };
  chad_context_t *const context = new_context();
  chad_arena_t *const arenas = chad_enter(context, 1);
  returning_t all = {.from = 0, .to = COUNT};
  pair_t pair = {return_side, return_side, &all};
  for (int round = 0; round < 3; ++round) {
    CHECK(chad_divide(context, arenas, run_pair, &pair, 0) == CHAD_OK);
    for (int64_t index = 0; index < COUNT; ++index) {
      CHECK(all.numbers[index >= COUNT / 2][index % (COUNT / 2)] == index);
    }
  }
  chad_leave(context, arenas);
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
}

typedef struct reuse {
  pthread_t caller;
  _Atomic int32_t done;
} reuse_t;

static int64_t *grown(chad_context_t *const context, chad_arena_t *const arena,
                      const int64_t bytes) {
  int64_t *const buffer = chad_arena_extend(context, arena, NULL, 0, 0, bytes / 8);
  CHECK(buffer != NULL);
  return buffer;
}

// What is kept is still there when another buffer is new.
static chad_status_t use_again(chad_context_t *const context, void *const environment,
                               const int64_t which) {
  (void)which;
  reuse_t *const reuse = environment;
  chad_arena_t *arenas = chad_enter(context, 2);
  *grown(context, &arenas[0], MIB) = 17;
  chad_leave(context, arenas);
  arenas = chad_enter(context, 2);
  (void)grown(context, &arenas[0], 4 * MIB);
  const bool is_kept = *grown(context, &arenas[1], MIB) == 17;
  chad_leave(context, arenas);
  if (pthread_equal(pthread_self(), reuse->caller) == 0) {
    CHECK(is_kept);
  }
  atomic_store(&reuse->done, 1);
  return CHAD_OK;
}

static chad_status_t wait_for_it(chad_context_t *const context, void *const environment,
                                 const int64_t which) {
  (void)context;
  (void)which;
  reuse_t *const reuse = environment;
  while (chad_threads(NULL) > 1 && atomic_load(&reuse->done) == 0) {
    sched_yield();
  }
  return CHAD_OK;
}

// However much the caller uses, helpers keep what they have used.
static void test_helpers_keep_their_own(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arenas = chad_enter(context, 1);
  CHECK(allocate(context, arenas, 100 * MIB) != NULL);
  reuse_t reuse = {.caller = pthread_self()};
  CHECK(both(context, wait_for_it, use_again, &reuse) == CHAD_OK);
  chad_leave(context, arenas);
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
}

int main(void) {
  for (int64_t threads = 1; threads <= 4; threads *= 2) {
    chad_set_threads(threads);
    test_sums();
    test_the_first_error_in_order();
    test_helpers_are_on_deep_stacks_if_the_caller_is();
    test_a_poll_stops_all();
    test_an_error_stops_the_other();
    test_what_is_kept_goes_with_the_caller();
    test_what_is_returned_is_given_back();
    test_helpers_keep_their_own();
  }
  return 0;
}
