// Two calls at the same time, and two within each of these, and so on: what programs do
// that divide and conquer.
//
// A worker that comes to such a pair leaves the second of the two, a *branch*, to whoever
// has nothing to do, and does the first. Then it takes the branch back, if it still waits,
// else it waits for who has taken it, and takes other branches meanwhile. All waiting
// branches are in one list, and the oldest, which are the largest, are taken first.
//
// Who begins does not ask for help at once, for most calls are over before anybody could
// come: its branches are *forks* in its own frames, linked from its context, and nobody
// else looks at them. Only if it has taken longer than its patience, helpers are hired,
// and a *crew* works from then on: all forks are offered as branches, and new ones at
// once. A fork that there is no memory to offer for stays with its maker.
//
// A branch has a depth, the number of pairs that it is within. Who waits for a branch
// takes only deeper ones. So what is on a thread's stack becomes ever deeper, and the
// stack not deeper than that of a serial run; and nobody waits forever, for whoever waits
// for a branch waits for a thread that runs it, or waits for a deeper one.

#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <time.h>

#include "region.h"

typedef struct chad_branch {
  const struct chad_branch *above;  // that its pair is within
  int64_t depth;
  chad_run_t run;
  void *environment;
  // The branches that wait.
  struct chad_branch *next;
  struct chad_branch *previous;
  bool waits;
  // The first of the pair has failed. It is a number by itself: to see it late costs
  // time, nothing else.
  _Atomic int32_t is_vain;
  // Written when it is done; also looked at by who is about to sleep, who then takes the
  // lock before it reads what the branch wrote.
  _Atomic int64_t is_done;
  chad_status_t status;
  chad_context_t error;
} branch_t;

typedef struct chad_crew {
  chad_region_t region;
  int64_t patience;
  int64_t since;    // when it was begun, in nanoseconds
  bool leaves_out;  // the next question for help
  int64_t helpers;  // 0: all else, the region too, is not there yet
  chad_worker_t leader;
  branch_t waiting;  // the head of a ring: next is the oldest
  bool is_over;
  int64_t sleepers;
  // What somebody may wait for has happened so often. It is written with the lock; who
  // looks at it without takes the lock before anything else is read.
  _Atomic int64_t changes;
} crew_t;

static_assert(offsetof(crew_t, region) == 0, "a region is the start of a crew");

static crew_t *crew_of(const chad_worker_t *const worker) {
  return (crew_t *)worker->region;
}

static bool is_vain(const chad_worker_t *const worker) {
  for (const branch_t *branch = worker->branch; branch != NULL;
       branch = branch->above) {
    if (atomic_load_explicit(&branch->is_vain, memory_order_relaxed) != 0) {
      return true;
    }
  }
  return false;
}

// --- The list of branches that wait; the lock is held ------------------------------

static void wake(crew_t *const crew) {
  atomic_fetch_add_explicit(&crew->changes, 1, memory_order_relaxed);
  if (crew->sleepers > 0) {
    chad_region_wake(&crew->region);
  }
}

static void push(crew_t *const crew, branch_t *const branch) {
  branch->next = &crew->waiting;
  branch->previous = crew->waiting.previous;
  branch->previous->next = branch;
  crew->waiting.previous = branch;
  branch->waits = true;
  wake(crew);
}

static void take(branch_t *const branch) {
  branch->next->previous = branch->previous;
  branch->previous->next = branch->next;
  branch->waits = false;
}

// The oldest that is deeper than `depth`, taken off; NULL if there is none.
static branch_t *take_oldest(crew_t *const crew, const int64_t depth) {
  for (branch_t *branch = crew->waiting.next; branch != &crew->waiting;
       branch = branch->next) {
    if (branch->depth > depth) {
      take(branch);
      return branch;
    }
  }
  return NULL;
}

// Until something has changed, or for no reason; awake at first, for what waits is short
// mostly, and to be woken takes longer. The lock is held, but not meanwhile.
static void rest_in(crew_t *const crew, const chad_worker_t *const worker) {
  const int64_t next = atomic_load_explicit(&crew->changes, memory_order_relaxed) + 1;
  pthread_mutex_unlock(&crew->region.lock);
  (void)chad_comes_soon(&crew->changes, next, 0);
  pthread_mutex_lock(&crew->region.lock);
  if (atomic_load_explicit(&crew->changes, memory_order_relaxed) < next) {
    ++crew->sleepers;
    chad_region_doze(worker);
    --crew->sleepers;
  }
}

// --- Branches ----------------------------------------------------------------------

static void run_branch(chad_worker_t *const worker, branch_t *const branch) {
  chad_context_t *const context = &worker->state->shared;
  const branch_t *const before = worker->branch;
  const int64_t depth = worker->depth;
  worker->branch = branch;
  worker->depth = branch->depth;
  chad_job_goes_on(&worker->region->job);
  if (chad_region_stopped(worker->region) || is_vain(worker)) {
    branch->status = CHAD_INTERRUPT;
  } else {
    branch->status = branch->run(context, branch->environment, 1);
  }
  if (branch->status != CHAD_OK) {
    chad_copy_error(&branch->error, context);
  }
  worker->branch = before;
  worker->depth = depth;
}

// Runs a branch that was taken. The lock is held, but not meanwhile.
static void help_with(chad_worker_t *const worker, branch_t *const branch) {
  crew_t *const crew = crew_of(worker);
  pthread_mutex_unlock(&crew->region.lock);
  run_branch(worker, branch);
  pthread_mutex_lock(&crew->region.lock);
  // From here on the branch is its maker's, who may leave.
  atomic_store_explicit(&branch->is_done, 1, memory_order_relaxed);
  wake(crew);
}

// Until a branch that another worker has taken is done.
static void wait_for(chad_worker_t *const worker, branch_t *const branch) {
  crew_t *const crew = crew_of(worker);
  (void)chad_comes_soon(&branch->is_done, 1, 0);
  pthread_mutex_lock(&crew->region.lock);
  while (atomic_load_explicit(&branch->is_done, memory_order_relaxed) == 0) {
    branch_t *const other = take_oldest(crew, branch->depth);
    if (other != NULL) {
      help_with(worker, other);
    } else {
      rest_in(crew, worker);
    }
  }
  pthread_mutex_unlock(&crew->region.lock);
}

// Whether nobody has taken the branch; then nobody will.
static bool take_back(crew_t *const crew, branch_t *const branch) {
  pthread_mutex_lock(&crew->region.lock);
  const bool waits = branch->waits;
  if (waits) {
    take(branch);
  }
  pthread_mutex_unlock(&crew->region.lock);
  return waits;
}

// Waits for the second of a pair whose first has ended with this status. What is run
// meanwhile may fail, too, with the same context.
static chad_status_t join_taken(chad_worker_t *const worker, branch_t *const branch,
                           const chad_status_t status) {
  chad_context_t *const context = &worker->state->shared;
  chad_context_t error = {0};
  chad_copy_error(&error, context);
  if (status != CHAD_OK) {
    atomic_store_explicit(&branch->is_vain, 1, memory_order_relaxed);
  }
  wait_for(worker, branch);
  chad_copy_error(context, status == CHAD_OK ? &branch->error : &error);
  return status == CHAD_OK ? branch->status : status;
}

// --- Pairs -------------------------------------------------------------------------

static void offer(chad_worker_t *const worker, chad_fork_t *const fork) {
  crew_t *const crew = crew_of(worker);
  branch_t *const branch = chad_zeroed(sizeof *branch);
  if (branch == NULL) {
    return;
  }
  branch->above = worker->branch;
  branch->depth = ++worker->depth;
  branch->run = fork->run;
  branch->environment = fork->environment;
  fork->branch = branch;
  pthread_mutex_lock(&crew->region.lock);
  push(crew, branch);
  pthread_mutex_unlock(&crew->region.lock);
}

// The oldest fork that is not offered and not older than one that is.
static chad_fork_t *oldest_left(const chad_context_t *const context) {
  chad_fork_t *oldest = NULL;
  for (chad_fork_t *fork = context->forks; fork != NULL && fork->branch == NULL;
       fork = fork->above) {
    oldest = fork;
  }
  return oldest;
}

void chad_offer(chad_context_t *const context) {
  const chad_state_t *const state = (const chad_state_t *)context;
  for (chad_fork_t *fork = oldest_left(context); fork != NULL;
       fork = oldest_left(context)) {
    offer(state->worker, fork);
    if (fork->branch == NULL) {
      break;
    }
  }
}

chad_status_t chad_join(chad_context_t *const context, chad_fork_t *const fork,
                        const chad_status_t status) {
  chad_worker_t *const worker = ((chad_state_t *)context)->worker;
  branch_t *const branch = fork->branch;
  chad_status_t found = status;
  chad_job_goes_on(&worker->region->job);
  if (!take_back(crew_of(worker), branch)) {
    found = join_taken(worker, branch, status);
  } else if (status == CHAD_OK) {
    found = branch->run(context, branch->environment, 1);
  }
  --worker->depth;
  free(branch);
  return found;
}

// --- Crews -------------------------------------------------------------------------

static void help_all(chad_worker_t *const worker) {
  crew_t *const crew = crew_of(worker);
  chad_context_t *const context = &worker->state->shared;
  context->forks = NULL;
  context->crew = crew;
  pthread_mutex_lock(&crew->region.lock);
  while (!crew->is_over) {
    branch_t *const branch = take_oldest(crew, 0);
    if (branch != NULL) {
      help_with(worker, branch);
    } else {
      rest_in(crew, worker);
    }
  }
  pthread_mutex_unlock(&crew->region.lock);
  context->crew = NULL;
}

static int64_t nanoseconds(void) {
  struct timespec time = {0, 0};
  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + (int64_t)time.tv_nsec;
}

// Whether it is time to ask for help. A look at the clock takes as long as some calls:
// where hardly any time is gone, the next question goes by without. Where nobody is free
// it is worth to ask again, but not at once.
static bool is_time(crew_t *const crew) {
  if (crew->leaves_out) {
    crew->leaves_out = false;
    return false;
  }
  const int64_t time = nanoseconds();
  const int64_t gone = time - crew->since;
  if (gone >= crew->patience) {
    crew->since = time;
    return true;
  }
  crew->leaves_out = gone < crew->patience / 8;
  return false;
}

void chad_heartbeat(chad_state_t *const state) {
  crew_t *const crew = state->divides;
  if (crew == NULL || !is_time(crew)) {
    return;
  }
  const int64_t helpers = chad_region_helpers(state, CHAD_MOST_THREADS);
  if (helpers == 0) {
    return;
  }
  *crew = (crew_t){.region = CHAD_REGION(state, help_all, is_vain), .helpers = helpers};
  crew->waiting.next = &crew->waiting;
  crew->waiting.previous = &crew->waiting;
  state->shared.crew = crew;
  chad_region_open(&crew->region, &crew->leader, crew->helpers);
  chad_offer(&state->shared);
}

static chad_status_t close_crew(crew_t *const crew, chad_arena_t *const arenas,
                           const chad_status_t status) {
  chad_state_t *const state = crew->region.leader;
  pthread_mutex_lock(&crew->region.lock);
  crew->is_over = true;
  wake(crew);
  pthread_mutex_unlock(&crew->region.lock);
  chad_region_close(&crew->region, &crew->leader);
  state->shared.crew = NULL;
  chad_dismiss(crew->helpers);
  for (int64_t index = 0; arenas != NULL && index < state->child_count; ++index) {
    chad_frames_move(arenas, state->children[index]);
  }
  return chad_region_stopped(&crew->region) ? CHAD_INTERRUPT : status;
}

// run(…) with a crew that may begin to work.
static chad_status_t divide(chad_state_t *const state, chad_arena_t *const arenas,
                            const chad_run_t run, void *const environment,
                            const int64_t patience) {
  crew_t crew;  // Hardly any needs more than this.
  crew.patience = patience;
  crew.since = nanoseconds();
  crew.leaves_out = false;
  crew.helpers = 0;
  state->divides = &crew;
  const chad_status_t status = run(&state->shared, environment, 0);
  state->divides = NULL;
  return crew.helpers > 0 ? close_crew(&crew, arenas, status) : status;
}

chad_status_t chad_divide(chad_context_t *const context, chad_arena_t *const arenas,
                          const chad_run_t run, void *const environment,
                          const int64_t patience) {
  chad_state_t *const state = (chad_state_t *)context;
  if (state->divides != NULL || context->crew != NULL) {
    return run(context, environment, 0);
  }
  const bool alone = patience < 0 || state->worker != NULL;
  const chad_status_t status =
      alone ? run(context, environment, 0)
            : divide(state, arenas, run, environment, patience);
  if (arenas != NULL) {
    chad_frames_move(arenas, state);
  }
  return status;
}
