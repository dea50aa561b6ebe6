// Recursive data: structs that refer to each other, in and out, good and bad.

#include <string.h>

#include "check.h"
#include "forms.h"

enum { LENGTH = 200000 };

static forms_error error;
static forms_memory *memory;

static forms_Branch_or_Leaf leaf(float value) {
  forms_Branch_or_Leaf made;
  memset(&made, 0, sizeof made);
  made.tag = forms_Branch_or_Leaf_is_Leaf;
  made.as.Leaf.value = value;
  return made;
}

static forms_Branch_or_Leaf branch(const forms_Branch *at) {
  forms_Branch_or_Leaf made;
  made.tag = forms_Branch_or_Leaf_is_Branch;
  made.as.Branch = at;
  return made;
}

static forms_Cons_or_none chain(const forms_Cons *at) {
  forms_Cons_or_none made;
  made.tag = at == NULL ? forms_Cons_or_none_is_none : forms_Cons_or_none_is_Cons;
  made.as.Cons = at;
  return made;
}

static void chains(void) {
  forms_Cons second = {2.0, {forms_Cons_or_none_is_none, {NULL}}};
  forms_Cons first = {1.0, chain(&second)};
  forms_Cons_or_none numbers = chain(&first), none = chain(NULL), gradient;
  double value = 0.0;
  CHECK(forms_chain_grad(memory, &numbers, &value, &gradient, &error) == FORMS_OK);
  CHECK(value == 5.0 && gradient.as.Cons->head == 2.0);
  CHECK(gradient.as.Cons->tail.as.Cons->head == 4.0);
  CHECK(gradient.as.Cons->tail.as.Cons->tail.tag == forms_Cons_or_none_is_none);
  CHECK(forms_chain_grad(memory, &none, &value, &gradient, &error) == FORMS_OK);
  CHECK(value == 0.0 && gradient.tag == forms_Cons_or_none_is_none);
}

static void trees(void) {
  forms_Branch inner = {leaf(3.0F), leaf(2.0F), 2}, outer = {branch(&inner), leaf(2.0F), 5};
  forms_Branch_or_Leaf tree = branch(&outer), gradient, mirror;
  double value = 0.0, by_scale = 0.0;
  CHECK(forms_product_grad(memory, &tree, 1.0, &value, &gradient, &by_scale, &error) ==
        FORMS_OK);
  CHECK(value == 120.0 && by_scale == 360.0 && gradient.as.Branch->weight == 5);
  CHECK(gradient.as.Branch->right.as.Leaf.value == 60.0F);
  CHECK(gradient.as.Branch->left.as.Branch->left.as.Leaf.value == 40.0F);
  CHECK(forms_mirrored(memory, &tree, &mirror, &error) == FORMS_OK);
  CHECK(mirror.as.Branch->left.as.Leaf.value == 4.0F);
  CHECK(mirror.as.Branch->right.as.Branch->right.as.Leaf.value == 6.0F);
}

static void lists(void) {
  forms_Branch at = {leaf(3.0F), leaf(2.0F), 2};
  forms_Branch_or_Leaf items[] = {branch(&at), leaf(7.0F), branch(&at)};
  forms_Branch_or_Leaf_list list = {items, {3}}, gradient;
  forms_Cons cons = {2.0, {forms_Cons_or_none_is_none, {NULL}}};
  const forms_Cons *heads[] = {&cons, &cons};
  forms_Cons_list some = {heads, {2}}, made;
  double scales[] = {1.0, 2.0}, value = 0.0;
  forms_Forest forest = {1, branch(&at), {scales, {2}}}, by_forest;
  CHECK(forms_products_grad(memory, &list, &value, &gradient, &error) == FORMS_OK);
  CHECK(value == 31.0 && gradient.shape[0] == 3);
  CHECK(gradient.data[1].as.Leaf.value == 1.0F);
  CHECK(gradient.data[2].as.Branch->left.as.Leaf.value == 4.0F);
  CHECK(forms_tails(memory, &some, &made, &error) == FORMS_OK && made.shape[0] == 2);
  CHECK(made.data[1]->head == 4.0 && made.data[1]->tail.as.Cons->head == 2.0);
  CHECK(forms_forest_grad(memory, &forest, &by_forest, &error) == FORMS_OK);
  CHECK(by_forest.name == 1 && by_forest.scales.data[1] == 48.0);
  CHECK(by_forest.tree.as.Branch->left.as.Leaf.value == 16.0F);
}

static void refused(forms_Cons_or_none numbers, const char *message) {
  double value = 0.0;
  forms_Cons_or_none gradient;
  CHECK(forms_chain_grad(memory, &numbers, &value, &gradient, &error) == FORMS_INVALID);
  CHECK(strcmp(error.message, message) == 0);
}

static void bad(void) {
  forms_Branch self = {leaf(1.0F), leaf(1.0F), 1};
  forms_Branch_or_Leaf tree = branch(&self);
  forms_Cons first = {1.0, {7, {NULL}}};
  forms_Cons_or_none numbers = chain(&first), gradient;
  double value = 0.0;
  refused(numbers, "Cons has a tag that is none of the members");
  first.tail.tag = forms_Cons_or_none_is_Cons;
  refused(numbers, "Cons is NULL");
  first.tail.as.Cons = &first;
  refused(numbers, "Cons contains itself");
  numbers.as.Cons = NULL;
  refused(numbers, "numbers.as.Cons is NULL");
  numbers.tag = -1;
  refused(numbers, "numbers.tag is none of the members");
  self.left = self.right = tree;
  CHECK(forms_product(NULL, &tree, 1.0, &value, &error) == FORMS_INVALID);
  CHECK(strcmp(error.message, "Branch contains itself") == 0);
  CHECK(forms_chain_grad(NULL, &numbers, &value, &gradient, &error) == FORMS_INVALID);
}

static void long_and_deep(void) {
  forms_Cons *cells = calloc(LENGTH, sizeof *cells);
  forms_Branch *nodes = calloc(LENGTH, sizeof *nodes);
  forms_Cons_or_none numbers = chain(cells), gradient;
  forms_Branch_or_Leaf tree = branch(nodes), by_tree;
  double value = 0.0, by_scale = 0.0;
  int k = 0;
  CHECK(cells != NULL && nodes != NULL);
  for (k = 0; k < LENGTH; ++k) {
    cells[k].head = 1.0;
    cells[k].tail = chain(k + 1 < LENGTH ? &cells[k + 1] : NULL);
    nodes[k].left = leaf(1.0F);
    nodes[k].right = k + 1 < LENGTH ? branch(&nodes[k + 1]) : leaf(1.0F);
    nodes[k].weight = 1;
  }
  CHECK(forms_chain_grad(memory, &numbers, &value, &gradient, &error) == FORMS_OK);
  CHECK(value == LENGTH);
  CHECK(forms_product_grad(memory, &tree, 1.0, &value, &by_tree, &by_scale, &error) ==
        FORMS_OK);
  CHECK(value == 1.0 && by_scale == LENGTH + 1);
  free(cells);
  free(nodes);
}

// With hooks that refuse at every point once, and workspaces of every size.

typedef struct counter {
  long left;
  long held;
} counter;

static void *take(void *user, size_t bytes) {
  counter *const own = user;
  if (own->left-- <= 0) {
    return NULL;
  }
  ++own->held;
  return malloc(bytes);
}

static void give(void *user, void *block, size_t bytes) {
  (void)bytes;
  --((counter *)user)->held;
  free(block);
}

static int32_t both(forms_memory *own) {
  forms_Branch inner = {leaf(3.0F), leaf(2.0F), 2}, outer = {branch(&inner), leaf(2.0F), 5};
  forms_Branch_or_Leaf tree = branch(&outer), gradient;
  double value = 0.0, by_scale = 0.0;
  const int32_t status =
      forms_product_grad(own, &tree, 1.0, &value, &gradient, &by_scale, &error);
  CHECK(status != FORMS_OK || gradient.as.Branch->right.as.Leaf.value == 60.0F);
  return status;
}

static void little_memory(void) {
  static char workspace[1 << 15];
  forms_memory *own = NULL;
  counter count = {0, 0};
  forms_hooks hooks = {take, give, NULL, NULL, 0};
  int32_t status = FORMS_NO_MEMORY;
  size_t size = 0;
  long most = 0;
  hooks.user = &count;
  for (most = 1; status != FORMS_OK; ++most) {
    CHECK(most < 1000);
    count.left = most;
    CHECK(forms_memory_open(FORMS_INTERFACE, &hooks, &own) == FORMS_OK);
    status = both(own);
    CHECK(status == FORMS_OK || status == FORMS_NO_MEMORY);
    forms_memory_close(own);
    CHECK(count.held == 0);
  }
  for (size = 0, status = FORMS_NO_ROOM; size <= sizeof workspace; size += 128) {
    if (forms_memory_in(FORMS_INTERFACE, workspace, size, &own) == FORMS_OK) {
      status = both(own);
      CHECK(status == FORMS_OK || status == FORMS_NO_ROOM);
    }
  }
  CHECK(status == FORMS_OK);
}

int main(void) {
  CHECK(forms_memory_open(FORMS_INTERFACE, NULL, &memory) == FORMS_OK);
  chains();
  trees();
  lists();
  bad();
  long_and_deep();
  little_memory();
  forms_memory_close(memory);
  return 0;
}
