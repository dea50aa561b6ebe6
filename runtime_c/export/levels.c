// Which of several versions of the functions this processor runs: those for the levels
// of x86-64 that `chad_lib_levels` lists, from the lowest on.

#include <cpuid.h>
#include <stdatomic.h>
#include <stdint.h>

enum {
  CHAD_LEAF1_V2 = 1 << 0 | 1 << 9 | 1 << 13 | 1 << 19 | 1 << 20 | 1 << 23,
  CHAD_LEAF1_V3 = 1 << 12 | 1 << 22 | 1 << 27 | 1 << 28 | 1 << 29,
  CHAD_LEAF7_V3 = 1 << 3 | 1 << 5 | 1 << 8,
  CHAD_LEAF7_V4 = 1 << 16 | 1 << 17 | 1 << 28 | 1 << 30,
  CHAD_STATE_V3 = 0x6,   // what the system keeps for a thread: 256 bits
  CHAD_STATE_V4 = 0xe6,  // 512 bits
};

static int chad_lib_has(const unsigned word, const unsigned bits) {
  return (word & bits) == bits;
}

// The level of x86-64 that this processor has, of 1 to 4.
static int chad_lib_find_level(void) {
  unsigned a = 0, b = 0, c1 = 0, d = 0, b7 = 0, c = 0, extended = 0;
  if (!__get_cpuid(1, &a, &b, &c1, &d) || !chad_lib_has(c1, CHAD_LEAF1_V2)) {
    return 1;
  }
  if (!__get_cpuid_count(7, 0, &a, &b7, &c, &d) || !chad_lib_has(c1, CHAD_LEAF1_V3) ||
      !chad_lib_has(b7, CHAD_LEAF7_V3) ||
      !__get_cpuid(0x80000001, &a, &b, &extended, &d) ||
      !chad_lib_has(extended, 1 << 5)) {
    return 2;
  }
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if (!chad_lib_has(low, CHAD_STATE_V3)) {
    return 2;
  }
  const int is_v4 = chad_lib_has(b7, CHAD_LEAF7_V4) &&
                    (b7 & 1U << 31) != 0 && chad_lib_has(low, CHAD_STATE_V4);
  return is_v4 ? 4 : 3;
}

// The index of the best version. To ask the processor takes long, so the answer is kept:
// a number that is the same for all threads and at all times, whoever writes it first.
static int chad_lib_level(void) {
  static _Atomic int known;
  int found = atomic_load_explicit(&known, memory_order_relaxed);
  if (found != 0) {
    return found - 1;
  }
  const int level = chad_lib_find_level();
  const int count = (int)(sizeof chad_lib_levels / sizeof *chad_lib_levels);
  for (int k = 0; k < count; ++k) {
    found = chad_lib_levels[k] <= level ? k + 1 : found;
  }
  atomic_store_explicit(&known, found, memory_order_relaxed);
  return found - 1;
}
