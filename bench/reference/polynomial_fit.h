// The squared residuals of a polynomial fit and their gradient, written by hand.
//
// c[terms], from the constant on; x[n], y[n]. The functions may be called from many
// threads at once. They return 0, or 1 if memory ran out. The gradient writes the value
// and overwrites the derivatives by c.

#ifndef CHAD_BENCH_POLYNOMIAL_FIT_H
#define CHAD_BENCH_POLYNOMIAL_FIT_H

#include <stdint.h>

int32_t polynomial_fit_value(int64_t terms, const double *c, int64_t n, const double *x,
                             const double *y, double *value);
int32_t polynomial_fit_gradient(int64_t terms, const double *c, int64_t n,
                                const double *x, const double *y, double *value,
                                double *dc);

#endif
