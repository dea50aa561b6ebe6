// The hand-written reference for updates in place. A gradient stores what its reverse
// needs and cannot read off the final table: an element a step for `scattered`, a byte a
// step for `knapsack`, the place of the best one for each element of `matrix_chain`, and
// nothing for the others.

#include "updates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *new_reals(const int64_t count) {
  return malloc(sizeof(double) * (size_t)(count > 0 ? count : 1));
}

static double *new_zeros(const int64_t count) {
  return calloc((size_t)(count > 0 ? count : 1), sizeof(double));
}

static void clear(const int64_t count, double *const a) {
  memset(a, 0, sizeof(double) * (size_t)count);
}

static double sum(const int64_t count, const double *const a) {
  double total = 0.0;
  for (int64_t i = 0; i < count; i++) {
    total += a[i];
  }
  return total;
}

// recurrence

static void recur(const int64_t n, const double *restrict const x,
                  double *restrict const a) {
  a[0] = a[1] = 1.0;
  for (int64_t i = 2; i < n; i++) {
    a[i] = 0.5 * a[i - 1] + x[i] * a[i - 2];
  }
}

int32_t recurrence_value(const int64_t n, const double *const x, double *const value) {
  double *const a = new_reals(n);
  if (a == NULL) {
    return 1;
  }
  recur(n, x, a);
  *value = a[n - 1] + sum(n, a);
  free(a);
  return 0;
}

int32_t recurrence_gradient(const int64_t n, const double *restrict const x,
                            double *const value, double *restrict const dx) {
  double *restrict const a = new_reals(n);
  if (a == NULL) {
    return 1;
  }
  recur(n, x, a);
  *value = a[n - 1] + sum(n, a);
  // The cotangents of a[i] and a[i - 1]; all others are 1.
  double here = 2.0;
  double before = 1.0;
  for (int64_t i = n - 1; i >= 2; i--) {
    dx[i] = here * a[i - 2];
    const double next = before + 0.5 * here;
    before = 1.0 + x[i] * here;
    here = next;
  }
  dx[0] = dx[1] = 0.0;
  free(a);
  return 0;
}

// scattered

int32_t scattered_value(const int64_t n, const double *restrict const x,
                        const int64_t *restrict const at, const int64_t m,
                        const double *const start, double *const value) {
  double *restrict const a = new_reals(m);
  if (a == NULL) {
    return 1;
  }
  memcpy(a, start, sizeof(double) * (size_t)m);
  for (int64_t i = 0; i < n; i++) {
    const double old = a[at[i]];
    a[at[i]] = 0.9 * old + x[i] * old / (1.0 + old * old);
  }
  *value = sum(m, a);
  free(a);
  return 0;
}

int32_t scattered_gradient(const int64_t n, const double *restrict const x,
                           const int64_t *restrict const at, const int64_t m,
                           const double *const start, double *const value,
                           double *restrict const dx, double *restrict const dstart) {
  double *restrict const a = new_reals(m);
  double *restrict const tape = new_reals(n);
  if (a == NULL || tape == NULL) {
    free(a);
    free(tape);
    return 1;
  }
  memcpy(a, start, sizeof(double) * (size_t)m);
  for (int64_t i = 0; i < n; i++) {
    const double old = tape[i] = a[at[i]];
    a[at[i]] = 0.9 * old + x[i] * old / (1.0 + old * old);
  }
  *value = sum(m, a);
  for (int64_t k = 0; k < m; k++) {
    dstart[k] = 1.0;
  }
  for (int64_t i = n - 1; i >= 0; i--) {
    const double old = tape[i];
    const double slope = 1.0 / (1.0 + old * old);
    const double ct = dstart[at[i]];
    dx[i] = ct * old * slope;
    dstart[at[i]] = ct * (0.9 + x[i] * slope * (1.0 - 2.0 * old * old * slope));
  }
  free(a);
  free(tape);
  return 0;
}

// soft_warp

static double least(const double a, const double b) {
  return b < a ? b : a;
}

static double soft_least(const double a, const double b, const double c,
                         const double gamma) {
  const double low = least(least(a, b), c);
  const double total =
      exp((low - a) / gamma) + exp((low - b) / gamma) + exp((low - c) / gamma);
  return low - gamma * log(total);
}

static void soft_warp(const int64_t n, const double *restrict const x, const int64_t m,
                      const double *restrict const y, const double gamma,
                      double *restrict const t) {
  const int64_t w = m + 1;
  for (int64_t k = 0; k < (n + 1) * w; k++) {
    t[k] = 1e10;
  }
  t[0] = 0.0;
  for (int64_t i = 1; i <= n; i++) {
    for (int64_t j = 1; j <= m; j++) {
      const double far = x[i - 1] - y[j - 1];
      const double soft = soft_least(t[(i - 1) * w + j], t[i * w + j - 1],
                                     t[(i - 1) * w + j - 1], gamma);
      t[i * w + j] = far * far + soft;
    }
  }
}

int32_t soft_warp_value(const int64_t n, const double *const x, const int64_t m,
                        const double *const y, const double gamma,
                        double *const value) {
  double *const t = new_reals((n + 1) * (m + 1));
  if (t == NULL) {
    return 1;
  }
  soft_warp(n, x, m, y, gamma, t);
  *value = t[(n + 1) * (m + 1) - 1];
  free(t);
  return 0;
}

int32_t soft_warp_gradient(const int64_t n, const double *restrict const x,
                           const int64_t m, const double *restrict const y,
                           const double gamma, double *const value,
                           double *restrict const dx, double *restrict const dy) {
  const int64_t w = m + 1;
  double *restrict const t = new_reals((n + 1) * w);
  double *restrict const dt = new_zeros((n + 1) * w);
  if (t == NULL || dt == NULL) {
    free(t);
    free(dt);
    return 1;
  }
  soft_warp(n, x, m, y, gamma, t);
  *value = t[(n + 1) * w - 1];
  dt[(n + 1) * w - 1] = 1.0;
  clear(n, dx);
  clear(m, dy);
  for (int64_t i = n; i >= 1; i--) {
    for (int64_t j = m; j >= 1; j--) {
      const double ct = dt[i * w + j];
      const double far = x[i - 1] - y[j - 1];
      dx[i - 1] += 2.0 * far * ct;
      dy[j - 1] -= 2.0 * far * ct;
      // The soft minimum is the table's entry without this step's distance.
      const double soft = t[i * w + j] - far * far;
      const int64_t up = (i - 1) * w + j;
      dt[up] += ct * exp((soft - t[up]) / gamma);
      dt[i * w + j - 1] += ct * exp((soft - t[i * w + j - 1]) / gamma);
      dt[up - 1] += ct * exp((soft - t[up - 1]) / gamma);
    }
  }
  free(t);
  free(dt);
  return 0;
}

// edit_distance

static void edit_distance(const int64_t n, const double *restrict const x,
                          const int64_t m, const double *restrict const y,
                          const double gap, double *restrict const t) {
  const int64_t w = m + 1;
  for (int64_t i = 0; i <= n; i++) {
    t[i * w] = gap * (double)i;
  }
  for (int64_t j = 1; j <= m; j++) {
    t[j] = gap * (double)j;
  }
  for (int64_t i = 1; i <= n; i++) {
    for (int64_t j = 1; j <= m; j++) {
      const double up = t[(i - 1) * w + j] + gap;
      const double left = t[i * w + j - 1] + gap;
      const double change = t[(i - 1) * w + j - 1] + fabs(x[i - 1] - y[j - 1]);
      t[i * w + j] = least(least(up, left), change);
    }
  }
}

int32_t edit_distance_value(const int64_t n, const double *const x, const int64_t m,
                            const double *const y, const double gap,
                            double *const value) {
  double *const t = new_reals((n + 1) * (m + 1));
  if (t == NULL) {
    return 1;
  }
  edit_distance(n, x, m, y, gap, t);
  *value = t[(n + 1) * (m + 1) - 1];
  free(t);
  return 0;
}

int32_t edit_distance_gradient(const int64_t n, const double *restrict const x,
                               const int64_t m, const double *restrict const y,
                               const double gap, double *const value,
                               double *restrict const dx, double *restrict const dy) {
  const int64_t w = m + 1;
  double *restrict const t = new_reals((n + 1) * w);
  double *restrict const dt = new_zeros((n + 1) * w);
  if (t == NULL || dt == NULL) {
    free(t);
    free(dt);
    return 1;
  }
  edit_distance(n, x, m, y, gap, t);
  *value = t[(n + 1) * w - 1];
  dt[(n + 1) * w - 1] = 1.0;
  clear(n, dx);
  clear(m, dy);
  for (int64_t i = n; i >= 1; i--) {
    for (int64_t j = m; j >= 1; j--) {
      const double ct = dt[i * w + j];
      const int64_t up = (i - 1) * w + j;
      const double far = x[i - 1] - y[j - 1];
      const double by_up = t[up] + gap;
      const double by_left = t[i * w + j - 1] + gap;
      const double low = least(by_up, by_left);
      const double change = t[up - 1] + fabs(far);
      const double taken = change < low ? ct : 0.0;
      const double left = change < low || by_up <= by_left ? 0.0 : ct;
      dt[up] += ct - taken - left;
      dt[i * w + j - 1] += left;
      dt[up - 1] += taken;
      const double sign = far > 0.0 ? 1.0 : far < 0.0 ? -1.0 : 0.0;
      dx[i - 1] += sign * taken;
      dy[j - 1] -= sign * taken;
    }
  }
  free(t);
  free(dt);
  return 0;
}

// common_score

static void common_score(const int64_t n, const double *restrict const x,
                         const int64_t m, const double *restrict const y,
                         double *restrict const t) {
  const int64_t w = m + 1;
  for (int64_t i = 0; i <= n; i++) {
    t[i * w] = 0.0;
  }
  clear(w, t);
  for (int64_t i = 1; i <= n; i++) {
    for (int64_t j = 1; j <= m; j++) {
      const double far = x[i - 1] - y[j - 1];
      if (far * far < 1.0) {
        t[i * w + j] = t[(i - 1) * w + j - 1] + (1.0 - far * far);
      } else {
        const double up = t[(i - 1) * w + j];
        const double left = t[i * w + j - 1];
        t[i * w + j] = left > up ? left : up;
      }
    }
  }
}

int32_t common_score_value(const int64_t n, const double *const x, const int64_t m,
                           const double *const y, double *const value) {
  double *const t = new_reals((n + 1) * (m + 1));
  if (t == NULL) {
    return 1;
  }
  common_score(n, x, m, y, t);
  *value = t[(n + 1) * (m + 1) - 1];
  free(t);
  return 0;
}

int32_t common_score_gradient(const int64_t n, const double *restrict const x,
                              const int64_t m, const double *restrict const y,
                              double *const value, double *restrict const dx,
                              double *restrict const dy) {
  const int64_t w = m + 1;
  double *restrict const t = new_reals((n + 1) * w);
  double *restrict const dt = new_zeros((n + 1) * w);
  if (t == NULL || dt == NULL) {
    free(t);
    free(dt);
    return 1;
  }
  common_score(n, x, m, y, t);
  *value = t[(n + 1) * w - 1];
  dt[(n + 1) * w - 1] = 1.0;
  clear(n, dx);
  clear(m, dy);
  for (int64_t i = n; i >= 1; i--) {
    for (int64_t j = m; j >= 1; j--) {
      const double ct = dt[i * w + j];
      const int64_t up = (i - 1) * w + j;
      const double far = x[i - 1] - y[j - 1];
      if (far * far < 1.0) {
        dt[up - 1] += ct;
        dx[i - 1] -= 2.0 * far * ct;
        dy[j - 1] += 2.0 * far * ct;
      } else if (t[i * w + j - 1] > t[up]) {
        dt[i * w + j - 1] += ct;
      } else {
        dt[up] += ct;
      }
    }
  }
  free(t);
  free(dt);
  return 0;
}

// knapsack

int32_t knapsack_value(const int64_t n, const double *restrict const worth,
                       const int64_t *restrict const weight, const int64_t capacity,
                       double *const value) {
  double *const best = new_zeros(capacity + 1);
  if (best == NULL) {
    return 1;
  }
  for (int64_t k = 0; k < n; k++) {
    for (int64_t c = capacity; c >= weight[k]; c--) {
      const double with = best[c - weight[k]] + worth[k];
      best[c] = with > best[c] ? with : best[c];
    }
  }
  *value = best[capacity];
  free(best);
  return 0;
}

int32_t knapsack_gradient(const int64_t n, const double *restrict const worth,
                          const int64_t *restrict const weight, const int64_t capacity,
                          double *const value, double *restrict const dworth) {
  double *const best = new_zeros(capacity + 1);
  double *const ct = new_zeros(capacity + 1);
  char *const taken = malloc((size_t)(n * (capacity + 1)) + 1);
  if (best == NULL || ct == NULL || taken == NULL) {
    free(best);
    free(ct);
    free(taken);
    return 1;
  }
  for (int64_t k = 0; k < n; k++) {
    for (int64_t c = capacity; c >= weight[k]; c--) {
      const double with = best[c - weight[k]] + worth[k];
      taken[k * (capacity + 1) + c] = with > best[c];
      best[c] = with > best[c] ? with : best[c];
    }
  }
  *value = best[capacity];
  ct[capacity] = 1.0;
  for (int64_t k = n - 1; k >= 0; k--) {
    dworth[k] = 0.0;
    for (int64_t c = weight[k]; c <= capacity; c++) {
      const double moved = taken[k * (capacity + 1) + c] ? ct[c] : 0.0;
      ct[c] -= moved;
      ct[c - weight[k]] += moved;
      dworth[k] += moved;
    }
  }
  free(best);
  free(ct);
  free(taken);
  return 0;
}

// matrix_chain

// `winner` may be NULL.
static void matrix_chain(const int64_t n, const double *restrict const d,
                         double *restrict const t, int64_t *restrict const winner) {
  for (int64_t length = 2; length <= n; length++) {
    for (int64_t i = 0; i < n - length + 1; i++) {
      const int64_t j = i + length - 1;
      double best = 1e300;
      int64_t place = i;
      for (int64_t k = i; k < j; k++) {
        const double last = d[i] * d[k + 1] * d[j + 1];
        const double work = t[i * n + k] + t[(k + 1) * n + j] + last;
        place = work < best ? k : place;
        best = work < best ? work : best;
      }
      t[i * n + j] = best;
      if (winner != NULL) {
        winner[i * n + j] = place;
      }
    }
  }
}

int32_t matrix_chain_value(const int64_t n, const double *const d, double *const value) {
  const int64_t m = n - 1;
  double *const t = new_zeros(m * m);
  if (t == NULL) {
    return 1;
  }
  matrix_chain(m, d, t, NULL);
  *value = t[m - 1];
  free(t);
  return 0;
}

int32_t matrix_chain_gradient(const int64_t n, const double *restrict const d,
                              double *const value, double *restrict const dd) {
  const int64_t m = n - 1;
  double *restrict const t = new_zeros(m * m);
  double *restrict const ct = new_zeros(m * m);
  int64_t *restrict const winner = malloc(sizeof(int64_t) * (size_t)(m * m + 1));
  if (t == NULL || ct == NULL || winner == NULL) {
    free(t);
    free(ct);
    free(winner);
    return 1;
  }
  matrix_chain(m, d, t, winner);
  *value = t[m - 1];
  ct[m - 1] = 1.0;
  clear(n, dd);
  for (int64_t length = m; length >= 2; length--) {
    for (int64_t i = m - length; i >= 0; i--) {
      const int64_t j = i + length - 1;
      const int64_t k = winner[i * m + j];
      const double c = ct[i * m + j];
      ct[i * m + k] += c;
      ct[(k + 1) * m + j] += c;
      dd[i] += c * d[k + 1] * d[j + 1];
      dd[k + 1] += c * d[i] * d[j + 1];
      dd[j + 1] += c * d[i] * d[k + 1];
    }
  }
  free(t);
  free(ct);
  free(winner);
  return 0;
}
