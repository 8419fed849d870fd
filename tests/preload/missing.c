// SPDX-License-Identifier: BSD-3-Clause
// Calls functions that fake_mpi.c lacks: one that has no substitute, and a large-count form.
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>

#include "fake_mpi.h"

typedef int (*cancel_fn)(word);
typedef int (*pack_fn)(word, int64_t, word, word, int64_t, int64_t*, word);
typedef int (*barrier_init_fn)(word, word, word);

static void* symbol(const char* name) { return dlsym(RTLD_DEFAULT, name); }

static int check_pack(pack_fn pack) {
  int64_t position = 40;
  int wrong = pack(1, 2, 3, 4, INT64_C(1) << 40, &position, 5) != FAKE_RESULT;
  wrong += position != 42 || fake_arguments[4] != INT_MAX || fake_arguments[6] != 5;
  wrong += pack(1, INT64_C(1) << 32, 3, 4, 99, &position, 5) == FAKE_RESULT;
  wrong += position != 42;
  return wrong;
}

int main(void) {
  cancel_fn cancel;
  barrier_init_fn barrier_init;
  pack_fn pack;
  *(void**)&cancel = symbol("MPI_Cancel");
  *(void**)&barrier_init = symbol("MPI_Barrier_init");
  *(void**)&pack = symbol("MPI_Pack_c");
  const int first = cancel(1), second = cancel(2);
  const int wrong = (first == 0) + (second == 0) + (barrier_init(1, 2, 3) != FAKE_RESULT) +
                    check_pack(pack) + (MPI_Barrier(1) != FAKE_RESULT);
  printf("cancel %d, %d wrong\n", first, wrong);
  return wrong;
}
