// Loops over chunks on several threads.
//
// All workers take chunks in their order, each the next that nobody has taken, so
// whatever the timing the chunks before one that is taken are done or being done. That
// is why an error is the first in the order of the chunks: those before a failed one are
// finished, those behind it need not be. It is also why nobody waits forever: who waits
// does so for an older chunk, and the oldest one that is not merged waits for nobody.
//
// What must happen in order, whoever does it, is `merge`: who finishes the chunk whose
// turn it is merges it, and those behind it that are finished.

#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>

#include "region.h"

typedef struct loop {
  chad_region_t region;
  chad_run_t run;
  chad_run_t merge;  // or NULL
  void *environment;
  int64_t chunks;
  int64_t lanes;

  // Chunks are taken by adding to `next`. That is a number by itself, as is the least
  // chunk that has failed (`chunks`, if none), which is written under the lock: to see
  // it late costs time, nothing else. So the order of memory is relaxed.
  _Atomic int64_t next;
  _Atomic int64_t failed;

  // The chunks below are merged. Who waits for it may look without the lock, and sees
  // what the merges wrote: it is released and acquired.
  _Atomic int64_t merged;
  bool is_merging;
  char *finished;  // for each lane, whether a chunk there waits to be merged

  chad_status_t status;  // of the failed chunk
  chad_context_t error;  // and what its context holds
} loop_t;

static_assert(offsetof(loop_t, region) == 0, "a region is the start of a loop");

static loop_t *loop_of(const chad_worker_t *const worker) {
  return (loop_t *)worker->region;
}

static bool is_vain(const chad_worker_t *const worker) {
  const loop_t *const loop = loop_of(worker);
  return atomic_load_explicit(&loop->failed, memory_order_relaxed) < worker->chunk;
}

static bool stops(const chad_worker_t *const worker) {
  return chad_region_stopped(worker->region) || is_vain(worker);
}

static void fail(const chad_worker_t *const worker, const chad_status_t status) {
  loop_t *const loop = loop_of(worker);
  pthread_mutex_lock(&loop->region.lock);
  if (worker->chunk < atomic_load_explicit(&loop->failed, memory_order_relaxed)) {
    atomic_store_explicit(&loop->failed, worker->chunk, memory_order_relaxed);
    loop->status = status;
    loop->error = worker->state->shared;
    chad_region_wake(&loop->region);
  }
  pthread_mutex_unlock(&loop->region.lock);
}

// Until the chunk's lane is free; false if the chunk need not be run.
static bool wait_for_lane(const chad_worker_t *const worker) {
  loop_t *const loop = loop_of(worker);
  const int64_t target = worker->chunk - loop->lanes + 1;
  if (loop->merge == NULL || chad_comes_soon(&loop->merged, target, 0)) {
    return true;
  }
  pthread_mutex_lock(&loop->region.lock);
  while (atomic_load_explicit(&loop->merged, memory_order_relaxed) < target &&
         !stops(worker)) {
    chad_region_doze(worker);
  }
  pthread_mutex_unlock(&loop->region.lock);
  return !stops(worker);
}

// The worker's chunk is finished: merges all whose turn it is, unless somebody is at it.
// The lock is not held meanwhile; `is_merging` keeps all others out.
static void merge_finished(const chad_worker_t *const worker) {
  loop_t *const loop = loop_of(worker);
  pthread_mutex_lock(&loop->region.lock);
  loop->finished[worker->chunk % loop->lanes] = 1;
  int64_t turn = atomic_load_explicit(&loop->merged, memory_order_relaxed);
  while (!loop->is_merging && loop->finished[turn % loop->lanes] != 0) {
    loop->is_merging = true;
    pthread_mutex_unlock(&loop->region.lock);
    (void)loop->merge(&worker->state->shared, loop->environment, turn);
    pthread_mutex_lock(&loop->region.lock);
    loop->finished[turn % loop->lanes] = 0;
    loop->is_merging = false;
    ++turn;
    atomic_store_explicit(&loop->merged, turn, memory_order_release);
    chad_region_wake(&loop->region);
  }
  pthread_mutex_unlock(&loop->region.lock);
}

static void work(chad_worker_t *const worker) {
  loop_t *const loop = loop_of(worker);
  for (;;) {
    worker->chunk = atomic_fetch_add_explicit(&loop->next, 1, memory_order_relaxed);
    if (worker->chunk >= loop->chunks || stops(worker) || !wait_for_lane(worker)) {
      break;
    }
    chad_job_goes_on(&loop->region.job);
    const chad_status_t status =
        loop->run(&worker->state->shared, loop->environment, worker->chunk);
    if (status != CHAD_OK) {
      fail(worker, status);
      break;
    }
    if (loop->merge != NULL) {
      merge_finished(worker);
    }
  }
  worker->chunk = 0;  // Whoever asks now is not told of chunks that failed.
}

static chad_status_t run_serially(chad_context_t *const context, const chad_run_t run,
                                  const chad_run_t merge, void *const environment,
                                  const int64_t chunks) {
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const chad_status_t status = run(context, environment, chunk);
    if (status != CHAD_OK) {
      return status;
    }
    if (merge != NULL) {
      (void)merge(context, environment, chunk);
    }
  }
  return CHAD_OK;
}

static chad_status_t run_loop(loop_t *const loop, const int64_t helpers) {
  chad_worker_t leader;
  chad_region_open(&loop->region, &leader, helpers);
  work(&leader);
  chad_region_close(&loop->region, &leader);
  if (chad_region_stopped(&loop->region)) {
    return CHAD_INTERRUPT;
  }
  if (loop->status != CHAD_OK) {
    chad_copy_error(&loop->region.leader->shared, &loop->error);
  }
  return loop->status;
}

int64_t chad_lanes(const chad_context_t *const context, const int64_t chunks) {
  const int64_t threads = chad_at_once(chad_threads(context));
  const int64_t lanes = threads == 1 ? 1 : 2 * threads;
  return chunks < lanes ? chunks : lanes;
}

chad_status_t chad_parallel(chad_context_t *const context, const chad_run_t run,
                            const chad_run_t merge, void *const environment,
                            const int64_t chunks, const int64_t lanes) {
  chad_state_t *const state = (chad_state_t *)context;
  const int64_t most = chunks < lanes ? chunks : lanes;
  const int64_t helpers = chad_region_helpers(state, most - 1);
  char *const finished = helpers == 0 ? NULL : calloc((size_t)lanes, 1);
  chad_status_t status = CHAD_OK;
  if (finished == NULL) {
    status = run_serially(context, run, merge, environment, chunks);
  } else {
    loop_t loop = {
        .region = CHAD_REGION(state, work, is_vain),
        .run = run,
        .merge = merge,
        .environment = environment,
        .chunks = chunks,
        .lanes = lanes,
        .failed = chunks,
        .finished = finished,
    };
    status = run_loop(&loop, helpers);
    free(finished);
  }
  chad_dismiss(helpers);
  return status;
}
