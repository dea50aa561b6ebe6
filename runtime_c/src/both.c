// Two calls at the same time, and two within each of these, and so on: what programs do
// that divide and conquer.
//
// A worker that comes to such a pair leaves the second of the two, a *branch*, to whoever
// has nothing to do, and does the first. Then it takes the branch back, if it still waits,
// else it waits for who has taken it, and takes other branches meanwhile. All waiting
// branches are in one list, and the oldest, which are the largest, are taken first.
//
// A branch has a depth, the number of pairs that it is within. Who waits for a branch
// takes only deeper ones. So what is on a thread's stack becomes ever deeper, and the
// stack not deeper than that of a serial run; and nobody waits forever, for whoever waits
// for a branch waits for a thread that runs it, or waits for a deeper one.

#define _POSIX_C_SOURCE 200809L

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

typedef struct crew {
  chad_region_t region;
  chad_run_t first;
  chad_run_t second;
  void *environment;
  branch_t waiting;  // the head of a ring: next is the oldest
  bool is_over;
  int64_t sleepers;
  chad_status_t status;  // the result of the leader's first pair
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

static void sleep_in(crew_t *const crew, const chad_worker_t *const worker) {
  ++crew->sleepers;
  chad_region_doze(worker);
  --crew->sleepers;
}

// --- Branches ----------------------------------------------------------------------

static void run_branch(chad_worker_t *const worker, branch_t *const branch) {
  chad_context_t *const context = &worker->state->shared;
  const branch_t *const before = worker->branch;
  const int64_t depth = worker->depth;
  worker->branch = branch;
  worker->depth = branch->depth;
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
      sleep_in(crew, worker);
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

static void push_branch(crew_t *const crew, branch_t *const branch) {
  pthread_mutex_lock(&crew->region.lock);
  push(crew, branch);
  pthread_mutex_unlock(&crew->region.lock);
}

// Waits for the second of a pair whose first has ended with this status. What is run
// meanwhile may fail, too, with the same context.
static chad_status_t join(chad_worker_t *const worker, branch_t *const branch,
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

// A pair within a crew.
static chad_status_t run_pair(chad_worker_t *const worker, const chad_run_t first,
                              const chad_run_t second, void *const environment) {
  crew_t *const crew = crew_of(worker);
  chad_context_t *const context = &worker->state->shared;
  branch_t branch = {
      .above = worker->branch,
      .depth = ++worker->depth,
      .run = second,
      .environment = environment,
  };
  push_branch(crew, &branch);
  chad_status_t status = first(context, environment, 0);
  if (!take_back(crew, &branch)) {
    status = join(worker, &branch, status);
  } else if (status == CHAD_OK) {
    status = second(context, environment, 1);
  }
  --worker->depth;
  return status;
}

// --- Crews -------------------------------------------------------------------------

static void help_all(chad_worker_t *const worker) {
  crew_t *const crew = crew_of(worker);
  pthread_mutex_lock(&crew->region.lock);
  while (!crew->is_over) {
    branch_t *const branch = take_oldest(crew, 0);
    if (branch != NULL) {
      help_with(worker, branch);
    } else {
      sleep_in(crew, worker);
    }
  }
  pthread_mutex_unlock(&crew->region.lock);
}

static void work(chad_worker_t *const worker) {
  crew_t *const crew = crew_of(worker);
  if (!worker->is_leader) {
    help_all(worker);
    return;
  }
  crew->status = run_pair(worker, crew->first, crew->second, crew->environment);
  pthread_mutex_lock(&crew->region.lock);
  crew->is_over = true;
  wake(crew);
  pthread_mutex_unlock(&crew->region.lock);
}

static chad_status_t run_crew(chad_state_t *const state, const chad_run_t first,
                              const chad_run_t second, void *const environment,
                              const int64_t helpers) {
  crew_t crew = {
      .region = CHAD_REGION(state, work, is_vain),
      .first = first,
      .second = second,
      .environment = environment,
  };
  crew.waiting.next = &crew.waiting;
  crew.waiting.previous = &crew.waiting;
  chad_region_run(&crew.region, helpers);
  return chad_region_stopped(&crew.region) ? CHAD_INTERRUPT : crew.status;
}

chad_status_t chad_both(chad_context_t *const context, const chad_run_t first,
                        const chad_run_t second, void *const environment) {
  chad_state_t *const state = (chad_state_t *)context;
  if (state->worker != NULL && state->worker->region->work == work) {
    return run_pair(state->worker, first, second, environment);
  }
  const int64_t helpers = chad_region_helpers(state, CHAD_MOST_THREADS);
  if (helpers > 0) {
    const chad_status_t status =
        run_crew(state, first, second, environment, helpers);
    chad_dismiss(helpers);
    return status;
  }
  const chad_status_t status = first(context, environment, 0);
  return status != CHAD_OK ? status : second(context, environment, 1);
}
