// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/in_pieces.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "base/cpu.h"
#include "observe/stats.h"
#include "strands/waiting.h"

namespace sumac {
namespace {

// Threads arrive at different times and work at different speeds, and early ones do more pieces.
constexpr std::size_t kPiecesPerThread = 4;
// A piece is small enough for a second-level cache, and so large that taking it costs nothing in
// comparison.
constexpr std::size_t kLeastPiece = 128 << 10;

void wait_until(const std::atomic<std::size_t>& done, std::size_t target) {
  // The other threads are at their last pieces, on processors of their own.
  constexpr WaitPolicy kPolicy{.own_processor = true, .spins = Waiting::kSpinsPerDrive};
  Waiting waiting(kPolicy);
  while (done.load(std::memory_order_acquire) != target) waiting.step();
}

struct ElementWork {
  const Cut& cut;
  void* data;
  void (*work)(void* data, std::size_t first, std::size_t count);
};

void do_piece(void* data, std::size_t piece) {
  const ElementWork& elements = *static_cast<const ElementWork*>(data);
  const std::size_t first = elements.cut.begin(piece);
  elements.work(elements.data, first, elements.cut.begin(piece + 1) - first);
}

struct ThreadWork {
  int threads;
  void* data;
  void (*work)(void* data, int thread, int threads);
};

void do_thread(void* data, std::size_t thread) {
  const ThreadWork& work = *static_cast<const ThreadWork*>(data);
  work.work(work.data, static_cast<int>(thread), work.threads);
}

}  // namespace

Cut::Cut(const void* address, std::size_t count, std::size_t element, int threads) : count_(count) {
  const std::size_t unit = kCacheLine / std::gcd(kCacheLine, element);
  const std::size_t least = round_up(div_up(kLeastPiece, element), unit);
  const std::size_t wanted = static_cast<std::size_t>(threads) * kPiecesPerThread;
  size_ = std::max(round_up(div_up(count, wanted), unit), least);
  const std::size_t to_line = -reinterpret_cast<std::uintptr_t>(address) % kCacheLine;
  if (to_line % element == 0) head_ = to_line / element;
  pieces_ = count > head_ + size_ ? div_up(count - head_, size_) : 1;
}

void run_in_pieces(const void* address, std::size_t count, std::size_t element, void* data,
                   void (*work)(void* data, std::size_t first, std::size_t count)) {
  const Threads threads;
  count_thread_use(threads.use());
  if (threads.count() == 1) return work(data, 0, count);
  const Cut cut(address, count, element, threads.count());
  ElementWork elements{cut, data, work};
  threads.run({do_piece, &elements, cut.pieces(), wait_until});
}

void run_by_threads(int most, void* data, void (*work)(void* data, int thread, int threads)) {
  const Threads threads;
  count_thread_use(threads.use());
  ThreadWork all{std::min(most, threads.count()), data, work};
  threads.run({do_thread, &all, static_cast<std::size_t>(all.threads), wait_until});
}

}  // namespace sumac
