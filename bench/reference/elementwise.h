// Expressions over whole arrays and their gradients, written by hand as single loops.
//
// Arrays are dense, in C order, and owned by the caller; gradients are overwritten. All
// functions may be called from many threads at once; they return 0, or 1 if memory ran
// out.

#ifndef CHAD_BENCH_ELEMENTWISE_H
#define CHAD_BENCH_ELEMENTWISE_H

#include <stdint.h>

int32_t polynomial_value(int64_t n, const double *x, const double *y, double a,
                         double *value);
int32_t polynomial_gradient(int64_t n, const double *x, const double *y, double a,
                            double *value, double *dx);

int32_t logistic_loss_value(int64_t n, const double *score, const double *label,
                            double *value);
int32_t logistic_loss_gradient(int64_t n, const double *score, const double *label,
                               double *value, double *dscore);

int32_t standardised_value(int64_t n, int64_t m, const double *x, const double *mean,
                           const double *scale, double *value);
int32_t standardised_gradient(int64_t n, int64_t m, const double *x,
                              const double *mean, const double *scale, double *value,
                              double *dmean, double *dscale);

int32_t similarity_value(int64_t n, const double *x, int64_t m, const double *y,
                         double *value);
int32_t similarity_gradient(int64_t n, const double *x, int64_t m, const double *y,
                            double *value, double *dx, double *dy);

#endif
