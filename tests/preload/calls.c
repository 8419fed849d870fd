// SPDX-License-Identifier: BSD-3-Clause
// Calls functions of fake_mpi.c.
//   arguments FIRST  functions of 5 to 9 arguments, starting with this one, must get all bits of
//                    each argument. The first call goes through the lazy entry, the others through
//                    a filled slot.
//   missing          functions that fake_mpi.c lacks: one that has no substitute, and a large-count
//                    form
//   api              prints what the functions of sumac.h return before and after the first call
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_mpi.h"

static void* symbol(const char* name) { return dlsym(RTLD_DEFAULT, name); }

static word sent[9];

// New values: all differ, and so do all bytes of a value.
static void renew(void) {
  static uint64_t seed = 0x0123456789abcdefu;
  for (int i = 0; i < 9; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    sent[i] = (word)(seed ^ (seed >> 29));
  }
}

static int call(int number) {
  const word* s = sent;
  switch (number) {
    case 0:
      return MPI_Reduce_init(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8]);
    case 1:
      return PMPI_Reduce_init(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8]);
    case 2:
      return MPI_Ireduce(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]);
    case 3:
      return PMPI_Ireduce(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]);
    case 4:
      return MPI_Reduce(s[0], s[1], s[2], s[3], s[4], s[5], s[6]);
    case 5:
      return PMPI_Allreduce(s[0], s[1], s[2], s[3], s[4], s[5]);
    default:
      return MPI_Bcast(s[0], s[1], s[2], s[3], s[4]);
  }
}

static int arguments(int first) {
  static const int counts[] = {9, 9, 8, 8, 7, 6, 5};
  enum { kCases = sizeof counts / sizeof counts[0] };
  for (int i = 0; i < 2 * kCases; ++i) {
    const int number = (first + i) % kCases;
    renew();
    const int result = call(number);
    if (result != FAKE_RESULT) {
      fprintf(stderr, "case %d returned %d\n", number, result);
      return 1;
    }
    for (int a = 0; a < counts[number]; ++a) {
      if (fake_arguments[a] == sent[a]) continue;
      fprintf(stderr, "case %d: argument %d became %lx, not %lx\n", number, a,
              (unsigned long)fake_arguments[a], (unsigned long)sent[a]);
      return 1;
    }
  }
  if (fake_calls != 2 * kCases) return 2;
  puts("arguments ok");
  return 0;
}

typedef int (*cancel_fn)(word);
typedef int (*pack_fn)(word, int64_t, word, word, int64_t, int64_t*, word);
typedef int (*barrier_init_fn)(word, word, word);

static int check_pack(pack_fn pack) {
  int64_t position = 40;
  int wrong = pack(1, 2, 3, 4, INT64_C(1) << 40, &position, 5) != FAKE_RESULT;
  wrong += position != 42 || fake_arguments[4] != INT_MAX || fake_arguments[6] != 5;
  wrong += pack(1, INT64_C(1) << 32, 3, 4, 99, &position, 5) == FAKE_RESULT;
  wrong += position != 42;
  return wrong;
}

static int missing(void) {
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

static int api(void) {
  if (symbol("sumac_version") == NULL) {
    puts("not loaded");
    return 1;
  }
  print("before");
  const int result = MPI_Barrier(1);
  print("after");
  return result == FAKE_RESULT ? 0 : 1;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (strcmp(argv[1], "arguments") == 0) return arguments(argc > 2 ? atoi(argv[2]) : 0);
  return strcmp(argv[1], "missing") == 0 ? missing() : api();
}
