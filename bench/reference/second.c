// The hand-written reference for second derivatives. Names end in _t for tangents, the
// change along the direction, in _ct for cotangents, and in _ct_t for the tangents of
// these.
//
// The pendulum keeps the sine and cosine of each stage, and their tangents by the angle's.
// The mixture goes once over the points, as its gradient does, and stores nothing of
// size n.

#include "second.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// pendulum

enum { STAGES = 4 };

// What the reverse needs of a stage.
typedef struct stage {
  double sine;
  double cosine;
} stage_t;

// The same with the tangent of the angle.
typedef struct moving_stage {
  double sine;
  double cosine;
  double x_t;
} moving_stage_t;

static const double friction = 0.1;
static const double duration = 10.0;
// Where a stage's point lies, and its weight in the step, in parts of h.
static const double ahead[STAGES] = {0.0, 0.5, 0.5, 1.0};
static const double weight[STAGES] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};

int32_t pendulum_value(const double *restrict const p, const int64_t n,
                       double *const value) {
  double x = p[0];
  double v = p[1];
  const double h = duration / (double)n;
  for (int64_t step = 0; step < n; step++) {
    double dx = 0.0;
    double dv = 0.0;
    double x_next = x;
    double v_next = v;
    for (int s = 0; s < STAGES; s++) {
      const double at_x = x + h * ahead[s] * dx;
      const double at_v = v + h * ahead[s] * dv;
      dx = at_v;
      dv = -p[2] * sin(at_x) - friction * at_v;
      x_next += h * weight[s] * dx;
      v_next += h * weight[s] * dv;
    }
    x = x_next;
    v = v_next;
  }
  *value = x * x + v * v;
  return 0;
}

int32_t pendulum_gradient(const double *restrict const p, const int64_t n,
                          double *const value, double *restrict const dp) {
  stage_t *const kept = malloc(sizeof(stage_t) * STAGES * (size_t)(n > 0 ? n : 1));
  if (kept == NULL) {
    return 1;
  }
  double x = p[0];
  double v = p[1];
  const double h = duration / (double)n;
  for (int64_t step = 0; step < n; step++) {
    double dx = 0.0;
    double dv = 0.0;
    double x_next = x;
    double v_next = v;
    for (int s = 0; s < STAGES; s++) {
      const double at_x = x + h * ahead[s] * dx;
      const double at_v = v + h * ahead[s] * dv;
      const stage_t now = {sin(at_x), cos(at_x)};
      kept[STAGES * step + s] = now;
      dx = at_v;
      dv = -p[2] * now.sine - friction * at_v;
      x_next += h * weight[s] * dx;
      v_next += h * weight[s] * dv;
    }
    x = x_next;
    v = v_next;
  }
  *value = x * x + v * v;
  double x_ct = 2.0 * x;
  double v_ct = 2.0 * v;
  double pull_ct = 0.0;
  for (int64_t step = n - 1; step >= 0; step--) {
    double x_sum = x_ct;
    double v_sum = v_ct;
    // The cotangents that the stage behind gives to this stage's slopes.
    double dx_ct = 0.0;
    double dv_ct = 0.0;
    for (int s = STAGES - 1; s >= 0; s--) {
      const stage_t then = kept[STAGES * step + s];
      dx_ct += h * weight[s] * x_ct;
      dv_ct += h * weight[s] * v_ct;
      const double at_x_ct = -p[2] * then.cosine * dv_ct;
      const double at_v_ct = dx_ct - friction * dv_ct;
      pull_ct -= then.sine * dv_ct;
      x_sum += at_x_ct;
      v_sum += at_v_ct;
      dx_ct = h * ahead[s] * at_x_ct;
      dv_ct = h * ahead[s] * at_v_ct;
    }
    x_ct = x_sum;
    v_ct = v_sum;
  }
  dp[0] = x_ct;
  dp[1] = v_ct;
  dp[2] = pull_ct;
  free(kept);
  return 0;
}

int32_t pendulum_product(const double *restrict const p, const int64_t n,
                         const double *restrict const direction,
                         double *restrict const product) {
  moving_stage_t *const kept =
      malloc(sizeof(moving_stage_t) * STAGES * (size_t)(n > 0 ? n : 1));
  if (kept == NULL) {
    return 1;
  }
  double x = p[0];
  double v = p[1];
  double x_t = direction[0];
  double v_t = direction[1];
  const double pull_t = direction[2];
  const double h = duration / (double)n;
  for (int64_t step = 0; step < n; step++) {
    double dx = 0.0;
    double dv = 0.0;
    double dx_t = 0.0;
    double dv_t = 0.0;
    double x_next = x;
    double v_next = v;
    double x_next_t = x_t;
    double v_next_t = v_t;
    for (int s = 0; s < STAGES; s++) {
      const double at_x = x + h * ahead[s] * dx;
      const double at_v = v + h * ahead[s] * dv;
      const double at_x_t = x_t + h * ahead[s] * dx_t;
      const double at_v_t = v_t + h * ahead[s] * dv_t;
      const moving_stage_t now = {sin(at_x), cos(at_x), at_x_t};
      kept[STAGES * step + s] = now;
      dx = at_v;
      dv = -p[2] * now.sine - friction * at_v;
      dx_t = at_v_t;
      dv_t = -pull_t * now.sine - p[2] * now.cosine * at_x_t - friction * at_v_t;
      x_next += h * weight[s] * dx;
      v_next += h * weight[s] * dv;
      x_next_t += h * weight[s] * dx_t;
      v_next_t += h * weight[s] * dv_t;
    }
    x = x_next;
    v = v_next;
    x_t = x_next_t;
    v_t = v_next_t;
  }
  double x_ct = 2.0 * x;
  double v_ct = 2.0 * v;
  double x_ct_t = 2.0 * x_t;
  double v_ct_t = 2.0 * v_t;
  double pull_ct_t = 0.0;
  for (int64_t step = n - 1; step >= 0; step--) {
    double x_sum = x_ct;
    double v_sum = v_ct;
    double x_sum_t = x_ct_t;
    double v_sum_t = v_ct_t;
    double dx_ct = 0.0;
    double dv_ct = 0.0;
    double dx_ct_t = 0.0;
    double dv_ct_t = 0.0;
    for (int s = STAGES - 1; s >= 0; s--) {
      const moving_stage_t then = kept[STAGES * step + s];
      const double sine_t = then.cosine * then.x_t;
      const double cosine_t = -then.sine * then.x_t;
      dx_ct += h * weight[s] * x_ct;
      dv_ct += h * weight[s] * v_ct;
      dx_ct_t += h * weight[s] * x_ct_t;
      dv_ct_t += h * weight[s] * v_ct_t;
      const double at_x_ct = -p[2] * then.cosine * dv_ct;
      const double at_v_ct = dx_ct - friction * dv_ct;
      const double at_x_ct_t = -pull_t * then.cosine * dv_ct -
                               p[2] * (cosine_t * dv_ct + then.cosine * dv_ct_t);
      const double at_v_ct_t = dx_ct_t - friction * dv_ct_t;
      pull_ct_t -= sine_t * dv_ct + then.sine * dv_ct_t;
      x_sum += at_x_ct;
      v_sum += at_v_ct;
      x_sum_t += at_x_ct_t;
      v_sum_t += at_v_ct_t;
      dx_ct = h * ahead[s] * at_x_ct;
      dv_ct = h * ahead[s] * at_v_ct;
      dx_ct_t = h * ahead[s] * at_x_ct_t;
      dv_ct_t = h * ahead[s] * at_v_ct_t;
    }
    x_ct = x_sum;
    v_ct = v_sum;
    x_ct_t = x_sum_t;
    v_ct_t = v_sum_t;
  }
  product[0] = x_ct_t;
  product[1] = v_ct_t;
  product[2] = pull_ct_t;
  free(kept);
  return 0;
}

// mixture

// All scratch is one block, of which each part has a value of a component or of a
// component's dimension. Sums are over the points.
typedef struct scratch {
  double *storage;
  double *diagonal;     // [k][d]: exp(q)
  double *diagonal_t;   // [k][d]
  double *centred;      // [k][d]: x - mean, whose tangent is minus that of the mean
  double *white;        // [k][d]: Q (x - mean)
  double *white_t;      // [k][d]
  double *white_sum;    // [k][d]: the sum of r Q (x - mean)
  double *white_sum_t;  // [k][d]
  double *q_sum;        // [k][d]: the sum of -r Q (x - mean) (x - mean) along the diagonal
  double *log_scale;    // [k]: alpha + sum(q)
  double *log_scale_t;  // [k]
  double *share;        // [k]: log-densities, then the responsibilities r
  double *share_t;      // [k]
  double *share_sum;    // [k]: the sum of r's tangent
} scratch_t;

static int64_t triangle(const int64_t d) {
  return d * (d - 1) / 2;
}

static int32_t scratch_open(scratch_t *const s, const int64_t k, const int64_t d) {
  const int64_t kd = k * d;
  s->storage = calloc((size_t)(8 * kd + 5 * k + 1), sizeof(double));
  if (s->storage == NULL) {
    return 1;
  }
  double **const large[] = {&s->diagonal,  &s->diagonal_t, &s->centred,
                            &s->white,     &s->white_t,    &s->white_sum,
                            &s->white_sum_t, &s->q_sum};
  double **const small[] = {&s->log_scale, &s->log_scale_t, &s->share, &s->share_t,
                            &s->share_sum};
  double *free_part = s->storage;
  for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
    *large[i] = free_part;
    free_part += kd;
  }
  for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++) {
    *small[i] = free_part;
    free_part += k;
  }
  return 0;
}

// Q (x - mean) of one component and its tangent; returns the log-density's part and its
// tangent in *term_t.
static double whiten(const int64_t d, const double *restrict const x,
                     const double *restrict const mean,
                     const double *restrict const mean_t,
                     const double *restrict const diagonal,
                     const double *restrict const diagonal_t,
                     const double *restrict const lower,
                     const double *restrict const lower_t,
                     double *restrict const centred, double *restrict const white,
                     double *restrict const white_t, double *restrict const term_t) {
  for (int64_t row = 0; row < d; row++) {
    centred[row] = x[row] - mean[row];
  }
  double square = 0.0;
  double half_t = 0.0;
  int64_t line = 0;
  for (int64_t row = 0; row < d; row++) {
    double sum = 0.0;
    double sum_t = 0.0;
#pragma omp simd reduction(+ : sum, sum_t)
    for (int64_t column = 0; column < row; column++) {
      sum += lower[line + column] * centred[column];
      sum_t += lower_t[line + column] * centred[column] -
               lower[line + column] * mean_t[column];
    }
    sum += diagonal[row] * centred[row];
    sum_t += diagonal_t[row] * centred[row] - diagonal[row] * mean_t[row];
    white[row] = sum;
    white_t[row] = sum_t;
    square += sum * sum;
    half_t += sum * sum_t;
    line += row;
  }
  *term_t = -half_t;
  return -0.5 * square;
}

// Replaces log-densities by responsibilities, and their tangents by those of these.
static void share_out(const int64_t k, double *restrict const terms,
                      double *restrict const terms_t) {
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
  double mean_t = 0.0;
  for (int64_t j = 0; j < k; j++) {
    terms[j] *= scale;
    mean_t += terms[j] * terms_t[j];
  }
  for (int64_t j = 0; j < k; j++) {
    terms_t[j] = terms[j] * (terms_t[j] - mean_t);
  }
}

// Adds one point's part to the sums of a component.
static void add_point(const int64_t d, const double share, const double share_t,
                      const double *restrict const centred,
                      const double *restrict const mean_t,
                      const double *restrict const white,
                      const double *restrict const white_t,
                      double *restrict const white_sum,
                      double *restrict const white_sum_t, double *restrict const q_sum,
                      double *restrict const p_q, double *restrict const p_lower) {
  int64_t line = 0;
  for (int64_t row = 0; row < d; row++) {
    const double weighted = share * white[row];
    const double weighted_t = share_t * white[row] + share * white_t[row];
    white_sum[row] += weighted;
    white_sum_t[row] += weighted_t;
    q_sum[row] -= weighted * centred[row];
    p_q[row] -= weighted_t * centred[row] - weighted * mean_t[row];
#pragma omp simd
    for (int64_t column = 0; column < row; column++) {
      p_lower[line + column] -= weighted_t * centred[column] - weighted * mean_t[column];
    }
    line += row;
  }
}

int32_t mixture_product(const int64_t n, const int64_t k, const int64_t d,
                        const int64_t m, const double gamma, const double *const alpha,
                        const double *const means, const double *const q,
                        const double *const lower, const double *const x,
                        const double *const v_alpha, const double *const v_means,
                        const double *const v_q, const double *const v_lower,
                        double *const p_alpha, double *const p_means, double *const p_q,
                        double *const p_lower) {
  (void)m;  // The prior is linear in what it multiplies.
  scratch_t s;
  if (scratch_open(&s, k, d) != 0) {
    return 1;
  }
  const int64_t size = triangle(d);
  const double squared = gamma * gamma;
  memset(p_means, 0, sizeof(double) * (size_t)(k * d));
  memset(p_q, 0, sizeof(double) * (size_t)(k * d));
  memset(p_lower, 0, sizeof(double) * (size_t)(k * size));
  for (int64_t j = 0; j < k; j++) {
    s.log_scale[j] = alpha[j];
    s.log_scale_t[j] = v_alpha[j];
    for (int64_t at = j * d; at < (j + 1) * d; at++) {
      s.diagonal[at] = exp(q[at]);
      s.diagonal_t[at] = s.diagonal[at] * v_q[at];
      s.log_scale[j] += q[at];
      s.log_scale_t[j] += v_q[at];
    }
  }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < k; j++) {
      const int64_t at = j * d;
      double term_t = 0.0;
      s.share[j] = s.log_scale[j] +
                   whiten(d, x + i * d, means + at, v_means + at, s.diagonal + at,
                          s.diagonal_t + at, lower + j * size, v_lower + j * size,
                          s.centred + at, s.white + at, s.white_t + at, &term_t);
      s.share_t[j] = s.log_scale_t[j] + term_t;
    }
    share_out(k, s.share, s.share_t);
    for (int64_t j = 0; j < k; j++) {
      const int64_t at = j * d;
      s.share_sum[j] += s.share_t[j];
      add_point(d, s.share[j], s.share_t[j], s.centred + at, v_means + at, s.white + at,
                s.white_t + at, s.white_sum + at, s.white_sum_t + at, s.q_sum + at,
                p_q + at, p_lower + j * size);
    }
  }
  for (int64_t j = 0; j < k; j++) {
    s.share[j] = alpha[j];
    s.share_t[j] = v_alpha[j];
  }
  share_out(k, s.share, s.share_t);
  for (int64_t j = 0; j < k; j++) {
    int64_t line = j * size;
    p_alpha[j] = s.share_sum[j] - (double)n * s.share_t[j];
    for (int64_t row = 0; row < d; row++) {
      const int64_t at = j * d + row;
      for (int64_t column = 0; column < row; column++) {
        p_means[j * d + column] += v_lower[line + column] * s.white_sum[at] +
                                   lower[line + column] * s.white_sum_t[at];
      }
      p_means[at] +=
          s.diagonal_t[at] * s.white_sum[at] + s.diagonal[at] * s.white_sum_t[at];
      p_q[at] = p_q[at] * s.diagonal[at] + s.q_sum[at] * s.diagonal_t[at] +
                s.share_sum[j] - 2.0 * squared * s.diagonal[at] * s.diagonal_t[at];
      line += row;
    }
    for (int64_t i = j * size; i < (j + 1) * size; i++) {
      p_lower[i] -= squared * v_lower[i];
    }
  }
  free(s.storage);
  return 0;
}
