// How many threads there are, many callers at once, forked children.

#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static chad_status_t square(chad_context_t *const context, void *const environment,
                            const int64_t chunk) {
  double *const out = environment;
  if (out[chunk] < 0.0) {
    context->site = (int32_t)chunk;
    return CHAD_PROGRAM;
  }
  out[chunk] *= out[chunk];
  return CHAD_OK;
}

enum { CHUNKS = 12 };

static void square_all(chad_context_t *const context) {
  double numbers[CHUNKS];
  for (int index = 0; index < CHUNKS; ++index) {
    numbers[index] = index;
  }
  CHECK(chad_parallel(context, square, NULL, numbers, CHUNKS, 8, 1) == CHAD_OK);
  for (int index = 0; index < CHUNKS; ++index) {
    CHECK(numbers[index] == (double)index * (double)index);
  }
}

static void fail_at(chad_context_t *const context, const int32_t place) {
  double numbers[CHUNKS] = {0.0};
  numbers[place] = -1.0;
  numbers[CHUNKS - 1] = -1.0;
  CHECK(chad_parallel(context, square, NULL, numbers, CHUNKS, 8, 1) == CHAD_PROGRAM);
  CHECK(context->site == place);
}

static void test_who_says_how_many(void) {
  const int64_t usual = chad_threads(NULL);
  CHECK(usual >= 1);
  const bool is_serial = chad_openmp() == 0;
  for (int64_t threads = 1; threads <= 2000; threads *= 5) {
    chad_set_threads(threads);
    const int64_t most = threads < 1024 ? threads : 1024;
    CHECK(chad_threads(NULL) == (is_serial ? 1 : most));
  }
  chad_set_threads(0);
  CHECK(chad_threads(NULL) == usual);
  chad_set_threads(-3);
  CHECK(chad_threads(NULL) == usual);
}

static void test_lanes(void) {
  chad_set_threads(3);
  const int64_t most = chad_lanes(NULL, 1000);
  CHECK(chad_openmp() == 0 ? most == 1 : most == 1 || most == 4 || most == 6);
  CHECK(chad_lanes(NULL, 0) == 0);
  CHECK(chad_lanes(NULL, 1) == 1);
  chad_set_threads(1000);
  CHECK(chad_lanes(NULL, 1000) <= 2 * sysconf(_SC_NPROCESSORS_ONLN));
}

static void *call_often(void *const argument) {
  (void)argument;
  chad_context_t *const context = new_context();
  for (int round = 0; round < 200; ++round) {
    square_all(context);
    fail_at(context, round % CHUNKS);
  }
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
  return NULL;
}

static void test_many_callers(void) {
  chad_set_threads(4);
  pthread_t callers[8];
  for (int index = 0; index < 8; ++index) {
    CHECK(pthread_create(&callers[index], NULL, call_often, NULL) == 0);
  }
  for (int index = 0; index < 8; ++index) {
    CHECK(pthread_join(callers[index], NULL) == 0);
  }
}

typedef struct count {
  _Atomic int64_t now;
  _Atomic int64_t most;
} count_t;

static chad_status_t count_threads(chad_context_t *const context,
                                   void *const environment, const int64_t chunk) {
  (void)context;
  (void)chunk;
  count_t *const count = environment;
  const int64_t now = atomic_fetch_add(&count->now, 1) + 1;
  int64_t most = atomic_load(&count->most);
  while (most < now && !atomic_compare_exchange_weak(&count->most, &most, now)) {
  }
  sched_yield();
  atomic_fetch_sub(&count->now, 1);
  return CHAD_OK;
}

static int64_t microseconds(void) {
  struct timespec time = {0, 0};
  CHECK(clock_gettime(CLOCK_MONOTONIC, &time) == 0);
  return (int64_t)time.tv_sec * 1000000 + (int64_t)time.tv_nsec / 1000;
}

static chad_status_t count_slowly(chad_context_t *const context,
                                  void *const environment, const int64_t chunk) {
  const int64_t begin = microseconds();
  do {
    CHECK(count_threads(context, environment, chunk) == CHAD_OK);
  } while (microseconds() < begin + 500);
  return CHAD_OK;
}

// While others get on, only as many work as there are cores. They do not always get on,
// where other programs have the cores. This stands in front of tests that take longer:
// LLVM's OpenMP does not bear that its threads are just beginning when a process ends.
static void test_no_more_than_cores(void) {
  chad_set_threads(16);
  chad_context_t *const context = new_context();
  int64_t least = INT64_MAX;
  for (int round = 0; round < 40 && least > sysconf(_SC_NPROCESSORS_ONLN); ++round) {
    count_t count = {0};
    CHECK(chad_parallel(context, count_slowly, NULL, &count, 128, 32, 1) == CHAD_OK);
    least = count.most < least ? count.most : least;
  }
  CHECK(least <= sysconf(_SC_NPROCESSORS_ONLN));
  chad_context_free(context);
}

static void *call_counting(void *const argument) {
  chad_context_t *const context = new_context();
  for (int round = 0; round < 50; ++round) {
    CHECK(chad_parallel(context, count_threads, NULL, argument, 20, 20, 1) == CHAD_OK);
  }
  chad_context_free(context);
  return NULL;
}

// All callers together have no more helpers than one would have.
static void test_callers_share_the_helpers(void) {
  chad_set_threads(4);
  count_t count = {0};
  pthread_t callers[4];
  for (int index = 0; index < 4; ++index) {
    CHECK(pthread_create(&callers[index], NULL, call_counting, &count) == 0);
  }
  for (int index = 0; index < 4; ++index) {
    CHECK(pthread_join(callers[index], NULL) == 0);
  }
  CHECK(count.most <= 4 + 3);
}

static void run_in_child(chad_context_t *const context) {
  CHECK(chad_threads(context) == 1);
  square_all(context);
  fail_at(context, 5);
  pthread_t caller;
  CHECK(pthread_create(&caller, NULL, call_often, NULL) == 0);
  CHECK(pthread_join(caller, NULL) == 0);
}

static void test_a_forked_child_is_serial(void) {
  chad_set_threads(4);
  chad_context_t *const context = new_context();
  square_all(context);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    run_in_child(context);
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  square_all(context);
  chad_context_free(context);
}

int main(void) {
  test_who_says_how_many();
  test_lanes();
  test_no_more_than_cores();
  test_many_callers();
  test_callers_share_the_helpers();
  test_a_forked_child_is_serial();
  return 0;
}
