// SPDX-License-Identifier: BSD-3-Clause
// Calls functions of 5 to 9 arguments, starting with case number argv[1], and checks that the MPI
// got all bits of each argument. The first call goes through the lazy entry, the others through a
// filled slot.
#include <stdio.h>
#include <stdlib.h>

#include "fake_mpi.h"

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

int main(int argc, char** argv) {
  static const int counts[] = {9, 9, 8, 8, 7, 6, 5};
  enum { kCases = sizeof counts / sizeof counts[0] };
  const int first = argc > 1 ? atoi(argv[1]) : 0;
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
