// Parallel regions: who works in them, with which context, and how they end.

#define _POSIX_C_SOURCE 200809L

#include "region.h"

#include <stdlib.h>
#include <time.h>

static_assert(offsetof(chad_region_t, job) == 0, "a job is the start of a region");

// How long the leader sleeps before it looks for interrupts, in nanoseconds.
static const long NAP = 50000000;
static const long SECOND = 1000000000;

// --- Waiting and stopping ----------------------------------------------------------

// A context's poll callback within a region; the leader asks its own besides.
static int32_t ask(void *const user) {
  const chad_worker_t *const worker = user;
  chad_region_t *const region = worker->region;
  if (worker->callback != NULL && worker->callback(worker->user) != 0) {
    atomic_store_explicit(&region->stopped, 1, memory_order_relaxed);
  }
  return chad_region_stopped(region) || region->is_vain(worker);
}

void chad_region_doze(const chad_worker_t *const worker) {
  chad_region_t *const region = worker->region;
  if (!worker->is_leader) {
    pthread_cond_wait(&region->changed, &region->lock);
    return;
  }
  struct timespec until = {0, 0};
  (void)clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += NAP;
  until.tv_sec += until.tv_nsec / SECOND;
  until.tv_nsec %= SECOND;
  if (pthread_cond_timedwait(&region->changed, &region->lock, &until) == 0) {
    return;
  }
  pthread_mutex_unlock(&region->lock);
  (void)chad_poll(&worker->state->shared);
  pthread_mutex_lock(&region->lock);
  if (chad_region_stopped(region)) {
    chad_region_wake(region);
  }
}

// --- Members -----------------------------------------------------------------------

static chad_status_t work_deep(chad_context_t *const context, void *const argument) {
  (void)context;
  chad_worker_t *const worker = argument;
  worker->region->work(worker);
  return CHAD_OK;
}

static void enter(chad_worker_t *const worker) {
  chad_busy(1);
  chad_state_t *const state = worker->state;
  worker->callback = state->callback;
  worker->user = state->user;
  state->callback = ask;
  state->user = worker;
  state->worker = worker;
  state->account = &worker->region->account;
  state->own = state->used;
}

static void leave(chad_worker_t *const worker) {
  chad_busy(-1);
  chad_state_t *const state = worker->state;
  state->callback = worker->callback;
  state->user = worker->user;
  state->worker = NULL;
  state->account = NULL;
}

// A helper has its own deep stack if the leader is on one, for the code that both run
// then compares with its limit. Without a stack it does not help: the others do it all.
static void work_as_helper(chad_worker_t *const worker) {
  const chad_state_t *const leader = worker->region->leader;
  chad_state_t *const state = worker->state;
  // Children keep nothing if there is a limit, for nobody else could have it then.
  state->most_kept = leader->is_limited ? 0 : CHAD_HELPERS_KEEP;
  state->next_poll = 0;
  enter(worker);
  if (leader->shared.stack_limit != NULL) {
    (void)chad_deep(&state->shared, work_deep, worker);
  } else {
    worker->region->work(worker);
  }
  chad_frames_free(state);
  leave(worker);
}

// The last that a helper does with the region is to unlock it.
static void help(chad_job_t *const job, const int64_t number) {
  chad_region_t *const region = (chad_region_t *)(void *)job;
  chad_worker_t worker = {.region = region,
                          .state = region->leader->children[number - 1],
                          .number = number};
  work_as_helper(&worker);
  pthread_mutex_lock(&region->lock);
  atomic_fetch_add_explicit(&region->left, 1, memory_order_relaxed);
  chad_region_wake(region);
  pthread_mutex_unlock(&region->lock);
}

static void wait_for_helpers(const chad_worker_t *const leader, const int64_t helpers) {
  chad_region_t *const region = leader->region;
  (void)chad_comes_soon(&region->left, helpers, 0);
  pthread_mutex_lock(&region->lock);
  while (atomic_load_explicit(&region->left, memory_order_relaxed) < helpers) {
    chad_region_doze(leader);
  }
  pthread_mutex_unlock(&region->lock);
}

// --- The leader's context ----------------------------------------------------------

// Contexts for so many helpers, or fewer if there is no memory. Returns how many.
static int64_t make_children(chad_state_t *const state, const int64_t helpers) {
  if (state->child_count >= helpers) {
    return helpers;
  }
  chad_state_t **const children =
      realloc(state->children, (size_t)helpers * sizeof *children);
  if (children == NULL) {
    return state->child_count;
  }
  state->children = children;
  while (state->child_count < helpers) {
    chad_context_t *const child = chad_context_new();
    if (child == NULL) {
      break;
    }
    children[state->child_count] = (chad_state_t *)child;
    ++state->child_count;
  }
  return state->child_count;
}

int64_t chad_region_helpers(chad_state_t *const state, const int64_t wanted) {
  const int64_t threads = wanted <= 0 ? 1 : chad_threads(&state->shared);
  const int64_t hired = threads <= 1 ? 0 : chad_hire(threads, wanted);
  const int64_t helpers = hired == 0 ? 0 : make_children(state, hired);
  chad_dismiss(hired - helpers);
  return helpers;
}

static void open_account(chad_region_t *const region) {
  const chad_state_t *const state = region->leader;
  atomic_init(&region->account.used, state->used);
  atomic_init(&region->account.peak, state->peak);
  atomic_init(&region->account.limit, state->limit);
  region->account.is_limited = state->is_limited;
}

static void close_account(chad_region_t *const region) {
  chad_state_t *const state = region->leader;
  for (int64_t index = 0; index < state->child_count; ++index) {
    chad_state_t *const child = state->children[index];
    chad_results_move(state, child);
    state->steps += child->steps;
    child->steps = 0;
  }
  state->used = atomic_load_explicit(&region->account.used, memory_order_relaxed);
  state->peak = atomic_load_explicit(&region->account.peak, memory_order_relaxed);
  state->limit = atomic_load_explicit(&region->account.limit, memory_order_relaxed);
}

// Those who have helped share what helpers may keep; the others keep nothing. How many
// were wanted says little, for there may be fewer cores.
static void share_kept(const chad_state_t *const state, const int64_t joined) {
  for (int64_t index = 0; joined > 0 && index < state->child_count; ++index) {
    chad_state_t *const child = state->children[index];
    const int64_t share = index < joined ? CHAD_HELPERS_KEEP / joined : 0;
    child->most_kept = state->is_limited ? 0 : share;
    chad_trim(child, chad_most_kept(child));
  }
}

void chad_region_open(chad_region_t *const region, chad_worker_t *const leader,
                      const int64_t helpers) {
  open_account(region);
  *leader = (chad_worker_t){
      .region = region, .state = region->leader, .is_leader = true};
  enter(leader);
  region->job.help = help;
  chad_job_offer(&region->job, helpers);
}

void chad_region_close(chad_region_t *const region, chad_worker_t *const leader) {
  const int64_t joined = chad_job_close(&region->job);
  wait_for_helpers(leader, joined);
  leave(leader);
  close_account(region);
  share_kept(region->leader, joined);
}
