// Sparse cotangents: sums against a simple model, their cost, depth, bags of them.

#include <string.h>

#include "check.h"

enum { DEEP = 10000000, ROUNDS = 20000 };

static const chad_ct_t *real(chad_context_t *const context, chad_arena_t *const arena,
                             const double value) {
  const chad_ct_t *const ct = chad_ct_real(context, arena, value);
  CHECK(ct != NULL);
  return ct;
}

static const chad_ct_t *pair(chad_context_t *const context, chad_arena_t *const arena,
                             const chad_ct_t *const first,
                             const chad_ct_t *const second) {
  const chad_ct_t *const ct = chad_ct_pair(context, arena, first, second);
  CHECK(ct != NULL);
  return ct;
}

static const chad_ct_t *plus(chad_context_t *const context, chad_arena_t *const arena,
                             const chad_ct_t *const a, const chad_ct_t *const b) {
  const chad_ct_t *sum = NULL;
  CHECK(chad_ct_plus(context, arena, a, b, &sum) == CHAD_OK);
  return sum;
}

// The nodes of a cotangent; a zero counts as one (§4.3).
static int64_t size(const chad_ct_t *const ct) {
  if (ct == NULL) {
    return 1;
  }
  switch (ct->kind) {
    case CHAD_CT_PAIR:
      return 1 + size(ct->first.ct) + size(ct->second.ct);
    case CHAD_CT_INJECTION:
      return 1 + size(ct->second.ct);
    default:
      return 1;
  }
}

static int is_equal(const chad_ct_t *const a, const chad_ct_t *const b) {
  if (a == NULL || b == NULL) {
    return a == b;
  }
  if (a->kind != b->kind) {
    return 0;
  }
  switch (a->kind) {
    case CHAD_CT_REAL:
      return a->first.f == b->first.f;
    case CHAD_CT_PAIR:
      return is_equal(a->first.ct, b->first.ct) && is_equal(a->second.ct, b->second.ct);
    case CHAD_CT_INJECTION:
      return a->first.i == b->first.i && is_equal(a->second.ct, b->second.ct);
    default:
      return 1;
  }
}

// A random cotangent of a type that `seed` stands for: pairs, sums whose tag the type
// tells (as one value has), numbers and units; zeros in random places.
static const chad_ct_t *random_ct(chad_context_t *const context,
                                  chad_arena_t *const arena, uint64_t seed,
                                  uint64_t *const random, const int depth) {
  const int64_t kind = random_below(&seed, depth == 0 ? 2 : 5);
  const uint64_t first = seed * 31 + 1;
  const uint64_t second = seed * 37 + 2;
  if (kind >= 2 && random_below(random, 4) == 0) {
    return NULL;
  }
  if (kind == 0) {
    return chad_ct_unit();
  }
  if (kind == 1) {
    return real(context, arena, (double)random_below(random, 9));
  }
  const chad_ct_t *const part = random_ct(context, arena, second, random, depth - 1);
  if (kind == 2) {
    return chad_ct_injection(context, arena, (int64_t)(first % 3), part);
  }
  const chad_ct_t *const other = random_ct(context, arena, first, random, depth - 1);
  return pair(context, arena, other, part);
}

// The monoid's laws, and the law of amortised cost: a sum takes no more steps than
// summands are larger than it.
static void test_laws(void) {
  chad_context_t *const context = new_context();
  uint64_t random = 5;
  for (uint64_t round = 0; round < ROUNDS; ++round) {
    chad_arena_t *const arena = chad_enter(context, 1);
    const chad_ct_t *ct[3];
    for (int k = 0; k < 3; ++k) {
      ct[k] = random_ct(context, arena, round, &random, 6);
    }
    const int64_t before = chad_steps(context);
    const chad_ct_t *const sum = plus(context, arena, ct[0], ct[1]);
    const int64_t steps = chad_steps(context) - before;
    CHECK(steps == size(ct[0]) + size(ct[1]) - size(sum));
    CHECK(is_equal(plus(context, arena, ct[1], ct[0]), sum));
    CHECK(is_equal(plus(context, arena, sum, ct[2]),
                   plus(context, arena, ct[0], plus(context, arena, ct[1], ct[2]))));
    CHECK(plus(context, arena, ct[0], NULL) == ct[0]);
    CHECK(plus(context, arena, NULL, ct[0]) == ct[0]);
    chad_leave(context, arena);
  }
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
}

// What only one summand has is shared, and a summand is never changed.
static void test_sharing(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  const chad_ct_t *const one = real(context, arena, 1.0);
  const chad_ct_t *const two = real(context, arena, 2.0);
  const chad_ct_t *const both = pair(context, arena, one, two);
  const chad_ct_t *const left = pair(context, arena, both, NULL);
  const chad_ct_t *const right =
      pair(context, arena, pair(context, arena, two, NULL), one);
  const chad_ct_t *const sum = plus(context, arena, left, right);
  CHECK(sum->second.ct == one && sum->first.ct->second.ct == two);
  CHECK(sum->first.ct->first.ct->first.f == 3.0 && one->first.f == 1.0);
  CHECK(left->first.ct->first.ct == one && right->second.ct == one);
  chad_leave(context, arena);
  chad_context_free(context);
}

static void test_mismatch(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  const chad_ct_t *const number = real(context, arena, 1.0);
  const chad_ct_t *const all[] = {
      number,
      chad_ct_unit(),
      pair(context, arena, NULL, NULL),
      chad_ct_injection(context, arena, 0, number),
      chad_ct_injection(context, arena, 1, number),
      chad_ct_one(context, arena, 0, number),
  };
  for (size_t a = 0; a < sizeof all / sizeof *all; ++a) {
    for (size_t b = 0; b < sizeof all / sizeof *all; ++b) {
      const chad_ct_t *sum = number;
      const chad_ct_t *const x = pair(context, arena, number, all[a]);
      const chad_ct_t *const y = pair(context, arena, number, all[b]);
      const chad_status_t status = chad_ct_plus(context, arena, x, y, &sum);
      CHECK(status == (a == b ? CHAD_OK : CHAD_INVALID));
      CHECK(a == b || sum == number);
    }
  }
  chad_leave(context, arena);
  chad_context_free(context);
}

// A chain of pairs or of sums, with the number 1 at its end and beside each pair.
static const chad_ct_t *chain(chad_context_t *const context, chad_arena_t *const arena,
                              const int shape) {
  const chad_ct_t *const one = real(context, arena, 1.0);
  const chad_ct_t *ct = one;
  for (int64_t k = 0; k < DEEP; ++k) {
    ct = shape == 0   ? pair(context, arena, ct, one)
         : shape == 1 ? pair(context, arena, one, ct)
                      : chad_ct_injection(context, arena, k % 2, ct);
    CHECK(ct != NULL);
  }
  return ct;
}

// Deep to the left, to the right, and in payloads: all is added, without recursion.
static void test_depth(void) {
  for (int shape = 0; shape < 3; ++shape) {
    chad_context_t *const context = new_context();
    chad_arena_t *const arena = chad_enter(context, 1);
    const chad_ct_t *const ct = chain(context, arena, shape);
    const int64_t before = chad_steps(context);
    const chad_ct_t *sum = plus(context, arena, ct, ct);
    CHECK(chad_steps(context) - before == (shape < 2 ? 2 : 1) * (int64_t)DEEP + 1);
    for (int64_t k = 0; k < DEEP; ++k) {
      const chad_ct_t *const beside = shape == 0 ? sum->second.ct : sum->first.ct;
      CHECK(shape == 2 || beside->first.f == 2.0);
      sum = shape == 0 ? sum->first.ct : sum->second.ct;
    }
    CHECK(sum->kind == CHAD_CT_REAL && sum->first.f == 2.0);
    CHECK(chad_memory_peak(context) <= (24 + 48 + 24) * (int64_t)DEEP + 256 * MIB);
    chad_leave(context, arena);
    CHECK(chad_memory_used(context) == 0);
    chad_context_free(context);
  }
}

// A bag of cotangents of pairs: single ones, an array of them, and sums of both.
static void test_bags(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  const chad_ct_t *const one = real(context, arena, 1.0);
  const chad_ct_t *const left = pair(context, arena, one, NULL);
  const chad_ct_t *const right = pair(context, arena, NULL, one);
  const int64_t dims[1] = {2};
  chad_array_t *const array = chad_array_new(context, arena, 1, dims);
  const chad_ct_t *const held[2] = {left, NULL};
  memcpy(array->data, held, sizeof held);
  const chad_ct_t *bag = chad_ct_one(context, arena, 2, right);
  bag = plus(context, arena, chad_ct_array(context, arena, 1, array), bag);
  bag = plus(context, arena, bag, chad_ct_one(context, arena, 1, left));
  CHECK(bag->kind == CHAD_CT_PLUS);
  const chad_ct_t *found[3] = {NULL, NULL, NULL};
  CHECK(chad_ct_collect(context, arena, bag, found, 3) == CHAD_OK);
  CHECK(found[0] == NULL && found[2] == right);
  CHECK(found[1]->first.ct->first.f == 2.0 && found[1]->second.ct == NULL);
  CHECK(chad_ct_collect(context, arena, NULL, found, 0) == CHAD_OK);
  CHECK(chad_ct_collect(context, arena, chad_ct_empty(), found, 0) == CHAD_OK);
  CHECK(chad_ct_collect(context, arena, bag, found, 2) == CHAD_INVALID);
  CHECK(chad_ct_collect(context, arena, left, found, 3) == CHAD_INVALID);
  const chad_ct_t *const far = chad_ct_array(context, arena, 2, array);
  CHECK(chad_ct_collect(context, arena, far, found, 3) == CHAD_INVALID);
  const chad_ct_t *const before = chad_ct_one(context, arena, -1, left);
  CHECK(chad_ct_collect(context, arena, before, found, 3) == CHAD_INVALID);
  const chad_ct_t *const wrong = chad_ct_one(context, arena, 1, one);
  CHECK(chad_ct_collect(context, arena, wrong, found, 3) == CHAD_INVALID);
  chad_leave(context, arena);
  chad_context_free(context);
}

// BArray with indices: the elements go where these say, also to one place twice.
static void test_scatter(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  const int64_t dims[1] = {3};
  chad_array_t *const values = chad_array_new(context, arena, 1, dims);
  chad_array_t *const indices = chad_array_new(context, arena, 1, dims);
  const chad_ct_t *held[3];
  for (int k = 0; k < 3; ++k) {
    held[k] = real(context, arena, k + 1.0);
  }
  const int64_t places[3] = {2, 0, 2};
  memcpy(values->data, held, sizeof held);
  memcpy(indices->data, places, sizeof places);
  const chad_ct_t *const bag = chad_ct_scatter(context, arena, indices, values);
  const chad_ct_t *found[3] = {NULL, NULL, NULL};
  CHECK(chad_ct_collect(context, arena, bag, found, 3) == CHAD_OK);
  CHECK(found[0] == held[1] && found[1] == NULL && found[2]->first.f == 4.0);
  CHECK(chad_ct_collect(context, arena, bag, found, 2) == CHAD_INVALID);
  chad_leave(context, arena);
  chad_context_free(context);
}

// The empty bag is the zero of bags, and of nothing else.
static void test_empty(void) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  const chad_ct_t *const empty = chad_ct_empty();
  const chad_ct_t *const one = chad_ct_one(context, arena, 0, NULL);
  CHECK(plus(context, arena, empty, one) == one);
  CHECK(plus(context, arena, one, empty) == one);
  CHECK(plus(context, arena, empty, empty) == empty);
  CHECK(plus(context, arena, empty, NULL) == empty);
  CHECK(plus(context, arena, NULL, empty) == empty);
  const chad_ct_t *sum = one;
  CHECK(chad_ct_plus(context, arena, empty, chad_ct_unit(), &sum) == CHAD_INVALID);
  chad_leave(context, arena);
  chad_context_free(context);
}

// Bags as deep as they are large: adding them up costs no more than building them did.
static void test_deep_bags(void) {
  enum { COUNT = 3000000 };
  for (int is_left = 0; is_left < 2; ++is_left) {
    chad_context_t *const context = new_context();
    chad_arena_t *const arena = chad_enter(context, 1);
    const chad_ct_t *bag = NULL;
    for (int64_t k = 0; k < COUNT; ++k) {
      const chad_ct_t *const held = real(context, arena, 1.0);
      const chad_ct_t *const leaf = chad_ct_one(context, arena, k % 2, held);
      bag = is_left ? plus(context, arena, bag, leaf) : plus(context, arena, leaf, bag);
    }
    const int64_t building = chad_steps(context);
    const chad_ct_t *found[2] = {NULL, NULL};
    CHECK(chad_ct_collect(context, arena, bag, found, 2) == CHAD_OK);
    CHECK(found[0]->first.f == COUNT / 2 && found[1]->first.f == COUNT / 2);
    CHECK(chad_steps(context) - building <= building);
    chad_leave(context, arena);
    chad_context_free(context);
  }
}

// Memory runs out anywhere: no sum, nothing changed, and there is one later.
static int run_with_limit(const int64_t limit) {
  chad_context_t *const context = new_context();
  chad_arena_t *const arena = chad_enter(context, 1);
  const chad_ct_t *const one = real(context, arena, 1.0);
  const chad_ct_t *ct = one;
  for (int k = 0; k < 1000; ++k) {
    ct = pair(context, arena, ct, one);
  }
  const int64_t used = chad_memory_used(context);
  chad_set_memory_limit(context, used + limit);
  const chad_ct_t *sum = ct;
  const chad_status_t status = chad_ct_plus(context, arena, ct, ct, &sum);
  CHECK(status == CHAD_OK || (status == CHAD_MEMORY && sum == ct));
  chad_set_memory_limit(context, -1);
  sum = plus(context, arena, ct, ct);
  for (int k = 0; k < 1000; ++k) {
    CHECK(sum->second.ct->first.f == 2.0 && ct->second.ct->first.f == 1.0);
    sum = sum->first.ct;
  }
  chad_leave(context, arena);
  CHECK(chad_memory_used(context) == 0);
  chad_context_free(context);
  return status == CHAD_OK;
}

static void test_out_of_memory(void) {
  int64_t limit = 0;
  while (!run_with_limit(limit)) {
    limit += 512;
  }
  CHECK(limit > 0 && limit < 200000);
}

int main(void) {
  test_laws();
  test_sharing();
  test_mismatch();
  test_depth();
  test_bags();
  test_scatter();
  test_empty();
  test_deep_bags();
  test_out_of_memory();
  return 0;
}
