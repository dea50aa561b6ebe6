// Functions of numbers that the C library lacks, or has in a form that threads may not
// share. Numbers in brackets are those of the Digital Library of Mathematical Functions
// (dlmf.nist.gov). `ops/special.py` has the same formulas in Python.

#define _DEFAULT_SOURCE  // lgamma_r

#include <math.h>

#include "internal.h"

static const double PI = 3.14159265358979323846;

// --- Gamma and its logarithmic derivatives -----------------------------------------

// libm's lgamma leaves the sign in a global; the reentrant form leaves it with us. Where
// there is no such form lgamma has no such global, or no threads.
double chad_lgamma(const double x) {
#if defined(_WIN32) || defined(__wasm__)
  return lgamma(x);
#else
  int sign = 0;
  return lgamma_r(x, &sign);
#endif
}

// The positive root of digamma as a sum of two doubles.
static const double ROOT = 0x1.762d86356be3fp+0;
static const double ROOT_REST = 9.549995429965697e-17;

// The Taylor coefficients of digamma at its root x0: (-1)^(k+1) zeta(k+1, x0) for
// k = 1, 2, … [5.15.1]. With |x - x0| < 1/4 twenty terms are exact to the last digits.
enum { TERMS_AT_ROOT = 20 };
static const double AT_ROOT[TERMS_AT_ROOT] = {
    0.9676722454476212,     -0.4427631689835921,    0.258499760955651,
    -0.16394270544240652,   0.10782405069126237,    -0.07219956125645471,
    0.04880428816414311,    -0.03316112647484736,   0.022597648232218104,
    -0.01542476590494896,   0.010538791616612175,   -0.007204534386356869,
    0.004926781395729853,   -0.003369801655439328,  0.002305126326734928,
    -0.0015769367714301972, 0.0010788252019162967,  -0.0007380709389960052,
    0.000504953265834602,   -0.0003454680251063077,
};

// Near its root, where the other formulas cancel.
static double digamma_at_root(const double x) {
  const double t = (x - ROOT) - ROOT_REST;
  double sum = 0.0;
  for (int k = TERMS_AT_ROOT - 1; k >= 0; k--) {
    sum = AT_ROOT[k] + t * sum;
  }
  return t * sum;
}

// B_2k / (2k) for k = 1, 2, …
enum { TERMS_OF_DIGAMMA = 8 };
static const double LOGARITHMIC[TERMS_OF_DIGAMMA] = {
    1.0 / 12.0, -1.0 / 120.0,     1.0 / 252.0, -1.0 / 240.0,
    1.0 / 132.0, -691.0 / 32760.0, 1.0 / 12.0,  -3617.0 / 8160.0,
};

// Recurrence up to 10 [5.5.2], and from there the asymptotic series [5.11.2].
static double digamma_of_positive(double x) {
  if (fabs(x - ROOT) < 0.25) {
    return digamma_at_root(x);
  }
  double steps = 0.0;
  for (; x < 10.0; x += 1.0) {
    steps += 1.0 / x;
  }
  const double square = 1.0 / x / x;
  double sum = 0.0;
  for (int k = TERMS_OF_DIGAMMA - 1; k >= 0; k--) {
    sum = square * (LOGARITHMIC[k] + sum);
  }
  return log(x) - 0.5 / x - sum - steps;
}

double chad_digamma(const double x) {
  if (x > 0.0) {
    return digamma_of_positive(x);
  }
  if (x == 0.0) {
    return copysign(INFINITY, -x);
  }
  if (!(x > floor(x))) {  // a pole, -inf, or NaN
    return NAN;
  }
  // Reflection [5.5.4]; the distance to the nearest integer is exact.
  return digamma_of_positive(1.0 - x) - PI / tan(PI * (x - rint(x)));
}

// x^n by squaring, which for the orders of derivatives is faster than pow.
static double power(const double x, const int64_t n) {
  if (n > 64) {
    return pow(x, (double)n);
  }
  double square = x;
  double product = 1.0;
  for (int64_t rest = n; rest > 0; rest /= 2) {
    if (rest % 2 != 0) {
      product *= square;
    }
    square *= square;
  }
  return product;
}

// n! / x^(n+1) for x > 0: a product of small factors, which neither overflows nor
// vanishes on its way, or for large n the exponential of its logarithm.
static double factorial_over_power(const int64_t n, const double x) {
  if (n > 200) {
    return exp(chad_lgamma((double)n + 1.0) - ((double)n + 1.0) * log(x));
  }
  double product = 1.0 / x;
  for (int64_t k = 1; k <= n; k++) {
    product *= (double)k / x;
  }
  return product;
}

// B_2k / (2k)! for k = 1, 2, …
enum { TERMS_OF_ZETA = 12 };
static const double BERNOULLI[TERMS_OF_ZETA] = {
    0.08333333333333333,     -0.001388888888888889,  3.306878306878307e-05,
    -8.267195767195768e-07,  2.08767569878681e-08,   -5.284190138687493e-10,
    1.3382536530684679e-11,  -3.3896802963225827e-13, 8.586062056277845e-15,
    -2.174868698558062e-16,  5.5090028283602295e-18, -1.3954464685812522e-19,
};

// n! zeta(n+1, a) a^n / (n-1)! for n >= 1 and a >= n + 10: the asymptotic series
// [5.15.9] without its first factor.
static double zeta_series(const double n, const double a) {
  double sum = 1.0 + n / (2.0 * a);
  double factor = n / a;
  for (int k = 0; k < TERMS_OF_ZETA; k++) {
    factor *= (n + 2.0 * k + 1.0) / a;
    sum += BERNOULLI[k] * factor;
    factor *= (n + 2.0 * k + 2.0) / a;
  }
  return sum;
}

// n! zeta(n+1, x), the absolute value of polygamma, for n >= 1 and x > 0: terms of the
// series [25.11.1] until the rest is negligible or has an asymptotic series.
static double scaled_zeta(const int64_t n, const double x) {
  const double order = (double)n;
  const double enough = order + 10.0;
  double a = x;
  double head = 0.0;
  while (a < enough) {
    const double ratio = x / a;
    const double term = ratio * power(ratio, n);
    head += term;
    if (term * a < 1e-17) {
      return factorial_over_power(n, x) * head;
    }
    a += 1.0;
  }
  const double tail = factorial_over_power(n - 1, a) * zeta_series(order, a);
  return head == 0.0 ? tail : factorial_over_power(n, x) * head + tail;
}

// For x < 0 that is not an integer: the sum of 1 / (x + k)^(n+1) over k >= 0 as three
// of the same sum for positive numbers. Those with x + k > 0 begin at the distance to the
// integer below, the others are a piece of the one that begins at the distance to the
// integer above.
static double polygamma_of_negative(const int64_t n, const double x) {
  const double rest = x - rint(x);
  const double below = rest > 0.0 ? rest : 1.0 + rest;
  const double above = rest > 0.0 ? 1.0 - rest : -rest;
  const double right = scaled_zeta(n, below);
  const double left = scaled_zeta(n, above) - scaled_zeta(n, 1.0 - x);
  return n % 2 != 0 ? right + left : left - right;
}

double chad_polygamma(const int64_t n, const double x) {
  const int odd = n % 2 != 0;
  if (n == 0) {
    return chad_digamma(x);
  }
  if (n < 0 || isnan(x) || x == -INFINITY) {
    return NAN;
  }
  if (x == INFINITY) {
    return 0.0;
  }
  if (x > 0.0) {
    const double size = scaled_zeta(n, x);
    return odd ? size : -size;
  }
  if (x > floor(x)) {
    return polygamma_of_negative(n, x);
  }
  if (odd) {
    return INFINITY;
  }
  return x == 0.0 ? copysign(INFINITY, -x) : NAN;
}

// --- The sine over its argument ----------------------------------------------------

// sin(x + n pi / 2), given the sine and the cosine of x.
static double turned_sine(const int64_t n, const double sine, const double cosine) {
  const double size = n % 2 == 0 ? sine : cosine;
  return n % 4 < 2 ? size : -size;
}

// The n-th derivative f(n) of f(0) = sin(x) / x. As x f(0) is the sine,
//
//   x f(n) + n f(n-1) = sin(x + n pi / 2),
//
// which is stable upwards while n < x and downwards while n > x. Downwards any value
// will do to begin with, if there are enough steps: a step divides its error by n / x.
// As the steps are counted by n, a huge n, which no derivative has, is refused.
enum { MOST_SINC = 10000 };
double chad_sinc(const int64_t n, const double x) {
  if (n < 0 || n > MOST_SINC || isnan(x)) {
    return NAN;
  }
  if (x == 0.0 || isinf(x)) {
    const double limit = n % 4 == 0 ? 1.0 : -1.0;
    return isinf(x) || n % 2 != 0 ? 0.0 : limit / ((double)n + 1.0);
  }
  const double size = fabs(x);
  const double sine = sin(size);
  const double cosine = cos(size);
  double f = sine / size;
  if (size > (double)n - 0.5) {
    for (int64_t k = 1; k <= n; k++) {
      f = (turned_sine(k, sine, cosine) - (double)k * f) / size;
    }
  } else {
    f = 0.0;
    for (int64_t k = n + 12 + (int64_t)(9.0 * sqrt((double)n)); k > n; k--) {
      f = (turned_sine(k, sine, cosine) - size * f) / (double)k;
    }
  }
  return n % 2 != 0 && x < 0.0 ? -f : f;
}

// --- Integers ----------------------------------------------------------------------

int64_t chad_gcd(const int64_t a, const int64_t b) {
  uint64_t x = a < 0 ? -(uint64_t)a : (uint64_t)a;
  uint64_t y = b < 0 ? -(uint64_t)b : (uint64_t)b;
  while (y != 0) {
    const uint64_t rest = x % y;
    x = y;
    y = rest;
  }
  return (int64_t)x;
}

int64_t chad_factorial(const int64_t n) {
  int64_t product = 1;
  for (int64_t k = 2; k <= n && k <= 20; k++) {
    product *= k;
  }
  return product;
}

int64_t chad_comb(const int64_t n, const int64_t k) {
  if (k > n) {
    return 0;
  }
  const int64_t few = k < n - k ? k : n - k;
  int64_t count = 1;
  // The number at least doubles in each step, so there are no more than 63 of them.
  for (int64_t i = 1; i <= few; i++) {
    const int64_t common = chad_gcd(count, i);
    const int64_t factor = (n - few + i) / (i / common);
    count /= common;
    if (count > INT64_MAX / factor) {
      return -1;
    }
    count *= factor;
  }
  return count;
}

int64_t chad_perm(const int64_t n, const int64_t k) {
  if (k > n) {
    return 0;
  }
  int64_t count = 1;
  for (int64_t i = 0; i < k; i++) {
    if (count > INT64_MAX / (n - i)) {
      return -1;
    }
    count *= n - i;
  }
  return count;
}

int64_t chad_power_fits(const int64_t base, const int64_t n) {
  const uint64_t factor = base < 0 ? -(uint64_t)base : (uint64_t)base;
  const uint64_t least = UINT64_C(1) << 63;
  if (n <= 0 || factor <= 1) {
    return 1;
  }
  uint64_t size = 1;
  for (int64_t k = 0; k < n; k++) {
    if (size > least / factor) {
      return 0;
    }
    size *= factor;
  }
  return size < least || (base < 0 && n % 2 != 0);
}

// a + b modulo m, for a, b < m.
static uint64_t sum_modulo(const uint64_t a, const uint64_t b, const uint64_t m) {
  return a >= m - b ? a - (m - b) : a + b;
}

// a b modulo m, for a, b < m.
static uint64_t product_modulo(uint64_t a, uint64_t b, const uint64_t m) {
  if (m <= UINT32_MAX) {
    return a * b % m;
  }
  uint64_t sum = 0;
  for (; b != 0; b >>= 1) {
    if ((b & 1) != 0) {
      sum = sum_modulo(sum, a, m);
    }
    a = sum_modulo(a, a, m);
  }
  return sum;
}

int64_t chad_powmod(const int64_t base, int64_t n, const int64_t m) {
  const uint64_t size = m < 0 ? -(uint64_t)m : (uint64_t)m;
  const uint64_t rest = (base < 0 ? -(uint64_t)base : (uint64_t)base) % size;
  uint64_t square = base < 0 && rest != 0 ? size - rest : rest;
  uint64_t power = 1 % size;
  for (; n > 0; n >>= 1) {
    if ((n & 1) != 0) {
      power = product_modulo(power, square, size);
    }
    square = product_modulo(square, square, size);
  }
  const int64_t result = (int64_t)power;
  return m < 0 && result != 0 ? -(int64_t)(size - power) : result;
}

// --- Decimal places ----------------------------------------------------------------

// The product (or quotient) with a power of ten is rounded, but monotonically: only if
// it looks like a tie can the exact one be on another side of it, and then the exact
// difference, which a fused multiply-add gives, tells which. The last division (or
// product) is of two exact numbers and rounds once.
double chad_round_to(const double x, const int64_t digits) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const double power = powers[digits < 0 ? -digits : digits];
  const double scaled = digits < 0 ? x / power : x * power;
  // What is larger has no digits to lose; NaN and infinities come here as well.
  if (!(fabs(scaled) < 0x1p53)) {
    return x;
  }
  const double rest =
      digits < 0 ? fma(-scaled, power, x) : fma(x, power, -scaled);
  double nearest = rint(scaled);
  if (fabs(scaled - nearest) == 0.5 && rest != 0.0) {
    nearest = floor(scaled) + (rest > 0.0 ? 1.0 : 0.0);
  }
  return copysign(digits < 0 ? nearest * power : nearest / power, x);
}
