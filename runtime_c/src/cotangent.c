// Sparse cotangents and their sums.
//
// A sum walks what both summands have. Its nodes are made before their parts are known:
// a job holds the place where the sum of its two parts goes.

#include "internal.h"

static const chad_ct_t UNIT = {CHAD_CT_UNIT, {.ct = NULL}, {.ct = NULL}};
static const chad_ct_t EMPTY = {CHAD_CT_EMPTY, {.ct = NULL}, {.ct = NULL}};

typedef struct sum_job {
  const chad_ct_t *a;
  const chad_ct_t *b;
  const chad_ct_t **place;
} sum_job_t;

static bool is_bag(const chad_ct_t *const ct) { return ct->kind >= CHAD_CT_EMPTY; }

static chad_ct_t *ct_new(chad_context_t *const context, chad_arena_t *const arena,
                         const chad_ct_t value) {
  chad_ct_t *const ct = chad_small(context, arena, (int64_t)sizeof(chad_ct_t));
  if (ct != NULL) {
    *ct = value;
  }
  return ct;
}

static const chad_ct_t *ct_made(chad_context_t *const context,
                                chad_arena_t *const arena, const chad_ct_t value) {
  const chad_ct_t *const ct = ct_new(context, arena, value);
  if (ct != NULL) {
    chad_count(context, 1);
  }
  return ct;
}

const chad_ct_t *chad_ct_unit(void) { return &UNIT; }

const chad_ct_t *chad_ct_empty(void) { return &EMPTY; }

const chad_ct_t *chad_ct_real(chad_context_t *const context, chad_arena_t *const arena,
                              const double value) {
  return ct_made(context, arena,
                 (chad_ct_t){CHAD_CT_REAL, {.f = value}, {.ct = NULL}});
}

const chad_ct_t *chad_ct_pair(chad_context_t *const context, chad_arena_t *const arena,
                              const chad_ct_t *const first,
                              const chad_ct_t *const second) {
  return ct_made(context, arena,
                 (chad_ct_t){CHAD_CT_PAIR, {.ct = first}, {.ct = second}});
}

const chad_ct_t *chad_ct_injection(chad_context_t *const context,
                                   chad_arena_t *const arena, const int64_t tag,
                                   const chad_ct_t *const payload) {
  return ct_made(context, arena,
                 (chad_ct_t){CHAD_CT_INJECTION, {.i = tag}, {.ct = payload}});
}

const chad_ct_t *chad_ct_one(chad_context_t *const context, chad_arena_t *const arena,
                             const int64_t index, const chad_ct_t *const element) {
  return ct_made(context, arena,
                 (chad_ct_t){CHAD_CT_ONE, {.i = index}, {.ct = element}});
}

const chad_ct_t *chad_ct_array(chad_context_t *const context, chad_arena_t *const arena,
                               const int64_t offset, chad_array_t *const array) {
  return ct_made(context, arena,
                 (chad_ct_t){CHAD_CT_ARRAY, {.i = offset}, {.array = array}});
}

const chad_ct_t *chad_ct_scatter(chad_context_t *const context,
                                 chad_arena_t *const arena, chad_array_t *const indices,
                                 chad_array_t *const array) {
  return ct_made(context, arena,
                 (chad_ct_t){CHAD_CT_SCATTER, {.array = indices}, {.array = array}});
}

// A zero that needs no look at the other summand, which then is the sum.
static bool is_nothing(const chad_ct_t *const ct) {
  return ct == NULL || ct->kind == CHAD_CT_EMPTY;
}

static bool is_summable(const chad_ct_t *const a, const chad_ct_t *const b) {
  if (is_bag(a) || is_bag(b)) {
    return is_bag(a) && is_bag(b);
  }
  return a->kind == b->kind &&
         (a->kind != CHAD_CT_INJECTION || a->first.i == b->first.i);
}

// The top of the sum of two nodes; parts of it that are still to be summed are those of
// `a`. NULL if out of memory.
static chad_ct_t *sum_top(chad_context_t *const context, chad_arena_t *const arena,
                          const chad_ct_t *const a, const chad_ct_t *const b) {
  if (is_bag(a)) {
    return ct_new(context, arena, (chad_ct_t){CHAD_CT_PLUS, {.ct = a}, {.ct = b}});
  }
  chad_ct_t *const top = ct_new(context, arena, *a);
  if (top != NULL && a->kind == CHAD_CT_REAL) {
    top->first.f += b->first.f;
  }
  return top;
}

// Does one node of the sum of *job. If it has parts, *job is the first of them and the
// other one goes onto the stack; else *job has no place.
static chad_status_t sum_node(chad_context_t *const context, chad_arena_t *const arena,
                              chad_stack_t *const stack, sum_job_t *const job) {
  const chad_ct_t *const a = job->a;
  const chad_ct_t *const b = job->b;
  const chad_ct_t **const place = job->place;
  job->place = NULL;
  chad_count(context, 1);
  if (a != NULL && b != NULL && !is_summable(a, b)) {
    return CHAD_INVALID;
  }
  if (is_nothing(a) || is_nothing(b) || a->kind == CHAD_CT_UNIT) {
    *place = a == NULL || (is_nothing(a) && b != NULL) ? b : a;
    return CHAD_OK;
  }
  chad_ct_t *const top = sum_top(context, arena, a, b);
  if (top == NULL) {
    return CHAD_MEMORY;
  }
  *place = top;
  if (a->kind == CHAD_CT_INJECTION) {
    *job = (sum_job_t){a->second.ct, b->second.ct, &top->second.ct};
  } else if (a->kind == CHAD_CT_PAIR) {
    sum_job_t *const rest = chad_stack_push(stack);
    if (rest == NULL) {
      return CHAD_MEMORY;
    }
    *rest = (sum_job_t){a->second.ct, b->second.ct, &top->second.ct};
    *job = (sum_job_t){a->first.ct, b->first.ct, &top->first.ct};
  }
  return CHAD_OK;
}

chad_status_t chad_ct_plus(chad_context_t *const context, chad_arena_t *const arena,
                           const chad_ct_t *const a, const chad_ct_t *const b,
                           const chad_ct_t **const out) {
  chad_stack_t stack = chad_stack_new(context, (int64_t)sizeof(sum_job_t));
  const chad_ct_t *sum = NULL;
  sum_job_t job = {a, b, &sum};
  chad_status_t status = CHAD_OK;
  for (;;) {
    status = sum_node(context, arena, &stack, &job);
    if (status != CHAD_OK) {
      break;
    }
    if (job.place == NULL) {
      const sum_job_t *const next = chad_stack_pop(&stack);
      if (next == NULL) {
        *out = sum;
        break;
      }
      job = *next;
    }
  }
  chad_stack_free(&stack);
  return status;
}

// Adds one contribution to one of `size` cotangents.
static chad_status_t add_at(chad_context_t *const context, chad_arena_t *const arena,
                            const chad_ct_t *const contribution, const int64_t index,
                            const chad_ct_t **const elements, const int64_t size) {
  if (index < 0 || index >= size) {
    return CHAD_INVALID;
  }
  return chad_ct_plus(context, arena, elements[index], contribution, &elements[index]);
}

// Where element k of an array in a bag belongs; -1 if that is nowhere.
static int64_t index_of(const chad_ct_t *const bag, const int64_t k) {
  if (bag->kind == CHAD_CT_ARRAY) {
    return bag->first.i < 0 || bag->first.i > INT64_MAX - k ? -1 : bag->first.i + k;
  }
  const chad_array_t *const indices = bag->first.array;
  return k < indices->size ? ((const int64_t *)(const void *)indices->data)[k] : -1;
}

static chad_status_t add_all(chad_context_t *const context, chad_arena_t *const arena,
                             const chad_ct_t *const bag,
                             const chad_ct_t **const elements, const int64_t size) {
  const chad_array_t *const array = bag->second.array;
  const chad_ct_t *const *const found = (const void *)array->data;
  chad_count(context, array->size);
  chad_status_t status = CHAD_OK;
  for (int64_t k = 0; k < array->size && status == CHAD_OK; ++k) {
    status = add_at(context, arena, found[k], index_of(bag, k), elements, size);
  }
  return status;
}

// Goes down to the first contribution and adds it; what stands right of the way there
// goes onto the stack.
static chad_status_t collect_first(chad_context_t *const context,
                                   chad_arena_t *const arena, chad_stack_t *const stack,
                                   const chad_ct_t *bag,
                                   const chad_ct_t **const elements,
                                   const int64_t size) {
  while (bag != NULL && bag->kind == CHAD_CT_PLUS) {
    chad_count(context, 1);
    const chad_ct_t **const rest = chad_stack_push(stack);
    if (rest == NULL) {
      return CHAD_MEMORY;
    }
    *rest = bag->second.ct;
    bag = bag->first.ct;
  }
  chad_count(context, 1);
  if (is_nothing(bag)) {
    return CHAD_OK;
  }
  switch (bag->kind) {
    case CHAD_CT_ONE:
      return add_at(context, arena, bag->second.ct, bag->first.i, elements, size);
    case CHAD_CT_ARRAY:
    case CHAD_CT_SCATTER:
      return add_all(context, arena, bag, elements, size);
    default:
      return CHAD_INVALID;
  }
}

chad_status_t chad_ct_collect(chad_context_t *const context, chad_arena_t *const arena,
                              const chad_ct_t *const bag,
                              const chad_ct_t **const elements, const int64_t size) {
  chad_stack_t stack = chad_stack_new(context, (int64_t)sizeof(const chad_ct_t *));
  const chad_ct_t *next = bag;
  chad_status_t status = CHAD_OK;
  for (;;) {
    status = collect_first(context, arena, &stack, next, elements, size);
    const chad_ct_t *const *const top =
        status == CHAD_OK ? chad_stack_pop(&stack) : NULL;
    if (top == NULL) {
      break;
    }
    next = *top;
  }
  chad_stack_free(&stack);
  return status;
}
