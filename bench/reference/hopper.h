// Two bouncing masses by Runge and Kutta's method, and the gradient, written by hand.
//
// p[4]: stiffness and damping of the spring, then of the ground; start[4]: height and
// speed of the lower mass, then of the upper one. The functions may be called from many
// threads at once. They return 0, or 1 if memory ran out. The gradient writes the value
// and overwrites the derivatives.

#ifndef CHAD_BENCH_HOPPER_H
#define CHAD_BENCH_HOPPER_H

#include <stdint.h>

int32_t hopper_value(const double *p, const double *start, int64_t steps,
                     double *value);
int32_t hopper_gradient(const double *p, const double *start, int64_t steps,
                        double *value, double *dp, double *dstart);

#endif
