// SPDX-License-Identifier: BSD-3-Clause
#include "machine/share.h"

namespace sumac {
namespace {

bool meet(const CpuMask& a, const CpuMask& b) {
  for (int w = 0; w < kMaskWords; ++w) {
    if (a.words[w] & b.words[w]) return true;
  }
  return false;
}

}  // namespace

double share_of_processors(const CpuMask& own, const std::vector<CpuMask>& others, int unknown) {
  std::vector<const CpuMask*> sharers;
  for (const CpuMask& other : others) {
    if (meet(own, other)) sharers.push_back(&other);
  }
  if (!others.empty() && sharers.empty()) unknown = 0;
  double processors = 0;
  for (int w = 0; w < kMaskWords; ++w) {
    for (std::uint64_t left = own.words[w]; left != 0; left &= left - 1) {
      const std::uint64_t processor = left & -left;
      int ranks = 1 + unknown;
      for (const CpuMask* other : sharers) ranks += (other->words[w] & processor) != 0;
      processors += 1.0 / ranks;
    }
  }
  const int all = own.count();
  return all > 0 ? processors / all : 1;
}

}  // namespace sumac
