// All of an array is filled, and nothing around it, whatever its size.

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum {
  PIECE = 1 << 18,
  MARGIN = 100,
  MOST = 130 * PIECE,  // more than one for each of the most pieces
};

static const int64_t sizes[] = {0,         7,
                                PIECE,     2 * PIECE - 1,
                                2 * PIECE, 3 * PIECE + 77,
                                MOST - 1,  MOST};

static bool is_all(const char *const bytes, const int64_t count, const char value) {
  return bytes[0] == value && memcmp(bytes, bytes + 1, (size_t)count - 1) == 0;
}

// The first `bytes` of an array in the middle of the room are filled.
static void test_size(chad_context_t *const context, char *const room,
                      const char *const source, const int64_t bytes) {
  char *const array = room + MARGIN;
  memset(room, 7, MOST + 2 * MARGIN);
  CHECK(chad_copy(context, array, source, bytes) == CHAD_OK);
  CHECK(memcmp(array, source, (size_t)bytes) == 0);
  CHECK(is_all(room, MARGIN, 7) && is_all(array + bytes, MARGIN, 7));
  CHECK(chad_clear(context, array, bytes) == CHAD_OK);
  CHECK(bytes == 0 || is_all(array, bytes, 0));
  CHECK(is_all(room, MARGIN, 7) && is_all(array + bytes, MARGIN, 7));
}

int main(void) {
  char *const room = malloc(MOST + 2 * MARGIN);
  char *const source = malloc(MOST);
  CHECK(room != NULL && source != NULL);
  for (int64_t k = 0; k < MOST; ++k) {
    source[k] = (char)(k / 64 % 101);
  }
  for (int64_t threads = 1; threads <= 3; ++threads) {
    chad_context_t *const context = new_context();
    chad_set_threads(threads);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
      test_size(context, room, source, sizes[k]);
    }
    chad_context_free(context);
  }
  free(room);
  free(source);
  return 0;
}
