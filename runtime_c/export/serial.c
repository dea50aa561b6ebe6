// Stands for parallel.c and threads.c in a library without OpenMP: all chunks in order.

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
                            const chad_run_t merge, void *const environment,
                            const int64_t chunks, const int64_t lanes) {
  (void)lanes;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const chad_status_t status = run(context, environment, chunk);
    if (status != CHAD_OK) {
      return status;
    }
    if (merge != NULL) {
      (void)merge(context, environment, chunk);
    }
  }
  return CHAD_OK;
}

chad_status_t chad_both(chad_context_t *const context, const chad_run_t first,
                        const chad_run_t second, void *const environment) {
  const chad_status_t status = first(context, environment, 0);
  return status != CHAD_OK ? status : second(context, environment, 1);
}
