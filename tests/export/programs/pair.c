// Two exported libraries in one program: neither has a name that the other one has.

#include "check.h"
#include "forms.h"
#include "mixture.h"

int main(void) {
  double value = 0.0;
  const double alpha[] = {0.0}, x[] = {1.0};
  CHECK(forms_line(NULL, 3.0, 1.0, &value, NULL) == FORMS_OK && value == 10.0);
  CHECK(mixture_log_posterior(NULL, alpha, 1, alpha, 1, 1, alpha, 1, 1, NULL, 1, 0, x, 1,
                              1, 0.3, 2, &value, NULL) == MIXTURE_OK);
  CHECK(forms_check(MIXTURE_INTERFACE) == FORMS_MISMATCH);
  return 0;
}
