// The price of an option on the mean of a path, with a barrier, and its gradient, written
// by hand.
//
// normals[paths][steps]. The functions may be called from many threads at once, and
// return 0. The gradient writes the value and the derivatives by the first four.

#ifndef CHAD_BENCH_MONTE_CARLO_H
#define CHAD_BENCH_MONTE_CARLO_H

#include <stdint.h>

int32_t monte_carlo_value(double spot, double volatility, double rate, double strike,
                          double barrier, int64_t paths, int64_t steps,
                          const double *normals, double *value);
int32_t monte_carlo_gradient(double spot, double volatility, double rate, double strike,
                             double barrier, int64_t paths, int64_t steps,
                             const double *normals, double *value, double *dspot,
                             double *dvolatility, double *drate, double *dstrike);

#endif
