// The lanes of a vector are paths. With the price spot exp(t drift + w spread) at step t,
// where w is the sum of the normals so far, the derivatives of a path's mean are sums of
// prices times 1 / spot, t and w. They are taken along, and nothing is stored.

#include "monte_carlo.h"

#include <math.h>
#include <stdbool.h>

enum { lanes = 8 };

// Sums over all paths that are paid: their number, and those of means and derivatives.
typedef struct sums {
  double paid;
  double mean;
  double drift;
  double spread;
} sums_t;

typedef struct market {
  double spot;
  double drift;
  double spread;
  double strike;
  double barrier;
  int64_t steps;
} market_t;

// Adds the next `count` paths to the sums, `count` at most `lanes`. The derivatives are
// left out unless they are wanted.
static inline void add_paths(const market_t *const m, const int64_t count,
                             const bool derivatives, const double *restrict const normals,
                             sums_t *const sums) {
  double price[lanes];
  double top[lanes] = {0.0};
  double total[lanes] = {0.0};
  double walk[lanes] = {0.0};
  double by_drift[lanes] = {0.0};
  double by_spread[lanes] = {0.0};
  for (int64_t l = 0; l < count; l++) {
    price[l] = m->spot;
  }
  for (int64_t t = 0; t < m->steps; t++) {
    const double time = (double)(t + 1);
#pragma omp simd
    for (int64_t l = 0; l < count; l++) {
      const double normal = normals[l * m->steps + t];
      price[l] *= exp(m->drift + m->spread * normal);
      total[l] += price[l];
      top[l] = price[l] > top[l] ? price[l] : top[l];
      if (derivatives) {
        walk[l] += normal;
        by_drift[l] += time * price[l];
        by_spread[l] += walk[l] * price[l];
      }
    }
  }
  const double scale = 1.0 / (double)m->steps;
  for (int64_t l = 0; l < count; l++) {
    if (top[l] <= m->barrier && scale * total[l] > m->strike) {
      sums->paid += 1.0;
      sums->mean += scale * total[l];
      sums->drift += scale * by_drift[l];
      sums->spread += scale * by_spread[l];
    }
  }
}

static inline sums_t simulated(const market_t *const m, const bool derivatives,
                               const int64_t paths, const double *const normals) {
  sums_t sums = {0.0, 0.0, 0.0, 0.0};
  int64_t path = 0;
  for (; path + lanes <= paths; path += lanes) {
    add_paths(m, lanes, derivatives, normals + path * m->steps, &sums);
  }
  for (; path < paths; path++) {
    add_paths(m, 1, derivatives, normals + path * m->steps, &sums);
  }
  return sums;
}

static market_t market(const double spot, const double volatility, const double rate,
                       const double strike, const double barrier, const int64_t steps) {
  const double time = 1.0 / (double)steps;
  const double drift = (rate - 0.5 * volatility * volatility) * time;
  return (market_t){spot, drift, volatility * sqrt(time), strike, barrier, steps};
}

int32_t monte_carlo_value(const double spot, const double volatility, const double rate,
                          const double strike, const double barrier, const int64_t paths,
                          const int64_t steps, const double *const normals,
                          double *const value) {
  const market_t m = market(spot, volatility, rate, strike, barrier, steps);
  const sums_t sums = simulated(&m, false, paths, normals);
  *value = exp(-rate) / (double)paths * (sums.mean - strike * sums.paid);
  return 0;
}

int32_t monte_carlo_gradient(const double spot, const double volatility,
                             const double rate, const double strike,
                             const double barrier, const int64_t paths,
                             const int64_t steps, const double *const normals,
                             double *const value, double *const dspot,
                             double *const dvolatility, double *const drate,
                             double *const dstrike) {
  const market_t m = market(spot, volatility, rate, strike, barrier, steps);
  const sums_t sums = simulated(&m, true, paths, normals);
  const double scale = exp(-rate) / (double)paths;
  const double time = 1.0 / (double)steps;
  *value = scale * (sums.mean - strike * sums.paid);
  *dspot = scale * sums.mean / spot;
  *dvolatility = scale * (sqrt(time) * sums.spread - volatility * time * sums.drift);
  *drate = scale * time * sums.drift - *value;
  *dstrike = -scale * sums.paid;
  return 0;
}
