// The cost of k-means and its gradient by the centres, written by hand.
//
// x[n][d] and c[k][e], e = d, k > 0. The functions may be called from many threads at
// once. They return 0, or 1 if memory ran out. The gradient writes the value and
// overwrites the derivatives.

#ifndef CHAD_BENCH_KMEANS_H
#define CHAD_BENCH_KMEANS_H

#include <stdint.h>

int32_t kmeans_value(int64_t n, int64_t d, const double *x, int64_t k, int64_t e,
                     const double *c, double *value);
int32_t kmeans_gradient(int64_t n, int64_t d, const double *x, int64_t k, int64_t e,
                        const double *c, double *value, double *dc);

#endif
