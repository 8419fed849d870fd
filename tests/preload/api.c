// SPDX-License-Identifier: BSD-3-Clause
// Prints what the functions of sumac.h return before and after the first MPI call.
#include <dlfcn.h>
#include <stdio.h>

#include "fake_mpi.h"

static void* symbol(const char* name) { return dlsym(RTLD_DEFAULT, name); }

static void print(const char* when) {
  const char* (*version)(void), *(*last_path)(void), *(*description)(void);
  void* (*native)(const char*);
  int (*active)(void);
  *(void**)&version = symbol("sumac_version");
  *(void**)&last_path = symbol("sumac_last_path");
  *(void**)&description = symbol("sumac_description");
  *(void**)&native = symbol("sumac_native");
  *(void**)&active = symbol("sumac_active");
  Dl_info info;
  void* barrier = native("MPI_Barrier");
  const int found = barrier != NULL && dladdr(barrier, &info) != 0;
  printf("%s: version %s, active %d, native %s, no cancel %d, no such %d, path '%s', '%s'\n", when,
         version(), active(), found ? info.dli_sname + (info.dli_sname[0] == 'P') : "none",
         native("MPI_Cancel") == NULL, native("MPI_Send") == NULL, last_path(), description());
}

int main(void) {
  if (symbol("sumac_version") == NULL) {
    puts("not loaded");
    return 1;
  }
  print("before");
  const int result = MPI_Barrier(1);
  print("after");
  return result == FAKE_RESULT ? 0 : 1;
}
