// Checked accesses: what is in a buffer passes, what is not is told and made elsewhere.

#include <string.h>

#include "check.h"

static char text[1024];

// Whether there was a violation; it is taken.
static int violated(void) { return chad_san_violation(text, sizeof text); }

static void test_a_buffer_ends(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_san_enter(context, 1);
  double *const first = chad_san_arena_grow(context, arena, 40);
  double *const second = chad_san_arena_grow(context, arena, 64);
  CHECK(first != NULL && second != NULL);
  CHECK(chad_san_access(first, first + 4, 8, "f") == first + 4);
  CHECK(chad_san_access(second, second, 64, "f") == second);
  CHECK(!violated());
  CHECK(chad_san_access(first, first + 5, 8, "f: store y") != first + 5);
  CHECK(chad_san_access(second, second + 8, 8, "not the first") != second + 8);
  CHECK(chad_san_end(CHAD_OK) == CHAD_DEFECT);
  CHECK(violated() && strcmp(text, "f: store y: 8 bytes at byte 40 of a buffer of 40") == 0);
  CHECK(chad_san_end(CHAD_OK) == CHAD_OK && !violated());
  // Neither is the other's, however near.
  CHECK(chad_san_access(first, second, 8, "f") != second && violated());
  CHECK(chad_san_access(second, second - 1, 8, "f") != second - 1 && violated());
  chad_san_leave(context, arena);
  chad_context_free(context);
}

static void test_what_is_given_back_is_no_buffer(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_san_enter(context, 2);
  double *const first = chad_san_arena_grow(context, arena, 80);
  struct chad_chunk *const chunk = arena->current;
  char *const cursor = arena->cursor;
  double *const second = chad_san_arena_grow(context, arena, 80);
  chad_san_arena_release(arena, chunk, cursor);
  CHECK(chad_san_access(first, first, 8, "f") == first && !violated());
  CHECK(chad_san_access(second, second, 8, "f") != second && violated());
  chad_san_arena_reset(arena);
  CHECK(chad_san_access(first, first, 8, "f") != first && violated());
  double *const third = chad_san_arena_grow(context, arena + 1, 80);
  CHECK(chad_san_access(third, third, 8, "f") == third && !violated());
  chad_san_leave(context, arena);
  CHECK(chad_san_access(third, third, 8, "f") != third && violated());
  CHECK(chad_san_access(arena, arena, 8, "f") != (void *)arena && violated());
  chad_context_free(context);
}

static void test_a_buffer_that_grows(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_san_enter(context, 1);
  double *buffer = NULL;
  for (int64_t words = 8, old = 0; words < 100000; old = words, words *= 2) {
    buffer = chad_san_arena_extend(context, arena, buffer, old, old, words);
    CHECK(chad_san_access(buffer, buffer + words - 1, 8, "f") == buffer + words - 1);
    CHECK(!violated());
    CHECK(chad_san_access(buffer, buffer + words, 8, "f") != buffer + words);
    CHECK(violated());
  }
  chad_san_leave(context, arena);
  CHECK(chad_san_bytes(buffer, 8, "f") == 0 && violated());
  chad_context_free(context);
}

static void test_words_that_change(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_san_enter(context, 1);
  const int64_t dims[] = {3};
  const chad_array_t *const array = chad_san_array_new(context, arena, 1, dims);
  CHECK(chad_san_words(array, 0, 3, "f") == 3 && chad_san_words(array, 3, 0, "f") == 0);
  CHECK(!violated());
  CHECK(chad_san_words(array, 1, 3, "f") == 0 && violated());
  CHECK(chad_san_words(array, -1, 1, "f") == 0 && violated());
  CHECK(chad_san_words(array, INT64_MAX, 1, "f") == 0 && violated());
  CHECK(chad_san_words(array, 0, INT64_MAX, "f") == 0 && violated());
  CHECK(strstr(text, "of a buffer of 3") != NULL);
  chad_san_leave(context, arena);
  chad_context_free(context);
}

static void test_pointers_and_indices(void) {
  double around[32];
  double *const buffer = around + 14;
  chad_san_buffer(buffer, 32);
  chad_san_step(buffer, 4, 8, 0, "f");
  CHECK(!violated());
  chad_san_step(buffer, 5, 8, 0, "f");
  CHECK(violated());
  chad_san_step(buffer, -1, 8, 0, "f");
  CHECK(violated());
  chad_san_step(buffer, (int64_t)1 << 61, 8, 0, "f");
  CHECK(violated() && strcmp(text, "f: the index overflows") == 0);
  chad_san_step(buffer, 0, 8, 1, "f");
  CHECK(violated());
  CHECK(chad_san_bytes(buffer, 32, "f") == 32 && chad_san_bytes(NULL, 0, "f") == 0);
  CHECK(!violated());
  CHECK(chad_san_bytes(buffer, 33, "f") == 0 && violated());
  // The lanes that are here count.
  CHECK(chad_san_masked(buffer, buffer + 2, 64, 8, 3, "f") == buffer + 2);
  CHECK(chad_san_masked(buffer, buffer - 1, 64, 8, 2, "f") == buffer - 1);
  CHECK(!violated());
  CHECK(chad_san_masked(buffer, buffer + 2, 64, 8, 4, "f") != buffer + 2 && violated());
}

static void test_inputs(void) {
  const double given[3] = {1.0, 2.0, 3.0};
  const double *const input = chad_san_input(given, sizeof given);
  CHECK(memcmp(given, input, sizeof given) == 0);
  CHECK(chad_san_bytes(input, 24, "f") == 24 && !violated());
  CHECK(chad_san_bytes(input, 25, "f") == 0 && violated());
#ifndef _WIN32
  CHECK((uintptr_t)(input + 3) % 4096 == 0);
#endif
  const double *const nothing = chad_san_input(given, 0);
  chad_san_input_free(nothing, given, 0);
  chad_san_input_free(input, given, sizeof given);
  CHECK(chad_san_bytes(input, 8, "f") == 0 && violated());
}

static void test_grants(void) {
  for (int64_t grants = 0; grants < 4; ++grants) {
    chad_context_t *const context = new_context();
    chad_set_grants(grants);
    chad_arena_t *const arena = chad_san_enter(context, 1);
    void *const buffer = arena == NULL ? NULL : chad_san_arena_grow(context, arena, 8);
    chad_context_t *const other = chad_context_new();
    chad_set_grants(-1);
    // A frame, a buffer and its chunk, and a context.
    CHECK((arena != NULL) == (grants > 0) && (buffer != NULL) == (grants > 2));
    CHECK(other == NULL);
    if (arena != NULL) {
      chad_san_leave(context, arena);
    }
    CHECK(chad_memory_used(context) == 0);
    chad_context_free(context);
  }
}

int main(void) {
  test_a_buffer_ends();
  test_what_is_given_back_is_no_buffer();
  test_a_buffer_that_grows();
  test_words_that_change();
  test_pointers_and_indices();
  test_inputs();
  test_grants();
  return 0;
}
