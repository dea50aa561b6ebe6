// Compiles if the header needs nothing before it.

#include "chad_rt.h"

int32_t chad_test_header(const chad_context_t *context);

int32_t chad_test_header(const chad_context_t *const context) { return context->site; }
