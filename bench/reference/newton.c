// The hand-written reference for loops that stop by themselves. The gradient is that of
// the iteration: it keeps each step's point with its sine and cosine, in memory that
// grows as there are more steps than ever before, and goes back over them.

#include "newton.h"

#include <math.h>
#include <stdlib.h>

typedef struct point {
  double x;
  double sine;
  double cosine;
} point_t;

static const double tolerance = 1e-12;

int32_t orbits_value(const int64_t n, const double *restrict const mean,
                     const int64_t m, const double *restrict const e,
                     double *const value) {
  (void)m;
  double total = 0.0;
  for (int64_t i = 0; i < n; i++) {
    double x = mean[i];
    double step = 1.0;
    while (fabs(step) > tolerance) {
      step = (x - e[i] * sin(x) - mean[i]) / (1.0 - e[i] * cos(x));
      x -= step;
    }
    total += cos(x);
  }
  *value = total;
  return 0;
}

int32_t orbits_gradient(const int64_t n, const double *restrict const mean,
                        const int64_t m, const double *restrict const e,
                        double *const value, double *restrict const dmean,
                        double *restrict const de) {
  (void)m;
  int64_t room = 16;
  point_t *kept = malloc(sizeof(point_t) * (size_t)room);
  if (kept == NULL) {
    return 1;
  }
  double total = 0.0;
  for (int64_t i = 0; i < n; i++) {
    double x = mean[i];
    double step = 1.0;
    int64_t steps = 0;
    while (fabs(step) > tolerance) {
      if (steps == room) {
        room *= 2;
        point_t *const larger = realloc(kept, sizeof(point_t) * (size_t)room);
        if (larger == NULL) {
          free(kept);
          return 1;
        }
        kept = larger;
      }
      const point_t now = {x, sin(x), cos(x)};
      kept[steps] = now;
      steps++;
      step = (x - e[i] * now.sine - mean[i]) / (1.0 - e[i] * now.cosine);
      x -= step;
    }
    total += cos(x);
    double x_ct = -sin(x);
    double mean_ct = 0.0;
    double e_ct = 0.0;
    while (steps > 0) {
      steps--;
      const point_t then = kept[steps];
      const double slope = 1.0 / (1.0 - e[i] * then.cosine);
      const double taken = (then.x - e[i] * then.sine - mean[i]) * slope;
      // step = above / below, and the next point is x - step.
      const double above_ct = -x_ct * slope;
      const double below_ct = x_ct * taken * slope;
      mean_ct -= above_ct;
      e_ct -= above_ct * then.sine + below_ct * then.cosine;
      x_ct += above_ct * (1.0 - e[i] * then.cosine) + below_ct * e[i] * then.sine;
    }
    dmean[i] = mean_ct + x_ct;
    de[i] = e_ct;
  }
  *value = total;
  free(kept);
  return 0;
}
