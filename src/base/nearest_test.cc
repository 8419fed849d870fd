// SPDX-License-Identifier: BSD-3-Clause
#include "base/nearest.h"

#include <gtest/gtest.h>

#include <string>

namespace {

constexpr const char* kLevels[] = {"numa", "l3", "node", "ranks", "package"};

std::string nearest(const std::string& name) {
  const char* found = sumac_nearest(name.c_str(), name.size(), kLevels, std::size(kLevels));
  return found ? found : "";
}

TEST(Nearest, FindsOneEdit) {
  for (const std::string known : kLevels) {
    if (known.size() < 3) continue;
    for (std::size_t i = 0; i < known.size(); ++i) {
      std::string dropped = known, replaced = known, inserted = known, swapped = known;
      dropped.erase(i, 1);
      replaced[i] = '#';
      inserted.insert(i, 1, '#');
      if (i > 0) std::swap(swapped[i - 1], swapped[i]);
      for (const std::string& name : {dropped, replaced, inserted, swapped}) {
        EXPECT_EQ(nearest(name), known) << name;
      }
    }
  }
}

TEST(Nearest, IgnoresCase) { EXPECT_EQ(nearest("PACKGAE"), "package"); }

TEST(Nearest, SuggestsNothingThatIsFar) {
  EXPECT_EQ(nearest(""), "");
  EXPECT_EQ(nearest("xyz"), "");
  EXPECT_EQ(nearest("3"), "");
  EXPECT_EQ(nearest("processor"), "");
  EXPECT_EQ(nearest(std::string(100, 'n')), "");
}

}  // namespace
