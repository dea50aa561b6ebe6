// The default limit follows what the process may have.

#define _POSIX_C_SOURCE 200809L

#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

// Whether an allocation of `bytes` bytes is possible; the memory is never touched.
static int can_have(chad_context_t *const context, const int64_t bytes) {
  const int done = chad_result_alloc(context, bytes) != NULL;
  chad_results_discard(context);
  return done;
}

static void test_not_more_than_the_machine(void) {
  chad_context_t *const context = new_context();
  const int64_t machine = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  CHECK(machine > 0);
  CHECK(!can_have(context, machine));
  CHECK(chad_memory_peak(context) == 0);
  CHECK(can_have(context, 80 * MIB));
  chad_context_free(context);
}

// A lower limit on address space lowers the default, before the system says no. (Under
// the address sanitizer the process already has far more than any such limit.)
static void test_address_space(void) {
  struct rlimit old;
  CHECK(getrlimit(RLIMIT_AS, &old) == 0);
  const int64_t space = 400 * MIB;
  struct rlimit lower = {(rlim_t)space, old.rlim_max};
  if (old.rlim_max != RLIM_INFINITY && old.rlim_max < lower.rlim_cur) {
    return;
  }
  CHECK(setrlimit(RLIMIT_AS, &lower) == 0);
  chad_context_t *const context = new_context();
  CHECK(!can_have(context, 301 * MIB));
  CHECK(chad_memory_limit(context) <= 301 * MIB);
  // A limit that is lifted counts for the same context.
  CHECK(setrlimit(RLIMIT_AS, &old) == 0);
  CHECK(can_have(context, 301 * MIB));
  CHECK(can_have(context, 80 * MIB));
  CHECK(chad_memory_limit(context) > 301 * MIB);
  // Unless it is the caller's.
  chad_set_memory_limit(context, 80 * MIB);
  CHECK(!can_have(context, 301 * MIB));
  chad_set_memory_limit(context, 5 * MIB);
  CHECK(chad_memory_limit(context) == 5 * MIB);
  chad_set_memory_limit(context, -1);
  CHECK(chad_memory_limit(context) > 301 * MIB);
  chad_context_free(context);
}

int main(void) {
  test_not_more_than_the_machine();
  test_address_space();
  return 0;
}
