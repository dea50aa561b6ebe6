// Fits the mixture of `gmm_model.py` to points by gradient ascent, with the library that
// `gmm_export.py` makes, and prints what comes out. It is C and C++.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mixture.h"

enum { N = 40, K = 2, D = 2, L = 1, SIZE = K + 2 * K * D + K * L, STEPS = 150 };

static double points[N * D];

// Two clouds around (-2, 1) and (2, -1).
static void draw(void) {
  uint64_t state = 1;
  for (int i = 0; i < N * D; ++i) {
    double sum = 0.0;
    for (int k = 0; k < 4; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      sum += (double)(state >> 11) / 9007199254740992.0 - 0.5;
    }
    const double side = (i / D) % 2 == 0 ? 1.0 : -1.0;
    points[i] = sum + side * (i % D == 0 ? -2.0 : 1.0);
  }
}

static int32_t ask(mixture_memory *memory, const double *theta, double *value,
                   double *gradient, mixture_error *error) {
  const int q = K + K * D, lower = q + K * D;
  return mixture_gradient(memory, theta, K, theta + K, K, D, theta + q, K, D,
                          theta + lower, K, L, points, N, D, 0.3, 2, value, gradient,
                          gradient + K, gradient + q, gradient + lower, error);
}

int main(void) {
  mixture_memory *memory = NULL;
  mixture_error error;
  double theta[SIZE], gradient[SIZE], value = 0.0, first = 0.0, norm = 0.0;
  memset(theta, 0, sizeof theta);
  draw();
  theta[K] = -1.0;
  theta[K + D] = 1.0;
  if (mixture_memory_open(MIXTURE_INTERFACE, NULL, &memory) != MIXTURE_OK) {
    return 2;
  }
  for (int step = 0; step < STEPS; ++step) {
    if (ask(memory, theta, &value, gradient, &error) != MIXTURE_OK) {
      printf("%s:%d: %s\n", error.file, (int)error.line, error.message);
      return 1;
    }
    norm = 0.0;
    for (int i = 0; i < SIZE; ++i) {
      if (step == 0) {
        printf("%.17g\n", gradient[i]);
      }
      theta[i] += 0.01 * gradient[i];
      norm += gradient[i] * gradient[i];
    }
    if (step == 0) {
      first = value;
      printf("%.17g\n", value);
    }
  }
  mixture_memory_close(memory);
  printf("%.17g\n", value);
  const double *const means = theta + K;
  const int near = fabs(means[0] + 2.0) < 0.2 && fabs(means[1] - 1.0) < 0.2 &&
                   fabs(means[2] - 2.0) < 0.2 && fabs(means[3] + 1.0) < 0.2;
  return value > first && sqrt(norm) < 0.1 && near ? 0 : 3;
}
