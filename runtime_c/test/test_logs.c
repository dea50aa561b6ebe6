// Logs of additions: sorted by parts, in their order within each of them.

#include <stdbool.h>

#include "check.h"

enum { ENTRIES = 500 };

static void fill(int64_t *const places, const int64_t size) {
  for (int64_t entry = 0; entry < ENTRIES; ++entry) {
    places[entry] = (entry * 7919 + entry / 3) % size;
  }
}

static int64_t shift_of(const int64_t size, const int64_t parts) {
  int64_t shift = 0;
  while ((size - 1) >> shift >= parts) {
    ++shift;
  }
  return shift;
}

// Each entry's value is its number.
static void check_sorted(const int64_t size, const int64_t parts, const bool is_double) {
  int64_t *const places = malloc(2 * ENTRIES * sizeof *places);
  int64_t *const starts = malloc((size_t)(parts + 2) * sizeof *starts);
  double *const doubles = malloc(2 * ENTRIES * sizeof *doubles);
  float *const floats = malloc(2 * ENTRIES * sizeof *floats);
  CHECK(places != NULL && starts != NULL && doubles != NULL && floats != NULL);
  fill(places, size);
  for (int64_t entry = 0; entry < ENTRIES; ++entry) {
    doubles[entry] = (double)entry;
    floats[entry] = (float)entry;
  }
  void *const values = is_double ? (void *)doubles : (void *)floats;
  chad_log_sort(places, values, is_double ? 8 : 4, ENTRIES, ENTRIES, size, parts, starts);
  const int64_t shift = shift_of(size, parts);
  CHECK(starts[0] == (parts == 1 ? 0 : ENTRIES));
  CHECK(starts[parts] == starts[0] + ENTRIES);
  for (int64_t part = 0; part < parts; ++part) {
    for (int64_t at = starts[part]; at < starts[part + 1]; ++at) {
      const int64_t entry = is_double ? (int64_t)doubles[at] : (int64_t)floats[at];
      CHECK(places[at] == places[entry] && places[at] >> shift == part);
      if (at > starts[part]) {
        CHECK(entry > (is_double ? (int64_t)doubles[at - 1] : (int64_t)floats[at - 1]));
      }
    }
  }
  free(places);
  free(starts);
  free(doubles);
  free(floats);
}

static void test_parts_are_together_and_in_order(void) {
  const int64_t sizes[] = {1, 2, 63, 64, 65, 4096, 100003};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
    for (int64_t parts = 1; parts <= 64; parts = 2 * parts + parts % 3) {
      check_sorted(sizes[k], parts, true);
      check_sorted(sizes[k], parts, false);
    }
  }
}

static void test_an_empty_log(void) {
  int64_t starts[6];
  chad_log_sort(NULL, NULL, 8, 0, 10, 1000, 4, starts);
  for (int64_t part = 0; part <= 4; ++part) {
    CHECK(starts[part] == 10);
  }
}

int main(void) {
  test_parts_are_together_and_in_order();
  test_an_empty_log();
  return 0;
}
