// Whether all elements of an array are numbers, which the program asks of what it has
// computed in loops that did not look.

#include "internal.h"

enum {
  // Elements that are looked at without a branch; of an unrolled vector loop.
  BLOCK = 64,
  // Elements of a chunk: a fraction of a millisecond, much more than a thread costs.
  CHUNK = 1 << 18,
};

typedef struct numbers {
  const double *doubles;  // or NULL
  const float *floats;
  int64_t count;
} numbers_t;

static bool are_doubles(const double *const x, const int64_t low, const int64_t high) {
  int64_t k = low;
  for (; k + BLOCK <= high; k += BLOCK) {
    int64_t bad = 0;
    for (int64_t l = 0; l < BLOCK; ++l) {
      bad |= x[k + l] != x[k + l];
    }
    if (bad != 0) {
      return false;
    }
  }
  for (; k < high; ++k) {
    if (x[k] != x[k]) {
      return false;
    }
  }
  return true;
}

static bool are_floats(const float *const x, const int64_t low, const int64_t high) {
  int64_t k = low;
  for (; k + BLOCK <= high; k += BLOCK) {
    int32_t bad = 0;
    for (int64_t l = 0; l < BLOCK; ++l) {
      bad |= x[k + l] != x[k + l];
    }
    if (bad != 0) {
      return false;
    }
  }
  for (; k < high; ++k) {
    if (x[k] != x[k]) {
      return false;
    }
  }
  return true;
}

// CHAD_PROGRAM, so that no other chunk need be looked at, if there is a NaN.
static chad_status_t look(chad_context_t *const context, void *const environment,
                          const int64_t chunk) {
  (void)context;
  const numbers_t *const all = environment;
  const int64_t low = chunk * CHUNK;
  const int64_t high = low + CHUNK < all->count ? low + CHUNK : all->count;
  const bool good = all->doubles != NULL ? are_doubles(all->doubles, low, high)
                                         : are_floats(all->floats, low, high);
  return good ? CHAD_OK : CHAD_PROGRAM;
}

static chad_status_t look_at_all(chad_context_t *const context, numbers_t all) {
  const int64_t chunks = all.count / CHUNK + 1;
  if (chunks == 1) {
    return look(context, &all, 0);
  }
  const int64_t lanes = chad_lanes(context, chunks);
  return chad_parallel(context, look, NULL, &all, chunks, lanes, 1);
}

chad_status_t chad_are_doubles(chad_context_t *const context, const double *const data,
                               const int64_t count) {
  return look_at_all(context, (numbers_t){.doubles = data, .count = count});
}

chad_status_t chad_are_floats(chad_context_t *const context, const float *const data,
                              const int64_t count) {
  return look_at_all(context, (numbers_t){.floats = data, .count = count});
}
