// Bodies that pull each other, by the leapfrog method, and the gradient, by hand.
//
// x[n][3], v[n][3], mass[n]; three = 3. The functions may be called from many threads at
// once. They return 0, or 1 if memory ran out. The gradient writes the value and
// overwrites the derivatives.

#ifndef CHAD_BENCH_NBODY_H
#define CHAD_BENCH_NBODY_H

#include <stdint.h>

int32_t nbody_value(int64_t n, int64_t three, const double *x, const double *v,
                    const double *mass, int64_t steps, double *value);
int32_t nbody_gradient(int64_t n, int64_t three, const double *x, const double *v,
                       const double *mass, int64_t steps, double *value, double *dx,
                       double *dv, double *dmass);

#endif
