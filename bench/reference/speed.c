#include "speed.h"

double speed_chain(const int64_t steps) {
  double x = 1.0;
  double factor = 1.0 + 1e-9;
  for (int64_t i = 0; i < steps; i++) {
    // The factor may be another: no compiler takes two steps at once.
    __asm__ volatile("" : "+m"(factor));
    x *= factor;
  }
  return x;
}
