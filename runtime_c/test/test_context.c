// The library's numbers, the layout generated code relies on, and interrupts.

#define _POSIX_C_SOURCE 200809L

#include <time.h>

#include "check.h"

static int32_t answer(void *const user) {
  int32_t *const calls = user;
  return ++*calls >= 3;
}

static int64_t milliseconds(void) {
  struct timespec time;
  CHECK(clock_gettime(CLOCK_MONOTONIC, &time) == 0);
  return (int64_t)time.tv_sec * 1000 + (int64_t)time.tv_nsec / 1000000;
}

static void test_numbers(void) {
  CHECK(chad_rt_abi() == CHAD_RT_ABI);
  CHECK(chad_openmp() == 0 || chad_openmp() >= 200505);
}

static void test_failure_slot(void) {
  chad_context_t *const context = new_context();
  context->site = 7;
  context->values[0] = INT64_MIN;
  context->values[1] = -1;
  CHECK(chad_poll(context) == CHAD_OK);
  chad_leave(context, chad_enter(context, 4));
  CHECK(context->site == 7 && context->values[0] == INT64_MIN);
  CHECK(context->values[1] == -1);
  chad_context_free(context);
}

// Asked all the time, the callback runs only ten times a second; its answer arrives.
static void test_poll_rate(void) {
  int32_t calls = 0;
  chad_context_t *const context = new_context();
  chad_set_poll(context, answer, &calls);
  const int64_t start = milliseconds();
  while (chad_poll(context) == CHAD_OK) {
    CHECK(milliseconds() - start < 10000);
  }
  const int64_t elapsed = milliseconds() - start;
  CHECK(calls == 3);
  CHECK(elapsed >= 180);
  CHECK(chad_poll(context) == CHAD_OK);
  chad_set_poll(context, NULL, NULL);
  CHECK(chad_poll(context) == CHAD_OK);
  CHECK(calls == 3);
  chad_context_free(context);
}

int main(void) {
  test_numbers();
  test_failure_slot();
  test_poll_rate();
  return 0;
}
