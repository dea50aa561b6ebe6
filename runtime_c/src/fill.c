// Large arrays are cleared and copied in pieces, on several threads.
//
// To write to memory for the first time, as to that of a result, takes longer than most
// loops take for an element.

#include <string.h>

#include "internal.h"

enum {
  PIECE = 1 << 18,    // the bytes of a piece at least: some ten microseconds
  MOST_PIECES = 128,  // so many that nobody waits long for the last one
  LINE = 64,          // pieces begin at multiples of this, to share no line of cache
};

typedef struct fill {
  char *target;
  const char *source;  // NULL: zeros
  int64_t bytes;
  int64_t pieces;
} fill_t;

static void fill_from(const fill_t *const all, const int64_t low, const int64_t high) {
  const size_t bytes = (size_t)(high - low);
  if (all->source == NULL) {
    memset(all->target + low, 0, bytes);
  } else {
    memcpy(all->target + low, all->source + low, bytes);
  }
}

static int64_t start_of(const fill_t *const all, const int64_t piece) {
  const int64_t lines = all->bytes / LINE;
  return piece == all->pieces ? all->bytes : lines * piece / all->pieces * LINE;
}

// Pieces have no byte in common, so it is no matter who fills which, or when.
static chad_status_t fill_piece(chad_context_t *const context, void *const environment,
                                const int64_t piece) {
  (void)context;
  const fill_t *const all = environment;
  fill_from(all, start_of(all, piece), start_of(all, piece + 1));
  return CHAD_OK;
}

static chad_status_t fill_all(chad_context_t *const context, fill_t all) {
  const int64_t some = all.bytes / PIECE;
  all.pieces = some < MOST_PIECES ? some : MOST_PIECES;
  const int64_t lanes = chad_lanes(context, all.pieces);
  if (lanes > 1) {
    return chad_parallel(context, fill_piece, NULL, &all, all.pieces, lanes, 1);
  }
  if (all.bytes > 0) {
    fill_from(&all, 0, all.bytes);
  }
  return CHAD_OK;
}

chad_status_t chad_clear(chad_context_t *const context, void *const target,
                         const int64_t bytes) {
  return fill_all(context, (fill_t){.target = target, .bytes = bytes});
}

chad_status_t chad_copy(chad_context_t *const context, void *const target,
                        const void *const source, const int64_t bytes) {
  return fill_all(context,
                  (fill_t){.target = target, .source = source, .bytes = bytes});
}
