// The gradient stores the gates, the change, the squashed cell, and the cell and the
// output before, of each step and layer, so that the reverse is made of products alone.

#include "lstm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// What a layer does in a step, each [n]; the rows lie behind each other.
enum { forget, let_in, let_out, change, squashed, cell, hidden, rows };

typedef struct model {
  int64_t layers;
  int64_t n;
  const double *weights;
  const double *biases;
  const double *ends;
  const double *sequence;
} model_t;

// A layer's step: x becomes the output, and h and c the new state; all rows are written.
static void layer_step(const int64_t n, const double *restrict const w,
                       const double *restrict const b, double *restrict const x,
                       double *restrict const h, double *restrict const c,
                       double *restrict const row) {
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const double f = 1.0 / (1.0 + exp(-(x[i] * w[i] + b[i])));
    const double in = 1.0 / (1.0 + exp(-(h[i] * w[n + i] + b[n + i])));
    const double out = 1.0 / (1.0 + exp(-(x[i] * w[2 * n + i] + b[2 * n + i])));
    const double new = tanh(h[i] * w[3 * n + i] + b[3 * n + i]);
    const double state = c[i] * f + in * new;
    const double small = tanh(state);
    row[forget * n + i] = f;
    row[let_in * n + i] = in;
    row[let_out * n + i] = out;
    row[change * n + i] = new;
    row[squashed * n + i] = small;
    row[cell * n + i] = c[i];
    row[hidden * n + i] = h[i];
    c[i] = state;
    x[i] = out * small;
    h[i] = x[i];
  }
}

// The log-likelihood of the next vector; y becomes the shares that exp(y) has.
static double likelihood(const int64_t n, const double *restrict const ends,
                         const double *restrict const x,
                         const double *restrict const next, double *restrict const y) {
  double linear = 0.0;
  double count = 0.0;
  double sum = 2.0;
#pragma omp simd reduction(+ : linear, count, sum)
  for (int64_t i = 0; i < n; i++) {
    const double out = x[i] * ends[n + i] + ends[2 * n + i];
    linear += next[i] * out;
    count += next[i];
    y[i] = exp(out);
    sum += y[i];
  }
  const double scale = 1.0 / sum;
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    y[i] *= scale;
  }
  return linear - count * log(sum);
}

// One step through all layers; x[n] and y[n] are the output and the shares.
static double step(const model_t *const m, const int64_t t, double *const h,
                   double *const c, double *const x, double *const y, double *const row,
                   const int64_t stride) {
  const int64_t n = m->n;
  const double *const now = m->sequence + t * n;
  for (int64_t i = 0; i < n; i++) {
    x[i] = now[i] * m->ends[i];
  }
  for (int64_t l = 0; l < m->layers; l++) {
    layer_step(n, m->weights + l * 4 * n, m->biases + l * 4 * n, x, h + l * n,
               c + l * n, row + l * stride);
  }
  return likelihood(n, m->ends, x, now + n, y);
}

int32_t lstm_value(const int64_t layers, const int64_t gates, const int64_t n,
                   const double *const weights, const double *const biases,
                   const double *const ends, const double *const first_hidden,
                   const double *const first_cell, const int64_t steps,
                   const int64_t width, const double *const sequence,
                   double *const value) {
  (void)gates;
  (void)width;
  const model_t m = {layers, n, weights, biases, ends, sequence};
  const size_t states = sizeof(double) * (size_t)(layers * n);
  double *const h = malloc(2 * states + sizeof(double) * (size_t)((rows + 2) * n + 1));
  if (h == NULL) {
    return 1;
  }
  double *const c = h + layers * n;
  double *const x = c + layers * n;
  memcpy(h, first_hidden, states);
  memcpy(c, first_cell, states);
  double total = 0.0;
  for (int64_t t = 0; t + 1 < steps; t++) {
    total += step(&m, t, h, c, x, x + n, x + 2 * n, 0);
  }
  free(h);
  *value = -total / (double)((steps - 1) * n);
  return 0;
}

// The reverse of `layer_step`: x is its input, x_ct the output's cotangent and then the
// input's; h_ct and c_ct are those of the state after the step and then before it.
static void layer_reverse(const int64_t n, const double *restrict const w,
                          const double *restrict const x,
                          const double *restrict const row, double *restrict const x_ct,
                          double *restrict const h_ct, double *restrict const c_ct,
                          double *restrict const dw, double *restrict const db) {
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const double f = row[forget * n + i];
    const double in = row[let_in * n + i];
    const double out = row[let_out * n + i];
    const double new = row[change * n + i];
    const double small = row[squashed * n + i];
    const double h = row[hidden * n + i];
    const double made = x_ct[i] + h_ct[i];
    const double state = c_ct[i] + made * out * (1.0 - small * small);
    const double f_ct = state * row[cell * n + i] * f * (1.0 - f);
    const double in_ct = state * new * in * (1.0 - in);
    const double out_ct = made * small * out * (1.0 - out);
    const double new_ct = state * in * (1.0 - new * new);
    dw[i] += f_ct * x[i];
    dw[n + i] += in_ct * h;
    dw[2 * n + i] += out_ct * x[i];
    dw[3 * n + i] += new_ct * h;
    db[i] += f_ct;
    db[n + i] += in_ct;
    db[2 * n + i] += out_ct;
    db[3 * n + i] += new_ct;
    x_ct[i] = f_ct * w[i] + out_ct * w[2 * n + i];
    h_ct[i] = in_ct * w[n + i] + new_ct * w[3 * n + i];
    c_ct[i] = state * f;
  }
}

// The reverse of `likelihood` with the shares y; adds to the derivatives by the ends.
static void likelihood_reverse(const int64_t n, const double ct,
                               const double *restrict const ends,
                               const double *restrict const x,
                               const double *restrict const next,
                               const double *restrict const y,
                               double *restrict const x_ct,
                               double *restrict const dends) {
  double count = 0.0;
#pragma omp simd reduction(+ : count)
  for (int64_t i = 0; i < n; i++) {
    count += next[i];
  }
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const double y_ct = ct * (next[i] - count * y[i]);
    x_ct[i] = y_ct * ends[n + i];
    dends[n + i] += y_ct * x[i];
    dends[2 * n + i] += y_ct;
  }
}

// Where the parts of the gradient's storage begin; a step's record is x of each layer's
// input and of the output, the shares, and the rows of each layer.
typedef struct record {
  int64_t size;
  int64_t shares;
  int64_t rows;
} record_t;

// Runs through the sequence and stores what each step needs; the loss before scaling.
static double recorded(const model_t *const m, const record_t r, const int64_t steps,
                       double *const h, double *const c, double *const tape) {
  const int64_t n = m->n;
  double total = 0.0;
  for (int64_t t = 0; t + 1 < steps; t++) {
    double *const at = tape + t * r.size;
    total += step(m, t, h, c, at, at + r.shares, at + r.rows, rows * n);
  }
  return total;
}

// The reverse of the whole run.
static void reverse(const model_t *const m, const record_t r, const int64_t steps,
                    const double ct, const double *const tape, double *const h_ct,
                    double *const c_ct, double *const x_ct, double *const x,
                    double *const dw, double *const db, double *const dends) {
  const int64_t n = m->n;
  for (int64_t t = steps - 2; t >= 0; t--) {
    const double *const at = tape + t * r.size;
    const double *const now = m->sequence + t * n;
    likelihood_reverse(n, ct, m->ends, at, now + n, at + r.shares, x_ct, dends);
    for (int64_t l = m->layers - 1; l >= 0; l--) {
      // A layer's input is the output of the one below: its gate times what it holds.
      const double *const below = at + r.rows + (l - 1) * rows * n;
      for (int64_t i = 0; i < n; i++) {
        x[i] = l == 0 ? now[i] * m->ends[i]
                      : below[let_out * n + i] * below[squashed * n + i];
      }
      layer_reverse(n, m->weights + l * 4 * n, x, at + r.rows + l * rows * n, x_ct,
                    h_ct + l * n, c_ct + l * n, dw + l * 4 * n, db + l * 4 * n);
    }
    for (int64_t i = 0; i < n; i++) {
      dends[i] += x_ct[i] * now[i];
    }
  }
}

int32_t lstm_gradient(const int64_t layers, const int64_t gates, const int64_t n,
                      const double *const weights, const double *const biases,
                      const double *const ends, const double *const first_hidden,
                      const double *const first_cell, const int64_t steps,
                      const int64_t width, const double *const sequence,
                      double *const value, double *const dweights,
                      double *const dbiases, double *const dends) {
  (void)width;
  const model_t m = {layers, n, weights, biases, ends, sequence};
  const record_t r = {(2 + rows * layers) * n, n, 2 * n};
  const int64_t states = layers * n;
  double *const h =
      malloc(sizeof(double) * (size_t)(2 * states + 2 * n + steps * r.size));
  if (h == NULL) {
    return 1;
  }
  double *const c = h + states;
  double *const x = c + states;
  double *const tape = x + 2 * n;
  memcpy(h, first_hidden, sizeof(double) * (size_t)states);
  memcpy(c, first_cell, sizeof(double) * (size_t)states);
  const double scale = -1.0 / (double)((steps - 1) * n);
  *value = scale * recorded(&m, r, steps, h, c, tape);
  // From here on, the cotangents of the state.
  memset(h, 0, sizeof(double) * (size_t)(2 * states));
  memset(dweights, 0, sizeof(double) * (size_t)(layers * gates * n));
  memset(dbiases, 0, sizeof(double) * (size_t)(layers * gates * n));
  memset(dends, 0, sizeof(double) * (size_t)(3 * n));
  reverse(&m, r, steps, scale, tape, h, c, x, x + n, dweights, dbiases, dends);
  free(h);
  return 0;
}
