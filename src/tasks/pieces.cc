// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/pieces.h"

namespace sumac {
namespace {

// As many threads of a process as are in a large reduction at the same time.
constexpr int kMostOpen = 64;
Pieces all[kMostOpen];

// From enter() on, a helper calculates as another thread does; until its end.
class Borrowed {
 public:
  Borrowed() = default;
  ~Borrowed() {
    if (entered_) std::fesetenv(&own_);
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  void enter(const std::fenv_t& environment) {
    if (entered_) return;
    std::fegetenv(&own_);
    std::fesetenv(&environment);
    entered_ = true;
  }

 private:
  std::fenv_t own_;
  bool entered_ = false;
};

}  // namespace

Pieces* Pieces::open(const PieceWork& work) {
  for (Pieces& pieces : all) {
    if (pieces.in_use_.load(std::memory_order_relaxed)) continue;
    if (pieces.in_use_.exchange(true, std::memory_order_acquire)) continue;
    pieces.work_ = work;
    pieces.owner_ = pthread_self();
    std::fegetenv(&pieces.environment_);
    pieces.done_.store(0, std::memory_order_relaxed);
    ++pieces.number_;
    pieces.word_.store(pieces.number_ << kCountBits | work.pieces, std::memory_order_release);
    return &pieces;
  }
  return nullptr;
}

// Only who has taken a piece knows that the work is still the one it was invited to: its owner
// waits for that piece.
void Pieces::help(const Invitation& invitation) {
  Pieces& pieces = *invitation.pieces;
  Borrowed borrowed;
  std::uint64_t word = pieces.word_.load(std::memory_order_relaxed);
  while (may_take(word, invitation.number)) {
    if (!pieces.word_.compare_exchange_weak(word, word - 1, std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
      continue;
    }
    if (!pthread_equal(pieces.owner_, pthread_self())) borrowed.enter(pieces.environment_);
    pieces.work_.run(pieces.work_.data, pieces.work_.pieces - (word & kMost));
    pieces.done_.fetch_add(1, std::memory_order_release);
    word = pieces.word_.load(std::memory_order_relaxed);
  }
}

void Pieces::wait() {
  if (done_.load(std::memory_order_acquire) != work_.pieces) work_.wait(done_, work_.pieces);
}

void Pieces::close() { in_use_.store(false, std::memory_order_release); }

}  // namespace sumac
