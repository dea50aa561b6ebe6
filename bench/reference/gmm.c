// The hand-written reference: value in one pass over the points, gradient in one fused
// pass. Nothing of size n is stored.
//
// Rows of the packed triangle are contiguous, so Q (x - mean) is a dot product a row, and
// the gradient of a row is an axpy of the same length. What is linear in the points is
// summed first and multiplied once: with y = Q (x - mean) and r the responsibility, the
// gradient of the mean is Qᵀ Σ r y, that of q is Σ r (1 - y_row exp(q_row) xc_row).

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

// All scratch is one block; `storage` owns it. Rows of `centred` and `white` have length
// d, one for each component, and hold the present point only.
typedef struct scratch {
  double *storage;
  double *diagonal;   // [k][d]: exp(q)
  double *log_scale;  // [k]: alpha + sum(q)
  double *centred;    // [k][d]: x - mean
  double *white;      // [k][d]: Q (x - mean)
  double *log_term;   // [k]: the log-density of the point in each component
  double *white_sum;  // [k][d]: the sum over points of r Q (x - mean)
} scratch_t;

static int64_t triangle(const int64_t d) {
  return d * (d - 1) / 2;
}

static int32_t scratch_open(scratch_t *const s, const gmm_problem_t *const p,
                            const gmm_parameters_t *const t) {
  const int64_t kd = p->k * p->d;
  s->storage = malloc(sizeof(double) * (size_t)(4 * kd + 2 * p->k));
  if (s->storage == NULL) {
    return 1;
  }
  s->diagonal = s->storage;
  s->centred = s->diagonal + kd;
  s->white = s->centred + kd;
  s->white_sum = s->white + kd;
  s->log_scale = s->white_sum + kd;
  s->log_term = s->log_scale + p->k;
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

// Writes x - mean and Q (x - mean); returns the squared length of the latter.
static double whiten(const int64_t d, const double *restrict const x,
                     const double *restrict const mean,
                     const double *restrict const diagonal,
                     const double *restrict const lower, double *restrict const centred,
                     double *restrict const white) {
  for (int64_t row = 0; row < d; row++) {
    centred[row] = x[row] - mean[row];
  }
  double square = 0.0;
  const double *line = lower;
  for (int64_t row = 0; row < d; row++) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int64_t column = 0; column < row; column++) {
      sum += line[column] * centred[column];
    }
    sum += diagonal[row] * centred[row];
    white[row] = sum;
    square += sum * sum;
    line += row;
  }
  return square;
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

// The log-density of one point; leaves the responsibilities in s->log_term.
static double point_value(const gmm_problem_t *const p, const gmm_parameters_t *const t,
                          scratch_t *const s, const double *const x) {
  for (int64_t j = 0; j < p->k; j++) {
    const int64_t at = j * p->d;
    const double square =
        whiten(p->d, x, t->means + at, s->diagonal + at,
               t->lower + j * triangle(p->d), s->centred + at, s->white + at);
    s->log_term[j] = s->log_scale[j] - 0.5 * square;
  }
  return log_sum_exp(p->k, s->log_term);
}

// Adds one point's part to the gradients of lower and q and to the sums.
static void point_gradient(const int64_t d, const double share,
                           const double *restrict const centred,
                           const double *restrict const white,
                           double *restrict const white_sum,
                           double *restrict const q_gradient,
                           double *restrict const lower_gradient) {
  double *line = lower_gradient;
  for (int64_t row = 0; row < d; row++) {
    const double weighted = share * white[row];
    white_sum[row] += weighted;
    q_gradient[row] -= weighted * centred[row];
#pragma omp simd
    for (int64_t column = 0; column < row; column++) {
      line[column] -= weighted * centred[column];
    }
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

// -n log(sum(exp(alpha))) and the constant; leaves softmax(alpha) in s->log_term.
static double weight_value(const gmm_problem_t *const p, const gmm_parameters_t *const t,
                           scratch_t *const s) {
  const double log_two_pi = 1.8378770664093454836;
  memcpy(s->log_term, t->alpha, sizeof(double) * (size_t)p->k);
  const double n = (double)p->n;
  return -n * log_sum_exp(p->k, s->log_term) - 0.5 * n * (double)p->d * log_two_pi;
}

static int32_t gmm_value(const gmm_problem_t *const p, const gmm_parameters_t *const t,
                         double *const value) {
  scratch_t s;
  if (scratch_open(&s, p, t) != 0) {
    return 1;
  }
  double total = prior_value(p, t, &s) + weight_value(p, t, &s);
  for (int64_t i = 0; i < p->n; i++) {
    total += point_value(p, t, &s, p->x + i * p->d);
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
  for (int64_t i = 0; i < p->n; i++) {
    total += point_value(p, t, &s, p->x + i * p->d);
    for (int64_t j = 0; j < p->k; j++) {
      const int64_t at = j * p->d;
      g->alpha[j] += s.log_term[j];
      point_gradient(p->d, s.log_term[j], s.centred + at, s.white + at,
                     s.white_sum + at, g->q + at, g->lower + j * size);
    }
  }
  for (int64_t j = 0; j < p->k; j++) {
    finish_component(p, t, &s, g, j);
  }
  *value = total + weight_value(p, t, &s);
  for (int64_t j = 0; j < p->k; j++) {
    g->alpha[j] -= (double)p->n * s.log_term[j];
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
