// Calls of one library from several threads at the same time, with errors in between.

#include <pthread.h>

#include "check.h"
#include "forms.h"

enum { THREADS = 4, CALLS = 200, SIZE = 50 };

static void *work(void *argument) {
  const double start = *(const double *)argument;
  double x[SIZE], gradient[SIZE], first = 0.0, value = 0.0;
  forms_memory *memory = NULL;
  forms_error error;
  for (int i = 0; i < SIZE; ++i) {
    x[i] = start + i;
  }
  CHECK(forms_memory_open(FORMS_INTERFACE, NULL, &memory) == FORMS_OK);
  CHECK(forms_energy(NULL, x, SIZE, 2.0, &first, gradient, &error) == FORMS_OK);
  for (int call = 0; call < CALLS; ++call) {
    CHECK(forms_energy(call % 2 ? memory : NULL, x, SIZE, 2.0, &value, gradient,
                       &error) == FORMS_OK);
    CHECK(value == first);
    CHECK(forms_pick(memory, x, SIZE, SIZE, &value, &error) == FORMS_PROGRAM);
    CHECK(forms_power(memory, 1.0, 1000, &value, &error) == FORMS_OK && value == 1.0);
  }
  forms_memory_close(memory);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  double starts[THREADS];
  for (int k = 0; k < THREADS; ++k) {
    starts[k] = k;
    CHECK(pthread_create(&threads[k], NULL, work, &starts[k]) == 0);
  }
  for (int k = 0; k < THREADS; ++k) {
    CHECK(pthread_join(threads[k], NULL) == 0);
  }
  return 0;
}
