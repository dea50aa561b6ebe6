// Versions of arrays: each stays what it was, at the cost of what has changed.

#include <stdbool.h>
#include <string.h>

#include "check.h"

enum { POOL = 24, MOST = 20, ROUNDS = 60000, SIZE = 1000 };

static chad_array_t *array_of(chad_context_t *const context, chad_arena_t *const arena,
                              const double *const words, const int64_t size) {
  chad_array_t *const array = chad_array_new(context, arena, 1, &size);
  CHECK(array != NULL);
  for (int64_t k = 0; k < size; ++k) {
    array->data[k] = words[k];
  }
  return array;
}

static chad_array_t *with(chad_context_t *const context, chad_arena_t *const arena,
                          chad_array_t *const array, const int64_t index,
                          const double value) {
  chad_array_t *const new = chad_array_with(context, arena, array, index, 1, &value);
  CHECK(new != NULL);
  return new;
}

static double element(chad_context_t *const context, chad_arena_t *const arena,
                      chad_array_t *const array, const int64_t index) {
  const double *const data = chad_array_data(context, arena, array);
  CHECK(data != NULL && index < array->size);
  return data[index];
}

// Random versions, parts and sums of each other against copies.

typedef struct entry {
  chad_array_t *array;
  int64_t size;
  double words[MOST];
} entry_t;

static entry_t pool[POOL];

static entry_t *any(uint64_t *const random) {
  return &pool[random_below(random, POOL)];
}

static entry_t fresh(chad_context_t *const context, chad_arena_t *const arena,
                     uint64_t *const random) {
  entry_t made = {.size = random_below(random, MOST)};
  for (int64_t k = 0; k < made.size; ++k) {
    made.words[k] = (double)random_below(random, 100);
  }
  made.array = array_of(context, arena, made.words, made.size);
  if (random_below(random, 4) == 0) {
    made.array->place = 0;  // as a constant of generated code
  }
  return made;
}

// Some words of another one in the place of some of its words.
static entry_t changed(chad_context_t *const context, chad_arena_t *const arena,
                       uint64_t *const random, const entry_t *const old) {
  const entry_t *const other = any(random);
  entry_t made = *old;
  const int64_t less = old->size < other->size ? old->size : other->size;
  const int64_t count = random_below(random, less + 1);
  const int64_t offset = random_below(random, old->size - count + 1);
  const double *const words = chad_array_data(context, arena, other->array);
  made.array = chad_array_with(context, arena, old->array, offset, count, words);
  memcpy(made.words + offset, other->words, (size_t)count * sizeof *made.words);
  return made;
}

// All of it, as a part.
static entry_t part(chad_context_t *const context, chad_arena_t *const arena,
                    const entry_t *const old) {
  entry_t made = *old;
  made.array = chad_array_row(context, arena, old->array, 0, 0);
  return made;
}

static entry_t resized(chad_context_t *const context, chad_arena_t *const arena,
                       uint64_t *const random, const entry_t *const old) {
  const double value = (double)random_below(random, 100);
  const int64_t more = old->size < MOST && random_below(random, 3) > 0;
  entry_t made = *old;
  made.size = more > 0 ? old->size + 1 : old->size - (old->size > 0);
  if (more > 0) {
    made.words[old->size] = value;
  }
  made.array =
      chad_array_resized(context, arena, old->array, &made.size, more, &value);
  return made;
}

// The sum of an array, an element, and what is as large.
static entry_t summed(chad_context_t *const context, chad_arena_t *const arena,
                      uint64_t *const random, const entry_t *const old) {
  entry_t made = {.size = old->size};
  const chad_bag_t *bag = NULL;
  for (int64_t k = random_below(random, 5); k > 0 && old->size > 0; --k) {
    const entry_t *const other = random_below(random, 2) == 0 ? old : any(random);
    const chad_bag_t *next = NULL;
    if (other->size > old->size || random_below(random, 2) == 0) {
      const int64_t index = random_below(random, old->size);
      next = chad_bag_one(context, arena, index, 2.0);
      made.words[index] += 2.0;
    } else {
      const int64_t offset = random_below(random, old->size - other->size + 1);
      CHECK(chad_bag_array(context, arena, offset, other->array, &next) == CHAD_OK);
      for (int64_t i = 0; i < other->size; ++i) {
        made.words[offset + i] += other->words[i];
      }
    }
    CHECK(chad_bag_plus(context, arena, bag, next, &bag) == CHAD_OK);
  }
  made.array = chad_array_of_bag(context, arena, bag, 1, &made.size);
  return made;
}

static void check_entry(chad_context_t *const context, chad_arena_t *const arena,
                        const entry_t *const entry) {
  CHECK(entry->array != NULL && entry->array->size == entry->size);
  const double *const data = chad_array_data(context, arena, entry->array);
  CHECK(data != NULL);
  for (int64_t k = 0; k < entry->size; ++k) {
    CHECK(data[k] == entry->words[k]);
  }
}

static void test_random_versions(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  uint64_t random = 7;
  for (int k = 0; k < POOL; ++k) {
    pool[k] = fresh(context, arena, &random);
  }
  for (int round = 0; round < ROUNDS; ++round) {
    const entry_t old = *any(&random);
    entry_t *const place = any(&random);
    switch (random_below(&random, 6)) {
      case 0:
        *place = fresh(context, arena, &random);
        break;
      case 1:
        *place = part(context, arena, &old);
        break;
      case 2:
        *place = resized(context, arena, &random, &old);
        break;
      case 3:
        *place = summed(context, arena, &random, &old);
        break;
      default:
        *place = changed(context, arena, &random, &old);
    }
    check_entry(context, arena, any(&random));
  }
  for (int k = 0; k < POOL; ++k) {
    check_entry(context, arena, &pool[k]);
  }
  chad_leave(context, arena);
  chad_context_free(context);
}

// A row of a matrix sees no later version, and one with other words leaves the matrix.
static void test_parts(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  const int64_t dims[2] = {2, 3};
  chad_array_t *const matrix = chad_array_new(context, arena, 2, dims);
  for (int k = 0; k < 6; ++k) {
    matrix->data[k] = k;
  }
  chad_array_t *const row = chad_array_row(context, arena, matrix, 3, 1);
  chad_array_t *const inner = chad_array_row(context, arena, row, 1, 1);
  chad_array_t *const later = with(context, arena, matrix, 4, 40.0);
  CHECK(element(context, arena, row, 1) == 4.0);
  CHECK(element(context, arena, inner, 0) == 4.0);
  CHECK(element(context, arena, later, 4) == 40.0);
  chad_array_t *const other = with(context, arena, row, 0, 30.0);
  CHECK(other->rank == 1 && other->size == 3);
  CHECK(element(context, arena, other, 0) == 30.0);
  CHECK(element(context, arena, other, 1) == 4.0);
  CHECK(element(context, arena, matrix, 3) == 3.0);
  CHECK(element(context, arena, later, 3) == 3.0);
  chad_leave(context, arena);
  chad_context_free(context);
}

// The steps of changes, of a way back through all versions, and of reading two of them
// in turns are a constant for each.
static void test_cost(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  static double zeros[SIZE];
  static chad_array_t *versions[SIZE + 1];
  versions[0] = array_of(context, arena, zeros, SIZE);
  int64_t before = chad_steps(context);
  for (int64_t k = 0; k < SIZE; ++k) {
    versions[k + 1] = with(context, arena, versions[k], k, 1.0);
  }
  CHECK(chad_steps(context) - before <= 4 * SIZE);
  before = chad_steps(context);
  for (int64_t k = SIZE; k > 0; --k) {
    CHECK(element(context, arena, versions[k], k - 1) == 1.0);
    CHECK(element(context, arena, versions[k - 1], k - 1) == 0.0);
  }
  CHECK(chad_steps(context) - before <= 8 * SIZE);
  before = chad_steps(context);
  for (int64_t k = 0; k < SIZE; ++k) {
    CHECK(element(context, arena, versions[SIZE], k) == 1.0);
    CHECK(element(context, arena, versions[0], k) == 0.0);
  }
  CHECK(chad_steps(context) - before <= 8 * SIZE);
  chad_leave(context, arena);
  chad_context_free(context);
}

// A list grows and shrinks at its end by a constant for each element.
static void test_list_cost(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  int64_t size = 0;
  chad_array_t *list = chad_array_of_bag(context, arena, NULL, 1, &size);
  const int64_t before = chad_steps(context);
  for (int64_t k = 0; k < SIZE; ++k) {
    const double value = (double)k;
    size = k + 1;
    list = chad_array_resized(context, arena, list, &size, 1, &value);
    CHECK(list != NULL && element(context, arena, list, size - 1) == value);
    if (k % 3 == 0) {
      --size;
      chad_array_t *const less =
          chad_array_resized(context, arena, list, &size, 0, NULL);
      ++size;
      list = chad_array_resized(context, arena, less, &size, 1, &value);
    }
  }
  CHECK(chad_steps(context) - before <= 16 * SIZE);
  chad_leave(context, arena);
  chad_context_free(context);
}

// A sum whose first array is as large is a version of that one, which stays.
static void test_sum_takes_over(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  static double zeros[SIZE];
  const int64_t dims[1] = {SIZE};
  chad_array_t *sum = array_of(context, arena, zeros, SIZE);
  chad_array_t *const first = sum;
  const int64_t before = chad_steps(context);
  for (int64_t k = 0; k < SIZE; ++k) {
    const chad_bag_t *bag = NULL;
    const chad_bag_t *const one = chad_bag_one(context, arena, k, 1.0);
    CHECK(chad_bag_array(context, arena, 0, sum, &bag) == CHAD_OK);
    CHECK(chad_bag_plus(context, arena, bag, one, &bag) == CHAD_OK);
    sum = chad_array_of_bag(context, arena, bag, 1, dims);
    CHECK(element(context, arena, sum, k) == 1.0);
  }
  CHECK(chad_steps(context) - before <= 16 * SIZE);
  CHECK(element(context, arena, first, SIZE - 1) == 0.0);
  CHECK(element(context, arena, sum, 0) == 1.0);
  chad_leave(context, arena);
  chad_context_free(context);
}

// Where memory ends no version is lost: those that are there can still be read.
static void test_memory_ends(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  static double zeros[SIZE];
  chad_array_t *const first = array_of(context, arena, zeros, SIZE);
  chad_array_t *last = first;
  for (int64_t k = 0; k < SIZE; ++k) {
    last = with(context, arena, last, k, 1.0);
  }
  chad_set_memory_limit(context, chad_memory_used(context));
  bool is_refused = false;
  for (int64_t k = 0; k < 3 * SIZE && !is_refused; ++k) {
    chad_array_t *const array = k % 2 == 0 ? first : last;
    const double *const data = chad_array_data(context, arena, array);
    is_refused = data == NULL;
    CHECK(is_refused || data[k % SIZE] == (array == last ? 1.0 : 0.0));
  }
  chad_set_memory_limit(context, -1);
  CHECK(element(context, arena, last, 0) == 1.0);
  CHECK(element(context, arena, first, 0) == 0.0);
  chad_leave(context, arena);
  chad_context_free(context);
}

int main(void) {
  test_random_versions();
  test_parts();
  test_cost();
  test_list_cost();
  test_sum_takes_over();
  test_memory_ends();
  return 0;
}
