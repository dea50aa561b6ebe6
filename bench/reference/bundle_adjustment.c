// Each observation is differentiated where it is computed, so nothing is stored.

#include "bundle_adjustment.h"

#include <math.h>
#include <string.h>

// A vector turned, and what its reverse needs.
typedef struct turn {
  double angle;  // 0 if the rotation is that of a small angle
  double cosine;
  double sine;
  double axis[3];
  double along;  // the axis times the vector
  double out[3];
} turn_t;

static inline void cross(const double *const a, const double *const b,
                         double *const out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double dot(const double *const a, const double *const b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline turn_t rotated(const double *const r, const double *const x) {
  turn_t t = {0};
  double across[3];
  const double square = dot(r, r);
  if (square < 1e-24) {
    cross(r, x, across);
    for (int k = 0; k < 3; k++) {
      t.out[k] = x[k] + across[k];
    }
    return t;
  }
  t.angle = sqrt(square);
  t.cosine = cos(t.angle);
  t.sine = sin(t.angle);
  const double over = 1.0 / t.angle;
  for (int k = 0; k < 3; k++) {
    t.axis[k] = r[k] * over;
  }
  t.along = dot(t.axis, x);
  cross(t.axis, x, across);
  const double part = t.along * (1.0 - t.cosine);
  for (int k = 0; k < 3; k++) {
    t.out[k] = x[k] * t.cosine + across[k] * t.sine + t.axis[k] * part;
  }
  return t;
}

// The reverse of `rotated`: writes the cotangent of x and adds that of r.
static inline void rotated_reverse(const double *const r, const double *const x,
                                   const turn_t *const t, const double *const ct,
                                   double *const x_ct, double *const r_ct) {
  double across[3];
  double back[3];
  if (t->angle == 0.0) {
    cross(ct, r, back);
    cross(x, ct, across);
    for (int k = 0; k < 3; k++) {
      x_ct[k] = ct[k] + back[k];
      r_ct[k] += across[k];
    }
    return;
  }
  const double flat = 1.0 - t->cosine;
  const double ct_along = dot(ct, t->axis);
  cross(ct, t->axis, back);
  cross(x, ct, across);
  // What the angle and the axis have; the axis is r over the angle.
  const double angle_ct = t->cosine * dot(back, x) - t->sine * dot(ct, x) +
                          t->sine * ct_along * t->along;
  double axis_ct[3];
  for (int k = 0; k < 3; k++) {
    x_ct[k] = ct[k] * t->cosine + back[k] * t->sine + t->axis[k] * ct_along * flat;
    axis_ct[k] = across[k] * t->sine + flat * (ct[k] * t->along + ct_along * x[k]);
  }
  const double over = 1.0 / t->angle;
  const double radial = angle_ct - over * dot(axis_ct, t->axis);
  for (int k = 0; k < 3; k++) {
    r_ct[k] += axis_ct[k] * over + t->axis[k] * radial;
  }
}

// An observation, and what its reverse needs.
typedef struct view {
  double x[3];
  turn_t turn;
  double u;
  double v;
  double square;
  double bent;
  double across;  // the image's differences without the weight
  double down;
} view_t;

static inline view_t observed(const double *const c, const double *const point,
                              const double *const image) {
  view_t o;
  for (int k = 0; k < 3; k++) {
    o.x[k] = point[k] - c[3 + k];
  }
  o.turn = rotated(c, o.x);
  const double over = 1.0 / o.turn.out[2];
  o.u = o.turn.out[0] * over;
  o.v = o.turn.out[1] * over;
  o.square = o.u * o.u + o.v * o.v;
  o.bent = c[6] * (1.0 + o.square * (c[9] + o.square * c[10]));
  o.across = o.bent * o.u + c[7] - image[0];
  o.down = o.bent * o.v + c[8] - image[1];
  return o;
}

static inline double error(const view_t *const o, const double w) {
  const double slack = 1.0 - w * w;
  return w * w * (o->across * o->across + o->down * o->down) + slack * slack;
}

// Adds an observation's part to the derivatives by its camera and its point.
static inline void observed_reverse(const double *const c, const view_t *const o,
                                    const double w, double *const dc,
                                    double *const dpoint) {
  const double across_ct = 2.0 * w * w * o->across;
  const double down_ct = 2.0 * w * w * o->down;
  const double bent_ct = across_ct * o->u + down_ct * o->v;
  const double focal_ct = bent_ct * c[6];
  const double square_ct = focal_ct * (c[9] + 2.0 * o->square * c[10]);
  const double u_ct = across_ct * o->bent + 2.0 * square_ct * o->u;
  const double v_ct = down_ct * o->bent + 2.0 * square_ct * o->v;
  dc[6] += bent_ct * (1.0 + o->square * (c[9] + o->square * c[10]));
  dc[7] += across_ct;
  dc[8] += down_ct;
  dc[9] += focal_ct * o->square;
  dc[10] += focal_ct * o->square * o->square;
  const double over = 1.0 / o->turn.out[2];
  const double ct[3] = {u_ct * over, v_ct * over, -(u_ct * o->u + v_ct * o->v) * over};
  double x_ct[3];
  rotated_reverse(c, o->x, &o->turn, ct, x_ct, dc);
  for (int k = 0; k < 3; k++) {
    dpoint[k] += x_ct[k];
    dc[3 + k] -= x_ct[k];
  }
}

int32_t bundle_adjustment_value(const int64_t n, const int64_t eleven,
                                const double *const cameras, const int64_t m,
                                const int64_t three, const double *const points,
                                const int64_t count, const double *const weights,
                                const int64_t *const seen, const double *const images,
                                double *const value) {
  (void)n;
  (void)m;
  double total = 0.0;
  for (int64_t k = 0; k < count; k++) {
    const view_t o = observed(cameras + seen[2 * k] * eleven,
                              points + seen[2 * k + 1] * three, images + 2 * k);
    total += error(&o, weights[k]);
  }
  *value = total;
  return 0;
}

int32_t bundle_adjustment_gradient(
    const int64_t n, const int64_t eleven, const double *restrict const cameras,
    const int64_t m, const int64_t three, const double *restrict const points,
    const int64_t count, const double *restrict const weights,
    const int64_t *restrict const seen, const double *restrict const images,
    double *const value, double *restrict const dcameras,
    double *restrict const dpoints, double *restrict const dweights) {
  memset(dcameras, 0, sizeof(double) * (size_t)(n * eleven));
  memset(dpoints, 0, sizeof(double) * (size_t)(m * three));
  double total = 0.0;
  for (int64_t k = 0; k < count; k++) {
    const int64_t camera = seen[2 * k] * eleven;
    const int64_t point = seen[2 * k + 1] * three;
    const double w = weights[k];
    const view_t o = observed(cameras + camera, points + point, images + 2 * k);
    total += error(&o, w);
    dweights[k] = 2.0 * w * (o.across * o.across + o.down * o.down) -
                  4.0 * w * (1.0 - w * w);
    observed_reverse(cameras + camera, &o, w, dcameras + camera, dpoints + point);
  }
  *value = total;
  return 0;
}
