// The heat equation on a plate and the gradient by its first state, written by hand.
//
// start[n][m], target[n][m]. The functions may be called from many threads at once. They
// return 0, or 1 if memory ran out. The gradient writes the value and overwrites dstart.

#ifndef CHAD_BENCH_HEAT_H
#define CHAD_BENCH_HEAT_H

#include <stdint.h>

int32_t heat_value(int64_t n, int64_t m, const double *start, const double *target,
                   double rate, int64_t steps, double *value);
int32_t heat_gradient(int64_t n, int64_t m, const double *start, const double *target,
                      double rate, int64_t steps, double *value, double *dstart);

#endif
