// SPDX-License-Identifier: BSD-3-Clause
#include "setting.h"

#include <cstring>

namespace sumac::bench {
namespace {

constexpr std::size_t kCacheLine = 64;

// Restores the data of an in-place call, so that repeated sums do not grow to infinity.
void refresh(const Case& test, const Buffers& buffers, int rank) {
  if (test.collective == Collective::barrier) return;
  if (test.in_place) {
    std::memcpy(buffers.recv(), buffers.send(), test.bytes());
    return;
  }
  const bool bcast = test.collective == Collective::bcast;
  if (bcast && rank != test.root) return;
  std::byte* const data = bcast ? buffers.recv() : buffers.send();
  for (std::size_t i = 0; i < test.bytes(); i += kCacheLine) data[i] ^= std::byte{1};
}

}  // namespace

void Setting::prepare() const {
  refresh(test, buffers, world.rank);
  world.called.barrier(world.comm);
}

}  // namespace sumac::bench
