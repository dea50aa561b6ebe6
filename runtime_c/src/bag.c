// Bags: contributions to an array, added up when somebody looks at it.
//
// Invariant: walking a node takes at most its cost. It may take less later, when one of
// its arrays has been collected: see chad_bag_array, which only does that if the array's
// bag costs more than its size.
//
// `is_lent` says that the array whose bag this is has been added to another bag already.
// It belongs to the array, but stands here because generated code knows what arrays look
// like; two arrays of one bag have it in common, which at worst has one collected too
// early.

#include "internal.h"

typedef enum bag_kind {
  BAG_ONE,    // first.i: index, second.f: value
  BAG_PLUS,   // first.bag, second.bag
  BAG_ARRAY,  // first.i: offset, second.array
} bag_kind_t;

typedef union bag_word {
  double f;
  int64_t i;
  const chad_bag_t *bag;
  const chad_array_t *array;
} bag_word_t;

struct chad_bag {
  uint8_t kind;
  bool is_lent;
  uint32_t cost;
  bag_word_t first;
  bag_word_t second;
};

static_assert(sizeof(chad_bag_t) == 24, "there may be very many of these");

// What a walk has yet to do: a bag, and the array it is added to.
typedef struct job {
  const chad_bag_t *bag;
  double *data;
  int64_t size;
} job_t;

static int64_t cost_of(const chad_bag_t *const bag) {
  return bag == NULL ? 0 : bag->cost;
}

int64_t chad_bag_cost(const chad_bag_t *const bag) { return cost_of(bag); }

static chad_bag_t *bag_new(chad_context_t *const context, chad_arena_t *const arena,
                           const bag_kind_t kind, const int64_t parts_cost) {
  chad_bag_t *const bag = chad_small(context, arena, (int64_t)sizeof(chad_bag_t));
  if (bag == NULL) {
    return NULL;
  }
  chad_count(context, 1);
  bag->kind = (uint8_t)kind;
  bag->is_lent = false;
  bag->cost = parts_cost >= UINT32_MAX ? UINT32_MAX : (uint32_t)(parts_cost + 1);
  return bag;
}

const chad_bag_t *chad_bag_one(chad_context_t *const context, chad_arena_t *const arena,
                               const int64_t index, const double value) {
  chad_bag_t *const bag = bag_new(context, arena, BAG_ONE, 0);
  if (bag != NULL) {
    bag->first.i = index;
    bag->second.f = value;
  }
  return bag;
}

chad_status_t chad_bag_plus(chad_context_t *const context, chad_arena_t *const arena,
                            const chad_bag_t *const a, const chad_bag_t *const b,
                            const chad_bag_t **const out) {
  if (a == NULL || b == NULL) {
    chad_count(context, 1);
    *out = a == NULL ? b : a;
    return CHAD_OK;
  }
  chad_bag_t *const bag = bag_new(context, arena, BAG_PLUS, cost_of(a) + cost_of(b));
  if (bag == NULL) {
    return CHAD_MEMORY;
  }
  bag->first.bag = a;
  bag->second.bag = b;
  *out = bag;
  return CHAD_OK;
}

// Whether an array is to be collected before it is added to one more bag.
static bool is_worth_collecting(const chad_array_t *const array) {
  return array->data == NULL && array->bag->is_lent &&
         cost_of(array->bag) > array->size;
}

chad_status_t chad_bag_array(chad_context_t *const context, chad_arena_t *const arena,
                             const int64_t offset, chad_array_t *const array,
                             const chad_bag_t **const out) {
  if (offset < 0) {
    return CHAD_INVALID;
  }
  if (array->data == NULL && array->bag == NULL) {
    chad_count(context, 1);
    *out = NULL;
    return CHAD_OK;
  }
  if (is_worth_collecting(array) && chad_array_data(context, arena, array) == NULL) {
    return CHAD_MEMORY;
  }
  const int64_t cost = array->data != NULL ? array->size : cost_of(array->bag);
  chad_bag_t *const bag = bag_new(context, arena, BAG_ARRAY, cost);
  if (bag == NULL) {
    return CHAD_MEMORY;
  }
  if (array->data == NULL) {
    ((chad_bag_t *)array->bag)->is_lent = true;
  }
  bag->first.i = offset;
  bag->second.array = array;
  *out = bag;
  return CHAD_OK;
}

static chad_status_t add_one(const job_t *const job) {
  const int64_t index = job->bag->first.i;
  if (index < 0 || index >= job->size) {
    return CHAD_INVALID;
  }
  job->data[index] += job->bag->second.f;
  return CHAD_OK;
}

// Adds an array if it has data; else *job becomes to add what is in its bag.
static chad_status_t add_array(chad_context_t *const context, job_t *const job) {
  const int64_t offset = job->bag->first.i;
  const chad_array_t *const array = job->bag->second.array;
  if (offset > job->size || array->size > job->size - offset) {
    return CHAD_INVALID;
  }
  *job = (job_t){array->bag, job->data + offset, array->size};
  if (array->data != NULL) {
    chad_count(context, array->size);
    for (int64_t k = 0; k < array->size; ++k) {
      job->data[k] += array->data[k];
    }
  }
  return CHAD_OK;
}

// Goes down to the first contribution and adds it; what stands right of the way there
// goes onto the stack. An array with data has no bag, so the way ends there too.
static chad_status_t collect_first(chad_context_t *const context,
                                   chad_stack_t *const stack, job_t job) {
  chad_status_t status = CHAD_OK;
  while (status == CHAD_OK && job.bag != NULL) {
    chad_count(context, 1);
    switch ((bag_kind_t)job.bag->kind) {
      case BAG_ONE:
        return add_one(&job);
      case BAG_ARRAY:
        status = add_array(context, &job);
        break;
      case BAG_PLUS: {
        job_t *const rest = chad_stack_push(stack);
        if (rest == NULL) {
          return CHAD_MEMORY;
        }
        *rest = (job_t){job.bag->second.bag, job.data, job.size};
        job.bag = job.bag->first.bag;
        break;
      }
    }
  }
  return status;
}

chad_status_t chad_bag_collect(chad_context_t *const context,
                               const chad_bag_t *const bag, double *const data,
                               const int64_t size) {
  chad_stack_t stack = chad_stack_new(context, (int64_t)sizeof(job_t));
  job_t job = {bag, data, size};
  chad_status_t status = CHAD_OK;
  for (;;) {
    status = collect_first(context, &stack, job);
    const job_t *const next = status == CHAD_OK ? chad_stack_pop(&stack) : NULL;
    if (next == NULL) {
      break;
    }
    job = *next;
  }
  chad_stack_free(&stack);
  return status;
}
