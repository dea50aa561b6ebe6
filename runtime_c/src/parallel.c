// Loops over chunks on several threads: parallel regions.
//
// The caller is the leader; its helpers have contexts of their own, its children. All
// take chunks in their order, each the next that nobody has taken, so whatever the
// timing the chunks before one that is taken are done or being done. That is why an
// error is the first in the order of the chunks: those before a failed one are finished,
// those behind it need not be. It is also why nobody waits forever: who waits does so
// for an older chunk, and the oldest one that is not merged waits for nobody.
//
// What must happen in order, whoever does it, is `merge`: who finishes the chunk whose
// turn it is merges it, and those behind it that are finished.
//
// Everything in a region is read and written under its lock, but for what is _Atomic.
// The leader leaves when all helpers have, so the region may lie in its frame.

#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

// Looks at what another thread is about to do before the thread goes to sleep.
enum { SPINS = 2000 };

// How long the leader sleeps before it looks for interrupts, in nanoseconds.
static const long NAP = 50000000;
static const long SECOND = 1000000000;

typedef struct region {
  chad_state_t *leader;
  chad_run_t run;
  chad_run_t merge;  // or NULL
  void *environment;
  int64_t chunks;
  int64_t lanes;
  bool is_deep;  // the leader is on a deep stack, so the helpers are on theirs

  // Chunks are taken by adding to `next`, which is a number by itself; so are the least
  // chunk that has failed (or `chunks`) and whether the caller wants to stop: to see
  // them late costs time, nothing else. What a chunk wrote is seen by who needs it
  // because of the lock. The order of memory is relaxed.
  _Atomic int64_t next;
  _Atomic int64_t failed;
  _Atomic int32_t stopped;

  pthread_mutex_t lock;
  pthread_cond_t changed;  // one of those that follow
  // Also looked at by who is about to wait for it, without the lock, to spare that.
  _Atomic int64_t merged;  // the chunks below are merged
  _Atomic int64_t left;    // helpers that are done
  bool is_merging;
  char *finished;  // for each lane, whether a chunk there waits to be merged

  chad_status_t status;  // of the failed chunk
  chad_context_t error;  // and what its context holds

  chad_account_t account;
} region_t;

// A context at work in a region.
typedef struct worker {
  region_t *region;
  chad_state_t *state;
  int64_t chunk;
  int32_t (*callback)(void *user);  // the leader's own
  void *user;
} worker_t;

// --- Stopping ----------------------------------------------------------------------

// A context's poll callback within a region.
static int32_t asked(void *const user) {
  const worker_t *const worker = user;
  region_t *const region = worker->region;
  if (worker->callback != NULL && worker->callback(worker->user) != 0) {
    atomic_store_explicit(&region->stopped, 1, memory_order_relaxed);
  }
  return atomic_load_explicit(&region->stopped, memory_order_relaxed) != 0 ||
         atomic_load_explicit(&region->failed, memory_order_relaxed) < worker->chunk;
}

// Whether a chunk need not be run any more.
static bool is_vain(region_t *const region, const int64_t chunk) {
  return atomic_load_explicit(&region->stopped, memory_order_relaxed) != 0 ||
         atomic_load_explicit(&region->failed, memory_order_relaxed) <= chunk;
}

static void fail(const worker_t *const worker, const chad_status_t status) {
  region_t *const region = worker->region;
  pthread_mutex_lock(&region->lock);
  if (worker->chunk < atomic_load_explicit(&region->failed, memory_order_relaxed)) {
    atomic_store_explicit(&region->failed, worker->chunk, memory_order_relaxed);
    region->status = status;
    region->error = worker->state->shared;
    pthread_cond_broadcast(&region->changed);
  }
  pthread_mutex_unlock(&region->lock);
}

// --- Waiting -----------------------------------------------------------------------

// Sleeps, with the lock, until something has changed. The leader looks for interrupts
// now and then.
static void doze(worker_t *const worker) {
  region_t *const region = worker->region;
  if (worker->state != region->leader) {
    pthread_cond_wait(&region->changed, &region->lock);
    return;
  }
  struct timespec until = {0, 0};
  (void)clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += NAP;
  until.tv_sec += until.tv_nsec / SECOND;
  until.tv_nsec %= SECOND;
  if (pthread_cond_timedwait(&region->changed, &region->lock, &until) != 0) {
    pthread_mutex_unlock(&region->lock);
    const bool stops = chad_poll(&worker->state->shared) != CHAD_OK;
    pthread_mutex_lock(&region->lock);
    if (stops) {
      pthread_cond_broadcast(&region->changed);
    }
  }
}

// Whether `number` comes to `target` soon.
static bool comes_soon(_Atomic int64_t *const number, const int64_t target) {
  for (int spin = 0; spin < SPINS; ++spin) {
    if (atomic_load_explicit(number, memory_order_acquire) >= target) {
      return true;
    }
  }
  return false;
}

// Until the chunk's lane is free; false if the chunk need not be run.
static bool wait_for_lane(worker_t *const worker) {
  region_t *const region = worker->region;
  const int64_t target = worker->chunk - region->lanes + 1;
  if (region->merge == NULL || comes_soon(&region->merged, target)) {
    return true;
  }
  pthread_mutex_lock(&region->lock);
  while (atomic_load_explicit(&region->merged, memory_order_relaxed) < target &&
         !is_vain(region, worker->chunk)) {
    doze(worker);
  }
  pthread_mutex_unlock(&region->lock);
  return !is_vain(region, worker->chunk);
}

static void wait_for_helpers(worker_t *const leader, const int64_t helpers) {
  region_t *const region = leader->region;
  if (comes_soon(&region->left, helpers)) {
    // They may yet hold the lock.
    pthread_mutex_lock(&region->lock);
    pthread_mutex_unlock(&region->lock);
    return;
  }
  pthread_mutex_lock(&region->lock);
  while (atomic_load_explicit(&region->left, memory_order_relaxed) < helpers) {
    doze(leader);
  }
  pthread_mutex_unlock(&region->lock);
}

// --- Chunks ------------------------------------------------------------------------

// The chunk is finished: merges all whose turn it is, unless somebody is at it. The lock
// is not held meanwhile; `is_merging` keeps all others out.
static void merge(const worker_t *const worker) {
  region_t *const region = worker->region;
  pthread_mutex_lock(&region->lock);
  region->finished[worker->chunk % region->lanes] = 1;
  int64_t turn = atomic_load_explicit(&region->merged, memory_order_relaxed);
  while (!region->is_merging && region->finished[turn % region->lanes] != 0) {
    region->is_merging = true;
    pthread_mutex_unlock(&region->lock);
    (void)region->merge(&worker->state->shared, region->environment, turn);
    pthread_mutex_lock(&region->lock);
    region->finished[turn % region->lanes] = 0;
    region->is_merging = false;
    ++turn;
    atomic_store_explicit(&region->merged, turn, memory_order_release);
    pthread_cond_broadcast(&region->changed);
  }
  pthread_mutex_unlock(&region->lock);
}

static void work(worker_t *const worker) {
  region_t *const region = worker->region;
  for (;;) {
    const int64_t chunk =
        atomic_fetch_add_explicit(&region->next, 1, memory_order_relaxed);
    worker->chunk = chunk;
    if (chunk >= region->chunks || is_vain(region, chunk) || !wait_for_lane(worker)) {
      return;
    }
    const chad_status_t status =
        region->run(&worker->state->shared, region->environment, chunk);
    if (status != CHAD_OK) {
      fail(worker, status);
      return;
    }
    if (region->merge != NULL) {
      merge(worker);
    }
  }
}

// --- Members -----------------------------------------------------------------------

static chad_status_t work_deep(chad_context_t *const context, void *const argument) {
  (void)context;
  work(argument);
  return CHAD_OK;
}

static void start_child(chad_state_t *const state, worker_t *const worker) {
  const chad_state_t *const leader = worker->region->leader;
  state->account = &worker->region->account;
  // Children keep nothing if there is a limit, for nobody else could have it then.
  state->most_kept =
      leader->is_limited ? 0 : CHAD_MOST_KEPT / (leader->child_count + 1);
  state->callback = asked;
  state->user = worker;
  state->next_poll = 0;
}

static void help(region_t *const region, const int64_t number) {
  chad_state_t *const state = region->leader->children[number - 1];
  worker_t worker = {.region = region, .state = state};
  start_child(state, &worker);
  if (region->is_deep) {
    // Without a stack this one does not help; the others will do it.
    (void)chad_deep(&state->shared, work_deep, &worker);
  } else {
    work(&worker);
  }
  chad_frames_free(state);
}

static void lead(region_t *const region, const int64_t helpers) {
  chad_state_t *const state = region->leader;
  worker_t worker = {
      .region = region,
      .state = state,
      .callback = state->callback,
      .user = state->user,
  };
  state->callback = asked;
  state->user = &worker;
  work(&worker);
  worker.chunk = 0;  // Only the caller may stop the leader now.
  wait_for_helpers(&worker, helpers);
  state->callback = worker.callback;
  state->user = worker.user;
}

// What each thread of the team runs. The lock is there so that it sees the region as it
// is, whatever else OpenMP does.
static void member(void *const argument, const int32_t number, const int32_t members) {
  region_t *const region = argument;
  if (number == 0) {
    lead(region, members - 1);
    return;
  }
  pthread_mutex_lock(&region->lock);
  pthread_mutex_unlock(&region->lock);
  help(region, number);
  pthread_mutex_lock(&region->lock);
  atomic_fetch_add_explicit(&region->left, 1, memory_order_release);
  pthread_cond_broadcast(&region->changed);
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

static void open_account(region_t *const region) {
  chad_state_t *const state = region->leader;
  atomic_init(&region->account.used, state->used);
  atomic_init(&region->account.peak, state->peak);
  atomic_init(&region->account.limit, state->limit);
  state->account = &region->account;
}

static void close_account(region_t *const region) {
  chad_state_t *const state = region->leader;
  for (int64_t index = 0; index < state->child_count; ++index) {
    chad_state_t *const child = state->children[index];
    child->account = NULL;
    chad_results_move(state, child);
    state->steps += child->steps;
    child->steps = 0;
  }
  state->account = NULL;
  state->used = atomic_load_explicit(&region->account.used, memory_order_relaxed);
  state->peak = atomic_load_explicit(&region->account.peak, memory_order_relaxed);
  state->limit = atomic_load_explicit(&region->account.limit, memory_order_relaxed);
}

// How the region has ended; the error goes to the leader's context.
static chad_status_t outcome(region_t *const region) {
  if (atomic_load_explicit(&region->stopped, memory_order_relaxed) != 0) {
    return CHAD_INTERRUPT;
  }
  if (region->status != CHAD_OK) {
    chad_context_t *const shared = &region->leader->shared;
    shared->site = region->error.site;
    memcpy(shared->values, region->error.values, sizeof shared->values);
  }
  return region->status;
}

// --- Regions -----------------------------------------------------------------------

static chad_status_t run_serially(chad_context_t *const context, const chad_run_t run,
                                  const chad_run_t merge_one, void *const environment,
                                  const int64_t chunks) {
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const chad_status_t status = run(context, environment, chunk);
    if (status != CHAD_OK) {
      return status;
    }
    if (merge_one != NULL) {
      (void)merge_one(context, environment, chunk);
    }
  }
  return CHAD_OK;
}

static void run_region(region_t *const region, const int64_t helpers) {
  open_account(region);
  // So that the members see what has been prepared, when they have had the lock.
  pthread_mutex_lock(&region->lock);
  pthread_mutex_unlock(&region->lock);
  chad_run_team(helpers, member, region);
  close_account(region);
}

int64_t chad_threads(const chad_context_t *const context) {
  const chad_state_t *const state = (const chad_state_t *)context;
  return state != NULL && state->account != NULL ? 1 : chad_allowed_threads();
}

int64_t chad_lanes(const chad_context_t *const context, const int64_t chunks) {
  const int64_t threads = chad_threads(context);
  const int64_t lanes = threads == 1 ? 1 : 2 * threads;
  return chunks < lanes ? chunks : lanes;
}

chad_status_t chad_parallel(chad_context_t *const context, const chad_run_t run,
                            const chad_run_t merge_one, void *const environment,
                            const int64_t chunks, const int64_t lanes) {
  chad_state_t *const state = (chad_state_t *)context;
  const int64_t most = chunks < lanes ? chunks : lanes;
  const int64_t threads = most <= 1 ? 1 : chad_threads(context);
  const int64_t hired = threads <= 1 ? 0 : chad_hire(threads, most - 1);
  const int64_t helpers = hired == 0 ? 0 : make_children(state, hired);
  char *const finished = helpers == 0 ? NULL : calloc((size_t)lanes, 1);
  chad_status_t status = CHAD_OK;
  if (finished == NULL) {
    status = run_serially(context, run, merge_one, environment, chunks);
  } else {
    region_t region = {
        .leader = state,
        .run = run,
        .merge = merge_one,
        .environment = environment,
        .chunks = chunks,
        .lanes = lanes,
        .is_deep = context->stack_limit != NULL,
        .failed = chunks,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
        .finished = finished,
    };
    run_region(&region, helpers);
    status = outcome(&region);
    free(finished);
  }
  chad_dismiss(hired);
  return status;
}

chad_status_t chad_both(chad_context_t *const context, const chad_run_t first,
                        const chad_run_t second, void *const environment) {
  const chad_status_t status = first(context, environment, 0);
  return status != CHAD_OK ? status : second(context, environment, 1);
}
