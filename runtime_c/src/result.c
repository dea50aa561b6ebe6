// Result blocks: memory that outlives the call, and perhaps the context.
//
// A block is a header, padded to CHAD_ALIGNMENT, and the data. The header links the
// blocks a context owns; once a block is released only its address and its size matter.

#include <string.h>

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

// The link to the block with this data. Arrays are looked for from the last to the first,
// and as a rule were made in order, so it is the first one.
static chad_result_t **link_to(chad_state_t *const state, const void *const data) {
  chad_result_t **link = &state->results;
  while (*link != NULL && (const char *)*link + CHAD_ALIGNMENT != (const char *)data) {
    link = &(*link)->next;
  }
  return link;
}

void chad_lend(chad_context_t *const context, chad_out_t *const outs) {
  chad_state_t *const state = (chad_state_t *)context;
  chad_unreserve(state, state->lent);
  state->lent = 0;
  context->outs = outs;
}

// Of fewer bytes little is added to at once; more take longer to copy, and may be more
// than there is memory for twice.
enum { LEAST_COPIED = 1024, MOST_COPIED = 8192 };

void *chad_result_take(chad_context_t *const context, const int64_t number,
                       const int64_t bytes, const int32_t are_added_to) {
  chad_out_t *const out = context->outs == NULL ? NULL : context->outs + number;
  if (out == NULL || out->bytes != bytes || bytes < 0) {
    return chad_result_alloc(context, bytes);
  }
  if (are_added_to != 0 && LEAST_COPIED <= bytes && bytes <= MOST_COPIED &&
      (uintptr_t)out->data % CHAD_ALIGNMENT != 0) {
    return chad_result_alloc(context, bytes);
  }
  chad_state_t *const state = (chad_state_t *)context;
  if (!chad_reserve(state, bytes)) {
    return NULL;
  }
  state->lent += bytes;
  out->bytes = -1;
  return out->data;
}

// The caller's memory holds an array of another shape: the array gets a block.
static chad_status_t moved(chad_context_t *const context, chad_word_t *const result,
                           const int64_t rank, int64_t bytes) {
  for (int64_t axis = 0; axis < rank; ++axis) {
    bytes *= result[1 + axis].i;
  }
  void *const block = chad_result_alloc(context, bytes);
  if (block == NULL) {
    return CHAD_MEMORY;
  }
  memcpy(block, result->p, (size_t)bytes);
  result->p = block;
  return CHAD_OK;
}

chad_status_t chad_result_copy(chad_context_t *const context, chad_word_t *const result,
                               const int64_t rank, int64_t bytes, void *const to,
                               const int64_t *const dims) {
  chad_state_t *const state = (chad_state_t *)context;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (dims[axis] != result[1 + axis].i) {
      return result->p == to ? moved(context, result, rank, bytes) : CHAD_OK;
    }
  }
  if (result->p != to) {
    for (int64_t axis = 0; axis < rank; ++axis) {
      bytes *= dims[axis];
    }
    chad_result_t **const link = link_to(state, result->p);
    chad_result_t *const block = *link;
    if (block == NULL) {
      return CHAD_OK;
    }
    memcpy(to, result->p, (size_t)bytes);
    *link = block->next;
    chad_system_give(state, block, block->size);
  }
  result->p = NULL;
  return CHAD_OK;
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
    chad_result_t *const whole = (chad_result_t *)(void *)((char *)block - CHAD_ALIGNMENT);
    chad_release_system(whole, whole->size);
  }
}
