// SPDX-License-Identifier: BSD-3-Clause
// The protocols of shared memory under a simulator of the C++ memory model: slots, lines, claims,
// announced calls, the status page, counters that wrap. They run as compiled from the library's
// sources, in many interleavings, with every value that a weak memory may return; data are
// variables in which the simulator finds races. Each protocol is also run broken, which the
// simulator must find. A group has few positions here, and little memory.
// protocols [ITERATIONS]
#include "simulated_atomic.h"
#define SUMAC_SIMULATED_POSITIONS 8

#include "algorithms/claims.h"
#include "base/versioned.h"
#include "transport/shm/group.cc"
#include "transport/shm/hand_over.h"
#include "transport/shm/places.cc"

// The memory of the groups here is there from the beginning.
void sumac::back_memory(std::byte*, std::size_t) {}

namespace {

using simulated::Broken;
using sumac::publish;
using sumac::ShmGroup;
using sumac::Wait;

constexpr int kMostRanks = 3;
constexpr int kLines = 2;                           // of a message of several lines
constexpr std::size_t kRing = 2, kSlotBytes = 256;  // so many payloads, or messages of lines

sumac::Layout small_layout(int ranks) {
  sumac::Layout layout;
  layout.ranks = ranks;
  layout.ring = kRing;
  layout.slot_bytes = kSlotBytes;
  layout.further_lines = kRing * kLines;
  return layout;
}

void wait(Wait condition) {
  while (!condition.ready()) rl::yield(1, RL_INFO);
}

// One execution, of which `Protocol` says what each rank does.
template <class Protocol, int ranks>
struct Execution : rl::test_suite<Execution<Protocol, ranks>, ranks> {
  simulated::Pool pool;
  Protocol protocol;

  Execution() : protocol(ranks) {}
  void before() {
    simulated::pool = &pool;
    pool.clear();
    protocol.before();
  }
  void thread(unsigned rank) { protocol.rank(static_cast<int>(rank)); }
};

class OnBlock {
 public:
  explicit OnBlock(int ranks) : ranks_(ranks) {}
  void before() {}

 protected:
  ShmGroup group(int rank) const {
    alignas(4096) static std::byte block[1 << 18];
    const sumac::Layout layout = small_layout(ranks_);
    if (layout.block_bytes() > sizeof block) std::abort();
    return ShmGroup(block, layout, rank);
  }
  const int ranks_;
};

// Every rank hands a number to all others, again and again in the same places: in the payloads, of
// which there are few, or in the first lines of the positions.
template <std::size_t places>
class Slots : public OnBlock {
 public:
  using OnBlock::OnBlock;
  void rank(int r) {
    ShmGroup own = group(r);
    for (int i = 0; i < static_cast<int>(places) + 2; ++i) {
      const std::uint64_t p = own.take(1, {.room = places == kRing ? kSlotBytes : 0});
      wait(own.slot_free(p));
      data_[r][p % places](RL_INFO) = 10 * i + r;
      own.publish_in(p);
      wait(own.others_in(p));
      for (int other = 0; other < ranks_; ++other) {
        RL_ASSERT(data_[other][p % places](RL_INFO) == 10 * i + other);
      }
      own.finish(p);
    }
  }

 private:
  rl::var<int> data_[kMostRanks][places];
};

// Rank 0 hands lines to the others, each with a flag of its own, and goes ahead of them as far as
// there is room.
template <int lines>
class Lines : public OnBlock {
 public:
  using OnBlock::OnBlock;
  void rank(int r) {
    ShmGroup own = group(r);
    for (int i = 0; i < static_cast<int>(kPlaces) + 2; ++i) {
      const std::uint64_t p = own.take(1, {.lines = lines});
      if (r == 0) {
        wait(own.slot_free(p));
        for (int line = 0; line < lines; ++line) {
          data_[p % kPlaces][line](RL_INFO) = 10 * i + line;
          publish(own.line(0, p, line).in, own.flag_of(p));
        }
      } else {
        wait(own.lines_in(0, p, lines));
        for (int line = 0; line < lines; ++line) {
          RL_ASSERT(data_[p % kPlaces][line](RL_INFO) == 10 * i + line);
        }
      }
      own.finish(p);
    }
  }

 private:
  static constexpr std::size_t kPlaces = lines == 1 ? sumac::kPositions : kRing;
  rl::var<int> data_[kPlaces][lines];
};

// Pieces of all ranks' shares, each done by the rank that takes it; then all read all results.
class ClaimedWork : public OnBlock {
 public:
  using OnBlock::OnBlock;
  void rank(int r) {
    ShmGroup own = group(r);
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t p = own.take(1, {.room = kSlotBytes, .results = true});
      wait(own.slot_free(p));
      const sumac::Claims claims(own, p, kPieces);
      const auto work = [&](int owner, std::size_t piece) {
        results_[p % kRing][owner][piece](RL_INFO) = 100 * i + 10 * owner + static_cast<int>(piece);
      };
      do_share(claims, r, 1, [&](std::size_t piece) { work(r, piece); });
      do_what_is_left(own, claims, work);
      do_share(claims, r, SIZE_MAX, [&](std::size_t piece) { work(r, piece); });
      wait(claims.all_done());
      wait(claims.all_done(r));
      for (int owner = 0; owner < ranks_; ++owner) {
        for (std::size_t piece = 0; piece < kPieces; ++piece) {
          const int expected = 100 * i + 10 * owner + static_cast<int>(piece);
          RL_ASSERT(results_[p % kRing][owner][piece](RL_INFO) == expected);
        }
      }
      own.finish(p);
    }
  }

 private:
  static constexpr std::size_t kPieces = 2;
  rl::var<int> results_[kRing][kMostRanks][kPieces];
};

// Rank 0 announces calls; the others read announcements that it overwrites meanwhile.
class Announcements : public OnBlock {
 public:
  using OnBlock::OnBlock;
  void before() {
    writer_ = group(0);
    for (std::uint64_t call = 1; call <= kBefore; ++call) announce(call);
  }
  void rank(int r) {
    if (r == 0) {
      for (std::uint64_t call = kBefore + 1; call <= kBefore + 4; ++call) announce(call);
      return;
    }
    const ShmGroup own = group(r);
    for (const std::uint64_t number : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3},
                                       std::uint64_t{0}, kBefore + 1, kBefore + 2}) {
      sumac::Announcement call;
      if (!own.announced(0, number, call)) continue;
      RL_ASSERT(call.bytes == 3 * call.what && (number == 0 || call.what == number));
    }
  }

 private:
  static constexpr std::uint64_t kBefore = sumac::kAnnouncedCalls;
  void announce(std::uint64_t call) { writer_.announce({call, 3 * call}); }
  ShmGroup writer_;
};

// Rank 0 writes a page anew, as the hang doctor's; the others read it meanwhile. The data are
// atomic here, since those who read them whole and half must not race with the writer.
class StatusPage {
 public:
  explicit StatusPage(int) {}
  void before() {}
  void rank(int r) {
    if (r == 0) {
      for (std::uint64_t i = 1; i < 4; ++i) write(i);
      return;
    }
    std::uint64_t last = 0;
    for (int tries = 0; tries < 3; ++tries) {
      std::uint64_t first = 0, second = 0;
      const auto version = [&] { return version_.load(std::memory_order_relaxed); };
      const auto copy = [&] {
        first = first_.load(std::memory_order_relaxed);
        second = second_.load(std::memory_order_relaxed);
      };
      if (!sumac::read_whole(version, copy)) continue;
      RL_ASSERT(second == 3 * first && first >= last);
      last = first;
    }
  }

 private:
  void write(std::uint64_t value) {
    sumac::begin_writing(version_);
    first_.store(value, std::memory_order_relaxed);
    second_.store(3 * value, std::memory_order_relaxed);
    sumac::end_writing(version_);
  }
  std::atomic<std::uint64_t> version_{0}, first_{0}, second_{0};
};

// Two counters that wrap: one says what was written, the other what was read.
class Wrapping {
 public:
  explicit Wrapping(int) {}
  void before() {
    publish(written_, kFirst);
    publish(read_, kFirst);
  }
  void rank(int r) {
    for (std::uint64_t i = kFirst; i != kFirst + 6; ++i) {
      if (r == 0) {
        wait(Wait(read_, i - 1));
        data_[i % 2](RL_INFO) = static_cast<int>(i);
        publish(written_, i + 1);
      } else {
        wait(Wait(written_, i + 1));
        RL_ASSERT(data_[i % 2](RL_INFO) == static_cast<int>(i));
        publish(read_, i + 1);
      }
    }
  }

 private:
  static constexpr std::uint64_t kFirst = UINT64_MAX - 2;
  sumac::Counter written_, read_;
  rl::var<int> data_[2];
};

// Keeps the beginning of what the simulator prints, in memory that is not the simulator's.
class Beginning : public std::streambuf {
 public:
  Beginning() { setp(text_, text_ + sizeof text_ - 1); }
  const char* text() {
    *pptr() = '\0';
    return text_;
  }

 protected:
  int overflow(int c) override { return c == EOF ? 0 : c; }

 private:
  char text_[6000];
};

int failures = 0;

// Runs the protocol as it is, or broken: then the simulator must find an error.
template <class Protocol, int ranks>
void simulate(const char* name, Broken what, unsigned long iterations) {
  static constexpr const char* kWhat[] = {"as it is", "releases relaxed", "acquires relaxed",
                                          "fences left out"};
  simulated::broken = what;
  rl::test_params params;
  params.iteration_count = iterations;
  params.execution_depth_limit = 20000;
  Beginning beginning;
  std::ostream output(&beginning);
  params.output_stream = &output;
  params.progress_stream = &output;
  const bool right = rl::simulate<Execution<Protocol, ranks>>(params);
  const bool expected = right == (what == Broken::nothing);
  std::printf("%s: %s, %d ranks, %s: %s after %lu executions\n", expected ? "passed" : "FAILED",
              name, ranks, kWhat[static_cast<int>(what)], right ? "no error" : "an error",
              static_cast<unsigned long>(params.stop_iteration));
  failures += !expected;
  if (!expected) std::printf("%s\n", beginning.text());
}

template <class Protocol>
void simulate_all(const char* name, unsigned long iterations, std::initializer_list<Broken> ways) {
  simulate<Protocol, 2>(name, Broken::nothing, iterations);
  for (const Broken way : ways) simulate<Protocol, 2>(name, way, iterations);
  simulate<Protocol, 3>(name, Broken::nothing, iterations);
  for (const Broken way : ways) simulate<Protocol, 3>(name, way, iterations);
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned long iterations = argc > 1 ? std::strtoul(argv[1], nullptr, 0) : 3000;
  const auto both = {Broken::releases, Broken::acquires};
  simulate_all<Slots<kRing>>("payloads of all", iterations, both);
  simulate_all<Slots<sumac::kPositions>>("first lines of all", iterations, both);
  simulate_all<Lines<1>>("one line", iterations, both);
  simulate_all<Lines<kLines>>("several lines", iterations, both);
  simulate_all<ClaimedWork>("claims", iterations, both);
  simulate_all<Announcements>("announced calls", 4 * iterations, {Broken::fences});
  simulate_all<StatusPage>("status page", 4 * iterations, {Broken::fences, Broken::releases});
  simulate<Wrapping, 2>("counters that wrap", Broken::nothing, iterations);
  for (const Broken way : both) simulate<Wrapping, 2>("counters that wrap", way, iterations);
  return failures ? 1 : 0;
}
