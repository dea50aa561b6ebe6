// A NaN is found wherever it is, in arrays of one chunk and of several.

#include <math.h>
#include <stdlib.h>

#include "check.h"

enum { SMALL = 200, LARGE = (1 << 19) + 77 };

static void test_places(chad_context_t *const context, const int64_t count,
                        const int64_t step) {
  double *const x = calloc((size_t)count, sizeof(double));
  float *const y = calloc((size_t)count, sizeof(float));
  CHECK(x != NULL && y != NULL);
  x[0] = INFINITY;
  y[count - 1] = -INFINITY;
  CHECK(chad_are_doubles(context, x, count) == CHAD_OK);
  CHECK(chad_are_floats(context, y, count) == CHAD_OK);
  for (int64_t k = 0; k < count; k += step) {
    const double before = x[k];
    x[k] = NAN;
    y[k] = NAN;
    CHECK(chad_are_doubles(context, x, count) == CHAD_PROGRAM);
    CHECK(chad_are_floats(context, y, count) == CHAD_PROGRAM);
    // What is behind the last one looked at does not count.
    CHECK(chad_are_doubles(context, x, k) == CHAD_OK);
    x[k] = before;
    y[k] = 0.0F;
  }
  free(x);
  free(y);
}

int main(void) {
  chad_context_t *const context = new_context();
  CHECK(chad_are_doubles(context, NULL, 0) == CHAD_OK);
  CHECK(chad_are_floats(context, NULL, 0) == CHAD_OK);
  test_places(context, SMALL, 1);
  test_places(context, LARGE, 100003);
  chad_context_free(context);
  return 0;
}
