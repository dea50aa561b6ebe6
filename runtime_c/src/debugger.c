// GDB's interface for code that is made while a program runs.
//
// GDB and LLDB look up the two symbols below by their names, stop at the function each
// time that it is called, and read the entry that the descriptor points at. Its object
// file tells them the lines and symbols of the code, at the addresses that its sections
// have been given. The names, the types and their order are theirs.
//
// A mutex orders the calls: entries are in a list that debuggers read as a whole.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

typedef struct chad_code {
  struct chad_code *next, *previous;
  const char *object;
  uint64_t bytes;
} chad_code_t;

typedef struct {
  uint32_t version;
  uint32_t action;  // 1: an entry was added, 2: one was taken out.
  chad_code_t *relevant, *first;
} chad_codes_t;

CHAD_API chad_codes_t __jit_debug_descriptor = {1, 0, NULL, NULL};

CHAD_API void __jit_debug_register_code(void);

// Not inlined and not empty to the compiler, so that a breakpoint here is reached.
__attribute__((noinline)) void __jit_debug_register_code(void) {
  __asm__ volatile("" ::: "memory");
}

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

static void tell(chad_code_t *entry, uint32_t action) {
  __jit_debug_descriptor.relevant = entry;
  __jit_debug_descriptor.action = action;
  __jit_debug_register_code();
  __jit_debug_descriptor.action = 0;
}

void *chad_code_describe(const void *object, int64_t bytes) {
  chad_code_t *entry = malloc(sizeof *entry + (size_t)bytes);
  if (entry == NULL) {
    return NULL;
  }
  char *copy = (char *)(entry + 1);
  memcpy(copy, object, (size_t)bytes);
  pthread_mutex_lock(&order);
  chad_codes_t *codes = &__jit_debug_descriptor;
  *entry = (chad_code_t){codes->first, NULL, copy, (uint64_t)bytes};
  if (codes->first != NULL) {
    codes->first->previous = entry;
  }
  codes->first = entry;
  tell(entry, 1);
  pthread_mutex_unlock(&order);
  return entry;
}

void chad_code_forget(void *described) {
  chad_code_t *entry = described;
  pthread_mutex_lock(&order);
  chad_code_t **link =
    entry->previous == NULL ? &__jit_debug_descriptor.first : &entry->previous->next;
  *link = entry->next;
  if (entry->next != NULL) {
    entry->next->previous = entry->previous;
  }
  tell(entry, 2);
  pthread_mutex_unlock(&order);
  free(entry);
}
