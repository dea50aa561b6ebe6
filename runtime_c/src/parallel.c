// Loops over chunks on several threads.
//
// If there is something to merge, all workers take chunks in their order, each the next
// that nobody has taken, so whatever the timing the chunks before one that is taken are
// done or being done. That is why nobody waits forever: who waits does so for an older
// chunk, and the oldest one that is not merged waits for nobody.
//
// Else each worker has a *share*, neighbouring chunks, which it takes in their order. It
// finds in its own cache what chunks next to each other have in common, and what it wrote
// when the same loop was run before. Who has no more takes the last ones of others'.
//
// An error is the first in the order of the chunks: those before a failed one are
// finished, those behind it need not be.
//
// What must happen in order, whoever does it, is `merge`, in each of its parts: who
// finishes a chunk merges those parts whose turn it is, and has nothing to wait for until
// no part is left that could be merged and that nobody is at. Who waits helps as well.
// So what can be merged is merged, also if those leave who wait for something else.

#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>

#include "region.h"

// Neighbouring chunks that nobody has taken: the first, and in the upper half of the
// number the one behind the last. Each has a cache line for itself.
typedef struct share {
  _Atomic int64_t left;
  char apart[56];
} share_t;

typedef struct loop {
  chad_region_t region;
  chad_run_t run;
  chad_merge_t merge;  // or NULL
  void *environment;
  int64_t chunks;
  int64_t lanes;

  // Chunks are taken by changing a share. That is a number by itself, as is the least
  // chunk that has failed (`chunks`, if none), which is written under the lock: to see
  // it late costs time, nothing else. So the order of memory is relaxed.
  share_t *shares;
  int64_t share_count;
  _Atomic int64_t failed;

  // The chunks below are merged in all parts. Who waits for it may look without the lock,
  // and sees what the merges wrote: it is released and acquired. The lock, which is taken
  // between two merges, orders those of one part.
  _Atomic int64_t merged;
  int64_t parts;
  int64_t next_part;  // to look at first
  int64_t *turns;     // for each part, the chunk that is to be merged next
  char *is_merging;   // for each part, whether somebody is at it
  int64_t *finished;  // for each lane, the last chunk there that is finished, plus one

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

// A part that can be merged and that nobody is at, else -1.
static int64_t find_part(const loop_t *const loop) {
  for (int64_t offset = 0; offset < loop->parts; ++offset) {
    const int64_t part = (loop->next_part + offset) % loop->parts;
    const int64_t turn = loop->turns[part];
    if (loop->is_merging[part] == 0 && loop->finished[turn % loop->lanes] == turn + 1) {
      return part;
    }
  }
  return -1;
}

static int64_t least_turn(const loop_t *const loop) {
  int64_t least = loop->turns[0];
  for (int64_t part = 1; part < loop->parts; ++part) {
    least = loop->turns[part] < least ? loop->turns[part] : least;
  }
  return least;
}

// Merges what can be merged and nobody is at. The lock is held, but not during a merge;
// `is_merging` keeps all others out of the part.
static void merge_finished(const chad_worker_t *const worker) {
  loop_t *const loop = loop_of(worker);
  for (int64_t part = find_part(loop); part >= 0; part = find_part(loop)) {
    loop->is_merging[part] = 1;
    loop->next_part = part + 1;
    pthread_mutex_unlock(&loop->region.lock);
    (void)loop->merge(&worker->state->shared, loop->environment, loop->turns[part], part);
    pthread_mutex_lock(&loop->region.lock);
    loop->is_merging[part] = 0;
    ++loop->turns[part];
    const int64_t merged = least_turn(loop);
    if (merged != atomic_load_explicit(&loop->merged, memory_order_relaxed)) {
      atomic_store_explicit(&loop->merged, merged, memory_order_release);
      chad_region_wake(&loop->region);
    }
  }
}

// The worker's chunk is finished.
static void finish(const chad_worker_t *const worker) {
  loop_t *const loop = loop_of(worker);
  pthread_mutex_lock(&loop->region.lock);
  loop->finished[worker->chunk % loop->lanes] = worker->chunk + 1;
  if (loop->parts > 1) {
    chad_region_wake(&loop->region);
  }
  merge_finished(worker);
  pthread_mutex_unlock(&loop->region.lock);
}

// Helps to merge until so many chunks are merged, or the worker need not wait for them.
static void merge_until(const chad_worker_t *const worker, const int64_t target) {
  loop_t *const loop = loop_of(worker);
  pthread_mutex_lock(&loop->region.lock);
  merge_finished(worker);
  while (atomic_load_explicit(&loop->merged, memory_order_relaxed) < target &&
         !stops(worker)) {
    chad_region_doze(worker);
    merge_finished(worker);
  }
  pthread_mutex_unlock(&loop->region.lock);
}

// Until the chunk's lane is free; false if the chunk need not be run.
static bool wait_for_lane(const chad_worker_t *const worker) {
  loop_t *const loop = loop_of(worker);
  const int64_t target = worker->chunk - loop->lanes + 1;
  if (loop->merge == NULL ||
      atomic_load_explicit(&loop->merged, memory_order_acquire) >= target) {
    return true;
  }
  pthread_mutex_lock(&loop->region.lock);
  merge_finished(worker);
  pthread_mutex_unlock(&loop->region.lock);
  if (chad_comes_soon(&loop->merged, target, 0)) {
    return true;
  }
  merge_until(worker, target);
  return !stops(worker);
}

static void set_share(share_t *const share, const int64_t low, const int64_t high) {
  atomic_store_explicit(&share->left, high << 32 | low, memory_order_relaxed);
}

// The first chunk of a share, or the last one; -1 if there are no more.
static int64_t take_from(share_t *const share, const bool is_first) {
  int64_t left = atomic_load_explicit(&share->left, memory_order_relaxed);
  for (;;) {
    const int64_t low = left & UINT32_MAX;
    const int64_t high = left >> 32;
    if (low >= high) {
      return -1;
    }
    const int64_t rest = is_first ? left + 1 : left - ((int64_t)1 << 32);
    if (atomic_compare_exchange_weak_explicit(
            &share->left, &left, rest, memory_order_relaxed, memory_order_relaxed)) {
      return is_first ? low : high - 1;
    }
  }
}

// A chunk that nobody has taken, or -1.
static int64_t take(const chad_worker_t *const worker) {
  const loop_t *const loop = loop_of(worker);
  int64_t chunk = -1;
  for (int64_t offset = 0; chunk < 0 && offset < loop->share_count; ++offset) {
    const int64_t index = (worker->number + offset) % loop->share_count;
    chunk = take_from(&loop->shares[index], offset == 0);
  }
  return chunk;
}

static void run_chunk(const chad_worker_t *const worker) {
  loop_t *const loop = loop_of(worker);
  chad_job_goes_on(&loop->region.job);
  const chad_status_t status =
      loop->run(&worker->state->shared, loop->environment, worker->chunk);
  if (status != CHAD_OK) {
    fail(worker, status);
  } else if (loop->merge != NULL) {
    finish(worker);
  }
}

static void work(chad_worker_t *const worker) {
  loop_t *const loop = loop_of(worker);
  for (;;) {
    worker->chunk = take(worker);
    if (worker->chunk < 0 || chad_region_stopped(worker->region)) {
      break;
    }
    if (!is_vain(worker) && wait_for_lane(worker)) {
      run_chunk(worker);
    }
  }
  // Nothing is left to run. The last chunks may have several parts to merge.
  if (loop->merge != NULL && loop->parts > 1) {
    worker->chunk = loop->chunks;
    merge_until(worker, loop->chunks);
  }
  worker->chunk = 0;  // Whoever asks now is not told of chunks that failed.
}

static chad_status_t run_serially(chad_context_t *const context, const chad_run_t run,
                                  const chad_merge_t merge, void *const environment,
                                  const int64_t chunks, const int64_t parts) {
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const chad_status_t status = run(context, environment, chunk);
    if (status != CHAD_OK) {
      return status;
    }
    for (int64_t part = 0; merge != NULL && part < parts; ++part) {
      (void)merge(context, environment, chunk, part);
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
                            const chad_merge_t merge, void *const environment,
                            const int64_t chunks, const int64_t lanes,
                            const int64_t parts) {
  chad_state_t *const state = (chad_state_t *)context;
  const int64_t most = chunks < lanes ? chunks : lanes;
  const int64_t helpers = chad_region_helpers(state, most - 1);
  // The shares; for each lane a number; for each part a number, and whether somebody is
  // at it.
  const int64_t shares = merge != NULL ? 1 : chad_at_once(helpers + 1);
  const size_t share_bytes = (size_t)shares * sizeof(share_t);
  const size_t numbers = (size_t)lanes + (size_t)parts;
  share_t *const room =
      helpers == 0
          ? NULL
          : chad_zeroed(share_bytes + numbers * sizeof(int64_t) + (size_t)parts);
  chad_status_t status = CHAD_OK;
  if (room == NULL) {
    status = run_serially(context, run, merge, environment, chunks, parts);
  } else {
    int64_t *const finished = (int64_t *)(void *)(room + shares);
    loop_t loop = {
        .region = CHAD_REGION(state, work, is_vain),
        .run = run,
        .merge = merge,
        .environment = environment,
        .chunks = chunks,
        .lanes = lanes,
        .shares = room,
        .share_count = shares,
        .failed = chunks,
        .parts = parts,
        .turns = finished + lanes,
        .is_merging = (char *)(finished + numbers),
        .finished = finished,
    };
    for (int64_t share = 0; share < shares; ++share) {
      set_share(&room[share], chunks * share / shares, chunks * (share + 1) / shares);
    }
    status = run_loop(&loop, helpers);
    free(room);
  }
  chad_dismiss(helpers);
  return status;
}

// Whether chunks before the one of a worker may be under way.
static bool has_others(const chad_worker_t *const worker) {
  return worker != NULL && worker->region->work == work &&
         loop_of(worker)->merge != NULL;
}

chad_status_t chad_turn(chad_context_t *const context, void *const target) {
  (void)target;
  const chad_worker_t *const worker = ((chad_state_t *)context)->worker;
  if (!has_others(worker)) {
    return CHAD_OK;
  }
  merge_until(worker, worker->chunk);
  return stops(worker) ? CHAD_INTERRUPT : CHAD_OK;
}

// The next step that may add to a row. All before it have: a step stores the number
// behind it after it has waited for them and has added what it adds, which is released,
// and acquired by who finds its own number there. The sums are those of the steps in
// order.
static _Atomic int64_t *next_of(int64_t *const rows, const int64_t place) {
  return (_Atomic int64_t *)(void *)rows + place;
}

static_assert(sizeof(_Atomic int64_t) == sizeof(int64_t), "a row has one number");

chad_status_t chad_row_turn(chad_context_t *const context, int64_t *const rows,
                            const int64_t place, const int64_t step) {
  _Atomic int64_t *const next = next_of(rows, place);
  if (atomic_load_explicit(next, memory_order_acquire) >= step) {
    return CHAD_OK;
  }
  const chad_worker_t *const worker = ((chad_state_t *)context)->worker;
  if (!has_others(worker)) {
    return CHAD_OK;
  }
  const loop_t *const loop = loop_of(worker);
  // What the merge of the chunk before has seen is acquired with the number.
  while (atomic_load_explicit(&loop->merged, memory_order_acquire) < worker->chunk &&
         !chad_comes_soon(next, step, 0)) {
    if (stops(worker) || chad_poll(context) != CHAD_OK) {
      return CHAD_INTERRUPT;
    }
    chad_nap();
  }
  return CHAD_OK;
}

void chad_row_done(int64_t *const rows, const int64_t place, const int64_t step) {
  atomic_store_explicit(next_of(rows, place), step + 1, memory_order_release);
}
