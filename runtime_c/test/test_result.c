// Result blocks: who owns them, and when they count.

#include <string.h>

#include "check.h"

static void test_released_blocks_outlive_the_context(void) {
  enum { COUNT = 20 };
  double *blocks[COUNT];
  chad_context_t *const context = new_context();
  for (int i = 0; i < COUNT; ++i) {
    blocks[i] = chad_result_alloc(context, 8 * (i + 1));
    CHECK(is_aligned(blocks[i]));
    blocks[i][i] = i;
  }
  CHECK(chad_memory_used(context) >= 8 * COUNT);
  chad_results_release(context);
  CHECK(chad_memory_used(context) == 0);
  chad_results_discard(context);
  chad_context_free(context);
  for (int i = 0; i < COUNT; ++i) {
    CHECK(blocks[i][i] == i);
    chad_free(blocks[i]);
  }
  chad_free(NULL);
}

static void test_discarded_blocks_are_freed(void) {
  chad_context_t *const context = new_context();
  for (int round = 0; round < 3; ++round) {
    CHECK(chad_result_alloc(context, 100) != NULL);
    CHECK(chad_result_alloc(context, MIB) != NULL);
    chad_results_discard(context);
    CHECK(chad_memory_used(context) == 0);
  }
  chad_context_free(context);
}

// A release concerns the blocks there are, not those of the next call.
static void test_release_then_discard(void) {
  chad_context_t *const context = new_context();
  char *const mine = chad_result_alloc(context, 100);
  chad_results_release(context);
  CHECK(chad_result_alloc(context, 100) != NULL);
  chad_results_discard(context);
  memset(mine, 1, 100);
  chad_free(mine);
  chad_context_free(context);
}

static void test_blocks_survive_leave(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  char *const block = chad_result_alloc(context, 1000);
  memset(block, 5, 1000);
  memset(allocate(context, arena, 1000), 6, 1000);
  chad_leave(context, arena);
  CHECK(block[0] == 5 && block[999] == 5);
  chad_results_release(context);
  chad_free(block);
  chad_context_free(context);
}

// The array at `word` with `dims`, of doubles that count from `first` on.
static double *new_array(chad_context_t *const context, chad_word_t *const word,
                         const int64_t rows, const int64_t columns, const double first) {
  double *const data = chad_result_alloc(context, 8 * rows * columns);
  for (int64_t k = 0; k < rows * columns; ++k) {
    data[k] = first + (double)k;
  }
  word[0].p = data;
  word[1].i = rows;
  word[2].i = columns;
  return data;
}

static void test_arrays_of_the_right_shape_are_copied(void) {
  static const int64_t dims[2] = {2, 3}, other[2] = {3, 2}, none[2] = {0, 3};
  chad_context_t *const context = new_context();
  chad_word_t words[9];
  double to[6] = {0.0};
  new_array(context, words, 2, 3, 1.0);
  double *const refused = new_array(context, words + 3, 2, 3, 10.0);
  new_array(context, words + 6, 0, 3, 20.0);
  const int64_t before = chad_memory_used(context);
  CHECK(chad_result_copy(context, words + 3, 2, 8, to, other) == CHAD_OK);
  CHECK(words[3].p == refused && to[0] == 0.0);
  CHECK(chad_memory_used(context) == before);
  chad_result_copy(context, words, 2, 8, to, dims);
  CHECK(words[0].p == NULL && to[0] == 1.0 && to[5] == 6.0);
  chad_result_copy(context, words + 6, 2, 8, to, none);
  CHECK(words[6].p == NULL && to[0] == 1.0);
  CHECK(chad_memory_used(context) < before);
  chad_results_release(context);
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
  CHECK(refused[5] == 15.0);
  chad_free(refused);
}

static void test_what_is_added_to_begins_a_line_of_the_cache_if_it_is_cheap_to_copy(
    void) {
  chad_context_t *const context = new_context();
  static _Alignas(CHAD_ALIGNMENT) char line[16384];
  for (int64_t bytes = 512; bytes <= 12288; bytes += 512) {
    for (int64_t offset = 0; offset < CHAD_ALIGNMENT; offset += 16) {
      for (int added = 0; added < 2; ++added) {
        chad_out_t out = {line + offset, bytes};
        chad_lend(context, &out);
        void *const data = chad_result_take(context, 0, bytes, added);
        const int is_cheap = 1024 <= bytes && bytes <= 8192;
        const int is_copied = added == 1 && offset != 0 && is_cheap;
        CHECK((data == out.data) == !is_copied && data != NULL);
        CHECK(data == out.data || (uintptr_t)data % CHAD_ALIGNMENT == 0);
        chad_results_discard(context);
      }
    }
  }
  chad_lend(context, NULL);
  chad_context_free(context);
}

static void test_memory_of_the_callers_is_taken_once_if_it_fits(void) {
  static const int64_t dims[2] = {2, 3}, other[2] = {3, 2};
  chad_context_t *const context = new_context();
  double first[6] = {0.0}, second[6] = {0.0};
  chad_out_t outs[2] = {{first, sizeof(first)}, {second, sizeof(second)}};
  chad_word_t word[3] = {{.p = NULL}, {.i = 2}, {.i = 3}};
  chad_lend(context, outs);
  CHECK(chad_result_take(context, 0, 8, 0) != first);
  CHECK(chad_result_take(context, 1, 48, 0) == second);
  CHECK(chad_result_take(context, 1, 48, 0) != second);
  CHECK(chad_result_take(context, 0, -1, 0) == NULL);
  double *const data = chad_result_take(context, 0, 48, 0);
  CHECK(data == first);
  chad_results_discard(context);
  CHECK(chad_memory_used(context) == 96);
  chad_lend(context, NULL);
  CHECK(chad_memory_used(context) == 0 && chad_memory_peak(context) >= 96);
  CHECK(chad_result_take(context, 0, 48, 0) != first);
  chad_results_discard(context);
  for (int k = 0; k < 6; ++k) {
    data[k] = k;
  }
  word[0].p = data;
  CHECK(chad_result_copy(context, word, 2, 8, first, dims) == CHAD_OK);
  CHECK(word[0].p == NULL && first[5] == 5.0);
  CHECK(chad_memory_used(context) == 0);
  word[0].p = data;
  CHECK(chad_result_copy(context, word, 2, 8, first, other) == CHAD_OK);
  double *const block = word[0].p;
  CHECK(block != first && block[5] == 5.0);
  chad_set_memory_limit(context, 1);
  outs[0].bytes = 48;
  chad_lend(context, outs);
  CHECK(chad_result_take(context, 0, 48, 0) == NULL);
  word[0].p = data;
  CHECK(chad_result_copy(context, word, 2, 8, first, other) == CHAD_MEMORY);
  chad_results_discard(context);
  chad_context_free(context);
}

static void test_odd_sizes(void) {
  chad_context_t *const context = new_context();
  CHECK(is_aligned(chad_result_alloc(context, 0)));
  CHECK(chad_result_alloc(context, -1) == NULL);
  CHECK(chad_result_alloc(context, INT64_MIN) == NULL);
  CHECK(chad_result_alloc(context, INT64_MAX) == NULL);
  chad_set_memory_limit(context, MIB);
  CHECK(chad_result_alloc(context, MIB) == NULL);
  CHECK(chad_result_alloc(context, MIB / 2) != NULL);
  chad_context_free(context);
}

int main(void) {
  test_released_blocks_outlive_the_context();
  test_discarded_blocks_are_freed();
  test_release_then_discard();
  test_blocks_survive_leave();
  test_arrays_of_the_right_shape_are_copied();
  test_what_is_added_to_begins_a_line_of_the_cache_if_it_is_cheap_to_copy();
  test_memory_of_the_callers_is_taken_once_if_it_fits();
  test_odd_sizes();
  return 0;
}
