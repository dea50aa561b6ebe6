// The context, interrupts, and what the library says about itself.

#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <time.h>

#include "internal.h"

static const int64_t SECOND = 1000000000;
static const int64_t POLL_INTERVAL = 100000000;

int32_t chad_rt_abi(void) { return CHAD_RT_ABI; }

chad_context_t *chad_context_new(void) {
  chad_state_t *const state = chad_zeroed(sizeof(chad_state_t));
  if (state == NULL) {
    return NULL;
  }
  state->limit = -1;
  state->most_kept = CHAD_MOST_KEPT;
  return &state->shared;
}

void chad_context_free(chad_context_t *const context) {
  if (context == NULL) {
    return;
  }
  chad_state_t *const state = (chad_state_t *)context;
  for (int64_t child = 0; child < state->child_count; ++child) {
    chad_context_free(&state->children[child]->shared);
  }
  free(state->children);
  chad_results_discard(context);
  chad_frames_free(state);
  chad_trim(state, 0);
  free(state);
}

int64_t chad_steps(const chad_context_t *const context) {
  return ((const chad_state_t *)context)->steps;
}

// The coarse clock is a read of memory (ticks of 1 to 4 ms): a loop may ask often.
#ifdef _WIN32
// As windows.h declares it, without the rest of that: the milliseconds since the start.
__declspec(dllimport) unsigned long long __stdcall GetTickCount64(void);

static int64_t now(void) { return (int64_t)GetTickCount64() * (SECOND / 1000); }
#else
static int64_t now(void) {
  struct timespec time = {0, 0};
#if defined(CLOCK_MONOTONIC_COARSE)
  const int failed = clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
#elif defined(CLOCK_MONOTONIC)
  const int failed = clock_gettime(CLOCK_MONOTONIC, &time);
#else
  const int failed = timespec_get(&time, TIME_UTC) != TIME_UTC;
#endif
  if (failed != 0) {
    return INT64_MAX;  // No clock: ask every time.
  }
  return (int64_t)time.tv_sec * SECOND + (int64_t)time.tv_nsec;
}
#endif

chad_status_t chad_poll(chad_context_t *const context) {
  chad_state_t *const state = (chad_state_t *)context;
  if (context->forks != NULL && context->crew == NULL) {
    chad_heartbeat(state);
  }
  if (state->callback == NULL) {
    return CHAD_OK;
  }
  const int64_t time = now();
  if (time < state->next_poll) {
    return CHAD_OK;
  }
  state->next_poll = time == INT64_MAX ? time : time + POLL_INTERVAL;
  const int32_t answer = chad_deep_ask(context, state->callback, state->user);
  return answer != 0 ? CHAD_INTERRUPT : CHAD_OK;
}

void chad_set_poll(chad_context_t *const context, int32_t (*const callback)(void *user),
                   void *const user) {
  chad_state_t *const state = (chad_state_t *)context;
  state->callback = callback;
  state->user = user;
}
