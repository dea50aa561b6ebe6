// Arrays, whose elements may still stand in a bag, or in another array.

#include <string.h>

#include "internal.h"

static const int64_t ELEMENT = 8;
static const int64_t RANK_MAX = 1 << 20;

// The product of dimensions, or INT64_MAX if it is larger. A zero wins over that.
static int64_t product(const int64_t rank, const int64_t *const dims) {
  int64_t size = 1;
  for (int64_t k = 0; k < rank; ++k) {
    if (dims[k] == 0) {
      return 0;
    }
    size = size > INT64_MAX / dims[k] ? INT64_MAX : size * dims[k];
  }
  return size;
}

chad_array_t *chad_array_bare(chad_context_t *const context, chad_arena_t *const arena,
                              const int64_t rank, const int64_t *const dims) {
  if (rank < 0 || rank > RANK_MAX) {
    return NULL;
  }
  const int64_t bytes = (int64_t)sizeof(chad_array_t) + rank * (int64_t)sizeof *dims;
  chad_array_t *const array = chad_small(context, arena, bytes);
  if (array == NULL) {
    return NULL;
  }
  chad_count(context, 1);
  *array = (chad_array_t){.rank = rank};
  for (int64_t k = 0; k < rank; ++k) {
    array->dims[k] = dims[k] < 0 ? 0 : dims[k];
  }
  array->size = product(rank, array->dims);
  return array;
}

double *chad_array_words(chad_context_t *const context, chad_arena_t *const arena,
                         const int64_t count) {
  if (count > CHAD_LARGEST / ELEMENT) {
    return NULL;
  }
  return chad_arena_grow(context, arena, count * ELEMENT);
}

chad_array_t *chad_array_new(chad_context_t *const context, chad_arena_t *const arena,
                             const int64_t rank, const int64_t *const dims) {
  chad_array_t *const array = chad_array_bare(context, arena, rank, dims);
  if (array == NULL) {
    return NULL;
  }
  array->data = chad_array_words(context, arena, array->size);
  array->place = array->size;
  return array->data == NULL ? NULL : array;
}

bool chad_array_is_sum(const chad_array_t *const array) {
  return array->data == NULL && array->whole == NULL;
}

bool chad_array_is_part(const chad_array_t *const array) {
  return array->whole != NULL && array->change == NULL;
}

chad_array_t *chad_array_part(chad_context_t *const context, chad_arena_t *const arena,
                              chad_array_t *const whole, const int64_t place,
                              const int64_t rank, const int64_t *const dims) {
  chad_array_t *const part = chad_array_bare(context, arena, rank, dims);
  if (part != NULL) {
    part->whole = whole;
    part->place = place;
  }
  return part;
}

chad_array_t *chad_array_row(chad_context_t *const context, chad_arena_t *const arena,
                             chad_array_t *const array, const int64_t offset,
                             const int64_t drop) {
  if (chad_array_is_sum(array) && chad_array_data(context, arena, array) == NULL) {
    return NULL;
  }
  const bool is_inner = chad_array_is_part(array);
  return chad_array_part(context, arena, is_inner ? array->whole : array,
                         is_inner ? array->place + offset : offset, array->rank - drop,
                         array->dims + drop);
}

chad_array_t *chad_array_of_bag(chad_context_t *const context,
                                chad_arena_t *const arena, const chad_bag_t *const bag,
                                const int64_t rank, const int64_t *const dims) {
  chad_array_t *const array = chad_array_bare(context, arena, rank, dims);
  if (array == NULL) {
    return NULL;
  }
  array->bag = bag;
  return array;
}

void *chad_array_data(chad_context_t *const context, chad_arena_t *const arena,
                      chad_array_t *const array) {
  if (array->data != NULL) {
    return array->data;
  }
  if (chad_array_is_part(array)) {
    double *const data = chad_array_data(context, arena, array->whole);
    return data == NULL ? NULL : data + array->place;
  }
  if (array->whole != NULL) {
    return chad_version_data(context, arena, array);
  }
  return chad_bag_settle(context, arena, array) == CHAD_OK ? array->data : NULL;
}
