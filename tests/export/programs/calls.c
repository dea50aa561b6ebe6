// Calls, failures and memory, as the header of an exported library promises them.

#include <math.h>
#include <string.h>

#include "check.h"
#include "forms.h"

static double x[] = {1.0, 2.0, 3.0};
static forms_error error;

static void results(void) {
  double value = 0.0, first = 0.0, second = 0.0, gradient[3];
  uint8_t flag = 7;
  forms_tuple root;
  float wide = 0.0F, by_x = 0.0F, by_v[2];
  const float v[] = {1.0F, 2.0F};
  CHECK(forms_line(NULL, 3.0, 1.0, &value, NULL) == FORMS_OK && value == 10.0);
  CHECK(forms_line_grad(NULL, 3.0, 1.0, &value, &first, &second, NULL) == FORMS_OK);
  CHECK(value == 10.0 && first == 6.0 && second == 1.0);
  CHECK(forms_energy(NULL, x, 3, 2.0, &value, gradient, NULL) == FORMS_OK);
  CHECK(fabs(value - (2.0 + cos(1.0) + cos(2.0) + cos(3.0))) < 1e-15);
  CHECK(fabs(gradient[0] - (-2.0 - sin(1.0))) < 1e-15);
  CHECK(forms_checked_root(NULL, 4.0, 2, &root, NULL) == FORMS_OK);
  CHECK(root.item0 == 2.0 && root.item1 == 0);
  CHECK(forms_checked_root(NULL, 4.0, 0, &root, NULL) == FORMS_OK && root.item1 == 1);
  CHECK(forms_narrow_grad(NULL, 2.0F, v, 2, &wide, &by_x, by_v, NULL) == FORMS_OK);
  CHECK(wide == 6.0F && by_x == 3.0F && by_v[1] == 2.0F);
  CHECK(forms_table(NULL, 4321, &value, NULL) == FORMS_OK && value == 4321.0);
  CHECK(forms_power_grad(NULL, 3.0, 100000, &value, &error) == FORMS_OK);
  CHECK(forms_power_grad(NULL, 2.0, 5, &value, NULL) == FORMS_OK && value == 80.0);
  (void)flag;
}

static void failures(void) {
  double value = 5.0, gradient[3];
  CHECK(forms_pick(NULL, x, 3, 5, &value, &error) == FORMS_PROGRAM);
  CHECK(strcmp(error.message, "index 5 is out of range for size 3") == 0);
  CHECK(strcmp(error.kind, "IndexError") == 0 && strcmp(error.function, "pick") == 0);
  CHECK(strstr(error.file, "export_models.py") != NULL && error.line > 10);
  CHECK(error.status == FORMS_PROGRAM && value == 5.0);
  forms_tuple root;
  CHECK(forms_checked_root(NULL, -1.0, 0, &root, &error) == FORMS_PROGRAM);
  CHECK(strcmp(error.message, "no root of a negative number") == 0);
  CHECK(forms_power(NULL, 1.0, 1000000000, &value, &error) == FORMS_TOO_DEEP);
  CHECK(forms_energy(NULL, NULL, 3, 2.0, &value, gradient, &error) == FORMS_INVALID);
  CHECK(strcmp(error.message, "x is NULL") == 0);
  CHECK(forms_energy(NULL, x, -1, 2.0, &value, gradient, NULL) == FORMS_INVALID);
  CHECK(forms_energy(NULL, x, INT64_MAX, 2.0, &value, gradient, NULL) == FORMS_INVALID);
  CHECK(forms_energy(NULL, x, 3, 2.0, NULL, gradient, NULL) == FORMS_INVALID);
  CHECK(forms_energy(NULL, x, 3, 2.0, &value, NULL, &error) == FORMS_INVALID);
  CHECK(strcmp(error.message, "x_gradient is NULL") == 0);
  const double *odd = (const double *)(const void *)((const char *)x + 1);
  CHECK(forms_energy(NULL, odd, 2, 2.0, &value, gradient, NULL) == FORMS_INVALID);
  CHECK(forms_energy(NULL, NULL, 0, 2.0, &value, NULL, NULL) == FORMS_OK && value == 0.0);
}

typedef struct books {
  size_t bytes;
  int blocks;
  int left;  // allocations that are granted; then none are
  int asked;
} books;

static void *book_alloc(void *user, size_t bytes) {
  books *b = user;
  if (b->left-- <= 0) {
    return NULL;
  }
  b->bytes += bytes;
  ++b->blocks;
  return malloc(bytes);
}

static void book_free(void *user, void *block, size_t bytes) {
  books *b = user;
  b->bytes -= bytes;
  --b->blocks;
  free(block);
}

static int32_t stop(void *user) { return ++((books *)user)->asked > 0; }

static void memories(void) {
  double value = 0.0, gradient[3];
  forms_memory *memory = NULL;
  forms_f64_2 twice;
  CHECK(forms_check(FORMS_INTERFACE) == FORMS_OK);
  CHECK(forms_check(FORMS_INTERFACE + 1) == FORMS_MISMATCH);
  CHECK(forms_memory_open(FORMS_INTERFACE + 1, NULL, &memory) == FORMS_MISMATCH);
  CHECK(memory == NULL && forms_memory_open(FORMS_INTERFACE, NULL, NULL) != FORMS_OK);
  CHECK(forms_doubled(NULL, x, 1, 3, &twice, &error) == FORMS_INVALID);
  CHECK(strcmp(error.message, "memory is NULL") == 0);
  for (int left = 0; left < 6; ++left) {
    books b = {0, 0, left, 0};
    const forms_hooks hooks = {book_alloc, book_free, NULL, &b, 0};
    const int32_t opened = forms_memory_open(FORMS_INTERFACE, &hooks, &memory);
    CHECK(opened == (left == 0 ? FORMS_NO_MEMORY : FORMS_OK));
    if (opened == FORMS_OK) {
      const int32_t status = forms_doubled(memory, x, 1, 3, &twice, &error);
      CHECK(status == FORMS_OK || (left < 3 && status == FORMS_NO_MEMORY));
      CHECK(status != FORMS_OK || (twice.data[2] == 6.0 && twice.shape[1] == 3));
      forms_memory_close(memory);
    }
    CHECK(b.bytes == 0 && b.blocks == 0);
  }
  const forms_hooks limited = {NULL, NULL, NULL, NULL, 1 << 20};
  double *const large = calloc(1 << 20, sizeof *large);
  CHECK(forms_memory_open(FORMS_INTERFACE, &limited, &memory) == FORMS_OK);
  CHECK(forms_doubled(memory, large, 1 << 10, 1 << 10, &twice, &error) == FORMS_NO_MEMORY);
  CHECK(forms_doubled(memory, x, 3, 1, &twice, &error) == FORMS_OK);
  forms_memory_close(memory);
  books b = {0, 0, 0, 0};
  const forms_hooks asking = {NULL, NULL, stop, &b, 0};
  CHECK(forms_memory_open(FORMS_INTERFACE, &asking, &memory) == FORMS_OK);
  CHECK(forms_energy(memory, large, 1 << 20, 2.0, &value, large, &error) == FORMS_STOPPED);
  forms_memory_close(memory);
  forms_memory_close(NULL);
  free(large);
  CHECK(forms_energy(NULL, x, 3, 2.0, &value, gradient, NULL) == FORMS_OK);
}

// A workspace of the size that is asked for is enough, wherever it begins; one that is
// smaller by what alignment may cost is not.
static void workspaces(void) {
  double *const numbers = calloc(1000, sizeof *numbers);
  double *const gradient = calloc(1000, sizeof *gradient);
  double value = 0.0;
  size_t bytes = 0;
  CHECK(forms_energy_workspace(1000, 2.0, &bytes, &error) == FORMS_OK);
  CHECK(bytes > 1000 * sizeof(double) && bytes < 6 * 1000 * sizeof(double));
  CHECK(forms_energy_workspace(-1, 2.0, &bytes, &error) == FORMS_INVALID);
  CHECK(forms_energy_workspace(1000, 2.0, NULL, &error) == FORMS_INVALID);
  CHECK(forms_energy_workspace(1000, 2.0, &bytes, &error) == FORMS_OK);
  for (size_t skip = 0; skip < 64; skip += 8) {
    char *const block = malloc(bytes + skip);
    forms_memory *memory = NULL;
    CHECK(forms_memory_in(FORMS_INTERFACE, block + skip, bytes, &memory) == FORMS_OK);
    for (int call = 0; call < 3; ++call) {
      CHECK(forms_energy(memory, numbers, 1000, 2.0, &value, gradient, NULL) == FORMS_OK);
    }
    forms_memory_close(memory);
    CHECK(forms_memory_in(FORMS_INTERFACE, block + skip, bytes - 64, &memory) == FORMS_OK);
    CHECK(forms_energy(memory, numbers, 1000, 2.0, &value, gradient, &error) ==
          FORMS_NO_ROOM);
    CHECK(forms_memory_in(FORMS_INTERFACE, block + skip, 100, &memory) == FORMS_NO_ROOM);
    CHECK(memory == NULL);
    free(block);
  }
  free(numbers);
  free(gradient);
}

static void log_densities(void) {
  double gradient[3], logp = 0.0, value = 0.0, other[3];
  forms_energy_user user = {NULL, NULL, 2.0};
  user.error = &error;
  CHECK(forms_energy_log_density(3, x, gradient, &logp, &user) == 0);
  CHECK(forms_energy(NULL, x, 3, 2.0, &value, other, NULL) == FORMS_OK);
  CHECK(logp == value && memcmp(gradient, other, sizeof other) == 0);
  CHECK(forms_energy_log_density(3, x, gradient, &logp, NULL) == FORMS_INVALID);
  CHECK(forms_energy_log_density(UINT64_MAX, x, gradient, &logp, &user) != FORMS_OK);
}

int main(void) {
  results();
  failures();
  memories();
  workspaces();
  log_densities();
  return 0;
}
