// Parallel regions: the caller of one, its leader, and helpers do the same work, each
// with a context of its own, until there is no more. What the work is (chunks of a loop
// in parallel.c, branches of a recursion in both.c) is a struct that begins with this.
//
// All of it is read and written under its lock, but for what is _Atomic, and `job`, which
// is the pool's. The leader leaves when nobody can join any more and all who have joined
// have left, so the region may lie in its frame.

#ifndef CHAD_REGION_H
#define CHAD_REGION_H

#include <pthread.h>

#include "internal.h"

typedef struct chad_region chad_region_t;

// A context at work in a region.
typedef struct chad_worker {
  chad_region_t *region;
  chad_state_t *state;
  bool is_leader;
  int64_t number;                    // 0 is the leader, then in the order of joining
  int64_t chunk;                     // that it runs
  const struct chad_branch *branch;  // that it runs; NULL: what the leader began with
  int64_t depth;                     // the pairs that it is within
  int32_t (*callback)(void *user);   // the leader's own
  void *user;
} chad_worker_t;

struct chad_region {
  chad_job_t job;
  chad_state_t *leader;
  void (*work)(chad_worker_t *worker);
  // Whether what a worker is at need not be finished.
  bool (*is_vain)(const chad_worker_t *worker);
  pthread_mutex_t lock;
  pthread_cond_t changed;  // anything that somebody may wait for

  // Whether the caller wants to stop. It is a number by itself, and to see it late costs
  // time, nothing else: the order of memory is relaxed.
  _Atomic int32_t stopped;

  // Helpers that have left. The leader may look at it without the lock, but takes the
  // lock before it goes on, which orders memory.
  _Atomic int64_t left;

  chad_account_t account;
};

// For the fields that do not depend on the kind of region.
#define CHAD_REGION(the_leader, the_work, is_in_vain) \
  {.leader = (the_leader),                            \
   .work = (the_work),                                \
   .is_vain = (is_in_vain),                           \
   .lock = PTHREAD_MUTEX_INITIALIZER,                 \
   .changed = PTHREAD_COND_INITIALIZER}

// Hires helpers for the context, as many as `wanted` or fewer. Returns how many there
// are; after chad_region_close, or without a region, they are to be dismissed.
int64_t chad_region_helpers(chad_state_t *state, int64_t wanted);

// From now on so many helpers do the work, or fewer if they come too late. The leader
// becomes `leader`, and is to do the work, too.
void chad_region_open(chad_region_t *region, chad_worker_t *leader, int64_t helpers);

// The leader has done what there is to do; waits for the helpers.
void chad_region_close(chad_region_t *region, chad_worker_t *leader);

// Sleeps, with the lock, until something has changed, or for no reason. The leader looks
// for interrupts now and then, without the lock.
void chad_region_doze(const chad_worker_t *worker);

// Something has changed; the lock is held.
static inline void chad_region_wake(chad_region_t *const region) {
  pthread_cond_broadcast(&region->changed);
}

static inline bool chad_region_stopped(const chad_region_t *const region) {
  return atomic_load_explicit(&region->stopped, memory_order_relaxed) != 0;
}

// What a context holds of an error.
static inline void chad_copy_error(chad_context_t *const to,
                                   const chad_context_t *const from) {
  to->site = from->site;
  for (int index = 0; index < 8; ++index) {
    to->values[index] = from->values[index];
  }
}

#endif
