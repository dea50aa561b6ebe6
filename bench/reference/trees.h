// A binary tree made of numbers and folded, and the gradient, written by hand.
//
// The functions may be called from many threads at once. They return 0, or 1 if memory
// ran out. The gradient writes the value and overwrites the array of derivatives.

#ifndef CHAD_BENCH_TREES_H
#define CHAD_BENCH_TREES_H

#include <stdint.h>

// The balanced tree over x[0 .. n], of which a node with the folds l and r of its
// branches has the fold w tanh(l) + (1 - w) r, where w depends on its place; n > 0.
int32_t folded_value(int64_t n, const double *x, double *value);
int32_t folded_gradient(int64_t n, const double *x, double *value, double *dx);

#endif
