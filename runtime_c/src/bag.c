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

#include <string.h>

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
  chad_array_t *array;
} bag_word_t;

struct chad_bag {
  uint8_t kind;
  bool is_lent;
  uint32_t cost;
  bag_word_t first;
  bag_word_t second;
};

static_assert(sizeof(chad_bag_t) == 24, "there may be very many of these");

// What a walk has yet to do: a bag, and where in the whole its array is.
typedef struct job {
  const chad_bag_t *bag;
  int64_t offset;
  int64_t size;
} job_t;

// What a walk adds to: data, or an array, whose own bag it is.
typedef struct target {
  chad_context_t *context;
  chad_arena_t *arena;  // NULL with data
  double *data;         // NULL: nothing has been added to it yet
  chad_array_t *array;
  chad_array_t *taken;  // what the array is a version of; NULL: it has data of its own
  bool is_added;        // whether the walk has come by what is taken
} target_t;

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
  return chad_array_is_sum(array) && array->bag->is_lent &&
         cost_of(array->bag) > array->size;
}

chad_status_t chad_bag_array(chad_context_t *const context, chad_arena_t *const arena,
                             const int64_t offset, chad_array_t *const array,
                             const chad_bag_t **const out) {
  if (offset < 0) {
    return CHAD_INVALID;
  }
  if (chad_array_is_sum(array) && array->bag == NULL) {
    chad_count(context, 1);
    *out = NULL;
    return CHAD_OK;
  }
  if (is_worth_collecting(array) && chad_array_data(context, arena, array) == NULL) {
    return CHAD_MEMORY;
  }
  const bool is_sum = chad_array_is_sum(array);
  const int64_t cost = is_sum ? cost_of(array->bag) : array->size;
  chad_bag_t *const bag = bag_new(context, arena, BAG_ARRAY, cost);
  if (bag == NULL) {
    return CHAD_MEMORY;
  }
  if (is_sum) {
    ((chad_bag_t *)array->bag)->is_lent = true;
  }
  bag->first.i = offset;
  bag->second.array = array;
  *out = bag;
  return CHAD_OK;
}

// Makes the data of the array zeros, if nothing has been added to it.
static bool begin(target_t *const target) {
  if (target->data != NULL) {
    return true;
  }
  const int64_t size = target->array->size;
  target->data = chad_array_words(target->context, target->arena, size);
  if (target->data == NULL) {
    return false;
  }
  chad_count(target->context, size);
  memset(target->data, 0, (size_t)size * sizeof *target->data);
  return true;
}

static chad_status_t add(target_t *const target, const int64_t offset,
                         const int64_t count, const double *const words) {
  if (target->taken != NULL) {
    return chad_version_add(target->context, target->arena, target->array,
                            target->taken, offset, count, words);
  }
  if (!begin(target)) {
    return CHAD_MEMORY;
  }
  for (int64_t k = 0; k < count; ++k) {
    target->data[offset + k] += words[k];
  }
  return CHAD_OK;
}

static chad_status_t add_one(target_t *const target, const job_t *const job) {
  const int64_t index = job->bag->first.i;
  if (index < 0 || index >= job->size) {
    return CHAD_INVALID;
  }
  return add(target, job->offset + index, 1, &job->bag->second.f);
}

// Adds an array; if it is a sum, *job becomes to add what is in its bag.
static chad_status_t add_array(target_t *const target, job_t *const job) {
  const int64_t offset = job->bag->first.i;
  chad_array_t *const array = job->bag->second.array;
  if (offset > job->size || array->size > job->size - offset) {
    return CHAD_INVALID;
  }
  const bool is_sum = chad_array_is_sum(array);
  *job = (job_t){is_sum ? array->bag : NULL, job->offset + offset, array->size};
  if (is_sum) {
    return CHAD_OK;
  }
  if (array == target->taken && !target->is_added) {
    target->is_added = true;
    return CHAD_OK;
  }
  const double *const words = chad_array_data(target->context, target->arena, array);
  if (words == NULL) {
    return CHAD_MEMORY;
  }
  // What is added to a version counts itself.
  chad_count(target->context, target->taken == NULL ? array->size : 0);
  return add(target, job->offset, array->size, words);
}

// Goes down to the first contribution and adds it; what stands right of the way there
// goes onto the stack.
static chad_status_t collect_first(target_t *const target, chad_stack_t *const stack,
                                   job_t job) {
  chad_status_t status = CHAD_OK;
  while (status == CHAD_OK && job.bag != NULL) {
    chad_count(target->context, 1);
    switch ((bag_kind_t)job.bag->kind) {
      case BAG_ONE:
        return add_one(target, &job);
      case BAG_ARRAY:
        status = add_array(target, &job);
        break;
      case BAG_PLUS: {
        job_t *const rest = chad_stack_push(stack);
        if (rest == NULL) {
          return CHAD_MEMORY;
        }
        *rest = (job_t){job.bag->second.bag, job.offset, job.size};
        job.bag = job.bag->first.bag;
        break;
      }
    }
  }
  return status;
}

static chad_status_t collect(target_t *const target, const chad_bag_t *const bag,
                             const int64_t size) {
  chad_stack_t stack = chad_stack_new(target->context, (int64_t)sizeof(job_t));
  job_t job = {bag, 0, size};
  chad_status_t status = CHAD_OK;
  for (;;) {
    status = collect_first(target, &stack, job);
    const job_t *const next = status == CHAD_OK ? chad_stack_pop(&stack) : NULL;
    if (next == NULL) {
      break;
    }
    job = *next;
  }
  chad_stack_free(&stack);
  return status;
}

chad_status_t chad_bag_collect(chad_context_t *const context,
                               const chad_bag_t *const bag, double *const data,
                               const int64_t size) {
  target_t target = {context, NULL, data, NULL, NULL, false};
  return collect(&target, bag, size);
}

// The first array in a bag that is as large as the whole and no sum: the whole may be a
// version of it. Not if there is as much to add to it as it has elements, nor if it is
// not among as many nodes, which pay for data of its own. NULL if there is none, or no
// memory to look for it, which `status` says.
static chad_array_t *largest_in(chad_context_t *const context,
                                const chad_bag_t *const bag, const int64_t size,
                                chad_status_t *const status) {
  if (cost_of(bag) / 2 > size) {
    return NULL;
  }
  chad_stack_t stack = chad_stack_new(context, (int64_t)sizeof bag);
  const chad_bag_t *next = bag;
  chad_array_t *found = NULL;
  for (int64_t left = size; next != NULL && found == NULL && left > 0; --left) {
    chad_count(context, 1);
    const chad_bag_t *const here = next;
    next = NULL;
    if (here->kind == BAG_PLUS) {
      const chad_bag_t **const rest = chad_stack_push(&stack);
      if (rest == NULL) {
        *status = CHAD_MEMORY;
        break;
      }
      *rest = here->second.bag;
      next = here->first.bag;
    } else if (here->kind == BAG_ARRAY && here->second.array->size == size) {
      chad_array_t *const array = here->second.array;
      const bool is_sum = chad_array_is_sum(array);
      found = is_sum ? NULL : array;
      next = is_sum ? array->bag : NULL;
    }
    if (next == NULL && found == NULL) {
      const chad_bag_t *const *const top = chad_stack_pop(&stack);
      next = top == NULL ? NULL : *top;
    }
  }
  chad_stack_free(&stack);
  return found;
}

chad_status_t chad_bag_settle(chad_context_t *const context, chad_arena_t *const arena,
                              chad_array_t *const array) {
  target_t target = {context, arena, NULL, array, NULL, false};
  chad_status_t status = CHAD_OK;
  const chad_bag_t *const bag = array->bag;
  chad_array_t *const largest = largest_in(context, bag, array->size, &status);
  if (largest != NULL &&
      chad_version_take(context, arena, array, largest, &status)) {
    target.taken = largest;
  }
  if (status == CHAD_OK) {
    status = collect(&target, bag, array->size);
  }
  if (status != CHAD_OK) {
    return status;
  }
  array->bag = NULL;
  if (target.taken != NULL) {
    return chad_array_data(context, arena, array) == NULL ? CHAD_MEMORY : CHAD_OK;
  }
  if (!begin(&target)) {
    return CHAD_MEMORY;
  }
  array->data = target.data;
  array->place = array->size;
  return CHAD_OK;
}
