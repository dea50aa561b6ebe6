// What libchad_omp gives to libchad_rt, which looks it up by these names.

#ifndef CHAD_TEAM_H
#define CHAD_TEAM_H

#include "chad_rt.h"

// The date of the OpenMP specification, as _OPENMP.
CHAD_API int32_t chad_omp_version(void);

// How many threads OpenMP would give to the calling thread.
CHAD_API int32_t chad_omp_threads(void);

// serve() on a new team of so many threads, the calling one included, or of fewer if
// OpenMP has not as many. Returns when all have returned.
CHAD_API void chad_omp_team(int32_t threads, void (*serve)(void));

#endif
