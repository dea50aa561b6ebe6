// The loss of a sequence predicted by a small recurrent network, and its gradient by the
// parameters, written by hand.
//
// weights[layers][4][n], biases[layers][4][n], ends[3][n], hidden[layers][n],
// cell[layers][n], sequence[steps][n]; gates = 4, width = n. The functions may be called
// from many threads at once. They return 0, or 1 if memory ran out. The gradient writes
// the value and overwrites the derivatives.

#ifndef CHAD_BENCH_LSTM_H
#define CHAD_BENCH_LSTM_H

#include <stdint.h>

int32_t lstm_value(int64_t layers, int64_t gates, int64_t n, const double *weights,
                   const double *biases, const double *ends, const double *hidden,
                   const double *cell, int64_t steps, int64_t width,
                   const double *sequence, double *value);
int32_t lstm_gradient(int64_t layers, int64_t gates, int64_t n, const double *weights,
                      const double *biases, const double *ends, const double *hidden,
                      const double *cell, int64_t steps, int64_t width,
                      const double *sequence, double *value, double *dweights,
                      double *dbiases, double *dends);

#endif
