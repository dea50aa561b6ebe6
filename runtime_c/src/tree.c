// Trees of reductions, and the walk from the root to the leaves.

#include "internal.h"

struct chad_tree {
  int64_t leaves;  // 1: this is a leaf, and nothing follows
  chad_word_t value;
};

typedef struct tree_node {
  chad_tree_t top;
  chad_word_t function;
  const chad_tree_t *left;
  const chad_tree_t *right;
} tree_node_t;

typedef struct untree_job {
  const chad_tree_t *tree;
  chad_word_t cotangent;
} untree_job_t;

// A tree used several times counts as often, which may be more than there are numbers.
static int64_t sum_of_leaves(const int64_t a, const int64_t b) {
  return a > INT64_MAX - b ? INT64_MAX : a + b;
}

const chad_tree_t *chad_tree_leaf(chad_context_t *const context,
                                  chad_arena_t *const arena, const chad_word_t value) {
  chad_tree_t *const leaf = chad_small(context, arena, (int64_t)sizeof(chad_tree_t));
  if (leaf != NULL) {
    chad_count(context, 1);
    *leaf = (chad_tree_t){1, value};
  }
  return leaf;
}

const chad_tree_t *chad_tree_node(chad_context_t *const context,
                                  chad_arena_t *const arena,
                                  const chad_tree_t *const left,
                                  const chad_word_t value, const chad_word_t function,
                                  const chad_tree_t *const right) {
  tree_node_t *const node = chad_small(context, arena, (int64_t)sizeof(tree_node_t));
  if (node == NULL) {
    return NULL;
  }
  chad_count(context, 1);
  const int64_t leaves = sum_of_leaves(left->leaves, right->leaves);
  *node = (tree_node_t){{leaves, value}, function, left, right};
  return &node->top;
}

chad_word_t chad_tree_value(const chad_tree_t *const tree) { return tree->value; }

int64_t chad_tree_size(const chad_tree_t *const tree) { return tree->leaves; }

// Goes down to the first leaf: the cotangent there; what stands right of the way there
// goes onto the stack.
static chad_status_t untree_first(chad_context_t *const context,
                                  chad_stack_t *const stack, untree_job_t job,
                                  const chad_untree_t callback, void *const user,
                                  chad_word_t *const leaf) {
  chad_count(context, 1);
  while (job.tree->leaves > 1) {
    const tree_node_t *const node = (const tree_node_t *)job.tree;
    untree_job_t *const rest = chad_stack_push(stack);
    if (rest == NULL) {
      return CHAD_MEMORY;
    }
    rest->tree = node->right;
    const chad_status_t status = callback(user, job.cotangent, node->function,
                                          &job.cotangent, &rest->cotangent);
    if (status != CHAD_OK) {
      return status;
    }
    job.tree = node->left;
    chad_count(context, 1);
  }
  *leaf = job.cotangent;
  return CHAD_OK;
}

chad_status_t chad_untree(chad_context_t *const context, const chad_tree_t *const tree,
                          const chad_word_t cotangent, const chad_untree_t callback,
                          void *const user, chad_word_t *const leaves) {
  chad_stack_t stack = chad_stack_new(context, (int64_t)sizeof(untree_job_t));
  untree_job_t job = {tree, cotangent};
  chad_word_t *next_leaf = leaves;
  chad_status_t status = CHAD_OK;
  for (;;) {
    status = untree_first(context, &stack, job, callback, user, next_leaf);
    const untree_job_t *const next = status == CHAD_OK ? chad_stack_pop(&stack) : NULL;
    if (next == NULL) {
      break;
    }
    job = *next;
    ++next_leaf;
  }
  chad_stack_free(&stack);
  return status;
}
