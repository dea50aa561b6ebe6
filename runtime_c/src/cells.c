// The accumulation array: a growable array of cells of different kinds.
//
// Invariant: the last cell is open. A cell that is closed below open ones stays until
// these are closed; each is opened once and removed once, so that is amortised O(1).

#include <string.h>

#include "internal.h"

static const int64_t CAPACITY_FIRST = 8;

typedef enum cell_kind { CELL_CLOSED, CELL_REAL, CELL_ARRAY, CELL_CT } cell_kind_t;

typedef struct cell {
  cell_kind_t kind;
  union {
    double real;
    chad_array_t *array;  // made when opened; its bag is what has been added
    const chad_ct_t *ct;
  } holds;
} cell_t;

struct chad_cells {
  chad_context_t *context;
  chad_arena_t *arena;
  cell_t *cells;
  int64_t length;
  int64_t capacity;
  int64_t moves;
  int64_t steps_before;  // the context's when the cells were made
};

chad_cells_t *chad_cells_new(chad_context_t *const context, chad_arena_t *const arena) {
  chad_cells_t *const cells = chad_small(context, arena, (int64_t)sizeof(chad_cells_t));
  if (cells == NULL) {
    return NULL;
  }
  const int64_t steps = chad_steps(context);
  *cells = (chad_cells_t){context, arena, NULL, 0, 0, 0, steps};
  chad_count(context, 1);
  return cells;
}

static bool cells_grow(chad_cells_t *const cells) {
  const int64_t capacity = cells->capacity == 0 ? CAPACITY_FIRST : 2 * cells->capacity;
  const int64_t bytes = capacity * (int64_t)sizeof(cell_t);
  cell_t *const larger = chad_arena_grow(cells->context, cells->arena, bytes);
  if (larger == NULL) {
    return false;
  }
  if (cells->length > 0) {
    memcpy(larger, cells->cells, (size_t)cells->length * sizeof(cell_t));
  }
  cells->moves += cells->length;
  chad_count(cells->context, cells->length);
  cells->cells = larger;
  cells->capacity = capacity;
  return true;
}

// The index of a new cell; -1 if out of memory.
static int64_t cells_open(chad_cells_t *const cells, const cell_t cell) {
  if (cells->length == cells->capacity && !cells_grow(cells)) {
    return -1;
  }
  chad_count(cells->context, 1);
  cells->cells[cells->length] = cell;
  return cells->length++;
}

int64_t chad_cells_open_real(chad_context_t *const context, chad_cells_t *const cells) {
  (void)context;
  return cells_open(cells, (cell_t){CELL_REAL, {.real = 0.0}});
}

int64_t chad_cells_open_array(chad_context_t *const context, chad_cells_t *const cells,
                              const int64_t rank, const int64_t *const dims) {
  chad_array_t *const array = chad_array_bare(context, cells->arena, rank, dims);
  if (array == NULL) {
    return -1;
  }
  return cells_open(cells, (cell_t){CELL_ARRAY, {.array = array}});
}

int64_t chad_cells_open_ct(chad_context_t *const context, chad_cells_t *const cells,
                           const chad_ct_t *const initial) {
  (void)context;
  return cells_open(cells, (cell_t){CELL_CT, {.ct = initial}});
}

void chad_cells_add_real(chad_cells_t *const cells, const int64_t cell,
                         const double value) {
  chad_count(cells->context, 1);
  cells->cells[cell].holds.real += value;
}

// Adds a bag behind what is in a cell of an array.
static chad_status_t add_bag(chad_cells_t *const cells, chad_array_t *const array,
                             const chad_bag_t *const bag) {
  return chad_bag_plus(cells->context, cells->arena, array->bag, bag, &array->bag);
}

chad_status_t chad_cells_add_element(chad_context_t *const context,
                                     chad_cells_t *const cells, const int64_t cell,
                                     const int64_t index, const double value) {
  chad_array_t *const array = cells->cells[cell].holds.array;
  if (index < 0 || index >= array->size) {
    return CHAD_INVALID;
  }
  const chad_bag_t *const one = chad_bag_one(context, cells->arena, index, value);
  return one == NULL ? CHAD_MEMORY : add_bag(cells, array, one);
}

chad_status_t chad_cells_add_array(chad_context_t *const context,
                                   chad_cells_t *const cells, const int64_t cell,
                                   const int64_t offset, chad_array_t *const array) {
  chad_array_t *const target = cells->cells[cell].holds.array;
  if (offset < 0 || offset > target->size || array->size > target->size - offset) {
    return CHAD_INVALID;
  }
  const chad_bag_t *bag = NULL;
  const chad_status_t status =
      chad_bag_array(context, cells->arena, offset, array, &bag);
  return status == CHAD_OK ? add_bag(cells, target, bag) : status;
}

chad_status_t chad_cells_add_ct(chad_context_t *const context,
                                chad_cells_t *const cells, const int64_t cell,
                                const chad_ct_t *const cotangent) {
  const chad_ct_t **const place = &cells->cells[cell].holds.ct;
  chad_count(context, 1);
  return chad_ct_plus(context, cells->arena, cotangent, *place, place);
}

// Closes a cell, and gives what it held.
static cell_t cells_close(chad_cells_t *const cells, const int64_t cell) {
  const cell_t closed = cells->cells[cell];
  cells->cells[cell].kind = CELL_CLOSED;
  chad_count(cells->context, 1);
  while (cells->length > 0 && cells->cells[cells->length - 1].kind == CELL_CLOSED) {
    --cells->length;
  }
  return closed;
}

double chad_cells_close_real(chad_cells_t *const cells, const int64_t cell) {
  return cells_close(cells, cell).holds.real;
}

chad_array_t *chad_cells_close_array(chad_context_t *const context,
                                     chad_cells_t *const cells, const int64_t cell) {
  (void)context;
  return cells_close(cells, cell).holds.array;
}

const chad_ct_t *chad_cells_close_ct(chad_context_t *const context,
                                     chad_cells_t *const cells, const int64_t cell) {
  (void)context;
  return cells_close(cells, cell).holds.ct;
}

int64_t chad_cells_length(const chad_cells_t *const cells) { return cells->length; }

int64_t chad_cells_moves(const chad_cells_t *const cells) { return cells->moves; }

int64_t chad_cells_steps(const chad_cells_t *const cells) {
  return chad_steps(cells->context) - cells->steps_before;
}
