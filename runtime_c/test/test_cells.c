// Cells: opening, adding, closing; growth; order; memory that runs out.

#include <string.h>

#include "check.h"

enum { MANY = 1000000, SIZE = 6 };

static const int64_t DIMS[2] = {2, 3};

static chad_cells_t *new_cells(chad_context_t *const context,
                               chad_arena_t *const arena) {
  chad_cells_t *const cells = chad_cells_new(context, arena);
  CHECK(cells != NULL && chad_cells_length(cells) == 0);
  return cells;
}

static void test_kinds(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  chad_cells_t *const cells = new_cells(context, arena);
  CHECK(chad_cells_open_real(context, cells) == 0);
  CHECK(chad_cells_open_array(context, cells, 2, DIMS) == 1);
  CHECK(chad_cells_open_ct(context, cells, chad_ct_unit()) == 2);
  CHECK(chad_cells_open_ct(context, cells, NULL) == 3);
  chad_cells_add_real(cells, 0, 1.5);
  chad_cells_add_real(cells, 0, -4.0);
  CHECK(chad_cells_add_element(context, cells, 1, 5, 2.0) == CHAD_OK);
  CHECK(chad_cells_add_element(context, cells, 1, 5, 3.0) == CHAD_OK);
  CHECK(chad_cells_add_ct(context, cells, 2, chad_ct_unit()) == CHAD_OK);
  const chad_ct_t *const real = chad_ct_real(context, arena, 7.0);
  CHECK(chad_cells_add_ct(context, cells, 3, real) == CHAD_OK);
  CHECK(chad_cells_add_ct(context, cells, 3, real) == CHAD_OK);
  const chad_ct_t *const sum = chad_cells_close_ct(context, cells, 3);
  CHECK(sum->kind == CHAD_CT_REAL && sum->first.f == 14.0 && real->first.f == 7.0);
  CHECK(chad_cells_close_ct(context, cells, 2) == chad_ct_unit());
  chad_array_t *const array = chad_cells_close_array(context, cells, 1);
  CHECK(array->data == NULL && array->rank == 2 && array->size == SIZE);
  const double expected[SIZE] = {0, 0, 0, 0, 0, 5};
  CHECK(memcmp(chad_array_data(context, arena, array), expected, sizeof expected) == 0);
  CHECK(chad_cells_close_real(cells, 0) == -2.5 && chad_cells_length(cells) == 0);
  chad_leave(context, arena);
  chad_context_free(context);
}

// What one cell gave is added to another, which is passed on as it is.
static void test_arrays_into_cells(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  chad_cells_t *const cells = new_cells(context, arena);
  const int64_t row[1] = {3};
  CHECK(chad_cells_open_array(context, cells, 2, DIMS) == 0);
  CHECK(chad_cells_open_array(context, cells, 1, row) == 1);
  CHECK(chad_cells_add_element(context, cells, 1, 2, 1.0) == CHAD_OK);
  chad_array_t *const closed = chad_cells_close_array(context, cells, 1);
  CHECK(chad_cells_add_array(context, cells, 0, 3, closed) == CHAD_OK);
  CHECK(closed->data == NULL);
  chad_array_t *const dense = chad_array_new(context, arena, 1, row);
  dense->data[0] = dense->data[1] = dense->data[2] = 10.0;
  CHECK(chad_cells_add_array(context, cells, 0, 2, dense) == CHAD_OK);
  CHECK(chad_cells_add_array(context, cells, 0, 4, dense) == CHAD_INVALID);
  CHECK(chad_cells_add_array(context, cells, 0, -1, dense) == CHAD_INVALID);
  CHECK(chad_cells_add_array(context, cells, 0, INT64_MAX, dense) == CHAD_INVALID);
  CHECK(chad_cells_add_element(context, cells, 0, SIZE, 1.0) == CHAD_INVALID);
  CHECK(chad_cells_add_element(context, cells, 0, -1, 1.0) == CHAD_INVALID);
  const double expected[SIZE] = {0, 0, 10, 10, 10, 1};
  chad_array_t *const all = chad_cells_close_array(context, cells, 0);
  CHECK(memcmp(chad_array_data(context, arena, all), expected, sizeof expected) == 0);
  chad_leave(context, arena);
  chad_context_free(context);
}

// A cell that is not added to stands for zeros, which nobody writes until asked.
static void test_untouched(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  chad_cells_t *const cells = new_cells(context, arena);
  const int64_t huge[1] = {(int64_t)1 << 40};
  CHECK(chad_cells_open_array(context, cells, 1, huge) == 0);
  CHECK(chad_cells_open_array(context, cells, 1, huge) == 1);
  chad_array_t *const zeros = chad_cells_close_array(context, cells, 1);
  CHECK(zeros->size == huge[0]);
  CHECK(chad_cells_add_array(context, cells, 0, 0, zeros) == CHAD_OK);
  chad_array_t *const all = chad_cells_close_array(context, cells, 0);
  CHECK(all->bag == NULL && all->data == NULL && chad_cells_steps(cells) < 20);
  chad_leave(context, arena);
  chad_context_free(context);
}

// Closed in any order: an index is a cell's until it is closed, and no cell is lost.
static void test_any_order(void) {
  enum { COUNT = 200 };
  int64_t indices[COUNT];
  double sums[COUNT] = {0.0};
  uint64_t random = 7;
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  chad_cells_t *const cells = new_cells(context, arena);
  for (int k = 0; k < COUNT; ++k) {
    indices[k] = chad_cells_open_real(context, cells);
  }
  for (int round = 0; round < 20000; ++round) {
    const int64_t k = random_below(&random, COUNT);
    if (random_below(&random, 3) == 0) {
      CHECK(chad_cells_close_real(cells, indices[k]) == sums[k]);
      indices[k] = chad_cells_open_real(context, cells);
      sums[k] = 0.0;
    } else {
      chad_cells_add_real(cells, indices[k], (double)round);
      sums[k] += round;
    }
  }
  int64_t left = COUNT;
  for (int k = 0; k < COUNT; ++k) {
    CHECK(chad_cells_length(cells) >= left);
    CHECK(chad_cells_close_real(cells, indices[k]) == sums[k]);
    left -= 1;
  }
  CHECK(chad_cells_length(cells) == 0);
  chad_leave(context, arena);
  chad_context_free(context);
}

// Closing from the bottom: the array shrinks at the end, all at once.
static void test_shrinks_once_the_top_is_closed(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  chad_cells_t *const cells = new_cells(context, arena);
  for (int k = 0; k < 100; ++k) {
    CHECK(chad_cells_open_real(context, cells) == k);
  }
  for (int k = 0; k < 99; ++k) {
    CHECK(chad_cells_close_real(cells, k) == 0.0 && chad_cells_length(cells) == 100);
  }
  CHECK(chad_cells_close_real(cells, 99) == 0.0 && chad_cells_length(cells) == 0);
  CHECK(chad_cells_open_real(context, cells) == 0);
  chad_leave(context, arena);
  chad_context_free(context);
}

// n cells at once: at most 2n moves, and a constant number of steps for each.
static void test_growth(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  chad_cells_t *const cells = new_cells(context, arena);
  for (int64_t k = 0; k < MANY; ++k) {
    CHECK(chad_cells_open_real(context, cells) == k);
    CHECK(chad_cells_moves(cells) <= 2 * (k + 1));
    chad_cells_add_real(cells, k, (double)k);
  }
  const int64_t moves = chad_cells_moves(cells);
  CHECK(moves > MANY / 2);
  for (int64_t k = MANY - 1; k >= 0; --k) {
    CHECK(chad_cells_close_real(cells, k) == (double)k);
    CHECK(chad_cells_length(cells) == k);
  }
  CHECK(chad_cells_steps(cells) == 3 * (int64_t)MANY + moves + 1);
  for (int64_t k = 0; k < MANY; ++k) {
    CHECK(chad_cells_open_real(context, cells) == k);
  }
  CHECK(chad_cells_moves(cells) == moves);
  chad_leave(context, arena);
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
}

// Adding to one cell takes the same few steps however many cells there are.
static void test_cost_does_not_depend_on_depth(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  chad_cells_t *const cells = new_cells(context, arena);
  for (int64_t k = 0; k < 5000; ++k) {
    const int64_t cell = chad_cells_open_array(context, cells, 2, DIMS);
    const int64_t before = chad_cells_steps(cells);
    CHECK(chad_cells_add_element(context, cells, cell / 2, 0, 1.0) == CHAD_OK);
    CHECK(chad_cells_steps(cells) - before == 2);
  }
  chad_leave(context, arena);
  chad_context_free(context);
}

// A cotangent that does not fit leaves the cell as it was.
static void test_mismatch(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  chad_cells_t *const cells = new_cells(context, arena);
  const chad_ct_t *const real = chad_ct_real(context, arena, 1.0);
  const chad_ct_t *const left = chad_ct_injection(context, arena, 0, real);
  const chad_ct_t *const right = chad_ct_injection(context, arena, 1, real);
  CHECK(chad_cells_open_ct(context, cells, left) == 0);
  CHECK(chad_cells_add_ct(context, cells, 0, right) == CHAD_INVALID);
  CHECK(chad_cells_close_ct(context, cells, 0) == left);
  chad_leave(context, arena);
  chad_context_free(context);
}

// Memory runs out anywhere: the operation did nothing, and works when there is memory.
static int run_with_limit(const int64_t limit) {
  chad_context_t *const context = new_context();
  chad_set_memory_limit(context, limit);
  chad_arena_t *const arena = chad_enter(context, 1);
  chad_cells_t *const cells = arena == NULL ? NULL : chad_cells_new(context, arena);
  int failures = 0;
  for (int64_t k = 0; cells != NULL && k < 600; ++k) {
    int64_t cell = chad_cells_open_array(context, cells, 2, DIMS);
    if (cell < 0) {
      failures += 1;
      chad_set_memory_limit(context, -1);
      cell = chad_cells_open_array(context, cells, 2, DIMS);
    }
    CHECK(cell == k);
    if (chad_cells_add_element(context, cells, k, 1, 1.0) != CHAD_OK) {
      failures += 1;
      chad_set_memory_limit(context, -1);
      CHECK(chad_cells_add_element(context, cells, k, 1, 1.0) == CHAD_OK);
    }
    chad_set_memory_limit(context, limit);
  }
  chad_set_memory_limit(context, -1);
  for (int64_t k = 599; cells != NULL && k >= 0; --k) {
    chad_array_t *const array = chad_cells_close_array(context, cells, k);
    const double *const data = chad_array_data(context, arena, array);
    CHECK(data != NULL && data[0] == 0.0 && data[1] == 1.0);
  }
  chad_leave(context, arena);
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
  return cells != NULL && failures == 0;
}

static void test_out_of_memory(void) {
  int64_t limit = 0;
  while (!run_with_limit(limit)) {
    limit += 512;
  }
  CHECK(limit > 600 * 56 && limit < 600 * 400);
}

// Failing to grow, or to make the array of a cell, opens no cell.
static void test_failure_opens_nothing(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  chad_cells_t *const cells = new_cells(context, arena);
  for (int64_t cell = 0; cell < 8; ++cell) {
    CHECK(chad_cells_open_real(context, cells) == cell);
  }
  chad_set_memory_limit(context, 0);
  while (chad_cells_open_real(context, cells) >= 0) {
    CHECK(chad_cells_length(cells) < 1000);
  }
  const int64_t length = chad_cells_length(cells);
  CHECK(chad_cells_open_array(context, cells, 2, DIMS) == -1);
  CHECK(chad_cells_open_ct(context, cells, NULL) == -1);
  CHECK(chad_cells_length(cells) == length);
  chad_set_memory_limit(context, -1);
  CHECK(chad_cells_open_array(context, cells, -1, DIMS) == -1);
  CHECK(chad_cells_open_real(context, cells) == length);
  chad_leave(context, arena);
  chad_context_free(context);
}

int main(void) {
  test_kinds();
  test_arrays_into_cells();
  test_untouched();
  test_any_order();
  test_shrinks_once_the_top_is_closed();
  test_growth();
  test_cost_does_not_depend_on_depth();
  test_mismatch();
  test_out_of_memory();
  test_failure_opens_nothing();
  return 0;
}
