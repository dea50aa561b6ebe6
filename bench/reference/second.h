// Second derivatives along a direction, written by hand: forward mode over reverse mode.
//
// Arrays are dense, in C order; the caller owns all of them. The functions may be called
// from many threads at once. They return 0, or 1 if memory ran out; results are
// overwritten.

#ifndef CHAD_BENCH_SECOND_H
#define CHAD_BENCH_SECOND_H

#include <stdint.h>

// A damped pendulum p = (angle, speed, pull), n steps of the classical Runge-Kutta method
// over 10 units of time: angle² + speed² in the end, its gradient, and its Hessian times v.
int32_t pendulum_value(const double *p, int64_t n, double *value);
int32_t pendulum_gradient(const double *p, int64_t n, double *value, double *dp);
int32_t pendulum_product(const double *p, int64_t n, const double *v, double *product);

// The Hessian of the mixture of gmm.h times a direction, whose parts v_* are shaped like
// the parameters, as are those of the product p_*.
int32_t mixture_product(int64_t n, int64_t k, int64_t d, int64_t m, double gamma,
                        const double *alpha, const double *means, const double *q,
                        const double *lower, const double *x, const double *v_alpha,
                        const double *v_means, const double *v_q, const double *v_lower,
                        double *p_alpha, double *p_means, double *p_q, double *p_lower);

#endif
