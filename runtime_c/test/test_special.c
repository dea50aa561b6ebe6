// Values of the functions of numbers that are known in closed form, and their edges.

#include <math.h>

#include "check.h"

static const double PI = 3.14159265358979323846;
static const double EULER = 0.57721566490153286061;

static int near(const double found, const double wanted) {
  return fabs(found - wanted) <= 1e-14 * fabs(wanted);
}

static void test_gamma(void) {
  CHECK(near(chad_lgamma(0.5), 0.5 * log(PI)));
  CHECK(near(chad_lgamma(-0.5), log(2.0) + 0.5 * log(PI)));
  CHECK(chad_lgamma(1.0) == 0.0 && chad_lgamma(2.0) == 0.0);
  CHECK(chad_lgamma(0.0) == INFINITY && chad_lgamma(-3.0) == INFINITY);
}

static void test_digamma(void) {
  CHECK(near(chad_digamma(1.0), -EULER));
  CHECK(near(chad_digamma(0.5), -EULER - 2.0 * log(2.0)));
  CHECK(near(chad_digamma(0.25), -EULER - 0.5 * PI - 3.0 * log(2.0)));
  CHECK(near(chad_digamma(-0.5) - 2.0, chad_digamma(0.5)));
  CHECK(chad_digamma(0.0) == -INFINITY && chad_digamma(-0.0) == INFINITY);
  CHECK(isnan(chad_digamma(-1.0)) && isnan(chad_digamma(-INFINITY)));
  CHECK(isnan(chad_digamma(NAN)) && chad_digamma(INFINITY) == INFINITY);
}

static void test_polygamma(void) {
  CHECK(near(chad_polygamma(1, 1.0), PI * PI / 6.0));
  CHECK(near(chad_polygamma(1, 0.5), PI * PI / 2.0));
  CHECK(near(chad_polygamma(1, -0.5), PI * PI / 2.0 + 4.0));
  CHECK(near(chad_polygamma(3, 1.0), PI * PI * PI * PI / 15.0));
  CHECK(near(chad_polygamma(2, 0.25) + chad_polygamma(2, 0.75),
             -112.0 * 1.2020569031595942854));
  CHECK(near(chad_polygamma(0, 1.0), -EULER));
  CHECK(isnan(chad_polygamma(-1, 1.0)) && isnan(chad_polygamma(2, NAN)));
  CHECK(chad_polygamma(1, -2.0) == INFINITY && isnan(chad_polygamma(2, -2.0)));
  // Any order and any number end soon.
  CHECK(chad_polygamma(INT64_MAX, 0.5) == INFINITY);
  CHECK(chad_polygamma(INT64_MAX, 1e300) == 0.0);
  CHECK(isfinite(chad_polygamma(1, -1e15 - 0.5)));
}

static void test_sinc(void) {
  CHECK(chad_sinc(0, 0.0) == 1.0 && chad_sinc(1, 0.0) == 0.0);
  CHECK(near(chad_sinc(2, 0.0), -1.0 / 3.0));
  CHECK(near(chad_sinc(0, 0.5 * PI), 2.0 / PI));
  CHECK(near(chad_sinc(1, PI), -1.0 / PI));
  CHECK(near(chad_sinc(1, -PI), 1.0 / PI));
  CHECK(near(chad_sinc(1, 1e-200), -1e-200 / 3.0));
  CHECK(isnan(chad_sinc(-1, 1.0)) && isnan(chad_sinc(INT64_MAX, 1.0)));
  CHECK(chad_sinc(3, INFINITY) == 0.0 && isnan(chad_sinc(0, NAN)));
}

static void test_integers(void) {
  CHECK(chad_gcd(12, -18) == 6 && chad_gcd(0, 0) == 0 && chad_gcd(0, -5) == 5);
  CHECK(chad_gcd(INT64_MIN, 0) == INT64_MIN && chad_gcd(INT64_MIN, 6) == 2);
  CHECK(chad_factorial(0) == 1 && chad_factorial(5) == 120);
  CHECK(chad_factorial(20) == INT64_C(2432902008176640000));
  CHECK(chad_comb(5, 2) == 10 && chad_comb(2, 5) == 0 && chad_comb(0, 0) == 1);
  CHECK(chad_comb(66, 33) == INT64_C(7219428434016265740));
  CHECK(chad_comb(67, 33) == -1 && chad_comb(INT64_MAX, 2) == -1);
  CHECK(chad_comb(INT64_MAX, 1) == INT64_MAX && chad_comb(INT64_MAX, INT64_MAX) == 1);
  CHECK(chad_perm(5, 2) == 20 && chad_perm(2, 5) == 0 && chad_perm(21, 21) == -1);
  CHECK(chad_power_fits(-2, 63) == 1 && chad_power_fits(2, 63) == 0);
  CHECK(chad_power_fits(3, 39) == 1 && chad_power_fits(3, 40) == 0);
  CHECK(chad_power_fits(-1, INT64_MAX) == 1 && chad_power_fits(9, -1) == 1);
  CHECK(chad_powmod(3, 4, 10) == 1 && chad_powmod(3, 4, -10) == -9);
  CHECK(chad_powmod(-3, 3, 10) == 3 && chad_powmod(0, 0, 7) == 1);
  CHECK(chad_powmod(5, 0, 1) == 0 && chad_powmod(INT64_MIN, 1, INT64_MIN) == 0);
  CHECK(chad_powmod(2, 62, INT64_MAX) == INT64_C(1) << 62);
}

static void test_round_to(void) {
  CHECK(chad_round_to(1.115, 2) == 1.11 && chad_round_to(2.675, 2) == 2.67);
  CHECK(chad_round_to(0.5, 0) == 0.0 && chad_round_to(1.5, 0) == 2.0);
  CHECK(chad_round_to(-1250.0, -2) == -1200.0 && chad_round_to(1e22, 22) == 1e22);
  CHECK(signbit(chad_round_to(-0.01, 1)) && isnan(chad_round_to(NAN, 1)));
}

int main(void) {
  test_gamma();
  test_digamma();
  test_polygamma();
  test_sinc();
  test_integers();
  test_round_to();
  return 0;
}
