// Recursive data: structs that refer to each other <-> the columns that programs take.
//
//   {1.0, &b}  b = {2.0, NULL}      <->      head 0.0 1.0 2.0     tail 0 2 0
//
// What a class holds is a list of *parts*, each a number, the tag of a union or the
// address of a node, in the order of its columns. Each occurrence of a struct is a node
// of its own, so that what comes in is a tree; the first row of each class is nobody's.
// Nothing here recurses: lists may be as long as there is memory.

typedef struct chad_lib_part {
  size_t at;       // in the struct
  int32_t kind;
  int32_t guard;   // the part with the tag that says whether this is there, or -1
  int32_t member;  // what that tag then is
  int32_t of;      // of a tag how many members there are, of an address the class
} chad_lib_part;

enum { CHAD_PART_F64, CHAD_PART_F32, CHAD_PART_I64, CHAD_PART_BOOL, CHAD_PART_TAG,
       CHAD_PART_NODE };

static const size_t chad_lib_widths[] = {8, 4, 8, 1, 8, 8};

// `columns` of a class begin at `first` of those of all classes.
typedef struct chad_lib_class {
  const char *title;
  size_t size;
  int32_t count;
  int32_t first;
  const chad_lib_part *parts;
} chad_lib_class;

// --- Structs to columns ------------------------------------------------------------

// A node that was met: the struct, who refers to it (-1: an argument), its number.
typedef struct chad_lib_entry {
  const char *at;
  int64_t parent;
  int64_t number;
  int64_t type;
} chad_lib_entry;

// A block of memory, which is given back at the end of the call.
typedef struct chad_lib_block {
  struct chad_lib_block *next;
  int64_t size;
} chad_lib_block;

// The nodes of a call's arguments. Once `status` is not CHAD_OK nothing more happens.
typedef struct chad_lib_nodes {
  chad_state_t *state;
  const chad_lib_class *classes;
  int32_t status;
  const char *wrong;   // what is wrong with ...
  const char *title;   // ... this class
  chad_lib_block *blocks;
  chad_lib_entry *entries;
  int64_t count;
  int64_t room;
  int64_t counts[CHAD_LIB_CLASSES];  // rows of each class
  void *columns[CHAD_LIB_COLUMNS];
} chad_lib_nodes;

static void *chad_lib_take(chad_lib_nodes *const nodes, const int64_t bytes) {
  chad_lib_block *block = NULL;
  if (nodes->status == CHAD_OK && bytes <= CHAD_LARGEST) {
    const int64_t size = chad_round_up(bytes, CHAD_ALIGNMENT) + CHAD_ALIGNMENT;
    block = chad_system_take(nodes->state, size);
  }
  if (block == NULL) {
    nodes->status = nodes->status == CHAD_OK ? CHAD_MEMORY : nodes->status;
    return NULL;
  }
  block->size = chad_round_up(bytes, CHAD_ALIGNMENT) + CHAD_ALIGNMENT;
  block->next = nodes->blocks;
  nodes->blocks = block;
  return (char *)block + CHAD_ALIGNMENT;
}

// Gives a block back before the end of the call.
static void chad_lib_give(chad_lib_nodes *const nodes, const void *const data) {
  chad_lib_block **link = &nodes->blocks;
  while ((const char *)*link + CHAD_ALIGNMENT != (const char *)data) {
    link = &(*link)->next;
  }
  chad_lib_block *const block = *link;
  *link = block->next;
  chad_system_give(nodes->state, block, block->size);
}

static void chad_lib_wrong(chad_lib_nodes *const nodes, const int64_t type,
                           const char *const wrong) {
  if (nodes->status == CHAD_OK) {
    nodes->status = CHAD_INVALID;
    nodes->title = nodes->classes[type].title;
    nodes->wrong = wrong;
  }
}

static int chad_lib_order(const void *const a, const void *const b) {
  const uintptr_t x = (uintptr_t)*(const char *const *)a;
  const uintptr_t y = (uintptr_t)*(const char *const *)b;
  return (x > y) - (x < y);
}

// Whether the node that was met last is within itself. Nodes are met in the order of
// their depth; where there is a cycle, depth grows beyond any number of structs.
static void chad_lib_look_for_cycle(chad_lib_nodes *const nodes) {
  int64_t depth = 0;
  for (int64_t k = nodes->count - 1; k >= 0; k = nodes->entries[k].parent) {
    ++depth;
  }
  const char **const path = chad_lib_take(nodes, depth * (int64_t)sizeof *path);
  if (path == NULL) {
    return;
  }
  int64_t length = 0;
  for (int64_t k = nodes->count - 1; k >= 0; k = nodes->entries[k].parent) {
    path[length++] = nodes->entries[k].at;
  }
  qsort(path, (size_t)length, sizeof *path, chad_lib_order);
  for (int64_t k = 1; k < length; ++k) {
    if (path[k] == path[k - 1]) {
      chad_lib_wrong(nodes, nodes->entries[nodes->count - 1].type, "contains itself");
    }
  }
  chad_lib_give(nodes, path);
}

enum { CHAD_LIB_FEW = 64, CHAD_LIB_MANY = 1 << 17 };

static void chad_lib_grow(chad_lib_nodes *const nodes) {
  if (nodes->count >= CHAD_LIB_MANY) {
    chad_lib_look_for_cycle(nodes);
  }
  const int64_t room = nodes->room == 0 ? CHAD_LIB_FEW : 2 * nodes->room;
  chad_lib_entry *const made =
      chad_lib_take(nodes, room * (int64_t)sizeof *nodes->entries);
  if (made == NULL) {
    return;
  }
  if (nodes->room > 0) {
    memcpy(made, nodes->entries, (size_t)nodes->count * sizeof *made);
    chad_lib_give(nodes, nodes->entries);
  }
  nodes->entries = made;
  nodes->room = room;
}

// The number of a node, which is entered.
static int64_t chad_lib_enter(chad_lib_nodes *const nodes, const int32_t type,
                              const void *const at, const int64_t parent) {
  if (at == NULL) {
    chad_lib_wrong(nodes, type, "is NULL");
  }
  if (nodes->count == nodes->room && nodes->status == CHAD_OK) {
    chad_lib_grow(nodes);
  }
  if (nodes->status != CHAD_OK) {
    return 0;
  }
  const int64_t number = nodes->counts[type]++;
  nodes->entries[nodes->count++] = (chad_lib_entry){at, parent, number, type};
  return number;
}

static int64_t chad_lib_tag_in(const chad_lib_part *const part, const char *const at) {
  int64_t tag = 0;
  memcpy(&tag, at + part->at, sizeof tag);
  return tag;
}

// Whether a part is there: all tags around it say so.
static bool chad_lib_is_there(const chad_lib_part *const parts, const int32_t part,
                              const char *const at) {
  const int32_t guard = parts[part].guard;
  return guard < 0 || (chad_lib_is_there(parts, guard, at) &&
                       chad_lib_tag_in(&parts[guard], at) == parts[part].member);
}

static const void *chad_lib_address_in(const chad_lib_part *const part,
                                       const char *const at) {
  const void *address = NULL;
  memcpy(&address, at + part->at, sizeof address);
  return address;
}

// Enters the nodes that a struct refers to.
static void chad_lib_enter_all(chad_lib_nodes *const nodes, const int64_t type,
                               const char *const at, const int64_t parent) {
  const chad_lib_class *const own = &nodes->classes[type];
  for (int32_t p = 0; p < own->count; ++p) {
    const chad_lib_part *const part = &own->parts[p];
    if (part->kind < CHAD_PART_TAG || !chad_lib_is_there(own->parts, p, at)) {
      continue;
    }
    if (part->kind == CHAD_PART_NODE) {
      (void)chad_lib_enter(nodes, part->of, chad_lib_address_in(part, at), parent);
    } else if (chad_lib_tag_in(part, at) < 0 || chad_lib_tag_in(part, at) >= part->of) {
      chad_lib_wrong(nodes, type, "has a tag that is none of the members");
    }
  }
}

// A struct becomes a row of columns; `next` is the entry of the first node in it.
static int64_t chad_lib_put(const chad_lib_nodes *const nodes, const int64_t type,
                            const char *const at, void *const *const columns,
                            const int64_t row, int64_t next) {
  const chad_lib_class *const own = &nodes->classes[type];
  for (int32_t p = 0; p < own->count; ++p) {
    const chad_lib_part *const part = &own->parts[p];
    const size_t width = chad_lib_widths[part->kind];
    char *const place = (char *)columns[p] + (size_t)row * width;
    if (!chad_lib_is_there(own->parts, p, at)) {
      memset(place, 0, width);
    } else if (part->kind == CHAD_PART_NODE) {
      memcpy(place, &nodes->entries[next++].number, width);
    } else if (part->kind == CHAD_PART_BOOL) {
      *place = (char)(at[part->at] != 0);
    } else {
      memcpy(place, at + part->at, width);
    }
  }
  return next;
}

// Columns for `count` rows of a class.
static void chad_lib_take_columns(chad_lib_nodes *const nodes, const int64_t type,
                                  void **const columns, const int64_t count) {
  const chad_lib_class *const own = &nodes->classes[type];
  for (int32_t p = 0; p < own->count; ++p) {
    const size_t width = chad_lib_widths[own->parts[p].kind];
    columns[p] = chad_lib_take(nodes, count * (int64_t)width);
  }
}

// A list of structs, each of which becomes a row.
static inline void chad_lib_enter_items(chad_lib_nodes *const nodes,
                                        const int32_t type, const void *const items,
                                        const int64_t count, void **const columns) {
  const chad_lib_class *const own = &nodes->classes[type];
  chad_lib_take_columns(nodes, type, columns, count);
  for (int64_t k = 0; k < count && nodes->status == CHAD_OK; ++k) {
    const char *const at = (const char *)items + (size_t)k * own->size;
    const int64_t first = nodes->count;
    chad_lib_enter_all(nodes, type, at, -1);
    if (nodes->status == CHAD_OK) {
      (void)chad_lib_put(nodes, type, at, columns, k, first);
    }
  }
}

static void chad_lib_begin_nodes(chad_lib_nodes *const nodes, chad_state_t *const state,
                                 const chad_lib_class *const classes) {
  memset(nodes, 0, sizeof *nodes);
  nodes->state = state;
  nodes->classes = classes;
  for (int64_t type = 0; type < CHAD_LIB_CLASSES; ++type) {
    nodes->counts[type] = 1;
  }
}

// Columns for the nodes of a class. Those of a class without nodes are shared.
static void chad_lib_take_rows(chad_lib_nodes *const nodes, const int64_t type) {
  static int64_t nobody;  // zero, and never written
  const chad_lib_class *const own = &nodes->classes[type];
  void **const columns = &nodes->columns[own->first];
  if (nodes->counts[type] > 1) {
    chad_lib_take_columns(nodes, type, columns, nodes->counts[type]);
  }
  for (int32_t p = 0; p < own->count && nodes->status == CHAD_OK; ++p) {
    if (nodes->counts[type] > 1) {
      memset(columns[p], 0, chad_lib_widths[own->parts[p].kind]);
    } else {
      columns[p] = &nobody;
    }
  }
}

// When all arguments are entered: all that they refer to becomes rows.
static int32_t chad_lib_fill(chad_lib_nodes *const nodes) {
  const int64_t roots = nodes->count;
  for (int64_t k = 0; k < nodes->count && nodes->status == CHAD_OK; ++k) {
    chad_lib_enter_all(nodes, nodes->entries[k].type, nodes->entries[k].at, k);
  }
  for (int64_t type = 0; type < CHAD_LIB_CLASSES; ++type) {
    chad_lib_take_rows(nodes, type);
  }
  int64_t next = roots;
  for (int64_t k = 0; k < nodes->count && nodes->status == CHAD_OK; ++k) {
    const chad_lib_entry *const entry = &nodes->entries[k];
    void *const *const columns = &nodes->columns[nodes->classes[entry->type].first];
    next = chad_lib_put(nodes, entry->type, entry->at, columns, entry->number, next);
  }
  return nodes->status;
}

// The same, and what to say where it fails. From now on a workspace begins behind them.
static int32_t chad_lib_entered(chad_lib_nodes *const nodes, library_memory *const memory,
                                const char *const function, library_error *const error) {
  const int32_t status = chad_lib_fill(nodes);
  if (status == CHAD_INVALID) {
    return chad_lib_invalid(error, function, nodes->title, nodes->wrong);
  }
  if (status != CHAD_OK) {
    return chad_lib_failed(error, nodes->state, memory, status, function, NULL);
  }
  if (memory != NULL) {
    memory->floor = memory->cursor;
  }
  return CHAD_OK;
}

static void chad_lib_end_nodes(chad_lib_nodes *const nodes) {
  while (nodes->blocks != NULL) {
    chad_lib_block *const block = nodes->blocks;
    nodes->blocks = block->next;
    chad_system_give(nodes->state, block, block->size);
  }
}

// --- Columns to structs ------------------------------------------------------------

// The nodes of a call's results: their columns, and the structs that are made of them.
typedef struct chad_lib_made {
  const chad_lib_class *classes;
  int64_t counts[CHAD_LIB_CLASSES];
  const void *columns[CHAD_LIB_COLUMNS];
  char *nodes[CHAD_LIB_CLASSES];
} chad_lib_made;

static const void *chad_lib_node(const chad_lib_made *const made, const int32_t type,
                                 const int64_t number) {
  const size_t size = made->classes[type].size;
  return made->nodes[type] == NULL ? NULL : made->nodes[type] + (size_t)number * size;
}

static int64_t chad_lib_integer(const void *const column, const int64_t row) {
  return ((const int64_t *)column)[row];
}

static bool chad_lib_is_given(const chad_lib_part *const parts, const int32_t part,
                              const void *const *const columns, const int64_t row) {
  const int32_t guard = parts[part].guard;
  return guard < 0 || (chad_lib_is_given(parts, guard, columns, row) &&
                       chad_lib_integer(columns[guard], row) == parts[part].member);
}

// A row of columns becomes a struct.
static void chad_lib_get(const chad_lib_made *const made, const int32_t type,
                         const void *const *const columns, const int64_t row,
                         char *const at) {
  const chad_lib_class *const own = &made->classes[type];
  for (int32_t p = 0; p < own->count; ++p) {
    const chad_lib_part *const part = &own->parts[p];
    if (!chad_lib_is_given(own->parts, p, columns, row)) {
      continue;
    }
    if (part->kind == CHAD_PART_NODE) {
      const int64_t number = chad_lib_integer(columns[p], row);
      const void *const address = chad_lib_node(made, part->of, number);
      memcpy(at + part->at, &address, sizeof address);
    } else {
      const size_t width = chad_lib_widths[part->kind];
      const char *const source = columns[p];
      memcpy(at + part->at, source + (size_t)row * width, width);
    }
  }
}

// Room for structs, in the memory of the call; NULL if there is none.
static char *chad_lib_structs(chad_state_t *const state, const size_t size,
                              const int64_t count) {
  const int64_t most = CHAD_LARGEST / (int64_t)(size > 0 ? size : 1);
  const int64_t bytes = count > most ? -1 : count * (int64_t)size;
  char *const room = chad_result_alloc(&state->shared, bytes);
  if (room != NULL) {
    memset(room, 0, (size_t)bytes);
  }
  return room;
}

// All nodes that there are columns of.
static inline int32_t chad_lib_make(chad_lib_made *const made,
                                    chad_state_t *const state) {
  for (int32_t type = 0; type < CHAD_LIB_CLASSES; ++type) {
    const size_t size = made->classes[type].size;
    const bool is_used = made->counts[type] > 1;
    made->nodes[type] =
        is_used ? chad_lib_structs(state, size, made->counts[type]) : NULL;
    if (is_used && made->nodes[type] == NULL) {
      return CHAD_MEMORY;
    }
  }
  for (int32_t type = 0; type < CHAD_LIB_CLASSES; ++type) {
    const chad_lib_class *const own = &made->classes[type];
    for (int64_t row = 1; row < made->counts[type]; ++row) {
      chad_lib_get(made, type, &made->columns[own->first], row,
                   made->nodes[type] + (size_t)row * own->size);
    }
  }
  return CHAD_OK;
}

// A list of structs.
static inline int32_t chad_lib_make_items(const chad_lib_made *const made,
                                          chad_state_t *const state, const int32_t type,
                                          const void *const *const columns,
                                          const int64_t count, void **const items) {
  const size_t size = made->classes[type].size;
  char *const room = chad_lib_structs(state, size, count);
  *items = room;
  for (int64_t row = 0; row < count && room != NULL; ++row) {
    chad_lib_get(made, type, columns, row, room + (size_t)row * size);
  }
  return room == NULL ? CHAD_MEMORY : CHAD_OK;
}

// The nodes of a gradient: those of the arguments, with other numbers.
static void chad_lib_like(chad_lib_made *const made, const chad_lib_nodes *const nodes) {
  memcpy(made->counts, nodes->counts, sizeof made->counts);
  for (int64_t k = 0; k < CHAD_LIB_COLUMNS; ++k) {
    made->columns[k] = nodes->columns[k];
  }
}
