// Arrays, whose elements may still stand in a bag.

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
  for (int64_t k = 0; k < rank; ++k) {
    array->dims[k] = dims[k] < 0 ? 0 : dims[k];
  }
  array->data = NULL;
  array->bag = NULL;
  array->rank = rank;
  array->size = product(rank, array->dims);
  return array;
}

static double *data_new(chad_context_t *const context, chad_arena_t *const arena,
                        const int64_t size) {
  if (size > CHAD_LARGEST / ELEMENT) {
    return NULL;
  }
  return chad_arena_grow(context, arena, size * ELEMENT);
}

chad_array_t *chad_array_new(chad_context_t *const context, chad_arena_t *const arena,
                             const int64_t rank, const int64_t *const dims) {
  chad_array_t *const array = chad_array_bare(context, arena, rank, dims);
  if (array == NULL) {
    return NULL;
  }
  array->data = data_new(context, arena, array->size);
  return array->data == NULL ? NULL : array;
}

chad_array_t *chad_array_row(chad_context_t *const context, chad_arena_t *const arena,
                             chad_array_t *const array, const int64_t offset,
                             const int64_t drop) {
  double *const data = chad_array_data(context, arena, array);
  if (data == NULL) {
    return NULL;
  }
  chad_array_t *const row =
      chad_array_bare(context, arena, array->rank - drop, array->dims + drop);
  if (row == NULL) {
    return NULL;
  }
  row->data = data + offset;
  return row;
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
  double *const data = data_new(context, arena, array->size);
  if (data == NULL) {
    return NULL;
  }
  memset(data, 0, (size_t)(array->size * ELEMENT));
  chad_count(context, array->size);
  if (chad_bag_collect(context, array->bag, data, array->size) != CHAD_OK) {
    return NULL;
  }
  array->data = data;
  array->bag = NULL;
  return data;
}
