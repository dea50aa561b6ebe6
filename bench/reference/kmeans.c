// The lanes of a vector are centres, which is why they are transposed first, in blocks
// with the last one filled up. Which centre is nearest is all that the gradient needs, so
// it is one pass over the points as the value is, with one row updated for each point.

#include "kmeans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { lanes = 16 };

// [block][d][lanes], the caller's to free; NULL if memory ran out. What fills up the last
// block is so far away that it is never nearest.
static double *transposed(const int64_t k, const int64_t d, const double *const c) {
  const int64_t blocks = (k + lanes - 1) / lanes;
  double *const t = malloc(sizeof(double) * (size_t)(blocks * lanes * d + 1));
  if (t == NULL) {
    return NULL;
  }
  for (int64_t j = 0; j < blocks * lanes; j++) {
    for (int64_t a = 0; a < d; a++) {
      t[(j / lanes * d + a) * lanes + j % lanes] = j < k ? c[j * d + a] : 1e150;
    }
  }
  return t;
}

// The squared distance of a point to its nearest centre, whose place goes to *at unless
// that is NULL: for each lane its nearest one, and then the first of the lanes' nearest.
static inline double nearest(const int64_t d, const double *restrict const x,
                             const int64_t k, const double *restrict t,
                             int64_t *const at) {
  double near[lanes];
  int64_t places[lanes] = {0};
  for (int64_t l = 0; l < lanes; l++) {
    near[l] = INFINITY;
  }
  for (int64_t j = 0; j < k; j += lanes) {
    double distance[lanes] = {0.0};
    for (int64_t a = 0; a < d; a++) {
      const double place = x[a];
#pragma omp simd
      for (int64_t l = 0; l < lanes; l++) {
        const double difference = place - t[l];
        distance[l] += difference * difference;
      }
      t += lanes;
    }
#pragma omp simd
    for (int64_t l = 0; l < lanes; l++) {
      places[l] = distance[l] < near[l] ? j : places[l];
      near[l] = distance[l] < near[l] ? distance[l] : near[l];
    }
  }
  double least = INFINITY;
#pragma omp simd reduction(min : least)
  for (int64_t l = 0; l < lanes; l++) {
    least = near[l] < least ? near[l] : least;
  }
  if (at != NULL) {
    int64_t first = k;
#pragma omp simd reduction(min : first)
    for (int64_t l = 0; l < lanes; l++) {
      const int64_t place = near[l] == least ? places[l] + l : k;
      first = place < first ? place : first;
    }
    *at = first;
  }
  return least;
}

int32_t kmeans_value(const int64_t n, const int64_t d, const double *const x,
                     const int64_t k, const int64_t e, const double *const c,
                     double *const value) {
  double *const t = transposed(k, e, c);
  if (t == NULL) {
    return 1;
  }
  double total = 0.0;
  for (int64_t i = 0; i < n; i++) {
    total += nearest(d, x + i * d, k, t, NULL);
  }
  free(t);
  *value = total;
  return 0;
}

int32_t kmeans_gradient(const int64_t n, const int64_t d,
                        const double *restrict const x, const int64_t k,
                        const int64_t e, const double *restrict const c,
                        double *const value, double *restrict const dc) {
  double *const t = transposed(k, e, c);
  if (t == NULL) {
    return 1;
  }
  memset(dc, 0, sizeof(double) * (size_t)(k * d));
  double total = 0.0;
  for (int64_t i = 0; i < n; i++) {
    int64_t at = 0;
    total += nearest(d, x + i * d, k, t, &at);
#pragma omp simd
    for (int64_t a = 0; a < d; a++) {
      dc[at * d + a] += 2.0 * (c[at * d + a] - x[i * d + a]);
    }
  }
  free(t);
  *value = total;
  return 0;
}
