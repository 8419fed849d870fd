// SPDX-License-Identifier: BSD-3-Clause
// two_mpis PLUGIN PLUGIN: two plug-ins in one process, each a job of one rank of its own MPI. With
// ONE_BY_ONE the second is opened only after the first has initialised its MPI.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

struct plugin {
  int (*begin)(void), (*sum)(void), (*end)(void);
};

static struct plugin open_plugin(const char* path) {
  struct plugin opened;
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    puts(dlerror());
    exit(1);
  }
  *(void**)&opened.begin = dlsym(handle, "plugin_begin");
  *(void**)&opened.sum = dlsym(handle, "plugin_sum");
  *(void**)&opened.end = dlsym(handle, "plugin_end");
  return opened;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  struct plugin first = open_plugin(argv[1]), second = {NULL, NULL, NULL};
  int wrong = 0;
  if (getenv("ONE_BY_ONE") == NULL) second = open_plugin(argv[2]);
  wrong += first.begin() + first.sum();
  if (second.begin == NULL) second = open_plugin(argv[2]);
  wrong += second.begin() + second.sum() + first.sum() + second.sum();
  wrong += second.end() + first.end();
  printf("%s\n", wrong ? "wrong" : "right");
  return wrong != 0;
}
