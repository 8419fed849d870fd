// SPDX-License-Identifier: BSD-3-Clause
#include "planner/cost.h"

#include <algorithm>
#include <bit>

#include "transport/shm/layout.h"

namespace sumac {
namespace {

using Messages = std::vector<Message>;

std::uint64_t pieces(std::uint64_t bytes, std::uint64_t chunk) {
  return bytes == 0 ? 1 : (bytes + chunk - 1) / chunk;
}

// All but one of p parts.
std::uint64_t others_parts(std::uint64_t bytes, int ranks) {
  return bytes - bytes / static_cast<std::uint64_t>(ranks);
}

// ---- Exchanges between partners. What is beyond a power of two gives all it has to a neighbour,
// and gets the result from it: of the first 2 * (p - q) ranks the even ones.

struct Partners {
  explicit Partners(int all)
      : ranks(all), power(static_cast<int>(std::bit_floor(static_cast<unsigned>(all)))) {}
  int ranks, power;
  int extra() const { return ranks - power; }
  int rank(int number) const { return number < extra() ? 2 * number + 1 : number + extra(); }
  std::uint64_t rounds() const {
    return static_cast<std::uint64_t>(std::countr_zero(static_cast<unsigned>(power)));
  }
  std::uint64_t folding_steps() const { return extra() > 0 ? 2 : 0; }
};

// part_of(distance) is what is sent to the partner at that distance.
template <class PartOf>
Messages exchanges(int ranks, std::uint64_t bytes, PartOf part_of) {
  const Partners partners(ranks);
  Messages all;
  for (int i = 0; i < partners.extra(); ++i) {
    all.push_back({2 * i, 2 * i + 1, bytes});
    all.push_back({2 * i + 1, 2 * i, bytes});
  }
  for (int distance = 1; distance < partners.power; distance *= 2) {
    for (int i = 0; i < partners.power; ++i) {
      all.push_back({partners.rank(i), partners.rank(i ^ distance), part_of(distance)});
    }
  }
  return all;
}

Messages ring(int ranks, std::uint64_t bytes) {
  Messages all;
  for (int r = 0; r < ranks; ++r)
    all.push_back({r, (r + 1) % ranks, 2 * others_parts(bytes, ranks)});
  return all;
}

// ---- Trees and chains, by number relative to the root; up is towards it.

int tree_parent(int number, int radix) {
  int distance = 1;
  while (number / distance % radix == 0) distance *= radix;
  return number - number / distance % radix * distance;
}

std::uint64_t tree_depth(int ranks, int radix) {
  std::uint64_t depth = 0;
  for (std::int64_t reached = 1; reached < ranks; reached *= radix) ++depth;
  return depth;
}

template <class Parent>
void add_edges(Messages& all, int ranks, int root, std::uint64_t bytes, bool up, Parent parent) {
  for (int number = 1; number < ranks; ++number) {
    const int child = (number + root) % ranks, above = (parent(number) + root) % ranks;
    all.push_back(up ? Message{child, above, bytes} : Message{above, child, bytes});
  }
}

std::uint64_t message_steps(const Choice& choice, int ranks, std::uint64_t bytes) {
  const Partners partners(ranks);
  const auto beyond_first = static_cast<std::uint64_t>(ranks - 1);
  switch (choice.algorithm) {
    case Algorithm::allreduce_recursive_doubling:
      return partners.rounds() + partners.folding_steps();
    case Algorithm::allreduce_rabenseifner:
      return 2 * partners.rounds() + partners.folding_steps();
    case Algorithm::allreduce_ring:
      return 2 * beyond_first;
    case Algorithm::allreduce_knomial:
      return 2 * tree_depth(ranks, choice.radix);
    case Algorithm::reduce_chain:
    case Algorithm::bcast_chain:
      return beyond_first + pieces(bytes, choice.chunk) - 1;
    default:  // the trees
      return tree_depth(ranks, choice.radix);
  }
}

Cost cost_of_messages(const Choice& choice, int ranks, std::uint64_t bytes) {
  std::vector<std::uint64_t> sent(static_cast<std::size_t>(ranks));
  for (const Message& message : messages_of(choice, ranks, 0, bytes)) {
    sent[static_cast<std::size_t>(message.from)] += message.bytes;
  }
  return {true, message_steps(choice, ranks, bytes), *std::max_element(sent.begin(), sent.end())};
}

Cost cost_in_shared_memory(Algorithm algorithm, int ranks, std::uint64_t bytes) {
  const std::uint64_t chunks = pieces(bytes, Layout{}.slot_bytes);
  const std::uint64_t others = others_parts(bytes, ranks);
  const std::uint64_t all_others = bytes * static_cast<std::uint64_t>(ranks - 1);
  switch (algorithm) {
    case Algorithm::allreduce_flat_lines:
      return {true, 1, bytes + all_others};
    case Algorithm::allreduce_flat_slots:
      return {true, chunks, bytes + all_others};
    case Algorithm::allreduce_split_slots:
    case Algorithm::reduce_split_slots:  // the root
      return {true, chunks + 1, bytes + 2 * others};
    case Algorithm::allreduce_single_copy:
      return {true, 2, 2 * others};
    case Algorithm::reduce_flat_lines:  // the root, as in the next
      return {true, 1, all_others};
    case Algorithm::reduce_flat_slots:
      return {true, chunks, all_others};
    case Algorithm::reduce_single_copy:
      return {true, 2, bytes};
    case Algorithm::bcast_slots:
      return {true, chunks, bytes};
    case Algorithm::bcast_single_copy:
      return {true, 2, others};
    default:  // the lines of a broadcast, and the barrier
      return {true, 1, bytes};
  }
}

}  // namespace

std::vector<Message> messages_of(const Choice& choice, int ranks, int root, std::uint64_t bytes) {
  Messages all;
  const auto in_tree = [&](int number) { return tree_parent(number, choice.radix); };
  const auto in_chain = [](int number) { return number - 1; };
  switch (choice.algorithm) {
    case Algorithm::allreduce_recursive_doubling:
      return exchanges(ranks, bytes, [&](int) { return bytes; });
    case Algorithm::allreduce_rabenseifner:  // the halves, and the same when they are gathered
      return exchanges(ranks, bytes,
                       [&](int distance) { return bytes / static_cast<std::uint64_t>(distance); });
    case Algorithm::allreduce_ring:
      return ring(ranks, bytes);
    case Algorithm::allreduce_knomial:
      add_edges(all, ranks, root, bytes, true, in_tree);
      add_edges(all, ranks, root, bytes, false, in_tree);
      return all;
    case Algorithm::reduce_knomial:
    case Algorithm::bcast_knomial:
      add_edges(all, ranks, root, bytes, choice.algorithm == Algorithm::reduce_knomial, in_tree);
      return all;
    case Algorithm::reduce_chain:
    case Algorithm::bcast_chain:
      add_edges(all, ranks, root, bytes, choice.algorithm == Algorithm::reduce_chain, in_chain);
      return all;
    default:
      return all;
  }
}

Cost cost_of(const Choice& choice, int ranks, std::uint64_t bytes) {
  if (choice.algorithm == Algorithm::native || choice.algorithm == Algorithm::allreduce_native) {
    return {};
  }
  if (ranks < 2) return {true, 0, 0};
  const Needs needs = info_of(choice.algorithm).needs;
  if (needs == Needs::levels) return {};
  return needs == Needs::messages ? cost_of_messages(choice, ranks, bytes)
                                  : cost_in_shared_memory(choice.algorithm, ranks, bytes);
}

}  // namespace sumac
