// The hand-written reference: value in one pass over the points, gradient in one fused
// pass. Nothing of size n is stored.
//
// Points are taken LANES at a time. Where a sum runs over a point's coordinates, which is
// Q (x - mean), the points are the lanes of vectors; where it runs over points, which is
// the gradient of Q, the columns of a row are, and the row is loaded once for LANES
// points. So nothing is added across a vector. What is linear in the points is summed
// first and multiplied once: with y = Q (x - mean) and r the responsibility, the gradient
// of the mean is Qᵀ Σ r y, that of q is Σ r (1 - y_row exp(q_row) xc_row).

#include "gmm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct gmm_problem {
  int64_t n;
  int64_t k;
  int64_t d;
  int64_t m;
  double gamma;
  const double *x;
} gmm_problem_t;

typedef struct gmm_parameters {
  const double *alpha;
  const double *means;
  const double *q;
  const double *lower;
} gmm_parameters_t;

typedef struct gmm_gradient {
  double *alpha;
  double *means;
  double *q;
  double *lower;
} gmm_gradient_t;

enum { LANES = 8 };

// All scratch is one block; `storage` owns it. The points at hand are stored twice: by
// coordinates with LANES points each, and by points. What fills up the last block is a
// point again, with responsibilities of zero.
typedef struct scratch {
  double *storage;
  double *diagonal;   // [k][d]: exp(q)
  double *log_scale;  // [k]: alpha + sum(q)
  double *white_sum;  // [k][d]: the sum over points of r Q (x - mean)
  double *across;     // [d][LANES]: x
  double *centred;    // [d][LANES]: x - mean, of one component
  double *rows;       // [LANES][d]: x - mean, of one component
  double *white;      // [k][d][LANES]: Q (x - mean)
  double *log_term;   // [k][LANES]: the log-density of each point in each component
  double *weights;    // [k]: softmax(alpha)
} scratch_t;

static int64_t triangle(const int64_t d) {
  return d * (d - 1) / 2;
}

static int32_t scratch_open(scratch_t *const s, const gmm_problem_t *const p,
                            const gmm_parameters_t *const t) {
  const int64_t kd = p->k * p->d;
  const int64_t size = (2 + LANES) * (kd + p->k) + 3 * p->d * LANES;
  s->storage = malloc(sizeof(double) * (size_t)size);
  if (s->storage == NULL) {
    return 1;
  }
  s->diagonal = s->storage;
  s->white_sum = s->diagonal + kd;
  s->across = s->white_sum + kd;
  s->centred = s->across + p->d * LANES;
  s->rows = s->centred + p->d * LANES;
  s->white = s->rows + p->d * LANES;
  s->log_term = s->white + kd * LANES;
  s->log_scale = s->log_term + p->k * LANES;
  s->weights = s->log_scale + p->k;
  memset(s->white_sum, 0, sizeof(double) * (size_t)kd);
  for (int64_t j = 0; j < p->k; j++) {
    s->log_scale[j] = t->alpha[j];
    for (int64_t row = 0; row < p->d; row++) {
      s->diagonal[j * p->d + row] = exp(t->q[j * p->d + row]);
      s->log_scale[j] += t->q[j * p->d + row];
    }
  }
  return 0;
}

static int64_t least(const int64_t a, const int64_t b) {
  return a < b ? a : b;
}

// Writes the points from number `first` on by coordinates.
static void take_points(const gmm_problem_t *const p, const int64_t first,
                        double *restrict const across) {
  for (int64_t lane = 0; lane < LANES; lane++) {
    const double *const x = p->x + least(first + lane, p->n - 1) * p->d;
    for (int64_t row = 0; row < p->d; row++) {
      across[row * LANES + lane] = x[row];
    }
  }
}

// Writes rows `row` and `row + 1` of Q (x - mean); adds their squares.
static void whiten_two(const int64_t row, const double *restrict const line,
                       const double *restrict const diagonal,
                       const double *restrict const centred,
                       double *restrict const white, double *restrict const square) {
  const double *const next = line + row;
  double a[LANES];
  double b[LANES];
#pragma omp simd
  for (int64_t lane = 0; lane < LANES; lane++) {
    a[lane] = diagonal[row] * centred[row * LANES + lane];
    b[lane] = next[row] * centred[row * LANES + lane] +
              diagonal[row + 1] * centred[(row + 1) * LANES + lane];
  }
  for (int64_t column = 0; column < row; column++) {
#pragma omp simd
    for (int64_t lane = 0; lane < LANES; lane++) {
      a[lane] += line[column] * centred[column * LANES + lane];
      b[lane] += next[column] * centred[column * LANES + lane];
    }
  }
#pragma omp simd
  for (int64_t lane = 0; lane < LANES; lane++) {
    white[row * LANES + lane] = a[lane];
    white[(row + 1) * LANES + lane] = b[lane];
    square[lane] += a[lane] * a[lane] + b[lane] * b[lane];
  }
}

static void whiten_one(const int64_t row, const double *restrict const line,
                       const double *restrict const diagonal,
                       const double *restrict const centred,
                       double *restrict const white, double *restrict const square) {
  double a[LANES];
#pragma omp simd
  for (int64_t lane = 0; lane < LANES; lane++) {
    a[lane] = diagonal[row] * centred[row * LANES + lane];
  }
  for (int64_t column = 0; column < row; column++) {
#pragma omp simd
    for (int64_t lane = 0; lane < LANES; lane++) {
      a[lane] += line[column] * centred[column * LANES + lane];
    }
  }
#pragma omp simd
  for (int64_t lane = 0; lane < LANES; lane++) {
    white[row * LANES + lane] = a[lane];
    square[lane] += a[lane] * a[lane];
  }
}

// Writes x - mean, Q (x - mean), and the log-density of the points in a component.
static void component_value(const gmm_problem_t *const p, const gmm_parameters_t *const t,
                            const scratch_t *const s, const int64_t j) {
  const int64_t d = p->d;
  const double *const mean = t->means + j * d;
  const double *const diagonal = s->diagonal + j * d;
  double *const white = s->white + j * d * LANES;
  double square[LANES] = {0};
  for (int64_t row = 0; row < d; row++) {
#pragma omp simd
    for (int64_t lane = 0; lane < LANES; lane++) {
      s->centred[row * LANES + lane] = s->across[row * LANES + lane] - mean[row];
    }
  }
  const double *line = t->lower + j * triangle(d);
  int64_t row = 0;
  for (; row + 1 < d; row += 2) {
    whiten_two(row, line, diagonal, s->centred, white, square);
    line += 2 * row + 1;
  }
  if (row < d) {
    whiten_one(row, line, diagonal, s->centred, white, square);
  }
  for (int64_t lane = 0; lane < LANES; lane++) {
    s->log_term[j * LANES + lane] = s->log_scale[j] - 0.5 * square[lane];
  }
}

// Replaces each term by exp(term - log_sum), its share; returns log_sum.
static double log_sum_exp(const int64_t k, double *restrict const terms) {
  double largest = terms[0];
  for (int64_t j = 1; j < k; j++) {
    largest = terms[j] > largest ? terms[j] : largest;
  }
  double sum = 0.0;
  for (int64_t j = 0; j < k; j++) {
    terms[j] = exp(terms[j] - largest);
    sum += terms[j];
  }
  const double scale = 1.0 / sum;
  for (int64_t j = 0; j < k; j++) {
    terms[j] *= scale;
  }
  return largest + log(sum);
}

// The same for LANES points; returns the sum over those that count.
static double log_sum_exps(const int64_t k, const int64_t count,
                           double *restrict const terms) {
  double largest[LANES];
  double sum[LANES] = {0};
  memcpy(largest, terms, sizeof(largest));
  for (int64_t j = 1; j < k; j++) {
#pragma omp simd
    for (int64_t lane = 0; lane < LANES; lane++) {
      const double term = terms[j * LANES + lane];
      largest[lane] = term > largest[lane] ? term : largest[lane];
    }
  }
  for (int64_t j = 0; j < k; j++) {
#pragma omp simd
    for (int64_t lane = 0; lane < LANES; lane++) {
      terms[j * LANES + lane] = exp(terms[j * LANES + lane] - largest[lane]);
      sum[lane] += terms[j * LANES + lane];
    }
  }
  double total = 0.0;
  double scale[LANES] = {0};
  for (int64_t lane = 0; lane < count; lane++) {
    scale[lane] = 1.0 / sum[lane];
    total += largest[lane] + log(sum[lane]);
  }
  for (int64_t j = 0; j < k; j++) {
#pragma omp simd
    for (int64_t lane = 0; lane < LANES; lane++) {
      terms[j * LANES + lane] *= scale[lane];
    }
  }
  return total;
}

// The log-density of the points from `first` on; leaves the responsibilities in
// s->log_term.
static double points_value(const gmm_problem_t *const p, const gmm_parameters_t *const t,
                           scratch_t *const s, const int64_t first) {
  take_points(p, first, s->across);
  for (int64_t j = 0; j < p->k; j++) {
    component_value(p, t, s, j);
  }
  return log_sum_exps(p->k, least(LANES, p->n - first), s->log_term);
}

// Adds the points' part to the gradients of a row of lower, of q, and to the sum.
static void row_gradient(const int64_t d, const int64_t row,
                         const double *restrict const share,
                         const double *restrict const white,
                         const double *restrict const rows,
                         double *restrict const white_sum,
                         double *restrict const q_gradient,
                         double *restrict const line) {
  double weighted[LANES];
  for (int64_t lane = 0; lane < LANES; lane++) {
    weighted[lane] = share[lane] * white[lane];
    white_sum[row] += weighted[lane];
    q_gradient[row] -= weighted[lane] * rows[lane * d + row];
  }
#pragma omp simd
  for (int64_t column = 0; column < row; column++) {
    double sum = line[column];
    for (int64_t lane = 0; lane < LANES; lane++) {
      sum -= weighted[lane] * rows[lane * d + column];
    }
    line[column] = sum;
  }
}

static void component_gradient(const gmm_problem_t *const p,
                               const gmm_parameters_t *const t,
                               const scratch_t *const s, const gmm_gradient_t *const g,
                               const int64_t first, const int64_t j) {
  const int64_t d = p->d;
  const double *const mean = t->means + j * d;
  const double *const share = s->log_term + j * LANES;
  for (int64_t lane = 0; lane < LANES; lane++) {
    const double *const x = p->x + least(first + lane, p->n - 1) * d;
    g->alpha[j] += share[lane];
    for (int64_t row = 0; row < d; row++) {
      s->rows[lane * d + row] = x[row] - mean[row];
    }
  }
  double *line = g->lower + j * triangle(d);
  for (int64_t row = 0; row < d; row++) {
    row_gradient(d, row, share, s->white + (j * d + row) * LANES, s->rows,
                 s->white_sum + j * d, g->q + j * d, line);
    line += row;
  }
}

static double prior_value(const gmm_problem_t *const p, const gmm_parameters_t *const t,
                          const scratch_t *const s) {
  const int64_t size = p->k * triangle(p->d);
  double squares = 0.0;
  double logs = 0.0;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < size; i++) {
    squares += t->lower[i] * t->lower[i];
  }
  for (int64_t i = 0; i < p->k * p->d; i++) {
    squares += s->diagonal[i] * s->diagonal[i];
    logs += t->q[i];
  }
  return (double)p->m * logs - 0.5 * p->gamma * p->gamma * squares;
}

// -n log(sum(exp(alpha))) and the constant; leaves softmax(alpha) in s->weights.
static double weight_value(const gmm_problem_t *const p, const gmm_parameters_t *const t,
                           scratch_t *const s) {
  const double log_two_pi = 1.8378770664093454836;
  memcpy(s->weights, t->alpha, sizeof(double) * (size_t)p->k);
  const double n = (double)p->n;
  return -n * log_sum_exp(p->k, s->weights) - 0.5 * n * (double)p->d * log_two_pi;
}

static int32_t gmm_value(const gmm_problem_t *const p, const gmm_parameters_t *const t,
                         double *const value) {
  scratch_t s;
  if (scratch_open(&s, p, t) != 0) {
    return 1;
  }
  double total = prior_value(p, t, &s) + weight_value(p, t, &s);
  for (int64_t first = 0; first < p->n; first += LANES) {
    total += points_value(p, t, &s, first);
  }
  *value = total;
  free(s.storage);
  return 0;
}

// Component j's gradient from the sums over the points, and the prior's part.
static void finish_component(const gmm_problem_t *const p, const gmm_parameters_t *const t,
                             const scratch_t *const s, const gmm_gradient_t *const g,
                             const int64_t j) {
  const int64_t at = j * p->d;
  const int64_t size = triangle(p->d);
  const double squared = p->gamma * p->gamma;
  const double *line = t->lower + j * size;
  for (int64_t row = 0; row < p->d; row++) {
    const double diagonal = s->diagonal[at + row];
    const double sum = s->white_sum[at + row];
    for (int64_t column = 0; column < row; column++) {
      g->means[at + column] += line[column] * sum;
    }
    g->means[at + row] += diagonal * sum;
    g->q[at + row] = g->q[at + row] * diagonal + g->alpha[j] + (double)p->m -
                     squared * diagonal * diagonal;
    line += row;
  }
  for (int64_t i = j * size; i < (j + 1) * size; i++) {
    g->lower[i] -= squared * t->lower[i];
  }
}

static int32_t gmm_value_and_gradient(const gmm_problem_t *const p,
                                      const gmm_parameters_t *const t,
                                      double *const value,
                                      const gmm_gradient_t *const g) {
  const int64_t size = triangle(p->d);
  scratch_t s;
  if (scratch_open(&s, p, t) != 0) {
    return 1;
  }
  memset(g->alpha, 0, sizeof(double) * (size_t)p->k);
  memset(g->means, 0, sizeof(double) * (size_t)(p->k * p->d));
  memset(g->q, 0, sizeof(double) * (size_t)(p->k * p->d));
  memset(g->lower, 0, sizeof(double) * (size_t)(p->k * size));
  double total = prior_value(p, t, &s);
  for (int64_t first = 0; first < p->n; first += LANES) {
    total += points_value(p, t, &s, first);
    for (int64_t j = 0; j < p->k; j++) {
      component_gradient(p, t, &s, g, first, j);
    }
  }
  for (int64_t j = 0; j < p->k; j++) {
    finish_component(p, t, &s, g, j);
  }
  *value = total + weight_value(p, t, &s);
  for (int64_t j = 0; j < p->k; j++) {
    g->alpha[j] -= (double)p->n * s.weights[j];
  }
  free(s.storage);
  return 0;
}

int32_t log_posterior_value(const int64_t k, const double *const alpha,
                            const double *const means, const double *const q,
                            const double *const lower, const int64_t n, const int64_t d,
                            const double *const x, const double gamma, const int64_t m,
                            double *const value) {
  const gmm_problem_t problem = {n, k, d, m, gamma, x};
  const gmm_parameters_t parameters = {alpha, means, q, lower};
  return gmm_value(&problem, &parameters, value);
}

int32_t log_posterior_gradient(const int64_t k, const double *const alpha,
                               const double *const means, const double *const q,
                               const double *const lower, const int64_t n,
                               const int64_t d, const double *const x,
                               const double gamma, const int64_t m, double *const value,
                               double *const dalpha, double *const dmeans,
                               double *const dq, double *const dlower) {
  const gmm_problem_t problem = {n, k, d, m, gamma, x};
  const gmm_parameters_t parameters = {alpha, means, q, lower};
  const gmm_gradient_t gradient = {dalpha, dmeans, dq, dlower};
  return gmm_value_and_gradient(&problem, &parameters, value, &gradient);
}
