// Checked accesses of generated code (`chadllvm/llvm/sanitize.py`).
//
// A table holds the bounds of every buffer that generated code may touch, sorted by
// address. Buffers of arenas and results are followed by a line that belongs to nobody,
// and inputs are copied so that they end where a page begins that nobody may touch: so
// neighbours are never mistaken for each other. An access is looked up by the pointer
// that it starts from, and has to stay in the buffer of that pointer.
//
// The first violation is kept as a sentence. The access is made elsewhere, where it does
// no harm, so that the call ends as any other one does, and then reports a defect.
//
// Invariant: spans are sorted and disjoint. What is registered takes the place of all
// that it overlaps: memory that is used again is another buffer by then.
//
// The table is one for all contexts, for chunks of a loop and branches that other
// threads run share buffers. A lock guards all of it, and nothing is called under it.

#define _DEFAULT_SOURCE

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#ifndef _WIN32
#include <pthread.h>
#include <sys/mman.h>
#endif

enum { PAGE = 4096, RED_ZONE = CHAD_ALIGNMENT, SENTENCE = 1024, FIRST_ROOM = 1024 };

typedef struct {
  uintptr_t begin;
  uintptr_t end;
} span_t;

static span_t *spans = NULL;
static int64_t count = 0;
static int64_t room = 0;
static char sentence[SENTENCE];
static bool is_violated = false;

// Whatever is out of bounds goes here; it is as large as the longest vector.
static _Thread_local _Alignas(CHAD_ALIGNMENT) char elsewhere[PAGE];

#ifdef _WIN32
static atomic_flag guard = ATOMIC_FLAG_INIT;

static void lock(void) {
  while (atomic_flag_test_and_set_explicit(&guard, memory_order_acquire)) {
    chad_nap();
  }
}
static void unlock(void) { atomic_flag_clear_explicit(&guard, memory_order_release); }
#else
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

static void lock(void) { (void)pthread_mutex_lock(&guard); }
static void unlock(void) { (void)pthread_mutex_unlock(&guard); }
#endif

// --- The table; the lock is held ---------------------------------------------------

// How many spans begin at or before an address.
static int64_t place_of(const uintptr_t address) {
  int64_t low = 0;
  int64_t high = count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (spans[middle].begin <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// The buffer that a pointer points into, or just behind; NULL: there is none.
static const span_t *buffer_of(const uintptr_t address) {
  const int64_t place = place_of(address);
  return place > 0 && address <= spans[place - 1].end ? &spans[place - 1] : NULL;
}

// Takes out the spans that overlap [begin, end), and empty ones in there. Returns where
// one that begins there has its place.
static int64_t take_out(const uintptr_t begin, const uintptr_t end) {
  int64_t first = place_of(begin);
  if (first > 0 && (spans[first - 1].end > begin || spans[first - 1].begin == begin)) {
    --first;
  }
  int64_t last = first;
  while (last < count && (spans[last].begin < end || spans[last].begin == begin)) {
    ++last;
  }
  memmove(&spans[first], &spans[last], (size_t)(count - last) * sizeof *spans);
  count -= last - first;
  return first;
}

static bool has_room(void) {
  if (count < room) {
    return true;
  }
  const int64_t more = room > 0 ? 2 * room : FIRST_ROOM;
  span_t *const larger = realloc(spans, (size_t)more * sizeof *spans);
  if (larger == NULL) {
    return false;
  }
  spans = larger;
  room = more;
  return true;
}

static void violate(const char *const text) {
  if (!is_violated) {
    is_violated = true;
    (void)snprintf(sentence, sizeof sentence, "%s", text);
  }
}

static void violate_access(const char *const what, const uintptr_t base,
                           const uintptr_t at, const int64_t bytes) {
  const span_t *const span = buffer_of(base);
  char text[SENTENCE];
  if (span == NULL) {
    (void)snprintf(text, sizeof text, "%s: %" PRId64 " bytes of no buffer", what, bytes);
  } else {
    (void)snprintf(text, sizeof text,
                   "%s: %" PRId64 " bytes at byte %" PRId64 " of a buffer of %" PRId64,
                   what, bytes, (int64_t)(at - span->begin),
                   (int64_t)(span->end - span->begin));
  }
  violate(text);
}

static bool is_within(const uintptr_t base, const uintptr_t at, const int64_t bytes) {
  const span_t *const span = buffer_of(base);
  return span != NULL && bytes >= 0 && at >= span->begin && at <= span->end &&
         (uintptr_t)bytes <= span->end - at;
}

// --- Buffers come and go -----------------------------------------------------------

static bool enter(const void *const buffer, const int64_t bytes) {
  const uintptr_t begin = (uintptr_t)buffer;
  const uintptr_t end = begin + (uintptr_t)bytes;
  lock();
  const bool is_there = has_room();
  if (is_there) {
    const int64_t place = take_out(begin, end);
    memmove(&spans[place + 1], &spans[place], (size_t)(count - place) * sizeof *spans);
    spans[place] = (span_t){begin, end};
    ++count;
  }
  unlock();
  return is_there;
}

static void forget(const void *const begin, const void *const end) {
  lock();
  (void)take_out((uintptr_t)begin, (uintptr_t)end);
  unlock();
}

// As of a stack, which is the same again in most calls.
void chad_san_buffer(const void *const buffer, const int64_t bytes) {
  const uintptr_t begin = (uintptr_t)buffer;
  lock();
  const span_t *const span = buffer_of(begin);
  const bool is_known = span != NULL && span->begin == begin &&
                        span->end - begin == (uintptr_t)bytes;
  unlock();
  if (!is_known && !enter(buffer, bytes)) {
    lock();
    violate("there is no memory for the bounds of a buffer");
    unlock();
  }
}

static void *entered(void *const buffer, const int64_t bytes) {
  return buffer == NULL || enter(buffer, bytes) ? buffer : NULL;
}

// Each buffer counts as an allocation that may be refused, as a chunk does.
void *chad_san_arena_grow(chad_context_t *const context, chad_arena_t *const arena,
                          const int64_t bytes) {
  if (bytes < 0 || bytes > CHAD_LARGEST || !chad_reserve((chad_state_t *)context, 0)) {
    return NULL;
  }
  return entered(chad_arena_grow(context, arena, bytes + RED_ZONE), bytes);
}

void *chad_san_result_alloc(chad_context_t *const context, const int64_t bytes) {
  if (bytes < 0 || bytes > CHAD_LARGEST) {
    return NULL;
  }
  return entered(chad_result_alloc(context, bytes + RED_ZONE), bytes);
}

// A buffer that grows has its neighbour right behind its last line.
void *chad_san_arena_extend(chad_context_t *const context, chad_arena_t *const arena,
                            void *const old, const int64_t old_words,
                            const int64_t used_words, const int64_t words) {
  void *const buffer =
      chad_arena_extend(context, arena, old, old_words, used_words, words);
  if (buffer != NULL && old_words > 0 && buffer != old) {
    forget(old, (const char *)old + 8 * old_words);
  }
  return entered(buffer, 8 * words);
}

int64_t chad_san_arena_segment(chad_context_t *const context, chad_arena_t *const arena,
                               const void *const base, const int64_t words,
                               const int64_t rows) {
  const int64_t first = chad_arena_segment(context, arena, base, words, rows);
  if (first == INT64_MIN) {
    return first;
  }
  const uintptr_t buffer = (uintptr_t)base + (uintptr_t)(8 * words * first);
  return enter((const void *)buffer, 8 * words * rows) ? first : INT64_MIN;
}

// The data of a part is that of the array around it, which may have more than it uses.
static bool is_data_entered(const chad_array_t *const array) {
  const chad_array_t *const owner = chad_array_is_part(array) ? array->whole : array;
  const int64_t words = owner->place > owner->size ? owner->place : owner->size;
  const uintptr_t data = (uintptr_t)owner->data;
  const int64_t bytes = (int64_t)sizeof(double) * words;
  lock();
  const bool is_known = is_within(data, data, bytes);
  unlock();
  return is_known || enter(owner->data, bytes);
}

// Generated code reads the dimensions, and the data that is there.
static void *entered_array(chad_array_t *const array) {
  if (array == NULL || (array->data != NULL && !is_data_entered(array))) {
    return NULL;
  }
  return entered(array, (int64_t)sizeof(chad_array_t) + 8 * array->rank);
}

void *chad_san_array_new(chad_context_t *const context, chad_arena_t *const arena,
                         const int64_t rank, const int64_t *const dims) {
  return entered_array(chad_array_new(context, arena, rank, dims));
}

void *chad_san_array_row(chad_context_t *const context, chad_arena_t *const arena,
                         chad_array_t *const array, const int64_t index,
                         const int64_t row) {
  return entered_array(chad_array_row(context, arena, array, index, row));
}

void *chad_san_array_with(chad_context_t *const context, chad_arena_t *const arena,
                          chad_array_t *const array, const int64_t offset,
                          const int64_t length, const double *const words) {
  return entered_array(chad_array_with(context, arena, array, offset, length, words));
}

void *chad_san_array_resized(chad_context_t *const context, chad_arena_t *const arena,
                             chad_array_t *const array, const int64_t *const dims,
                             const int64_t length, const double *const words) {
  return entered_array(chad_array_resized(context, arena, array, dims, length, words));
}

void *chad_san_array_of_bag(chad_context_t *const context, chad_arena_t *const arena,
                            const chad_bag_t *const bag, const int64_t rank,
                            const int64_t *const dims) {
  return entered_array(chad_array_of_bag(context, arena, bag, rank, dims));
}

void *chad_san_cells_close_array(chad_context_t *const context,
                                 chad_cells_t *const cells, const int64_t cell) {
  return entered_array(chad_cells_close_array(context, cells, cell));
}

void *chad_san_array_data(chad_context_t *const context, chad_arena_t *const arena,
                          chad_array_t *const array) {
  void *const data = chad_array_data(context, arena, array);
  return data == NULL || !is_data_entered(array) ? NULL : data;
}

chad_arena_t *chad_san_enter(chad_context_t *const context, const int64_t regions) {
  chad_arena_t *const arenas = chad_enter(context, regions);
  return entered(arenas, regions * CHAD_ARENA_SIZE);
}

// What is in a list of chunks, but for the first `skip` bytes of the first of them.
static void forget_chunks(const chad_chunk_t *const first, const char *const from) {
  const char *begin = from;
  for (const chad_chunk_t *chunk = first; chunk != NULL; chunk = chunk->next) {
    const char *const whole = (const char *)chunk;
    forget(begin != NULL ? begin : whole, whole + chunk->size);
    begin = NULL;
  }
}

void chad_san_arena_reset(chad_arena_t *const arena) {
  forget_chunks(arena->first, NULL);
  chad_arena_reset(arena);
}

void chad_san_arena_release(chad_arena_t *const arena, chad_chunk_t *const chunk,
                            char *const cursor) {
  if (chunk == NULL) {
    chad_san_arena_reset(arena);
    return;
  }
  forget_chunks(chunk, cursor);
  chad_arena_release(arena, chunk, cursor);
}

void chad_san_arena_give(chad_context_t *const context, chad_arena_t *const arena) {
  forget_chunks(arena->first, NULL);
  forget_chunks(arena->grown, NULL);
  chad_arena_give(context, arena);
}

void chad_san_leave(chad_context_t *const context, chad_arena_t *const arenas) {
  lock();
  const span_t *const span = buffer_of((uintptr_t)arenas);
  const int64_t bytes = span == NULL ? 0 : (int64_t)(span->end - (uintptr_t)arenas);
  unlock();
  for (int64_t region = 0; region < bytes / CHAD_ARENA_SIZE; ++region) {
    forget_chunks(arenas[region].first, NULL);
    forget_chunks(arenas[region].grown, NULL);
  }
  forget(arenas, (const char *)arenas + bytes);
  chad_leave(context, arenas);
}

// --- Inputs ------------------------------------------------------------------------

static size_t pages_of(const int64_t bytes) {
  return (size_t)chad_round_up(bytes, PAGE) + PAGE;
}

// The input itself, which is only read, if there is no memory for a copy: its bounds
// are known then, and what is behind it is not guarded.
const void *chad_san_input(const void *const input, const int64_t bytes) {
#ifndef _WIN32
  const size_t size = pages_of(bytes);
  char *const pages =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages != MAP_FAILED) {
    char *const copy = pages + size - PAGE - bytes;
    memcpy(copy, input, (size_t)bytes);
    (void)mprotect(pages, size - PAGE, PROT_READ);
    (void)mprotect(pages + size - PAGE, PAGE, PROT_NONE);
    chad_san_buffer(copy, bytes);
    return copy;
  }
#endif
  chad_san_buffer(input, bytes);
  return input;
}

void chad_san_input_free(const void *const copy, const void *const input,
                         const int64_t bytes) {
  forget(copy, (const char *)copy + bytes);
#ifndef _WIN32
  if (copy != input) {
    const size_t size = pages_of(bytes);
    (void)munmap((char *)(uintptr_t)copy + bytes + PAGE - size, size);
  }
#else
  (void)input;
#endif
}

// --- Accesses ----------------------------------------------------------------------

static bool checked(const void *const base, const void *const at, const int64_t bytes,
                    const char *const what) {
  lock();
  const bool is_good = is_within((uintptr_t)base, (uintptr_t)at, bytes);
  if (!is_good) {
    violate_access(what, (uintptr_t)base, (uintptr_t)at, bytes);
  }
  unlock();
  return is_good;
}

void *chad_san_access(const void *const base, const void *const at, const int64_t bytes,
                      const char *const what) {
  if (checked(base, at, bytes, what)) {
    return (void *)(uintptr_t)at;
  }
  return memset(elsewhere, 0, sizeof elsewhere);
}

int64_t chad_san_bytes(const void *const at, const int64_t bytes,
                       const char *const what) {
  return bytes == 0 || checked(at, at, bytes, what) ? bytes : 0;
}

int64_t chad_san_words(const chad_array_t *const array, const int64_t offset,
                       const int64_t words, const char *const what) {
  if (offset >= 0 && words >= 0 && words <= array->size &&
      offset <= array->size - words) {
    return words;
  }
  char text[SENTENCE];
  (void)snprintf(text, sizeof text,
                 "%s: %" PRId64 " words at word %" PRId64 " of a buffer of %" PRId64, what,
                 words, offset, array->size);
  lock();
  violate(text);
  unlock();
  return 0;
}

// `here` has a bit for each of the elements that are side by side.
void *chad_san_masked(const void *const base, const void *const at, const int64_t bytes,
                      const int64_t elements, const int64_t here,
                      const char *const what) {
  const int64_t size = bytes / elements;
  for (int64_t k = 0; k < elements; ++k) {
    const uintptr_t place = (uintptr_t)at + (uintptr_t)(k * size);
    if ((here >> k & 1) != 0 &&
        !checked((const void *)(base == at ? place : (uintptr_t)base),
                 (const void *)place, size, what)) {
      return memset(elsewhere, 0, sizeof elsewhere);
    }
  }
  return (void *)(uintptr_t)at;
}

void chad_san_overflow(const int32_t is_wrong, const char *const what) {
  if (is_wrong == 0) {
    return;
  }
  char text[SENTENCE];
  (void)snprintf(text, sizeof text, "%s: the index overflows", what);
  lock();
  violate(text);
  unlock();
}

// A pointer moves by `index` elements of so many bytes, and stays in its buffer.
void chad_san_step(const void *const base, const int64_t index, const int64_t size,
                   const int32_t is_wrong, const char *const what) {
  chad_san_overflow(is_wrong, what);
  const int64_t most = INT64_MAX / (size > 0 ? size : 1);
  if (index > most || index < -most) {
    chad_san_overflow(1, what);
    return;
  }
  const uintptr_t at = (uintptr_t)base + (uintptr_t)(index * size);
  (void)checked(base, (const void *)at, 0, what);
}

chad_status_t chad_san_end(const chad_status_t status) {
  lock();
  const bool is_good = !is_violated;
  unlock();
  return is_good ? status : CHAD_DEFECT;
}

int32_t chad_san_violation(char *const text, const int64_t bytes) {
  lock();
  const bool was_violated = is_violated;
  if (was_violated) {
    (void)snprintf(text, (size_t)bytes, "%s", sentence);
  }
  is_violated = false;
  unlock();
  return was_violated;
}
