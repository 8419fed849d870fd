// SPDX-License-Identifier: BSD-3-Clause
// A tool as users have them: it counts calls and passes each on: by its PMPI_ name, or with
// COUNTER_NEXT by the next definition of its own name. At the end it writes the counts into a file
// in the folder $COUNTER_FOLDER.
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// As many arguments as any of the functions has. One with fewer leaves the last ones unread.
typedef intptr_t word;
#define ARGUMENTS \
  word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k, word l
typedef int (*function)(ARGUMENTS);

enum {
#define SUMAC_CALL(name) kMPI_##name,
#define SUMAC_OTHER_NAME(other, name) k##other,
#include "counted_calls.def"
  kNames
};

static const char* const names[kNames] = {
#define SUMAC_CALL(name) "MPI_" #name,
#define SUMAC_OTHER_NAME(other, name) #other,
#include "counted_calls.def"
};

static atomic_long counts[kNames];

#ifdef COUNTER_NEXT
#define NEXT(name)      \
  static function next; \
  if (next == NULL) next = (function)dlsym(RTLD_NEXT, #name);
#else
#define NEXT(name)                                     \
  extern int P##name(ARGUMENTS) __attribute__((weak)); \
  const function next = P##name;
#endif

#define WRAPPER(name)                                                    \
  __attribute__((visibility("default"))) int name(ARGUMENTS);            \
  int name(ARGUMENTS) {                                                  \
    NEXT(name)                                                           \
    atomic_fetch_add(&counts[k##name], 1);                               \
    return next == NULL ? 16 : next(a, b, c, d, e, f, g, h, i, j, k, l); \
  }

#define SUMAC_CALL(name) WRAPPER(MPI_##name)
#define SUMAC_OTHER_NAME(other, name) WRAPPER(other)
#include "counted_calls.def"

__attribute__((destructor)) static void write_counts(void) {
  const char* folder = getenv("COUNTER_FOLDER");
  long calls = 0;
  for (int n = 0; n < kNames; ++n) calls += counts[n];
  if (folder == NULL || calls == 0) return;
  char path[512];
  snprintf(path, sizeof path, "%s/%d", folder, (int)getpid());
  FILE* file = fopen(path, "w");
  if (file == NULL) return;
  for (int n = 0; n < kNames; ++n) {
    if (counts[n] != 0) fprintf(file, "%s %ld\n", names[n], counts[n]);
  }
  fclose(file);
}
