// The GMM objective of examples/gmm_model.py and its gradient, written by hand.
//
// Arrays are dense, in C order: alpha[k], means[k][d], q[k][d], lower[k][d (d - 1) / 2],
// x[n][d]. The caller owns all of them. Both functions may be called from many threads at
// once; they return 0, or 1 without having written anything if memory ran out. The
// gradient writes the value and overwrites the four arrays of derivatives.

#ifndef CHAD_BENCH_GMM_H
#define CHAD_BENCH_GMM_H

#include <stdint.h>

int32_t log_posterior_value(int64_t k, const double *alpha, const double *means,
                            const double *q, const double *lower, int64_t n, int64_t d,
                            const double *x, double gamma, int64_t m, double *value);
int32_t log_posterior_gradient(int64_t k, const double *alpha, const double *means,
                               const double *q, const double *lower, int64_t n,
                               int64_t d, const double *x, double gamma, int64_t m,
                               double *value, double *dalpha, double *dmeans,
                               double *dq, double *dlower);

#endif
