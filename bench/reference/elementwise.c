// The hand-written reference for expressions over whole arrays: one loop each, without
// temporary arrays but for a row. Sums are in vector order, as the compiled programs'
// are.

#include "elementwise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int32_t polynomial_value(const int64_t n, const double *restrict const x,
                         const double *restrict const y, const double a,
                         double *const value) {
  double total = 0.0;
#pragma omp simd reduction(+ : total)
  for (int64_t i = 0; i < n; i++) {
    const double r = a * x[i] + y[i];
    total += r * (1.0 + r * (0.5 + x[i] * (0.25 - 0.125 * y[i])));
  }
  *value = total;
  return 0;
}

int32_t polynomial_gradient(const int64_t n, const double *restrict const x,
                            const double *restrict const y, const double a,
                            double *const value, double *restrict const dx) {
  double total = 0.0;
#pragma omp simd reduction(+ : total)
  for (int64_t i = 0; i < n; i++) {
    const double r = a * x[i] + y[i];
    const double slope = 0.25 - 0.125 * y[i];
    const double s = 0.5 + x[i] * slope;
    total += r * (1.0 + r * s);
    dx[i] = a * (1.0 + 2.0 * r * s) + r * r * slope;
  }
  *value = total;
  return 0;
}

int32_t logistic_loss_value(const int64_t n, const double *restrict const score,
                            const double *restrict const label, double *const value) {
  double total = 0.0;
#pragma omp simd reduction(+ : total)
  for (int64_t i = 0; i < n; i++) {
    total += log1p(exp(-label[i] * score[i])) + 0.01 * score[i] * score[i];
  }
  *value = total / (double)n;
  return 0;
}

int32_t logistic_loss_gradient(const int64_t n, const double *restrict const score,
                               const double *restrict const label, double *const value,
                               double *restrict const dscore) {
  const double weight = 1.0 / (double)n;
  double total = 0.0;
#pragma omp simd reduction(+ : total)
  for (int64_t i = 0; i < n; i++) {
    const double e = exp(-label[i] * score[i]);
    total += log1p(e) + 0.01 * score[i] * score[i];
    dscore[i] = weight * (0.02 * score[i] - label[i] * e / (1.0 + e));
  }
  *value = total * weight;
  return 0;
}

int32_t standardised_value(const int64_t n, const int64_t m,
                           const double *restrict const x,
                           const double *restrict const mean,
                           const double *restrict const scale, double *const value) {
  double total = 0.0;
  for (int64_t i = 0; i < n; i++) {
    double squares = 0.0;
#pragma omp simd reduction(+ : squares)
    for (int64_t j = 0; j < m; j++) {
      const double z = (x[i * m + j] - mean[j]) / scale[j];
      squares += z * z;
    }
    total += sqrt(squares + 1.0);
  }
  *value = total;
  return 0;
}

int32_t standardised_gradient(const int64_t n, const int64_t m,
                              const double *restrict const x,
                              const double *restrict const mean,
                              const double *restrict const scale, double *const value,
                              double *restrict const dmean,
                              double *restrict const dscale) {
  double *restrict const z = malloc(sizeof(double) * (size_t)(m > 0 ? m : 1));
  if (z == NULL) {
    return 1;
  }
  memset(dmean, 0, sizeof(double) * (size_t)m);
  memset(dscale, 0, sizeof(double) * (size_t)m);
  double total = 0.0;
  for (int64_t i = 0; i < n; i++) {
    double squares = 0.0;
#pragma omp simd reduction(+ : squares)
    for (int64_t j = 0; j < m; j++) {
      z[j] = (x[i * m + j] - mean[j]) / scale[j];
      squares += z[j] * z[j];
    }
    const double norm = sqrt(squares + 1.0);
    total += norm;
    const double weight = 1.0 / norm;
#pragma omp simd
    for (int64_t j = 0; j < m; j++) {
      const double cotangent = weight * z[j] / scale[j];
      dmean[j] -= cotangent;
      dscale[j] -= cotangent * z[j];
    }
  }
  free(z);
  *value = total;
  return 0;
}

int32_t similarity_value(const int64_t n, const double *restrict const x,
                         const int64_t m, const double *restrict const y,
                         double *const value) {
  double total = 0.0;
  for (int64_t i = 0; i < n; i++) {
#pragma omp simd reduction(+ : total)
    for (int64_t j = 0; j < m; j++) {
      const double far = x[i] - y[j];
      total += exp(-0.5 * far * far);
    }
  }
  *value = total;
  return 0;
}

int32_t similarity_gradient(const int64_t n, const double *restrict const x,
                            const int64_t m, const double *restrict const y,
                            double *const value, double *restrict const dx,
                            double *restrict const dy) {
  memset(dy, 0, sizeof(double) * (size_t)m);
  double total = 0.0;
  for (int64_t i = 0; i < n; i++) {
    double sum = 0.0;
#pragma omp simd reduction(+ : total, sum)
    for (int64_t j = 0; j < m; j++) {
      const double far = x[i] - y[j];
      const double e = exp(-0.5 * far * far);
      total += e;
      sum -= far * e;
      dy[j] += far * e;
    }
    dx[i] = sum;
  }
  *value = total;
  return 0;
}
