// Two plates take turns. A step is linear and its own transpose inside of the border, so
// the reverse stores nothing: it makes the same steps on the cotangent of the inside, with
// a border of zeros; the border's own cotangent gathers what each step takes from it.

#include "heat.h"

#include <stdlib.h>
#include <string.h>

// The plates at `to` after a step from `from`; borders stay as they are.
static void step(const int64_t n, const int64_t m, const double rate,
                 const double *restrict const from, double *restrict const to) {
  const double keep = 1.0 - 4.0 * rate;
  for (int64_t i = 1; i < n - 1; i++) {
    const double *const at = from + i * m;
    double *const out = to + i * m;
#pragma omp simd
    for (int64_t j = 1; j < m - 1; j++) {
      out[j] = keep * at[j] + rate * (at[j - m] + at[j + m] + at[j - 1] + at[j + 1]);
    }
  }
}

// Makes the steps from plates[0]; returns which of the two holds the result.
static int64_t simulated(const int64_t n, const int64_t m, const double rate,
                         const int64_t steps, double *const plates[2]) {
  memcpy(plates[1], plates[0], sizeof(double) * (size_t)(n * m));
  for (int64_t k = 0; k < steps; k++) {
    step(n, m, rate, plates[k % 2], plates[(k + 1) % 2]);
  }
  return steps % 2;
}

int32_t heat_value(const int64_t n, const int64_t m, const double *const start,
                   const double *const target, const double rate, const int64_t steps,
                   double *const value) {
  double *const plate = malloc(sizeof(double) * (size_t)(2 * n * m + 1));
  if (plate == NULL) {
    return 1;
  }
  double *const plates[2] = {plate, plate + n * m};
  memcpy(plate, start, sizeof(double) * (size_t)(n * m));
  const double *const u = plates[simulated(n, m, rate, steps, plates)];
  double total = 0.0;
#pragma omp simd reduction(+ : total)
  for (int64_t k = 0; k < n * m; k++) {
    total += (u[k] - target[k]) * (u[k] - target[k]);
  }
  free(plate);
  *value = total;
  return 0;
}

// Sets the border of a plate to zero.
static void clear_border(const int64_t n, const int64_t m, double *const plate) {
  memset(plate, 0, sizeof(double) * (size_t)m);
  memset(plate + (n - 1) * m, 0, sizeof(double) * (size_t)m);
  for (int64_t i = 0; i < n; i++) {
    plate[i * m] = 0.0;
    plate[i * m + m - 1] = 0.0;
  }
}

// Adds to the border's cotangent what a step takes from it.
static void add_border(const int64_t n, const int64_t m, const double rate,
                       const double *restrict const ct, double *restrict const found) {
  const int64_t last = (n - 1) * m;
  for (int64_t j = 1; j < m - 1; j++) {
    found[j] += rate * ct[m + j];
    found[last + j] += rate * ct[last - m + j];
  }
  for (int64_t i = 1; i < n - 1; i++) {
    found[i * m] += rate * ct[i * m + 1];
    found[i * m + m - 1] += rate * ct[i * m + m - 2];
  }
}

int32_t heat_gradient(const int64_t n, const int64_t m, const double *const start,
                      const double *const target, const double rate,
                      const int64_t steps, double *const value,
                      double *restrict const dstart) {
  double *const plate = malloc(sizeof(double) * (size_t)(2 * n * m + 1));
  if (plate == NULL) {
    return 1;
  }
  double *const plates[2] = {plate, plate + n * m};
  memcpy(plate, start, sizeof(double) * (size_t)(n * m));
  const int64_t end = simulated(n, m, rate, steps, plates);
  const double *const u = plates[end];
  double total = 0.0;
#pragma omp simd reduction(+ : total)
  for (int64_t k = 0; k < n * m; k++) {
    const double far = u[k] - target[k];
    total += far * far;
    dstart[k] = 2.0 * far;
  }
  memcpy(plates[0], dstart, sizeof(double) * (size_t)(n * m));
  clear_border(n, m, plates[0]);
  clear_border(n, m, plates[1]);
  for (int64_t k = 0; k < steps; k++) {
    add_border(n, m, rate, plates[k % 2], dstart);
    step(n, m, rate, plates[k % 2], plates[(k + 1) % 2]);
  }
  const double *const ct = plates[steps % 2];
  for (int64_t i = 1; i < n - 1; i++) {
    memcpy(dstart + i * m + 1, ct + i * m + 1, sizeof(double) * (size_t)(m - 2));
  }
  free(plate);
  *value = total;
  return 0;
}
