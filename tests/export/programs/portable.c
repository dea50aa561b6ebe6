// Prints what functions of every kind give, for it to be the same on other systems.

#include <stdio.h>

#include "check.h"
#include "forms.h"

enum { SIZE = 50, LENGTH = 1000 };

static forms_error error;
static forms_memory *memory;

static void arrays(void) {
  double x[SIZE], gradient[SIZE], value = 0.0;
  float narrow[] = {0.5F, 0.25F, 3.0F}, by_narrow = 0.0F, by_v[3], small = 0.0F;
  for (int k = 0; k < SIZE; ++k) {
    x[k] = 0.1 * k * k - 3.0;
  }
  CHECK(forms_energy(memory, x, SIZE, 1.25, &value, gradient, &error) == FORMS_OK);
  printf("%.17g\n", value);
  for (int k = 0; k < SIZE; ++k) {
    printf("%.17g\n", gradient[k]);
  }
  CHECK(forms_narrow_grad(memory, 2.0F, narrow, 3, &small, &by_narrow, by_v, &error) ==
        FORMS_OK);
  printf("%.9g %.9g %.9g\n", (double)small, (double)by_narrow, (double)by_v[1]);
  CHECK(forms_pick(memory, x, SIZE, SIZE, &value, &error) == FORMS_PROGRAM);
  CHECK(error.line > 0 && error.message[0] != '\0');
}

static void recursion(void) {
  static forms_Cons cells[LENGTH];
  forms_Cons_or_none chain, gradient;
  double value = 0.0;
  for (int k = 0; k < LENGTH; ++k) {
    const int is_last = k + 1 == LENGTH;
    cells[k].head = 0.5 * k;
    cells[k].tail.tag = is_last ? forms_Cons_or_none_is_none : forms_Cons_or_none_is_Cons;
    cells[k].tail.as.Cons = is_last ? NULL : &cells[k + 1];
  }
  chain.tag = forms_Cons_or_none_is_Cons;
  chain.as.Cons = &cells[0];
  CHECK(forms_power_grad(memory, 1.5, 20, &value, &error) == FORMS_OK);
  printf("%.17g\n", value);
  CHECK(forms_power(memory, 1.0, 100000000, &value, &error) == FORMS_TOO_DEEP);
  CHECK(forms_chain_grad(memory, &chain, &value, &gradient, &error) == FORMS_OK);
  printf("%.17g %.17g\n", value, gradient.as.Cons->tail.as.Cons->head);
}

int main(void) {
  CHECK(forms_memory_open(FORMS_INTERFACE, NULL, &memory) == FORMS_OK);
  arrays();
  recursion();
  forms_memory_close(memory);
  return 0;
}
