// The hand-written reference for recursion. The gradient needs no tape: what a result
// contributes to the integral is known before, so each call hands back what the integral
// owes to the numbers that it was given.

#include "quadrature.h"

#include <math.h>

static double integrand(const double x, const double *const p) {
  return exp(-p[0] * x) * sin(p[1] / (x + p[2]));
}

static double adapt(const double *const p, const double lo, const double hi,
                    const double flo, const double fmid, const double fhi,
                    const double whole, const double tolerance) {
  const double mid = 0.5 * (lo + hi);
  const double fl = integrand(0.5 * (lo + mid), p);
  const double fr = integrand(0.5 * (mid + hi), p);
  const double h = (hi - lo) / 12.0;
  const double left = h * (flo + 4.0 * fl + fmid);
  const double right = h * (fmid + 4.0 * fr + fhi);
  const double change = left + right - whole;
  if (fabs(change) <= 15.0 * tolerance) {
    return left + right + change / 15.0;
  }
  return adapt(p, lo, mid, flo, fl, fmid, left, 0.5 * tolerance) +
         adapt(p, mid, hi, fmid, fr, fhi, right, 0.5 * tolerance);
}

int32_t integral_value(const int64_t n, const double *const p, const double tolerance,
                       double *const value) {
  (void)n;
  const double flo = integrand(0.0, p);
  const double fmid = integrand(0.5, p);
  const double fhi = integrand(1.0, p);
  const double whole = (flo + 4.0 * fmid + fhi) / 6.0;
  *value = adapt(p, 0.0, 1.0, flo, fmid, fhi, whole, tolerance);
  return 0;
}

// What the integral owes to the arguments of a call.
typedef struct owed {
  double lo;
  double mid;
  double hi;
  double whole;
} owed_t;

static void add_integrand(const double x, const double *const p, const double owed,
                          double *const dp) {
  const double decay = exp(-p[0] * x);
  const double angle = p[1] / (x + p[2]);
  const double wave = sin(angle);
  const double slope = owed * decay * cos(angle) / (x + p[2]);
  dp[0] -= owed * x * decay * wave;
  dp[1] += slope;
  dp[2] -= slope * angle;
}

static double adapt_gradient(const double *const p, const double lo, const double hi,
                             const double flo, const double fmid, const double fhi,
                             const double whole, const double tolerance,
                             double *const dp, owed_t *const owed) {
  const double mid = 0.5 * (lo + hi);
  const double xl = 0.5 * (lo + mid);
  const double xr = 0.5 * (mid + hi);
  const double fl = integrand(xl, p);
  const double fr = integrand(xr, p);
  const double h = (hi - lo) / 12.0;
  const double left = h * (flo + 4.0 * fl + fmid);
  const double right = h * (fmid + 4.0 * fr + fhi);
  const double change = left + right - whole;
  owed_t one = {0.0, 0.0, 0.0, 16.0 / 15.0};
  owed_t two = one;
  owed->whole = 0.0;
  double value = left + right + change / 15.0;
  if (fabs(change) <= 15.0 * tolerance) {
    owed->whole = -1.0 / 15.0;
  } else {
    value = adapt_gradient(p, lo, mid, flo, fl, fmid, left, 0.5 * tolerance, dp, &one) +
            adapt_gradient(p, mid, hi, fmid, fr, fhi, right, 0.5 * tolerance, dp, &two);
  }
  owed->lo = one.lo + h * one.whole;
  owed->mid = one.hi + two.lo + h * (one.whole + two.whole);
  owed->hi = two.hi + h * two.whole;
  add_integrand(xl, p, one.mid + 4.0 * h * one.whole, dp);
  add_integrand(xr, p, two.mid + 4.0 * h * two.whole, dp);
  return value;
}

int32_t integral_gradient(const int64_t n, const double *const p,
                          const double tolerance, double *const value,
                          double *const dp) {
  for (int64_t k = 0; k < n; k++) {
    dp[k] = 0.0;
  }
  const double flo = integrand(0.0, p);
  const double fmid = integrand(0.5, p);
  const double fhi = integrand(1.0, p);
  const double whole = (flo + 4.0 * fmid + fhi) / 6.0;
  owed_t owed;
  *value = adapt_gradient(p, 0.0, 1.0, flo, fmid, fhi, whole, tolerance, dp, &owed);
  add_integrand(0.0, p, owed.lo + owed.whole / 6.0, dp);
  add_integrand(0.5, p, owed.mid + owed.whole * 4.0 / 6.0, dp);
  add_integrand(1.0, p, owed.hi + owed.whole / 6.0, dp);
  return 0;
}
