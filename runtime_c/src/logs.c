// Logs of additions: what a chunk adds to a large array, sorted by parts of the array.

#include <string.h>

#include "internal.h"

// The shift that takes the last place to a part.
static int64_t shift_of(const int64_t size, const int64_t parts) {
  int64_t shift = 0;
  while (size > 0 && (size - 1) >> shift >= parts) {
    ++shift;
  }
  return shift;
}

// The entries of part p are moved to ends[p] and behind, which then are their end.
static void move_doubles(const int64_t *const places, const double *const values,
                         const int64_t count, const int64_t shift, int64_t *const ends,
                         int64_t *const to, double *const sorted) {
  for (int64_t entry = 0; entry < count; ++entry) {
    const int64_t target = ends[places[entry] >> shift]++;
    to[target] = places[entry];
    sorted[target] = values[entry];
  }
}

static void move_floats(const int64_t *const places, const float *const values,
                        const int64_t count, const int64_t shift, int64_t *const ends,
                        int64_t *const to, float *const sorted) {
  for (int64_t entry = 0; entry < count; ++entry) {
    const int64_t target = ends[places[entry] >> shift]++;
    to[target] = places[entry];
    sorted[target] = values[entry];
  }
}

void chad_log_sort(int64_t *const places, void *const values, const int64_t bytes,
                   const int64_t count, const int64_t room, const int64_t size,
                   const int64_t parts, int64_t *const starts) {
  if (parts == 1) {
    starts[0] = 0;
    starts[1] = count;
    return;
  }
  // Counted two behind: the sums of that are the starts one behind, and where the
  // entries have been moved, they are ends, which are the starts of the next parts.
  memset(starts, 0, (size_t)(parts + 2) * sizeof *starts);
  const int64_t shift = shift_of(size, parts);
  for (int64_t entry = 0; entry < count; ++entry) {
    ++starts[(places[entry] >> shift) + 2];
  }
  starts[0] = room;
  starts[1] = room;
  for (int64_t part = 2; part <= parts; ++part) {
    starts[part] += starts[part - 1];
  }
  if (bytes == (int64_t)sizeof(double)) {
    move_doubles(places, values, count, shift, starts + 1, places, values);
  } else {
    move_floats(places, values, count, shift, starts + 1, places, values);
  }
}
