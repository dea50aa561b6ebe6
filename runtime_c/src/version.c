// Versions of an array: what it was before it was changed, and what it is now.
//
//     b = a with [i] = v          a ── i: old ──> b          data stands in b
//     a[k]                        a <── i: v ──── b          data stands in a
//
// The versions of an array have their data in common. It is that of the version which
// is read or changed, the *current* one; each of the others says what is different in it
// from the next one on the way there. To read another version is to turn that way
// around, one version after the other (rerooting: Baker 1978, 1991; Conchon and
// Filliâtre 2007). So a program that goes on with the last version, and a reverse that
// goes back through all of them, take a constant for each change.
//
// A program that reads two versions in turns would go that way each time. When it has
// gone as many steps as the array has words, the version asked for gets data of its own,
// which these steps have paid for. So all of it takes at most as long as a copy for each
// version would, up to a constant.

#include <string.h>

#include "internal.h"

static const int64_t ELEMENT = 8;
static const int64_t FIRST_ROOM = 8;

// Words of the next version that are other ones in this one, from an offset on.
struct chad_change {
  chad_change_t *next;  // to be undone behind this one
  int64_t offset;
  int64_t count;
  double words[];
};

static chad_change_t *change_new(chad_context_t *const context,
                                 chad_arena_t *const arena, const int64_t offset,
                                 const int64_t count, const double *const words) {
  if (count > CHAD_LARGEST / ELEMENT) {
    return NULL;
  }
  const int64_t bytes = (int64_t)sizeof(chad_change_t) + count * ELEMENT;
  chad_change_t *const change = chad_small(context, arena, bytes);
  if (change == NULL) {
    return NULL;
  }
  *change = (chad_change_t){NULL, offset, count};
  if (count > 0) {
    memcpy(change->words, words, (size_t)(count * ELEMENT));
  }
  return change;
}

// Puts the words of a change into the data, and what was there into the change.
static void exchange(chad_context_t *const context, chad_change_t *const change,
                     double *const data) {
  chad_count(context, 1 + change->count);
  for (int64_t k = 0; k < change->count; ++k) {
    // As integers: not each word is a double.
    int64_t *const here = (int64_t *)(void *)&data[change->offset + k];
    int64_t *const there = (int64_t *)(void *)&change->words[k];
    const int64_t word = *here;
    *here = *there;
    *there = word;
  }
}

// Makes `next` current in place of `array`: the same, but for a change.
static void succeed(chad_array_t *const array, chad_array_t *const next,
                    chad_change_t *const change) {
  next->data = array->data;
  next->place = array->place;
  next->turned = array->turned;
  next->whole = NULL;
  next->change = NULL;
  array->data = NULL;
  array->whole = next;
  array->change = change;
}

// Makes the older version next to a current one current, by its changes, which become
// those of the other one.
static void turn(chad_context_t *const context, chad_array_t *const current,
                 chad_array_t *const older) {
  chad_change_t *undone = NULL;
  for (chad_change_t *change = older->change; change != NULL;) {
    chad_change_t *const next = change->next;
    exchange(context, change, current->data);
    change->next = undone;
    undone = change;
    change = next;
  }
  succeed(current, older, undone);
}

// Turns the way from an older version to the current one around: where it ends, and the
// number of words that are other ones.
static chad_array_t *way_back(chad_array_t *const array, chad_array_t **const first,
                              int64_t *const steps) {
  chad_array_t *back = NULL;
  chad_array_t *version = array;
  *steps = 0;
  while (version->data == NULL) {
    for (const chad_change_t *c = version->change; c != NULL; c = c->next) {
      *steps += 1 + c->count;
    }
    chad_array_t *const next = version->whole;
    version->whole = back;
    back = version;
    version = next;
  }
  *first = back;
  return version;
}

// Copies the data of the current version, as it is in the last one on the way back. The
// versions between stay what they were.
static bool copy_along(chad_context_t *const context, chad_arena_t *const arena,
                       chad_array_t *current, chad_array_t *version) {
  double *const data = chad_array_words(context, arena, current->place);
  if (data != NULL) {
    chad_count(context, current->place);
    memcpy(data, current->data, (size_t)(current->place * ELEMENT));
    current->turned = 0;
  }
  const int64_t place = current->place;
  for (;;) {
    chad_array_t *const back = version->whole;
    version->whole = current;
    for (const chad_change_t *c = version->change; c != NULL && data != NULL;
         c = c->next) {
      chad_count(context, 1 + c->count);
      memcpy(data + c->offset, c->words, (size_t)(c->count * ELEMENT));
    }
    if (back == NULL) {
      break;
    }
    current = version;
    version = back;
  }
  if (data == NULL) {
    return false;
  }
  version->data = data;
  version->place = place;
  version->turned = 0;
  version->whole = NULL;
  version->change = NULL;
  return true;
}

double *chad_version_data(chad_context_t *const context, chad_arena_t *const arena,
                          chad_array_t *const array) {
  chad_array_t *version = NULL;
  int64_t steps = 0;
  chad_array_t *current = way_back(array, &version, &steps);
  current->turned += steps;
  if (arena != NULL && current->turned > current->place) {
    return copy_along(context, arena, current, version) ? array->data : NULL;
  }
  while (version != NULL) {
    chad_array_t *const back = version->whole;
    turn(context, current, version);
    current = version;
    version = back;
  }
  return array->data;
}

// Whether the data of an array is memory that nobody may change.
static bool is_constant(const chad_array_t *const array) {
  return array->data != NULL && array->place < array->size;
}

// Data of its own for a new array that begins with words of another one.
static bool begin(chad_context_t *const context, chad_arena_t *const arena,
                  chad_array_t *const array, const int64_t room, const double *const words,
                  const int64_t count) {
  array->data = chad_array_words(context, arena, room);
  if (array->data == NULL) {
    return false;
  }
  array->place = room;
  chad_count(context, count);
  memcpy(array->data, words, (size_t)(count * ELEMENT));
  return true;
}

chad_array_t *chad_array_with(chad_context_t *const context, chad_arena_t *const arena,
                              chad_array_t *const array, const int64_t offset,
                              const int64_t count, const double *const words) {
  if (chad_array_is_part(array) && !is_constant(array->whole)) {
    chad_array_t *const whole = chad_array_with(context, arena, array->whole,
                                                array->place + offset, count, words);
    return whole == NULL ? NULL
                         : chad_array_part(context, arena, whole, array->place,
                                           array->rank, array->dims);
  }
  // The words may stand in another version, so they are read before one is current.
  chad_change_t *const change = change_new(context, arena, offset, count, words);
  double *const data =
      change == NULL ? NULL : chad_array_data(context, arena, array);
  chad_array_t *const new =
      data == NULL ? NULL : chad_array_bare(context, arena, array->rank, array->dims);
  if (new == NULL) {
    return NULL;
  }
  if (array->data != NULL && !is_constant(array)) {
    succeed(array, new, change);
  } else if (!begin(context, arena, new, array->size, data, array->size)) {
    return NULL;
  }
  exchange(context, change, new->data);
  return new;
}

chad_array_t *chad_array_resized(chad_context_t *const context,
                                 chad_arena_t *const arena, chad_array_t *const array,
                                 const int64_t *const dims, const int64_t count,
                                 const double *const words) {
  chad_array_t *const new = chad_array_bare(context, arena, array->rank, dims);
  if (new == NULL) {
    return NULL;
  }
  const int64_t kept = new->size - count;
  chad_change_t *const change = change_new(context, arena, kept, count, words);
  const double *const data =
      change == NULL ? NULL : chad_array_data(context, arena, array);
  if (data == NULL) {
    return NULL;
  }
  if (array->data != NULL && !is_constant(array) && array->place >= new->size) {
    succeed(array, new, change);
  } else {
    const int64_t twice = new->size > INT64_MAX / 2 ? INT64_MAX : 2 * new->size;
    const int64_t room = twice < FIRST_ROOM ? FIRST_ROOM : twice;
    if (!begin(context, arena, new, count > 0 ? room : new->size, data, kept)) {
      return NULL;
    }
  }
  exchange(context, change, new->data);
  return new;
}

bool chad_version_take(chad_context_t *const context, chad_arena_t *const arena,
                       chad_array_t *const array, chad_array_t *const other,
                       chad_status_t *const status) {
  if (chad_array_is_part(other)) {
    return false;
  }
  chad_change_t *const change = change_new(context, arena, 0, 0, NULL);
  if (change == NULL || chad_array_data(context, arena, other) == NULL) {
    *status = CHAD_MEMORY;
    return false;
  }
  if (is_constant(other)) {
    return false;
  }
  succeed(other, array, change);
  return true;
}

chad_status_t chad_version_add(chad_context_t *const context, chad_arena_t *const arena,
                               chad_array_t *const array, chad_array_t *const other,
                               const int64_t offset, const int64_t count,
                               const double *const words) {
  chad_change_t *const change = change_new(context, arena, offset, count, words);
  double *const data = change == NULL ? NULL : chad_array_data(context, arena, array);
  if (data == NULL) {
    return CHAD_MEMORY;
  }
  exchange(context, change, data);
  for (int64_t k = 0; k < count; ++k) {
    data[offset + k] += change->words[k];
  }
  if (other->whole == array) {
    change->next = other->change;
    other->change = change;
  }
  return CHAD_OK;
}
