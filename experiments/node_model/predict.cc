// SPDX-License-Identifier: BSD-3-Clause
// Prints what the library counts for calls in shared memory. Each line of standard input is a
// collective, an algorithm, ranks and bytes; the answer has a line for each: the counts, in the
// order of the table, and the predicted time in nanoseconds. The first lines have the names of the
// counts, their units, and the table's time for a unit of each.
#include <cstdio>
#include <cstring>

#include "algorithms/table.h"
#include "levels/price.h"

namespace sumac {
namespace {

Algorithm find(const char* collective, const char* name) {
  for (const Algorithm algorithm : kAllAlgorithms) {
    const AlgorithmInfo& info = info_of(algorithm);
    const bool in_memory = over_of(info.needs) == Over::shm;
    if (in_memory && std::strcmp(name_of(info.collective), collective) == 0 &&
        std::strcmp(info.name, name) == 0) {
      return algorithm;
    }
  }
  return Algorithm::native;
}

void print(const SharedWork& work) {
#define SUMAC_SHARED_WORK(name, nanoseconds, unit, what) \
  std::printf("%llu ", static_cast<unsigned long long>(work.name));
#include "algorithms/shared_work.def"
#undef SUMAC_SHARED_WORK
  std::printf("%.1f\n", predicted_time(work));
}

void print_table() {
#define SUMAC_SHARED_WORK(name, nanoseconds, unit, what) std::printf(#name " ");
#include "algorithms/shared_work.def"
#undef SUMAC_SHARED_WORK
  std::printf("\n");
#define SUMAC_SHARED_WORK(name, nanoseconds, unit, what) std::printf(unit " ");
#include "algorithms/shared_work.def"
#undef SUMAC_SHARED_WORK
  std::printf("\n");
#define SUMAC_SHARED_WORK(name, nanoseconds, unit, what) std::printf("%g ", nanoseconds);
#include "algorithms/shared_work.def"
#undef SUMAC_SHARED_WORK
  std::printf("\n");
}

int run() {
  print_table();
  char collective[32], name[32];
  unsigned long long bytes = 0;
  for (GroupCall call;
       std::scanf("%31s %31s %d %llu", collective, name, &call.ranks, &bytes) == 4;) {
    const Algorithm algorithm = find(collective, name);
    if (algorithm == Algorithm::native || call.ranks < 2) {
      std::fprintf(stderr, "%s:%s among %d ranks: not in shared memory\n", collective, name,
                   call.ranks);
      return 1;
    }
    call.bytes = bytes;
    call.element = 4;
    print(entry_of(algorithm).cost(call).cost.work);
  }
  return 0;
}

}  // namespace
}  // namespace sumac

int main() { return sumac::run(); }
