// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/pieces.h"

namespace sumac {
namespace {

// At most this many works are open at the same time: each thread of a process that is in a large
// reduction has one.
constexpr int kMostOpen = 64;
Pieces all[kMostOpen];

// From enter() to its destruction, the calling thread calculates with another thread's
// floating-point environment.
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

// A helper may look at the work only after it has taken a piece of it: the owner then waits for
// that piece, so the work is still the one of the invitation.
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
