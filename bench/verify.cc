// SPDX-License-Identifier: BSD-3-Clause
#include "verify.h"

#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "pattern.h"
#include "testing/element.h"
#include "timing.h"

namespace sumac::bench {
namespace {

// Calls in a row, each with other data: this detects a result left over from the call before.
constexpr unsigned kRepetitions = 3;
constexpr int kPoison = 0xA5;

void run(RepeatedCall& call, bool by_testing) {
  call.start();
  if (by_testing) {
    while (!call.test()) {
    }
  } else {
    call.wait();
  }
}

long wrong_barriers(RepeatedCall& call, const World& world) {
  if (world.hosts > 1) return 0;  // clocks of different hosts cannot be compared
  long early = 0;
  for (int late = 0; late < world.ranks && late < 4; late++) {
    if (world.rank == late) usleep(300);
    std::int64_t entered = now_ns(), last_entered = 0;
    run(call, late == 1);
    const std::int64_t left = now_ns();
    world.native.allreduce(&entered, &last_entered, 1, MPI_INT64_T, MPI_MAX, world.control);
    early += left < last_entered;
  }
  return early;
}

// The last repetition is completed by MPI_Test.
std::size_t wrong_gathered(RepeatedCall& call, const Case& test, const Buffers& buffers,
                           const World& world, const Pattern& pattern) {
  const std::size_t part = test.count / static_cast<std::size_t>(world.ranks);
  const bool gets = gets_result(test.collective, world.rank, test.root);
  const auto place = [&](int rank) {
    return buffers.recv() + static_cast<std::size_t>(rank) * part * size_of(test.type);
  };
  pattern.fill(test.in_place && gets ? place(world.rank) : buffers.send(), part, world.rank);
  run(call, pattern.seed == kRepetitions);
  std::size_t wrong = 0;
  for (int rank = 0; rank < world.ranks && gets; rank++)
    wrong += pattern.differing(place(rank), part, rank);
  return wrong;
}

// Each pair of ranks has data of its own.
std::size_t wrong_exchanged(RepeatedCall& call, const Case& test, const Buffers& buffers,
                            const World& world, const Pattern& pattern) {
  const std::size_t part = test.count / static_cast<std::size_t>(world.ranks);
  const auto each = [&](std::byte* buffer, const auto& work) {
    for (int rank = 0; rank < world.ranks; rank++)
      work(buffer + static_cast<std::size_t>(rank) * part * size_of(test.type), rank);
  };
  const auto with_seed = [&](int to) {
    Pattern own = pattern;
    own.seed += kRepetitions * static_cast<unsigned>(to);
    return own;
  };
  each(test.in_place ? buffers.recv() : buffers.send(),
       [&](std::byte* block, int to) { with_seed(to).fill(block, part, world.rank); });
  run(call, pattern.seed == kRepetitions);
  std::size_t wrong = 0;
  each(buffers.recv(), [&](std::byte* block, int from) {
    wrong += with_seed(world.rank).differing(block, part, from);
  });
  return wrong;
}

std::size_t wrong_here(RepeatedCall& call, const Case& test, const Buffers& buffers,
                       const World& world, unsigned seed) {
  const Pattern pattern{test.type, test.op, world.ranks, seed};
  std::memset(buffers.recv(), kPoison, test.bytes());
  const ArgumentKind arguments = info_of(test.collective).arguments;
  if (arguments == ArgumentKind::bcast) {
    if (world.rank == test.root) pattern.fill(buffers.recv(), test.count, test.root);
    run(call, seed == kRepetitions);
    return pattern.differing(buffers.recv(), test.count, test.root);
  }
  if (arguments == ArgumentKind::allgather)
    return wrong_gathered(call, test, buffers, world, pattern);
  if (is_all_to_all(test.collective)) return wrong_exchanged(call, test, buffers, world, pattern);
  pattern.fill(buffers.send(), test.count, world.rank);
  if (test.in_place) std::memcpy(buffers.recv(), buffers.send(), test.bytes());
  run(call, seed == kRepetitions);
  if (arguments == ArgumentKind::reduce_scatter) {
    const std::size_t part = test.count / static_cast<std::size_t>(world.ranks);
    return pattern.wrong(buffers.recv(), part, part * static_cast<std::size_t>(world.rank));
  }
  std::size_t wrong = pattern.differing(buffers.send(), test.count, world.rank);
  if (gets_result(test.collective, world.rank, test.root))
    wrong += pattern.wrong(buffers.recv(), test.count);
  return wrong;
}

// Hashes only the bytes that are data.
std::uint64_t hash(DType type, const std::byte* buffer, std::size_t count) {
  const std::uint32_t data = oracle::data_bytes(type);
  std::uint64_t result = 0xCBF29CE484222325u;
  for (std::size_t element = 0; element < count; element++, buffer += size_of(type))
    for (std::size_t i = 0; i < size_of(type); i++)
      if ((data >> i & 1) != 0)
        result = (result ^ static_cast<std::uint64_t>(buffer[i])) * 0x100000001B3u;
  return result;
}

bool rounds(DType type) {
  const ElementKind kind = info_of(type).kind;
  return kind == ElementKind::floating || kind == ElementKind::complex;
}

// True if this rank's bits differ from those of rank 0.
bool other_bits(RepeatedCall& call, const Case& test, const Buffers& buffers, const World& world) {
  std::byte* const input = test.in_place ? buffers.recv() : buffers.send();
  fill_rounding(test.type, input, test.count, world.rank);
  call.run();
  const std::uint64_t mine = hash(test.type, buffers.recv(), test.count);
  return world.from_rank_0(mine) != mine;
}

}  // namespace

long count_wrong(RepeatedCall& call, const Case& test, const Buffers& buffers, const World& world) {
  if (!info_of(test.collective).has_data) return world.sum(wrong_barriers(call, world));
  std::size_t wrong = 0;
  for (unsigned seed = 1; seed <= kRepetitions; seed++)
    wrong += wrong_here(call, test, buffers, world, seed);
  if (test.collective == Collective::allreduce && rounds(test.type))
    wrong += other_bits(call, test, buffers, world);
  return world.sum(static_cast<long>(wrong));
}

}  // namespace sumac::bench
