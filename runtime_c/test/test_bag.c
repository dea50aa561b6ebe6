// Arrays and bags: meaning, order, cost, depth, and memory that runs out.

#include <string.h>

#include "check.h"

enum { SIZE = 12, POOL = 40, ROUNDS = 4000, DEEP = 10000000 };

static const int64_t DIMS[1] = {SIZE};

static const chad_bag_t *one(chad_context_t *const context, chad_arena_t *const arena,
                             const int64_t index, const double value) {
  const chad_bag_t *const bag = chad_bag_one(context, arena, index, value);
  CHECK(bag != NULL);
  return bag;
}

static const chad_bag_t *plus(chad_context_t *const context, chad_arena_t *const arena,
                              const chad_bag_t *const a, const chad_bag_t *const b) {
  const chad_bag_t *sum = NULL;
  CHECK(chad_bag_plus(context, arena, a, b, &sum) == CHAD_OK);
  return sum;
}

static const chad_bag_t *of_array(chad_context_t *const context,
                                  chad_arena_t *const arena, const int64_t offset,
                                  chad_array_t *const array) {
  const chad_bag_t *bag = NULL;
  CHECK(chad_bag_array(context, arena, offset, array, &bag) == CHAD_OK);
  return bag;
}

// The bag of these contributions to index 0, leaning to the left or to the right.
static const chad_bag_t *chain(chad_context_t *const context, chad_arena_t *const arena,
                               const double *const values, const int64_t count,
                               const int is_left) {
  const chad_bag_t *bag = NULL;
  for (int64_t k = 0; k < count; ++k) {
    const double value = values[is_left ? k : count - 1 - k];
    const chad_bag_t *const leaf = one(context, arena, 0, value);
    bag = is_left ? plus(context, arena, bag, leaf) : plus(context, arena, leaf, bag);
  }
  return bag;
}

static void test_arrays(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  const int64_t dims[3] = {2, 3, 4};
  chad_array_t *const array = chad_array_new(context, arena, 3, dims);
  CHECK(array->size == 24 && array->rank == 3 && array->dims[2] == 4);
  CHECK(is_aligned(array->data) && array->bag == NULL);
  for (int k = 0; k < 24; ++k) {
    array->data[k] = k;
  }
  chad_array_t *const row = chad_array_row(context, arena, array, 12, 1);
  CHECK(row->size == 12 && row->rank == 2 && row->dims[0] == 3 && row->dims[1] == 4);
  CHECK(chad_array_data(context, arena, row) == array->data + 12);
  chad_array_t *const element = chad_array_row(context, arena, array, 5, 3);
  CHECK(element->size == 1 && element->rank == 0);
  CHECK(chad_array_data(context, arena, element) == array->data + 5);
  CHECK(chad_array_data(context, arena, array) == array->data);
  chad_leave(context, arena);
  chad_context_free(context);
}

static void test_odd_dimensions(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  const int64_t negative[2] = {-3, 4};
  chad_array_t *const empty = chad_array_new(context, arena, 2, negative);
  CHECK(empty->size == 0 && empty->dims[0] == 0 && empty->dims[1] == 4);
  CHECK(empty->data != NULL);
  const int64_t huge[3] = {INT64_MAX, INT64_MAX, 2};
  CHECK(chad_array_new(context, arena, 3, huge) == NULL);
  chad_array_t *const bare = chad_array_of_bag(context, arena, NULL, 3, huge);
  CHECK(bare->size == INT64_MAX && bare->data == NULL);
  CHECK(chad_array_data(context, arena, bare) == NULL);
  const int64_t huge_but_empty[3] = {INT64_MAX, INT64_MAX, 0};
  CHECK(chad_array_new(context, arena, 3, huge_but_empty)->size == 0);
  CHECK(chad_array_new(context, arena, -1, DIMS) == NULL);
  CHECK(chad_array_new(context, arena, INT64_MAX, DIMS) == NULL);
  CHECK(chad_array_new(context, arena, 0, NULL)->size == 1);
  chad_leave(context, arena);
  chad_context_free(context);
}

// A row of an array in a bag has the array collected, and shares the result.
static void test_row_collects(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  const int64_t dims[2] = {3, 4};
  const chad_bag_t *const bag = one(context, arena, 7, 2.5);
  chad_array_t *const array = chad_array_of_bag(context, arena, bag, 2, dims);
  CHECK(array->data == NULL && array->bag == bag && array->size == 12);
  chad_array_t *const row = chad_array_row(context, arena, array, 4, 1);
  CHECK(array->data != NULL && array->bag == NULL);
  const double *const data = chad_array_data(context, arena, row);
  CHECK(data == array->data + 4 && data[3] == 2.5 && data[0] == 0.0);
  chad_leave(context, arena);
  chad_context_free(context);
}

// Random bags: what is collected is what was put in, at the cost of putting it in.

typedef struct entry {
  const chad_bag_t *bag;
  double sums[SIZE];
} entry_t;

static entry_t pool[POOL];

// The steps that collecting has made, and what building and the sizes pay for. One array
// may take more than its own: it is a version of one that is read in turns with others.
static int64_t made_steps = 0;
static int64_t paid_steps = 0;

static void check_collect(chad_context_t *const context, chad_arena_t *const arena,
                          const entry_t *const entry) {
  chad_array_t *const array =
      chad_array_of_bag(context, arena, entry->bag, 1, DIMS);
  const int64_t before = chad_steps(context);
  const double *const data = chad_array_data(context, arena, array);
  const int64_t steps = chad_steps(context) - before;
  made_steps += steps;
  paid_steps += SIZE + chad_bag_cost(entry->bag);
  CHECK(memcmp(data, entry->sums, sizeof entry->sums) == 0);
  CHECK(chad_array_data(context, arena, array) == data);
  CHECK(chad_steps(context) - before == steps);
}

// A new random entry in the place of a random one; building it takes at most its cost.
static void random_entry(chad_context_t *const context, chad_arena_t *const arena,
                         uint64_t *const random) {
  const entry_t *const a = &pool[random_below(random, POOL)];
  const entry_t *const b = &pool[random_below(random, POOL)];
  entry_t made = {NULL, {0.0}};
  const int64_t from = random_below(random, SIZE);
  if (random_below(random, 3) == 0) {
    made.bag = one(context, arena, from, 3.0);
    made.sums[from] = 3.0;
  } else if (random_below(random, 3) == 0) {
    const int64_t dims[1] = {SIZE - from};
    chad_array_t *const array = chad_array_new(context, arena, 1, dims);
    for (int64_t k = 0; k < SIZE - from; ++k) {
      array->data[k] = (double)random_below(random, 9);
      made.sums[from + k] = array->data[k];
    }
    made.bag = of_array(context, arena, from, array);
    CHECK(chad_bag_cost(made.bag) == 1 + SIZE - from);
  } else if (chad_bag_cost(a->bag) + chad_bag_cost(b->bag) < 20000) {
    made.bag = plus(context, arena, a->bag, b->bag);
    for (int k = 0; k < SIZE; ++k) {
      made.sums[k] = a->sums[k] + b->sums[k];
    }
  }
  if (random_below(random, 4) == 0) {
    chad_array_t *const array = chad_array_of_bag(context, arena, made.bag, 1, DIMS);
    made.bag = of_array(context, arena, 0, array);
  }
  pool[random_below(random, POOL)] = made;
}

static void test_random_bags(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  uint64_t random = 1;
  memset(pool, 0, sizeof pool);
  for (int round = 0; round < ROUNDS; ++round) {
    random_entry(context, arena, &random);
    check_collect(context, arena, &pool[random_below(&random, POOL)]);
  }
  CHECK(made_steps <= 3 * paid_steps);
  chad_leave(context, arena);
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
}

// A bag within an array within a bag within an array: offsets add up.
static void test_offsets_add_up(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  const chad_bag_t *bag = one(context, arena, 1, 1.0);
  for (int64_t size = 2; size < 8; ++size) {
    chad_array_t *const array = chad_array_of_bag(context, arena, bag, 1, &size);
    const chad_bag_t *const moved = of_array(context, arena, 1, array);
    const chad_bag_t *const more =
        size % 3 == 0 ? one(context, arena, 0, 1.0) : NULL;
    bag = plus(context, arena, moved, more);
  }
  const double *const data =
      chad_array_data(context, arena, chad_array_of_bag(context, arena, bag, 1, DIMS));
  const double expected[SIZE] = {0, 1, 0, 0, 1, 0, 0, 1};
  CHECK(memcmp(data, expected, sizeof expected) == 0);
  chad_leave(context, arena);
  chad_context_free(context);
}

// Sums are made in the order of the contributions, whatever the shape.
static void test_left_to_right(void) {
  const double values[4] = {1e16, 1.0, -1e16, 1.0};
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  for (int is_left = 0; is_left < 2; ++is_left) {
    double sum = 0.0;
    const chad_bag_t *const bag = chain(context, arena, values, 4, is_left);
    CHECK(chad_bag_collect(context, bag, &sum, 1) == CHAD_OK);
    CHECK(sum == 1.0);
  }
  chad_leave(context, arena);
  chad_context_free(context);
}

static void test_empty(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  const chad_bag_t *const bag = one(context, arena, 0, 1.0);
  CHECK(plus(context, arena, NULL, bag) == bag);
  CHECK(plus(context, arena, bag, NULL) == bag);
  CHECK(plus(context, arena, NULL, NULL) == NULL && chad_bag_cost(NULL) == 0);
  chad_array_t *const zeros = chad_array_of_bag(context, arena, NULL, 1, DIMS);
  CHECK(of_array(context, arena, 0, zeros) == NULL && zeros->data == NULL);
  const double *const data = chad_array_data(context, arena, zeros);
  for (int k = 0; k < SIZE; ++k) {
    CHECK(data[k] == 0.0);
  }
  chad_leave(context, arena);
  chad_context_free(context);
}

// An index that is not in the array is found, wherever it stands, and nothing is lost.
static void test_out_of_range(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  double data[SIZE] = {0.0};
  const int64_t bad[5] = {-1, SIZE, INT64_MAX, INT64_MIN, SIZE + 1};
  for (int k = 0; k < 5; ++k) {
    const chad_bag_t *const bag = one(context, arena, bad[k], 1.0);
    CHECK(chad_bag_collect(context, bag, data, SIZE) == CHAD_INVALID);
    chad_array_t *const array = chad_array_of_bag(context, arena, bag, 1, DIMS);
    CHECK(chad_array_data(context, arena, array) == NULL && array->bag == bag);
    const chad_bag_t *const moved = of_array(context, arena, 3, array);
    CHECK(chad_bag_collect(context, moved, data, SIZE) == CHAD_INVALID);
  }
  chad_array_t *const array = chad_array_new(context, arena, 1, DIMS);
  memset(array->data, 0, SIZE * sizeof(double));
  const chad_bag_t *const moved = of_array(context, arena, 1, array);
  CHECK(chad_bag_collect(context, moved, data, SIZE) == CHAD_INVALID);
  CHECK(chad_bag_collect(context, moved, data, 0) == CHAD_INVALID);
  const chad_bag_t *out = moved;
  CHECK(chad_bag_array(context, arena, -1, array, &out) == CHAD_INVALID);
  CHECK(chad_bag_array(context, arena, INT64_MIN, array, &out) == CHAD_INVALID);
  CHECK(out == moved);
  const chad_bag_t *const far = of_array(context, arena, INT64_MAX, array);
  CHECK(chad_bag_collect(context, far, data, SIZE) == CHAD_INVALID);
  chad_leave(context, arena);
  chad_context_free(context);
}

// Passing on an array that nobody looks at costs nothing of its size.
static void test_passing_on_is_constant(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  const int64_t huge = (int64_t)1 << 40;
  const int64_t before = chad_steps(context);
  const chad_bag_t *bag = one(context, arena, 77, 1.0);
  for (int round = 0; round < 1000; ++round) {
    bag = of_array(context, arena, 0,
                   chad_array_of_bag(context, arena, bag, 1, &huge));
  }
  CHECK(chad_steps(context) - before == 2001 && chad_bag_cost(bag) == 1001);
  double data[SIZE] = {0.0};
  CHECK(chad_bag_collect(context, bag, data, SIZE) == CHAD_INVALID);
  chad_leave(context, arena);
  chad_context_free(context);
}

// An array that is added twice, to a bag that is added twice, and so on: what would
// take 2^60 steps takes some for each element and round.
static void test_sharing_is_bounded(void) {
  enum { TIMES = 60 };
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  const int64_t before = chad_steps(context);
  const chad_bag_t *bag = one(context, arena, 3, 1.0);
  double expected = 1.0;
  for (int round = 0; round < TIMES; ++round) {
    chad_array_t *const array = chad_array_of_bag(context, arena, bag, 1, DIMS);
    const chad_bag_t *const first = of_array(context, arena, 0, array);
    bag = plus(context, arena, first, of_array(context, arena, 0, array));
    expected *= 2.0;
  }
  const double *const data =
      chad_array_data(context, arena, chad_array_of_bag(context, arena, bag, 1, DIMS));
  CHECK(data[3] == expected && data[0] == 0.0);
  CHECK(chad_steps(context) - before <= TIMES * 6 * (SIZE + 2));
  chad_leave(context, arena);
  chad_context_free(context);
}

static const chad_bag_t *deep_bag(chad_context_t *const context,
                                  chad_arena_t *const arena, const int shape) {
  const chad_bag_t *levels[64] = {NULL};
  const chad_bag_t *bag = NULL;
  for (int64_t k = 0; k < DEEP; ++k) {
    const chad_bag_t *leaf = one(context, arena, k % SIZE, 1.0);
    if (shape == 0) {
      bag = plus(context, arena, bag, leaf);
    } else if (shape == 1) {
      bag = plus(context, arena, leaf, bag);
    } else {
      int level = 0;
      for (; levels[level] != NULL; ++level) {
        leaf = plus(context, arena, levels[level], leaf);
        levels[level] = NULL;
      }
      levels[level] = leaf;
    }
  }
  for (int level = 0; shape == 2 && level < 64; ++level) {
    bag = plus(context, arena, levels[level], bag);
  }
  return bag;
}

// Leaning to the left, to the right, and balanced: linear, and no recursion.
static void test_depth(void) {
  for (int shape = 0; shape < 3; ++shape) {
    chad_context_t *const context = new_context();
    chad_arena_t *const arena = chad_enter(context, 1);
    const chad_bag_t *const bag = deep_bag(context, arena, shape);
    const int64_t building = chad_steps(context);
    CHECK(chad_bag_cost(bag) == 2 * (int64_t)DEEP - 1);
    CHECK(chad_memory_used(context) <= 52 * (int64_t)DEEP + 64 * MIB);
    double sums[SIZE] = {0.0};
    CHECK(chad_bag_collect(context, bag, sums, SIZE) == CHAD_OK);
    CHECK(chad_steps(context) - building <= building);
    for (int64_t k = 0; k < SIZE; ++k) {
      CHECK(sums[k] == (double)((DEEP - k + SIZE - 1) / SIZE));
    }
    CHECK(chad_memory_peak(context) <= 72 * (int64_t)DEEP + 128 * MIB);
    chad_leave(context, arena);
    CHECK(chad_memory_used(context) == 0);
    chad_context_free(context);
  }
}

// A call that runs out of memory anywhere: what was built is there, and collecting it
// works as soon as there is memory. Returns whether all was done.
static int run_with_limit(const int64_t limit) {
  chad_context_t *const context = new_context();
  chad_set_memory_limit(context, limit);
  chad_arena_t *const arena = chad_enter(context, 1);
  const int64_t dims[1] = {1};
  const chad_bag_t *bag = NULL;
  int added = 0;
  int done = arena != NULL;
  for (; done && added < 3000; ++added) {
    const chad_bag_t *const leaf = chad_bag_one(context, arena, 0, 1.0);
    const chad_bag_t *const before = bag;
    done = leaf != NULL && chad_bag_plus(context, arena, bag, leaf, &bag) == CHAD_OK;
    CHECK(done || bag == before);
    added -= done ? 0 : 1;
  }
  chad_array_t *array =
      done ? chad_array_of_bag(context, arena, bag, 1, dims) : NULL;
  done = array != NULL && chad_array_data(context, arena, array) != NULL;
  CHECK(chad_memory_peak(context) <= limit);
  chad_set_memory_limit(context, -1);
  if (arena != NULL) {
    array = array != NULL ? array : chad_array_of_bag(context, arena, bag, 1, dims);
    const double *const data = chad_array_data(context, arena, array);
    CHECK(data != NULL && data[0] == added);
  }
  chad_leave(context, arena);
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
  return done;
}

static void test_out_of_memory(void) {
  int64_t limit = 0;
  while (!run_with_limit(limit)) {
    limit += 512;
  }
  CHECK(limit > 3000 * 48 && limit < 3 * 3000 * 64 + 65536);
}

// A region that is reset in a loop: small objects do not pile up, and do not lie where
// buffers were made since.
static void test_reset(void) {
  enum { BYTES = 2000 };
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  int64_t used = 0;
  for (int round = 0; round < 1000; ++round) {
    const double values[3] = {1.0, 2.0, 3.0};
    if (round % 2 == 0) {
      CHECK(chain(context, arena, values, 3, 0) != NULL);
    }
    unsigned char *const buffer = allocate(context, arena, BYTES);
    memset(buffer, 0xff, BYTES);
    const chad_bag_t *const bag = chain(context, arena, values, 3, 1);
    double sum = 0.0;
    CHECK(chad_bag_collect(context, bag, &sum, 1) == CHAD_OK && sum == 6.0);
    for (int k = 0; k < BYTES; ++k) {
      CHECK(buffer[k] == 0xff);
    }
    used = round <= 1 ? chad_memory_used(context) : used;  // Both kinds of rounds.
    CHECK(chad_memory_used(context) == used);
    chad_arena_reset(arena);
  }
  chad_leave(context, arena);
  chad_context_free(context);
}

int main(void) {
  test_arrays();
  test_odd_dimensions();
  test_row_collects();
  test_random_bags();
  test_offsets_add_up();
  test_left_to_right();
  test_empty();
  test_out_of_range();
  test_passing_on_is_constant();
  test_sharing_is_bounded();
  test_depth();
  test_out_of_memory();
  test_reset();
  return 0;
}
