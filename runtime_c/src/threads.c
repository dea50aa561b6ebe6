// How many threads a call has, and where they come from.
//
// They are OpenMP's, for then whoever limits those (OMP_NUM_THREADS, threadpoolctl,
// workers of joblib and Dask) limits ours. OpenMP is in a library beside this one, and
// is loaded when it is first asked for; if it cannot be, there is one thread.
//
// So that many callers do not keep many times as many threads busy as there are cores,
// all calls of the process hire their helpers from one number: who finds none free runs
// serially.
//
// A forked child has none of its parent's threads, and GNU's OpenMP would wait for them.
// So a child runs serially: it is one of several processes, mostly, that share the cores.

#define _GNU_SOURCE

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "team.h"

#ifdef __APPLE__
#define LIBRARY "libchad_omp.dylib"
#else
#define LIBRARY "libchad_omp.so"
#endif

enum { PATH_SIZE = 4096 };

// OpenMP's functions; NULL where there is none.
static struct {
  int32_t (*version)(void);
  int32_t (*threads)(void);
  void (*run)(int32_t threads, void (*serve)(void));
} team;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int32_t usual;  // the threads of who has not asked OpenMP for another number
static int64_t cores;  // how many of these there are cores for

// Invariants: each of these is a number by itself, and nothing is read because of it, so
// the order of memory is relaxed. They decide which thread runs something, but are in no
// result.
static _Atomic int64_t chosen;   // by chad_set_threads; 0: nobody has
static _Atomic int64_t hired;    // helpers at work, 0 or more
static _Atomic int32_t is_child;

static void forget_team(void) {
  atomic_store_explicit(&is_child, 1, memory_order_relaxed);
  atomic_store_explicit(&hired, 0, memory_order_relaxed);
}

#ifdef _OPENMP

static void find_team(void) {
  team.version = chad_omp_version;
  team.threads = chad_omp_threads;
  team.run = chad_omp_team;
}

#else

// The library's path: it lies beside this one. False if that is too long, or unknown.
static bool library_path(char *const path) {
  Dl_info info;
  if (dladdr(&once, &info) == 0 || info.dli_fname == NULL) {
    return false;
  }
  const char *const slash = strrchr(info.dli_fname, '/');
  const int folder = slash == NULL ? 0 : (int)(slash - info.dli_fname) + 1;
  const int length =
      snprintf(path, PATH_SIZE, "%.*s%s", folder, info.dli_fname, LIBRARY);
  return length > 0 && length < PATH_SIZE;
}

// The address of a function, by way of memory: C has no cast from data to functions.
static bool find(void *const library, const char *const name, void *const function) {
  void *const address = dlsym(library, name);
  memcpy(function, &address, sizeof address);
  return address != NULL;
}

static void find_team(void) {
  char path[PATH_SIZE];
  if (!library_path(path)) {
    return;
  }
  void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == NULL || !find(library, "chad_omp_version", &team.version) ||
      !find(library, "chad_omp_threads", &team.threads) ||
      !find(library, "chad_omp_team", &team.run)) {
    team.run = NULL;
  }
}

#endif

static void *ask_team(void *const answer) {
  *(int32_t *)answer = team.threads();
  return NULL;
}

// What OpenMP says in a new thread, which nobody has told it a number for.
static int32_t usual_threads(void) {
  int32_t answer = 1;
  pthread_t thread;
  if (pthread_create(&thread, NULL, ask_team, &answer) != 0) {
    return team.threads();
  }
  (void)pthread_join(thread, NULL);
  return answer;
}

static void start(void) {
  chad_count_cores();
  find_team();
  if (team.run != NULL && pthread_atfork(NULL, NULL, forget_team) != 0) {
    team.run = NULL;
  }
  usual = team.run == NULL ? 1 : usual_threads();
  // OpenMP knows which cores this process may run on, but not for how long.
  const int64_t granted =
      getenv("OMP_NUM_THREADS") != NULL ? INT64_MAX : chad_core_limit();
  cores = granted < usual ? granted : usual;
}

int32_t chad_openmp(void) {
  pthread_once(&once, start);
  return team.run == NULL ? 0 : team.version();
}

// Who has asked OpenMP for another number than usual, as threadpoolctl does, gets no
// more than that; else what was chosen holds, even if it is more than there are cores.
static int64_t allowed(void) {
  pthread_once(&once, start);
  if (team.run == NULL || atomic_load_explicit(&is_child, memory_order_relaxed) != 0) {
    return 1;
  }
  const int64_t all = atomic_load_explicit(&chosen, memory_order_relaxed);
  const int64_t mine = team.threads();
  if (all == 0) {
    return mine == usual ? cores : mine;
  }
  return mine == usual || all < mine ? all : mine;
}

int64_t chad_threads(const chad_context_t *const context) {
  const chad_state_t *const state = (const chad_state_t *)context;
  const bool is_one =
      state != NULL && (state->worker != NULL || state->source.take != NULL);
  return is_one ? 1 : allowed();
}

void chad_set_threads(const int64_t threads) {
  const int64_t most = CHAD_MOST_THREADS;
  const int64_t sane = threads < 0 ? 0 : threads > most ? most : threads;
  atomic_store_explicit(&chosen, sane, memory_order_relaxed);
}

int64_t chad_hire(const int64_t threads, const int64_t wanted) {
  int64_t before = atomic_load_explicit(&hired, memory_order_relaxed);
  for (;;) {
    const int64_t there = threads - 1 - before;
    const int64_t helpers = there < wanted ? there : wanted;
    if (helpers <= 0) {
      return 0;
    }
    if (atomic_compare_exchange_weak_explicit(&hired, &before, before + helpers,
                                              memory_order_relaxed,
                                              memory_order_relaxed)) {
      return helpers;
    }
  }
}

void chad_dismiss(const int64_t helpers) {
  atomic_fetch_sub_explicit(&hired, helpers, memory_order_relaxed);
}

int64_t chad_hired(void) {
  return atomic_load_explicit(&hired, memory_order_relaxed);
}

void chad_team(const int64_t threads, void (*const serve)(void)) {
  team.run((int32_t)threads, serve);
}
