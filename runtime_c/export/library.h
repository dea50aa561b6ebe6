// What each exported library has besides its functions; their declarations follow it in
// the header of the library. `library` becomes the name of the library, `LIBRARY` the
// same in capitals.
//
// Every function returns a status. Arrays are contiguous, the last index running
// fastest, and no argument is written to but those that a declaration says it updates.
// Two threads may call at the same time as long as each has a memory of its own, or none.

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) || !defined(__GNUC__)
#define LIBRARY_API
#else
#define LIBRARY_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
  LIBRARY_OK = 0,         // the results are valid
  LIBRARY_INVALID = 1,    // an argument does not fit the function
  LIBRARY_PROGRAM = 2,    // the program failed, as Python would have raised
  LIBRARY_NO_MEMORY = 3,  // there is no memory, or the limit is reached
  LIBRARY_TOO_DEEP = 4,   // too many nested calls
  LIBRARY_STOPPED = 5,    // the hook `stop` asked for it
  LIBRARY_NO_ROOM = 6,    // the workspace is too small
  LIBRARY_MISMATCH = 7    // the header is not that of the library
};

// What went wrong. Where a status is not LIBRARY_OK all fields are filled in; else the
// error is left as it is. The strings last as long as the library.
typedef struct library_error {
  int32_t status;
  int32_t line;          // in the file of the function's source; 0 if there is none
  const char *file;      // "" if there is none
  const char *function;  // what failed, as it is called in Python
  const char *kind;      // the exception that Python would have raised, or ""
  char message[256];
} library_error;

// The memory of calls. Any function takes NULL for it: then memory comes from malloc, and
// is gone at the end of the call. A memory keeps what a call used for the next one, and
// holds the arrays that a call returns, until the next call with it.
typedef struct library_memory library_memory;

// Where the memory comes from, and whether to go on. NULL stands for malloc and free, and
// for going on. `alloc` may return NULL; `stop` is asked now and then, and any value but
// 0 ends the call.
typedef struct library_hooks {
  void *(*alloc)(void *user, size_t bytes);
  void (*free)(void *user, void *block, size_t bytes);
  int32_t (*stop)(void *user);
  void *user;
  int64_t limit;  // the most bytes that a call may use; 0: most of what there is
} library_hooks;

// A memory that grows as it has to. `interface` is LIBRARY_INTERFACE; `hooks` may be NULL.
LIBRARY_API int32_t library_memory_open(int64_t interface, const library_hooks *hooks,
                                        library_memory **memory);

// A memory in a workspace of the caller's, who gives it back: nothing else is used. How
// large it must be the function `…_workspace` tells, where sizes determine it.
LIBRARY_API int32_t library_memory_in(int64_t interface, void *workspace, size_t bytes,
                                      library_memory **memory);

// The end of a memory and of all arrays in it. NULL is allowed.
LIBRARY_API void library_memory_close(library_memory *memory);

// LIBRARY_OK if `interface`, which is LIBRARY_INTERFACE, is that of this library.
LIBRARY_API int32_t library_check(int64_t interface);

// What is in the library, as JSON.
LIBRARY_API const char *library_manifest(void);
