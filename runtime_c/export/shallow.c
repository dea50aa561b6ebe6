// Stands for deep.c in a library without recursion: whoever is asked is asked at once.

#include "internal.h"

int32_t chad_deep_ask(chad_context_t *const context,
                      int32_t (*const callback)(void *user), void *const user) {
  (void)context;
  return callback(user);
}
