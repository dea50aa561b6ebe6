// A stack of our own for programs that call themselves.
//
// The stack of a thread is as large as somebody else has decided, and to overflow it is
// to be killed. So programs that recurse run on a stack of the runtime's: one for each
// thread, made at the first such call and kept until the thread ends. Address space is
// all that it takes: pages are used as the program goes deeper. What a very deep call has
// used is given back behind it; as much as threads have of their own stays, for to use
// pages anew may take longer than the calls that are on them.
//
//   base                          base + size - KEPT    soft             base + size
//   | for the runtime |                     |             |                       |
//   hard limit        ^ RECURSION here      ^ behind a call, all below is given back
//
// Generated code compares its frame with `stack_limit` of the context, which is the soft
// limit first. A call that goes beyond is given as much again as it has used, down to
// the hard limit, as long as all threads together have no more than a part of memory.
//
// Whoever a poll asks may run anything, and may look at the stack it is on, as Python
// does. So the question is asked on the thread's own stack: the call is left for it.

// Where there are no such stacks, or with -DCHAD_OWN_STACK, programs recurse on the stack
// of their thread, and no deeper than CHAD_OWN_STACK bytes.

#define _GNU_SOURCE

#include "internal.h"

#if defined(__wasm__) && !defined(CHAD_OWN_STACK)
#define CHAD_OWN_STACK (32 << 10)  // Linkers give programs 64.
#elif defined(_WIN32) && !defined(CHAD_OWN_STACK)
#define CHAD_OWN_STACK (256 << 10)  // Of 1024.
#endif

#ifdef CHAD_OWN_STACK

int32_t chad_deep_ask(chad_context_t *const context,
                      int32_t (*const callback)(void *user), void *const user) {
  (void)context;
  return callback(user);
}

chad_status_t chad_deep(chad_context_t *const context,
                        chad_status_t (*const run)(chad_context_t *, void *),
                        void *const argument) {
  if (context->stack_limit != NULL) {
    return run(context, argument);
  }
  char here = 0;
  context->stack_limit = (char *)((uintptr_t)&here - (uintptr_t)CHAD_OWN_STACK);
  context->fuel = 0;
  const chad_status_t status = run(context, argument);
  context->stack_limit = NULL;
  return status;
}

chad_status_t chad_deeper(chad_context_t *const context, const char *const frame) {
  (void)context;
  (void)frame;
  return CHAD_RECURSION;
}

#else

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

static const size_t LARGEST = (size_t)1 << 30;
static const size_t SMALLEST = (size_t)1 << 22;
static const size_t SOFT = (size_t)1 << 18;
static const size_t KEPT = (size_t)8 << 20;
static const size_t RESERVE = (size_t)1 << 16;

// Below this nobody needs to ask how much memory there is.
static const int64_t SURELY_THERE = (int64_t)64 << 20;

typedef struct deep {
  char *base;
  size_t size;
  ucontext_t here;   // the thread's own stack, while `context` is not NULL
  ucontext_t there;  // this one
  chad_context_t *context;
  chad_status_t (*run)(chad_context_t *context, void *argument);
  void *argument;
  chad_status_t status;
  int64_t taken;  // bytes below the soft limit that the call may use
  int32_t asks;  // the call wants to know whether to stop; else it is over
  int32_t (*callback)(void *user);  // whom it asks
  void *user;
  int32_t answer;
} deep_t;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int key_error;

static void deep_free(void *const stack) {
  deep_t *const deep = stack;
  if (deep->base != NULL) {
    munmap(deep->base, deep->size);
  }
  free(deep);
}

// Invariant: the sum of `taken` over all threads. Each adds and takes away what is its
// own, and nothing else is read because of it, so the order of memory is relaxed. What
// it comes to may refuse a call that is too deep, but is in no result.
static _Atomic int64_t all_taken;

// The threads that a child does not have take nothing.
static void forget_threads(void) {
  atomic_store_explicit(&all_taken, 0, memory_order_relaxed);
}

static void make_key(void) {
  key_error = pthread_key_create(&key, deep_free);
  if (key_error == 0) {
    key_error = pthread_atfork(NULL, NULL, forget_threads);
  }
}

static void give_back(deep_t *const deep, const int64_t bytes) {
  deep->taken -= bytes;
  atomic_fetch_sub_explicit(&all_taken, bytes, memory_order_relaxed);
}

// Whether the call may use so many bytes more. The memory of calls may be three quarters
// of what there is; the stacks of all threads are an eighth.
static bool take(deep_t *const deep, const int64_t bytes) {
  deep->taken += bytes;
  const int64_t all =
      atomic_fetch_add_explicit(&all_taken, bytes, memory_order_relaxed) + bytes;
  if (all <= SURELY_THERE || all <= chad_default_limit() / 6) {
    return true;
  }
  give_back(deep, bytes);
  return false;
}

// The stack of this thread, or NULL if there is no memory for one.
static deep_t *deep_here(void) {
  pthread_once(&once, make_key);
  if (key_error != 0) {
    return NULL;
  }
  deep_t *deep = pthread_getspecific(key);
  if (deep != NULL) {
    return deep;
  }
  deep = chad_zeroed(sizeof(deep_t));
  if (deep == NULL) {
    return NULL;
  }
  for (size_t size = LARGEST; size >= SMALLEST; size /= 2) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *const base = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (base != MAP_FAILED) {
      deep->base = base;
      deep->size = size;
      break;
    }
  }
  if (deep->base == NULL || pthread_setspecific(key, deep) != 0) {
    deep_free(deep);
    return NULL;
  }
  return deep;
}

// Behind a call: gives back what lies deeper than KEPT.
static void deep_settle(deep_t *const deep, const char *const limit) {
  if (deep->taken == 0) {
    return;
  }
  const size_t reached = (size_t)(limit - deep->base);
  if (deep->size > KEPT && reached < deep->size - KEPT) {
    madvise(deep->base, deep->size - KEPT, MADV_DONTNEED);
  }
  give_back(deep, deep->taken);
}

// What the new stack begins with. The halves of the address are put together again, for
// makecontext hands on integers only.
static void deep_main(const unsigned high, const unsigned low) {
  deep_t *const deep =
      (deep_t *)(void *)(uintptr_t)(((uint64_t)high << 32) | (uint64_t)low);
#if defined(__SANITIZE_ADDRESS__)
  const void *bottom = NULL;
  size_t size = 0;
  __sanitizer_finish_switch_fiber(NULL, &bottom, &size);
  deep->here.uc_stack.ss_sp = (void *)(uintptr_t)bottom;
  deep->here.uc_stack.ss_size = size;
#endif
  deep->status = deep->run(deep->context, deep->argument);
  deep->asks = 0;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(NULL, deep->here.uc_stack.ss_sp,
                                 deep->here.uc_stack.ss_size);
#endif
}

static void deep_switch(deep_t *const deep, ucontext_t *const from,
                        ucontext_t *const to) {
#if defined(__SANITIZE_ADDRESS__)
  void *fake = NULL;
  const int inwards = to == &deep->there;
  __sanitizer_start_switch_fiber(
      &fake, inwards ? (void *)deep->base : deep->here.uc_stack.ss_sp,
      inwards ? deep->size : deep->here.uc_stack.ss_size);
#else
  (void)deep;
#endif
  swapcontext(from, to);
#if defined(__SANITIZE_ADDRESS__)
  const void *bottom = NULL;
  size_t size = 0;
  __sanitizer_finish_switch_fiber(fake, &bottom, &size);
  if (!inwards) {
    deep->here.uc_stack.ss_sp = (void *)(uintptr_t)bottom;
    deep->here.uc_stack.ss_size = size;
  }
#endif
}

int32_t chad_deep_ask(chad_context_t *const context,
                      int32_t (*const callback)(void *user), void *const user) {
  deep_t *const deep = context->stack_limit == NULL ? NULL : pthread_getspecific(key);
  if (deep == NULL || deep->context != context) {
    return callback(user);
  }
  deep->asks = 1;
  deep->callback = callback;
  deep->user = user;
  deep_switch(deep, &deep->there, &deep->here);
  return deep->answer;
}

// Runs the call on the stack of this thread, which is free.
static void deep_run(deep_t *const deep) {
  getcontext(&deep->there);
  deep->there.uc_stack.ss_sp = deep->base;
  deep->there.uc_stack.ss_size = deep->size;
  deep->there.uc_link = &deep->here;
  const uint64_t address = (uint64_t)(uintptr_t)deep;
  // A function of another type than makecontext's, which is the way POSIX wants it.
  makecontext(&deep->there, (void (*)(void))deep_main, 2, (unsigned)(address >> 32),
              (unsigned)address);
  do {
    deep->asks = 0;
    deep_switch(deep, &deep->here, &deep->there);
    if (deep->asks != 0) {
      deep->answer = deep->callback(deep->user);
    }
  } while (deep->asks != 0);
}

chad_status_t chad_deep(chad_context_t *const context,
                        chad_status_t (*const run)(chad_context_t *, void *),
                        void *const argument) {
  if (context->stack_limit != NULL) {
    return run(context, argument);
  }
  deep_t *const deep = deep_here();
  if (deep == NULL) {
    return CHAD_MEMORY;
  }
  if (deep->context != NULL) {
    // A call out of what a poll has asked: here there is no stack but the thread's own.
    return CHAD_RECURSION;
  }
  context->stack_limit = deep->base + deep->size - SOFT;
  context->fuel = 0;
  deep->context = context;
  deep->run = run;
  deep->argument = argument;
  deep_run(deep);
  deep_settle(deep, context->stack_limit);
  context->stack_limit = NULL;
  deep->context = NULL;
  return deep->status;
}

chad_status_t chad_deeper(chad_context_t *const context, const char *const frame) {
  deep_t *const deep = pthread_getspecific(key);
  char *const hard = deep->base + RESERVE;
  const int64_t used = deep->base + deep->size - frame;
  if (frame <= hard) {
    return CHAD_RECURSION;
  }
  char *const limit = frame - hard > used ? context->stack_limit - used : hard;
  if (!take(deep, context->stack_limit - limit)) {
    return CHAD_RECURSION;
  }
  context->stack_limit = limit;
  return CHAD_OK;
}

#endif
