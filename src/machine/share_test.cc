// SPDX-License-Identifier: BSD-3-Clause
#include "machine/share.h"

#include <gtest/gtest.h>

namespace sumac {
namespace {

CpuMask cpus(int first, int count) {
  CpuMask mask;
  for (int cpu = first; cpu < first + count; ++cpu) mask.words[cpu / 64] |= 1ull << cpu % 64;
  return mask;
}

struct Case {
  const char* what;
  CpuMask own;
  std::vector<CpuMask> others;
  int unknown;
  double processors;  // how many of its own ones are left to it
};

TEST(Share, EachProcessorIsDividedEvenly) {
  const Case cases[] = {
      {"alone", cpus(0, 8), {}, 0, 8},
      {"bound ranks", cpus(0, 4), {cpus(4, 4), cpus(8, 4)}, 0, 4},
      {"bound ranks, others of the job not known", cpus(0, 4), {cpus(4, 4)}, 6, 4},
      {"nothing is bound", cpus(0, 8), {cpus(0, 8)}, 0, 4},
      {"nothing is bound, more ranks than processors", cpus(0, 2),
       std::vector<CpuMask>(3, cpus(0, 2)), 0, 0.5},
      {"nothing is bound, others of the job not known", cpus(0, 8), {cpus(0, 8)}, 2, 2},
      {"before anything is known", cpus(0, 8), {}, 3, 2},
      {"a part is shared", cpus(0, 4), {cpus(2, 4)}, 0, 3},
      {"beyond one word", cpus(60, 8), {cpus(64, 8), cpus(64, 2)}, 0, 4 + 2.0 / 3 + 1},
      {"no processor is known", CpuMask(), {cpus(0, 8)}, 0, 0},
  };
  for (const Case& c : cases) {
    const double share = share_of_processors(c.own, c.others, c.unknown);
    if (c.own.count() == 0) {
      EXPECT_EQ(share, 1) << c.what;
    } else {
      EXPECT_NEAR(share * c.own.count(), c.processors, 1e-9) << c.what;
    }
  }
}

}  // namespace
}  // namespace sumac
