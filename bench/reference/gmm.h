// The GMM objective of examples/gmm_model.py and its gradient, written by hand.
//
// Arrays are dense, in C order: alpha[k], means[k][d], q[k][d], lower[k][d (d - 1) / 2],
// x[n][d]. The caller owns all of them. Both functions may be called from many threads at
// once; they return 0, or 1 without having written anything if memory ran out.

#ifndef CHAD_BENCH_GMM_H
#define CHAD_BENCH_GMM_H

#include <stdint.h>

typedef struct gmm_problem {
  int64_t n;
  int64_t k;
  int64_t d;
  int64_t m;
  double gamma;
  const double *x;
} gmm_problem_t;

typedef struct gmm_parameters {
  const double *alpha;
  const double *means;
  const double *q;
  const double *lower;
} gmm_parameters_t;

typedef struct gmm_gradient {
  double *alpha;
  double *means;
  double *q;
  double *lower;
} gmm_gradient_t;

// Writes the log-posterior to *value.
int32_t gmm_value(const gmm_problem_t *problem, const gmm_parameters_t *parameters,
                  double *value);

// Writes the log-posterior to *value and overwrites the four arrays of *gradient.
int32_t gmm_value_and_gradient(const gmm_problem_t *problem,
                               const gmm_parameters_t *parameters, double *value,
                               const gmm_gradient_t *gradient);

#endif
