// SPDX-License-Identifier: BSD-3-Clause
#include "planner/cost.h"

#include "algorithms/table.h"

namespace sumac {
namespace {

Traffic traffic(const Choice& choice, int ranks, int root, std::uint64_t bytes) {
  if (choice.algorithm == Algorithm::native) return {};
  CostFn* const cost = entry_of(choice.algorithm).cost;
  if (!cost) return {};
  if (ranks < 2) return traffic_in_memory(0, 0);
  GroupCall call;
  call.ranks = ranks;
  call.root = root;
  call.bytes = bytes;
  call.chunk = choice.chunk;
  call.radix = choice.radix;
  return cost(call);
}

}  // namespace

Cost cost_of(const Choice& choice, int ranks, std::uint64_t bytes) {
  return traffic(choice, ranks, 0, bytes).cost;
}

std::vector<Message> messages_of(const Choice& choice, int ranks, int root, std::uint64_t bytes) {
  return traffic(choice, ranks, root, bytes).messages;
}

}  // namespace sumac
