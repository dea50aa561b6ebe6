// Result blocks: memory that outlives the call, and perhaps the context.
//
// A block is a header, padded to CHAD_ALIGNMENT, and the data. The header links the
// blocks a context owns; once a block is released only its address matters.

#include <stdlib.h>

#include "internal.h"

void *chad_result_alloc(chad_context_t *const context, const int64_t bytes) {
  chad_state_t *const state = (chad_state_t *)context;
  if (bytes < 0 || bytes > CHAD_LARGEST) {
    return NULL;
  }
  const int64_t size = CHAD_ALIGNMENT + chad_round_up(bytes, CHAD_ALIGNMENT);
  chad_result_t *const block = chad_system_take(state, size);
  if (block == NULL) {
    return NULL;
  }
  block->size = size;
  block->next = state->results;
  state->results = block;
  return (char *)block + CHAD_ALIGNMENT;
}

void chad_results_discard(chad_context_t *const context) {
  chad_state_t *const state = (chad_state_t *)context;
  while (state->results != NULL) {
    chad_result_t *const block = state->results;
    state->results = block->next;
    chad_system_give(state, block, block->size);
  }
}

void chad_results_move(chad_state_t *const to, chad_state_t *const from) {
  while (from->results != NULL) {
    chad_result_t *const block = from->results;
    from->results = block->next;
    block->next = to->results;
    to->results = block;
  }
}

void chad_results_release(chad_context_t *const context) {
  chad_state_t *const state = (chad_state_t *)context;
  for (const chad_result_t *block = state->results; block != NULL;
       block = block->next) {
    state->used -= block->size;
  }
  state->results = NULL;
}

void chad_free(void *const block) {
  if (block != NULL) {
    free((char *)block - CHAD_ALIGNMENT);
  }
}
