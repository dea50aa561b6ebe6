// The squared errors of bundle adjustment and their gradient, written by hand.
//
// cameras[n][11]: rotation vector, centre, focal length, principal point, two radial
// distortions; points[m][3]; for each observation a weight, the places of its camera and
// point, seen[count][2], and images[count][2]; eleven = 11, three = 3. The functions may
// be called from many threads at once, and return 0. The gradient writes the value and
// overwrites the derivatives.

#ifndef CHAD_BENCH_BUNDLE_ADJUSTMENT_H
#define CHAD_BENCH_BUNDLE_ADJUSTMENT_H

#include <stdint.h>

int32_t bundle_adjustment_value(int64_t n, int64_t eleven, const double *cameras,
                                int64_t m, int64_t three, const double *points,
                                int64_t count, const double *weights,
                                const int64_t *seen, const double *images,
                                double *value);
int32_t bundle_adjustment_gradient(int64_t n, int64_t eleven, const double *cameras,
                                   int64_t m, int64_t three, const double *points,
                                   int64_t count, const double *weights,
                                   const int64_t *seen, const double *images,
                                   double *value, double *dcameras, double *dpoints,
                                   double *dweights);

#endif
