// The gradient stores the state before each step, four numbers, and makes the stages of a
// step once more in reverse.

#include "hopper.h"

#include <stdlib.h>

// Heights and speeds of the lower mass (x, v) and of the upper one (y, w).
typedef struct state {
  double x;
  double v;
  double y;
  double w;
} state_t;

// The slope of a state: its speeds, and the forces.
static inline state_t slope(const double *const p, const state_t s) {
  const double pull = p[0] * (s.y - s.x - 1.0) + p[1] * (s.w - s.v);
  const double ground = s.x < 0.0 ? -p[2] * s.x - p[3] * s.v : 0.0;
  return (state_t){s.v, pull - 9.81 + ground, s.w, -pull - 9.81};
}

// s + h t
static inline state_t moved(const state_t s, const double h, const state_t t) {
  return (state_t){s.x + h * t.x, s.v + h * t.v, s.y + h * t.y, s.w + h * t.w};
}

static inline state_t step(const double *const p, const double h, const state_t s) {
  const state_t k1 = slope(p, s);
  const state_t k2 = slope(p, moved(s, 0.5 * h, k1));
  const state_t k3 = slope(p, moved(s, 0.5 * h, k2));
  const state_t k4 = slope(p, moved(s, h, k3));
  const state_t inner = moved(moved(k1, 2.0, k2), 2.0, k3);
  return moved(s, h / 6.0, moved(inner, 1.0, k4));
}

int32_t hopper_value(const double *const p, const double *const start,
                     const int64_t steps, double *const value) {
  state_t s = {start[0], start[1], start[2], start[3]};
  const double h = 5.0 / (double)steps;
  double total = 0.0;
  for (int64_t i = 0; i < steps; i++) {
    s = step(p, h, s);
    total += s.y * s.y;
  }
  *value = total / (double)steps;
  return 0;
}

// The reverse of `slope`: the cotangent of the state; adds that of p to dp.
static inline state_t slope_reverse(const double *const p, const state_t s,
                                    const state_t ct, double *const dp) {
  const double pull_ct = ct.v - ct.w;
  state_t found;
  dp[0] += pull_ct * (s.y - s.x - 1.0);
  dp[1] += pull_ct * (s.w - s.v);
  found.y = pull_ct * p[0];
  found.x = -found.y;
  found.w = ct.y + pull_ct * p[1];
  found.v = ct.x - pull_ct * p[1];
  if (s.x < 0.0) {
    dp[2] -= ct.v * s.x;
    dp[3] -= ct.v * s.v;
    found.x -= ct.v * p[2];
    found.v -= ct.v * p[3];
  }
  return found;
}

// The reverse of `step`.
static inline state_t step_reverse(const double *const p, const double h,
                                   const state_t s, const state_t ct,
                                   double *const dp) {
  const state_t s2 = moved(s, 0.5 * h, slope(p, s));
  const state_t s3 = moved(s, 0.5 * h, slope(p, s2));
  const state_t s4 = moved(s, h, slope(p, s3));
  const state_t none = {0.0, 0.0, 0.0, 0.0};
  const state_t sixth = moved(none, h / 6.0, ct);
  const state_t c4 = slope_reverse(p, s4, sixth, dp);
  const state_t k3 = moved(moved(sixth, 1.0, sixth), h, c4);
  const state_t c3 = slope_reverse(p, s3, k3, dp);
  const state_t k2 = moved(moved(sixth, 1.0, sixth), 0.5 * h, c3);
  const state_t c2 = slope_reverse(p, s2, k2, dp);
  const state_t k1 = moved(sixth, 0.5 * h, c2);
  const state_t c1 = slope_reverse(p, s, k1, dp);
  return moved(moved(moved(moved(ct, 1.0, c4), 1.0, c3), 1.0, c2), 1.0, c1);
}

int32_t hopper_gradient(const double *const p, const double *const start,
                        const int64_t steps, double *const value, double *const dp,
                        double *const dstart) {
  state_t *const before = malloc(sizeof(state_t) * (size_t)(steps + 1));
  if (before == NULL) {
    return 1;
  }
  before[0] = (state_t){start[0], start[1], start[2], start[3]};
  const double h = 5.0 / (double)steps;
  double total = 0.0;
  for (int64_t i = 0; i < steps; i++) {
    before[i + 1] = step(p, h, before[i]);
    total += before[i + 1].y * before[i + 1].y;
  }
  state_t ct = {0.0, 0.0, 0.0, 0.0};
  double sums[4] = {0.0};
  for (int64_t i = steps - 1; i >= 0; i--) {
    ct.y += 2.0 / (double)steps * before[i + 1].y;
    ct = step_reverse(p, h, before[i], ct, sums);
  }
  for (int64_t k = 0; k < 4; k++) {
    dp[k] = sums[k];
  }
  dstart[0] = ct.x;
  dstart[1] = ct.v;
  dstart[2] = ct.y;
  dstart[3] = ct.w;
  free(before);
  *value = total / (double)steps;
  return 0;
}
