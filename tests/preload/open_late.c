// SPDX-License-Identifier: BSD-3-Clause
// Opens libraries with RTLD_LOCAL and calls MPI. Arguments, in order:
//   call      calls MPI_Barrier by its global name (Sumac's, in a program without an MPI)
//   FILE      opens the library
//   cd        changes to the root directory
//   plugin    calls plugin_calls() of the last opened library
//   sums      calls sums_main() of the last opened library
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  void* opened = NULL;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "call") == 0) {
      int (*barrier)(long);
      *(void**)&barrier = dlsym(RTLD_DEFAULT, "MPI_Barrier");
      printf("call %d\n", barrier(1));
    } else if (strcmp(argv[i], "cd") == 0) {
      if (chdir("/") != 0) return 1;
    } else if (strcmp(argv[i], "plugin") == 0) {
      int (*calls)(void);
      *(void**)&calls = dlsym(opened, "plugin_calls");
      printf("plugin %d\n", calls());
    } else if (strcmp(argv[i], "sums") == 0) {
      int (*sums)(int, char**);
      *(void**)&sums = dlsym(opened, "sums_main");
      if (sums(1, argv) != 0) return 1;
    } else {
      opened = dlopen(argv[i], RTLD_LAZY | RTLD_LOCAL);
      if (opened == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
      }
    }
  }
  return 0;
}
