// Stands in front of a kernel that counts its memory: each block carries its size, and
// the library tells the most bytes that were in use at once.

#ifndef CHAD_BENCH_COUNTED_H
#define CHAD_BENCH_COUNTED_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// In front of each block; as large as the alignment that malloc keeps.
enum { COUNTED_HEAD = 16 };

static int64_t counted_used;
static int64_t counted_most;

// The peak becomes what is used now.
void counted_reset(void);
int64_t counted_peak(void);

void counted_reset(void) { counted_most = counted_used; }

int64_t counted_peak(void) { return counted_most; }

static inline void *counted_malloc(const size_t bytes) {
  char *const block = malloc(bytes + COUNTED_HEAD);
  if (block == NULL) {
    return NULL;
  }
  memcpy(block, &bytes, sizeof bytes);
  counted_used += (int64_t)bytes;
  if (counted_most < counted_used) {
    counted_most = counted_used;
  }
  return block + COUNTED_HEAD;
}

static inline void *counted_calloc(const size_t count, const size_t size) {
  void *const block = counted_malloc(count * size);
  return block == NULL ? NULL : memset(block, 0, count * size);
}

static inline size_t counted_size(void *const block) {
  size_t bytes;
  memcpy(&bytes, (char *)block - COUNTED_HEAD, sizeof bytes);
  return bytes;
}

static inline void counted_free(void *const block) {
  if (block != NULL) {
    counted_used -= (int64_t)counted_size(block);
    free((char *)block - COUNTED_HEAD);
  }
}

static inline void *counted_realloc(void *const block, const size_t bytes) {
  void *const moved = counted_malloc(bytes);
  if (moved != NULL && block != NULL) {
    const size_t before = counted_size(block);
    memcpy(moved, block, before < bytes ? before : bytes);
    counted_free(block);
  }
  return moved;
}

#define malloc counted_malloc
#define calloc counted_calloc
#define realloc counted_realloc
#define free counted_free

#endif
