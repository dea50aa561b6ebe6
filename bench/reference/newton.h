// Kepler's equation solved by Newton's iteration, and its gradient, written by hand.
//
// Arrays are dense; the caller owns all of them. The functions may be called from many
// threads at once. They return 0, or 1 if memory ran out. The gradient writes the value
// and overwrites the arrays of derivatives, whose names begin with d.

#ifndef CHAD_BENCH_NEWTON_H
#define CHAD_BENCH_NEWTON_H

#include <stdint.h>

// The sum of cos(x) over all i, where x - e[i] sin(x) = mean[i]; n and m are equal.
int32_t orbits_value(int64_t n, const double *mean, int64_t m, const double *e,
                     double *value);
int32_t orbits_gradient(int64_t n, const double *mean, int64_t m, const double *e,
                        double *value, double *dmean, double *de);

#endif
