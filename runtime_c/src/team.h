// What libchad_omp gives to libchad_rt, which looks it up by these names.

#ifndef CHAD_TEAM_H
#define CHAD_TEAM_H

#include "chad_rt.h"

// What each thread of a team runs: its number, and how many there are.
typedef void (*chad_member_t)(void *argument, int32_t number, int32_t members);

// The date of the OpenMP specification, as _OPENMP.
CHAD_API int32_t chad_omp_version(void);

// How many threads OpenMP would give to the calling thread.
CHAD_API int32_t chad_omp_threads(void);

// member(argument, …) on so many threads, or on fewer if OpenMP has not as many; returns
// when all have returned.
CHAD_API void chad_omp_run(int32_t threads, chad_member_t member, void *argument);

#endif
