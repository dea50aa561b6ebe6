// Inside, coordinates come before bodies, so that the lanes of a vector are bodies. The
// gradient stores the places at each step. In reverse each body gathers what it has by
// all others, as it gathers their pulls, so nothing is scattered: with d = x_j - x_i,
// r² = d·d + 0.01 and q = m_i ct_j - m_j ct_i, where ct is the cotangent of the pulls, the
// place x_i has q / r³ - 3 (d·q) d / r⁵ by body j, and the mass m_i has -(d·ct_j) / r³.

#include "nbody.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Writes all pulls; x[3][n], a[3][n].
static void pulls(const int64_t n, const double *restrict const x,
                  const double *restrict const mass, double *restrict const a) {
  const double *const y = x + n;
  const double *const z = y + n;
  for (int64_t i = 0; i < n; i++) {
    double ax = 0.0;
    double ay = 0.0;
    double az = 0.0;
#pragma omp simd reduction(+ : ax, ay, az)
    for (int64_t j = 0; j < n; j++) {
      const double dx = x[j] - x[i];
      const double dy = y[j] - y[i];
      const double dz = z[j] - z[i];
      const double square = dx * dx + dy * dy + dz * dz + 0.01;
      const double weight = mass[j] / (square * sqrt(square));
      ax += weight * dx;
      ay += weight * dy;
      az += weight * dz;
    }
    a[i] = ax;
    a[n + i] = ay;
    a[2 * n + i] = az;
  }
}

// Adds to the cotangents of places and masses what they have by that of the pulls.
static void pulls_reverse(const int64_t n, const double *restrict const x,
                          const double *restrict const mass,
                          const double *restrict const ct, double *restrict const x_ct,
                          double *restrict const mass_ct) {
  const double *const y = x + n;
  const double *const z = y + n;
  for (int64_t i = 0; i < n; i++) {
    double gx = 0.0;
    double gy = 0.0;
    double gz = 0.0;
    double gm = 0.0;
#pragma omp simd reduction(+ : gx, gy, gz, gm)
    for (int64_t j = 0; j < n; j++) {
      const double dx = x[j] - x[i];
      const double dy = y[j] - y[i];
      const double dz = z[j] - z[i];
      const double square = dx * dx + dy * dy + dz * dz + 0.01;
      const double over = 1.0 / square;
      const double cube = over * sqrt(over);
      const double qx = mass[i] * ct[j] - mass[j] * ct[i];
      const double qy = mass[i] * ct[n + j] - mass[j] * ct[n + i];
      const double qz = mass[i] * ct[2 * n + j] - mass[j] * ct[2 * n + i];
      const double along = 3.0 * over * (dx * qx + dy * qy + dz * qz);
      gx += cube * (qx - along * dx);
      gy += cube * (qy - along * dy);
      gz += cube * (qz - along * dz);
      gm -= cube * (dx * ct[j] + dy * ct[n + j] + dz * ct[2 * n + j]);
    }
    x_ct[i] += gx;
    x_ct[n + i] += gy;
    x_ct[2 * n + i] += gz;
    mass_ct[i] += gm;
  }
}

static void transpose(const int64_t rows, const int64_t columns,
                      const double *restrict const from, double *restrict const to) {
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) {
      to[j * rows + i] = from[i * columns + j];
    }
  }
}

// to = from + h slope
static void moved(const int64_t size, const double *const from, const double h,
                  const double *const slope, double *const to) {
#pragma omp simd
  for (int64_t k = 0; k < size; k++) {
    to[k] = from[k] + h * slope[k];
  }
}

static double squares(const int64_t size, const double *const x) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (int64_t k = 0; k < size; k++) {
    sum += x[k] * x[k];
  }
  return sum;
}

// Moves v, and the places from x on: to x + stride at each step, which may be 0.
static double simulated(const int64_t n, const double *const mass, const int64_t steps,
                        const int64_t stride, double *x, double *const v,
                        double *const a) {
  const double h = 0.1 / (double)steps;
  pulls(n, x, mass, a);
  for (int64_t k = 0; k < steps; k++) {
    moved(3 * n, v, 0.5 * h, a, v);
    moved(3 * n, x, h, v, x + stride);
    x += stride;
    pulls(n, x, mass, a);
    moved(3 * n, v, 0.5 * h, a, v);
  }
  return squares(3 * n, x) + squares(3 * n, v);
}

int32_t nbody_value(const int64_t n, const int64_t three, const double *const x,
                    const double *const v, const double *const mass,
                    const int64_t steps, double *const value) {
  const int64_t size = n * three;
  double *const place = malloc(sizeof(double) * (size_t)(3 * size + 1));
  if (place == NULL) {
    return 1;
  }
  transpose(n, three, x, place);
  transpose(n, three, v, place + size);
  *value = simulated(n, mass, steps, 0, place, place + size, place + 2 * size);
  free(place);
  return 0;
}

int32_t nbody_gradient(const int64_t n, const int64_t three, const double *const x,
                       const double *const v, const double *const mass,
                       const int64_t steps, double *const value, double *const dx,
                       double *const dv, double *const dmass) {
  const int64_t size = n * three;
  double *const speed = malloc(sizeof(double) * (size_t)((steps + 4) * size + 1));
  if (speed == NULL) {
    return 1;
  }
  double *const a = speed + size;
  double *const x_ct = a + size;
  double *const places = x_ct + size;
  transpose(n, three, x, places);
  transpose(n, three, v, speed);
  *value = simulated(n, mass, steps, size, places, speed, a);
  // From here on, the cotangents of speeds and of pulls.
  const double h = 0.1 / (double)steps;
  memset(a, 0, sizeof(double) * (size_t)size);
  memset(x_ct, 0, sizeof(double) * (size_t)size);
  memset(dmass, 0, sizeof(double) * (size_t)n);
  moved(size, x_ct, 2.0, places + steps * size, x_ct);
  moved(size, speed, 1.0, speed, speed);
  for (int64_t k = steps; k > 0; k--) {
    moved(size, a, 0.5 * h, speed, a);
    pulls_reverse(n, places + k * size, mass, a, x_ct, dmass);
    moved(size, speed, h, x_ct, speed);
    memset(a, 0, sizeof(double) * (size_t)size);
    moved(size, a, 0.5 * h, speed, a);
  }
  pulls_reverse(n, places, mass, a, x_ct, dmass);
  transpose(three, n, x_ct, dx);
  transpose(three, n, speed, dv);
  free(speed);
  return 0;
}
