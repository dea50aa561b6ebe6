// Horner's rule for a block of points at once, so that the lanes of a vector are points.
// The gradient by the coefficient of x^k is the sum of 2 r x^k, so nothing is stored: the
// powers are made once more, and the lanes are summed at the end.

#include "polynomial_fit.h"

#include <stdlib.h>
#include <string.h>

enum { lanes = 32, half = 16 };

// Writes the residuals of a block of points.
static void residuals(const int64_t terms, const double *restrict const c,
                      const double *restrict const x, const double *restrict const y,
                      double *restrict const r) {
  double value[lanes] = {0.0};
  for (int64_t k = terms - 1; k >= 0; k--) {
#pragma omp simd
    for (int64_t l = 0; l < lanes; l++) {
      value[l] = value[l] * x[l] + c[k];
    }
  }
#pragma omp simd
  for (int64_t l = 0; l < lanes; l++) {
    r[l] = value[l] - y[l];
  }
}

static double residual(const int64_t terms, const double *const c, const double x,
                       const double y) {
  double value = 0.0;
  for (int64_t k = terms - 1; k >= 0; k--) {
    value = value * x + c[k];
  }
  return value - y;
}

int32_t polynomial_fit_value(const int64_t terms, const double *const c,
                             const int64_t n, const double *const x,
                             const double *const y, double *const value) {
  double sums[lanes] = {0.0};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    double r[lanes];
    residuals(terms, c, x + i, y + i, r);
#pragma omp simd
    for (int64_t l = 0; l < lanes; l++) {
      sums[l] += r[l] * r[l];
    }
  }
  double total = 0.0;
  for (int64_t l = 0; l < lanes; l++) {
    total += sums[l];
  }
  for (; i < n; i++) {
    const double r = residual(terms, c, x[i], y[i]);
    total += r * r;
  }
  *value = total;
  return 0;
}

// Adds 2 r x^k to parts[k], that of two points to one lane.
static void add_powers(const int64_t terms, const double *restrict const x,
                       const double *restrict const r, double *restrict const parts) {
  double power[lanes];
#pragma omp simd
  for (int64_t l = 0; l < lanes; l++) {
    power[l] = 2.0 * r[l];
  }
  for (int64_t k = 0; k < terms; k++) {
#pragma omp simd
    for (int64_t l = 0; l < half; l++) {
      parts[k * half + l] += power[l] + power[half + l];
    }
#pragma omp simd
    for (int64_t l = 0; l < lanes; l++) {
      power[l] *= x[l];
    }
  }
}

int32_t polynomial_fit_gradient(const int64_t terms, const double *const c,
                                const int64_t n, const double *const x,
                                const double *const y, double *const value,
                                double *const dc) {
  double *const parts = calloc((size_t)(terms * half + 1), sizeof(double));
  if (parts == NULL) {
    return 1;
  }
  double total = 0.0;
  memset(dc, 0, sizeof(double) * (size_t)terms);
  int64_t i = 0;
  double sums[lanes] = {0.0};
  for (; i + lanes <= n; i += lanes) {
    double r[lanes];
    residuals(terms, c, x + i, y + i, r);
#pragma omp simd
    for (int64_t l = 0; l < lanes; l++) {
      sums[l] += r[l] * r[l];
    }
    add_powers(terms, x + i, r, parts);
  }
  for (; i < n; i++) {
    const double r = residual(terms, c, x[i], y[i]);
    total += r * r;
    double power = 2.0 * r;
    for (int64_t k = 0; k < terms; k++) {
      dc[k] += power;
      power *= x[i];
    }
  }
  for (int64_t l = 0; l < lanes; l++) {
    total += sums[l];
  }
  for (int64_t k = 0; k < terms; k++) {
    for (int64_t l = 0; l < half; l++) {
      dc[k] += parts[k * half + l];
    }
  }
  free(parts);
  *value = total;
  return 0;
}
