// NUTS for the log-density that `schools_export.py` makes a library of: prints the mean,
// the standard deviation and the effective draws of each number. It knows nothing of the
// model but how many numbers there are.
//
//   schools_nuts [draws of a chain] [seed]
//
// The sampler is that of Hoffman and Gelman (2014) with multinomial draws (Betancourt,
// 2017): steps are adapted by dual averaging, the metric is diagonal and adapted in
// windows that double, as in Stan.

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schools.h"

enum { SIZE = 10, CHAINS = 4, WARMUP = 1000, DEEPEST = 10, FIRST = 75, LAST = 50 };

static const double TARGET = 0.8, WORST = 1000.0;

typedef double vector[SIZE];

typedef struct state {
  vector place, momentum, slope;
  double log_density;
} state;

// A part of a trajectory: the velocities at both ends, the sum of the momenta, the weight
// of its states, and one that is drawn by their weights.
typedef struct tree {
  vector first, last, sum, drawn;
  double log_weight;
} tree;

typedef struct sampler {
  schools_memory *memory;
  uint64_t random[4];
  vector scale;  // of the metric: the variances of the numbers
  double step, start_energy, accepted;
  int steps;
} sampler;

// ---- random numbers: xoshiro256+ of Blackman and Vigna, filled by splitmix64

static void seeded(sampler *s, uint64_t seed) {
  for (int k = 0; k < 4; ++k) {
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    s->random[k] = z ^ (z >> 31);
  }
}

static uint64_t rotated(const uint64_t x, const int by) {
  return (x << by) | (x >> (64 - by));
}

static double uniform(sampler *s) {
  uint64_t *const r = s->random;
  const uint64_t sum = r[0] + r[3], shifted = r[1] << 17;
  r[2] ^= r[0];
  r[3] ^= r[1];
  r[1] ^= r[2];
  r[0] ^= r[3];
  r[2] ^= shifted;
  r[3] = rotated(r[3], 45);
  return ((double)(sum >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(sampler *s) {
  const double radius = sqrt(-2.0 * log(uniform(s)));
  return radius * cos(6.283185307179586 * uniform(s));
}

// ---- trajectories

static void evaluate(sampler *s, state *z) {
  schools_error error;
  if (schools_density(s->memory, z->place, SIZE, &z->log_density, z->slope, &error) !=
      SCHOOLS_OK) {
    fprintf(stderr, "%s:%d: %s\n", error.file, (int)error.line, error.message);
    exit(1);
  }
}

static double energy(const sampler *s, const state *z) {
  double kinetic = 0.0;
  for (int k = 0; k < SIZE; ++k) {
    kinetic += z->momentum[k] * z->momentum[k] * s->scale[k];
  }
  return 0.5 * kinetic - z->log_density;
}

static void leap(sampler *s, state *z, const double step) {
  for (int k = 0; k < SIZE; ++k) {
    z->momentum[k] += 0.5 * step * z->slope[k];
    z->place[k] += step * s->scale[k] * z->momentum[k];
  }
  evaluate(s, z);
  for (int k = 0; k < SIZE; ++k) {
    z->momentum[k] += 0.5 * step * z->slope[k];
  }
}

static void push(sampler *s, state *z) {
  for (int k = 0; k < SIZE; ++k) {
    z->momentum[k] = normal(s) / sqrt(s->scale[k]);
  }
}

static double log_sum(const double a, const double b) {
  const double larger = a > b ? a : b;
  return isinf(larger) ? larger : larger + log(exp(a - larger) + exp(b - larger));
}

// Whether a trajectory turns back at one of its ends.
static int turns(const tree *t) {
  double at_first = 0.0, at_last = 0.0;
  for (int k = 0; k < SIZE; ++k) {
    at_first += t->first[k] * t->sum[k];
    at_last += t->last[k] * t->sum[k];
  }
  return !(at_first > 0.0 && at_last > 0.0);
}

// Put a part behind another; `share`: how likely the draw is that of the new one.
static void join(sampler *s, tree *t, const tree *more, const double share) {
  if (uniform(s) < share) {
    memcpy(t->drawn, more->drawn, sizeof(vector));
  }
  for (int k = 0; k < SIZE; ++k) {
    t->sum[k] += more->sum[k];
  }
  memcpy(t->last, more->last, sizeof(vector));
  t->log_weight = log_sum(t->log_weight, more->log_weight);
}

static void leaf(const sampler *s, const state *z, tree *t) {
  for (int k = 0; k < SIZE; ++k) {
    t->first[k] = t->last[k] = s->scale[k] * z->momentum[k];
  }
  memcpy(t->sum, z->momentum, sizeof(vector));
  memcpy(t->drawn, z->place, sizeof(vector));
}

// 2^depth steps on from `z`; 0 if the trajectory turns back, or leaves all that is likely.
static int grown(sampler *s, state *z, const double step, const int depth, tree *t) {
  if (depth == 0) {
    leap(s, z, step);
    const double loss = energy(s, z) - s->start_energy;
    leaf(s, z, t);
    t->log_weight = isnan(loss) ? -INFINITY : -loss;
    s->accepted += isnan(loss) ? 0.0 : fmin(1.0, exp(-loss));
    s->steps += 1;
    return loss < WORST;
  }
  tree more;
  if (!grown(s, z, step, depth - 1, t) || !grown(s, z, step, depth - 1, &more)) {
    return 0;
  }
  const double all = log_sum(t->log_weight, more.log_weight);
  join(s, t, &more, exp(more.log_weight - all));
  return !turns(t);
}

// The next draw, in place of `z`; how well its steps are accepted.
static double drawn(sampler *s, state *z) {
  push(s, z);
  state ends[2] = {*z, *z};
  tree whole, more;
  s->start_energy = energy(s, z);
  s->accepted = 0.0;
  s->steps = 0;
  leaf(s, z, &whole);
  whole.log_weight = 0.0;
  for (int depth = 0; depth < DEEPEST; ++depth) {
    const int forward = uniform(s) < 0.5;
    const double step = forward ? s->step : -s->step;
    if (!grown(s, &ends[forward], step, depth, &more)) {
      break;
    }
    vector last;
    memcpy(last, whole.last, sizeof(vector));
    join(s, &whole, &more, exp(fmin(0.0, more.log_weight - whole.log_weight)));
    if (!forward) {  // The new part stands in front: its last state is the first one.
      memcpy(whole.first, whole.last, sizeof(vector));
      memcpy(whole.last, last, sizeof(vector));
    }
    if (turns(&whole)) {
      break;
    }
  }
  memcpy(z->place, whole.drawn, sizeof(vector));
  evaluate(s, z);
  return s->steps > 0 ? s->accepted / s->steps : 0.0;
}

// ---- adaptation

typedef struct average {
  double centre, gap, log_step;
  int count;
} average;

// A step whose acceptance is next to the target.
static void find_step(sampler *s, const state *at, average *a) {
  int side = 0;
  for (s->step = 1.0; s->step > 1e-10 && s->step < 1e10;) {
    state z = *at;
    push(s, &z);
    const double before = energy(s, &z);
    leap(s, &z, s->step);
    const int is_good = before - energy(s, &z) > log(TARGET);
    if (side != 0 && (side > 0) != is_good) {
      break;
    }
    side = is_good ? 1 : -1;
    s->step *= is_good ? 2.0 : 0.5;
  }
  *a = (average){log(10.0 * s->step), 0.0, 0.0, 0};
}

static void adapt_step(sampler *s, average *a, const double acceptance) {
  a->count += 1;
  const double weight = 1.0 / (a->count + 10.0), old = pow(a->count, -0.75);
  a->gap = (1.0 - weight) * a->gap + weight * (TARGET - acceptance);
  const double log_step = a->centre - a->gap * sqrt(a->count) / 0.05;
  a->log_step = old * log_step + (1.0 - old) * a->log_step;
  s->step = exp(log_step);
}

typedef struct moments {
  vector mean, squares;
  int count;
} moments;

static void note(moments *m, const double *place) {
  m->count += 1;
  for (int k = 0; k < SIZE; ++k) {
    const double gap = place[k] - m->mean[k];
    m->mean[k] += gap / m->count;
    m->squares[k] += gap * (place[k] - m->mean[k]);
  }
}

static void adapt_scale(sampler *s, moments *m) {
  const double n = m->count;
  for (int k = 0; k < SIZE; ++k) {
    s->scale[k] = (n / (n + 5.0)) * m->squares[k] / (n - 1.0) + 1e-3 * 5.0 / (n + 5.0);
  }
  memset(m, 0, sizeof *m);
}

static void run(sampler *s, const int draws, vector *found) {
  state z;
  average a;
  moments m = {0};
  for (int k = 0; k < SIZE; ++k) {
    z.place[k] = 4.0 * uniform(s) - 2.0;
    s->scale[k] = 1.0;
  }
  evaluate(s, &z);
  find_step(s, &z, &a);
  for (int i = 0, window = 25, end = FIRST + 25; i < WARMUP; ++i) {
    adapt_step(s, &a, drawn(s, &z));
    if (i < FIRST || i >= WARMUP - LAST) {
      continue;
    }
    note(&m, z.place);
    if (i + 1 == end) {
      adapt_scale(s, &m);
      find_step(s, &z, &a);
      window *= 2;
      end += window;
      if (end + 2 * window > WARMUP - LAST) {
        end = WARMUP - LAST;
      }
    }
  }
  s->step = exp(a.log_step);
  for (int i = 0; i < draws; ++i) {
    drawn(s, &z);
    memcpy(found[i], z.place, sizeof(vector));
  }
}

// ---- what was found

static double covariance(vector *draws, const int count, const int number,
                         const double mean, const int lag) {
  double sum = 0.0;
  for (int i = 0; i + lag < count; ++i) {
    sum += (draws[i][number] - mean) * (draws[i + lag][number] - mean);
  }
  return sum / count;
}

// Effective draws of a chain, by Geyer's initial positive sequence.
static double effective(vector *draws, const int count, const int number) {
  double mean = 0.0, sum = 0.0;
  for (int i = 0; i < count; ++i) {
    mean += draws[i][number] / count;
  }
  const double variance = covariance(draws, count, number, mean, 0);
  for (int lag = 1; lag + 1 < count; lag += 2) {
    const double pair = covariance(draws, count, number, mean, lag) +
                        covariance(draws, count, number, mean, lag + 1);
    if (!(pair > 0.0)) {
      break;
    }
    sum += pair;
  }
  return count / (1.0 + 2.0 * sum / variance);
}

int main(int argc, char **argv) {
  const int draws = argc > 1 ? atoi(argv[1]) : 1000;
  const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  if (draws < 10) {
    fprintf(stderr, "schools_nuts: at least 10 draws\n");
    return 2;
  }
  sampler s;
  vector *const found = malloc((size_t)draws * CHAINS * sizeof(vector));
  if (found == NULL || schools_memory_open(SCHOOLS_INTERFACE, NULL, &s.memory) !=
                           SCHOOLS_OK) {
    free(found);
    fprintf(stderr, "schools_nuts: no memory\n");
    return 2;
  }
  for (int chain = 0; chain < CHAINS; ++chain) {
    seeded(&s, seed * CHAINS + (uint64_t)chain);
    run(&s, draws, found + chain * draws);
  }
  for (int k = 0; k < SIZE; ++k) {
    double mean = 0.0, squares = 0.0, count = 0.0;
    for (int i = 0; i < CHAINS * draws; ++i) {
      mean += found[i][k] / (CHAINS * draws);
    }
    for (int i = 0; i < CHAINS * draws; ++i) {
      squares += (found[i][k] - mean) * (found[i][k] - mean);
    }
    for (int chain = 0; chain < CHAINS; ++chain) {
      count += effective(found + chain * draws, draws, k);
    }
    printf("%d %.4f %.4f %.0f\n", k, mean, sqrt(squares / (CHAINS * draws - 1)), count);
  }
  schools_memory_close(s.memory);
  free(found);
  return 0;
}
