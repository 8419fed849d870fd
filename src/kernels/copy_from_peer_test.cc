// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/copy_from_peer.h"

#include <gtest/gtest.h>

#include <vector>

namespace sumac {
namespace {

// Every byte comes from its place, and none beside them is touched.
TEST(CopyFromPeer, IsAMemcpy) {
  std::vector<std::size_t> sizes;
  for (const std::size_t edge :
       {0, 1 << 10, 4 << 10, 16 << 10, 17 << 10, 20 << 10, 32 << 10, 128 << 10}) {
    for (const std::size_t bytes : {edge - 1, edge, edge + 1}) {
      if (bytes < SIZE_MAX / 2) sizes.push_back(bytes);
    }
  }
  constexpr std::size_t kAround = 64;
  constexpr std::byte kUntouched{0xab};
  for (const std::size_t bytes : sizes) {
    for (const std::size_t shift : {0, 1, 8, 33}) {
      std::vector<std::byte> from(bytes + kAround), to(bytes + 2 * kAround, kUntouched);
      for (std::size_t i = 0; i < from.size(); ++i) {
        from[i] = static_cast<std::byte>(i * 2654435761u >> 13);
      }
      copy_from_peer(to.data() + kAround - shift, from.data() + shift, bytes);
      for (std::size_t i = 0; i < to.size(); ++i) {
        const std::size_t at = i - (kAround - shift);
        const bool inside = i >= kAround - shift && at < bytes;
        ASSERT_EQ(to[i], inside ? from[at + shift] : kUntouched) << bytes << " " << i;
      }
    }
  }
}

TEST(CopyFromPeer, OfNothingTakesNoAddress) { copy_from_peer(nullptr, nullptr, 0); }

}  // namespace
}  // namespace sumac
