// SPDX-License-Identifier: BSD-3-Clause
// All-reduce by recursive doubling and, with a radix k > 2, by recursive multiplying. In a step a
// rank exchanges all data with k-1 others at once, whose numbers differ from its own in one digit
// to base k, and all of them fold the k vectors in the order of ranks; the ranks of the next digit
// are k times as far apart. Each digit takes whole bits of the number, and the last digit takes the
// bits that are left. If the number of ranks is no power of two, the first ranks begin and end in
// pairs, and one of each pair is idle in between.
//   Steps    log_k p, of k-1 messages each; two more when p is no power of two
//   Bytes    a rank sends n(k-1) log_k p
//   Wins     small messages, and medium ones between two ranks; k > 2 with many ranks, where the
//            latency of a message is several times the processor time that it takes
//   Needs    messages, scratch of n(k-1) bytes; k is at most 8, and beyond 2 KiB at most 4
// Source: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
// MPICH", IJHPCA 2005; Ruefenacht, Bull, Booth, "Generalisation of recursive doubling for
// AllReduce", Parallel Computing 2017.
#include "algorithms/message_fold.h"

namespace sumac::allreduce {
namespace {

constexpr std::size_t kSmall = 2048;
constexpr int kMostRadix = kMaxSources, kMostOfLarge = 4;

// These ranks exchange in a step.
class Digit {
 public:
  Digit(const Doubling& shape, int distance, int radix, std::size_t bytes)
      : shape_(shape), distance_(distance) {
    const int most = bytes > kSmall ? kMostOfLarge : kMostRadix;
    const int wanted = std::min({radix, most, shape.ranks() / distance});
    while (ranks_ * 2 <= wanted) ranks_ *= 2;
  }
  int ranks() const { return ranks_; }
  int own() const { return shape_.number() / distance_ % ranks_; }
  int rank(int place) const {
    return shape_.rank_of(shape_.number() + (place - own()) * distance_);
  }

 private:
  const Doubling& shape_;
  int distance_, ranks_ = 2;
};

}  // namespace

Task recursive_doubling(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  const Doubling shape(group.size, group.rank);
  const std::size_t bytes = args.bytes();
  co_await fold_extras(strand, group, args);
  const std::byte* own = shape.has_extra() ? args.output : args.input;
  for (int distance = 1; distance < shape.ranks();) {
    const Digit digit(shape, distance, args.radix, bytes);
    const std::byte* sources[kMostRadix];
    std::byte* room = group.scratch;
    // Each rank begins with the one behind it, so that no rank gets all messages at once.
    for (int i = 1; i < digit.ranks(); ++i) {
      group.send(digit.rank((digit.own() + i) % digit.ranks()), own, bytes);
    }
    for (int place = 0; place < digit.ranks(); ++place) {
      sources[place] = own;
      if (place == digit.own()) continue;
      group.receive(digit.rank(place), room, bytes);
      sources[place] = room;
      room += bytes;
    }
    co_await strand.until(group.stream->all_received());
    co_await strand.until(group.stream->all_sent());
    fold_all(args, sources, digit.ranks(), args.output, args.count);
    own = args.output;
    distance *= digit.ranks();
  }
  co_await serve_extras(strand, group, args);
}

Traffic recursive_doubling_cost(const GroupCall& call) {
  int steps = 0;
  const Doubling any(call.ranks, 0);
  for (int d = 1; d < any.ranks(); ++steps) d *= Digit(any, d, call.radix, call.bytes).ranks();
  return traffic_of(call, steps + any.extra_steps(), [&](int rank, auto send) {
    const Doubling shape(call.ranks, rank);
    if (shape.is_paired()) send(rank, shape.pair(), call.bytes);
    for (int d = 1; d < shape.ranks();) {
      const Digit digit(shape, d, call.radix, call.bytes);
      for (int place = 0; place < digit.ranks(); ++place) {
        if (place != digit.own()) send(rank, digit.rank(place), call.bytes);
      }
      d *= digit.ranks();
    }
  });
}

}  // namespace sumac::allreduce
