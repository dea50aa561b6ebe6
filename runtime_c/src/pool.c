// The helpers: threads that wait for work and are there until the process ends.
//
// They are members of OpenMP teams that never end. To open a team for each region would
// be simpler, but its caller would wait, at the end, for every member, also for one that
// has had no core yet; members would wait for the next team busily; and each thread that
// calls would get a team of its own. Here a job is offered, whoever is free joins, and
// who has not joined when it is over never will.
//
// All of this is read and written under one lock. A thread that joins a job has had the
// lock after the one that has offered it, so it sees what that has written.

#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "internal.h"

// How long all who are at a job take for a piece if they are stuck, in nanoseconds.
static const long LONG = 50000000;
static const long SECOND = 1000000000;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t offered = PTHREAD_COND_INITIALIZER;
static chad_job_t *jobs;  // those that others may join
static int64_t members;   // that have been asked for
static int64_t lookers;   // that look for a job without the lock
static int64_t working;   // that have joined one
static int64_t reserves;  // that have seen one, and have no core

// How often a job was offered. A looker takes the lock when it sees it change, so the
// order of memory is of no matter.
static _Atomic int64_t offers;

static void remove_job(const chad_job_t *const job) {
  chad_job_t **link = &jobs;
  while (*link != NULL && *link != job) {
    link = &(*link)->next;
  }
  if (*link != NULL) {
    *link = job->next;
  }
}

// One more is wanted. Lookers come by themselves, and see to it that more do.
static void call_helper(void) {
  if (lookers == 0) {
    pthread_cond_signal(&offered);
  }
}

// Nothing to do: waits for a job, awake at first, for loops follow each other. The lock
// is held, but not meanwhile.
static void rest(void) {
  const int64_t next = atomic_load_explicit(&offers, memory_order_relaxed) + 1;
  const int64_t idle = ++lookers;
  pthread_mutex_unlock(&lock);
  const bool came = chad_comes_soon(&offers, next, idle);
  pthread_mutex_lock(&lock);
  --lookers;
  if (!came && jobs == NULL) {
    pthread_cond_wait(&offered, &lock);
  }
}

static int64_t pieces_of(const chad_job_t *const job) {
  return atomic_load_explicit(&job->pieces, memory_order_relaxed);
}

// There is a job, but no core: to join would take one from those at work, and each thread
// that waits for a core in the middle of a piece keeps others waiting for it. So it
// waits as long as they get on; the lock is held, but not meanwhile. True if they do
// not, for they may wait for whoever is not there.
static bool is_stuck(void) {
  const chad_job_t *const job = jobs;
  const int64_t before = pieces_of(job);
  struct timespec until = {0, 0};
  (void)clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += LONG;
  until.tv_sec += until.tv_nsec / SECOND;
  until.tv_nsec %= SECOND;
  ++reserves;
  const bool waited = pthread_cond_timedwait(&offered, &lock, &until) != 0;
  --reserves;
  return waited && jobs == job && pieces_of(job) == before;
}

// Whether to join a job now, if there is one.
static bool is_needed(void) { return working + 1 < chad_cores() || is_stuck(); }

// What each helper does. Who joins calls the next, if one more is wanted.
static void serve(void) {
  pthread_mutex_lock(&lock);
  for (;;) {
    if (jobs == NULL) {
      rest();
      continue;
    }
    if (!is_needed() || jobs == NULL) {
      continue;
    }
    chad_job_t *const job = jobs;
    const int64_t number = ++job->joined;
    if (number == job->wanted) {
      remove_job(job);
    }
    ++working;
    if (jobs != NULL && reserves == 0) {
      call_helper();
    }
    pthread_mutex_unlock(&lock);
    job->help(job, number);
    pthread_mutex_lock(&lock);
    --working;
  }
}

static void *host(void *const count) {
  chad_team((int64_t)(intptr_t)count, serve);
  return NULL;
}

// A thread that hosts a team of so many, itself included. Signals are for others.
static bool start_team(const int64_t count) {
  sigset_t all;
  sigset_t before;
  (void)sigfillset(&all);
  pthread_t thread;
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(&thread, NULL, host, (void *)(intptr_t)count) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started && pthread_detach(thread) == 0;
}

void chad_job_offer(chad_job_t *const job, const int64_t wanted) {
  const int64_t all = chad_hired();
  pthread_mutex_lock(&lock);
  if (members < all && start_team(all - members)) {
    members = all;
  }
  job->wanted = wanted;
  job->joined = 0;
  job->next = jobs;
  jobs = job;
  atomic_fetch_add_explicit(&offers, 1, memory_order_relaxed);
  call_helper();
  pthread_mutex_unlock(&lock);
}

int64_t chad_job_close(chad_job_t *const job) {
  pthread_mutex_lock(&lock);
  remove_job(job);
  pthread_mutex_unlock(&lock);
  return job->joined;
}
