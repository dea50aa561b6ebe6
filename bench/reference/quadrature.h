// Adaptive Simpson quadrature by recursion, and its gradient, written by hand.
//
// The functions may be called from many threads at once. They return 0. The gradient
// writes the value and overwrites the array of derivatives.

#ifndef CHAD_BENCH_QUADRATURE_H
#define CHAD_BENCH_QUADRATURE_H

#include <stdint.h>

// The integral over [0, 1] of exp(-p[0] x) sin(p[1] / (x + p[2])); n is 3.
int32_t integral_value(int64_t n, const double *p, double tolerance, double *value);
int32_t integral_gradient(int64_t n, const double *p, double tolerance, double *value,
                          double *dp);

#endif
