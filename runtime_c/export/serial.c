// Stands for parallel.c, both.c and threads.c in a library without OpenMP: all chunks in order.

#include "internal.h"

int64_t chad_threads(const chad_context_t *const context) {
  (void)context;
  return 1;
}

int64_t chad_lanes(const chad_context_t *const context, const int64_t chunks) {
  (void)context;
  return chunks < 1 ? chunks : 1;
}

chad_status_t chad_parallel(chad_context_t *const context, const chad_run_t run,
                            const chad_merge_t merge, void *const environment,
                            const int64_t chunks, const int64_t lanes,
                            const int64_t parts) {
  (void)lanes;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const chad_status_t status = run(context, environment, chunk);
    if (status != CHAD_OK) {
      return status;
    }
    for (int64_t part = 0; merge != NULL && part < parts; ++part) {
      (void)merge(context, environment, chunk, part);
    }
  }
  return CHAD_OK;
}

chad_status_t chad_turn(chad_context_t *const context, void *const target) {
  (void)context;
  (void)target;
  return CHAD_OK;
}

chad_status_t chad_row_turn(chad_context_t *const context, int64_t *const rows,
                            const int64_t place, const int64_t step) {
  (void)context;
  (void)rows;
  (void)place;
  (void)step;
  return CHAD_OK;
}

void chad_row_done(int64_t *const rows, const int64_t place, const int64_t step) {
  rows[place] = step + 1;
}

chad_status_t chad_divide(chad_context_t *const context, chad_arena_t *const arenas,
                          const chad_run_t run, void *const environment,
                          const int64_t patience) {
  (void)arenas;
  (void)patience;
  return run(context, environment, 0);
}

void chad_heartbeat(chad_state_t *const state) { (void)state; }

// Nobody offers a branch, or joins one that was offered.
void chad_offer(chad_context_t *const context) { (void)context; }

chad_status_t chad_join(chad_context_t *const context, chad_fork_t *const fork,
                        const chad_status_t status) {
  (void)context;
  (void)fork;
  return status;
}
