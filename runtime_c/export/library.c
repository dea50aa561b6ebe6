// What the functions of an exported library have in common. It stands behind the runtime
// and in front of the functions, in one file.
//
// A call has a state of the runtime: that of the memory it was given, or its own, on the
// stack of the caller. There is nothing else that changes.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "library.h"

// A place where a program may fail, and what it says there.
typedef struct chad_lib_site {
  int32_t status;
  int32_t line;
  const char *file;
  const char *function;
  const char *kind;
  const char *message;  // `{0}` stands for the first of the values
  const char *values;   // a letter for each: i, d or b
} chad_lib_site;

struct library_memory {
  chad_state_t state;
  library_hooks hooks;
  char *base;    // of the workspace behind this; NULL if there is none
  size_t size;
  size_t cursor;
  size_t floor;  // what stands below it lasts as long as the call
  bool refused;  // the workspace was too small
};

// --- Errors ------------------------------------------------------------------------

static int32_t chad_lib_error_at(library_error *const error, const int32_t status,
                                const char *const function, const char *const kind,
                                const char *const message) {
  if (error != NULL) {
    error->status = status;
    error->line = 0;
    error->file = "";
    error->function = function;
    error->kind = kind;
    (void)snprintf(error->message, sizeof error->message, "%s", message);
  }
  return status;
}

// An argument that does not fit: `what` says why.
static int32_t chad_lib_invalid(library_error *const error, const char *const function,
                               const char *const name, const char *const what) {
  (void)chad_lib_error_at(error, LIBRARY_INVALID, function, "ValueError", "");
  if (error != NULL) {
    (void)snprintf(error->message, sizeof error->message, "%s %s", name, what);
  }
  return LIBRARY_INVALID;
}

// The shortest text of a number that is read as the same number.
static int chad_lib_number(char *const text, const size_t size, const double value) {
  int length = 0;
  for (int digits = 1; digits <= 17; ++digits) {
    length = snprintf(text, size, "%.*g", digits, value);
    if (strtod(text, NULL) == value) {
      break;
    }
  }
  return length;
}

static int chad_lib_value(char *const text, const size_t size, const char kind,
                         const int64_t word) {
  if (kind == 'd') {
    double value = 0.0;
    memcpy(&value, &word, sizeof value);
    return chad_lib_number(text, size, value);
  }
  if (kind == 'b') {
    return snprintf(text, size, "%s", word != 0 ? "True" : "False");
  }
  return snprintf(text, size, "%lld", (long long)word);
}

// The message of a site with the values of the failure in it.
static void chad_lib_message(char *const out, const size_t size,
                            const chad_lib_site *const site,
                            const int64_t *const values) {
  size_t at = 0;
  const size_t count = strlen(site->values);
  for (const char *c = site->message; *c != '\0' && at + 1 < size; ++c) {
    const size_t index = c[0] == '{' ? (size_t)(c[1] - '0') : 8;
    if (c[0] == '{' && index < 8 && index < count && c[2] == '}') {
      char text[32];
      (void)chad_lib_value(text, sizeof text, site->values[index], values[index]);
      at += (size_t)snprintf(out + at, size - at, "%s", text);
      at = at < size ? at : size - 1;
      c += 2;
      continue;
    }
    c += (c[0] == '{' || c[0] == '}') && c[1] == c[0] ? 1 : 0;
    out[at++] = *c;
  }
  out[at] = '\0';
}

// A call that did not succeed: what the status means, for the caller.
static int32_t chad_lib_failed(library_error *const error, const chad_state_t *const state,
                              const library_memory *const memory, const int32_t status,
                              const char *const function,
                              const chad_lib_site *const sites) {
  if (status == CHAD_PROGRAM) {
    const chad_lib_site *const site = &sites[state->shared.site];
    (void)chad_lib_error_at(error, site->status, site->function, site->kind, "");
    if (error != NULL) {
      error->line = site->line;
      error->file = site->file;
      chad_lib_message(error->message, sizeof error->message, site,
                      state->shared.values);
    }
    return site->status;
  }
  if (status == CHAD_MEMORY && memory != NULL && memory->refused) {
    return chad_lib_error_at(error, LIBRARY_NO_ROOM, function, "MemoryError",
                            "the workspace is too small");
  }
  if (status == CHAD_MEMORY) {
    return chad_lib_error_at(error, LIBRARY_NO_MEMORY, function, "MemoryError",
                            "the system or the limit refused an allocation");
  }
  if (status == CHAD_RECURSION) {
    return chad_lib_error_at(error, LIBRARY_TOO_DEEP, function, "RecursionError",
                            "too many nested calls");
  }
  return chad_lib_error_at(error, LIBRARY_STOPPED, function, "KeyboardInterrupt",
                          "stopped on request");
}

// --- Memory ------------------------------------------------------------------------

// From hooks: blocks of any alignment, so one has room for the address it begins at.
static void *chad_lib_hook_take(void *const owner, const int64_t size) {
  const library_hooks *const hooks = owner;
  const size_t whole = (size_t)size + CHAD_ALIGNMENT + sizeof(void *);
  char *const block = hooks->alloc(hooks->user, whole);
  if (block == NULL) {
    return NULL;
  }
  const uintptr_t first = (uintptr_t)block + sizeof(void *) + CHAD_ALIGNMENT - 1;
  char *const start = block + (first / CHAD_ALIGNMENT * CHAD_ALIGNMENT -
                               (uintptr_t)block);
  memcpy(start - sizeof(void *), &block, sizeof(void *));
  return start;
}

static void chad_lib_hook_give(void *const owner, void *const memory,
                              const int64_t size) {
  const library_hooks *const hooks = owner;
  char *block = NULL;
  memcpy(&block, (char *)memory - sizeof(void *), sizeof(void *));
  if (hooks->free != NULL) {
    hooks->free(hooks->user, block, (size_t)size + CHAD_ALIGNMENT + sizeof(void *));
  }
}

// From a workspace: one piece behind the other.
static void *chad_lib_room_take(void *const owner, const int64_t size) {
  library_memory *const memory = owner;
  if ((size_t)size > memory->size - memory->cursor) {
    memory->refused = true;
    return NULL;
  }
  char *const start = memory->base + memory->cursor;
  memory->cursor += (size_t)size;
  return start;
}

static void chad_lib_room_give(void *const owner, void *const memory,
                              const int64_t size) {
  (void)owner;
  (void)memory;
  (void)size;
}

// Counts only. Nobody writes far into memory that is asked for to be counted, so there
// need not be all of it.
enum { CHAD_LIB_SAMPLE = 1 << 20 };

static void *chad_lib_count_take(void *const owner, const int64_t size) {
  int64_t *const total = owner;
  *total += size;
  const int64_t most = size < CHAD_LIB_SAMPLE ? size : CHAD_LIB_SAMPLE;
#ifdef _WIN32
  return _aligned_malloc((size_t)most, CHAD_ALIGNMENT);
#else
  return aligned_alloc(CHAD_ALIGNMENT, (size_t)most);
#endif
}

static void chad_lib_count_give(void *const owner, void *const memory,
                               const int64_t size) {
  (void)owner;
  (void)size;
#ifdef _WIN32
  _aligned_free(memory);
#else
  free(memory);
#endif
}

// All that a state holds is given back, or forgotten where it stands in a workspace.
static void chad_lib_empty(chad_state_t *const state) {
  for (int64_t child = 0; child < state->child_count; ++child) {
    chad_context_free(&state->children[child]->shared);
  }
  free(state->children);
  state->children = NULL;
  state->child_count = 0;
  chad_results_discard(&state->shared);
  chad_trim(state, 0);
}

static void chad_lib_renew(library_memory *const memory) {
  chad_lib_empty(&memory->state);
  memory->cursor = memory->floor;
  memory->refused = false;
}

// The state of a call: that of its memory, with nothing in it of the call before.
static inline chad_state_t *chad_lib_begin(library_memory *const memory,
                                          chad_state_t *const own) {
  if (memory == NULL) {
    memset(own, 0, sizeof *own);
    own->limit = -1;
    own->most_kept = CHAD_MOST_KEPT;
    return own;
  }
  if (memory->base != NULL) {
    memory->floor = 0;
    chad_lib_renew(memory);
  } else if (memory->state.results != NULL) {
    chad_results_discard(&memory->state.shared);
  }
  return &memory->state;
}

// The same of a call that asks for no memory: it only looks whether to stop.
static inline chad_state_t *chad_lib_begin_light(library_memory *const memory,
                                                 chad_state_t *const own) {
  if (memory != NULL) {
    return &memory->state;
  }
  own->callback = NULL;
  return own;
}

// A call from Python: arrays are the addresses of NumPy's objects, as in the entries that
// compiled functions have there. Where their parts are is told by who calls.
typedef struct chad_lib_call {
  library_memory *memory;
  const char *types[5];  // the class of arrays, and the dtypes of what they hold
  int64_t head;          // where the fields of an object begin
  int32_t plain;         // the flags of an array that is as it has to be
  int32_t site;          // where the program failed, or -1
  int64_t values[8];     // what the message about that shows
  library_error error;
} chad_lib_call;

enum { CHAD_TYPE_F64 = 1, CHAD_TYPE_F32, CHAD_TYPE_I64, CHAD_TYPE_BOOL };

static inline const char *chad_lib_field(const chad_lib_call *const call,
                                         const intptr_t object, const int64_t offset) {
  const char *field = NULL;
  memcpy(&field, (const char *)object + call->head + offset, sizeof field);
  return field;
}

static inline int32_t chad_lib_number_in(const chad_lib_call *const call,
                                         const intptr_t object, const int64_t offset) {
  int32_t number = 0;
  memcpy(&number, (const char *)object + call->head + offset, sizeof number);
  return number;
}

// Whether an object is an array of these elements, contiguous and aligned. The class
// stands before the rest: what another class keeps there is unknown.
static inline bool chad_lib_is_plain(const chad_lib_call *const call,
                                     const intptr_t object, const int type,
                                     const int32_t rank) {
  return chad_lib_field(call, object, -8) == call->types[0] &&
         chad_lib_field(call, object, 40) == call->types[type] &&
         chad_lib_number_in(call, object, 8) == rank &&
         (chad_lib_number_in(call, object, 48) & call->plain) == call->plain;
}

static inline const void *chad_lib_items(const chad_lib_call *const call,
                                         const intptr_t object) {
  return chad_lib_field(call, object, 0);
}

static inline int64_t chad_lib_size(const chad_lib_call *const call,
                                    const intptr_t object, const int axis) {
  int64_t size = 0;
  memcpy(&size, chad_lib_field(call, object, 16) + axis * 8, sizeof size);
  return size;
}

// What is to be known of a failure.
static inline void chad_lib_note(chad_lib_call *const call,
                                 const chad_state_t *const state) {
  call->site = state->shared.site;
  memcpy(call->values, state->shared.values, sizeof call->values);
}

// The end of a call; what it returns stays in its memory.
static inline int32_t chad_lib_end(library_memory *const memory, chad_state_t *const own,
                                  const int32_t status) {
  if (memory == NULL &&
      (own->results != NULL || own->kept > 0 || own->child_count > 0)) {
    chad_lib_empty(own);
  }
  return status;
}

// Behind a failure the program runs again, in a form that finds the first error.
static inline void chad_lib_again(library_memory *const memory, chad_state_t *const state) {
  state->shared.site = -1;
  if (memory != NULL && memory->base != NULL) {
    chad_lib_renew(memory);
  } else {
    chad_results_discard(&state->shared);
  }
}

int32_t library_memory_open(const int64_t interface, const library_hooks *const hooks,
                            library_memory **const memory) {
  if (memory == NULL) {
    return LIBRARY_INVALID;
  }
  *memory = NULL;
  if (interface != LIBRARY_INTERFACE) {
    return LIBRARY_MISMATCH;
  }
  const bool own = hooks == NULL || hooks->alloc == NULL;
  library_memory *const made = own ? malloc(sizeof *made)
                                   : hooks->alloc(hooks->user, sizeof *made);
  if (made == NULL) {
    return LIBRARY_NO_MEMORY;
  }
  memset(made, 0, sizeof *made);
  made->state.limit = -1;
  made->state.most_kept = CHAD_MOST_KEPT;
  if (hooks != NULL) {
    made->hooks = *hooks;
    made->state.limit = hooks->limit > 0 ? hooks->limit : -1;
    made->state.is_limited = hooks->limit > 0;
    made->state.callback = hooks->stop;
    made->state.user = hooks->user;
  }
  if (!own) {
    made->state.source =
        (chad_source_t){chad_lib_hook_take, chad_lib_hook_give, &made->hooks};
  }
  *memory = made;
  return LIBRARY_OK;
}

// Where a memory and the rest of a workspace begin.
enum { CHAD_LIB_SLACK = CHAD_ALIGNMENT - 1 };

static size_t chad_lib_head(void) {
  return (sizeof(library_memory) + CHAD_ALIGNMENT - 1) / CHAD_ALIGNMENT * CHAD_ALIGNMENT;
}

int32_t library_memory_in(const int64_t interface, void *const workspace,
                          const size_t bytes, library_memory **const memory) {
  if (memory == NULL || workspace == NULL) {
    return LIBRARY_INVALID;
  }
  *memory = NULL;
  if (interface != LIBRARY_INTERFACE) {
    return LIBRARY_MISMATCH;
  }
  const size_t skip = (CHAD_ALIGNMENT - (uintptr_t)workspace % CHAD_ALIGNMENT) %
                      CHAD_ALIGNMENT;
  if (bytes < skip + chad_lib_head()) {
    return LIBRARY_NO_ROOM;
  }
  library_memory *const made = (library_memory *)(void *)((char *)workspace + skip);
  memset(made, 0, sizeof *made);
  made->base = (char *)made + chad_lib_head();
  made->size = (bytes - skip - chad_lib_head()) / CHAD_ALIGNMENT * CHAD_ALIGNMENT;
  made->state.limit = INT64_MAX;
  made->state.most_kept = INT64_MAX;
  made->state.source =
      (chad_source_t){chad_lib_room_take, chad_lib_room_give, made};
  *memory = made;
  return LIBRARY_OK;
}

void library_memory_close(library_memory *const memory) {
  if (memory == NULL || memory->base != NULL) {
    return;
  }
  chad_lib_empty(&memory->state);
  if (memory->hooks.alloc == NULL) {
    free(memory);
  } else if (memory->hooks.free != NULL) {
    memory->hooks.free(memory->hooks.user, memory, sizeof *memory);
  }
}

int32_t library_check(const int64_t interface) {
  return interface == LIBRARY_INTERFACE ? LIBRARY_OK : LIBRARY_MISMATCH;
}

// A state that counts what is asked of it, for the workspace of a function.
static inline chad_state_t *chad_lib_count(chad_state_t *const own,
                                          int64_t *const total) {
  memset(own, 0, sizeof *own);
  own->limit = INT64_MAX;
  own->most_kept = INT64_MAX;
  own->source = (chad_source_t){chad_lib_count_take, chad_lib_count_give, total};
  return own;
}

// What a counted call needs, for whatever address the workspace begins at.
static inline void chad_lib_counted(chad_state_t *const own, int64_t *const total,
                                   int64_t *const most) {
  chad_lib_empty(own);
  *most = *total > *most ? *total : *most;
  *total = 0;
}

static inline size_t chad_lib_workspace(const int64_t most) {
  return (size_t)most + chad_lib_head() + CHAD_LIB_SLACK;
}

// --- Arguments ---------------------------------------------------------------------

// NULL if an array can have this shape, else what is wrong with it.
static inline const char *chad_lib_shape(const int64_t rank, const int64_t *const shape) {
  int64_t extent = 1;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (shape[axis] < 0) {
      return "has a negative size";
    }
    // A size of zero does not make room for others that are too large.
    const int64_t factor = shape[axis] > 0 ? shape[axis] : 1;
    if (factor > CHAD_LARGEST / extent) {
      return "has more elements than any memory";
    }
    extent *= factor;
  }
  return NULL;
}

// The same of the data of an array with so many elements.
static inline const char *chad_lib_data(const void *const data, const size_t size,
                                        const int64_t count) {
  if (count > 0 && data == NULL) {
    return "is NULL";
  }
  return (uintptr_t)data % size != 0 ? "is not aligned to its elements" : NULL;
}

// The same of the places where the pieces of a list begin, and the last one ends.
static inline const char *chad_lib_starts(const int64_t *const starts,
                                         const int64_t count, const int64_t end) {
  if (count < 1 || starts[0] != 0 || starts[count - 1] != end) {
    return "does not begin with 0 and end with the number of items";
  }
  for (int64_t k = 1; k < count; ++k) {
    if (starts[k] < starts[k - 1]) {
      return "does not ascend";
    }
  }
  return NULL;
}

// The same of the shapes of pieces, each of so many items.
static inline const char *chad_lib_sizes(const int64_t *const sizes, const int64_t rank,
                                        const int64_t *const starts,
                                        const int64_t count) {
  for (int64_t k = 0; k < count; ++k) {
    const int64_t *const shape = sizes + k * rank;
    if (chad_lib_shape(rank, shape) != NULL) {
      return "has a size that is none";
    }
    int64_t items = 1;
    for (int64_t axis = 0; axis < rank; ++axis) {
      items *= shape[axis];
    }
    if (items != starts[k + 1] - starts[k]) {
      return "has sizes that are not those of its items";
    }
  }
  return NULL;
}

// The same of pieces of sizes of their own, which stand anywhere among the numbers.
static inline const char *chad_lib_pieces(const int64_t total, const int64_t count,
                                         const int64_t rank, const int64_t *const start,
                                         const int64_t *const *const sizes) {
  for (int64_t k = 0; k < count; ++k) {
    int64_t items = 1;
    for (int64_t axis = 0; axis < rank; ++axis) {
      const int64_t size = sizes[axis][k];
      if (size < 0 || (size > 0 && items > total / size)) {
        return "has a piece that is larger than all numbers";
      }
      items *= size;
    }
    if (start[k] < 0 || start[k] > total - items) {
      return "has a piece that is not among the numbers";
    }
  }
  return NULL;
}

static inline void chad_lib_copy(void *const target, const void *const source,
                                const int64_t count, const size_t size) {
  if (count > 0) {
    memcpy(target, source, (size_t)count * size);
  }
}

// The same of tags, of which there are so many members.
static inline const char *chad_lib_tags(const int64_t *const tags, const int64_t count,
                                       const int64_t members) {
  for (int64_t k = 0; k < count; ++k) {
    if (tags[k] < 0 || tags[k] >= members) {
      return "has a tag that is none of the members";
    }
  }
  return NULL;
}
