// How much memory this process may have: the least of the machine's memory, the limits
// of its control groups (Linux, both versions) and its limit on address space. And how
// many cores its control groups leave it (Linux, version 2).

#define _POSIX_C_SOURCE 200809L

#include "internal.h"

#if defined(_WIN32) || defined(__wasm__)

// What the system gives is the limit.
int64_t chad_default_limit(void) { return INT64_MAX; }
int64_t chad_core_limit(void) { return INT64_MAX; }

#else

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LINE_SIZE = 4352 };

static int64_t min_limit(const int64_t a, const int64_t b) { return a < b ? a : b; }

static int64_t physical_memory(void) {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (int64_t)pages * (int64_t)page : INT64_MAX;
}

static int64_t address_space(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      limit.rlim_cur > (rlim_t)INT64_MAX) {
    return INT64_MAX;
  }
  return (int64_t)limit.rlim_cur;
}

// The number in a file; none, say the word "max" or no file, means no limit.
static int64_t read_number(const char *const path) {
  FILE *const file = fopen(path, "re");
  if (file == NULL) {
    return INT64_MAX;
  }
  char text[32] = "";
  const char *const line = fgets(text, sizeof text, file);
  (void)fclose(file);
  char *end = text;
  const long long number = line == NULL ? 0 : strtoll(text, &end, 10);
  return end == text || number < 0 ? INT64_MAX : (int64_t)number;
}

// The cores that a file grants as time of all cores in a period, rounded up.
static int64_t read_cores(const char *const path) {
  FILE *const file = fopen(path, "re");
  if (file == NULL) {
    return INT64_MAX;
  }
  long long time = 0;
  long long period = 0;
  const int found = fscanf(file, "%lld %lld", &time, &period);
  (void)fclose(file);
  return found != 2 || time <= 0 || period <= 0 ? INT64_MAX
                                                : (int64_t)((time - 1) / period + 1);
}

// Where the limits of a kind stand, in both versions of control groups.
typedef struct kind {
  const char *second;
  const char *first;  // NULL: not looked for
  const char *controller;
  const char *mount;
  int64_t (*read)(const char *path);
} kind_t;

static const kind_t MEMORY = {.second = "memory.max",
                              .first = "memory.limit_in_bytes",
                              .controller = "memory",
                              .mount = "/sys/fs/cgroup/memory",
                              .read = read_number};
static const kind_t CORES = {.second = "cpu.max", .read = read_cores};

// The least limit of a group and of all groups above it. `group` is used up.
static int64_t group_limit(const char *const mount, char *const group,
                           const char *const name,
                           int64_t (*const read)(const char *path)) {
  int64_t limit = INT64_MAX;
  for (;;) {
    char path[LINE_SIZE + 64];
    const int length = snprintf(path, sizeof path, "%s%s/%s", mount, group, name);
    if (length > 0 && (size_t)length < sizeof path) {
      limit = min_limit(limit, read(path));
    }
    char *const slash = strrchr(group, '/');
    if (slash == NULL) {
      return limit;
    }
    *slash = '\0';
  }
}

// A line of /proc/self/cgroup is `number:controllers:group`; version 2 has none of the
// middle part.
static int64_t line_limit(char *const line, const kind_t *const kind) {
  line[strcspn(line, "\n")] = '\0';
  char *const controllers = strchr(line, ':');
  char *const group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
  if (group == NULL) {
    return INT64_MAX;
  }
  *group = '\0';
  if (controllers[1] == '\0') {
    return group_limit("/sys/fs/cgroup", group + 1, kind->second, kind->read);
  }
  if (kind->first != NULL && strcmp(controllers + 1, kind->controller) == 0) {
    return group_limit(kind->mount, group + 1, kind->first, kind->read);
  }
  return INT64_MAX;
}

static int64_t control_groups(const kind_t *const kind) {
  FILE *const file = fopen("/proc/self/cgroup", "re");
  if (file == NULL) {
    return INT64_MAX;
  }
  int64_t limit = INT64_MAX;
  char line[LINE_SIZE];
  while (fgets(line, sizeof line, file) != NULL) {
    limit = min_limit(limit, line_limit(line, kind));
  }
  (void)fclose(file);
  return limit;
}

int64_t chad_default_limit(void) {
  const int64_t all = min_limit(physical_memory(), address_space());
  return min_limit(all, control_groups(&MEMORY)) / 4 * 3;
}

int64_t chad_core_limit(void) { return control_groups(&CORES); }

#endif
