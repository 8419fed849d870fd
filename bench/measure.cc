// SPDX-License-Identifier: BSD-3-Clause
#include "measure.h"

#include <cstring>

#include "rounds.h"

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

namespace {

// Until Sumac serves a communicator, and one more.
constexpr int kCalls = 4;

double first_calls_us(const World& world, MPI_Comm comm) {
  world.native.barrier(world.control);
  const double begin = MPI_Wtime();
  for (int i = 0; i < kCalls; i++) world.called.barrier(comm);
  const double own = (MPI_Wtime() - begin) * 1e6;
  double longest = 0;
  world.native.reduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, world.control);
  return longest;
}

}  // namespace

SetUp set_up(const World& world) {
  SetUp result;
  result.first = first_calls_us(world, world.comm);
  // The first of its kind may still load or map something.
  for (int i = 0; i < 2; i++) {
    MPI_Comm other;
    MPI_Comm_dup(world.comm, &other);
    result.next = first_calls_us(world, other);
    MPI_Comm_free(&other);
  }
  return result;
}

namespace {

Block whole_calls(RepeatedCall& call, const Setting& setting) {
  return [&call, &setting](int calls, float* us) {
    for (int i = 0; i < calls; i++) {
      setting.prepare();
      us[i] = setting.time([&] { call.run(); });
    }
  };
}

Block starts(RepeatedCall& call, const Setting& setting) {
  return [&call, &setting](int calls, float* us) {
    for (int i = 0; i < calls; i++) {
      setting.prepare();
      us[i] = setting.time([&] { call.start(); });
      call.wait();
    }
  };
}

}  // namespace

std::vector<Times> measure(const Calls& calls, const Setting& setting, const Options& options) {
  std::vector<Block> blocks;
  for (const auto& call : calls) blocks.push_back(whole_calls(*call, setting));
  for (const auto& call : calls)
    if (call->kind() != Kind::blocking) blocks.push_back(starts(*call, setting));
  std::vector<Samples> samples = in_rounds(blocks, options, setting.world);
  std::vector<Times> result;
  for (std::size_t i = 0, start = calls.size(); i < calls.size(); i++) {
    result.push_back({std::move(samples[i]), {}});
    if (calls[i]->kind() != Kind::blocking) result.back().start = std::move(samples[start++]);
  }
  return result;
}

}  // namespace sumac::bench
