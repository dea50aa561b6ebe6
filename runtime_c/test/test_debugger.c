// What debuggers are told of code in memory.

#include <stdlib.h>
#include <string.h>

#include "check.h"

// What GDB declares of its interface.
typedef struct entry {
  struct entry *next, *previous;
  const char *object;
  uint64_t bytes;
} entry_t;
typedef struct {
  uint32_t version, action;
  entry_t *relevant, *first;
} descriptor_t;
extern descriptor_t __jit_debug_descriptor;

static int64_t length(void) {
  int64_t count = 0;
  const entry_t *before = NULL;
  for (const entry_t *e = __jit_debug_descriptor.first; e != NULL; e = e->next) {
    CHECK(e->previous == before);
    before = e;
    ++count;
  }
  return count;
}

int main(void) {
  CHECK(__jit_debug_descriptor.version == 1 && length() == 0);
  char object[] = "an object";
  void *const one = chad_code_describe(object, sizeof object);
  object[0] = 'x';  // It is a copy that is told.
  void *const two = chad_code_describe(object, sizeof object);
  void *const three = chad_code_describe(object, 1);
  CHECK(one != NULL && two != NULL && three != NULL && length() == 3);
  const entry_t *const last = __jit_debug_descriptor.first;
  CHECK(last == three && last->bytes == 1 && last->object[0] == 'x');
  CHECK(strcmp(((const entry_t *)one)->object, "an object") == 0);
  chad_code_forget(two);
  CHECK(length() == 2 && __jit_debug_descriptor.action == 0);
  chad_code_forget(three);
  CHECK(__jit_debug_descriptor.first == one);
  chad_code_forget(one);
  CHECK(length() == 0);
  return 0;
}
