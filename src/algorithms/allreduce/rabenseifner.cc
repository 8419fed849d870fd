// SPDX-License-Identifier: BSD-3-Clause
// All-reduce after Rabenseifner: recursive halving, then recursive doubling. In step k a rank and
// the one at distance 2^k each give the other half of what they still hold and fold what they keep,
// the lower one's data first; then the halves are gathered in the opposite order. Elements are
// folded in the same tree as by recursive doubling: same bits.
//   Steps    2 log2 p, two more when p is no power of two
//   Bytes    a rank sends 2n(p-1)/p
//   Wins     large messages
//   Needs    messages, scratch of n bytes
// Source: as recursive_doubling.cc.
#include "algorithms/messages.h"

namespace sumac::allreduce {
namespace {

// Elements this rank still holds, and those it gave away.
struct Range {
  std::size_t first, count;
};
struct Halves {
  Range kept, given;
};

Halves halve(Range range, bool keep_lower) {
  const Range lower{range.first, range.count / 2};
  const Range upper{range.first + lower.count, range.count - lower.count};
  return keep_lower ? Halves{lower, upper} : Halves{upper, lower};
}

// What this rank holds after the halvings with partners at distances 1, 2, ... up to `distance`.
Halves halves_at(const Doubling& shape, std::size_t count, int distance) {
  Halves halves{{0, count}, {0, 0}};
  for (int d = 1; d <= distance; d *= 2) halves = halve(halves.kept, (shape.number() & d) == 0);
  return halves;
}

}  // namespace

Task rabenseifner(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  const Doubling shape(group.size, group.rank);
  const std::size_t element = args.element;
  co_await fold_extras(strand, group, args);
  const std::byte* own = shape.has_extra() ? args.output : args.input;
  for (int d = 1; d < shape.ranks(); d *= 2) {
    const Halves at = halves_at(shape, args.count, d);
    const int partner = shape.partner(d);
    group.send(partner, own + at.given.first * element, at.given.count * element);
    group.receive(partner, group.scratch, at.kept.count * element);
    co_await strand.until(group.stream->all_received());
    co_await strand.until(group.stream->all_sent());
    const std::byte* kept = own + at.kept.first * element;
    const bool first = group.rank < partner;
    fold_two(args, first ? kept : group.scratch, first ? group.scratch : kept,
             args.output + at.kept.first * element, at.kept.count);
    own = args.output;
  }
  for (int d = shape.ranks() / 2; d >= 1; d /= 2) {
    const Halves at = halves_at(shape, args.count, d);
    const int partner = shape.partner(d);
    group.send(partner, args.output + at.kept.first * element, at.kept.count * element);
    group.receive(partner, args.output + at.given.first * element, at.given.count * element);
    co_await strand.until(group.stream->all_received());
    co_await strand.until(group.stream->all_sent());
  }
  co_await serve_extras(strand, group, args);
}

Traffic rabenseifner_cost(const GroupCall& call) {
  const Doubling any(call.ranks, 0);
  return traffic_of(call, 2 * any.rounds() + any.extra_steps(), [&](int rank, auto send) {
    const Doubling shape(call.ranks, rank);
    if (shape.is_paired()) send(rank, shape.pair(), call.bytes);
    for (int d = 1; d < shape.ranks(); d *= 2) {
      // One half now, and what was kept of it when it is gathered.
      const Halves at = halves_at(shape, call.bytes / call.element, d);
      send(rank, shape.partner(d), (at.given.count + at.kept.count) * call.element);
    }
  });
}

}  // namespace sumac::allreduce
