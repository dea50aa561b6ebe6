// The threads, which are OpenMP's. This is a library of its own, libchad_omp: where the
// OpenMP runtime that it is linked with is missing it does not load, and libchad_rt runs
// serially (see threads.c). So a program needs no OpenMP, and has no second one beside
// the one it may have already. A program that has the runtime compiled in, by a compiler
// with OpenMP switched on, has this in it too.

#include <omp.h>

#include "team.h"

int32_t chad_omp_version(void) { return _OPENMP; }

int32_t chad_omp_threads(void) { return omp_get_max_threads(); }

// The members share nothing here; what they do share orders itself, see pool.c.
void chad_omp_team(const int32_t threads, void (*const serve)(void)) {
#pragma omp parallel num_threads(threads)
  serve();
}
