// Everything is in logarithms, as in the program: an exponential for each pair of states
// and step. The gradient stores the odds of the states at each step, and what each state
// is reached with; the shares of the ways to a state are exponentials once more.

#include "hidden_markov.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { symbols = 16 };

// log(sum(exp(a + b)))
static double log_sum_exp(const int64_t n, const double *restrict const a,
                          const double *restrict const b) {
  double top = -INFINITY;
#pragma omp simd reduction(max : top)
  for (int64_t i = 0; i < n; i++) {
    const double term = a[i] + b[i];
    top = term > top ? term : top;
  }
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) {
    sum += exp(a[i] + b[i] - top);
  }
  return top + log(sum);
}

// Writes what each state is reached with, and the odds of the states after the symbol.
static void step(const int64_t n, const double *const moves, const double *const emission,
                 const double *const before, double *const reached,
                 double *const after) {
  for (int64_t j = 0; j < n; j++) {
    reached[j] = log_sum_exp(n, before, moves + j * n);
    after[j] = reached[j] + emission[j];
  }
}

int32_t hidden_markov_value(const int64_t n, const double *const start,
                            const double *const moves, const double *const emission,
                            const int64_t steps, const int64_t *const seen,
                            double *const value) {
  double *const odds = calloc((size_t)(4 * n + 1), sizeof(double));
  if (odds == NULL) {
    return 1;
  }
  double *const reached = odds + 2 * n;
  const double *const zeros = odds + 3 * n;
  for (int64_t j = 0; j < n; j++) {
    odds[j] = start[j] + emission[seen[0] * n + j];
  }
  for (int64_t t = 1; t < steps; t++) {
    step(n, moves, emission + seen[t] * n, odds + (t - 1) % 2 * n, reached,
         odds + t % 2 * n);
  }
  *value = log_sum_exp(n, odds + (steps - 1) % 2 * n, zeros);
  free(odds);
  return 0;
}

// The reverse of a step: the cotangent of the odds before it.
static void step_reverse(const int64_t n, const double *restrict const moves,
                         const double *restrict const before,
                         const double *restrict const reached,
                         const double *restrict const ct,
                         double *restrict const before_ct,
                         double *restrict const dmoves) {
  memset(before_ct, 0, sizeof(double) * (size_t)n);
  for (int64_t j = 0; j < n; j++) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
      const double part = ct[j] * exp(before[i] + moves[j * n + i] - reached[j]);
      before_ct[i] += part;
      dmoves[j * n + i] += part;
    }
  }
}

int32_t hidden_markov_gradient(const int64_t n, const double *const start,
                               const double *const moves, const double *const emission,
                               const int64_t steps, const int64_t *const seen,
                               double *const value, double *const dstart,
                               double *const dmoves, double *const demission) {
  double *const odds = calloc((size_t)((2 * steps + 3) * n), sizeof(double));
  if (odds == NULL) {
    return 1;
  }
  double *const reached = odds + steps * n;
  double *const cts = reached + steps * n;
  const double *const zeros = cts + 2 * n;
  for (int64_t j = 0; j < n; j++) {
    odds[j] = start[j] + emission[seen[0] * n + j];
  }
  for (int64_t t = 1; t < steps; t++) {
    step(n, moves, emission + seen[t] * n, odds + (t - 1) * n, reached + t * n,
         odds + t * n);
  }
  *value = log_sum_exp(n, odds + (steps - 1) * n, zeros);
  memset(dmoves, 0, sizeof(double) * (size_t)(n * n));
  memset(demission, 0, sizeof(double) * (size_t)(symbols * n));
  for (int64_t j = 0; j < n; j++) {
    cts[(steps - 1) % 2 * n + j] = exp(odds[(steps - 1) * n + j] - *value);
  }
  for (int64_t t = steps - 1; t >= 0; t--) {
    const double *const ct = cts + t % 2 * n;
    for (int64_t j = 0; j < n; j++) {
      demission[seen[t] * n + j] += ct[j];
    }
    if (t > 0) {
      step_reverse(n, moves, odds + (t - 1) * n, reached + t * n, ct,
                   cts + (t - 1) % 2 * n, dmoves);
    }
  }
  memcpy(dstart, cts, sizeof(double) * (size_t)n);
  free(odds);
  return 0;
}
