// How fast a core is: a chain of dependent multiplications.

#ifndef CHAD_BENCH_SPEED_H
#define CHAD_BENCH_SPEED_H

#include <stdint.h>

double speed_chain(int64_t steps);

#endif
