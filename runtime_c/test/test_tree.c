// Trees of reductions: order, values, depth, failures.

#include "check.h"

enum { DEEP = 10000000, SMALL = 1000 };

static chad_word_t number(const double value) { return (chad_word_t){.f = value}; }

static chad_word_t integer(const int64_t value) { return (chad_word_t){.i = value}; }

static const chad_tree_t *leaf(chad_context_t *const context, chad_arena_t *const arena,
                               const double value) {
  const chad_tree_t *const tree = chad_tree_leaf(context, arena, number(value));
  CHECK(tree != NULL && chad_tree_size(tree) == 1);
  return tree;
}

// The node of a product: its function is the two factors, as an index into `factors`.
static double factors[SMALL][2];

static const chad_tree_t *node(chad_context_t *const context, chad_arena_t *const arena,
                               const int64_t name, const chad_tree_t *const left,
                               const chad_tree_t *const right) {
  factors[name % SMALL][0] = chad_tree_value(left).f;
  factors[name % SMALL][1] = chad_tree_value(right).f;
  const double value = chad_tree_value(left).f * chad_tree_value(right).f;
  const chad_tree_t *const tree =
      chad_tree_node(context, arena, left, number(value), integer(name), right);
  CHECK(tree != NULL);
  CHECK(chad_tree_size(tree) == chad_tree_size(left) + chad_tree_size(right));
  return tree;
}

typedef struct log {
  int64_t names[SMALL];
  int64_t count;
  int64_t fail_at;
} log_t;

static chad_status_t multiply(void *const user, const chad_word_t cotangent,
                              const chad_word_t function, chad_word_t *const left,
                              chad_word_t *const right) {
  log_t *const log = user;
  if (log->count == log->fail_at) {
    return CHAD_PROGRAM;
  }
  log->names[log->count] = function.i;
  log->count += 1;
  left->f = cotangent.f * factors[function.i][1];
  right->f = cotangent.f * factors[function.i][0];
  return CHAD_OK;
}

// ((2 * 3) * 5) * (7 * 11): the derivative of a product is the product of the others,
// leaves come from left to right, nodes in the order of the paper.
static void test_product(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  const double primes[5] = {2, 3, 5, 7, 11};
  const chad_tree_t *leaves[5];
  for (int k = 0; k < 5; ++k) {
    leaves[k] = leaf(context, arena, primes[k]);
  }
  const chad_tree_t *const a = node(context, arena, 0, leaves[0], leaves[1]);
  const chad_tree_t *const b = node(context, arena, 1, a, leaves[2]);
  const chad_tree_t *const c = node(context, arena, 2, leaves[3], leaves[4]);
  const chad_tree_t *const d = node(context, arena, 3, b, c);
  CHECK(chad_tree_value(d).f == 2310.0 && chad_tree_size(d) == 5);
  chad_word_t found[5];
  log_t log = {{0}, 0, -1};
  CHECK(chad_untree(context, d, number(2.0), multiply, &log, found) == CHAD_OK);
  for (int k = 0; k < 5; ++k) {
    CHECK(found[k].f == 2.0 * 2310.0 / primes[k]);
  }
  const int64_t order[4] = {3, 1, 0, 2};
  CHECK(log.count == 4);
  for (int k = 0; k < 4; ++k) {
    CHECK(log.names[k] == order[k]);
  }
  chad_leave(context, arena);
  chad_context_free(context);
}

static void test_leaf(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  chad_word_t found = number(0.0);
  log_t log = {{0}, 0, -1};
  const chad_tree_t *const tree = leaf(context, arena, 4.0);
  CHECK(chad_untree(context, tree, number(3.0), multiply, &log, &found) == CHAD_OK);
  CHECK(found.f == 3.0 && log.count == 0 && chad_tree_value(tree).f == 4.0);
  chad_leave(context, arena);
  chad_context_free(context);
}

// The first leaf gets cotangent 0, and each node's right side one more than its left.
static chad_status_t count_up(void *const user, const chad_word_t cotangent,
                              const chad_word_t function, chad_word_t *const left,
                              chad_word_t *const right) {
  int64_t *const calls = user;
  *calls += 1;
  *left = cotangent;
  *right = integer(cotangent.i + function.i);
  return CHAD_OK;
}

// A random tree: the function of each node is the number of leaves on its left, so the
// leaves must be numbered from left to right.
static void test_random_trees(void) {
  static const chad_tree_t *trees[SMALL];
  uint64_t random = 3;
  for (int round = 0; round < 50; ++round) {
    chad_context_t *const context = new_context();
    chad_arena_t *const arena = chad_enter(context, 1);
    const int64_t count = 1 + random_below(&random, SMALL);
    for (int64_t k = 0; k < count; ++k) {
      trees[k] = leaf(context, arena, 0.0);
    }
    for (int64_t left = count; left > 1; --left) {
      const int64_t k = random_below(&random, left - 1);
      const chad_word_t size = integer(chad_tree_size(trees[k]));
      trees[k] =
          chad_tree_node(context, arena, trees[k], number(0.0), size, trees[k + 1]);
      for (int64_t j = k + 1; j < left - 1; ++j) {
        trees[j] = trees[j + 1];
      }
    }
    static chad_word_t found[SMALL];
    int64_t calls = 0;
    const int64_t before = chad_steps(context);
    CHECK(chad_untree(context, trees[0], integer(0), count_up, &calls, found) == 0);
    CHECK(calls == count - 1 && chad_steps(context) - before == 2 * count - 1);
    for (int64_t k = 0; k < count; ++k) {
      CHECK(found[k].i == k);
    }
    chad_leave(context, arena);
    chad_context_free(context);
  }
}

// As deep as it is large, to the left and to the right.
static void test_depth(void) {
  for (int is_left = 0; is_left < 2; ++is_left) {
    chad_context_t *const context = new_context();
    chad_arena_t *const arena = chad_enter(context, 1);
    const chad_tree_t *tree = leaf(context, arena, 0.0);
    for (int64_t k = 1; k < DEEP; ++k) {
      const chad_tree_t *const other = leaf(context, arena, 0.0);
      const chad_tree_t *const left = is_left ? tree : other;
      const chad_tree_t *const right = is_left ? other : tree;
      const chad_word_t size = integer(chad_tree_size(left));
      tree = chad_tree_node(context, arena, left, number(0.0), size, right);
      CHECK(tree != NULL);
    }
    CHECK(chad_tree_size(tree) == DEEP);
    const int64_t building = chad_steps(context);
    chad_word_t *const found = allocate(context, arena, DEEP * (int64_t)8);
    int64_t calls = 0;
    CHECK(chad_untree(context, tree, integer(0), count_up, &calls, found) == CHAD_OK);
    CHECK(calls == DEEP - 1 && chad_steps(context) - building == building);
    for (int64_t k = 0; k < DEEP; ++k) {
      CHECK(found[k].i == k);
    }
    CHECK(chad_memory_peak(context) <= (60 + 8 + 17) * (int64_t)DEEP + 128 * MIB);
    chad_leave(context, arena);
    CHECK(chad_memory_used(context) == 0);
    chad_context_free(context);
  }
}

// Whichever call fails: its status comes back, and the walk can be made again.
static void test_failing_callback(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  const chad_tree_t *tree = leaf(context, arena, 1.0);
  for (int64_t k = 0; k < 300; ++k) {
    tree = node(context, arena, k, tree, leaf(context, arena, 1.0));
  }
  const int64_t used = chad_memory_used(context);
  chad_word_t found[301];
  for (int64_t k = 0; k <= 300; ++k) {
    log_t log = {{0}, 0, k};
    const chad_status_t status =
        chad_untree(context, tree, number(1.0), multiply, &log, found);
    CHECK(status == (k < 300 ? CHAD_PROGRAM : CHAD_OK) && log.count == k);
    CHECK(chad_memory_used(context) == used);
  }
  chad_leave(context, arena);
  chad_context_free(context);
}

// A tree that refers to itself twice, and again: more leaves than there are numbers.
static void test_size_does_not_overflow(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  const chad_tree_t *tree = leaf(context, arena, 1.0);
  for (int k = 0; k < 70; ++k) {
    tree = chad_tree_node(context, arena, tree, number(1.0), integer(0), tree);
  }
  CHECK(chad_tree_size(tree) == INT64_MAX);
  chad_leave(context, arena);
  chad_context_free(context);
}

// Memory runs out while building, and while walking: both can be done later.
static int run_with_limit(const int64_t limit) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  const chad_tree_t *tree = leaf(context, arena, 0.0);
  chad_set_memory_limit(context, limit);
  int failures = 0;
  for (int64_t k = 1; k < SMALL; ++k) {
    const chad_word_t size = integer(chad_tree_size(tree));
    const chad_tree_t *next = NULL;
    while (next == NULL) {
      const chad_tree_t *const other = chad_tree_leaf(context, arena, number(0.0));
      next = other == NULL ? NULL
                           : chad_tree_node(context, arena, tree, size, size, other);
      failures += next == NULL;
      chad_set_memory_limit(context, next == NULL ? -1 : limit);
    }
    tree = next;
  }
  static chad_word_t found[SMALL];
  int64_t calls = 0;
  if (chad_untree(context, tree, integer(0), count_up, &calls, found) != CHAD_OK) {
    failures += 1;
    chad_set_memory_limit(context, -1);
    CHECK(chad_untree(context, tree, integer(0), count_up, &calls, found) == CHAD_OK);
  }
  CHECK(found[0].i == 0 && found[SMALL - 1].i == SMALL - 1);
  chad_leave(context, arena);
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
  return failures == 0;
}

static void test_out_of_memory(void) {
  int64_t limit = 0;
  while (!run_with_limit(limit)) {
    limit += 512;
  }
  CHECK(limit > SMALL * 72 && limit < SMALL * 400);
}

int main(void) {
  test_product();
  test_leaf();
  test_random_trees();
  test_depth();
  test_failing_callback();
  test_size_does_not_overflow();
  test_out_of_memory();
  return 0;
}
