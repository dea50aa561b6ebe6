// Stacks of the walks over bags, cotangents and trees.
//
// A stack is a list of chunks: those before `chunk` are full, those behind it empty.
//
//   ... <-> chunk <-> one spare chunk, or none
//           base .. cursor .. limit
//
// Where it grows it takes a chunk twice as large. One empty chunk stays, so that going
// up and down at the edge of a chunk costs nothing.

#include "internal.h"

static const int64_t STACK_FIRST = 4096;
static const int64_t STACK_MAX = (int64_t)32 << 20;

static char *stack_base(chad_chunk_t *const chunk) {
  return (char *)chunk + CHAD_ALIGNMENT;
}

// Where the last frame that fits ends.
static char *stack_limit(const chad_stack_t *const stack) {
  const int64_t frames = (stack->chunk->size - CHAD_ALIGNMENT) / stack->frame;
  return stack_base(stack->chunk) + frames * stack->frame;
}

chad_stack_t chad_stack_new(chad_context_t *const context, const int64_t frame) {
  return (chad_stack_t){(chad_state_t *)context, frame, NULL, NULL};
}

// A chunk twice as large as the last if the limit allows, else a small one.
static chad_chunk_t *stack_chunk(const chad_stack_t *const stack) {
  if (stack->chunk != NULL) {
    const int64_t last = stack->chunk->size;
    const int64_t generous = last < STACK_MAX / 2 ? 2 * last : STACK_MAX;
    chad_chunk_t *const chunk = chad_chunk_take(stack->state, generous);
    if (chunk != NULL) {
      return chunk;
    }
  }
  return chad_chunk_take(stack->state, STACK_FIRST);
}

// Goes on to the next chunk, which is made if there is none.
static bool stack_extend(chad_stack_t *const stack) {
  chad_chunk_t *next = stack->chunk == NULL ? NULL : stack->chunk->next;
  if (next == NULL) {
    next = stack_chunk(stack);
    if (next == NULL) {
      return false;
    }
    next->next = NULL;
    next->previous = stack->chunk;
    if (stack->chunk != NULL) {
      stack->chunk->next = next;
    }
  }
  stack->chunk = next;
  stack->cursor = stack_base(next);
  return true;
}

// Goes back from an empty chunk to the one before, and gives back the one behind.
static void stack_retreat(chad_stack_t *const stack) {
  chad_chunk_t *const spare = stack->chunk->next;
  if (spare != NULL) {
    chad_chunk_give(stack->state, spare);
    stack->chunk->next = NULL;
  }
  stack->chunk = stack->chunk->previous;
  stack->cursor = stack_limit(stack);
}

void *chad_stack_push(chad_stack_t *const stack) {
  if (stack->chunk == NULL || stack->cursor == stack_limit(stack)) {
    if (!stack_extend(stack)) {
      return NULL;
    }
  }
  char *const frame = stack->cursor;
  stack->cursor += stack->frame;
  return frame;
}

void *chad_stack_pop(chad_stack_t *const stack) {
  if (stack->chunk == NULL) {
    return NULL;
  }
  if (stack->cursor == stack_base(stack->chunk)) {
    if (stack->chunk->previous == NULL) {
      return NULL;
    }
    stack_retreat(stack);
  }
  stack->cursor -= stack->frame;
  return stack->cursor;
}

void chad_stack_free(chad_stack_t *const stack) {
  chad_chunk_t *chunk = stack->chunk;
  if (chunk != NULL && chunk->next != NULL) {
    chad_chunk_give(stack->state, chunk->next);
  }
  while (chunk != NULL) {
    chad_chunk_t *const previous = chunk->previous;
    chad_chunk_give(stack->state, chunk);
    chunk = previous;
  }
  stack->chunk = NULL;
  stack->cursor = NULL;
}
