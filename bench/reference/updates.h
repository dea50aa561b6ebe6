// Loops of updates in place, and their gradients, written by hand.
//
// Arrays are dense, in C order; the caller owns all of them. The functions may be called
// from many threads at once. They return 0, or 1 if memory ran out. `*_gradient` writes
// the value and overwrites the arrays of derivatives, whose names begin with d.

#ifndef CHAD_BENCH_UPDATES_H
#define CHAD_BENCH_UPDATES_H

#include <stdint.h>

// a[i] = a[i - 1] / 2 + x[i] a[i - 2] from ones; a[n - 1] + sum(a), for n >= 2.
int32_t recurrence_value(int64_t n, const double *x, double *value);
int32_t recurrence_gradient(int64_t n, const double *x, double *value, double *dx);

// With k = at[i] in turn: a[k] = 0.9 a[k] + x[i] a[k] / (1 + a[k]^2); sum(a).
int32_t scattered_value(int64_t n, const double *x, const int64_t *at, int64_t m,
                        const double *start, double *value);
int32_t scattered_gradient(int64_t n, const double *x, const int64_t *at, int64_t m,
                           const double *start, double *value, double *dx,
                           double *dstart);

// Dynamic time warping with a soft minimum of width gamma, in a table of n by m.
int32_t soft_warp_value(int64_t n, const double *x, int64_t m, const double *y,
                        double gamma, double *value);
int32_t soft_warp_gradient(int64_t n, const double *x, int64_t m, const double *y,
                           double gamma, double *value, double *dx, double *dy);

// The edit distance of two sequences of numbers, in a table of n by m.
int32_t edit_distance_value(int64_t n, const double *x, int64_t m, const double *y,
                            double gap, double *value);
int32_t edit_distance_gradient(int64_t n, const double *x, int64_t m, const double *y,
                               double gap, double *value, double *dx, double *dy);

// The best common subsequence, scored by closeness, in a table of n by m.
int32_t common_score_value(int64_t n, const double *x, int64_t m, const double *y,
                           double *value);
int32_t common_score_gradient(int64_t n, const double *x, int64_t m, const double *y,
                              double *value, double *dx, double *dy);

// The most worth of things with these weights, in a table updated backwards.
int32_t knapsack_value(int64_t n, const double *worth, const int64_t *weight,
                       int64_t capacity, double *value);
int32_t knapsack_gradient(int64_t n, const double *worth, const int64_t *weight,
                          int64_t capacity, double *value, double *dworth);

// The least work of a product of n - 1 matrices of these sizes, by the best order.
int32_t matrix_chain_value(int64_t n, const double *d, double *value);
int32_t matrix_chain_gradient(int64_t n, const double *d, double *value, double *dd);

#endif
