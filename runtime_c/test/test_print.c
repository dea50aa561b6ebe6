// Lines as Python writes them: to a callback, and to C's streams.

#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static int64_t lines;

static int32_t keep(void *const given) {
  const chad_line_t *const line = given;
  CHECK(strcmp(line->kinds, "di") == 0);
  CHECK(strcmp(line->text, "{0} {1}\n") == 0);
  double value = 0.0;
  memcpy(&value, line->words, sizeof value);
  CHECK(value == 0.5 && line->words[1] == -3 && line->error == 1);
  return ++lines > 1;
}

static void test_callback(chad_context_t *const context) {
  chad_set_print(context, keep);
  for (chad_status_t expected = CHAD_OK; expected <= CHAD_INTERRUPT;
       expected += CHAD_INTERRUPT) {
    chad_print_real(context, 0.5);
    chad_print_integer(context, -3);
    CHECK(chad_print(context, "di\0{0} {1}\n", 1) == expected);
  }
  chad_set_print(context, NULL);
}

static void test_text(chad_context_t *const context, const char *const kinds,
                      const double value, const char *const expected) {
  (void)fflush(stdout);
  FILE *const file = tmpfile();
  CHECK(file != NULL);
  const int before = dup(STDOUT_FILENO);
  CHECK(dup2(fileno(file), STDOUT_FILENO) >= 0);
  if (kinds[0] == 'i' || kinds[0] == 'b') {
    chad_print_integer(context, (int64_t)value);
  } else {
    chad_print_real(context, value);
  }
  CHECK(chad_print(context, kinds, 0) == CHAD_OK);
  CHECK(dup2(before, STDOUT_FILENO) >= 0);
  (void)close(before);
  char found[100] = "";
  rewind(file);
  CHECK(fread(found, 1, sizeof found - 1, file) > 0);
  (void)fclose(file);
  CHECK(strcmp(found, expected) == 0);
}

static void test_array(chad_context_t *const context) {
  static const float numbers[4] = {0.1F, 2.0F, -1.0F, 0.5F};
  chad_print_address(context, numbers);
  chad_print_integer(context, sizeof(float));
  chad_print_integer(context, 2);
  chad_print_integer(context, 2);
  // The number behind the array is where it is looked for.
  test_text(context, "as2d\0{1!s} {0}", 7.0, "7.0 [[0.1 2.0] [-1.0 0.5]]");
}

int main(void) {
  chad_context_t *const context = chad_context_new();
  CHECK(context != NULL);
  test_callback(context);
  test_text(context, "d\0{0}", 0.1, "0.1");
  test_text(context, "d\0{0}", 100000.0, "100000.0");
  test_text(context, "d\0{0}", 1e16, "1e+16");
  test_text(context, "d\0{0}", 123456789012345680.0, "1.2345678901234568e+17");
  test_text(context, "d\0{0}", 1e-5, "1e-05");
  test_text(context, "d\0{0}", 0.0001, "0.0001");
  test_text(context, "d\0{0}", -0.0, "-0.0");
  test_text(context, "d\0{0} {{}}", NAN, "nan {}");
  test_text(context, "d\0{0}", -INFINITY, "-inf");
  test_text(context, "s\0{0!s}", (double)0.1F, "0.1");
  test_text(context, "d\0{0:8.2f}|", 2.555, "    2.56|");
  test_text(context, "d\0{0:<+8.1e}|", 2.5, "+2.5e+00|");
  test_text(context, "d\0{0:08.2f}|", -2.5, "-0002.50|");
  test_text(context, "d\0{0:^7.1f}|", 2.5, "  2.5  |");
  test_text(context, "d\0{0:.1%}", 0.25, "25.0%");
  test_text(context, "i\0{0:4d}|", 12.0, "  12|");
  test_text(context, "b\0{0}", 1.0, "True");
  test_array(context);
  chad_context_free(context);
  return 0;
}
