// SPDX-License-Identifier: BSD-3-Clause
// The kernel may refuse transfers in an operation by single copy: it cannot reach memory that is
// protected (while the program's own handler would lift the protection) or secret, a process whose
// first thread has ended, or one that it may not reach any more. Such transfers are put aside. The
// rank notes in the share of the work that they belong to that something is left to do, and when
// all shares are done the ranks look for such notes and carry out what is left by relay.h.
// Everything else has then been read and stored, so the order in which memory is read and written
// stays that of the algorithm, in place too.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "algorithms/bytes.h"
#include "algorithms/chunks.h"

namespace sumac {

// These are the refusals of one rank in one operation. Several threads of the rank may note some.
class Refusals {
 public:
  // These data are to be copied from a peer's memory (Read), or to it (Write).
  struct Read {
    int peer;
    std::uintptr_t address;
    Bytes to;
    std::size_t bytes;
  };
  struct Write {
    int peer;
    std::uintptr_t address;
    const std::byte* from;  // null: the data are in `kept`
    std::size_t bytes;
    std::vector<std::byte> kept;
  };
  // This range of the vectors, in the share of `owner`, is to be folded and stored.
  struct Fold {
    int owner;
    Part part;
  };

  bool any() const { return any_.load(std::memory_order_relaxed); }
  void note(const Read& read) { add(reads_, read); }
  void note(Write&& write) { add(writes_, std::move(write)); }
  void note(const Fold& fold) { add(folds_, fold); }

  // The strand calls these when no thread notes any more.
  std::vector<Read>& reads() { return reads_; }
  std::vector<Write>& writes() { return writes_; }
  std::vector<Fold>& folds() { return folds_; }

  // met() returns true if this rank knows that something was refused, agreed() if every rank of the
  // operation knows it.
  bool met() const { return met_; }
  bool agreed() const { return agreed_; }
  void note_met() { met_ = true; }
  void note_agreed() { met_ = agreed_ = true; }

  // Gets ready for the next operation.
  void forget() {
    if (!any() && !met_) [[likely]]
      return;
    reads_.clear();
    writes_.clear();
    folds_.clear();
    any_.store(false, std::memory_order_relaxed);
    met_ = agreed_ = false;
  }

 private:
  template <class List, class Item>
  void add(List& list, Item&& item) {
    const std::lock_guard<std::mutex> lock(mutex_);
    list.push_back(std::forward<Item>(item));
    any_.store(true, std::memory_order_relaxed);
  }

  std::mutex mutex_;
  std::atomic<bool> any_{false};
  bool met_ = false, agreed_ = false;
  std::vector<Read> reads_;
  std::vector<Write> writes_;
  std::vector<Fold> folds_;
};

}  // namespace sumac
