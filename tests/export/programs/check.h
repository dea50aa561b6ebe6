// Says which condition does not hold, and ends the program.

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                       \
  do {                                                         \
    if (!(condition)) {                                        \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);   \
      exit(1);                                                 \
    }                                                          \
  } while (0)
