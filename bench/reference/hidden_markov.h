// The log-likelihood of a hidden Markov model and its gradient, written by hand.
//
// start[n], moves[n][n] with the state that is reached first, emission[16][n], and the
// symbols seen[steps] below 16; all odds are logarithms, and steps and n above 0. The
// functions may be called from many threads at once. They return 0, or 1 if memory ran
// out. The gradient writes the value and overwrites the derivatives.

#ifndef CHAD_BENCH_HIDDEN_MARKOV_H
#define CHAD_BENCH_HIDDEN_MARKOV_H

#include <stdint.h>

int32_t hidden_markov_value(int64_t n, const double *start, const double *moves,
                            const double *emission, int64_t steps, const int64_t *seen,
                            double *value);
int32_t hidden_markov_gradient(int64_t n, const double *start, const double *moves,
                               const double *emission, int64_t steps,
                               const int64_t *seen, double *value, double *dstart,
                               double *dmoves, double *demission);

#endif
