// The hand-written reference for recursive data: nodes in one block of memory, a tag and
// a union as C has them. The gradient keeps in each node the slope of its fold by that of
// the left branch, and what the whole owes to a leaf is added where the leaf came from.

#include "trees.h"

#include <math.h>
#include <stdlib.h>

typedef struct tree tree_t;

struct tree {
  int64_t is_leaf;
  double value;  // of a leaf; of a node: its weight
  const tree_t *left;
  const tree_t *right;
  double slope;   // by the fold of the left branch
  int64_t place;  // of a leaf
};

static tree_t *grow(const double *const x, const int64_t low, const int64_t high,
                    tree_t **const free_nodes) {
  tree_t *const node = (*free_nodes)++;
  if (high - low == 1) {
    node->is_leaf = 1;
    node->value = x[low];
    node->place = low;
    return node;
  }
  const int64_t middle = low + (high - low) / 2;
  node->is_leaf = 0;
  node->value = 1.0 / (1.0 + (double)((high - low) % 7));
  node->left = grow(x, low, middle, free_nodes);
  node->right = grow(x, middle, high, free_nodes);
  return node;
}

static double fold(const tree_t *const tree) {
  if (tree->is_leaf) {
    return tree->value;
  }
  const double left = fold(tree->left);
  const double right = fold(tree->right);
  return tree->value * tanh(left) + (1.0 - tree->value) * right;
}

static double fold_keeping(tree_t *const tree) {
  if (tree->is_leaf) {
    return tree->value;
  }
  // The nodes are our own: `const` says that nobody changes the shape of the tree.
  const double left = tanh(fold_keeping((tree_t *)(uintptr_t)tree->left));
  const double right = fold_keeping((tree_t *)(uintptr_t)tree->right);
  tree->slope = tree->value * (1.0 - left * left);
  return tree->value * left + (1.0 - tree->value) * right;
}

static void owe(const tree_t *const tree, const double owed, double *const dx) {
  if (tree->is_leaf) {
    dx[tree->place] += owed;
    return;
  }
  owe(tree->left, owed * tree->slope, dx);
  owe(tree->right, owed * (1.0 - tree->value), dx);
}

int32_t folded_value(const int64_t n, const double *const x, double *const value) {
  tree_t *const nodes = malloc(sizeof(tree_t) * (size_t)(2 * n));
  if (nodes == NULL) {
    return 1;
  }
  tree_t *free_nodes = nodes;
  *value = fold(grow(x, 0, n, &free_nodes));
  free(nodes);
  return 0;
}

int32_t folded_gradient(const int64_t n, const double *const x, double *const value,
                        double *const dx) {
  tree_t *const nodes = malloc(sizeof(tree_t) * (size_t)(2 * n));
  if (nodes == NULL) {
    return 1;
  }
  tree_t *free_nodes = nodes;
  tree_t *const tree = grow(x, 0, n, &free_nodes);
  for (int64_t k = 0; k < n; k++) {
    dx[k] = 0.0;
  }
  *value = fold_keeping(tree);
  owe(tree, 1.0, dx);
  free(nodes);
  return 0;
}
