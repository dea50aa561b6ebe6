// Waiting without sleep, for what comes within microseconds: to be woken takes tens of
// them. Who waits so keeps a core busy, and it must not be the one that whoever is waited
// for needs. So it is done for long only while there is a core for each thread that is
// busy here; what else runs on the machine is not known.

#define _GNU_SOURCE

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

// Looks that are always taken, and those between two looks at the clock.
enum { FIRST_LOOKS = 200, LOOKS = 64 };

// How long somebody looks then, in nanoseconds: about twice what a sleep costs.
static const int64_t PATIENCE = 100000;
static const int64_t SECOND = 1000000000;

// How many work in regions, leaders and helpers.
//
// Invariant: a number by itself that decides who sleeps, and is in no result, so that
// the order of memory is relaxed.
static _Atomic int64_t busy;

void chad_busy(const int64_t more) {
  atomic_fetch_add_explicit(&busy, more, memory_order_relaxed);
}

// Those that this process may run on; written once, before there are helpers.
static int64_t core_count = 1;

void chad_count_cores(void) {
#ifdef CPU_COUNT
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    core_count = (int64_t)CPU_COUNT(&set);
    return;
  }
#endif
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  core_count = online > 0 ? (int64_t)online : 1;
}

int64_t chad_cores(void) { return core_count; }

static int64_t now(void) {
  struct timespec time = {0, 0};
  return clock_gettime(CLOCK_MONOTONIC, &time) != 0
             ? INT64_MAX
             : (int64_t)time.tv_sec * SECOND + (int64_t)time.tv_nsec;
}

// Lets the core do something else for some cycles.
static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

static bool is_there(_Atomic int64_t *const number, const int64_t target,
                     const int64_t looks) {
  for (int64_t look = 0; look < looks; ++look) {
    if (atomic_load_explicit(number, memory_order_acquire) >= target) {
      return true;
    }
    relax();
  }
  return false;
}

// Whether all that are busy, and these, have a core.
static bool has_cores(const int64_t idle) {
  const int64_t working = atomic_load_explicit(&busy, memory_order_relaxed);
  return (working > 1 ? working : 1) + idle <= core_count;
}

bool chad_comes_soon(_Atomic int64_t *const number, const int64_t target,
                     const int64_t idle) {
  if (is_there(number, target, FIRST_LOOKS)) {
    return true;
  }
  if (!has_cores(idle)) {
    return false;
  }
  const int64_t start = now();
  while (now() - start < PATIENCE) {
    if (is_there(number, target, LOOKS)) {
      return true;
    }
  }
  return false;
}

void chad_nap(void) {
  const struct timespec time = {0, (long)PATIENCE};
  (void)nanosleep(&time, NULL);
}
